/* Content of an HTTP request: headers, query and body. */
#include "nginx/handlers/ngx_tg_http.h"

#include "base/tg_url.h"
#include "nginx/call/ngx_tg_call_checks.h"

#define NGX_TG_FORM_TYPE "application/x-www-form-urlencoded"

ngx_uint_t
ngx_tg_http_has_field(const ngx_array_t *fields, tg_str_t name)
{
    const ngx_tg_http_field_t *field;
    ngx_uint_t i;

    for (i = 0; fields != NULL && i < fields->nelts; i++) {
        field = fields->elts;

        if (tg_str_eq_nocase(ngx_tg_str_from_ngx(&field[i].name), name)) {
            return 1;
        }
    }

    return 0;
}

/* Adds an element to headers or to the query. NULL: error, logged. */
static ngx_tg_http_field_t *
ngx_tg_http_push_field(ngx_conf_t *cf, ngx_array_t **fields, ngx_str_t *name)
{
    ngx_tg_http_field_t *field;
    ngx_str_t *value;

    if (ngx_tg_http_has_field(*fields, ngx_tg_str_from_ngx(name))) {
        value = cf->args->elts;
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" has \"%V\" twice; remove one of them",
                           &value[0], &value[1]);
        return NULL;
    }

    field = ngx_tg_conf_array_push(cf, fields, sizeof(ngx_tg_http_field_t));

    if (field != NULL) {
        field->name = *name;
    }

    return field;
}

char *
ngx_tg_http_set_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_http_conf_t *http = conf;

    ngx_tg_http_field_t *field;
    const char *mistake;
    ngx_str_t *value, path;

    value = cf->args->elts;
    mistake = ngx_tg_header_name_check(&value[1]);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "invalid name \"%V\" in \"%V\": %s",
                                 &value[1], &cmd->name, mistake);
    }

    field = ngx_tg_http_push_field(cf, &http->headers, &value[1]);
    if (field == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_strcasecmp(value[1].data, (u_char *) "Content-Type") == 0) {
        http->has_type = 1;
    }

    /* A secret is used as it is, even if it contains a dollar sign. */
    if (ngx_tg_arg_has_name(&value[2], "file=", &path) && path.len != 0) {
        field->is_secret = 1;
        return ngx_tg_conf_read_header_file(cf, &path, &field->value.value);
    }

    if (ngx_tg_has_control_char(&value[2])) {
        return ngx_tg_conf_error(cf,
                                 "the value of \"%V\" in \"header\" must not "
                                 "contain a line break or another control "
                                 "character",
                                 &value[1]);
    }

    return ngx_tg_conf_result(
        ngx_tg_value_compile(cf, &value[2], &field->value));
}

/*
 * Parses `each` or `join=TEXT`, and compiles the value for the elements of an
 * array.
 */
static char *
ngx_tg_http_field_set_each(ngx_conf_t *cf, ngx_tg_http_field_t *field,
                           ngx_str_t *text, ngx_str_t *word)
{
    ngx_str_t *value;
    ngx_int_t rc;

    value = cf->args->elts;
    rc = tg_str_eq(ngx_tg_str_from_ngx(word), TG_STR("each"))
             ? NGX_OK
             : ngx_tg_conf_parse_join(cf, word, &field->separator);

    if (rc == NGX_DECLINED) {
        return ngx_tg_conf_error(cf,
                                 "invalid parameter \"%V\" in \"%V\"; for an "
                                 "array write \"each\" (a=1&a=2) or "
                                 "\"join=,\" (a=1,2)",
                                 word, &value[0]);
    }

    if (rc != NGX_OK
        || ngx_tg_value_compile_for_elements(cf, text, &field->value,
                                             &field->each)
               != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return field->each != NULL
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf,
                                   "\"%V\" has \"%V\", but no argument of the "
                                   "call to apply it to; add "
                                   "\"$tool_arg_NAME\"",
                                   &value[0], word);
}

/*
 * Parses `query NAME VALUE [each|join=TEXT]`, or `field` with the same
 * parameters.
 */
