/*
 * Queries about the text of a schema: what it declares for values. The text
 * must be a valid schema; results are slices of it. JSON pointers in `$ref` are
 * followed within the text, and each query visits a bounded number of schemas.
 */
#ifndef TG_SCHEMA_QUERY_H
#define TG_SCHEMA_QUERY_H

#include "base/tg_json.h"

/*
 * Checks whether the property with this key is meant by name. key is an escaped
 * body.
 */
typedef int (*tg_schema_key_match_pt)(tg_str_t name, tg_str_t key);

/*
 * Finds the property with this name, or else one for which
 * match_key(name, key) returns 1.  Stores the escaped body of its key and its
 * schema.  Returns TG_OK; TG_MISSING if the schema does not declare such a
 * property, but declares others or forbids others; or TG_AGAIN if that cannot
 * be determined.
 */
int tg_schema_query_property(tg_str_t root, tg_str_t schema, tg_str_t name,
                             tg_schema_key_match_pt match_key, tg_str_t *key,
                             tg_str_t *value);

/*
 * Finds a keyword in the schema itself or in the schemas of its `$ref` and
 * `allOf`. Returns TG_OK or TG_MISSING.
 */
int tg_schema_query_keyword(tg_str_t root, tg_str_t schema, const char *keyword,
                            tg_str_t *value);

/* Checks whether the keyword `type` allows a type; it does if it is absent. */
int tg_schema_query_allows_type(tg_str_t root, tg_str_t schema,
                                const char *type);

/*
 * Checks whether the schema allows only integers as numbers, according to its
 * `type` or else to the `type` of the schemas in its `anyOf` or `oneOf`.
 */
int tg_schema_query_is_integer(tg_str_t root, tg_str_t schema);

/* Checks whether the schema forbids properties that it does not declare. */
int tg_schema_query_is_closed(tg_str_t schema);

/*
 * Checks whether the schema requires the property with this key, an escaped
 * body.
 */
int tg_schema_query_is_required(tg_str_t root, tg_str_t schema, tg_str_t key);

#endif
