#include "runner/mcp/tg_stdio.h"

#include "base/tg_utf8.h"
#include "runner/mcp/tg_server.h"
#include "runner/mcp/tg_stream.h"
#include "runner/tg_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's descriptors: standard input and outputs. */
#define TG_STDIO_FDS 3

/* --- stderr --- */

static void
tg_stdio_put_line(tg_instance_t *instance)
{
    char text[TG_STDIO_LINE_MAX + 8];
    tg_stdio_t *stdio;
    tg_buf_t buf;

    stdio = &instance->stdio;

    if (stdio->line_len != 0 && tg_instance_may_log(instance, TG_LOG_INFO)) {
        buf = tg_buf_fixed(text, sizeof(text));
        tg_utf8_put_visible(&buf, tg_str(stdio->line, stdio->line_len), 1);
        tg_instance_log(instance, TG_LOG_INFO, "stderr: %.*s%s", (int) buf.len,
                        text, stdio->is_long ? " \xe2\x80\xa6" : "");
    }

    stdio->line_len = 0;
    stdio->is_long = 0;
}

static void
tg_stdio_take_err(tg_instance_t *instance, const char *data, size_t len)
{
    tg_stdio_t *stdio;
    const char *end;
    size_t n, room;

    stdio = &instance->stdio;
    tg_tail_add(&stdio->tail, data, len);

    while (len != 0) {
        end = memchr(data, '\n', len);
        n = end != NULL ? (size_t) (end - data) : len;
        room = sizeof(stdio->line) - stdio->line_len;
        stdio->is_long |= n > room;
        room = n < room ? n : room;
        memcpy(stdio->line + stdio->line_len, data, room);
        stdio->line_len += room;

        if (end != NULL) {
            tg_stdio_put_line(instance);
            n++;
        }

        data += n;
        len -= n;
    }
}

static void
tg_stdio_on_err_closed(uv_handle_t *handle)
{
    tg_instance_release(handle->data);
}

static void
tg_stdio_close_err(tg_instance_t *instance)
{
    tg_stdio_t *stdio;

    stdio = &instance->stdio;

    if (stdio->has_err) {
        stdio->has_err = 0;
        tg_uv_reader_stop(&stdio->reader);
        tg_stdio_put_line(instance);
        uv_close((uv_handle_t *) &stdio->err, tg_stdio_on_err_closed);
    }
}

static void
tg_stdio_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    const tg_instance_t *instance;
    tg_programs_t *programs;

    instance = handle->data;
    programs = instance->stdio.program.programs;
    buf->base = programs->chunk;
    buf->len = sizeof(programs->chunk);
}

static void
tg_stdio_on_err(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    tg_instance_t *instance;

    instance = stream->data;
    tg_uv_reader_yield(&instance->stdio.reader, nread, buf);

    if (nread > 0) {
        tg_stdio_take_err(instance, buf->base, (size_t) nread);
    } else if (nread < 0) {
        tg_stdio_close_err(instance);
    }
}

/* What it said last, before anybody is told that it has ended. */
static void
tg_stdio_drain_err(tg_instance_t *instance)
{
    tg_programs_t *programs;
    uv_os_fd_t fd;
    size_t taken;
    ssize_t n;

    programs = instance->stdio.program.programs;

    if (!instance->stdio.has_err
        || uv_fileno((uv_handle_t *) &instance->stdio.err, &fd) != 0)
    {
        return;
    }

    for (taken = 0; taken < TG_STDIO_PIPE_MAX; taken += (size_t) n) {
        do {
            n = read(fd, programs->chunk, sizeof(programs->chunk));
        } while (n == -1 && errno == EINTR);

        if (n <= 0) {
            break;
        }

        tg_stdio_take_err(instance, programs->chunk, (size_t) n);
    }
}

/* --- the end --- */

static void
tg_stdio_on_timer_closed(uv_handle_t *handle)
{
    const tg_program_t *program;

    program = handle->data;
    tg_instance_release(program->host);
}

static void
tg_stdio_close_fds(const int *fds, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        if (fds[i] != -1) {
            (void) close(fds[i]);
        }
    }
}

/* Nothing of it is left, or it was not started. */
static void
tg_stdio_gone(tg_instance_t *instance)
{
    instance->stdio.has_gone = 1;
    tg_stdio_close_fds(&instance->stdio.in, 1);
    instance->stdio.in = -1;
    tg_stdio_drain_err(instance);
    tg_stdio_close_err(instance);
    uv_close((uv_handle_t *) &instance->stdio.program.timer,
             tg_stdio_on_timer_closed);
}

