/*
 * A call of a tool that another MCP server has: a job of the runner's.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "base/tg_utf8.h"

static void ngx_toolgate_mcp_start(ngx_toolgate_call_t *call,
                                   tg_request_t *request);
static void ngx_toolgate_mcp_leave(ngx_toolgate_front_t *front);
static void ngx_toolgate_mcp_tell(const ngx_toolgate_srv_conf_t *scf,
                                  tg_buf_t *json);

const ngx_toolgate_handler_t ngx_toolgate_mcp_handler = {
    .name = ngx_string("mcp_server"),
    .module = &ngx_toolgate_mcp_module,
    .flags = NGX_TOOLGATE_TAKES_TIME | NGX_TOOLGATE_HAS_BLOCK
             | NGX_TOOLGATE_MAY_SPILL,
    .start = ngx_toolgate_mcp_start,
    .settle = ngx_toolgate_mcp_settle,
    .leave = ngx_toolgate_mcp_leave,
    .tell = ngx_toolgate_mcp_tell,
};

/* --- a call --- */

/* Appends the folder in which the client is, and whose it must be. */
static const char *
ngx_toolgate_mcp_put_cwd(const ngx_toolgate_client_t *client, tg_buf_t *params)
{
    char link[sizeof("/proc//cwd") + NGX_INT_T_LEN], path[NGX_MAX_PATH];
    ssize_t n;

    (void) ngx_sprintf((u_char *) link, "/proc/%P/cwd%Z", client->pid);
    n = readlink(link, path, sizeof(path));

    if (n <= 0 || n == (ssize_t) sizeof(path) || path[0] != '/'
        || !tg_utf8_is_valid(tg_str(path, (size_t) n)))
    {
        return "The folder of the calling process cannot be read, which this "
               "tool's server works in (cwd client): let NGINX's workers run "
               "as the user who calls.";
    }

    tg_buf_text(params, ",\"cwd\":");
    tg_json_put_string(params, tg_str(path, (size_t) n));
    tg_buf_text(params, ",\"uid\":");
    tg_buf_uint(params, client->uid);

    return NULL;
}

/* Appends whose process is called: NULL, or what is wrong. */
static const char *
ngx_toolgate_mcp_put_instance(ngx_toolgate_front_t *front,
                              const ngx_toolgate_mcp_t *mcp, tg_buf_t *params)
{
    const ngx_toolgate_client_t *client;
    const char *key;

    if (mcp->share == NGX_TOOLGATE_MCP_ALL) {
        return NULL;
    }

    client = ngx_toolgate_client(front);

    if (client == NULL
        && (mcp->share == NGX_TOOLGATE_MCP_USER || mcp->has_client_cwd))
    {
        return "This tool's server goes by the user who calls, which is known "
               "of clients of a Unix socket only.";
    }

    tg_buf_text(params, ",\"instance\":\"");

    if (mcp->share == NGX_TOOLGATE_MCP_USER) {
        tg_buf_text(params, "uid:");
        tg_buf_uint(params, client->uid);
        tg_buf_char(params, '"');
        return NULL;
    }

    key = ngx_toolgate_front_key(front);

    if (key == NULL) {
        return TG_NO_MEMORY;
    }

    tg_buf_text(params, "conn:");
    tg_buf_text(params, key);
    tg_buf_text(params, "\",\"capabilities\":");
    tg_can_put(params, front->peer.can);

    return mcp->has_client_cwd ? ngx_toolgate_mcp_put_cwd(client, params)
                               : NULL;
}

