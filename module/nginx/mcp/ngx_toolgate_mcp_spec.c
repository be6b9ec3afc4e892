/*
 * What an `mcp_server` block says of its server, for the runner.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include <ngx_sha1.h>

static void
ngx_toolgate_mcp_put_strings(tg_buf_t *spec, const char *key,
                             const ngx_array_t *strings, const char *open,
                             const char *close)
{
    const ngx_str_t *string;
    ngx_uint_t i;

    if (strings == NULL) {
        return;
    }

    string = strings->elts;
    tg_buf_text(spec, key);

    for (i = 0; i < strings->nelts; i++) {
        tg_buf_text(spec, i == 0 ? "[" : ",");
        tg_buf_text(spec, open);
        tg_json_put_string(spec, ngx_toolgate_str(&string[i]));
        tg_buf_text(spec, close);
    }

    tg_buf_char(spec, ']');
}

/* Those that are secret, or those that are not. */
static void
ngx_toolgate_mcp_put_headers(tg_buf_t *spec, const ngx_toolgate_mcp_t *mcp,
                             ngx_uint_t is_secret)
{
    const ngx_toolgate_mcp_header_t *header;
    ngx_uint_t i, n;

    header = mcp->headers != NULL ? mcp->headers->elts : NULL;

    for (i = 0, n = 0; header != NULL && i < mcp->headers->nelts; i++) {
        if (header[i].is_secret == is_secret) {
            tg_buf_text(spec, n++ == 0 ? "\"" : ",\"");
            tg_json_put_escaped(spec, ngx_toolgate_str(&header[i].name));
            tg_buf_text(spec, ": ");
            tg_json_put_escaped(spec, ngx_toolgate_str(&header[i].value));
            tg_buf_char(spec, '"');
        }
    }
}

static void
ngx_toolgate_mcp_put_url(tg_buf_t *spec, const ngx_toolgate_mcp_t *mcp)
{
    if (mcp->url.data == NULL) {
        return;
    }

    tg_buf_text(spec, ",\"url\":");
    tg_json_put_string(spec, ngx_toolgate_str(&mcp->url));
    tg_buf_text(spec, ",\"headers\":[");
    ngx_toolgate_mcp_put_headers(spec, mcp, 0);
    tg_buf_text(spec, "],\"secrets\":[");
    ngx_toolgate_mcp_put_headers(spec, mcp, 1);
    tg_buf_char(spec, ']');

    if (mcp->ca_file.len != 0) {
        tg_buf_text(spec, ",\"ca_file\":");
        tg_json_put_string(spec, ngx_toolgate_str(&mcp->ca_file));
    }

    if (mcp->proxy.len != 0) {
        tg_buf_text(spec, ",\"proxy\":");
        tg_json_put_string(spec, ngx_toolgate_str(&mcp->proxy));
    }

    if (mcp->connect_timeout != 0) {
        tg_buf_text(spec, ",\"connect_ms\":");
        tg_buf_uint(spec, mcp->connect_timeout);
    }
}

/* Who or what is called; what else is said of it may change its list. */
static void
ngx_toolgate_mcp_put_place(tg_buf_t *text, const ngx_toolgate_mcp_t *mcp)
{
    ngx_toolgate_mcp_put_strings(text, ",\"exec\":", mcp->argv, "", "");
    tg_buf_text(text, ",\"at\":");
    tg_json_put_string(text, ngx_toolgate_str(&mcp->pass));
    tg_json_put_string(text, ngx_toolgate_str(&mcp->url));
}

static void
ngx_toolgate_mcp_put_spec(tg_buf_t *spec, const ngx_toolgate_mcp_t *mcp)
{
    static const char *const shares[] = { "all", "user", "connection" };

    tg_buf_printf(spec,
                  "{\"share\":\"%s\",\"start\":\"%s\",\"idle_ms\":%lu,"
                  "\"start_ms\":%lu,\"place\":\"%.*s\"",
                  shares[mcp->share], mcp->starts_at_boot ? "boot" : "use",
                  (unsigned long) mcp->idle, (unsigned long) mcp->start_timeout,
                  (int) sizeof(mcp->place), mcp->place);
    ngx_toolgate_mcp_put_strings(spec, ",\"exec\":", mcp->argv, "", "");
    ngx_toolgate_mcp_put_strings(spec, ",\"env\":", mcp->env, "", "");
    ngx_toolgate_mcp_put_strings(spec, ",\"roots\":", mcp->roots,
                                 "{\"uri\":", "}");

    if (mcp->pass.data != NULL) {
        tg_buf_text(spec, ",\"pass\":");
        tg_json_put_string(spec, ngx_toolgate_str(&mcp->pass));
    }

    ngx_toolgate_mcp_put_url(spec, mcp);

    if (mcp->cwd.data != NULL && !mcp->has_client_cwd) {
        tg_buf_text(spec, ",\"cwd\":");
        tg_json_put_string(spec, ngx_toolgate_str(&mcp->cwd));
    }

    if (mcp->memory != 0) {
        tg_buf_text(spec, ",\"memory\":");
        tg_buf_int(spec, mcp->memory);
    }

    if (mcp->pids != 0) {
        tg_buf_text(spec, ",\"pids\":");
        tg_buf_int(spec, mcp->pids);
    }

    tg_buf_char(spec, '}');
}

static void
ngx_toolgate_mcp_digest(tg_str_t text, char *hex)
{
    u_char digest[NGX_TOOLGATE_MCP_KEY / 2];
    ngx_sha1_t sha1;

    ngx_sha1_init(&sha1);
    ngx_sha1_update(&sha1, text.data, text.len);
    ngx_sha1_final(digest, &sha1);
    (void) ngx_hex_dump((u_char *) hex, digest, sizeof(digest));
}

ngx_int_t
ngx_toolgate_mcp_spec(ngx_conf_t *cf, ngx_toolgate_mcp_t *mcp)
{
    tg_buf_t spec;
    u_char *p;

    tg_buf_init(&spec, tg_alloc_libc());
    ngx_toolgate_mcp_put_place(&spec, mcp);
    ngx_toolgate_mcp_digest(tg_buf_view(&spec), mcp->place);
    tg_buf_truncate(&spec, 0);
    ngx_toolgate_mcp_put_spec(&spec, mcp);
    p = tg_buf_failed(&spec) ? NULL : ngx_pnalloc(cf->pool, spec.len);

    if (p != NULL) {
        ngx_memcpy(p, spec.data, spec.len);
        mcp->spec = tg_str((char *) p, spec.len);
        ngx_toolgate_mcp_digest(mcp->spec, mcp->key);
    }

    tg_buf_deinit(&spec);

    return p != NULL ? NGX_OK : NGX_ERROR;
}
