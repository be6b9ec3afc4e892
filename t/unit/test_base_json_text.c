/* Decoding, comparing, looking up and writing of validated text. */
#include "protocol_help.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

static const struct {
    const char *body, *text;
} test_bodies[] = {
    { "", "" },
    { "plain", "plain" },
    { "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
    { "\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac" },
    { "\\ud83d\\ude00!", "\xf0\x9f\x98\x80!" },
    { "\\uDBFF\\uDFFF", "\xf4\x8f\xbf\xbf" },
    { "\\ud800", "\xef\xbf\xbd" },
    { "\\udc00\\ud800", "\xef\xbf\xbd\xef\xbf\xbd" },
    { "\\ud800\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
    { "\\ud800x", "\xef\xbf\xbdx" },
    { "\\ud800\\n", "\xef\xbf\xbd\n" },
    { "\\ud800\\u0041", "\xef\xbf\xbd"
                        "A" },
    { "\\uffff\\ufffd", "\xef\xbf\xbf\xef\xbf\xbd" },
    { "a\\\\u0041", "a\\u0041" },
    { "h\xc3\xa9\\t\xe2\x82\xac", "h\xc3\xa9\t\xe2\x82\xac" },
};

HELP_TEST(decode, "decode")
{
    tg_str_t body, text;
    tg_buf_t buf;
    char *room, *copy;

    HELP_EACH(row, test_bodies) {
        body = tg_str_from_cstr(row->body);
        copy = help_copy(body);
        room = help_copy(body);
        body.data = copy;
        text = tg_str(room, tg_json_unescape(room, body));
        HELP_EQ(text, row->text);
        CU_ASSERT(tg_utf8_is_valid(text));
        CU_ASSERT(tg_json_body_eq_text(body, tg_str_from_cstr(row->text)));

        tg_buf_init(&buf, tg_alloc_libc());
        tg_buf_append_cstr(&buf, ">");
        tg_json_append_unescaped(&buf, body);
        CU_ASSERT(buf.len == text.len + 1);
        CU_ASSERT(memcmp(tg_buf_view(&buf).data + 1, text.data, text.len) == 0);
        tg_buf_deinit(&buf);
        free(room);
        free(copy);
    }

    CU_ASSERT(tg_json_unescape(NULL, TG_STR_NONE) == 0);
}

HELP_TEST(decode_nul, "decode: NUL")
{
    char room[16];

    CU_ASSERT(tg_json_unescape(room, TG_STR("a\\u0000b")) == 3);
    CU_ASSERT(memcmp(room, "a\0b", 3) == 0);
    CU_ASSERT(tg_json_body_eq_text(TG_STR("a\\u0000b"), tg_str("a\0b", 3)));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("a\\u0000b"), TG_STR("a")));
}

/* Escapes at each position of bodies of each length, with a small buffer. */
HELP_TEST(decode_steps, "decode: each place")
{
    static const struct {
        const char *body, *text;
    } pieces[] = { { "\\n", "\n" },
                   { "\\u00e9", "é" },
                   { "é", "é" },
                   { "\\\\\\\"", "\\\"" },
                   { "\\ud83d\\ude00", "😀" } };
    char body[96], text[96], *room;
    size_t len, at, n, k;

    HELP_EACH(piece, pieces) {
        n = strlen(piece->body);
        k = strlen(piece->text);

        for (len = 0; len <= 70; len++) {
            for (at = 0; at <= len; at++) {
                memset(body, 'x', sizeof(body));
                memcpy(body + at, piece->body, n);
                room = malloc(len + n);
                CU_ASSERT_EQUAL(tg_json_unescape(room, tg_str(body, len + n)),
                                len + k);
                memset(text, 'x', sizeof(text));
                memcpy(text + at, piece->text, k);
                CU_ASSERT_TRUE(memcmp(room, text, len + k) == 0);
                free(room);
            }
        }
    }
}

