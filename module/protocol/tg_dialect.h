/*
 * The dialects: a row of this list and a file each, tg_NAME.c, which holds
 * both ends.  Everybody else asks the row.
 */
#ifndef TG_DIALECT_H
#define TG_DIALECT_H

#include "protocol/tg_frame.h"
#include "protocol/tg_message.h"
#include "protocol/tg_outcome.h"

#define TG_DIALECTS(row) row(IPC, ipc) row(JSONRPC, jsonrpc) row(RELAY, relay)

typedef enum {
    TG_DIALECT_AUTO, /* answered as jsonrpc until it is decided */
#define TG_DIALECT_NUMBER(NUMBER, name) TG_DIALECT_##NUMBER,
    TG_DIALECTS(TG_DIALECT_NUMBER)
#undef TG_DIALECT_NUMBER
    TG_DIALECT_COUNT /* how many there are */
} tg_dialect_t;

typedef struct tg_peer_s tg_peer_t;
typedef struct tg_reply_s tg_reply_t;
typedef struct tg_caller_s tg_caller_t;

typedef struct {
    const char *name;
    tg_frame_type_t framing;
    size_t max_frame; /* the largest payload; 0: what the host says */

    /*
     * One call at a time, and answers without an id: what the caller cannot
     * read came in the place of an answer, and ends the connection.  There
     * are no requests but calls.
     */
    unsigned is_sequential:1;
    unsigned has_notifications:1;         /* of the client's */
    unsigned has_implicit_list_changed:1; /* without having asked for it */
    unsigned has_unpaged_list:1;          /* unless asked for a page */
    unsigned is_text_only:1;              /* of a result, only its text */
    unsigned has_handshake:1;             /* MCP's, first on a connection */
    unsigned is_bridge:1;                 /* its client stands for one agent */

    /* MCP's experimental capabilities of who serves it, or NULL. */
    const char *experimental;

    /* How a message begins, up to its id or its next member. */
    const char *request;
    tg_str_t answer;
    const char *notification; /* of the server's; NULL: there are none */
    const char *call;         /* the method that calls a tool, as JSON */

    /* --- the end that serves (tg_peer.h) --- */

    /* Is a first line of this dialect?  NULL: the first byte has told. */
    int (*is_first_message)(const tg_message_t *message);

    /*
     * One message, rc of its parser.  TG_OK; TG_CLOSED at the end; TG_AGAIN
     * when a turn ended in its middle: serve_on() goes on with it.
     */
    int (*serve)(tg_peer_t *peer, tg_message_t *message, int rc);
    int (*resume_batch)(tg_peer_t *peer, tg_str_t frame);

    /* One was too large; id as far as it is known: likewise. */
    int (*on_oversized)(tg_peer_t *peer, tg_str_t id);

    /*
     * An outcome that is an error of the protocol; TG_MISSING where it is a
     * result like others.
     */
    int (*fail)(tg_peer_t *peer, const tg_reply_t *reply,
                const tg_outcome_t *outcome);

    /* An error of a backend that speaks JSON-RPC, in the words of why. */
    void (*error)(tg_peer_t *peer, const tg_reply_t *reply, int64_t code,
                  const tg_outcome_t *why, tg_str_t data);

    /* The last words; NULL: there are none. */
    void (*send_shutdown_notice)(tg_peer_t *peer, tg_str_t reason);

    /* Why the client is not served; NULL: it is closed without a word. */
    void (*send_refusal)(tg_peer_t *peer, tg_str_t why);

    /* --- the end that asks (tg_caller.h) --- */

    /* What the client says before it leaves; NULL: nothing. */
    void (*shutdown)(tg_buf_t *out, tg_str_t reason);

    /*
     * A message that is no answer.  TG_OK; TG_CLOSED after a goodbye;
     * TG_MISSING when there is no such message.  NULL: there are none.
     */
    int (*on_message)(tg_caller_t *caller, const tg_message_t *message);
} tg_dialect_row_t;

#define TG_DIALECT_EXTERN(NUMBER, name)                                        \
    extern const tg_dialect_row_t tg_dialect_##name;
TG_DIALECTS(TG_DIALECT_EXTERN)
#undef TG_DIALECT_EXTERN

const tg_dialect_row_t *tg_dialect_get(tg_dialect_t dialect);
const char *tg_dialect_name(tg_dialect_t dialect);

/*
 * The bytes of a message with the whole list of tools, in answer to a request
 * whose id is a number, however long.
 */
size_t tg_dialect_list_message_size(const tg_dialect_row_t *row,
                                    const tg_catalog_t *catalog);

/* The first dialect of a framing, and that of a first line. */
tg_dialect_t tg_dialect_find_framing(tg_frame_type_t framing);
tg_dialect_t tg_dialect_detect(const tg_message_t *line);

#endif
