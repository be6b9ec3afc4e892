/*
 * Flat objects, checked by the notes of their members.  That the notes say
 * nothing else than the whole check, all suites of the checker ask
 * (schema_help.h); here, which objects take that way at all.
 */
#include "schema_help.h"

/*
 * A whole check needs scratch as soon as the schema names a member, so that
 * without memory only the notes can say that an object fits.
 */
static int
test_by_notes(const char *schema_text, const char *text)
{
    tg_schema_options_t options;
    tg_schema_checker_t *checker;
    tg_json_notes_t notes;
    tg_schema_t *schema;
    help_alloc_t help;
    tg_buf_t error;
    tg_json_t json;
    tg_str_t raw;
    int rc;

    help_alloc_init(&help);
    tg_buf_init(&error, tg_alloc_libc());
    options = test_options();
    schema = test_compile(&help.alloc, schema_text, &options, &error);
    checker = tg_schema_checker_new(&help.alloc, 7);
    tg_json_init(&json, tg_str_c(text));
    CU_ASSERT_EQUAL_FATAL(tg_json_note(&json, &notes, &raw), TG_OK);

    help.fail_at = help.count + 1;
    help.is_lasting = 1;
    rc = tg_schema_check_notes(schema, checker, raw, &notes, NULL);
    CU_ASSERT_TRUE(rc == TG_OK || rc == TG_NOMEM);

    tg_schema_checker_free(checker);
    tg_schema_free(schema);
    tg_buf_deinit(&error);
    CU_ASSERT_EQUAL(help.live, 0);

    return rc == TG_OK;
}

typedef struct {
    const char *schema; /* NULL: as before */
    const char *text;
    int by_notes;
} test_way_t;

static void
test_ways(const test_way_t *rows, size_t n)
{
    const char *schema;
    size_t i;

    schema = NULL;

    for (i = 0; i < n; i++) {
        schema = rows[i].schema != NULL ? rows[i].schema : schema;

        if (test_by_notes(schema, rows[i].text) != rows[i].by_notes) {
            printf("\n    %s\n    with %s\n", schema, rows[i].text);
            CU_FAIL("the other way");
        }
    }
}

#define TEST_WAYS(rows) test_ways(rows, sizeof(rows) / sizeof((rows)[0]))

/* Types, names, what is required, what may be there besides. */
HELP_TEST(usual, "usual schemas")
{
    static const test_way_t rows[] = {
        { "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}"
          ",\"n\":{\"type\":\"integer\"},\"x\":true,\"f\":{\"type\":[\"number"
          "\",\"null\"]}},\"required\":[\"text\"]}",
          "{\"text\":\"a\"}", 1 },
        { NULL, "{\"text\":\"\\n\\ud83d\\ude00\"}", 1 },
        { NULL, "{\"n\":-12,\"text\":\"a\",\"x\":[1,{}],\"f\":null}", 1 },
        { NULL, "{\"text\":\"a\",\"f\":1e400,\"other\":{}}", 1 },
        { NULL, "{\"text\":\"a\",\"n\":1.0}", 0 },
        { NULL, "{\"t\\u0065xt\":\"a\"}", 0 },
        { NULL, "{}", 0 },
        { NULL, "{\"text\":1}", 0 },
        { NULL, "{\"text\":\"a\",\"n\":true}", 0 },
        { NULL, "{\"text\":\"a\",\"text\":\"b\"}", 0 },
        { NULL,
          "{\"text\":\"\",\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,"
          "\"7\":1,\"8\":1,\"9\":1,\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,"
          "\"f\":1}",
          1 },
        { NULL,
          "{\"text\":\"\",\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,"
          "\"7\":1,\"8\":1,\"9\":1,\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,"
          "\"f\":1,\"g\":1}",
          0 },
        { "{\"properties\":{\"a\":{\"type\":\"boolean\"}},"
          "\"additionalProperties\":false}",
          "{\"a\":true}", 1 },
        { NULL, "{\"b\":true}", 0 },
        { "{\"properties\":{\"a\":{\"type\":\"array\"}},"
          "\"additionalProperties\":true,\"minProperties\":1,"
          "\"maxProperties\":2}",
          "{\"a\":[],\"b\":1}", 1 },
        { NULL, "{}", 0 },
        { NULL, "{\"a\":[],\"b\":1,\"c\":2}", 0 },
        { "{\"required\":[\"a\"]}", "{\"a\":1}", 1 },
        { "{\"properties\":{\"a\":false}}", "{\"a\":1}", 0 },
        { NULL, "{\"b\":1}", 1 },
    };

    TEST_WAYS(rows);
}

