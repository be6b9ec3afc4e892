/* Writes the members of a JSON object. */
#include "base/tg_json.h"

static int
tg_json_needs_comma(const tg_buf_t *json)
{
    return json->len != 0
           && memchr("{[,:", json->data[json->len - 1], 4) == NULL;
}

void
tg_json_begin_element(tg_buf_t *json)
{
    if (tg_json_needs_comma(json)) {
        tg_buf_append_char(json, ',');
    }
}

void
tg_json_begin_object(tg_buf_t *json)
{
    tg_json_begin_element(json);
    tg_buf_append_char(json, '{');
}

void
tg_json_begin_member(tg_buf_t *json, const char *key)
{
    size_t len;
    char *p;

    len = strlen(key);
    p = tg_buf_reserve_space(json, len + 4);

    if (p == NULL) {
        return;
    }

    if (tg_json_needs_comma(json)) {
        *p++ = ',';
    }

    *p++ = '"';
    memcpy(p, key, len);
    p += len;
    *p++ = '"';
    *p++ = ':';
    json->len = (size_t) (p - json->data);
}

void
tg_json_begin_raw_member(tg_buf_t *json, tg_str_t body)
{
    tg_json_begin_element(json);
    tg_buf_append_char(json, '"');
    tg_buf_append_str(json, body);
    tg_buf_append_cstr(json, "\":");
}

void
tg_json_add_string(tg_buf_t *json, const char *key, tg_str_t text)
{
    tg_json_begin_member(json, key);
    tg_json_write_string(json, text);
}

void
tg_json_add_cstr(tg_buf_t *json, const char *key, const char *text)
{
    tg_json_add_string(json, key, tg_str_from_cstr(text));
}

void
tg_json_add_optional(tg_buf_t *json, const char *key, tg_str_t text)
{
    if (text.data != NULL) {
        tg_json_add_string(json, key, text);
    }
}

void
tg_json_add_uint(tg_buf_t *json, const char *key, uint64_t value)
{
    tg_json_begin_member(json, key);
    tg_buf_append_uint(json, value);
}

void
tg_json_add_int(tg_buf_t *json, const char *key, int64_t value)
{
    tg_json_begin_member(json, key);
    tg_buf_append_int(json, value);
}

void
tg_json_add_bool(tg_buf_t *json, const char *key, int value)
{
    tg_json_begin_member(json, key);
    tg_buf_append_cstr(json, value ? "true" : "false");
}

void
tg_json_add_raw(tg_buf_t *json, const char *key, tg_str_t raw)
{
    if (raw.data != NULL) {
        tg_json_begin_member(json, key);
        tg_buf_append_str(json, raw);
    }
}

void
tg_json_add_compact(tg_buf_t *json, const char *key, tg_str_t raw)
{
    if (raw.data != NULL) {
        tg_json_begin_member(json, key);
        tg_json_write_compact(json, raw);
    }
}
