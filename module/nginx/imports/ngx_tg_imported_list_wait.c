/* Requests that wait for a server's first list: many clients list only once. */
#include "nginx/imports/ngx_tg_imports.h"
#include "nginx/call/ngx_tg_call_checks.h"

/* Maximum wait, in ms; agents allow a server 10 s or more at their start. */
#define NGX_TG_IMPORTED_LIST_WAIT_MAX 8000

/* Checks whether the first list of a server may still come. */
static ngx_uint_t
ngx_tg_mcp_server_is_list_awaited(const ngx_tg_mcp_server_t *mcp)
{
    return mcp->list == NULL
           && (!mcp->has_failed || ngx_tg_imported_list_is_pending(mcp));
}

static ngx_uint_t
ngx_tg_mcp_server_owns_name(const ngx_tg_mcp_server_t *mcp, tg_str_t name)
{
    return name.len > mcp->prefix.len
           && ngx_memcmp(name.data, mcp->prefix.data, mcp->prefix.len) == 0;
}

static ngx_tg_imported_catalog_t *
ngx_tg_imported_catalog_find(const ngx_tg_srv_conf_t *scf)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_imported_catalog_t **imports;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(ngx_cycle,
                                                 ngx_tg_imports_module);
    imports = mmcf->imported_catalogs.elts;

    for (i = 0; i < mmcf->imported_catalogs.nelts; i++) {
        if (imports[i]->scf == scf) {
            return imports[i];
        }
    }

    return NULL;
}

static ngx_msec_t
ngx_tg_imported_list_get_wait_time(const ngx_tg_srv_conf_t *scf, tg_str_t name)
{
    const ngx_tg_imported_catalog_t *imports;
    ngx_tg_mcp_server_t **mcp;
    ngx_msec_t most;
    ngx_uint_t i;

    imports = ngx_tg_imported_catalog_find(scf);
    most = 0;

    for (i = 0; imports != NULL && i < imports->servers.nelts; i++) {
        mcp = imports->servers.elts;

        if (!ngx_tg_mcp_server_is_list_awaited(mcp[i])) {
            continue;
        }

        if (name.data == NULL) {
            return NGX_TG_IMPORTED_LIST_WAIT_MAX;
        }

        /* The wait of a call of a server that is starting. */
        if (ngx_tg_mcp_server_owns_name(mcp[i], name)) {
            most = ngx_max(
                most, ngx_min((ngx_msec_t) mcp[i]->options.start_ms,
                              (ngx_msec_t) mcp[i]->block->job_spec.timeout_ms));
        }
    }

    return most;
}

/* Returns the last reported state of a server, a JSON object in text. */
static tg_str_t
ngx_tg_mcp_server_copy_state(const ngx_tg_mcp_server_t *mcp, tg_buf_t *text)
{
    tg_buf_truncate(text, 0);
    tg_buf_append_cstr(text, "{");
    tg_buf_append_str(text, tg_buf_view(&mcp->state));
    tg_buf_append_char(text, '}');

    return tg_buf_view(text);
}

/* Explains an unknown name with the prefix of a server without a list. */
static void
ngx_tg_imported_tool_explain_unknown(const ngx_tg_srv_conf_t *scf,
                                     tg_str_t name, tg_buf_t *text)
{
    const ngx_tg_imported_catalog_t *imports;
    ngx_tg_mcp_server_t **mcp;
    tg_buf_t members;
    tg_str_t error;
    ngx_uint_t i;

    imports = ngx_tg_imported_catalog_find(scf);
    tg_buf_init(&members, tg_alloc_libc());

    for (i = 0; imports != NULL && i < imports->servers.nelts; i++) {
        mcp = imports->servers.elts;

        if (mcp[i]->list != NULL || !ngx_tg_mcp_server_owns_name(mcp[i], name))
        {
            continue;
        }

        if (!mcp[i]->has_failed) {
            tg_buf_printf(text,
                          " The mcp_server \"%.*s\", whose tools have this "
                          "prefix, is still starting; call again.",
                          (int) mcp[i]->name.len, mcp[i]->name.data);

        } else if (tg_json_has_member(ngx_tg_mcp_server_copy_state(mcp[i],
                                                                   &members),
                                      TG_STR("error"), TG_JSON_STRING, &error))
        {
            tg_buf_printf(text, " The mcp_server \"%.*s\" has failed: ",
                          (int) mcp[i]->name.len, mcp[i]->name.data);
            tg_json_append_unescaped(text, tg_json_string_body(error));
        }
    }

    text->failed |= tg_buf_has_failed(&members);
    tg_buf_deinit(&members);
}

/* Returns "starting", "failed", or NULL if the server runs or may start. */
static const char *
ngx_tg_mcp_server_get_absent_state(const ngx_tg_mcp_server_t *mcp,
                                   tg_str_t members)
{
    tg_str_t state;

    if (tg_json_has_member(members, TG_STR("state"), TG_JSON_STRING, &state)) {
        if (tg_json_string_eq(state, TG_STR("starting"))) {
            return "starting";
        }

        if (tg_json_string_eq(state, TG_STR("failed"))) {
            return "failed";
        }
    }

    if (mcp->list != NULL) {
        return NULL;
    }

    return mcp->has_failed ? "failed" : "starting";
}

static void
ngx_tg_imports_write_absent_servers(void *base, tg_buf_t *json)
{
    const ngx_tg_imported_catalog_t *imports;
    tg_str_t members, error;
    ngx_tg_mcp_server_t **mcp;
    const char *state;
    ngx_uint_t i, n;
    tg_buf_t text;

    imports = ngx_tg_imported_catalog_find(
        ((ngx_tg_session_base_t *) base)->conf);
    tg_buf_init(&text, tg_alloc_libc());

    for (i = 0, n = 0; imports != NULL && i < imports->servers.nelts; i++) {
        mcp = imports->servers.elts;
        members = ngx_tg_mcp_server_copy_state(mcp[i], &text);
        state = ngx_tg_mcp_server_get_absent_state(mcp[i], members);

        /* Omit servers whose tools the client may not see. */
        if (state == NULL
            || !ngx_tg_session_base_can_see(base, &mcp[i]->block->entry)) {
            continue;
        }

        tg_buf_append_cstr(json, n++ == 0 ? "{\"name\":" : ",{\"name\":");
        tg_json_write_string(json, ngx_tg_str_from_ngx(&mcp[i]->name));
        tg_json_add_cstr(json, "state", state);

        if (tg_json_has_member(members, TG_STR("error"), TG_JSON_STRING,
                               &error)) {
            tg_json_add_compact(json, "error", error);
        }

        tg_buf_append_char(json, '}');
    }

    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

void
ngx_tg_imported_list_wait_init(ngx_tg_imported_catalog_t *imports)
{
    imports->scf->get_wait_time = ngx_tg_imported_list_get_wait_time;
    imports->scf->explain_unknown = ngx_tg_imported_tool_explain_unknown;
    imports->scf->write_absent_servers = ngx_tg_imports_write_absent_servers;
}
