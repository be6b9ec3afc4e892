/*
 * Calls that are jobs of the runner's, or meet it when their session moves.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "core/tg_rpc.h"

/* As of `max_output`: what the runner's frames carry, escaped. */
#define NGX_TOOLGATE_STORE_MAX 33554432

/*
 * Why there is none.  What was carried did start; its job may have been too
 * long without a worker.
 */
static tg_outcome_t
ngx_toolgate_job_lost(const ngx_toolgate_call_t *call,
                      const tg_answer_t *answer)
{
    const char *text;

    if (call->is_stored) {
        text = "The call was executed, but its result is too large to be "
               "shown whole, and toolgate-runner, which stores it, could not "
               "be reached. See what the call did before it is made again.";
    } else if (answer->kind == TG_ANSWER_ERROR) {
        text = "The program was ended while NGINX was reloaded; it may have "
               "done part of its work. Try again.";
    } else if (answer->kind == TG_ANSWER_LOST && call->job.is_task) {
        text = "toolgate-runner ended before it answered, so it is not known "
               "whether this was done. Look at the tasks before you try "
               "again: the next call starts the runner anew.";
    } else if (answer->kind == TG_ANSWER_LOST) {
        text = "toolgate-runner ended while the program ran, and the program "
               "with it; it may have done part of its work. Try again: the "
               "next call starts the runner anew.";
    } else if (call->is_carried) {
        text = "The toolgate-runner that has the program cannot be reached "
               "since NGINX was told to reload or stop; whether the program "
               "has done its work is not known.";
    } else if (call->job.is_task) {
        text = "toolgate-runner could not be reached, so nothing was done; try "
               "again, or tell the operator.";
    } else {
        text = "toolgate-runner could not be reached, so the program was not "
               "started; try again, or tell the operator.";
    }

    return tg_outcome_failure(TG_FAILURE_LOST, text);
}

static tg_outcome_t
ngx_toolgate_job_outcome(ngx_toolgate_call_t *call, const tg_answer_t *answer,
                         tg_buf_t *text)
{
    tg_outcome_t outcome;

    if (answer->kind == TG_ANSWER_RESULT) {
        outcome = tg_outcome_get(answer->result, text, &call->ran);
        call->rule = ngx_toolgate_rule_of(call->ran.rule);
        call->ran.rule = TG_STR_NONE;
        return outcome;
    }

    if (answer->kind == TG_ANSWER_NOT_STARTED && !call->is_carried
        && !call->is_stored && call->job.runner->why[0] != '\0')
    {
        tg_buf_printf(text,
                      "toolgate-runner could not be started (%s), so %s; try "
                      "again, or tell the operator.",
                      (const char *) call->job.runner->why,
                      call->job.is_task ? "nothing was done"
                                        : "the program was not started either");
        return tg_buf_failed(text)
                   ? tg_outcome_failure(TG_FAILURE_LOST, TG_NO_MEMORY)
                   : tg_outcome_failed(TG_FAILURE_LOST, tg_buf_view(text));
    }

    if (answer->kind != TG_ANSWER_ERROR || call->is_carried) {
        return ngx_toolgate_job_lost(call, answer);
    }

    tg_json_put_decoded(text, answer->message);
    outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                 "toolgate-runner refused the call.");

    if (!tg_buf_failed(text) && text->len != 0) {
        outcome.value = tg_buf_view(text);
    }

    return outcome;
}

static void
ngx_toolgate_call_job_answer(void *data, const tg_answer_t *answer)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    outcome = ngx_toolgate_job_outcome(data, answer, &text);
    ngx_toolgate_call_end(data, &outcome);
    tg_buf_deinit(&text);
}

static void
ngx_toolgate_call_job_progress(void *data, const tg_message_t *message)
{
    if (message->p.progress.data == NULL) {
        ngx_toolgate_call_asked(data, message->params);
        return;
    }

    ngx_toolgate_call_progress(data, message->p.progress, message->p.total,
                               message->p.message);
}

static void
ngx_toolgate_call_job_released(void *data)
{
    ngx_toolgate_call_t *call = data;

    ngx_toolgate_wake(call->front);
}

static void
ngx_toolgate_call_job_gone(void *data)
{
    ngx_toolgate_call_end(data, NULL);
}

static const ngx_toolgate_job_ops_t ngx_toolgate_call_job_ops = {
    ngx_toolgate_call_job_answer,
    ngx_toolgate_call_job_progress,
    ngx_toolgate_call_job_released,
    ngx_toolgate_call_job_gone,
};

/* --- what the runner is asked --- */

