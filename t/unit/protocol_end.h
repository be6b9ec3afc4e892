/*
 * The calling end of a connection: a caller, with an MCP client or without,
 * and a host that writes down what happens to it, one line an event.
 */
#ifndef PROTOCOL_END_H
#define PROTOCOL_END_H

#include "protocol_help.h"

#include "protocol/tg_mcp_client_call.h"

#define END_MAX 65536

typedef struct {
    tg_caller_t caller;
    tg_mcp_client_t client;
    const tg_catalog_t *tools; /* the snapshot that was told last */
    tg_buf_t log;
    const char *again; /* a tool that the next answer calls */
    uint64_t cancel;   /* an id that the next answer cancels */
    uint64_t now;      /* of the client */
    int has_client;
    int is_read;    /* what was sent: all of it, by the next step */
    int has_failed; /* memory has ended */
} end_t;

/* Without hooks for anything but answers. */
extern const tg_caller_ops_t end_few_ops;

/* With a client, what happens is what it makes of it. */
void end_init(end_t *end, const tg_alloc_t *alloc, tg_dialect_t dialect,
              const tg_mcp_handshake_t *handshake);
void end_deinit(end_t *end);

/*
 * Calls a tool without arguments; its name, a word, is the tag too.  A client
 * takes the token of its progress as well, and what the call has besides, an
 * object.
 */
int end_call(end_t *end, const char *name);

/* Hands bytes to the caller, so many at once: what it returned. */
int end_feed(end_t *end, tg_str_t bytes, size_t chunk);

/* Writes down what a client says has happened. */
void end_event(end_t *end, tg_mcp_event_t event, const char *other);

/* Compares what happened since, and forgets it. */
#define END_SAYS(end, expected) end_says(end, expected, __FILE__, __LINE__)
void end_says(end_t *end, const char *expected, const char *file, int line);

#endif
