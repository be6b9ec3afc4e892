/* Subscriptions to resources of MCP servers, in both eras. */
#include "runner/mcp/tg_mcp_resource_watch.h"

#include "catalog/tg_uri_template.h"
#include "runner/jobs/tg_job_params.h"
#include "runner/jobs/tg_job_result.h"
#include "runner/logging/tg_log.h"
#include "runner/mcp/tg_mcp_server_notify.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>

struct tg_mcp_resource_watch_s {
    TAILQ_ENTRY(tg_mcp_resource_watch_s) link;
    tg_peer_t *peer;
    unsigned is_active:1; /* the server was subscribed to it */
    unsigned is_due:1;    /* the worker must be notified of a change */
    size_t len;
    char uri[]; /* plain text */
};

static tg_str_t
tg_mcp_resource_watch_get_uri(const tg_mcp_resource_watch_t *watch)
{
    return tg_str(watch->uri, watch->len);
}

/* Finds a worker's subscription, or anyone's if peer is NULL. */
static tg_mcp_resource_watch_t *
tg_mcp_resource_watch_find(const tg_mcp_conn_t *mcp_conn, const tg_peer_t *peer,
                           tg_str_t uri)
{
    tg_mcp_resource_watch_t *watch;

    TAILQ_FOREACH(watch, &mcp_conn->watches, link)
    {
        if ((peer == NULL || watch->peer == peer)
            && tg_str_eq(tg_mcp_resource_watch_get_uri(watch), uri))
        {
            return watch;
        }
    }

    return NULL;
}

/* --- messages to the server --- */

static void
tg_mcp_resource_watch_send(tg_mcp_conn_t *mcp_conn, tg_str_t uri, int is_on)
{
    tg_buf_t raw;
    int rc;

    tg_buf_init(&raw, tg_alloc_libc());
    tg_json_write_string(&raw, uri);
    rc = tg_buf_has_failed(&raw)
             ? TG_NOMEM
             : tg_mcp_client_subscribe(&mcp_conn->client, tg_buf_view(&raw),
                                       is_on);
    tg_buf_deinit(&raw);

    if (rc == TG_NOMEM) {
        tg_mcp_conn_on_event(mcp_conn, TG_MCP_EVENT_NO_MEMORY);
    }
}

/* Writes the set of URIs for a modern server. */
static void
tg_mcp_resource_watches_write_uris(tg_mcp_conn_t *mcp_conn)
{
    const tg_mcp_resource_watch_t *watch;
    tg_str_t uri;

    tg_buf_truncate(&mcp_conn->uris, 0);

    TAILQ_FOREACH(watch, &mcp_conn->watches, link)
    {
        uri = tg_mcp_resource_watch_get_uri(watch);

        if (tg_mcp_resource_watch_find(mcp_conn, NULL, uri) == watch) {
            tg_buf_append_cstr(&mcp_conn->uris,
                               mcp_conn->uris.len != 0 ? "," : "");
            tg_json_write_string(&mcp_conn->uris, uri);
        }
    }

    mcp_conn->client.uris = tg_buf_view(&mcp_conn->uris);
}

void
tg_mcp_resource_watches_update(tg_mcp_conn_t *mcp_conn)
{
    if (!mcp_conn->is_filter_due) {
        return;
    }

    mcp_conn->is_filter_due = 0;
    tg_mcp_resource_watches_write_uris(mcp_conn);

    if (tg_buf_has_failed(&mcp_conn->uris)
        || tg_mcp_client_listen(&mcp_conn->client) == TG_NOMEM)
    {
        tg_mcp_conn_on_event(mcp_conn, TG_MCP_EVENT_NO_MEMORY);
    }
}

/* Changes the server's subscription to one resource. */
static void
tg_mcp_resource_watches_on_changed(tg_mcp_conn_t *mcp_conn, tg_str_t uri,
                                   int is_on)
{
    if (mcp_conn->state == TG_MCP_CONN_READY && !mcp_conn->client.is_modern) {
        tg_mcp_resource_watch_send(mcp_conn, uri, is_on);
    } else {
        /* Many changes lead to one message, in the next loop iteration. */
        mcp_conn->is_filter_due = 1;
    }
}

