#include "runner/mcp/tg_server.h"

#include "base/tg_utf8.h"
#include "runner/mcp/tg_kept.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_sessions.h"
#include "runner/mcp/tg_tell.h"
#include "runner/tg_log.h"

#include <stdio.h>
#include <stdlib.h>

/* --- all --- */

void
tg_servers_init(tg_servers_t *servers, tg_jobs_t *jobs, tg_programs_t *programs,
                const char *dir)
{
    memset(servers, 0, sizeof(*servers));
    servers->jobs = jobs;
    servers->programs = programs;
    servers->env = programs->env;
    servers->env.progress = NULL;
    servers->dir = dir;
    servers->unwatched_ms = TG_SERVER_UNWATCHED_MS;
    (void) uv_random(NULL, NULL, &servers->seed, sizeof(servers->seed), 0,
                     NULL);
    /* What an earlier runner was told late is none of this one's. */
    servers->nquestions = servers->seed & UINT32_MAX;
    TAILQ_INIT(&servers->list);
    TAILQ_INIT(&servers->leaving);
    tg_kept_sweep(dir);
}

int
tg_servers_is_empty(const tg_servers_t *servers)
{
    return TAILQ_EMPTY(&servers->list) && TAILQ_EMPTY(&servers->leaving);
}

tg_server_t *
tg_server_find(const tg_servers_t *servers, tg_str_t key)
{
    tg_server_t *server;

    for (server = TAILQ_FIRST(&servers->list); server != NULL;
         server = TAILQ_NEXT(server, place))
    {
        if (tg_str_eq(tg_str_c(server->spec.key), key)) {
            return server;
        }
    }

    return NULL;
}

/* --- its end --- */

static void
tg_server_free(tg_server_t *server)
{
    tg_servers_t *servers;

    servers = server->servers;
    TAILQ_REMOVE(&servers->leaving, server, place);
    tg_catalogue_release(server->tools);
    tg_server_spec_free(&server->spec);
    free(server);

    if (tg_servers_is_empty(servers)) {
        servers->jobs->ops->idle(servers->jobs->host);
    }
}

static void
tg_server_on_closed(uv_handle_t *handle)
{
    tg_server_t *server;

    server = handle->data;

    if (--server->nhandles == 0) {
        tg_server_free(server);
    }
}

static void
tg_server_close(tg_server_t *server)
{
    tg_server_tell_end(server);
    uv_close((uv_handle_t *) &server->timer, tg_server_on_closed);
    uv_close((uv_handle_t *) &server->retry, tg_server_on_closed);
}

static void
tg_server_lost(tg_server_t *server)
{
    if (--server->ninstances == 0 && server->is_leaving) {
        tg_server_close(server);
    }
}

/* From here on nobody finds it, and its instances end. */
static void
tg_server_end(tg_server_t *server, int is_now)
{
    tg_instance_t *instance, *next;

    if (!server->is_leaving) {
        server->is_leaving = 1;
        TAILQ_REMOVE(&server->servers->list, server, place);
        TAILQ_INSERT_TAIL(&server->servers->leaving, server, place);
        server->servers->n--;

        tg_watches_drop(server);

        if (server->ninstances == 0) {
            tg_server_close(server);
        }
    }

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = next)
    {
        next = TAILQ_NEXT(instance, place);
        tg_instance_leave(instance, is_now);
    }
}

void
tg_servers_drop(tg_servers_t *servers)
{
    tg_server_t *server, *next;

    while (!TAILQ_EMPTY(&servers->list)) {
        tg_server_end(TAILQ_FIRST(&servers->list), 1);
    }

    for (server = TAILQ_FIRST(&servers->leaving); server != NULL; server = next)
    {
        next = TAILQ_NEXT(server, place);
        tg_server_end(server, 1);
    }
}

/* --- its instances --- */

