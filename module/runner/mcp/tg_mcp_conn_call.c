/* The calls of a connection: waiting calls and sent calls. */
#include "runner/mcp/tg_mcp_conn_log.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_mcp_resource_watch.h"
#include "runner/mcp/tg_mcp_server_request.h"

static tg_failure_t
tg_mcp_conn_send_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call)
{
    int rc;

    tg_mcp_conn_request_log_level(mcp_conn, call);
    call->request = mcp_conn->caller.next_id;
    rc = call->call.method.data != NULL
             ? tg_mcp_client_call_method(&mcp_conn->client, &call->call,
                                         call->request, call, &call->request)
             : tg_mcp_client_call_tool(&mcp_conn->client, &call->call,
                                       call->request, call, &call->request);

    if (rc == TG_OK) {
        call->is_sent = 1;
        TAILQ_INSERT_TAIL(&mcp_conn->calls, call, link);
        return TG_FAILURE_NONE;
    }

    return rc == TG_LIMIT ? TG_FAILURE_ARGUMENTS : TG_FAILURE_INTERNAL;
}

/* Checks whether a call can be taken now. Appends the reason if not. */
static tg_failure_t
tg_mcp_conn_check_capacity(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text)
{
    const tg_mcp_server_t *server;
    uint64_t now;

    server = mcp_conn->server;
    now = uv_now(mcp_conn->timer.loop);

    if (mcp_conn->ncalls >= TG_MCP_CONN_CALLS_MAX
        || mcp_conn->transport->backlog(mcp_conn) > TG_MCP_CONN_CALL_BACKLOG)
    {
        tg_buf_printf(text,
                      "%s: %u calls of this MCP server are pending; call "
                      "again when some have ended",
                      server->spec.name, mcp_conn->ncalls);
        return TG_FAILURE_BUSY;
    }

    if (mcp_conn->state == TG_MCP_CONN_STOPPED
        && mcp_conn->retry_at > now + TG_MCP_CONN_WAIT_MS)
    {
        tg_buf_printf(text, "%s\nIt will be started again in %u s.",
                      server->error,
                      (unsigned) ((mcp_conn->retry_at - now + 999) / 1000));
        return TG_FAILURE_PROGRAM;
    }

    return TG_FAILURE_NONE;
}

tg_failure_t
tg_mcp_conn_add_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call,
                     tg_buf_t *text)
{
    tg_failure_t failure;

    failure = tg_mcp_conn_check_capacity(mcp_conn, text);

    if (failure != TG_FAILURE_NONE) {
        return failure;
    }

    /* The server must report changes that follow the call's result. */
    if (mcp_conn->state == TG_MCP_CONN_READY) {
        tg_mcp_resource_watches_update(mcp_conn);
    }

    if (mcp_conn->state == TG_MCP_CONN_READY) {
        failure = tg_mcp_conn_send_call(mcp_conn, call);

        if (failure != TG_FAILURE_NONE) {
            tg_buf_printf(text,
                          failure == TG_FAILURE_ARGUMENTS
                              ? "The arguments are too large; a message to "
                                "%s may have 32 MiB."
                              : "toolgate-runner has no memory left for a call "
                                "of %s; try again.",
                          mcp_conn->server->spec.name);
            return failure;
        }

        mcp_conn->ncalls++;
        call->mcp_conn = mcp_conn;
        mcp_conn->is_leaving = mcp_conn->server->is_leaving;
        tg_mcp_conn_flush(mcp_conn);
        return TG_FAILURE_NONE;
    }

    TAILQ_INSERT_TAIL(&mcp_conn->waiting, call, link);
    mcp_conn->ncalls++;
    call->mcp_conn = mcp_conn;
    mcp_conn->is_leaving = mcp_conn->server->is_leaving;
    tg_mcp_conn_start_soon(mcp_conn);

    return TG_FAILURE_NONE;
}

void
tg_mcp_conn_requeue_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call)
{
    call->is_sent = 0;
    TAILQ_REMOVE(&mcp_conn->calls, call, link);
    tg_mcp_server_requests_on_call_done(mcp_conn, call);
    TAILQ_INSERT_TAIL(&mcp_conn->waiting, call, link);
}

