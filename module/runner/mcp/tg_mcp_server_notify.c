/* Notifications of workers, and writing the list cache, in time slices. */
#include "runner/mcp/tg_mcp_server_notify.h"

#include "runner/mcp/tg_list_cache.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_request.h"
#include "runner/logging/tg_log.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>

/* Cost of a notification in a time slice, in bytes, besides its list. */
#define TG_MCP_SERVER_NOTIFY_STEPS 1024

static const char *const tg_mcp_server_state_names[] = {
    [TG_MCP_SERVER_STOPPED] = "stopped",
    [TG_MCP_SERVER_FAILED] = "failed",
    [TG_MCP_SERVER_STARTING] = "starting",
    [TG_MCP_SERVER_READY] = "ready",
};

static tg_mcp_server_summary_t
tg_mcp_server_summarize(const tg_mcp_server_t *server)
{
    const tg_mcp_conn_t *mcp_conn;
    tg_mcp_server_summary_t summary;
    tg_mcp_server_state_t state;

    memset(&summary, 0, sizeof(summary));
    summary.state = server->error[0] != '\0' ? TG_MCP_SERVER_FAILED
                                             : TG_MCP_SERVER_STOPPED;
    summary.restarts = server->restarts;

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        summary.running += mcp_conn->state != TG_MCP_CONN_STOPPED;
        state = mcp_conn->state == TG_MCP_CONN_READY ? TG_MCP_SERVER_READY
                : mcp_conn->state == TG_MCP_CONN_STARTING
                        || mcp_conn->is_restart
                    ? TG_MCP_SERVER_STARTING
                    : TG_MCP_SERVER_STOPPED;

        if (state > summary.state) {
            summary.state = state;
        }
    }

    return summary;
}

void
tg_mcp_server_write_state(tg_buf_t *json, const tg_mcp_server_t *server)
{
    const tg_mcp_server_summary_t *notified;

    notified = &server->notified;
    tg_json_add_cstr(json, "state", tg_mcp_server_state_names[notified->state]);
    tg_json_add_uint(json, "restarts", notified->restarts);
    tg_json_add_uint(json, "running", notified->running);

    if (server->error[0] != '\0') {
        tg_json_add_string(json, "error", tg_str_from_cstr(server->error));
    }
}

