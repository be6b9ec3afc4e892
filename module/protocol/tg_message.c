/*
 * Parses a message in one pass. Each object of the protocols has a table of its
 * known members. A member that is such an object is parsed too; any other value
 * is skipped as a whole.
 */
#include "protocol/tg_message.h"

#include "base/tg_json_inline.h"
#include "protocol/tg_rpc.h"

/* Bytes scanned for the id of an oversized message. */
#define TG_MESSAGE_HEAD_MAX 4096

typedef struct tg_member_table_s tg_member_table_t;

typedef struct {
    const char *key; /* in quotes, followed by a colon */
    size_t len;
    size_t offset;                  /* offset of the slice in tg_message_t */
    const tg_member_table_t *table; /* table of an object to parse, or NULL */
    int is_noted;                   /* index the members of this object */
} tg_member_t;

struct tg_member_table_s {
    const tg_member_t *members;
    size_t n;
    size_t repeat_from; /* index of the member expected after the last one */
};

#define TG_MEMBER(key, field, table)                                           \
    {                                                                          \
        "\"" key "\":", sizeof(key) + 2, offsetof(tg_message_t, field), table, \
            0                                                                  \
    }
#define TG_MEMBER_NOTED(key, field)                                            \
    {                                                                          \
        "\"" key "\":", sizeof(key) + 2, offsetof(tg_message_t, field), NULL,  \
            1                                                                  \
    }
#define TG_MEMBER_TABLE(members, repeat_from)                                  \
    {                                                                          \
        members, sizeof(members) / sizeof((members)[0]), repeat_from           \
    }

static const tg_member_t tg_meta_members[] = {
    TG_MEMBER("progressToken", meta.progress_token, NULL),
    TG_MEMBER("io.modelcontextprotocol/protocolVersion", meta.protocol_version,
              NULL),
    TG_MEMBER("io.modelcontextprotocol/clientCapabilities",
              meta.client_capabilities, NULL),
    TG_MEMBER("io.modelcontextprotocol/clientInfo", meta.client_info, NULL),
    TG_MEMBER("io.modelcontextprotocol/subscriptionId", meta.subscription_id,
              NULL),
    TG_MEMBER("traceparent", meta.traceparent, NULL),
    TG_MEMBER("tracestate", meta.tracestate, NULL),
    TG_MEMBER("io.modelcontextprotocol/logLevel", meta.log_level, NULL),
};

static const tg_member_table_t tg_meta_member_table = TG_MEMBER_TABLE(
    tg_meta_members, 0);

static const tg_member_t tg_filter_members[] = {
    TG_MEMBER("toolsListChanged", p.tools_list_changed, NULL),
    TG_MEMBER("promptsListChanged", p.prompts_list_changed, NULL),
    TG_MEMBER("resourcesListChanged", p.resources_list_changed, NULL),
    TG_MEMBER("resourceSubscriptions", p.resource_subscriptions, NULL),
    TG_MEMBER(TG_MCP_FILTER_BROADCASTS, p.broadcasts, NULL),
};

static const tg_member_table_t tg_filter_member_table = TG_MEMBER_TABLE(
    tg_filter_members, 0);

static const tg_member_t tg_params_members[] = {
    TG_MEMBER("name", p.name, NULL),
    TG_MEMBER_NOTED("arguments", p.arguments),
    TG_MEMBER("_meta", p.meta, &tg_meta_member_table),
    TG_MEMBER("cursor", p.cursor, NULL),
    TG_MEMBER("protocolVersion", p.protocol_version, NULL),
    TG_MEMBER("clientInfo", p.client_info, NULL),
    TG_MEMBER("requestId", p.request_id, NULL),
    TG_MEMBER("id", p.id, NULL),
    TG_MEMBER("notifications", p.notifications, &tg_filter_member_table),
    TG_MEMBER("progressToken", p.progress_token, NULL),
    TG_MEMBER("progress", p.progress, NULL),
    TG_MEMBER("total", p.total, NULL),
    TG_MEMBER("message", p.message, NULL),
    TG_MEMBER("inputResponses", p.input_responses, NULL),
    TG_MEMBER("requestState", p.request_state, NULL),
    TG_MEMBER("uri", p.uri, NULL),
    TG_MEMBER("ref", p.ref, NULL),
    TG_MEMBER("argument", p.argument, NULL),
    TG_MEMBER("context", p.context, NULL),
    TG_MEMBER("level", p.level, NULL),
};

static const tg_member_table_t tg_params_member_table = TG_MEMBER_TABLE(
    tg_params_members, 0);

static const tg_member_t tg_error_members[] = {
    TG_MEMBER("code", e.code, NULL),
    TG_MEMBER("message", e.message, NULL),
    TG_MEMBER("data", e.data, NULL),
    TG_MEMBER("type", e.type, NULL),
};

