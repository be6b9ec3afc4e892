/*
 * What is sent with `http`: headers, the query, the body.
 */
#include "nginx/handlers/ngx_toolgate_http.h"

#include "base/tg_url.h"
#include "base/tg_utf8.h"

#include <ctype.h>

/* A token or a key; more is the wrong file. */
#define NGX_TOOLGATE_SECRET_MAX 16384

ngx_uint_t
ngx_toolgate_http_has_control(const ngx_str_t *text)
{
    size_t i;

    for (i = 0; i < text->len; i++) {
        if ((text->data[i] < ' ' && text->data[i] != '\t')
            || text->data[i] == 0x7f) {
            return 1;
        }
    }

    return 0;
}

/* Those that HTTP itself needs, and that are not the config's business. */
static const char *
ngx_toolgate_http_header_mistake(const ngx_str_t *name)
{
    static const char *const own[] = { "Host",
                                       "Content-Length",
                                       "Transfer-Encoding",
                                       "Connection",
                                       "Keep-Alive",
                                       "Upgrade",
                                       "TE",
                                       "Trailer",
                                       "Expect",
                                       "Accept-Encoding",
                                       "Proxy-Authorization",
                                       "Proxy-Connection" };
    ngx_uint_t i;

    for (i = 0; i < name->len; i++) {
        if (!tg_is_alpha((char) name->data[i])
            && !tg_is_digit((char) name->data[i])
            && !tg_is_one_of((char) name->data[i], "!#$%&'*+-.^_`|~"))
        {
            break;
        }
    }

    if (i == 0 || i != name->len) {
        return "it may have letters, digits and \"-\", such as \"X-Token\"";
    }

    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (ngx_strcasecmp(name->data, (u_char *) own[i]) == 0) {
            return "Toolgate sends it itself; remove it";
        }
    }

    return NULL;
}

ngx_uint_t
ngx_toolgate_http_has(const ngx_array_t *fields, tg_str_t name)
{
    const ngx_toolgate_http_field_t *field;
    ngx_uint_t i;

    for (i = 0; fields != NULL && i < fields->nelts; i++) {
        field = fields->elts;

        if (field[i].name.len == name.len
            && ngx_strncasecmp(field[i].name.data, (u_char *) name.data,
                               name.len)
                   == 0)
        {
            return 1;
        }
    }

    return 0;
}

/* A new element of headers or of the query; NULL: logged. */
static ngx_toolgate_http_field_t *
ngx_toolgate_http_push(ngx_conf_t *cf, ngx_array_t **fields, ngx_str_t *name)
{
    ngx_toolgate_http_field_t *field;
    ngx_str_t *value;

    if (ngx_toolgate_http_has(*fields, ngx_toolgate_str(name))) {
        value = cf->args->elts;
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" has \"%V\" twice; remove one of them",
                           &value[0], &value[1]);
        return NULL;
    }

    field = ngx_toolgate_push(cf, fields, sizeof(ngx_toolgate_http_field_t));

    if (field != NULL) {
        field->name = *name;
    }

    return field;
}

/* A secret has no variables, though there may be a dollar in it. */
static char *
ngx_toolgate_http_secret(ngx_conf_t *cf, ngx_toolgate_http_field_t *field,
                         ngx_str_t *path)
{
    ngx_file_info_t fi;
    ngx_str_t text;

    if (ngx_toolgate_read_file(cf, path, &text) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    while (text.len != 0
           && (text.data[text.len - 1] == LF || text.data[text.len - 1] == CR))
    {
        text.len--;
    }

    if (text.len == 0 || text.len > NGX_TOOLGATE_SECRET_MAX
        || ngx_toolgate_http_has_control(&text)
        || !tg_utf8_is_valid(ngx_toolgate_str(&text)))
    {
        return ngx_toolgate_refuse(cf,
                                   "\"%V\" of \"header\" must have one line, "
                                   "of at most 16 KiB: the header's value",
                                   path);
    }

    if (ngx_file_info(path->data, &fi) != NGX_FILE_ERROR
        && (ngx_file_access(&fi) & S_IROTH))
    {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "everybody can read \"%V\" of \"header\"; take that "
                           "right away (chmod o-r) if it is a secret",
                           path);
    }

    field->value.value = text;
    field->is_secret = 1;

    return NGX_CONF_OK;
}

char *
ngx_toolgate_http_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_http_t *http = conf;

    ngx_toolgate_http_field_t *field;
    const char *mistake;
    ngx_str_t *value, path;

    (void) cmd;
    value = cf->args->elts;
    mistake = ngx_toolgate_http_header_mistake(&value[1]);

    if (mistake != NULL) {
        return ngx_toolgate_refuse(cf, "invalid name \"%V\" in \"header\": %s",
                                   &value[1], mistake);
    }

    field = ngx_toolgate_http_push(cf, &http->headers, &value[1]);
    if (field == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_strcasecmp(value[1].data, (u_char *) "Content-Type") == 0) {
        http->has_type = 1;
    }

    if (value[2].len > 5 && ngx_strncmp(value[2].data, "file=", 5) == 0) {
        path.data = value[2].data + 5;
        path.len = value[2].len - 5;
        return ngx_toolgate_http_secret(cf, field, &path);
    }

    if (ngx_toolgate_http_has_control(&value[2])) {
        return ngx_toolgate_refuse(cf,
                                   "the value of \"%V\" in \"header\" must "
                                   "have no line's end and no other "
                                   "control character",
                                   &value[1]);
    }

    return ngx_toolgate_compile(cf, &value[2], &field->value) == NGX_OK
               ? NGX_CONF_OK
               : NGX_CONF_ERROR;
}

