/* A request to an MCP server as a job: params, response and end. */
#include "runner/mcp/tg_mcp_job.h"

#include "catalog/tg_tool_result_repair.h"

#include <stdlib.h>

typedef struct {
    tg_str_t key;
    tg_str_t conn_id;
    tg_str_t cwd;
    tg_str_t name;
    tg_str_t method;
    tg_str_t arguments;
    tg_str_t meta;
    tg_str_t input;
    tg_str_t state;
    tg_str_t client_caps;
    tg_str_t spill;
    int64_t uid;
    int64_t max_output;
    int64_t log_level;
} tg_mcp_job_params_t;

#define TG_MCP_JOB_FIELD(text, kind, member)                                   \
    .name = text, .type = kind, TG_FIELD_AT(tg_mcp_job_params_t, member)

static const tg_json_field_t tg_mcp_job_fields[] = {
    { TG_MCP_JOB_FIELD("key", TG_FIELD_STRING, key), .is_required = 1 },
    { TG_MCP_JOB_FIELD("instance", TG_FIELD_STRING, conn_id) },
    { TG_MCP_JOB_FIELD("cwd", TG_FIELD_STRING, cwd) },
    { TG_MCP_JOB_FIELD("uid", TG_FIELD_INT, uid), .max = UINT32_MAX,
      .absent = -1 },
    { TG_MCP_JOB_FIELD("name", TG_FIELD_STRING, name) },
    { TG_MCP_JOB_FIELD("method", TG_FIELD_STRING, method) },
    { TG_MCP_JOB_FIELD("arguments", TG_FIELD_OBJECT, arguments) },
    { TG_MCP_JOB_FIELD("meta", TG_FIELD_OBJECT, meta) },
    { TG_MCP_JOB_FIELD("inputResponses", TG_FIELD_OBJECT, input) },
    { TG_MCP_JOB_FIELD("requestState", TG_FIELD_RAW, state) },
    { TG_MCP_JOB_FIELD("max_output", TG_FIELD_INT, max_output),
      .max = TG_MCP_CONN_FRAME_MAX, .absent = TG_MCP_CONN_FRAME_MAX },
    { TG_MCP_JOB_FIELD("log", TG_FIELD_INT, log_level),
      .max = TG_MCP_LOG_EMERGENCY },
    { TG_MCP_JOB_FIELD("capabilities", TG_FIELD_RAW, client_caps) },
    { TG_MCP_JOB_FIELD("spill", TG_FIELD_OBJECT, spill) },
    { .name = NULL },
};

/* --- end --- */

static void
tg_mcp_job_on_closed(uv_handle_t *handle)
{
    tg_job_unref_handle(((tg_mcp_job_t *) handle->data)->job);
}

static void
tg_mcp_job_set_done(tg_mcp_job_t *call)
{
    if (call->has_gap_timer) {
        uv_close((uv_handle_t *) &call->timer, tg_mcp_job_on_closed);
    }

    tg_sched_dequeue(&call->job->jobs->sched.sched, &call->source);
    tg_job_release_writer(call->job);

    if (call->is_answering) {
        call->is_answering = 0;
        tg_output_response_end(&call->answer);
    }

    tg_job_set_done(call->job);
}

static void
tg_mcp_job_leave_conn(tg_mcp_job_t *call)
{
    if (call->mcp_conn != NULL) {
        tg_mcp_conn_remove_call(call->mcp_conn, call);
    }
}

static void
tg_mcp_job_stop(tg_job_t *job)
{
    tg_mcp_job_leave_conn(job->work);
    tg_mcp_job_set_done(job->work);
}

/* Writes the response for a time slice; its end also ends the job. */
static void
tg_mcp_job_write_response(tg_sched_source_t *source)
{
    tg_mcp_job_t *call;

    call = TG_CONTAINER_OF(source, tg_mcp_job_t, source);

    if (!tg_output_response_run(&call->answer, call->job, source,
                                call->result.len)) {
        return;
    }

    tg_job_respond(call->job, &call->answer.writer.json);
    tg_job_set_ending(call->job);
    tg_mcp_job_set_done(call);
}

