/* The scheduler of a libuv loop. */
#include "transport/tg_uv_sched.h"

static uint64_t
tg_uv_sched_get_time(void *host)
{
    return uv_hrtime() / 1000;
}

/* Runs the next source before the poll, which does not block now. */
static void
tg_uv_sched_on_idle(uv_idle_t *idle)
{
    tg_uv_sched_t *sched;

    sched = TG_CONTAINER_OF(idle, tg_uv_sched_t, idle);

    if (!tg_sched_run_next(&sched->sched)) {
        (void) uv_idle_stop(idle);
    }
}

static void
tg_uv_sched_wake(void *host)
{
    tg_uv_sched_t *sched;

    sched = host;

    if (!uv_is_closing((uv_handle_t *) &sched->idle)) {
        (void) uv_idle_start(&sched->idle, tg_uv_sched_on_idle);
    }
}

void
tg_uv_sched_init(tg_uv_sched_t *sched, uv_loop_t *loop)
{
    memset(sched, 0, sizeof(*sched));
    sched->loop = loop;
    sched->sched.now = tg_uv_sched_get_time;
    sched->sched.wake = tg_uv_sched_wake;
    sched->sched.host = sched;
    sched->sched.memory_max = TG_UV_MEMORY_MAX;
    (void) uv_idle_init(loop, &sched->idle);
}

void
tg_uv_sched_close(tg_uv_sched_t *sched, uv_close_cb closed)
{
    uv_close((uv_handle_t *) &sched->idle, closed);
}

static void
tg_uv_stream_reader_run_slice(tg_sched_source_t *source)
{
    tg_uv_stream_reader_t *reader;

    reader = TG_CONTAINER_OF(source, tg_uv_stream_reader_t, source);

    /* Fails for a stream that is being closed, which needs no reader. */
    (void) uv_read_start(reader->stream, reader->alloc, reader->read);
}

int
tg_uv_stream_reader_start(tg_uv_stream_reader_t *reader, tg_uv_sched_t *sched,
                          uv_stream_t *stream, uv_alloc_cb alloc,
                          uv_read_cb read)
{
    int rc;

    if (reader->source.is_queued) {
        return 0;
    }

    reader->source.run = tg_uv_stream_reader_run_slice;
    reader->sched = sched;
    reader->stream = stream;
    reader->alloc = alloc;
    reader->read = read;
    rc = uv_read_start(stream, alloc, read);

    return rc == UV_EALREADY ? 0 : rc;
}

void
tg_uv_stream_reader_stop(tg_uv_stream_reader_t *reader)
{
    if (reader->stream != NULL) {
        tg_sched_dequeue(&reader->sched->sched, &reader->source);
        (void) uv_read_stop(reader->stream);
    }
}

void
tg_uv_stream_reader_yield(tg_uv_stream_reader_t *reader, ssize_t nread,
                          const uv_buf_t *buf)
{
    if (nread > 0 && (size_t) nread == buf->len) {
        (void) uv_read_stop(reader->stream);
        tg_sched_enqueue(&reader->sched->sched, &reader->source);
    }
}
