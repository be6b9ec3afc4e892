/* Valid names in configs, and the roots of schemas. */
#include "protocol_help.h"

#include "catalog/tg_catalog.h"

static void
test_name(tg_catalog_entry_type_t kind, tg_str_t name, int is_valid,
          int is_warned)
{
    const char *why;
    int is_warning;

    is_warning = 42;
    why = tg_catalog_check_name(kind, name, &is_warning);
    CU_ASSERT(is_warning == is_warned);
    CU_ASSERT((why == NULL) == (is_valid && !is_warned));
}

static void
test_names(tg_catalog_entry_type_t type, const char *const *names, size_t n,
           int is_valid, int is_warned)
{
    while (n-- > 0) {
        test_name(type, tg_str_from_cstr(names[n]), is_valid, is_warned);
    }
}

HELP_TEST(tools, "tools")
{
    static const char *const valid[] = { "a", "Word_count-2", "0", "ping" };
    static const char *const warned[] = { "a.b", ".", "tools.list" };
    static const char *const invalid[] = { "",    "a b",       "a/b",
                                           "a:b", "\xc3\xa9",  "a\n",
                                           "a\"", "tools/list" };
    char name[TG_NAME_MAX + 1];

    test_names(TG_ENTRY_TOOL, valid, HELP_COUNT(valid), 1, 0);
    test_names(TG_ENTRY_TOOL, warned, HELP_COUNT(warned), 1, 1);
    test_names(TG_ENTRY_TOOL, invalid, HELP_COUNT(invalid), 0, 0);
    test_name(TG_ENTRY_TOOL, tg_str("a\0b", 3), 0, 0);
    memset(name, 'n', sizeof(name));
    test_name(TG_ENTRY_TOOL, tg_str(name, TG_NAME_AGENT_MAX), 1, 0);
    test_name(TG_ENTRY_TOOL, tg_str(name, TG_NAME_AGENT_MAX + 1), 1, 1);
    test_name(TG_ENTRY_TOOL, tg_str(name, TG_NAME_MAX), 1, 1);
    test_name(TG_ENTRY_TOOL, tg_str(name, TG_NAME_MAX + 1), 0, 0);
}

HELP_TEST(methods, "methods")
{
    static const char *const valid[] = {
        "build.status", "sum", "a/b", "resources/lists", "tools/lists", "$x",
        "rpc",          "a:b", "~"
    };
    /* clang-format off */
    static const char *const invalid[] = {
        "", "a b", "a\tb", "a\"b", "a\\b", "\x7f", "\xc3\xa9", "ping",
        "initialize", "tools/list", "tools/call", "server/discover",
        "subscriptions/listen", "rpc.x", "$/cancelRequest", "notifications/x",
        "notifications/",
    };
    /* clang-format on */
    char name[TG_NAME_MAX + 1];

    test_names(TG_ENTRY_METHOD, valid, HELP_COUNT(valid), 1, 0);
    test_names(TG_ENTRY_METHOD, invalid, HELP_COUNT(invalid), 0, 0);
    test_name(TG_ENTRY_METHOD, tg_str("a\0b", 3), 0, 0);
    memset(name, 'n', sizeof(name));
    test_name(TG_ENTRY_METHOD, tg_str(name, TG_NAME_MAX), 1, 0);
    test_name(TG_ENTRY_METHOD, tg_str(name, TG_NAME_MAX + 1), 0, 0);
}

HELP_TEST(schemas, "schemas")
{
    static const char *const valid[] = {
        "{\"type\":\"object\"}",
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
        "\"type\":\"object\",\"properties\":{}}",
        "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema#\","
        "\"type\":\"\\u006fbject\"}",
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
        "\"type\":\"object\"}",
    };
    static const struct {
        const char *schema, *word;
    } invalid[] = {
        { "true", "JSON object" },
        { "[]", "JSON object" },
        { "{}", "\"type\":\"object\"" },
        { "{\"type\":\"string\"}", "\"type\":\"object\"" },
        { "{\"type\":[\"object\"]}", "\"type\":\"object\"" },
        { "{\"properties\":{\"type\":\"object\"}}", "\"type\":\"object\"" },
    };
    const char *why;

    HELP_EACH(row, valid) {
        CU_ASSERT(tg_tool_check_schema(tg_str_from_cstr(*row)) == NULL);
    }

    HELP_EACH(row, invalid) {
        why = tg_tool_check_schema(tg_str_from_cstr(row->schema));
        CU_ASSERT(why != NULL && strstr(why, row->word) != NULL);
    }
}

HELP_TEST(prompts, "prompts")
{
    static const char *const valid[] = { "a", "Code_review-2" };
    static const char *const warned[] = { "a.b", "a:b", "a/b" };
    static const char *const invalid[] = { "", "a b", "\xc3\xa9", "a\"" };
    char name[TG_NAME_MAX + 1];

    test_names(TG_ENTRY_PROMPT, valid, HELP_COUNT(valid), 1, 0);
    test_names(TG_ENTRY_PROMPT, warned, HELP_COUNT(warned), 1, 1);
    test_names(TG_ENTRY_PROMPT, invalid, HELP_COUNT(invalid), 0, 0);
    memset(name, 'n', sizeof(name));
    test_name(TG_ENTRY_PROMPT, tg_str(name, TG_NAME_AGENT_MAX + 1), 1, 1);
    test_name(TG_ENTRY_PROMPT, tg_str(name, TG_NAME_MAX + 1), 0, 0);
}

HELP_TEST(resources, "URIs of resources")
{
    static const char *const valid[] = { "a:b", "notes:///today",
                                         "x-y+z.1:?a=%20#f", "file:///" };
    static const char *const warned[] = { "https://a/", "http://a/" };
    static const char *const invalid[] = {
        "",     ":",     "a:",    "a",    "/a",         "1a:b", "a:b c",
        "a:%2", "a:%zz", "a:{x}", "a:\"", "a:\xc3\xa9", "a_b:c"
    };
    char uri[TG_URI_MAX + 1];

    test_names(TG_ENTRY_RESOURCE, valid, HELP_COUNT(valid), 1, 0);
    test_names(TG_ENTRY_RESOURCE, warned, HELP_COUNT(warned), 1, 1);
    test_names(TG_ENTRY_RESOURCE, invalid, HELP_COUNT(invalid), 0, 0);
    memset(uri, 'n', sizeof(uri));
    uri[1] = ':';
    test_name(TG_ENTRY_RESOURCE, tg_str(uri, TG_URI_MAX), 1, 0);
    test_name(TG_ENTRY_RESOURCE, tg_str(uri, TG_URI_MAX + 1), 0, 0);
}

HELP_TEST(kinds, "names of kinds")
{
    CU_ASSERT_STRING_EQUAL(tg_entry_type_name(TG_ENTRY_TOOL), "tool");
    CU_ASSERT_STRING_EQUAL(tg_entry_type_name(TG_ENTRY_TEMPLATE),
                           "resource_template");
}
