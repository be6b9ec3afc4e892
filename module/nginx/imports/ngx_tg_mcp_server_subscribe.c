/* A worker's subscription to its MCP servers, renewed after each loss. */
#include "nginx/imports/ngx_tg_imports.h"

#include "nginx/session/ngx_tg_session.h"

/* Delays between attempts in ms; doubled each time. */
#define NGX_TG_MCP_RETRY_MIN 100
#define NGX_TG_MCP_RETRY_MAX 30000

static const char *const ngx_tg_mcp_notification_members[] = { "key", "tools",
                                                               NULL };

static void
ngx_tg_mcp_server_subscribe_later(ngx_tg_mcp_server_t *mcp)
{
    if (ngx_tg_worker_is_exiting() || ngx_terminate
        || mcp->retry_event.timer_set || mcp->subscribe_request.conn != NULL)
    {
        return;
    }

    ngx_add_timer(&mcp->retry_event, mcp->retry_delay);
    mcp->retry_delay = ngx_min(mcp->retry_delay * 2, NGX_TG_MCP_RETRY_MAX);
}

/* Modern clients are told what the servers declare at this time. */
static void
ngx_tg_imports_update_info(ngx_tg_imported_catalog_t *imports)
{
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i;

    mcp = imports->servers.elts;
    imports->scf->info.has_apps = 0;

    for (i = 0; i < imports->servers.nelts; i++) {
        imports->scf->info.has_apps |= (int) mcp[i]->has_apps;
    }
}

void
ngx_tg_mcp_server_set_capabilities(ngx_tg_mcp_server_t *mcp, tg_str_t object)
{
    tg_str_t caps, value;

    caps = TG_STR_NONE;
    (void) tg_json_has_member(object, TG_STR("capabilities"), TG_JSON_OBJECT,
                              &caps);
    mcp->has_completions = caps.data != NULL
                           && tg_json_has_member(caps, TG_STR("completions"),
                                                 TG_JSON_OBJECT, &value);
    mcp->has_subscribe = caps.data != NULL
                         && tg_json_has_member(caps, TG_STR("resources"),
                                               TG_JSON_OBJECT, &value)
                         && tg_json_has_member(value, TG_STR("subscribe"),
                                               TG_JSON_TRUE, &value);
    mcp->has_apps = caps.data != NULL
                    && tg_json_has_member(caps, TG_STR("extensions"),
                                          TG_JSON_OBJECT, &value)
                    && tg_json_has_member(value, TG_STR(TG_MCP_EXTENSION_APPS),
                                          TG_JSON_OBJECT, &value);
    ngx_tg_imports_update_info(mcp->imports);
}

/* Handles an object that has lists if their array `tools` is valid. */
static void
ngx_tg_mcp_server_on_list(ngx_tg_mcp_server_t *mcp, tg_str_t object,
                          tg_str_t tools)
{
    if (tg_json_type(tools) != TG_JSON_ARRAY) {
        return;
    }

    ngx_tg_mcp_server_set_capabilities(mcp, object);

    if (ngx_tg_imported_list_update(mcp, object) == NGX_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "no memory for the list of mcp_server \"%V\"",
                      &mcp->name);
    }
}

/* Stores the known members of the state; other runner versions may differ. */
static void
ngx_tg_mcp_server_set_state(ngx_tg_mcp_server_t *mcp, tg_str_t params)
{
    static const char *const names[] = { "state", "restarts", "running",
                                         "error", NULL };
    tg_str_t values[4];
    size_t i;

    if (tg_json_get_members(params, names, values) != TG_OK
        || values[0].data == NULL)
    {
        return;
    }

    mcp->has_failed = values[3].data != NULL;

    tg_buf_truncate(&mcp->state, 0);

    for (i = 0; i < 4; i++) {
        if (values[i].data != NULL) {
            tg_json_add_compact(&mcp->state, names[i], values[i]);
        }
    }

    /* There is nothing left to wait for. */
    if (mcp->has_failed && mcp->list == NULL
        && !ngx_tg_imported_list_is_pending(mcp))
    {
        ngx_tg_server_unpark_sessions(mcp->imports->scf);
    }
}

/*
 * Checks whether params are about this server. The key comes first, so that the
 * long list of one server costs the others no time.
 */
static ngx_uint_t
ngx_tg_mcp_server_is_addressed(const ngx_tg_mcp_server_t *mcp, tg_str_t params)
{
    tg_str_t name, key;
    tg_json_cursor_t json;

    tg_json_init(&json, params);

    if (tg_json_enter_object(&json) != TG_OK
        || tg_json_next_member(&json, &name) != TG_OK)
    {
        return 0;
    }

    return (tg_json_body_eq_text(name, TG_STR("key"))
                ? tg_json_read_value(&json, &key)
                : tg_json_get_member(params, TG_STR("key"), &key))
               == TG_OK
           && tg_json_string_eq(key, tg_str(mcp->key, sizeof(mcp->key)));
}

