/* Dispatch of requests to handlers, and calls in flight. */
#include "base/tg_list.h"
#include "catalog/tg_mime_type.h"
#include "protocol/tg_peer_impl.h"
#include "protocol/tg_peer_snapshot.h"

static size_t
tg_call_size(const tg_call_t *call)
{
    return sizeof(*call) + call->reply.id.len + call->reply.subject.len
           + call->reply.mime.len + call->progress_token.len + call->host_bytes;
}

tg_call_t *
tg_call_new(const tg_call_t *from, size_t size)
{
    tg_peer_t *peer;
    tg_call_t *call;
    char *at;

    peer = from->peer;
    call = tg_alloc(peer->priv->alloc,
                    size + from->reply.id.len + from->reply.subject.len
                        + from->reply.mime.len + from->progress_token.len
                        + from->own_entry.name.len);

    if (call == NULL) {
        return NULL;
    }

    memcpy(call, from, size);
    at = (char *) call + size;
    call->own_entry.name = tg_str_copy_to(&at, from->own_entry.name);
    call->reply.id = tg_str_copy_to(&at, from->reply.id);
    call->reply.subject = tg_str_copy_to(&at, from->reply.subject);
    call->reply.mime = tg_str_copy_to(&at, from->reply.mime);
    call->progress_token = tg_str_copy_to(&at, from->progress_token);
    call->entry = call->own_entry.name.data != NULL ? &call->own_entry : NULL;

    if (call->reply.batch != NULL) {
        call->reply.batch->refs++;
    }

    TG_LIST_INSERT(peer->calls, peer->oldest, (tg_call_t *) NULL, call);
    peer->ncalls++;
    peer->priv->memory_bytes += tg_call_size(call);

    return call;
}

static void
tg_call_unlink(tg_call_t *call)
{
    tg_peer_t *peer;

    peer = call->peer;
    TG_LIST_REMOVE(peer->calls, peer->oldest, call);
    peer->ncalls--;
    peer->priv->memory_bytes -= tg_call_size(call);
}

void
tg_call_set_host_bytes(tg_call_t *call, size_t bytes)
{
    call->peer->priv->memory_bytes += bytes - call->host_bytes;
    call->host_bytes = bytes;
}

size_t
tg_peer_memory_size(const tg_peer_t *peer)
{
    return peer->priv->memory_bytes + peer->out.cap;
}

static void
tg_call_free(tg_call_t *call)
{
    tg_peer_t *peer;
    tg_batch_t *batch;

    peer = call->peer;
    batch = call->reply.batch;
    tg_free(peer->priv->alloc, call);
    tg_batch_unref(peer, batch);
}

void
tg_call_cancel(tg_call_t *call)
{
    tg_call_unlink(call);
    call->peer->priv->ops->cancel(call->peer->host, call);
    tg_call_free(call);
}

void
tg_call_forget(tg_call_t *call)
{
    tg_call_unlink(call);
    tg_call_free(call);
}

void
tg_call_respond(tg_call_t *call, const tg_outcome_t *outcome)
{
    tg_peer_respond(call->peer, &call->reply, outcome);
    tg_call_forget(call);
}

void
tg_call_respond_error(tg_call_t *call, int64_t code, tg_str_t message,
                      tg_str_t data)
{
    tg_outcome_t why;

    why = tg_outcome_make(TG_OUTCOME_BODY, message);
    call->peer->row->error(call->peer, &call->reply, code, &why, data);
    tg_call_forget(call);
}

void
tg_peer_forget_calls(tg_peer_t *peer)
{
    if (peer->priv->batch != NULL) {
        tg_buf_reset(&peer->priv->batch->replies, 0);
    }

    while (peer->calls != NULL) {
        if (peer->calls->reply.batch != NULL) {
            tg_buf_reset(&peer->calls->reply.batch->replies, 0);
        }

        tg_call_forget(peer->calls);
    }
}

int
tg_request_id_is_equal(tg_str_t a, tg_str_t b)
{
    if (tg_str_eq(a, b)) {
        return 1;
    }

    return tg_json_type(a) == TG_JSON_STRING
           && tg_json_type(b) == TG_JSON_STRING
           && tg_json_body_eq(tg_json_string_body(a), tg_json_string_body(b));
}

