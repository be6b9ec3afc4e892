/* Declarations shared by the files of the peer only. */
#ifndef TG_PEER_IMPL_H
#define TG_PEER_IMPL_H

#include "protocol/tg_peer.h"
#include "protocol/tg_rpc.h"

typedef struct tg_subscription_s tg_subscription_t;
typedef struct tg_resource_subscription_s tg_resource_subscription_t;
typedef struct tg_parked_request_s tg_parked_request_t;
typedef struct tg_server_request_s tg_server_request_t;
typedef struct tg_input_round_s tg_input_round_t;

/* Notifications that a subscription has (MCP 2026-07-28 "notifications"). */
enum {
    TG_FILTER_TOOLS = 1,
    TG_FILTER_BROADCASTS = 2,
    TG_FILTER_PROMPTS = 4,
    TG_FILTER_RESOURCES = 8,
    TG_FILTER_ALL = 15
};

struct tg_subscription_s {
    tg_subscription_t *next;
    tg_str_t id;     /* raw, owned */
    unsigned filter; /* TG_FILTER_… */
};

/* A subscription to one resource. */
struct tg_resource_subscription_s {
    tg_resource_subscription_t *next;
    tg_subscription_t *sub; /* NULL: of resources/subscribe */
    tg_str_t uri;           /* plain text, owned */
    uint64_t hash;          /* of the URI */
    uint64_t version;       /* see tg_peer_get_resource_version() */
};

struct tg_server_request_s {
    tg_server_request_t *next;
    uint64_t id;
    uint64_t tag; /* belongs to the host */
};

/* A request that waits for input from its client, see tg_peer_ask(). */
struct tg_input_round_s {
    tg_input_round_t *next;
    uint64_t deadline_ms; /* Unix time */
    unsigned first;       /* id of the request for the first input */
    unsigned n;           /* number of inputs, with consecutive ids */
    unsigned answered;    /* bits of the answered inputs */
    /* Slices of the memory after the struct. */
    tg_str_t id;        /* raw id of the waiting request */
    tg_str_t text;      /* its whole message */
    tg_str_t inputs;    /* raw object, as in inputRequests */
    tg_str_t state;     /* raw string, as in requestState */
    tg_buf_t responses; /* members so far, as in inputResponses */
};

struct tg_batch_s {
    tg_buf_t replies;
    size_t memory_bytes; /* size of replies, as counted in the peer */
    unsigned refs;       /* pending replies, plus one while it is read */
    unsigned number;     /* number of the batch within tg_peer_save() */

    /* Position of a batch that is served in several time slices. */
    unsigned served; /* number of elements served */
    size_t at;       /* offset of the next element; 0: find it by `served` */
};

struct tg_peer_private_s {
    const tg_alloc_t *alloc;
    const tg_server_info_t *info;
    const tg_peer_ops_t *ops;
    /* last entry found in the catalog, or NULL */
    const tg_catalog_entry_t *recent_entry;
    size_t memory_bytes;         /* without out, see tg_peer_memory_size() */
    tg_batch_t *batch;           /* batch being served in several time slices */
    tg_parked_request_t *parked; /* oldest first */
    unsigned asked;              /* number of requests sent to the client */
    /* requests that wait for the client's response, oldest first */
    tg_server_request_t *server_requests;
    tg_input_round_t *rounds;        /* oldest first */
    const tg_input_round_t *resumed; /* its request is being served, or NULL */
    int64_t last_error_code; /* of the last JSON-RPC error that was written */
    tg_subscription_t *subscriptions;
    unsigned nsubscriptions;
    tg_resource_subscription_t *resources; /* newest first */
    unsigned nresources;
    char version[12]; /* negotiated legacy version, or "" */
    /* the id of a discarded line may be at the line's end */
    unsigned is_awaiting_id:1;
    unsigned is_response:1; /* the discarded line is not a request */
    unsigned declared:5;    /* TG_CAPABILITY_…: what the client was told */
    /* tg_mcp_log_level_t of the last logging/setLevel, or NONE */
    unsigned log_level:4;
    /* the discarded line is a notification if it has no id */
    unsigned is_notification:1;
};

/* --- tg_peer_reply.c: replies --- */

