/* Tests the cursor against the grammar of RFC 8259 in base_json_ref.c. */
#include "base_json_ref.h"
#include "protocol_help.h"

/* Runs both readers on a block of exactly the text's size. */
static int
test_both(tg_str_t text)
{
    const char *why;
    char *copy;
    int rc, expected;

    copy = help_copy(text);
    why = NULL;
    rc = tg_json_validate(tg_str(copy, text.len), &why);
    expected = ref_check(tg_str(copy, text.len));

    if (rc != expected) {
        fprintf(stderr, "\n%s: %d, expected %d\n", help_text(text), rc,
                expected);
    }

    CU_ASSERT(rc == expected);
    CU_ASSERT((rc == TG_OK) == (why == NULL));
    free(copy);

    return rc;
}

/* --- tables --- */

/* clang-format off */
static const char *const test_valid[] = {
    "0", "-0", "10", "-1.5", "0.0", "1e5", "1E+5", "1e-05", "0e0", "-0.10e+00",
    "123456789012345678901234567890", "1e999999999", "true", "false", "null",
    " \t\r\n1 \t\r\n", "\"\"", "\"a\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0000\\uD83D\\ude00\\ud800\\uDFFF\"", "\"\x7f\"",
    "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "[]", "[ ]", "[1]",
    "[1,2 , 3\n]", "[[],{},[[]],\"]\",\"}\"]", "{}", "{ }", "{\"a\":1}",
    "{ \"a\" : [ ] , \"a\" : {} , \"\" : null }",
    "{\"\\u0061\":{\"b\":[{\"c\":\"d\"}]}}",
};
/* clang-format on */

/* clang-format off */
static const char *const test_invalid[] = {
    "", " ", "-", "+1", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "1E-",
    "0x10", "1 2", "1_000", "Infinity", "-Infinity", "NaN", "tru", "True",
    "truee", "nul", "nulll", "undefined", "\"", "\"a", "\"\\", "\"\\\"",
    "\"\\x41\"", "\"\\a\"", "\"\\u\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u123",
    "\"\\U0041\"", "\"a\nb\"", "\"a\tb\"", "\"\x01\"", "\"\x80\"",
    "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"",
    "\"\xff\"", "'a'", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1 2]",
    "[1,,2]", "[1}", "[]]", "[\"a]", "{", "}", "{]", "{\"a\"}", "{\"a\":}",
    "{\"a\" 1}", "{\"a\":1", "{\"a\":1,}", "{,}", "{\"a\":1 \"b\":2}",
    "{\"a\":1;\"b\":2}", "{a:1}", "{1:1}", "{\"a\":1]", "{\"a\"::1}", "{}{}",
    "{} x", "/* c */ 1", "1 // c", "\xef\xbb\xbf{}", "\xc2\xa0" "1", "1\x0c",
    "\x0b" "1",
};
/* clang-format on */

HELP_TEST(grammar, "grammar")
{
    HELP_EACH(row, test_valid) {
        CU_ASSERT(test_both(tg_str_from_cstr(*row)) == TG_OK);
    }

    HELP_EACH(row, test_invalid) {
        CU_ASSERT(test_both(tg_str_from_cstr(*row)) == TG_INVALID);
    }

    CU_ASSERT(test_both(tg_str("1\0", 2)) == TG_INVALID);
    CU_ASSERT(test_both(tg_str("\"a\0\"", 4)) == TG_INVALID);
    CU_ASSERT(test_both(tg_str("\0", 1)) == TG_INVALID);
}

/* Cuts each valid text at each offset, and replaces each byte. */
HELP_TEST(mutations, "mutations")
{
    char text[128];
    size_t at, len;
    unsigned c;

    HELP_EACH(row, test_valid) {
        len = strlen(*row);

        for (at = 0; at < len; at++) {
            (void) test_both(tg_str(*row, at));

            memcpy(text, *row, at);
            memcpy(text + at, *row + at + 1, len - at - 1);
            (void) test_both(tg_str(text, len - 1));

            for (c = 0; c < 256; c++) {
                memcpy(text, *row, len);
                text[at] = (char) c;
                (void) test_both(tg_str(text, len));

                memcpy(text + at + 1, *row + at, len - at);
                (void) test_both(tg_str(text, len + 1));
            }
        }
    }
}

/* --- strings in wide steps --- */

/*
 * Checks a body of plain bytes with a special piece at each position and
 * alignment: the result must be the reference's, and the slice exact.
 */
