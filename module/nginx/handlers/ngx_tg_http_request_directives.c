/*
 * Directives of `http`, and the checks that are possible when the config is
 * read.
 */
#include "nginx/handlers/ngx_tg_http.h"

#include "base/tg_url.h"

/* --- checks of the whole block --- */

static ngx_uint_t
ngx_tg_http_is_empty(const ngx_tg_http_conf_t *http)
{
    return http->headers == NULL && http->query == NULL && http->body == NULL
           && http->form == NULL && http->hosts == NULL && http->proxy.len == 0
           && http->ca_file.len == 0
           && tg_spec_find_set(tg_http_fields, &http->options) == NULL;
}

/* Checks whether a request can reach a host that the config does not name. */
static ngx_uint_t
ngx_tg_http_has_unnamed_host(const ngx_tg_http_conf_t *http)
{
    const ngx_str_t *hosts;
    ngx_uint_t i;

    if (http->hosts == NULL) {
        return http->options.redirects > 0;
    }

    hosts = http->hosts->elts;

    for (i = 0; i < http->hosts->nelts; i++) {
        if (hosts[i].data[0] == '*') {
            return 1;
        }
    }

    return 0;
}

const char *
ngx_tg_http_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_http_conf_t *http = conf;

    if (http->method.len == 0) {
        return ngx_tg_http_is_empty(http)
                   ? NULL
                   : "has no \"http\", so \"header\", \"query\", "
                     "\"field\", \"body\", \"hosts\", \"redirects\", "
                     "\"proxy\", \"ca_file\" and \"connect_timeout\" have no "
                     "effect; remove them";
    }

    if (http->body != NULL && http->form != NULL) {
        return "has a \"body\" and a \"field\", which is a part of a form; "
               "remove one of them";
    }

    if ((http->body != NULL || http->form != NULL)
        && (ngx_strcmp(http->method.data, "GET") == 0
            || ngx_strcmp(http->method.data, "HEAD") == 0))
    {
        return http->form != NULL
                   ? "has a \"field\", but GET and HEAD have no body; write "
                     "\"query\", or use another method"
                   : "has a \"body\", but GET and HEAD have no body; remove "
                     "it, or use another method";
    }

    return NULL;
}

const char *
ngx_tg_http_check_merged(const void *conf)
{
    const ngx_tg_http_conf_t *http = conf;

    if (http->host.len == 0 && http->hosts == NULL) {
        return "has variables in the host of \"http\"; list the allowed hosts, "
               "such as \"hosts api.example.com "
               "*.example.org\"";
    }

    if (http->host.len != 0 && http->has_hosts && http->options.redirects <= 0)
    {
        return "calls one host and follows no redirects, so \"hosts\" has no "
               "effect; remove it";
    }

    if (http->proxy.len != 0 && ngx_tg_http_has_unnamed_host(http)) {
        return "has a \"proxy\", so Toolgate cannot check whether an address "
               "is public; name each host in \"hosts\"";
    }

    return NULL;
}

void
ngx_tg_http_inherit(const ngx_tg_tool_t *tool, void *own, const void *from)
{
    const ngx_tg_http_conf_t *server = from;
    ngx_tg_http_conf_t *http = own;

    if (http->headers == NULL) {
        http->headers = server->headers;
        http->has_type = server->has_type;
    }

    if (http->query == NULL) {
        http->query = server->query;
    }

    tg_spec_inherit(tg_http_fields, &http->options, &server->options);

    /* A fixed host without redirects needs no list of hosts. */
    if (http->hosts == NULL
        && (tool == NULL || http->host.len == 0 || http->options.redirects > 0))
    {
        http->hosts = server->hosts;
    }

    if (http->proxy.len == 0) {
        http->proxy = server->proxy;
    }

    if (http->ca_file.len == 0) {
        http->ca_file = server->ca_file;
    }
}

/* --- http METHOD URL --- */

/*
 * Returns the escape context after a text of the URL: host, then path, then
 * query.
 */
static ngx_tg_escape_context_t
ngx_tg_http_next_url_context(ngx_tg_escape_context_t place,
                             const ngx_str_t *text)
{
    size_t i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] == '?') {
            return NGX_TG_ESCAPE_URL_QUERY;
        }

        if (text->data[i] == '/' && place == NGX_TG_ESCAPE_URL_HOST) {
            place = NGX_TG_ESCAPE_URL_PATH;
        }
    }

    return place;
}

static ngx_uint_t
ngx_tg_http_has_variable_host(const ngx_tg_http_conf_t *http)
{
    const ngx_tg_template_piece_t *pieces;
    ngx_uint_t i;

    pieces = http->url->elts;

    for (i = 0; i < http->url->nelts; i++) {
        if (pieces[i].value != NULL
            && pieces[i].place == NGX_TG_ESCAPE_URL_HOST) {
            return 1;
        }
    }

    return 0;
}

