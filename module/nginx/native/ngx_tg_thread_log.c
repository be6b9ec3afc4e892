/* Log lines of threads, limited per second. */
#include "nginx/native/ngx_tg_thread_log.h"

#include "base/tg_utf8.h"

#include <pthread.h>

/* Maximum length of a line in bytes. */
#define NGX_TG_THREAD_LOG_LINE_MAX 4096
/* Maximum size of a second's lines in bytes, to protect the disk. */
#define NGX_TG_THREAD_LOG_BYTES_PER_SECOND 65536

static pthread_mutex_t ngx_tg_thread_log_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Queued lines in order. The mutex guards this and the next four variables. */
static tg_thread_message_t *ngx_tg_thread_log_first;
static tg_thread_message_t **ngx_tg_thread_log_last = &ngx_tg_thread_log_first;
static size_t ngx_tg_thread_log_size; /* size of the lines of this second */
static ngx_uint_t ngx_tg_thread_log_lost;
static ngx_uint_t ngx_tg_thread_log_is_closed;

/* Start of this second, in ms; only for the worker's thread. */
static ngx_msec_t ngx_tg_thread_log_second;

void
ngx_tg_thread_log_write(ngx_uint_t level, tg_str_t name, const char *text)
{
    char visible[NGX_TG_THREAD_LOG_LINE_MAX];
    tg_thread_message_t *line;
    tg_buf_t buf;

    buf = tg_buf_make_fixed(visible, sizeof(visible));
    tg_utf8_append_visible(&buf, name, 1);
    tg_buf_append_cstr(&buf, ": ");
    tg_utf8_append_visible(&buf, tg_str_from_cstr(text), 1);
    line = tg_thread_message_new((unsigned) level, tg_buf_view(&buf));

    (void) pthread_mutex_lock(&ngx_tg_thread_log_mutex);

    if (line != NULL && !ngx_tg_thread_log_is_closed
        && ngx_tg_thread_log_size + line->len
               <= NGX_TG_THREAD_LOG_BYTES_PER_SECOND)
    {
        *ngx_tg_thread_log_last = line;
        ngx_tg_thread_log_last = &line->next;
        ngx_tg_thread_log_size += line->len;
        line = NULL;

    } else {
        ngx_tg_thread_log_lost++;
    }

    (void) pthread_mutex_unlock(&ngx_tg_thread_log_mutex);

    if (line == NULL) {
        ngx_tg_worker_wakeup_send();
    }

    tg_thread_message_free(line);
}

void
ngx_tg_thread_log_flush(void)
{
    tg_thread_message_t *line, *next;
    ngx_uint_t lost;

    lost = 0;
    (void) pthread_mutex_lock(&ngx_tg_thread_log_mutex);
    line = ngx_tg_thread_log_first;
    ngx_tg_thread_log_first = NULL;
    ngx_tg_thread_log_last = &ngx_tg_thread_log_first;

    if (ngx_current_msec - ngx_tg_thread_log_second >= 1000) {
        lost = ngx_tg_thread_log_lost;
        ngx_tg_thread_log_lost = 0;
        ngx_tg_thread_log_size = 0;
        ngx_tg_thread_log_second = ngx_current_msec;
    }

    (void) pthread_mutex_unlock(&ngx_tg_thread_log_mutex);

    for (/* void */; line != NULL; line = next) {
        next = line->next;
        ngx_log_error(line->level, ngx_cycle->log, 0, "%*s", line->len,
                      line->text);
        tg_thread_message_free(line);
    }

    if (lost != 0) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "libraries logged %ui more %s dropped", lost,
                      tg_pick_plural(lost, "line, which was",
                                     "lines, which were"));
    }
}

void
ngx_tg_thread_log_close(void)
{
    ngx_tg_thread_log_flush();
    (void) pthread_mutex_lock(&ngx_tg_thread_log_mutex);
    ngx_tg_thread_log_is_closed = 1;
    (void) pthread_mutex_unlock(&ngx_tg_thread_log_mutex);
}
