/* mcp_metadata: what OAuth's clients must know of a resource (RFC 9728). */
#include "nginx/http/ngx_http_tg_mcp.h"

/* Finds the resource with the path; without a path, the server's only one. */
static const ngx_http_tg_resource_t *
ngx_http_tg_metadata_find(ngx_http_request_t *r)
{
    static const char prefix[] = "/.well-known/oauth-protected-resource";
    const ngx_http_tg_resource_t *resource, *only;
    ngx_http_tg_main_conf_t *mcf;
    ngx_uint_t i, n;
    tg_str_t path;
    void *server;

    path = ngx_tg_str_from_ngx(&r->uri);

    if (!tg_str_has_prefix(path, prefix)) {
        return NULL;
    }

    path = tg_str_skip(path, sizeof(prefix) - 1);
    server = ngx_http_get_module_srv_conf(r, ngx_http_core_module);
    mcf = ngx_http_get_module_main_conf(r, ngx_http_toolgate_module);
    resource = mcf->resources.elts;
    only = NULL;

    for (i = 0, n = 0; i < mcf->resources.nelts; i++) {
        if (resource[i].server == server) {
            if (tg_str_eq(resource[i].path, path)) {
                return &resource[i];
            }

            only = &resource[i];
            n++;
        }
    }

    return n == 1 && path.len == 0 ? only : NULL;
}

static void
ngx_http_tg_metadata_add_list(tg_buf_t *json, const char *key,
                              const ngx_array_t *list)
{
    const ngx_str_t *text;
    ngx_uint_t i;

    if (list == NULL) {
        return;
    }

    text = list->elts;
    tg_json_begin_member(json, key);
    tg_buf_append_char(json, '[');

    for (i = 0; i < list->nelts; i++) {
        tg_json_begin_element(json);
        tg_json_write_string(json, ngx_tg_str_from_ngx(&text[i]));
    }

    tg_buf_append_char(json, ']');
}

static ngx_int_t
ngx_http_tg_metadata_handler(ngx_http_request_t *r)
{
    static const ngx_str_t any = ngx_string("*");
    const ngx_http_tg_resource_t *resource;
    ngx_http_complex_value_t body;
    ngx_str_t type;
    ngx_int_t rc;
    tg_buf_t json;

    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    resource = ngx_http_tg_metadata_find(r);

    if (resource == NULL) {
        return NGX_HTTP_NOT_FOUND;
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_json_begin_object(&json);
    tg_json_add_string(&json, "resource", resource->uri);
    ngx_http_tg_metadata_add_list(&json, "authorization_servers",
                                  resource->conf->authorization_servers);
    ngx_http_tg_metadata_add_list(&json, "scopes_supported",
                                  resource->conf->scopes_supported);
    tg_buf_append_cstr(&json, ",\"bearer_methods_supported\":[\"header\"]}");

    ngx_memzero(&body, sizeof(body));
    body.value.len = json.len;
    body.value.data = tg_buf_has_failed(&json) ? NULL
                                               : ngx_pnalloc(r->pool, json.len);

    if (body.value.data != NULL) {
        ngx_memcpy(body.value.data, json.data, json.len);
    }

    tg_buf_deinit(&json);
    ngx_str_set(&type, "application/json");

    /* Pages of any origin may read it: it is the same for all. */
    return body.value.data == NULL
                   || ngx_http_tg_add_header(
                          r, "Access-Control-Allow-Origin", &any)
                          != NGX_OK
               ? NGX_HTTP_INTERNAL_SERVER_ERROR
               : ngx_http_send_response(r, NGX_HTTP_OK, &type, &body);
}

char *
ngx_http_tg_conf_set_metadata(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_http_tg_conf_set_handler(cf, ngx_http_tg_metadata_handler);
}

char *
ngx_http_tg_conf_add_words(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_array_t **list;
    ngx_str_t *value, *word;
    ngx_uint_t i;

    list = (ngx_array_t **) (void *) ((char *) conf + cmd->offset);

    if (*list != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        word = ngx_tg_conf_array_push(cf, list, sizeof(ngx_str_t));

        if (word == NULL) {
            return NGX_CONF_ERROR;
        }

        *word = value[i];
    }

    return NGX_CONF_OK;
}
