/*
 * Traces of frames (tool_trace): a record of MessagePack for each, in a file
 * of all workers.  docs/operations.md says what stands in one.
 *
 * The worker packs it into a buffer, which a thread of its own writes
 * (…_scribe.h).  What the buffer or the disk has no room for is lost, and the
 * next record tells how many that were.
 *
 *   …_tracer.c       the buffer, its times, the file
 *   …_tracer_pack.c  a record; msgpack-c is known here alone
 *   …_tracer_conf.c  the directive
 */
#ifndef _NGX_TOOLGATE_TRACER_H_INCLUDED_
#define _NGX_TOOLGATE_TRACER_H_INCLUDED_

#include "nginx/log/ngx_toolgate_log.h"

/* Kept for the thread: some thousand usual frames, or a burst of large ones. */
#define NGX_TOOLGATE_TRACE_BUFFER 4194304
/* Of a frame: in four of these there is room in the buffer. */
#define NGX_TOOLGATE_TRACE_BODY_MAX 1048576
/* In ms: what came is handed to the thread so late, all at once. */
#define NGX_TOOLGATE_TRACE_DELAY 10
/* In ms: how long a worker that exits waits for the disk. */
#define NGX_TOOLGATE_TRACE_EXIT 5000

/* One for each file. */
typedef struct ngx_toolgate_tracer_s ngx_toolgate_tracer_t;

struct ngx_toolgate_trace_conf_s {
    ngx_toolgate_tracer_t *tracer;      /* NULL: off */
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
} ngx_toolgate_frame_t;

/* Microseconds of Unix time. */
uint64_t ngx_toolgate_trace_now(void);

void ngx_toolgate_trace_frame(const ngx_toolgate_trace_conf_t *trace,
                              const ngx_toolgate_frame_t *frame);

/* The config is right: files that are not there are made, for nobody else. */
void ngx_toolgate_tracer_make_files(ngx_cycle_t *cycle);

/* The worker exits: what is in buffers is written. */
void ngx_toolgate_tracer_exit(ngx_cycle_t *cycle);

/* --- for the directive --- */

/* The same for the same file; NULL: logged. */
ngx_toolgate_tracer_t *ngx_toolgate_tracer_file(ngx_conf_t *cf,
                                                ngx_str_t *path);

/* --- records; NGX_ERROR: there is no memory --- */

ngx_int_t ngx_toolgate_pack_frame(tg_buf_t *out,
                                  const ngx_toolgate_frame_t *frame,
                                  size_t body);
ngx_int_t ngx_toolgate_pack_lost(tg_buf_t *out, uint64_t time, ngx_uint_t lost);

#endif