static void
test_string_at(size_t align, size_t len, size_t at, tg_str_t piece)
{
    char room[128 + 16], *text;
    tg_json_cursor_t json;
    tg_str_t body;
    size_t size;
    int rc;

    size = len + piece.len + 2;
    text = room + align;
    text[0] = '"';
    memset(text + 1, 'x', len);
    memmove(text + 1 + at + piece.len, text + 1 + at, len - at);
    memcpy(text + 1 + at, piece.data, piece.len);
    text[size - 1] = '"';

    tg_json_init(&json, tg_str(text, size));
    rc = tg_json_read_string(&json, &body);
    CU_ASSERT((rc == TG_OK ? tg_json_expect_end(&json) : rc)
              == ref_check(tg_str(text, size)));

    if (rc == TG_OK && piece.data[0] != '"') {
        CU_ASSERT(body.data == text + 1 && body.len == size - 2);
    }

    /* An unterminated string. */
    CU_ASSERT(tg_json_validate(tg_str(text, size - 1), NULL)
              == ref_check(tg_str(text, size - 1)));
}

HELP_TEST(string_steps, "strings: steps")
{
    /* clang-format off */
    static const char *const pieces[] = {
        "", "\"", "\\\"", "\\u00e9", "\\", "\x1f", " ", "\x7f", "\x80", "\xff",
        "\n", "\\u12x", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xe2\x82",
    };
    /* clang-format on */
    size_t align, len, at;

    for (align = 0; align < 16; align++) {
        for (len = 0; len <= 64; len++) {
            HELP_EACH(piece, pieces) {
                for (at = 0; at <= len; at += 1 + (align != 0) * 3) {
                    test_string_at(align, len, at, tg_str_from_cstr(*piece));
                }
            }
        }
    }
}

/* Each byte alone in a string, read in wide and in narrow steps. */
HELP_TEST(string_bytes, "strings: bytes")
{
    char text[64];
    unsigned c;
    size_t at;

    for (c = 0; c < 256; c++) {
        for (at = 1; at < 40; at++) {
            memset(text, 'a', sizeof(text));
            text[0] = '"';
            text[40] = '"';
            text[at] = (char) c;
            (void) test_both(tg_str(text, 41));
        }
    }
}

/* --- depth --- */

static int
test_nested(int n, const char *opening, const char *closing)
{
    HELP_BUFFER(buf);
    int i, rc;

    for (i = 0; i < n; i++) {
        tg_buf_append_cstr(&buf, opening);
    }

    tg_buf_append_cstr(&buf, "1");

    for (i = 0; i < n; i++) {
        tg_buf_append_cstr(&buf, closing);
    }

    rc = test_both(tg_buf_view(&buf));

    return rc;
}

HELP_TEST(depth, "depth")
{
    tg_json_cursor_t json;
    tg_str_t value;
    char open[TG_JSON_MAX_DEPTH + 2];
    int i;

    CU_ASSERT(test_nested(TG_JSON_MAX_DEPTH, "[", "]") == TG_OK);
    CU_ASSERT(test_nested(TG_JSON_MAX_DEPTH + 1, "[", "]") == TG_LIMIT);
    CU_ASSERT(test_nested(TG_JSON_MAX_DEPTH, "{\"a\":", "}") == TG_OK);
    CU_ASSERT(test_nested(TG_JSON_MAX_DEPTH + 1, "{\"a\":", "}") == TG_LIMIT);
    CU_ASSERT(test_nested(TG_JSON_MAX_DEPTH / 2, "[{\"a\":", "}]") == TG_OK);
    CU_ASSERT(test_nested(TG_JSON_MAX_DEPTH / 2 + 1, "[{\"a\":", "}]")
              == TG_LIMIT);
    CU_ASSERT(test_nested(100000, "[", "]") == TG_LIMIT);

    /* Entering by hand or skipping as a whole counts the same. */
    memset(open, '[', sizeof(open));
    tg_json_init(&json, tg_str(open, sizeof(open)));

    for (i = 0; i < TG_JSON_MAX_DEPTH; i++) {
        CU_ASSERT(tg_json_enter_array(&json) == TG_OK);
        CU_ASSERT(tg_json_next_element(&json) == TG_OK);
    }

    CU_ASSERT(tg_json_read_value(&json, &value) == TG_LIMIT);
    CU_ASSERT(tg_json_enter_array(&json) == TG_LIMIT);
    CU_ASSERT(json.failed == TG_LIMIT && json.why != NULL);
}

HELP_TEST(depth_of_siblings, "siblings do not add depth")
{
    HELP_BUFFER(buf);
    int i;

    tg_buf_append_cstr(&buf, "[");

    for (i = 0; i < 1000; i++) {
        tg_buf_append_cstr(&buf, "[{\"a\":[]}],");
    }

    tg_buf_append_cstr(&buf, "0]");
    CU_ASSERT(test_both(tg_buf_view(&buf)) == TG_OK);
}

/* --- walking --- */

