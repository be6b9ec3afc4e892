/* MCP's stdio transport: starts a program, reads stderr and ends it. */
#include "runner/mcp/tg_mcp_stdio.h"

#include "base/tg_utf8.h"
#include "runner/mcp/tg_mcp_server.h"
#include "runner/mcp/tg_mcp_stream.h"
#include "runner/logging/tg_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_MCP_STDIO_FDS 3

/* --- stderr --- */

static void
tg_mcp_stdio_log_stderr_line(tg_mcp_conn_t *mcp_conn)
{
    char text[TG_MCP_STDIO_LINE_MAX + 8];
    tg_mcp_stdio_t *stdio;
    tg_buf_t buf;

    stdio = &mcp_conn->stdio;

    if (stdio->line_len != 0
        && tg_mcp_server_can_log(mcp_conn->server, TG_LOG_INFO))
    {
        buf = tg_buf_make_fixed(text, sizeof(text));
        tg_utf8_append_visible(&buf, tg_str(stdio->line, stdio->line_len), 1);
        tg_mcp_conn_log(mcp_conn, TG_LOG_INFO, "stderr: %.*s%s", (int) buf.len,
                        text, stdio->is_long ? " \xe2\x80\xa6" : "");
    }

    stdio->line_len = 0;
    stdio->is_long = 0;
}

static void
tg_mcp_stdio_add_stderr(tg_mcp_conn_t *mcp_conn, const char *data, size_t len)
{
    tg_mcp_stdio_t *stdio;
    const char *end;
    size_t n, room;

    stdio = &mcp_conn->stdio;
    tg_output_tail_append(&stdio->tail, data, len);

    while (len != 0) {
        end = memchr(data, '\n', len);
        n = end != NULL ? (size_t) (end - data) : len;
        room = sizeof(stdio->line) - stdio->line_len;
        stdio->is_long |= n > room;
        room = n < room ? n : room;
        memcpy(stdio->line + stdio->line_len, data, room);
        stdio->line_len += room;

        if (end != NULL) {
            tg_mcp_stdio_log_stderr_line(mcp_conn);
            n++;
        }

        data += n;
        len -= n;
    }
}

static void
tg_mcp_stdio_on_stderr_closed(uv_handle_t *handle)
{
    tg_mcp_conn_unref_handle(handle->data);
}

static void
tg_mcp_stdio_close_stderr(tg_mcp_conn_t *mcp_conn)
{
    tg_mcp_stdio_t *stdio;

    stdio = &mcp_conn->stdio;

    if (stdio->has_err) {
        stdio->has_err = 0;
        tg_uv_stream_reader_stop(&stdio->reader);
        tg_mcp_stdio_log_stderr_line(mcp_conn);
        uv_close((uv_handle_t *) &stdio->err, tg_mcp_stdio_on_stderr_closed);
    }
}

static void
tg_mcp_stdio_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const tg_mcp_conn_t *mcp_conn;
    tg_programs_t *programs;

    mcp_conn = handle->data;
    programs = mcp_conn->stdio.program.programs;
    buf->base = programs->chunk;
    buf->len = sizeof(programs->chunk);
}

static void
tg_mcp_stdio_on_stderr(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = stream->data;
    tg_uv_stream_reader_yield(&mcp_conn->stdio.reader, nread, buf);

    if (nread > 0) {
        tg_mcp_stdio_add_stderr(mcp_conn, buf->base, (size_t) nread);
    } else if (nread < 0) {
        tg_mcp_stdio_close_stderr(mcp_conn);
    }
}

/* Reads the rest of stderr before the end of the program is reported. */
static void
tg_mcp_stdio_drain_stderr(tg_mcp_conn_t *mcp_conn)
{
    tg_programs_t *programs;
    uv_os_fd_t fd;
    size_t taken;
    ssize_t n;

    programs = mcp_conn->stdio.program.programs;

    if (!mcp_conn->stdio.has_err
        || uv_fileno((uv_handle_t *) &mcp_conn->stdio.err, &fd) != 0)
    {
        return;
    }

    for (taken = 0; taken < TG_MCP_STDIO_PIPE_MAX; taken += (size_t) n) {
        do {
            n = read(fd, programs->chunk, sizeof(programs->chunk));
        } while (n == -1 && errno == EINTR);

        if (n <= 0) {
            break;
        }

        tg_mcp_stdio_add_stderr(mcp_conn, programs->chunk, (size_t) n);
    }
}

