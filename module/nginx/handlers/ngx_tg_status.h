/*
 * `toolgate.status`: what is known before it is written.
 *
 *   ngx_tg_status.c          the method, and what runners are asked for it
 *   ngx_tg_status_servers.c  about which servers
 *   ngx_tg_status_json.c      what it answers
 */
#ifndef _NGX_TG_STATUS_H_INCLUDED_
#define _NGX_TG_STATUS_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* A runner of the servers that somebody may know of. */
typedef struct {
    ngx_tg_call_t *call;
    ngx_tg_runner_t *runner;
    ngx_tg_upstream_request_t request;
    ngx_uint_t is_reachable;
    tg_str_t raw; /* what it answered; absent: it has not */
} ngx_tg_status_runner_t;

/* A call in flight, and its job, where it is one. */
typedef struct {
    ngx_tg_running_call_info_t about;
    tg_str_t kind; /* plain */
    tg_str_t state;
    tg_str_t pid; /* raw */
} ngx_tg_status_call_t;

typedef struct {
    ngx_array_t servers; /* ngx_tg_srv_conf_t * */
    ngx_array_t runners; /* ngx_tg_status_runner_t */
    ngx_array_t calls;   /* ngx_tg_status_call_t */
    ngx_uint_t nrequests;
    ngx_event_t timer;
} ngx_tg_status_t;

/* Those that the client may ask about: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_status_list_servers(ngx_tg_call_t *call, ngx_array_t *servers);

/* Is a call one of these servers'? */
ngx_uint_t ngx_tg_status_has_server(const ngx_array_t *servers,
                                    tg_str_t server);

/* Appends all there is to say. */
void ngx_tg_status_write_json(ngx_tg_status_t *status, tg_buf_t *json);

#endif