void
tg_mcp_resource_watches_on_ready(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_resource_watch_t *watch;
    tg_str_t uri;

    TAILQ_FOREACH(watch, &mcp_conn->watches, link)
    {
        uri = tg_mcp_resource_watch_get_uri(watch);

        if (!mcp_conn->client.is_modern
            && tg_mcp_resource_watch_find(mcp_conn, NULL, uri) == watch)
        {
            tg_mcp_resource_watch_send(mcp_conn, uri, 1);
        }

        watch->is_due |= watch->is_active;
        watch->is_active = 1;
    }

    tg_mcp_resource_watches_update(mcp_conn);

    if (tg_mcp_resource_watches_send(mcp_conn)) {
        tg_mcp_server_schedule_retry(mcp_conn->server);
    }
}

/* --- notifications of workers --- */

int
tg_mcp_resource_watches_send(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_resource_watch_t *watch;
    const tg_jobs_t *jobs;
    tg_buf_t json;
    int is_waiting;

    jobs = mcp_conn->server->servers->jobs;
    is_waiting = 0;

    TAILQ_FOREACH(watch, &mcp_conn->watches, link)
    {
        if (!watch->is_due) {
            continue;
        }

        if (!jobs->ops->can_notify(jobs->host, watch->peer)) {
            is_waiting = 1;
            continue;
        }

        watch->is_due = 0;
        tg_buf_init(&json, tg_alloc_libc());
        tg_buf_printf(&json, "{\"key\":\"%s\"", mcp_conn->server->spec.key);

        if (mcp_conn->id[0] != '\0') {
            tg_json_add_cstr(&json, "instance", mcp_conn->id);
        }

        tg_json_add_string(&json, "uri", tg_mcp_resource_watch_get_uri(watch));
        tg_buf_append_char(&json, '}');

        if (!tg_buf_has_failed(&json)) {
            tg_peer_notify(watch->peer, TG_STR("mcp_updated"),
                           tg_buf_view(&json));
            jobs->ops->notified(jobs->host, watch->peer);
        }

        tg_buf_deinit(&json);
    }

    return is_waiting;
}

/* Marks subscriptions to this resource, or to one that contains it. */
static int
tg_mcp_resource_watches_mark(tg_mcp_conn_t *mcp_conn, tg_str_t uri)
{
    tg_mcp_resource_watch_t *watch;
    int n;

    n = 0;

    TAILQ_FOREACH(watch, &mcp_conn->watches, link)
    {
        if (tg_uri_is_within(uri, tg_str(watch->uri, watch->len))) {
            watch->is_due = 1;
            n++;
        }
    }

    return n;
}

void
tg_mcp_resource_watches_on_updated(tg_mcp_conn_t *mcp_conn, tg_str_t params)
{
    tg_str_t raw, uri;
    tg_buf_t text;

    if (!tg_json_has_member(params, TG_STR("uri"), TG_JSON_STRING, &raw)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, tg_json_string_body(raw));
    uri = tg_buf_view(&text);

    /* MCP lets a server report the change of a sub-resource. */
    if (!tg_buf_has_failed(&text)
        && tg_mcp_resource_watches_mark(mcp_conn, uri) != 0
        && tg_mcp_resource_watches_send(mcp_conn))
    {
        tg_mcp_server_schedule_retry(mcp_conn->server);
    }

    tg_buf_deinit(&text);
}

/* --- subscriptions of workers --- */

static void
tg_mcp_resource_watch_free(tg_mcp_conn_t *mcp_conn,
                           tg_mcp_resource_watch_t *watch)
{
    TAILQ_REMOVE(&mcp_conn->watches, watch, link);
    mcp_conn->nwatches--;
    free(watch);
}

void
tg_mcp_resource_watches_free(tg_mcp_conn_t *mcp_conn)
{
    while (!TAILQ_EMPTY(&mcp_conn->watches)) {
        tg_mcp_resource_watch_free(mcp_conn, TAILQ_FIRST(&mcp_conn->watches));
    }
}

static void
tg_mcp_resource_watch_remove(tg_mcp_conn_t *mcp_conn,
                             tg_mcp_resource_watch_t *watch)
{
    tg_str_t uri;

    TAILQ_REMOVE(&mcp_conn->watches, watch, link);
    mcp_conn->nwatches--;
    uri = tg_mcp_resource_watch_get_uri(watch);

    if (tg_mcp_resource_watch_find(mcp_conn, NULL, uri) == NULL) {
        tg_mcp_resource_watches_on_changed(mcp_conn, uri, 0);
    }

    free(watch);
    mcp_conn->used_at = uv_now(mcp_conn->timer.loop);

    if (mcp_conn->state == TG_MCP_CONN_READY) {
        tg_mcp_conn_flush(mcp_conn);
    } else {
        /* This was maybe the only reason for another start. */
        tg_mcp_conn_start_soon(mcp_conn);
    }
}