static tg_call_t *
tg_call_find(const tg_peer_t *peer, tg_str_t id)
{
    tg_call_t *call;

    call = peer->calls;

    while (call != NULL && !tg_request_id_is_equal(call->reply.id, id)) {
        call = call->next;
    }

    return call;
}

int
tg_peer_has_request_id(tg_peer_t *peer, tg_str_t id)
{
    return (peer->ncalls != 0 && tg_call_find(peer, id) != NULL)
           || tg_peer_has_parked(peer, id) || tg_peer_has_round(peer, id)
           || (peer->priv->nsubscriptions != 0
               && *tg_subscription_find(peer, id) != NULL);
}

void
tg_peer_cancel_request(tg_peer_t *peer, tg_str_t id)
{
    tg_subscription_t **at;
    tg_call_t *call;

    if (id.data == NULL) {
        return;
    }

    call = tg_call_find(peer, id);
    at = tg_subscription_find(peer, id);

    if (call != NULL) {
        tg_call_cancel(call);
    } else if (*at != NULL) {
        tg_subscription_remove(peer, at);
    } else {
        tg_peer_cancel_parked(peer, id);
        tg_peer_cancel_round(peer, id);
    }
}

tg_batch_t *
tg_batch_new(const tg_peer_t *peer)
{
    tg_batch_t *batch;

    batch = tg_calloc(peer->priv->alloc, sizeof(*batch));

    if (batch != NULL) {
        tg_buf_init(&batch->replies, peer->priv->alloc);
        batch->refs = 1;
    }

    return batch;
}

void
tg_batch_unref(tg_peer_t *peer, tg_batch_t *batch)
{
    if (batch == NULL || --batch->refs != 0) {
        return;
    }

    peer->priv->memory_bytes -= batch->memory_bytes;

    if (batch->replies.len != 0) {
        tg_buf_append_char(&peer->out, '[');
        tg_buf_append_str(&peer->out, tg_buf_view(&batch->replies));
        tg_buf_append(&peer->out, "]\n", 2);
    }

    tg_buf_deinit(&batch->replies);
    tg_free(peer->priv->alloc, batch);
}

void
tg_peer_end_batch(tg_peer_t *peer)
{
    tg_batch_t *batch;

    batch = peer->priv->batch;
    peer->priv->batch = NULL;
    tg_batch_unref(peer, batch);
}

/* Checks the last entry first, because clients often repeat a call. */
const tg_catalog_entry_t *
tg_peer_find_entry(tg_peer_t *peer, tg_catalog_entry_type_t kind, tg_str_t name)
{
    const tg_catalog_entry_t *entry;

    entry = peer->priv->recent_entry;

    if (entry != NULL && entry->kind == kind && tg_str_eq(entry->name, name)) {
        return entry;
    }

    entry = tg_catalog_find_escaped(peer->catalog, kind, name);

    /* A name of equal length has no escapes: it can be compared directly. */
    peer->priv->recent_entry = entry != NULL && entry->name.len == name.len
                                   ? entry
                                   : NULL;

    return entry;
}

void
tg_peer_call_handler(tg_peer_t *peer, tg_request_t *request)
{
    tg_catalog_t *catalog;

    /* The host may replace the catalog within ops->call. */
    catalog = tg_catalog_ref(peer->catalog);
    peer->priv->ops->call(peer->host, peer, request);
    tg_catalog_unref(catalog);
}

