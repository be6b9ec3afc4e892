/* Schemas of several files. */
#include "schema_help.h"

#include "schema/tg_schema_bundle.h"

/* name, text, name, text, …, NULL */
static int
test_fetch(void *ctx, tg_str_t name, tg_str_t *raw)
{
    const char *const *file;

    for (file = ctx; *file != NULL; file += 2) {
        if (tg_str_eq(name, tg_str_from_cstr(file[0]))) {
            *raw = tg_str_from_cstr(file[1]);
            return TG_OK;
        }
    }

    return TG_INVALID;
}

/* `expected` begins with `!` for an error. */
static void
test_made(const char *raw, const char *const *others, const char *expected)
{
    tg_schema_bundle_source_t files = { tg_alloc_libc(), TG_STR("main.json"),
                                        test_fetch, (void *) others };
    tg_schema_t *schema;
    HELP_BUFFER(out);
    HELP_BUFFER(error);
    tg_str_t got;
    int rc;

    rc = tg_schema_bundle(&files, tg_str_from_cstr(raw), &out, &error);
    got = rc == TG_OK ? tg_buf_view(&out) : tg_buf_view(&error);
    CU_ASSERT(rc == (expected[0] == '!' ? TG_INVALID : TG_OK));

    if (!tg_str_eq(got, tg_str_from_cstr(expected + (expected[0] == '!')))) {
        test_report(raw, "", expected, got);
        CU_FAIL("another bundle");
    }

    if (rc == TG_OK) {
        schema = tg_schema_compile(tg_alloc_libc(), got, NULL, &error);
        CU_ASSERT(schema != NULL);
        tg_schema_free(schema);
    }
}

HELP_TEST(bundles, "files become one schema")
{
    static const char *const none[] = { NULL };
    static const char *const two[] = {
        "a.json",
        "{\"$id\":\"x\",\"$schema\":"
        "\"https://json-schema.org/draft/2020-12/schema\",\"items\":"
        "{\"$ref\":\"#/$defs/i\"},\"$defs\":{\"i\":{\"$ref\":\"b-1.json\"}}}",
        "b-1.json",
        "{\"anyOf\":[{\"$ref\":\"main.json#/properties/n\"},"
        "{\"items\":{\"$ref\":\"#\"}},true]}",
        NULL
    };

    test_made("{ \"type\" : \"object\" }", none, "{\"type\":\"object\"}");
    test_made("true", none, "true");
    test_made("\n {\"properties\":{\"n\":{},\"b\":{\"$ref\":\"b-1.json\"}}}\n",
              two,
              "{\"properties\":{\"n\":{},\"b\":{\"$ref\":"
              "\"#/$defs/b-1.json\"}},\"$defs\":{\"b-1.json\":{\"anyOf\":"
              "[{\"$ref\":\"#/properties/n\"},{\"items\":"
              "{\"$ref\":\"#/$defs/b-1.json\"}},true]}}}");
    test_made("{}", none, "{}");
    test_made("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{}},\"x-y\":1}", none,
              "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{}},\"x-y\":1}");
    test_made("{\"const\":{\"$ref\":\"a.json\"},\"properties\":"
              "{\"$ref\":{\"default\":{\"$ref\":\"a.json\"}}}}",
              none,
              "{\"const\":{\"$ref\":\"a.json\"},\"properties\":"
              "{\"$ref\":{\"default\":{\"$ref\":\"a.json\"}}}}");
    test_made("{\"properties\":{\"n\":{},\"l\":{\"$ref\":\"./a.json\"}},"
              "\"$defs\":{\"own\":{\"$ref\":\"a.json#/$defs/i\"}}}",
              two,
              "{\"properties\":{\"n\":{},\"l\":{\"$ref\":\"#/$defs/a.json\"}},"
              "\"$defs\":{\"own\":{\"$ref\":\"#/$defs/a.json/$defs/i\"},"
              "\"a.json\":{\"items\":{\"$ref\":\"#/$defs/a.json/$defs/i\"},"
              "\"$defs\":{\"i\":{\"$ref\":\"#/$defs/b-1.json\"}}},"
              "\"b-1.json\":{\"anyOf\":[{\"$ref\":\"#/properties/n\"},"
              "{\"items\":{\"$ref\":\"#/$defs/b-1.json\"}},true]}}}");
    test_made("{\"$defs\":{\"x\":{\"$ref\":\"b-1.json\"}},\"properties\":"
              "{\"n\":{}}}",
              two,
              "{\"properties\":{\"n\":{}},\"$defs\":{\"x\":"
              "{\"$ref\":\"#/$defs/b-1.json\"},\"b-1.json\":{\"anyOf\":"
              "[{\"$ref\":\"#/properties/n\"},{\"items\":"
              "{\"$ref\":\"#/$defs/b-1.json\"}},true]}}}");
}

