/*
 * The scheduler of a libuv loop: each iteration runs one waiting source for one
 * time slice, and polling does not block meanwhile.
 */
#ifndef TG_UV_SCHED_H
#define TG_UV_SCHED_H

#include "base/tg_sched.h"

#include <uv.h>

/* Largest memory in bytes that all sources of a loop may use together. */
#define TG_UV_MEMORY_MAX 536870912

typedef struct {
    tg_sched_t sched;
    uv_loop_t *loop;
    uv_idle_t idle; /* active while sources wait */
} tg_uv_sched_t;

void tg_uv_sched_init(tg_uv_sched_t *sched, uv_loop_t *loop);

/* Closes the idle handle once no source is left. closed may be NULL. */
void tg_uv_sched_close(tg_uv_sched_t *sched, uv_close_cb closed);

/*
 * A stream read in time slices: after a read that filled its buffer, other
 * sources run first. alloc and read are for uv_read_start().
 */
typedef struct {
    tg_sched_source_t source;
    tg_uv_sched_t *sched;
    uv_stream_t *stream;
    uv_alloc_cb alloc;
    uv_read_cb read;
} tg_uv_stream_reader_t;

/* Does nothing if the stream is being read. Returns 0 or a libuv error. */
int tg_uv_stream_reader_start(tg_uv_stream_reader_t *reader,
                              tg_uv_sched_t *sched, uv_stream_t *stream,
                              uv_alloc_cb alloc, uv_read_cb read);

/* Call before the stream is closed; harmless for a reader not started. */
void tg_uv_stream_reader_stop(tg_uv_stream_reader_t *reader);

/* Ends the slice after a full read. The read callback must call this first. */
void tg_uv_stream_reader_yield(tg_uv_stream_reader_t *reader, ssize_t nread,
                               const uv_buf_t *buf);

#endif
