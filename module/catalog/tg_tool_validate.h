/*
 * Do the arguments of a call, and its outcome, fit the schemas of its tool?
 * Schemas may be NULL: all fits.
 *
 * A checker that is NULL is one for which there was no memory.  The host says
 * before of which frame the checks are, see tg_schema_validator_set_frame().
 */
#ifndef TG_TOOL_VALIDATE_H
#define TG_TOOL_VALIDATE_H

#include "protocol/tg_peer.h"
#include "schema/tg_schema.h"

/* There is no need to ask: they do. */
static inline int
tg_tool_has_valid_args(const tg_schema_t *schema, const tg_request_t *request)
{
    return schema == NULL || tg_schema_is_valid_fast(schema, request->notes);
}

/*
 * TG_OK: they do.  TG_INVALID: outcome is what the call fails with, and text
 * has why; TG_NOMEM: likewise, for want of memory.
 */
int tg_tool_validate_args(const tg_schema_t *schema,
                          tg_schema_validator_t *validator, tg_str_t arguments,
                          tg_outcome_t *outcome, tg_buf_t *text);

/*
 * The same for a request's.  Where its arguments fit without members that are
 * null, as models write what they do not give, the request has them so: they
 * are in written then, which must outlive their use.
 */
int tg_tool_validate_request(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             tg_request_t *request, tg_buf_t *written,
                             tg_outcome_t *outcome, tg_buf_t *text);

/* An outcome that does not becomes a failure: as above. */
int tg_tool_validate_outcome(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             const tg_catalog_entry_t *entry,
                             tg_outcome_t *outcome, tg_buf_t *text);

#endif
