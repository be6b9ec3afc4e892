/*
 * RFC 8259 exactly: every short text over the relevant alphabets, and texts
 * like those of the public test suites, against the reference; and the same
 * within long texts, where the widest steps are used.
 */
#include "base_json_ref.h"
#include "protocol_help.h"

/* Space around a text: bytes before it would change the result. */
#define TEST_BUFFER_SIZE 600

static unsigned
test_differs(tg_str_t text)
{
    int rc, expected;

    rc = tg_json_validate(text, NULL);
    expected = ref_check(text);

    if (rc != expected) {
        fprintf(stderr, "\n%s: %d, expected %d\n", help_text(text), rc,
                expected);
    }

    return rc != expected;
}

/* --- all texts up to a length over an alphabet --- */

static unsigned
test_all(const char *alphabet, size_t max, const char *before,
         const char *after)
{
    size_t at[8] = { 0 }, n, len, i, head, tail;
    char room[64], *text;
    unsigned wrong;

    n = strlen(alphabet);
    head = strlen(before);
    tail = strlen(after);
    wrong = 0;

    for (len = 0; len <= max; len++) {
        /* The block ends at the end of the text. */
        text = room + sizeof(room) - head - len - tail;
        memcpy(text, before, head);
        memcpy(text + head + len, after, tail);
        memset(at, 0, sizeof(at));

        do {
            for (i = 0; i < len; i++) {
                text[head + i] = alphabet[at[i]];
            }

            wrong += test_differs(tg_str(text, head + len + tail));

            for (i = 0; i < len && ++at[i] == n; i++) {
                at[i] = 0;
            }
        } while (i < len);
    }

    return wrong;
}

HELP_TEST(structures, "structures")
{
    CU_ASSERT_EQUAL(test_all("{}[],:\"1 ", 6, "", ""), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1\n", 5, "[", "]"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"\t", 5, "{\"a\":", "}"), 0);
}

HELP_TEST(numbers, "numbers")
{
    CU_ASSERT_EQUAL(test_all("019-+.eE", 6, "", ""), 0);
    CU_ASSERT_EQUAL(test_all("0-+.e ", 6, "[", ",1]"), 0);
    CU_ASSERT_EQUAL(test_all("0-.e,", 5, "{\"a\":", "}"), 0);
}

HELP_TEST(words, "words")
{
    CU_ASSERT_EQUAL(test_all("truefals", 5, "", ""), 0);
    CU_ASSERT_EQUAL(test_all("nulN,", 5, "[", "]"), 0);
}

HELP_TEST(escapes, "escapes")
{
    CU_ASSERT_EQUAL(test_all("\\\"/bfnrtuvx0 ", 4, "\"", "\""), 0);
    CU_ASSERT_EQUAL(test_all("\\u09afAFgG", 5, "\"\\u", "\""), 0);
    CU_ASSERT_EQUAL(test_all("\\u0\"", 7, "\"", "\""), 0);
}

HELP_TEST(blanks, "white space")
{
    CU_ASSERT_EQUAL(test_all(" \t\r\n\v\f\b\x1e\x7f", 4, "", "1"), 0);
    CU_ASSERT_EQUAL(test_all(" \t\r\n\v\f\xa0\xc2", 4, "1", ""), 0);
}

/* --- texts by name --- */

/* clang-format off */
static const char *const test_accepted[] = {
    "[[]   ]", "[\"\"]", "[false]", "[null, 1, \"1\", {}]", " [1]", "[1\n]",
    "[1,null,null,null,2]", "[2] ", "[0e+1]", "[0e1]", "[ 4]", "[-0]",
    "[-0.0000000000000000000000000000000000000000000000000000000000000001]",
    "[20e1]", "[123e65]", "[-123]", "[-1]", "[1E22]", "[1E-2]", "[1E+2]",
    "[123e45]", "[123.456e78]", "[1e-2]", "[1e+2]", "[123.456789]",
    "[1e400]", "[-1e-9999999999999999999999]", "[100000000000000000000000]",
    "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}", "{\"a\":\"b\",\"a\":\"c\"}",
    "{\"a\":\"b\",\"a\":\"b\"}", "{\"\":0}", "{\"\":{\"\":{\"\":[]}}}",
    "{\"foo\\u0000bar\": 42}", "{\"title\":\"\\u041f\\u043e\" }",
    "{\"a\":[]}", "{\n\"a\": \"b\"\n}", "[\"\\u0060\\u012a\\u12AB\"]",
    "[\"\\uD801\\udc37\"]", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]",
    "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\\\u0000\"]", "[\"\\\"\"]",
    "[\"a/*b*/c/*d//e\"]", "[\"\\\\a\"]", "[\"\\\\n\"]", "[\"\\u0012\"]",
    "[\"\\uFFFF\"]", "[\"\\uDBFF\\uDFFF\"]", "[\"new\\u00A0line\"]",
    "[\"\xf4\x8f\xbf\xbf\"]", "[\"\xef\xbf\xbf\"]", "[\"\\u0000\"]",
    "[\"\xe2\x80\xa8\xe2\x80\xa9\"]", "[\"\x7f\"]", "\" \"",
    "[\"\\uD834\\uDd1e\"]", "[\"\\ud800\"]", "[\"\\uDC00\\uD800\"]",
    "[\"\\ud800\\n\"]", "[\"\\uD800\\u0061\"]", "[\"\\uD800\\uD800\\uDC00\"]",
    "[\"\xf0\x9b\xbf\xbf\"]", "[\"\xef\xb7\x90\"]", "42", "-0.1", "null",
    "\"string\"", "[true]", "  true  ", "\r\n[]\r\n", "1e0", "0E-0",
};
/* clang-format on */

