/*
 * State of a `toolgate.status` call while its data is collected.
 *
 *   ngx_tg_status.c          method, requests to runners
 *   ngx_tg_status_servers.c  servers that the client may see
 *   ngx_tg_status_json.c     response
 */
#ifndef _NGX_TG_STATUS_H_INCLUDED_
#define _NGX_TG_STATUS_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/upstream/ngx_tg_runner.h"
#include "nginx/shm/ngx_tg_counters.h"

/* A runner of the servers that the client may see. */
typedef struct {
    ngx_tg_call_t *call;
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

typedef struct {
    ngx_array_t servers; /* ngx_tg_srv_conf_t * */
    ngx_array_t runners; /* ngx_tg_status_runner_t */
    ngx_array_t calls;   /* ngx_tg_status_call_t */
    ngx_uint_t nrequests;
    ngx_event_t timer;
} ngx_tg_status_t;

/* Lists the servers whose status the client may see. NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_status_list_servers(ngx_tg_call_t *call, ngx_array_t *servers);

/* Checks whether one of the servers has this label. */
ngx_uint_t ngx_tg_status_has_server(const ngx_array_t *servers,
                                    tg_str_t server);

/* Appends the whole response. */
void ngx_tg_status_write_json(ngx_tg_status_t *status, tg_buf_t *json);

#endif
