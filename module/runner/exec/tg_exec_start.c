/* The start of a program: creates its pipes and spawns it. */
#include "runner/exec/tg_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* Descriptors: the program's and the runner's pipe ends, -1 for none. */
typedef struct {
    int child[TG_SPAWN_FDS];
    int runner[TG_SPAWN_FDS];
} tg_exec_fds_t;

static void
tg_exec_fds_close(tg_exec_fds_t *fds, int null_fd)
{
    int i;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        if (fds->child[i] != -1 && fds->child[i] != null_fd) {
            (void) close(fds->child[i]);
        }

        if (fds->runner[i] != -1) {
            (void) close(fds->runner[i]);
        }
    }
}

/* Opens stdin, and writes the input before the start, as far as it fits. */
static int
tg_exec_fds_open_input(tg_exec_fds_t *fds, tg_str_t *input, int null_fd)
{
    int pair[2];
    ssize_t n;

    if (input->len == 0) {
        fds->child[TG_EXEC_IN] = null_fd;
        return 0;
    }

    if (pipe2(pair, O_CLOEXEC) == -1) {
        return errno;
    }

    fds->child[TG_EXEC_IN] = pair[0];
    fds->runner[TG_EXEC_IN] = pair[1];

    /*
     * A pipe takes PIPE_BUF bytes at once; a longer write must not block. The
     * program's end is another open file.
     */
    if (input->len > PIPE_BUF && fcntl(pair[1], F_SETFL, O_NONBLOCK) == -1) {
        return errno;
    }

    n = write(pair[1], input->data, input->len);

    if (n > 0) {
        input->data += n;
        input->len -= (size_t) n;
    }

    if (input->len == 0) {
        (void) close(pair[1]);
        fds->runner[TG_EXEC_IN] = -1;
    }

    return 0;
}

static int
tg_exec_fds_open(tg_exec_fds_t *fds, tg_str_t *input, int null_fd)
{
    int pair[2], i, err;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        fds->child[i] = -1;
        fds->runner[i] = -1;
    }

    err = tg_exec_fds_open_input(fds, input, null_fd);

    for (i = TG_EXEC_OUT; err == 0 && i <= TG_EXEC_PROGRESS; i++) {
        if (pipe2(pair, O_CLOEXEC) == -1) {
            err = errno;
            break;
        }

        fds->runner[i] = pair[0];
        fds->child[i] = pair[1];
    }

    return err;
}

/* Opens the runner's pipe ends in the loop. Returns 0 or an errno value. */
static int
tg_exec_open_pipes(tg_exec_t *exec, tg_exec_fds_t *fds)
{
    int i, rc;

    for (i = 0; i < TG_SPAWN_FDS; i++) {
        if (fds->runner[i] == -1) {
            continue;
        }

        rc = uv_pipe_init(exec->job->jobs->loop, &exec->pipes[i], 0);

        if (rc != 0) {
            return -rc;
        }

        exec->pipes[i].data = exec;
        exec->open_pipes |= 1u << i;
        tg_job_ref_handle(exec->job);
        rc = uv_pipe_open(&exec->pipes[i], fds->runner[i]);

        if (rc != 0) {
            return -rc;
        }

        fds->runner[i] = -1;
    }

    return 0;
}

int
tg_exec_spawn(tg_exec_t *exec, tg_str_t *input)
{
    const tg_program_params_t *params;
    tg_failure_t failure;
    tg_spawn_step_t step;
    tg_exec_fds_t fds;
    tg_buf_t text;
    int err, null_fd;

    *input = exec->params.input;
    params = &exec->params.program;
    null_fd = exec->programs->null_fd;
    step = TG_SPAWN_FORK;
    err = tg_exec_fds_open(&fds, input, null_fd);

    if (err == 0) {
        err = tg_exec_open_pipes(exec, &fds);
    }

    if (err == 0) {
        err = tg_program_start(&exec->program, params, params->cwd, fds.child,
                               TG_SPAWN_FDS, &step);
    }

    tg_exec_fds_close(&fds, null_fd);

    if (err != 0) {
        tg_buf_init(&text, tg_alloc_libc());
        failure = tg_program_append_start_error(&text, exec->programs, params,
                                                exec->job->params.tool, step,
                                                err);
        exec->job->rule = "exec";
        tg_job_fail(exec->job, failure, "%.*s", (int) text.len, text.data);
        tg_buf_deinit(&text);
    }

    return err;
}
