#include "runner/mcp/tg_watch.h"

#include "runner/mcp/tg_kept.h"
#include "runner/mcp/tg_tell.h"
#include "runner/tg_answer.h"

#include <stdlib.h>

/* --- who watches it --- */

static tg_watch_t *
tg_watch_find(const tg_server_t *server, const tg_peer_t *peer)
{
    tg_watch_t *watch;

    for (watch = TAILQ_FIRST(&server->watches); watch != NULL;
         watch = TAILQ_NEXT(watch, place))
    {
        if (watch->peer == peer) {
            return watch;
        }
    }

    return NULL;
}

static int
tg_watch_drop(tg_server_t *server, const tg_peer_t *peer)
{
    tg_watch_t *watch;

    watch = tg_watch_find(server, peer);

    if (watch == NULL) {
        return 0;
    }

    TAILQ_REMOVE(&server->watches, watch, place);
    free(watch);
    tg_server_unwatched(server);

    return 1;
}

void
tg_watch_gone(tg_servers_t *servers, const tg_peer_t *peer)
{
    tg_server_t *server;

    for (server = TAILQ_FIRST(&servers->list); server != NULL;
         server = TAILQ_NEXT(server, place))
    {
        (void) tg_watch_drop(server, peer);
    }
}

/* --- methods --- */

static void
tg_server_answer(const tg_server_t *server, tg_peer_t *peer,
                 const tg_request_t *request)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_char(&json, '{');
    tg_server_put_state(&json, server);

    if (server->tools != NULL) {
        tg_buf_char(&json, ',');
        tg_catalogue_list_whole(server->tools, NULL, NULL, &json);
    }

    tg_buf_char(&json, '}');
    tg_answer_json(peer, request, &json);
    tg_buf_deinit(&json);
}

/* The server of that spec, which is taken over or freed; NULL: no memory. */
static tg_server_t *
tg_server_of(tg_servers_t *servers, tg_server_spec_t *spec)
{
    tg_server_t *server;

    server = tg_server_find(servers, tg_str_c(spec->key));

    if (server == NULL) {
        server = tg_server_new(servers, spec);

        if (server != NULL) {
            return server;
        }
    }

    tg_server_spec_free(spec);

    return server;
}

static int
tg_server_add_watch(tg_server_t *server, tg_peer_t *peer)
{
    tg_watch_t *watch;

    watch = tg_watch_find(server, peer);

    if (watch == NULL) {
        watch = calloc(1, sizeof(*watch));

        if (watch == NULL) {
            return TG_NOMEM;
        }

        watch->peer = peer;
        TAILQ_INSERT_TAIL(&server->watches, watch, place);
    }

    uv_timer_stop(&server->timer);
    watch->is_list_due = 0;
    watch->is_state_due = 0;

    return TG_OK;
}

void
tg_watch_begin(tg_servers_t *servers, tg_peer_t *peer, tg_request_t *request)
{
    tg_server_spec_t spec;
    tg_server_t *server;
    const char *why;
    int rc;

    rc = tg_server_spec_read(&spec, request->arguments, &servers->env, &why);

    if (rc == TG_BAD) {
        tg_answer_wrong(peer, request, why);
        return;
    }

    if (rc == TG_OK && servers->n >= TG_SERVERS_MAX
        && tg_server_find(servers, tg_str_c(spec.key)) == NULL)
    {
        tg_server_spec_free(&spec);
        tg_answer_wrong(peer, request, "There are 256 MCP servers already.");
        return;
    }

    server = rc == TG_OK ? tg_server_of(servers, &spec) : NULL;

    if (server == NULL || tg_server_add_watch(server, peer) != TG_OK) {
        if (server != NULL) {
            tg_server_unwatched(server);
        }

        tg_answer_failed(peer, request, TG_FAILURE_INTERNAL, NULL,
                         TG_RUNNER_NO_MEMORY);
        return;
    }

    tg_kept_touch(servers->dir, server->spec.key, server->spec.place);

    /* The name is that of the worker's block, which may be another one. */
    if (server->tools != NULL) {
        (void) tg_kept_write_name(servers->dir, spec.name, server->spec.key);
    }

    tg_server_answer(server, peer, request);
    tg_server_start(server);
}

/* The server of the request's key; or answers that there is none. */
static tg_server_t *
tg_server_asked(const tg_servers_t *servers, tg_peer_t *peer,
                const tg_request_t *request)
{
    tg_server_t *server;
    tg_str_t raw, key;

    server = NULL;

    if (tg_json_type(request->arguments) == TG_JSON_OBJECT
        && tg_json_get(request->arguments, TG_STR("key"), &raw) == TG_OK
        && tg_server_is_key(raw, &key))
    {
        server = tg_server_find(servers, key);
    }

    if (server == NULL) {
        tg_answer_wrong(peer, request,
                        "There is no MCP server with this \"key\".");
    }

    return server;
}

void
tg_watch_end(tg_servers_t *servers, tg_peer_t *peer, tg_request_t *request)
{
    tg_server_t *server;

    server = tg_server_asked(servers, peer, request);

    if (server != NULL) {
        (void) tg_watch_drop(server, peer);
        tg_answer_true(peer, request);
    }
}

void
tg_watch_leave(tg_servers_t *servers, tg_peer_t *peer, tg_request_t *request)
{
    tg_instance_t *instance;
    tg_server_t *server;
    tg_str_t raw;

    server = tg_server_asked(servers, peer, request);

    if (server == NULL) {
        return;
    }

    if (tg_json_has(request->arguments, TG_STR("instance"), TG_JSON_STRING,
                    &raw)
        && raw.len > 2)
    {
        instance = tg_instance_find(server, tg_json_body(raw));

        if (instance != NULL) {
            tg_instance_leave(instance, 0);
        }
    }

    tg_answer_true(peer, request);
}