void
tg_mcp_resource_watches_on_peer_closed(tg_mcp_server_t *server,
                                       const tg_peer_t *peer)
{
    tg_mcp_resource_watch_t *watch, *next;
    tg_mcp_conn_t *mcp_conn;

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        TG_TAILQ_FOREACH_SAFE(watch, &mcp_conn->watches, link, next)
        {
            if (watch->peer == peer) {
                tg_mcp_resource_watch_remove(mcp_conn, watch);
            }
        }
    }
}

/* Adds a subscription, unless there is one. TG_OK, TG_LIMIT or TG_NOMEM. */
static int
tg_mcp_resource_watch_add(tg_mcp_conn_t *mcp_conn, tg_peer_t *peer,
                          tg_str_t uri)
{
    tg_mcp_resource_watch_t *watch;
    int is_first;

    if (tg_mcp_resource_watch_find(mcp_conn, peer, uri) != NULL) {
        return TG_OK;
    }

    if (mcp_conn->nwatches >= TG_MCP_RESOURCE_WATCHES_MAX) {
        tg_mcp_conn_log(mcp_conn, TG_LOG_WARN,
                        "%d of its resources are subscribed to already; "
                        "changes of further ones are not reported",
                        TG_MCP_RESOURCE_WATCHES_MAX);
        return TG_LIMIT;
    }

    watch = calloc(1, sizeof(*watch) + uri.len);

    if (watch == NULL) {
        return TG_NOMEM;
    }

    watch->peer = peer;
    watch->len = uri.len;
    memcpy(watch->uri, uri.data, uri.len);
    is_first = tg_mcp_resource_watch_find(mcp_conn, NULL, uri) == NULL;
    TAILQ_INSERT_TAIL(&mcp_conn->watches, watch, link);
    mcp_conn->nwatches++;
    mcp_conn->is_leaving = mcp_conn->server->is_leaving;

    if (mcp_conn->state == TG_MCP_CONN_READY) {
        watch->is_active = 1;
    }

    if (is_first) {
        tg_mcp_resource_watches_on_changed(mcp_conn, uri, 1);
    }

    if (mcp_conn->state == TG_MCP_CONN_READY) {
        tg_mcp_conn_flush(mcp_conn);
    } else {
        tg_mcp_conn_start_soon(mcp_conn);
    }

    return TG_OK;
}

/* --- methods --- */

typedef struct {
    tg_str_t key;
    tg_str_t conn_id;
    tg_str_t cwd;
    tg_str_t uri;
    tg_str_t client_caps;
    int64_t uid;
} tg_mcp_resource_params_t;

#define TG_MCP_RESOURCE_FIELD(text, kind, member)                              \
    .name = text, .type = kind, TG_FIELD_AT(tg_mcp_resource_params_t, member)

static const tg_json_field_t tg_mcp_resource_fields[] = {
    { TG_MCP_RESOURCE_FIELD("key", TG_FIELD_STRING, key), .is_required = 1 },
    { TG_MCP_RESOURCE_FIELD("uri", TG_FIELD_STRING, uri), .is_required = 1 },
    { TG_MCP_RESOURCE_FIELD("instance", TG_FIELD_STRING, conn_id) },
    { TG_MCP_RESOURCE_FIELD("cwd", TG_FIELD_STRING, cwd) },
    { TG_MCP_RESOURCE_FIELD("uid", TG_FIELD_INT, uid), .max = UINT32_MAX,
      .absent = -1 },
    { TG_MCP_RESOURCE_FIELD("capabilities", TG_FIELD_RAW, client_caps) },
    { .name = NULL },
};

/* Parsed params; their memory is in `text`. */
typedef struct {
    tg_mcp_server_t *server;
    tg_mcp_conn_owner_t owner;
    tg_str_t uri;
    tg_buf_t text;
} tg_mcp_resource_request_t;

