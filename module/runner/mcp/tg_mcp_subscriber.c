/* The methods by which workers subscribe to MCP servers. */
#include "runner/mcp/tg_mcp_subscriber.h"

#include "runner/mcp/tg_list_cache.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_notify.h"
#include "runner/jobs/tg_job_result.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>

/* --- subscribers --- */

static tg_mcp_subscriber_t *
tg_mcp_subscriber_find(const tg_mcp_server_t *server, const tg_peer_t *peer)
{
    tg_mcp_subscriber_t *subscriber;

    TAILQ_FOREACH(subscriber, &server->subscribers, link)
    {
        if (subscriber->peer == peer) {
            return subscriber;
        }
    }

    return NULL;
}

static int
tg_mcp_subscriber_remove(tg_mcp_server_t *server, const tg_peer_t *peer)
{
    tg_mcp_subscriber_t *subscriber;

    tg_mcp_resource_watches_on_peer_closed(server, peer);
    subscriber = tg_mcp_subscriber_find(server, peer);

    if (subscriber == NULL) {
        return 0;
    }

    TAILQ_REMOVE(&server->subscribers, subscriber, link);
    free(subscriber);
    tg_mcp_server_check_subscribers(server);

    return 1;
}

void
tg_mcp_servers_on_peer_closed(tg_mcp_servers_t *servers, const tg_peer_t *peer)
{
    tg_mcp_server_t *server;

    TAILQ_FOREACH(server, &servers->list, link)
    {
        (void) tg_mcp_subscriber_remove(server, peer);
    }
}

/* --- methods --- */

static void
tg_mcp_server_respond_state(const tg_mcp_server_t *server, tg_peer_t *peer,
                            const tg_request_t *request)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_char(&json, '{');
    tg_mcp_server_write_state(&json, server);

    if (server->lists.tools != NULL) {
        tg_buf_append_char(&json, ',');
        tg_mcp_lists_write(&server->lists, &json);
    }

    tg_buf_append_char(&json, '}');
    tg_peer_respond_json(peer, request, &json);
    tg_buf_deinit(&json);
}

/* Finds or creates the server of `spec`, which it owns. NULL: no memory. */
static tg_mcp_server_t *
tg_mcp_servers_find_or_add(tg_mcp_servers_t *servers,
                           tg_mcp_server_params_t *spec)
{
    tg_mcp_server_t *server;

    server = tg_mcp_server_find(servers, tg_str_from_cstr(spec->key));

    if (server == NULL) {
        server = tg_mcp_server_new(servers, spec);

        if (server != NULL) {
            return server;
        }
    }

    tg_mcp_server_params_free(spec);

    return server;
}

static int
tg_mcp_server_add_subscriber(tg_mcp_server_t *server, tg_peer_t *peer)
{
    tg_mcp_subscriber_t *subscriber;

    subscriber = tg_mcp_subscriber_find(server, peer);

    if (subscriber == NULL) {
        subscriber = calloc(1, sizeof(*subscriber));

        if (subscriber == NULL) {
            return TG_NOMEM;
        }

        subscriber->peer = peer;
        TAILQ_INSERT_TAIL(&server->subscribers, subscriber, link);
    }

    uv_timer_stop(&server->timer);
    subscriber->is_list_due = 0;
    subscriber->is_state_due = 0;

    return TG_OK;
}

void
tg_mcp_servers_subscribe(tg_mcp_servers_t *servers, tg_peer_t *peer,
                         tg_request_t *request)
{
    tg_mcp_server_params_t spec;
    tg_mcp_server_t *server;
    const char *why;
    int rc;

    rc = tg_mcp_server_params_read(&spec, request->arguments, &servers->env,
                                   &why);

    if (rc == TG_INVALID) {
        tg_peer_respond_invalid_params(peer, request, why);
        return;
    }

    if (rc == TG_OK && servers->n >= TG_MCP_SERVERS_MAX
        && tg_mcp_server_find(servers, tg_str_from_cstr(spec.key)) == NULL)
    {
        tg_mcp_server_params_free(&spec);
        tg_peer_respond_invalid_params(peer, request,
                                       "There are 256 MCP servers already.");
        return;
    }

    server = rc == TG_OK ? tg_mcp_servers_find_or_add(servers, &spec) : NULL;

    if (server == NULL || tg_mcp_server_add_subscriber(server, peer) != TG_OK) {
        if (server != NULL) {
            tg_mcp_server_check_subscribers(server);
        }

        tg_peer_respond_failure(peer, request, TG_FAILURE_INTERNAL, NULL,
                                TG_RUNNER_NO_MEMORY);
        return;
    }

    tg_list_cache_touch(servers->dir, server->spec.key, server->spec.place);

    /* The name is that of the worker's config block, which may differ. */
    if (server->lists.tools != NULL) {
        (void) tg_list_cache_write_name(servers->dir, spec.name,
                                        server->spec.key);
    }

    tg_mcp_server_respond_state(server, peer, request);
    tg_mcp_server_start(server);
}

/* Returns the server with the request's key, or responds with an error. */
static tg_mcp_server_t *
tg_mcp_servers_require(const tg_mcp_servers_t *servers, tg_peer_t *peer,
                       const tg_request_t *request)
{
    tg_mcp_server_t *server;
    tg_str_t raw, key;

    server = NULL;

    if (tg_json_type(request->arguments) == TG_JSON_OBJECT
        && tg_json_get_member(request->arguments, TG_STR("key"), &raw) == TG_OK
        && tg_mcp_server_is_key(raw, &key))
    {
        server = tg_mcp_server_find(servers, key);
    }

    if (server == NULL) {
        tg_peer_respond_invalid_params(
            peer, request, "There is no MCP server with this \"key\".");
    }

    return server;
}

void
tg_mcp_servers_unsubscribe(tg_mcp_servers_t *servers, tg_peer_t *peer,
                           tg_request_t *request)
{
    tg_mcp_server_t *server;

    server = tg_mcp_servers_require(servers, peer, request);

    if (server != NULL) {
        (void) tg_mcp_subscriber_remove(server, peer);
        tg_peer_respond_true(peer, request);
    }
}

void
tg_mcp_servers_shutdown_conn(tg_mcp_servers_t *servers, tg_peer_t *peer,
                             tg_request_t *request)
{
    tg_mcp_conn_t *mcp_conn;
    tg_mcp_server_t *server;
    tg_str_t raw;

    server = tg_mcp_servers_require(servers, peer, request);

    if (server == NULL) {
        return;
    }

    if (tg_json_has_member(request->arguments, TG_STR("instance"),
                           TG_JSON_STRING, &raw)
        && raw.len > 2)
    {
        mcp_conn = tg_mcp_conn_find(server, tg_json_string_body(raw));

        if (mcp_conn != NULL) {
            tg_mcp_conn_shutdown(mcp_conn, 0);
        }
    }

    tg_peer_respond_true(peer, request);
}
