#include "nginx/log/ngx_toolgate_scribe.h"

#include <pthread.h>
#include <signal.h>

struct ngx_toolgate_scribe_s {
    pthread_t thread;
    ngx_fd_t fd; /* the thread's alone */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t news;  /* there is something to do */
    pthread_cond_t rest;  /* there is nothing */
    ngx_toolgate_batch_t batch;
    ngx_toolgate_written_t written;
    ngx_fd_t next;        /* -1: none */
    ngx_uint_t has_batch; /* which is the thread's, then */
    ngx_uint_t is_stopping;
};

void
ngx_toolgate_batch_init(ngx_toolgate_batch_t *batch)
{
    ngx_memzero(batch, sizeof(ngx_toolgate_batch_t));
    tg_buf_init(&batch->bytes, tg_alloc_libc());
    tg_buf_init(&batch->ends, tg_alloc_libc());
}

void
ngx_toolgate_batch_deinit(ngx_toolgate_batch_t *batch)
{
    tg_buf_deinit(&batch->bytes);
    tg_buf_deinit(&batch->ends);
}

static void
ngx_toolgate_batch_empty(ngx_toolgate_batch_t *batch)
{
    tg_buf_reset(&batch->bytes, NGX_TOOLGATE_BATCH_KEEP);
    tg_buf_reset(&batch->ends, NGX_TOOLGATE_BATCH_KEEP);
    batch->head = 0;
    batch->told = 0;
}

/* Records of it that end behind so many bytes. */
static ngx_uint_t
ngx_toolgate_batch_left(const ngx_toolgate_batch_t *batch, size_t bytes)
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

/* Writes a batch: the bytes that were, and why not more. */
static size_t
ngx_toolgate_scribe_write(ngx_fd_t fd, const tg_buf_t *bytes, ngx_err_t *err)
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

/* What there is to do, once; locked, but for as long as it takes. */
static void
ngx_toolgate_scribe_work(ngx_toolgate_scribe_t *scribe)
{
    ngx_err_t err;
    ngx_fd_t old;
    size_t done;

    if (scribe->has_batch) {
        err = 0;
        (void) pthread_mutex_unlock(&scribe->lock);
        done = ngx_toolgate_scribe_write(scribe->fd, &scribe->batch.bytes,
                                         &err);
        (void) pthread_mutex_lock(&scribe->lock);

        if (done != scribe->batch.bytes.len) {
            scribe->written.lost += ngx_toolgate_batch_left(&scribe->batch,
                                                            done);
            scribe->written.untold += done < scribe->batch.head
                                          ? scribe->batch.told
                                          : 0;
            scribe->written.err = err;
        } else {
            scribe->written.written++;
        }

        ngx_toolgate_batch_empty(&scribe->batch);
        scribe->has_batch = 0;

    } else {
        old = scribe->fd;
        scribe->fd = scribe->next;
        scribe->next = -1;
        (void) pthread_mutex_unlock(&scribe->lock);
        (void) close(old);
        (void) pthread_mutex_lock(&scribe->lock);
    }
}

static void *
ngx_toolgate_scribe_run(void *data)
{
    ngx_toolgate_scribe_t *scribe = data;

    (void) pthread_mutex_lock(&scribe->lock);

    for (;;) {
        if (scribe->has_batch || scribe->next != -1) {
            ngx_toolgate_scribe_work(scribe);
            continue;
        }

        (void) pthread_cond_broadcast(&scribe->rest);

        if (scribe->is_stopping) {
            break;
        }

        (void) pthread_cond_wait(&scribe->news, &scribe->lock);
    }

    (void) pthread_mutex_unlock(&scribe->lock);

    return NULL;
}

/* --- the worker --- */

static void
ngx_toolgate_scribe_free(ngx_toolgate_scribe_t *scribe)
{
    (void) close(scribe->fd);
    (void) pthread_cond_destroy(&scribe->news);
    (void) pthread_cond_destroy(&scribe->rest);
    (void) pthread_mutex_destroy(&scribe->lock);
    ngx_toolgate_batch_deinit(&scribe->batch);
    tg_free(tg_alloc_libc(), scribe);
}

