/*
 * Progress on its way from a program to whoever called it.
 *
 * At most one piece is read and one notification sent each TG_EXEC_PACE_MS:
 * what a program writes beyond that waits in its pipe.  The newest counts;
 * those that nobody was told of are passed over.
 */
#include "runner/tg_exec.h"

#include <errno.h>
#include <unistd.h>

static void tg_exec_on_pace(uv_timer_t *timer);

void
tg_exec_put_progress(tg_peer_t *peer, tg_str_t id, tg_str_t progress)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&json, "{\"id\":");
    tg_buf_str(&json, id);
    tg_buf_char(&json, ',');
    tg_buf_str(&json, progress);
    tg_buf_char(&json, '}');

    if (!tg_buf_failed(&json)) {
        tg_peer_notify(peer, TG_STR("progress"), tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
}

static void
tg_exec_progress_send(tg_exec_t *exec)
{
    tg_buf_t newest;

    /* A notification has no id by which its progress could be known. */
    if (exec->call == NULL || exec->call->reply.id.data == NULL
        || !tg_progress_is_new(&exec->progress))
    {
        return;
    }

    tg_buf_init(&newest, tg_alloc_libc());
    tg_progress_take(&exec->progress, &newest);

    if (!tg_buf_failed(&newest)) {
        tg_exec_put_progress(exec->call->peer, exec->call->reply.id,
                             tg_buf_view(&newest));
    }

    tg_buf_deinit(&newest);
}

/* Sends what is new, when the peer takes it: then nothing new is left. */
static int
tg_exec_progress_offer(tg_exec_t *exec)
{
    const tg_execs_t *execs;
    tg_peer_t *peer;

    if (exec->call == NULL || !tg_progress_is_new(&exec->progress)) {
        return 1;
    }

    execs = exec->execs;
    peer = exec->call->peer;

    if (!execs->ops->may_tell(execs->host, peer)) {
        return 0;
    }

    tg_exec_progress_send(exec);
    execs->ops->told(execs->host, peer);

    return 1;
}

static void
tg_exec_progress_rose(tg_exec_t *exec, int has_risen)
{
    if (has_risen && exec->state == TG_EXEC_RUNNING) {
        tg_exec_set_deadline(exec);
    }
}

static void
tg_exec_on_progress_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    tg_execs_t *execs;

    execs = ((tg_exec_t *) handle->data)->execs;
    buf->base = execs->chunk;
    buf->len = sizeof(execs->chunk);
}

static void
tg_exec_on_progress(uv_stream_t *stream, ssize_t nread, const uv_buf_t *buf)
{
    tg_exec_t *exec;

    exec = stream->data;

    if (nread == 0) {
        return;
    }

    if (nread > 0) {
        tg_exec_progress_rose(exec, tg_progress_feed(&exec->progress, buf->base,
                                                     (size_t) nread));
        (void) uv_read_stop(stream);
    } else {
        tg_exec_progress_rose(exec, tg_progress_end(&exec->progress));
        tg_exec_close_pipe(exec, TG_EXEC_PROGRESS);
    }

    if (!tg_exec_progress_offer(exec) || nread > 0) {
        uv_timer_start(&exec->pace, tg_exec_on_pace, TG_EXEC_PACE_MS, 0);
    }
}

static void
tg_exec_on_pace(uv_timer_t *timer)
{
    tg_exec_t *exec;

    exec = timer->data;

    if (!tg_exec_progress_offer(exec)) {
        uv_timer_start(timer, tg_exec_on_pace, TG_EXEC_PACE_MS, 0);
        return;
    }

    if (exec->open_pipes & 1u << TG_EXEC_PROGRESS) {
        tg_exec_progress_start(exec);
    }
}

void
tg_exec_progress_start(tg_exec_t *exec)
{
    if (uv_read_start((uv_stream_t *) &exec->pipes[TG_EXEC_PROGRESS],
                      tg_exec_on_progress_alloc, tg_exec_on_progress)
        != 0)
    {
        tg_exec_close_pipe(exec, TG_EXEC_PROGRESS);
    }
}

/* Reads what is in the pipe now, but is not held up by who keeps writing. */
static int
tg_exec_progress_drain(tg_exec_t *exec)
{
    int has_risen, has_ended;
    tg_execs_t *execs;
    uv_os_fd_t fd;
    size_t total;
    ssize_t n;

    has_risen = 0;
    has_ended = 0;
    execs = exec->execs;

    if (!(exec->open_pipes & 1u << TG_EXEC_PROGRESS)
        || uv_fileno((uv_handle_t *) &exec->pipes[TG_EXEC_PROGRESS], &fd) != 0)
    {
        return 0;
    }

    for (total = 0; total < TG_EXEC_PIPE_MAX; total += (size_t) n) {
        do {
            n = read(fd, execs->chunk, sizeof(execs->chunk));
        } while (n == -1 && errno == EINTR);

        if (n <= 0) {
            has_ended = n == 0;
            break;
        }

        has_risen |= tg_progress_feed(&exec->progress, execs->chunk,
                                      (size_t) n);
    }

    if (has_ended) {
        has_risen |= tg_progress_end(&exec->progress);
    }

    return has_risen;
}

/* As if it had been read in its turn; that comes by itself otherwise. */
static void
tg_exec_progress_soon(tg_exec_t *exec)
{
    if (uv_is_active((uv_handle_t *) &exec->pace)) {
        return;
    }

    if (exec->open_pipes & 1u << TG_EXEC_PROGRESS) {
        (void) uv_read_stop((uv_stream_t *) &exec->pipes[TG_EXEC_PROGRESS]);
    }

    uv_timer_start(&exec->pace, tg_exec_on_pace, 0, 0);
}

int
tg_exec_progress_at_deadline(tg_exec_t *exec)
{
    if (!tg_exec_progress_drain(exec)) {
        return 0;
    }

    tg_exec_set_deadline(exec);
    tg_exec_progress_soon(exec);

    return 1;
}

void
tg_exec_progress_adopted(tg_exec_t *exec)
{
    if (tg_progress_is_new(&exec->progress)) {
        tg_exec_progress_soon(exec);
    }
}

void
tg_exec_progress_last(tg_exec_t *exec)
{
    (void) tg_exec_progress_drain(exec);

    /* It was the program's last word, with a newline or without. */
    if (exec->is_reaped) {
        (void) tg_progress_end(&exec->progress);
    }

    tg_exec_progress_send(exec);
}
