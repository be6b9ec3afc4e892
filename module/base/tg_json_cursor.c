/*
 * The validating JSON cursor: strings and containers are scanned with SIMD
 * where possible; the rest is short and is read byte by byte.
 */
#include "base/tg_json_impl.h"
#include "base/tg_json_inline.h"

/* Minimum remaining text for SIMD blocks, whose setup takes time. */
#define TG_JSON_SKIP_SIMD_MIN 128

/* Maximum size in bytes of a container that is read without SIMD blocks. */
#define TG_JSON_TINY_MAX 48

void
tg_json_init(tg_json_cursor_t *json, tg_str_t text)
{
    json->start = text.data;
    json->pos = text.data;
    json->end = tg_str_end(text);
    json->depth = 0;
    json->is_first_entry = 0;
    json->escapes = 0;
    json->failed = 0;
    json->why = NULL;
}

static inline const char *
tg_json_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char) *p <= ' '
           && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
    {
        p++;
    }

    return p;
}

const uint8_t tg_json_type_table[256] = {
    ['{'] = TG_JSON_OBJECT, ['['] = TG_JSON_ARRAY,  ['"'] = TG_JSON_STRING,
    ['t'] = TG_JSON_TRUE,   ['f'] = TG_JSON_FALSE,  ['n'] = TG_JSON_NULL,
    ['-'] = TG_JSON_NUMBER, ['0'] = TG_JSON_NUMBER, ['1'] = TG_JSON_NUMBER,
    ['2'] = TG_JSON_NUMBER, ['3'] = TG_JSON_NUMBER, ['4'] = TG_JSON_NUMBER,
    ['5'] = TG_JSON_NUMBER, ['6'] = TG_JSON_NUMBER, ['7'] = TG_JSON_NUMBER,
    ['8'] = TG_JSON_NUMBER, ['9'] = TG_JSON_NUMBER,
};

static inline tg_json_type_t
tg_json_type_of_char(char c)
{
    return (tg_json_type_t) tg_json_type_table[(unsigned char) c];
}

tg_json_type_t
tg_json_peek_type(tg_json_cursor_t *json)
{
    json->pos = tg_json_skip_space(json->pos, json->end);

    return json->pos < json->end ? tg_json_type_of_char(*json->pos)
                                 : TG_JSON_NONE;
}

/* Moves pos from after the opening quote to after the closing one. */
static inline int
tg_json_skip_string(tg_json_cursor_t *json)
{
    const char *p;

    json->escapes = 0;
    p = tg_scan_string_16(json->pos, json->end);

    if (p < json->end && *p == '"') {
        json->pos = p + 1;
        return TG_OK;
    }

    return tg_json_skip_string_rest(json, p);
}

static int
tg_json_skip_scalar(tg_json_cursor_t *json, tg_json_type_t type)
{
    switch (type) {
    case TG_JSON_STRING:
        json->pos++;
        return tg_json_skip_string(json);
    case TG_JSON_NUMBER:
        return tg_json_skip_number(json);
    case TG_JSON_TRUE:
        return tg_json_skip_literal(json, "true", 4);
    case TG_JSON_FALSE:
        return tg_json_skip_literal(json, "false", 5);
    case TG_JSON_NULL:
        return tg_json_skip_literal(json, "null", 4);
    default:
        return tg_json_fail(json, TG_INVALID, "a value is missing");
    }
}

static int
tg_json_enter_container(tg_json_cursor_t *json, tg_json_type_t type)
{
    if (json->failed) {
        return json->failed;
    }

    if ((json->pos == json->end || tg_json_type_of_char(*json->pos) != type)
        && tg_json_peek_type(json) != type)
    {
        return tg_json_fail(json, TG_INVALID, "a value has the wrong type");
    }

    if (json->depth == TG_JSON_MAX_DEPTH) {
        return tg_json_fail(json, TG_LIMIT,
                            "values are nested too deeply (128)");
    }

    json->depth++;
    json->pos++;
    json->is_first_entry = 1;

    return TG_OK;
}

int
tg_json_enter_object(tg_json_cursor_t *json)
{
    return tg_json_enter_container(json, TG_JSON_OBJECT);
}

