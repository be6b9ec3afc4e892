/* Requests of a client, for the files of this folder only. */
#ifndef TG_UV_CLIENT_REQUEST_H
#define TG_UV_CLIENT_REQUEST_H

#include "transport/tg_uv_client.h"

/* Sends a request if the client is open, once on each connection. */
void tg_uv_request_send(tg_uv_client_t *client, tg_uv_request_t *request);

/* Completes the request, or sends it again for the next page or connection. */
void tg_uv_request_handle_response(tg_uv_client_t *client,
                                   tg_uv_request_t *request,
                                   const tg_response_t *answer);

/* Closes the connection for lack of memory: client->err is UV_ENOMEM. */
void tg_uv_client_drop_conn_nomem(tg_uv_client_t *client);

#endif
