/* MCP servers: their connections, their list of tools and their end. */
#include "runner/mcp/tg_mcp_server.h"

#include "base/tg_utf8.h"
#include "runner/mcp/tg_list_cache.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_sessions.h"
#include "runner/mcp/tg_mcp_server_notify.h"
#include "runner/logging/tg_log.h"

#include <stdio.h>
#include <stdlib.h>

/* --- all servers --- */

void
tg_mcp_servers_init(tg_mcp_servers_t *servers, tg_jobs_t *jobs,
                    tg_programs_t *programs, const char *dir)
{
    memset(servers, 0, sizeof(*servers));
    servers->jobs = jobs;
    servers->programs = programs;
    servers->env = programs->env;
    servers->env.progress = NULL;
    servers->dir = dir;
    servers->unsubscribed_ms = TG_MCP_SERVER_UNSUBSCRIBED_MS;
    (void) uv_random(NULL, NULL, &servers->seed, sizeof(servers->seed), 0,
                     NULL);
    /* Start at random: late responses to an earlier runner must not match. */
    servers->nserver_requests = servers->seed & UINT32_MAX;
    TAILQ_INIT(&servers->list);
    TAILQ_INIT(&servers->leaving);
    tg_list_cache_remove_expired(dir);
}

int
tg_mcp_servers_is_empty(const tg_mcp_servers_t *servers)
{
    return TAILQ_EMPTY(&servers->list) && TAILQ_EMPTY(&servers->leaving);
}

tg_mcp_server_t *
tg_mcp_server_find(const tg_mcp_servers_t *servers, tg_str_t key)
{
    tg_mcp_server_t *server;

    TAILQ_FOREACH(server, &servers->list, link)
    {
        if (tg_str_eq(tg_str_from_cstr(server->spec.key), key)) {
            return server;
        }
    }

    return NULL;
}

/* --- end --- */

static void
tg_mcp_server_free(tg_mcp_server_t *server)
{
    tg_mcp_servers_t *servers;

    servers = server->servers;
    TAILQ_REMOVE(&servers->leaving, server, link);
    tg_mcp_lists_deinit(&server->lists);
    tg_mcp_server_params_free(&server->spec);
    free(server);

    if (tg_mcp_servers_is_empty(servers)) {
        servers->jobs->ops->idle(servers->jobs->host);
    }
}

static void
tg_mcp_server_on_closed(uv_handle_t *handle)
{
    tg_mcp_server_t *server;

    server = handle->data;

    if (--server->nhandles == 0) {
        tg_mcp_server_free(server);
    }
}

static void
tg_mcp_server_close(tg_mcp_server_t *server)
{
    tg_mcp_server_end_notify(server);
    uv_close((uv_handle_t *) &server->timer, tg_mcp_server_on_closed);
    uv_close((uv_handle_t *) &server->retry, tg_mcp_server_on_closed);
}

void
tg_mcp_server_on_conn_freed(tg_mcp_server_t *server)
{
    if (--server->nmcp_conns == 0 && server->is_leaving) {
        tg_mcp_server_close(server);
    }
}

/* Makes the server unfindable and shuts its connections down. */
static void
tg_mcp_server_shutdown(tg_mcp_server_t *server, int is_now)
{
    tg_mcp_conn_t *mcp_conn, *next;

    if (!server->is_leaving) {
        server->is_leaving = 1;
        TAILQ_REMOVE(&server->servers->list, server, link);
        TAILQ_INSERT_TAIL(&server->servers->leaving, server, link);
        server->servers->n--;

        tg_mcp_server_free_subscribers(server);

        if (server->nmcp_conns == 0) {
            tg_mcp_server_close(server);
        }
    }

    TG_TAILQ_FOREACH_SAFE(mcp_conn, &server->mcp_conns, link, next)
    {
        tg_mcp_conn_shutdown(mcp_conn, is_now);
    }
}

