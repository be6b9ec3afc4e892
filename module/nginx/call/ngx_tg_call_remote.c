/* Calls that run as jobs of the runner; slots for calls of this worker. */
#include "nginx/call/ngx_tg_call_impl.h"

/* Maximum stored result in bytes: escaped, it fits in a frame of the runner. */
#define NGX_TG_STORED_RESULT_MAX 33554432

/* Returns the outcome of a lost call; one that was handed off did start. */
static tg_outcome_t
ngx_tg_call_make_lost_outcome(const ngx_tg_call_t *call,
                              const tg_response_t *answer)
{
    const char *text;

    if (call->priv->is_stored) {
        text = "The call was executed, but its result is too large to show in "
               "full, and toolgate-runner, which stores such results, could "
               "not be reached. Check what the call did before you repeat it.";
    } else if (answer->kind == TG_RESPONSE_ERROR) {
        text = "The program was stopped while NGINX was reloaded; it may have "
               "done part of its work. Try again.";
    } else if (answer->kind == TG_RESPONSE_LOST && call->priv->job.is_task) {
        text = "toolgate-runner exited before it answered, so it is not known "
               "whether this was done. Check the tasks before you try again: "
               "the next call restarts the runner.";
    } else if (answer->kind == TG_RESPONSE_LOST) {
        text = "toolgate-runner exited while the program was running, which "
               "ended the program; it may have done part of its work. Try "
               "again: the next call restarts the runner.";
    } else if (call->priv->is_handed_off) {
        text = "NGINX was told to reload or stop, and the toolgate-runner that "
               "runs the program can no longer be reached; it is not known "
               "whether the program completed its work.";
    } else if (call->priv->job.is_task) {
        text = "toolgate-runner could not be reached, so nothing was done; try "
               "again, or ask the operator.";
    } else {
        text = "toolgate-runner could not be reached, so the program was not "
               "started; try again, or ask the operator.";
    }

    return tg_outcome_make_failure(TG_FAILURE_LOST, text);
}

static tg_outcome_t
ngx_tg_call_make_remote_outcome(ngx_tg_call_t *call,
                                const tg_response_t *answer, tg_buf_t *text)
{
    tg_outcome_t outcome;

    if (answer->kind == TG_RESPONSE_RESULT) {
        outcome = tg_outcome_parse_json(answer->result, text, &call->priv->ran);
        call->rule = ngx_tg_call_rule_find(call->priv->ran.rule);
        call->priv->ran.rule = TG_STR_NONE;
        ngx_tg_call_check_remote_result(call, &outcome, text);
        return outcome;
    }

    if (answer->kind == TG_RESPONSE_NOT_STARTED && !call->priv->is_handed_off
        && !call->priv->is_stored && call->priv->job.runner->error[0] != '\0')
    {
        tg_buf_printf(text,
                      "toolgate-runner could not be started (%s), so %s; try "
                      "again, or ask the operator.",
                      (const char *) call->priv->job.runner->error,
                      call->priv->job.is_task
                          ? "nothing was done"
                          : "the program was not started either");
        return tg_buf_has_failed(text)
                   ? tg_outcome_make_failure(TG_FAILURE_LOST, TG_TEXT_NO_MEMORY)
                   : tg_outcome_make_failure_str(TG_FAILURE_LOST,
                                                 tg_buf_view(text));
    }

    if (answer->kind != TG_RESPONSE_ERROR || call->priv->is_handed_off) {
        return ngx_tg_call_make_lost_outcome(call, answer);
    }

    tg_json_append_unescaped(text, answer->message);
    outcome = tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                      "toolgate-runner refused the call.");

    if (!tg_buf_has_failed(text) && text->len != 0) {
        outcome.value = tg_buf_view(text);
    }

    return outcome;
}

static void
ngx_tg_call_on_remote_response(void *data, const tg_response_t *answer)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    outcome = ngx_tg_call_make_remote_outcome(data, answer, &text);
    ngx_tg_call_end(data, &outcome);
    tg_buf_deinit(&text);
}