ngx_toolgate_scribe_t *
ngx_toolgate_scribe_start(ngx_fd_t fd)
{
    ngx_toolgate_scribe_t *scribe;
    sigset_t all, before;
    int rc;

    scribe = tg_calloc(tg_alloc_libc(), sizeof(ngx_toolgate_scribe_t));

    if (scribe == NULL) {
        (void) close(fd);
        ngx_set_errno(NGX_ENOMEM);
        return NULL;
    }

    scribe->fd = fd;
    scribe->next = -1;
    ngx_toolgate_batch_init(&scribe->batch);
    (void) pthread_mutex_init(&scribe->lock, NULL);
    (void) pthread_cond_init(&scribe->news, NULL);
    (void) pthread_cond_init(&scribe->rest, NULL);

    /* Signals are the worker's. */
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&scribe->thread, NULL, ngx_toolgate_scribe_run, scribe);
    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);

    if (rc != 0) {
        ngx_toolgate_scribe_free(scribe);
        ngx_set_errno(rc);
        return NULL;
    }

    return scribe;
}

static void
ngx_toolgate_scribe_until(struct timespec *until, ngx_msec_t patience)
{
    (void) clock_gettime(CLOCK_REALTIME, until);
    until->tv_sec += (time_t) (patience / 1000);
    until->tv_nsec += (long) (patience % 1000) * 1000000;

    if (until->tv_nsec >= 1000000000) {
        until->tv_nsec -= 1000000000;
        until->tv_sec++;
    }
}

/* Locked: NGX_OK when it has nothing to do. */
static ngx_int_t
ngx_toolgate_scribe_wait(ngx_toolgate_scribe_t *scribe, ngx_msec_t patience)
{
    struct timespec until;

    if (scribe->has_batch && patience != 0) {
        ngx_toolgate_scribe_until(&until, patience);

        while (scribe->has_batch
               && pthread_cond_timedwait(&scribe->rest, &scribe->lock, &until)
                      == 0)
        {
            /* void */
        }
    }

    return scribe->has_batch ? NGX_AGAIN : NGX_OK;
}

ngx_int_t
ngx_toolgate_scribe_give(ngx_toolgate_scribe_t *scribe,
                         ngx_toolgate_batch_t *batch, ngx_msec_t patience)
{
    ngx_toolgate_batch_t empty;
    ngx_int_t rc;

    (void) pthread_mutex_lock(&scribe->lock);
    rc = ngx_toolgate_scribe_wait(scribe, patience);

    if (rc == NGX_OK) {
        empty = scribe->batch;
        scribe->batch = *batch;
        *batch = empty;
        scribe->has_batch = 1;
        (void) pthread_cond_signal(&scribe->news);
    }

    (void) pthread_mutex_unlock(&scribe->lock);

    return rc;
}

void
ngx_toolgate_scribe_reopen(ngx_toolgate_scribe_t *scribe, ngx_fd_t fd)
{
    ngx_fd_t old;

    (void) pthread_mutex_lock(&scribe->lock);
    old = scribe->next;
    scribe->next = fd;
    (void) pthread_cond_signal(&scribe->news);
    (void) pthread_mutex_unlock(&scribe->lock);

    if (old != -1) {
        (void) close(old);
    }
}

ngx_int_t
ngx_toolgate_scribe_see(ngx_toolgate_scribe_t *scribe,
                        ngx_toolgate_written_t *written, ngx_msec_t patience)
{
    ngx_int_t rc;

    (void) pthread_mutex_lock(&scribe->lock);
    rc = ngx_toolgate_scribe_wait(scribe, patience);
    *written = scribe->written;
    ngx_memzero(&scribe->written, sizeof(scribe->written));
    (void) pthread_mutex_unlock(&scribe->lock);

    return rc;
}

void
ngx_toolgate_scribe_stop(ngx_toolgate_scribe_t *scribe, ngx_msec_t patience)
{
    struct timespec until;

    (void) pthread_mutex_lock(&scribe->lock);
    scribe->is_stopping = 1;
    (void) pthread_cond_signal(&scribe->news);
    (void) pthread_mutex_unlock(&scribe->lock);
    ngx_toolgate_scribe_until(&until, patience);

    if (pthread_timedjoin_np(scribe->thread, NULL, &until) == 0) {
        ngx_toolgate_scribe_free(scribe);
    }
}
