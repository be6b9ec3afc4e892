/* The records of a trace file (directive tool_trace). */
#ifndef TG_CLI_TRACE_RECORD_H
#define TG_CLI_TRACE_RECORD_H

#include "base/tg_buf.h"

/* Upper bound of a record's size in bytes. */
#define TG_CLI_TRACE_RECORD_MAX (1048576u + 4096u)

typedef struct {
    uint64_t time; /* Unix time in microseconds */
    uint64_t worker;
    uint64_t lost_frames; /* number of lost frames; 0: the record is a frame */
    uint64_t connection;
    uint64_t client; /* process id; 0: connected over TCP */
    uint64_t size;
    tg_str_t direction;
    tg_str_t dialect;
    tg_str_t body; /* the traced part of the frame; absent: not traced */
    int is_truncated;
} tg_cli_trace_record_t;

/* Checks for a build with msgpack-c. */
int tg_cli_trace_record_is_supported(void);

/* bytes may be fewer than the first bytes of a record. */
int tg_cli_trace_record_is_start(tg_str_t bytes);

/*
 * Strings are slices of bytes. Returns TG_OK, TG_AGAIN if the record is
 * incomplete, or TG_INVALID.
 */
int tg_cli_trace_record_parse(tg_str_t bytes, tg_cli_trace_record_t *record,
                              size_t *len);

/* --- tg_cli_trace_print.c --- */

/* Appends a record as a line of text. */
void tg_cli_trace_record_append_text(tg_buf_t *out,
                                     const tg_cli_trace_record_t *record);

/* Appends a record as a JSON object on a line. */
void tg_cli_trace_record_write_json(tg_buf_t *out,
                                    const tg_cli_trace_record_t *record);

#endif
