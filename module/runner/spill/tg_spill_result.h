/*
 * A large result of MCP that is to be stored: its texts, and what stays of it,
 * taken from it in steps.
 */
#ifndef TG_SPILL_RESULT_H
#define TG_SPILL_RESULT_H

#include "core/tg_outcome.h"

typedef struct {
    tg_json_walk_t walk;
    int is_content; /* the blocks are walked */
    int is_asking;  /* it asks for something first (input_required) */
    tg_buf_t plain;
    tg_buf_t blocks; /* that are no text, each with a comma before it */
    tg_buf_t others; /* members, likewise */
    tg_str_t structured;
} tg_spill_result_t;

void tg_spill_result_init(tg_spill_result_t *steps);

/* Begins with a valid result, which outlives the steps. */
void tg_spill_result_begin(tg_spill_result_t *steps, tg_str_t result);

/* Takes so many bytes, and the block that they end in: TG_AGAIN or TG_OK. */
int tg_spill_result_step(tg_spill_result_t *steps, size_t bytes);

/* Also of one that did not begin. */
void tg_spill_result_end(tg_spill_result_t *steps);

/* Appends the result with the preview as its first block, after all steps. */
void tg_spill_result_put(const tg_spill_result_t *steps,
                         const tg_buf_t *preview, tg_buf_t *text);

#endif