HELP_TEST(decode_pieces, "pieces in any order, with the smallest buffer")
{
    static const struct {
        const char *body, *text;
    } pieces[] = {
        { "\\n", "\n" },
        { "\\\\", "\\" },
        { "\\\"", "\"" },
        { "\\/", "/" },
        { "\\u0041", "A" },
        { "\\ud83d\\ude00", "😀" },
        { "é", "é" },
        { "x", "x" },
        { "0123456789abcde", "0123456789abcde" },
        { "0123456789abcdefghijklmnopqrstuvwxyz and so on", NULL },
    };
    char body[4096], text[4096], *room;
    size_t round, i, len, n, k, many;
    const char *piece;
    uint32_t random;

    random = 1;
    many = HELP_COUNT(pieces);

    for (round = 0; round < 20000; round++) {
        len = n = 0;

        /* Some rounds have few kinds of pieces, close to each other. */
        for (i = 0; i < 1 + round % 40; i++) {
            random = random * 1103515245 + 12345;
            k = (random >> 16) % (round % 3 == 0 ? many : 2 + round % 8);
            piece = pieces[k].text != NULL ? pieces[k].text : pieces[k].body;
            memcpy(body + len, pieces[k].body, strlen(pieces[k].body));
            memcpy(text + n, piece, strlen(piece));
            len += strlen(pieces[k].body);
            n += strlen(piece);
        }

        room = malloc(len);
        CU_ASSERT_EQUAL_FATAL(tg_json_unescape(room, tg_str(body, len)), n);
        CU_ASSERT_TRUE_FATAL(memcmp(room, text, n) == 0);
        free(room);
    }
}

HELP_TEST(body_is, "body is text")
{
    CU_ASSERT(tg_json_body_eq_text(TG_STR(""), TG_STR("")));
    CU_ASSERT(tg_json_body_eq_text(TG_STR_NONE, TG_STR("")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR(""), TG_STR("a")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("a"), TG_STR("")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("\\n"), TG_STR("")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("\\u0061"), TG_STR("ab")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("\\u0061b"), TG_STR("a")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("ab\\u0063"), TG_STR("abd")));
    CU_ASSERT(!tg_json_body_eq_text(TG_STR("\\u20ac"), TG_STR("\xe2\x82")));
}

HELP_TEST(body_eq, "each of these bodies equals only itself")
{
    static const char *const same[] = { "a/b", "\\u0061/b", "a\\/b",
                                        "\\u0061\\u002f\\u0062", "a\\u002Fb" };
    static const char *const other[] = {
        "",    "a",       "a/",           "a/bc",  "a\\nb",
        "A/b", "\\u0061", "a\\/b\\u0000", "a\\\\b"
    };

    HELP_EACH(row, same) {
        HELP_EACH(item, same) {
            CU_ASSERT(tg_json_body_eq(tg_str_from_cstr(*row),
                                      tg_str_from_cstr(*item)));
        }

        HELP_EACH(item, other) {
            CU_ASSERT(!tg_json_body_eq(tg_str_from_cstr(*row),
                                       tg_str_from_cstr(*item)));
            CU_ASSERT(!tg_json_body_eq(tg_str_from_cstr(*item),
                                       tg_str_from_cstr(*row)));
        }
    }

    CU_ASSERT(tg_json_body_eq(TG_STR(""), TG_STR("")));
    CU_ASSERT(
        tg_json_body_eq(TG_STR("\\ud83d\\ude00"), TG_STR("\xf0\x9f\x98\x80")));
    CU_ASSERT(tg_json_body_eq(TG_STR("\\ud800"), TG_STR("\\udfff")));
}

HELP_TEST(types, "types")
{
    static const struct {
        const char *text;
        tg_json_type_t type;
    } rows[] = {
        { "{}", TG_JSON_OBJECT },   { "[]", TG_JSON_ARRAY },
        { "\"\"", TG_JSON_STRING }, { "-1", TG_JSON_NUMBER },
        { "9", TG_JSON_NUMBER },    { "true", TG_JSON_TRUE },
        { "false", TG_JSON_FALSE }, { "null", TG_JSON_NULL },
        { "", TG_JSON_NONE },       { "+", TG_JSON_NONE },
    };

    HELP_EACH(row, rows) {
        CU_ASSERT(tg_json_type(tg_str_from_cstr(row->text)) == row->type);
    }

    CU_ASSERT(tg_json_type(TG_STR_NONE) == TG_JSON_NONE);
}

