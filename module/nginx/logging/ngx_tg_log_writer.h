/*
 * A thread that writes records to a file, so that the worker never waits for a
 * disk. It takes one batch at a time; the worker keeps further records.
 */
#ifndef _NGX_TG_LOG_WRITER_H_INCLUDED_
#define _NGX_TG_LOG_WRITER_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>

#include "base/tg_buf.h"

/* Memory that an emptied batch keeps, in bytes. */
#define NGX_TG_LOG_BATCH_KEEP 262144

typedef struct {
    tg_buf_t bytes;
    tg_buf_t ends;   /* end offset of each record, as uint32_t */
    size_t note_len; /* length of a note about losses at the start of bytes */
    ngx_uint_t drops_noted; /* number of records reported lost by that note */
} ngx_tg_log_batch_t;

void ngx_tg_log_batch_init(ngx_tg_log_batch_t *batch);
void ngx_tg_log_batch_deinit(ngx_tg_log_batch_t *batch);

typedef struct ngx_tg_log_writer_s ngx_tg_log_writer_t;

/* Results of the thread since the last read. */
typedef struct {
    ngx_uint_t written;    /* number of batches written */
    ngx_uint_t lost;       /* number of records that could not be written */
    ngx_uint_t unreported; /* losses whose note was lost as well */
    ngx_err_t err;         /* last error */
} ngx_tg_log_write_result_t;

/* Starts the thread, which owns fd. On failure closes fd, returns NULL. */
ngx_tg_log_writer_t *ngx_tg_log_writer_start(ngx_fd_t fd);

/*
 * Passes a batch, waiting up to `patience` ms for the previous one. Returns
 * NGX_OK and empties batch, or NGX_AGAIN.
 */
ngx_int_t ngx_tg_log_writer_submit(ngx_tg_log_writer_t *writer,
                                   ngx_tg_log_batch_t *batch,
                                   ngx_msec_t patience);

/* Directs later batches to fd, which the thread owns. */
void ngx_tg_log_writer_reopen(ngx_tg_log_writer_t *writer, ngx_fd_t fd);

/* Reads the results of an idle thread. NGX_AGAIN: busy for `patience` ms. */
ngx_int_t ngx_tg_log_writer_get_result(ngx_tg_log_writer_t *writer,
                                       ngx_tg_log_write_result_t *written,
                                       ngx_msec_t patience);

/*
 * Stops the thread once it has written everything. If the disk blocks it for
 * `patience` ms, the thread is left to the end of the process.
 */
void ngx_tg_log_writer_stop(ngx_tg_log_writer_t *writer, ngx_msec_t patience);

#endif
