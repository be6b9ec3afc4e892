/*
 * From a request to its handler, and from the handler's end to the answer.
 */
#include "nginx/ngx_toolgate.h"

/* A call's values are short; a pool grows where they are not. */
#define NGX_TOOLGATE_POOL 2048

static void ngx_toolgate_call(void *host, tg_peer_t *peer,
                              tg_request_t *request);
static void ngx_toolgate_cancel(void *host, tg_call_t *deferred);
static void ngx_toolgate_log(void *host, const char *text);
static void ngx_toolgate_last_resort(ngx_event_t *ev);

const tg_peer_ops_t ngx_toolgate_peer_ops = {
    .call = ngx_toolgate_call,
    .cancel = ngx_toolgate_cancel,
    .log = ngx_toolgate_log,
    .is_visible = ngx_toolgate_is_visible,
    .is_turn_over = ngx_toolgate_turn_is_over,
};

/* The pool of the last call, for the next: no allocation in the usual case. */
static ngx_pool_t *ngx_toolgate_spare_pool;

static ngx_pool_t *
ngx_toolgate_pool_get(ngx_log_t *log)
{
    ngx_pool_t *pool;

    pool = ngx_toolgate_spare_pool;

    if (pool == NULL) {
        return ngx_create_pool(NGX_TOOLGATE_POOL, log);
    }

    ngx_toolgate_spare_pool = NULL;
    pool->log = log;

    return pool;
}

static void
ngx_toolgate_pool_put(ngx_pool_t *pool)
{
    /* Blocks beyond the first would pile up; cleanups must run. */
    if (ngx_toolgate_spare_pool != NULL || pool->cleanup != NULL
        || pool->d.next != NULL)
    {
        ngx_destroy_pool(pool);
        return;
    }

    ngx_reset_pool(pool);
    pool->log = ngx_cycle->log;
    ngx_toolgate_spare_pool = pool;
}

static void
ngx_toolgate_log(void *host, const char *text)
{
    ngx_toolgate_session_t *session = host;

    ngx_log_error(NGX_LOG_INFO, session->connection->log, 0, "%s", text);
}

/* Do the arguments fit the tool's schema?  If not, the call was answered. */
static ngx_uint_t
ngx_toolgate_is_fit(ngx_toolgate_call_t *call, tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_buf_t error;
    int rc;

    if (call->tool->input == NULL) {
        return 1;
    }

    tg_buf_init(&error, tg_alloc_libc());
    rc = ngx_toolgate_schema_check(call->tool->input, request->arguments,
                                   request->notes, &error);

    if (rc == TG_NOMEM || (rc != TG_OK && tg_buf_failed(&error))) {
        ngx_toolgate_fail(call, TG_FAILURE_INTERNAL,
                          "Toolgate has no memory left; try again.");
    } else if (rc != TG_OK) {
        outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS, "");
        outcome.value = tg_buf_view(&error);
        ngx_toolgate_answer(call, &outcome);
    }

    tg_buf_deinit(&error);

    return rc == TG_OK;
}

static void
ngx_toolgate_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    ngx_toolgate_session_t *session = host;

    ngx_toolgate_call_t *call;
    tg_outcome_t outcome;
    ngx_pool_t *pool;

    pool = ngx_toolgate_pool_get(session->connection->log);
    call = pool != NULL ? ngx_pcalloc(pool, sizeof(ngx_toolgate_call_t)) : NULL;

    if (call == NULL) {
        if (pool != NULL) {
            ngx_destroy_pool(pool);
        }

        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "Toolgate has no memory left; try again.");
        tg_peer_answer(peer, &request->reply, &outcome);
        return;
    }

    call->session = session;
    call->tool = request->entry->host;
    call->pool = pool;
    call->request = request;
    call->start = ngx_current_msec;

    if (ngx_toolgate_is_fit(call, request) && ngx_toolgate_is_within_rate(call))
    {
        call->tool->handler(call, request);
    }
}

/*
 * Variables and values allocate from the connection's pool and are cached in
 * the session; for the time of a call both are the call's own, or a
 * connection that lives for days would keep every argument it ever had.  What
 * the session has before its first call (`set`, a map of who the client is)
 * is seen by all calls.
 */
ngx_int_t
ngx_toolgate_value(ngx_toolgate_call_t *call, ngx_stream_complex_value_t *value,
                   ngx_str_t *text)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_stream_session_t *s, saved;
    ngx_uint_t log_level;
    ngx_pool_t *pool;
    ngx_log_t *log;
    ngx_int_t rc;
    size_t size;

    if (value->lengths == NULL) {
        *text = value->value;
        return NGX_OK;
    }

    s = call->session->stream;

    if (call->variables == NULL) {
        cmcf = ngx_stream_get_module_main_conf(s, ngx_stream_core_module);
        size = cmcf->variables.nelts * sizeof(ngx_stream_variable_value_t);
        call->variables = ngx_palloc(call->pool, size);

        if (call->variables == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(call->variables, s->variables, size);
    }

    /* At level debug NGINX's own code writes every variable into its log. */
    log = s->connection->log;
    log_level = log->log_level;
    log->log_level = ngx_min(log_level, NGX_LOG_DEBUG);

    saved = *s;
    pool = s->connection->pool;
    s->connection->pool = call->pool;
    s->variables = call->variables;
#if (NGX_PCRE)
    s->ncaptures = 0;
    s->captures = NULL;
    s->captures_data = NULL;
#endif
    call->session->current = call;

    rc = ngx_stream_complex_value(s, value, text);

    call->session->current = NULL;
#if (NGX_PCRE)
    s->ncaptures = saved.ncaptures;
    s->captures = saved.captures;
    s->captures_data = saved.captures_data;
#endif
    s->variables = saved.variables;
    s->connection->pool = pool;
    log->log_level = log_level;

    return rc;
}