char *
ngx_tg_http_set_field(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_http_field_t *field;
    ngx_array_t **fields;
    ngx_str_t *value, name;
    tg_buf_t buf;

    fields = (ngx_array_t **) (void *) ((u_char *) conf + cmd->offset);
    value = cf->args->elts;

    if (value[1].len == 0 || ngx_tg_text_has_variables(&value[1])) {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" in \"%V\"; write "
                                 "\"%V NAME VALUE\", with variables in "
                                 "the value",
                                 &value[1], &cmd->name, &cmd->name);
    }

    name.data = ngx_pnalloc(cf->pool, value[1].len * 3);

    if (name.data == NULL || ngx_tg_unescape_dollars(cf, &value[1]) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    buf = tg_buf_make_fixed((char *) name.data, value[1].len * 3);
    tg_url_append_encoded(&buf, ngx_tg_str_from_ngx(&value[1]));
    name.len = buf.len;
    field = ngx_tg_http_push_field(cf, fields, &name);

    if (field == NULL) {
        return NGX_CONF_ERROR;
    }

    if (cmd->offset == offsetof(ngx_tg_http_conf_t, form)) {
        ((ngx_tg_http_conf_t *) conf)->body_type = NGX_TG_FORM_TYPE;
    }

    if (cf->args->nelts == 4) {
        return ngx_tg_http_field_set_each(cf, field, &value[2], &value[3]);
    }

    return ngx_tg_conf_result(
        ngx_tg_value_compile(cf, &value[2], &field->value));
}

/* --- fields of a request --- */

/*
 * Appends the value of a field that is not an array. NGX_OK; NGX_DECLINED: an
 * empty value, which is left out; NGX_ERROR: no memory.
 */
static ngx_int_t
ngx_tg_http_field_append_value(ngx_tg_call_t *call, ngx_tg_http_field_t *field,
                               tg_buf_t *buf)
{
    ngx_str_t value;

    if (ngx_tg_call_eval_value(call, &field->value, &value) != NGX_OK) {
        return NGX_ERROR;
    }

    if (value.len == 0 && field->value.lengths != NULL && field->each == NULL) {
        return NGX_DECLINED;
    }

    tg_url_append_encoded(buf, ngx_tg_str_from_ngx(&value));

    return NGX_OK;
}

/*
 * Appends the elements of an array. NGX_OK; NGX_DECLINED: no elements;
 * NGX_ABORT: too many; NGX_ERROR: no memory.
 */
static ngx_int_t
ngx_tg_http_field_append_list(ngx_tg_call_t *call, ngx_tg_http_field_t *field,
                              tg_buf_t *buf)
{
    ngx_tg_arg_elements_t elements;
    ngx_uint_t n;
    ngx_int_t rc;

    rc = NGX_DECLINED;
    ngx_tg_call_begin_elements(call, field->each, &elements);

    for (n = 0; rc != NGX_ERROR && rc != NGX_ABORT
                && ngx_tg_call_next_element(call, &elements);
         n++)
    {
        if (n != 0 && field->separator.len != 0) {
            tg_buf_append_str(buf, ngx_tg_str_from_ngx(&field->separator));

        } else if (n != 0) {
            tg_buf_append_char(buf, '&');
            tg_buf_append_str(buf, ngx_tg_str_from_ngx(&field->name));
            tg_buf_append_char(buf, '=');
        }

        rc = n < NGX_TG_ELEMENTS_MAX
                 ? ngx_tg_http_field_append_value(call, field, buf)
                 : NGX_ABORT;
    }

    call->element = TG_STR_NONE;

    return rc;
}

const char *
ngx_tg_http_append_fields(ngx_tg_call_t *call, const ngx_array_t *fields,
                          char before, tg_buf_t *buf)
{
    ngx_tg_http_field_t *field;
    ngx_uint_t i;
    ngx_int_t rc;
    size_t start;

    field = fields != NULL ? fields->elts : NULL;

    for (i = 0; field != NULL && i < fields->nelts; i++) {
        start = buf->len;
        tg_buf_append(buf, &before, before != '\0');
        tg_buf_append_str(buf, ngx_tg_str_from_ngx(&field[i].name));
        tg_buf_append_char(buf, '=');
        rc = field[i].each != NULL
                 ? ngx_tg_http_field_append_list(call, &field[i], buf)
                 : ngx_tg_http_field_append_value(call, &field[i], buf);

        if (rc == NGX_ERROR || rc == NGX_ABORT) {
            return rc == NGX_ERROR ? TG_TEXT_NO_MEMORY
                                   : NGX_TG_ELEMENTS_MAX_TEXT;
        }

        if (rc == NGX_OK) {
            before = '&';
        } else if (!tg_buf_has_failed(buf)) {
            tg_buf_truncate(buf, start);
        }
    }

    /* The array may not have been found within the steps. */
    return call->is_out_of_steps ? TG_TEXT_NO_MEMORY : NULL;
}