/* clang-format off */
static const char *const test_refused[] = {
    "[1 true]", "[a\xe5]", "[\"\": 1]", "[\"\"],", "[,1]", "[1,,2]",
    "[\"x\",,]", "[\"x\"]]", "[\"\",]", "[\"x\"", "[x", "[3[4]]", "[\xff]",
    "[1:2]", "[,]", "[-]", "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]", "[1,,]",
    "[\"\va\"\\f]", "[*]", "[\"\"", "[1,\n1\n,1", "[{}", "[fals]", "[nul]",
    "[tru]", "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]",
    "[-NaN]", "[.-1]", "[.2e-3]", "[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]",
    "[0E+]", "[0E]", "[0e+]", "[0e]", "[1.0e+]", "[1.0e-]", "[1.0e]",
    "[1 000.0]", "[1eE2]", "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]", "[Inf]",
    "[NaN]", "[\xef\xbc\x91]", "[1+2]", "[0x1]", "[0x42]", "[Infinity]",
    "[-Infinity]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]",
    "[1ea]", "[1.]", "[.123]", "[1.2a-3]", "[1.8011670033376514H-308]",
    "[012]", "[\"x\", truth]", "{[: \"x\"}\n", "{\"x\", null}",
    "{\"x\"::\"b\"}",
    "{\xf0\x9f\x87\xa8\xf0\x9f\x87\xad}", "{\"a\":\"a\" 123}", "{key: 'value'}",
    "{\"\xb9\":\"0\",}", "{\"a\" b}", "{:\"b\"}", "{\"a\" \"b\"}", "{\"a\":",
    "{\"a\"", "{1:1}", "{9999E9999:1}", "{null:null,null:null}",
    "{\"id\":0,,,,,}", "{'a':0}", "{\"id\":0,}", "{\"a\":\"b\"}/**/",
    "{\"a\":\"b\"}/**//", "{\"a\":\"b\"}//", "{\"a\":\"b\",,\"c\":\"d\"}",
    "{a: \"b\"}", "{\"a\":\"a", "{ \"foo\" : \"bar\", \"a\" }",
    "{\"a\":\"b\"}#", " ", "[\"\\uD800\\\"]", "[\"\\uD800\\u\"]",
    "[\"\\uD800\\u1\"]", "[\"\\uD800\\u1x\"]", "[\xc3\xa9]", "[\"\\x00\"]",
    "[\"\\\\\\\"]", "[\"\\\t\"]", "[\"\\\xf0\x9f\x8c\x80\"]", "[\"\\\"]",
    "[\"\\u00A\"]", "[\"\\uD834\\uDd\"]", "[\"\\a\"]", "[\"\\uqqqq\"]",
    "[\"\\\xe5\"]", "[\\u0020\"asd\"]", "[\\n]", "\"", "['single quote']",
    "abc", "[\"\\", "[\"new\nline\"]", "[\"\t\"]", "\"\\UA66D\"",
    "\"\"x", "[\xe2\x81\xa0]", "\xef\xbb\xbf", "<.>", "[<null>]", "[1]x",
    "[1]]", "[\"asd]", "a\xc3\xa5", "[True]", "1]", "{\"x\": true,", "[][]",
    "]", "\xef\xbb{}", "\xe5", "[", "2@", "{}}", "{\"\":", "{\"a\":/*c*/1}",
    "{\"a\": true} \"x\"", "['", "[,", "[{", "[\"a", "[\"a\"", "{", "{]", "{,",
    "{[", "{\"a", "{'a'", "[\"\\{[\"\\{", "\xe9", "*", "{\"a\":\"b\"}#{}",
    "[\\u000A\"\"]", "[1", "[ false, nul", "[ true, fals", "[ false, tru",
    "{\"asd\":\"asd\"", "\xc3\xa5", "[\x0c]", "[\xe2\x80\x83]",
    "[\"\xc0\x80\"]", "[\"\xe0\x80\xaf\"]", "[\"\xf0\x80\x80\xaf\"]",
    "[\"\xfc\x80\x80\x80\x80\x80\"]", "[\"\xed\xa0\x80\"]",
    "[\"\xed\xbf\xbf\"]", "[\"\xf4\xbf\xbf\xbf\"]", "[\"\xf7\xbf\xbf\xbf\"]",
    "[\"\xfe\"]", "[\"\x81\"]", "[\"\xe9\"]", "[\"\xc3\"", "\"\xe0\xff\"",
    "{\"\xff\":1}", "[\"\\u\xc3\xa9\"]",
};
/* clang-format on */