/* Checks the URL with samples in place of variables, and sets the host. */
static char *
ngx_tg_http_check_url(ngx_conf_t *cf, ngx_tg_http_conf_t *http, ngx_str_t *text)
{
    const char *why;
    tg_url_t url;
    tg_buf_t buf;
    u_char *p;

    tg_buf_init(&buf, tg_alloc_libc());
    tg_buf_append_str(&buf, ngx_tg_str_from_ngx(&http->scheme));
    ngx_tg_template_append_sample(http->url, &buf);
    p = NULL;
    why = TG_TEXT_NO_MEMORY;

    if (!tg_buf_has_failed(&buf)
        && tg_url_parse(tg_buf_view(&buf), &url, &why) == TG_OK)
    {
        why = "its path must not contain \".\" or \"..\"";
        p = tg_url_has_dot_segments(url.path)
                ? NULL
                : ngx_pnalloc(cf->pool, url.host.len + sizeof(":65535"));
    }

    if (p != NULL && !ngx_tg_http_has_variable_host(http)) {
        http->host.data = p;
        http->host.len = ngx_sprintf(p, "%*s:%ui", url.host.len, url.host.data,
                                     (ngx_uint_t) url.port)
                         - p;
    }

    tg_buf_deinit(&buf);

    return p != NULL
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf, "invalid URL \"%V\" in \"http\": %s",
                                   text, why);
}

static char *
ngx_tg_http_set_url(ngx_conf_t *cf, ngx_tg_http_conf_t *http, ngx_str_t *text)
{
    ngx_tg_template_piece_t *pieces;
    ngx_str_t rest;

    rest = *text;

    if (ngx_strncasecmp(text->data, (u_char *) "https://", 8) == 0) {
        ngx_str_set(&http->scheme, "https://");
    } else if (ngx_strncasecmp(text->data, (u_char *) "http://", 7) == 0) {
        ngx_str_set(&http->scheme, "http://");
    }

    rest.data += http->scheme.len;
    rest.len -= http->scheme.len;
    http->url = ngx_tg_template_parse(cf, &rest,
                                      http->scheme.len != 0
                                          ? NGX_TG_ESCAPE_URL_HOST
                                          : NGX_TG_ESCAPE_TEXT,
                                      ngx_tg_http_next_url_context);

    if (http->url == NULL) {
        return NGX_CONF_ERROR;
    }

    if (http->scheme.len != 0) {
        return ngx_tg_http_check_url(cf, http, text);
    }

    pieces = http->url->elts;

    if (http->url->nelts == 1 && pieces[0].value != NULL) {
        return NGX_CONF_OK;
    }

    return ngx_tg_conf_error(cf,
                             "invalid URL \"%V\" in \"http\"; it must begin "
                             "with \"http://\" or \"https://\", or be one "
                             "variable and nothing else",
                             text);
}

/* Parses `join=TEXT` after a URL. */
static char *
ngx_tg_http_set_url_separator(ngx_conf_t *cf, ngx_tg_http_conf_t *http,
                              ngx_str_t *word)
{
    ngx_str_t separator;
    ngx_int_t rc;

    rc = ngx_tg_conf_parse_join(cf, word, &separator);

    if (rc == NGX_DECLINED) {
        return ngx_tg_conf_error(cf,
                                 "invalid parameter \"%V\" in \"http\"; write "
                                 "\"http METHOD URL\", optionally followed by "
                                 "\"join=,\" for arrays in the URL",
                                 word);
    }

    if (rc == NGX_OK && http->scheme.len != 0) {
        rc = ngx_tg_template_set_separator(cf, http->url, &separator);
    } else if (rc == NGX_OK) {
        rc = NGX_DECLINED;
    }

    if (rc == NGX_DECLINED) {
        return ngx_tg_conf_error(cf,
                                 "\"http\" has \"%V\", but no argument of the "
                                 "call in its URL; write one as "
                                 "\"$tool_arg_NAME\" there, or remove it",
                                 word);
    }

    return ngx_tg_conf_result(rc);
}

char *
ngx_tg_http_set_target(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_http_conf_t *http = conf;

    ngx_str_t *value;
    ngx_uint_t i;
    char *rv;

    rv = ngx_tg_conf_set_handler(cf, cmd->post);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    for (i = 0; i < value[1].len; i++) {
        if (value[1].data[i] < 'A' || value[1].data[i] > 'Z') {
            break;
        }
    }

    if (i == 0 || i != value[1].len || ngx_strcmp(value[1].data, "TRACE") == 0
        || ngx_strcmp(value[1].data, "CONNECT") == 0)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid method \"%V\" in \"http\"; write "
                                 "\"http METHOD URL\", with a method such "
                                 "as GET or POST",
                                 &value[1]);
    }

    http->method = value[1];
    rv = ngx_tg_http_set_url(cf, http, &value[2]);

    if (rv == NGX_CONF_OK && cf->args->nelts == 4) {
        rv = ngx_tg_http_set_url_separator(cf, http, &value[3]);
    }

    if (rv == NGX_CONF_OK && ngx_tg_conf_check_libcurl(cf) != NGX_OK) {
        rv = NGX_CONF_ERROR;
    }

    return rv;
}

/* --- allowed hosts and redirects --- */

char *
ngx_tg_http_set_hosts(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_http_conf_t *http = conf;

    ngx_str_t *value, *host;
    const char *mistake;
    ngx_uint_t i;

    if (http->hosts != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    http->has_hosts = 1;
    ngx_tg_lint_missing_semicolon(cf);

    for (i = 1; i < cf->args->nelts; i++) {
        mistake = tg_url_check_pattern(ngx_tg_str_from_ngx(&value[i]));

        if (mistake != NULL) {
            return ngx_tg_conf_error(cf, "invalid host \"%V\" in \"%V\"; %s",
                                     &value[i], &cmd->name, mistake);
        }

        host = ngx_tg_conf_array_push(cf, &http->hosts, sizeof(ngx_str_t));
        if (host == NULL) {
            return NGX_CONF_ERROR;
        }

        *host = value[i];
    }

    return NGX_CONF_OK;
}