/* --- body [json|form|text] VALUE --- */

static const struct {
    ngx_str_t name;
    const char *type;
} ngx_tg_http_body_types[] = {
    { ngx_string("json"), "application/json" },
    { ngx_string("form"), NGX_TG_FORM_TYPE },
    { ngx_string("text"), "text/plain; charset=utf-8" },
};

enum {
    NGX_TG_BODY_JSON,
    NGX_TG_BODY_FORM,
    NGX_TG_BODY_TEXT,
    NGX_TG_BODY_TYPE_COUNT
};

/*
 * Guesses the type of a body: JSON if the text begins like JSON, or with a
 * variable that is JSON; else text.
 */
static ngx_uint_t
ngx_tg_http_guess_body_type(const ngx_str_t *text)
{
    static const char *const json[] = { "$tool_arguments", "${tool_arguments}",
                                        "$tool_json_", "${tool_json_" };
    tg_str_t body;
    size_t i;

    body = tg_str_skip_blanks(ngx_tg_str_from_ngx(text));

    if (body.len != 0 && tg_is_one_of(body.data[0], "{[")) {
        return NGX_TG_BODY_JSON;
    }

    for (i = 0; i < sizeof(json) / sizeof(json[0]); i++) {
        if (tg_str_has_prefix_nocase(ngx_tg_str_from_ngx(text),
                                     tg_str_from_cstr(json[i])))
        {
            return NGX_TG_BODY_JSON;
        }
    }

    return NGX_TG_BODY_TEXT;
}

/*
 * Checks whether the body is valid JSON, with samples in place of variables.
 * NGX_CONF_OK, or NGX_CONF_ERROR: logged.
 */
static char *
ngx_tg_http_check_json_body(ngx_conf_t *cf, const ngx_tg_template_t *body)
{
    tg_buf_t sample, why;
    char *rv;

    tg_buf_init(&sample, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());
    ngx_tg_template_append_sample(body, &sample);
    rv = NGX_CONF_OK;

    if (tg_json_validate_explain(tg_buf_view(&sample), &why) != TG_OK) {
        rv = ngx_tg_conf_error(cf,
                               "the JSON of \"body\" is not valid: %*s; put "
                               "it between single quotes and double each "
                               "backslash, or write \"body text VALUE\" for a "
                               "body that is not JSON",
                               why.len, why.data);
    }

    tg_buf_deinit(&sample);
    tg_buf_deinit(&why);

    return rv;
}

char *
ngx_tg_http_set_body(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_http_conf_t *http = conf;

    ngx_str_t *value, *text;
    ngx_uint_t kind;

    if (http->body != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    text = &value[cf->args->nelts - 1];
    kind = cf->args->nelts == 2 ? ngx_tg_http_guess_body_type(text) : 0;

    while (
        cf->args->nelts == 3 && kind < NGX_TG_BODY_TYPE_COUNT
        && !tg_str_eq(ngx_tg_str_from_ngx(&value[1]),
                      ngx_tg_str_from_ngx(&ngx_tg_http_body_types[kind].name)))
    {
        kind++;
    }

    if (kind == NGX_TG_BODY_TYPE_COUNT) {
        return ngx_tg_conf_error(cf,
                                 "invalid type \"%V\" in \"%V\"; write one of "
                                 "json, form, text",
                                 &value[1], &cmd->name);
    }

    http->body = kind == NGX_TG_BODY_JSON
                     ? ngx_tg_template_parse_json(cf, text)
                     : ngx_tg_template_parse(cf, text,
                                             kind == NGX_TG_BODY_FORM
                                                 ? NGX_TG_ESCAPE_URL_QUERY
                                                 : NGX_TG_ESCAPE_TEXT,
                                             NULL);

    if (http->body == NULL) {
        return NGX_CONF_ERROR;
    }

    http->body_type = text->len != 0 ? ngx_tg_http_body_types[kind].type : NULL;

    return kind == NGX_TG_BODY_JSON
               ? ngx_tg_http_check_json_body(cf, http->body)
               : NGX_CONF_OK;
}
