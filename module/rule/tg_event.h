/*
 * An event: what happened, as a JSON object,
 *
 *   {"type":"task.failed","source":"tasks","timestamp":"…","payload":{…}}
 *
 * and what rules say of one: fields, which are names with dots between, and
 * texts with {{fields}} in them.
 */
#ifndef TG_EVENT_H
#define TG_EVENT_H

#include "base/tg_buf.h"

/* Bytes of a value that a text takes; the rest of it is left out. */
#define TG_EVENT_VALUE_MAX 65536

/*
 * The raw value of a field, of the event or else of its payload, so that
 * `error` is `payload.error`.  An element of an array has its number as its
 * name.  TG_OK or TG_MISSING.
 */
int tg_event_get_field(tg_str_t event, tg_str_t field, tg_str_t *value);

/*
 * Appends a text, each {{field}} replaced by its value: a string as it is,
 * anything else as JSON.  What has no value stays, and what was put in is not
 * looked through again.  A NUL, which no program can be given, becomes
 * U+FFFD.  TG_LIMIT: that is more than most bytes.
 */
int tg_event_render_template(tg_buf_t *out, tg_str_t text, tg_str_t event,
                             size_t max);

/* Takes the next {{field}} off a text.  Returns 0 if there is none. */
int tg_event_take_placeholder(tg_str_t *text, tg_str_t *field);

#endif
