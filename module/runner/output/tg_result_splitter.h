/*
 * A large result of MCP that is to be stored: its texts, and what stays of it,
 * taken from it in steps.
 */
#ifndef TG_RESULT_SPLITTER_H
#define TG_RESULT_SPLITTER_H

#include "protocol/tg_outcome.h"

typedef struct {
    tg_json_walk_t walk;
    int is_content;        /* the blocks are walked */
    int is_input_required; /* it asks for something first (input_required) */
    tg_buf_t plain;
    tg_buf_t blocks; /* that are no text, each with a comma before it */
    tg_buf_t others; /* members, likewise */
    tg_str_t structured;
} tg_result_splitter_t;

void tg_result_splitter_init(tg_result_splitter_t *splitter);

/* Begins with a valid result, which outlives the steps. */
void tg_result_splitter_begin(tg_result_splitter_t *splitter, tg_str_t result);

/* Takes so many bytes, and the block that they end in: TG_AGAIN or TG_OK. */
int tg_result_splitter_step(tg_result_splitter_t *splitter, size_t bytes);

/* Also of one that did not begin. */
void tg_result_splitter_deinit(tg_result_splitter_t *splitter);

/* Appends the result with the preview as its first block, after all steps. */
void tg_result_splitter_write_json(const tg_result_splitter_t *splitter,
                                   const tg_buf_t *preview, tg_buf_t *text);

#endif