void
tg_peer_serve_entry(tg_peer_t *peer, tg_request_t *request,
                    const tg_catalog_entry_t *entry)
{
    int is_proxied;

    request->entry = entry;

    if (peer->priv->resumed != NULL && !request->reply.is_modern) {
        tg_peer_resume_input(peer, request);
    }

    is_proxied = peer->priv->ops->is_proxy && entry == NULL;

    if (entry != NULL) {
        request->reply.mime = entry->mime.len <= TG_MIME_TYPE_MAX ? entry->mime
                                                                  : TG_STR_NONE;
        request->reply.ttl_ms = entry->ttl_ms;
        request->reply.is_public = entry->is_public;
    }

    /* A proxy forwards the params of a method as they are. */
    if (request->arguments.data == NULL
        && (!is_proxied || request->reply.kind == TG_ENTRY_TOOL))
    {
        request->arguments = TG_STR("{}");
    }

    if (request->entry != NULL || is_proxied) {
        tg_peer_call_handler(peer, request);
    } else if (peer->priv->ops->on_unknown != NULL) {
        peer->priv->ops->on_unknown(peer->host, peer, request);
    } else {
        tg_peer_respond_unknown(peer, request);
    }
}

void
tg_peer_dispatch_request(tg_peer_t *peer, tg_request_t *request)
{
    tg_peer_serve_entry(peer, request,
                        tg_peer_find_entry(peer, request->reply.kind,
                                           request->name));
}

void
tg_peer_respond_forbidden(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t why;

    why = tg_outcome_make_failure(TG_FAILURE_UNKNOWN,
                                  "The token lacks a scope for this.");
    tg_reply_write_error(peer, &request->reply, TG_RPC_INVALID_REQUEST, &why,
                         TG_STR_NONE);
}

void
tg_peer_respond_unknown(tg_peer_t *peer, const tg_request_t *request)
{
    static const struct {
        const char *what;
        const char *hint;
    } texts[TG_ENTRY_KINDS] = {
        [TG_ENTRY_TOOL] = { "Unknown tool: ",
                            ". Ask for the list of tools to see what there "
                            "is." },
        [TG_ENTRY_METHOD] = { "Method not found: ", "" },
        [TG_ENTRY_PROMPT] = { "Unknown prompt: ",
                              ". Ask for the list of prompts to see what "
                              "there is." },
        [TG_ENTRY_RESOURCE] = { "Resource not found: ", "" },
        [TG_ENTRY_TEMPLATE] = { "Resource not found: ", "" },
        [TG_ENTRY_COMPLETION] = { "Unknown argument: ", "" },
    };
    char room[256];
    tg_buf_t text;

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_append_cstr(&text, texts[request->reply.kind].what);

    if (request->name.len <= TG_NAME_MAX) {
        tg_json_append_unescaped(&text, request->name);
    }

    tg_buf_append_cstr(&text, texts[request->reply.kind].hint);
    tg_reply_write_failure(peer, &request->reply, TG_FAILURE_UNKNOWN,
                           tg_buf_view(&text));
}

static void
tg_peer_respond_busy(tg_peer_t *peer, const tg_reply_t *reply)
{
    char room[160];
    tg_buf_t text;

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&text,
                  "This connection may have %u %s running (tool_max_inflight), "
                  "and has; call again when %s has ended.",
                  peer->max_calls,
                  tg_pick_plural(peer->max_calls, "call", "calls"),
                  tg_pick_plural(peer->max_calls, "it", "one of them"));
    tg_reply_write_failure(peer, reply, TG_FAILURE_BUSY, tg_buf_view(&text));
}

tg_call_t *
tg_peer_defer_request(tg_peer_t *peer, const tg_request_t *request)
{
    tg_call_t from, *call;

    if (peer->ncalls + peer->nrounds >= peer->max_calls) {
        tg_peer_respond_busy(peer, &request->reply);
        return NULL;
    }

    memset(&from, 0, sizeof(from));
    from.peer = peer;
    from.reply = request->reply;
    from.progress_token = request->progress_token;

    /* The catalog may be replaced before the call ends. */
    if (request->entry != NULL) {
        from.own_entry.kind = request->entry->kind;
        from.own_entry.output = request->entry->output;
        from.own_entry.output_digest = request->entry->output_digest;
        from.own_entry.name = request->entry->name;
    }

    call = tg_call_new(&from, sizeof(from));

    if (call == NULL) {
        tg_reply_write_failure(peer, &request->reply, TG_FAILURE_INTERNAL,
                               TG_STR(TG_TEXT_NO_MEMORY));
    }

    return call;
}
