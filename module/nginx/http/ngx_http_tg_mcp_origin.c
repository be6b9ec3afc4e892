/*
 * Which web pages may call mcp_pass. A browser sends the origin of the page; a
 * client that is not a browser sends none. A page on another host whose name
 * was made to resolve to this machine has a foreign name in Host.
 */
#include "nginx/http/ngx_http_tg_mcp.h"

#include "nginx/config/ngx_tg_config.h"

/* Finds the host, and the host with its port, of an origin. */
static ngx_uint_t
ngx_http_tg_origin_split(tg_str_t origin, tg_str_t *authority, tg_str_t *host)
{
    size_t scheme, len;

    scheme = tg_str_find_char(origin, ":");

    if (origin.len - scheme < 4 || ngx_memcmp(origin.data + scheme, "://", 3))
    {
        return 0;
    }

    *authority = tg_str(origin.data + scheme + 3, origin.len - scheme - 3);
    len = authority->data[0] == '[' ? tg_str_find_char(*authority, "]") + 1
                                    : tg_str_find_char(*authority, ":");
    *host = tg_str(authority->data, ngx_min(len, authority->len));

    return tg_str_find_char(*authority, "/?#@ ") == authority->len;
}

static ngx_uint_t
ngx_http_tg_is_localhost(tg_str_t host)
{
    return tg_str_eq_nocase(host, TG_STR("localhost"))
           || tg_str_eq(host, TG_STR("127.0.0.1"))
           || tg_str_eq(host, TG_STR("[::1]"));
}

/* Checks whether the client has connected to a loopback address. */
static ngx_uint_t
ngx_http_tg_is_loopback(ngx_connection_t *c)
{
    struct sockaddr *sa;

    if (ngx_connection_local_sockaddr(c, NULL, 0) != NGX_OK) {
        return 1;
    }

    sa = c->local_sockaddr;

    switch (sa->sa_family) {
    case AF_INET:
        return (ntohl(((struct sockaddr_in *) sa)->sin_addr.s_addr) >> 24)
               == 127;
#if (NGX_HAVE_INET6)
    case AF_INET6:
        return IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *) sa)->sin6_addr)
               || (IN6_IS_ADDR_V4MAPPED(
                       &((struct sockaddr_in6 *) sa)->sin6_addr)
                   && ((struct sockaddr_in6 *) sa)->sin6_addr.s6_addr[12]
                          == 127);
#endif
    default:
        return 0;
    }
}

/* Checks whether an origin, or its host, is in the list. */
static ngx_uint_t
ngx_http_tg_origins_have(const ngx_array_t *origins, tg_str_t text,
                         ngx_uint_t is_host)
{
    tg_str_t *origin, authority, host;
    ngx_uint_t i;

    origin = origins->elts;

    for (i = 0; i < origins->nelts; i++) {
        if (is_host) {
            (void) ngx_http_tg_origin_split(origin[i], &authority, &host);
        }

        if (tg_str_eq_nocase(is_host ? host : origin[i], text)) {
            return 1;
        }
    }

    return 0;
}

/* Checks the name in Host against rebound names, on a loopback address. */
static ngx_uint_t
ngx_http_tg_is_host_allowed(ngx_http_request_t *r,
                            const ngx_http_tg_loc_conf_t *conf)
{
    tg_str_t host;

    if (!ngx_http_tg_is_loopback(r->connection)) {
        return 1;
    }

    host = ngx_tg_str_from_ngx(&r->headers_in.server);

    return host.len == 0 || ngx_http_tg_is_localhost(host)
           || (conf->origins != NULL
               && ngx_http_tg_origins_have(conf->origins, host, 1));
}

static ngx_uint_t
ngx_http_tg_is_origin_allowed(ngx_http_request_t *r,
                              const ngx_http_tg_loc_conf_t *conf,
                              tg_str_t origin)
{
    tg_str_t authority, host;

    if (conf->origins != NULL) {
        return ngx_http_tg_origins_have(conf->origins, origin, 0);
    }

    if (!ngx_http_tg_origin_split(origin, &authority, &host)) {
        return 0;
    }

    return (r->headers_in.host != NULL
            && tg_str_eq_nocase(authority,
                                ngx_tg_str_from_ngx(
                                    &r->headers_in.host->value)))
           || (ngx_http_tg_is_localhost(host)
               && ngx_http_tg_is_loopback(r->connection));
}

