/*
 * A caller whose host writes down what happens to it, one line an event.
 */
#ifndef CORE_END_H
#define CORE_END_H

#include "core_help.h"

#include "core/tg_caller.h"

#define END_MAX 65536

typedef struct {
    tg_caller_t caller;
    tg_buf_t log;
    const char *again; /* a tool that the next answer calls */
    uint64_t cancel;   /* an id that the next answer cancels */
} end_t;

/* Without hooks for anything but answers. */
extern const tg_caller_ops_t end_few_ops;

void end_init(end_t *end, tg_dialect_t dialect);
void end_deinit(end_t *end);

/* Calls a tool without arguments; its name is the tag too. */
int end_call(end_t *end, const char *name, uint64_t *id);

/* Hands bytes, or one payload of ipc, to the caller: what it returned. */
int end_feed(end_t *end, tg_str_t bytes);
int end_feed_ipc(end_t *end, const char *payload);

/* Compares what happened since, and forgets it. */
#define END_SAYS(end, expected) end_says(end, expected, __FILE__, __LINE__)
void end_says(end_t *end, const char *expected, const char *file, int line);

/* Compares what it sends and takes it: as written, or as not written. */
#define END_SENDS(end, expected) end_sends(end, expected, 1, __FILE__, __LINE__)
#define END_UNSENT(end, expected)                                              \
    end_sends(end, expected, 0, __FILE__, __LINE__)
void end_sends(end_t *end, const char *expected, int is_written,
               const char *file, int line);

#define END_IPC_CALL(name)                                                     \
    "{\"method\":\"call_tool\",\"params\":{\"name\":\"" name "\","             \
    "\"arguments\":{}}}"

/* Likewise one frame of ipc. */
void end_sends_ipc(end_t *end, const char *payload, int is_written);

#endif
