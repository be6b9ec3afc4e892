/* `return VALUE`: answered at once, in the worker. */
#include "nginx/call/ngx_tg_template.h"

#include "base/tg_number.h"
#include "catalog/tg_mime_type.h"
#include "nginx/call/ngx_tg_call_checks.h"
#include "nginx/config/ngx_tg_listing.h"

#include <ctype.h>

extern const ngx_tg_handler_t ngx_tg_return_handler;

typedef struct {
    ngx_stream_complex_value_t *value; /* NULL: no `return` */
    /* template of the value as JSON; NULL: not JSON */
    ngx_tg_template_t *json;
    /* name of the argument that is the whole value, or empty */
    tg_str_t argument;
    /* numbers of that argument are integers */
    ngx_uint_t is_integer;
} ngx_tg_return_conf_t;

/*
 * Returns NAME if a value is `$tool_arg_NAME` and nothing else; else an empty
 * string.
 */
static ngx_str_t
ngx_tg_return_parse_plain_arg(const ngx_str_t *text)
{
    ngx_str_t name;
    ngx_uint_t i;

    name = *text;

    if (name.len > 2 && name.data[0] == '$' && name.data[1] == '{'
        && name.data[name.len - 1] == '}')
    {
        name.data += 2;
        name.len -= 3;

    } else if (name.len > 1 && name.data[0] == '$') {
        name.data++;
        name.len--;

    } else {
        name.len = 0;
    }

    if (name.len <= sizeof("tool_arg_") - 1
        || ngx_strncmp(name.data, "tool_arg_", sizeof("tool_arg_") - 1) != 0)
    {
        return (ngx_str_t) ngx_null_string;
    }

    name.data += sizeof("tool_arg_") - 1;
    name.len -= sizeof("tool_arg_") - 1;

    for (i = 0; i < name.len; i++) {
        /* NGINX lowers other letters, and ends the name at other characters. */
        if (!islower(name.data[i]) && !isdigit(name.data[i])
            && name.data[i] != '_') {
            return (ngx_str_t) ngx_null_string;
        }
    }

    return name;
}

/*
 * Parses a value with variables as a JSON template, in case the output is JSON.
 * NGX_OK or NGX_ERROR.
 */
static ngx_int_t
ngx_tg_return_parse_json(ngx_conf_t *cf, ngx_tg_return_conf_t *ret,
                         const ngx_str_t *text)
{
    ngx_tg_main_conf_t *mcf;
    ngx_uint_t n;

    if (ret->value->lengths == NULL) {
        return NGX_OK;
    }

    /* The value has already registered its variables: drop the duplicates. */
    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    n = mcf->value_sources.nelts;
    ret->json = ngx_tg_template_parse_json_parts(cf, text);
    mcf->value_sources.nelts = n;

    if (ret->json == NULL) {
        return NGX_ERROR;
    }

    /* A single variable is a JSON value itself and needs no template. */
    if (ret->json->nelts == 1) {
        ret->json = NULL;
    }

    return NGX_OK;
}

static char *
ngx_tg_return_set_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_return_conf_t *ret = conf;

    ngx_str_t *value, name;
    char *rv;

    rv = ngx_tg_conf_set_handler(cf, &ngx_tg_return_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;
    ret->value = ngx_tg_value_compile_new(cf, &value[1]);

    if (ret->value == NULL
        || ngx_tg_return_parse_json(cf, ret, &value[1]) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    name = ngx_tg_return_parse_plain_arg(&value[1]);
    ret->argument = ngx_tg_str_from_ngx(&name);

    return NGX_CONF_OK;
}

/*
 * Checks whether the template can be valid JSON with some values; the content
 * of variables of a `map` is unknown.
 */
static ngx_uint_t
ngx_tg_return_can_be_json(const ngx_tg_template_t *json)
{
    const ngx_tg_template_piece_t *piece;
    tg_template_token_t token;
    tg_str_t rest, path;
    ngx_uint_t i;
    tg_buf_t text;

    piece = json->elts;

    for (i = 0; i < json->nelts; i++) {
        rest = ngx_tg_str_from_ngx(&piece[i].text);

        if (piece[i].value != NULL
            && piece[i].place != NGX_TG_ESCAPE_JSON_STRING
            && (tg_template_next(&rest, &token) != TG_OK
                || token.name.data == NULL
                || tg_variable_get_type(token.name, &path)
                       == TG_VARIABLE_OTHER))
        {
            return 1;
        }
    }

    tg_buf_init(&text, tg_alloc_libc());
    ngx_tg_template_append_sample(json, &text);
    i = tg_buf_has_failed(&text)
        || tg_json_validate(tg_buf_view(&text), NULL) == TG_OK;
    tg_buf_deinit(&text);

    return i;
}

/*
 * Checks a value without variables, and finds the argument that a name means.
 * Returns NULL, or an error text.
 */
static const char *
ngx_tg_return_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_return_conf_t *ret = conf;

    const ngx_tg_arg_property_t *property;
    tg_outcome_t outcome;

    property = ret->argument.len != 0
                   ? ngx_tg_tool_find_property(tool, ret->argument)
                   : NULL;

    if (property != NULL) {
        ret->argument = property->name;
        ret->is_integer = property->is_integer;
    }

    if (ret->json != NULL && tool->entry.output != TG_OUTPUT_TEXT
        && !ngx_tg_return_can_be_json(ret->json))
    {
        return "never returns valid JSON, whatever its variables contain; "
               "correct the value, in which \"\\\\\" is a backslash, or set "
               "\"output text\"";
    }

    /* The content of a resource may be any bytes. */
    if (ret->value == NULL || ret->value->lengths != NULL
        || (tool->entry.output == TG_OUTPUT_TEXT
            && (NGX_TG_KINDS_READ >> tool->entry.kind & 1)))
    {
        return NULL;
    }

    outcome = tg_outcome_parse_output(&tool->entry,
                                      ngx_tg_str_from_ngx(&ret->value->value));

    return outcome.kind != TG_OUTCOME_FAILURE
               ? NULL
               : "returns a value that its \"output\" does not allow: text "
                 "must be UTF-8, json a single JSON value, result a complete "
                 "MCP result; correct the value, or set \"output text\"";
}

