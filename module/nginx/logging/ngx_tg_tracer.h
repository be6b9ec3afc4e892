/*
 * Traces of frames (tool_trace): a record of MessagePack for each, in a file
 * of all workers.  docs/operations.md says what stands in one.
 *
 * The worker packs it into a buffer, which a thread of its own writes
 * (ngx_tg_log_writer.h).  What the buffer or the disk has no room for is lost,
 * and the next record tells how many that were.
 *
 *   ngx_tg_tracer.c       the buffer, its times, the file
 *   ngx_tg_tracer_msgpack.c  a record; msgpack-c is known here alone
 *   ngx_tg_tracer_directives.c  the directive
 */
#ifndef _NGX_TG_TRACER_H_INCLUDED_
#define _NGX_TG_TRACER_H_INCLUDED_

#include "nginx/logging/ngx_tg_logging.h"

/* Kept for the thread: some thousand usual frames, or a burst of large ones. */
#define NGX_TG_TRACE_BUFFER_MAX 4194304
/* Of a frame: in four of these there is room in the buffer. */
#define NGX_TG_TRACE_BODY_MAX 1048576
/* In ms: what came is handed to the thread so late, all at once. */
#define NGX_TG_TRACE_SUBMIT_DELAY 10
/* In ms: how long a worker that exits waits for the disk. */
#define NGX_TG_TRACE_EXIT_TIMEOUT 5000

/* One for each file. */
typedef struct ngx_tg_tracer_s ngx_tg_tracer_t;

struct ngx_tg_trace_conf_s {
    ngx_tg_tracer_t *tracer;            /* NULL: off */
    ngx_stream_complex_value_t *filter; /* if=; NULL: each connection */
    size_t body;                        /* bytes of a frame, from its start */
};

typedef struct {
    uint64_t time; /* as …_trace_now() */
    uint64_t connection;
    uint32_t pid; /* of the client; 0: it came over TCP */
    const char *dialect;
    ngx_uint_t is_out;
    ngx_uint_t is_cut; /* this is not all of it */
    tg_str_t text;
} ngx_tg_trace_frame_t;

/* Microseconds of Unix time. */
uint64_t ngx_tg_tracer_get_time(void);

void ngx_tg_tracer_write_frame(const ngx_tg_trace_conf_t *trace,
                               const ngx_tg_trace_frame_t *frame);

/* The config is right: files that are not there are made, for nobody else. */
void ngx_tg_tracer_create_files(ngx_cycle_t *cycle);

/* The worker exits: what is in buffers is written. */
void ngx_tg_tracer_exit(ngx_cycle_t *cycle);

/* --- for the directive --- */

/* The same for the same file; NULL: logged. */
ngx_tg_tracer_t *ngx_tg_tracer_open_file(ngx_conf_t *cf, ngx_str_t *path);

/* --- records; NGX_ERROR: there is no memory --- */

ngx_int_t ngx_tg_trace_pack_frame(tg_buf_t *out,
                                  const ngx_tg_trace_frame_t *frame,
                                  size_t body);
ngx_int_t ngx_tg_trace_pack_drop_count(tg_buf_t *out, uint64_t time,
                                       ngx_uint_t lost);

#endif
