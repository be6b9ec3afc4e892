/*
 * From a request to its handler, and the one end of a call.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "tool/tg_fit.h"

#define NGX_TOOLGATE_SPENT                                                     \
    "looking for the arguments takes too many steps; send fewer members"

static void ngx_toolgate_last_resort(ngx_event_t *ev);
static void ngx_toolgate_call_unwanted(void *data);

/*
 * The last call, for the next: no allocation in the usual case.  It is the
 * first in its pool, and was all that there is.
 */
static ngx_toolgate_call_t *ngx_toolgate_spare_call;

/* What has large results stored, which is a job that ends calls itself. */
static ngx_toolgate_store_pt ngx_toolgate_store;

_Static_assert(sizeof(ngx_toolgate_call_t) < NGX_TOOLGATE_POOL / 2,
               "a call stands in its pool, not beside it");

static ngx_toolgate_call_t *
ngx_toolgate_call_get(ngx_log_t *log)
{
    ngx_toolgate_call_t *call;
    ngx_pool_t *pool;

    call = ngx_toolgate_spare_call;

    if (call != NULL) {
        ngx_toolgate_spare_call = NULL;
        call->pool->log = log;
        return call;
    }

    pool = ngx_create_pool(NGX_TOOLGATE_POOL, log);

    if (pool == NULL) {
        return NULL;
    }

    call = ngx_palloc(pool, sizeof(ngx_toolgate_call_t));

    if (call == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    call->pool = pool;

    return call;
}

static void
ngx_toolgate_call_put(ngx_toolgate_call_t *call)
{
    ngx_pool_t *pool;

    pool = call->pool;

    /* Blocks beyond the first would pile up; cleanups must run. */
    if (ngx_toolgate_spare_call != NULL || pool->cleanup != NULL
        || pool->d.next != NULL)
    {
        ngx_destroy_pool(pool);
        return;
    }

    if (pool->large != NULL) {
        ngx_reset_pool(pool);
    }

    pool->d.last = (u_char *) (call + 1);
    pool->log = ngx_cycle->log;
    ngx_toolgate_spare_call = call;
}

/* --- states --- */

static void
ngx_toolgate_call_set(ngx_toolgate_call_t *call,
                      ngx_toolgate_call_state_t state)
{
#if (NGX_DEBUG)
    static const char *const names[] = { "checked", "runs", "moves", "ended" };

    ngx_log_debug2(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: %s", call, names[state]);
#endif

    call->state = state;

    if (state == NGX_TOOLGATE_CALL_ENDED && call->timer.timer_set) {
        ngx_del_timer(&call->timer);
    }
}

/* --- the beginning --- */

ngx_toolgate_call_t *
ngx_toolgate_call_new(ngx_toolgate_front_t *front)
{
    ngx_toolgate_call_t *call;
    ngx_pool_t *pool;

    call = ngx_toolgate_call_get(front->connection->log);

    if (call == NULL) {
        return NULL;
    }

    pool = call->pool;
    tg_zero(call, sizeof(ngx_toolgate_call_t));
    call->front = front;
    call->pool = pool;
    call->start = ngx_current_msec;
    call->ran.queued_ms = -1;
    call->ran.ran_ms = -1;
    ngx_toolgate_record_begun();
    call->counters = &ngx_toolgate_uncounted;

    return call;
}

/* Do the arguments fit the tool's schema?  If not, the call was answered. */
static ngx_uint_t
ngx_toolgate_is_fit(ngx_toolgate_call_t *call, tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_buf_t error;
    int rc;

    if (tg_fit_is_sure(call->tool->input, request)) {
        return 1;
    }

    tg_buf_init(&error, tg_alloc_libc());
    rc = ngx_toolgate_check_arguments(call, &outcome, &error);

    if (rc != TG_OK) {
        ngx_toolgate_call_end(call, &outcome);
    }

    tg_buf_deinit(&error);

    return rc == TG_OK;
}

/* Does its rate allow it?  If not, the call was answered. */
static ngx_uint_t
ngx_toolgate_is_due(ngx_toolgate_call_t *call)
{
    const ngx_toolgate_tool_t *block;
    u_char text[512];

    block = call->tool->block;

    if (block->limit.rate == 0 && block->group == NULL
        && call->front->conf->limit.rate == 0)
    {
        return 1;
    }

    if (ngx_toolgate_rate(call, text, sizeof(text)) == NGX_OK) {
        return 1;
    }

    ngx_toolgate_call_fail(call, TG_FAILURE_BUSY, (const char *) text);

    return 0;
}

/* As if there were no such tool, whether there is or not. */
static void
ngx_toolgate_call_refuse(ngx_toolgate_call_t *call, tg_peer_t *peer)
{
    call->is_refused = 1;
    tg_peer_unknown(peer, call->request);
    ngx_toolgate_call_end(call, NULL);
}

void
ngx_toolgate_call_unknown(void *host, tg_peer_t *peer, tg_request_t *request)
{
    ngx_toolgate_call_t *call;
    char *name;

    call = ngx_toolgate_call_new(host);

    if (call == NULL) {
        tg_peer_unknown(peer, request);
        return;
    }

    call->request = request;
    call->size = request->size;
    name = request->name.len <= TG_NAME_MAX
               ? ngx_pnalloc(call->pool, TG_NAME_MAX)
               : NULL;

    if (name != NULL) {
        call->name = tg_str(name, tg_json_decode(name, request->name));
    }

    ngx_toolgate_call_refuse(call, peer);
}

void
ngx_toolgate_call_start(void *host, tg_peer_t *peer, tg_request_t *request)
{
    ngx_toolgate_front_t *front = host;

    ngx_toolgate_call_t *call;
    tg_outcome_t outcome;
    const char *why;

    call = ngx_toolgate_call_new(front);

    if (call == NULL) {
        outcome = tg_outcome_no_memory();
        tg_peer_answer(peer, &request->reply, &outcome);
        return;
    }

    ngx_log_debug3(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: of \"%*s\"", call,
                   request->entry->name.len, request->entry->name.data);

    call->tool = request->entry->host;
    call->entry = request->entry;
    call->handler = call->tool->handler;
    call->timeout = call->tool->timeout;
    call->max_timeout = call->tool->max_timeout;
    call->request = request;
    call->size = request->size;
    ngx_toolgate_call_counts(call, call->tool);

    if (request->traceparent.data != NULL) {
        ngx_toolgate_trace(call);
    }

    if (!ngx_toolgate_is_visible(front, request->entry)) {
        call->rule = NGX_TOOLGATE_RULE_DENY;
        ngx_toolgate_call_refuse(call, peer);
        return;
    }

    why = ngx_toolgate_check_prepare(call);

    if (why != NULL) {
        ngx_toolgate_call_fail(call, TG_FAILURE_ARGUMENTS, why);
        return;
    }

    if (ngx_toolgate_is_fit(call, request) && ngx_toolgate_is_due(call)) {
        ngx_toolgate_call_set(call, NGX_TOOLGATE_CALL_RUNNING);
        call->handler->start(call, request);
    }
}

/*
 * Until its last resort.  What this worker does not run, or not yet, has its
 * deadline in the runner.
 */
static ngx_msec_t
ngx_toolgate_call_time(const ngx_toolgate_call_t *call)
{
    ngx_msec_t age;

    if (!call->has_run) {
        return call->timeout + NGX_TOOLGATE_GRACE;
    }

    age = ngx_current_msec - call->start;

    return age >= call->max_timeout
               ? 0
               : ngx_min(call->timeout, call->max_timeout - age);
}

void
ngx_toolgate_call_keep(ngx_toolgate_call_t *call, tg_call_t *deferred,
                       ngx_msec_t left)
{
    call->deferred = deferred;
    call->entry = deferred->entry;
    call->request = NULL;
    call->tool = NULL;
    deferred->host = call;

    call->timer.handler = ngx_toolgate_last_resort;
    call->timer.data = call;
    call->timer.log = call->front->connection->log;
    ngx_add_timer(&call->timer, left);
    ngx_toolgate_call_set(call, NGX_TOOLGATE_CALL_RUNNING);
    ngx_toolgate_call_runs(call, ngx_toolgate_call_unwanted);
}

/* NGINX keeps timers as they are that change by less than 300 ms. */
void
ngx_toolgate_call_alive(ngx_toolgate_call_t *call)
{
    ngx_del_timer(&call->timer);
    ngx_add_timer(&call->timer, ngx_toolgate_call_time(call));
}

void
ngx_toolgate_call_progress(ngx_toolgate_call_t *call, tg_str_t progress,
                           tg_str_t total, tg_str_t message)
{
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: progress", call);

    ngx_toolgate_call_alive(call);

    if (call->front == NULL) {
        ngx_toolgate_job_tell(&call->job, progress, total, message);
        return;
    }

    tg_call_progress(call->deferred, progress, total, message);
    ngx_toolgate_wake(call->front);
}

/* --- the end --- */

static void
ngx_toolgate_call_answer(ngx_toolgate_call_t *call, const tg_outcome_t *outcome)
{
    tg_buf_t answer;
    tg_ran_t ran;

    if (call->front == NULL) {
        ran = ngx_toolgate_ran(call);
        tg_buf_init(&answer, tg_alloc_libc());
        tg_outcome_put(&answer, outcome);
        tg_ran_put(&answer, &ran);
        tg_buf_char(&answer, '}');
        ngx_toolgate_job_finish(&call->job, tg_buf_view(&answer));
        tg_buf_deinit(&answer);
        return;
    }

    tg_peer_answer(&call->front->peer,
                   call->deferred != NULL ? &call->deferred->reply
                                          : &call->request->reply,
                   outcome);
}

/* Nobody waits for its answer: so does nobody who works for it. */
static void
ngx_toolgate_call_stop(ngx_toolgate_call_t *call)
{
    if (call->has_run && call->handler->cancel != NULL) {
        call->handler->cancel(call);
    }
}

ngx_toolgate_call_t *
ngx_toolgate_call_of_runner(ngx_toolgate_front_t *front)
{
    ngx_toolgate_call_t *call;
    tg_call_t *deferred;

    for (deferred = front->peer.calls; deferred != NULL;
         deferred = deferred->next) {
        call = deferred->host;

        if (call->job.runner != NULL) {
            return call;
        }
    }

    return NULL;
}

/* With the last that may ask, nobody waits for what its client was asked. */
static void
ngx_toolgate_call_unask(ngx_toolgate_call_t *call)
{
    ngx_toolgate_front_t *front;

    front = call->front;

    if (front != NULL && front->peer.asks != NULL
        && ngx_toolgate_call_of_runner(front) == NULL)
    {
        tg_peer_unask_all(&front->peer);
    }
}

void
ngx_toolgate_call_end(ngx_toolgate_call_t *call, const tg_outcome_t *outcome)
{
    ngx_toolgate_record_t record;
    tg_outcome_t checked;
    tg_buf_t scratch;

    if (outcome != NULL && ngx_toolgate_call_may_be_stored(call)) {
        checked = *outcome;
        outcome = &checked;

        if (ngx_toolgate_store(call, &checked)) {
            return;
        }
    }

    scratch.data = NULL;

    if (outcome != NULL && call->output_schema != NULL) {
        checked = *outcome;
        outcome = &checked;
        tg_buf_init(&scratch, tg_alloc_libc());
        ngx_toolgate_check_outcome(call, &checked, &scratch);
    }

    if (outcome != NULL) {
        ngx_toolgate_call_answer(call, outcome);
    }

    ngx_toolgate_record(call, outcome, &record);
    ngx_toolgate_call_ended(call, &record);

    if (outcome != NULL && call->front != NULL && call->deferred != NULL) {
        tg_call_forget(call->deferred);
        ngx_toolgate_wake(call->front);
    }

    /* What moves goes on elsewhere; nobody worked for it yet at its start. */
    if (call->state != NGX_TOOLGATE_CALL_MOVING && call->request == NULL) {
        if (outcome == NULL) {
            ngx_toolgate_call_stop(call);
        }

        ngx_toolgate_call_unask(call);
        ngx_toolgate_job_cancel(&call->job);
        ngx_toolgate_line_cancel(&call->place, 0);
    }

    if (scratch.data != NULL) {
        tg_buf_deinit(&scratch);
    }

    if (call->output_schema != NULL) {
        tg_schema_free(call->output_schema);
    }

    ngx_toolgate_call_set(call, NGX_TOOLGATE_CALL_ENDED);
    ngx_toolgate_call_put(call);
}

void
ngx_toolgate_call_fail(ngx_toolgate_call_t *call, tg_failure_t failure,
                       const char *text)
{
    tg_outcome_t outcome;

    /* Whatever its handler made of it. */
    if (call->is_spent) {
        call->rule = NGX_TOOLGATE_RULE_INPUT;
        failure = TG_FAILURE_ARGUMENTS;
        text = NGX_TOOLGATE_SPENT;
    }

    outcome = tg_outcome_failure(failure, text);
    ngx_toolgate_call_end(call, &outcome);
}

/* The caller went away or cancelled; the peer frees the rest. */
void
ngx_toolgate_call_cancel(void *host, tg_call_t *deferred)
{
    (void) host;

    ngx_toolgate_call_end(deferred->host, NULL);
}

void
ngx_toolgate_call_killed(ngx_toolgate_call_t *call)
{
    ngx_toolgate_record_t record;

    ngx_toolgate_record_killed(call, &record);
    ngx_toolgate_call_ended(call, &record);
}

/* It goes on without its session, and keeps what it has of it. */
static ngx_int_t
ngx_toolgate_call_part(ngx_toolgate_call_t *call)
{
    tg_entry_t *entry;
    char *name;

    entry = ngx_palloc(call->pool, sizeof(tg_entry_t));
    name = ngx_pnalloc(call->pool, call->entry->name.len);

    if (entry == NULL || name == NULL) {
        return NGX_ERROR;
    }

    *entry = *call->entry;
    ngx_memcpy(name, call->entry->name.data, call->entry->name.len);
    entry->name.data = name;
    call->entry = entry;
    ngx_toolgate_call_parted(call);
    call->front = NULL;
    call->deferred = NULL;
    call->timer.log = ngx_cycle->log;
    call->pool->log = ngx_cycle->log;

    return NGX_OK;
}

void
ngx_toolgate_call_leave(ngx_toolgate_call_t *call)
{
    /* Without memory its job is cancelled: who adopted it is told. */
    if (ngx_toolgate_job_leave(&call->job)
        && ngx_toolgate_call_part(call) == NGX_OK)
    {
        return;
    }

    if (!call->job.is_here) {
        ngx_toolgate_call_set(call, NGX_TOOLGATE_CALL_MOVING);
    }

    ngx_toolgate_call_end(call, NULL);
}

/* The operator wants it ended. */
static void
ngx_toolgate_call_unwanted(void *data)
{
    ngx_toolgate_call_stop(data);
    ngx_toolgate_call_fail(data, TG_FAILURE_ENDED,
                           "The operator ended this call (toolgate cancel).");
}

void
ngx_toolgate_call_overdue(ngx_toolgate_call_t *call)
{
    ngx_toolgate_call_stop(call);
    ngx_toolgate_call_fail(call, TG_FAILURE_ENDED,
                           "NGINX, which stops or reloads, waited for this "
                           "call as long as worker_shutdown_timeout says, and "
                           "ended it.");
}

/* Whoever should have ended the call in time did not. */
static void
ngx_toolgate_last_resort(ngx_event_t *ev)
{
    ngx_toolgate_call_t *call;
    u_char text[128];

    call = ev->data;

    if (!call->has_run) {
        call->rule = NGX_TOOLGATE_RULE_RUNNER;
        ngx_log_error(NGX_LOG_ERR, ev->log, 0,
                      "toolgate-runner did not answer in time; is it stopped?");
        ngx_toolgate_call_fail(call, TG_FAILURE_TIMEOUT,
                               "The deadline passed and toolgate-runner does "
                               "not answer; tell the operator to look at it.");
        return;
    }

    call->rule = NGX_TOOLGATE_RULE_TIMEOUT;
    ngx_toolgate_call_stop(call);
    (void) ngx_snprintf(text, sizeof(text),
                        "There was no answer within %M ms.%Z",
                        ngx_current_msec - call->start >= call->max_timeout
                            ? call->max_timeout
                            : call->timeout);
    ngx_toolgate_call_fail(call, TG_FAILURE_TIMEOUT, (const char *) text);
}

void
ngx_toolgate_call_init(ngx_toolgate_store_pt store)
{
    ngx_toolgate_store = store;
}

void
ngx_toolgate_call_exit(ngx_cycle_t *cycle)
{
    if (ngx_toolgate_spare_call != NULL) {
        ngx_destroy_pool(ngx_toolgate_spare_call->pool);
        ngx_toolgate_spare_call = NULL;
    }

    ngx_toolgate_record_exit(cycle);
}
