/*
 * The status of servers and runners while it is collected.
 *
 *   ngx_tg_status.c          method `toolgate.status`
 *   ngx_tg_status_collect.c  requests to runners
 *   ngx_tg_status_servers.c  servers that the client may see
 *   ngx_tg_status_json.c     JSON
 */
#ifndef _NGX_TG_STATUS_H_INCLUDED_
#define _NGX_TG_STATUS_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/upstream/ngx_tg_runner.h"
#include "nginx/shm/ngx_tg_counters.h"

typedef struct ngx_tg_status_s ngx_tg_status_t;

/* A runner of the servers that the client may see. */
typedef struct {
    ngx_tg_status_t *status;
    ngx_tg_runner_t *runner;
    ngx_tg_upstream_request_t request;
    ngx_uint_t is_reachable;
    tg_str_t raw; /* raw status of the runner; absent: no response */
} ngx_tg_status_runner_t;

/* A call in flight, and its job if the runner has one. */
typedef struct {
    ngx_tg_running_call_info_t about;
    tg_str_t kind; /* plain text */
    tg_str_t state;
    tg_str_t pid; /* raw JSON */
} ngx_tg_status_call_t;

struct ngx_tg_status_s {
    ngx_pool_t *pool;
    ngx_array_t servers; /* ngx_tg_srv_conf_t * */
    ngx_array_t runners; /* ngx_tg_status_runner_t */
    ngx_array_t calls;   /* ngx_tg_status_call_t */
    ngx_uint_t nrequests;
    ngx_event_t timer;
    /* called after ngx_tg_status_collect() has returned NGX_AGAIN */
    void (*on_collected)(void *data);
    void *data;
};

/*
 * Lists the servers whose status the client of the call may see, or all servers
 * if call is NULL. NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_status_list_servers(ngx_tg_status_t *status,
                                     ngx_tg_call_t *call);

/*
 * Lists the runners of the listed servers; nrequests is the number of runners
 * to ask. NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_status_list_runners(ngx_tg_status_t *status);

/* Asks the runners. NGX_OK: no answer is awaited; NGX_AGAIN. */
ngx_int_t ngx_tg_status_collect(ngx_tg_status_t *status);

/* Stops waiting for runners; allowed at any time. */
void ngx_tg_status_cancel(ngx_tg_status_t *status);

/* Checks whether one of the servers has this label. */
ngx_uint_t ngx_tg_status_has_server(const ngx_array_t *servers,
                                    tg_str_t server);

/* --- parts of the response, after ngx_tg_status_collect() --- */

#define NGX_TG_STATUS_TIME_BOUNDS 10

/* Upper bounds of the duration buckets, in ms; the last bucket has none. */
extern const ngx_uint_t ngx_tg_status_time_bounds[NGX_TG_STATUS_TIME_BOUNDS];

/* Lists the calls in flight, with what the runners reported about them. */
void ngx_tg_status_read_calls(ngx_tg_status_t *status);

/* Counts the queued calls of an entry, after ngx_tg_status_read_calls(). */
ngx_uint_t ngx_tg_status_count_queued(const ngx_tg_status_t *status,
                                      const ngx_tg_counters_sum_t *sum);

/* Returns the number of calls of an entry that ended, except killed ones. */
uint64_t ngx_tg_status_count_ended(const ngx_tg_counters_sum_t *sum);

/*
 * Returns the number of calls of an entry that ended for a reason: 0 is `ok`,
 * NGX_TG_END_MOVED stands for killed calls.
 */
uint64_t ngx_tg_status_count_ends(const ngx_tg_counters_sum_t *sum,
                                  ngx_uint_t reason);
const char *ngx_tg_status_get_end_name(ngx_uint_t reason);

/*
 * Checks whether an entry was made by a directive such as task_methods, not by
 * a block of the config. scf may be NULL.
 */
ngx_uint_t ngx_tg_status_is_entry_internal(const ngx_tg_srv_conf_t *scf,
                                           const ngx_tg_counters_sum_t *sum);

/* Creates the counters of a server's tools that were never called. */
void ngx_tg_status_create_counters(ngx_tg_srv_conf_t *scf);

/* Appends the whole response. */
void ngx_tg_status_write_json(ngx_tg_status_t *status, tg_buf_t *json);

#endif
