/*
 * Which schemas of older drafts are taken for ones of 2020-12.
 */
#include "core_help.h"

#include "schema/tg_schema.h"

#define TEST_DRAFT(more)                                                       \
    "{\"type\":\"object\",\"$schema\":"                                        \
    "\"http://json-schema.org/draft-07/schema#\"" more "}"
#define TEST_IN(more)                                                          \
    TEST_DRAFT(",\"properties\":{\"a\":{\"anyOf\":[{" more "}]}}")

static int
test_renew(const char *raw, tg_buf_t *out)
{
    tg_buf_truncate(out, 0);

    return tg_schema_renew(tg_str_c(raw), out);
}

HELP_TEST(same, "what means the same")
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());
    CU_ASSERT(test_renew(TEST_DRAFT(",\"items\":{\"const\":[1.0]}"), &out)
              == TG_OK);
    HELP_EQ(tg_buf_view(&out),
            "{\"type\":\"object\",\"items\":{\"const\":[1.0]}}");
    CU_ASSERT(test_renew("{\"$schema\":"
                         "\"http://json-schema.org/draft-06/schema\"}",
                         &out)
              == TG_OK);
    HELP_EQ(tg_buf_view(&out), "{}");
    tg_buf_deinit(&out);
}

HELP_TEST(other, "what may not")
{
    static const char *const bad[] = {
        TEST_IN("\"$ref\":\"#\""),
        TEST_IN("\"items\":[{}]"),
        TEST_IN("\"items\":{},\"additionalItems\":false"),
        TEST_IN("\"dependencies\":{\"a\":[\"b\"]}"),
        TEST_IN("\"$id\":\"#a\""),
        TEST_IN("\"$schema\":\"http://json-schema.org/draft-07/schema#\""),
        TEST_IN("\"unevaluatedProperties\":false"),
        TEST_IN("\"prefixItems\":[true]"),
        TEST_IN("\"contains\":{},\"minContains\":0"),
        TEST_IN("\"dependentRequired\":{}"),
        TEST_DRAFT(",\"definitions\":{}"),
        TEST_DRAFT(",\"\\u0024ref\":\"#\""),
    };
    static const char *const none[] = {
        "{\"type\":\"object\"}",
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"}",
        "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
        "{\"$schema\":7}",
        "true",
    };
    tg_buf_t out;
    size_t i;

    tg_buf_init(&out, tg_alloc_libc());

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CU_ASSERT(test_renew(bad[i], &out) == TG_BAD);
    }

    for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        CU_ASSERT(test_renew(none[i], &out) == TG_MISSING);
        CU_ASSERT(out.len == 0);
    }

    tg_buf_deinit(&out);
}