/* Sends a log message of the runner to the client. */
static void
ngx_tg_call_on_remote_message(ngx_tg_call_t *call, const tg_message_t *message)
{
    static const char *const names[] = { "logger", "data", NULL };
    tg_str_t values[2];
    int64_t level;

    if (tg_json_parse_int64(message->p.level, &level) == TG_OK
        && level >= TG_MCP_LOG_DEBUG && level <= TG_MCP_LOG_EMERGENCY
        && tg_json_get_members(message->params, names, values) == TG_OK
        && values[1].data != NULL)
    {
        ngx_tg_call_send_message(call, (tg_mcp_log_level_t) level, values[0],
                                 values[1]);
    }
}

static void
ngx_tg_call_on_remote_progress(void *data, const tg_message_t *message)
{
    if (message->p.level.data != NULL) {
        ngx_tg_call_on_remote_message(data, message);
    } else if (message->p.progress.data == NULL) {
        ngx_tg_call_on_server_request(data, message->params);
    } else {
        ngx_tg_call_send_progress(data, message->p.progress, message->p.total,
                                  message->p.message);
    }
}

static void
ngx_tg_call_on_remote_detached(void *data)
{
    ngx_tg_call_t *call = data;

    ngx_tg_session_base_wake(call->base);
}

static void
ngx_tg_call_on_remote_gone(void *data)
{
    ngx_tg_call_end(data, NULL);
}

static const ngx_tg_remote_call_ops_t ngx_tg_call_remote_ops = {
    ngx_tg_call_on_remote_response,
    ngx_tg_call_on_remote_progress,
    ngx_tg_call_on_remote_detached,
    ngx_tg_call_on_remote_gone,
};

/* --- params of the runner's jobs --- */

/* Appends to `limits` how many calls with a key may run and wait. */
static void
ngx_tg_limit_append_json(tg_buf_t *buf, const char *directive,
                         const ngx_tg_limit_t *limit, ngx_uint_t *n)
{
    if (limit->calls.concurrency <= 0) {
        return;
    }

    tg_buf_printf(buf, "%s{\"name\":\"%s\",\"key\":",
                  (*n)++ == 0 ? ",\"limits\":[" : ",", directive);
    tg_json_write_string(buf, ngx_tg_str_from_ngx(&limit->key));
    tg_spec_write(tg_job_limit_fields, &limit->calls, buf);
    tg_buf_append_char(buf, '}');
}

void
ngx_tg_call_append_max_response(ngx_tg_call_t *call, tg_buf_t *params)
{
    const tg_peer_t *peer;

    peer = &call->base->peer;
    tg_json_add_uint(params, "max_answer", tg_peer_max_reply_size(peer));

    if (peer->row->is_text_only) {
        tg_json_add_bool(params, "text_only", 1);
    }
}

void
ngx_tg_call_begin_params(ngx_tg_call_t *call, tg_buf_t *params)
{
    const ngx_tg_limit_t *limits[3];
    const ngx_tg_tool_t *tool;
    ngx_tg_limit_scope_t scopes[3];
    ngx_uint_t i, n, nlimits;
    uint64_t number;

    tool = call->tool;
    tg_buf_append_char(params, '{');
    tg_json_add_string(params, "tool", tool->entry.name);
    tg_spec_write(tg_job_fields, &tool->job_spec, params);
    number = ngx_tg_call_get_number(call);

    if (number != 0) {
        tg_json_add_uint(params, "call", number);
    }

    /* A task's result may be for another client than its creator. */
    if (!ngx_tg_call_is_task_submission(call, call->request)) {
        ngx_tg_call_append_max_response(call, params);
    }

    nlimits = ngx_tg_tool_get_limits(tool, call->base->conf, limits, scopes);

    for (i = 0, n = 0; i < nlimits; i++) {
        ngx_tg_limit_append_json(params, scopes[i].concurrency, limits[i], &n);
    }

    if (n != 0) {
        tg_buf_append_char(params, ']');
    }
}