char *
ngx_toolgate_http_field(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_http_t *http = conf;

    ngx_toolgate_http_field_t *field;
    ngx_str_t *value, name;
    tg_buf_t buf;

    (void) cmd;
    value = cf->args->elts;

    if (value[1].len == 0 || ngx_strchr(value[1].data, '$') != NULL) {
        return ngx_toolgate_refuse(cf,
                                   "invalid name \"%V\" in \"query\"; write "
                                   "\"query NAME VALUE\", with variables in "
                                   "the value",
                                   &value[1]);
    }

    name.data = ngx_pnalloc(cf->pool, value[1].len * 3);
    if (name.data == NULL) {
        return NGX_CONF_ERROR;
    }

    buf = tg_buf_fixed((char *) name.data, value[1].len * 3);
    tg_url_put(&buf, ngx_toolgate_str(&value[1]));
    name.len = buf.len;
    field = ngx_toolgate_http_push(cf, &http->query, &name);

    return field != NULL
                   && ngx_toolgate_compile(cf, &value[2], &field->value)
                          == NGX_OK
               ? NGX_CONF_OK
               : NGX_CONF_ERROR;
}

/* --- body [json|form|text] VALUE --- */

static const struct {
    ngx_str_t name;
    const char *type;
} ngx_toolgate_http_bodies[] = {
    { ngx_string("json"), "application/json" },
    { ngx_string("form"), "application/x-www-form-urlencoded" },
    { ngx_string("text"), "text/plain; charset=utf-8" },
};

enum {
    NGX_TOOLGATE_BODY_JSON,
    NGX_TOOLGATE_BODY_FORM,
    NGX_TOOLGATE_BODY_TEXT,
    NGX_TOOLGATE_BODIES
};

/* JSON where it begins as such, or is a variable that is JSON. */
static ngx_uint_t
ngx_toolgate_http_guess(const ngx_str_t *text)
{
    static const char *const json[] = { "$tool_arguments", "${tool_arguments}",
                                        "$tool_json_", "${tool_json_" };
    size_t i;

    for (i = 0; i < text->len && isspace(text->data[i]); i++) {
        /* void */
    }

    if (i < text->len && (text->data[i] == '{' || text->data[i] == '[')) {
        return NGX_TOOLGATE_BODY_JSON;
    }

    for (i = 0; i < sizeof(json) / sizeof(json[0]); i++) {
        if (ngx_strncasecmp(text->data, (u_char *) json[i], ngx_strlen(json[i]))
            == 0) {
            return NGX_TOOLGATE_BODY_JSON;
        }
    }

    return NGX_TOOLGATE_BODY_TEXT;
}

/* Would it be JSON?  If not, that is logged. */
static char *
ngx_toolgate_http_body_json(ngx_conf_t *cf, const ngx_toolgate_template_t *body)
{
    tg_buf_t sample, why;
    char *rv;

    tg_buf_init(&sample, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());
    ngx_toolgate_template_sample(body, &sample);
    rv = NGX_CONF_OK;

    if (tg_json_explain(tg_buf_view(&sample), &why) != TG_OK) {
        rv = ngx_toolgate_refuse(cf,
                                 "the JSON of \"body\" is not valid: %*s; put "
                                 "it between single quotes and double each "
                                 "backslash, or write \"body text VALUE\" for "
                                 "what is no JSON",
                                 why.len, why.data);
    }

    tg_buf_deinit(&sample);
    tg_buf_deinit(&why);

    return rv;
}

char *
ngx_toolgate_http_body(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_http_t *http = conf;

    ngx_str_t *value, *text;
    ngx_uint_t kind;

    if (http->body != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    text = &value[cf->args->nelts - 1];
    kind = cf->args->nelts == 2 ? ngx_toolgate_http_guess(text) : 0;

    while (
        cf->args->nelts == 3 && kind < NGX_TOOLGATE_BODIES
        && !tg_str_eq(ngx_toolgate_str(&value[1]),
                      ngx_toolgate_str(&ngx_toolgate_http_bodies[kind].name)))
    {
        kind++;
    }

    if (kind == NGX_TOOLGATE_BODIES) {
        return ngx_toolgate_refuse(
            cf,
            "invalid kind \"%V\" in \"%V\"; write one of "
            "json, form, text",
            &value[1], &cmd->name);
    }

    http->body = kind == NGX_TOOLGATE_BODY_JSON
                     ? ngx_toolgate_template_json(cf, text)
                     : ngx_toolgate_template(cf, text,
                                             kind == NGX_TOOLGATE_BODY_FORM
                                                 ? NGX_TOOLGATE_QUERY
                                                 : NGX_TOOLGATE_TEXT,
                                             NULL);

    if (http->body == NULL) {
        return NGX_CONF_ERROR;
    }

    http->body_type = text->len != 0 ? ngx_toolgate_http_bodies[kind].type
                                     : NULL;

    return kind == NGX_TOOLGATE_BODY_JSON
               ? ngx_toolgate_http_body_json(cf, http->body)
               : NGX_CONF_OK;
}