/*
 * Bytes that a Toolgate bridge may add around the largest message of its agent.
 */
#define TG_PEER_ENVELOPE_SIZE 16384

/* Records that the client is a bridge or CLI of Toolgate, after its hello. */
void tg_peer_set_toolgate(tg_peer_t *peer);

/* Member of a reply, for tg_reply_open(). */
#define TG_REPLY_MEMBER_RESULT TG_STR("\"result\":")
#define TG_REPLY_MEMBER_ERROR TG_STR("\"error\":")

/*
 * Begins a reply up to the member's value, which the caller appends. Returns
 * the buffer and sets *start to the reply's offset.
 */
tg_buf_t *tg_reply_open(tg_peer_t *peer, const tg_reply_t *reply,
                        tg_str_t member, size_t *start);

/*
 * Ends a reply with its framing. An oversized reply is replaced by an error.
 */
void tg_reply_close(tg_peer_t *peer, const tg_reply_t *reply, size_t start);

/* Removes a reply that was opened and not closed. */
void tg_reply_discard(tg_peer_t *peer, const tg_reply_t *reply, size_t start);

/*
 * Appends the members that every modern result has, with a trailing comma.
 * meta: further members of _meta as a raw object, or absent.
 */
void tg_reply_write_modern_meta(tg_peer_t *peer, tg_buf_t *out, tg_str_t meta);

/* Appends serverInfo: name and version, or all that is known (is_whole). */
void tg_reply_write_server_info(tg_peer_t *peer, tg_buf_t *out, int is_whole);

/* Appends `"ttlMs":…,"cacheScope":"…"`. */
void tg_reply_write_cache_hint(tg_buf_t *out, int64_t ttl_ms, int is_public);

/*
 * Writes a JSON-RPC error (jsonrpc, relay). why has the message; data is raw
 * or absent.
 */
void tg_reply_write_error(tg_peer_t *peer, const tg_reply_t *reply,
                          int64_t code, const tg_outcome_t *why, tg_str_t data);

/* Rejects a request with a JSON-RPC error and reports it to the host. */
void tg_reply_reject_request(tg_peer_t *peer, const tg_reply_t *reply,
                             int64_t code, const char *text);

/* Answers a request with an empty object. */
void tg_reply_write_empty_result(tg_peer_t *peer, const tg_reply_t *reply);

/* Appends the text of an outcome as the body of a JSON string. */
void tg_reply_write_text(tg_buf_t *out, const tg_outcome_t *outcome);

/* Returns the JSON-RPC error code of a failure. */
int64_t tg_reply_get_error_code(const tg_reply_t *reply,
                                const tg_outcome_t *outcome);

/* Rejects a message that exceeds the peer's limit. */
void tg_reply_reject_oversized(tg_peer_t *peer, const tg_reply_t *reply);

/* Answers with a failure; text is plain. */
void tg_reply_write_failure(tg_peer_t *peer, const tg_reply_t *reply,
                            tg_failure_t failure, tg_str_t text);

/*
 * Upper bound of the reply that reports an oversized reply, in bytes. Such a
 * reply is always sent.
 */
#define TG_REPLY_SMALL_MAX (TG_REQUEST_ID_MAX + 512)

/*
 * Checks whether a tool's reply has the outcome's JSON as structuredContent in
 * addition to its text.
 */
int tg_reply_is_structured(const tg_peer_t *peer, const tg_reply_t *reply,
                           const tg_outcome_t *outcome);

/* Updates the memory count after the replies of a batch have grown. */
void tg_batch_account_memory(tg_peer_t *peer, tg_batch_t *batch);

/* --- tg_peer_call.c --- */

/*
 * Creates a call in flight from the size bytes at from, with copies of its id,
 * token and name. size: at least sizeof(tg_call_t). NULL: out of memory.
 */
tg_call_t *tg_call_new(const tg_call_t *from, size_t size);

/* Cancels a call: notifies the host and frees the call. */
void tg_call_cancel(tg_call_t *call);

/*
 * Passes a request to its handler, or answers that the tool or method is
 * unknown. Sets request->entry. Absent arguments become `{}`.
 */
void tg_peer_dispatch_request(tg_peer_t *peer, tg_request_t *request);

