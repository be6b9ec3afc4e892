/* URIs as RFC 3986 has them: taking apart, and resolving references. */
#ifndef TG_URI_H
#define TG_URI_H

#include "base/tg_buf.h"

/* Slices of the text; data is NULL where a part is absent. */
typedef struct {
    tg_str_t scheme;
    tg_str_t authority;
    tg_str_t path; /* never absent, may be empty */
    tg_str_t query;
    tg_str_t fragment;
} tg_uri_t;

/*
 * A URI reference: TG_OK, or TG_INVALID when it breaks the grammar.  What
 * stands between the brackets of an IP literal is not looked into.
 */
int tg_uri_parse(tg_str_t text, tg_uri_t *uri);

/*
 * Appends reference, resolved against base (absolute, or empty for none),
 * without its fragment: section 5.2, with dot segments removed.
 */
void tg_uri_resolve(const tg_uri_t *base, const tg_uri_t *reference,
                    tg_buf_t *out);

/* Appends text with %XX decoded: TG_OK, or TG_INVALID when that is no UTF-8. */
int tg_uri_append_decoded(tg_buf_t *out, tg_str_t text);

#endif
