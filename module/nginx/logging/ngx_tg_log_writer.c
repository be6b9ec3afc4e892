/* The thread that writes records to a file, and the worker's functions. */

#include "nginx/logging/ngx_tg_log_writer.h"

#include <pthread.h>
#include <signal.h>

struct ngx_tg_log_writer_s {
    pthread_t thread;
    ngx_fd_t fd; /* used by the thread only */

    pthread_mutex_t lock;     /* protects all following members */
    pthread_cond_t work_cond; /* signals new work */
    pthread_cond_t idle_cond; /* signals that no work is left */
    ngx_tg_log_batch_t batch;
    ngx_tg_log_write_result_t written;
    ngx_fd_t next_fd; /* -1: none */
    /* the thread owns the batch and writes it */
    ngx_uint_t has_batch;
    ngx_uint_t is_stopping;
};

void
ngx_tg_log_batch_init(ngx_tg_log_batch_t *batch)
{
    ngx_memzero(batch, sizeof(ngx_tg_log_batch_t));
    tg_buf_init(&batch->bytes, tg_alloc_libc());
    tg_buf_init(&batch->ends, tg_alloc_libc());
}

void
ngx_tg_log_batch_deinit(ngx_tg_log_batch_t *batch)
{
    tg_buf_deinit(&batch->bytes);
    tg_buf_deinit(&batch->ends);
}

static void
ngx_tg_log_batch_clear(ngx_tg_log_batch_t *batch)
{
    tg_buf_reset(&batch->bytes, NGX_TG_LOG_BATCH_KEEP);
    tg_buf_reset(&batch->ends, NGX_TG_LOG_BATCH_KEEP);
    batch->note_len = 0;
    batch->drops_noted = 0;
}

static ngx_uint_t
ngx_tg_log_batch_count_unwritten(const ngx_tg_log_batch_t *batch, size_t bytes)
{
    ngx_uint_t n;
    uint32_t end;
    size_t i;

    for (i = batch->ends.len, n = 0; i != 0; i -= sizeof(end), n++) {
        ngx_memcpy(&end, batch->ends.data + i - sizeof(end), sizeof(end));

        if (end <= bytes) {
            break;
        }
    }

    return n;
}

/* --- the thread --- */

/* Returns the number of bytes written, and sets err if some are missing. */
static size_t
ngx_tg_log_writer_write_batch(ngx_fd_t fd, const tg_buf_t *bytes,
                              ngx_err_t *err)
{
    size_t done;
    ssize_t n;

    for (done = 0; done < bytes->len; done += (size_t) n) {
        n = write(fd, bytes->data + done, bytes->len - done);

        if (n <= 0) {
            *err = n < 0 ? ngx_errno : NGX_ENOSPC;
            break;
        }
    }

    return done;
}

/* Does all pending work of the thread; unlocks only during a write. */
static void
ngx_tg_log_writer_work(ngx_tg_log_writer_t *writer)
{
    ngx_err_t err;
    ngx_fd_t old;
    size_t done;

    if (writer->has_batch) {
        err = 0;
        (void) pthread_mutex_unlock(&writer->lock);
        done = ngx_tg_log_writer_write_batch(writer->fd, &writer->batch.bytes,
                                             &err);
        (void) pthread_mutex_lock(&writer->lock);

        if (done != writer->batch.bytes.len) {
            writer->written.lost += ngx_tg_log_batch_count_unwritten(
                &writer->batch, done);
            writer->written.unreported += done < writer->batch.note_len
                                              ? writer->batch.drops_noted
                                              : 0;
            writer->written.err = err;
        } else {
            writer->written.written++;
        }

        ngx_tg_log_batch_clear(&writer->batch);
        writer->has_batch = 0;

    } else {
        old = writer->fd;
        writer->fd = writer->next_fd;
        writer->next_fd = -1;
        (void) pthread_mutex_unlock(&writer->lock);
        (void) close(old);
        (void) pthread_mutex_lock(&writer->lock);
    }
}

static void *
ngx_tg_log_writer_run(void *data)
{
    ngx_tg_log_writer_t *writer = data;

    (void) pthread_mutex_lock(&writer->lock);

    for (;;) {
        if (writer->has_batch || writer->next_fd != -1) {
            ngx_tg_log_writer_work(writer);
            continue;
        }

        (void) pthread_cond_broadcast(&writer->idle_cond);

        if (writer->is_stopping) {
            break;
        }

        (void) pthread_cond_wait(&writer->work_cond, &writer->lock);
    }

    (void) pthread_mutex_unlock(&writer->lock);

    return NULL;
}

/* --- functions of the worker --- */

