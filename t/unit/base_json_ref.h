/*
 * RFC 8259 and RFC 3629, written down again as plainly as it can be, for
 * comparison; nothing of core is used.
 */
#ifndef BASE_JSON_REF_H
#define BASE_JSON_REF_H

#include "base/tg_json.h"

/*
 * As tg_json_validate(): TG_OK, TG_INVALID, or TG_LIMIT when it nests too deep.
 */
int ref_check(tg_str_t text);

/*
 * Writes a valid text without the white space between its tokens to dst,
 * which has room for all of it.  Returns how many bytes that are.
 */
size_t ref_compact(tg_str_t text, char *dst);

/* The length of the sequence at p, or 0 when it is none.  p < end. */
size_t ref_utf8(const char *p, const char *end);

#endif
