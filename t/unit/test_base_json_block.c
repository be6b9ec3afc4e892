/*
 * Tests JSON that is skipped in blocks of 64 bytes against the reference: any
 * byte at any position of a block, and each byte of valid texts replaced by
 * each relevant byte. All implementations on this machine must stop at the
 * same byte, and not after the first error.
 */
#include "base_json_ref.h"
#include "protocol_help.h"

#include "base/tg_json_impl.h"

#define TEST_BUFFER_SIZE 1024
#define TEST_LONG 9000

static const tg_json_simd_t *
test_way(unsigned n)
{
    return n == 0 ? tg_json_simd_get_avx512() : tg_json_simd_get_avx2();
}

/* Returns the end of the container at the start of a valid text. */
static const char *
test_end(tg_str_t text)
{
    const char *end;

    for (end = tg_str_end(text); end[-1] != '}' && end[-1] != ']'; end--) {
        /* void */
    }

    return end;
}

/* Checks that an implementation accepts exactly what is valid. */
static unsigned
test_ways(tg_str_t text, int rc)
{
    const char *at, *first;
    unsigned i, wrong;

    first = NULL;
    wrong = 0;

    for (i = 0; i < 2; i++) {
        if (test_way(i) == NULL) {
            continue;
        }

        at = test_way(i)->skip_container(text.data, tg_str_end(text), 0);
        wrong += rc == TG_OK && at != test_end(text);
        wrong += at != NULL
                 && ref_check(tg_str(text.data, (size_t) (at - text.data)))
                        != TG_OK;
        wrong += first != NULL && at != first;
        first = at;
    }

    return wrong;
}

/* All implementations drop the same white space of a valid text. */
static unsigned
test_compact(tg_str_t text)
{
    unsigned i, wrong;
    HELP_BUFFER(buf);
    char *room;
    size_t len;

    room = malloc(text.len);
    len = ref_compact(text, room);
    tg_json_write_compact(&buf, text);
    wrong = !tg_str_eq(tg_buf_view(&buf), tg_str(room, len));

    for (i = 0; i < 2; i++) {
        if (test_way(i) == NULL) {
            continue;
        }

        tg_buf_truncate(&buf, 0);
        test_way(i)->write_compact(&buf, text);
        wrong += !tg_str_eq(tg_buf_view(&buf), tg_str(room, len));
    }

    free(room);

    return wrong;
}

/* Tests an array. skipped: where a comma follows valid elements, or 0. */
static unsigned
test_text_from(tg_str_t text, size_t skipped)
{
    char *copy, was;
    unsigned wrong;
    int rc;

    /* The block ends at the end of the text. */
    copy = malloc(text.len);
    memcpy(copy, text.data, text.len);
    text.data = copy;

    /* Valid elements make no difference to the reference. */
    was = copy[skipped];
    copy[skipped] = skipped != 0 ? '[' : was;
    rc = ref_check(tg_str(copy + skipped, text.len - skipped));
    copy[skipped] = was;
    wrong = tg_json_validate(text, NULL) != rc;

    if (copy[0] == '{' || copy[0] == '[') {
        wrong += test_ways(text, rc);
    }

    if (rc == TG_OK) {
        wrong += test_compact(text);
    }

    if (wrong != 0) {
        fprintf(stderr, "\n%.*s\n", (int) text.len, text.data);
    }

    free(copy);

    return wrong;
}

static unsigned
test_text(tg_str_t text)
{
    return test_text_from(text, 0);
}

/* Checks all texts of an alphabet up to a length, between other texts. */
static unsigned
test_all(const char *alphabet, size_t max, const char *before,
         const char *entry, const char *after)
{
    size_t at[8] = { 0 }, n, len, i, head;
    char room[TEST_BUFFER_SIZE];
    unsigned wrong;

    n = strlen(alphabet);
    head = strlen(before);
    memcpy(room, before, head);
    wrong = 0;

    for (len = 0; len <= max; len++) {
        memset(at, 0, sizeof(at));

        do {
            for (i = 0; i < len; i++) {
                room[head + i] = alphabet[at[i]];
            }

            for (i = head + len; i < head + len + 160; i += strlen(entry)) {
                memcpy(room + i, entry, strlen(entry));
            }

            strcpy(room + i, after);
            wrong += test_text(tg_str_from_cstr(room));

            for (i = 0; i < len && ++at[i] == n; i++) {
                at[i] = 0;
            }
        } while (i < len);
    }

    return wrong;
}

