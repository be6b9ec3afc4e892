/*
 * Queries about what a schema declares. Its text must be valid; results are
 * slices of it. JSON pointers in `$ref` are followed within the text, and a
 * query visits a bounded number of schemas.
 */
#ifndef TG_SCHEMA_QUERY_H
#define TG_SCHEMA_QUERY_H

#include "base/tg_json.h"

/*
 * Finds the target of a `$ref`, an escaped body, by its JSON pointer. Adds the
 * bytes that are read to *bytes. TG_MISSING also for a reference out of the
 * text, with percent escapes, or if *bytes is above bytes_max.
 */
int tg_schema_query_ref(tg_str_t root, tg_str_t ref, size_t *bytes,
                        size_t bytes_max, tg_str_t *target);

/* Checks whether name means the property with this escaped key. */
typedef int (*tg_schema_key_match_pt)(tg_str_t name, tg_str_t key);

/*
 * Finds the property with this name, or one for which match_key(name, key)
 * returns 1. TG_MISSING: the schema does not declare it, but declares or
 * forbids others; TG_AGAIN: that cannot be determined.
 */
int tg_schema_query_property(tg_str_t root, tg_str_t schema, tg_str_t name,
                             tg_schema_key_match_pt match_key, tg_str_t *key,
                             tg_str_t *value);

/* Finds a keyword, also by `$ref` and `allOf`. TG_OK or TG_MISSING. */
int tg_schema_query_keyword(tg_str_t root, tg_str_t schema, const char *keyword,
                            tg_str_t *value);

/* Checks whether the keyword `type` allows a type; it does if it is absent. */
int tg_schema_query_allows_type(tg_str_t root, tg_str_t schema,
                                const char *type);

/*
 * Checks whether `type`, or else the `type`s of the schemas in `anyOf` or
 * `oneOf`, allow no numbers but integers.
 */
int tg_schema_query_is_integer(tg_str_t root, tg_str_t schema);

/* Checks whether the schema forbids properties that it does not declare. */
int tg_schema_query_is_closed(tg_str_t schema);

/* Checks whether the property with this escaped key is required. */
int tg_schema_query_is_required(tg_str_t root, tg_str_t schema, tg_str_t key);

#endif