HELP_TEST(members, "members by name")
{
    static const char *const names[] = { "a", "b", "a", "c", NULL };
    static const char *const invalid[] = { "",           "[]",
                                           "{\"a\":1",   "{\"a\":}",
                                           "{\"a\":1}1", "{\"a\":1,}" };
    tg_str_t values[4];

    CU_ASSERT(tg_json_get_members(TG_STR(" {\"b\" : [1], \"x\":2,\"\\u0061\":3,"
                                         "\"a\":null} "),
                                  names, values)
              == TG_OK);
    HELP_EQ(values[0], "null");
    HELP_EQ(values[1], "[1]");
    HELP_EQ(values[2], "null");
    CU_ASSERT(values[3].data == NULL);

    HELP_EACH(row, invalid) {
        CU_ASSERT(tg_json_get_members(tg_str_from_cstr(*row), names, values)
                  == TG_INVALID);
        CU_ASSERT(values[1].data == NULL);
    }
}

HELP_TEST(others, "a comma precedes each member but the first of all objects")
{
    static const char *const none[] = { NULL };
    static const char *const a[] = { "a", NULL };
    HELP_BUFFER(out);
    size_t n;

    n = tg_json_write_members_except(&out, TG_STR("{}"), none, 0);
    CU_ASSERT(n == 0);
    n = tg_json_write_members_except(&out, TG_STR("{\"a\":1}"), a, n);
    CU_ASSERT(n == 0);
    n = tg_json_write_members_except(&out, TG_STR("{\"a\":1, \"b\": [ 2 ]}"), a,
                                     n);
    CU_ASSERT(n == 1);
    n = tg_json_write_members_except(&out, TG_STR("{\"\\u0061\":1,\"c\":3}"), a,
                                     n);
    CU_ASSERT(n == 2);
    n = tg_json_write_members_except(&out, TG_STR("{\"a\":1}"), none, n);
    CU_ASSERT(n == 3);
    HELP_EQ(tg_buf_view(&out), "\"b\":[2],\"c\":3,\"a\":1");
}

HELP_TEST(is_text, "value is text")
{
    CU_ASSERT(tg_json_string_eq(TG_STR("\"a\\u0062\""), TG_STR("ab")));
    CU_ASSERT(!tg_json_string_eq(TG_STR("\"a\""), TG_STR("ab")));
    CU_ASSERT(!tg_json_string_eq(TG_STR("1"), TG_STR("1")));
    CU_ASSERT(!tg_json_string_eq(TG_STR_NONE, TG_STR("")));
}

HELP_TEST(get, "get")
{
    tg_str_t object, value;

    object = TG_STR("{\"a\":1,\"b\":{\"a\":2},\"a\":[3],\"\\u0063\":\"x\","
                    "\"\":null}");
    CU_ASSERT(tg_json_get_member(object, TG_STR("a"), &value) == TG_OK);
    HELP_EQ(value, "[3]");
    CU_ASSERT(tg_json_get_member(object, TG_STR("b"), &value) == TG_OK);
    HELP_EQ(value, "{\"a\":2}");
    CU_ASSERT(tg_json_get_member(object, TG_STR("c"), &value) == TG_OK);
    HELP_EQ(value, "\"x\"");
    CU_ASSERT(tg_json_get_member(object, TG_STR(""), &value) == TG_OK);
    HELP_EQ(value, "null");

    value = TG_STR("untouched");
    CU_ASSERT(tg_json_get_member(object, TG_STR("d"), &value) == TG_MISSING);
    CU_ASSERT(tg_json_get_member(TG_STR("{}"), TG_STR("a"), &value)
              == TG_MISSING);
    CU_ASSERT(tg_json_get_member(TG_STR("[1]"), TG_STR("a"), &value)
              == TG_MISSING);
    CU_ASSERT(tg_json_get_member(TG_STR_NONE, TG_STR("a"), &value)
              == TG_MISSING);
    HELP_EQ(value, "untouched");
}

