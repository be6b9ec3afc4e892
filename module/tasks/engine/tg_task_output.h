/*
 * Output of tasks: a folder for each task has its newest output in files of
 * TG_TASK_OUTPUT_PIECE_SIZE bytes. Offsets count dropped bytes, too. Above a
 * quota, the outputs of the tasks that ended first are removed.
 */
#ifndef TG_TASK_OUTPUT_H
#define TG_TASK_OUTPUT_H

#include "base/tg_buf.h"
#include "tasks/store/tg_store.h"

/* Size of a file, in bytes. */
#define TG_TASK_OUTPUT_PIECE_SIZE 1048576
/* Maximum number of outputs that one scan of the folder removes. */
#define TG_TASK_OUTPUT_OLDEST_MAX 64
/* Maximum number of running tasks, more than run at once. */
#define TG_TASK_OUTPUT_RUNNING_MAX 64

typedef enum {
    /* appends `bytes` at `offset`; keeps the last `max` bytes */
    TG_TASK_OUTPUT_APPEND,
    TG_TASK_OUTPUT_MARK_ENDED, /* no more output follows */
    /* reads from `offset`, which becomes the first byte that is left */
    TG_TASK_OUTPUT_READ,
    TG_TASK_OUTPUT_REMOVE
} tg_task_output_op_t;

typedef struct tg_task_output_request_s tg_task_output_request_t;

/* A request, which must live until done() is called. */
struct tg_task_output_request_s {
    tg_work_item_t work;
    tg_task_output_op_t op;
    void (*done)(tg_task_output_request_t *request); /* may free the request */
    void *data;
    int64_t id; /* id of the task */
    uint64_t offset;
    uint64_t max;
    uint64_t quota; /* append: maximum size of all outputs, in bytes */
    /* append: tasks whose output is not removed */
    int64_t running[TG_TASK_OUTPUT_RUNNING_MAX];
    unsigned nrunning;
    uint64_t size; /* read: offset after the last byte of the output */
    tg_buf_t bytes;
    int err; /* errno, or 0 */
    tg_store_query_t query;
};

typedef struct {
    tg_batch_thread_t thread;
    char *dir; /* folder of all outputs, owned; created with the first output */

    /* size of all outputs in bytes; for the thread of batches */
    uint64_t used;
    int is_counted; /* `used` is valid */

    /* A shared store that keeps the output instead of files, or NULL. */
    tg_store_t *store;
} tg_task_outputs_t;

/*
 * Sets the folder of outputs, PATH.output; `path` is absolute. TG_OK or
 * TG_NOMEM.
 */
int tg_task_outputs_init(tg_task_outputs_t *outputs, uv_loop_t *loop,
                         tg_str_t path);
void tg_task_outputs_deinit(tg_task_outputs_t *outputs);

/* Submits a request; done() is called later, in the loop. */
void tg_task_outputs_submit(tg_task_outputs_t *outputs,
                            tg_task_output_request_t *request);

#endif
