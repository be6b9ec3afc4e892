/*
 * The dialects: a row of this list and a file each, tg_NAME.c, which holds
 * both ends.  Everybody else asks the row.
 */
#ifndef TG_DIALECT_H
#define TG_DIALECT_H

#include "core/tg_frame.h"
#include "core/tg_message.h"

/* The order in which a first line is offered to them. */
#define TG_DIALECTS(row) row(IPC, ipc) row(JSONRPC, jsonrpc) row(RELAY, relay)

typedef enum {
    TG_DIALECT_AUTO,
#define TG_DIALECT_NUMBER(NUMBER, name) TG_DIALECT_##NUMBER,
    TG_DIALECTS(TG_DIALECT_NUMBER)
#undef TG_DIALECT_NUMBER
    TG_DIALECT_END /* how many there are */
} tg_dialect_t;

struct tg_caller_s;

typedef struct {
    const char *name;
    tg_frame_kind_t framing;
    size_t max_frame; /* the largest payload; 0: what the host says */

    /*
     * One call at a time, and answers without an id: what cannot be read
     * came in the place of an answer, and ends the connection.  There are no
     * requests but calls.
     */
    unsigned is_sequential:1;
    unsigned has_notifications:1; /* of the client's */

    /* --- the end that asks (tg_caller.h) --- */

    const char *opening; /* of a request, up to its id or method */
    const char *call;    /* the method that calls a tool, as JSON */

    /* What the client says before it leaves; NULL: nothing. */
    void (*shutdown)(tg_buf_t *out, tg_str_t reason);

    /*
     * A message that is no answer.  TG_OK; TG_CLOSED after a goodbye;
     * TG_MISSING when there is no such message.  NULL: there are none.
     */
    int (*hear)(struct tg_caller_s *caller, const tg_message_t *message);
} tg_dialect_row_t;

#define TG_DIALECT_EXTERN(NUMBER, name)                                        \
    extern const tg_dialect_row_t tg_dialect_##name;
TG_DIALECTS(TG_DIALECT_EXTERN)
#undef TG_DIALECT_EXTERN

/* Of a dialect that was decided, so never AUTO. */
const tg_dialect_row_t *tg_dialect(tg_dialect_t dialect);
const char *tg_dialect_name(tg_dialect_t dialect);

#endif