void
ngx_tg_call_append_owner(ngx_tg_call_t *call, tg_buf_t *params)
{
    char room[NGX_TG_OWNER_SIZE];

    tg_json_add_string(params, "owner",
                       ngx_tg_session_base_get_owner(call->base, room));
}

static ngx_uint_t
ngx_tg_call_can_store_output(const ngx_tg_call_t *call)
{
    return call->tool->output_spec.is_stored
           && call->base->conf->spill.quota != 0;
}

void
ngx_tg_call_append_stored_output(ngx_tg_call_t *call, tg_buf_t *params)
{
    const ngx_tg_tool_t *tool;

    tool = call->tool;

    if (!ngx_tg_call_can_store_output(call)) {
        return;
    }

    tg_json_begin_member(params, "spill");
    tg_json_begin_object(params);
    tg_spec_write(tg_spill_fields, &call->base->conf->spill, params);

    if (tool->output_spec.preview != 0) {
        tg_json_add_int(params, "preview", tool->output_spec.preview);
    }

    ngx_tg_call_append_owner(call, params);
    tg_buf_append_char(params, '}');
}

static void
ngx_tg_call_fail_unsent(ngx_tg_call_t *call, int rc)
{
    tg_outcome_t outcome;

    call->rule = rc == TG_LIMIT ? NGX_TG_RULE_RUNNER : NGX_TG_RULE_NONE;
    outcome = rc == TG_LIMIT ? tg_outcome_make_failure(
                  TG_FAILURE_BUSY, "Too much data is waiting for "
                                   "toolgate-runner, or this call is too large "
                                   "for it; try again later, or send less.")
                             : tg_outcome_make_no_memory();
    ngx_tg_call_end(call, &outcome);
}

/* --- slots for calls that this worker runs --- */

static int ngx_tg_call_request_slot(ngx_tg_call_t *call);

/*
 * Continues a started call without a slot. If the runner has ended, requests a
 * slot from the next one, which must count the call, too.
 */
static void
ngx_tg_call_on_slot_response(void *data, const tg_response_t *answer)
{
    ngx_tg_call_t *call = data;

    if (call->has_run) {
        if (answer->kind == TG_RESPONSE_LOST && call->base != NULL) {
            (void) ngx_tg_call_request_slot(call);
        }

        return;
    }

    /* Wait for a slot of the next runner. */
    if ((answer->kind == TG_RESPONSE_LOST
         || answer->kind == TG_RESPONSE_NOT_STARTED)
        && call->priv->slot_request.has_broken
        && call->priv->job.nresends < NGX_TG_REMOTE_CALL_RESENDS_MAX
        && call->base != NULL)
    {
        call->priv->job.nresends++;

        if (ngx_tg_call_request_slot(call) == TG_OK) {
            return;
        }
    }

    if (answer->kind == TG_RESPONSE_LOST
        || answer->kind == TG_RESPONSE_NOT_STARTED) {
        ngx_tg_call_fail(call, TG_FAILURE_LOST,
                         "toolgate-runner, which counts this tool's "
                         "calls, could not be reached, so the call was not "
                         "started; try again, or ask the operator.");
        return;
    }

    ngx_tg_call_on_remote_response(call, answer);
}

/* Runs the handler; the deadline counts from the call's arrival. */
static void
ngx_tg_call_run_handler(ngx_tg_call_t *call)
{
    ngx_msec_t waited;

    call->has_run = 1;
    waited = ngx_current_msec - call->start;
    ngx_add_timer(&call->priv->timer, waited < call->priv->timeout
                                          ? call->priv->timeout - waited
                                          : 0);
    call->priv->handler->run(call);
}

