/* The buffer of a trace, its timing, and its file. */

#include "nginx/logging/ngx_tg_logging.h"
#include "nginx/logging/ngx_tg_drop_counter.h"
#include "nginx/logging/ngx_tg_log_writer.h"
#include "nginx/logging/ngx_tg_tracer.h"

/* Bytes after which records go to the thread without further delay. */
#define NGX_TG_TRACE_SUBMIT_SIZE 262144
/* Maximum size of a record without its body, in bytes. */
#define NGX_TG_TRACE_RECORD_OVERHEAD 256

struct ngx_tg_tracer_s {
    ngx_open_file_t *file;

    /* State of this process, set when it traces the first frame. */
    ngx_tg_log_writer_t *writer;
    ngx_tg_log_batch_t batch;   /* records that the thread has not taken yet */
    ngx_uint_t lost;            /* lost records not yet noted in the trace */
    ngx_tg_drop_counter_t loss; /* losses reported in the error log */
    ngx_event_t event;          /* timer of the next submission */
    ngx_uint_t needs_reopen;    /* the file was reopened */
};

static ngx_tg_tracer_t **
ngx_tg_tracer_get_all(const ngx_cycle_t *cycle, ngx_uint_t *n)
{
    ngx_tg_main_conf_t *mcf;

    mcf = ngx_tg_cycle_get_main_conf(cycle);
    *n = mcf != NULL ? mcf->tracers.nelts : 0;

    return *n != 0 ? mcf->tracers.elts : NULL;
}

/* --- the thread --- */

static void
ngx_tg_tracer_count_drops(ngx_tg_tracer_t *tracer, ngx_uint_t n, ngx_err_t err)
{
    tracer->lost += n;
    ngx_tg_drop_counter_add(&tracer->loss, n, err, tracer->event.log);
}

/* Reads results and counts losses. NGX_AGAIN: busy for `patience` ms. */
static ngx_int_t
ngx_tg_tracer_check_result(ngx_tg_tracer_t *tracer, ngx_msec_t patience)
{
    ngx_tg_log_write_result_t written;
    ngx_int_t rc;

    rc = ngx_tg_log_writer_get_result(tracer->writer, &written, patience);

    tracer->lost += written.unreported;

    if (written.lost != 0) {
        ngx_tg_tracer_count_drops(tracer, written.lost, written.err);
    } else if (written.written != 0) {
        ngx_tg_drop_counter_end(&tracer->loss, tracer->event.log);
    }

    return rc;
}

/* Passes the buffer to the thread. NGX_AGAIN: busy for `patience` ms. */
static ngx_int_t
ngx_tg_tracer_submit(ngx_tg_tracer_t *tracer, ngx_msec_t patience)
{
    ngx_fd_t fd;

    if (ngx_tg_tracer_check_result(tracer, patience) != NGX_OK) {
        return NGX_AGAIN;
    }

    if (tracer->batch.bytes.len != 0
        && ngx_tg_log_writer_submit(tracer->writer, &tracer->batch, patience)
               != NGX_OK)
    {
        return NGX_AGAIN;
    }

    if (tracer->needs_reopen) {
        fd = fcntl(tracer->file->fd, F_DUPFD_CLOEXEC, 0);

        if (fd != -1) {
            ngx_tg_log_writer_reopen(tracer->writer, fd);
            tracer->needs_reopen = 0;
        }
    }

    return NGX_OK;
}

/* Schedules the next submission; an exiting worker submits at its exit. */
static void
ngx_tg_tracer_schedule(ngx_tg_tracer_t *tracer)
{
    if (!tracer->event.timer_set) {
        ngx_add_timer(&tracer->event, NGX_TG_TRACE_SUBMIT_DELAY);
    }
}

static void
ngx_tg_tracer_on_timer(ngx_event_t *ev)
{
    ngx_tg_tracer_t *tracer = ev->data;

    ngx_uint_t has_batch;

    has_batch = tracer->batch.bytes.len != 0;

    /* Check the result of each batch, including the last one. */
    if (ngx_tg_tracer_submit(tracer, 0) == NGX_AGAIN || has_batch
        || tracer->needs_reopen)
    {
        ngx_tg_tracer_schedule(tracer);
    }
}

