/* RFC 8259 and RFC 3629 implemented as simply as possible, for comparison. */
#ifndef BASE_JSON_REF_H
#define BASE_JSON_REF_H

#include "base/tg_json.h"

/* Validates a text like tg_json_validate(): TG_OK, TG_INVALID, or TG_LIMIT. */
int ref_check(tg_str_t text);

/* Writes a valid text without white space to dst, which has room for it. */
size_t ref_compact(tg_str_t text, char *dst);

/* Returns the length of the sequence at p < end, or 0 if it is invalid. */
size_t ref_utf8(const char *p, const char *end);

#endif
