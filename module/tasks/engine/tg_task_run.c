/*
 * A running task: its start, its job, its output and its end.
 */
#include "tasks/engine/tg_task_call.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/logging/tg_log.h"
#include "tasks/engine/tg_engine_impl.h"

#include <stdlib.h>

/* --- end of a task --- */

static void
tg_task_free(tg_task_t *task)
{
    tg_engine_t *engine;

    engine = task->engine;
    tg_task_calls_dequeue_all(&task->cancel_calls);
    TAILQ_REMOVE(&engine->priv->running, task, link);
    engine->nrunning--;
    tg_buf_deinit(&task->agent);
    tg_buf_deinit(&task->owner);
    tg_buf_deinit(&task->prompt);
    tg_buf_deinit(&task->output);
    tg_buf_deinit(&task->write_request.bytes);
    tg_buf_deinit(&task->result);
    tg_buf_deinit(&task->error);
    tg_buf_deinit(&task->tail);
    free(task);
    engine->can_claim = 1;
    tg_engine_advance(engine);
}

/*
 * Frees a task whose processes are gone and whose end is stored, or the runner
 * exits.
 */
static void
tg_task_free_if_done(tg_task_t *task)
{
    if (task->job == NULL && !task->is_writing && !task->is_finishing
        && (task->is_finished || task->engine->is_shutting_down))
    {
        tg_task_free(task);
    }
}

/* Marks the output as ended, as the quota removes the oldest ended outputs. */
static void
tg_task_mark_output_ended(tg_task_t *task)
{
    if (task->size == 0 || task->engine->priv->outputs.store != NULL) {
        return;
    }

    task->write_request.op = TG_TASK_OUTPUT_MARK_ENDED;
    task->is_writing = 1;
    task->engine->nwork_pending++;
    tg_task_outputs_submit(&task->engine->priv->outputs, &task->write_request);
}

static void
tg_task_on_end_stored(tg_store_query_t *query)
{
    tg_engine_t *engine;
    tg_task_t *task;

    task = query->data;
    engine = task->engine;
    task->is_finishing = 0;
    tg_engine_log_store_error(engine, query);

    if (query->rc == TG_OK || query->rc == TG_END) {
        task->is_finished = 1;
        task->state = query->rc == TG_OK ? query->state : TG_TASK_QUEUED;
        engine->priv->nended++;

        /*
         * TG_END: the task may belong to another runner by now, which notifies.
         */
        if (query->rc == TG_OK) {
            tg_task_notify_end(task);
        }

        tg_task_resume_cancel_calls(task);
        tg_engine_resume_following_calls(engine, task->id);
        tg_task_mark_output_ended(task);
    }

    tg_store_query_deinit(query);
    tg_task_free_if_done(task);
}

void
tg_task_store_end(tg_task_t *task)
{
    tg_store_query_t *query;

    if (task->is_finishing || task->is_finished || task->is_writing
        || task->engine->is_shutting_down)
    {
        return;
    }

    if (task->output.len != 0) {
        tg_task_write_output(task);
        return;
    }

    query = &task->finish;
    tg_store_query_init(query,
                        task->state == TG_TASK_QUEUED ? TG_STORE_INTERRUPT
                                                      : TG_STORE_FINISH,
                        tg_task_on_end_stored, task);
    tg_buf_reset(&task->tail, 0);
    tg_task_append_tail(&task->tail, &task->combined_tail);
    query->id = task->id;
    query->state = task->state;
    query->pid = task->pid;
    query->output = tg_buf_view(&task->tail);

    if (task->is_tool) {
        query->result_format = TG_TASK_RESULT_TOOL;
        query->result = task->result.len != 0 ? tg_buf_view(&task->result)
                                              : TG_STR_NONE;
    } else if (task->state == TG_TASK_COMPLETED) {
        tg_buf_reset(&task->result, 0);
        tg_task_append_tail(&task->result, &task->stdout_tail);
        query->result = tg_buf_view(&task->result);
    }

    if (task->state != TG_TASK_COMPLETED && task->state != TG_TASK_CANCELLED) {
        query->error = tg_buf_view(&task->error);
    }

    task->is_finishing = 1;
    tg_engine_query_store(task->engine, query);
}

void
tg_task_end(tg_task_t *task, tg_task_state_t state, const char *why)
{
    if (task->has_ended) {
        return;
    }

    task->has_ended = 1;
    task->state = state;
    tg_buf_append_cstr(&task->error, why);

    if (task->job != NULL) {
        tg_job_cancel(task->job);
    }

    tg_task_store_end(task);
}

void
tg_task_abandon(tg_task_t *task)
{
    if (task->job != NULL) {
        tg_job_cancel(task->job);
    } else {
        tg_task_free_if_done(task);
    }
}

/* --- job of a task --- */

