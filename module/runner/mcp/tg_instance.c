#include "runner/mcp/tg_instance.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_server.h"
#include "runner/tg_log.h"

#include <stdlib.h>

static void tg_instance_on_timer(uv_timer_t *timer);

void
tg_instance_to(tg_instance_t *instance, tg_instance_state_t state)
{
    tg_servers_t *servers;

    servers = instance->server->servers;
    servers->nrunning -= instance->state != TG_INSTANCE_STOPPED;
    servers->nrunning += state != TG_INSTANCE_STOPPED;
    instance->state = state;
    instance->ops->changed(instance->server);
}

/* --- time --- */

static int
tg_instance_is_wanted(const tg_instance_t *instance)
{
    return !TAILQ_EMPTY(&instance->waiting)
           || instance->ops->wants(instance->server, instance);
}

/* When something is to be done, of the loop's clock; 0: never. */
static uint64_t
tg_instance_due(const tg_instance_t *instance)
{
    uint64_t due, other;

    due = instance->client.due;
    other = 0;

    switch (instance->state) {
    case TG_INSTANCE_STOPPED:
        return tg_instance_is_wanted(instance) ? instance->retry_at : 0;

    case TG_INSTANCE_STARTING:
        other = instance->started_at + instance->server->spec.start_ms;
        break;

    case TG_INSTANCE_READY:
        if (instance->ncalls == 0
            && !instance->ops->wants(instance->server, instance)) {
            other = instance->ops->idle(instance->server, instance);
        }

        break;

    default:
        return 0;
    }

    return due == 0 || (other != 0 && other < due) ? other : due;
}

static void
tg_instance_set_timer(tg_instance_t *instance)
{
    uint64_t due, now;

    due = tg_instance_due(instance);
    now = uv_now(instance->timer.loop);

    if (due == 0) {
        uv_timer_stop(&instance->timer);
    } else {
        uv_timer_start(&instance->timer, tg_instance_on_timer,
                       due > now ? due - now : 0, 0);
    }
}

void
tg_instance_turn(tg_instance_t *instance)
{
    instance->transport->flush(instance);
    tg_instance_set_timer(instance);
}

/* --- its end --- */

static void
tg_instance_on_freed(uv_handle_t *handle)
{
    tg_instance_t *instance;

    instance = handle->data;
    tg_source_leave(&instance->server->servers->jobs->sched.sched,
                    &instance->reader);
    tg_mcp_client_deinit(&instance->client);
    tg_caller_deinit(&instance->caller);
    free(instance->cwd);
    instance->ops->freed(instance->server);
    free(instance);
}

/*
 * Of calls, those that it took are lost, which they are told; what it has not
 * seen waits for its next start.
 */
static void
tg_instance_close(tg_instance_t *instance, int is_now, tg_str_t why)
{
    if (instance->state == TG_INSTANCE_STARTING
        || instance->state == TG_INSTANCE_READY)
    {
        tg_instance_to(instance, TG_INSTANCE_ENDING);
        instance->why = why;
        tg_mcp_client_lose(&instance->client);
        tg_caller_lose(&instance->caller);
        instance->why = TG_STR_NONE;
    }

    tg_source_leave(&instance->server->servers->jobs->sched.sched,
                    &instance->reader);
    uv_timer_stop(&instance->timer);
    instance->transport->close(instance, is_now);
}

void
tg_instance_settle(tg_instance_t *instance)
{
    if (!instance->is_leaving || instance->ncalls != 0) {
        return;
    }

    switch (instance->state) {
    case TG_INSTANCE_STOPPED:
        if (!uv_is_closing((uv_handle_t *) &instance->timer)) {
            TAILQ_REMOVE(&instance->server->instances, instance, place);
            uv_close((uv_handle_t *) &instance->timer, tg_instance_on_freed);
        }

        break;

    case TG_INSTANCE_ENDING:
        break;

    default:
        tg_instance_close(instance, 0, TG_STR_NONE);
    }
}

