/*
 * A client of Toolgate, or of any JSON-RPC server on a Unix socket: asks
 * over a libuv loop, and comes back by itself when the server reloads.
 *
 * A connection begins with a hello and a ping.  Requests are sent when the
 * ping was answered: from then on the server is known to be alive and to
 * have read the hello, so that it says goodbye before it leaves, and what it
 * had not taken up can be sent again without running twice.
 *
 * Every request is answered exactly once, from the loop, unless it was
 * cancelled or the client was closed.  What may be executed twice without
 * harm (tg_client_list) is asked again when the connection breaks; what may
 * not is then answered with TG_ANSWER_LOST.
 *
 * The program ignores SIGPIPE.
 */
#ifndef TG_CLIENT_H
#define TG_CLIENT_H

#include "core/tg_caller.h"
#include "uv/tg_uv.h"

/* The largest message either way: more than Toolgate lets anybody send. */
#define TG_CLIENT_FRAME_MAX 67108864u

typedef struct tg_client_s tg_client_t;
typedef struct tg_client_call_s tg_client_call_t;

typedef struct {
    /*
     * A connection is ready, 0; or there is none and the client has given
     * up for now, a libuv error: UV_EOF when the server ended it before it
     * answered, UV_EMSGSIZE when it sent more than TG_CLIENT_FRAME_MAX.  The
     * next request tries again.  May be NULL.
     */
    void (*connected)(void *host, int err);

    /* method is an escaped body, params raw or absent.  May be NULL. */
    void (*notification)(void *host, tg_str_t method,
                         const tg_message_t *message);

    /* Last call of a client that was closed; it is freed after the return. */
    void (*closed)(void *host);
} tg_client_ops_t;

/*
 * The slices live until it returns.  TG_ANSWER_NOT_STARTED: there is no
 * connection, tg_client_error() says why.
 */
typedef void (*tg_client_answer_pt)(void *ctx, const tg_answer_t *answer);

/* path is copied, ops outlive the client.  NULL when there is no memory. */
tg_client_t *tg_client_new(uv_loop_t *loop, const char *path,
                           const tg_client_ops_t *ops, void *host);

/* Connects, unless it is connected; requests do so by themselves. */
void tg_client_connect(tg_client_t *client);

/* Why there is no connection: a libuv error, or 0. */
int tg_client_error(const tg_client_t *client);

/*
 * Requests.  All text is copied.  call names it for tg_client_cancel() until
 * its answer was given; it may be NULL.  TG_OK, TG_NOMEM, TG_LIMIT when it
 * is larger than TG_CLIENT_FRAME_MAX, TG_CLOSED after tg_client_close().
 */

/* method is plain text, params raw JSON or absent. */
int tg_client_request(tg_client_t *client, tg_str_t method, tg_str_t params,
                      tg_client_answer_pt answer, void *ctx,
                      tg_client_call_t **call);

/* name is plain text, arguments a raw JSON object. */
int tg_client_call_tool(tg_client_t *client, tg_str_t name, tg_str_t arguments,
                        tg_client_answer_pt answer, void *ctx,
                        tg_client_call_t **call);

/* All pages of tools/list: the result is {"tools":[…]}. */
int tg_client_list(tg_client_t *client, tg_client_answer_pt answer, void *ctx,
                   tg_client_call_t **call);

/* Forgets a request and tells the server to stop; no answer is given. */
void tg_client_cancel(tg_client_t *client, tg_client_call_t *call);

/*
 * Writes what is to be written, for a second at most, and ends the client;
 * requests that wait get no answer.  ops->closed follows from the loop.
 */
void tg_client_close(tg_client_t *client);

#endif
