/* Forwards MCP servers' requests to clients, and the responses back. */
#include "runner/mcp/tg_mcp_server_request.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_server_notify.h"
#include "runner/jobs/tg_job_result.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>

struct tg_mcp_server_request_s {
    TAILQ_ENTRY(tg_mcp_server_request_s) link;
    tg_mcp_job_t *call; /* call by which it was sent; NULL: not sent yet */
    uint64_t number;    /* the runner's number of the request */
    tg_str_t id;        /* the server's id of the request, raw JSON */
    tg_str_t method;
    tg_str_t params; /* raw JSON, or absent */
    char memory[];
};

static void
tg_mcp_server_request_free(tg_mcp_conn_t *mcp_conn,
                           tg_mcp_server_request_t *server_request)
{
    TAILQ_REMOVE(&mcp_conn->server_requests, server_request, link);
    mcp_conn->nserver_requests--;
    free(server_request);
}

/* --- messages to the worker --- */

/* Writes the beginning of an object: {"id":ID,"ask":7 */
static void
tg_mcp_server_request_write_ids(tg_buf_t *json,
                                const tg_mcp_server_request_t *server_request)
{
    tg_buf_append_char(json, '{');
    tg_json_add_raw(json, "id", server_request->call->job->call->reply.id);
    tg_json_add_uint(json, "ask", server_request->number);
}

static void
tg_mcp_server_request_notify(const tg_mcp_server_request_t *server_request,
                             tg_str_t method, tg_buf_t *json)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;

    jobs = server_request->call->job->jobs;
    peer = server_request->call->job->call->peer;
    tg_buf_append_char(json, '}');

    if (!tg_buf_has_failed(json)) {
        tg_peer_notify(peer, method, tg_buf_view(json));
        jobs->ops->notified(jobs->host, peer);
    }

    tg_buf_deinit(json);
}

/* Cancels a request at the worker, unless the call is moving to another. */
static void
tg_mcp_server_request_cancel(const tg_mcp_server_request_t *server_request)
{
    tg_buf_t json;

    if (server_request->call != NULL && server_request->call->job->call != NULL)
    {
        tg_buf_init(&json, tg_alloc_libc());
        tg_mcp_server_request_write_ids(&json, server_request);
        tg_mcp_server_request_notify(server_request, TG_STR("unask"), &json);
    }
}

/*
 * Returns a call whose worker can receive the request, or NULL. Any will do:
 * the server names none, and all belong to one client.
 */
static tg_mcp_job_t *
tg_mcp_server_request_find_call(const tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_job_t *call;

    TAILQ_FOREACH(call, &mcp_conn->calls, link)
    {
        if (call->job->call != NULL) {
            break;
        }
    }

    return call;
}

int
tg_mcp_server_requests_send(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_server_request_t *server_request;
    tg_mcp_job_t *call;
    tg_buf_t json;

    call = tg_mcp_server_request_find_call(mcp_conn);

    TAILQ_FOREACH(server_request, &mcp_conn->server_requests, link)
    {
        if (server_request->call != NULL) {
            continue;
        }

        if (call == NULL) {
            return 1;
        }

        server_request->call = call;
        tg_buf_init(&json, tg_alloc_libc());
        tg_mcp_server_request_write_ids(&json, server_request);
        tg_json_add_compact(&json, "method", server_request->method);
        tg_json_add_compact(&json, "params", server_request->params);
        tg_mcp_server_request_notify(server_request, TG_STR("ask"), &json);

        /* The time that a person takes must not count as the server's. */
        tg_job_on_progress(call->job, 1);
    }

    return 0;
}

/* --- requests of the server --- */

/* Creates a request. Returns NULL if out of memory. */
static tg_mcp_server_request_t *
tg_mcp_server_request_new(tg_mcp_conn_t *mcp_conn, const tg_message_t *message)
{
    tg_mcp_server_request_t *server_request;
    char *at;

    server_request = calloc(1, sizeof(*server_request) + message->id.len
                                   + message->method.len + message->params.len);

    if (server_request != NULL) {
        at = server_request->memory;
        server_request->id = tg_str_copy_to(&at, message->id);
        server_request->method = tg_str_copy_to(&at, message->method);
        server_request->params = tg_str_copy_to(&at, message->params);
        server_request->number = ++mcp_conn->server->servers->nserver_requests;
        TAILQ_INSERT_TAIL(&mcp_conn->server_requests, server_request, link);
        mcp_conn->nserver_requests++;
    }

    return server_request;
}

/* Checks a request. Returns NULL, or why it must not be sent to the client. */
static const char *
tg_mcp_server_request_check(const tg_mcp_conn_t *mcp_conn,
                            const tg_message_t *message)
{
    char room[TG_NAME_MAX];
    tg_buf_t method;

    if (mcp_conn->server->spec.share != TG_MCP_SHARE_CONNECTION) {
        return "This server is shared by several clients of Toolgate, so no "
               "client can be asked; let the tool continue without an answer.";
    }

    method = tg_buf_make_fixed(room, sizeof(room));
    tg_json_append_unescaped(&method, tg_json_string_body(message->method));

    if (tg_buf_has_failed(&method)
        || !tg_client_caps_allow_request(mcp_conn->client.client_caps,
                                         tg_buf_view(&method), message->params))
    {
        return "The client does not support this request; let the tool "
               "continue without an answer.";
    }

    if (TAILQ_EMPTY(&mcp_conn->calls)) {
        return "A client can be asked only while it waits for a call.";
    }

    return mcp_conn->nserver_requests >= TG_MCP_SERVER_REQUESTS_MAX
               ? "Too many requests to the client are pending."
               : NULL;
}

