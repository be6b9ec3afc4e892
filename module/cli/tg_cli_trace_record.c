/* Parses the records of a trace file, in MessagePack. */
#include "cli/tg_cli_trace_record.h"

#ifdef TG_HAVE_MSGPACK

#include <msgpack.h>

/* First member of each record: the version of the format. */
#define TG_CLI_TRACE_RECORD_MAGIC "\xa2tg\x01"

int
tg_cli_trace_record_is_supported(void)
{
    return 1;
}

/* Checks for a small map and its first member. */
int
tg_cli_trace_record_is_start(tg_str_t bytes)
{
    size_t n;

    if (bytes.len == 0 || ((unsigned char) bytes.data[0] & 0xf0) != 0x80) {
        return bytes.len == 0;
    }

    n = sizeof(TG_CLI_TRACE_RECORD_MAGIC) - 1;
    n = bytes.len - 1 < n ? bytes.len - 1 : n;

    return memcmp(bytes.data + 1, TG_CLI_TRACE_RECORD_MAGIC, n) == 0;
}

/* Ignores a member that is unknown or of another type. */
static void
tg_cli_trace_record_set_member(tg_cli_trace_record_t *record, tg_str_t key,
                               const msgpack_object *value)
{
    static const struct {
        const char *key;
        size_t number;
        size_t text;
    } members[] = {
        { "time", offsetof(tg_cli_trace_record_t, time), 0 },
        { "worker", offsetof(tg_cli_trace_record_t, worker), 0 },
        { "lost", offsetof(tg_cli_trace_record_t, lost_frames), 0 },
        { "connection", offsetof(tg_cli_trace_record_t, connection), 0 },
        { "client", offsetof(tg_cli_trace_record_t, client), 0 },
        { "size", offsetof(tg_cli_trace_record_t, size), 0 },
        { "direction", 0, offsetof(tg_cli_trace_record_t, direction) },
        { "dialect", 0, offsetof(tg_cli_trace_record_t, dialect) },
        { "body", 0, offsetof(tg_cli_trace_record_t, body) },
    };
    tg_str_t text;
    size_t i;

    text = TG_STR_NONE;

    if (value->type == MSGPACK_OBJECT_STR) {
        text = tg_str(value->via.str.ptr, value->via.str.size);
    } else if (value->type == MSGPACK_OBJECT_BIN) {
        text = tg_str(value->via.bin.ptr, value->via.bin.size);
    }

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (!tg_str_eq(key, tg_str_from_cstr(members[i].key))) {
            continue;
        }

        if (members[i].text != 0 && text.data != NULL) {
            memcpy((char *) record + members[i].text, &text, sizeof(text));

        } else if (members[i].text == 0
                   && value->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        {
            memcpy((char *) record + members[i].number, &value->via.u64,
                   sizeof(value->via.u64));
        }
    }

    if (tg_str_eq(key, TG_STR("cut"))) {
        record->is_truncated = value->type == MSGPACK_OBJECT_BOOLEAN
                               && value->via.boolean;
    }
}

int
tg_cli_trace_record_parse(tg_str_t bytes, tg_cli_trace_record_t *record,
                          size_t *len)
{
    const msgpack_object_kv *member;
    msgpack_unpacked unpacked;
    uint32_t i;
    int rc;

    if (!tg_cli_trace_record_is_start(bytes)) {
        return TG_INVALID;
    }

    /* Fewer bytes could be an empty map, which is not a record. */
    if (bytes.len < sizeof(TG_CLI_TRACE_RECORD_MAGIC)) {
        return TG_AGAIN;
    }

    *len = 0;
    memset(record, 0, sizeof(*record));
    msgpack_unpacked_init(&unpacked);

    switch (msgpack_unpack_next(&unpacked, bytes.data, bytes.len, len)) {
    case MSGPACK_UNPACK_SUCCESS:
    case MSGPACK_UNPACK_EXTRA_BYTES:
        rc = unpacked.data.type == MSGPACK_OBJECT_MAP ? TG_OK : TG_INVALID;
        break;

    case MSGPACK_UNPACK_CONTINUE:
        rc = bytes.len < TG_CLI_TRACE_RECORD_MAX ? TG_AGAIN : TG_INVALID;
        break;

    default:
        rc = TG_INVALID;
    }

    for (i = 0; rc == TG_OK && i < unpacked.data.via.map.size; i++) {
        member = &unpacked.data.via.map.ptr[i];

        if (member->key.type == MSGPACK_OBJECT_STR) {
            tg_cli_trace_record_set_member(record,
                                           tg_str(member->key.via.str.ptr,
                                                  member->key.via.str.size),
                                           &member->val);
        }
    }

    msgpack_unpacked_destroy(&unpacked);

    return rc;
}

#else

int
tg_cli_trace_record_is_supported(void)
{
    return 0;
}

int
tg_cli_trace_record_is_start(tg_str_t bytes)
{
    return 0;
}

int
tg_cli_trace_record_parse(tg_str_t bytes, tg_cli_trace_record_t *record,
                          size_t *len)
{
    return TG_INVALID;
}

#endif