/* Passes a request to the handler of an entry; NULL: the entry is unknown. */
void tg_peer_serve_entry(tg_peer_t *peer, tg_request_t *request,
                         const tg_catalog_entry_t *entry);

/* Passes a request whose entry is set to its handler. */
void tg_peer_call_handler(tg_peer_t *peer, tg_request_t *request);

/* Returns the catalog entry of an escaped name, or NULL. */
const tg_catalog_entry_t *tg_peer_find_entry(tg_peer_t *peer,
                                             tg_catalog_entry_type_t kind,
                                             tg_str_t name);

/* Cancels the call, subscription or parked request with a raw id, if any. */
void tg_peer_cancel_request(tg_peer_t *peer, tg_str_t id);

/* Compares raw ids: equal texts, or equal strings with other escapes. */
int tg_request_id_is_equal(tg_str_t a, tg_str_t b);

/* Checks whether a call, subscription or parked request has this raw id. */
int tg_peer_has_request_id(tg_peer_t *peer, tg_str_t id);

/* --- tg_peer_subscription.c --- */

/* Inserts a subscription with a copy of a raw id at *at. TG_OK or TG_NOMEM. */
int tg_subscription_add(tg_peer_t *peer, tg_subscription_t **at, tg_str_t id);

/* Removes the subscription at *at, with its resources, and frees it. */
void tg_subscription_remove(tg_peer_t *peer, tg_subscription_t **at);

/* Finds the subscription with a raw id, or the end of the list. */
tg_subscription_t **tg_subscription_find(tg_peer_t *peer, tg_str_t id);

/*
 * Subscribes to a resource; sub NULL: by resources/subscribe. uri is plain
 * text. TG_OK also if it is subscribed already; TG_LIMIT: too many; TG_NOMEM.
 */
int tg_resource_subscription_add(tg_peer_t *peer, tg_subscription_t *sub,
                                 tg_str_t uri);

/* Returns the notifications that a subscription may have (TG_FILTER_…). */
unsigned tg_peer_get_filter(const tg_peer_t *peer);

/* Ends all subscriptions to resources of `sub` (NULL: resources/subscribe). */
void tg_peer_drop_resources(tg_peer_t *peer, const tg_subscription_t *sub);

/*
 * Checks whether the client can be notified of changes of a resource. The
 * server behind a proxy decides that for the proxy. uri is plain text.
 */
int tg_peer_can_subscribe(tg_peer_t *peer, tg_str_t uri);

/* --- tg_peer_listen.c --- */

/* subscriptions/listen: acknowledges now, sends the result at the end. */
void tg_mcp_on_listen(tg_peer_t *peer, const tg_message_t *message,
                      tg_reply_t *reply);

/* resources/subscribe and resources/unsubscribe. */
void tg_mcp_on_subscribe(tg_peer_t *peer, const tg_message_t *message,
                         tg_reply_t *reply);
void tg_mcp_on_unsubscribe(tg_peer_t *peer, const tg_message_t *message,
                           tg_reply_t *reply);

/* Creates a batch with one reference. NULL: out of memory. */
tg_batch_t *tg_batch_new(const tg_peer_t *peer);

/* Releases a reference. The last one sends the replies and frees the batch. */
void tg_batch_unref(tg_peer_t *peer, tg_batch_t *batch);

/* Ends the batch being served, if any: it has no further element. */
void tg_peer_end_batch(tg_peer_t *peer);

/* --- tg_peer_park.c --- */

int tg_peer_has_parked(tg_peer_t *peer, tg_str_t id);
void tg_peer_cancel_parked(tg_peer_t *peer, tg_str_t id);
void tg_peer_drop_parked(tg_peer_t *peer);

/*
 * Removes the first parked request, which must exist, and sets *text to its
 * message. The caller returns it with tg_parked_put_back() or frees it.
 */
tg_parked_request_t *tg_parked_take(tg_peer_t *peer, tg_str_t *text);
void tg_parked_put_back(tg_peer_t *peer, tg_parked_request_t *parked);
void tg_parked_free(tg_peer_t *peer, tg_parked_request_t *parked);

/* --- tg_peer_notify.c --- */