HELP_TEST(walk, "walking")
{
    tg_json_cursor_t json;
    tg_str_t key, value;

    tg_json_init(&json, TG_STR(" { \"a\" : 1 , \"b\":[ true , \"x\\n\" ], "
                               "\"c\":{} } "));
    CU_ASSERT(tg_json_peek_type(&json) == TG_JSON_OBJECT);
    CU_ASSERT(tg_json_enter_object(&json) == TG_OK);
    CU_ASSERT(tg_json_next_member(&json, &key) == TG_OK);
    HELP_EQ(key, "a");
    CU_ASSERT(tg_json_peek_type(&json) == TG_JSON_NUMBER);
    CU_ASSERT(tg_json_read_value(&json, &value) == TG_OK);
    HELP_EQ(value, "1");

    CU_ASSERT(tg_json_next_member(&json, &key) == TG_OK);
    HELP_EQ(key, "b");
    CU_ASSERT(tg_json_enter_array(&json) == TG_OK);
    CU_ASSERT(tg_json_next_element(&json) == TG_OK);
    CU_ASSERT(tg_json_read_value(&json, &value) == TG_OK);
    HELP_EQ(value, "true");
    CU_ASSERT(tg_json_next_element(&json) == TG_OK);
    CU_ASSERT(tg_json_read_string(&json, &value) == TG_OK);
    HELP_EQ(value, "x\\n");
    CU_ASSERT(tg_json_next_element(&json) == TG_END);

    CU_ASSERT(tg_json_next_member(&json, &key) == TG_OK);
    HELP_EQ(key, "c");
    CU_ASSERT(tg_json_enter_object(&json) == TG_OK);
    CU_ASSERT(tg_json_next_member(&json, &key) == TG_END);
    CU_ASSERT(tg_json_next_member(&json, &key) == TG_END);
    CU_ASSERT(tg_json_expect_end(&json) == TG_OK);
    CU_ASSERT(tg_json_peek_type(&json) == TG_JSON_NONE);
}

HELP_TEST(failure_stays, "a failure is permanent")
{
    tg_json_cursor_t json;
    tg_str_t value;

    tg_json_init(&json, TG_STR("[1,x]"));
    CU_ASSERT(tg_json_enter_array(&json) == TG_OK);
    CU_ASSERT(tg_json_next_element(&json) == TG_OK);
    CU_ASSERT(tg_json_read_value(&json, NULL) == TG_OK);
    CU_ASSERT(tg_json_next_element(&json) == TG_OK);
    value = TG_STR("untouched");
    CU_ASSERT(tg_json_read_value(&json, &value) == TG_INVALID);
    HELP_EQ(value, "untouched");
    CU_ASSERT(tg_json_next_element(&json) == TG_INVALID);
    CU_ASSERT(tg_json_next_member(&json, &value) == TG_INVALID);
    CU_ASSERT(tg_json_read_string(&json, &value) == TG_INVALID);
    CU_ASSERT(tg_json_enter_object(&json) == TG_INVALID);
    CU_ASSERT(tg_json_expect_end(&json) == TG_INVALID);

    tg_json_init(&json, TG_STR("7"));
    CU_ASSERT(tg_json_enter_object(&json) == TG_INVALID);
    tg_json_init(&json, TG_STR("7"));
    CU_ASSERT(tg_json_read_string(&json, &value) == TG_INVALID);
    tg_json_init(&json, TG_STR_NONE);
    CU_ASSERT(tg_json_peek_type(&json) == TG_JSON_NONE);
    CU_ASSERT(tg_json_read_value(&json, &value) == TG_INVALID);
}

HELP_TEST(explain, "the position counts characters, not bytes")
{
    static const char *const cases[][2] = {
        { "", "(line 1, column 1)" },
        { "{\"a\":1,\n \"b\":x}", "(line 2, column 6)" },
        { "[\"\xc3\xa9\xe2\x82\xac\" 1]", "(line 1, column 7)" },
        { "{}\n\n}", "(line 3, column 1)" },
        { "[\n[", "(line 2, column 2)" },
        { "{\"a\":\n \"^[a-z]+\\d\"}", "(line 2, column 10)" },
        { "[\"\\n\\u00e9 is \\u12\"]", "(line 1, column 15)" },
        { "[\"two\nlines\"]", "(line 1, column 6)" },
        { "[\"a long text, in which there is a \xff\"]",
          "(line 1, column 36)" },
        { "[1,\n\"not closed]\n\n", "(line 2, column 13)" },
        { "[1,\n\"not closed", "(line 2, column 2)" },
        { "\xef\xbb\xbf{}",
          "the text begins with a byte order mark (line 1, column 1)" },
    };
    HELP_BUFFER(why);
    tg_str_t end;

    CU_ASSERT(tg_json_validate_explain(TG_STR("{\"a\":[1]}"), &why) == TG_OK);
    CU_ASSERT(why.len == 0);

    HELP_EACH(item, cases) {
        tg_buf_truncate(&why, 0);
        CU_ASSERT(tg_json_validate_explain(tg_str_from_cstr((*item)[0]), &why)
                  == TG_INVALID);
        end = tg_str_from_cstr((*item)[1]);
        CU_ASSERT_FATAL(why.len >= end.len);
        CU_ASSERT(memcmp(why.data + why.len - end.len, end.data, end.len) == 0);
    }
}