HELP_TEST(texts, "texts")
{
    HELP_EACH(row, test_accepted) {
        CU_ASSERT_EQUAL(tg_json_validate(tg_str_from_cstr(*row), NULL), TG_OK);
        CU_ASSERT_EQUAL(test_differs(tg_str_from_cstr(*row)), 0);
    }

    HELP_EACH(row, test_refused) {
        CU_ASSERT_EQUAL(tg_json_validate(tg_str_from_cstr(*row), NULL),
                        TG_INVALID);
        CU_ASSERT_EQUAL(test_differs(tg_str_from_cstr(*row)), 0);
    }
}

/* The same texts within long ones, around the borders of wide steps. */
HELP_TEST(amid, "texts among others")
{
    char room[TEST_BUFFER_SIZE], *text;
    size_t i, pad, len, n;
    unsigned wrong;
    const char *in;

    wrong = 0;

    for (i = 0; i < HELP_COUNT(test_accepted) + HELP_COUNT(test_refused); i++) {
        in = i < HELP_COUNT(test_accepted)
                 ? test_accepted[i]
                 : test_refused[i - HELP_COUNT(test_accepted)];
        len = strlen(in);

        for (pad = 0; pad < 132; pad++) {
            n = pad + len + 46;
            text = room + sizeof(room) - n;
            memset(room, '\\', sizeof(room));
            memcpy(text, "[\"", 2);
            memset(text + 2, pad % 2 ? 'x' : ' ', pad);
            memcpy(text + 2 + pad, "\",", 2);
            memcpy(text + 4 + pad, in, len);
            memcpy(text + 4 + pad + len, ",\"", 2);
            memset(text + 6 + pad + len, 'y', 38);
            memcpy(text + n - 2, "\"]", 2);
            wrong += test_differs(tg_str(text, n));
        }
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

/* --- depth --- */

static int
test_depth_of(const char *opening, const char *inner, const char *closing,
              int n)
{
    HELP_BUFFER(buf);
    int i, rc;

    for (i = 0; i < n; i++) {
        tg_buf_append_cstr(&buf, opening);
    }

    tg_buf_append_cstr(&buf, inner);

    for (i = 0; i < n; i++) {
        tg_buf_append_cstr(&buf, closing);
    }

    rc = tg_json_validate(tg_buf_view(&buf), NULL);
    CU_ASSERT_EQUAL(rc, ref_check(tg_buf_view(&buf)));

    return rc;
}

/* TG_JSON_MAX_DEPTH for all containers; no stack for a million levels. */
HELP_TEST(depth, "depth")
{
    int n;

    for (n = TG_JSON_MAX_DEPTH - 1; n <= TG_JSON_MAX_DEPTH + 1; n++) {
        int expected = n <= TG_JSON_MAX_DEPTH ? TG_OK : TG_LIMIT;

        CU_ASSERT_EQUAL(test_depth_of("[", "", "]", n), expected);
        CU_ASSERT_EQUAL(test_depth_of("[1,", "2", "]", n), expected);
        CU_ASSERT_EQUAL(test_depth_of("{\"\":", "0", "}", n), expected);
        CU_ASSERT_EQUAL(test_depth_of("[{\"a\":", "0", "}]", n / 2), TG_OK);
    }

    CU_ASSERT_EQUAL(test_depth_of("[{\"a\":", "0", "}]",
                                  TG_JSON_MAX_DEPTH / 2 + 1),
                    TG_LIMIT);
    CU_ASSERT_EQUAL(test_depth_of("[", "", "", 1000000), TG_LIMIT);
    CU_ASSERT_EQUAL(test_depth_of("[[],", "1", "]", TG_JSON_MAX_DEPTH - 1),
                    TG_OK);
}