/* --- end --- */

static void
tg_mcp_stdio_on_timer_closed(uv_handle_t *handle)
{
    const tg_program_t *program;

    program = handle->data;
    tg_mcp_conn_unref_handle(program->host);
}

static void
tg_mcp_stdio_close_fds(const int *fds, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        if (fds[i] != -1) {
            (void) close(fds[i]);
        }
    }
}

/* Closes the handles after the last process has ended or the start failed. */
static void
tg_mcp_stdio_set_gone(tg_mcp_conn_t *mcp_conn)
{
    mcp_conn->stdio.has_gone = 1;
    tg_mcp_stdio_close_fds(&mcp_conn->stdio.in, 1);
    mcp_conn->stdio.in = -1;
    tg_mcp_stdio_drain_stderr(mcp_conn);
    tg_mcp_stdio_close_stderr(mcp_conn);
    uv_close((uv_handle_t *) &mcp_conn->stdio.program.timer,
             tg_mcp_stdio_on_timer_closed);
}

static void
tg_mcp_stdio_on_gone(tg_program_t *program)
{
    tg_mcp_stdio_set_gone(program->host);
}

/* Handles the timer: the time to exit, or to read the output, is over. */
static void
tg_mcp_stdio_on_timer(uv_timer_t *timer)
{
    const tg_program_t *program;
    tg_mcp_conn_t *mcp_conn;

    program = timer->data;
    mcp_conn = program->host;

    if (mcp_conn->stdio.is_over) {
        tg_program_end(&mcp_conn->stdio.program, 1);
    } else {
        tg_mcp_conn_on_lost(mcp_conn);
    }
}

/* Handles the end of the output or of the main process. */
static void
tg_mcp_stdio_on_ended(tg_mcp_conn_t *mcp_conn, uint64_t wait)
{
    tg_mcp_stdio_t *stdio;

    stdio = &mcp_conn->stdio;

    if (stdio->is_over || stdio->has_gone) {
        return;
    }

    if (stdio->is_eof && stdio->program.has_ended) {
        tg_mcp_conn_on_lost(mcp_conn);
    } else {
        uv_timer_start(&stdio->program.timer, tg_mcp_stdio_on_timer, wait, 0);
    }
}

static void
tg_mcp_stdio_on_exited(tg_program_t *program)
{
    tg_mcp_conn_t *mcp_conn;

    mcp_conn = program->host;
    tg_mcp_stdio_drain_stderr(mcp_conn);

    if (!mcp_conn->stdio.is_over) {
        tg_mcp_stdio_on_ended(mcp_conn, TG_MCP_STDIO_DRAIN_MS);
    } else if (!program->is_ending) {
        tg_program_end(program, 1);
    }
}

static const tg_program_ops_t tg_mcp_stdio_program_ops = {
    .on_exited = tg_mcp_stdio_on_exited,
    .on_gone = tg_mcp_stdio_on_gone,
};

static void
tg_mcp_stdio_on_eof(tg_mcp_conn_t *mcp_conn)
{
    mcp_conn->stdio.is_eof = 1;
    tg_mcp_stdio_on_ended(mcp_conn, TG_MCP_STDIO_EOF_MS);
}

static void
tg_mcp_stdio_close(tg_mcp_conn_t *mcp_conn, int is_now)
{
    tg_mcp_stdio_t *stdio;

    stdio = &mcp_conn->stdio;
    tg_mcp_stream_close(mcp_conn);

    if (stdio->has_gone || stdio->program.is_ending) {
        return;
    }

    stdio->is_over = 1;

    if (is_now || stdio->program.has_ended) {
        tg_program_end(&stdio->program, 1);
    } else {
        uv_timer_start(&stdio->program.timer, tg_mcp_stdio_on_timer,
                       TG_MCP_STDIO_EOF_MS, 0);
    }
}

