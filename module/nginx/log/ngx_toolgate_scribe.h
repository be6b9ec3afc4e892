/*
 * A thread that writes records into a file, so that its worker waits for no
 * disk.  It takes one batch at a time; what comes meanwhile is the worker's to
 * keep, within bounds.
 */
#ifndef _NGX_TOOLGATE_SCRIBE_H_INCLUDED_
#define _NGX_TOOLGATE_SCRIBE_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>

#include "base/tg_buf.h"

/* An emptied batch keeps so much. */
#define NGX_TOOLGATE_BATCH_KEEP 262144

typedef struct {
    tg_buf_t bytes;
    tg_buf_t ends;   /* where each record ends, a uint32_t each */
    size_t head;     /* bytes in front of them that tell what was lost, */
    ngx_uint_t told; /* and how many records that is */
} ngx_toolgate_batch_t;

void ngx_toolgate_batch_init(ngx_toolgate_batch_t *batch);
void ngx_toolgate_batch_deinit(ngx_toolgate_batch_t *batch);

typedef struct ngx_toolgate_scribe_s ngx_toolgate_scribe_t;

/* What became of what it wrote, since it was asked last. */
typedef struct {
    ngx_uint_t written; /* batches */
    ngx_uint_t lost;    /* records that could not be written, */
    ngx_uint_t untold;  /* and those that one told of which was not either */
    ngx_err_t err;      /* why */
} ngx_toolgate_written_t;

/* It owns fd.  NULL: there is no thread, and fd is closed. */
ngx_toolgate_scribe_t *ngx_toolgate_scribe_start(ngx_fd_t fd);

/*
 * NGX_OK: it has taken the batch, which is empty now.  NGX_AGAIN: it is busy
 * with the one before, within so many milliseconds.
 */
ngx_int_t ngx_toolgate_scribe_give(ngx_toolgate_scribe_t *scribe,
                                   ngx_toolgate_batch_t *batch,
                                   ngx_msec_t patience);

/* Writes to fd, which it owns, what it has not taken yet. */
void ngx_toolgate_scribe_reopen(ngx_toolgate_scribe_t *scribe, ngx_fd_t fd);

/* Waits so long for it to have written all; NGX_AGAIN: it has not. */
ngx_int_t ngx_toolgate_scribe_see(ngx_toolgate_scribe_t *scribe,
                                  ngx_toolgate_written_t *written,
                                  ngx_msec_t patience);

/*
 * Ends it once it has written all.  A thread that hangs in the disk for longer
 * than that is left to the end of the process.
 */
void ngx_toolgate_scribe_stop(ngx_toolgate_scribe_t *scribe,
                              ngx_msec_t patience);

#endif
