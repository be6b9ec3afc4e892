/* resources/read and completion/complete. */
#include "protocol/tg_peer_impl.h"

tg_str_t
tg_uri_decode(tg_str_t raw, char *room)
{
    tg_buf_t text;

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return TG_STR_NONE;
    }

    text = tg_buf_make_fixed(room, TG_URI_MAX);
    tg_json_append_unescaped(&text, tg_json_string_body(raw));

    return tg_buf_has_failed(&text) || text.len == 0 ? TG_STR_NONE
                                                     : tg_buf_view(&text);
}

tg_str_t
tg_mcp_read_uri(tg_peer_t *peer, const tg_message_t *message, tg_reply_t *reply,
                char *room)
{
    tg_str_t uri;

    uri = tg_uri_decode(message->p.uri, room);

    if (uri.data == NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS,
                                "params.uri must be the URI of a resource, at "
                                "most 2048 bytes.");
    } else {
        reply->kind = TG_ENTRY_RESOURCE;
        reply->subject = tg_json_string_body(message->p.uri);
    }

    return uri;
}

const tg_catalog_entry_t *
tg_peer_find_visible_uri(const tg_peer_t *peer, tg_str_t uri,
                         tg_buf_t *arguments)
{
    const tg_catalog_entry_t *entry;

    entry = tg_catalog_find_uri(peer->catalog, uri, arguments);

    return entry != NULL
                   && (peer->priv->ops->is_visible == NULL
                       || peer->priv->ops->is_visible(peer->host, entry))
               ? entry
               : NULL;
}

void
tg_reply_write_no_resource(tg_peer_t *peer, const tg_reply_t *reply,
                           const tg_outcome_t *why)
{
    tg_buf_t data;

    tg_buf_init(&data, peer->priv->alloc);
    tg_buf_append_cstr(&data, "{\"uri\":\"");
    tg_buf_append_str(&data, reply->subject);
    tg_buf_append_cstr(&data, "\"}");
    tg_reply_write_error(peer, reply, tg_reply_get_error_code(reply, why), why,
                         tg_buf_view(&data));
    peer->out.failed |= tg_buf_has_failed(&data);
    tg_buf_deinit(&data);
}

void
tg_mcp_respond_no_resource(tg_peer_t *peer, const tg_message_t *message,
                           const tg_reply_t *reply)
{
    tg_request_t request;

    tg_request_init(&request, message, reply, TG_ENTRY_RESOURCE);
    request.name = reply->subject;
    tg_peer_serve_entry(peer, &request, NULL);
}

void
tg_mcp_on_resource_read(tg_peer_t *peer, const tg_message_t *message,
                        tg_reply_t *reply)
{
    const tg_catalog_entry_t *entry;
    tg_request_t request;
    tg_buf_t arguments;
    char room[TG_URI_MAX];
    const char *why;
    tg_str_t uri;

    uri = tg_mcp_read_uri(peer, message, reply, room);

    if (uri.data == NULL) {
        return;
    }

    why = tg_mcp_check_call(message, reply);

    if (why != NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS, why);
        return;
    }

    tg_request_init(&request, message, reply, TG_ENTRY_RESOURCE);
    request.name = reply->subject;
    tg_buf_init(&arguments, peer->priv->alloc);
    entry = tg_catalog_find_uri(peer->catalog, uri, &arguments);

    if (tg_buf_has_failed(&arguments)) {
        tg_reply_write_failure(peer, &request.reply, TG_FAILURE_INTERNAL,
                               TG_STR(TG_TEXT_NO_MEMORY));
    } else {
        request.reply.kind = entry != NULL ? entry->kind : TG_ENTRY_RESOURCE;
        request.arguments = tg_buf_view(&arguments);
        tg_peer_serve_entry(peer, &request, entry);
    }

    tg_buf_deinit(&arguments);
}

/* --- completion/complete --- */

/* Returns the prompt or template of a raw `ref`, or NULL. */
static const tg_catalog_entry_t *
tg_completion_find_ref(const tg_peer_t *peer, tg_str_t ref)
{
    static const char *const names[] = { "type", "name", "uri", NULL };
    const tg_catalog_entry_t *entry;
    char room[TG_URI_MAX];
    tg_buf_t arguments;
    tg_str_t values[3], uri;

    if (tg_json_type(ref) != TG_JSON_OBJECT) {
        return NULL;
    }

    (void) tg_json_get_members(ref, names, values);

    if (tg_json_string_eq(values[0], TG_STR("ref/prompt"))
        && tg_json_type(values[1]) == TG_JSON_STRING)
    {
        return tg_catalog_find_escaped(peer->catalog, TG_ENTRY_PROMPT,
                                       tg_json_string_body(values[1]));
    }

    uri = tg_uri_decode(values[2], room);

    if (!tg_json_string_eq(values[0], TG_STR("ref/resource"))
        || uri.data == NULL) {
        return NULL;
    }

    entry = tg_catalog_find(peer->catalog, TG_ENTRY_TEMPLATE, uri);

    /* The URI may also be one that the template matches. */
    if (entry == NULL) {
        tg_buf_init(&arguments, peer->priv->alloc);
        entry = tg_catalog_find_uri(peer->catalog, uri, &arguments);
        tg_buf_deinit(&arguments);
    }

    return entry;
}