ngx_int_t
ngx_http_tg_check_origin(ngx_http_request_t *r, tg_str_t *origin)
{
    const ngx_http_tg_loc_conf_t *conf;
    unsigned n;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_toolgate_module);
    n = ngx_http_tg_field_find(r, TG_STR_NONE, TG_STR("Origin"), origin);

    if (conf->is_any_origin) {
        return n == 0 ? NGX_DECLINED : NGX_OK;
    }

    if (n > 1 || !ngx_http_tg_is_host_allowed(r, conf)
        || (n == 1 && !ngx_http_tg_is_origin_allowed(r, conf, *origin)))
    {
        return NGX_ERROR;
    }

    return n == 0 ? NGX_DECLINED : NGX_OK;
}

/* Answers the question of a browser whether a page may call. */
static ngx_int_t
ngx_http_tg_answer_preflight(ngx_http_request_t *r)
{
    ngx_int_t rc;

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    r->headers_out.status = NGX_HTTP_NO_CONTENT;
    r->headers_out.content_length_n = -1;
    r->header_only = 1;
    rc = ngx_http_send_header(r);
    ngx_http_finalize_request(r, rc);

    return NGX_DONE;
}

ngx_int_t
ngx_http_tg_origin_handler(ngx_http_request_t *r)
{
    const ngx_http_tg_loc_conf_t *conf;
    tg_str_t origin;
    ngx_int_t rc;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_toolgate_module);

    if (conf->pass == NULL || r != r->main) {
        return NGX_DECLINED;
    }

    rc = ngx_http_tg_check_origin(r, &origin);

    if (rc == NGX_ERROR) {
        rc = ngx_http_discard_request_body(r);

        if (rc == NGX_OK) {
            rc = ngx_http_tg_send_error(
                r, NGX_HTTP_FORBIDDEN,
                "The header Origin or Host has a foreign name (mcp_origins).");
        }

        ngx_http_finalize_request(r, rc);

        return NGX_DONE;
    }

    return rc == NGX_OK && r->method == NGX_HTTP_OPTIONS
               ? ngx_http_tg_answer_preflight(r)
               : NGX_DECLINED;
}

/* --- mcp_origins --- */

/* Checks an origin: scheme, host and port, without a path. */
static ngx_uint_t
ngx_http_tg_is_origin(tg_str_t text)
{
    tg_str_t authority, host;

    return (ngx_strncmp(text.data, "http://", 7) == 0
            || ngx_strncmp(text.data, "https://", 8) == 0)
           && ngx_http_tg_origin_split(text, &authority, &host)
           && host.len != 0;
}

char *
ngx_http_tg_conf_set_origins(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_tg_loc_conf_t *lcf = conf;

    ngx_str_t *value;
    tg_str_t *origin;
    ngx_uint_t i;

    if (lcf->origins != NULL || lcf->is_any_origin != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;
    lcf->is_any_origin = ngx_strcmp(value[1].data, "any") == 0;

    if (lcf->is_any_origin) {
        return cf->args->nelts == 2
                   ? NGX_CONF_OK
                   : ngx_tg_conf_error(cf, "\"mcp_origins any\" takes no "
                                           "further origins");
    }

    for (i = 1; i < cf->args->nelts; i++) {
        origin = ngx_tg_conf_array_push(cf, &lcf->origins, sizeof(tg_str_t));

        if (origin == NULL) {
            return NGX_CONF_ERROR;
        }

        *origin = ngx_tg_str_from_ngx(&value[i]);

        if (!ngx_http_tg_is_origin(*origin)) {
            return ngx_tg_conf_error(
                cf, "\"mcp_origins %V\": an origin is a scheme, a host and "
                    "perhaps a port, such as https://app.example.com",
                &value[i]);
        }
    }

    return NGX_CONF_OK;
}
