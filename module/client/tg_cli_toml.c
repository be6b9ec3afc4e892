#include "client/tg_cli_toml.h"

void
tg_cli_toml_init(tg_cli_toml_t *toml, tg_str_t text)
{
    toml->start = text.data;
    toml->pos = text.data;
    toml->end = text.data + text.len;
    toml->why = NULL;
}

unsigned
tg_cli_toml_line(const tg_cli_toml_t *toml)
{
    const char *p;
    unsigned n;

    n = 1;

    for (p = toml->start; p < toml->pos; p++) {
        n += *p == '\n';
    }

    return n;
}

static int
tg_cli_toml_bad(tg_cli_toml_t *toml, const char *why)
{
    toml->why = why;

    return TG_BAD;
}

/* The byte at pos plus n, or 0 behind the end (no text has one inside). */
static char
tg_cli_toml_at(const tg_cli_toml_t *toml, size_t n)
{
    return (size_t) (toml->end - toml->pos) > n ? toml->pos[n] : '\0';
}

static int
tg_cli_toml_starts(const tg_cli_toml_t *toml, const char *with)
{
    size_t len;

    len = strlen(with);

    return (size_t) (toml->end - toml->pos) >= len
           && memcmp(toml->pos, with, len) == 0;
}

static void
tg_cli_toml_blanks(tg_cli_toml_t *toml)
{
    while (tg_cli_toml_at(toml, 0) == ' ' || tg_cli_toml_at(toml, 0) == '\t') {
        toml->pos++;
    }
}

static void
tg_cli_toml_comment(tg_cli_toml_t *toml)
{
    if (tg_cli_toml_at(toml, 0) == '#') {
        while (toml->pos < toml->end && *toml->pos != '\n') {
            toml->pos++;
        }
    }
}

/* Blanks, comments and line ends, in any number. */
static void
tg_cli_toml_space(tg_cli_toml_t *toml)
{
    const char *before;

    do {
        before = toml->pos;
        tg_cli_toml_blanks(toml);
        tg_cli_toml_comment(toml);

        if (tg_cli_toml_at(toml, 0) == '\n' || tg_cli_toml_starts(toml, "\r\n"))
        {
            toml->pos += *toml->pos == '\r' ? 2 : 1;
        }
    } while (toml->pos != before);
}

/* --- strings --- */

static int
tg_cli_toml_is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')
           || (c >= 'A' && c <= 'F');
}

/* pos is behind the backslash of a "…" or """…""". */
static int
tg_cli_toml_escape(tg_cli_toml_t *toml, int is_multi)
{
    size_t n, i;
    char c;

    c = tg_cli_toml_at(toml, 0);

    if (c == 'u' || c == 'U') {
        n = c == 'u' ? 4 : 8;

        for (i = 1; i <= n; i++) {
            if (!tg_cli_toml_is_hex(tg_cli_toml_at(toml, i))) {
                return tg_cli_toml_bad(toml, "unknown escape in a string");
            }
        }

        toml->pos += n + 1;
        return TG_OK;
    }

    if (c != '\0' && strchr("btnfre\"\\", c) != NULL) {
        toml->pos++;
        return TG_OK;
    }

    if (is_multi) {
        tg_cli_toml_blanks(toml);

        if (tg_cli_toml_at(toml, 0) == '\n' || tg_cli_toml_starts(toml, "\r\n"))
        {
            return TG_OK;
        }
    }

    return tg_cli_toml_bad(toml, "unknown escape in a string");
}

/* Three quotes end it, but up to two more may belong to the text. */
static int
tg_cli_toml_multi(tg_cli_toml_t *toml, char quote)
{
    const char closing[] = { quote, quote, quote, '\0' };
    int i;

    toml->pos += 3;

    while (toml->pos < toml->end) {
        if (tg_cli_toml_starts(toml, closing)) {
            toml->pos += 3;

            for (i = 0; i < 2 && tg_cli_toml_at(toml, 0) == quote; i++) {
                toml->pos++;
            }

            return TG_OK;
        }

        if (*toml->pos++ == '\\' && quote == '"'
            && tg_cli_toml_escape(toml, 1) != TG_OK)
        {
            return TG_BAD;
        }
    }

    return tg_cli_toml_bad(toml, "a string is not closed");
}