static const tg_member_table_t tg_error_member_table = TG_MEMBER_TABLE(
    tg_error_members, 0);

static const tg_member_t tg_envelope_members[] = {
    TG_MEMBER("jsonrpc", jsonrpc, NULL),
    TG_MEMBER("id", id, NULL),
    TG_MEMBER("method", method, NULL),
    TG_MEMBER("params", params, &tg_params_member_table),
    TG_MEMBER("result", result, NULL),
    TG_MEMBER("error", error, &tg_error_member_table),
    TG_MEMBER("reason", reason, NULL),
    TG_MEMBER("message", message, NULL),
    TG_MEMBER("kind", kind, NULL),
};

static const tg_member_table_t tg_envelope_member_table = TG_MEMBER_TABLE(
    tg_envelope_members, 1);

/* Optional members. Clients that serialize empty fields send null for them. */
static const size_t tg_nullable_members[] = {
    offsetof(tg_message_t, params),
    offsetof(tg_message_t, p.arguments),
    offsetof(tg_message_t, p.cursor),
    offsetof(tg_message_t, p.context),
    offsetof(tg_message_t, p.meta),
    offsetof(tg_message_t, p.client_info),
    offsetof(tg_message_t, p.request_state),
    offsetof(tg_message_t, meta.protocol_version),
    offsetof(tg_message_t, meta.client_info),
    offsetof(tg_message_t, meta.progress_token),
    offsetof(tg_message_t, meta.log_level),
};

/*
 * Returns NULL for an unknown key. Senders usually write members in the order
 * of the table, so the search starts at *next and updates it.
 */
static const tg_member_t *
tg_member_table_find(const tg_member_table_t *table, tg_str_t key,
                     unsigned escapes, size_t *next)
{
    const tg_member_t *member;
    tg_str_t name;
    size_t i, at;

    for (i = 0, at = *next; i < table->n; i++, at++) {
        member = &table->members[at < table->n ? at : at - table->n];
        name = tg_str(member->key + 1, member->len - 3);

        if (escapes != 0 ? tg_json_body_eq_text(key, name)
                         : tg_str_eq(key, name)) {
            at = (size_t) (member - table->members) + 1;
            *next = at != table->n ? at : table->repeat_from;
            return member;
        }
    }

    return NULL;
}

/*
 * Consumes the key if it is that of the member at *next, which a sender in
 * table order writes now. Otherwise returns NULL.
 */
static inline const tg_member_t *
tg_member_table_match_next(const tg_member_table_t *table,
                           tg_json_cursor_t *json, size_t *next)
{
    const tg_member_t *member;
    const char *p;

    if (json->failed != 0 || json->pos == json->end) {
        return NULL;
    }

    member = &table->members[*next];
    p = json->pos + 1 - json->is_first_entry;

    if (json->end - json->pos <= (ptrdiff_t) member->len
        || (json->is_first_entry == 0 && *json->pos != ',')
        || !tg_bytes_eq(p, member->key, member->len))
    {
        return NULL;
    }

    json->pos = p + member->len;
    json->is_first_entry = 0;
    json->escapes = 0;
    *next = *next + 1 != table->n ? *next + 1 : table->repeat_from;

    return member;
}

