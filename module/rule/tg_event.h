/*
 * An event as a JSON object,
 *
 *   {"type":"task.failed","source":"tasks","timestamp":"…","payload":{…}}
 *
 * its fields, which are names separated by dots, and templates with {{FIELD}}
 * placeholders.
 */
#ifndef TG_EVENT_H
#define TG_EVENT_H

#include "base/tg_buf.h"

/* Largest value of a placeholder in bytes; a longer value is truncated. */
#define TG_EVENT_VALUE_MAX 65536

/*
 * Finds the raw value of a field in the event, or else in its payload, so that
 * `error` is `payload.error`. An element of an array is named by its index.
 * TG_OK or TG_MISSING.
 */
int tg_event_get_field(tg_str_t event, tg_str_t field, tg_str_t *value);

/*
 * Appends a template with each {{FIELD}} replaced by its value: a string as
 * text, anything else as JSON. A placeholder without a value stays unchanged.
 * Inserted values are not scanned for placeholders. A NUL in a value becomes
 * U+FFFD, because a program's arguments cannot contain it. TG_OK; TG_LIMIT if
 * the result exceeds max bytes.
 */
int tg_event_render_template(tg_buf_t *out, tg_str_t text, tg_str_t event,
                             size_t max);

/*
 * Finds the next {{FIELD}} and removes the text up to its end from *text.
 * Returns 0 if there is none.
 */
int tg_event_take_placeholder(tg_str_t *text, tg_str_t *field);

#endif
