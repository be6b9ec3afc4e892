/*
 * Filters of the responses of mcp_pass, those that NGINX makes included: the
 * headers that browsers need, and a JSON-RPC error as the body of an error.
 */
#include "nginx/http/ngx_http_tg_mcp.h"

#include "protocol/tg_rpc.h"

#define NGX_HTTP_TG_ERROR_BODY                                                 \
    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":%d,\"message\":\"HTTP status "   \
    "%ui\"}}"

static ngx_http_output_header_filter_pt ngx_http_tg_next_header_filter;
static ngx_http_output_body_filter_pt ngx_http_tg_next_body_filter;

/* Adds the headers for a browser's page of an allowed origin. */
static ngx_int_t
ngx_http_tg_add_cors(ngx_http_request_t *r)
{
    static const struct {
        const char *name;
        const char *value; /* NULL: the origin */
    } rows[] = {
        { "Vary", "Origin" },
        { "Access-Control-Allow-Origin", NULL },
        { "Access-Control-Allow-Methods", "POST, GET, DELETE" },
        { "Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate" },
        { "Access-Control-Allow-Headers",
          "Content-Type, Accept, Authorization, MCP-Protocol-Version, "
          "Mcp-Session-Id, Last-Event-ID, Mcp-Method, Mcp-Name" },
    };
    tg_str_t origin;
    ngx_str_t value;
    size_t i;

    if (ngx_http_tg_check_origin(r, &origin) != NGX_OK) {
        return NGX_OK;
    }

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        value.data = (u_char *) (rows[i].value != NULL ? rows[i].value
                                                       : origin.data);
        value.len = rows[i].value != NULL ? ngx_strlen(rows[i].value)
                                          : origin.len;

        if (ngx_http_tg_add_header(r, rows[i].name, &value) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Checks for an error page that NGINX has made. */
static ngx_uint_t
ngx_http_tg_is_error_page(const ngx_http_request_t *r)
{
    return r->headers_out.status >= 400
           && r->headers_out.status != NGX_HTTP_NOT_ALLOWED
           && r->headers_out.content_type.len == sizeof("text/html") - 1
           && ngx_memcmp(r->headers_out.content_type.data, "text/html",
                         sizeof("text/html") - 1)
                  == 0;
}

/* Replaces the body of an error page, which follows. */
static ngx_int_t
ngx_http_tg_replace_page(ngx_http_request_t *r)
{
    ngx_http_tg_ctx_t *ctx;
    u_char *end;

    ctx = ngx_http_get_module_ctx(r, ngx_http_toolgate_module);

    if (ctx == NULL) {
        ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_tg_ctx_t));

        if (ctx == NULL) {
            return NGX_ERROR;
        }

        ngx_http_set_ctx(r, ctx, ngx_http_toolgate_module);
    }

    ctx->page.data = ngx_pnalloc(r->pool, sizeof(NGX_HTTP_TG_ERROR_BODY)
                                              + 2 * NGX_INT_T_LEN);

    if (ctx->page.data == NULL) {
        return NGX_ERROR;
    }

    end = ngx_sprintf(ctx->page.data, NGX_HTTP_TG_ERROR_BODY,
                      r->headers_out.status >= 500 ? TG_RPC_INTERNAL_ERROR
                                                   : TG_RPC_INVALID_REQUEST,
                      r->headers_out.status);
    ctx->page.len = (size_t) (end - ctx->page.data);
    ngx_http_clear_content_length(r);
    ngx_http_clear_accept_ranges(r);
    ngx_http_tg_set_type(r, "application/json", (off_t) ctx->page.len);

    return NGX_OK;
}

static ngx_int_t
ngx_http_tg_header_filter(ngx_http_request_t *r)
{
    const ngx_http_tg_loc_conf_t *conf;

    conf = ngx_http_get_module_loc_conf(r, ngx_http_toolgate_module);

    if (conf->pass != NULL && r == r->main
        && (ngx_http_tg_add_cors(r) != NGX_OK
            || ngx_http_tg_add_challenge(r) != NGX_OK
            || (ngx_http_tg_is_error_page(r)
                && ngx_http_tg_replace_page(r) != NGX_OK)))
    {
        return NGX_ERROR;
    }

    return ngx_http_tg_next_header_filter(r);
}

static ngx_int_t
ngx_http_tg_body_filter(ngx_http_request_t *r, ngx_chain_t *in)
{
    ngx_http_tg_ctx_t *ctx;
    ngx_chain_t *cl;

    ctx = ngx_http_get_module_ctx(r, ngx_http_toolgate_module);

    if (ctx == NULL || ctx->page.data == NULL || in == NULL || r != r->main) {
        return ngx_http_tg_next_body_filter(r, in);
    }

    for (cl = in; cl != NULL; cl = cl->next) {
        cl->buf->pos = cl->buf->last;
    }

    ngx_memzero(&ctx->buf, sizeof(ngx_buf_t));
    ctx->buf.pos = ctx->page.data;
    ctx->buf.last = ctx->page.data + ctx->page.len;
    ctx->buf.memory = 1;
    ctx->buf.last_buf = 1;
    ctx->buf.last_in_chain = 1;
    ctx->link.buf = &ctx->buf;
    ctx->link.next = NULL;
    ctx->page.data = NULL;

    return ngx_http_tg_next_body_filter(r, &ctx->link);
}

void
ngx_http_tg_add_filters(void)
{
    ngx_http_tg_next_header_filter = ngx_http_top_header_filter;
    ngx_http_top_header_filter = ngx_http_tg_header_filter;
    ngx_http_tg_next_body_filter = ngx_http_top_body_filter;
    ngx_http_top_body_filter = ngx_http_tg_body_filter;
}
