/*
 * What the text of a schema declares, for those who write about the values
 * that it is a schema of.  The text must be a valid schema; what is found are
 * slices of it.  `$ref` is followed within the text, as far as JSON pointers
 * lead, and each look ends after a bounded number of schemas.
 */
#ifndef TG_SCHEMA_QUERY_H
#define TG_SCHEMA_QUERY_H

#include "base/tg_json.h"

/*
 * The schema of the property that a name means, by is_named(name, key), the
 * one of this very name before others.  key is the property's escaped body.
 * TG_OK; TG_MISSING: schema declares none, though it declares others or
 * allows no others; TG_AGAIN: it declares nothing, or what cannot be told.
 */
typedef int (*tg_schema_key_match_pt)(tg_str_t name, tg_str_t key);

int tg_schema_query_property(tg_str_t root, tg_str_t schema, tg_str_t name,
                             tg_schema_key_match_pt match_key, tg_str_t *key,
                             tg_str_t *value);

/*
 * What is said of a keyword, by the schema itself or by what it refers to
 * and what all of it must fit: TG_OK or TG_MISSING.
 */
int tg_schema_query_keyword(tg_str_t root, tg_str_t schema, const char *keyword,
                            tg_str_t *value);

/* May a value be of this type, as far as `type` says? */
int tg_schema_query_allows_type(tg_str_t root, tg_str_t schema,
                                const char *type);

/*
 * Is every number that it allows a whole one, as far as `type` says, its own
 * or, if it has none, those of the schemas in its `anyOf` or `oneOf`?
 */
int tg_schema_query_is_integer(tg_str_t root, tg_str_t schema);

/* Does it refuse properties that it does not declare? */
int tg_schema_query_is_closed(tg_str_t schema);

/* Does it say that there must be a property of this key? */
int tg_schema_query_is_required(tg_str_t root, tg_str_t schema, tg_str_t key);

#endif
