/* Connecting to several addresses, for the files of this folder only. */
#ifndef TG_UV_CONN_CONNECT_H
#define TG_UV_CONN_CONNECT_H

#include "transport/tg_transport.h"

/* Connects to conn->next_address, or else to a later one. */
void tg_uv_conn_connect_next_address(tg_uv_conn_t *conn);

#endif