/* One element of `limits`: how many of its key may run and wait. */
static void
ngx_toolgate_put_limit(tg_buf_t *buf, const char *directive,
                       const ngx_toolgate_limit_t *limit, ngx_uint_t *n)
{
    if (limit->concurrency == 0) {
        return;
    }

    tg_buf_printf(buf, "%s{\"name\":\"%s\",\"key\":",
                  (*n)++ == 0 ? ",\"limits\":[" : ",", directive);
    tg_json_put_string(buf, ngx_toolgate_str(&limit->key));
    tg_buf_printf(buf, ",\"concurrency\":%lu,\"queue\":%lu}",
                  (unsigned long) limit->concurrency,
                  (unsigned long) limit->queue);
}

void
ngx_toolgate_job_max_answer(ngx_toolgate_call_t *call, tg_buf_t *params)
{
    const tg_peer_t *peer;

    peer = &call->front->peer;
    tg_buf_text(params, ",\"max_answer\":");
    tg_buf_uint(params, tg_peer_reply_max(peer));

    if (peer->row->is_text_only) {
        tg_buf_text(params, ",\"text_only\":true");
    }
}

ngx_uint_t
ngx_toolgate_call_is_task(const ngx_toolgate_call_t *call,
                          const tg_request_t *request)
{
    tg_str_t value;

    switch (call->tool->task) {
    case NGX_TOOLGATE_TASK_REQUIRED:
        return 1;
    case NGX_TOOLGATE_TASK_OPTIONAL:
        return request->meta.data != NULL
               && tg_json_has(request->meta, TG_STR(TG_META_TASK), TG_JSON_TRUE,
                              &value);
    default:
        return 0;
    }
}

void
ngx_toolgate_job_params(ngx_toolgate_call_t *call, tg_buf_t *params)
{
    const ngx_toolgate_limit_t *limits[3];
    const ngx_toolgate_tool_t *tool;
    ngx_toolgate_whose_t whose[3];
    ngx_uint_t i, n, nlimits;
    uint64_t number;

    tool = call->tool;
    tg_buf_text(params, "{\"tool\":");
    tg_json_put_string(params, tool->entry.name);
    tg_buf_printf(params, ",\"timeout_ms\":%lu,\"max_timeout_ms\":%lu",
                  (unsigned long) tool->timeout,
                  (unsigned long) tool->max_timeout);
    number = ngx_toolgate_call_number(call);

    if (number != 0) {
        tg_buf_text(params, ",\"call\":");
        tg_buf_uint(params, number);
    }

    /* Who asks for the result of a task is another one than who began it. */
    if (!ngx_toolgate_call_is_task(call, call->request)) {
        ngx_toolgate_job_max_answer(call, params);
    }

    nlimits = ngx_toolgate_limits_of(tool, call->front->conf, limits, whose);

    for (i = 0, n = 0; i < nlimits; i++) {
        ngx_toolgate_put_limit(params, whose[i].concurrency, limits[i], &n);
    }

    if (n != 0) {
        tg_buf_char(params, ']');
    }
}

void
ngx_toolgate_job_owner(ngx_toolgate_call_t *call, tg_buf_t *params)
{
    const ngx_toolgate_client_t *client;

    client = ngx_toolgate_client(call->front);

    if (client != NULL) {
        tg_buf_printf(params, ",\"owner\":\"%lu\"",
                      (unsigned long) client->uid);
    } else {
        tg_buf_text(params, ",\"owner\":\"nobody\"");
    }
}

void
ngx_toolgate_job_spill(ngx_toolgate_call_t *call, tg_buf_t *params)
{
    const ngx_toolgate_srv_conf_t *scf;

    scf = call->front->conf;

    if (!call->tool->spills || scf->spill_quota == 0) {
        return;
    }

    tg_buf_printf(params, ",\"spill\":{\"quota\":%llu,\"keep_ms\":%lu",
                  (unsigned long long) scf->spill_quota,
                  (unsigned long) scf->spill_time);

    if (call->tool->preview != 0) {
        tg_buf_printf(params, ",\"preview\":%zu", call->tool->preview);
    }

    ngx_toolgate_job_owner(call, params);
    tg_buf_char(params, '}');
}

void
ngx_toolgate_job_output(ngx_toolgate_call_t *call, tg_buf_t *params)
{
    const ngx_toolgate_tool_t *tool;

    tool = call->tool;
    tg_buf_printf(params, ",\"max_output\":%lu",
                  (unsigned long) tool->max_output);

    ngx_toolgate_job_spill(call, params);

    if (tool->bytes.len != 0) {
        tg_buf_text(params, ",\"bytes\":");
        tg_json_put_string(params, ngx_toolgate_str(&tool->bytes));
        tg_buf_text(params, ",\"mime\":");
        tg_json_put_string(params, ngx_toolgate_str(&tool->mime));
        return;
    }

    /* What a method's result is to be is its own business. */
    if (tool->entry.output != TG_OUTPUT_TEXT) {
        tg_buf_text(params, tool->entry.output == TG_OUTPUT_RESULT
                                    && tool->entry.kind == TG_ENTRY_TOOL
                                ? ",\"output\":\"result\""
                                : ",\"output\":\"json\"");
    }
}

