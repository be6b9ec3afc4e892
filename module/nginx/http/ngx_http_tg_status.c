/* Locations with the status of all servers: as JSON, or for Prometheus. */
#include "nginx/http/ngx_http_tg.h"

typedef struct {
    ngx_str_t type;
    void (*write)(ngx_tg_status_t *status, tg_buf_t *out);
} ngx_http_tg_status_format_t;

/* A request while the runners are asked. */
typedef struct {
    ngx_http_request_t *request;
    const ngx_http_tg_status_format_t *format;
    ngx_tg_status_t status;
} ngx_http_tg_status_page_t;

static const ngx_http_tg_status_format_t ngx_http_tg_status_json = {
    ngx_string("application/json"), ngx_tg_status_write_json
};

static const ngx_http_tg_status_format_t ngx_http_tg_status_metrics = {
    ngx_string("text/plain; version=0.0.4; charset=utf-8"),
    ngx_http_tg_write_metrics
};

static ngx_int_t
ngx_http_tg_status_send(ngx_http_tg_status_page_t *page)
{
    ngx_http_complex_value_t body;
    ngx_int_t rc;
    ngx_str_t type;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    page->format->write(&page->status, &text);

    ngx_memzero(&body, sizeof(body));
    body.value.len = text.len;
    body.value.data = tg_buf_has_failed(&text)
                          ? NULL
                          : ngx_pnalloc(page->request->pool, text.len);
    rc = NGX_HTTP_INTERNAL_SERVER_ERROR;

    if (body.value.data != NULL) {
        ngx_memcpy(body.value.data, text.data, text.len);
        type = page->format->type;
        rc = ngx_http_send_response(page->request, NGX_HTTP_OK, &type, &body);
    }

    tg_buf_deinit(&text);

    return rc;
}

static void
ngx_http_tg_status_on_collected(void *data)
{
    ngx_http_tg_status_page_t *page = data;

    ngx_connection_t *c;

    c = page->request->connection;
    ngx_http_finalize_request(page->request, ngx_http_tg_status_send(page));
    ngx_http_run_posted_requests(c);
}

static void
ngx_http_tg_status_cleanup(void *data)
{
    ngx_http_tg_status_page_t *page = data;

    ngx_tg_status_cancel(&page->status);
}

static ngx_int_t
ngx_http_tg_status_handle(ngx_http_request_t *r,
                          const ngx_http_tg_status_format_t *format)
{
    ngx_http_tg_status_page_t *page;
    ngx_http_cleanup_t *cln;
    ngx_int_t rc;

    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD))) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    rc = ngx_http_discard_request_body(r);

    if (rc != NGX_OK) {
        return rc;
    }

    page = ngx_pcalloc(r->pool, sizeof(*page));
    cln = ngx_http_cleanup_add(r, 0);

    if (page == NULL || cln == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    page->request = r;
    page->format = format;
    page->status.pool = r->pool;
    page->status.on_collected = ngx_http_tg_status_on_collected;
    page->status.data = page;

    if (ngx_tg_status_list_servers(&page->status, NULL) != NGX_OK
        || ngx_tg_status_list_runners(&page->status) != NGX_OK)
    {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    cln->handler = ngx_http_tg_status_cleanup;
    cln->data = page;

    if (ngx_tg_status_collect(&page->status) == NGX_OK) {
        return ngx_http_tg_status_send(page);
    }

    r->main->count++;

    return NGX_DONE;
}

static ngx_int_t
ngx_http_tg_status_json_handler(ngx_http_request_t *r)
{
    return ngx_http_tg_status_handle(r, &ngx_http_tg_status_json);
}

static ngx_int_t
ngx_http_tg_status_metrics_handler(ngx_http_request_t *r)
{
    return ngx_http_tg_status_handle(r, &ngx_http_tg_status_metrics);
}

char *
ngx_http_tg_conf_set_status(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_http_tg_conf_set_handler(cf, ngx_http_tg_status_json_handler);
}

char *
ngx_http_tg_conf_set_metrics(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_http_tg_conf_set_handler(cf, ngx_http_tg_status_metrics_handler);
}
