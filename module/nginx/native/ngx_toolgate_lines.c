/*
 * Lines of threads, no more than so many bytes a second.
 */
#include "nginx/native/ngx_toolgate_lines.h"

#include "base/tg_utf8.h"

#include <pthread.h>

/* Of a line. */
#define NGX_TOOLGATE_LINE 4096
/* Of lines in a second: who logs without end must not fill the disk. */
#define NGX_TOOLGATE_LINES 65536

static pthread_mutex_t ngx_toolgate_lines_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by it: lines in their order, and where the next one goes. */
static tg_letter_t *ngx_toolgate_lines;
static tg_letter_t **ngx_toolgate_lines_last = &ngx_toolgate_lines;
static size_t ngx_toolgate_lines_size; /* of this second */
static ngx_uint_t ngx_toolgate_lines_lost;
static ngx_uint_t ngx_toolgate_lines_are_over;

/* The worker's: when this second began. */
static ngx_msec_t ngx_toolgate_lines_since;

void
ngx_toolgate_line(ngx_uint_t level, tg_str_t name, const char *text)
{
    char visible[NGX_TOOLGATE_LINE];
    tg_letter_t *line;
    tg_buf_t buf;

    buf = tg_buf_fixed(visible, sizeof(visible));
    tg_utf8_put_visible(&buf, name, 1);
    tg_buf_text(&buf, ": ");
    tg_utf8_put_visible(&buf, tg_str_c(text), 1);
    line = tg_letter_new((unsigned) level, tg_buf_view(&buf));

    (void) pthread_mutex_lock(&ngx_toolgate_lines_mutex);

    if (line != NULL && !ngx_toolgate_lines_are_over
        && ngx_toolgate_lines_size + line->len <= NGX_TOOLGATE_LINES)
    {
        *ngx_toolgate_lines_last = line;
        ngx_toolgate_lines_last = &line->next;
        ngx_toolgate_lines_size += line->len;
        line = NULL;

    } else {
        ngx_toolgate_lines_lost++;
    }

    (void) pthread_mutex_unlock(&ngx_toolgate_lines_mutex);

    if (line == NULL) {
        ngx_toolgate_notify();
    }

    tg_letter_free(line);
}

void
ngx_toolgate_lines_flush(void)
{
    tg_letter_t *line, *next;
    ngx_uint_t lost;

    lost = 0;
    (void) pthread_mutex_lock(&ngx_toolgate_lines_mutex);
    line = ngx_toolgate_lines;
    ngx_toolgate_lines = NULL;
    ngx_toolgate_lines_last = &ngx_toolgate_lines;

    if (ngx_current_msec - ngx_toolgate_lines_since >= 1000) {
        lost = ngx_toolgate_lines_lost;
        ngx_toolgate_lines_lost = 0;
        ngx_toolgate_lines_size = 0;
        ngx_toolgate_lines_since = ngx_current_msec;
    }

    (void) pthread_mutex_unlock(&ngx_toolgate_lines_mutex);

    for (/* void */; line != NULL; line = next) {
        next = line->next;
        ngx_log_error(line->level, ngx_cycle->log, 0, "%*s", line->len,
                      line->text);
        tg_letter_free(line);
    }

    if (lost != 0) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "libraries logged %ui %s left out", lost,
                      tg_plural(lost, "line more, which is",
                                "lines more, which are"));
    }
}

void
ngx_toolgate_lines_exit(void)
{
    ngx_toolgate_lines_flush();
    (void) pthread_mutex_lock(&ngx_toolgate_lines_mutex);
    ngx_toolgate_lines_are_over = 1;
    (void) pthread_mutex_unlock(&ngx_toolgate_lines_mutex);
}
