/*
 * What TOML's strings stand for.  They were passed by the cursor before.
 */
#include "client/tg_cli_toml.h"

#include "base/tg_utf8.h"

/* A backslash at the end of a line takes all white space that follows. */
static const char *
tg_cli_toml_skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) {
        p++;
    }

    return p;
}

static const char *
tg_cli_toml_put_code(tg_buf_t *out, const char *p, size_t digits)
{
    char text[4];
    uint32_t code;
    size_t i, len;
    char c;

    code = 0;

    for (i = 0; i < digits; i++) {
        c = p[i];
        code = code << 4
               | (uint32_t) (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }

    if (code <= 0x10ffff) {
        len = tg_utf8_encode(text, code);
        tg_buf_put(out, text, len);
    }

    return p + digits;
}

/* p is behind the backslash. */
static const char *
tg_cli_toml_put_escape(tg_buf_t *out, const char *p, const char *end)
{
    static const char from[] = "btnfre\"\\";
    static const char to[] = "\b\t\n\f\r\x1b\"\\";
    const char *at;

    if (*p == 'u' || *p == 'U') {
        return tg_cli_toml_put_code(out, p + 1, *p == 'u' ? 4 : 8);
    }

    at = strchr(from, *p);

    if (at == NULL) {
        return tg_cli_toml_skip_space(p, end);
    }

    tg_buf_char(out, to[at - from]);

    return p + 1;
}

static void
tg_cli_toml_decode(tg_buf_t *out, tg_str_t raw)
{
    const char *p, *end;
    size_t quotes;
    char quote;

    quote = raw.data[0];
    quotes = raw.len >= 6 && raw.data[1] == quote && raw.data[2] == quote ? 3
                                                                          : 1;
    p = raw.data + quotes;
    end = raw.data + raw.len - quotes;

    /* The newline behind the opening quotes is not part of the text. */
    if (quotes == 3 && p < end && *p == '\r') {
        p++;
    }

    if (quotes == 3 && p < end && *p == '\n') {
        p++;
    }

    while (p < end) {
        if (*p == '\\' && quote == '"') {
            p = tg_cli_toml_put_escape(out, p + 1, end);
        } else {
            tg_buf_char(out, *p++);
        }
    }
}

int
tg_cli_toml_is_text(tg_str_t raw, tg_str_t text)
{
    tg_buf_t buf;
    int is_equal;

    if (raw.len < 2 || (raw.data[0] != '"' && raw.data[0] != '\'')) {
        return 0;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_cli_toml_decode(&buf, raw);
    is_equal = !tg_buf_failed(&buf) && tg_str_eq(tg_buf_view(&buf), text);
    tg_buf_deinit(&buf);

    return is_equal;
}

int
tg_cli_toml_part_is(tg_str_t raw, tg_str_t text)
{
    return tg_str_eq(raw, text) || tg_cli_toml_is_text(raw, text);
}

int
tg_cli_toml_is_list(tg_str_t raw, tg_str_t text)
{
    tg_cli_toml_t toml;
    tg_str_t one;

    if (raw.len < 2 || raw.data[0] != '[') {
        return 0;
    }

    tg_cli_toml_init(&toml, tg_str(raw.data + 1, raw.len - 2));

    return tg_cli_toml_element(&toml, &one) == TG_OK
           && tg_cli_toml_is_text(one, text)
           && tg_cli_toml_element(&toml, &one) == TG_END;
}