/* Was it seen before that some instance has this list? */
static int
tg_server_is_other(tg_server_t *server, uint64_t digest)
{
    unsigned i;

    for (i = 0; i < server->nothers && i < TG_SERVER_OTHERS; i++) {
        if (server->others[i] == digest) {
            return 1;
        }
    }

    server->others[server->nothers++ % TG_SERVER_OTHERS] = digest;

    return 0;
}

static int
tg_server_listed(tg_server_t *server, const tg_instance_t *instance,
                 tg_catalogue_t *tools)
{
    uint64_t digest;

    if (tg_catalogue_list_size(tools) > TG_SERVER_LIST_MAX) {
        return TG_LIMIT;
    }

    if (instance->id[0] == '\0') {
        server->is_relisting = 0;
    }

    digest = tg_catalogue_digest(tools);

    if (server->tools != NULL && tg_catalogue_digest(server->tools) == digest) {
        return TG_OK;
    }

    if (server->tools == NULL || instance->id[0] == '\0') {
        tg_server_tell_list(server, tools);
    } else if (!tg_server_is_other(server, digest)) {
        server->is_relisting = 1;
        tg_server_start(server);
    }

    return TG_OK;
}

static void
tg_server_ready(tg_server_t *server)
{
    server->error[0] = '\0';
}

static void
tg_server_failed(tg_server_t *server, const tg_instance_t *instance,
                 tg_str_t text)
{
    tg_buf_t error;

    error = tg_buf_fixed(server->error, sizeof(server->error) - 1);
    tg_utf8_put_visible(&error, text, 0);
    server->error[error.len] = '\0';
    tg_server_log(server, TG_LOG_ERROR, "%s", server->error);

    if (instance->id[0] == '\0') {
        server->is_relisting = 0;
    }
}

static void
tg_server_take_line(tg_server_t *server, int level, tg_str_t text)
{
    tg_server_log(server, level, "%.*s", (int) text.len, text.data);
}

static int
tg_server_wants(const tg_server_t *server, const tg_instance_t *instance)
{
    if (server->is_leaving || instance->id[0] != '\0'
        || TAILQ_EMPTY(&server->watches))
    {
        return 0;
    }

    return server->tools == NULL || server->is_relisting
           || (server->spec.is_boot && server->spec.share == TG_SHARE_ALL);
}

static uint64_t
tg_server_idle(const tg_server_t *server, const tg_instance_t *instance)
{
    /* It was there for the list alone. */
    if (instance->id[0] == '\0' && server->spec.share != TG_SHARE_ALL) {
        return instance->used_at;
    }

    return server->spec.idle_ms != 0 ? instance->used_at + server->spec.idle_ms
                                     : 0;
}

static const tg_instance_ops_t tg_server_instance_ops = {
    .caller = &tg_instance_caller_ops,
    .event = tg_instance_event,
    .changed = tg_server_changed,
    .wants = tg_server_wants,
    .idle = tg_server_idle,
    .listed = tg_server_listed,
    .ready = tg_server_ready,
    .failed = tg_server_failed,
    .log = tg_server_take_line,
    .may_log = tg_server_may_log,
    .retry = tg_server_retry,
    .freed = tg_server_lost,
};

static tg_instance_t *
tg_server_instance(tg_server_t *server, tg_str_t id)
{
    return tg_instance_new(server,
                           server->spec.program.argv != NULL
                               ? &tg_stdio_transport
                           : server->spec.url.url != NULL
                               ? &tg_streamable_transport
                               : &tg_socket_transport,
                           &tg_server_instance_ops, id);
}

/* One that has no calls, the longest idle, makes room. */
static void
tg_server_make_room(tg_server_t *server)
{
    tg_instance_t *instance, *oldest;

    oldest = NULL;

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = TAILQ_NEXT(instance, place))
    {
        if (instance->ncalls == 0 && !instance->is_leaving
            && (oldest == NULL || instance->used_at < oldest->used_at))
        {
            oldest = instance;
        }
    }

    if (oldest != NULL) {
        tg_instance_leave(oldest, 0);
    }
}

