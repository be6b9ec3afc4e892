/* One address after the other; for the files of this folder only. */
#ifndef TG_UV_CONNECT_H
#define TG_UV_CONNECT_H

#include "uv/tg_uv.h"

/* Connects to conn->next; what follows it is tried when that fails. */
void tg_uv_connect_next(tg_uv_conn_t *conn);

#endif