static int
tg_message_parse_object(tg_message_t *message, tg_json_cursor_t *json,
                        const tg_member_table_t *table, tg_str_t *whole)
{
    const tg_member_t *member;
    tg_str_t key, *field;
    const char *start;
    size_t next;
    int rc;

    start = json->pos;
    next = 0;
    rc = tg_json_enter_object_inline(json);

    while (rc == TG_OK) {
        member = tg_member_table_match_next(table, json, &next);

        if (member == NULL) {
            rc = tg_json_next_member_inline(json, &key);

            if (rc != TG_OK) {
                break;
            }

            member = tg_member_table_find(table, key, json->escapes, &next);
        }

        if (member == NULL) {
            rc = tg_json_read_value(json, NULL);
            continue;
        }

        field = (tg_str_t *) (void *) ((char *) message + member->offset);

        if (field->data != NULL) {
            message->has_duplicate = 1;
        }

        /* Recursion ends at params._meta: the tables nest no deeper. */
        if (member->table != NULL && tg_json_is_next(json, '{')) {
            rc = tg_message_parse_object(message, json, member->table, field);
        } else if (member->is_noted && tg_json_is_next(json, '{')) {
            rc = tg_json_index_object(json, &message->notes, field);
        } else {
            rc = tg_json_read_value_inline(json, field);
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    *whole = tg_str(start, (size_t) (json->pos - start));

    return TG_OK;
}

static void
tg_message_drop_nulls(tg_message_t *message)
{
    tg_str_t *field;
    size_t i;

    for (i = 0; i < sizeof(tg_nullable_members) / sizeof(size_t); i++) {
        field = (tg_str_t *) (void *) ((char *) message
                                       + tg_nullable_members[i]);

        if (tg_json_type(*field) == TG_JSON_NULL) {
            *field = TG_STR_NONE;
        }
    }
}

/* JSON does not allow a UTF-8 byte order mark, but some programs write it. */
static tg_str_t
tg_message_skip_bom(tg_str_t text)
{
    return text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0
               ? tg_str_skip(text, 3)
               : text;
}

int
tg_message_parse(tg_message_t *message, tg_str_t text)
{
    tg_json_cursor_t json;
    int rc;

    /* Only the first n of `notes` are valid, so they need no clearing. */
    tg_memzero(message, offsetof(tg_message_t, notes));
    message->notes.n = 0;
    tg_json_init(&json, tg_message_skip_bom(text));
    message->type = tg_json_peek_type(&json);

    if (message->type == TG_JSON_OBJECT) {
        rc = tg_message_parse_object(message, &json, &tg_envelope_member_table,
                                     &message->text);
        tg_message_drop_nulls(message);
    } else {
        rc = tg_json_read_value(&json, &message->text);
    }

    if (rc == TG_OK) {
        rc = tg_json_expect_end(&json);
    }

    message->why = json.why;

    return rc;
}

int
tg_message_is_empty_array(tg_str_t raw)
{
    tg_json_cursor_t json;

    tg_json_init(&json, raw);

    return tg_json_enter_array(&json) == TG_OK
           && tg_json_next_element(&json) == TG_END;
}

int
tg_message_is_mcp_notification(tg_str_t method)
{
    tg_str_t prefix;

    prefix = TG_STR("\"notifications/");

    return method.len > prefix.len
           && memcmp(method.data, prefix.data, prefix.len) == 0;
}

/* Another byte must follow the value, which may be cut off. */
static int
tg_message_is_id(const tg_json_cursor_t *json, tg_str_t key, tg_str_t value)
{
    tg_json_type_t type;

    type = tg_json_type(value);

    return tg_json_body_eq_text(key, TG_STR("id"))
           && (type == TG_JSON_STRING || type == TG_JSON_NUMBER)
           && json->pos < json->end;
}

int
tg_message_parse_head(tg_str_t head, tg_message_head_t *known)
{
    tg_str_t key, value;
    tg_json_cursor_t json;

    memset(known, 0, sizeof(*known));

    if (head.len > TG_MESSAGE_HEAD_MAX) {
        head.len = TG_MESSAGE_HEAD_MAX;
    }

    tg_json_init(&json, head);

    if (tg_json_enter_object(&json) != TG_OK
        || tg_json_next_member(&json, &key) != TG_OK)
    {
        return TG_INVALID;
    }

    /* A key shows the message's type even if its value is cut off. */
    do {
        known->is_request |= tg_json_body_eq_text(key, TG_STR("method"))
                             || tg_json_body_eq_text(key, TG_STR("params"));
        known->is_response |= tg_json_body_eq_text(key, TG_STR("result"))
                              || tg_json_body_eq_text(key, TG_STR("error"));

        if (tg_json_read_value(&json, &value) != TG_OK) {
            break;
        }

        if (known->id.data == NULL && tg_message_is_id(&json, key, value)) {
            known->id = value;
        }

        if (tg_json_body_eq_text(key, TG_STR("kind"))) {
            known->kind = value;
        }

        if (tg_json_body_eq_text(key, TG_STR("method"))) {
            known->method = value;
        }
    } while (tg_json_next_member(&json, &key) == TG_OK);

    known->is_response &= !known->is_request;

    return TG_OK;
}

/* Finds the id if it begins the outermost object's last members. */
static int
tg_message_parse_end(tg_str_t members, tg_str_t *id)
{
    tg_str_t key, value;
    tg_json_cursor_t json;
    int rc;

    tg_json_init(&json, members);
    json.depth = 1;
    json.is_first_entry = 1;

    if (tg_json_next_member(&json, &key) != TG_OK
        || tg_json_read_value(&json, &value) != TG_OK
        || !tg_message_is_id(&json, key, value))
    {
        return 0;
    }

    *id = value;

    while ((rc = tg_json_next_member(&json, &key)) == TG_OK
           && tg_json_read_value(&json, NULL) == TG_OK)
    {
        /* void */
    }

    return rc == TG_END && tg_json_expect_end(&json) == TG_OK;
}

int
tg_message_find_tail_id(tg_str_t tail, tg_str_t *id)
{
    tg_str_t found;
    size_t i;

    /* Strings escape quotes, so "id" is a key or a whole string. */
    for (i = tail.len; i-- != 0; /* void */) {
        if (tail.data[i] == '"' && tail.len - i > 4
            && memcmp(tail.data + i, "\"id\"", 4) == 0
            && tg_message_parse_end(tg_str_skip(tail, i), &found))
        {
            *id = found;
            return TG_OK;
        }
    }

    return TG_MISSING;
}
