#include "runner/task/tg_task.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/tg_log.h"

#include <stdlib.h>

/* --- its end --- */

static void
tg_task_free(tg_task_t *task)
{
    tg_engine_t *engine;

    engine = task->engine;
    engine->tasks->ops->leave(&task->cancels);
    TAILQ_REMOVE(&engine->running, task, place);
    engine->nrunning--;
    tg_buf_deinit(&task->agent);
    tg_buf_deinit(&task->owner);
    tg_buf_deinit(&task->prompt);
    tg_buf_deinit(&task->output);
    tg_buf_deinit(&task->write.bytes);
    tg_buf_deinit(&task->result);
    tg_buf_deinit(&task->error);
    tg_buf_deinit(&task->tail);
    free(task);
    engine->wants = 1;
    engine->go_on(engine);
}

/* Its place is free when its processes are gone and its end is durable. */
static void
tg_task_check(tg_task_t *task)
{
    if (task->job == NULL && !task->is_writing && !task->is_finishing
        && (task->is_finished || task->engine->is_dropped))
    {
        tg_task_free(task);
    }
}

/* In files: which ended first is to be known. */
static void
tg_task_end_output(tg_task_t *task)
{
    if (task->size == 0 || task->engine->outputs.store != NULL) {
        return;
    }

    task->write.op = TG_OUTPUT_END;
    task->is_writing = 1;
    task->engine->nwork++;
    tg_outputs_ask(&task->engine->outputs, &task->write);
}

static void
tg_task_on_finish(tg_store_ask_t *ask)
{
    tg_engine_t *engine;
    tg_task_t *task;

    task = ask->data;
    engine = task->engine;
    tg_engine_answered(engine);
    task->is_finishing = 0;
    tg_engine_refused(engine, ask);

    if (ask->rc == TG_OK || ask->rc == TG_END) {
        task->is_finished = 1;
        task->state = ask->rc == TG_OK ? ask->state : TG_TASK_QUEUED;
        engine->nended++;

        /* It may be another one's by now, who tells of it. */
        if (ask->rc == TG_OK) {
            tg_task_tell_end(task);
        }

        engine->tasks->ops->ended(task);
        engine->tasks->ops->changed(engine, task->id);
        tg_task_end_output(task);
    }

    tg_store_ask_deinit(ask);
    tg_task_check(task);
    engine->go_on(engine);
}

void
tg_task_finish(tg_task_t *task)
{
    tg_store_ask_t *ask;

    if (task->is_finishing || task->is_finished || task->is_writing
        || task->engine->is_dropped)
    {
        return;
    }

    if (task->output.len != 0) {
        tg_task_write(task);
        return;
    }

    ask = &task->finish;
    tg_store_ask_init(ask, TG_STORE_FINISH, tg_task_on_finish, task);
    tg_buf_reset(&task->tail, 0);
    tg_task_put_tail(&task->tail, &task->both);
    ask->id = task->id;
    ask->state = task->state;
    ask->pid = task->pid;
    ask->output = tg_buf_view(&task->tail);

    if (task->is_tool) {
        ask->form = TG_TASK_FORM_TOOL;
        ask->result = task->result.len != 0 ? tg_buf_view(&task->result)
                                            : TG_STR_NONE;
    } else if (task->state == TG_TASK_COMPLETED) {
        tg_buf_reset(&task->result, 0);
        tg_task_put_tail(&task->result, &task->out);
        ask->result = tg_buf_view(&task->result);
    }

    if (task->state != TG_TASK_COMPLETED && task->state != TG_TASK_CANCELLED) {
        ask->error = tg_buf_view(&task->error);
    }

    task->is_finishing = 1;
    tg_engine_ask(task->engine, ask);
}

void
tg_task_end(tg_task_t *task, tg_task_state_t state, const char *why)
{
    if (task->has_ended) {
        return;
    }

    task->has_ended = 1;
    task->state = state;
    tg_buf_text(&task->error, why);

    if (task->job != NULL) {
        tg_job_cancel(task->job);
    }

    tg_task_finish(task);
}

void
tg_task_drop(tg_task_t *task)
{
    if (task->job != NULL) {
        tg_job_cancel(task->job);
    } else {
        tg_task_check(task);
    }
}

/* --- what becomes of its job --- */

