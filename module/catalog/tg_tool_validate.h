/*
 * Validation of a call's arguments and outcome against the schemas of its tool.
 * A schema may be NULL: every value is valid then.
 *
 * A validator that is NULL means that there was no memory for one. The caller
 * sets the frame of the validator before, see tg_schema_validator_set_frame().
 */
#ifndef TG_TOOL_VALIDATE_H
#define TG_TOOL_VALIDATE_H

#include "protocol/tg_peer.h"
#include "schema/tg_schema.h"

/*
 * Checks quickly, from the request's index, whether the arguments are surely
 * valid; then tg_tool_validate_args() is not needed.
 */
static inline int
tg_tool_has_valid_args(const tg_schema_t *schema, const tg_request_t *request)
{
    return schema == NULL || tg_schema_is_valid_fast(schema, request->notes);
}

/*
 * Validates arguments. Returns TG_OK; TG_INVALID with the failure of the call
 * in outcome, whose message is in text; or TG_NOMEM with a failure in outcome.
 */
int tg_tool_validate_args(const tg_schema_t *schema,
                          tg_schema_validator_t *validator, tg_str_t arguments,
                          tg_outcome_t *outcome, tg_buf_t *text);

/*
 * Validates the arguments of a request. If they are valid only without members
 * that are null, which models often send instead of leaving them out, the
 * request gets arguments without them. These are in written, which must outlive
 * the request. Returns TG_OK; TG_INVALID with the failure of the call in
 * outcome, whose message is in text; or TG_NOMEM with a failure in outcome.
 */
int tg_tool_validate_request(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             tg_request_t *request, tg_buf_t *written,
                             tg_outcome_t *outcome, tg_buf_t *text);

/*
 * Validates an outcome. May add or remove structuredContent. Returns TG_OK;
 * TG_INVALID after replacing the outcome by a failure, whose message is in
 * text; or TG_NOMEM with a failure in outcome.
 */
int tg_tool_validate_outcome(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             const tg_catalog_entry_t *entry,
                             tg_outcome_t *outcome, tg_buf_t *text);

#endif
