/*
 * How bytes go to an MCP server and back: stdio of a program that is started
 * (tg_stdio.c), a socket (tg_socket.c), or HTTP (tg_streamable.c).  Another
 * way is another file with a table as this.
 *
 * What is to be sent stands in the instance's caller.
 */
#ifndef TG_TRANSPORT_H
#define TG_TRANSPORT_H

#include "base/tg_buf.h"
#include "core/tg_outcome.h"

typedef struct tg_instance_s tg_instance_t;

typedef struct {
    /*
     * Begins to open: tg_instance_opened() follows, maybe at once, or
     * tg_instance_lost().  TG_FAILURE_NONE, or what is appended to why; then
     * close() is called, too.
     */
    tg_failure_t (*open)(tg_instance_t *instance, tg_buf_t *why);

    /* Sends what there is to be sent. */
    void (*flush)(tg_instance_t *instance);

    /* The stream has ended (tg_stream.h); of those that are streams. */
    void (*ended)(tg_instance_t *instance);

    /* Bytes that the server has not taken yet. */
    size_t (*backlog)(const tg_instance_t *instance);

    /*
     * Bytes that were sent and that a server which has ended did not read.
     * NULL: that is not known.
     */
    size_t (*unread)(const tg_instance_t *instance);

    /* Has the server ended as if that were no failure?  NULL: never. */
    int (*has_finished)(const tg_instance_t *instance);

    /*
     * Asked after a message of size bytes while there are more: is the time
     * slice over?
     */
    int (*is_slice_over)(tg_instance_t *instance, size_t size);

    /* Appends how it ended, as " exited with status 1: …". */
    void (*explain)(const tg_instance_t *instance, tg_buf_t *text);

    /*
     * Ends it, is_now without time for an end of its own; it may be called
     * again.  What it holds (tg_instance_hold()) is released when that is
     * closed, not from here.
     */
    void (*close)(tg_instance_t *instance, int is_now);
} tg_transport_t;

extern const tg_transport_t tg_stdio_transport;
extern const tg_transport_t tg_socket_transport;
extern const tg_transport_t tg_streamable_transport;

#endif