/* Decodes the strings. TG_OK, TG_INVALID or TG_NOMEM. */
static int
tg_mcp_resource_request_decode(tg_mcp_resource_request_t *resource,
                               const tg_mcp_resource_params_t *params)
{
    char *at;

    if (tg_buf_reserve(&resource->text, params->uri.len + params->cwd.len)
        != TG_OK) {
        return TG_NOMEM;
    }

    resource->owner.uid = params->uid;
    resource->owner.client_caps = tg_client_caps_parse(params->client_caps);
    resource->owner.id = params->conn_id.data != NULL
                             ? tg_json_string_body(params->conn_id)
                             : TG_STR("");
    at = resource->text.data;
    resource->uri.data = at;
    resource->uri.len = tg_json_unescape(at, tg_json_string_body(params->uri));
    at += resource->uri.len;

    return resource->uri.len <= TG_URI_MAX
                   && resource->owner.id.len <= TG_MCP_CONN_ID_MAX
                   && (params->cwd.data == NULL
                       || (tg_param_read_string(&at, params->cwd,
                                                &resource->owner.cwd)
                               == TG_OK
                           && resource->owner.cwd[0] == '/'))
               ? TG_OK
               : TG_INVALID;
}

/* Reads a request, or responds with an error. Returns 1 if it is valid. */
static int
tg_mcp_resource_request_read(const tg_mcp_servers_t *servers, tg_peer_t *peer,
                             const tg_request_t *request,
                             tg_mcp_resource_request_t *resource)
{
    tg_mcp_resource_params_t params;
    const char *why;
    tg_str_t key;
    int rc;

    memset(resource, 0, sizeof(*resource));
    tg_buf_init(&resource->text, tg_alloc_libc());
    why = "key must be that of an MCP server; uri a string of at most 2048 "
          "bytes; instance and cwd strings; uid a number";
    rc = tg_json_read_fields(tg_mcp_resource_fields, request->arguments,
                             &params, &why);

    if (rc == TG_OK) {
        rc = tg_mcp_server_is_key(params.key, &key)
                 ? tg_mcp_resource_request_decode(resource, &params)
                 : TG_INVALID;
    }

    if (rc == TG_OK) {
        resource->server = tg_mcp_server_find(servers, key);
        rc = resource->server != NULL ? TG_OK : TG_INVALID;
    }

    if (rc == TG_NOMEM) {
        tg_peer_respond_failure(peer, request, TG_FAILURE_INTERNAL, NULL,
                                TG_RUNNER_NO_MEMORY);
    } else if (rc != TG_OK) {
        tg_peer_respond_invalid_params(peer, request, why);
    }

    return rc == TG_OK;
}

void
tg_mcp_servers_watch_resource(tg_mcp_servers_t *servers, tg_peer_t *peer,
                              tg_request_t *request)
{
    tg_mcp_resource_request_t resource;
    tg_mcp_conn_t *mcp_conn;
    tg_failure_t failure;
    tg_buf_t text;

    if (!tg_mcp_resource_request_read(servers, peer, request, &resource)) {
        tg_buf_deinit(&resource.text);
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    failure = tg_mcp_server_ensure_conn(resource.server, &resource.owner,
                                        &mcp_conn, &text);

    if (failure == TG_FAILURE_NONE
        && tg_mcp_resource_watch_add(mcp_conn, peer, resource.uri) != TG_OK)
    {
        failure = TG_FAILURE_BUSY;
        tg_buf_append_cstr(&text, "Too many resources of this MCP server are "
                                  "subscribed to.");
    }

    if (failure == TG_FAILURE_NONE) {
        tg_peer_respond_true(peer, request);
    } else {
        tg_peer_respond_failure(peer, request, failure, NULL, "%.*s",
                                (int) text.len, text.data);
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&resource.text);
}

void
tg_mcp_servers_unwatch_resource(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                tg_request_t *request)
{
    tg_mcp_resource_request_t resource;
    tg_mcp_resource_watch_t *watch;
    tg_mcp_conn_t *mcp_conn;

    if (tg_mcp_resource_request_read(servers, peer, request, &resource)) {
        mcp_conn = tg_mcp_conn_find(resource.server, resource.owner.id);
        watch = mcp_conn != NULL
                    ? tg_mcp_resource_watch_find(mcp_conn, peer, resource.uri)
                    : NULL;

        if (watch != NULL) {
            tg_mcp_resource_watch_remove(mcp_conn, watch);
        }

        tg_peer_respond_true(peer, request);
    }

    tg_buf_deinit(&resource.text);
}
