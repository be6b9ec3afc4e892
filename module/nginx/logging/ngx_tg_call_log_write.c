/*
 * Writing of log lines to files and syslog, each by one system call, so that
 * lines of several workers do not mix. A line that cannot be written is counted
 * as lost: no call waits for a full disk.
 */
#include "nginx/logging/ngx_tg_logging.h"
#include "nginx/logging/ngx_tg_drop_counter.h"

#include "base/tg_utf8.h"

#include <sys/uio.h>

/* Memory kept for the next line, in bytes. */
#define NGX_TG_LOG_LINE_KEEP 65536

struct ngx_tg_log_sink_s {
    ngx_open_file_t *file; /* NULL: syslog */
    ngx_syslog_peer_t *syslog;
    u_char *start; /* start of the buffer; NULL: unbuffered */
    u_char *pos;
    u_char *last;
    ngx_msec_t flush;
    ngx_event_t event;
    ngx_tg_drop_counter_t loss;
    unsigned is_cut:1; /* the last write ended within a line */
};

/* The line being built, for all logs of the worker. */
static tg_buf_t ngx_tg_log_line;

/* --- output --- */

/* Writes lines, after a line break if the last write was incomplete. */
static void
ngx_tg_log_sink_write(ngx_tg_log_sink_t *sink, u_char *data, size_t len,
                      ngx_log_t *log)
{
    static u_char newline = LF;

    struct iovec iov[2];
    ngx_uint_t lost;
    ssize_t n, i;

    iov[0].iov_base = &newline;
    iov[0].iov_len = sink->is_cut;
    iov[1].iov_base = data;
    iov[1].iov_len = len;
    n = writev(sink->file->fd, iov, 2);

    if (n > 0) {
        n -= sink->is_cut;
        sink->is_cut = n > 0 && data[n - 1] != LF;
    }

    if (n == (ssize_t) len) {
        ngx_tg_drop_counter_end(&sink->loss, log);
        return;
    }

    for (i = ngx_max(n, 0), lost = 0; i < (ssize_t) len; i++) {
        lost += data[i] == LF;
    }

    ngx_tg_drop_counter_add(&sink->loss, lost, n < 0 ? ngx_errno : NGX_ENOSPC,
                            log);
}

static void
ngx_tg_log_sink_flush(ngx_tg_log_sink_t *sink, ngx_log_t *log)
{
    if (sink->pos != sink->start) {
        ngx_tg_log_sink_write(sink, sink->start, sink->pos - sink->start, log);
        sink->pos = sink->start;
    }

    if (sink->event.timer_set) {
        ngx_del_timer(&sink->event);
    }
}

static void
ngx_tg_log_sink_on_timer(ngx_event_t *ev)
{
    ngx_tg_log_sink_flush(ev->data, ev->log);
}

static void
ngx_tg_log_sink_buffer_line(ngx_tg_log_sink_t *sink, u_char *data, size_t len,
                            ngx_log_t *log)
{
    if (len > (size_t) (sink->last - sink->pos)) {
        ngx_tg_log_sink_flush(sink, log);
    }

    if (len > (size_t) (sink->last - sink->pos)) {
        ngx_tg_log_sink_write(sink, data, len, log);
        return;
    }

    if (sink->flush != 0 && sink->pos == sink->start) {
        ngx_add_timer(&sink->event, sink->flush);
    }

    sink->pos = ngx_cpymem(sink->pos, data, len);
}

static void
ngx_tg_log_sink_send_syslog(ngx_tg_log_sink_t *sink, u_char *data, size_t len,
                            ngx_log_t *log)
{
    if (ngx_syslog_send(sink->syslog, data, len) == (ssize_t) len) {
        ngx_tg_drop_counter_end(&sink->loss, log);
        return;
    }

    ngx_tg_drop_counter_add(&sink->loss, 1, 0, log);
}

/* --- lines --- */

tg_buf_t *
ngx_tg_log_line_begin(const ngx_tg_call_log_t *log)
{
    ngx_syslog_peer_t *peer;
    tg_buf_t *line;
    u_char *p;

    line = &ngx_tg_log_line;

    if (line->alloc == NULL) {
        tg_buf_init(line, tg_alloc_libc());
    }

    tg_buf_reset(line, NGX_TG_LOG_LINE_KEEP);
    peer = log->sink->syslog;

    if (peer != NULL
        && tg_buf_reserve(line, sizeof("<255>Jan 01 00:00:00 ") + 3
                                    + ngx_cycle->hostname.len + peer->tag.len)
               == TG_OK)
    {
        p = (u_char *) line->data;
        line->len = ngx_syslog_add_header(peer, p) - p;
    }

    return line;
}

