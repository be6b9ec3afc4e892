/*
 * Stores the large result of a call of any handler and replaces it by a
 * preview.
 */
#ifndef TG_OUTCOME_STORE_H
#define TG_OUTCOME_STORE_H

#include "runner/output/tg_output_preview.h"
#include "runner/output/tg_result_splitter.h"
#include "runner/jobs/tg_job_result.h"

/* Checks whether an outcome is so large that its text may have to be stored. */
int tg_outcome_is_large_output(const tg_outcome_t *outcome,
                               const tg_output_store_params_t *spec,
                               size_t max_output);

/*
 * Stores the text of an outcome that is larger than the preview or, without
 * one, than max_output. The outcome then refers to the preview in `text`, which
 * must live as long as the outcome.
 *
 * Text and JSON are stored as text. The splitter `result` of an MCP result must
 * have done all steps. The texts and the structured content of an MCP result
 * are stored together, in this order, and the preview becomes its first block;
 * other blocks, such as images, do not change. An outcome that cannot be stored
 * stays complete, or becomes a failure if it has more than max_output bytes.
 */
void tg_outcome_store_large(tg_outcome_t *outcome,
                            const tg_result_splitter_t *result,
                            const tg_output_store_params_t *spec,
                            size_t max_output, const char *tool,
                            tg_buf_t *text);

#endif