static void
tg_stdio_on_gone(tg_program_t *program)
{
    tg_stdio_gone(program->host);
}

/* Its time for an end of its own, or for its last words, has passed. */
static void
tg_stdio_on_timer(uv_timer_t *timer)
{
    const tg_program_t *program;
    tg_instance_t *instance;

    program = timer->data;
    instance = program->host;

    if (instance->stdio.is_over) {
        tg_program_finish(&instance->stdio.program, 1);
    } else {
        tg_instance_lost(instance);
    }
}

/* Its output has ended, or its main process: soon both have. */
static void
tg_stdio_ended(tg_instance_t *instance, uint64_t wait)
{
    tg_stdio_t *stdio;

    stdio = &instance->stdio;

    if (stdio->is_over || stdio->has_gone) {
        return;
    }

    if (stdio->is_eof && stdio->program.has_ended) {
        tg_instance_lost(instance);
    } else {
        uv_timer_start(&stdio->program.timer, tg_stdio_on_timer, wait, 0);
    }
}

static void
tg_stdio_on_exited(tg_program_t *program)
{
    tg_instance_t *instance;

    instance = program->host;
    tg_stdio_drain_err(instance);

    if (!instance->stdio.is_over) {
        tg_stdio_ended(instance, TG_STDIO_DRAIN_MS);
    } else if (!program->is_ending) {
        tg_program_finish(program, 1);
    }
}

static const tg_program_ops_t tg_stdio_program_ops = {
    .exited = tg_stdio_on_exited,
    .gone = tg_stdio_on_gone,
};

static void
tg_stdio_eof(tg_instance_t *instance)
{
    instance->stdio.is_eof = 1;
    tg_stdio_ended(instance, TG_STDIO_EOF_MS);
}

static void
tg_stdio_close(tg_instance_t *instance, int is_now)
{
    tg_stdio_t *stdio;

    stdio = &instance->stdio;
    tg_stream_close(instance);

    if (stdio->has_gone || stdio->program.is_ending) {
        return;
    }

    stdio->is_over = 1;

    if (is_now || stdio->program.has_ended) {
        tg_program_finish(&stdio->program, 1);
    } else {
        uv_timer_start(&stdio->program.timer, tg_stdio_on_timer,
                       TG_STDIO_EOF_MS, 0);
    }
}

/* What is left in the pipe was sent before it ended. */
static size_t
tg_stdio_unread(const tg_instance_t *instance)
{
    int n;

    return instance->stdio.in != -1
                   && ioctl(instance->stdio.in, FIONREAD, &n) == 0 && n > 0
               ? (size_t) n
               : 0;
}

static int
tg_stdio_has_finished(const tg_instance_t *instance)
{
    const tg_program_t *program;

    program = &instance->stdio.program;

    return program->has_ended && program->status == 0;
}

static void
tg_stdio_explain(const tg_instance_t *instance, tg_buf_t *text)
{
    const tg_stdio_t *stdio;
    tg_str_t view;
    int is_cut;

    stdio = &instance->stdio;
    view = tg_tail_view(&stdio->tail, &is_cut);

    if (stdio->program.has_ended) {
        tg_tail_put_status(text, stdio->program.status);
    } else if (stdio->is_eof) {
        tg_buf_text(text, " closed its standard output");
    }

    if (view.len == 0 && (stdio->program.has_ended || stdio->is_eof)) {
        tg_buf_text(text, " and wrote nothing to stderr");
    } else if (view.len != 0) {
        tg_buf_text(text, is_cut ? ": \xe2\x80\xa6 " : ": ");
        tg_utf8_put_visible(text, view, 0);
    }
}

/* --- the beginning --- */

/* Three pipes: the program's ends and ours. */
static int
tg_stdio_pipes(int *theirs, int *ours)
{
    int pair[2], i;

    for (i = 0; i < TG_STDIO_FDS; i++) {
        theirs[i] = -1;
        ours[i] = -1;
    }

    for (i = 0; i < TG_STDIO_FDS; i++) {
        if (pipe2(pair, O_CLOEXEC) == -1) {
            return errno;
        }

        theirs[i] = pair[i == 0 ? 0 : 1];
        ours[i] = pair[i == 0 ? 1 : 0];
    }

    return 0;
}

