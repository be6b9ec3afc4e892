/*
 * What a worker hears of its MCP servers: it asks the runner once, and anew
 * whenever it has lost the line to it.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "nginx/stream/ngx_toolgate_session.h"

/* Between two tries to ask: it doubles. */
#define NGX_TOOLGATE_MCP_RETRY_MIN 100
#define NGX_TOOLGATE_MCP_RETRY_MAX 30000

static const char *const ngx_toolgate_mcp_said[] = { "key", "tools", NULL };

static void
ngx_toolgate_mcp_ask_later(ngx_toolgate_mcp_t *mcp)
{
    if (ngx_toolgate_exits() || ngx_terminate || mcp->retry.timer_set
        || mcp->ask.line != NULL)
    {
        return;
    }

    ngx_add_timer(&mcp->retry, mcp->delay);
    mcp->delay = ngx_min(mcp->delay * 2, NGX_TOOLGATE_MCP_RETRY_MAX);
}

static void
ngx_toolgate_mcp_hear(ngx_toolgate_mcp_t *mcp, tg_str_t tools)
{
    if (tg_json_type(tools) == TG_JSON_ARRAY
        && ngx_toolgate_mcp_take(mcp, tools) == NGX_ERROR)
    {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "no memory for the list of mcp_server \"%V\"",
                      &mcp->name);
    }
}

/* Keeps what members there are; of another runner's words, none. */
static void
ngx_toolgate_mcp_state(ngx_toolgate_mcp_t *mcp, tg_str_t params)
{
    static const char *const names[] = { "state", "restarts", "running",
                                         "error", NULL };
    tg_str_t values[4];
    size_t i;

    if (tg_json_members(params, names, values) != TG_OK
        || values[0].data == NULL) {
        return;
    }

    mcp->has_failed = values[3].data != NULL;

    tg_buf_truncate(&mcp->state, 0);

    for (i = 0; i < 4; i++) {
        if (values[i].data != NULL) {
            tg_buf_text(&mcp->state, ",\"");
            tg_buf_text(&mcp->state, names[i]);
            tg_json_put_member(&mcp->state, "\":", values[i]);
        }
    }

    /* Nothing is to be waited for any more. */
    if (mcp->has_failed && mcp->list == NULL
        && !ngx_toolgate_mcp_is_coming(mcp)) {
        ngx_toolgate_session_unpark(mcp->offer->scf);
    }
}

/*
 * Are params about this server?  The runner writes the key first, so that a
 * long list of one server costs the others nothing.
 */
static ngx_uint_t
ngx_toolgate_mcp_is_about(const ngx_toolgate_mcp_t *mcp, tg_str_t params)
{
    tg_str_t name, key;
    tg_json_t json;

    tg_json_init(&json, params);

    if (tg_json_object(&json) != TG_OK || tg_json_member(&json, &name) != TG_OK)
    {
        return 0;
    }

    return (tg_json_body_is(name, TG_STR("key"))
                ? tg_json_value(&json, &key)
                : tg_json_get(params, TG_STR("key"), &key))
               == TG_OK
           && tg_json_is_text(key, tg_str(mcp->key, sizeof(mcp->key)));
}

static void
ngx_toolgate_mcp_told(void *data, tg_str_t method, tg_str_t params)
{
    ngx_toolgate_mcp_t *mcp = data;

    tg_str_t said[2]; /* key, tools */

    if (!ngx_toolgate_mcp_is_about(mcp, params)) {
        return;
    }

    if (tg_json_body_is(method, TG_STR("mcp_list"))) {
        if (tg_json_members(params, ngx_toolgate_mcp_said, said) == TG_OK) {
            ngx_toolgate_mcp_hear(mcp, said[1]);
        }

    } else if (tg_json_body_is(method, TG_STR("mcp_state"))) {
        ngx_toolgate_mcp_state(mcp, params);
    }
}

static void
ngx_toolgate_mcp_lost(void *data)
{
    tg_buf_truncate(&((ngx_toolgate_mcp_t *) data)->state, 0);
    ngx_toolgate_mcp_ask_later(data);
}

