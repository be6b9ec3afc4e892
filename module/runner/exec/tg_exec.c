/* Runs a job's program: pipes, outputs, progress and end. */
#include "runner/exec/tg_exec.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void tg_exec_on_timer(uv_timer_t *timer);

/* --- handles --- */

static void
tg_exec_on_closed(uv_handle_t *handle)
{
    tg_exec_t *exec;

    exec = handle->data;
    tg_job_unref_handle(exec->job);
}

static void
tg_exec_on_program_closed(uv_handle_t *handle)
{
    const tg_program_t *program;

    program = handle->data;
    tg_job_unref_handle(((tg_exec_t *) program->host)->job);
}

static void
tg_exec_close_pipe(tg_exec_t *exec, int i)
{
    if (exec->open_pipes & 1u << i) {
        exec->open_pipes &= ~(1u << i);
        tg_uv_stream_reader_stop(&exec->readers[i]);
        uv_close((uv_handle_t *) &exec->pipes[i], tg_exec_on_closed);
    }
}

/* Closes all handles after the last process has ended or the start failed. */
static void
tg_exec_close_handles(tg_exec_t *exec)
{
    int i;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        tg_exec_close_pipe(exec, i);
    }

    uv_close((uv_handle_t *) &exec->program.timer, tg_exec_on_program_closed);
}

/* --- end --- */

static void
tg_exec_on_gone(tg_program_t *program)
{
    tg_exec_t *exec;

    exec = program->host;
    tg_exec_close_handles(exec);
    tg_job_set_done(exec->job);
}

static void
tg_exec_stop(tg_job_t *job)
{
    tg_exec_end_response(job->work);
    tg_exec_end_processes(job->work, 1);
}

/* Responds after the main process has ended and its outputs are complete. */
static void
tg_exec_on_complete(tg_exec_t *exec)
{
    /*
     * Delay the response: some clients would take progress in the same read for
     * that of a finished call.
     */
    if (!exec->has_sent_progress) {
        exec->has_sent_progress = 1;

        if (tg_job_flush_progress(exec->job)) {
            uv_timer_start(&exec->program.timer, tg_exec_on_timer,
                           TG_JOB_PROGRESS_GAP_MS, 0);
            return;
        }
    }

    /* The scheduler serves other jobs before a large response. */
    exec->is_complete = 1;

    if (exec->output.size > TG_JOB_LARGE_RESPONSE) {
        tg_sched_enqueue(&exec->job->jobs->sched.sched, &exec->source);
    } else {
        tg_exec_write_response(&exec->source);
    }
}

/* --- pipes --- */

static int
tg_exec_feed(tg_exec_t *exec, int i, const char *data, size_t len)
{
    if (exec->sink != NULL && i != TG_EXEC_PROGRESS) {
        exec->sink(exec->sink_data, i == TG_EXEC_ERR, tg_str(data, len));
    }

    switch (i) {
    case TG_EXEC_OUT:
        return exec->sink != NULL && !exec->is_answer_copied
                   ? TG_OK
                   : tg_exec_output_add_stdout(&exec->output, data, len);
    case TG_EXEC_ERR:
        return tg_exec_output_add_stderr(&exec->output, data, len);
    default:
        exec->has_progress |= tg_progress_feed(&exec->job->progress, data, len);
    }

    return TG_OK;
}

static void
tg_exec_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    tg_programs_t *programs;

    programs = ((tg_exec_t *) handle->data)->programs;
    buf->base = programs->chunk;
    buf->len = sizeof(programs->chunk);
}

static void
tg_exec_on_read(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    tg_exec_t *exec;
    int i, rc;

    exec = stream->data;
    i = (int) ((uv_pipe_t *) stream - exec->pipes);
    tg_uv_stream_reader_yield(&exec->readers[i], nread, buf);

    if (nread < 0) {
        tg_exec_close_pipe(exec, i);

        if (--exec->nreading == 0 && exec->program.has_ended
            && exec->job->state == TG_JOB_RUNNING)
        {
            tg_exec_on_complete(exec);
        }

        return;
    }

    /* Keep reading, or a process that is being ended would block in write(). */
    if (nread == 0 || exec->job->state != TG_JOB_RUNNING || exec->is_complete) {
        return;
    }

    rc = tg_exec_feed(exec, i, buf->base, (size_t) nread);

    if (rc != TG_OK) {
        tg_exec_on_overflow(exec, rc);
    }
}