const char *
ngx_toolgate_failure_name(tg_failure_t failure)
{
    static const char *const names[] = { "ok",      "unknown", "arguments",
                                         "program", "timeout", "lost",
                                         "busy",    "output",  "internal" };

    return names[failure];
}

/* The call's own end; its request was answered or needs no answer. */
static void
ngx_toolgate_call_free(ngx_toolgate_call_t *call)
{
    if (call->timer.timer_set) {
        ngx_del_timer(&call->timer);
    }

    /* About to be held: by the time that the runner reads this, it may be. */
    if (call->release.runner != NULL && call->program.runner != NULL) {
        call->holder = call->program.runner;
        ngx_toolgate_runner_cancel(&call->program);
    }

    ngx_toolgate_runner_forget(&call->release);

    /* What is held must be had to be cancelled. */
    if (call->holder != NULL) {
        (void) ngx_toolgate_adopt(call->holder, call);
    }

    ngx_toolgate_runner_cancel(&call->program);
    ngx_toolgate_pool_put(call->pool);
}

void
ngx_toolgate_call_drop(ngx_toolgate_call_t *call)
{
    call->holder = NULL;
    ngx_toolgate_call_free(call);
}

static void
ngx_toolgate_deliver(ngx_toolgate_call_t *call, const tg_outcome_t *outcome)
{
    ngx_toolgate_session_t *session;

    session = call->session;
    session->last_entry = call->is_carried ? call->now : &call->tool->entry;
    session->last_status = ngx_toolgate_failure_name(outcome->failure);
    session->last_time = ngx_current_msec - call->start;
    session->last_queued = call->queued;

    if (call->deferred == NULL) {
        tg_peer_answer(&session->peer, &call->request->reply, outcome);
        ngx_toolgate_call_free(call);
        return;
    }

    tg_call_answer(call->deferred, outcome);
    ngx_toolgate_call_free(call);
    ngx_toolgate_session_run(session);
}

void
ngx_toolgate_answer(ngx_toolgate_call_t *call, const tg_outcome_t *outcome)
{
    tg_outcome_t checked;
    tg_buf_t scratch;

    if (call->tool->output_schema == NULL) {
        ngx_toolgate_deliver(call, outcome);
        return;
    }

    checked = *outcome;
    tg_buf_init(&scratch, tg_alloc_libc());
    ngx_toolgate_check_outcome(call->tool, &checked, &scratch);
    ngx_toolgate_deliver(call, &checked);
    tg_buf_deinit(&scratch);
}

void
ngx_toolgate_fail(ngx_toolgate_call_t *call, tg_failure_t failure,
                  const char *text)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_failure(failure, text);
    ngx_toolgate_answer(call, &outcome);
}

/* Beyond its handler, and not for ever. */
static void
ngx_toolgate_keep(ngx_toolgate_call_t *call, ngx_msec_t timeout)
{
    call->deferred->host = call;
    call->timer.handler = ngx_toolgate_last_resort;
    call->timer.data = call;
    call->timer.log = call->session->connection->log;
    ngx_add_timer(&call->timer, timeout);
}

ngx_int_t
ngx_toolgate_defer(ngx_toolgate_call_t *call, ngx_msec_t timeout)
{
    call->deferred = tg_peer_defer(&call->session->peer, call->request);

    if (call->deferred == NULL) {
        ngx_toolgate_call_free(call);
        return NGX_ERROR;
    }

    tg_call_hold(call->deferred,
                 NGX_TOOLGATE_POOL + call->request->arguments.len);
    call->request = NULL;
    ngx_toolgate_keep(call, timeout);

    return NGX_OK;
}

ngx_toolgate_call_t *
ngx_toolgate_call_carried(ngx_toolgate_session_t *session, tg_call_t *deferred,
                          ngx_msec_t timeout)
{
    ngx_toolgate_call_t *call;
    ngx_pool_t *pool;

    pool = ngx_toolgate_pool_get(session->connection->log);

    if (pool == NULL) {
        return NULL;
    }

    call = ngx_pcalloc(pool, sizeof(ngx_toolgate_call_t));

    if (call != NULL) {
        call->tool = ngx_pcalloc(pool, sizeof(ngx_toolgate_tool_t));
    }

    if (call == NULL || call->tool == NULL) {
        ngx_destroy_pool(pool);
        return NULL;
    }

    call->session = session;
    call->pool = pool;
    call->deferred = deferred;
    call->is_carried = 1;
    ngx_toolgate_keep(call, timeout);

    return call;
}

/* The caller went away or cancelled; the peer frees the rest. */
static void
ngx_toolgate_cancel(void *host, tg_call_t *deferred)
{
    (void) host;

    ngx_toolgate_call_free(deferred->host);
}

/* Whoever should have ended the call in time does not answer at all. */
static void
ngx_toolgate_last_resort(ngx_event_t *ev)
{
    ngx_toolgate_call_t *call;

    call = ev->data;

    ngx_log_error(NGX_LOG_ERR, ev->log, 0,
                  "toolgate-runner did not answer in time; is it stopped?");
    ngx_toolgate_fail(call, TG_FAILURE_TIMEOUT,
                      "The deadline passed and toolgate-runner does not "
                      "answer; tell the operator to look at it.");
}

void
ngx_toolgate_dispatch_exit(void)
{
    if (ngx_toolgate_spare_pool != NULL) {
        ngx_destroy_pool(ngx_toolgate_spare_pool);
        ngx_toolgate_spare_pool = NULL;
    }
}