/* Forgets a request, and returns its call or NULL. */
static tg_mcp_job_t *
tg_mcp_conn_forget_request(tg_mcp_conn_t *mcp_conn, uint64_t request)
{
    tg_mcp_job_t *call;

    (void) tg_caller_forget_request(&mcp_conn->caller, request);

    TAILQ_FOREACH(call, &mcp_conn->calls, link)
    {
        if (call->request == request) {
            break;
        }
    }

    return call;
}

void
tg_mcp_conn_fail_request(tg_mcp_conn_t *mcp_conn, uint64_t request,
                         tg_failure_t failure, tg_str_t text)
{
    tg_mcp_job_t *call;
    tg_buf_t why;

    call = tg_mcp_conn_forget_request(mcp_conn, request);

    if (call != NULL) {
        tg_buf_init(&why, tg_alloc_libc());
        tg_buf_printf(&why, "%s ", mcp_conn->server->spec.name);
        tg_buf_append_str(&why, text);
        tg_mcp_job_fail(call, failure, tg_buf_view(&why));
        tg_buf_deinit(&why);
    }
}

/* Sends the waiting calls after the connection has become ready. */
static void
tg_mcp_conn_send_waiting(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_job_t *call;

    while ((call = TAILQ_FIRST(&mcp_conn->waiting)) != NULL) {
        TAILQ_REMOVE(&mcp_conn->waiting, call, link);

        if (tg_mcp_conn_send_call(mcp_conn, call) != TG_FAILURE_NONE) {
            TAILQ_INSERT_HEAD(&mcp_conn->waiting, call, link);
            tg_mcp_job_fail(call, TG_FAILURE_INTERNAL,
                            TG_STR("toolgate-runner cannot forward the call; "
                                   "call again, or with smaller arguments."));
        }
    }

    tg_mcp_conn_flush(mcp_conn);
}

void
tg_mcp_conn_resend_request(tg_mcp_conn_t *mcp_conn, uint64_t request)
{
    tg_mcp_job_t *call;

    call = tg_mcp_conn_forget_request(mcp_conn, request);

    if (call == NULL) {
        return;
    }

    if (call->is_resent) {
        tg_mcp_job_fail(call, TG_FAILURE_PROGRAM,
                        TG_STR("The MCP server ends its sessions as soon as "
                               "they have begun; see its log."));
        return;
    }

    call->is_resent = 1;
    tg_mcp_conn_requeue_call(mcp_conn, call);

    if (mcp_conn->state == TG_MCP_CONN_READY) {
        tg_mcp_conn_send_waiting(mcp_conn);
    }
}

void
tg_mcp_conn_remove_call(tg_mcp_conn_t *mcp_conn, tg_mcp_job_t *call)
{
    if (call->is_sent) {
        TAILQ_REMOVE(&mcp_conn->calls, call, link);

        if (tg_caller_cancel_request(&mcp_conn->caller, call->request, 1)
            != TG_MISSING)
        {
            mcp_conn->has_cancelled_calls = 1;
        }

    } else {
        TAILQ_REMOVE(&mcp_conn->waiting, call, link);
    }

    tg_mcp_server_requests_on_call_done(mcp_conn, call);
    mcp_conn->ncalls--;
    mcp_conn->used_at = uv_now(mcp_conn->timer.loop);
    call->mcp_conn = NULL;

    if (mcp_conn->state == TG_MCP_CONN_READY) {
        tg_mcp_conn_flush(mcp_conn);
    }

    tg_mcp_conn_finish_shutdown(mcp_conn);
}

void
tg_mcp_conn_set_ready(tg_mcp_conn_t *mcp_conn)
{
    if (mcp_conn->state != TG_MCP_CONN_STARTING) {
        return;
    }

    mcp_conn->ready_at = uv_now(mcp_conn->timer.loop);
    mcp_conn->used_at = mcp_conn->ready_at;
    mcp_conn->server->is_legacy = mcp_conn->client.handshake
                                  == TG_MCP_INITIALIZE_FIRST;
    mcp_conn->server->error[0] = '\0';
    tg_mcp_conn_set_state(mcp_conn, TG_MCP_CONN_READY);
    tg_mcp_resource_watches_on_ready(mcp_conn);
    tg_mcp_conn_send_waiting(mcp_conn);
}
