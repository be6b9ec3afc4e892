/*
 * The adapter to PCRE2: its contract (tg_schema_regex_engine_t), and ECMA-262
 * as a schema's author sees it, from the schema's text to the verdict. The
 * translation of patterns is in test_schema_pattern.c.
 */
#include "protocol_help.h"

#include "schema/tg_pattern.h"
#include "schema/pcre2/tg_pcre2.h"

#include <time.h>

#define TEST_LIMIT 10000

typedef struct {
    const char *pattern, *text;
    int rc; /* TG_OK: a match, TG_MISSING: none */
} test_row_t;

static double
test_seconds(void)
{
    return (double) clock() / CLOCKS_PER_SEC;
}

/* Returns NULL if it does not compile. */
static void *
test_compile(const char *pattern)
{
    HELP_BUFFER(text);
    HELP_BUFFER(error);
    const char *why;
    unsigned weight;
    void *regex;

    regex = NULL;

    if (tg_pattern_translate(tg_str_from_cstr(pattern), &text, &weight, &why)
            != TG_OK
        || tg_pcre2_get_engine()->compile(NULL, tg_buf_view(&text), &regex,
                                          &error)
               != TG_OK)
    {
        printf("\n    %s: %s\n", pattern, help_text(tg_buf_view(&error)));
        CU_FAIL("see above");
    }

    return regex;
}

static int
test_match(void *regex, tg_str_t text, uint64_t limit)
{
    uint64_t spent;
    char *copy;
    int rc;

    copy = help_copy(text);
    rc = tg_pcre2_get_engine()->match(NULL, regex, tg_str(copy, text.len),
                                      limit, &spent);
    CU_ASSERT(spent <= limit + 1 + text.len / 16);
    free(copy);

    return rc;
}

static void
test_rows(const test_row_t *rows, size_t n)
{
    void *regex;
    size_t i;

    for (i = 0; i < n; i++) {
        regex = test_compile(rows[i].pattern);

        if (regex != NULL
            && test_match(regex, tg_str_from_cstr(rows[i].text), TEST_LIMIT)
                   != rows[i].rc)
        {
            printf("\n    %s on \"%s\"\n", rows[i].pattern, rows[i].text);
            CU_FAIL("see above");
        }

        tg_pcre2_get_engine()->free(NULL, regex);
    }
}

#define TEST_ROWS(rows) test_rows(rows, HELP_COUNT(rows))

/* $ is the end, not the place before a last newline; ^ and $ ignore lines. */
HELP_TEST(anchors, "anchors")
{
    static const test_row_t rows[] = {
        { "^a$", "a", TG_OK },
        { "^a$", "a\n", TG_MISSING },
        { "a$", "b\na", TG_OK },
        { "^a", "b\na", TG_MISSING },
        { "a$", "a\nb", TG_MISSING },
        { "a\\n$", "a\n", TG_OK },
        { "^$", "", TG_OK },
        { "^$", "\n", TG_MISSING },
        { "b", "abc", TG_OK },
        { "^b|^c", "abc", TG_MISSING },
        { "", "", TG_OK },
        { "$^", "", TG_OK },
    };

    TEST_ROWS(rows);
}

HELP_TEST(sets, "digits and words are ASCII, white space is Unicode's")
{
    static const test_row_t rows[] = {
        { "^\\d$", "0", TG_OK },
        { "^\\d$", "\331\243", TG_MISSING }, /* U+0663 */
        { "^\\D$", "\331\243", TG_OK },
        { "^\\w+$", "aZ_9", TG_OK },
        { "^\\w$", "\303\251", TG_MISSING }, /* é */
        { "^\\W$", "\303\251", TG_OK },
        { "^\\s$", "\302\240", TG_OK },     /* U+00A0 */
        { "^\\s$", "\342\200\250", TG_OK }, /* U+2028 */
        { "^\\s$", "\357\273\277", TG_OK }, /* U+FEFF */
        { "^\\s$", "\013", TG_OK },
        { "^\\s$", "\302\205", TG_MISSING },     /* U+0085 */
        { "^\\s$", "\341\240\216", TG_MISSING }, /* U+180E */
        { "^\\S$", "\302\205", TG_OK },
        { "^.$", "\n", TG_MISSING },
        { "^.$", "\342\200\251", TG_MISSING }, /* U+2029 */
        { "^.$", "\302\205", TG_OK },
    };

    TEST_ROWS(rows);
}

HELP_TEST(unicode, "a character is a code point, however many bytes it takes")
{
    static const test_row_t rows[] = {
        { "^.$", "\360\237\230\200", TG_OK }, /* U+1F600 */
        { "^..$", "\360\237\230\200", TG_MISSING },
        { "^\\ud83d\\ude00$", "\360\237\230\200", TG_OK },
        { "^\\u{1f600}{2}$", "\360\237\230\200\360\237\230\200", TG_OK },
        { "^[\\u{1f600}-\\u{1f64f}]$", "\360\237\231\217", TG_OK },
        { "^[^a]$", "\360\237\230\200", TG_OK },
        { "^\\p{L}{2}$", "\303\251\316\262", TG_OK }, /* é β */
        { "^\\p{Lu}$", "\303\251", TG_MISSING },
        { "^\\p{Script=Greek}$", "\316\262", TG_OK },
        { "^k$", "\342\204\252", TG_MISSING }, /* the Kelvin sign */
        { "\\bx", "\303\251x", TG_OK },
    };

    TEST_ROWS(rows);
}