static void
tg_mcp_server_notify_peer(const tg_mcp_server_t *server, tg_peer_t *peer,
                          int is_list)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_printf(&json, "{\"key\":\"%s\",", server->spec.key);

    if (is_list) {
        tg_mcp_lists_write(&server->lists, &json);
    } else {
        tg_mcp_server_write_state(&json, server);
    }

    tg_buf_append_char(&json, '}');

    if (!tg_buf_has_failed(&json)) {
        tg_peer_notify(peer, is_list ? TG_STR("mcp_list") : TG_STR("mcp_state"),
                       tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
}

/* Writes the next due file of the list cache. Returns 0 if there is none. */
static int
tg_mcp_server_cache_next_file(tg_mcp_server_t *server)
{
    const char *dir;
    int err;

    dir = server->servers->dir;

    switch (server->cache_files_due) {
    case 2:
        err = tg_list_cache_write(dir, server->spec.key, &server->lists);
        break;
    case 1:
        err = tg_list_cache_write_last(dir, server->spec.place, &server->lists);

        if (err == 0) {
            err = tg_list_cache_write_name(dir, server->spec.name,
                                           server->spec.key);
        }

        break;
    default:
        return 0;
    }

    server->cache_files_due--;

    if (err != 0) {
        server->cache_files_due = 0;
        tg_mcp_server_log(server, TG_LOG_WARN,
                          "its lists cannot be saved in %s/mcp: %s", dir,
                          strerror(err));
    }

    return 1;
}

/*
 * Sends due notifications to a worker and returns their cost. A worker that
 * does not read gets only the newest state later.
 */
static size_t
tg_mcp_server_notify_subscriber(tg_mcp_server_t *server,
                                tg_mcp_subscriber_t *subscriber)
{
    const tg_jobs_t *jobs;
    size_t steps;

    jobs = server->servers->jobs;

    if (!subscriber->is_list_due && !subscriber->is_state_due) {
        return 0;
    }

    if (!jobs->ops->can_notify(jobs->host, subscriber->peer)) {
        tg_mcp_server_schedule_retry(server);
        return 0;
    }

    steps = TG_MCP_SERVER_NOTIFY_STEPS;

    if (subscriber->is_list_due) {
        steps += tg_mcp_lists_size(&server->lists);
        tg_mcp_server_notify_peer(server, subscriber->peer, 1);
    }

    if (subscriber->is_state_due) {
        tg_mcp_server_notify_peer(server, subscriber->peer, 0);
    }

    subscriber->is_list_due = 0;
    subscriber->is_state_due = 0;
    jobs->ops->notified(jobs->host, subscriber->peer);

    return steps;
}

static void
tg_mcp_server_run_notify(tg_sched_source_t *source)
{
    tg_mcp_server_t *server;
    tg_mcp_subscriber_t *subscriber;
    tg_sched_t *sched;

    server = TG_CONTAINER_OF(source, tg_mcp_server_t, source);
    sched = &server->servers->jobs->sched.sched;

    TAILQ_FOREACH(subscriber, &server->subscribers, link)
    {
        if (tg_sched_is_slice_over(sched, source,
                                   tg_mcp_server_notify_subscriber(server,
                                                                   subscriber)))
        {
            return;
        }
    }

    while (tg_mcp_server_cache_next_file(server)
           && !tg_sched_is_slice_over(sched, source,
                                      tg_mcp_lists_size(&server->lists)))
    { /* void */
    }
}

/* Sends due notifications for one time slice; the rest follows later. */
static void
tg_mcp_server_notify_subscribers(tg_mcp_server_t *server)
{
    server->source.run = tg_mcp_server_run_notify;

    if (!server->source.is_queued) {
        tg_mcp_server_run_notify(&server->source);
    }
}

void
tg_mcp_server_end_notify(tg_mcp_server_t *server)
{
    tg_sched_dequeue(&server->servers->jobs->sched.sched, &server->source);

    while (tg_mcp_server_cache_next_file(server)) { /* void */
    }
}

static void
tg_mcp_server_on_retry(uv_timer_t *timer)
{
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_server_t *server;

    server = timer->data;
    tg_mcp_server_notify_subscribers(server);

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        if (tg_mcp_server_requests_send(mcp_conn)
            + tg_mcp_resource_watches_send(mcp_conn))
        {
            tg_mcp_server_schedule_retry(server);
        }
    }
}

void
tg_mcp_server_schedule_retry(tg_mcp_server_t *server)
{
    uv_timer_start(&server->retry, tg_mcp_server_on_retry, TG_JOBS_RETRY_MS, 0);
}

void
tg_mcp_server_on_state_changed(tg_mcp_server_t *server)
{
    tg_mcp_server_summary_t now;
    tg_mcp_subscriber_t *subscriber;

    now = tg_mcp_server_summarize(server);

    if (server->is_leaving || memcmp(&now, &server->notified, sizeof(now)) == 0)
    {
        return;
    }

    server->notified = now;

    TAILQ_FOREACH(subscriber, &server->subscribers, link)
    {
        subscriber->is_state_due = 1;
    }

    tg_mcp_server_notify_subscribers(server);
}

void
tg_mcp_server_set_lists(tg_mcp_server_t *server, tg_mcp_lists_t *lists)
{
    tg_mcp_subscriber_t *subscriber;

    tg_mcp_lists_deinit(&server->lists);
    server->lists = *lists;
    tg_mcp_lists_init(lists);
    server->cache_files_due = 2;

    TAILQ_FOREACH(subscriber, &server->subscribers, link)
    {
        subscriber->is_list_due = 1;
    }

    tg_mcp_server_notify_subscribers(server);
}

void
tg_mcp_server_free_subscribers(tg_mcp_server_t *server)
{
    tg_mcp_subscriber_t *subscriber;

    while ((subscriber = TAILQ_FIRST(&server->subscribers)) != NULL) {
        TAILQ_REMOVE(&server->subscribers, subscriber, link);
        free(subscriber);
    }
}