static void
tg_mcp_job_on_timer(uv_timer_t *timer)
{
    tg_mcp_job_t *call;

    call = timer->data;
    tg_mcp_job_write_response(&call->source);
}

static void
tg_mcp_job_begin_response(tg_mcp_job_t *call)
{
    tg_run_stats_t times;

    tg_mcp_job_leave_conn(call);
    tg_job_on_work_ended(call->job);
    times = tg_job_get_run_stats(call->job);
    call->is_answering = 1;
    call->source.run = tg_mcp_job_write_response;
    tg_output_response_begin(&call->answer, &call->job->params,
                             &call->store_params, (size_t) call->max_output,
                             &times);
}

/* Sends the response a moment after progress: some clients mix them up. */
static void
tg_mcp_job_schedule_response(tg_mcp_job_t *call)
{
    if (tg_job_flush_progress(call->job)) {
        call->has_gap_timer = 1;
        uv_timer_init(call->job->jobs->loop, &call->timer);
        call->timer.data = call;
        tg_job_ref_handle(call->job);
        uv_timer_start(&call->timer, tg_mcp_job_on_timer,
                       TG_JOB_PROGRESS_GAP_MS, 0);

    } else if (call->result.len > TG_JOB_LARGE_RESPONSE) {
        tg_sched_enqueue(&call->job->jobs->sched.sched, &call->source);
    } else {
        tg_mcp_job_write_response(&call->source);
    }
}

/* Ends the call with an outcome whose data does not outlive this function. */
static void
tg_mcp_job_finish_outcome(tg_mcp_job_t *call, const tg_outcome_t *outcome)
{
    tg_mcp_job_begin_response(call);
    tg_output_response_set_outcome(&call->answer, outcome);

    while (tg_output_response_step(&call->answer) == TG_AGAIN) {
        /* void */
    }

    tg_mcp_job_schedule_response(call);
}

void
tg_mcp_job_fail(tg_mcp_job_t *call, tg_failure_t failure, tg_str_t text)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make_failure_str(failure, text);
    tg_mcp_job_finish_outcome(call, &outcome);
}

/* Ends a request of a method with its result, which stays as it is. */
static void
tg_mcp_job_finish_method_result(tg_mcp_job_t *call)
{
    tg_outcome_t outcome;
    tg_str_t raw;

    raw = tg_buf_view(&call->result);

    if (tg_json_type(raw) != TG_JSON_OBJECT) {
        tg_mcp_job_fail(call, TG_FAILURE_OUTPUT,
                        TG_STR("The MCP server's result is not an object."));
        return;
    }

    outcome = tg_outcome_is_too_deep(raw)
                  ? tg_outcome_make_too_deep()
                  : tg_outcome_make(TG_OUTCOME_RESULT, raw);
    tg_mcp_job_begin_response(call);
    tg_output_response_set_outcome(&call->answer, &outcome);
    tg_mcp_job_schedule_response(call);
}

/*
 * Ends the call with its result, which may ask for more input (MCP:
 * resultType). A tool's result is repaired; if it is beyond repair, the check
 * reports the reason.
 */
static void
tg_mcp_job_finish_result(tg_mcp_job_t *call, tg_str_t raw)
{
    if (call->call.method.data == NULL) {
        (void) tg_tool_result_repair(raw, &call->result);
    }

    if (call->result.len == 0) {
        tg_buf_append_str(&call->result, raw);
    }

    if (tg_buf_has_failed(&call->result)) {
        tg_mcp_job_fail(call, TG_FAILURE_INTERNAL, TG_STR(TG_RUNNER_NO_MEMORY));
        return;
    }

    if (call->call.method.data != NULL) {
        tg_mcp_job_finish_method_result(call);
        return;
    }

    tg_mcp_job_begin_response(call);
    call->answer.is_mcp_server_result = 1;
    tg_output_response_set_output(&call->answer, tg_buf_view(&call->result),
                                  TG_OUTPUT_RESULT,
                                  call->store_params.output_store != NULL);
    tg_mcp_job_schedule_response(call);
}

