/*
 * The large result of a call, whichever handler made it: it is stored, and the
 * caller is shown a preview.
 */
#ifndef TG_OUTCOME_STORE_H
#define TG_OUTCOME_STORE_H

#include "runner/output/tg_output_preview.h"
#include "runner/output/tg_result_splitter.h"
#include "runner/jobs/tg_job_result.h"

/* Is an outcome so large that its text may have to be stored? */
int tg_outcome_is_large_output(const tg_outcome_t *outcome,
                               const tg_output_store_params_t *spec,
                               size_t max_output);

/*
 * Stores such an outcome if its text is larger than the preview (or, without
 * one, than max_output), and has it say the preview instead; text takes that,
 * and lives as long as the outcome.
 *
 * Text and JSON become a text.  Of a result of MCP, whose steps have been
 * taken, the texts and the structured content are stored together, in this
 * order, and its first block is the preview; other blocks, such as images,
 * stay as they are.  What cannot be stored stays whole, or is a failure where
 * it has more than max_output bytes.
 */
void tg_outcome_store_large(tg_outcome_t *outcome,
                            const tg_result_splitter_t *result,
                            const tg_output_store_params_t *spec,
                            size_t max_output, const char *tool,
                            tg_buf_t *text);

#endif