void
tg_mcp_server_request_accept(tg_mcp_conn_t *mcp_conn,
                             const tg_message_t *message)
{
    const char *why;

    why = tg_mcp_server_request_check(mcp_conn, message);

    if (why == NULL && tg_mcp_server_request_new(mcp_conn, message) == NULL) {
        why = TG_RUNNER_NO_MEMORY;
    }

    if (why != NULL) {
        (void) tg_caller_respond_error(&mcp_conn->caller, message->id,
                                       TG_RPC_METHOD_NOT_FOUND, why);
    } else if (tg_mcp_server_requests_send(mcp_conn)) {
        tg_mcp_server_schedule_retry(mcp_conn->server);
    }
}

void
tg_mcp_server_request_on_cancelled(tg_mcp_conn_t *mcp_conn, tg_str_t id)
{
    tg_mcp_server_request_t *server_request;

    TAILQ_FOREACH(server_request, &mcp_conn->server_requests, link)
    {
        if (tg_str_eq(server_request->id, id)) {
            tg_mcp_server_request_cancel(server_request);
            tg_mcp_server_request_free(mcp_conn, server_request);
            return;
        }
    }
}

void
tg_mcp_server_requests_on_call_done(tg_mcp_conn_t *mcp_conn,
                                    const tg_mcp_job_t *call)
{
    tg_mcp_server_request_t *server_request, *next;
    tg_mcp_job_t *other;

    other = TAILQ_FIRST(&mcp_conn->calls);

    TG_TAILQ_FOREACH_SAFE(server_request, &mcp_conn->server_requests, link,
                          next)
    {
        if (other == NULL) {
            tg_mcp_server_request_cancel(server_request);
            (void) tg_caller_respond_error(
                &mcp_conn->caller, server_request->id, TG_RPC_INTERNAL_ERROR,
                "The call that this request belongs to has ended.");
            tg_mcp_server_request_free(mcp_conn, server_request);

        } else if (server_request->call == call) {
            server_request->call = other;
        }
    }
}

/* --- responses of the client --- */

enum {
    TG_MCP_RESPONSE_ASK,
    TG_MCP_RESPONSE_RESULT,
    TG_MCP_RESPONSE_ERROR,
    TG_MCP_RESPONSE_MEMBERS
};

static const char *const tg_mcp_response_members[] = {
    [TG_MCP_RESPONSE_ASK] = "ask",
    [TG_MCP_RESPONSE_RESULT] = "result",
    [TG_MCP_RESPONSE_ERROR] = "error",
    [TG_MCP_RESPONSE_MEMBERS] = NULL,
};

/* Returns the request with this number and its connection, or NULL. */
static tg_mcp_server_request_t *
tg_mcp_server_request_find(const tg_mcp_servers_t *servers, int64_t number,
                           tg_mcp_conn_t **mcp_conn)
{
    tg_mcp_server_request_t *server_request;
    tg_mcp_server_t *server;

    TAILQ_FOREACH(server, &servers->list, link)
    {
        TAILQ_FOREACH(*mcp_conn, &server->mcp_conns, link)
        {
            TAILQ_FOREACH(server_request, &(*mcp_conn)->server_requests, link)
            {
                if (server_request->number == (uint64_t) number) {
                    return server_request;
                }
            }
        }
    }

    return NULL;
}

void
tg_mcp_server_request_on_response(tg_mcp_servers_t *servers, tg_peer_t *peer,
                                  tg_request_t *request)
{
    tg_str_t values[TG_MCP_RESPONSE_MEMBERS];
    tg_mcp_server_request_t *server_request;
    tg_mcp_conn_t *mcp_conn;
    int64_t number;

    server_request = NULL;

    if (tg_json_get_members(request->arguments, tg_mcp_response_members, values)
            == TG_OK
        && tg_json_parse_int64(values[TG_MCP_RESPONSE_ASK], &number) == TG_OK
        && (values[TG_MCP_RESPONSE_RESULT].data != NULL
            || tg_json_type(values[TG_MCP_RESPONSE_ERROR]) == TG_JSON_OBJECT))
    {
        server_request = tg_mcp_server_request_find(servers, number, &mcp_conn);
    }

    if (server_request == NULL) {
        tg_peer_respond_invalid_params(peer, request,
                                       "No request waits for this answer.");
        return;
    }

    (void) tg_caller_respond(&mcp_conn->caller, server_request->id,
                             values[TG_MCP_RESPONSE_RESULT],
                             values[TG_MCP_RESPONSE_ERROR]);
    if (server_request->call != NULL) {
        tg_job_on_progress(server_request->call->job, 1);
    }

    tg_mcp_server_request_free(mcp_conn, server_request);
    tg_mcp_conn_flush(mcp_conn);
    tg_peer_respond_true(peer, request);
}
