/*
 * A session whose messages another module transports, such as the request of
 * an HTTP client. The session has a stand-in for the session and connection of
 * the stream module, with the configuration of a server of `stream`: variables,
 * rules, limits, logs and counters are those of any client of that server.
 *
 * The transport passes messages to the session's peer, and sends the lines of
 * peer.out.
 */
#ifndef _NGX_TG_EMBEDDED_SESSION_H_INCLUDED_
#define _NGX_TG_EMBEDDED_SESSION_H_INCLUDED_

#include "nginx/session/ngx_tg_session.h"

/*
 * Creates a session for the server with this context, with a peer that speaks
 * jsonrpc; info must outlive it. c and pool are the transport's, and must
 * outlive the session. run(data) is called when the peer may have output, never
 * from within another function. Returns NULL if there is no memory.
 */
ngx_tg_session_t *ngx_tg_embedded_session_create(ngx_stream_conf_ctx_t *ctx,
                                                 const tg_server_info_t *info,
                                                 ngx_connection_t *c,
                                                 ngx_pool_t *pool,
                                                 void (*run)(void *data),
                                                 void *data);

/* Cancels the session's calls and frees it. */
void ngx_tg_embedded_session_free(ngx_tg_session_t *session);

/*
 * Updates the catalog and serves parked requests that are due. Returns NGX_OK,
 * or NGX_ERROR: the session must be freed.
 */
ngx_int_t ngx_tg_embedded_session_update(ngx_tg_session_t *session);

/* Calls run() of all embedded sessions of the worker, later. */
void ngx_tg_embedded_sessions_wake(void);

/* Frees the cached sessions. */
void ngx_tg_embedded_session_exit(void);

#endif
