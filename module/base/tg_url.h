/*
 * URLs of HTTP, absolute ones: taken apart, put together, and which hosts a
 * list allows.
 *
 * Only what RFC 3986 has is a URL here; also what other parsers read
 * differently is refused: a user before the host, a fragment, a backslash,
 * what is not ASCII.
 */
#ifndef TG_URL_H
#define TG_URL_H

#include "base/tg_buf.h"

typedef struct {
    int is_tls;
    tg_str_t host;   /* IPv6 with its brackets */
    uint16_t port;   /* also where there is none */
    tg_str_t path;   /* from its slash, without the query; may be empty */
    tg_str_t target; /* path and query */
} tg_url_t;

/* Slices of text: TG_OK; or TG_INVALID, and what to write instead. */
int tg_url_parse(tg_str_t text, tg_url_t *url, const char **why);

/* Is c allowed in a host or its port, brackets and colons included? */
int tg_url_is_authority_char(char c);

/*
 * Appends text as one segment of a path, or as a name or value of a query:
 * whatever could mean something there is percent-encoded.
 */
void tg_url_append_encoded(tg_buf_t *buf, tg_str_t text);

/*
 * Appends a URL that somebody else wrote, as it can be asked for: in path and
 * query, what may not stand there is percent-encoded; a fragment, which is the
 * reader's alone, is left out.  What is no URL does not become one.
 */
void tg_url_append_normalized(tg_buf_t *buf, tg_str_t text);

/* Has a path a segment that means another folder: "." or ".."? */
int tg_url_has_dot_segments(tg_str_t path);

/* Same scheme, host and port? */
int tg_url_is_same_origin(const tg_url_t *a, const tg_url_t *b);

/* Appends scheme, host and port; a usual port is left out. */
void tg_url_append_origin(tg_buf_t *buf, const tg_url_t *url);

/*
 * A list of hosts has names, "*.NAME" for all below NAME, and "*" for all
 * there are; each with ":PORT", or ":*" for any port, else it is about the
 * scheme's own.  What a pattern says of a URL:
 */
typedef enum {
    TG_URL_MATCH_NONE,     /* nothing */
    TG_URL_MATCH_WILDCARD, /* it is one of many that are allowed */
    TG_URL_MATCH_EXACT     /* it is the one that is meant */
} tg_url_match_t;

tg_url_match_t tg_url_match_host(const tg_url_t *url, tg_str_t pattern);

/* Is it a pattern?  NULL, or what to write. */
const char *tg_url_check_pattern(tg_str_t pattern);

#endif
