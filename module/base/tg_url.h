/*
 * Absolute HTTP URLs. Parsing is strict (RFC 3986) and also rejects what other
 * parsers may read differently: a user before the host, a fragment, a
 * backslash, a byte that is not ASCII.
 */
#ifndef TG_URL_H
#define TG_URL_H

#include "base/tg_buf.h"

typedef struct {
    int is_tls;
    tg_str_t host;   /* host; an IPv6 address includes its brackets */
    uint16_t port;   /* port; the scheme's default if the URL has none */
    tg_str_t path;   /* path from its slash, without the query; may be empty */
    tg_str_t target; /* path and query */
} tg_url_t;

/* Parses text, into which the slices point. *why says what to write. */
int tg_url_parse(tg_str_t text, tg_url_t *url, const char **why);

/* Checks whether c is allowed in a host and port; brackets and colons are. */
int tg_url_is_authority_char(char c);

/*
 * Appends text as one path segment, or as a name or value in a query: all but
 * RFC 3986's unreserved characters are encoded.
 */
void tg_url_append_encoded(tg_buf_t *buf, tg_str_t text);

/*
 * Makes an external URL fit for requests: encodes what path and query must not
 * contain, and drops the fragment. An invalid URL stays invalid.
 */
void tg_url_append_normalized(tg_buf_t *buf, tg_str_t text);

int tg_url_has_dot_segments(tg_str_t path);

int tg_url_is_same_origin(const tg_url_t *a, const tg_url_t *b);

/* Appends scheme, host and port, without the scheme's default port. */
void tg_url_append_origin(tg_buf_t *buf, const tg_url_t *url);

/*
 * A host pattern is a name, "*.NAME" for all hosts below NAME, or "*". ":PORT"
 * or ":*" may follow; otherwise the scheme's default port matches.
 */
typedef enum {
    TG_URL_MATCH_NONE,
    TG_URL_MATCH_WILDCARD, /* match of a pattern with "*" */
    TG_URL_MATCH_EXACT     /* match of a pattern that names the host */
} tg_url_match_t;

tg_url_match_t tg_url_match_host(const tg_url_t *url, tg_str_t pattern);

/* Checks a host pattern. Returns NULL, or a hint that says what to write. */
const char *tg_url_check_pattern(tg_str_t pattern);

#endif
