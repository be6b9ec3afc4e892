/*
 * What the files of the peer share; nobody else includes it.
 */
#ifndef TG_PEER_IMPL_H
#define TG_PEER_IMPL_H

#include "protocol/tg_peer.h"
#include "protocol/tg_rpc.h"

struct tg_subscription_s {
    tg_subscription_t *next;
    tg_str_t id; /* raw, owned */
    int has_tools;
    int has_broadcasts;
};

struct tg_server_request_s {
    tg_server_request_t *next;
    uint64_t id;
    uint64_t tag; /* the host's */
};

struct tg_batch_s {
    tg_buf_t replies;
    size_t memory_bytes; /* of replies, as counted in the peer */
    unsigned refs;       /* replies to come, and one while it is read */
    unsigned number;     /* within tg_peer_save() */

    /* While it is served, in more turns than one. */
    unsigned served; /* elements */
    size_t at;       /* where its next element stands, or 0: look */
};

/* --- tg_peer_reply.c: rendering --- */

/* What a bridge of ours may put around the largest message of its agent's. */
#define TG_PEER_ENVELOPE_SIZE 16384

/* A bridge or CLI of ours has said hello. */
void tg_peer_set_toolgate(tg_peer_t *peer);

/*
 * Opens a message up to and without the value of a member, in the buffer that
 * is returned; and closes it, framing and size check included.
 */
#define TG_REPLY_MEMBER_RESULT TG_STR("\"result\":")
#define TG_REPLY_MEMBER_ERROR TG_STR("\"error\":")
tg_buf_t *tg_reply_open(tg_peer_t *peer, const tg_reply_t *reply,
                        tg_str_t member, size_t *start);
void tg_reply_close(tg_peer_t *peer, const tg_reply_t *reply, size_t start);

/* Takes back what was opened and not closed. */
void tg_reply_discard(tg_peer_t *peer, const tg_reply_t *reply, size_t start);

/* What every modern result says, with a comma behind it. */
void tg_reply_write_modern(tg_peer_t *peer, tg_buf_t *out);
/* The same with what else there is for _meta: a raw object, or absent. */
void tg_reply_write_modern_meta(tg_peer_t *peer, tg_buf_t *out, tg_str_t meta);
void tg_reply_write_server_info(tg_peer_t *peer, tg_buf_t *out);

/* A JSON-RPC error (jsonrpc, relay) of why's text; data is raw or absent. */
void tg_reply_write_error(tg_peer_t *peer, const tg_reply_t *reply,
                          int64_t code, const tg_outcome_t *why, tg_str_t data);
void tg_reply_reject_request(tg_peer_t *peer, const tg_reply_t *reply,
                             int64_t code, const char *text);

/* The text of an outcome, as the body of a JSON string. */
void tg_reply_write_text(tg_buf_t *out, const tg_outcome_t *outcome);

/* The code of a failed method, where the dialect has codes. */
int tg_failure_rpc_code(tg_failure_t failure);

/* The error of a message that was larger than the peer takes. */
void tg_reply_reject_oversized(tg_peer_t *peer, const tg_reply_t *reply);

/* Answers with a failure. */
void tg_reply_write_failure(tg_peer_t *peer, const tg_reply_t *reply,
                            tg_failure_t failure, tg_str_t text);

/*
 * A reply that says that another was too large is smaller than this, so that
 * it is never found too large itself.
 */
#define TG_REPLY_SMALL_MAX (TG_REQUEST_ID_MAX + 512)

/* Does a tool's reply have an outcome's JSON beside its text form? */
int tg_reply_is_structured(const tg_peer_t *peer, const tg_reply_t *reply,
                           const tg_outcome_t *outcome);

/* The replies of a batch have grown. */
void tg_batch_account_memory(tg_peer_t *peer, tg_batch_t *batch);

/* --- tg_peer_call.c --- */

/*
 * Puts a call among those in flight: a copy of the size bytes that start
 * with from, and of its id, token and name.  NULL: no memory.
 */
tg_call_t *tg_call_new(const tg_call_t *from, size_t size);

/* Nobody wants its answer: the host is told, and it is freed. */
void tg_call_cancel(tg_call_t *call);

/*
 * Hands a request, its entry still to be found, to its handler, or answers
 * that there is none.  Absent arguments become `{}`.
 */
void tg_peer_dispatch_request(tg_peer_t *peer, tg_request_t *request);

/* The same of one whose entry is known, and the entry of a name, or NULL. */
void tg_peer_call_handler(tg_peer_t *peer, tg_request_t *request);
const tg_catalog_entry_t *tg_peer_find_entry(tg_peer_t *peer,
                                             tg_catalog_entry_type_t kind,
                                             tg_str_t name);

/* Cancels the call or ends the subscription of a raw id, if there is one. */
void tg_peer_cancel_request(tg_peer_t *peer, tg_str_t id);
int tg_peer_has_request_id(tg_peer_t *peer, tg_str_t id);

/* Puts one of a raw id into the list at *at: TG_OK or TG_NOMEM. */
int tg_subscription_add(tg_peer_t *peer, tg_subscription_t **at, tg_str_t id);

