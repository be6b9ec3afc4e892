/* Calls of imported tools by the runner; end of clients; status of servers. */
#include "nginx/imports/ngx_tg_imports.h"

#include "base/tg_utf8.h"
#include "nginx/call/ngx_tg_call_checks.h"

/* --- calls --- */

/* Appends the client's folder and uid. Returns NULL or an error message. */
static const char *
ngx_tg_imported_call_append_cwd(const ngx_tg_peer_cred_t *client,
                                tg_buf_t *params)
{
    char link[sizeof("/proc//cwd") + NGX_INT_T_LEN], path[NGX_MAX_PATH];
    ssize_t n;

    (void) ngx_sprintf((u_char *) link, "/proc/%P/cwd%Z", client->pid);
    n = readlink(link, path, sizeof(path));

    if (n <= 0 || n == (ssize_t) sizeof(path) || path[0] != '/'
        || !tg_utf8_is_valid(tg_str(path, (size_t) n)))
    {
        return "This tool's server works in the folder of the calling process "
               "(cwd client), which cannot be read: run NGINX's workers as the "
               "calling user.";
    }

    tg_json_add_string(params, "cwd", tg_str(path, (size_t) n));
    tg_json_add_uint(params, "uid", client->uid);

    return NULL;
}

/* Appends the user or connection to serve. Returns NULL or an error message. */
static const char *
ngx_tg_imported_call_append_mcp_conn(ngx_tg_session_base_t *base,
                                     const ngx_tg_mcp_server_t *mcp,
                                     tg_buf_t *params)
{
    char room[NGX_TG_OWNER_SIZE];
    ngx_tg_client_t client;
    const char *key;

    if (mcp->options.share == TG_MCP_SHARE_ALL) {
        return NULL;
    }

    client = ngx_tg_session_base_get_client(base);

    if (client.cred == NULL
        && (mcp->has_client_cwd
            || (mcp->options.share == TG_MCP_SHARE_USER
                && (client.http == NULL || client.http->user.len == 0))))
    {
        return mcp->has_client_cwd
                   ? "This tool's server works in the folder of the calling "
                     "process (cwd client), which is known only for clients "
                     "of a Unix socket."
                   : "This tool's server depends on the calling user, who is "
                     "known only for clients of a Unix socket, and over HTTP "
                     "by mcp_user.";
    }

    tg_buf_append_cstr(params, ",\"instance\":\"");

    if (mcp->options.share == TG_MCP_SHARE_USER) {
        tg_buf_append_cstr(params, client.cred != NULL ? "uid:" : "user:");
        tg_buf_append_str(params, ngx_tg_session_base_get_owner(base, room));
        tg_buf_append_char(params, '"');
        return NULL;
    }

    key = ngx_tg_session_base_get_token(base);

    if (key == NULL) {
        return TG_TEXT_NO_MEMORY;
    }

    tg_buf_append_cstr(params, "conn:");
    tg_buf_append_cstr(params, key);
    tg_buf_append_cstr(params, "\",\"capabilities\":");
    tg_client_caps_write_json(params, base->peer.client_caps);

    return mcp->has_client_cwd
               ? ngx_tg_imported_call_append_cwd(client.cred, params)
               : NULL;
}

/* Writes the params of `mcp_call`. Returns NULL or an error message. */
static const char *
ngx_tg_imported_call_write_params(ngx_tg_call_t *call, tg_request_t *request,
                                  tg_buf_t *params)
{
    ngx_tg_imported_tool_t *listed;
    ngx_tg_mcp_server_t *mcp;
    tg_mcp_log_level_t log_level;
    const char *mistake;

    listed = call->tool->conf;
    mcp = listed->server;
    ngx_tg_call_begin_params(call, params);
    tg_spec_write(tg_output_fields, &call->tool->output_spec, params);
    ngx_tg_call_append_stored_output(call, params);
    tg_buf_append_cstr(params, ",\"key\":\"");
    tg_buf_append(params, mcp->key, sizeof(mcp->key));
    tg_buf_append_cstr(params, "\"");
    mistake = ngx_tg_imported_call_append_mcp_conn(call->base, mcp, params);

    if (mistake != NULL) {
        return mistake;
    }

    if (listed->tool.entry.kind == TG_ENTRY_TOOL) {
        tg_json_add_compact(params, "name", listed->name);
        tg_json_add_compact(params, "arguments", request->arguments);
    } else {
        ngx_tg_imported_item_write_request(call, request, params);
    }

    log_level = tg_peer_get_log_level(&call->base->peer, &request->reply);

    if (log_level != TG_MCP_LOG_NONE) {
        tg_json_add_int(params, "log", log_level);
    }

    tg_json_add_compact(params, "meta", request->meta);
    tg_json_add_compact(params, "inputResponses", request->input_responses);
    tg_json_add_compact(params, "requestState", request->request_state);

    return NULL;
}