/*
 * Appends the beginning of a subscription's notification, up to the
 * subscription id.
 */
void tg_subscription_write_head(tg_buf_t *out, const tg_peer_t *peer,
                                const tg_subscription_t *sub, tg_str_t method);

/*
 * Appends the rest of a subscription's params, without the envelope's end.
 * params is a raw object or absent.
 */
void tg_subscription_write_tail(tg_buf_t *out, tg_str_t params);

/* Sends a notification to a subscription. */
void tg_subscription_notify(tg_peer_t *peer, const tg_subscription_t *sub,
                            tg_str_t method, tg_str_t params);

/* --- tg_peer.c --- */

/* Serves the message of a request that was served before. */
void tg_peer_serve_again(tg_peer_t *peer, tg_str_t text);

/* --- tg_peer_input.c: requests that wait for input --- */

/* Adds a copy of a round without responses. NULL: no memory. */
tg_input_round_t *tg_input_round_add(tg_peer_t *peer,
                                     const tg_input_round_t *from);
/* Sets the responses that a round has so far. TG_OK or TG_NOMEM. */
int tg_input_round_set_responses(tg_peer_t *peer, tg_input_round_t *round,
                                 tg_str_t responses);
unsigned tg_input_count_members(tg_str_t object);
void tg_peer_drop_rounds(tg_peer_t *peer);
int tg_peer_has_round(tg_peer_t *peer, tg_str_t id);
/* Cancels the round of the request with a raw id, if there is one. */
void tg_peer_cancel_round(tg_peer_t *peer, tg_str_t id);
unsigned tg_peer_count_inputs(const tg_peer_t *peer);
/*
 * Handles the response to a request for input. Returns TG_OK, or TG_MISSING:
 * no round has this id.
 */
int tg_peer_on_input(tg_peer_t *peer, int64_t id, const tg_message_t *message);
/* Sets state and responses of the request that is served again. */
void tg_peer_resume_input(const tg_peer_t *peer, tg_request_t *request);

/* --- tg_peer_server_request.c --- */

/* Writes a request to the client. TG_OK, or TG_LIMIT: it is too large. */
int tg_server_request_write(tg_peer_t *peer, uint64_t id, tg_str_t method,
                            tg_str_t params);
/* Notifies the client that a request is not needed any more. */
void tg_server_request_notify_cancelled(tg_peer_t *peer, uint64_t id);

/* Appends a server request to the list. NULL: out of memory. */
tg_server_request_t *tg_server_request_add(tg_peer_t *peer, uint64_t id,
                                           uint64_t tag);
void tg_server_request_remove(tg_peer_t *peer, tg_server_request_t **at);

/* Reads the client's capabilities from params, if present. */
void tg_peer_read_client_caps(tg_peer_t *peer, tg_str_t params);

/* Handles a response of the client. */
void tg_peer_on_response(tg_peer_t *peer, const tg_message_t *message);

/* Handles an oversized response as an error. id is raw or absent. */
void tg_peer_on_oversized_response(tg_peer_t *peer, tg_str_t id);

/* --- tg_peer_mcp.c --- */

/* Reads the client info of a bridge's agent from its hello. */
void tg_peer_read_hello(tg_peer_t *peer, const tg_message_t *message);

/*
 * Reads the client's name and version from the _meta of its request, in
 * dialects without a handshake.
 */
void tg_peer_read_meta_client_info(tg_peer_t *peer,
                                   const tg_message_t *message);

/* Capabilities that not every server has. */
enum {
    TG_CAPABILITY_PROMPTS = 1,
    TG_CAPABILITY_RESOURCES = 2,
    TG_CAPABILITY_SUBSCRIBE = 4,
    TG_CAPABILITY_COMPLETIONS = 8,
    TG_CAPABILITY_LOGGING = 16,
    TG_CAPABILITIES_ALL = 31,
    TG_CAPABILITY_SKILLS = 128 /* modern only, so no client relies on it */
};

/*
 * Returns the capabilities that the client can rely on (TG_CAPABILITY_…): those
 * of the server now, and those that the client was told before a reload.
 */
unsigned tg_peer_get_capabilities(const tg_peer_t *peer);