void
ngx_tg_log_line_drop(const ngx_tg_call_log_t *log, ngx_log_t *error)
{
    ngx_tg_drop_counter_add(&log->sink->loss, 1, NGX_ENOMEM, error);
}

void
ngx_tg_log_line_end(const ngx_tg_call_log_t *log, ngx_log_t *error)
{
    ngx_tg_log_sink_t *sink;
    tg_buf_t *line;

    line = &ngx_tg_log_line;
    sink = log->sink;

    if (sink->syslog == NULL) {
        tg_buf_append_char(line, LF);
    }

    if (tg_buf_has_failed(line)) {
        ngx_tg_log_line_drop(log, error);
    } else if (sink->syslog != NULL) {
        ngx_tg_log_sink_send_syslog(sink, (u_char *) line->data, line->len,
                                    error);
    } else if (sink->start != NULL) {
        ngx_tg_log_sink_buffer_line(sink, (u_char *) line->data, line->len,
                                    error);
    } else {
        ngx_tg_log_sink_write(sink, (u_char *) line->data, line->len, error);
    }
}

/* Appends a value escaped like in access_log. */
static void
ngx_tg_log_append_escaped(tg_buf_t *line, tg_str_t value)
{
    static const char hex[] = "0123456789ABCDEF";

    size_t i, from;
    u_char c;

    for (i = 0, from = 0; i < value.len; i++) {
        c = (u_char) value.data[i];

        if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
            continue;
        }

        tg_buf_append(line, value.data + from, i - from);
        tg_buf_append_cstr(line, "\\x");
        tg_buf_append_char(line, hex[c >> 4]);
        tg_buf_append_char(line, hex[c & 0xf]);
        from = i + 1;
    }

    tg_buf_append(line, value.data + from, value.len - from);
}

/* Appends the inside of a JSON string that cannot control a terminal. */
static void
ngx_tg_log_append_json_escaped(tg_buf_t *line, tg_str_t value)
{
    uint32_t code;
    size_t n, len;

    while ((n = tg_utf8_find_unsafe(value, &code, &len)) < value.len) {
        tg_json_write_escaped(line, tg_str(value.data, n));
        tg_buf_printf(line, "\\u%04x", (unsigned) code);
        value = tg_str(value.data + n + len, value.len - n - len);
    }

    tg_json_write_escaped(line, value);
}

void
ngx_tg_log_append_json(tg_buf_t *line, tg_str_t json)
{
    uint32_t code;
    size_t n, len;

    while ((n = tg_utf8_find_unsafe(json, &code, &len)) < json.len) {
        tg_buf_append(line, json.data, n);
        tg_buf_printf(line, "\\u%04x", (unsigned) code);
        json = tg_str(json.data + n + len, json.len - n - len);
    }

    tg_buf_append_str(line, json);
}

void
ngx_tg_log_append_value(tg_buf_t *line, ngx_tg_log_escape_t escape,
                        tg_str_t value)
{
    switch (escape) {
    case NGX_TG_ESCAPE_DEFAULT:
        if (value.len == 0) {
            tg_buf_append_char(line, '-');
        } else {
            ngx_tg_log_append_escaped(line, value);
        }

        break;

    case NGX_TG_ESCAPE_JSON:
        ngx_tg_log_append_json_escaped(line, value);
        break;

    case NGX_TG_ESCAPE_NONE:
        tg_buf_append_str(line, value);
    }
}

/* --- reopen and exit --- */

/* Flushes the sinks of a file, or all if file is NULL. */
static void
ngx_tg_log_sinks_flush(ngx_cycle_t *cycle, const ngx_open_file_t *file,
                       ngx_log_t *log)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_log_sink_t **log_sinks;
    ngx_uint_t i;

    mcf = ngx_tg_cycle_get_main_conf(cycle);

    if (mcf == NULL) {
        return;
    }

    log_sinks = mcf->log_sinks.elts;

    for (i = 0; i < mcf->log_sinks.nelts; i++) {
        if (file == NULL || log_sinks[i]->file == file) {
            ngx_tg_log_sink_flush(log_sinks[i], log);
            ngx_tg_drop_counter_add(&log_sinks[i]->loss, 0, 0, log);
        }
    }
}

static void
ngx_tg_log_sink_reopen(ngx_open_file_t *file, ngx_log_t *log)
{
    ngx_tg_log_sinks_flush((ngx_cycle_t *) ngx_cycle, file, log);
}

