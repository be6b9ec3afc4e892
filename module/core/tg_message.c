/*
 * One pass over the text.  Each object that the protocols name has a table
 * of its known members; a member that is an object with a table of its own
 * is walked, everything else is passed as a whole.
 */
#include "core/tg_message.h"

typedef struct tg_shape_s tg_shape_t;

typedef struct {
    const char *key;
    size_t len;
    size_t offset;           /* of the slice in tg_message_t */
    const tg_shape_t *shape; /* of an object that is walked, or NULL */
    int is_noted;            /* an object whose members are noted */
} tg_member_t;

struct tg_shape_s {
    const tg_member_t *members;
    size_t n;
};

#define TG_MEMBER(key, field, shape)                                           \
    {                                                                          \
        key, sizeof(key) - 1, offsetof(tg_message_t, field), shape, 0          \
    }
#define TG_MEMBER_NOTED(key, field)                                            \
    {                                                                          \
        key, sizeof(key) - 1, offsetof(tg_message_t, field), NULL, 1           \
    }
#define TG_SHAPE(members)                                                      \
    {                                                                          \
        members, sizeof(members) / sizeof((members)[0])                        \
    }

static const tg_member_t tg_meta_members[] = {
    TG_MEMBER("progressToken", meta.progress_token, NULL),
    TG_MEMBER("io.modelcontextprotocol/protocolVersion", meta.protocol_version,
              NULL),
    TG_MEMBER("io.modelcontextprotocol/clientCapabilities",
              meta.client_capabilities, NULL),
    TG_MEMBER("io.modelcontextprotocol/subscriptionId", meta.subscription_id,
              NULL),
};

static const tg_shape_t tg_meta_shape = TG_SHAPE(tg_meta_members);

static const tg_member_t tg_filter_members[] = {
    TG_MEMBER("toolsListChanged", p.tools_list_changed, NULL),
};

static const tg_shape_t tg_filter_shape = TG_SHAPE(tg_filter_members);

static const tg_member_t tg_params_members[] = {
    TG_MEMBER("name", p.name, NULL),
    TG_MEMBER_NOTED("arguments", p.arguments),
    TG_MEMBER("_meta", p.meta, &tg_meta_shape),
    TG_MEMBER("cursor", p.cursor, NULL),
    TG_MEMBER("protocolVersion", p.protocol_version, NULL),
    TG_MEMBER("requestId", p.request_id, NULL),
    TG_MEMBER("id", p.id, NULL),
    TG_MEMBER("notifications", p.notifications, &tg_filter_shape),
    TG_MEMBER("progressToken", p.progress_token, NULL),
    TG_MEMBER("progress", p.progress, NULL),
    TG_MEMBER("total", p.total, NULL),
    TG_MEMBER("message", p.message, NULL),
};

static const tg_shape_t tg_params_shape = TG_SHAPE(tg_params_members);

static const tg_member_t tg_error_members[] = {
    TG_MEMBER("code", e.code, NULL),
    TG_MEMBER("message", e.message, NULL),
    TG_MEMBER("data", e.data, NULL),
    TG_MEMBER("type", e.type, NULL),
};

static const tg_shape_t tg_error_shape = TG_SHAPE(tg_error_members);

static const tg_member_t tg_envelope_members[] = {
    TG_MEMBER("jsonrpc", jsonrpc, NULL),
    TG_MEMBER("id", id, NULL),
    TG_MEMBER("method", method, NULL),
    TG_MEMBER("params", params, &tg_params_shape),
    TG_MEMBER("result", result, NULL),
    TG_MEMBER("error", error, &tg_error_shape),
    TG_MEMBER("kind", kind, NULL),
    TG_MEMBER("reason", reason, NULL),
    TG_MEMBER("message", message, NULL),
};

static const tg_shape_t tg_envelope_shape = TG_SHAPE(tg_envelope_members);

static const tg_member_t *
tg_shape_find(const tg_shape_t *shape, tg_str_t key, unsigned escapes)
{
    const tg_member_t *member;
    size_t i;

    for (i = 0; i < shape->n; i++) {
        member = &shape->members[i];

        if (escapes != 0
                ? tg_json_body_is(key, tg_str(member->key, member->len))
                : key.len == member->len
                      && memcmp(key.data, member->key, key.len) == 0)
        {
            return member;
        }
    }

    return NULL;
}

static int
tg_message_object(tg_message_t *message, tg_json_t *json,
                  const tg_shape_t *shape, tg_str_t *whole)
{
    const tg_member_t *member;
    tg_str_t key, *field;
    const char *start;
    int rc;

    start = json->pos;
    rc = tg_json_object(json);

    while (rc == TG_OK) {
        rc = tg_json_member(json, &key);

        if (rc != TG_OK) {
            break;
        }

        member = tg_shape_find(shape, key, json->escapes);

        if (member == NULL) {
            rc = tg_json_value(json, NULL);
            continue;
        }

        field = (tg_str_t *) (void *) ((char *) message + member->offset);

        if (field->data != NULL) {
            message->has_duplicate = 1;
        }

        /* At most params, _meta: the tables do not nest deeper. */
        if (member->shape != NULL && tg_json_is_at(json, '{')) {
            rc = tg_message_object(message, json, member->shape, field);
        } else if (member->is_noted && tg_json_is_at(json, '{')) {
            rc = tg_json_note(json, &message->notes, field);
        } else {
            rc = tg_json_value(json, field);
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    *whole = tg_str(start, (size_t) (json->pos - start));

    return TG_OK;
}

int
tg_message_parse(tg_message_t *message, tg_str_t text)
{
    tg_json_t json;
    int rc;

    /* Notes are found by their number. */
    memset(message, 0, offsetof(tg_message_t, notes));
    message->notes.n = 0;
    tg_json_init(&json, text);
    message->type = tg_json_peek(&json);

    if (message->type == TG_JSON_OBJECT) {
        rc = tg_message_object(message, &json, &tg_envelope_shape,
                               &message->text);
    } else {
        rc = tg_json_value(&json, &message->text);
    }

    if (rc == TG_OK) {
        rc = tg_json_end(&json);
    }

    message->why = json.why;

    return rc;
}