static void
ngx_tg_log_writer_free(ngx_tg_log_writer_t *writer)
{
    (void) close(writer->fd);
    (void) pthread_cond_destroy(&writer->work_cond);
    (void) pthread_cond_destroy(&writer->idle_cond);
    (void) pthread_mutex_destroy(&writer->lock);
    ngx_tg_log_batch_deinit(&writer->batch);
    tg_free(tg_alloc_libc(), writer);
}

ngx_tg_log_writer_t *
ngx_tg_log_writer_start(ngx_fd_t fd)
{
    ngx_tg_log_writer_t *writer;
    sigset_t all, before;
    int rc;

    writer = tg_calloc(tg_alloc_libc(), sizeof(ngx_tg_log_writer_t));

    if (writer == NULL) {
        (void) close(fd);
        ngx_set_errno(NGX_ENOMEM);
        return NULL;
    }

    writer->fd = fd;
    writer->next_fd = -1;
    ngx_tg_log_batch_init(&writer->batch);
    (void) pthread_mutex_init(&writer->lock, NULL);
    (void) pthread_cond_init(&writer->work_cond, NULL);
    (void) pthread_cond_init(&writer->idle_cond, NULL);

    /* The worker handles all signals. */
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&writer->thread, NULL, ngx_tg_log_writer_run, writer);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (rc != 0) {
        ngx_tg_log_writer_free(writer);
        ngx_set_errno(rc);
        return NULL;
    }

    return writer;
}

static void
ngx_tg_log_writer_set_deadline(struct timespec *until, ngx_msec_t patience)
{
    (void) clock_gettime(CLOCK_REALTIME, until);
    until->tv_sec += (time_t) (patience / 1000);
    until->tv_nsec += (long) (patience % 1000) * 1000000;

    if (until->tv_nsec >= 1000000000) {
        until->tv_nsec -= 1000000000;
        until->tv_sec++;
    }
}

/* Waits, under the lock, until the thread is idle, or returns NGX_AGAIN. */
static ngx_int_t
ngx_tg_log_writer_wait_idle(ngx_tg_log_writer_t *writer, ngx_msec_t patience)
{
    struct timespec until;

    if (writer->has_batch && patience != 0) {
        ngx_tg_log_writer_set_deadline(&until, patience);

        while (
            writer->has_batch
            && pthread_cond_timedwait(&writer->idle_cond, &writer->lock, &until)
                   == 0)
        {
            /* void */
        }
    }

    return writer->has_batch ? NGX_AGAIN : NGX_OK;
}

ngx_int_t
ngx_tg_log_writer_submit(ngx_tg_log_writer_t *writer, ngx_tg_log_batch_t *batch,
                         ngx_msec_t patience)
{
    ngx_tg_log_batch_t empty;
    ngx_int_t rc;

    (void) pthread_mutex_lock(&writer->lock);
    rc = ngx_tg_log_writer_wait_idle(writer, patience);

    if (rc == NGX_OK) {
        empty = writer->batch;
        writer->batch = *batch;
        *batch = empty;
        writer->has_batch = 1;
        (void) pthread_cond_signal(&writer->work_cond);
    }

    (void) pthread_mutex_unlock(&writer->lock);

    return rc;
}

void
ngx_tg_log_writer_reopen(ngx_tg_log_writer_t *writer, ngx_fd_t fd)
{
    ngx_fd_t old;

    (void) pthread_mutex_lock(&writer->lock);
    old = writer->next_fd;
    writer->next_fd = fd;
    (void) pthread_cond_signal(&writer->work_cond);
    (void) pthread_mutex_unlock(&writer->lock);

    if (old != -1) {
        (void) close(old);
    }
}

ngx_int_t
ngx_tg_log_writer_get_result(ngx_tg_log_writer_t *writer,
                             ngx_tg_log_write_result_t *written,
                             ngx_msec_t patience)
{
    ngx_int_t rc;

    (void) pthread_mutex_lock(&writer->lock);
    rc = ngx_tg_log_writer_wait_idle(writer, patience);
    *written = writer->written;
    ngx_memzero(&writer->written, sizeof(writer->written));
    (void) pthread_mutex_unlock(&writer->lock);

    return rc;
}

void
ngx_tg_log_writer_stop(ngx_tg_log_writer_t *writer, ngx_msec_t patience)
{
    struct timespec until;

    (void) pthread_mutex_lock(&writer->lock);
    writer->is_stopping = 1;
    (void) pthread_cond_signal(&writer->work_cond);
    (void) pthread_mutex_unlock(&writer->lock);
    ngx_tg_log_writer_set_deadline(&until, patience);

    if (pthread_timedjoin_np(writer->thread, NULL, &until) == 0) {
        ngx_tg_log_writer_free(writer);
    }
}