HELP_TEST(int64, "int64")
{
    static const struct {
        const char *raw;
        int64_t value;
    } valid[] = {
        { "0", 0 },
        { "-0", 0 },
        { "-0.0e5", 0 },
        { "0e99999999999999999999", 0 },
        { "0.000e-99999999999999999999", 0 },
        { "1.0", 1 },
        { "1e2", 100 },
        { "-1E+2", -100 },
        { "100e-2", 1 },
        { "12.50e1", 125 },
        { "1.5e1", 15 },
        { "0.000001e6", 1 },
        { "9223372036854775807", INT64_MAX },
        { "-9223372036854775807", -INT64_MAX },
        { "-9223372036854775808", INT64_MIN },
        { "9223372036854775807.000", INT64_MAX },
        { "922337203685477580.7e1", INT64_MAX },
        { "9.223372036854775807e18", INT64_MAX },
        { "1e18", INT64_C(1000000000000000000) },
        { "1.00000000000000000000000000000000000000", 1 },
        { "100000000000000000000000000000e-29", 1 },
        { "-120000000000000000000000e-22", -12 },
        { "0.00000000000000000000000000000000001e35", 1 },
    };
    /* clang-format off */
    static const char *const invalid[] = {
        "9223372036854775808", "-9223372036854775809", "18446744073709551615",
        "18446744073709551616", "99999999999999999999999999",
        "9223372036854775807.5", "1.5", "-0.1", "1e-1", "1e19", "10e18",
        "1e999999999999999999999", "1e-999999999999999999999",
        "1.00000000000000000000000000000000000001", "\"1\"", "true", "null",
        "",
    };
    /* clang-format on */
    int64_t value;

    HELP_EACH(row, valid) {
        value = 42;
        CU_ASSERT(tg_json_parse_int64(tg_str_from_cstr(row->raw), &value)
                  == TG_OK);
        CU_ASSERT_EQUAL(value, row->value);
    }

    HELP_EACH(row, invalid) {
        value = 42;
        CU_ASSERT(tg_json_parse_int64(tg_str_from_cstr(*row), &value)
                  == TG_INVALID);
        CU_ASSERT_EQUAL(value, 42);
    }
}

HELP_TEST(put_string, "a written string is valid and decodes to the original")
{
    char all[256 + 8];
    HELP_BUFFER(buf);
    tg_json_cursor_t json;
    tg_str_t body, text;
    size_t i;

    for (i = 0; i < 128; i++) {
        all[i] = (char) i;
    }

    memcpy(all + 128, "\xc3\xa9\xf0\x9f\x98\x80", 6);
    text = tg_str(all, 134);
    tg_json_write_string(&buf, text);
    tg_json_init(&json, tg_buf_view(&buf));
    CU_ASSERT(tg_json_read_string(&json, &body) == TG_OK);
    CU_ASSERT(tg_json_expect_end(&json) == TG_OK);
    CU_ASSERT(tg_json_body_eq_text(body, text));
    CU_ASSERT(memchr(buf.data, '\n', buf.len) == NULL);

    tg_buf_truncate(&buf, 0);
    tg_json_write_escaped(&buf, TG_STR("a\"b\\c/\n\r\t\b\x01\x1f\x7f"));
    HELP_EQ(tg_buf_view(&buf),
            "a\\\"b\\\\c/\\n\\r\\t\\u0008\\u0001\\u001f\x7f");

    tg_buf_truncate(&buf, 0);
    tg_json_write_string(&buf, TG_STR_NONE);
    HELP_EQ(tg_buf_view(&buf), "\"\"");
}

/* Does byte by byte what tg_json_write_escaped() does in blocks. */
static size_t
test_escape(char *dst, const char *text, size_t len)
{
    static const char shorts[] = "\nn\tt\rr\"\"\\\\";
    const char *at;
    size_t i, n;

    for (i = 0, n = 0; i < len; i++) {
        at = text[i] != 0 ? strchr(shorts, text[i]) : NULL;

        if (at != NULL && (text[i] < ' ' || strchr("\"\\", text[i]))) {
            dst[n++] = '\\';
            dst[n++] = text[i] < ' ' ? at[1] : text[i];
        } else if ((unsigned char) text[i] < ' ') {
            n += (size_t) sprintf(dst + n, "\\u%04x", text[i]);
        } else {
            dst[n++] = text[i];
        }
    }

    return n;
}

