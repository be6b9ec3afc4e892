/*
 * A thread that writes records into a file, so that its worker waits for no
 * disk.  It takes one batch at a time; what comes meanwhile is the worker's to
 * keep, within bounds.
 */
#ifndef _NGX_TG_LOG_WRITER_H_INCLUDED_
#define _NGX_TG_LOG_WRITER_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>

#include "base/tg_buf.h"

/* An emptied batch keeps so much. */
#define NGX_TG_LOG_BATCH_KEEP 262144

typedef struct {
    tg_buf_t bytes;
    tg_buf_t ends;   /* where each record ends, a uint32_t each */
    size_t note_len; /* bytes in front of them that tell what was lost, */
    ngx_uint_t drops_noted; /* and how many records that is */
} ngx_tg_log_batch_t;

void ngx_tg_log_batch_init(ngx_tg_log_batch_t *batch);
void ngx_tg_log_batch_deinit(ngx_tg_log_batch_t *batch);

typedef struct ngx_tg_log_writer_s ngx_tg_log_writer_t;

/* What became of what it wrote, since it was asked last. */
typedef struct {
    ngx_uint_t written;    /* batches */
    ngx_uint_t lost;       /* records that could not be written, */
    ngx_uint_t unreported; /* and those that one told of which was not either */
    ngx_err_t err;         /* why */
} ngx_tg_log_write_result_t;

/* It owns fd.  NULL: there is no thread, and fd is closed. */
ngx_tg_log_writer_t *ngx_tg_log_writer_start(ngx_fd_t fd);

/*
 * NGX_OK: it has taken the batch, which is empty now.  NGX_AGAIN: it is busy
 * with the one before, within so many milliseconds.
 */
ngx_int_t ngx_tg_log_writer_submit(ngx_tg_log_writer_t *writer,
                                   ngx_tg_log_batch_t *batch,
                                   ngx_msec_t patience);

/* Writes to fd, which it owns, what it has not taken yet. */
void ngx_tg_log_writer_reopen(ngx_tg_log_writer_t *writer, ngx_fd_t fd);

/* Waits so long for it to have written all; NGX_AGAIN: it has not. */
ngx_int_t ngx_tg_log_writer_get_result(ngx_tg_log_writer_t *writer,
                                       ngx_tg_log_write_result_t *written,
                                       ngx_msec_t patience);

/*
 * Ends it once it has written all.  A thread that hangs in the disk for longer
 * than that is left to the end of the process.
 */
void ngx_tg_log_writer_stop(ngx_tg_log_writer_t *writer, ngx_msec_t patience);

#endif
