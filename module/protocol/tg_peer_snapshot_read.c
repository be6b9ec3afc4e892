/* Reading the values of a saved peer. */
#include "base/tg_utf8.h"
#include "protocol/tg_peer_snapshot_impl.h"

tg_str_t
tg_snapshot_read_bytes(tg_snapshot_reader_t *state, uint64_t size)
{
    tg_str_t bytes;

    if (size > state->left.len) {
        state->is_bad = 1;
        state->left.len = 0;
        return TG_STR("");
    }

    bytes = tg_str(state->left.data, (size_t) size);
    state->left = tg_str(bytes.data + size, state->left.len - bytes.len);

    return bytes;
}

uint64_t
tg_snapshot_read_number(tg_snapshot_reader_t *state, unsigned size)
{
    uint64_t value;
    tg_str_t bytes;
    size_t i;

    bytes = tg_snapshot_read_bytes(state, size);
    value = 0;

    for (i = 0; i < bytes.len; i++) {
        value = value << 8 | (unsigned char) bytes.data[i];
    }

    return value;
}

tg_str_t
tg_snapshot_read_str(tg_snapshot_reader_t *state)
{
    uint64_t len;

    len = tg_snapshot_read_number(state, 4);

    return len == TG_SNAPSHOT_ABSENT ? TG_STR_NONE
                                     : tg_snapshot_read_bytes(state, len);
}

unsigned
tg_snapshot_read_enum(tg_snapshot_reader_t *state, unsigned last)
{
    uint64_t value;

    value = tg_snapshot_read_number(state, 1);

    if (value > last) {
        state->is_bad = 1;
        return 0;
    }

    return (unsigned) value;
}

unsigned
tg_snapshot_read_count(tg_snapshot_reader_t *state, size_t least)
{
    uint64_t n;

    n = tg_snapshot_read_number(state, 4);

    if (n > state->left.len / least) {
        state->is_bad = 1;
        return 0;
    }

    return (unsigned) n;
}

tg_str_t
tg_snapshot_read_json(tg_snapshot_reader_t *state, int is_scalar)
{
    tg_json_type_t type;
    tg_str_t raw;

    raw = tg_snapshot_read_str(state);

    if (raw.data == NULL) {
        return raw;
    }

    type = tg_json_type(raw);

    /* Raw values have no leading white space: the first byte shows the type. */
    if (type == TG_JSON_NONE || tg_json_validate(raw, NULL) != TG_OK
        || (is_scalar && type != TG_JSON_STRING && type != TG_JSON_NUMBER
            && type != TG_JSON_NULL))
    {
        state->is_bad = 1;
    }

    return raw;
}

tg_str_t
tg_snapshot_read_id(tg_snapshot_reader_t *state)
{
    tg_str_t id;

    id = tg_snapshot_read_json(state, 1);
    state->is_bad |= id.len > TG_REQUEST_ID_MAX;

    return id;
}

tg_str_t
tg_snapshot_read_body(tg_snapshot_reader_t *state)
{
    tg_str_t body;
    tg_buf_t raw;

    body = tg_snapshot_read_str(state);

    if (body.data != NULL) {
        tg_buf_init(&raw, tg_alloc_libc());
        tg_buf_append_char(&raw, '"');
        tg_buf_append_str(&raw, body);
        tg_buf_append_char(&raw, '"');
        state->is_bad |= tg_buf_has_failed(&raw)
                         || tg_json_validate(tg_buf_view(&raw), NULL) != TG_OK;
        tg_buf_deinit(&raw);
    }

    return body;
}

tg_str_t
tg_snapshot_read_text(tg_snapshot_reader_t *state, size_t most)
{
    tg_str_t text;

    text = tg_snapshot_read_str(state);
    state->is_bad |= text.len > most || !tg_utf8_is_valid(text);

    return text;
}