/* Answers the calls that wait for its start. */
static void
tg_instance_fail_waiting(tg_instance_t *instance, tg_failure_t failure,
                         tg_str_t text)
{
    tg_mcp_job_t *call;

    while ((call = TAILQ_FIRST(&instance->waiting)) != NULL) {
        call->ops->fail(call, failure, text);
    }
}

void
tg_instance_leave(tg_instance_t *instance, int is_now)
{
    static const char why[] = "The MCP server is ended, as toolgate-runner "
                              "ends.";

    instance->is_leaving = 1;

    if (is_now) {
        tg_instance_fail_waiting(instance, TG_FAILURE_LOST, tg_str_c(why));
    }

    if (is_now && instance->state != TG_INSTANCE_STOPPED) {
        tg_instance_close(instance, 1, tg_str_c(why));
    }

    tg_instance_settle(instance);
}

void
tg_instance_hold(tg_instance_t *instance)
{
    instance->nopen++;
}

void
tg_instance_release(tg_instance_t *instance)
{
    if (--instance->nopen == 0) {
        instance->is_again &= tg_instance_is_wanted(instance);
        tg_instance_to(instance, TG_INSTANCE_STOPPED);
        tg_instance_set_timer(instance);
        tg_instance_settle(instance);
    }
}

/* The next start waits for twice as long. */
static void
tg_instance_back_off(tg_instance_t *instance)
{
    uint64_t wait, now;
    unsigned i;

    now = uv_now(instance->timer.loop);

    if (instance->ready_at != 0
        && now - instance->ready_at >= TG_INSTANCE_LIVED_MS) {
        instance->nfailures = 0;
    }

    wait = TG_INSTANCE_RETRY_MIN;

    for (i = 0; i < instance->nfailures && wait < TG_INSTANCE_RETRY_MAX; i++) {
        wait *= 2;
    }

    if (wait > TG_INSTANCE_RETRY_MAX) {
        wait = TG_INSTANCE_RETRY_MAX;
    }

    instance->nfailures++;
    instance->retry_at = now + wait;
}

int
tg_instance_may_log(const tg_instance_t *instance, int level)
{
    return instance->ops->may_log(instance->server, level);
}

