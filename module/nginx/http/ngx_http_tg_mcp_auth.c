/*
 * Who calls: mcp_user and mcp_scopes, and the challenges of 401 and 403 that
 * tell OAuth's clients where to get a token, and with which scopes.
 */
#include "nginx/http/ngx_http_tg_mcp.h"

#include "nginx/config/ngx_tg_config.h"

/* --- identity --- */

char *
ngx_http_tg_conf_set_identity(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value;

    value = cf->args->elts;

    /* A token in a variable would reach programs and logs. */
    if (ngx_strstr(value[1].data, "http_authorization") != NULL) {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" must not be the token; name what "
                                 "NGINX has found in the token, such as "
                                 "$remote_user or a variable of auth_request",
                                 &value[0]);
    }

    return ngx_http_set_complex_value_slot(cf, cmd, conf);
}

static ngx_int_t
ngx_http_tg_get_value(ngx_http_request_t *r, ngx_http_complex_value_t *value,
                      tg_str_t *text)
{
    ngx_str_t result;

    if (value == NULL) {
        *text = TG_STR("");
        return NGX_OK;
    }

    if (ngx_http_complex_value(r, value, &result) != NGX_OK) {
        return NGX_ERROR;
    }

    *text = ngx_tg_str_from_ngx(&result);

    return NGX_OK;
}

ngx_int_t
ngx_http_tg_identify(ngx_http_tg_ctx_t *ctx)
{
    if (ngx_http_tg_get_value(ctx->request, ctx->conf->user, &ctx->client.user)
            != NGX_OK
        || ngx_http_tg_get_value(ctx->request, ctx->conf->scopes,
                                 &ctx->client.scopes)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    ctx->session->base.http_client = &ctx->client;

    return NGX_OK;
}

/* --- the resource --- */

/* Returns the length of scheme and host, or 0 if the URI has neither. */
static size_t
ngx_http_tg_resource_get_origin_len(tg_str_t uri)
{
    size_t scheme, i;

    scheme = tg_str_has_prefix(uri, "https://")  ? 8
             : tg_str_has_prefix(uri, "http://") ? 7
                                                 : 0;

    if (scheme == 0) {
        return 0;
    }

    for (i = 0; i < uri.len; i++) {
        if (uri.data[i] <= ' ' || uri.data[i] > '~'
            || memchr("\"\\#?", uri.data[i], 4) != NULL)
        {
            return 0;
        }
    }

    i = scheme + tg_str_find_char(tg_str_skip(uri, scheme), "/");

    return i == scheme || uri.data[uri.len - 1] == '/' ? 0 : i;
}

char *
ngx_http_tg_conf_set_resource(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_tg_loc_conf_t *lcf = conf;

    static const char well_known[] = "/.well-known/oauth-protected-resource";
    ngx_http_tg_resource_t *resource;
    ngx_http_tg_main_conf_t *mcf;
    ngx_str_t *value;
    size_t len;
    u_char *p;

    if (lcf->resource != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    len = ngx_http_tg_resource_get_origin_len(ngx_tg_str_from_ngx(&value[1]));

    if (len == 0) {
        return ngx_tg_conf_error(cf, "\"mcp_resource %V\": write the URI that "
                                     "clients use, such as "
                                     "https://mcp.example.com/mcp, without "
                                     "\"?\", \"#\" and a slash at its end",
                                 &value[1]);
    }

    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_toolgate_module);
    resource = ngx_array_push(&mcf->resources);
    p = ngx_pnalloc(cf->pool, value[1].len + sizeof(well_known));

    if (resource == NULL || p == NULL) {
        return NGX_CONF_ERROR;
    }

    resource->server = ngx_http_conf_get_module_srv_conf(cf,
                                                         ngx_http_core_module);
    resource->conf = lcf;
    resource->uri = ngx_tg_str_from_ngx(&value[1]);
    resource->path = tg_str_skip(resource->uri, len);
    resource->metadata.data = p;
    p = ngx_cpymem(p, value[1].data, len);
    p = ngx_cpymem(p, well_known, sizeof(well_known) - 1);
    p = ngx_cpymem(p, value[1].data + len, value[1].len - len);
    resource->metadata.len = (size_t) (p - resource->metadata.data);
    lcf->resource = resource->uri.data;
    lcf->metadata = resource->metadata;

    return NGX_CONF_OK;
}

/* --- challenges --- */

static ngx_uint_t
ngx_http_tg_has_token(const ngx_http_request_t *r)
{
    const ngx_table_elt_t *header;

    header = r->headers_in.authorization;

    return header != NULL && header->value.len > 7
           && ngx_strncasecmp(header->value.data, (u_char *) "Bearer ", 7) == 0;
}

/* Returns the scopes for lack of which the request is refused, or empty. */
static tg_str_t
ngx_http_tg_get_needed_scopes(ngx_http_request_t *r)
{
    const ngx_http_tg_ctx_t *ctx;

    ctx = ngx_http_get_module_ctx(r, ngx_http_toolgate_module);

    return ctx != NULL && ctx->session != NULL
               ? ctx->session->base.needed_scopes
               : TG_STR_NONE;
}

ngx_int_t
ngx_http_tg_add_challenge(ngx_http_request_t *r)
{
    const ngx_http_tg_loc_conf_t *conf;
    const char *error;
    tg_str_t scopes;
    ngx_str_t value;
    u_char *p;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_toolgate_module);
    scopes = ngx_http_tg_get_needed_scopes(r);

    if ((r->headers_out.status != NGX_HTTP_UNAUTHORIZED
         && r->headers_out.status != NGX_HTTP_FORBIDDEN)
        || (conf->metadata.len == 0 && scopes.len == 0))
    {
        return NGX_OK;
    }

    error = scopes.len != 0 ? "insufficient_scope"
            : r->headers_out.status == NGX_HTTP_UNAUTHORIZED
                    && ngx_http_tg_has_token(r)
                ? "invalid_token"
                : NULL;
    value.data = ngx_pnalloc(r->pool, conf->metadata.len + scopes.len + 128);

    if (value.data == NULL) {
        return NGX_ERROR;
    }

    p = ngx_cpymem(value.data, "Bearer", 6);

    if (error != NULL) {
        p = ngx_sprintf(p, " error=\"%s\",", error);
    }

    if (scopes.len != 0) {
        p = ngx_sprintf(p, " scope=\"%*s\",", scopes.len, scopes.data);
    }

    if (conf->metadata.len != 0) {
        p = ngx_sprintf(p, " resource_metadata=\"%V\",", &conf->metadata);
    }

    value.len = (size_t) (p - 1 - value.data);

    return ngx_http_tg_add_header(r, "WWW-Authenticate", &value);
}
