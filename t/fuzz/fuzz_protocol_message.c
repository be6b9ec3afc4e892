/*
 * Checks the parser of the envelope: its one pass finds the members that a
 * search for each of them finds.
 *
 * Input: a message.
 */
#include "help.h"

#include "protocol/tg_message.h"

/* Returns a member of a value that should be an object; absent otherwise. */
static tg_str_t
message_get(tg_str_t object, const char *key)
{
    tg_str_t value;

    return object.data != NULL && tg_json_type(object) == TG_JSON_OBJECT
                   && tg_json_get_member(object, tg_str_from_cstr(key), &value)
                          == TG_OK
               ? value
               : TG_STR_NONE;
}

static void
message_is(tg_str_t found, tg_str_t object, const char *key)
{
    tg_str_t value;

    value = message_get(object, key);
    FUZZ(found.data == value.data && found.len == value.len);
}

/* Checks an optional member, for which null is the same as absent. */
static void
message_is_nullable(tg_str_t found, tg_str_t object, const char *key)
{
    tg_str_t value;

    value = message_get(object, key);

    if (tg_json_type(value) == TG_JSON_NULL) {
        FUZZ(found.data == NULL);
    } else {
        FUZZ(found.data == value.data && found.len == value.len);
    }
}

static void
message_members(const tg_message_t *m)
{
    tg_str_t notifications, meta;

    message_is(m->jsonrpc, m->text, "jsonrpc");
    message_is(m->id, m->text, "id");
    message_is(m->method, m->text, "method");
    message_is_nullable(m->params, m->text, "params");
    message_is(m->result, m->text, "result");
    message_is(m->error, m->text, "error");
    message_is(m->kind, m->text, "kind");
    message_is(m->reason, m->text, "reason");
    message_is(m->message, m->text, "message");
    message_is(m->p.name, m->params, "name");
    message_is_nullable(m->p.arguments, m->params, "arguments");
    message_is_nullable(m->p.cursor, m->params, "cursor");
    message_is(m->p.protocol_version, m->params, "protocolVersion");
    message_is(m->p.request_id, m->params, "requestId");
    message_is(m->p.id, m->params, "id");
    message_is(m->p.notifications, m->params, "notifications");
    message_is(m->p.progress_token, m->params, "progressToken");
    message_is(m->p.progress, m->params, "progress");
    message_is(m->p.total, m->params, "total");
    message_is(m->p.message, m->params, "message");
    message_is(m->p.input_responses, m->params, "inputResponses");
    message_is_nullable(m->p.request_state, m->params, "requestState");
    message_is_nullable(m->p.meta, m->params, "_meta");
    notifications = m->p.notifications;
    message_is(m->p.tools_list_changed, notifications, "toolsListChanged");
    meta = m->p.meta;
    message_is_nullable(m->meta.protocol_version, meta,
                        "io.modelcontextprotocol/protocolVersion");
    message_is(m->meta.client_capabilities, meta,
               "io.modelcontextprotocol/clientCapabilities");
    message_is(m->meta.subscription_id, meta,
               "io.modelcontextprotocol/subscriptionId");
    message_is_nullable(m->meta.progress_token, meta, "progressToken");
    message_is(m->meta.traceparent, meta, "traceparent");
    message_is(m->meta.tracestate, meta, "tracestate");
    message_is(m->e.code, m->error, "code");
    message_is(m->e.message, m->error, "message");
    message_is(m->e.data, m->error, "data");
    message_is(m->e.type, m->error, "type");
}

/* Offsets noted for the arguments match a search in the arguments. */
static void
message_check_index(const tg_message_t *m)
{
    tg_str_t key, value, found;
    tg_json_member_t note;
    tg_buf_t text;
    tg_json_cursor_t json;
    size_t n;

    if (m->p.arguments.data == NULL
        || tg_json_type(m->p.arguments) != TG_JSON_OBJECT)
    {
        return;
    }

    tg_json_init(&json, m->p.arguments);
    FUZZ(tg_json_enter_object(&json) == TG_OK);

    for (n = 0; tg_json_next_member(&json, &key) == TG_OK; n++) {
        FUZZ(tg_json_read_value(&json, &value) == TG_OK);

        if (n < TG_JSON_INDEX_MAX) {
            FUZZ_EQ(m->notes.list[n].key, key);
            FUZZ_EQ(m->notes.list[n].value, value);
        }

        tg_buf_init(&text, tg_alloc_libc());
        tg_json_append_unescaped(&text, key);
        FUZZ(tg_json_get_member(m->p.arguments, tg_buf_view(&text), &found)
             == TG_OK);
        FUZZ(tg_json_index_get(&m->notes, m->p.arguments, tg_buf_view(&text),
                               &note)
             == TG_OK);
        FUZZ(note.value.data == found.data && note.value.len == found.len);
        FUZZ(tg_json_type(found) != TG_JSON_STRING
             || (note.escapes != 0)
                    == (memchr(found.data, '\\', found.len) != NULL));
        tg_buf_deinit(&text);
    }

    FUZZ(m->notes.n == n);
    FUZZ(tg_json_index_get(&m->notes, m->p.arguments, TG_STR("\1"), &note)
         == tg_json_get_member(m->p.arguments, TG_STR("\1"), &found));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_message_t message;
    const char *why;
    tg_str_t text;
    int rc;

    text = tg_str(size != 0 ? (const char *) data : "", size);
    rc = tg_message_parse(&message, text);
    FUZZ(rc == tg_json_validate(text, &why));

    if (rc != TG_OK) {
        FUZZ(message.why != NULL && message.why[0] != '\0');
        return 0;
    }

    FUZZ(message.type == tg_json_type(message.text));

    if (message.type == TG_JSON_OBJECT && !message.has_duplicate) {
        message_members(&message);
        message_check_index(&message);
    }

    return 0;
}
