/*
 * Runs libcurl's multi interface on the loop: sockets, timer, kept connections.
 * A source of the scheduler for work that libcurl wants to do at once.
 */
#ifndef TG_CURL_LOOP_H
#define TG_CURL_LOOP_H

#include "base/tg_base.h"
#include "runner/http/tg_curl.h"
#include "transport/tg_uv_sched.h"

/* Maximum number of kept connections. */
#define TG_HTTP_KEEPALIVE_MAX 64

/* Idle time in ms after which kept connections are closed. */
#define TG_HTTP_KEEPALIVE_MS 60000

typedef struct tg_curl_loop_s tg_curl_loop_t;

struct tg_curl_loop_s {
    tg_uv_sched_t *sched;
    tg_sched_source_t source; /* waits while libcurl has work to do */

    /* Called when the transfer of an added handle has ended. */
    void (*on_done)(tg_curl_loop_t *loop, CURL *easy, CURLcode code);

    const tg_curl_t *curl; /* libcurl's functions; NULL before the first use */
    CURLM *multi;          /* multi handle; NULL: no connection is kept */
    uv_timer_t timer;      /* libcurl's timer */
    uv_timer_t idle;
    uint64_t keepalive_ms; /* idle time; TG_HTTP_KEEPALIVE_MS by default */
    unsigned n;            /* number of added transfers */
    int is_broken;         /* memory for watching a socket was missing */
};

void tg_curl_loop_init(tg_curl_loop_t *loop, tg_uv_sched_t *sched,
                       void (*on_done)(tg_curl_loop_t *loop, CURL *easy,
                                       CURLcode code));

/* Closes the handles. All added transfers must have been removed. */
void tg_curl_loop_close(tg_curl_loop_t *loop);

/* Loads libcurl if necessary. TG_MISSING: it is missing, with *why. */
int tg_curl_loop_open(tg_curl_loop_t *loop, const char **why);

/* Adds a transfer. TG_OK or TG_NOMEM. on_done() is called from the loop. */
int tg_curl_loop_add(tg_curl_loop_t *loop, CURL *easy);

/* Removes a transfer. Must not be called from libcurl's callbacks. */
void tg_curl_loop_remove(tg_curl_loop_t *loop, CURL *easy);

#endif
