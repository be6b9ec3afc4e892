/*
 * The large result of a call, whichever handler made it: it is stored, and the
 * caller is shown a preview.
 */
#ifndef TG_SPILL_OUTCOME_H
#define TG_SPILL_OUTCOME_H

#include "runner/spill/tg_spill_preview.h"
#include "runner/spill/tg_spill_result.h"
#include "runner/tg_answer.h"

/* Is an outcome so large that its text may have to be stored? */
int tg_spill_is_large(const tg_outcome_t *outcome, const tg_spill_spec_t *spec,
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
void tg_spill_large(tg_outcome_t *outcome, const tg_spill_result_t *result,
                    const tg_spill_spec_t *spec, size_t max_output,
                    const char *tool, tg_buf_t *text);

#endif