static void
tg_task_on_started(tg_job_t *job)
{
    tg_task_t *task;
    tg_buf_t params;

    task = job->owner_data;
    task->pid = ((const tg_exec_t *) job->work)->program.pid;
    tg_task_tell_begin(&params, task->id, tg_buf_view(&task->agent));
    tg_buf_text(&params, ",\"pid\":");
    tg_buf_int(&params, task->pid);
    tg_task_tell(task->engine, tg_buf_view(&task->owner), "task.started",
                 &params);
}

static void
tg_task_on_answer(tg_job_t *job, const tg_buf_t *json)
{
    tg_outcome_t outcome;
    tg_task_t *task;
    tg_buf_t scratch;
    tg_ran_t ran;

    task = job->owner_data;

    if (task->has_ended || task->engine->is_dropped) {
        return;
    }

    if (job->has_started) {
        task->pid = ((const tg_exec_t *) job->work)->program.pid;
    }

    tg_buf_init(&scratch, tg_alloc_libc());
    outcome = tg_outcome_get(tg_buf_view(json), &scratch, &ran);
    task->has_ended = 1;
    task->state = TG_TASK_COMPLETED;

    if (outcome.kind == TG_OUTCOME_FAILURE) {
        task->state = TG_TASK_FAILED;
        task->is_late = outcome.failure == TG_FAILURE_TIMEOUT;
        tg_buf_str(&task->error, outcome.value);
    }

    if (task->is_tool) {
        tg_task_put_result(&task->result, &outcome);
    }

    tg_buf_deinit(&scratch);
    tg_task_finish(task);
}

static void
tg_task_on_gone(tg_job_t *job)
{
    tg_task_t *task;

    task = job->owner_data;
    task->job = NULL;
    tg_task_check(task);
}

static const tg_job_owner_t tg_task_owner = {
    .started = tg_task_on_started,
    .answer = tg_task_on_answer,
    .gone = tg_task_on_gone,
};

/* --- what it puts out --- */

static void
tg_task_on_written(tg_output_ask_t *ask)
{
    tg_engine_t *engine;
    tg_task_t *task;

    task = ask->data;
    engine = task->engine;
    tg_engine_answered(engine);
    task->is_writing = 0;
    tg_buf_reset(&ask->bytes, TG_TASK_PENDING_MAX);

    if (ask->err != 0) {
        task->is_lost = 1;
        tg_buf_reset(&task->output, 0);
        tg_log(TG_LOG_ERROR,
               "the output of a task cannot be written beside %s, the rest of "
               "it is dropped: %s",
               engine->where, strerror(ask->err));
    }

    if (task->is_paused && task->job != NULL && task->job->work != NULL) {
        task->is_paused = 0;
        tg_exec_resume(task->job);
    }

    tg_task_write(task);

    if (task->has_ended) {
        tg_task_finish(task);
    }

    engine->tasks->ops->changed(engine, task->id);
    tg_task_check(task);
}

void
tg_task_write(tg_task_t *task)
{
    const tg_task_t *other;
    tg_output_ask_t *ask;
    tg_buf_t bytes;

    if (task->is_writing || task->output.len == 0) {
        return;
    }

    ask = &task->write;
    bytes = ask->bytes;
    ask->bytes = task->output;
    task->output = bytes;
    ask->op = TG_OUTPUT_APPEND;
    ask->done = tg_task_on_written;
    ask->data = task;
    ask->id = task->id;
    ask->most = (uint64_t) task->max_output;
    ask->quota = (uint64_t) task->engine->config.output_quota;
    ask->nrunning = 0;

    TAILQ_FOREACH(other, &task->engine->running, place)
    {
        if (ask->nrunning < TG_OUTPUT_RUNNING_MAX) {
            ask->running[ask->nrunning++] = other->id;
        }
    }

    ask->offset = task->size;
    task->size += ask->bytes.len;
    task->is_writing = 1;
    task->engine->nwork++;
    tg_outputs_ask(&task->engine->outputs, ask);
}