/* Takes the one at *at out of the list, and frees it. */
void tg_subscription_remove(tg_peer_t *peer, tg_subscription_t **at);

/* NULL: no memory. */
tg_batch_t *tg_batch_new(const tg_peer_t *peer);
void tg_batch_unref(tg_peer_t *peer, tg_batch_t *batch);

/* The one that is being served, if any, has no further element. */
void tg_peer_end_batch(tg_peer_t *peer);

/* --- tg_peer_park.c --- */

int tg_peer_has_parked(tg_peer_t *peer, tg_str_t id);
void tg_peer_cancel_parked(tg_peer_t *peer, tg_str_t id);
void tg_peer_drop_parked(tg_peer_t *peer);

/*
 * Takes the first one, which must be there, and its message.  It is put back
 * in front of the others, or freed.
 */
tg_parked_request_t *tg_parked_take(tg_peer_t *peer, tg_str_t *text);
void tg_parked_put_back(tg_peer_t *peer, tg_parked_request_t *parked);
void tg_parked_free(tg_peer_t *peer, tg_parked_request_t *parked);

/* --- tg_peer_notify.c --- */

/* The beginning of what a subscription asked for, up to its own id. */
void tg_subscription_write_head(tg_buf_t *out, const tg_peer_t *peer,
                                const tg_subscription_t *sub, tg_str_t method);

/* The rest of its params, an object or absent; then the message ends. */
void tg_subscription_write_tail(tg_buf_t *out, tg_str_t params);

/* Both, as a whole message. */
void tg_subscription_notify(tg_peer_t *peer, const tg_subscription_t *sub,
                            tg_str_t method, tg_str_t params);

/* --- tg_peer_server_request.c --- */

/* Behind those that wait; NULL: no memory. */
tg_server_request_t *tg_server_request_add(tg_peer_t *peer, uint64_t id,
                                           uint64_t tag);
void tg_server_request_remove(tg_peer_t *peer, tg_server_request_t **at);
unsigned tg_peer_count_server_requests(const tg_peer_t *peer);

/* What it can be asked, if there is something about that in params. */
void tg_peer_read_client_caps(tg_peer_t *peer, tg_str_t params);

/* A response of the client's. */
void tg_peer_on_response(tg_peer_t *peer, const tg_message_t *message);

/* One that is too large, of this id or of an unknown one: as an error. */
void tg_peer_on_oversized_response(tg_peer_t *peer, tg_str_t id);

/* --- tg_peer_mcp.c --- */

/* Reads who the client of a bridge is: its hello. */
void tg_peer_read_hello(tg_peer_t *peer, const tg_message_t *message);

/*
 * Reads the client's name and version from the _meta of its request, in
 * dialects without a handshake.
 */
void tg_peer_read_meta_client_info(tg_peer_t *peer,
                                   const tg_message_t *message);

typedef enum {
    TG_METHOD_OTHER,
    TG_METHOD_PING,
    TG_METHOD_INITIALIZE,
    TG_METHOD_DISCOVER,
    TG_METHOD_LIST,
    TG_METHOD_CALL,
    TG_METHOD_LISTEN
} tg_mcp_method_t;

/* Of a raw value. */
tg_mcp_method_t tg_mcp_method_parse(tg_str_t method);

/*
 * A request whose envelope is sound: of one of MCP's methods, or one that
 * claims a version.  TG_OK: it was answered; TG_MISSING: its claim holds, and
 * the method is none of MCP's.
 */
int tg_peer_on_mcp_request(tg_peer_t *peer, tg_mcp_method_t method,
                           tg_message_t *message, tg_reply_t *reply);

/* tools/list and tools/call, for relay as well. */
void tg_peer_on_tools_list(tg_peer_t *peer, const tg_message_t *message,
                           const tg_reply_t *reply);

/* NULL, or what is wrong with the call: it is to be answered then. */
const char *tg_peer_on_tools_call(tg_peer_t *peer, const tg_message_t *message,
                                  const tg_reply_t *reply);

/* --- tg_peer.c --- */

/* Keeps who the client says that it is. */
void tg_peer_set_client_info(tg_peer_t *peer, tg_str_t name, tg_str_t version,
                             tg_str_t via);

/* Framing follows the dialect; undecided, the first byte tells. */
void tg_peer_set_dialect(tg_peer_t *peer, tg_dialect_t dialect);

/* --- what the host is asked and told --- */

/* While there is more: is it the turn of somebody else? */
static inline int
tg_peer_is_slice_over(const tg_peer_t *peer)
{
    return peer->ops->is_slice_over != NULL
           && peer->ops->is_slice_over(peer->host);
}

static inline void
tg_peer_notify_refused(const tg_peer_t *peer, const char *why)
{
    if (peer->ops->on_refused != NULL) {
        peer->ops->on_refused(peer->host, why);
    }
}

static inline void
tg_peer_log(const tg_peer_t *peer, const char *text)
{
    if (peer->ops->log != NULL) {
        peer->ops->log(peer->host, text);
    }
}

#endif