/* Flags of MCP's methods. */
enum {
    TG_METHOD_IS_MODERN = 1, /* only in the modern era */
    TG_METHOD_IS_LEGACY = 2, /* only in the legacy era */
    TG_METHOD_IS_INITIALIZE = 4,
    TG_METHOD_IS_PING = 8, /* does not make a connection MCP */
    TG_METHOD_IS_DISCOVER = 16
};

/* A method of MCP. */
typedef struct {
    const char *name;
    unsigned flags;
    unsigned capability; /* TG_CAPABILITY_…; 0: every server has the method */
    /* Handles a request whose era and capability fit. */
    void (*serve)(tg_peer_t *peer, const tg_message_t *message,
                  tg_reply_t *reply);
    tg_catalog_entry_type_t kind; /* value of reply->kind for serve */
} tg_mcp_method_t;

/* Returns the method of a raw value, or NULL if MCP does not define it. */
const tg_mcp_method_t *tg_mcp_method_find(tg_str_t method);

/*
 * Handles a request with a valid envelope that has a method of MCP or declares
 * an MCP version. TG_OK: the request was answered. TG_MISSING: the version is
 * valid, but the method does not belong to MCP.
 */
int tg_peer_on_mcp_request(tg_peer_t *peer, const tg_mcp_method_t *method,
                           tg_message_t *message, tg_reply_t *reply);

/*
 * Handles tools/call, for relay as well, and prompts/get. Returns NULL, or what
 * is wrong with the call: the caller then answers it.
 */
const char *tg_peer_on_call(tg_peer_t *peer, const tg_message_t *message,
                            const tg_reply_t *reply,
                            tg_catalog_entry_type_t kind);

/* Sets the members of a call's request that all kinds of calls have. */
void tg_request_init(tg_request_t *request, const tg_message_t *message,
                     const tg_reply_t *reply, tg_catalog_entry_type_t kind);

/* Rejects a raw MCP version with an error that names the supported one. */
void tg_mcp_reject_version(tg_peer_t *peer, const tg_reply_t *reply,
                           tg_str_t version);

/* Returns the legacy version with this text, or NULL. */
const char *tg_mcp_find_legacy_version(tg_str_t version);

/* Checks whether a method belongs to the request's era and to this server. */
int tg_mcp_is_offered(const tg_peer_t *peer, const tg_mcp_method_t *method,
                      int is_modern);

/* --- tg_peer_log.c --- */

/* logging/setLevel of the legacy era. */
void tg_mcp_on_set_level(tg_peer_t *peer, const tg_message_t *message,
                         tg_reply_t *reply);

/* --- tg_dialect_jsonrpc.c --- */

/* Sets reply->id. Returns what is wrong with the message, or NULL. */
const char *tg_jsonrpc_check_envelope(tg_peer_t *peer,
                                      const tg_mcp_method_t *method,
                                      tg_message_t *message, tg_reply_t *reply);

/*
 * Checks for a notification. MCP has no null ids, so a message with "id": null
 * may be one.
 */
int tg_jsonrpc_is_notification(const tg_message_t *message);

/* --- tg_peer_resource.c --- */

void tg_mcp_on_resource_read(tg_peer_t *peer, const tg_message_t *message,
                             tg_reply_t *reply);
void tg_mcp_on_complete(tg_peer_t *peer, const tg_message_t *message,
                        tg_reply_t *reply);

/*
 * Decodes params.uri into room, which has TG_URI_MAX bytes, and sets kind and
 * subject of the reply. Returns absent after answering with an error.
 */
tg_str_t tg_mcp_read_uri(tg_peer_t *peer, const tg_message_t *message,
                         tg_reply_t *reply, char *room);

/*
 * Answers that there is no resource with the URI in reply->subject, unless the
 * host parks the request.
 */
void tg_mcp_respond_no_resource(tg_peer_t *peer, const tg_message_t *message,
                                const tg_reply_t *reply);

/* Returns NULL, or what is wrong with the members that all calls have. */
const char *tg_mcp_check_call(const tg_message_t *message,
                              const tg_reply_t *reply);

/*
 * Decodes a raw URI into room, which has TG_URI_MAX bytes. Returns absent if it
 * is not a string or too long.
 */
tg_str_t tg_uri_decode(tg_str_t raw, char *room);