static void
ngx_toolgate_mcp_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_mcp_t *mcp = data;

    tg_str_t said[2]; /* key, tools */

    if (answer->kind == TG_ANSWER_RESULT) {
        mcp->delay = NGX_TOOLGATE_MCP_RETRY_MIN;
        ngx_toolgate_mcp_state(mcp, answer->result);

        if (tg_json_members(answer->result, ngx_toolgate_mcp_said, said)
            == TG_OK) {
            ngx_toolgate_mcp_hear(mcp, said[1]);
        }

        return;
    }

    if (answer->kind == TG_ANSWER_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner does not take mcp_server \"%V\": %*s",
                      &mcp->name, answer->message.len, answer->message.data);
        mcp->has_failed = 1;
        ngx_toolgate_session_unpark(mcp->offer->scf);
        return;
    }

    ngx_toolgate_mcp_ask_later(mcp);
}

static void
ngx_toolgate_mcp_ask(ngx_event_t *ev)
{
    ngx_toolgate_mcp_t *mcp;
    tg_buf_t params;
    int rc;

    mcp = ev->data;
    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_text(&params, "{\"key\":\"");
    tg_buf_put(&params, mcp->key, sizeof(mcp->key));
    tg_buf_text(&params, "\",\"server\":");
    tg_json_put_string(&params, ngx_toolgate_str(&mcp->name));
    tg_json_put_member(&params, ",\"spec\":", mcp->spec);
    tg_buf_char(&params, '}');

    rc = tg_buf_failed(&params)
             ? TG_NOMEM
             : ngx_toolgate_runner_ask(mcp->offer->scf->runner,
                                       TG_STR("mcp_watch"),
                                       tg_buf_view(&params), &mcp->ask);
    tg_buf_deinit(&params);

    if (rc != TG_OK) {
        ngx_toolgate_mcp_ask_later(mcp);
    }
}

void
ngx_toolgate_mcp_ask_now(ngx_toolgate_mcp_t *mcp)
{
    if (mcp->retry.timer_set) {
        ngx_del_timer(&mcp->retry);
        ngx_toolgate_mcp_ask(&mcp->retry);
    }
}

ngx_int_t
ngx_toolgate_mcp_init_process(ngx_cycle_t *cycle)
{
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_toolgate_mcp_offer_t **offer;
    ngx_toolgate_mcp_t **mcp;
    ngx_uint_t i;

    mmcf = cycle->conf_ctx[ngx_stream_module.index] != NULL
               ? ngx_stream_cycle_get_module_main_conf(cycle,
                                                       ngx_toolgate_mcp_module)
               : NULL;

    if (mmcf == NULL
        || (ngx_process != NGX_PROCESS_WORKER
            && ngx_process != NGX_PROCESS_SINGLE))
    {
        return NGX_OK;
    }

    offer = mmcf->offers.elts;

    for (i = 0; i < mmcf->offers.nelts; i++) {
        ngx_toolgate_mcp_wait_init(offer[i]);
    }

    mcp = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        mcp[i]->delay = NGX_TOOLGATE_MCP_RETRY_MIN;
        mcp[i]->retry.handler = ngx_toolgate_mcp_ask;
        mcp[i]->retry.data = mcp[i];
        mcp[i]->retry.log = cycle->log;
        mcp[i]->retry.cancelable = 1;
        mcp[i]->ask.data = mcp[i];
        mcp[i]->ask.answer = ngx_toolgate_mcp_answer;
        mcp[i]->watch.data = mcp[i];
        mcp[i]->watch.told = ngx_toolgate_mcp_told;
        mcp[i]->watch.lost = ngx_toolgate_mcp_lost;
        ngx_toolgate_runner_watch(mcp[i]->offer->scf->runner, &mcp[i]->watch);
        /* What is posted now waits for nothing else to happen. */
        ngx_post_event(&mcp[i]->retry, &ngx_posted_next_events);
        ngx_toolgate_mcp_compile_list(mcp[i]);
    }

    return NGX_OK;
}
