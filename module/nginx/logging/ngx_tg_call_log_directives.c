/* The directives `tool_log` and `tool_log_format`. */
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/logging/ngx_tg_logging.h"

/* Maximum buffer size in bytes; a larger buffer would delay lines too long. */
#define NGX_TG_LOG_BUFFER_MAX 67108864

static const ngx_tg_log_format_t ngx_tg_log_builtin_formats[] = {
    { .name = ngx_string("default") },
    { .name = ngx_string("json"), .escape = NGX_TG_ESCAPE_JSON },
};

/* --- values --- */

/* Checks for arguments, or variables of other modules, maybe maps of them. */
static ngx_uint_t
ngx_tg_variable_uses_arguments(tg_str_t name)
{
    return !tg_str_has_prefix_nocase(name, TG_STR("tool_"))
           || tg_str_has_prefix_nocase(name, TG_STR("tool_arg"))
           || tg_str_has_prefix_nocase(name, TG_STR("tool_json_"))
           || tg_str_has_prefix_nocase(name, TG_STR("tool_has_"));
}

/* Adds a variable, but no argument path: it would need a tool's schema. */
static char *
ngx_tg_log_format_add_variable(ngx_conf_t *cf, const tg_template_token_t *token,
                               ngx_tg_log_format_piece_t *piece)
{
    ngx_str_t text;

    if (tg_variable_has_special_chars(token->name)) {
        return ngx_tg_conf_error(cf,
                                 "\"%*s\" cannot be logged; log the whole "
                                 "argument, or $tool_arguments",
                                 token->text.len, token->text.data);
    }

    text.data = (u_char *) token->text.data;
    text.len = token->text.len;
    piece->value = ngx_tg_value_compile_new(cf, &text);

    return piece->value != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* Appends a text to a format, split into pieces. */
static char *
ngx_tg_log_format_add_text(ngx_conf_t *cf, ngx_str_t *text, ngx_array_t *pieces,
                           ngx_uint_t *needs_arguments)
{
    ngx_tg_log_format_piece_t *piece;
    tg_template_token_t token;
    tg_str_t rest;
    char *rv;
    int rc;

    rest = ngx_tg_str_from_ngx(text);

    while ((rc = tg_template_next(&rest, &token)) == TG_OK) {
        piece = ngx_array_push(pieces);
        if (piece == NULL) {
            return NGX_CONF_ERROR;
        }

        piece->text = token.text;
        piece->value = NULL;

        if (token.name.data == NULL) {
            continue;
        }

        *needs_arguments |= ngx_tg_variable_uses_arguments(token.name);
        rv = ngx_tg_log_format_add_variable(cf, &token, piece);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return rc == TG_END ? NGX_CONF_OK
                        : ngx_tg_conf_error(
                            cf,
                            "\"$\" starts a variable's name in \"%V\"; for "
                            "the character itself write \"$$\"",
                            text);
}

/* --- formats --- */

static const ngx_tg_log_format_t *
ngx_tg_log_format_find(ngx_tg_main_conf_t *mcf, ngx_str_t *name)
{
    ngx_tg_log_format_t **formats;
    ngx_uint_t i;

    for (i = 0; i < sizeof(ngx_tg_log_builtin_formats)
                        / sizeof(ngx_tg_log_builtin_formats[0]);
         i++)
    {
        if (ngx_strcmp(name->data, ngx_tg_log_builtin_formats[i].name.data)
            == 0) {
            return &ngx_tg_log_builtin_formats[i];
        }
    }

    formats = mcf->formats.elts;

    for (i = 0; i < mcf->formats.nelts; i++) {
        if (ngx_strcmp(name->data, formats[i]->name.data) == 0) {
            return formats[i];
        }
    }

    return NULL;
}

/* Parses `escape=...`. NGX_DECLINED: another argument. */
static ngx_int_t
ngx_tg_log_format_parse_escape(ngx_str_t *value, ngx_tg_log_escape_t *escape)
{
    static const char *const names[] = { "default", "json", "none", NULL };
    ngx_str_t name;
    int i;

    if (!ngx_tg_arg_has_name(value, "escape=", &name)) {
        return NGX_DECLINED;
    }

    i = tg_str_find(ngx_tg_str_from_ngx(&name), names);
    *escape = i >= 0 ? (ngx_tg_log_escape_t) i : *escape;

    return i >= 0 ? NGX_OK : NGX_ERROR;
}

/* tool_log_format NAME [escape=default|json|none] TEXT ... */
char *
ngx_tg_conf_add_log_format(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_log_format_t *format, **slot;
    ngx_uint_t i;
    ngx_str_t *value;
    ngx_int_t rc;
    char *rv;

    value = cf->args->elts;
    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);

    if (ngx_tg_log_format_find(mcf, &value[1]) != NULL) {
        return ngx_tg_conf_error(cf,
                                 "duplicate format \"%V\"; give this \"%V\" "
                                 "another name",
                                 &value[1], &cmd->name);
    }

    format = ngx_pcalloc(cf->pool, sizeof(ngx_tg_log_format_t));
    slot = ngx_array_push(&mcf->formats);

    if (format == NULL || slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = format;
    format->name = value[1];
    format->pieces = ngx_array_create(cf->pool, 16,
                                      sizeof(ngx_tg_log_format_piece_t));

    if (format->pieces == NULL) {
        return NGX_CONF_ERROR;
    }

    rc = ngx_tg_log_format_parse_escape(&value[2], &format->escape);

    if (rc == NGX_ERROR || (rc == NGX_OK && cf->args->nelts == 3)) {
        return ngx_tg_conf_error(cf,
                                 "invalid \"%V\" in \"%V\"; write "
                                 "escape=default, escape=json or "
                                 "escape=none, and then the format",
                                 &value[2], &cmd->name);
    }

    for (i = rc == NGX_OK ? 3 : 2, rv = NGX_CONF_OK;
         rv == NGX_CONF_OK && i < cf->args->nelts; i++)
    {
        rv = ngx_tg_log_format_add_text(cf, &value[i], format->pieces,
                                        &format->needs_arguments);
    }

    return rv;
}

/* --- logs --- */

typedef struct {
    int64_t size;
    int64_t flush;
} ngx_tg_log_buffer_params_t;

const char *
ngx_tg_conf_parse_filter(ngx_conf_t *cf, ngx_str_t *text,
                         ngx_stream_complex_value_t **filter, tg_str_t *name)
{
    tg_template_token_t token;
    tg_str_t rest;

    rest = ngx_tg_str_from_ngx(text);

    if (tg_template_next(&rest, &token) != TG_OK || token.name.data == NULL
        || rest.len != 0 || tg_variable_has_special_chars(token.name))
    {
        return "write one variable, such as \"if=$is_logged\", which is empty "
               "or 0 for calls that are not to be logged";
    }

    *name = token.name;
    *filter = ngx_tg_value_compile_new(cf, text);

    return *filter != NULL ? NULL : "there is no memory for it";
}

ngx_uint_t
ngx_tg_filter_matches(ngx_stream_session_t *s,
                      ngx_stream_complex_value_t *filter)
{
    ngx_str_t value;

    return filter == NULL
           || (ngx_stream_complex_value(s, filter, &value) == NGX_OK
               && value.len != 0 && (value.len != 1 || value.data[0] != '0'));
}

/* Parses an optional argument. Returns NULL or an error message's end. */
static const char *
ngx_tg_log_parse_parameter(ngx_conf_t *cf, ngx_tg_call_log_t *log,
                           ngx_tg_log_buffer_params_t *buffer, ngx_str_t *value)
{
    const char *why;
    tg_str_t name;
    ngx_str_t s;

    if (ngx_tg_arg_has_name(value, "buffer=", &s)) {
        return ngx_tg_arg_parse(TG_SPEC_SIZE, &s, 1, NGX_TG_LOG_BUFFER_MAX,
                                &buffer->size)
                       == NGX_OK
                   ? NULL
                   : "write a size of at most 64m, such as \"buffer=32k\"";
    }

    if (ngx_tg_arg_has_name(value, "flush=", &s)) {
        return ngx_tg_arg_parse(TG_SPEC_TIME, &s, 1, INT64_MAX, &buffer->flush)
                       == NGX_OK
                   ? NULL
                   : "write a time, such as \"flush=5s\"";
    }

    if (ngx_tg_arg_has_name(value, "if=", &s)) {
        why = ngx_tg_conf_parse_filter(cf, &s, &log->filter, &name);
        log->needs_arguments |= why == NULL
                                && ngx_tg_variable_uses_arguments(name);

        return why;
    }

    return "write \"buffer=SIZE\", \"flush=TIME\" or \"if=VALUE\" after the "
           "format";
}

/* Parses the first argument: a path, or syslog. */
static char *
ngx_tg_log_parse_sink(ngx_conf_t *cf, ngx_tg_call_log_t *log, ngx_str_t *value)
{
    if (ngx_strncmp(value->data, "syslog:", 7) == 0) {
        log->sink = ngx_tg_log_sink_open_syslog(cf);

    } else if (ngx_strlchr(value->data, value->data + value->len, '$') != NULL)
    {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" has a variable, but a log of calls is "
                                 "one file; write a log for each tool, or "
                                 "select lines with \"if=\"",
                                 value);

    } else {
        log->sink = ngx_tg_log_sink_open_file(cf, value);
    }

    return log->sink != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_tg_log_init_buffer(ngx_conf_t *cf, ngx_tg_call_log_t *log,
                       const ngx_tg_log_buffer_params_t *buffer)
{
    ngx_str_t *value;
    const char *why;

    value = cf->args->elts;

    if (buffer->flush != 0 && buffer->size == 0) {
        why = "has a \"flush\" but no \"buffer\"; add \"buffer=32k\"";
    } else if (ngx_strncmp(value[1].data, "syslog:", 7) == 0) {
        why = buffer->size != 0 ? "has no buffer; remove \"buffer\"" : NULL;
    } else {
        why = ngx_tg_log_sink_set_buffer(cf, log->sink, (size_t) buffer->size,
                                         (ngx_msec_t) buffer->flush);
    }

    return why == NULL ? NGX_CONF_OK
                       : ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", &value[1],
                                           &value[0], why);
}

static char *
ngx_tg_log_parse_parameters(ngx_conf_t *cf, ngx_tg_call_log_t *log)
{
    ngx_tg_log_buffer_params_t buffer;
    ngx_tg_main_conf_t *mcf;
    ngx_str_t *value;
    const char *why;
    ngx_uint_t i;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    value = cf->args->elts;
    log->format = &ngx_tg_log_builtin_formats[0];
    ngx_memzero(&buffer, sizeof(buffer));
    i = 2;

    if (cf->args->nelts > 2 && ngx_strchr(value[2].data, '=') == NULL) {
        log->format = ngx_tg_log_format_find(mcf, &value[2]);
        i = 3;
    }

    if (log->format == NULL) {
        return ngx_tg_conf_error(cf,
                                 "unknown format \"%V\"; write \"default\", "
                                 "\"json\", or the name of a tool_log_format "
                                 "that is defined before this line",
                                 &value[2]);
    }

    for (/* void */; i < cf->args->nelts; i++) {
        why = ngx_tg_log_parse_parameter(cf, log, &buffer, &value[i]);

        if (why != NULL) {
            return ngx_tg_conf_error(cf, "invalid \"%V\" in \"%V\"; %s",
                                     &value[i], &value[0], why);
        }
    }

    log->needs_arguments |= log->format->needs_arguments;

    return ngx_tg_log_init_buffer(cf, log, &buffer);
}

/* tool_log PATH|syslog:... [FORMAT] [buffer=SIZE [flush=TIME]] [if=VALUE] */
char *
ngx_tg_conf_add_log(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_call_log_t *log;
    ngx_array_t **logs;
    ngx_str_t *value;
    ngx_uint_t is_off;
    char *rv;

    logs = (ngx_array_t **) (void *) ((char *) conf + cmd->offset);
    value = cf->args->elts;
    is_off = ngx_strcmp(value[1].data, "off") == 0;

    if (*logs != NULL && (is_off || (*logs)->nelts == 0)) {
        return "has both \"off\" and something else in this block; keep one";
    }

    if (is_off && cf->args->nelts != 2) {
        return "takes nothing after \"off\"";
    }

    if (is_off) {
        *logs = ngx_array_create(cf->pool, 1, sizeof(ngx_tg_call_log_t));
        return *logs != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
    }

    log = ngx_tg_conf_array_push(cf, logs, sizeof(ngx_tg_call_log_t));

    if (log == NULL) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_tg_log_parse_sink(cf, log, &value[1]);

    return rv == NGX_CONF_OK ? ngx_tg_log_parse_parameters(cf, log) : rv;
}