/*
 * Finds what a URI reads, as tg_catalog_find_uri(), if the client may see it.
 */
const tg_catalog_entry_t *tg_peer_find_visible_uri(const tg_peer_t *peer,
                                                   tg_str_t uri,
                                                   tg_buf_t *arguments);

/* Checks whether the reply is to a read of a resource. */
static inline int
tg_reply_is_resource(const tg_reply_t *reply)
{
    return reply->kind == TG_ENTRY_RESOURCE || reply->kind == TG_ENTRY_TEMPLATE;
}

/* Writes the error that there is no resource with the URI in reply->subject. */
void tg_reply_write_no_resource(tg_peer_t *peer, const tg_reply_t *reply,
                                const tg_outcome_t *why);

/* --- tg_peer_skill.c --- */

/* Appends the member `extensions` for modern clients, after a comma. */
void tg_server_info_write_extensions(const tg_server_info_t *info,
                                     tg_buf_t *out);

void tg_mcp_on_skills_list(tg_peer_t *peer, const tg_message_t *message,
                           tg_reply_t *reply);
void tg_mcp_on_skills_get(tg_peer_t *peer, const tg_message_t *message,
                          tg_reply_t *reply);
void tg_mcp_on_directory_read(tg_peer_t *peer, const tg_message_t *message,
                              tg_reply_t *reply);

/* --- tg_peer_result.c --- */

/*
 * Appends the result of a tool, prompt, resource, template or completion. view
 * is of an outcome that is a whole result.
 */
void tg_reply_write_outcome(tg_peer_t *peer, const tg_reply_t *reply,
                            tg_buf_t *out, const tg_outcome_t *outcome,
                            const tg_tool_result_view_t *view);

/* Parts of a tool's result that is a text. */
#define TG_REPLY_TEXT "{\"content\":[{\"type\":\"text\",\"text\":\""
#define TG_REPLY_TEXT_END "\"}]"
#define TG_REPLY_IS_OK ",\"isError\":false}"

/* --- tg_completion.c --- */

/*
 * Appends `"completion":{…}`: the lines of an outcome's text, or the strings of
 * its JSON array, that contain what was typed, an escaped body. Values that
 * begin with it come first.
 */
void tg_completion_write_values(tg_buf_t *out, const tg_outcome_t *outcome,
                                tg_str_t typed);

/*
 * Appends a copy of a whole raw result with the first values only. Returns 0,
 * and appends nothing, if the result does not have more than MCP allows.
 */
int tg_completion_shorten_result(tg_buf_t *out, tg_str_t result);

/* --- tg_peer_list.c --- */

/* Answers resources/list with further elements, see ops->list. */
void tg_peer_respond_list_more(tg_peer_t *peer, const tg_reply_t *reply,
                               tg_str_t json);

/* Handles tools/list, for relay as well, and the lists of other kinds. */
void tg_peer_on_list(tg_peer_t *peer, const tg_message_t *message,
                     const tg_reply_t *reply, tg_catalog_entry_type_t kind);

/* --- tg_peer.c --- */

/* Stores the client's name, version and bridge. */
void tg_peer_set_client_info(tg_peer_t *peer, tg_str_t name, tg_str_t version,
                             tg_str_t via);

/* Sets the dialect and its framing. TG_DIALECT_AUTO keeps the framing. */
void tg_peer_set_dialect(tg_peer_t *peer, tg_dialect_t dialect);

/* --- calls of the host's ops --- */

/*
 * Checks whether the time slice is over. Only for use while more input is
 * left.
 */
static inline int
tg_peer_is_slice_over(const tg_peer_t *peer)
{
    return peer->priv->ops->is_slice_over != NULL
           && peer->priv->ops->is_slice_over(peer->host);
}

static inline void
tg_peer_notify_refused(const tg_peer_t *peer, const char *why)
{
    if (peer->priv->ops->on_refused != NULL) {
        peer->priv->ops->on_refused(peer->host, why);
    }
}

static inline void
tg_peer_log(const tg_peer_t *peer, const char *text)
{
    if (peer->priv->ops->log != NULL) {
        peer->priv->ops->log(peer->host, text);
    }
}

#endif
