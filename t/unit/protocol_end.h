/* The calling end of a connection, with a host that logs its events. */
#ifndef PROTOCOL_END_H
#define PROTOCOL_END_H

#include "protocol_help.h"

#include "protocol/tg_mcp_client_call.h"

#define END_MAX 65536

typedef struct {
    tg_caller_t caller;
    tg_mcp_client_t client;
    const tg_catalog_t *tools; /* the latest snapshot */
    tg_buf_t log;
    const char *again; /* a tool that the next response calls */
    uint64_t cancel;   /* an id that the next response cancels */
    uint64_t now;      /* time of the client */
    int has_client;
    int is_read;    /* all sent bytes have been taken by the next step */
    int has_failed; /* out of memory */
} end_t;

/* Only a callback for responses. */
extern const tg_caller_ops_t end_few_ops;

/* With a client, the log has the client's events. */
void end_init(end_t *end, const tg_alloc_t *alloc, tg_dialect_t dialect,
              const tg_mcp_handshake_t *handshake);
void end_deinit(end_t *end);

/*
 * Calls a tool without arguments; its name, one word, is also the tag. A
 * client also gets a progress token and further members of the call, an
 * object.
 */
int end_call(end_t *end, const char *name);

/* Lets the client fetch lists of all kinds. */
int end_set_kinds(end_t *end, const char *args);

/* Lets the client call a method: NAME [PARAMS]. */
int end_call_method(end_t *end, const char *args);

/* Subscribes to these raw URIs, separated by commas, in the modern era. */
int end_listen(end_t *end, const char *args);

/* Subscribes to the raw URI, or unsubscribes if a word follows it. */
int end_subscribe(end_t *end, const char *args);

/* Feeds the caller in chunks of this size; returns the caller's last result. */
int end_feed(end_t *end, tg_str_t bytes, size_t chunk);

/* Logs an event of the client. */
void end_event(end_t *end, tg_mcp_event_t event, const char *other);

/* Compares the log since the last call, and clears it. */
#define END_LOG_IS(end, expected) end_log_is(end, expected, __FILE__, __LINE__)
void end_log_is(end_t *end, const char *expected, const char *file, int line);

#endif