void
ngx_tg_log_exit(ngx_cycle_t *cycle)
{
    ngx_tg_log_sinks_flush(cycle, NULL, cycle->log);

    if (ngx_tg_log_line.alloc != NULL) {
        tg_buf_deinit(&ngx_tg_log_line);
        ngx_tg_log_line.alloc = NULL;
    }
}

/* --- functions for the directives --- */

static ngx_tg_log_sink_t *
ngx_tg_log_sink_create(ngx_conf_t *cf)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_log_sink_t **sink;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    sink = ngx_array_push(&mcf->log_sinks);

    if (sink == NULL) {
        return NULL;
    }

    *sink = ngx_pcalloc(cf->pool, sizeof(ngx_tg_log_sink_t));

    if (*sink != NULL) {
        (*sink)->loss.directive = "tool_log";
        (*sink)->loss.unit = "line";
        (*sink)->loss.name = "syslog";
    }

    return *sink;
}

/*
 * Returns 0 if the path is a FIFO without a reader. A FIFO stays open as long
 * as the config, so that its reader sees no end of file before NGINX opens it.
 */
static ngx_uint_t
ngx_tg_log_fifo_has_reader(ngx_conf_t *cf, ngx_str_t *name)
{
    ngx_pool_cleanup_file_t *file;
    ngx_pool_cleanup_t *cln;
    ngx_file_info_t fi;
    int fd;

    if (ngx_link_info(name->data, &fi) == NGX_FILE_ERROR
        || !S_ISFIFO(fi.st_mode)) {
        return 1;
    }

    fd = open((char *) name->data, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd == -1) {
        return ngx_errno != ENXIO;
    }

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_pool_cleanup_file_t));

    if (cln == NULL) {
        (void) close(fd);
        return 1;
    }

    cln->handler = ngx_pool_cleanup_file;
    file = cln->data;
    file->fd = fd;
    file->name = name->data;
    file->log = cf->cycle->log;

    return 1;
}

ngx_open_file_t *
ngx_tg_conf_open_log_file(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_open_file_t *file;

    file = ngx_conf_open_file(cf->cycle, path);

    if (file == NULL || ngx_tg_log_fifo_has_reader(cf, &file->name)) {
        return file;
    }

    (void) ngx_tg_conf_error(cf,
                             "\"%V\" is a FIFO without a reader, which would "
                             "block NGINX; start its reader first, or name a "
                             "file",
                             &file->name);

    return NULL;
}

ngx_tg_log_sink_t *
ngx_tg_log_sink_open_file(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_log_sink_t **log_sinks, *sink;
    ngx_open_file_t *file;
    ngx_uint_t i;

    file = ngx_tg_conf_open_log_file(cf, path);

    if (file == NULL) {
        return NULL;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    log_sinks = mcf->log_sinks.elts;

    for (i = 0; i < mcf->log_sinks.nelts; i++) {
        if (log_sinks[i]->file == file) {
            return log_sinks[i];
        }
    }

    sink = ngx_tg_log_sink_create(cf);

    if (sink != NULL) {
        sink->file = file;
        sink->loss.name = (char *) file->name.data;
    }

    return sink;
}

ngx_tg_log_sink_t *
ngx_tg_log_sink_open_syslog(ngx_conf_t *cf)
{
    ngx_tg_log_sink_t *sink;

    sink = ngx_tg_log_sink_create(cf);

    if (sink == NULL) {
        return NULL;
    }

    sink->syslog = ngx_pcalloc(cf->pool, sizeof(ngx_syslog_peer_t));

    return sink->syslog != NULL
                   && ngx_syslog_process_conf(cf, sink->syslog) == NGX_CONF_OK
               ? sink
               : NULL;
}

const char *
ngx_tg_log_sink_set_buffer(ngx_conf_t *cf, ngx_tg_log_sink_t *sink, size_t size,
                           ngx_msec_t flush)
{
    if (sink->start != NULL || sink->pos != NULL) {
        return (size_t) (sink->last - sink->start) == size
                       && sink->flush == flush
                   ? NULL
                   : "is already used with another \"buffer\" or \"flush\"; "
                     "write the same everywhere";
    }

    if (size == 0) {
        return NULL;
    }

    sink->start = ngx_pnalloc(cf->pool, size);

    if (sink->start == NULL) {
        return "needs more memory than is available";
    }

    sink->pos = sink->start;
    sink->last = sink->start + size;
    sink->flush = flush;
    sink->event.data = sink;
    sink->event.handler = ngx_tg_log_sink_on_timer;
    sink->event.log = &cf->cycle->new_log;
    sink->event.cancelable = 1;

    /* An access_log may share the file and use file->data. */
    if (sink->file->flush == NULL) {
        sink->file->flush = ngx_tg_log_sink_reopen;
    }

    return NULL;
}