static void
ngx_tg_call_on_slot_granted(void *data, const tg_message_t *message)
{
    ngx_tg_call_t *call = data;

    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: has its place", call);

    if (!call->has_run) {
        call->priv->ran.queued_ms = (int64_t) (ngx_current_msec - call->start);
        ngx_tg_call_run_handler(call);
    }
}

/* Saves the params, if concurrency is limited. TG_OK or TG_NOMEM. */
static int
ngx_tg_call_save_slot_params(ngx_tg_call_t *call)
{
    const ngx_tg_limit_t *limits[3];
    ngx_tg_limit_scope_t scopes[3];
    tg_buf_t params;
    ngx_uint_t i;
    u_char *copy;

    i = ngx_tg_tool_get_limits(call->tool, call->base->conf, limits, scopes);

    while (i > 0 && limits[i - 1]->calls.concurrency <= 0) {
        i--;
    }

    if (i == 0) {
        return TG_OK;
    }

    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_buf_append_char(&params, '}');
    copy = tg_buf_has_failed(&params) ? NULL
                                      : ngx_pnalloc(call->pool, params.len);

    if (copy != NULL) {
        ngx_memcpy(copy, params.data, params.len);
        call->priv->limits = tg_str((char *) copy, params.len);
    }

    tg_buf_deinit(&params);

    return copy != NULL ? TG_OK : TG_NOMEM;
}

static int
ngx_tg_call_request_slot(ngx_tg_call_t *call)
{
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: asks for a place", call);

    call->priv->slot_request.data = call;
    call->priv->slot_request.answer = ngx_tg_call_on_slot_response;
    call->priv->slot_request.progress = ngx_tg_call_on_slot_granted;

    return ngx_tg_runner_send_request(call->base->conf->runner, TG_STR("place"),
                                      call->priv->limits,
                                      &call->priv->slot_request);
}

ngx_int_t
ngx_tg_call_defer_request(ngx_tg_call_t *call)
{
    tg_call_t *deferred;

    if (ngx_tg_call_save_for_log(call, call->tool, call->request->arguments)
        != NGX_OK)
    {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return NGX_ERROR;
    }

    deferred = tg_peer_defer_request(&call->base->peer, call->request);

    if (deferred == NULL) {
        /* The peer has answered: too many calls, or no memory. */
        call->priv->is_refused = 1;
        call->rule = call->base->peer.last_failure == TG_FAILURE_BUSY
                         ? NGX_TG_RULE_INFLIGHT
                         : NGX_TG_RULE_NONE;
        ngx_tg_call_end(call, NULL);
        return NGX_ERROR;
    }

    tg_call_set_host_bytes(deferred, NGX_TG_CALL_POOL_SIZE
                                         + call->request->arguments.len
                                         + call->priv->arguments.len);
    ngx_tg_call_set_deferred(call, deferred,
                             call->priv->timeout + NGX_TG_WATCHDOG_GRACE);

    return NGX_OK;
}

size_t
ngx_tg_call_get_handler_max_output(const ngx_tg_call_t *call)
{
    return ngx_tg_call_can_store_output(call)
               ? NGX_TG_STORED_RESULT_MAX
               : (size_t) call->tool->output_spec.max_output;
}

int
ngx_tg_call_save_store_params(ngx_tg_call_t *call)
{
    const ngx_tg_tool_t *tool;
    u_char text[NGX_TG_STORE_PARAMS_MAX];
    tg_buf_t params;
    u_char *copy;

    tool = call->tool;

    if (!ngx_tg_call_can_store_output(call)) {
        return TG_OK;
    }

    params = tg_buf_make_fixed((char *) text, sizeof(text));
    tg_buf_append_char(&params, ',');
    tg_spec_write(tg_output_fields, &tool->output_spec, &params);
    ngx_tg_call_append_stored_output(call, &params);
    copy = tg_buf_has_failed(&params) ? NULL
                                      : ngx_pnalloc(call->pool, params.len);

    if (copy == NULL) {
        return TG_NOMEM;
    }

    ngx_memcpy(copy, params.data, params.len);
    call->priv->store_params = tg_str((char *) copy, params.len);
    call->priv->max_output = (size_t) tool->output_spec.max_output;
    call->priv->unstored_max = tool->output_spec.preview != 0
                                   ? ngx_min((size_t) tool->output_spec.preview,
                                             call->priv->max_output)
                                   : call->priv->max_output;

    return TG_OK;
}

