/* Fields of events, and templates. */
#include "rule/tg_event.h"

#include "base/tg_json.h"

static int
tg_event_get_element(tg_str_t array, tg_str_t name, tg_str_t *value)
{
    tg_json_cursor_t each;
    size_t i, n;

    if (name.len == 0) {
        return TG_MISSING;
    }

    for (i = 0, n = 0; i < name.len; i++) {
        if (!tg_is_digit(name.data[i]) || n > 1000000) {
            return TG_MISSING;
        }

        n = n * 10 + (size_t) (name.data[i] - '0');
    }

    for (tg_json_iter_init(&each, array); tg_json_iter_next(&each, value); n--)
    {
        if (n == 0) {
            return TG_OK;
        }
    }

    return TG_MISSING;
}

static int
tg_event_resolve_path(tg_str_t value, tg_str_t field, tg_str_t *found)
{
    const char *dot;
    tg_str_t name;
    int rc;

    for (;;) {
        dot = memchr(field.data, '.', field.len);
        name = dot != NULL ? tg_str(field.data, (size_t) (dot - field.data))
                           : field;

        switch (tg_json_type(value)) {
        case TG_JSON_OBJECT:
            rc = tg_json_get_member(value, name, &value);
            break;
        case TG_JSON_ARRAY:
            rc = tg_event_get_element(value, name, &value);
            break;
        default:
            rc = TG_MISSING;
        }

        if (rc != TG_OK) {
            return rc;
        }

        if (dot == NULL) {
            *found = value;
            return TG_OK;
        }

        field = tg_str(dot + 1, field.len - name.len - 1);
    }
}

int
tg_event_get_field(tg_str_t event, tg_str_t field, tg_str_t *value)
{
    tg_str_t payload;

    if (tg_event_resolve_path(event, field, value) == TG_OK) {
        return TG_OK;
    }

    return tg_json_get_member(event, TG_STR("payload"), &payload) == TG_OK
               ? tg_event_resolve_path(payload, field, value)
               : TG_MISSING;
}

/* Returns the {{field}} at the start of text; len 0: none. */
static tg_str_t
tg_event_parse_placeholder(tg_str_t text)
{
    const char *p, *end;

    end = tg_str_end(text);

    for (p = text.data + 2;
         p < end
         && (tg_is_alpha(*p) || tg_is_digit(*p) || tg_is_one_of(*p, "_-."));
         p++)
    {
        /* void */
    }

    return end - p >= 2 && p[0] == '}' && p[1] == '}'
               ? tg_str(text.data + 2, (size_t) (p - text.data - 2))
               : TG_STR("");
}

/* Truncates the value after a whole character. */
static void
tg_event_truncate_value(tg_buf_t *out, size_t start)
{
    size_t len;

    if (out->len - start <= TG_EVENT_VALUE_MAX || tg_buf_has_failed(out)) {
        return;
    }

    len = start + TG_EVENT_VALUE_MAX;

    while (len > start && ((unsigned char) out->data[len] & 0xc0) == 0x80) {
        len--;
    }

    tg_buf_truncate(out, len);
}

static void
tg_event_replace_nuls(tg_buf_t *out, size_t start)
{
    static const char instead[] = "\xef\xbf\xbd";
    size_t i, n, at;

    if (tg_buf_has_failed(out)) {
        return;
    }

    for (i = start, n = 0; i < out->len; i++) {
        n += out->data[i] == '\0';
    }

    if (n == 0 || tg_buf_reserve(out, 2 * n) != TG_OK) {
        return;
    }

    /* Go backwards, so that each byte moves once. */
    at = out->len + 2 * n;
    i = out->len;
    out->len = at;

    while (at != i) {
        if (out->data[--i] != '\0') {
            out->data[--at] = out->data[i];
        } else {
            at -= 3;
            memcpy(out->data + at, instead, 3);
        }
    }
}

static void
tg_event_append_value(tg_buf_t *out, tg_str_t value)
{
    size_t start;

    start = out->len;

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_append_unescaped(out, tg_json_string_body(value));
    } else {
        tg_json_write_compact(out, value);
    }

    tg_event_truncate_value(out, start);
    tg_event_replace_nuls(out, start);
}

int
tg_event_render_template(tg_buf_t *out, tg_str_t text, tg_str_t event,
                         size_t max)
{
    const char *p, *end, *start;
    tg_str_t field, value;
    size_t before;

    before = out->len;
    end = tg_str_end(text);
    start = text.data;

    for (p = text.data; p < end; p++) {
        if (end - p < 5 || p[0] != '{' || p[1] != '{') {
            continue;
        }

        field = tg_event_parse_placeholder(tg_str(p, (size_t) (end - p)));

        if (field.len == 0 || tg_event_get_field(event, field, &value) != TG_OK)
        {
            continue;
        }

        tg_buf_append(out, start, (size_t) (p - start));
        tg_event_append_value(out, value);
        start = field.data + field.len + 2;
        p = start - 1;

        if (out->len - before > max) {
            return TG_LIMIT;
        }
    }

    tg_buf_append(out, start, (size_t) (end - start));

    return out->len - before > max ? TG_LIMIT : TG_OK;
}

int
tg_event_take_placeholder(tg_str_t *text, tg_str_t *field)
{
    for (/* void */; text->len >= 5; text->data++, text->len--) {
        if (text->data[0] != '{' || text->data[1] != '{') {
            continue;
        }

        *field = tg_event_parse_placeholder(*text);

        if (field->len != 0) {
            *text = tg_str_skip(*text, field->len + 4);
            return 1;
        }
    }

    return 0;
}
