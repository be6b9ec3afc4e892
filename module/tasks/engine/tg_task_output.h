/*
 * What tasks put out, in files: of each task a folder of pieces, of which the
 * newest are kept.  Where a byte stands is its offset, whatever was dropped
 * before it.  Of all together there are at most as many bytes as a quota says:
 * then those go whose tasks have ended first.
 */
#ifndef TG_TASK_OUTPUT_H
#define TG_TASK_OUTPUT_H

#include "base/tg_buf.h"
#include "tasks/store/tg_store.h"

#define TG_TASK_OUTPUT_PIECE_SIZE 1048576
/* Outputs that are removed after one look at what there is. */
#define TG_TASK_OUTPUT_OLDEST_MAX 64
/* More tasks than run at once. */
#define TG_TASK_OUTPUT_RUNNING_MAX 64

typedef enum {
    TG_TASK_OUTPUT_APPEND, /* bytes, which stand at offset, of most at all */
    TG_TASK_OUTPUT_MARK_ENDED, /* no more will come */
    TG_TASK_OUTPUT_READ, /* from offset on, or from what is there behind it */
    TG_TASK_OUTPUT_REMOVE
} tg_task_output_op_t;

typedef struct tg_task_output_request_s tg_task_output_request_t;

/* Memory of whoever asks, until done. */
struct tg_task_output_request_s {
    tg_work_item_t work;
    tg_task_output_op_t op;
    void (*done)(tg_task_output_request_t *request); /* may free it */
    void *data;
    int64_t id; /* of the task */
    uint64_t offset;
    uint64_t max;
    uint64_t quota; /* append: of all outputs */
    /* likewise: those of others go */
    int64_t running[TG_TASK_OUTPUT_RUNNING_MAX];
    unsigned nrunning;
    uint64_t size; /* read: behind the last byte that there is */
    tg_buf_t bytes;
    int err; /* an errno */
    tg_store_query_t query;
};

typedef struct {
    tg_work_queue_t work_queue;
    char *dir; /* owned; it is made with the first output */

    /* Of the lane's thread: bytes of all outputs. */
    uint64_t used;
    int is_counted; /* used is known */

    /* One that is shared keeps them instead; or NULL. */
    tg_store_t *store;
} tg_task_outputs_t;

/* Beside the file at path, which is absolute; TG_OK or TG_NOMEM. */
int tg_task_outputs_init(tg_task_outputs_t *outputs, uv_loop_t *loop,
                         tg_str_t path);
void tg_task_outputs_deinit(tg_task_outputs_t *outputs);

void tg_task_outputs_submit(tg_task_outputs_t *outputs,
                            tg_task_output_request_t *request);

#endif