static void
ngx_toolgate_call_refused(ngx_toolgate_call_t *call, int rc)
{
    tg_outcome_t outcome;

    call->rule = rc == TG_LIMIT ? NGX_TOOLGATE_RULE_RUNNER
                                : NGX_TOOLGATE_RULE_NONE;
    outcome = rc == TG_LIMIT
                  ? tg_outcome_failure(TG_FAILURE_BUSY,
                                       "Too much is waiting for "
                                       "toolgate-runner, or this call is too "
                                       "large for it; call again later, or "
                                       "with less.")
                  : tg_outcome_no_memory();
    ngx_toolgate_call_end(call, &outcome);
}

/* --- a place among the calls that this worker runs --- */

static int ngx_toolgate_call_ask_place(ngx_toolgate_call_t *call);

/*
 * Once it runs, it goes on even when nobody counts it any more.  If the runner
 * that did is gone, the next one is to count it, too.
 */
static void
ngx_toolgate_call_place_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_call_t *call = data;

    if (call->has_run) {
        if (answer->kind == TG_ANSWER_LOST && call->front != NULL) {
            (void) ngx_toolgate_call_ask_place(call);
        }

        return;
    }

    /* The next runner counts it, too. */
    if ((answer->kind == TG_ANSWER_LOST
         || answer->kind == TG_ANSWER_NOT_STARTED)
        && call->place.has_broken
        && call->job.nresent < NGX_TOOLGATE_JOB_RESENDS && call->front != NULL)
    {
        call->job.nresent++;

        if (ngx_toolgate_call_ask_place(call) == TG_OK) {
            return;
        }
    }

    if (answer->kind == TG_ANSWER_LOST || answer->kind == TG_ANSWER_NOT_STARTED)
    {
        ngx_toolgate_call_fail(call, TG_FAILURE_LOST,
                               "toolgate-runner, which counts this tool's "
                               "calls, could not be reached, so the call was "
                               "not started; try again, or tell the operator.");
        return;
    }

    ngx_toolgate_call_job_answer(call, answer);
}

/* Its deadline is that of its arrival. */
static void
ngx_toolgate_call_run(ngx_toolgate_call_t *call)
{
    ngx_msec_t waited;

    call->has_run = 1;
    waited = ngx_current_msec - call->start;
    ngx_add_timer(&call->timer,
                  waited < call->timeout ? call->timeout - waited : 0);
    call->handler->run(call);
}

static void
ngx_toolgate_call_place_had(void *data, const tg_message_t *message)
{
    ngx_toolgate_call_t *call = data;

    (void) message;
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: has its place", call);

    if (!call->has_run) {
        call->ran.queued_ms = (int64_t) (ngx_current_msec - call->start);
        ngx_toolgate_call_run(call);
    }
}

/* Notes what its tool's limits are: TG_OK or TG_NOMEM. */
static int
ngx_toolgate_place_params(ngx_toolgate_call_t *call)
{
    const ngx_toolgate_limit_t *limits[3];
    ngx_toolgate_whose_t whose[3];
    tg_buf_t params;
    ngx_uint_t i;
    u_char *copy;

    i = ngx_toolgate_limits_of(call->tool, call->front->conf, limits, whose);

    while (i > 0 && limits[i - 1]->concurrency == 0) {
        i--;
    }

    if (i == 0) {
        return TG_OK;
    }

    tg_buf_init(&params, tg_alloc_libc());
    ngx_toolgate_job_params(call, &params);
    tg_buf_char(&params, '}');
    copy = tg_buf_failed(&params) ? NULL : ngx_pnalloc(call->pool, params.len);

    if (copy != NULL) {
        ngx_memcpy(copy, params.data, params.len);
        call->limits = tg_str((char *) copy, params.len);
    }

    tg_buf_deinit(&params);

    return copy != NULL ? TG_OK : TG_NOMEM;
}

static int
ngx_toolgate_call_ask_place(ngx_toolgate_call_t *call)
{
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: asks for a place", call);

    call->place.data = call;
    call->place.answer = ngx_toolgate_call_place_answer;
    call->place.progress = ngx_toolgate_call_place_had;

    return ngx_toolgate_runner_ask(call->front->conf->runner, TG_STR("place"),
                                   call->limits, &call->place);
}

