/*
 * `return VALUE`: answered at once, in the worker.
 */
#include "nginx/call/ngx_toolgate_template.h"

#include "base/tg_number.h"

#include <ctype.h>

typedef struct {
    ngx_stream_complex_value_t *value; /* NULL: no `return` */
    ngx_toolgate_template_t *json;     /* the same, as JSON; NULL: it is none */
    tg_str_t argument;                 /* all of it is this one */
    ngx_uint_t is_integer;             /* whose numbers are whole */
} ngx_toolgate_return_t;

static char *ngx_toolgate_return_value(ngx_conf_t *cf, ngx_command_t *cmd,
                                       void *conf);
static const char *ngx_toolgate_return_check(ngx_toolgate_tool_t *tool,
                                             void *conf);
static void ngx_toolgate_return_start(ngx_toolgate_call_t *call,
                                      tg_request_t *request);

static ngx_command_t ngx_toolgate_return_commands[] = {

    { ngx_string("return"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_return_value, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_toolgate_return_module = NGX_TOOLGATE_HANDLER_MODULE(
    ngx_toolgate_return_commands);

const ngx_toolgate_handler_t ngx_toolgate_return_handler = {
    .name = ngx_string("return"),
    .module = &ngx_toolgate_return_module,
    .conf_size = sizeof(ngx_toolgate_return_t),
    .check = ngx_toolgate_return_check,
    .start = ngx_toolgate_return_start,
};

/* Is a value `$tool_arg_NAME` and nothing else?  The name, or empty. */
static ngx_str_t
ngx_toolgate_plain_argument(const ngx_str_t *text)
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
        /* Others NGINX lowers, or ends the name at. */
        if (!islower(name.data[i]) && !isdigit(name.data[i])
            && name.data[i] != '_') {
            return (ngx_str_t) ngx_null_string;
        }
    }

    return name;
}

/* Variables among other text, in case that it is JSON. */
static ngx_int_t
ngx_toolgate_return_json(ngx_conf_t *cf, ngx_toolgate_return_t *ret,
                         const ngx_str_t *text)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_uint_t n;

    if (ret->value->lengths == NULL) {
        return NGX_OK;
    }

    /* Each variable is known already, by the value. */
    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    n = mcf->uses.nelts;
    ret->json = ngx_toolgate_template_part(cf, text);
    mcf->uses.nelts = n;

    if (ret->json == NULL) {
        return NGX_ERROR;
    }

    /* One alone is JSON itself. */
    if (ret->json->nelts == 1) {
        ret->json = NULL;
    }

    return NGX_OK;
}