HELP_TEST(groups, "an unmatched group matches the empty text")
{
    static const test_row_t rows[] = {
        { "^(?:(a)|b)\\1$", "b", TG_OK },
        { "^(?:(a)|b)\\1$", "aa", TG_OK },
        { "^\\1(a)$", "a", TG_OK },
        { "^(?<y>\\d)-\\k<y>$", "4-4", TG_OK },
        { "^(?<y>\\d)-\\k<y>$", "4-5", TG_MISSING },
        { "^(?=.*\\d)(?!.*x)\\w+$", "ab1", TG_OK },
        { "^(?=.*\\d)(?!.*x)\\w+$", "ax1", TG_MISSING },
        { "(?<=\\$)\\d", "$5", TG_OK },
        { "(?<!\\$)\\d", "$5", TG_MISSING },
    };

    TEST_ROWS(rows);
}

/* NUL is a character; a text, even an empty one, ends where it ends. */
HELP_TEST(bounds, "bounds")
{
    uint64_t spent;
    void *regex;

    regex = test_compile("^a\\u0000b$");
    CU_ASSERT_EQUAL(test_match(regex, TG_STR("a\0b"), TEST_LIMIT), TG_OK);
    CU_ASSERT_EQUAL(test_match(regex, TG_STR("a"), TEST_LIMIT), TG_MISSING);
    tg_pcre2_get_engine()->free(NULL, regex);

    regex = test_compile("^a?$");
    CU_ASSERT_EQUAL(test_match(regex, TG_STR(""), TEST_LIMIT), TG_OK);
    CU_ASSERT_EQUAL(tg_pcre2_get_engine()->match(NULL, regex, TG_STR_NONE,
                                                 TEST_LIMIT, &spent),
                    TG_OK);
    CU_ASSERT_EQUAL(tg_pcre2_get_engine()->match(NULL, regex, tg_str("ab", 1),
                                                 TEST_LIMIT, &spent),
                    TG_OK);
    tg_pcre2_get_engine()->free(NULL, regex);
}

/*
 * Each match ends soon, and its regex still works. PCRE2 skips texts that lack
 * a required literal, so these texts have the last one.
 */
HELP_TEST(explosions, "explosions")
{
    static const char *const patterns[] = {
        "^(a+)+$",      "^(a|a)*$",   "^(a|aa)+$",
        "(a*)*!!",      "(.*)*!!",    "^(?:a?){50}a{50}$",
        "(?=(a+)+$)a*", "^((a*)*)*$", "(a|b|ab)*(?:a|ba)*!!",
    };
    double start;
    char text[64];
    void *regex;

    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '!';

    HELP_EACH(pattern, patterns) {
        regex = test_compile(*pattern);
        start = test_seconds();

        if (test_match(regex, tg_str(text, sizeof(text)), TEST_LIMIT)
            != TG_LIMIT) {
            printf("\n    %s\n", *pattern);
            CU_FAIL("see above");
        }

        CU_ASSERT(test_seconds() - start < 1);
        CU_ASSERT_NOT_EQUAL(test_match(regex, TG_STR("c"), TEST_LIMIT),
                            TG_LIMIT);
        tg_pcre2_get_engine()->free(NULL, regex);
    }
}

HELP_TEST(limits, "the limit of one match does not affect the next one")
{
    char text[40];
    void *regex;

    memset(text, 'a', sizeof(text));
    regex = test_compile("^(?:a|b)*[cd]$");
    CU_ASSERT_EQUAL(test_match(regex, tg_str(text, sizeof(text)), 5), TG_LIMIT);
    CU_ASSERT_EQUAL(test_match(regex, tg_str(text, sizeof(text)), TEST_LIMIT),
                    TG_MISSING);
    text[sizeof(text) - 1] = 'c';
    CU_ASSERT_EQUAL(test_match(regex, tg_str(text, sizeof(text)), TEST_LIMIT),
                    TG_OK);
    CU_ASSERT_EQUAL(test_match(regex, tg_str(text, sizeof(text)), 5), TG_LIMIT);
    tg_pcre2_get_engine()->free(NULL, regex);
}

