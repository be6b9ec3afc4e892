/*
 * Converts YAML to JSON, with libyaml, which is loaded when it is needed. Plain
 * scalars have the types of YAML's core schema (1.2): null, booleans, integers,
 * floating-point numbers without infinity and NaN, and else strings.
 */
#ifndef TG_YAML_H
#define TG_YAML_H

#include "base/tg_buf.h"

/* Deepest nesting, and longest JSON text in bytes. */
#define TG_YAML_DEPTH_MAX 32
#define TG_YAML_JSON_MAX 131072

/*
 * Appends the JSON of a mapping, which is one document without aliases. TG_OK,
 * TG_NOMEM, or TG_INVALID with the reason appended to *why.
 */
int tg_yaml_to_json(tg_str_t yaml, tg_buf_t *json, tg_buf_t *why);

#endif
