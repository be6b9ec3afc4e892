/* URIs (RFC 3986): parsing, and resolution of references. */
#ifndef TG_URI_H
#define TG_URI_H

#include "base/tg_buf.h"

/* Parts of a URI as slices of its text; data is NULL if a part is absent. */
typedef struct {
    tg_str_t scheme;
    tg_str_t authority;
    tg_str_t path; /* never absent, may be empty */
    tg_str_t query;
    tg_str_t fragment;
} tg_uri_t;

/* Does not check the address in the brackets of an IP literal. */
int tg_uri_parse(tg_str_t text, tg_uri_t *uri);

/*
 * Appends reference, resolved without its fragment by RFC 3986, section 5.2.
 * base must be absolute or empty (all parts absent). Removes dot segments;
 * scheme and authority become lower case.
 */
void tg_uri_resolve(const tg_uri_t *base, const tg_uri_t *reference,
                    tg_buf_t *out);

/*
 * Removes the first token of a JSON pointer, which begins with a slash, and
 * decodes it to room, which has the length of the pointer.
 */
tg_str_t tg_schema_pointer_next_token(tg_str_t *pointer, char *room);

/* Decodes %XX. TG_INVALID: the result is not valid UTF-8. */
int tg_uri_append_decoded(tg_buf_t *out, tg_str_t text);

#endif
