/*
 * An event as a JSON object, its fields (names separated by dots), and
 * templates with {{FIELD}} placeholders:
 *
 *   {"type":"task.failed","source":"tasks","timestamp":"…","payload":{…}}
 */
#ifndef TG_EVENT_H
#define TG_EVENT_H

#include "base/tg_buf.h"

/* Largest value of a placeholder in bytes; a longer value is truncated. */
#define TG_EVENT_VALUE_MAX 65536

/*
 * Finds a field in the event or else in its payload, so that `error` is
 * `payload.error`. An array's element is named by its index. TG_OK or
 * TG_MISSING.
 */
int tg_event_get_field(tg_str_t event, tg_str_t field, tg_str_t *value);

/*
 * Replaces each {{FIELD}} by its value, a string as text, anything else as
 * JSON, without scanning values for placeholders. A placeholder without a value
 * stays. A NUL becomes U+FFFD, because a program's arguments cannot contain it.
 * TG_OK; TG_LIMIT if the result exceeds max bytes.
 */
int tg_event_render_template(tg_buf_t *out, tg_str_t text, tg_str_t event,
                             size_t max);

/* Removes *text up to the end of its next {{FIELD}}, or returns 0. */
int tg_event_take_placeholder(tg_str_t *text, tg_str_t *field);

#endif
