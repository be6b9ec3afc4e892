/*
 * `tool_log` and `tool_log_format`.
 */
#include "nginx/conf/ngx_toolgate_handler.h"
#include "nginx/log/ngx_toolgate_log.h"

/* In whole: more would keep lines from those who watch for long. */
#define NGX_TOOLGATE_LOG_BUFFER_MAX 67108864

static const ngx_toolgate_format_t ngx_toolgate_formats[] = {
    { .name = ngx_string("default") },
    { .name = ngx_string("json"), .escape = NGX_TOOLGATE_ESCAPE_JSON },
};

/* --- values --- */

static ngx_uint_t
ngx_toolgate_begins(tg_str_t name, const char *prefix)
{
    size_t len;

    len = ngx_strlen(prefix);

    return name.len >= len
           && ngx_strncasecmp((u_char *) name.data, (u_char *) prefix, len)
                  == 0;
}

/*
 * May its value depend on a call's arguments?  What is not ours may be a map
 * of them.
 */
static ngx_uint_t
ngx_toolgate_is_of_arguments(tg_str_t name)
{
    return !ngx_toolgate_begins(name, "tool_")
           || ngx_toolgate_begins(name, "tool_arg")
           || ngx_toolgate_begins(name, "tool_json_")
           || ngx_toolgate_begins(name, "tool_has_");
}

/*
 * One variable of a text.  Paths into arguments are for a tool's own values,
 * which know its schema.
 */