/*
 * Sends a value that is one argument: a string as it was received, any other
 * value as its JSON text. Returns 1: the call was answered; 0: not possible,
 * for example because escaped surrogates may be half a pair, which other
 * parsers reject.
 */
static ngx_uint_t
ngx_tg_return_send_arg(ngx_tg_call_t *call, tg_request_t *request,
                       ngx_tg_return_conf_t *ret)
{
    char plain[TG_NUMBER_INTEGER_SIZE];
    tg_outcome_t outcome;
    tg_json_member_t note;
    size_t len;

    if (ret->argument.len == 0 || call->entry->output != TG_OUTPUT_TEXT
        || !tg_mime_type_is_text(call->entry->mime))
    {
        return 0;
    }

    if (tg_json_index_get(request->notes, request->arguments, ret->argument,
                          &note)
        != TG_OK)
    {
        return 0;
    }

    if (tg_json_type(note.value) != TG_JSON_STRING) {
        len = ret->is_integer ? tg_number_write_integer(note.value, plain) : 0;
        outcome = tg_outcome_make_text(len != 0 ? tg_str(plain, len)
                                                : note.value);

    } else if (note.escapes & TG_JSON_HAS_SURROGATES) {
        return 0;

    } else {
        outcome = tg_outcome_make(TG_OUTCOME_BODY,
                                  tg_json_string_body(note.value));
    }

    ngx_tg_call_end(call, &outcome);

    return 1;
}

/*
 * Sends the rendered JSON template, in which no value can change the structure.
 */
static void
ngx_tg_return_send_json(ngx_tg_call_t *call, const ngx_tg_template_t *json)
{
    const char *mistake;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    mistake = ngx_tg_template_render(call, json, &text);

    if (mistake != NULL) {
        ngx_tg_call_fail(call, TG_FAILURE_OUTPUT, mistake);
    } else if (tg_buf_has_failed(&text)) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    } else {
        ngx_tg_call_end_with_output(call, tg_buf_view(&text));
    }

    tg_buf_deinit(&text);
}

static void
ngx_tg_return_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_return_conf_t *ret;
    ngx_str_t text;

    ret = call->tool->conf;

    if (ngx_tg_return_send_arg(call, request, ret)) {
        return;
    }

    /* A null in the response is written, not left out. */
    call->has_nulls = 1;

    if (ret->json != NULL && call->entry->output != TG_OUTPUT_TEXT) {
        ngx_tg_return_send_json(call, ret->json);
        return;
    }

    if (ngx_tg_call_eval_value(call, ret->value, &text) != NGX_OK) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return;
    }

    ngx_tg_call_end_with_output(call, ngx_tg_str_from_ngx(&text));
}

static ngx_command_t ngx_tg_return_commands[] = {

    { ngx_string("return"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_return_set_value, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_return_module = NGX_TG_HANDLER_MODULE(
    ngx_tg_return_commands);

const ngx_tg_handler_t ngx_tg_return_handler = {
    .name = ngx_string("return"),
    .module = &ngx_tg_return_module,
    .conf_size = sizeof(ngx_tg_return_conf_t),
    .check = ngx_tg_return_check,
    .start = ngx_tg_return_start,
};
