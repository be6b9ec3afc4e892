#include "nginx/log/ngx_toolgate_log.h"
#include "nginx/log/ngx_toolgate_loss.h"
#include "nginx/log/ngx_toolgate_scribe.h"
#include "nginx/log/ngx_toolgate_tracer.h"

/* With so much the thread is not waited for any longer. */
#define NGX_TOOLGATE_TRACE_MUCH 262144
/* All of a record but its body. */
#define NGX_TOOLGATE_TRACE_RECORD 256

struct ngx_toolgate_tracer_s {
    ngx_open_file_t *file;

    /* Of this process, once it has traced something. */
    ngx_toolgate_scribe_t *scribe;
    ngx_toolgate_batch_t batch; /* what the thread has not taken yet */
    ngx_uint_t lost;            /* frames of which no record tells yet */
    ngx_toolgate_loss_t loss;   /* those of which the error log does */
    ngx_event_t event;          /* of the next look at the thread */
    ngx_uint_t is_stale;        /* the file was opened anew */
};

/* All of them; n is how many. */
static ngx_toolgate_tracer_t **
ngx_toolgate_tracer_all(const ngx_cycle_t *cycle, ngx_uint_t *n)
{
    ngx_toolgate_main_conf_t *mcf;

    mcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                ngx_stream_toolgate_module);
    *n = mcf != NULL ? mcf->tracers.nelts : 0;

    return *n != 0 ? mcf->tracers.elts : NULL;
}

/* --- the thread --- */

static void
ngx_toolgate_tracer_lose(ngx_toolgate_tracer_t *tracer, ngx_uint_t n,
                         ngx_err_t err)
{
    tracer->lost += n;
    ngx_toolgate_loss_add(&tracer->loss, n, err, tracer->event.log);
}

/* What became of it, and whether the thread is at rest by then. */
static ngx_int_t
ngx_toolgate_tracer_see(ngx_toolgate_tracer_t *tracer, ngx_msec_t patience)
{
    ngx_toolgate_written_t written;
    ngx_int_t rc;

    rc = ngx_toolgate_scribe_see(tracer->scribe, &written, patience);

    tracer->lost += written.untold;

    if (written.lost != 0) {
        ngx_toolgate_tracer_lose(tracer, written.lost, written.err);
    } else if (written.written != 0) {
        ngx_toolgate_loss_over(&tracer->loss, tracer->event.log);
    }

    return rc;
}

/* Hands over what there is: NGX_OK, or NGX_AGAIN. */
static ngx_int_t
ngx_toolgate_tracer_give(ngx_toolgate_tracer_t *tracer, ngx_msec_t patience)
{
    ngx_fd_t fd;

    if (ngx_toolgate_tracer_see(tracer, patience) != NGX_OK) {
        return NGX_AGAIN;
    }

    if (tracer->batch.bytes.len != 0
        && ngx_toolgate_scribe_give(tracer->scribe, &tracer->batch, patience)
               != NGX_OK)
    {
        return NGX_AGAIN;
    }

    if (tracer->is_stale) {
        fd = fcntl(tracer->file->fd, F_DUPFD_CLOEXEC, 0);

        if (fd != -1) {
            ngx_toolgate_scribe_reopen(tracer->scribe, fd);
            tracer->is_stale = 0;
        }
    }

    return NGX_OK;
}

/* Soon; an exiting worker gives what is left at its end. */
static void
ngx_toolgate_tracer_later(ngx_toolgate_tracer_t *tracer)
{
    if (!tracer->event.timer_set) {
        ngx_add_timer(&tracer->event, NGX_TOOLGATE_TRACE_DELAY);
    }
}

static void
ngx_toolgate_tracer_timer(ngx_event_t *ev)
{
    ngx_toolgate_tracer_t *tracer = ev->data;

    ngx_uint_t has_batch;

    has_batch = tracer->batch.bytes.len != 0;

    /* What becomes of a batch is to be seen, also when it was the last. */
    if (ngx_toolgate_tracer_give(tracer, 0) == NGX_AGAIN || has_batch
        || tracer->is_stale)
    {
        ngx_toolgate_tracer_later(tracer);
    }
}