static char *
ngx_toolgate_log_variable(ngx_conf_t *cf, const tg_value_token_t *token,
                          ngx_toolgate_piece_t *piece)
{
    ngx_str_t text;

    if (tg_value_is_braced(token->name)) {
        return ngx_toolgate_refuse(cf,
                                   "\"%*s\" is for values of a tool; log the "
                                   "whole argument, or $tool_arguments",
                                   token->text.len, token->text.data);
    }

    text.data = (u_char *) token->text.data;
    text.len = token->text.len;
    piece->value = ngx_toolgate_compile_new(cf, &text);

    return piece->value != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* Appends a text, in pieces. */
static char *
ngx_toolgate_log_pieces(ngx_conf_t *cf, ngx_str_t *text, ngx_array_t *pieces,
                        ngx_uint_t *needs_arguments)
{
    ngx_toolgate_piece_t *piece;
    tg_value_token_t token;
    tg_str_t rest;
    char *rv;
    int rc;

    rest = ngx_toolgate_str(text);

    while ((rc = tg_value_next(&rest, &token)) == TG_OK) {
        piece = ngx_array_push(pieces);
        if (piece == NULL) {
            return NGX_CONF_ERROR;
        }

        piece->text = token.text;
        piece->value = NULL;

        if (token.name.data == NULL) {
            continue;
        }

        *needs_arguments |= ngx_toolgate_is_of_arguments(token.name);
        rv = ngx_toolgate_log_variable(cf, &token, piece);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return rc == TG_END ? NGX_CONF_OK
                        : ngx_toolgate_refuse(
                            cf,
                            "\"$\" starts a variable's name in \"%V\"; for "
                            "the character itself write \"$$\"",
                            text);
}

/* --- formats --- */

static const ngx_toolgate_format_t *
ngx_toolgate_format_of(ngx_toolgate_main_conf_t *mcf, ngx_str_t *name)
{
    ngx_toolgate_format_t **formats;
    ngx_uint_t i;

    for (i = 0;
         i < sizeof(ngx_toolgate_formats) / sizeof(ngx_toolgate_formats[0]);
         i++)
    {
        if (ngx_strcmp(name->data, ngx_toolgate_formats[i].name.data) == 0) {
            return &ngx_toolgate_formats[i];
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

/* Is it `escape=…`?  NGX_DECLINED: no; NGX_ERROR: there is no such. */
static ngx_int_t
ngx_toolgate_format_escape(ngx_str_t *value, ngx_toolgate_escape_t *escape)
{
    static const char *const names[] = { "default", "json", "none" };

    ngx_uint_t i;

    if (ngx_strncmp(value->data, "escape=", 7) != 0) {
        return NGX_DECLINED;
    }

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ngx_strcmp(value->data + 7, names[i]) == 0) {
            *escape = (ngx_toolgate_escape_t) i;
            return NGX_OK;
        }
    }

    return NGX_ERROR;
}

/* tool_log_format NAME [escape=default|json|none] TEXT ... */
char *
ngx_toolgate_conf_log_format(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_format_t *format, **slot;
    ngx_uint_t i;
    ngx_str_t *value;
    ngx_int_t rc;
    char *rv;

    (void) conf;
    value = cf->args->elts;
    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);

    if (ngx_toolgate_format_of(mcf, &value[1]) != NULL) {
        return ngx_toolgate_refuse(cf,
                                   "there is a format \"%V\" already; give "
                                   "this \"%V\" another name",
                                   &value[1], &cmd->name);
    }

    format = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_format_t));
    slot = ngx_array_push(&mcf->formats);

    if (format == NULL || slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = format;
    format->name = value[1];
    format->pieces = ngx_array_create(cf->pool, 16,
                                      sizeof(ngx_toolgate_piece_t));

    if (format->pieces == NULL) {
        return NGX_CONF_ERROR;
    }

    rc = ngx_toolgate_format_escape(&value[2], &format->escape);

    if (rc == NGX_ERROR || (rc == NGX_OK && cf->args->nelts == 3)) {
        return ngx_toolgate_refuse(cf,
                                   "invalid \"%V\" in \"%V\"; write "
                                   "escape=default, escape=json or "
                                   "escape=none, and then the format",
                                   &value[2], &cmd->name);
    }

    for (i = rc == NGX_OK ? 3 : 2, rv = NGX_CONF_OK;
         rv == NGX_CONF_OK && i < cf->args->nelts; i++)
    {
        rv = ngx_toolgate_log_pieces(cf, &value[i], format->pieces,
                                     &format->needs_arguments);
    }

    return rv;
}

/* --- logs --- */

typedef struct {
    ssize_t size;
    ngx_msec_t flush;
} ngx_toolgate_log_buffer_t;

const char *
ngx_toolgate_conf_if(ngx_conf_t *cf, ngx_str_t *text,
                     ngx_stream_complex_value_t **filter, tg_str_t *name)
{
    tg_value_token_t token;
    tg_str_t rest;

    rest = ngx_toolgate_str(text);

    if (tg_value_next(&rest, &token) != TG_OK || token.name.data == NULL
        || rest.len != 0 || tg_value_is_braced(token.name))
    {
        return "write one variable, such as \"if=$is_logged\", which is empty "
               "or 0 for what is not to be logged";
    }

    *name = token.name;
    *filter = ngx_toolgate_compile_new(cf, text);

    return *filter != NULL ? NULL : "there is no memory for it";
}

ngx_uint_t
ngx_toolgate_is_yes(ngx_stream_session_t *s, ngx_stream_complex_value_t *filter)
{
    ngx_str_t value;

    return filter == NULL
           || (ngx_stream_complex_value(s, filter, &value) == NGX_OK
               && value.len != 0 && (value.len != 1 || value.data[0] != '0'));
}

/* What is wrong with one more argument of tool_log: NULL, or what to write. */
static const char *
ngx_toolgate_log_parameter(ngx_conf_t *cf, ngx_toolgate_log_t *log,
                           ngx_toolgate_log_buffer_t *buffer, ngx_str_t *value)
{
    const char *why;
    tg_str_t name;
    ngx_str_t s;

    if (ngx_strncmp(value->data, "buffer=", 7) == 0) {
        s.data = value->data + 7;
        s.len = value->len - 7;
        buffer->size = ngx_parse_size(&s);

        return buffer->size > 0 && buffer->size <= NGX_TOOLGATE_LOG_BUFFER_MAX
                   ? NULL
                   : "write a size of at most 64m, such as \"buffer=32k\"";
    }

    if (ngx_strncmp(value->data, "flush=", 6) == 0) {
        s.data = value->data + 6;
        s.len = value->len - 6;
        buffer->flush = (ngx_msec_t) ngx_parse_time(&s, 0);

        return buffer->flush != (ngx_msec_t) NGX_ERROR && buffer->flush != 0
                   ? NULL
                   : "write a time, such as \"flush=5s\"";
    }

    if (ngx_strncmp(value->data, "if=", 3) == 0) {
        s.data = value->data + 3;
        s.len = value->len - 3;

        why = ngx_toolgate_conf_if(cf, &s, &log->filter, &name);
        log->needs_arguments |= why == NULL
                                && ngx_toolgate_is_of_arguments(name);

        return why;
    }

    return "write \"buffer=SIZE\", \"flush=TIME\" or \"if=VALUE\" behind the "
           "format";
}

/* The first argument: a path, or syslog. */
static char *
ngx_toolgate_log_sink(ngx_conf_t *cf, ngx_toolgate_log_t *log, ngx_str_t *value)
{
    if (ngx_strncmp(value->data, "syslog:", 7) == 0) {
        log->sink = ngx_toolgate_sink_syslog(cf);

    } else if (ngx_strlchr(value->data, value->data + value->len, '$') != NULL)
    {
        return ngx_toolgate_refuse(cf,
                                   "\"%V\" has a variable, and a log of calls "
                                   "is one file; give tools logs of their own, "
                                   "or choose lines by \"if=\"",
                                   value);

    } else {
        log->sink = ngx_toolgate_sink_file(cf, value);
    }

    return log->sink != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_toolgate_log_buffer(ngx_conf_t *cf, ngx_toolgate_log_t *log,
                        const ngx_toolgate_log_buffer_t *buffer)
{
    ngx_str_t *value;
    const char *why;

    value = cf->args->elts;

    if (buffer->flush != 0 && buffer->size == 0) {
        why = "has a \"flush\" but no \"buffer\"; add \"buffer=32k\"";
    } else if (ngx_strncmp(value[1].data, "syslog:", 7) == 0) {
        why = buffer->size != 0 ? "has no buffer; remove \"buffer\"" : NULL;
    } else {
        why = ngx_toolgate_sink_buffer(cf, log->sink, (size_t) buffer->size,
                                       buffer->flush);
    }

    return why == NULL ? NGX_CONF_OK
                       : ngx_toolgate_refuse(cf, "\"%V\" of \"%V\" %s",
                                             &value[1], &value[0], why);
}

/* What stands behind the first argument. */
static char *
ngx_toolgate_log_parameters(ngx_conf_t *cf, ngx_toolgate_log_t *log)
{
    ngx_toolgate_log_buffer_t buffer;
    ngx_toolgate_main_conf_t *mcf;
    ngx_str_t *value;
    const char *why;
    ngx_uint_t i;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    value = cf->args->elts;
    log->format = &ngx_toolgate_formats[0];
    ngx_memzero(&buffer, sizeof(buffer));
    i = 2;

    if (cf->args->nelts > 2 && ngx_strchr(value[2].data, '=') == NULL) {
        log->format = ngx_toolgate_format_of(mcf, &value[2]);
        i = 3;
    }

    if (log->format == NULL) {
        return ngx_toolgate_refuse(cf,
                                   "there is no format \"%V\"; write "
                                   "\"default\", \"json\", or the name of a "
                                   "tool_log_format that stands further up",
                                   &value[2]);
    }

    for (/* void */; i < cf->args->nelts; i++) {
        why = ngx_toolgate_log_parameter(cf, log, &buffer, &value[i]);

        if (why != NULL) {
            return ngx_toolgate_refuse(cf, "invalid \"%V\" in \"%V\"; %s",
                                       &value[i], &value[0], why);
        }
    }

    log->needs_arguments |= log->format->needs_arguments;

    return ngx_toolgate_log_buffer(cf, log, &buffer);
}

/* tool_log PATH|syslog:... [FORMAT] [buffer=SIZE [flush=TIME]] [if=VALUE] */
char *
ngx_toolgate_conf_log(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_log_t *log;
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
        return "with \"off\" takes nothing else";
    }

    if (is_off) {
        *logs = ngx_array_create(cf->pool, 1, sizeof(ngx_toolgate_log_t));
        return *logs != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
    }

    log = ngx_toolgate_push(cf, logs, sizeof(ngx_toolgate_log_t));

    if (log == NULL) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_toolgate_log_sink(cf, log, &value[1]);

    return rv == NGX_CONF_OK ? ngx_toolgate_log_parameters(cf, log) : rv;
}