static void
ngx_tg_imported_call_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_imported_tool_t *listed;
    const char *mistake;
    tg_buf_t params;

    listed = call->tool->conf;

    if (listed->tool.entry.kind != TG_ENTRY_TOOL
        && !ngx_tg_imported_item_start(call, request))
    {
        return;
    }

    ngx_tg_mcp_server_subscribe_now(listed->server);
    tg_buf_init(&params, tg_alloc_libc());
    mistake = ngx_tg_imported_call_write_params(call, request, &params);
    ngx_tg_call_start_remote(call, TG_STR("mcp_call"), &params,
                             TG_FAILURE_PROGRAM, mistake);
}

/* --- clients that are gone --- */

static void
ngx_tg_imports_on_client_gone(ngx_tg_session_base_t *base)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_mcp_server_t **mcp;
    char room[256];
    tg_buf_t params;
    ngx_uint_t i;

    mmcf = ngx_stream_get_module_main_conf(base->stream, ngx_tg_imports_module);
    mcp = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        if (mcp[i]->imports->scf != base->conf
            || mcp[i]->options.share != TG_MCP_SHARE_CONNECTION)
        {
            continue;
        }

        params = tg_buf_make_fixed(room, sizeof(room));
        tg_buf_append_cstr(&params, "{\"key\":\"");
        tg_buf_append(&params, mcp[i]->key, sizeof(mcp[i]->key));
        tg_buf_append_cstr(&params, "\",\"instance\":\"conn:");
        tg_buf_append_cstr(&params, base->key);
        tg_buf_append_cstr(&params, "\"}");
        ngx_tg_runner_notify(base->conf->runner, TG_STR("mcp_leave"),
                             tg_buf_view(&params));
    }
}

/* --- toolgate.status --- */

static void
ngx_tg_imports_write_status(const ngx_tg_srv_conf_t *scf, tg_buf_t *json)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i, n;

    mmcf = ngx_stream_cycle_get_module_main_conf(ngx_cycle,
                                                 ngx_tg_imports_module);
    mcp = mmcf->servers.elts;
    tg_buf_append_cstr(json, ",\"mcp_servers\":[");

    for (i = 0, n = 0; i < mmcf->servers.nelts; i++) {
        if (mcp[i]->imports->scf != scf) {
            continue;
        }

        tg_buf_append_cstr(json, n++ == 0 ? "{\"name\":" : ",{\"name\":");
        tg_json_write_string(json, ngx_tg_str_from_ngx(&mcp[i]->name));

        if (mcp[i]->state.len != 0 && !tg_buf_has_failed(&mcp[i]->state)) {
            tg_json_begin_element(json);
            tg_buf_append_str(json, tg_buf_view(&mcp[i]->state));
        } else {
            tg_json_add_cstr(json, "state", "unknown");
        }

        ngx_tg_imported_list_write_conflicts(mcp[i], json);
        ngx_tg_imported_list_write_unchecked(mcp[i], json);
        ngx_tg_imported_list_write_issues(mcp[i], json);
        tg_buf_append_char(json, '}');
    }

    tg_buf_append_char(json, ']');
}

/* --- handler --- */

const ngx_tg_handler_t ngx_tg_imported_tool_handler = {
    .name = ngx_string("mcp_server"),
    .module = &ngx_tg_imports_module,
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_HAS_OWN_BLOCK
             | NGX_TG_HANDLER_ALLOWS_SPILL,
    .start = ngx_tg_imported_call_start,
    .finalize_config = ngx_tg_imports_finalize_config,
    .on_client_gone = ngx_tg_imports_on_client_gone,
    .write_status = ngx_tg_imports_write_status,
    .watch = ngx_tg_imported_resource_watch,
    .can_watch = ngx_tg_imported_resource_can_watch,
};
