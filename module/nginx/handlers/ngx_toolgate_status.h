/*
 * `toolgate.status`: what is known before it is written.
 *
 *   …_status.c          the method, and what runners are asked for it
 *   …_status_servers.c  about which servers
 *   …_status_put.c      what it answers
 */
#ifndef _NGX_TOOLGATE_STATUS_H_INCLUDED_
#define _NGX_TOOLGATE_STATUS_H_INCLUDED_

#include "nginx/call/ngx_toolgate_call.h"

/* A runner of the servers that somebody may know of. */
typedef struct {
    ngx_toolgate_call_t *call;
    ngx_toolgate_runner_t *runner;
    ngx_toolgate_ask_t ask;
    ngx_uint_t is_there;
    tg_str_t raw; /* what it answered; absent: it has not */
} ngx_toolgate_status_runner_t;

/* A call in flight, and its job, where it is one. */
typedef struct {
    ngx_toolgate_running_about_t about;
    tg_str_t kind; /* plain */
    tg_str_t state;
    tg_str_t pid; /* raw */
} ngx_toolgate_status_call_t;

typedef struct {
    ngx_array_t servers; /* ngx_toolgate_srv_conf_t * */
    ngx_array_t runners; /* ngx_toolgate_status_runner_t */
    ngx_array_t calls;   /* ngx_toolgate_status_call_t */
    ngx_uint_t nasks;
    ngx_event_t timer;
} ngx_toolgate_status_t;

/* Those that the client may ask about: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_toolgate_status_servers(ngx_toolgate_call_t *call,
                                      ngx_array_t *servers);

/* Is a call one of these servers'? */
ngx_uint_t ngx_toolgate_status_is_known(const ngx_array_t *servers,
                                        tg_str_t server);

/* Appends all there is to say. */
void ngx_toolgate_status_put(ngx_toolgate_status_t *status, tg_buf_t *json);

#endif
