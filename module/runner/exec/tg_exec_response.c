/* The response of an `exec` job, written in time slices. */
#include "runner/exec/tg_exec.h"

#include <sys/wait.h>

void
tg_exec_end_processes(tg_exec_t *exec, int is_forced)
{
    if (exec->program.has_ended) {
        tg_job_release_limits(exec->job);
    }

    tg_program_end(&exec->program, is_forced);
}

void
tg_exec_end_response(tg_exec_t *exec)
{
    tg_sched_dequeue(&exec->job->jobs->sched.sched, &exec->source);
    tg_job_release_writer(exec->job);

    if (exec->is_answering) {
        exec->is_answering = 0;
        tg_output_response_end(&exec->answer.answer);
    }
}

static void
tg_exec_begin_response(tg_exec_t *exec)
{
    static const char full[] = "It exceeded its memory limit (memory).";
    tg_run_stats_t times;

    if (exec->program.cgroup != 0 && WIFSIGNALED(exec->program.status)
        && tg_cgroup_has_oom_kill(&exec->programs->cgroups,
                                  exec->program.cgroup))
    {
        tg_output_tail_append(&exec->output.err, full, sizeof(full) - 1);
    }

    times = tg_job_get_run_stats(exec->job);
    exec->is_answering = 1;
    tg_exec_response_begin(&exec->answer, &exec->output, &exec->job->params,
                           exec->program.status, &times);
}

void
tg_exec_write_response(tg_sched_source_t *source)
{
    tg_exec_t *exec;

    exec = TG_CONTAINER_OF(source, tg_exec_t, source);

    if (!exec->is_answering && exec->output.size > TG_JOB_LARGE_RESPONSE
        && !tg_job_acquire_writer(exec->job, source))
    {
        return;
    }

    if (!exec->is_answering && tg_job_is_wanted(exec->job)) {
        tg_exec_begin_response(exec);
    }

    if (exec->is_answering
        && !tg_output_response_run(&exec->answer.answer, exec->job, source,
                                   exec->output.size))
    {
        return;
    }

    if (exec->is_answering) {
        tg_job_respond(exec->job, &exec->answer.answer.writer.json);
    }

    tg_exec_end_response(exec);
    tg_job_set_ending(exec->job);
    tg_exec_end_processes(exec, 0);
}

static void
tg_exec_fail_too_large(tg_exec_t *exec)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_job_result_append_too_large(&text, exec->job->params.tool);
    tg_job_fail(exec->job, TG_FAILURE_OUTPUT, "%.*s", (int) text.len,
                text.len != 0 ? text.data : "");
    tg_buf_deinit(&text);
}

void
tg_exec_on_overflow(tg_exec_t *exec, int rc)
{
    if (rc == TG_LIMIT) {
        exec->job->rule = "max_output";
        tg_job_fail(exec->job, TG_FAILURE_OUTPUT,
                    "%s printed more than %zu %s (max_output) and was "
                    "stopped; ask for less.",
                    exec->job->params.tool,
                    exec->params.output_params.max_output,
                    tg_pick_plural(exec->params.output_params.max_output,
                                   "byte", "bytes"));
    } else if (rc == TG_INVALID) {
        tg_exec_fail_too_large(exec);
    } else {
        tg_job_fail(exec->job, TG_FAILURE_INTERNAL,
                    "toolgate-runner has no memory left for the output; try "
                    "again.");
    }

    tg_job_stop(exec->job);
}