int
tg_json_enter_array(tg_json_cursor_t *json)
{
    return tg_json_enter_container(json, TG_JSON_ARRAY);
}

/* Moves to the next entry, or leaves the container and returns TG_END. */
static inline int
tg_json_next_entry(tg_json_cursor_t *json, char closing)
{
    const char *p;

    if (json->failed) {
        return json->failed;
    }

    p = tg_json_skip_space(json->pos, json->end);
    json->pos = p;

    if (p == json->end) {
        return tg_json_fail(json, TG_INVALID, "the text ends too early");
    }

    if (*p == closing) {
        json->pos = p + 1;
        json->depth--;
        json->is_first_entry = 0;
        return TG_END;
    }

    if (!json->is_first_entry) {
        if (*p != ',') {
            return tg_json_fail(json, TG_INVALID, "a comma is missing");
        }

        json->pos = tg_json_skip_space(p + 1, json->end);
    }

    json->is_first_entry = 0;

    return TG_OK;
}

int
tg_json_next_member_slow(tg_json_cursor_t *json, tg_str_t *key)
{
    const char *p, *start;
    int rc;

    rc = tg_json_next_entry(json, '}');

    if (rc != TG_OK) {
        return rc;
    }

    p = json->pos;

    if (p == json->end || *p != '"') {
        return tg_json_fail(json, TG_INVALID, "a key is missing");
    }

    start = ++json->pos;
    rc = tg_json_skip_string(json);

    if (rc != TG_OK) {
        return rc;
    }

    *key = tg_str(start, (size_t) (json->pos - 1 - start));
    p = tg_json_skip_space(json->pos, json->end);

    if (p == json->end || *p != ':') {
        json->pos = p;
        return tg_json_fail(json, TG_INVALID, "a colon is missing");
    }

    json->pos = p + 1;

    return TG_OK;
}

int
tg_json_next_member(tg_json_cursor_t *json, tg_str_t *key)
{
    return tg_json_next_member_inline(json, key);
}

int
tg_json_next_element(tg_json_cursor_t *json)
{
    return tg_json_next_entry(json, ']');
}

int
tg_json_read_string(tg_json_cursor_t *json, tg_str_t *body)
{
    tg_str_t raw;
    int rc;

    if (json->failed == 0 && tg_json_peek_type(json) != TG_JSON_STRING) {
        return tg_json_fail(json, TG_INVALID, "a string is missing");
    }

    rc = tg_json_read_value(json, &raw);

    if (rc == TG_OK) {
        *body = tg_json_string_body(raw);
    }

    return rc;
}

/* Tries to skip a container with SIMD. On failure returns 0 and stays. */
static int
tg_json_skip_container_simd(tg_json_cursor_t *json)
{
    const tg_json_simd_t *blocks;
    const char *p;

    blocks = tg_json_simd_get();

    if (json->end - json->pos < TG_JSON_SKIP_SIMD_MIN || blocks == NULL
        || json->depth == TG_JSON_MAX_DEPTH)
    {
        return 0;
    }

    p = blocks->skip_container(json->pos, json->end, json->depth);

    if (p != NULL) {
        json->pos = p;
    }

    return p != NULL;
}

/*
 * Skips the value at pos without recursion. Not inlined: the callers seldom
 * need it, and its variables would enlarge their stack frames.
 */
__attribute__((noinline)) static int
tg_json_skip_value(tg_json_cursor_t *json)
{
    tg_json_type_t type;
    tg_json_stack_t nest;
    tg_str_t key;
    int rc;

    nest = (tg_json_stack_t){ json->depth, json->depth, { 0, 0 } };

    for (;;) {
        type = tg_json_peek_type(json);

        if (type == TG_JSON_OBJECT || type == TG_JSON_ARRAY) {
            rc = tg_json_enter_container(json, type);

            if (rc != TG_OK) {
                return rc;
            }

            tg_json_stack_push(&nest, type == TG_JSON_OBJECT);

        } else {
            rc = tg_json_skip_scalar(json, type);

            if (rc != TG_OK) {
                return rc;
            }
        }

        for (;;) {
            if (json->depth == nest.base) {
                return TG_OK;
            }

            rc = tg_json_stack_is_object(&nest)
                     ? tg_json_next_member(json, &key)
                     : tg_json_next_element(json);

            if (rc == TG_OK) {
                break;
            }

            if (rc != TG_END) {
                return rc;
            }

            tg_json_stack_pop(&nest);
        }
    }
}