static void
tg_mcp_job_fail_too_large(tg_mcp_job_t *call)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_printf(&text,
                  "%s returned more than %lld %s (max_output); ask for less.",
                  call->job->params.tool, (long long) call->max_output,
                  tg_pick_plural((uint64_t) call->max_output, "byte", "bytes"));
    call->job->rule = "max_output";
    tg_mcp_job_fail(call, TG_FAILURE_OUTPUT, tg_buf_view(&text));
    tg_buf_deinit(&text);
}

/* Ends a call with the server's error, without data that is nested too deep. */
static void
tg_mcp_job_finish_error(tg_mcp_job_t *call, const tg_response_t *answer)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, answer->message);
    outcome = tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                          tg_buf_view(&text));
    outcome.has_code = answer->has_code;
    outcome.code = answer->code;
    outcome.data = tg_outcome_is_too_deep(answer->data) ? TG_STR_NONE
                                                        : answer->data;
    tg_mcp_job_finish_outcome(call, &outcome);
    tg_buf_deinit(&text);
}

void
tg_mcp_job_on_response(tg_mcp_job_t *call, const tg_response_t *answer)
{
    size_t size;

    size = answer->kind == TG_RESPONSE_ERROR
               ? answer->message.len + answer->data.len
               : answer->result.len;

    if (size > (size_t) call->max_output
        && (call->store_params.output_store == NULL
            || answer->kind == TG_RESPONSE_ERROR))
    {
        tg_mcp_job_fail_too_large(call);
    } else if (answer->kind == TG_RESPONSE_ERROR) {
        tg_mcp_job_finish_error(call, answer);
    } else {
        tg_mcp_job_finish_result(call, answer->result);
    }
}

void
tg_mcp_job_on_progress(tg_mcp_job_t *call, tg_str_t params)
{
    tg_job_on_progress(call->job,
                       tg_progress_update(&call->job->progress, params));
}

/* --- start --- */

static int
tg_mcp_job_start(tg_job_t *job)
{
    tg_failure_t failure;
    tg_mcp_server_t *server;
    tg_mcp_job_t *call;
    tg_buf_t text;

    call = job->work;
    server = tg_mcp_server_find(job->host, call->key);
    failure = TG_FAILURE_LOST;
    tg_buf_init(&text, tg_alloc_libc());

    if (server == NULL) {
        tg_buf_printf(&text,
                      "%s: toolgate-runner does not know its MCP server, "
                      "because the configuration has changed; call again.",
                      job->params.tool);
    } else {
        failure = tg_mcp_server_add_call(server, call, &text);
    }

    if (failure != TG_FAILURE_NONE) {
        tg_job_fail(job, failure, "%.*s", (int) text.len, text.data);
    }

    tg_buf_deinit(&text);

    return failure == TG_FAILURE_NONE ? 0 : -1;
}

/* Checks that an id is fit for a log and for comparison without decoding. */
static int
tg_mcp_job_is_conn_id(tg_str_t raw)
{
    return raw.data == NULL
           || (tg_json_type(raw) == TG_JSON_STRING
               && raw.len - 2 <= TG_MCP_CONN_ID_MAX
               && memchr(raw.data, '\\', raw.len) == NULL);
}

