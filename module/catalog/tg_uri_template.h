/*
 * URI templates (RFC 6570), matched backwards: from a URI to the values of the
 * variables. A template has text, `{x}` for a value within one segment, `{+x}`
 * for a value that may contain slashes, and at its end `{?a,b}` for query
 * parameters, each of which is optional.
 */
#ifndef TG_URI_TEMPLATE_H
#define TG_URI_TEMPLATE_H

#include "base/tg_buf.h"

/* Maximum length of a resource's URI or of a template, in bytes. */
#define TG_URI_MAX 2048
#define TG_URI_VARIABLES_MAX 16

typedef struct {
    tg_str_t name;
    int is_query;    /* 1: `{?x}`, which may be missing in a URI */
    int is_multiple; /* 1: `{+x}`, the value may contain slashes */
} tg_uri_variable_t;

typedef struct tg_uri_template_s {
    const tg_alloc_t *alloc;
    tg_uri_variable_t variables[TG_URI_VARIABLES_MAX];
    size_t nvariables;
    size_t npath; /* number of variables before those of the query */
    /* literals[i] precedes variable i; the one with index npath is the last */
    tg_str_t literals[TG_URI_VARIABLES_MAX + 1];
} tg_uri_template_t;

/*
 * Parses and copies text. TG_INVALID: *why is a static text that says what to
 * write. TG_NOMEM.
 */
int tg_uri_template_parse(const tg_alloc_t *alloc, tg_str_t text,
                          tg_uri_template_t **tmpl, const char **why);

/* Frees a template, which may be NULL. */
void tg_uri_template_free(tg_uri_template_t *tmpl);

/*
 * Matches a URI as it is, then decodes the percent escapes of each value and
 * appends a JSON object of strings. If a URI can be split in several ways,
 * earlier variables take as much as they can. TG_MISSING: no match, nothing is
 * appended; also for a value with NUL, invalid UTF-8 or an invalid escape, a
 * query parameter that is unknown or occurs twice, and a URI longer than
 * TG_URI_MAX. The time is at most the product of both lengths.
 */
int tg_uri_template_match(const tg_uri_template_t *tmpl, tg_str_t uri,
                          tg_buf_t *arguments);

/*
 * Checks that a decoded value is a relative path whose segments are neither
 * empty nor "." nor "..", without NUL. One slash may end it.
 */
int tg_uri_value_is_path_safe(tg_str_t value);

/*
 * Checks that all values of a URI that matches are path-safe and that none has
 * an encoded slash. A path may only be made from the values of such a URI.
 */
int tg_uri_template_is_path_safe(const tg_uri_template_t *tmpl, tg_str_t uri);

/*
 * Checks whether a URI is `whole` or names a part of it: it continues after
 * `whole`, which ends with a slash or is followed by one, by ? or by #.
 */
int tg_uri_is_within(tg_str_t uri, tg_str_t whole);

/* Checks whether an earlier template takes the URIs of a later one. */
int tg_uri_template_shadows(const tg_uri_template_t *earlier,
                            const tg_uri_template_t *later);

#endif
