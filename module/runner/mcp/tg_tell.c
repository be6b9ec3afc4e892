#include "runner/mcp/tg_tell.h"

#include "runner/mcp/tg_kept.h"
#include "runner/mcp/tg_question.h"

#include <stdlib.h>

static const char *const tg_server_states[] = {
    [TG_SERVER_STOPPED] = "stopped",
    [TG_SERVER_FAILED] = "failed",
    [TG_SERVER_STARTING] = "starting",
    [TG_SERVER_READY] = "ready",
};

static tg_server_summary_t
tg_server_summary(const tg_server_t *server)
{
    const tg_instance_t *instance;
    tg_server_summary_t summary;
    tg_server_state_t state;

    memset(&summary, 0, sizeof(summary));
    summary.state = server->error[0] != '\0' ? TG_SERVER_FAILED
                                             : TG_SERVER_STOPPED;
    summary.restarts = server->restarts;

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = TAILQ_NEXT(instance, place))
    {
        summary.running += instance->state != TG_INSTANCE_STOPPED;
        state = instance->state == TG_INSTANCE_READY ? TG_SERVER_READY
                : instance->state == TG_INSTANCE_STARTING || instance->is_again
                    ? TG_SERVER_STARTING
                    : TG_SERVER_STOPPED;

        if (state > summary.state) {
            summary.state = state;
        }
    }

    return summary;
}

void
tg_server_put_state(tg_buf_t *json, const tg_server_t *server)
{
    const tg_server_summary_t *told;

    told = &server->told;
    tg_buf_printf(json, "\"state\":\"%s\",\"restarts\":%u,\"running\":%u",
                  tg_server_states[told->state], told->restarts, told->running);

    if (server->error[0] != '\0') {
        tg_buf_text(json, ",\"error\":");
        tg_json_put_string(json, tg_str_c(server->error));
    }
}

static void
tg_server_notify(const tg_server_t *server, tg_peer_t *peer, int is_list)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_printf(&json, "{\"key\":\"%s\",", server->spec.key);

    if (is_list) {
        tg_catalogue_list_whole(server->tools, NULL, NULL, &json);
    } else {
        tg_server_put_state(&json, server);
    }

    tg_buf_char(&json, '}');

    if (!tg_buf_failed(&json)) {
        tg_peer_notify(peer, is_list ? TG_STR("mcp_list") : TG_STR("mcp_state"),
                       tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
}

/* What is due; a worker that does not read hears it later, and the newest. */
static void
tg_server_tell(tg_server_t *server)
{
    const tg_jobs_t *jobs;
    tg_watch_t *watch;

    jobs = server->servers->jobs;

    for (watch = TAILQ_FIRST(&server->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        if (!watch->is_list_due && !watch->is_state_due) {
            continue;
        }

        if (!jobs->ops->may_tell(jobs->host, watch->peer)) {
            tg_server_retry(server);
            continue;
        }

        if (watch->is_list_due) {
            tg_server_notify(server, watch->peer, 1);
        }

        if (watch->is_state_due) {
            tg_server_notify(server, watch->peer, 0);
        }

        watch->is_list_due = 0;
        watch->is_state_due = 0;
        jobs->ops->told(jobs->host, watch->peer);
    }
}

static void
tg_server_on_retry(uv_timer_t *timer)
{
    tg_instance_t *instance;
    tg_server_t *server;

    server = timer->data;
    tg_server_tell(server);

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = TAILQ_NEXT(instance, place))
    {
        if (tg_questions_send(instance)) {
            tg_server_retry(server);
        }
    }
}

void
tg_server_retry(tg_server_t *server)
{
    uv_timer_start(&server->retry, tg_server_on_retry, TG_JOBS_RETRY_MS, 0);
}

void
tg_server_changed(tg_server_t *server)
{
    tg_server_summary_t now;
    tg_watch_t *watch;

    now = tg_server_summary(server);

    if (server->is_leaving || memcmp(&now, &server->told, sizeof(now)) == 0) {
        return;
    }

    server->told = now;

    for (watch = TAILQ_FIRST(&server->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        watch->is_state_due = 1;
    }

    tg_server_tell(server);
}

int
tg_server_tell_list(tg_server_t *server, tg_catalogue_t *tools)
{
    tg_watch_t *watch;
    int err;

    tg_catalogue_release(server->tools);
    server->tools = tg_catalogue_hold(tools);

    for (watch = TAILQ_FIRST(&server->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        watch->is_list_due = 1;
    }

    tg_server_tell(server);

    err = tg_kept_write(server->servers->dir, server->spec.key,
                        server->spec.place, tools);

    return err == 0 ? tg_kept_write_name(server->servers->dir,
                                         server->spec.name, server->spec.key)
                    : err;
}

void
tg_watches_drop(tg_server_t *server)
{
    tg_watch_t *watch;

    while ((watch = TAILQ_FIRST(&server->watches)) != NULL) {
        TAILQ_REMOVE(&server->watches, watch, place);
        free(watch);
    }
}
