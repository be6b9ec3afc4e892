/* The life of a call: its checks, its handler, and its one end. */
#include "nginx/call/ngx_tg_call_ask.h"
#include "nginx/call/ngx_tg_call_impl.h"

#include "protocol/tg_tool_validate.h"

#define NGX_TG_TOO_MANY_STEPS_TEXT                                             \
    "finding the arguments takes too many steps; send fewer members"

static void ngx_tg_call_on_watchdog(ngx_event_t *ev);
static void ngx_tg_call_on_operator_cancel(void *data);

/*
 * The memory of the last call for the next one, which then needs no allocation.
 * The call is the first object in its pool, which had no other block.
 */
static ngx_tg_call_t *ngx_tg_call_cache;

/* Stores large results: a pointer, because the function itself ends calls. */
static ngx_tg_store_result_pt ngx_tg_store_result_handler;

_Static_assert(sizeof(ngx_tg_call_block_t) < NGX_TG_CALL_POOL_SIZE / 2,
               "a call stands in its pool, not beside it");

static ngx_tg_call_t *
ngx_tg_call_alloc(ngx_log_t *log)
{
    ngx_tg_call_block_t *block;
    ngx_tg_call_t *call;
    ngx_pool_t *pool;

    call = ngx_tg_call_cache;

    if (call != NULL) {
        ngx_tg_call_cache = NULL;
        call->pool->log = log;
        return call;
    }

    pool = ngx_create_pool(NGX_TG_CALL_POOL_SIZE, log);

    if (pool == NULL) {
        return NULL;
    }

    block = ngx_palloc(pool, sizeof(ngx_tg_call_block_t));

    if (block == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    block->call.pool = pool;
    block->call.priv = &block->priv;

    return &block->call;
}

static void
ngx_tg_call_recycle(ngx_tg_call_t *call)
{
    ngx_pool_t *pool;

    pool = call->pool;

    /* Do not reuse a pool with more blocks, or with cleanups that must run. */
    if (ngx_tg_call_cache != NULL || pool->cleanup != NULL
        || pool->d.next != NULL) {
        ngx_destroy_pool(pool);
        return;
    }

    if (pool->large != NULL) {
        ngx_reset_pool(pool);
    }

    pool->d.last = (u_char *) (call->priv + 1);
    pool->log = ngx_cycle->log;
    ngx_tg_call_cache = call;
}

/* --- states --- */

void
ngx_tg_call_set_state(ngx_tg_call_t *call, ngx_tg_call_state_t state)
{
#if (NGX_DEBUG)
    static const char *const names[] = { "checked", "runs", "moves", "ended" };

    ngx_log_debug2(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: %s", call, names[state]);
#endif

    call->state = state;

    if (state == NGX_TG_CALL_ENDED && call->priv->timer.timer_set) {
        ngx_del_timer(&call->priv->timer);
    }
}

/* --- start of a call --- */

ngx_tg_call_t *
ngx_tg_call_new(ngx_tg_session_base_t *base)
{
    ngx_tg_call_private_t *priv;
    ngx_tg_call_t *call;
    ngx_pool_t *pool;

    call = ngx_tg_call_alloc(base->connection->log);

    if (call == NULL) {
        return NULL;
    }

    pool = call->pool;
    priv = call->priv;
    tg_memzero(call, sizeof(ngx_tg_call_t));
    tg_memzero(priv, sizeof(ngx_tg_call_private_t));
    call->priv = priv;
    call->base = base;
    call->pool = pool;
    call->start = ngx_current_msec;
    call->priv->ran.queued_ms = -1;
    call->priv->ran.ran_ms = -1;
    ngx_tg_calls_count_begun();
    call->priv->counters = &ngx_tg_counters_dummy;

    return call;
}

/* Validates the arguments. Returns 0 if the call was answered and freed. */
static ngx_uint_t
ngx_tg_call_validate_args_or_fail(ngx_tg_call_t *call, tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_buf_t error;
    int rc;

    if (tg_tool_has_valid_args(call->tool->input, request)) {
        return 1;
    }

    tg_buf_init(&error, tg_alloc_libc());
    rc = ngx_tg_call_validate_args(call, &outcome, &error);

    if (rc != TG_OK) {
        ngx_tg_call_end(call, &outcome);
    }

    tg_buf_deinit(&error);

    return rc == TG_OK;
}

/* Applies the rate limits. Returns 0 if the call was answered and freed. */
static ngx_uint_t
ngx_tg_call_take_rate_or_fail(ngx_tg_call_t *call)
{
    const ngx_tg_tool_t *block;
    u_char text[512];

    block = call->tool->block;

    if (block->limit.rate.rate <= 0 && block->group == NULL
        && call->base->conf->limit.rate.rate <= 0)
    {
        return 1;
    }

    if (ngx_tg_call_take_rate(call, text, sizeof(text)) == NGX_OK) {
        return 1;
    }

    ngx_tg_call_fail(call, TG_FAILURE_BUSY, (const char *) text);

    return 0;
}

/* Answers as if the tool did not exist, even if access to it is refused. */
static void
ngx_tg_call_reject_as_unknown(ngx_tg_call_t *call, tg_peer_t *peer)
{
    call->priv->is_refused = 1;
    tg_peer_respond_unknown(peer, call->request);
    ngx_tg_call_end(call, NULL);
}

void
ngx_tg_call_reject_unknown(void *host, tg_peer_t *peer, tg_request_t *request)
{
    ngx_tg_call_t *call;
    char *name;

    call = ngx_tg_call_new(host);

    if (call == NULL) {
        tg_peer_respond_unknown(peer, request);
        return;
    }

    call->request = request;
    call->priv->size = request->size;
    name = request->name.len <= TG_NAME_MAX
               ? ngx_pnalloc(call->pool, TG_NAME_MAX)
               : NULL;

    if (name != NULL) {
        call->name = tg_str(name, tg_json_unescape(name, request->name));
    }

    ngx_tg_call_reject_as_unknown(call, peer);
}

void
ngx_tg_call_start(void *host, tg_peer_t *peer, tg_request_t *request)
{
    ngx_tg_session_base_t *base = host;

    ngx_tg_call_t *call;
    tg_outcome_t outcome;
    const char *why;

    call = ngx_tg_call_new(base);

    if (call == NULL) {
        outcome = tg_outcome_make_no_memory();
        tg_peer_respond(peer, &request->reply, &outcome);
        return;
    }

    ngx_log_debug3(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: of \"%*s\"", call,
                   request->entry->name.len, request->entry->name.data);

    call->tool = request->entry->host;
    call->entry = request->entry;
    call->priv->handler = call->tool->handler;
    call->priv->timeout = (ngx_msec_t) call->tool->job_spec.timeout_ms;
    call->priv->max_timeout = (ngx_msec_t) call->tool->job_spec.max_timeout_ms;
    call->request = request;
    call->priv->size = request->size;
    ngx_tg_call_count_begin(call, call->tool);

    if (call->priv->counters != &ngx_tg_counters_dummy) {
        ngx_tg_session_base_count_call(base);
    }

    if (request->traceparent.data != NULL) {
        ngx_tg_call_read_trace_context(call);
    }

    if (!ngx_tg_session_base_can_see(base, request->entry)) {
        call->rule = NGX_TG_RULE_DENY;
        base->needed_scopes =
            ngx_tg_session_base_get_needed_scopes(base, request->entry);

        if (base->needed_scopes.len != 0) {
            call->priv->is_refused = 1;
            tg_peer_respond_forbidden(peer, request);
            ngx_tg_call_end(call, NULL);
            return;
        }

        ngx_tg_call_reject_as_unknown(call, peer);
        return;
    }

    why = ngx_tg_call_prepare_schemas(call);

    if (why != NULL) {
        ngx_tg_call_fail(call, TG_FAILURE_ARGUMENTS, why);
        return;
    }

    if (ngx_tg_call_validate_args_or_fail(call, request)
        && ngx_tg_call_ask(call) && ngx_tg_call_take_rate_or_fail(call))
    {
        ngx_tg_call_set_state(call, NGX_TG_CALL_RUNNING);
        call->priv->handler->start(call, request);
    }
}

/*
 * Returns the time until the watchdog fires, in ms. Later than the deadline if
 * the runner enforces the deadline.
 */
static ngx_msec_t
ngx_tg_call_get_watchdog_delay(const ngx_tg_call_t *call)
{
    ngx_msec_t age;

    if (!call->has_run) {
        return call->priv->timeout + NGX_TG_WATCHDOG_GRACE;
    }

    age = ngx_current_msec - call->start;

    return age >= call->priv->max_timeout
               ? 0
               : ngx_min(call->priv->timeout, call->priv->max_timeout - age);
}

void
ngx_tg_call_set_deferred(ngx_tg_call_t *call, tg_call_t *deferred,
                         ngx_msec_t left)
{
    call->priv->deferred = deferred;
    call->entry = deferred->entry;
    call->request = NULL;
    call->tool = NULL;
    deferred->host = call;

    call->priv->timer.handler = ngx_tg_call_on_watchdog;
    call->priv->timer.data = call;
    call->priv->timer.log = call->base->connection->log;
    ngx_add_timer(&call->priv->timer, left);
    ngx_tg_call_set_state(call, NGX_TG_CALL_RUNNING);
    ngx_tg_call_publish_running(call, ngx_tg_call_on_operator_cancel);
}

/* Deletes the timer first: NGINX ignores changes of less than 300 ms. */
void
ngx_tg_call_reset_watchdog(ngx_tg_call_t *call)
{
    ngx_del_timer(&call->priv->timer);
    ngx_add_timer(&call->priv->timer, ngx_tg_call_get_watchdog_delay(call));
}

void
ngx_tg_call_send_progress(ngx_tg_call_t *call, tg_str_t progress,
                          tg_str_t total, tg_str_t message)
{
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: progress", call);

    ngx_tg_call_reset_watchdog(call);

    if (call->base == NULL) {
        ngx_tg_remote_call_notify_progress(&call->priv->job, progress, total,
                                           message);
        return;
    }

    tg_call_notify_progress(call->priv->deferred, progress, total, message);
    ngx_tg_session_base_wake(call->base);
}

void
ngx_tg_call_send_message(ngx_tg_call_t *call, tg_mcp_log_level_t level,
                         tg_str_t logger, tg_str_t data)
{
    /* The session of a relayed call is in another worker. */
    if (call->base != NULL) {
        tg_call_notify_message(call->priv->deferred, level, logger, data);
        ngx_tg_session_base_wake(call->base);
    }
}

/* --- end of a call --- */

static void
ngx_tg_call_send_response(ngx_tg_call_t *call, const tg_outcome_t *outcome)
{
    tg_buf_t answer;
    tg_run_stats_t ran;

    if (call->base == NULL) {
        ran = ngx_tg_call_get_run_stats(call);
        tg_buf_init(&answer, tg_alloc_libc());
        tg_outcome_write_json(&answer, outcome);
        tg_run_stats_write_json(&answer, &ran);
        tg_buf_append_char(&answer, '}');
        ngx_tg_remote_call_notify_result(&call->priv->job,
                                         tg_buf_view(&answer));
        tg_buf_deinit(&answer);
        return;
    }

    tg_peer_respond(&call->base->peer,
                    call->priv->deferred != NULL ? &call->priv->deferred->reply
                                                 : &call->request->reply,
                    outcome);
}

/* Notifies the handler that nobody waits for the result. */
static void
ngx_tg_call_cancel_handler(ngx_tg_call_t *call)
{
    if (call->has_run && call->priv->handler->cancel != NULL) {
        call->priv->handler->cancel(call);
    }
}

ngx_tg_call_t *
ngx_tg_session_base_find_remote_call(ngx_tg_session_base_t *base)
{
    ngx_tg_call_t *call;
    tg_call_t *deferred;

    for (deferred = base->peer.calls; deferred != NULL;
         deferred = deferred->next) {
        call = deferred->host;

        if (call->priv->job.runner != NULL) {
            return call;
        }
    }

    return NULL;
}

/* Cancels the client's server requests after its last call. */
static void
ngx_tg_call_cancel_server_requests(ngx_tg_call_t *call)
{
    ngx_tg_session_base_t *base;

    base = call->base;

    if (base != NULL && tg_peer_count_server_requests(&base->peer) != 0
        && ngx_tg_session_base_find_remote_call(base) == NULL)
    {
        tg_peer_cancel_server_requests(&base->peer);
    }
}

void
ngx_tg_call_end(ngx_tg_call_t *call, const tg_outcome_t *outcome)
{
    ngx_tg_call_record_t record;
    tg_outcome_t checked;
    tg_buf_t scratch;

    if (outcome != NULL && ngx_tg_call_can_be_stored(call)) {
        checked = *outcome;
        outcome = &checked;

        if (ngx_tg_store_result_handler(call, &checked)) {
            return;
        }
    }

    scratch.data = NULL;

    if (outcome != NULL && call->priv->output_schema != NULL) {
        checked = *outcome;
        outcome = &checked;
        tg_buf_init(&scratch, tg_alloc_libc());
        ngx_tg_call_validate_outcome(call, &checked, &scratch);
    }

    if (outcome != NULL) {
        ngx_tg_call_send_response(call, outcome);
    }

    ngx_tg_call_make_record(call, outcome, &record);

    if (call->priv->captured == NULL) {
        ngx_tg_call_log_end(call, &record);
    }

    if (outcome != NULL && call->base != NULL && call->priv->deferred != NULL) {
        tg_call_forget(call->priv->deferred);
        ngx_tg_session_base_wake(call->base);
    }

    /* A moving call continues elsewhere; a new one has no executor yet. */
    if (call->state != NGX_TG_CALL_MOVING && call->request == NULL) {
        if (outcome == NULL) {
            ngx_tg_call_cancel_handler(call);
        }

        ngx_tg_call_cancel_server_requests(call);
        ngx_tg_remote_call_cancel(&call->priv->job);
        ngx_tg_upstream_request_cancel(&call->priv->slot_request, 0);
    }

    if (scratch.data != NULL) {
        tg_buf_deinit(&scratch);
    }

    if (call->priv->output_schema != NULL) {
        tg_schema_free(call->priv->output_schema);
    }

    ngx_tg_call_set_state(call, NGX_TG_CALL_ENDED);
    ngx_tg_call_recycle(call);
}

void
ngx_tg_call_fail(ngx_tg_call_t *call, tg_failure_t failure, const char *text)
{
    tg_outcome_t outcome;

    /* This reason takes precedence over the handler's. */
    if (call->is_out_of_steps) {
        call->rule = NGX_TG_RULE_INPUT;
        failure = TG_FAILURE_ARGUMENTS;
        text = NGX_TG_TOO_MANY_STEPS_TEXT;
    }

    outcome = tg_outcome_make_failure(failure, text);
    ngx_tg_call_end(call, &outcome);
}

void
ngx_tg_call_end_with_failure(ngx_tg_call_t *call, tg_failure_t failure,
                             tg_str_t text)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make_failure_str(failure, text);
    ngx_tg_call_end(call, &outcome);
}

/* Ends a call of a client that has disconnected or cancelled it. */
void
ngx_tg_call_cancel(void *host, tg_call_t *deferred)
{
    ngx_tg_call_end(deferred->host, NULL);
}

void
ngx_tg_call_log_killed(ngx_tg_call_t *call)
{
    ngx_tg_call_record_t record;

    ngx_tg_call_make_killed_record(call, &record);
    ngx_tg_call_log_end(call, &record);
}

static void
ngx_tg_call_on_operator_cancel(void *data)
{
    ngx_tg_call_cancel_handler(data);
    ngx_tg_call_fail(data, TG_FAILURE_ENDED,
                     "The operator cancelled this call (toolgate cancel).");
}

void
ngx_tg_call_fail_shutdown_timeout(ngx_tg_call_t *call)
{
    ngx_tg_call_cancel_handler(call);
    ngx_tg_call_fail(call, TG_FAILURE_ENDED,
                     "NGINX is stopping or reloading and ended this call after "
                     "worker_shutdown_timeout.");
}

/* Ends a call that its executor should have ended in time. */
static void
ngx_tg_call_on_watchdog(ngx_event_t *ev)
{
    ngx_tg_call_t *call;
    u_char text[128];

    call = ev->data;
    call->is_late = 1;

    if (!call->has_run) {
        call->rule = NGX_TG_RULE_RUNNER;
        ngx_log_error(NGX_LOG_ERR, ev->log, 0,
                      "toolgate-runner did not answer in time; is it stopped?");
        ngx_tg_call_fail(call, TG_FAILURE_TIMEOUT,
                         "The call timed out and toolgate-runner does not "
                         "respond; ask the operator to check it.");
        return;
    }

    call->rule = NGX_TG_RULE_TIMEOUT;
    ngx_tg_call_cancel_handler(call);
    (void) ngx_snprintf(text, sizeof(text),
                        "There was no answer within %M ms.%Z",
                        ngx_current_msec - call->start
                                >= call->priv->max_timeout
                            ? call->priv->max_timeout
                            : call->priv->timeout);
    ngx_tg_call_fail(call, TG_FAILURE_TIMEOUT, (const char *) text);
}

void
ngx_tg_calls_init_process(ngx_tg_store_result_pt store)
{
    ngx_tg_store_result_handler = store;
}

void
ngx_tg_calls_exit_process(ngx_cycle_t *cycle)
{
    if (ngx_tg_call_cache != NULL) {
        ngx_destroy_pool(ngx_tg_call_cache->pool);
        ngx_tg_call_cache = NULL;
    }

    ngx_tg_calls_log_totals(cycle);
}
