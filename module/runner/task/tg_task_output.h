/*
 * What tasks put out, in files: of each task a folder of pieces, of which the
 * newest are kept.  Where a byte stands is its offset, whatever was dropped
 * before it.
 */
#ifndef TG_TASK_OUTPUT_H
#define TG_TASK_OUTPUT_H

#include "base/tg_buf.h"
#include "runner/store/tg_store.h"

#define TG_OUTPUT_PIECE 1048576

typedef enum {
    TG_OUTPUT_APPEND,  /* bytes, which stand at offset, of most at all */
    TG_OUTPUT_READ_ON, /* from offset on, or from what is there behind it */
    TG_OUTPUT_REMOVE
} tg_output_op_t;

typedef struct tg_output_ask_s tg_output_ask_t;

/* Memory of whoever asks, until done. */
struct tg_output_ask_s {
    tg_work_t work;
    tg_output_op_t op;
    void (*done)(tg_output_ask_t *ask); /* may free it */
    void *data;
    int64_t id; /* of the task */
    uint64_t offset;
    uint64_t most;
    uint64_t size; /* read: behind the last byte that there is */
    tg_buf_t bytes;
    int err; /* an errno */
    tg_store_ask_t asked;
};

typedef struct {
    tg_lane_t lane;
    char *dir; /* owned; it is made with the first output */

    /* One that is shared keeps them instead; or NULL. */
    tg_store_t *store;
} tg_outputs_t;

/* Beside the file at path, which is absolute; TG_OK or TG_NOMEM. */
int tg_outputs_init(tg_outputs_t *outputs, uv_loop_t *loop, tg_str_t path);
void tg_outputs_deinit(tg_outputs_t *outputs);

void tg_outputs_ask(tg_outputs_t *outputs, tg_output_ask_t *ask);

#endif
