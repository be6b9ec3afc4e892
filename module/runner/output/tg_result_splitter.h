/* Splits a large MCP result that will be stored into texts and the rest. */
#ifndef TG_RESULT_SPLITTER_H
#define TG_RESULT_SPLITTER_H

#include "protocol/tg_outcome.h"

typedef struct {
    tg_json_walk_t walk;
    int is_content;        /* the walk is inside `content` */
    int is_input_required; /* the result has resultType "input_required" */
    tg_buf_t plain;
    tg_buf_t blocks; /* non-text blocks, each with a comma before it */
    tg_buf_t others; /* members other than content and structuredContent */
    tg_str_t structured;
} tg_result_splitter_t;

void tg_result_splitter_init(tg_result_splitter_t *splitter);

/* Begins with a valid result, which must outlive the steps. */
void tg_result_splitter_begin(tg_result_splitter_t *splitter, tg_str_t result);

/* Handles at least `bytes` bytes, to a block's end. TG_OK: all are done. */
int tg_result_splitter_step(tg_result_splitter_t *splitter, size_t bytes);

/* Frees the memory. tg_result_splitter_begin() need not have been called. */
void tg_result_splitter_deinit(tg_result_splitter_t *splitter);

/* Appends the result with `preview` as first block, after all steps. */
void tg_result_splitter_write_json(const tg_result_splitter_t *splitter,
                                   const tg_buf_t *preview, tg_buf_t *text);

#endif
