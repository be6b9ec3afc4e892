/* Suggestions for misspelled words. */
#include "protocol_help.h"

#include "base/tg_suggest.h"

static const char *const test_words[] = { "required", "minLength", "maxLength",
                                          "not", NULL };

static void
test_meant(const char *word, const char *expected)
{
    const char *got;

    got = tg_suggest_word(tg_str_from_cstr(word), test_words);
    CU_ASSERT((got == NULL) == (expected == NULL));
    CU_ASSERT(got == NULL || expected == NULL || strcmp(got, expected) == 0);
}

HELP_TEST(suggest, "similar words")
{
    char word[100];

    test_meant("required", "required");
    test_meant("requierd", "required");
    test_meant("Required", "required");
    test_meant("requird", "required");
    test_meant("minlength", "minLength");
    test_meant("maxLenghts", "maxLength");
    test_meant("nto", "not");
    test_meant("nullable", NULL);
    test_meant("", NULL);
    test_meant("x", NULL);
    memset(word, 'r', sizeof(word));
    CU_ASSERT(tg_suggest_word(tg_str(word, sizeof(word)), test_words) == NULL);
}