static char *
ngx_toolgate_return_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_return_t *ret = conf;

    ngx_str_t *value, name;
    char *rv;

    (void) cmd;
    rv = ngx_toolgate_set_handler(cf, &ngx_toolgate_return_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;
    ret->value = ngx_toolgate_compile_new(cf, &value[1]);

    if (ret->value == NULL
        || ngx_toolgate_return_json(cf, ret, &value[1]) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    name = ngx_toolgate_plain_argument(&value[1]);
    ret->argument = ngx_toolgate_str(&name);

    return NGX_CONF_OK;
}

/* May be JSON, with values in it; what parts a `map` makes is not known. */
static ngx_uint_t
ngx_toolgate_return_may_be_json(const ngx_toolgate_template_t *json)
{
    const ngx_toolgate_piece_t *piece;
    tg_value_token_t token;
    tg_str_t rest, path;
    ngx_uint_t i;
    tg_buf_t text;

    piece = json->elts;

    for (i = 0; i < json->nelts; i++) {
        rest = ngx_toolgate_str(&piece[i].text);

        if (piece[i].value != NULL && piece[i].place != NGX_TOOLGATE_STRING
            && (tg_value_next(&rest, &token) != TG_OK || token.name.data == NULL
                || tg_value_kind(token.name, &path) == TG_VALUE_OTHER))
        {
            return 1;
        }
    }

    tg_buf_init(&text, tg_alloc_libc());
    ngx_toolgate_template_sample(json, &text);
    i = tg_buf_failed(&text)
        || tg_json_check(tg_buf_view(&text), NULL) == TG_OK;
    tg_buf_deinit(&text);

    return i;
}

/* A value without variables is known now, and which argument a name means. */
static const char *
ngx_toolgate_return_check(ngx_toolgate_tool_t *tool, void *conf)
{
    ngx_toolgate_return_t *ret = conf;

    const ngx_toolgate_property_t *property;
    tg_outcome_t outcome;

    property = ret->argument.len != 0
                   ? ngx_toolgate_property(tool, ret->argument)
                   : NULL;

    if (property != NULL) {
        ret->argument = property->name;
        ret->is_integer = property->is_integer;
    }

    if (ret->json != NULL && tool->entry.output != TG_OUTPUT_TEXT
        && !ngx_toolgate_return_may_be_json(ret->json))
    {
        return "returns what is not JSON, whatever its variables hold; correct "
               "the value, in which \"\\\\\" is a backslash, or set "
               "\"output text\"";
    }

    if (ret->value == NULL || ret->value->lengths != NULL) {
        return NULL;
    }

    outcome = tg_outcome_output(&tool->entry,
                                ngx_toolgate_str(&ret->value->value));

    return outcome.kind != TG_OUTCOME_FAILURE
               ? NULL
               : "returns what its \"output\" does not allow: text must be "
                 "UTF-8, json one JSON value, result a whole MCP result; "
                 "correct the value, or set \"output text\"";
}

/*
 * The value is one argument: a string is passed on as it came, and of others
 * the JSON is the text.  Not so with escaped surrogates: half a pair is nothing
 * that other parsers take.
 */
static ngx_uint_t
ngx_toolgate_return_argument(ngx_toolgate_call_t *call, tg_request_t *request,
                             ngx_toolgate_return_t *ret)
{
    char plain[TG_NUMBER_PLAIN];
    tg_outcome_t outcome;
    tg_json_note_t note;
    size_t len;

    if (ret->argument.len == 0 || call->entry->output != TG_OUTPUT_TEXT) {
        return 0;
    }

    if (tg_json_notes_get(request->notes, request->arguments, ret->argument,
                          &note)
        != TG_OK)
    {
        return 0;
    }

    if (tg_json_type(note.value) != TG_JSON_STRING) {
        len = ret->is_integer ? tg_number_plain(note.value, plain) : 0;
        outcome = tg_outcome_text(len != 0 ? tg_str(plain, len) : note.value);

    } else if (note.escapes & TG_JSON_HALVES) {
        return 0;

    } else {
        outcome = tg_outcome_of(TG_OUTCOME_BODY, tg_json_body(note.value));
    }

    ngx_toolgate_call_end(call, &outcome);

    return 1;
}

/* JSON, in which no value means more than itself. */
static void
ngx_toolgate_return_put(ngx_toolgate_call_t *call,
                        const ngx_toolgate_template_t *json)
{
    const char *mistake;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    mistake = ngx_toolgate_template_put(call, json, &text);

    if (mistake != NULL) {
        ngx_toolgate_call_fail(call, TG_FAILURE_OUTPUT, mistake);
    } else if (tg_buf_failed(&text)) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
    } else {
        ngx_toolgate_call_output(call, tg_buf_view(&text));
    }

    tg_buf_deinit(&text);
}

static void
ngx_toolgate_return_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_return_t *ret;
    ngx_str_t text;

    ret = call->tool->conf;

    if (ngx_toolgate_return_argument(call, request, ret)) {
        return;
    }

    /* What is answered is not left out. */
    call->has_nulls = 1;

    if (ret->json != NULL && call->entry->output != TG_OUTPUT_TEXT) {
        ngx_toolgate_return_put(call, ret->json);
        return;
    }

    if (ngx_toolgate_value(call, ret->value, &text) != NGX_OK) {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
        return;
    }

    ngx_toolgate_call_output(call, ngx_toolgate_str(&text));
}
