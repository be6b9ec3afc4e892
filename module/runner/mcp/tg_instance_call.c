/*
 * The calls of an instance: those that wait for it, and those that it has.
 */
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_question.h"

static tg_failure_t
tg_instance_send(tg_instance_t *instance, tg_mcp_job_t *call)
{
    int rc;

    call->request = instance->caller.next_id;
    rc = tg_mcp_client_pass(&instance->client, &call->call, call->request, call,
                            &call->request);

    if (rc == TG_OK) {
        call->is_sent = 1;
        TAILQ_INSERT_TAIL(&instance->calls, call, place);
        return TG_FAILURE_NONE;
    }

    return rc == TG_LIMIT ? TG_FAILURE_ARGUMENTS : TG_FAILURE_INTERNAL;
}

/* Why a call cannot be taken now. */
static tg_failure_t
tg_instance_refuse(const tg_instance_t *instance, tg_buf_t *text)
{
    const tg_server_t *server;
    uint64_t now;

    server = instance->server;
    now = uv_now(instance->timer.loop);

    if (instance->ncalls >= TG_INSTANCE_CALLS_MAX
        || instance->transport->backlog(instance) > TG_INSTANCE_BACKLOG)
    {
        tg_buf_printf(text,
                      "%s: %u calls of this MCP server are not answered yet; "
                      "call again when some have ended",
                      server->spec.name, instance->ncalls);
        return TG_FAILURE_BUSY;
    }

    if (instance->state == TG_INSTANCE_STOPPED
        && instance->retry_at > now + TG_INSTANCE_WAIT_MS)
    {
        tg_buf_printf(text, "%s\nIt is started again in %u s.", server->error,
                      (unsigned) ((instance->retry_at - now + 999) / 1000));
        return TG_FAILURE_PROGRAM;
    }

    return TG_FAILURE_NONE;
}

tg_failure_t
tg_instance_call(tg_instance_t *instance, tg_mcp_job_t *call, tg_buf_t *text)
{
    tg_failure_t failure;

    failure = tg_instance_refuse(instance, text);

    if (failure != TG_FAILURE_NONE) {
        return failure;
    }

    if (instance->state == TG_INSTANCE_READY) {
        failure = tg_instance_send(instance, call);

        if (failure != TG_FAILURE_NONE) {
            tg_buf_printf(text,
                          failure == TG_FAILURE_ARGUMENTS
                              ? "The arguments are larger than the 32 MiB that "
                                "a message to %s may have."
                              : "toolgate-runner has no memory left for a call "
                                "of %s; try again.",
                          instance->server->spec.name);
            return failure;
        }

        instance->ncalls++;
        call->instance = instance;
        instance->is_leaving = instance->server->is_leaving;
        tg_instance_turn(instance);
        return TG_FAILURE_NONE;
    }

    TAILQ_INSERT_TAIL(&instance->waiting, call, place);
    instance->ncalls++;
    call->instance = instance;
    instance->is_leaving = instance->server->is_leaving;
    tg_instance_want(instance);

    return TG_FAILURE_NONE;
}

void
tg_instance_put_back(tg_instance_t *instance, tg_mcp_job_t *call)
{
    call->is_sent = 0;
    TAILQ_REMOVE(&instance->calls, call, place);
    tg_questions_drop(instance, call);
    TAILQ_INSERT_TAIL(&instance->waiting, call, place);
}

/* What was sent as this request, which is forgotten; or NULL. */
static tg_mcp_job_t *
tg_instance_forget(tg_instance_t *instance, uint64_t request)
{
    tg_mcp_job_t *call;

    (void) tg_caller_forget(&instance->caller, request);

    TAILQ_FOREACH(call, &instance->calls, place)
    {
        if (call->request == request) {
            break;
        }
    }

    return call;
}

void
tg_instance_give_up(tg_instance_t *instance, uint64_t request,
                    tg_failure_t failure, tg_str_t text)
{
    tg_mcp_job_t *call;
    tg_buf_t why;

    call = tg_instance_forget(instance, request);

    if (call != NULL) {
        tg_buf_init(&why, tg_alloc_libc());
        tg_buf_printf(&why, "%s ", instance->server->spec.name);
        tg_buf_str(&why, text);
        call->ops->fail(call, failure, tg_buf_view(&why));
        tg_buf_deinit(&why);
    }
}

/* It is ready: nothing has to wait. */
static void
tg_instance_send_waiting(tg_instance_t *instance)
{
    tg_mcp_job_t *call;

    while ((call = TAILQ_FIRST(&instance->waiting)) != NULL) {
        TAILQ_REMOVE(&instance->waiting, call, place);

        if (tg_instance_send(instance, call) != TG_FAILURE_NONE) {
            TAILQ_INSERT_HEAD(&instance->waiting, call, place);
            call->ops->fail(call, TG_FAILURE_INTERNAL,
                            TG_STR("toolgate-runner cannot pass the call on; "
                                   "call again, or with smaller arguments."));
        }
    }

    tg_instance_turn(instance);
}

void
tg_instance_again(tg_instance_t *instance, uint64_t request)
{
    tg_mcp_job_t *call;

    call = tg_instance_forget(instance, request);

    if (call == NULL) {
        return;
    }

    if (call->is_again) {
        call->ops->fail(call, TG_FAILURE_PROGRAM,
                        TG_STR("The MCP server ends its sessions as soon as "
                               "they have begun; see its own log."));
        return;
    }

    call->is_again = 1;
    tg_instance_put_back(instance, call);

    if (instance->state == TG_INSTANCE_READY) {
        tg_instance_send_waiting(instance);
    }
}

void
tg_instance_drop(tg_instance_t *instance, tg_mcp_job_t *call)
{
    if (call->is_sent) {
        TAILQ_REMOVE(&instance->calls, call, place);
        (void) tg_caller_cancel(&instance->caller, call->request, 1);
    } else {
        TAILQ_REMOVE(&instance->waiting, call, place);
    }

    tg_questions_drop(instance, call);
    instance->ncalls--;
    instance->used_at = uv_now(instance->timer.loop);
    call->instance = NULL;

    if (instance->state == TG_INSTANCE_READY) {
        tg_instance_turn(instance);
    }

    tg_instance_settle(instance);
}

void
tg_instance_ready(tg_instance_t *instance)
{
    if (instance->state != TG_INSTANCE_STARTING) {
        return;
    }

    instance->ready_at = uv_now(instance->timer.loop);
    instance->used_at = instance->ready_at;
    instance->server->is_greeted = instance->client.era == TG_MCP_GREETS;
    instance->ops->ready(instance->server);
    tg_instance_to(instance, TG_INSTANCE_READY);

    tg_instance_send_waiting(instance);
}
