/*
 * The records of a trace (tool_trace), as they stand in its file.
 */
#ifndef TG_CLI_TRACE_RECORD_H
#define TG_CLI_TRACE_RECORD_H

#include "base/tg_base.h"

/* A frame's body in a trace, and the rest of its record, are shorter. */
#define TG_CLI_TRACE_RECORD_MAX (1048576u + 4096u)

typedef struct {
    uint64_t time; /* microseconds of Unix time */
    uint64_t worker;
    uint64_t lost_frames; /* so many frames were; 0: it is one */
    uint64_t connection;
    uint64_t client; /* 0: it came over TCP */
    uint64_t size;
    tg_str_t direction;
    tg_str_t dialect;
    tg_str_t body; /* as much as was traced of it; absent: nothing */
    int is_truncated;
} tg_cli_trace_record_t;

/* Where msgpack-c was not there when this was built. */
int tg_cli_trace_record_is_supported(void);

/* Could a record begin with these bytes, as far as they go? */
int tg_cli_trace_record_is_start(tg_str_t bytes);

/*
 * The record that bytes begin with, its texts within them, and its length.
 * TG_OK; TG_AGAIN: there are too few of them; TG_INVALID: there is none.
 */
int tg_cli_trace_record_parse(tg_str_t bytes, tg_cli_trace_record_t *record,
                              size_t *len);

#endif