static ngx_int_t
ngx_toolgate_tracer_start(ngx_toolgate_tracer_t *tracer)
{
    ngx_fd_t fd;

    tracer->event.log = ngx_cycle->log;
    fd = fcntl(tracer->file->fd, F_DUPFD_CLOEXEC, 0);

    if (fd != -1) {
        tracer->scribe = ngx_toolgate_scribe_start(fd);
    }

    if (tracer->scribe == NULL) {
        return NGX_ERROR;
    }

    ngx_toolgate_batch_init(&tracer->batch);
    tracer->event.handler = ngx_toolgate_tracer_timer;
    tracer->event.data = tracer;
    tracer->event.cancelable = 1;

    return NGX_OK;
}

/* --- frames --- */

uint64_t
ngx_toolgate_trace_now(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

/* At the beginning of a batch it is told what was lost before. */
static ngx_int_t
ngx_toolgate_tracer_tell(ngx_toolgate_tracer_t *tracer)
{
    ngx_toolgate_batch_t *batch;

    batch = &tracer->batch;

    if (tracer->lost == 0 || batch->bytes.len != 0) {
        return NGX_OK;
    }

    if (ngx_toolgate_pack_lost(&batch->bytes, ngx_toolgate_trace_now(),
                               tracer->lost)
        != NGX_OK)
    {
        tg_buf_truncate(&batch->bytes, 0);
        return NGX_ERROR;
    }

    batch->head = batch->bytes.len;
    batch->told = tracer->lost;
    tracer->lost = 0;

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_tracer_put(ngx_toolgate_tracer_t *tracer,
                        const ngx_toolgate_frame_t *frame, size_t body)
{
    ngx_toolgate_batch_t *batch;
    size_t before;
    uint32_t end;

    batch = &tracer->batch;

    if (ngx_toolgate_tracer_tell(tracer) != NGX_OK) {
        return NGX_ERROR;
    }

    before = batch->bytes.len;

    if (ngx_toolgate_pack_frame(&batch->bytes, frame, body) == NGX_OK) {
        end = (uint32_t) batch->bytes.len;
        tg_buf_put(&batch->ends, (char *) &end, sizeof(end));

        if (!tg_buf_failed(&batch->ends)) {
            return NGX_OK;
        }
    }

    tg_buf_truncate(&batch->bytes, before);
    tg_buf_truncate(&batch->ends, batch->ends.len);

    return NGX_ERROR;
}

/* Where there is none, the thread may have taken the batch by now. */
static ngx_uint_t
ngx_toolgate_tracer_has_room(ngx_toolgate_tracer_t *tracer, size_t size)
{
    return tracer->batch.bytes.len + size <= NGX_TOOLGATE_TRACE_BUFFER
           || (ngx_toolgate_tracer_give(tracer, 0) == NGX_OK
               && tracer->batch.bytes.len == 0);
}

void
ngx_toolgate_trace_frame(const ngx_toolgate_trace_conf_t *trace,
                         const ngx_toolgate_frame_t *frame)
{
    ngx_toolgate_tracer_t *tracer;
    size_t body;

    tracer = trace->tracer;
    body = ngx_min(trace->body, frame->text.len);

    if (tracer->scribe == NULL && ngx_toolgate_tracer_start(tracer) != NGX_OK) {
        ngx_toolgate_tracer_lose(tracer, 1, ngx_errno);
        return;
    }

    if (!ngx_toolgate_tracer_has_room(tracer, body + NGX_TOOLGATE_TRACE_RECORD))
    {
        ngx_toolgate_tracer_lose(tracer, 1, 0);

    } else if (ngx_toolgate_tracer_put(tracer, frame, body) != NGX_OK) {
        ngx_toolgate_tracer_lose(tracer, 1, NGX_ENOMEM);

    } else if (tracer->batch.bytes.len >= NGX_TOOLGATE_TRACE_MUCH) {
        (void) ngx_toolgate_tracer_give(tracer, 0);
    }

    ngx_toolgate_tracer_later(tracer);
}

/* --- the end --- */

static void
ngx_toolgate_tracer_stop(ngx_toolgate_tracer_t *tracer)
{
    if (tracer->scribe == NULL) {
        return;
    }

    if (tracer->event.timer_set) {
        ngx_del_timer(&tracer->event);
    }

    /* Then what of that was lost. */
    if (ngx_toolgate_tracer_give(tracer, NGX_TOOLGATE_TRACE_EXIT) == NGX_OK
        && ngx_toolgate_tracer_see(tracer, NGX_TOOLGATE_TRACE_EXIT) == NGX_OK
        && ngx_toolgate_tracer_tell(tracer) == NGX_OK)
    {
        (void) ngx_toolgate_tracer_give(tracer, NGX_TOOLGATE_TRACE_EXIT);
    }

    ngx_toolgate_scribe_stop(tracer->scribe, NGX_TOOLGATE_TRACE_EXIT);
    tracer->scribe = NULL;
    ngx_toolgate_batch_deinit(&tracer->batch);
}

/* The cycle goes, and its process does not: one without a master. */
static void
ngx_toolgate_tracer_cleanup(void *data)
{
    ngx_toolgate_tracer_stop(data);
}

void
ngx_toolgate_tracer_exit(ngx_cycle_t *cycle)
{
    ngx_toolgate_tracer_t **tracers;
    ngx_uint_t i, n;

    tracers = ngx_toolgate_tracer_all(cycle, &n);

    for (i = 0; i < n; i++) {
        ngx_toolgate_tracer_stop(tracers[i]);
    }
}

/* --- the file --- */

/* NGINX would make one that all may read. */
static void
ngx_toolgate_tracer_make(const ngx_open_file_t *file)
{
    ngx_fd_t fd;

    fd = open((char *) file->name.data,
              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);

    if (fd != -1) {
        (void) close(fd);
    }
}

void
ngx_toolgate_tracer_make_files(ngx_cycle_t *cycle)
{
    ngx_toolgate_tracer_t **tracers;
    ngx_uint_t i, n;

    tracers = ngx_toolgate_tracer_all(cycle, &n);

    for (i = 0; i < n; i++) {
        ngx_toolgate_tracer_make(tracers[i]->file);
    }
}

/* In each process, before NGINX opens it anew. */
static void
ngx_toolgate_tracer_reopen(ngx_open_file_t *file, ngx_log_t *log)
{
    ngx_toolgate_tracer_t **tracers;
    ngx_uint_t i, n;

    (void) log;
    ngx_toolgate_tracer_make(file);
    tracers = ngx_toolgate_tracer_all((const ngx_cycle_t *) ngx_cycle, &n);

    for (i = 0; i < n; i++) {
        if (tracers[i]->file == file && tracers[i]->scribe != NULL) {
            tracers[i]->is_stale = 1;
            ngx_toolgate_tracer_later(tracers[i]);
        }
    }
}

ngx_toolgate_tracer_t *
ngx_toolgate_tracer_file(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_tracer_t **tracers, *tracer;
    ngx_pool_cleanup_t *cln;
    ngx_open_file_t *file;
    ngx_uint_t i;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    file = ngx_toolgate_log_open(cf, path);

    if (file == NULL) {
        return NULL;
    }

    tracers = mcf->tracers.elts;

    for (i = 0; i < mcf->tracers.nelts; i++) {
        if (tracers[i]->file == file) {
            return tracers[i];
        }
    }

    if (file->flush != NULL) {
        (void) ngx_toolgate_refuse(cf,
                                   "\"%V\" is the file of a log; give the "
                                   "trace another one",
                                   path);
        return NULL;
    }

    tracers = ngx_array_push(&mcf->tracers);
    tracer = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_tracer_t));
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (tracers == NULL || tracer == NULL || cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_toolgate_tracer_cleanup;
    cln->data = tracer;
    file->flush = ngx_toolgate_tracer_reopen;
    tracer->file = file;
    tracer->loss.directive = "tool_trace";
    tracer->loss.what = "frame";
    tracer->loss.name = (char *) file->name.data;
    *tracers = tracer;

    return tracer;
}