/* What strings may be, as far as their bytes tell. */
HELP_TEST(strings, "strings")
{
    static const test_way_t rows[] = {
        { "{\"properties\":{\"a\":{\"enum\":[\"on\",\"off\"]}}}",
          "{\"a\":\"off\"}", 1 },
        { NULL, "{\"a\":\"o\\u006e\"}", 0 },
        { NULL, "{\"a\":\"of\"}", 0 },
        { NULL, "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{\"enum\":[\"on\",1]}}}", "{\"a\":\"on\"}",
          0 },
        { "{\"properties\":{\"a\":{\"minLength\":1,\"maxLength\":8}}}",
          "{\"a\":\"12345678\"}", 1 },
        { NULL, "{\"a\":\"123\"}", 0 },
        { NULL, "{\"a\":\"1234567\\n\"}", 0 },
        { NULL, "{\"a\":\"123456789\"}", 0 },
        { NULL, "{\"a\":123456789}", 1 },
        { "{\"properties\":{\"a\":{\"pattern\":\"^x\"}}}", "{\"a\":\"xy\"}",
          0 },
    };

    TEST_WAYS(rows);
}

/* Whatever needs more than the notes. */
HELP_TEST(unusual, "unusual schemas")
{
    static const test_way_t rows[] = {
        { "{\"properties\":{\"a\":{\"const\":1}}}", "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{\"minimum\":1}}}", "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{\"items\":{\"type\":\"null\"}}}}",
          "{\"a\":[]}", 0 },
        { "{\"properties\":{\"a\":{\"required\":[\"b\"]}}}",
          "{\"a\":{\"b\":1}}", 0 },
        { "{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},true]}}}",
          "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/b\"}},\"$defs\":{\"b\":"
          "{\"type\":\"null\"}}}",
          "{\"a\":null}", 0 },
        { "{\"properties\":{\"a\":{\"type\":\"array\",\"unevaluatedItems\":"
          "false}}}",
          "{\"a\":[]}", 0 },
        { "{\"properties\":{\"a\":{\"unevaluatedProperties\":false}}}",
          "{\"a\":{}}", 0 },
        { "{\"properties\":{\"a\":{}},\"patternProperties\":{\"b\":true}}",
          "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{}},\"propertyNames\":{\"maxLength\":3}}",
          "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{}},\"minProperties\":2}",
          "{\"a\":1,\"b\":2}", 0 },
        { "{\"properties\":{\"a\":{}},\"dependentRequired\":{\"a\":[\"b\"]}}",
          "{\"a\":1,\"b\":2}", 0 },
        { "{\"properties\":{\"a\":{}},\"dependentSchemas\":{\"a\":"
          "{\"required\":[\"b\"]}}}",
          "{\"a\":1,\"b\":2}", 0 },
        { "{\"properties\":{\"a\":{}},\"additionalProperties\":"
          "{\"type\":\"null\"}}",
          "{\"a\":1,\"b\":null}", 0 },
        { "{\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}",
          "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{}},\"not\":{\"required\":[\"b\"]}}",
          "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{}},\"enum\":[{\"a\":1}]}", "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{}},\"const\":{\"a\":1}}", "{\"a\":1}", 0 },
        { "{\"properties\":{\"a\":{}},\"$ref\":\"#/$defs/b\",\"$defs\":{\"b\":"
          "{\"required\":[\"a\"]}}}",
          "{\"a\":1}", 0 },
    };

    TEST_WAYS(rows);
}

/* More names than one word has bits. */
HELP_TEST(names, "many names")
{
    char text[4096] = "{\"properties\":{\"n0\":{}";
    char name[32];
    int i;

    for (i = 1; i < 64; i++) {
        snprintf(name, sizeof(name), ",\"n%d\":{}", i);
        strcat(text, name);
    }

    strcat(text, "}}");
    CU_ASSERT_TRUE(test_by_notes(text, "{\"n63\":1,\"n5\":1}"));
    text[strlen(text) - 2] = '\0';
    strcat(text, ",\"n64\":{}}}");
    CU_ASSERT_FALSE(test_by_notes(text, "{\"n63\":1,\"n5\":1}"));
}
