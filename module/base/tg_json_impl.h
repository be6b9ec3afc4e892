/*
 * What the cursor is made of, for tg_json_*.c only.  All of them return
 * TG_OK with pos behind what they passed, or fail the cursor.
 */
#ifndef TG_JSON_IMPL_H
#define TG_JSON_IMPL_H

#include "base/tg_json.h"

/* Fails the cursor, unless it has failed before; why is static. */
int tg_json_fail(tg_json_t *json, int code, const char *why);

/* A string from p on, within it or at its end; all before p is in order. */
int tg_json_pass_text(tg_json_t *json, const char *p);

/* What starts at pos: a number; one certain word. */
int tg_json_pass_number(tg_json_t *json);
int tg_json_pass_word(tg_json_t *json, const char *word, size_t len);

#endif