void
tg_mcp_servers_shutdown(tg_mcp_servers_t *servers)
{
    tg_mcp_server_t *server, *next;

    while (!TAILQ_EMPTY(&servers->list)) {
        tg_mcp_server_shutdown(TAILQ_FIRST(&servers->list), 1);
    }

    TG_TAILQ_FOREACH_SAFE(server, &servers->leaving, link, next)
    {
        tg_mcp_server_shutdown(server, 1);
    }
}

/* --- connections --- */

/* Remembers the digest of a connection's tools. Returns 1 if it was known. */
static int
tg_mcp_server_is_list_known(tg_mcp_server_t *server, uint64_t digest)
{
    unsigned i;

    for (i = 0; i < server->nother_digests && i < TG_MCP_SERVER_OTHER_LISTS_MAX;
         i++)
    {
        if (server->other_digests[i] == digest) {
            return 1;
        }
    }

    server->other_digests[server->nother_digests++
                          % TG_MCP_SERVER_OTHER_LISTS_MAX] = digest;

    return 0;
}

/* Returns the digest of what all connections of a server should share. */
static uint64_t
tg_mcp_server_get_digest(const tg_mcp_lists_t *lists,
                         const tg_mcp_conn_t *mcp_conn)
{
    /* Prompts and resources usually differ from user to user. */
    return mcp_conn->id[0] == '\0'
               ? tg_mcp_lists_digest(lists)
               : tg_catalog_digest(lists->tools, TG_ENTRY_TOOL);
}

/* Compares lists with those of the server, which they may replace. */
static void
tg_mcp_server_update_lists(tg_mcp_server_t *server,
                           const tg_mcp_conn_t *mcp_conn, tg_mcp_lists_t *lists)
{
    uint64_t digest;

    digest = tg_mcp_server_get_digest(lists, mcp_conn);

    if (server->lists.tools != NULL
        && tg_mcp_server_get_digest(&server->lists, mcp_conn) == digest)
    {
        return;
    }

    if (server->lists.tools == NULL || mcp_conn->id[0] == '\0') {
        tg_mcp_server_set_lists(server, lists);
    } else if (!tg_mcp_server_is_list_known(server, digest)) {
        server->is_relisting = 1;
        tg_mcp_server_start(server);
    }
}

/*
 * Takes a connection's lists. If they are too large together, it takes only the
 * tools, and the connection forgets the others. TG_OK, TG_LIMIT or TG_NOMEM.
 */
static int
tg_mcp_server_take_lists(tg_mcp_conn_t *mcp_conn, tg_mcp_lists_t *lists)
{
    tg_mcp_client_t *client;
    tg_str_t capabilities;
    size_t size;
    unsigned i;

    client = &mcp_conn->client;
    capabilities = tg_buf_view(&mcp_conn->capabilities);
    size = tg_catalog_list_size(client->tools);

    if (size > TG_MCP_SERVER_LIST_MAX) {
        return TG_LIMIT;
    }

    size += capabilities.len + sizeof(",\"capabilities\":");

    for (i = 0; i < TG_MCP_KINDS; i++) {
        size += client->items[i].text.len;
    }

    if (size > TG_MCP_SERVER_LIST_MAX) {
        capabilities = TG_STR_NONE;

        for (i = 0; i < TG_MCP_KINDS; i++) {
            tg_buf_reset(&client->items[i].text, 0);
        }

        tg_mcp_conn_log(mcp_conn, TG_LOG_WARN,
                        "its prompts and resources are omitted: all its lists "
                        "together are larger than 16 MiB");
    }

    return tg_mcp_lists_set(lists, client, capabilities);
}

int
tg_mcp_server_on_conn_lists(tg_mcp_server_t *server, tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_lists_t lists;
    int rc;

    tg_mcp_lists_init(&lists);
    rc = tg_mcp_server_take_lists(mcp_conn, &lists);

    if (rc == TG_OK) {
        if (mcp_conn->id[0] == '\0') {
            server->is_relisting = 0;
        }

        tg_mcp_server_update_lists(server, mcp_conn, &lists);
    }

    tg_mcp_lists_deinit(&lists);

    return rc;
}

