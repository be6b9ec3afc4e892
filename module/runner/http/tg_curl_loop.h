/*
 * libcurl's multi interface on the loop: its sockets, its timer, and the
 * connections that it keeps.  It is a source of the scheduler for what libcurl
 * wants to do at once.
 */
#ifndef TG_CURL_LOOP_H
#define TG_CURL_LOOP_H

#include "base/tg_base.h"
#include "runner/http/tg_curl.h"
#include "transport/tg_uv_sched.h"

/* Connections that are kept, and for how long when nothing happens. */
#define TG_HTTP_KEEPALIVE_MAX 64
#define TG_HTTP_KEEPALIVE_MS 60000

typedef struct tg_curl_loop_s tg_curl_loop_t;

struct tg_curl_loop_s {
    tg_uv_sched_t *sched;
    tg_sched_source_t source; /* waits while libcurl has something to do */

    /* Of a handle that was added. */
    void (*on_done)(tg_curl_loop_t *loop, CURL *easy, CURLcode code);

    const tg_curl_t *curl; /* NULL before the first use */
    CURLM *multi;          /* NULL: nothing is kept */
    uv_timer_t timer;      /* libcurl's */
    uv_timer_t idle;
    uint64_t keepalive_ms; /* TG_HTTP_KEEPALIVE_MS */
    unsigned n;            /* handles that were added and not removed */
    int is_broken;         /* there was no memory to watch a socket */
};

void tg_curl_loop_init(tg_curl_loop_t *loop, tg_uv_sched_t *sched,
                       void (*on_done)(tg_curl_loop_t *loop, CURL *easy,
                                       CURLcode code));

/* Closes its handles; all that were added must have been removed. */
void tg_curl_loop_close(tg_curl_loop_t *loop);

/*
 * Makes what is needed to add one: TG_OK; TG_NOMEM; TG_MISSING: libcurl is,
 * and *why says what to do.
 */
int tg_curl_loop_open(tg_curl_loop_t *loop, const char **why);

/* Reports the handles that have ended; that may add others. */
void tg_curl_loop_report_done(tg_curl_loop_t *loop);

/* TG_OK or TG_NOMEM.  ended() is called from the loop. */
int tg_curl_loop_add(tg_curl_loop_t *loop, CURL *easy);

/* Not from libcurl's callbacks. */
void tg_curl_loop_remove(tg_curl_loop_t *loop, CURL *easy);

#endif