void
tg_instance_log(tg_instance_t *instance, int level, const char *format, ...)
{
    tg_buf_t text;
    va_list args;

    if (!tg_instance_may_log(instance, level)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    va_start(args, format);
    tg_buf_vprintf(&text, format, args);
    va_end(args);
    instance->ops->log(instance->server, level, tg_buf_view(&text));
    tg_buf_deinit(&text);
}

/*
 * It is of no use any more.  Who waits for its start is told why; whose call
 * it has, that it may have been executed.
 */
static void
tg_instance_failed(tg_instance_t *instance, tg_failure_t failure,
                   tg_buf_t *text)
{
    instance->ops->failed(instance->server, instance, tg_buf_view(text));
    tg_instance_back_off(instance);

    /* One attempt is one start: the next one tries the other era. */
    if (instance->state == TG_INSTANCE_STARTING) {
        instance->client.era = instance->nfailures > 1
                                       && instance->client.era == TG_MCP_PROBES
                                       && instance->server->spec.url.url == NULL
                                   ? TG_MCP_GREETS
                                   : TG_MCP_PROBES;
        instance->server->is_greeted = 0;
        tg_instance_fail_waiting(instance, failure, tg_buf_view(text));
    }

    tg_buf_text(text, "\nIt ended before there was an answer; the call may "
                      "have been executed. See what it did before it is "
                      "called again.");
    tg_instance_close(instance, 1, tg_buf_view(text));
}

/* What every text about it begins with. */
static void
tg_instance_put_name(const tg_instance_t *instance, tg_buf_t *text)
{
    tg_buf_printf(text,
                  instance->state == TG_INSTANCE_STARTING
                      ? "%s could not be started: it"
                      : "%s",
                  instance->server->spec.name);
}

void
tg_instance_fail(tg_instance_t *instance, const char *format, ...)
{
    tg_buf_t text;
    va_list args;

    tg_buf_init(&text, tg_alloc_libc());
    tg_instance_put_name(instance, &text);
    va_start(args, format);
    tg_buf_vprintf(&text, format, args);
    va_end(args);
    instance->transport->explain(instance, &text);
    tg_instance_failed(instance, TG_FAILURE_PROGRAM, &text);
    tg_buf_deinit(&text);
}

static size_t
tg_instance_unread(const tg_instance_t *instance)
{
    return instance->transport->unread != NULL
               ? instance->transport->unread(instance)
               : 0;
}

/*
 * Some servers answer one call and exit.  Says whether it has done so: then
 * the next call, or one that it has not read, starts it again.
 */
static int
tg_instance_finish(tg_instance_t *instance)
{
    if (instance->state != TG_INSTANCE_READY || !instance->has_served
        || !tg_caller_has_read_none(&instance->caller)
        || instance->transport->has_finished == NULL
        || !instance->transport->has_finished(instance))
    {
        return 0;
    }

    tg_instance_log(instance, TG_LOG_INFO,
                    "it exited with status 0 after it had answered; the next "
                    "call starts it again");
    instance->nfailures = 0;
    instance->is_again = 1;
    instance->retry_at = uv_now(instance->timer.loop);
    tg_instance_close(instance, 1, TG_STR_NONE);

    return 1;
}

/*
 * Some servers of the older era end when the first that they hear is not
 * initialize.  Says whether it is started again, with that; not one that ends
 * whatever it hears, as it has not read that, or as the attempt before ended
 * likewise.
 */
static int
tg_instance_greet(tg_instance_t *instance)
{
    tg_mcp_client_t *client;

    client = &instance->client;

    if (instance->nfailures != 0 || tg_instance_unread(instance) != 0) {
        return 0;
    }

    if (client->era != TG_MCP_PROBES
        || (client->state != TG_MCP_PROBING && client->state != TG_MCP_GREETING)
        || instance->server->spec.url.url != NULL)
    {
        return 0;
    }

    client->era = TG_MCP_GREETS;
    instance->is_again = 1;
    tg_instance_log(instance, TG_LOG_INFO,
                    "it ended when it was asked for its version; it is "
                    "started again, and hears initialize first");
    tg_instance_close(instance, 1, TG_STR_NONE);

    return 1;
}

void
tg_instance_lost(tg_instance_t *instance)
{
    tg_buf_t text;

    tg_caller_unread(&instance->caller, tg_instance_unread(instance));

    if (tg_instance_finish(instance)) {
        return;
    }

    if ((instance->state == TG_INSTANCE_STARTING
         && !tg_instance_greet(instance))
        || instance->state == TG_INSTANCE_READY)
    {
        tg_buf_init(&text, tg_alloc_libc());
        tg_instance_put_name(instance, &text);
        instance->transport->explain(instance, &text);
        tg_instance_failed(instance, TG_FAILURE_PROGRAM, &text);
        tg_buf_deinit(&text);
    }
}

/* --- its beginning --- */

tg_instance_t *
tg_instance_find(const tg_server_t *server, tg_str_t id)
{
    tg_instance_t *instance;

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = TAILQ_NEXT(instance, place))
    {
        if (tg_str_eq(tg_str_c(instance->id), id)) {
            return instance;
        }
    }

    return NULL;
}

tg_instance_t *
tg_instance_new(tg_server_t *server, const tg_transport_t *transport,
                const tg_instance_ops_t *ops, tg_str_t id)
{
    tg_instance_t *instance;

    instance = calloc(1, sizeof(*instance) + id.len + 1);

    if (instance == NULL) {
        return NULL;
    }

    memcpy(instance->id, id.data, id.len);
    instance->server = server;
    instance->transport = transport;
    instance->ops = ops;
    TAILQ_INIT(&instance->waiting);
    TAILQ_INIT(&instance->calls);
    TAILQ_INIT(&instance->questions);
    tg_caller_init(&instance->caller, tg_alloc_libc(), ops->caller, instance,
                   TG_DIALECT_JSONRPC, TG_INSTANCE_FRAME_MAX);
    tg_mcp_client_init(&instance->client, tg_alloc_libc(), &instance->caller,
                       server->is_greeted ? TG_MCP_GREETS : TG_MCP_PROBES,
                       TG_STR(TG_MCP_INFO("toolgate")));
    instance->client.seed = server->servers->seed;
    instance->client.has_slices = 1;
    instance->client.patience = server->spec.start_ms;

    if (server->spec.roots != NULL) {
        instance->client.can = TG_CAN_ROOTS;
    }

    uv_timer_init(server->servers->jobs->loop, &instance->timer);
    instance->timer.data = instance;
    instance->retry_at = uv_now(instance->timer.loop);
    TAILQ_INSERT_TAIL(&server->instances, instance, place);
    server->ninstances++;

    return instance;
}