static int
tg_exec_start_reading(tg_exec_t *exec, int i)
{
    return tg_uv_stream_reader_start(&exec->readers[i], &exec->job->jobs->sched,
                                     (uv_stream_t *) &exec->pipes[i],
                                     tg_exec_on_alloc, tg_exec_on_read);
}

void
tg_exec_set_sink(tg_job_t *job, tg_exec_sink_pt sink, void *data,
                 int is_answer_copied)
{
    tg_exec_t *exec;

    exec = job->work;
    exec->sink = sink;
    exec->sink_data = data;
    exec->is_answer_copied = is_answer_copied;
}

void
tg_exec_pause(tg_job_t *job)
{
    tg_exec_t *exec;
    int i;

    exec = job->work;

    for (i = TG_EXEC_OUT; i <= TG_EXEC_ERR; i++) {
        if (exec->open_pipes & 1u << i) {
            tg_uv_stream_reader_stop(&exec->readers[i]);
        }
    }
}

/* Also resumes a program that is being ended, or it would block in write(). */
void
tg_exec_resume(tg_job_t *job)
{
    tg_exec_t *exec;
    int i;

    exec = job->work;

    for (i = TG_EXEC_OUT; i <= TG_EXEC_ERR; i++) {
        if (exec->open_pipes & 1u << i) {
            (void) tg_exec_start_reading(exec, i);
        }
    }
}

/* Reads one piece of progress; the rest waits until the client has this one. */
static void
tg_exec_on_progress(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    tg_exec_t *exec;

    exec = stream->data;
    exec->has_progress = 0;

    if (nread == 0) {
        return;
    }

    if (nread > 0) {
        (void) tg_exec_feed(exec, TG_EXEC_PROGRESS, buf->base, (size_t) nread);
        (void) uv_read_stop(stream);
    } else {
        exec->has_progress = tg_progress_feed_end(&exec->job->progress);
        tg_exec_close_pipe(exec, TG_EXEC_PROGRESS);
    }

    tg_job_on_progress(exec->job, exec->has_progress);
}

static void
tg_exec_resume_progress(tg_job_t *job)
{
    uv_stream_t *stream;
    tg_exec_t *exec;

    exec = job->work;
    stream = (uv_stream_t *) &exec->pipes[TG_EXEC_PROGRESS];

    if (!(exec->open_pipes & 1u << TG_EXEC_PROGRESS)) {
        return;
    }

    (void) uv_read_stop(stream);

    if (uv_read_start(stream, tg_exec_on_alloc, tg_exec_on_progress) != 0) {
        tg_exec_close_pipe(exec, TG_EXEC_PROGRESS);
    }
}

/*
 * Reads a pipe's content without the loop, at most its capacity: a process that
 * writes all the time must not block the runner. Returns TG_OK, TG_END, or a
 * code of tg_exec_feed().
 */
static int
tg_exec_drain_pipe(tg_exec_t *exec, int i)
{
    uv_os_fd_t fd;
    size_t taken;
    ssize_t n;
    char *chunk;
    int rc;

    chunk = exec->programs->chunk;

    if (!(exec->open_pipes & 1u << i)
        || uv_fileno((uv_handle_t *) &exec->pipes[i], &fd) != 0)
    {
        return TG_OK;
    }

    for (taken = 0; taken < TG_EXEC_PIPE_MAX; taken += (size_t) n) {
        do {
            n = read(fd, chunk, sizeof(exec->programs->chunk));
        } while (n == -1 && errno == EINTR);

        if (n <= 0) {
            return n == 0 ? TG_END : TG_OK;
        }

        rc = tg_exec_feed(exec, i, chunk, (size_t) n);

        if (rc != TG_OK) {
            return rc;
        }
    }

    return TG_OK;
}

static int
tg_exec_poll_progress(tg_job_t *job)
{
    tg_exec_t *exec;
    int rc;

    exec = job->work;
    exec->has_progress = 0;
    rc = tg_exec_drain_pipe(exec, TG_EXEC_PROGRESS);

    /* The last line may have no newline. */
    if (rc == TG_END || exec->program.has_ended) {
        exec->has_progress |= tg_progress_feed_end(&job->progress);
    }

    return exec->has_progress;
}

/* --- events --- */

/* Completes the outputs when the time for descendants to write is over. */
static void
tg_exec_on_drained(tg_exec_t *exec)
{
    int i, rc;

    if (exec->is_complete) {
        return;
    }

    /* libuv runs timers before pipes, so data may be unread. */
    for (i = TG_EXEC_OUT; i <= TG_EXEC_ERR; i++) {
        rc = tg_exec_drain_pipe(exec, i);

        if (rc != TG_OK && rc != TG_END) {
            tg_exec_on_overflow(exec, rc);
            return;
        }
    }

    tg_exec_on_complete(exec);
}

