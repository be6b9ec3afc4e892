/* Checks of an HTTP request's message and headers. */
#include "protocol/tg_peer_http.h"

#include "protocol/tg_peer_impl.h"

enum {
    TG_HTTP_OK = 200,
    TG_HTTP_ACCEPTED = 202,
    TG_HTTP_BAD_REQUEST = 400,
    TG_HTTP_NOT_FOUND = 404,
    TG_HTTP_NOT_ACCEPTABLE = 406,
    TG_HTTP_TOO_LARGE = 413
};

/* A message while it is checked. */
typedef struct {
    tg_peer_t *peer;
    tg_http_request_t *request;
    tg_message_t *message;
    const tg_mcp_method_t *method; /* NULL: not a method of MCP */
    tg_reply_t reply;
    int is_notification;
} tg_http_exchange_t;

int
tg_peer_is_done(const tg_peer_t *peer)
{
    return peer->ncalls + peer->nparked + peer->priv->nsubscriptions == 0;
}

int
tg_peer_is_listening(const tg_peer_t *peer)
{
    return peer->priv->nsubscriptions != 0;
}

static int
tg_http_get_result(const tg_peer_t *peer)
{
    return tg_buf_has_failed(&peer->out) ? TG_NOMEM : TG_OK;
}

/* Rejects the request. An error about a notification has no id. */
static void
tg_http_reject(tg_http_exchange_t *http, unsigned status, int64_t code,
               const char *why)
{
    http->request->status = status;
    http->request->is_request = 1;
    tg_reply_reject_request(http->peer, &http->reply, code, why);
}

/* Serves a message whose checks are over. */
static void
tg_http_serve(tg_http_exchange_t *http, unsigned status)
{
    http->request->status = status;
    http->request->is_request = !http->is_notification;
    (void) http->peer->row->serve(http->peer, http->message, TG_OK);

    if (http->peer->priv->last_error_code == TG_RPC_MISSING_CAPABILITY) {
        http->request->status = TG_HTTP_BAD_REQUEST;
    }
}

/* Finds the tool or prompt of a call, if the client may see it. */
static const tg_catalog_entry_t *
tg_http_find_entry(const tg_http_exchange_t *http, tg_catalog_entry_type_t kind,
                   tg_str_t raw)
{
    const tg_catalog_entry_t *entry;
    const tg_peer_ops_t *ops;

    entry = tg_json_type(raw) == TG_JSON_STRING
                ? tg_peer_find_entry(http->peer, kind, tg_json_string_body(raw))
                : NULL;
    ops = http->peer->priv->ops;

    return entry != NULL && ops->is_visible != NULL
                   && !ops->is_visible(http->peer->host, entry)
               ? NULL
               : entry;
}

static int
tg_http_has_method(const tg_http_exchange_t *http)
{
    if (http->method != NULL) {
        return tg_mcp_is_offered(http->peer, http->method, 1);
    }

    return http->is_notification
           || tg_http_find_entry(http, TG_ENTRY_METHOD, http->message->method)
                  != NULL;
}

/* Checks the version in _meta. Returns 0 after answering with an error. */
static int
tg_http_check_version(tg_http_exchange_t *http, tg_str_t header, unsigned n)
{
    tg_str_t version;

    version = http->message->meta.protocol_version;

    /* The specification gives _meta only to requests. */
    if (http->is_notification && version.data == NULL) {
        version = TG_STR("\"" TG_MCP_VERSION_MODERN "\"");
    }

    if (tg_json_type(version) != TG_JSON_STRING
        || (!http->is_notification
            && tg_json_type(http->message->meta.client_capabilities)
                   != TG_JSON_OBJECT))
    {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_INVALID_PARAMS,
                       "params._meta must have "
                       "\"io.modelcontextprotocol/protocolVersion\", a string, "
                       "and \"io.modelcontextprotocol/clientCapabilities\", an "
                       "object.");
        return 0;
    }

    if (n != 1 || !tg_json_string_eq(version, header)) {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_HEADER_MISMATCH,
                       "The header MCP-Protocol-Version must repeat the "
                       "version in params._meta.");
        return 0;
    }

    if (!tg_json_string_eq(version, TG_STR(TG_MCP_VERSION_MODERN))) {
        http->request->status = TG_HTTP_BAD_REQUEST;
        http->request->is_request = 1;
        tg_mcp_reject_version(http->peer, &http->reply, version);
        return 0;
    }

    return 1;
}

static void
tg_http_serve_modern(tg_http_exchange_t *http, tg_str_t version, unsigned n)
{
    const tg_catalog_entry_t *tool;
    const char *why;

    if (!tg_http_check_version(http, version, n)) {
        return;
    }

    why = tg_mcp_http_check_fields(&http->request->fields, http->message);

    if (why != NULL) {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_HEADER_MISMATCH, why);
        return;
    }

    if (!tg_http_has_method(http)) {
        tg_http_serve(http, TG_HTTP_NOT_FOUND);
        return;
    }

    if (http->method != NULL && http->method->kind == TG_ENTRY_TOOL) {
        tool = tg_http_find_entry(http, TG_ENTRY_TOOL, http->message->p.name);
        why = tool != NULL ? tg_mcp_http_check_arguments(&http->request->fields,
                                                         http->message, tool)
                           : NULL;
    }

    if (why != NULL) {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_HEADER_MISMATCH, why);
        return;
    }

    if (!http->request->accepts_events
        && tg_json_string_eq(http->message->method,
                             TG_STR("subscriptions/listen")))
    {
        tg_http_reject(http, TG_HTTP_NOT_ACCEPTABLE, TG_RPC_INVALID_REQUEST,
                       "subscriptions/listen is answered with a stream: the "
                       "header Accept must have text/event-stream.");
        return;
    }

    tg_http_serve(http, http->is_notification ? TG_HTTP_ACCEPTED : TG_HTTP_OK);
}

