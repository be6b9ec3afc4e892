/*
 * A client's questions, as tg_uv_client.c needs them.  For the files of this
 * folder only.
 */
#ifndef TG_UV_CLIENT_REQUEST_H
#define TG_UV_CLIENT_REQUEST_H

#include "transport/tg_uv_client.h"

/* Sends it, when there is a connection that it was not sent on. */
void tg_uv_request_send(tg_uv_client_t *client, tg_uv_request_t *request);

/* Its answer, or a page of it, or how it was lost. */
void tg_uv_request_handle_response(tg_uv_client_t *client,
                                   tg_uv_request_t *request,
                                   const tg_response_t *answer);

/* There is no memory: the connection's end says so. */
void tg_uv_client_drop_conn_nomem(tg_uv_client_t *client);

#endif