/* The params of the runner's method `mcp_call`; NULL, or what is wrong. */
static const char *
ngx_toolgate_mcp_params(ngx_toolgate_call_t *call, tg_request_t *request,
                        tg_buf_t *params)
{
    ngx_toolgate_mcp_tool_t *listed;
    ngx_toolgate_mcp_t *mcp;
    const char *mistake;

    listed = call->tool->conf;
    mcp = listed->server;
    ngx_toolgate_job_params(call, params);
    tg_buf_text(params, ",\"max_output\":");
    tg_buf_uint(params, call->tool->max_output);
    ngx_toolgate_job_spill(call, params);
    tg_buf_text(params, ",\"key\":\"");
    tg_buf_put(params, mcp->key, sizeof(mcp->key));
    tg_buf_text(params, "\"");
    mistake = ngx_toolgate_mcp_put_instance(call->front, mcp, params);

    if (mistake != NULL) {
        return mistake;
    }

    tg_json_put_member(params, ",\"name\":", listed->name);
    tg_json_put_member(params, ",\"arguments\":", request->arguments);
    tg_json_put_member(params, ",\"meta\":", request->meta);
    tg_json_put_member(params,
                       ",\"inputResponses\":", request->input_responses);
    tg_json_put_member(params, ",\"requestState\":", request->request_state);
    tg_buf_char(params, '}');

    return tg_buf_failed(params) ? TG_NO_MEMORY : NULL;
}

static void
ngx_toolgate_mcp_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    ngx_toolgate_mcp_tool_t *listed;
    const char *mistake;
    tg_buf_t params;

    listed = call->tool->conf;
    ngx_toolgate_mcp_ask_now(listed->server);
    tg_buf_init(&params, tg_alloc_libc());
    mistake = ngx_toolgate_mcp_params(call, request, &params);

    if (mistake != NULL) {
        ngx_toolgate_call_fail(call, TG_FAILURE_PROGRAM, mistake);
    } else if (ngx_toolgate_call_defer(call) == NGX_OK) {
        ngx_toolgate_call_job(call, TG_STR("mcp_call"), tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}

/* --- a client that is gone --- */

static void
ngx_toolgate_mcp_leave(ngx_toolgate_front_t *front)
{
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_toolgate_mcp_t **mcp;
    char room[256];
    tg_buf_t params;
    ngx_uint_t i;

    mmcf = ngx_stream_get_module_main_conf(front->stream,
                                           ngx_toolgate_mcp_module);
    mcp = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        if (mcp[i]->offer->scf != front->conf
            || mcp[i]->share != NGX_TOOLGATE_MCP_CONNECTION)
        {
            continue;
        }

        params = tg_buf_fixed(room, sizeof(room));
        tg_buf_text(&params, "{\"key\":\"");
        tg_buf_put(&params, mcp[i]->key, sizeof(mcp[i]->key));
        tg_buf_text(&params, "\",\"instance\":\"conn:");
        tg_buf_text(&params, front->key);
        tg_buf_text(&params, "\"}");
        ngx_toolgate_runner_notify(front->conf->runner, TG_STR("mcp_leave"),
                                   tg_buf_view(&params));
    }
}

/* --- toolgate.status --- */

static void
ngx_toolgate_mcp_tell(const ngx_toolgate_srv_conf_t *scf, tg_buf_t *json)
{
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t i, n;

    mmcf = ngx_stream_cycle_get_module_main_conf(ngx_cycle,
                                                 ngx_toolgate_mcp_module);
    mcp = mmcf->servers.elts;
    tg_buf_text(json, ",\"mcp_servers\":[");

    for (i = 0, n = 0; i < mmcf->servers.nelts; i++) {
        if (mcp[i]->offer->scf != scf) {
            continue;
        }

        tg_buf_text(json, n++ == 0 ? "{\"name\":" : ",{\"name\":");
        tg_json_put_string(json, ngx_toolgate_str(&mcp[i]->name));

        if (mcp[i]->state.len != 0 && !tg_buf_failed(&mcp[i]->state)) {
            tg_buf_str(json, tg_buf_view(&mcp[i]->state));
        } else {
            tg_buf_text(json, ",\"state\":\"unknown\"");
        }

        ngx_toolgate_mcp_put_clashes(mcp[i], json);
        ngx_toolgate_mcp_put_unchecked(mcp[i], json);
        ngx_toolgate_mcp_put_remarks(mcp[i], json);
        tg_buf_char(json, '}');
    }

    tg_buf_char(json, ']');
}
