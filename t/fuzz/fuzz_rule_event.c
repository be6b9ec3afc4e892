/*
 * Checks texts with fields: the output is that of a simple implementation, has
 * no NUL, and is bounded.
 *
 * Input: two bytes for the bound, the text, newline, an event.
 */
#include "help.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "rule/tg_event.h"

#define EVENT_NUL "\xef\xbf\xbd"

static int
event_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* Appends the text that a value is replaced with. */
static void
event_value(tg_buf_t *out, tg_str_t value)
{
    HELP_BUFFER(text);
    size_t i;

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_append_unescaped(&text, tg_json_string_body(value));
    } else {
        tg_json_write_compact(&text, value);
    }

    FUZZ(text.len <= TG_EVENT_VALUE_MAX);

    for (i = 0; i < text.len; i++) {
        if (text.data[i] == '\0') {
            tg_buf_append_cstr(out, EVENT_NUL);
        } else {
            tg_buf_append_char(out, text.data[i]);
        }
    }
}

/* Expands fields character by character. */
static void
event_plain(tg_buf_t *out, tg_str_t text, tg_str_t event)
{
    tg_str_t value;
    size_t i, end;

    for (i = 0; i < text.len; i++) {
        if (i + 1 < text.len && text.data[i] == '{' && text.data[i + 1] == '{')
        {
            for (end = i + 2; end < text.len && event_is_name(text.data[end]);
                 end++) {
                /* void */
            }

            if (end > i + 2 && end + 1 < text.len && text.data[end] == '}'
                && text.data[end + 1] == '}'
                && tg_event_get_field(
                       event, tg_str(text.data + i + 2, end - i - 2), &value)
                       == TG_OK)
            {
                event_value(out, value);
                i = end + 1;
                continue;
            }
        }

        tg_buf_append_char(out, text.data[i]);
    }
}

FUZZ_TARGET(in)
{
    HELP_BUFFER(out);
    HELP_BUFFER(plain);
    tg_str_t text, event;
    size_t most;
    char *copy;
    int rc;

    most = fuzz_byte(&in) * 256;
    most += fuzz_byte(&in);
    text = fuzz_until_newline(&in);
    event = fuzz_rest(&in);

    if (!tg_utf8_is_valid(text) || memchr(text.data, '\0', text.len) != NULL
        || tg_json_type(event) != TG_JSON_OBJECT
        || tg_json_validate(event, NULL) != TG_OK)
    {
        return;
    }

    copy = help_copy(text);
    rc = tg_event_render_template(&out, tg_str(copy, text.len), event, most);
    free(copy);
    event_plain(&plain, text, event);
    FUZZ(rc == (plain.len > most ? TG_LIMIT : TG_OK));

    if (rc == TG_OK) {
        FUZZ_EQ(tg_buf_view(&out), tg_buf_view(&plain));
        FUZZ(tg_utf8_is_valid(tg_buf_view(&out)));
        FUZZ(out.len == 0 || memchr(out.data, '\0', out.len) == NULL);
    }
}
