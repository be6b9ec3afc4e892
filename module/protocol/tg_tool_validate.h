/*
 * Validation of a call's arguments and outcome against its tool's schemas. A
 * schema of NULL accepts all; a validator of NULL means that there is no
 * memory. The caller sets the validator's frame, see
 * tg_schema_validator_set_frame().
 *
 * The int functions return TG_OK; TG_INVALID with a failure in outcome, whose
 * message is in text; or TG_NOMEM with a failure in outcome.
 */
#ifndef TG_TOOL_VALIDATE_H
#define TG_TOOL_VALIDATE_H

#include "protocol/tg_peer.h"
#include "schema/tg_schema.h"

/* Returns 1 if the request's index shows that the arguments are valid. */
static inline int
tg_tool_has_valid_args(const tg_schema_t *schema, const tg_request_t *request)
{
    return schema == NULL || tg_schema_is_valid_fast(schema, request->notes);
}

int tg_tool_validate_args(const tg_schema_t *schema,
                          tg_schema_validator_t *validator, tg_str_t arguments,
                          tg_outcome_t *outcome, tg_buf_t *text);

/*
 * If the arguments are valid only without null members, which models often send
 * instead of leaving them out, the request gets arguments without them, in
 * `written`, which must outlive the request.
 */
int tg_tool_validate_request(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             tg_request_t *request, tg_buf_t *written,
                             tg_outcome_t *outcome, tg_buf_t *text);

/* May add or remove structuredContent; a failure replaces the outcome. */
int tg_tool_validate_outcome(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             const tg_catalog_entry_t *entry,
                             tg_outcome_t *outcome, tg_buf_t *text);

#endif
