/*
 * Parser of server-sent events (HTML standard): a stream of UTF-8 bytes, cut
 * anywhere, becomes events.
 *
 *   for (at = 0; (rc = tg_sse_next(&sse, data + at, len - at, &part,
 *                                  &event)) == TG_OK; at += part) { … }
 *
 * An event that is not followed by an empty line is dropped.
 */
#ifndef TG_SSE_H
#define TG_SSE_H

#include "base/tg_buf.h"

/* Largest type or id of an event in bytes; a longer one counts as empty. */
#define TG_SSE_VALUE_MAX 1024
/* Length of the longest field name that is known, plus one. */
#define TG_SSE_NAME_MAX 6

/* An event. The slices are valid until the next call. */
typedef struct {
    tg_str_t type; /* empty: "message" */
    tg_str_t data; /* data lines, joined by line feeds */
} tg_sse_event_t;

typedef enum {
    TG_SSE_NAME,  /* in the name of a field */
    TG_SSE_BLANK, /* after the colon: one blank is skipped */
    TG_SSE_VALUE
} tg_sse_state_t;

typedef enum {
    TG_SSE_OTHER, /* comments and unknown fields */
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
    tg_buf_t data; /* data of the current or delivered event */
    size_t max;
    tg_sse_state_t state;
    tg_sse_field_t field;
    char name[TG_SSE_NAME_MAX + 1];
    size_t name_len;      /* at most TG_SSE_NAME_MAX */
    tg_sse_value_t value; /* of the current field, unless it is data */
    tg_sse_value_t type;
    tg_sse_value_t id;   /* the last id field */
    tg_sse_value_t last; /* the id at the end of the last event */
    uint64_t retry;      /* reconnection time of the server, in ms; 0: none */
    unsigned nbom;       /* bytes of the byte order mark read; 3: done */
    unsigned has_data:1;
    unsigned has_id:1;       /* an id was received since the last event */
    unsigned is_delivered:1; /* the event was returned to the caller */
    unsigned is_cr:1;        /* the last line ended in CR: skip an LF */
    unsigned is_long:1;
} tg_sse_t;

/* Initializes a parser. max: largest data of an event, in bytes. */
void tg_sse_init(tg_sse_t *sse, const tg_alloc_t *alloc, size_t max);
void tg_sse_deinit(tg_sse_t *sse);

/* Prepares for another stream that continues after the last complete event. */
void tg_sse_restart(tg_sse_t *sse);

/*
 * Parses until the next event. TG_OK: *event is set; TG_AGAIN: data has no
 * further complete event. After TG_LIMIT (the event exceeds max) or TG_NOMEM
 * the stream cannot be read further.
 */
int tg_sse_next(tg_sse_t *sse, const char *data, size_t len, size_t *consumed,
                tg_sse_event_t *event);

/* Returns the event id for resuming the stream (Last-Event-ID); empty: none. */
tg_str_t tg_sse_last_id(const tg_sse_t *sse);

#endif
