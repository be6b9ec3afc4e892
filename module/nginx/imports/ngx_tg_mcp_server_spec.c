/* The spec of an `mcp_server`: its settings as JSON, and their digests. */
#include "nginx/imports/ngx_tg_imports.h"

#include <ngx_sha1.h>

static void
ngx_tg_mcp_server_write_strings(tg_buf_t *spec, const char *key,
                                const ngx_array_t *strings, const char *open,
                                const char *close)
{
    const ngx_str_t *string;
    ngx_uint_t i;

    if (strings == NULL) {
        return;
    }

    string = strings->elts;
    tg_json_begin_member(spec, key);

    for (i = 0; i < strings->nelts; i++) {
        tg_buf_append_cstr(spec, i == 0 ? "[" : ",");
        tg_buf_append_cstr(spec, open);
        tg_json_write_string(spec, ngx_tg_str_from_ngx(&string[i]));
        tg_buf_append_cstr(spec, close);
    }

    tg_buf_append_char(spec, ']');
}

/* Appends either the secret headers or the others. */
static void
ngx_tg_mcp_server_write_headers(tg_buf_t *spec, const ngx_tg_mcp_server_t *mcp,
                                ngx_uint_t is_secret)
{
    const ngx_tg_mcp_server_header_t *header;
    ngx_uint_t i, n;

    header = mcp->headers != NULL ? mcp->headers->elts : NULL;

    for (i = 0, n = 0; header != NULL && i < mcp->headers->nelts; i++) {
        if (header[i].is_secret == is_secret) {
            tg_buf_append_cstr(spec, n++ == 0 ? "\"" : ",\"");
            tg_json_write_escaped(spec, ngx_tg_str_from_ngx(&header[i].name));
            tg_buf_append_cstr(spec, ": ");
            tg_json_write_escaped(spec, ngx_tg_str_from_ngx(&header[i].value));
            tg_buf_append_char(spec, '"');
        }
    }
}

static void
ngx_tg_mcp_server_write_url(tg_buf_t *spec, const ngx_tg_mcp_server_t *mcp)
{
    if (mcp->url.data == NULL) {
        return;
    }

    tg_json_add_string(spec, "url", ngx_tg_str_from_ngx(&mcp->url));
    tg_buf_append_cstr(spec, ",\"headers\":[");
    ngx_tg_mcp_server_write_headers(spec, mcp, 0);
    tg_buf_append_cstr(spec, "],\"secrets\":[");
    ngx_tg_mcp_server_write_headers(spec, mcp, 1);
    tg_buf_append_char(spec, ']');

    if (mcp->ca_file.len != 0) {
        tg_json_add_string(spec, "ca_file", ngx_tg_str_from_ngx(&mcp->ca_file));
    }

    if (mcp->proxy.len != 0) {
        tg_json_add_string(spec, "proxy", ngx_tg_str_from_ngx(&mcp->proxy));
    }

    if (mcp->options.connect_ms != 0) {
        tg_json_add_uint(spec, "connect_ms", mcp->options.connect_ms);
    }
}

/* Writes the program or address, without settings that may change the list. */
static void
ngx_tg_mcp_server_write_endpoint(tg_buf_t *text, const ngx_tg_mcp_server_t *mcp)
{
    /* Cached lists are found by the digest of this text: do not change it. */
    tg_buf_append_char(text, ',');
    ngx_tg_mcp_server_write_strings(text, "exec", mcp->argv, "", "");
    tg_json_begin_member(text, "at");
    tg_json_write_string(text, ngx_tg_str_from_ngx(&mcp->pass));
    tg_json_write_string(text, ngx_tg_str_from_ngx(&mcp->url));
}

static void
ngx_tg_mcp_server_write_spec(tg_buf_t *spec, const ngx_tg_mcp_server_t *mcp)
{
    const tg_program_options_t *program = &mcp->options.program.options;

    tg_buf_printf(spec,
                  "{\"share\":\"%s\",\"start\":\"%s\",\"idle_ms\":%lu,"
                  "\"start_ms\":%lu,\"place\":\"%.*s\"",
                  tg_mcp_server_fields[0].words[mcp->options.share],
                  mcp->starts_at_boot ? "boot" : "use",
                  (unsigned long) mcp->options.idle_ms,
                  (unsigned long) mcp->options.start_ms,
                  (int) sizeof(mcp->endpoint_digest), mcp->endpoint_digest);
    ngx_tg_mcp_server_write_strings(spec, "exec", mcp->argv, "", "");
    ngx_tg_mcp_server_write_strings(spec, "env", mcp->env, "", "");
    ngx_tg_mcp_server_write_strings(spec, "roots", mcp->roots,
                                    "{\"uri\":", "}");

    if (mcp->pass.data != NULL) {
        tg_json_add_string(spec, "pass", ngx_tg_str_from_ngx(&mcp->pass));
    }

    ngx_tg_mcp_server_write_url(spec, mcp);

    if (mcp->cwd.data != NULL && !mcp->has_client_cwd) {
        tg_json_add_string(spec, "cwd", ngx_tg_str_from_ngx(&mcp->cwd));
    }

    if (program->memory != 0) {
        tg_json_add_int(spec, "memory", program->memory);
    }

    if (program->pids != 0) {
        tg_json_add_int(spec, "pids", program->pids);
    }

    tg_buf_append_char(spec, '}');
}

static void
ngx_tg_mcp_server_write_digest(tg_str_t text, char *hex)
{
    u_char digest[NGX_TG_MCP_SERVER_KEY_LEN / 2];
    ngx_sha1_t sha1;

    ngx_sha1_init(&sha1);
    ngx_sha1_update(&sha1, text.data, text.len);
    ngx_sha1_final(digest, &sha1);
    (void) ngx_hex_dump((u_char *) hex, digest, sizeof(digest));
}

ngx_int_t
ngx_tg_mcp_server_init_spec(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp)
{
    tg_buf_t spec;
    u_char *p;

    tg_buf_init(&spec, tg_alloc_libc());
    ngx_tg_mcp_server_write_endpoint(&spec, mcp);
    ngx_tg_mcp_server_write_digest(tg_buf_view(&spec), mcp->endpoint_digest);
    tg_buf_truncate(&spec, 0);
    ngx_tg_mcp_server_write_spec(&spec, mcp);
    p = tg_buf_has_failed(&spec) ? NULL : ngx_pnalloc(cf->pool, spec.len);

    if (p != NULL) {
        ngx_memcpy(p, spec.data, spec.len);
        mcp->spec = tg_str((char *) p, spec.len);
        ngx_tg_mcp_server_write_digest(mcp->spec, mcp->key);
    }

    tg_buf_deinit(&spec);

    return p != NULL ? NGX_OK : NGX_ERROR;
}
