/*
 * The large result of a call, whichever handler made it: it is stored, and the
 * caller is shown a preview.
 */
#ifndef TG_SPILL_OUTCOME_H
#define TG_SPILL_OUTCOME_H

#include "runner/spill/tg_spill_preview.h"
#include "runner/tg_answer.h"

/*
 * Stores an outcome whose text is larger than the preview (or, without one,
 * than max_output), and has it say the preview instead; text takes that, and
 * lives as long as the outcome.
 *
 * Text and JSON become a text.  Of a result of MCP the texts and the
 * structured content are stored together, in this order, and its first block
 * is the preview; other blocks, such as images, stay as they are.  What cannot
 * be stored stays whole, or is a failure where it has more than max_output
 * bytes.
 */
void tg_spill_outcome(tg_outcome_t *outcome, const tg_spill_spec_t *spec,
                      size_t max_output, const char *tool, tg_buf_t *text);

/*
 * Appends an answer that is a valid object as of tg_answer_put(), with its
 * outcome replaced in this way.
 */
void tg_spill_put_answer(tg_buf_t *json, tg_str_t answer,
                         const tg_spill_spec_t *spec, size_t max_output,
                         const tg_job_params_t *params);

#endif
