/*
 * Server-sent events, as the HTML standard has them: a stream of bytes in
 * UTF-8, cut anywhere, and the events in it.
 *
 *     for (at = 0; (rc = tg_sse_next(&sse, data + at, len - at, &part,
 *                                    &event)) == TG_OK; at += part) { … }
 *
 * An event that is not ended by an empty line is none.
 */
#ifndef TG_SSE_H
#define TG_SSE_H

#include "base/tg_buf.h"

/* Bytes of an event's type and of its id; what is longer is none. */
#define TG_SSE_VALUE_MAX 1024
/* The longest name of a field, and one more. */
#define TG_SSE_NAME_MAX 6

/* Slices that live until the next call. */
typedef struct {
    tg_str_t type; /* empty: a message */
    tg_str_t data; /* its lines, with a line's end between them */
} tg_sse_event_t;

typedef enum {
    TG_SSE_NAME,  /* of a field */
    TG_SSE_BLANK, /* behind the colon, one is left out */
    TG_SSE_VALUE
} tg_sse_state_t;

typedef enum {
    TG_SSE_OTHER, /* comments, and what is not known */
    TG_SSE_DATA,
    TG_SSE_TYPE,
    TG_SSE_ID,
    TG_SSE_RETRY
} tg_sse_field_t;

typedef struct {
    char text[TG_SSE_VALUE_MAX];
    size_t len;
} tg_sse_value_t;

typedef struct {
    tg_buf_t data; /* of the event under way, or the one handed out */
    size_t max;
    tg_sse_state_t state;
    tg_sse_field_t field;
    char name[TG_SSE_NAME_MAX + 1];
    size_t name_len;      /* at most one more than a known one has */
    tg_sse_value_t value; /* of a field that is no data */
    tg_sse_value_t type;
    tg_sse_value_t id;   /* that was said last */
    tg_sse_value_t last; /* of the last event that was ended */
    uint64_t retry;      /* in ms, as the server says; 0: it does not */
    unsigned nbom;       /* bytes of the mark of the byte order */
    unsigned has_data:1;
    unsigned has_id:1;       /* since the last event */
    unsigned is_delivered:1; /* the event was handed out */
    unsigned is_cr:1;        /* a line ended in CR: an LF belongs to it */
    unsigned is_long:1;
} tg_sse_t;

/* max: bytes of an event's data. */
void tg_sse_init(tg_sse_t *sse, const tg_alloc_t *alloc, size_t max);
void tg_sse_deinit(tg_sse_t *sse);

/* Another stream begins, which goes on where the last one has ended. */
void tg_sse_restart(tg_sse_t *sse);

/*
 * TG_OK: an event; TG_AGAIN: there is none in the rest.  TG_LIMIT: one is too
 * large, TG_NOMEM: the stream cannot be read on.
 */
int tg_sse_next(tg_sse_t *sse, const char *data, size_t len, size_t *consumed,
                tg_sse_event_t *event);

/* The id to resume a stream with; empty: it has none. */
tg_str_t tg_sse_last_id(const tg_sse_t *sse);

#endif