/* Whose it is, is its first call's. */
static tg_instance_t *
tg_server_add(tg_server_t *server, const tg_mcp_job_t *call)
{
    tg_instance_t *instance;

    instance = tg_server_instance(server, call->id);

    if (instance == NULL) {
        return NULL;
    }

    instance->uid = call->uid;

    if (server->spec.share == TG_SHARE_CONNECTION) {
        instance->client.can |= call->can;
    }

    if (call->cwd != NULL) {
        instance->cwd = strdup(call->cwd);

        if (instance->cwd == NULL) {
            tg_instance_leave(instance, 1);
            return NULL;
        }
    }

    return instance;
}

tg_failure_t
tg_server_call(tg_server_t *server, tg_mcp_job_t *call, tg_buf_t *text)
{
    tg_instance_t *instance;

    instance = tg_instance_find(server, call->id);

    if (instance == NULL && server->ninstances >= TG_SERVER_INSTANCES_MAX) {
        tg_server_make_room(server);
        tg_buf_printf(text,
                      "%s runs %u times already, once for each user or "
                      "connection; call again.",
                      server->spec.name, server->ninstances);
        return TG_FAILURE_BUSY;
    }

    if (instance == NULL) {
        instance = tg_server_add(server, call);
    }

    if (instance == NULL) {
        tg_buf_text(text, TG_RUNNER_NO_MEMORY);
        return TG_FAILURE_INTERNAL;
    }

    return tg_instance_call(instance, call, text);
}

void
tg_server_start(tg_server_t *server)
{
    tg_instance_t *instance;

    if (server->tools != NULL && !server->is_relisting
        && (!server->spec.is_boot || server->spec.share != TG_SHARE_ALL))
    {
        return;
    }

    instance = tg_instance_find(server, TG_STR(""));

    if (instance == NULL) {
        instance = tg_server_instance(server, TG_STR(""));
    }

    if (instance == NULL) {
        return;
    }

    /* Some servers list what their client can be asked for alone. */
    if (server->spec.share == TG_SHARE_CONNECTION) {
        instance->client.can = TG_CAN_ALL;
    }

    tg_instance_want(instance);
}

/* --- its beginning, and that nobody watches it --- */

tg_server_t *
tg_server_new(tg_servers_t *servers, const tg_server_spec_t *spec)
{
    tg_server_t *server;

    server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return NULL;
    }

    server->servers = servers;
    server->spec = *spec;
    TAILQ_INIT(&server->watches);
    TAILQ_INIT(&server->instances);
    uv_timer_init(servers->jobs->loop, &server->timer);
    uv_timer_init(servers->jobs->loop, &server->retry);
    server->timer.data = server;
    server->retry.data = server;
    server->nhandles = 2;
    server->tools = tg_kept_read(servers->dir, spec->key, servers->seed);
    TAILQ_INSERT_TAIL(&servers->list, server, place);
    servers->n++;
    tg_sessions_end_left(server);

    return server;
}

static int
tg_server_has_calls(const tg_server_t *server)
{
    const tg_instance_t *instance;

    for (instance = TAILQ_FIRST(&server->instances); instance != NULL;
         instance = TAILQ_NEXT(instance, place))
    {
        if (instance->ncalls != 0) {
            return 1;
        }
    }

    return 0;
}

static void
tg_server_on_timer(uv_timer_t *timer)
{
    tg_server_t *server;

    server = timer->data;

    if (!tg_server_has_calls(server)) {
        uv_timer_stop(timer);
        tg_kept_sweep(server->servers->dir);
        tg_server_end(server, 0);
    }
}

void
tg_server_unwatched(tg_server_t *server)
{
    uint64_t ms;

    if (TAILQ_EMPTY(&server->watches)) {
        ms = server->servers->unwatched_ms;
        uv_timer_start(&server->timer, tg_server_on_timer, ms, ms);
    }
}