static void
tg_instance_start(tg_instance_t *instance)
{
    tg_failure_t failure;
    tg_buf_t text;

    uv_update_time(instance->timer.loop);
    instance->started_at = uv_now(instance->timer.loop);
    instance->ready_at = 0;
    instance->has_served = 0;

    instance->server->restarts += instance->nfailures != 0
                                  && !instance->is_again;
    instance->is_again = 0;
    tg_caller_lose(&instance->caller);
    tg_instance_to(instance, TG_INSTANCE_STARTING);
    tg_buf_init(&text, tg_alloc_libc());
    failure = instance->transport->open(instance, &text);

    if (failure != TG_FAILURE_NONE && instance->state == TG_INSTANCE_STARTING) {
        tg_instance_failed(instance, failure, &text);
    }

    tg_buf_deinit(&text);
}

void
tg_instance_want(tg_instance_t *instance)
{
    if (instance->state == TG_INSTANCE_STOPPED) {
        tg_instance_set_timer(instance);
    }
}

void
tg_instance_opened(tg_instance_t *instance)
{
    if (tg_mcp_client_start(&instance->client, uv_now(instance->timer.loop))
        != TG_OK)
    {
        instance->ops->event(instance, TG_MCP_FAILED);
        return;
    }

    tg_instance_turn(instance);
}

void
tg_instance_renew(tg_instance_t *instance)
{
    instance->started_at = uv_now(instance->timer.loop);
    tg_mcp_client_lose(&instance->client);
    tg_instance_to(instance, TG_INSTANCE_STARTING);
    tg_instance_opened(instance);
}

int
tg_instance_input(tg_instance_t *instance, const char *data, size_t len,
                  size_t *consumed)
{
    int rc;

    rc = tg_caller_input(&instance->caller, data, len, consumed);

    if (rc == TG_NOMEM) {
        instance->ops->event(instance, TG_MCP_FAILED);
    } else if (instance->transport->backlog(instance) > TG_INSTANCE_DEAF) {
        tg_instance_fail(instance, " does not read what it is sent");
    } else {
        tg_instance_set_timer(instance);
    }

    return rc;
}

/* Nobody has called it for long: what is not for all is freed, too. */
static void
tg_instance_rest(tg_instance_t *instance)
{
    if (instance->id[0] != '\0') {
        tg_instance_leave(instance, 0);
    } else {
        tg_instance_close(instance, 0, TG_STR_NONE);
    }
}

static void
tg_instance_on_timer(uv_timer_t *timer)
{
    tg_instance_t *instance;
    uint64_t now;

    instance = timer->data;
    now = uv_now(timer->loop);

    switch (instance->state) {
    case TG_INSTANCE_STOPPED:
        tg_instance_start(instance);
        return;

    case TG_INSTANCE_STARTING:
        if (now >= instance->started_at + instance->server->spec.start_ms) {
            tg_instance_fail(instance, " was not ready within %g s",
                             (double) instance->server->spec.start_ms / 1000);
            return;
        }

        break;

    default:
        if (instance->client.due == 0 || now < instance->client.due) {
            tg_instance_rest(instance);
            return;
        }
    }

    instance->ops->event(instance, tg_mcp_client_tick(&instance->client, now));
    tg_instance_turn(instance);
}