/* It runs: our ends become the loop's. */
static int
tg_stdio_started(tg_instance_t *instance, int *ours)
{
    tg_stdio_t *stdio;
    int rc;

    stdio = &instance->stdio;
    rc = uv_pipe_init(instance->timer.loop, &stdio->err, 0);

    if (rc == 0) {
        stdio->err.data = instance;
        stdio->has_err = 1;
        tg_instance_hold(instance);
        rc = uv_pipe_open(&stdio->err, ours[STDERR_FILENO]);
    }

    if (rc == 0) {
        ours[STDERR_FILENO] = -1;
        rc = tg_uv_reader_start(&stdio->reader,
                                &instance->server->servers->jobs->sched,
                                (uv_stream_t *) &stdio->err, tg_stdio_on_alloc,
                                tg_stdio_on_err);
    }

    if (rc == 0) {
        rc = tg_stream_open(instance, ours[STDOUT_FILENO], ours[STDIN_FILENO]);
        ours[STDIN_FILENO] = -1;
        ours[STDOUT_FILENO] = -1;
    }

    return rc;
}

/*
 * The folder of a client's: a descriptor, so that it is the one that was
 * looked at where the program starts.  An errno.
 */
static int
tg_stdio_folder(const tg_instance_t *instance, const char *path, int *fd)
{
    struct stat folder;

    *fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (*fd == -1 || fstat(*fd, &folder) == -1) {
        return errno;
    }

    return instance->cwd == NULL || instance->uid == -1
                   || folder.st_uid == (uid_t) instance->uid
               ? 0
               : EPERM;
}

static int
tg_stdio_spawn(tg_instance_t *instance, const tg_program_params_t *params,
               const int *theirs, tg_spawn_step_t *step)
{
    char path[32];
    int fd, err;

    *step = TG_SPAWN_CWD;
    err = tg_stdio_folder(instance, params->cwd, &fd);

    if (err == 0) {
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        err = tg_program_start(&instance->stdio.program, params, path, theirs,
                               TG_STDIO_FDS, step);
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return err;
}

static tg_failure_t
tg_stdio_explain_start(tg_instance_t *instance, tg_buf_t *why,
                       const tg_program_params_t *params, tg_spawn_step_t step,
                       int err)
{
    const char *name;

    name = instance->server->spec.name;

    if (step == TG_SPAWN_CWD && err == EPERM) {
        tg_buf_printf(why,
                      "%s could not be started: its working directory %s is "
                      "not the caller's own; call from a folder that belongs "
                      "to the user that calls.",
                      name, params->cwd);
        return TG_FAILURE_ARGUMENTS;
    }

    return tg_program_explain(why, instance->stdio.program.programs, params,
                              name, step, err);
}

static tg_failure_t
tg_stdio_open(tg_instance_t *instance, tg_buf_t *why)
{
    int theirs[TG_STDIO_FDS], ours[TG_STDIO_FDS], err;
    tg_program_params_t params;
    tg_failure_t failure;
    tg_spawn_step_t step;

    params = instance->server->spec.program;
    params.cwd = instance->cwd != NULL ? instance->cwd : params.cwd;
    memset(&instance->stdio, 0, sizeof(instance->stdio));
    instance->stdio.in = -1;
    tg_program_init(&instance->stdio.program,
                    instance->server->servers->programs, &tg_stdio_program_ops,
                    instance);
    tg_instance_hold(instance);
    step = TG_SPAWN_FORK;
    failure = TG_FAILURE_NONE;
    err = tg_stdio_pipes(theirs, ours);

    if (err == 0) {
        err = tg_stdio_spawn(instance, &params, theirs, &step);
    }

    if (err == 0) {
        instance->stdio.in = theirs[STDIN_FILENO];
        theirs[STDIN_FILENO] = -1;
    }

    tg_stdio_close_fds(theirs, TG_STDIO_FDS);

    if (err != 0) {
        failure = tg_stdio_explain_start(instance, why, &params, step, err);
        tg_stdio_gone(instance);

    } else if (tg_stdio_started(instance, ours) != 0) {
        tg_buf_printf(why, "%s could not be started: " TG_RUNNER_NO_MEMORY,
                      instance->server->spec.name);
        failure = TG_FAILURE_INTERNAL;
    }

    tg_stdio_close_fds(ours, TG_STDIO_FDS);

    return failure;
}

const tg_transport_t tg_stdio_transport = {
    .open = tg_stdio_open,
    .flush = tg_stream_flush,
    .ended = tg_stdio_eof,
    .backlog = tg_stream_backlog,
    .unread = tg_stdio_unread,
    .has_finished = tg_stdio_has_finished,
    .is_slice_over = tg_stream_is_slice_over,
    .explain = tg_stdio_explain,
    .close = tg_stdio_close,
};