HELP_TEST(structures, "structures")
{
    CU_ASSERT_EQUAL(test_all("{}[],:\"1 ", 5, "[0", ",1", "]"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1\n", 4, "{\"a\":0", ",\"b\":2", "}"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1", 4, "{\"a\":0,", ",\"b\":2", "}"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1", 4, "[0,{\"c\":", ",\"b\":2", "}]"),
                    0);
    CU_ASSERT_EQUAL(test_all("\",:1\\ ", 5, "[0,\"", ",\"x\"", "]"), 0);
    /* Empty containers after empty containers. */
    CU_ASSERT_EQUAL(test_all("{}[],:\"1 ", 4, "[{}", ",{}", "]"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1 ", 4, "[[]", ",[]", "]"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1", 4, "{\"a\":{}", ",\"b\":{}", "}"), 0);
    CU_ASSERT_EQUAL(test_all("{}[],:\"1", 4, "{\"a\":[]", ",\"b\":[]", "}"), 0);
}

HELP_TEST(numbers, "numbers")
{
    CU_ASSERT_EQUAL(test_all("0-+.eE1", 5, "[0,", ",1.5", "]"), 0);
    CU_ASSERT_EQUAL(test_all("0-.e,1 ", 5, "[0,", ",\"\"", "]"), 0);
    CU_ASSERT_EQUAL(test_all("0-.+e,", 5, "{\"a\":0,\"b\":", ",\"c\":1", "}"),
                    0);
}

HELP_TEST(words, "words")
{
    CU_ASSERT_EQUAL(test_all("truefals", 5, "[0,", ",true", "]"), 0);
    CU_ASSERT_EQUAL(test_all("nul1,", 6, "[0,", ",null", "]"), 0);
    CU_ASSERT_EQUAL(test_all("als1e,", 4, "[0,f", "e,1", "]"), 0);
}

HELP_TEST(escapes, "escapes")
{
    CU_ASSERT_EQUAL(test_all("\\\"/bfnrtuvx0 ", 3, "[0,\"", "\",\"x", "\"]"),
                    0);
    CU_ASSERT_EQUAL(test_all("\\u0agA", 5, "[0,\"\\u", "\",\"x", "\"]"), 0);
    CU_ASSERT_EQUAL(
        test_all("\\u0\"\t\x80\xc3", 4, "[\"\\n", "\\n\\\"\\tx", "\"]"), 0);
}

static const char *const test_valid[] = {
    "{\"a\":0,\"id\":12,\"name\":\"J\\u00f6rg \\\"O\\\\'\\\"\",\"on\":true,"
    "\"off\":false,\"none\":null,\"tags\":[\"a\",\"\",{}],\"at\":{\"x\":-1.5,"
    "\"y\":2e-3,\"z\":[]},\"list\":[[1,2],[3,[4,{\"k\":\"\xc3\xb6\"}]]]}",

    "[0,\n  {\n    \"id\": 1,\n    \"text\": \"two \\\\ three\\n\",\r\n"
    "    \"list\": [ 1, 2.25 , -3e+10, true ],\t\"more\" : { \"a\" : null }\n"
    "  },\n  \"\xf0\x9f\x98\x80 \xe2\x82\xac\",\n  [ ]\n, 17 ]",

    "[0,-0.5,1.25,17,-3,0,1e5,0.001,99999999999999999999,12,3,4,5,6,7,8,9,10,"
    "11,-12,13.5,14,15,16,17,18,19,20,0.21,22,23,24,25,26,27,28,29,30,31,32]",

    "[\"int main(void)\\n{\\n    printf(\\\"hello\\\\n\\\");\\n\\n    return 0;"
    "\\n}\\n\\t\\/* \\ud83d\\ude00 */\\b\\f\\r\",\"C:\\\\dir\\\\\\\\file\\\\\","
    "\"\",\"\\\\\",\"\\\"\",\"z\",\"end of it, nearly there, not yet, now\"]",
};

HELP_TEST(replaced, "replaces or removes each byte at each position of a block")
{
    static const char other[] = "{}[],:\"\\0-.+eE tu\n1\x01\x80\xc3/";
    char room[TEST_BUFFER_SIZE];
    size_t i, pad, at, len, o;
    unsigned wrong;

    wrong = 0;

    for (i = 0; i < HELP_COUNT(test_valid); i++) {
        len = strlen(test_valid[i]);
        CU_ASSERT_EQUAL(ref_check(tg_str_from_cstr(test_valid[i])), TG_OK);

        for (pad = 0; pad < 64; pad += 1 + i % 2) {
            /* White space before or after the text. */
            memset(room, ' ', sizeof(room));
            memcpy(room + pad, test_valid[i], len);
            wrong += test_text(tg_str(room, pad + len));
            wrong += test_text(tg_str(room + pad, len + 80));
        }

        for (at = 1; at < len; at++) {
            for (o = 0; o < sizeof(other); o++) {
                memcpy(room, test_valid[i], len);
                memset(room + len, ' ', 80);

                if (o == sizeof(other) - 1) {
                    memmove(room + at, room + at + 1, len + 79 - at);
                } else {
                    room[at] = other[o];
                }

                wrong += test_text(tg_str(room, len + 79));
            }
        }
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

/* The same replacements in texts so long that blocks are judged in portions. */
HELP_TEST(long_texts, "long texts")
{
    static const char other[] = "}],:\"\\0.e t\x01";
    unsigned wrong;
    size_t i, at, n, len, o;
    char *room;

    room = malloc(TEST_LONG + TEST_BUFFER_SIZE);
    wrong = 0;

    for (i = 0; i < HELP_COUNT(test_valid); i++) {
        len = strlen(test_valid[i]);
        room[0] = '[';

        for (n = 1; n < TEST_LONG; n += len + 1) {
            memcpy(room + n, test_valid[i], len);
            room[n + len] = ',';
        }

        room[n - 1] = ']';
        wrong += test_text(tg_str(room, n));

        for (at = 1 + i; at < n; at += 11) {
            char was = room[at];

            for (o = at % 3; o < sizeof(other) - 1; o += 3) {
                room[at] = other[o];
                wrong += test_text_from(tg_str(room, n),
                                        (at - 1) / (len + 1) * (len + 1));
            }

            room[at] = was;
        }
    }

    free(room);
    CU_ASSERT_EQUAL(wrong, 0);
}

HELP_TEST(one_long_text, "replaces each byte of one text of many blocks")
{
    static const char others[] = "\"\\\n\x7f\xc3}";
    char text[TEST_BUFFER_SIZE];
    unsigned wrong;
    size_t at, i;

    wrong = 0;
    memset(text, 'x', sizeof(text));
    memcpy(text, "[\"", 2);
    memcpy(text + 500, "\",1]", 4);
    memset(text + 504, ' ', 100);
    wrong += test_text(tg_str(text, 604));

    for (at = 2; at < 500; at++) {
        for (i = 0; i < sizeof(others) - 1; i++) {
            text[at] = others[i];
            wrong += test_text(tg_str(text, 604));
        }

        text[at] = 'x';
    }

    CU_ASSERT_EQUAL(wrong, 0);
}

/* The greatest depth, and one level more, where blocks begin and end. */
HELP_TEST(depth, "depth")
{
    char text[TEST_BUFFER_SIZE];
    int n, i, len;

    for (n = TG_JSON_MAX_DEPTH - 3; n <= TG_JSON_MAX_DEPTH + 1; n++) {
        len = 0;

        for (i = 0; i < n; i++) {
            len += sprintf(text + len, "[%s", i % 3 ? "0," : "");
        }

        text[len++] = '0';
        memset(text + len, ']', (size_t) n);
        len += n;
        text[len++] = '\n';
        memset(text + len, ' ', 100);
        CU_ASSERT_EQUAL(test_text(tg_str(text, (size_t) len + 100)), 0);
        CU_ASSERT_EQUAL(tg_json_validate(tg_str(text, (size_t) len + 100),
                                         NULL),
                        n <= TG_JSON_MAX_DEPTH ? TG_OK : TG_LIMIT);
    }
}

HELP_TEST(kinds, "surrogates are reported wherever their escapes are")
{
    static const char *const escapes[] = { "\\n", "\\u00e4", "\\ud834\\udd1e",
                                           "\\uDC00", "x" };
    static const unsigned kinds[] = {
        TG_JSON_HAS_ESCAPES, TG_JSON_HAS_ESCAPES,
        TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES,
        TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES, 0
    };
    char text[TEST_BUFFER_SIZE];
    tg_json_cursor_t json;
    size_t i, pad, n;

    for (i = 0; i < HELP_COUNT(kinds); i++) {
        for (pad = 0; pad < 140; pad++) {
            memset(text, 'a', sizeof(text));
            n = strlen(escapes[i]);
            memcpy(text, "\"\\t", 3);
            memcpy(text + 3 + pad, escapes[i], n);
            text[299] = '"';
            tg_json_init(&json, tg_str(text, 300));
            CU_ASSERT_EQUAL(tg_json_read_value(&json, NULL), TG_OK);
            CU_ASSERT_EQUAL(json.escapes, kinds[i] | TG_JSON_HAS_ESCAPES);
        }
    }
}