static void
tg_http_serve_legacy(tg_http_exchange_t *http, tg_str_t version, unsigned n)
{
    const char *known;
    int is_initialize;

    known = n == 0 ? TG_MCP_VERSION_BATCHES
            : n == 1 ? tg_mcp_find_legacy_version(version)
                     : NULL;
    is_initialize = http->method != NULL
                    && (http->method->flags & TG_METHOD_IS_INITIALIZE);

    if (known == NULL && !is_initialize) {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_INVALID_REQUEST,
                       "The header MCP-Protocol-Version must have the version "
                       "that initialize has returned.");
        return;
    }

    http->peer->priv->info = http->request->legacy_info;

    if (!is_initialize) {
        http->peer->is_legacy = 1;
        strcpy(http->peer->priv->version, known);
    }

    /* Responses: this server sends no requests over HTTP. */
    if (http->message->method.data == NULL) {
        http->request->status = TG_HTTP_ACCEPTED;
        http->request->is_request = 0;
        return;
    }

    tg_http_serve(http, http->is_notification ? TG_HTTP_ACCEPTED : TG_HTTP_OK);
}

/* Rejects `initialize`: the server has no legacy clients. */
static void
tg_http_reject_legacy(tg_http_exchange_t *http)
{
    tg_str_t version;

    version = http->message->p.protocol_version;
    http->request->status = TG_HTTP_BAD_REQUEST;
    http->request->is_request = 1;
    tg_mcp_reject_version(http->peer, &http->reply,
                          version.data != NULL ? version : TG_STR("null"));
}

/* Checks the envelope. Returns 0 after answering with an error. */
static int
tg_http_check_envelope(tg_http_exchange_t *http)
{
    const tg_message_t *message;
    const char *why;

    message = http->message;

    if (message->type != TG_JSON_OBJECT) {
        why = "The body must be one JSON object; batches are not supported.";
    } else if (message->method.data == NULL
               && (message->result.data != NULL || message->error.data != NULL))
    {
        why = NULL;
    } else {
        why = tg_jsonrpc_check_envelope(http->peer, http->method, http->message,
                                        &http->reply);
    }

    if (why != NULL) {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_INVALID_REQUEST, why);
    }

    return why == NULL;
}

static void
tg_http_serve_message(tg_http_exchange_t *http)
{
    tg_http_request_t *request;
    tg_str_t version;
    unsigned n;

    request = http->request;
    http->method = tg_mcp_method_find(http->message->method);
    http->is_notification = tg_jsonrpc_is_notification(http->message);

    if (http->is_notification) {
        http->message->id = TG_STR_NONE;
    }

    if (!tg_http_check_envelope(http)) {
        return;
    }

    request->method = http->message->method;
    request->subject = tg_mcp_find_subject(http->message);
    n = request->fields.find(request->fields.data, TG_STR("MCP-"),
                             TG_STR("Protocol-Version"), &version);
    request->is_modern = http->message->meta.protocol_version.data != NULL
                         || (n != 0
                             && tg_str_eq(version,
                                          TG_STR(TG_MCP_VERSION_MODERN)));

    if (!request->is_modern && request->legacy_info != NULL) {
        tg_http_serve_legacy(http, version, n);

    } else if (!request->is_modern && http->method != NULL
               && (http->method->flags & TG_METHOD_IS_INITIALIZE))
    {
        tg_http_reject_legacy(http);

    } else if (http->message->method.data == NULL) {
        tg_http_reject(http, TG_HTTP_BAD_REQUEST, TG_RPC_INVALID_REQUEST,
                       "The body must be a request or a notification: this "
                       "server sends no requests.");
    } else {
        tg_http_serve_modern(http, version, n);
    }
}

int
tg_peer_handle_http(tg_peer_t *peer, tg_str_t text, tg_http_request_t *request)
{
    tg_http_exchange_t http;
    tg_message_t message;
    int rc;

    http.peer = peer;
    http.request = request;
    http.message = &message;
    memset(&http.reply, 0, sizeof(http.reply));
    http.reply.is_mcp = 1;
    peer->is_mcp = 1;
    peer->is_http = 1;
    peer->frame_size = text.len;
    request->method = TG_STR_NONE;
    request->subject = TG_STR_NONE;
    request->is_modern = 0;
    request->is_request = 1;

    if (text.len > peer->frame.limit) {
        request->status = TG_HTTP_TOO_LARGE;
        tg_reply_reject_oversized(peer, &http.reply);
        return tg_http_get_result(peer);
    }

    rc = tg_message_parse(&message, text);

    if (rc == TG_OK) {
        tg_http_serve_message(&http);
    } else {
        tg_http_reject(&http, TG_HTTP_BAD_REQUEST,
                       rc == TG_LIMIT ? TG_RPC_INVALID_REQUEST
                                      : TG_RPC_PARSE_ERROR,
                       rc == TG_LIMIT
                           ? "The message nests deeper than 128 levels."
                           : "The body is not valid JSON.");
    }

    return tg_http_get_result(peer);
}
