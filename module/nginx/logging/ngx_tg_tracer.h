/*
 * Traces of frames (tool_trace): MessagePack records in a file that all workers
 * share; see docs/operations.md. A thread writes the worker's buffer. If the
 * buffer or disk is full, the next record counts the lost ones.
 *
 *   ngx_tg_tracer.c             buffer, timing and file
 *   ngx_tg_tracer_msgpack.c     packing of records; the only user of msgpack-c
 *   ngx_tg_tracer_directives.c  the directive
 */
#ifndef _NGX_TG_TRACER_H_INCLUDED_
#define _NGX_TG_TRACER_H_INCLUDED_

#include "nginx/logging/ngx_tg_logging.h"

/* Maximum bytes waiting for the thread: some thousand usual frames. */
#define NGX_TG_TRACE_BUFFER_MAX 4194304
/* Maximum bytes of a frame; the buffer has room for four. */
#define NGX_TG_TRACE_BODY_MAX 1048576
/* Delay after which records are passed to the thread, in ms. */
#define NGX_TG_TRACE_SUBMIT_DELAY 10
/* Maximum time that an exiting worker waits for the disk, in ms. */
#define NGX_TG_TRACE_EXIT_TIMEOUT 5000

/* One tracer per file. */
typedef struct ngx_tg_tracer_s ngx_tg_tracer_t;

struct ngx_tg_trace_conf_s {
    ngx_tg_tracer_t *tracer;            /* NULL: off */
    ngx_stream_complex_value_t *filter; /* if=; NULL: trace every connection */
    size_t body; /* maximum bytes of a frame, from its start */
};

typedef struct {
    uint64_t time; /* value of ngx_tg_tracer_get_time() */
    uint64_t connection;
    uint32_t pid; /* process of the client; 0: a TCP client */
    const char *dialect;
    ngx_uint_t is_out;
    ngx_uint_t is_cut; /* text is incomplete */
    tg_str_t text;
} ngx_tg_trace_frame_t;

/* Returns the Unix time in microseconds. */
uint64_t ngx_tg_tracer_get_time(void);

/* Adds a record of a frame, or counts it as lost. */
void ngx_tg_tracer_write_frame(const ngx_tg_trace_conf_t *trace,
                               const ngx_tg_trace_frame_t *frame);

/* Creates missing files for their owner only, once the config is valid. */
void ngx_tg_tracer_create_files(ngx_cycle_t *cycle);

void ngx_tg_tracer_exit(ngx_cycle_t *cycle);

/* --- functions for the directive --- */

/* Returns the tracer of a file, created at its first use. */
ngx_tg_tracer_t *ngx_tg_tracer_open_file(ngx_conf_t *cf, ngx_str_t *path);

/* --- records --- */

/* Appends a frame's record with `body` bytes of text. NGX_ERROR: no memory. */
ngx_int_t ngx_tg_trace_pack_frame(tg_buf_t *out,
                                  const ngx_tg_trace_frame_t *frame,
                                  size_t body);
/* Appends a record about lost ones. NGX_ERROR: no memory. */
ngx_int_t ngx_tg_trace_pack_drop_count(tg_buf_t *out, uint64_t time,
                                       ngx_uint_t lost);

#endif