static void
tg_task_on_output(void *data, int is_err, tg_str_t bytes)
{
    tg_task_t *task;

    task = data;
    tg_tail_add(&task->both, bytes.data, bytes.len);

    if (!is_err) {
        tg_tail_add(&task->out, bytes.data, bytes.len);
    }

    if (task->is_lost) {
        return;
    }

    tg_buf_str(&task->output, bytes);

    if (tg_buf_failed(&task->output)) {
        task->is_lost = 1;
        tg_buf_reset(&task->output, 0);
        return;
    }

    /* A database is asked with the next tick, unless it is much. */
    if (task->engine->outputs.store == NULL
        || task->output.len >= TG_STORE_READ_MAX)
    {
        tg_task_write(task);
    }

    if (task->output.len > TG_TASK_PENDING_MAX && !task->is_paused) {
        task->is_paused = 1;
        tg_exec_pause(task->job);
    }
}

/* --- its beginning --- */

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
    task->started_at = (uint64_t) tg_engine_now();
    tg_buf_init(&task->agent, tg_alloc_libc());
    tg_buf_init(&task->owner, tg_alloc_libc());
    tg_buf_init(&task->prompt, tg_alloc_libc());
    tg_buf_init(&task->output, tg_alloc_libc());
    tg_buf_init(&task->write.bytes, tg_alloc_libc());
    tg_buf_init(&task->result, tg_alloc_libc());
    tg_buf_init(&task->error, tg_alloc_libc());
    tg_buf_init(&task->tail, tg_alloc_libc());
    tg_tail_init(&task->out);
    tg_tail_init(&task->both);
    TAILQ_INIT(&task->cancels);
    TAILQ_INSERT_TAIL(&engine->running, task, place);
    engine->nrunning++;

    return task;
}

/* What is told of it while it runs. */
static void
tg_task_learn(tg_task_t *task, tg_str_t told)
{
    tg_buf_t text;
    tg_str_t value;

    if (tg_json_has(told, TG_STR("agent"), TG_JSON_STRING, &value)) {
        tg_json_put_decoded(&task->agent, tg_json_body(value));
    }

    if (tg_json_has(told, TG_STR("owner"), TG_JSON_STRING, &value)) {
        tg_json_put_decoded(&task->owner, tg_json_body(value));
    }

    if (tg_json_get(told, TG_STR("priority"), &value) == TG_OK) {
        (void) tg_json_int64(value, &task->priority);
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (tg_json_has(told, TG_STR("prompt"), TG_JSON_STRING, &value)) {
        tg_json_put_decoded(&text, tg_json_body(value));
        tg_buf_put(&task->prompt, text.data,
                   tg_utf8_first(tg_buf_view(&text), TG_STORE_BRIEF));
    }

    tg_buf_deinit(&text);
}

/* NULL, or why there is no job for it. */
static const char *
tg_task_enter(tg_task_t *task, tg_str_t told)
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
    agent = tg_task_agent(&task->engine->config, tg_buf_view(&task->agent));

    if (agent == NULL) {
        return tg_engine_orphaned;
    }

    task->max_output = agent->max_output;
    task->is_tool = tg_agent_is_tool(agent);
    why = TG_RUNNER_NO_MEMORY;
    tg_buf_init(&params, tg_alloc_libc());

    if (!task->is_tool) {
        tg_task_put_job(&params, agent, told);
    } else if (tg_json_has(told, TG_STR("job"), TG_JSON_OBJECT, &own)) {
        tg_buf_str(&params, own);
    } else {
        return "what it runs was not written down with it";
    }

    rc = tg_buf_failed(&params)
             ? TG_NOMEM
             : tg_job_read(tasks->jobs, &tg_exec_kind, tasks->programs,
                           tg_buf_view(&params), &job, &why);
    tg_buf_deinit(&params);

    if (rc != TG_OK) {
        return why;
    }

    job->owner = &tg_task_owner;
    job->owner_data = task;
    task->job = job;
    tg_exec_sink(job, tg_task_on_output, task, task->is_tool);

    return tg_job_enter(job) == TG_OK ? NULL : TG_RUNNER_NO_MEMORY;
}

void
tg_task_run(tg_engine_t *engine, int64_t id, tg_str_t told)
{
    const char *why;
    tg_task_t *task;

    task = tg_task_new(engine, id);

    if (task == NULL) {
        tg_log(TG_LOG_CRIT, "no memory to run a task; it stays where it is "
                            "until toolgate-runner is started again");
        return;
    }

    tg_task_learn(task, told);
    why = tg_task_enter(task, told);

    if (why != NULL) {
        tg_task_end(task, TG_TASK_FAILED, why);
        return;
    }

    tg_job_schedule(engine->tasks->jobs);
}