/* A string of any kind; multi-line ones not where a key stands. */
static int
tg_cli_toml_string(tg_cli_toml_t *toml, int is_key)
{
    char quote, c;

    quote = *toml->pos;

    if (!is_key && tg_cli_toml_at(toml, 1) == quote
        && tg_cli_toml_at(toml, 2) == quote)
    {
        return tg_cli_toml_multi(toml, quote);
    }

    toml->pos++;

    while (toml->pos < toml->end) {
        c = *toml->pos;

        if (c == '\n' || c == '\r') {
            break;
        }

        toml->pos++;

        if (c == quote) {
            return TG_OK;
        }

        if (c == '\\' && quote == '"' && tg_cli_toml_escape(toml, 0) != TG_OK) {
            return TG_BAD;
        }
    }

    return tg_cli_toml_bad(toml, "a string is not closed");
}

/* --- keys --- */

static int
tg_cli_toml_is_bare(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')
           || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

static int
tg_cli_toml_part(tg_cli_toml_t *toml, tg_str_t *part)
{
    const char *start;

    start = toml->pos;

    if (tg_cli_toml_at(toml, 0) == '"' || tg_cli_toml_at(toml, 0) == '\'') {
        if (tg_cli_toml_string(toml, 1) != TG_OK) {
            return TG_BAD;
        }

    } else {
        while (tg_cli_toml_is_bare(tg_cli_toml_at(toml, 0))) {
            toml->pos++;
        }

        if (toml->pos == start) {
            return tg_cli_toml_bad(toml, "a key is missing");
        }
    }

    *part = tg_str(start, (size_t) (toml->pos - start));

    return TG_OK;
}

/* a.b."c d", with the blanks around it. */
static int
tg_cli_toml_key(tg_cli_toml_t *toml, tg_cli_toml_key_t *key)
{
    tg_str_t part;

    key->count = 0;

    for (;;) {
        tg_cli_toml_blanks(toml);

        if (tg_cli_toml_part(toml, &part) != TG_OK) {
            return TG_BAD;
        }

        if (key->count < TG_CLI_TOML_PARTS) {
            key->parts[key->count] = part;
        }

        key->count++;
        tg_cli_toml_blanks(toml);

        if (tg_cli_toml_at(toml, 0) != '.') {
            return TG_OK;
        }

        toml->pos++;
    }
}

/* --- values --- */

static int tg_cli_toml_value(tg_cli_toml_t *toml, int depth);

static int
tg_cli_toml_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* true, 1_000, -0.5e3, 1979-05-27 07:32:00Z, nan … */
static int
tg_cli_toml_plain(tg_cli_toml_t *toml)
{
    static const char *const words[] = { "true", "false", "inf", "nan" };
    const char *start;
    size_t i, len;

    start = toml->pos;

    while (tg_cli_toml_is_bare(tg_cli_toml_at(toml, 0))
           || tg_cli_toml_at(toml, 0) == '+' || tg_cli_toml_at(toml, 0) == '.'
           || tg_cli_toml_at(toml, 0) == ':')
    {
        toml->pos++;

        /* A date and a time may have one blank between them. */
        if (toml->pos - start == 10 && start[4] == '-' && start[7] == '-'
            && tg_cli_toml_at(toml, 0) == ' '
            && tg_cli_toml_is_digit(tg_cli_toml_at(toml, 1)))
        {
            toml->pos++;
        }
    }

    len = (size_t) (toml->pos - start);

    if (len > 1 && (*start == '+' || *start == '-')) {
        start++;
        len--;
    }

    if (len != 0 && tg_cli_toml_is_digit(*start)) {
        return TG_OK;
    }

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_str_eq(tg_str(start, len), tg_str_c(words[i]))) {
            return TG_OK;
        }
    }

    toml->pos = start;

    return tg_cli_toml_bad(toml, "a value is missing or has no quotes");
}

int
tg_cli_toml_element(tg_cli_toml_t *toml, tg_str_t *value)
{
    const char *start;

    tg_cli_toml_space(toml);

    if (toml->pos == toml->end) {
        return TG_END;
    }

    start = toml->pos;

    if (tg_cli_toml_value(toml, 0) != TG_OK) {
        return TG_BAD;
    }

    *value = tg_str(start, (size_t) (toml->pos - start));
    tg_cli_toml_space(toml);

    if (tg_cli_toml_at(toml, 0) == ',') {
        toml->pos++;
    }

    return TG_OK;
}