/* Returns the number of bytes in the pipe of stdin after the program's end. */
static size_t
tg_mcp_stdio_get_unread(const tg_mcp_conn_t *mcp_conn)
{
    int n;

    return mcp_conn->stdio.in != -1
                   && ioctl(mcp_conn->stdio.in, FIONREAD, &n) == 0 && n > 0
               ? (size_t) n
               : 0;
}

static int
tg_mcp_stdio_has_finished(const tg_mcp_conn_t *mcp_conn)
{
    const tg_program_t *program;

    program = &mcp_conn->stdio.program;

    return program->has_ended && program->status == 0;
}

static void
tg_mcp_stdio_append_reason(const tg_mcp_conn_t *mcp_conn, tg_buf_t *text)
{
    const tg_mcp_stdio_t *stdio;
    tg_str_t view;
    int is_cut;

    stdio = &mcp_conn->stdio;
    view = tg_output_tail_get(&stdio->tail, &is_cut);

    if (stdio->program.has_ended) {
        tg_exit_status_append_text(text, stdio->program.status);
    } else if (stdio->is_eof) {
        tg_buf_append_cstr(text, " closed its standard output");
    }

    if (view.len == 0 && (stdio->program.has_ended || stdio->is_eof)) {
        tg_buf_append_cstr(text, " and wrote nothing to stderr");
    } else if (view.len != 0) {
        tg_buf_append_cstr(text, is_cut ? ": \xe2\x80\xa6 " : ": ");
        tg_utf8_append_visible(text, view, 0);
    }
}

/* --- start --- */

/* Creates three pipes with two ends each. Returns 0 or an errno value. */
static int
tg_mcp_stdio_open_pipes(int *child_fds, int *runner_fds)
{
    int pair[2], i;

    for (i = 0; i < TG_MCP_STDIO_FDS; i++) {
        child_fds[i] = -1;
        runner_fds[i] = -1;
    }

    for (i = 0; i < TG_MCP_STDIO_FDS; i++) {
        if (pipe2(pair, O_CLOEXEC) == -1) {
            return errno;
        }

        child_fds[i] = pair[i == 0 ? 0 : 1];
        runner_fds[i] = pair[i == 0 ? 1 : 0];
    }

    return 0;
}

/* Opens the runner's pipe ends in the loop. Returns 0 or a libuv error. */
static int
tg_mcp_stdio_attach_pipes(tg_mcp_conn_t *mcp_conn, int *runner_fds)
{
    tg_mcp_stdio_t *stdio;
    int rc;

    stdio = &mcp_conn->stdio;
    rc = uv_pipe_init(mcp_conn->timer.loop, &stdio->err, 0);

    if (rc == 0) {
        stdio->err.data = mcp_conn;
        stdio->has_err = 1;
        tg_mcp_conn_ref_handle(mcp_conn);
        rc = uv_pipe_open(&stdio->err, runner_fds[STDERR_FILENO]);
    }

    if (rc == 0) {
        runner_fds[STDERR_FILENO] = -1;
        rc = tg_uv_stream_reader_start(&stdio->reader,
                                       &mcp_conn->server->servers->jobs->sched,
                                       (uv_stream_t *) &stdio->err,
                                       tg_mcp_stdio_on_alloc,
                                       tg_mcp_stdio_on_stderr);
    }

    if (rc == 0) {
        rc = tg_mcp_stream_open(mcp_conn, runner_fds[STDOUT_FILENO],
                                runner_fds[STDIN_FILENO]);
        runner_fds[STDIN_FILENO] = -1;
        runner_fds[STDOUT_FILENO] = -1;
    }

    return rc;
}

/*
 * Opens and checks the working directory, in which the program starts by
 * descriptor. Returns 0 or an errno; EPERM for another owner.
 */
static int
tg_mcp_stdio_open_cwd(const tg_mcp_conn_t *mcp_conn, const char *path, int *fd)
{
    struct stat folder;

    *fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (*fd == -1 || fstat(*fd, &folder) == -1) {
        return errno;
    }

    return mcp_conn->cwd == NULL || mcp_conn->uid == -1
                   || folder.st_uid == (uid_t) mcp_conn->uid
               ? 0
               : EPERM;
}

