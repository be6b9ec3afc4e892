/* Translated patterns; their matches are in t/schemas. */
#include "schema_help.h"

#include "schema/tg_pattern.h"

/* Each pattern, cut anywhere, is read without going beyond its end. */
HELP_TEST(cut, "cut off")
{
    static const char text[] =
        "^(?<n>[\\d\\u{1F600}-\\p{L}\\ud83d\\ude00]{2,3}?"
        "|(?<=\\k<n>)\\cA\\x41)$\\p{Script=Greek}";
    const char *why;
    unsigned weight;
    char *copy;
    size_t i;

    for (i = 0; i < sizeof(text); i++) {
        HELP_BUFFER(out);

        copy = help_copy(tg_str(text, i));
        (void) tg_pattern_translate(tg_str(copy, i), &out, &weight, &why);
        free(copy);
    }
}

HELP_TEST(weights, "a pattern's weight: the characters between two callouts")
{
    static const struct {
        const char *pattern;
        unsigned weight;
    } rows[] = {
        { "", 1 },
        { "abcdef", 6 },
        { "ab*cde|fg", 4 },
        { "a{500,}", 502 },
        { "(?:a{70}b)+", 72 },
        { "[a-z]\\d.", 3 },
        { "(a)\\1", TG_PATTERN_WEIGHT_MAX },
        { "(?<n>a)\\k<n>", TG_PATTERN_WEIGHT_MAX },
    };
    unsigned weight;
    const char *why;

    HELP_EACH(row, rows) {
        HELP_BUFFER(out);

        weight = 0;
        CU_ASSERT_EQUAL(tg_pattern_translate(tg_str_from_cstr(row->pattern),
                                             &out, &weight, &why),
                        TG_OK);

        if (weight != row->weight) {
            printf("\n    %s: %u", row->pattern, weight);
            CU_FAIL("another weight");
        }
    }
}

HELP_TEST(nesting, "nesting")
{
    const char *why;
    unsigned weight;
    tg_buf_t text, out;
    size_t i, n;

    for (n = 200; n <= 201; n++) {
        tg_buf_init(&text, tg_alloc_libc());
        tg_buf_init(&out, tg_alloc_libc());

        for (i = 0; i < n; i++) {
            tg_buf_append_cstr(&text, "(?:");
        }

        for (i = 0; i < n; i++) {
            tg_buf_append_char(&text, ')');
        }

        CU_ASSERT_EQUAL(tg_pattern_translate(tg_buf_view(&text), &out, &weight,
                                             &why),
                        n == 200 ? TG_OK : TG_INVALID);
        tg_buf_deinit(&text);
        tg_buf_deinit(&out);
    }
}