void
tg_mcp_server_on_conn_failed(tg_mcp_server_t *server,
                             const tg_mcp_conn_t *mcp_conn, tg_str_t text)
{
    tg_buf_t error;

    error = tg_buf_make_fixed(server->error, sizeof(server->error) - 1);
    tg_utf8_append_visible(&error, text, 0);
    server->error[error.len] = '\0';
    tg_mcp_server_log(server, TG_LOG_ERROR, "%s", server->error);

    if (mcp_conn->id[0] == '\0') {
        server->is_relisting = 0;
    }
}

int
tg_mcp_server_is_conn_wanted(const tg_mcp_server_t *server,
                             const tg_mcp_conn_t *mcp_conn)
{
    if (server->is_leaving || mcp_conn->id[0] != '\0'
        || TAILQ_EMPTY(&server->subscribers))
    {
        return 0;
    }

    return server->lists.tools == NULL || server->is_relisting
           || (server->spec.is_boot && server->spec.share == TG_MCP_SHARE_ALL);
}

uint64_t
tg_mcp_server_get_idle_deadline(const tg_mcp_server_t *server,
                                const tg_mcp_conn_t *mcp_conn)
{
    /* The connection was started only for the list. */
    if (mcp_conn->id[0] == '\0' && server->spec.share != TG_MCP_SHARE_ALL) {
        return mcp_conn->used_at;
    }

    return server->spec.idle_ms != 0 ? mcp_conn->used_at + server->spec.idle_ms
                                     : 0;
}

static tg_mcp_conn_t *
tg_mcp_server_new_conn(tg_mcp_server_t *server, tg_str_t id)
{
    return tg_mcp_conn_new(server,
                           server->spec.program.argv != NULL
                               ? &tg_mcp_stdio_transport
                           : server->spec.url.url != NULL
                               ? &tg_mcp_streamable_transport
                               : &tg_mcp_socket_transport,
                           id);
}

/* Shuts down the connection that has been idle for the longest time. */
static void
tg_mcp_server_evict_idle_conn(tg_mcp_server_t *server)
{
    tg_mcp_conn_t *mcp_conn, *oldest;

    oldest = NULL;

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        if (mcp_conn->ncalls == 0 && mcp_conn->nwatches == 0
            && !mcp_conn->is_leaving
            && (oldest == NULL || mcp_conn->used_at < oldest->used_at))
        {
            oldest = mcp_conn;
        }
    }

    if (oldest != NULL) {
        tg_mcp_conn_shutdown(oldest, 0);
    }
}

static tg_mcp_conn_t *
tg_mcp_server_new_conn_for_owner(tg_mcp_server_t *server,
                                 const tg_mcp_conn_owner_t *owner)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = tg_mcp_server_new_conn(server, owner->id);

    if (mcp_conn == NULL) {
        return NULL;
    }

    mcp_conn->uid = owner->uid;

    if (server->spec.share == TG_MCP_SHARE_CONNECTION) {
        mcp_conn->client.client_caps |= owner->client_caps;
    }

    if (owner->cwd != NULL) {
        mcp_conn->cwd = strdup(owner->cwd);

        if (mcp_conn->cwd == NULL) {
            tg_mcp_conn_shutdown(mcp_conn, 1);
            return NULL;
        }
    }

    return mcp_conn;
}

tg_failure_t
tg_mcp_server_ensure_conn(tg_mcp_server_t *server,
                          const tg_mcp_conn_owner_t *owner,
                          tg_mcp_conn_t **found, tg_buf_t *text)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = tg_mcp_conn_find(server, owner->id);

    if (mcp_conn == NULL && server->nmcp_conns >= TG_MCP_SERVER_CONNS_MAX) {
        tg_mcp_server_evict_idle_conn(server);
        tg_buf_printf(text,
                      "%s already runs %u times, once for each user or "
                      "connection; call again.",
                      server->spec.name, server->nmcp_conns);
        return TG_FAILURE_BUSY;
    }

    if (mcp_conn == NULL) {
        mcp_conn = tg_mcp_server_new_conn_for_owner(server, owner);
    }

    if (mcp_conn == NULL) {
        tg_buf_append_cstr(text, TG_RUNNER_NO_MEMORY);
        return TG_FAILURE_INTERNAL;
    }

    *found = mcp_conn;

    return TG_FAILURE_NONE;
}