static int
tg_mcp_stdio_spawn(tg_mcp_conn_t *mcp_conn, const tg_program_params_t *params,
                   const int *child_fds, tg_spawn_step_t *step)
{
    char path[32];
    int fd, err;

    *step = TG_SPAWN_CWD;
    err = tg_mcp_stdio_open_cwd(mcp_conn, params->cwd, &fd);

    if (err == 0) {
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        err = tg_program_start(&mcp_conn->stdio.program, params, path,
                               child_fds, TG_MCP_STDIO_FDS, step);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return err;
}

static tg_failure_t
tg_mcp_stdio_append_start_error(tg_mcp_conn_t *mcp_conn, tg_buf_t *why,
                                const tg_program_params_t *params,
                                tg_spawn_step_t step, int err)
{
    const char *name;

    name = mcp_conn->server->spec.name;

    if (step == TG_SPAWN_CWD && err == EPERM) {
        tg_buf_printf(why,
                      "%s could not be started: its working directory %s "
                      "does not belong to the caller; call from a folder "
                      "that belongs to the calling user.",
                      name, params->cwd);
        return TG_FAILURE_ARGUMENTS;
    }

    return tg_program_append_start_error(why, mcp_conn->stdio.program.programs,
                                         params, name, step, err);
}

static tg_failure_t
tg_mcp_stdio_open(tg_mcp_conn_t *mcp_conn, tg_buf_t *why)
{
    int child_fds[TG_MCP_STDIO_FDS], runner_fds[TG_MCP_STDIO_FDS], err;
    tg_program_params_t params;
    tg_failure_t failure;
    tg_spawn_step_t step;

    params = mcp_conn->server->spec.program;
    params.cwd = mcp_conn->cwd != NULL ? mcp_conn->cwd : params.cwd;
    memset(&mcp_conn->stdio, 0, sizeof(mcp_conn->stdio));
    mcp_conn->stdio.in = -1;
    tg_program_init(&mcp_conn->stdio.program,
                    mcp_conn->server->servers->programs,
                    &tg_mcp_stdio_program_ops, mcp_conn);
    tg_mcp_conn_ref_handle(mcp_conn);
    step = TG_SPAWN_FORK;
    failure = TG_FAILURE_NONE;
    err = tg_mcp_stdio_open_pipes(child_fds, runner_fds);

    if (err == 0) {
        err = tg_mcp_stdio_spawn(mcp_conn, &params, child_fds, &step);
    }

    if (err == 0) {
        mcp_conn->stdio.in = child_fds[STDIN_FILENO];
        child_fds[STDIN_FILENO] = -1;
    }

    tg_mcp_stdio_close_fds(child_fds, TG_MCP_STDIO_FDS);

    if (err != 0) {
        failure = tg_mcp_stdio_append_start_error(mcp_conn, why, &params, step,
                                                  err);
        tg_mcp_stdio_set_gone(mcp_conn);

    } else if (tg_mcp_stdio_attach_pipes(mcp_conn, runner_fds) != 0) {
        tg_buf_printf(why, "%s could not be started: " TG_RUNNER_NO_MEMORY,
                      mcp_conn->server->spec.name);
        failure = TG_FAILURE_INTERNAL;
    }

    tg_mcp_stdio_close_fds(runner_fds, TG_MCP_STDIO_FDS);

    return failure;
}

const tg_mcp_transport_t tg_mcp_stdio_transport = {
    .open = tg_mcp_stdio_open,
    .flush = tg_mcp_stream_flush,
    .on_ended = tg_mcp_stdio_on_eof,
    .backlog = tg_mcp_stream_get_backlog,
    .get_unread = tg_mcp_stdio_get_unread,
    .has_finished = tg_mcp_stdio_has_finished,
    .is_slice_over = tg_mcp_stream_is_slice_over,
    .append_reason = tg_mcp_stdio_append_reason,
    .close = tg_mcp_stdio_close,
};