static int
tg_cli_toml_array(tg_cli_toml_t *toml, int depth)
{
    toml->pos++;

    for (;;) {
        tg_cli_toml_space(toml);

        if (tg_cli_toml_at(toml, 0) == ']') {
            toml->pos++;
            return TG_OK;
        }

        if (tg_cli_toml_value(toml, depth) != TG_OK) {
            return TG_BAD;
        }

        tg_cli_toml_space(toml);

        if (tg_cli_toml_at(toml, 0) == ',') {
            toml->pos++;
        } else if (tg_cli_toml_at(toml, 0) != ']') {
            return tg_cli_toml_bad(toml, "an array is not closed");
        }
    }
}

static int
tg_cli_toml_pair(tg_cli_toml_t *toml, tg_cli_toml_key_t *key, tg_str_t *value,
                 int depth)
{
    const char *start;

    if (tg_cli_toml_key(toml, key) != TG_OK) {
        return TG_BAD;
    }

    if (tg_cli_toml_at(toml, 0) != '=') {
        return tg_cli_toml_bad(toml, "an equals sign is missing");
    }

    toml->pos++;
    tg_cli_toml_blanks(toml);
    start = toml->pos;

    if (tg_cli_toml_value(toml, depth) != TG_OK) {
        return TG_BAD;
    }

    *value = tg_str(start, (size_t) (toml->pos - start));

    return TG_OK;
}

static int
tg_cli_toml_inline(tg_cli_toml_t *toml, int depth)
{
    tg_cli_toml_key_t key;
    tg_str_t value;

    toml->pos++;

    for (;;) {
        tg_cli_toml_space(toml);

        if (tg_cli_toml_at(toml, 0) == '}') {
            toml->pos++;
            return TG_OK;
        }

        if (tg_cli_toml_pair(toml, &key, &value, depth) != TG_OK) {
            return TG_BAD;
        }

        tg_cli_toml_space(toml);

        if (tg_cli_toml_at(toml, 0) == ',') {
            toml->pos++;
        } else if (tg_cli_toml_at(toml, 0) != '}') {
            return tg_cli_toml_bad(toml, "an inline table is not closed");
        }
    }
}

static int
tg_cli_toml_value(tg_cli_toml_t *toml, int depth)
{
    if (depth == TG_CLI_TOML_DEPTH) {
        return tg_cli_toml_bad(toml, "values nest too deep");
    }

    switch (tg_cli_toml_at(toml, 0)) {
    case '"':
    case '\'':
        return tg_cli_toml_string(toml, 0);
    case '[':
        return tg_cli_toml_array(toml, depth + 1);
    case '{':
        return tg_cli_toml_inline(toml, depth + 1);
    default:
        return tg_cli_toml_plain(toml);
    }
}

/* --- lines --- */

static int
tg_cli_toml_header(tg_cli_toml_t *toml, tg_cli_toml_item_t *item)
{
    item->kind = tg_cli_toml_at(toml, 1) == '[' ? TG_CLI_TOML_TABLES
                                                : TG_CLI_TOML_TABLE;
    toml->pos += item->kind == TG_CLI_TOML_TABLES ? 2 : 1;

    if (tg_cli_toml_key(toml, &item->key) != TG_OK) {
        return TG_BAD;
    }

    if (!tg_cli_toml_starts(toml,
                            item->kind == TG_CLI_TOML_TABLES ? "]]" : "]")) {
        return tg_cli_toml_bad(toml, "a header is not closed");
    }

    toml->pos += item->kind == TG_CLI_TOML_TABLES ? 2 : 1;

    return TG_OK;
}

/* What follows an item on its line: nothing but a comment. */
static int
tg_cli_toml_line_end(tg_cli_toml_t *toml)
{
    tg_cli_toml_blanks(toml);
    tg_cli_toml_comment(toml);

    if (tg_cli_toml_starts(toml, "\r\n")) {
        toml->pos++;
    }

    if (toml->pos == toml->end) {
        return TG_OK;
    }

    if (*toml->pos != '\n') {
        return tg_cli_toml_bad(toml, "something follows on the line");
    }

    toml->pos++;

    return TG_OK;
}

int
tg_cli_toml_next(tg_cli_toml_t *toml, tg_cli_toml_item_t *item)
{
    int rc;

    tg_cli_toml_space(toml);

    if (toml->pos == toml->end) {
        return TG_END;
    }

    if (*toml->pos == '[') {
        item->value = TG_STR_NONE;
        rc = tg_cli_toml_header(toml, item);
    } else {
        item->kind = TG_CLI_TOML_PAIR;
        rc = tg_cli_toml_pair(toml, &item->key, &item->value, 0);
    }

    if (rc != TG_OK || tg_cli_toml_line_end(toml) != TG_OK) {
        return TG_BAD;
    }

    item->next = toml->pos;

    return TG_OK;
}