ngx_int_t
ngx_toolgate_call_hold(ngx_toolgate_call_t *call)
{
    tg_call_t *deferred;

    if (ngx_toolgate_call_keep_for_log(call, call->tool,
                                       call->request->arguments)
        != NGX_OK)
    {
        ngx_toolgate_call_fail(call, TG_FAILURE_INTERNAL, TG_NO_MEMORY);
        return NGX_ERROR;
    }

    deferred = tg_peer_defer(&call->front->peer, call->request);

    if (deferred == NULL) {
        /* As too many run, or there is no memory: it was answered. */
        call->is_refused = 1;
        call->rule = call->front->peer.answered == TG_FAILURE_BUSY
                         ? NGX_TOOLGATE_RULE_INFLIGHT
                         : NGX_TOOLGATE_RULE_NONE;
        ngx_toolgate_call_end(call, NULL);
        return NGX_ERROR;
    }

    tg_call_hold(deferred, NGX_TOOLGATE_POOL + call->request->arguments.len
                               + call->arguments.len);
    ngx_toolgate_call_keep(call, deferred, call->timeout + NGX_TOOLGATE_GRACE);

    return NGX_OK;
}

static ngx_uint_t
ngx_toolgate_call_may_store(const ngx_toolgate_call_t *call)
{
    return call->tool->spills && call->front->conf->spill_quota != 0;
}

size_t
ngx_toolgate_call_output_max(const ngx_toolgate_call_t *call)
{
    return ngx_toolgate_call_may_store(call) ? NGX_TOOLGATE_STORE_MAX
                                             : call->tool->max_output;
}

int
ngx_toolgate_call_note_storing(ngx_toolgate_call_t *call)
{
    const ngx_toolgate_tool_t *tool;
    u_char text[NGX_TOOLGATE_STORING];
    tg_buf_t params;
    u_char *copy;

    tool = call->tool;

    if (!ngx_toolgate_call_may_store(call)) {
        return TG_OK;
    }

    params = tg_buf_fixed((char *) text, sizeof(text));
    tg_buf_printf(&params, ",\"max_output\":%zu", tool->max_output);
    ngx_toolgate_job_spill(call, &params);
    copy = tg_buf_failed(&params) ? NULL : ngx_pnalloc(call->pool, params.len);

    if (copy == NULL) {
        return TG_NOMEM;
    }

    ngx_memcpy(copy, params.data, params.len);
    call->storing = tg_str((char *) copy, params.len);
    call->max_output = tool->max_output;
    call->whole_max = tool->preview != 0
                          ? ngx_min(tool->preview, tool->max_output)
                          : tool->max_output;

    return TG_OK;
}

ngx_int_t
ngx_toolgate_call_defer(ngx_toolgate_call_t *call)
{
    int rc;

    rc = TG_OK;

    if (call->handler->run != NULL) {
        rc = ngx_toolgate_call_note_storing(call);
        rc = rc == TG_OK ? ngx_toolgate_place_params(call) : rc;
    }

    if (ngx_toolgate_call_hold(call) != NGX_OK) {
        return NGX_ERROR;
    }

    if (call->handler->run == NULL) {
        return NGX_OK;
    }

    /* Now, or when the runner, which counts, says so. */
    if (rc == TG_OK && call->limits.len == 0) {
        ngx_toolgate_call_run(call);
        return NGX_OK;
    }

    rc = rc == TG_OK ? ngx_toolgate_call_ask_place(call) : rc;

    if (rc != TG_OK) {
        ngx_toolgate_call_refused(call, rc);
    }

    return NGX_OK;
}

/* --- jobs --- */

void
ngx_toolgate_call_job_init(ngx_toolgate_call_t *call,
                           ngx_toolgate_runner_t *runner)
{
    call->job.data = call;
    call->job.ops = &ngx_toolgate_call_job_ops;
    call->job.runner = runner;
    call->job.name = call->entry->name;
    call->job.number = call->number;
    call->job.storing = call->storing;
}

void
ngx_toolgate_call_job(ngx_toolgate_call_t *call, tg_str_t method,
                      tg_str_t params)
{
    int rc;

    ngx_log_debug3(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: asks toolgate-runner for \"%*s\"", call,
                   method.len, method.data);

    ngx_toolgate_call_job_init(call, call->front->conf->runner);
    rc = ngx_toolgate_job_start(&call->job, method, params);

    if (rc != TG_OK) {
        ngx_toolgate_call_refused(call, rc);
    }
}

int
ngx_toolgate_call_adopt(ngx_toolgate_call_t *call,
                        ngx_toolgate_runner_t *runner, const char *key)
{
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: adopts its job", call);

    ngx_toolgate_call_job_init(call, runner);
    call->job.state = NGX_TOOLGATE_JOB_HELD;
    ngx_memcpy(call->job.key, key, NGX_TOOLGATE_KEY);

    return ngx_toolgate_job_adopt(&call->job);
}
