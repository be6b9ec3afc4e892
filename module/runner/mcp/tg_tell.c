#include "runner/mcp/tg_tell.h"

#include "runner/mcp/tg_kept.h"
#include "runner/mcp/tg_question.h"
#include "runner/tg_log.h"

#include <stdlib.h>

/* Steps of the scheduler in a notification, beside the bytes of a list. */
#define TG_TELL_STEPS 1024

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

/* Writes a file of the list that is not written yet: 1, or 0: there is none. */
static int
tg_server_keep(tg_server_t *server)
{
    const char *dir;
    int err;

    dir = server->servers->dir;

    switch (server->kept_due) {
    case 2:
        err = tg_kept_write(dir, server->spec.key, server->tools);
        break;
    case 1:
        err = tg_kept_write_last(dir, server->spec.place, server->tools);

        if (err == 0) {
            err = tg_kept_write_name(dir, server->spec.name, server->spec.key);
        }

        break;
    default:
        return 0;
    }

    server->kept_due--;

    if (err != 0) {
        server->kept_due = 0;
        tg_server_log(server, TG_LOG_WARN,
                      "its list of tools cannot be kept in %s/mcp: %s", dir,
                      strerror(err));
    }

    return 1;
}

/*
 * Tells a worker what is due, and returns the scheduler's steps of that.  One
 * that does not read hears it later, and the newest.
 */
static size_t
tg_server_tell_one(tg_server_t *server, tg_watch_t *watch)
{
    const tg_jobs_t *jobs;
    size_t steps;

    jobs = server->servers->jobs;

    if (!watch->is_list_due && !watch->is_state_due) {
        return 0;
    }

    if (!jobs->ops->may_tell(jobs->host, watch->peer)) {
        tg_server_retry(server);
        return 0;
    }

    steps = TG_TELL_STEPS;

    if (watch->is_list_due) {
        steps += tg_catalogue_list_size(server->tools);
        tg_server_notify(server, watch->peer, 1);
    }

    if (watch->is_state_due) {
        tg_server_notify(server, watch->peer, 0);
    }

    watch->is_list_due = 0;
    watch->is_state_due = 0;
    jobs->ops->told(jobs->host, watch->peer);

    return steps;
}

static void
tg_server_tell_some(tg_source_t *source)
{
    tg_server_t *server;
    tg_watch_t *watch;
    tg_sched_t *sched;

    server = TG_OWNER(source, tg_server_t, source);
    sched = &server->servers->jobs->sched.sched;

    for (watch = TAILQ_FIRST(&server->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        if (tg_slice_is_over(sched, source, tg_server_tell_one(server, watch)))
        {
            return;
        }
    }

    while (tg_server_keep(server)
           && !tg_slice_is_over(sched, source,
                                tg_catalogue_list_size(server->tools)))
    { /* void */
    }
}

/* What is due, as far as a slice goes. */
static void
tg_server_tell(tg_server_t *server)
{
    server->source.run = tg_server_tell_some;

    if (!server->source.is_waiting) {
        tg_server_tell_some(&server->source);
    }
}

void
tg_server_tell_end(tg_server_t *server)
{
    tg_source_leave(&server->servers->jobs->sched.sched, &server->source);

    while (tg_server_keep(server)) { /* void */
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

void
tg_server_tell_list(tg_server_t *server, tg_catalogue_t *tools)
{
    tg_watch_t *watch;

    tg_catalogue_release(server->tools);
    server->tools = tg_catalogue_hold(tools);
    server->kept_due = 2;

    for (watch = TAILQ_FIRST(&server->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        watch->is_list_due = 1;
    }

    tg_server_tell(server);
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
