/*
 * The dialects of the protocol. Each dialect has a row in this list and a file
 * tg_dialect_NAME.c that implements the server's and the client's side. Other
 * code uses the row's fields and functions.
 */
#ifndef TG_DIALECT_H
#define TG_DIALECT_H

#include "protocol/tg_frame.h"
#include "protocol/tg_message.h"
#include "protocol/tg_outcome.h"

#define TG_DIALECTS(row) row(IPC, ipc) row(JSONRPC, jsonrpc) row(RELAY, relay)

typedef enum {
    TG_DIALECT_AUTO, /* not yet detected; responses are jsonrpc */
#define TG_DIALECT_NUMBER(NUMBER, name) TG_DIALECT_##NUMBER,
    TG_DIALECTS(TG_DIALECT_NUMBER)
#undef TG_DIALECT_NUMBER
    TG_DIALECT_COUNT /* number of rows, TG_DIALECT_AUTO included */
} tg_dialect_t;

typedef struct tg_peer_s tg_peer_t;
typedef struct tg_reply_s tg_reply_t;
typedef struct tg_caller_s tg_caller_t;

typedef struct {
    const char *name;
    tg_frame_type_t framing;
    size_t max_frame; /* largest payload in bytes; 0: the host's limit */

    /*
     * One call at a time, and responses have no id. A frame that the client's
     * side cannot parse therefore took the place of a response, and the
     * connection closes. Tool calls are the only requests.
     */
    unsigned is_sequential:1;
    unsigned has_notifications:1; /* clients may send notifications */
    /* sends list_changed without a subscription */
    unsigned has_implicit_list_changed:1;
    /* tools/list is complete unless paging is requested */
    unsigned has_unpaged_list:1;
    unsigned is_text_only:1;  /* a result carries only its text */
    unsigned has_handshake:1; /* starts with MCP's handshake */
    unsigned is_bridge:1;     /* the client is a bridge that serves one agent */

    /*
     * Experimental MCP capabilities that a bridge announces to its agent if the
     * bridge's server uses this dialect: a raw object, or NULL.
     */
    const char *experimental;

    /* Beginning of a request, up to its "id" or "method". */
    const char *request;
    /* Beginning of a response, up to its next member. */
    tg_str_t answer;
    /*
     * Beginning of a server notification, up to its next member. NULL: the
     * dialect has no server notifications.
     */
    const char *notification;
    const char *call; /* method of a tool call, as JSON */

    /* --- server side (tg_peer.h) --- */

    /*
     * Checks whether the first message of a connection belongs to this dialect.
     * NULL: the first byte has already decided.
     */
    int (*is_first_message)(const tg_message_t *message);

    /*
     * Serves one message. rc is the return value of tg_message_parse().
     * TG_OK; TG_CLOSED if the connection must close; TG_AGAIN if the time slice
     * ended within a batch: call resume_batch() in the next slice.
     */
    int (*serve)(tg_peer_t *peer, tg_message_t *message, int rc);
    /*
     * Continues a batch after TG_AGAIN. frame is the whole batch. The return
     * values are those of serve().
     */
    int (*resume_batch)(tg_peer_t *peer, tg_str_t frame);

    /*
     * Responds to an oversized message; id is raw, or absent if it is unknown.
     * TG_OK, or TG_CLOSED if the connection must close.
     */
    int (*on_oversized)(tg_peer_t *peer, tg_str_t id);

    /*
     * Writes the error response of an outcome that is a protocol error in this
     * dialect. TG_OK; TG_MISSING if the outcome is an ordinary result: nothing
     * was written.
     */
    int (*fail)(tg_peer_t *peer, const tg_reply_t *reply,
                const tg_outcome_t *outcome);

    /*
     * Writes an error response from the JSON-RPC error of a backend: its code,
     * its data (raw or absent), and its message in why.
     */
    void (*error)(tg_peer_t *peer, const tg_reply_t *reply, int64_t code,
                  const tg_outcome_t *why, tg_str_t data);

    /*
     * Appends the notice that the server closes the connection. NULL: the
     * dialect has no such notice.
     */
    void (*send_shutdown_notice)(tg_peer_t *peer, tg_str_t reason);

    /*
     * Appends the reason for refusing the client. NULL: the connection closes
     * without a message.
     */
    void (*send_refusal)(tg_peer_t *peer, tg_str_t why);

    /* --- client side (tg_caller.h) --- */

    /* Appends the client's shutdown message. NULL: the dialect has none. */
    void (*shutdown)(tg_buf_t *out, tg_str_t reason);

    /*
     * Handles a server message that is not a response. TG_OK; TG_CLOSED after
     * a shutdown notice; TG_MISSING if the dialect does not define the message.
     * NULL: the dialect has no such messages.
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
 * Returns the size in bytes of a response with the complete list of tools. The
 * request's id counts as the longest number.
 */
size_t tg_dialect_list_message_size(const tg_dialect_row_t *row,
                                    const tg_catalog_t *catalog);

/* Returns the first dialect that uses the framing, or TG_DIALECT_AUTO. */
tg_dialect_t tg_dialect_find_framing(tg_frame_type_t framing);

/* Returns the dialect of the first line of a connection, or TG_DIALECT_AUTO. */
tg_dialect_t tg_dialect_detect(const tg_message_t *line);

#endif