HELP_TEST(heap, "a match that needs much memory ends before it allocates it")
{
    uint64_t spent;
    size_t size;
    void *regex;
    char *text;

    size = 4 << 20;
    text = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, 'a', size);
    regex = test_compile("^(?:(a)|b)*$");
    CU_ASSERT_EQUAL(tg_pcre2_get_engine()->match(
                        NULL, regex, tg_str(text, size), UINT64_MAX, &spent),
                    TG_LIMIT);
    tg_pcre2_get_engine()->free(NULL, regex);

    /* A match that needs no memory may be of any length. */
    regex = test_compile("^[ab]*$");
    CU_ASSERT_EQUAL(tg_pcre2_get_engine()->match(
                        NULL, regex, tg_str(text, size), size, &spent),
                    TG_OK);
    tg_pcre2_get_engine()->free(NULL, regex);
    free(text);
}

HELP_TEST(mistakes, "an error of PCRE2 has a message and leaves nothing")
{
    static const char *const patterns[] = {
        "(?<=a*)b", /* a lookbehind of unlimited length */
        "(?:(?:a{1,60000}){1,60000}){1,60000}",
        "\\C",
        "(",
        "[b-a]",
    };
    const tg_schema_regex_engine_t *hooks;
    double start;
    void *regex;

    hooks = tg_pcre2_get_engine();

    HELP_EACH(pattern, patterns) {
        HELP_BUFFER(error);

        regex = &error;
        start = test_seconds();
        CU_ASSERT_EQUAL(hooks->compile(NULL, tg_str_from_cstr(*pattern), &regex,
                                       &error),
                        TG_INVALID);
        CU_ASSERT(test_seconds() - start < 1);
        CU_ASSERT(error.len > 10);
        CU_ASSERT_PTR_EQUAL(regex, &error);
    }

    hooks->free(NULL, NULL);
}

/* --- from the schema's text to the verdict --- */

static void
test_schema(const char *text, const char *instance, int rc, const char *said)
{
    tg_schema_validator_t *validator;
    tg_schema_options_t options;
    tg_schema_t *schema;
    HELP_BUFFER(error);
    double start;

    memset(&options, 0, sizeof(options));
    options.regex = tg_pcre2_get_engine();
    validator = tg_schema_validator_new(tg_alloc_libc(), 1);
    schema = tg_schema_compile(tg_alloc_libc(), tg_str_from_cstr(text),
                               &options, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    start = test_seconds();
    CU_ASSERT_EQUAL(tg_schema_validate(schema, validator,
                                       tg_str_from_cstr(instance), &error),
                    rc);
    CU_ASSERT(test_seconds() - start < 5);
    HELP_EQ(tg_buf_view(&error), said);
    tg_schema_free(schema);
    tg_schema_validator_free(validator);
}

HELP_TEST(schemas, "schemas")
{
    static const char limit[] = "a pattern takes too many steps on this text; "
                                "shorten the text";

    test_schema("{\"pattern\":\"^\\\\d{4}$\"}", "\"2026\"", TG_OK, "");
    test_schema("{\"pattern\":\"^\\\\d{4}$\"}", "\"2026\\n\"", TG_INVALID,
                "(root): must match the pattern \"^\\\\d{4}$\", got "
                "\"2026\\n\"");
    test_schema("{\"pattern\":\"^.$\"}", "\"\\ud83d\\ude00\"", TG_OK, "");
    test_schema("{\"pattern\":\"^$\"}", "\"\"", TG_OK, "");
    test_schema("{\"patternProperties\":{\"^$\":false}}", "{\"\":1}",
                TG_INVALID, "/: no value is allowed here; leave it out");
    test_schema("{\"propertyNames\":{\"pattern\":\"^\\\\w+$\"}}",
                "{\"\\u0061\":1}", TG_OK, "");
    test_schema("{\"pattern\":\"^(a+)+$\"}",
                "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
                TG_LIMIT, limit);
    test_schema("{\"patternProperties\":{\"^(a|a)*$\":true}}",
                "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\":1}",
                TG_LIMIT, limit);
    test_schema("{\"not\":{\"pattern\":\"^(a|a)*$\"}}",
                "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
                TG_LIMIT, limit);
}

HELP_TEST(begins, "possible first characters of a matching text")
{
    static const struct {
        const char *pattern;
        int may_begin; /* may begin with a dash */
    } rows[] = {
        { "^[a-z]+$", 0 }, { "^\\w[\\w-]*$", 0 }, { "^[^-]", 0 },
        { "^(?!-)", 0 },   { "^(?!-).*$", 0 },    { "^(?:[a-z]|[0-9]-)+$", 0 },
        { "^a?b", 0 },     { "^(a|b)$", 0 },      { "^a|^b", 0 },
        { "^$", 0 },       { "^.+$", 1 },         { "^\\S", 1 },
        { "^(?!--)", 1 },  { "^[a-z-]+$", 1 },    { "^[0-9a-f-]{36}$", 1 },
        { "^a?-", 1 },     { "^a*", 1 },          { "^(a|)", 1 },
        { "^a|b", 1 },     { "[a-z]+", 1 },       { "a$", 1 },
        { "(", 1 },
    };

    HELP_EACH(row, rows) {
        CU_ASSERT_EQUAL(tg_pcre2_can_match_prefix(
                            tg_str_from_cstr(row->pattern), TG_STR("-")),
                        row->may_begin);
    }
}