static void
tg_task_on_job_started(tg_job_t *job)
{
    tg_task_t *task;
    tg_buf_t params;

    task = job->owner_data;
    task->pid = ((const tg_exec_t *) job->work)->program.pid;
    tg_task_begin_params(&params, task->id, tg_buf_view(&task->agent));
    tg_json_add_int(&params, "pid", task->pid);
    tg_engine_notify(task->engine, tg_buf_view(&task->owner), "task.started",
                     &params);
}

static void
tg_task_on_job_result(tg_job_t *job, const tg_buf_t *json)
{
    tg_outcome_t outcome;
    tg_task_t *task;
    tg_buf_t scratch;
    tg_run_stats_t stats;

    task = job->owner_data;

    if (task->has_ended || task->engine->is_shutting_down) {
        return;
    }

    if (job->has_started) {
        task->pid = ((const tg_exec_t *) job->work)->program.pid;
    }

    tg_buf_init(&scratch, tg_alloc_libc());
    outcome = tg_outcome_parse_json(tg_buf_view(json), &scratch, &stats);
    task->has_ended = 1;
    task->state = TG_TASK_COMPLETED;

    if (outcome.kind == TG_OUTCOME_FAILURE) {
        task->state = TG_TASK_FAILED;
        task->is_timed_out = outcome.failure == TG_FAILURE_TIMEOUT;
        tg_buf_append_str(&task->error, outcome.value);
    }

    if (task->is_tool) {
        tg_task_append_tool_result(&task->result, &outcome);
    }

    tg_buf_deinit(&scratch);
    tg_task_store_end(task);
}

static void
tg_task_on_job_gone(tg_job_t *job)
{
    tg_task_t *task;

    task = job->owner_data;
    task->job = NULL;
    tg_task_free_if_done(task);
}

static const tg_job_owner_t tg_task_job_owner = {
    .on_started = tg_task_on_job_started,
    .answer = tg_task_on_job_result,
    .on_gone = tg_task_on_job_gone,
};

/* --- output of a task --- */

static void
tg_task_on_output_written(tg_task_output_request_t *query)
{
    tg_engine_t *engine;
    tg_task_t *task;

    task = query->data;
    engine = task->engine;
    tg_engine_end_work(engine);
    task->is_writing = 0;
    tg_buf_reset(&query->bytes, TG_TASK_PENDING_OUTPUT_MAX);

    if (query->err != 0) {
        task->has_lost_output = 1;
        tg_buf_reset(&task->output, 0);
        tg_log(TG_LOG_ERROR,
               "the output of a task cannot be written next to %s, the rest "
               "of it is dropped: %s",
               engine->location, strerror(query->err));
    }

    if (task->is_paused && task->job != NULL && task->job->work != NULL) {
        task->is_paused = 0;
        tg_exec_resume(task->job);
    }

    tg_task_write_output(task);

    if (task->has_ended) {
        tg_task_store_end(task);
    }

    tg_engine_resume_following_calls(engine, task->id);
    tg_task_free_if_done(task);
}

void
tg_task_write_output(tg_task_t *task)
{
    const tg_task_t *other;
    tg_task_output_request_t *query;
    tg_buf_t bytes;

    if (task->is_writing || task->output.len == 0) {
        return;
    }

    query = &task->write_request;
    bytes = query->bytes;
    query->bytes = task->output;
    task->output = bytes;
    query->op = TG_TASK_OUTPUT_APPEND;
    query->done = tg_task_on_output_written;
    query->data = task;
    query->id = task->id;
    query->max = (uint64_t) task->max_output;
    query->quota = (uint64_t) task->engine->config.spec.output_quota;
    query->nrunning = 0;

    TAILQ_FOREACH(other, &task->engine->priv->running, link)
    {
        if (query->nrunning < TG_TASK_OUTPUT_RUNNING_MAX) {
            query->running[query->nrunning++] = other->id;
        }
    }

    query->offset = task->size;
    task->size += query->bytes.len;
    task->is_writing = 1;
    task->engine->nwork_pending++;
    tg_task_outputs_submit(&task->engine->priv->outputs, query);
}

static void
tg_task_on_output(void *data, int is_err, tg_str_t bytes)
{
    tg_task_t *task;

    task = data;
    tg_output_tail_append(&task->combined_tail, bytes.data, bytes.len);

    if (!is_err) {
        tg_output_tail_append(&task->stdout_tail, bytes.data, bytes.len);
    }

    if (task->has_lost_output) {
        return;
    }

    tg_buf_append_str(&task->output, bytes);

    if (tg_buf_has_failed(&task->output)) {
        task->has_lost_output = 1;
        tg_buf_reset(&task->output, 0);
        return;
    }

    /* A database gets the output with the next tick, unless it is long. */
    if (task->engine->priv->outputs.store == NULL
        || task->output.len >= TG_STORE_OUTPUT_READ_MAX)
    {
        tg_task_write_output(task);
    }

    if (task->output.len > TG_TASK_PENDING_OUTPUT_MAX && !task->is_paused) {
        task->is_paused = 1;
        tg_exec_pause(task->job);
    }
}