static int
tg_mcp_job_read_params(tg_mcp_job_params_t *params, const tg_str_t *values,
                       const char **why)
{
    tg_str_t key;

    *why = "key must be 16 to 64 letters, digits, - and _; instance a string "
           "of at most 128 bytes without escapes; cwd a string; name or "
           "method a string; uid a number; arguments, meta and "
           "inputResponses objects; max_output 0 to 33554432; log 0 to 8; "
           "spill an object with owner, quota, keep_ms and preview";

    return tg_json_store_fields(tg_mcp_job_fields, values, params, why) == TG_OK
                   && (params->name.data != NULL)
                          != (params->method.data != NULL)
                   && tg_mcp_server_is_key(params->key, &key)
                   && tg_mcp_job_is_conn_id(params->conn_id)
               ? TG_OK
               : TG_INVALID;
}

static int
tg_mcp_job_read_strings(tg_mcp_job_t *call, const tg_mcp_job_params_t *params,
                        const char **why)
{
    tg_str_t raw;
    char *at;

    at = call->memory;
    call->key = tg_json_string_body(tg_str_copy_to(&at, params->key));
    raw = tg_str_copy_to(&at, params->conn_id);
    call->owner.id = raw.data != NULL ? tg_json_string_body(raw) : TG_STR("");

    if (params->method.data != NULL) {
        call->call.method = tg_json_string_body(
            tg_str_copy_to(&at, params->method));
    } else {
        call->call.name = tg_json_string_body(
            tg_str_copy_to(&at, params->name));
    }

    call->call.arguments = tg_str_copy_to(&at, params->arguments);
    call->call.meta = tg_str_copy_to(&at, params->meta);
    call->call.input_responses = tg_str_copy_to(&at, params->input);
    call->call.request_state = tg_str_copy_to(&at, params->state);
    *why = "has a working directory that is not an absolute path; write one "
           "that starts with /";

    if (params->cwd.data != NULL
        && (tg_param_read_string(&at, params->cwd, &call->owner.cwd) != TG_OK
            || call->owner.cwd[0] != '/'))
    {
        return TG_LIMIT;
    }

    return TG_OK;
}

static int
tg_mcp_job_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_output_store_params_t store_params;
    tg_mcp_job_params_t params;
    tg_mcp_job_t *call;
    size_t size, i;

    memset(&store_params, 0, sizeof(store_params));

    if (tg_mcp_job_read_params(&params, values, why) != TG_OK
        || tg_output_store_params_read(&store_params, job->jobs->output_store,
                                       params.spill, why)
               != TG_OK)
    {
        return TG_INVALID;
    }

    for (i = 0, size = 0; tg_mcp_job_fields[i].name != NULL; i++) {
        size += values[i].len;
    }

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    job->work = call;
    job->bytes += size;
    call->job = job;
    call->owner.uid = params.uid;
    call->max_output = params.max_output;
    call->call.log_level = (tg_mcp_log_level_t) params.log_level;
    call->owner.client_caps = tg_client_caps_parse(params.client_caps);
    call->store_params = store_params;
    tg_buf_init(&call->result, tg_alloc_libc());
    call->memory = malloc(size + 1);

    return call->memory != NULL ? tg_mcp_job_read_strings(call, &params, why)
                                : TG_NOMEM;
}

static void
tg_mcp_job_free(tg_job_t *job)
{
    tg_mcp_job_t *call;

    call = job->work;
    tg_buf_deinit(&call->result);
    free(call->memory);
    free(call);
}

static pid_t
tg_mcp_job_get_pid(const tg_job_t *job)
{
    const tg_mcp_job_t *call;

    call = job->work;

    return call->mcp_conn != NULL ? call->mcp_conn->stdio.program.pid : 0;
}

const tg_job_type_t tg_mcp_job_type = {
    .name = "mcp_call",
    .fields = tg_mcp_job_fields,
    .timeout_ms = TG_MCP_JOB_TIMEOUT_DEFAULT,
    .needs_no_slot = 1,
    .read = tg_mcp_job_read,
    .start = tg_mcp_job_start,
    .stop = tg_mcp_job_stop,
    .free = tg_mcp_job_free,
    .pid = tg_mcp_job_get_pid,
};