static ngx_int_t
ngx_tg_tracer_start(ngx_tg_tracer_t *tracer)
{
    ngx_fd_t fd;

    tracer->event.log = ngx_cycle->log;
    fd = fcntl(tracer->file->fd, F_DUPFD_CLOEXEC, 0);

    if (fd != -1) {
        tracer->writer = ngx_tg_log_writer_start(fd);
    }

    if (tracer->writer == NULL) {
        return NGX_ERROR;
    }

    ngx_tg_log_batch_init(&tracer->batch);
    tracer->event.handler = ngx_tg_tracer_on_timer;
    tracer->event.data = tracer;
    tracer->event.cancelable = 1;

    return NGX_OK;
}

/* --- frames --- */

uint64_t
ngx_tg_tracer_get_time(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
}

/* Notes earlier losses at the start of a batch. NGX_ERROR: no memory. */
static ngx_int_t
ngx_tg_tracer_append_drop_count(ngx_tg_tracer_t *tracer)
{
    ngx_tg_log_batch_t *batch;

    batch = &tracer->batch;

    if (tracer->lost == 0 || batch->bytes.len != 0) {
        return NGX_OK;
    }

    if (ngx_tg_trace_pack_drop_count(&batch->bytes, ngx_tg_tracer_get_time(),
                                     tracer->lost)
        != NGX_OK)
    {
        tg_buf_truncate(&batch->bytes, 0);
        return NGX_ERROR;
    }

    batch->note_len = batch->bytes.len;
    batch->drops_noted = tracer->lost;
    tracer->lost = 0;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_tracer_append_frame(ngx_tg_tracer_t *tracer,
                           const ngx_tg_trace_frame_t *frame, size_t body)
{
    ngx_tg_log_batch_t *batch;
    size_t before;
    uint32_t end;

    batch = &tracer->batch;

    if (ngx_tg_tracer_append_drop_count(tracer) != NGX_OK) {
        return NGX_ERROR;
    }

    before = batch->bytes.len;

    if (ngx_tg_trace_pack_frame(&batch->bytes, frame, body) == NGX_OK) {
        end = (uint32_t) batch->bytes.len;
        tg_buf_append(&batch->ends, (char *) &end, sizeof(end));

        if (!tg_buf_has_failed(&batch->ends)) {
            return NGX_OK;
        }
    }

    tg_buf_truncate(&batch->bytes, before);
    tg_buf_truncate(&batch->ends, batch->ends.len);

    return NGX_ERROR;
}

/* Checks for room for size bytes, after passing on a full buffer. */
static ngx_uint_t
ngx_tg_tracer_has_room(ngx_tg_tracer_t *tracer, size_t size)
{
    return tracer->batch.bytes.len + size <= NGX_TG_TRACE_BUFFER_MAX
           || (ngx_tg_tracer_submit(tracer, 0) == NGX_OK
               && tracer->batch.bytes.len == 0);
}

void
ngx_tg_tracer_write_frame(const ngx_tg_trace_conf_t *trace,
                          const ngx_tg_trace_frame_t *frame)
{
    ngx_tg_tracer_t *tracer;
    size_t body;

    tracer = trace->tracer;
    body = ngx_min(trace->body, frame->text.len);

    if (tracer->writer == NULL && ngx_tg_tracer_start(tracer) != NGX_OK) {
        ngx_tg_tracer_count_drops(tracer, 1, ngx_errno);
        return;
    }

    if (!ngx_tg_tracer_has_room(tracer, body + NGX_TG_TRACE_RECORD_OVERHEAD)) {
        ngx_tg_tracer_count_drops(tracer, 1, 0);

    } else if (ngx_tg_tracer_append_frame(tracer, frame, body) != NGX_OK) {
        ngx_tg_tracer_count_drops(tracer, 1, NGX_ENOMEM);

    } else if (tracer->batch.bytes.len >= NGX_TG_TRACE_SUBMIT_SIZE) {
        (void) ngx_tg_tracer_submit(tracer, 0);
    }

    ngx_tg_tracer_schedule(tracer);
}

/* --- exit --- */

static void
ngx_tg_tracer_stop(ngx_tg_tracer_t *tracer)
{
    if (tracer->writer == NULL) {
        return;
    }

    if (tracer->event.timer_set) {
        ngx_del_timer(&tracer->event);
    }

    /* One more batch notes losses of the last one. */
    if (ngx_tg_tracer_submit(tracer, NGX_TG_TRACE_EXIT_TIMEOUT) == NGX_OK
        && ngx_tg_tracer_check_result(tracer, NGX_TG_TRACE_EXIT_TIMEOUT)
               == NGX_OK
        && ngx_tg_tracer_append_drop_count(tracer) == NGX_OK)
    {
        (void) ngx_tg_tracer_submit(tracer, NGX_TG_TRACE_EXIT_TIMEOUT);
    }

    ngx_tg_log_writer_stop(tracer->writer, NGX_TG_TRACE_EXIT_TIMEOUT);
    tracer->writer = NULL;
    ngx_tg_log_batch_deinit(&tracer->batch);
}

/* Stops the tracer if the process outlives the cycle, without a master. */
static void
ngx_tg_tracer_cleanup(void *data)
{
    ngx_tg_tracer_stop(data);
}

void
ngx_tg_tracer_exit(ngx_cycle_t *cycle)
{
    ngx_tg_tracer_t **tracers;
    ngx_uint_t i, n;

    tracers = ngx_tg_tracer_get_all(cycle, &n);

    for (i = 0; i < n; i++) {
        ngx_tg_tracer_stop(tracers[i]);
    }
}

/* --- files --- */

/* Creates the file with mode 0600; NGINX would make it readable for all. */
static void
ngx_tg_tracer_create_file(const ngx_open_file_t *file)
{
    ngx_fd_t fd;

    fd = open((char *) file->name.data,
              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);

    if (fd != -1) {
        (void) close(fd);
    }
}

void
ngx_tg_tracer_create_files(ngx_cycle_t *cycle)
{
    ngx_tg_tracer_t **tracers;
    ngx_uint_t i, n;

    tracers = ngx_tg_tracer_get_all(cycle, &n);

    for (i = 0; i < n; i++) {
        ngx_tg_tracer_create_file(tracers[i]->file);
    }
}

/* Handles a reopened file, in each process, before NGINX opens it. */
static void
ngx_tg_tracer_reopen(ngx_open_file_t *file, ngx_log_t *log)
{
    ngx_tg_tracer_t **tracers;
    ngx_uint_t i, n;

    ngx_tg_tracer_create_file(file);
    tracers = ngx_tg_tracer_get_all((const ngx_cycle_t *) ngx_cycle, &n);

    for (i = 0; i < n; i++) {
        if (tracers[i]->file == file && tracers[i]->writer != NULL) {
            tracers[i]->needs_reopen = 1;
            ngx_tg_tracer_schedule(tracers[i]);
        }
    }
}

ngx_tg_tracer_t *
ngx_tg_tracer_open_file(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_tracer_t **tracers, *tracer;
    ngx_pool_cleanup_t *cln;
    ngx_open_file_t *file;
    ngx_uint_t i;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    file = ngx_tg_conf_open_log_file(cf, path);

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
        (void) ngx_tg_conf_error(cf,
                                 "\"%V\" is already the file of a log; give "
                                 "the trace another file",
                                 path);
        return NULL;
    }

    tracers = ngx_array_push(&mcf->tracers);
    tracer = ngx_pcalloc(cf->pool, sizeof(ngx_tg_tracer_t));
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (tracers == NULL || tracer == NULL || cln == NULL) {
        return NULL;
    }

    cln->handler = ngx_tg_tracer_cleanup;
    cln->data = tracer;
    file->flush = ngx_tg_tracer_reopen;
    tracer->file = file;
    tracer->loss.directive = "tool_trace";
    tracer->loss.unit = "frame";
    tracer->loss.name = (char *) file->name.data;
    *tracers = tracer;

    return tracer;
}