/* Checks whether a prompt or template declares an argument. */
static int
tg_completion_has_argument(const tg_catalog_entry_t *entry, tg_str_t name)
{
    tg_json_cursor_t json;
    tg_str_t argument, value;

    if (entry->kind == TG_ENTRY_PROMPT) {
        tg_json_iter_init(&json, entry->arguments);

        while (tg_json_iter_next(&json, &argument)) {
            if (tg_json_has_member(argument, TG_STR("name"), TG_JSON_STRING,
                                   &value)
                && tg_json_body_eq_text(tg_json_string_body(value), name))
            {
                return 1;
            }
        }

        return 0;
    }

    return tg_json_has_member(entry->input_schema, TG_STR("properties"),
                              TG_JSON_OBJECT, &value)
           && tg_json_get_member(value, name, &argument) == TG_OK;
}

static void
tg_completion_respond_empty(tg_peer_t *peer, tg_reply_t *reply)
{
    tg_outcome_t outcome;

    reply->kind = TG_ENTRY_COMPLETION;
    outcome = tg_outcome_make_text(TG_STR(""));
    tg_peer_respond(peer, reply, &outcome);
}

/* Serves a completion. Returns NULL, or what is wrong with the request. */
static const char *
tg_completion_serve(tg_peer_t *peer, const tg_message_t *message,
                    tg_reply_t *reply, tg_buf_t *key)
{
    const tg_catalog_entry_t *parent, *entry;
    tg_str_t name, value, context;
    tg_request_t request;
    size_t start;

    if (!tg_json_has_member(message->p.argument, TG_STR("name"), TG_JSON_STRING,
                            &name)
        || !tg_json_has_member(message->p.argument, TG_STR("value"),
                               TG_JSON_STRING, &value))
    {
        return "params.argument must be an object with the strings name and "
               "value.";
    }

    parent = tg_completion_find_ref(peer, message->p.ref);

    if (parent == NULL
        || (peer->priv->ops->is_visible != NULL
            && !peer->priv->ops->is_visible(peer->host, parent)))
    {
        return "params.ref must name a prompt or a resource template of this "
               "server.";
    }

    reply->subject = tg_json_string_body(value);
    tg_request_init(&request, message, reply, TG_ENTRY_COMPLETION);
    request.name = tg_json_string_body(name);
    request.arguments = TG_STR("{}");

    if (tg_json_has_member(message->p.context, TG_STR("arguments"),
                           TG_JSON_OBJECT, &context))
    {
        request.arguments = context;
    }

    if (parent->has_completions) {
        tg_peer_serve_entry(peer, &request, parent);
        return NULL;
    }

    tg_completion_write_key(key, parent->kind, parent->name, TG_STR(""));
    start = key->len;
    tg_json_append_unescaped(key, request.name);

    if (tg_buf_has_failed(key)) {
        return TG_TEXT_NO_MEMORY;
    }

    entry = tg_catalog_find(peer->catalog, TG_ENTRY_COMPLETION,
                            tg_buf_view(key));

    if (entry != NULL) {
        tg_peer_serve_entry(peer, &request, entry);
        return NULL;
    }

    if (!tg_completion_has_argument(parent, tg_str(key->data + start,
                                                   key->len - start)))
    {
        return "params.argument.name must be an argument of the prompt or a "
               "variable of the template.";
    }

    tg_completion_respond_empty(peer, reply);

    return NULL;
}

void
tg_mcp_on_complete(tg_peer_t *peer, const tg_message_t *message,
                   tg_reply_t *reply)
{
    const char *why;
    tg_buf_t key;

    tg_buf_init(&key, peer->priv->alloc);
    why = tg_mcp_check_call(message, reply);

    if (why == NULL) {
        why = tg_completion_serve(peer, message, reply, &key);
    }

    tg_buf_deinit(&key);

    if (why != NULL) {
        tg_reply_reject_request(peer, reply, TG_RPC_INVALID_PARAMS, why);
    }
}