/* --- start of a task --- */

static tg_task_t *
tg_task_new(tg_engine_t *engine, int64_t id)
{
    tg_task_t *task;

    task = calloc(1, sizeof(*task));

    if (task == NULL) {
        return NULL;
    }

    task->engine = engine;
    task->id = id;
    task->started_at = (uint64_t) tg_engine_get_unix_time_ms();
    tg_buf_init(&task->agent, tg_alloc_libc());
    tg_buf_init(&task->owner, tg_alloc_libc());
    tg_buf_init(&task->prompt, tg_alloc_libc());
    tg_buf_init(&task->output, tg_alloc_libc());
    tg_buf_init(&task->write_request.bytes, tg_alloc_libc());
    tg_buf_init(&task->result, tg_alloc_libc());
    tg_buf_init(&task->error, tg_alloc_libc());
    tg_buf_init(&task->tail, tg_alloc_libc());
    tg_output_tail_init(&task->stdout_tail);
    tg_output_tail_init(&task->combined_tail);
    TAILQ_INIT(&task->cancel_calls);
    TAILQ_INSERT_TAIL(&engine->priv->running, task, link);
    engine->nrunning++;

    return task;
}

/* Reads the members that notifications and status of the task need. */
static void
tg_task_read_details(tg_task_t *task, tg_str_t task_json)
{
    tg_buf_t text;
    tg_str_t value;

    if (tg_json_has_member(task_json, TG_STR("agent"), TG_JSON_STRING, &value))
    {
        tg_json_append_unescaped(&task->agent, tg_json_string_body(value));
    }

    if (tg_json_has_member(task_json, TG_STR("owner"), TG_JSON_STRING, &value))
    {
        tg_json_append_unescaped(&task->owner, tg_json_string_body(value));
    }

    if (tg_json_get_member(task_json, TG_STR("priority"), &value) == TG_OK) {
        (void) tg_json_parse_int64(value, &task->priority);
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (tg_json_has_member(task_json, TG_STR("prompt"), TG_JSON_STRING, &value))
    {
        tg_json_append_unescaped(&text, tg_json_string_body(value));
        tg_buf_append(&task->prompt, text.data,
                      tg_utf8_prefix_len(tg_buf_view(&text),
                                         TG_STORE_PROMPT_PREVIEW_MAX));
    }

    tg_buf_deinit(&text);
}

/* Submits the job of a task. Returns NULL, or a static error text. */
static const char *
tg_task_submit_job(tg_task_t *task, tg_str_t task_json)
{
    const tg_agent_t *agent;
    const char *why;
    tg_tasks_t *tasks;
    tg_buf_t params;
    tg_str_t own;
    tg_job_t *job;
    int rc;

    job = NULL;
    tasks = task->engine->tasks;
    agent = tg_task_config_find_agent(&task->engine->config,
                                      tg_buf_view(&task->agent));

    if (agent == NULL) {
        return tg_engine_orphan_error;
    }

    task->max_output = agent->max_output;
    task->is_tool = tg_agent_is_tool(agent);
    why = TG_RUNNER_NO_MEMORY;
    tg_buf_init(&params, tg_alloc_libc());

    if (!task->is_tool) {
        tg_agent_write_exec_params(&params, agent, task_json);
    } else if (tg_json_has_member(task_json, TG_STR("job"), TG_JSON_OBJECT,
                                  &own)) {
        tg_buf_append_str(&params, own);
    } else {
        return "its command was not stored with it";
    }

    rc = tg_buf_has_failed(&params)
             ? TG_NOMEM
             : tg_job_create(tasks->jobs, &tg_exec_job_type, tasks->programs,
                             tg_buf_view(&params), &job, &why);
    tg_buf_deinit(&params);

    if (rc != TG_OK) {
        return why;
    }

    job->owner = &tg_task_job_owner;
    job->owner_data = task;
    task->job = job;
    tg_exec_set_sink(job, tg_task_on_output, task, task->is_tool);

    return tg_job_submit(job) == TG_OK ? NULL : TG_RUNNER_NO_MEMORY;
}

void
tg_engine_run_task(tg_engine_t *engine, int64_t id, tg_str_t task_json)
{
    const char *why;
    tg_task_t *task;

    task = tg_task_new(engine, id);

    if (task == NULL) {
        tg_log(TG_LOG_CRIT, "no memory to run a task; it does not run until "
                            "toolgate-runner is started again");
        return;
    }

    tg_task_read_details(task, task_json);
    why = tg_task_submit_job(task, task_json);

    if (why != NULL) {
        tg_task_end(task, TG_TASK_FAILED, why);
        return;
    }

    tg_jobs_start_queued(engine->tasks->jobs);
}