tg_failure_t
tg_mcp_server_add_call(tg_mcp_server_t *server, tg_mcp_job_t *call,
                       tg_buf_t *text)
{
    tg_mcp_conn_t *mcp_conn;
    tg_failure_t failure;

    failure = tg_mcp_server_ensure_conn(server, &call->owner, &mcp_conn, text);

    return failure == TG_FAILURE_NONE
               ? tg_mcp_conn_add_call(mcp_conn, call, text)
               : failure;
}

void
tg_mcp_server_start(tg_mcp_server_t *server)
{
    tg_mcp_conn_t *mcp_conn;

    if (server->lists.tools != NULL && !server->is_relisting
        && (!server->spec.is_boot || server->spec.share != TG_MCP_SHARE_ALL))
    {
        return;
    }

    mcp_conn = tg_mcp_conn_find(server, TG_STR(""));

    if (mcp_conn == NULL) {
        mcp_conn = tg_mcp_server_new_conn(server, TG_STR(""));
    }

    if (mcp_conn == NULL) {
        return;
    }

    /* Some servers list some tools only for clients with these capabilities. */
    if (server->spec.share == TG_MCP_SHARE_CONNECTION) {
        mcp_conn->client.client_caps = TG_CLIENT_CAPS_ALL;
    }

    tg_mcp_conn_start_soon(mcp_conn);
}

/* --- start, and removal of servers without subscribers --- */

tg_mcp_server_t *
tg_mcp_server_new(tg_mcp_servers_t *servers, const tg_mcp_server_params_t *spec)
{
    tg_mcp_server_t *server;

    server = calloc(1, sizeof(*server));

    if (server == NULL) {
        return NULL;
    }

    server->servers = servers;
    server->spec = *spec;
    TAILQ_INIT(&server->subscribers);
    TAILQ_INIT(&server->mcp_conns);
    uv_timer_init(servers->jobs->loop, &server->timer);
    uv_timer_init(servers->jobs->loop, &server->retry);
    server->timer.data = server;
    server->retry.data = server;
    server->nhandles = 2;
    tg_mcp_lists_init(&server->lists);
    tg_list_cache_read(servers->dir, spec->key, servers->seed, &server->lists);

    /* An earlier version stored only the tools. */
    server->is_relisting = server->lists.tools != NULL
                           && server->lists.others.len == 0;
    TAILQ_INSERT_TAIL(&servers->list, server, link);
    servers->n++;
    tg_mcp_sessions_delete_leftovers(server);

    return server;
}

static int
tg_mcp_server_has_calls(const tg_mcp_server_t *server)
{
    const tg_mcp_conn_t *mcp_conn;

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        if (mcp_conn->ncalls != 0) {
            return 1;
        }
    }

    return 0;
}

static void
tg_mcp_server_on_timer(uv_timer_t *timer)
{
    tg_mcp_server_t *server;

    server = timer->data;

    if (!tg_mcp_server_has_calls(server)) {
        uv_timer_stop(timer);
        tg_list_cache_remove_expired(server->servers->dir);
        tg_mcp_server_shutdown(server, 0);
    }
}

void
tg_mcp_server_check_subscribers(tg_mcp_server_t *server)
{
    uint64_t ms;

    if (TAILQ_EMPTY(&server->subscribers)) {
        ms = server->servers->unsubscribed_ms;
        uv_timer_start(&server->timer, tg_mcp_server_on_timer, ms, ms);
    }
}
