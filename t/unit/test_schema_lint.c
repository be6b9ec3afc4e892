/* Warnings about valid schemas that probably mean something else. */
#include "schema_help.h"

#include "schema/tg_schema_lint.h"

static void
test_on_warning(void *ctx, tg_str_t remark)
{
    tg_buf_t *all = ctx;

    tg_buf_append_str(all, remark);
    tg_buf_append_char(all, '\n');
}

static void
test_warnings(const char *schema, const char *expected)
{
    HELP_BUFFER(all);

    CU_ASSERT(tg_schema_lint(tg_str_from_cstr(schema), test_on_warning, &all)
              == TG_OK);

    if (!tg_str_eq(tg_buf_view(&all), tg_str_from_cstr(expected))) {
        test_report(schema, "", expected, tg_buf_view(&all));
        CU_FAIL("other remarks");
    }
}

HELP_TEST(remarks, "warnings")
{
    test_warnings("{\"type\":\"object\",\"properties\":{\"a\":{\"x-b\":1}},"
                  "\"required\":[\"a\"],\"$defs\":{\"nullable\":true}}",
                  "");
    test_warnings("{\"requierd\":1}",
                  "(root): \"requierd\" is not a keyword and has no effect; "
                  "did "
                  "you mean \"required\"?\n");
    test_warnings("{\"allOf\":[{\"foo\":1}]}",
                  "/allOf: \"foo\" is not a keyword and has no effect; remove "
                  "it, or prefix it with \"x-\"\n");
    test_warnings("{\"properties\":{\"a\":{}},\"required\":[\"b\"]}",
                  "(root): \"required\" names \"b\", which \"properties\" does "
                  "not declare; declare it or correct the name\n");
    test_warnings("{\"anyOf\":[{\"required\":[\"b\"]}]}", "");
    test_warnings(
        "{\"items\":{\"type\":\"array\",\"default\":{}}}",
        "/items: the \"default\" {} does not match its \"type\" \"array\"; "
        "correct one of them\n");
    test_warnings("{\"default\":{\"foo\":1},\"enum\":[{\"foo\":1}]}", "");
    test_warnings("{\"type\":\"integer\",\"default\":2.0}", "");
    test_warnings("true", "");
}

#define TEST_SEVEN "\"$schema\":\"http://json-schema.org/draft-07/schema#\","

HELP_TEST(drafts, "keywords of other drafts")
{
    test_warnings(
        "{" TEST_SEVEN "\"items\":[{\"foo\":1}],\"additionalItems\":"
        "{\"bar\":1},\"definitions\":{\"a\":{}},\"dependencies\":{}}",
        "/items: \"foo\" is not a keyword and has no effect; remove it, or "
        "prefix it with \"x-\"\n"
        "/additionalItems: \"bar\" is not a keyword and has no effect; "
        "remove it, or prefix it with \"x-\"\n");
    test_warnings(
        "{" TEST_SEVEN "\"prefixItems\":[{}]}",
        "(root): \"prefixItems\" is not a keyword of draft 7 and has no "
        "effect; see \"$schema\"\n");
    test_warnings(
        "{\"properties\":{\"a\":{\"dependencies\":{}}},\"definitions\":{}}",
        "/properties/a: \"dependencies\" is not a keyword of 2020-12 and has "
        "no effect; see \"$schema\"\n");
    test_warnings(
        "{\"$schema\":\"http://json-schema.org/draft-04/schema#\","
        "\"id\":\"http://a.example/\",\"$id\":\"x\",\"examples\":[]}",
        "(root): \"$id\" is not a keyword of draft 4 and has no effect; see "
        "\"$schema\"\n");
    test_warnings(
        "{" TEST_SEVEN "\"type\":\"object\",\"$ref\":\"#/definitions/a\","
        "\"title\":\"t\",\"required\":[\"b\"],\"definitions\":{\"a\":{}}}",
        "(root): \"required\" has no effect beside \"$ref\" in draft "
        "7; put both into an \"allOf\"\n");
    test_warnings("{\"$schema\":\"http://a.example/\",\"prefixItems\":[{}],"
                  "\"dependencies\":{}}",
                  "");
}

HELP_TEST(many, "a bounded number of warnings")
{
    HELP_BUFFER(schema);
    HELP_BUFFER(all);
    size_t i, n;

    tg_buf_append_cstr(&schema, "{\"title\":\"\"");

    for (i = 0; i < 100; i++) {
        tg_buf_printf(&schema, ",\"unknown%zu\":1", i);
    }

    tg_buf_append_char(&schema, '}');
    CU_ASSERT(tg_schema_lint(tg_buf_view(&schema), test_on_warning, &all)
              == TG_OK);

    for (i = n = 0; i < all.len; i++) {
        n += all.data[i] == '\n';
    }

    CU_ASSERT(n == TG_SCHEMA_LINT_MAX_WARNINGS);
}