/*
 * Skips a container of at most TG_JSON_TINY_MAX bytes, where SIMD blocks would
 * take much longer. Returns 0 if the container is larger or invalid.
 */
static int
tg_json_skip_tiny_container(tg_json_cursor_t *json)
{
    tg_json_cursor_t tiny;

    if (json->end - json->pos < TG_JSON_TINY_MAX
        || memchr(json->pos + 1, *json->pos == '{' ? '}' : ']',
                  TG_JSON_TINY_MAX - 1)
               == NULL)
    {
        return 0;
    }

    tiny = *json;
    tiny.end = tiny.pos + TG_JSON_TINY_MAX;

    if (tg_json_skip_value(&tiny) != TG_OK) {
        return 0;
    }

    json->pos = tiny.pos;

    return 1;
}

int
tg_json_read_value_slow(tg_json_cursor_t *json, tg_str_t *value)
{
    tg_json_type_t type;
    const char *start;
    int rc;

    if (json->failed) {
        return json->failed;
    }

    start = tg_json_skip_space(json->pos, json->end);
    json->pos = start;

    type = start < json->end ? tg_json_type_of_char(*start) : TG_JSON_NONE;

    if (type == TG_JSON_OBJECT || type == TG_JSON_ARRAY) {
        rc = tg_json_skip_tiny_container(json)
                     || tg_json_skip_container_simd(json)
                 ? TG_OK
                 : tg_json_skip_value(json);
    } else {
        rc = tg_json_skip_scalar(json, type);
    }

    if (rc != TG_OK) {
        return rc;
    }

    json->is_first_entry = 0;

    if (value != NULL) {
        *value = tg_str(start, (size_t) (json->pos - start));
    }

    return TG_OK;
}

int
tg_json_read_value(tg_json_cursor_t *json, tg_str_t *value)
{
    return tg_json_read_value_inline(json, value);
}

int
tg_json_expect_end(tg_json_cursor_t *json)
{
    if (json->failed) {
        return json->failed;
    }

    json->pos = tg_json_skip_space(json->pos, json->end);

    if (json->pos != json->end) {
        return tg_json_fail(json, TG_INVALID, "there is text after the value");
    }

    return TG_OK;
}

static int
tg_json_read_whole(tg_json_cursor_t *json, tg_str_t text)
{
    int rc;

    tg_json_init(json, text);
    rc = tg_json_read_value(json, NULL);

    return rc == TG_OK ? tg_json_expect_end(json) : rc;
}

int
tg_json_validate(tg_str_t text, const char **why)
{
    tg_json_cursor_t json;
    int rc;

    rc = tg_json_read_whole(&json, text);

    if (rc != TG_OK && why != NULL) {
        *why = json.why;
    }

    return rc;
}

/* Line and column count characters and start at 1. */
void
tg_json_append_position(tg_buf_t *out, tg_str_t text, const char *at)
{
    unsigned line, column;
    const char *p;

    for (line = column = 1, p = text.data; p < at; p++) {
        column += ((unsigned char) *p & 0xc0) != 0x80;

        if (*p == '\n') {
            line++;
            column = 1;
        }
    }

    tg_buf_printf(out, "line %u, column %u", line, column);
}

int
tg_json_validate_explain(tg_str_t text, tg_buf_t *why)
{
    tg_json_cursor_t json;
    int rc;

    rc = tg_json_read_whole(&json, text);

    if (rc == TG_OK) {
        return rc;
    }

    /* Editors do not show the byte order mark. */
    if (text.len > 2 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0) {
        json.why = "the text begins with a byte order mark";
    }

    tg_buf_printf(why, "%s (", json.why);
    tg_json_append_position(why, text, json.pos);
    tg_buf_append_char(why, ')');

    return rc;
}
