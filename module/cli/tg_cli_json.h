/*
 * JSON documents of json-c. Functions that read accept values of any type, and
 * NULL, which is `null`, too: what is absent is NULL, 0 or an absent string.
 */
#ifndef TG_CLI_JSON_H
#define TG_CLI_JSON_H

#include "base/tg_buf.h"

#include <json-c/json.h>

/* Keeps the text of numbers. Returns TG_OK, TG_INVALID or TG_NOMEM. */
int tg_cli_json_parse(tg_str_t text, json_object **value);

/* Stores valid JSON whose text is written byte for byte, or NULL: no memory. */
json_object *tg_cli_json_new_raw(tg_str_t text);

/*
 * Checks a user's JSON: json-c accepts more than RFC 8259 and reports no
 * position. why: the reason, or NULL.
 */
int tg_cli_json_check(tg_str_t text, tg_buf_t *why);

/* Returns a value on one line, valid until it changes; absent: no memory. */
tg_str_t tg_cli_json_write(json_object *value);

/* Appends JSON, valid and without white space, with one member per line. */
void tg_cli_json_append_pretty(tg_buf_t *out, tg_str_t json);

/* Returns the text of a string, or other JSON on one line. */
tg_str_t tg_cli_json_show(json_object *value);
void tg_cli_json_append_value(tg_buf_t *out, json_object *value);
tg_str_t tg_cli_json_to_text(json_object *value);

/* Returns a number; 0 if it is negative. */
uint64_t tg_cli_json_to_uint(json_object *value);
int tg_cli_json_is_number(json_object *value);

/* --- members of objects --- */

json_object *tg_cli_json_get(json_object *object, const char *name);
json_object *tg_cli_json_get_object(json_object *object, const char *name);
uint64_t tg_cli_json_get_uint(json_object *object, const char *name);
tg_str_t tg_cli_json_get_text(json_object *object, const char *name);
int tg_cli_json_is_true(json_object *object, const char *name);
int tg_cli_json_has_text(json_object *object, const char *name,
                         const char *text);
void tg_cli_json_add_text(json_object *object, const char *name, tg_str_t text);

/* --- lists and members, in their order --- */

typedef struct {
    json_object *list;
    size_t i;
    const struct lh_entry *member;
} tg_cli_json_iter_t;

void tg_cli_json_iter_init(tg_cli_json_iter_t *iter, json_object *list);

/* Stores the next element.  Returns 0 after the last one. */
int tg_cli_json_iter_next(tg_cli_json_iter_t *iter, json_object **value);
void tg_cli_json_iter_init_members(tg_cli_json_iter_t *iter,
                                   json_object *object);

/* Stores the next member.  Returns 0 after the last one. */
int tg_cli_json_iter_next_member(tg_cli_json_iter_t *iter, const char **name,
                                 json_object **value);

#endif
