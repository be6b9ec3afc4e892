/*
 * What the files of backends share.
 *
 *   …_backend.c  which there are
 *   …_channel.c  their lines
 *   …_query.c    what waits for one
 */
#ifndef _NGX_TOOLGATE_BACKEND_IMPL_H_INCLUDED_
#define _NGX_TOOLGATE_BACKEND_IMPL_H_INCLUDED_

#include "nginx/line/ngx_toolgate_backend.h"

/* A line and, where it has one, its handshake. */
typedef struct {
    ngx_toolgate_line_t line;
    ngx_toolgate_backend_t *backend;
    tg_mcp_client_t client;
    ngx_event_t tick;
    ngx_msec_t hung; /* when it was found to say nothing; 0: it was not */
} ngx_toolgate_channel_t;

struct ngx_toolgate_backend_s {
    ngx_queue_t queue;
    ngx_queue_t waiting; /* ngx_toolgate_query_t */
    ngx_toolgate_speech_t speech;
    ngx_sockaddr_t sockaddr;
    socklen_t socklen;
    ngx_str_t name;
    ngx_event_t idle;
    ngx_uint_t is_used; /* since it was looked for that */
    ngx_uint_t is_kept;
    ngx_uint_t nqueries;
    ngx_ssl_session_t *session; /* of TLS, to be used again */
    char why[NGX_MAX_ERROR_STR / 8];
    ngx_uint_t nchannels;
    ngx_toolgate_channel_t channels[];
};

/* Gives what waits to lines that take it. */
void ngx_toolgate_backend_pump(ngx_toolgate_backend_t *backend);

/* There will be no line for what waits. */
void ngx_toolgate_backend_refuse(ngx_toolgate_backend_t *backend);

/* The best line for another call; NULL: it has to wait. */
ngx_toolgate_channel_t *ngx_toolgate_backend_choose(
    ngx_toolgate_backend_t *backend);

void ngx_toolgate_channel_init(ngx_toolgate_channel_t *channel,
                               ngx_toolgate_backend_t *backend);
void ngx_toolgate_channel_deinit(ngx_toolgate_channel_t *channel);

#endif