static void
tg_exec_on_timer(uv_timer_t *timer)
{
    const tg_program_t *program;

    program = timer->data;
    tg_exec_on_drained(program->host);
}

static void
tg_exec_on_exited(tg_program_t *program)
{
    tg_exec_t *exec;

    exec = program->host;
    tg_job_on_work_ended(exec->job);

    if (exec->job->state != TG_JOB_RUNNING) {
        tg_job_release_limits(exec->job);

    } else if (exec->nreading == 0) {
        tg_exec_on_complete(exec);

    } else {
        uv_timer_start(&program->timer, tg_exec_on_timer, TG_EXEC_DRAIN_MS, 0);
    }
}

static const tg_program_ops_t tg_exec_program_ops = {
    .on_exited = tg_exec_on_exited,
    .on_gone = tg_exec_on_gone,
};

/* --- start --- */

/* Closes stdin after the input, or if the program has closed it: no error. */
static void
tg_exec_on_write(uv_write_t *req, int status)
{
    tg_exec_close_pipe(req->data, TG_EXEC_IN);
}

static void
tg_exec_start_pipes(tg_exec_t *exec, tg_str_t input)
{
    uv_buf_t buf;
    int i;

    tg_exec_resume_progress(exec->job);

    for (i = TG_EXEC_OUT; i <= TG_EXEC_ERR; i++) {
        if (tg_exec_start_reading(exec, i) == 0) {
            exec->nreading++;
        } else {
            tg_exec_close_pipe(exec, i);
        }
    }

    if (input.len != 0) {
        buf.base = (char *) (uintptr_t) input.data;
        buf.len = input.len;
        exec->write.data = exec;

        if (uv_write(&exec->write, (uv_stream_t *) &exec->pipes[TG_EXEC_IN],
                     &buf, 1, tg_exec_on_write)
            != 0)
        {
            tg_exec_close_pipe(exec, TG_EXEC_IN);
        }
    }
}

static int
tg_exec_start(tg_job_t *job)
{
    tg_exec_t *exec;
    tg_str_t input;
    int err;

    exec = job->work;
    tg_program_init(&exec->program, exec->programs, &tg_exec_program_ops, exec);
    tg_job_ref_handle(job);
    err = tg_exec_spawn(exec, &input);

    if (err != 0) {
        tg_exec_close_handles(exec);
        return -1;
    }

    tg_exec_start_pipes(exec, input);

    return 0;
}

static int
tg_exec_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_exec_t *exec;
    int rc;

    exec = calloc(1, sizeof(*exec));

    if (exec == NULL) {
        return TG_NOMEM;
    }

    exec->job = job;
    exec->programs = job->host;
    exec->source.run = tg_exec_write_response;
    rc = tg_exec_params_read(&exec->params, values, job->params.tool,
                             &exec->programs->env, why);

    if (rc != TG_OK) {
        free(exec);
        return rc;
    }

    tg_exec_output_init(&exec->output, exec->params.output_params.type,
                        exec->params.output_params.max_output);
    exec->output.output_params = exec->params.output_params;

    if (exec->params.output_params.store_params.owner[0] != '\0') {
        exec->output.output_params.store_params.output_store =
            exec->programs->output_store;
    }

    job->bytes += exec->params.size;
    job->work = exec;

    return TG_OK;
}

static void
tg_exec_free(tg_job_t *job)
{
    tg_exec_t *exec;

    exec = job->work;
    tg_exec_end_response(exec);
    tg_exec_params_free(&exec->params);
    tg_exec_output_deinit(&exec->output);
    free(exec);
}

static pid_t
tg_exec_get_pid(const tg_job_t *job)
{
    return ((const tg_exec_t *) job->work)->program.pid;
}

const tg_job_type_t tg_exec_job_type = {
    .name = "exec",
    .fields = tg_exec_fields,
    .timeout_ms = TG_EXEC_TIMEOUT_DEFAULT,
    .read = tg_exec_read,
    .start = tg_exec_start,
    .stop = tg_exec_stop,
    .free = tg_exec_free,
    .poll_progress = tg_exec_poll_progress,
    .resume_progress = tg_exec_resume_progress,
    .pid = tg_exec_get_pid,
};