static void
ngx_tg_mcp_server_on_notification(void *data, tg_str_t method, tg_str_t params)
{
    ngx_tg_mcp_server_t *mcp = data;

    tg_str_t said[2]; /* values of key and tools */

    if (!ngx_tg_mcp_server_is_addressed(mcp, params)) {
        return;
    }

    if (tg_json_body_eq_text(method, TG_STR("mcp_list"))) {
        if (tg_json_get_members(params, ngx_tg_mcp_notification_members, said)
            == TG_OK) {
            ngx_tg_mcp_server_on_list(mcp, params, said[1]);
        }

    } else if (tg_json_body_eq_text(method, TG_STR("mcp_state"))) {
        ngx_tg_mcp_server_set_state(mcp, params);
    } else if (tg_json_body_eq_text(method, TG_STR("mcp_updated"))) {
        ngx_tg_imported_watches_on_updated(mcp, params);
    }
}

static void
ngx_tg_mcp_server_on_disconnect(void *data)
{
    ((ngx_tg_mcp_server_t *) data)->is_known = 0;
    tg_buf_truncate(&((ngx_tg_mcp_server_t *) data)->state, 0);
    ngx_tg_mcp_server_subscribe_later(data);
}

static void
ngx_tg_mcp_server_on_response(void *data, const tg_response_t *answer)
{
    ngx_tg_mcp_server_t *mcp = data;

    tg_str_t said[2]; /* values of key and tools */

    if (answer->kind == TG_RESPONSE_RESULT) {
        mcp->retry_delay = NGX_TG_MCP_RETRY_MIN;
        ngx_tg_imported_watches_send(mcp);
        ngx_tg_mcp_server_set_state(mcp, answer->result);

        if (tg_json_get_members(answer->result, ngx_tg_mcp_notification_members,
                                said)
            == TG_OK)
        {
            ngx_tg_mcp_server_on_list(mcp, answer->result, said[1]);
        }

        return;
    }

    if (answer->kind == TG_RESPONSE_ERROR) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner rejected mcp_server \"%V\": %*s",
                      &mcp->name, answer->message.len, answer->message.data);
        mcp->has_failed = 1;
        ngx_tg_server_unpark_sessions(mcp->imports->scf);
        return;
    }

    ngx_tg_mcp_server_subscribe_later(mcp);
}

static void
ngx_tg_mcp_server_subscribe(ngx_event_t *ev)
{
    ngx_tg_mcp_server_t *mcp;
    tg_buf_t params;
    int rc;

    mcp = ev->data;
    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_cstr(&params, "{\"key\":\"");
    tg_buf_append(&params, mcp->key, sizeof(mcp->key));
    tg_buf_append_char(&params, '"');
    tg_json_add_string(&params, "server", ngx_tg_str_from_ngx(&mcp->name));
    tg_json_add_compact(&params, "spec", mcp->spec);
    tg_buf_append_char(&params, '}');

    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : ngx_tg_runner_send_request(mcp->imports->scf->runner,
                                          TG_STR("mcp_watch"),
                                          tg_buf_view(&params),
                                          &mcp->subscribe_request);
    tg_buf_deinit(&params);

    if (rc != TG_OK) {
        ngx_tg_mcp_server_subscribe_later(mcp);
    }
}

void
ngx_tg_mcp_server_subscribe_now(ngx_tg_mcp_server_t *mcp)
{
    if (mcp->retry_event.timer_set) {
        ngx_del_timer(&mcp->retry_event);
        ngx_tg_mcp_server_subscribe(&mcp->retry_event);
    }
}

ngx_int_t
ngx_tg_imports_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_imported_catalog_t **imports;
    ngx_tg_mcp_server_t **mcp;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_imports_module);

    if (mmcf == NULL || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    imports = mmcf->imported_catalogs.elts;

    for (i = 0; i < mmcf->imported_catalogs.nelts; i++) {
        ngx_tg_imported_list_wait_init(imports[i]);
    }

    mcp = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        mcp[i]->retry_delay = NGX_TG_MCP_RETRY_MIN;
        mcp[i]->retry_event.handler = ngx_tg_mcp_server_subscribe;
        mcp[i]->retry_event.data = mcp[i];
        mcp[i]->retry_event.log = cycle->log;
        mcp[i]->retry_event.cancelable = 1;
        mcp[i]->subscribe_request.data = mcp[i];
        mcp[i]->subscribe_request.answer = ngx_tg_mcp_server_on_response;
        mcp[i]->subscriber.data = mcp[i];
        mcp[i]->subscriber.on_notification = ngx_tg_mcp_server_on_notification;
        mcp[i]->subscriber.on_lost = ngx_tg_mcp_server_on_disconnect;
        ngx_tg_runner_add_subscriber(mcp[i]->imports->scf->runner,
                                     &mcp[i]->subscriber);
        /* Events posted here run without waiting for an I/O event. */
        ngx_post_event(&mcp[i]->retry_event, &ngx_posted_next_events);
        ngx_tg_imported_list_compile_schemas(mcp[i]);
    }

    return NGX_OK;
}