HELP_TEST(put_dense, "escapes as dense as possible, and at each block border")
{
    static const char bytes[] = "ab\"\\\n\xc3\x01 \t\r";
    char text[300], expected[1800], *copy;
    unsigned seed, wrong;
    tg_buf_t buf;
    size_t len, i, n;

    wrong = 0;

    for (seed = 1; seed < 3000; seed++) {
        len = seed % sizeof(text);
        srand(seed);

        for (i = 0; i < len; i++) {
            text[i] = rand() % 40 < (int) (seed % 41)
                          ? bytes[(unsigned) rand() % (sizeof(bytes) - 1)]
                          : 'x';
        }

        /* The block ends at the end of the text. */
        copy = malloc(len + 1);
        memcpy(copy + 1, text, len);
        tg_buf_init(&buf, tg_alloc_libc());
        tg_json_write_escaped(&buf, tg_str(copy + 1, len));
        n = test_escape(expected, text, len);
        wrong += buf.len != n || (n != 0 && memcmp(buf.data, expected, n) != 0);
        tg_buf_deinit(&buf);
        free(copy);
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

/* Each byte below 0x80, near the next special byte or not, is escaped alone. */
HELP_TEST(put_long, "put text that needs escapes")
{
    char text[4 * 128 + 3];
    tg_buf_t out, single;
    size_t len, gap, i;

    for (gap = 1; gap <= 128; gap++) {
        for (len = 0; len < sizeof(text); len++) {
            text[len] = len % gap == 0 ? (char) (len / gap % 128) : 'x';
        }

        for (len = 0; len < sizeof(text); len += 1 + len / 8) {
            tg_buf_init(&out, tg_alloc_libc());
            tg_buf_init(&single, tg_alloc_libc());
            tg_json_write_escaped(&out, tg_str(text, len));

            for (i = 0; i < len; i++) {
                tg_json_write_escaped(&single, tg_str(text + i, 1));
            }

            CU_ASSERT(tg_str_eq(tg_buf_view(&out), tg_buf_view(&single)));
            CU_ASSERT(tg_json_escaped_len(tg_str(text, len), SIZE_MAX)
                      == out.len);
            CU_ASSERT(out.len == 0
                      || tg_json_escaped_len(tg_str(text, len), out.len - 1)
                             > out.len - 1);
            tg_buf_deinit(&out);
            tg_buf_deinit(&single);
        }
    }
}

/* Checks a value after a string of n bytes and before much white space. */
static void
test_compact_long(const char *raw, const char *compact, int n)
{
    char text[2048], wanted[2048];
    HELP_BUFFER(buf);

    snprintf(text, sizeof(text), "[\"%*s\",%s%300s,%s ]", n, "", raw, "", raw);
    snprintf(wanted, sizeof(wanted), "[\"%*s\",%s,%s]", n, "", compact,
             compact);
    tg_json_write_compact(&buf, tg_str_from_cstr(text));
    HELP_EQ(tg_buf_view(&buf), wanted);
}

HELP_TEST(put_compact, "put compact")
{
    static const struct {
        const char *raw, *compact;
    } rows[] = {
        { "1", "1" },
        { "{ \"a b\" : [ 1 ,\r\n\t-2.0e+1 ] , \"c\" : \" x \" }",
          "{\"a b\":[1,-2.0e+1],\"c\":\" x \"}" },
        { "\"a\\\" b\"", "\"a\\\" b\"" },
        { "\" \\\\\"", "\" \\\\\"" },
        { "[ \"\\\\\" , \" \\\" \" ]", "[\"\\\\\",\" \\\" \"]" },
        { "{\"\\u0020 \": true}", "{\"\\u0020 \":true}" },
        { "[ ]", "[]" },
    };
    HELP_BUFFER(buf);
    size_t i;

    HELP_EACH(item, rows) {
        tg_buf_truncate(&buf, 0);
        tg_json_write_compact(&buf, tg_str_from_cstr(item->raw));
        HELP_EQ(tg_buf_view(&buf), item->compact);
    }

    /* Long enough for blocks: each row at each position of a block. */
    for (i = 0; i < 64 * HELP_COUNT(rows); i++) {
        test_compact_long(rows[i % HELP_COUNT(rows)].raw,
                          rows[i % HELP_COUNT(rows)].compact, (int) i);
    }

    tg_buf_truncate(&buf, 0);
    tg_json_write_compact(&buf, TG_STR_NONE);
    CU_ASSERT(buf.len == 0);
}

static void
test_run_out_of_memory(const tg_alloc_t *alloc, int may_fail)
{
    char text[3000];
    tg_buf_t buf;

    memset(text, '\n', sizeof(text));
    tg_buf_init(&buf, alloc);
    tg_json_write_string(&buf, tg_str(text, sizeof(text)));
    tg_json_append_unescaped(&buf, TG_STR("\\u0041"));
    tg_json_write_compact(&buf, TG_STR("[ 1, 2 ]"));
    CU_ASSERT(tg_buf_has_failed(&buf) == may_fail);
    tg_buf_deinit(&buf);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run_out_of_memory);
}