HELP_TEST(drafts, "files of an older draft")
{
    static const char *const files[] = {
        "a.json",
        "{\"$schema\":\"http:\\/\\/json-schema.org\\/draft-04\\/schema\","
        "\"id\":\"x\",\"items\":[{\"$ref\":\"#/definitions/i\"}],"
        "\"additionalItems\":{\"$ref\":\"b.json\"},"
        "\"definitions\":{\"i\":{\"$id\":5}}}",
        "b.json", "{\"dependencies\":{\"x\":{\"$ref\":\"main.json\"}}}", NULL
    };

    test_made("{\"$schema\":\"http://json-schema.org/draft-04/schema#\","
              "\"$ref\":\"a.json\"}",
              files,
              "{\"$schema\":\"http://json-schema.org/draft-04/schema#\","
              "\"$ref\":\"#/$defs/a.json\",\"$defs\":{\"a.json\":{\"items\":"
              "[{\"$ref\":\"#/$defs/a.json/definitions/i\"}],"
              "\"additionalItems\":{\"$ref\":\"#/$defs/b.json\"},"
              "\"definitions\":{\"i\":{\"$id\":5}}},\"b.json\":{"
              "\"dependencies\":{\"x\":{\"$ref\":\"#\"}}}}}");
    test_made("{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
              "\"$ref\":\"a.json\"}",
              files,
              "!a.json: \"$schema\" names another draft than the first file; "
              "write the same in both");
    test_made("{\"$ref\":\"a.json\"}", files,
              "!a.json: \"$schema\" names another draft than the first file; "
              "write the same in both");
}

HELP_TEST(mistakes, "schemas that cannot be bundled")
{
    static const char *const files[] = {
        "a.json",  "{\"$ref\":\"/etc/passwd\"}",
        "id.json", "{\"items\":{\"$id\":\"y\"}}",
        "ok.json", "{}",
        NULL
    };

    test_made("{\"$ref\":\"../a.json\"}", files,
              "!main.json: \"../a.json\" leads to no file in the same folder; "
              "a file name consists of letters, digits, \"_\", \"-\" and "
              "\".\"");
    test_made("{\"$ref\":\"a.json\"}", files,
              "!a.json: \"/etc/passwd\" leads to no file in the same folder; "
              "a file name consists of letters, digits, \"_\", \"-\" and "
              "\".\"");
    test_made("{\"$ref\":\"none.json\"}", files, "!");
    test_made("{\"$ref\":\"id.json\"}", files,
              "!main.json: \"$id\" below the root of a schema changes where a "
              "$ref leads, which is not supported across files; remove it");
    test_made("{\"$ref\":\"ok.json\",\"$defs\":{\"ok.json\":true}}", files,
              "!main.json: \"$defs\" has a member with the name of a "
              "referenced file; rename one of them");
}

/* Each file refers to the next one. */
static int
test_endless(void *ctx, tg_str_t name, tg_str_t *raw)
{
    static char texts[TG_SCHEMA_BUNDLE_MAX_FILES + 1][40];
    size_t *n;

    (void) name;
    n = ctx;
    (void) snprintf(texts[*n], sizeof(texts[*n]), "{\"$ref\":\"f%zu\"}", *n);
    *raw = tg_str_from_cstr(texts[(*n)++]);

    return TG_OK;
}

HELP_TEST(bound, "the largest number of files")
{
    tg_buf_t out, error;
    size_t n;

    n = 0;

    {
        tg_schema_bundle_source_t files = { tg_alloc_libc(),
                                            TG_STR("main.json"), test_endless,
                                            &n };

        tg_buf_init(&out, tg_alloc_libc());
        tg_buf_init(&error, tg_alloc_libc());
        CU_ASSERT(tg_schema_bundle(&files, TG_STR("{\"$ref\":\"first\"}"), &out,
                                   &error)
                  == TG_INVALID);
    }

    CU_ASSERT(n == TG_SCHEMA_BUNDLE_MAX_FILES - 1);
    tg_buf_append_char(&error, '\0');
    CU_ASSERT(strstr(error.data, "at most 64") != NULL);
    tg_buf_deinit(&out);
    tg_buf_deinit(&error);
}
