/* Stores the large result of a call and replaces it by a preview. */
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
 * Stores an outcome that is larger than the preview or, without one, than
 * max_output. It then refers to the preview in `text`, which must outlive it.
 * Of an MCP result, whose splitter `result` must have done all steps, texts and
 * structured content are stored together, and the preview becomes its first
 * block; other blocks, such as images, stay. An outcome that cannot be stored
 * stays complete, or fails if it has more than max_output bytes.
 */
void tg_outcome_store_large(tg_outcome_t *outcome,
                            const tg_result_splitter_t *result,
                            const tg_output_store_params_t *spec,
                            size_t max_output, const char *tool,
                            tg_buf_t *text);

#endif