ngx_int_t
ngx_tg_call_defer(ngx_tg_call_t *call)
{
    int rc;

    rc = TG_OK;

    if (call->priv->handler->run != NULL) {
        rc = ngx_tg_call_save_store_params(call);
        rc = rc == TG_OK ? ngx_tg_call_save_slot_params(call) : rc;
    }

    if (ngx_tg_call_defer_request(call) != NGX_OK) {
        return NGX_ERROR;
    }

    if (call->priv->handler->run == NULL) {
        return NGX_OK;
    }

    /* Run the handler now, or when the runner grants a slot. */
    if (rc == TG_OK && call->priv->limits.len == 0) {
        ngx_tg_call_run_handler(call);
        return NGX_OK;
    }

    rc = rc == TG_OK ? ngx_tg_call_request_slot(call) : rc;

    if (rc != TG_OK) {
        ngx_tg_call_fail_unsent(call, rc);
    }

    return NGX_OK;
}

/* --- jobs --- */

void
ngx_tg_call_init_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner)
{
    call->priv->job.data = call;
    call->priv->job.ops = &ngx_tg_call_remote_ops;
    call->priv->job.runner = runner;
    call->priv->job.name = call->entry->name;
    call->priv->job.number = call->priv->number;
    call->priv->job.store_params = call->priv->store_params;
}

static void
ngx_tg_call_send_job(ngx_tg_call_t *call, tg_str_t method, tg_str_t params)
{
    int rc;

    ngx_log_debug3(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: asks toolgate-runner for \"%*s\"", call,
                   method.len, method.data);

    ngx_tg_call_init_remote(call, call->base->conf->runner);
    rc = ngx_tg_remote_call_start(&call->priv->job, method, params);

    if (rc != TG_OK) {
        ngx_tg_call_fail_unsent(call, rc);
    }
}

void
ngx_tg_call_start_remote(ngx_tg_call_t *call, tg_str_t method, tg_buf_t *params,
                         tg_failure_t failure, const char *mistake)
{
    tg_buf_append_char(params, '}');

    if (mistake == NULL && tg_buf_has_failed(params)) {
        mistake = TG_TEXT_NO_MEMORY;
    }

    if (mistake != NULL) {
        if (ngx_strcmp(mistake, TG_TEXT_NO_MEMORY) == 0) {
            failure = TG_FAILURE_INTERNAL;
        }

        ngx_tg_call_fail(call, failure, mistake);

    } else if (call->priv->captured != NULL) {
        call->priv->captured->method = method;
        tg_buf_append_str(call->priv->captured->params, tg_buf_view(params));
        ngx_tg_call_end(call, NULL);

    } else if (ngx_tg_call_defer(call) == NGX_OK) {
        if (call->priv->is_repeatable) {
            ngx_tg_call_save_task_params(call, tg_buf_view(params));
        }

        ngx_tg_call_send_job(call, method, tg_buf_view(params));
    }

    tg_buf_deinit(params);
}

int
ngx_tg_call_attach_remote(ngx_tg_call_t *call, ngx_tg_runner_t *runner,
                          const char *key)
{
    ngx_log_debug1(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: adopts its job", call);

    ngx_tg_call_init_remote(call, runner);
    call->priv->job.state = NGX_TG_REMOTE_CALL_DETACHED;
    ngx_memcpy(call->priv->job.key, key, NGX_TG_TOKEN_LEN);

    return ngx_tg_remote_call_attach(&call->priv->job);
}
