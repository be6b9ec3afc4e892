/*
 * What the transports have in common that are streams of lines: the
 * connection of an instance.
 */
#ifndef TG_STREAM_H
#define TG_STREAM_H

#include "runner/mcp/tg_instance.h"

/*
 * Reads from one descriptor and writes to another, which are the stream's
 * from now on; or connects.  0 or a libuv error.  tg_instance_opened()
 * follows, or tg_instance_lost().
 */
int tg_stream_open(tg_instance_t *instance, int in, int out);
int tg_stream_connect(tg_instance_t *instance, const struct sockaddr *address);

void tg_stream_flush(tg_instance_t *instance);
size_t tg_stream_backlog(const tg_instance_t *instance);
int tg_stream_is_slice_over(tg_instance_t *instance, size_t size);
void tg_stream_close(tg_instance_t *instance);

#endif
