/* References, identity, dialects and external documents. */
#include "schema_help.h"

/* The reported schema of a loop depends on where the search starts. */
HELP_TEST(loops, "loops")
{
    static const char *const rows[] = {
        "{\"$ref\":\"#\"}",
        "{\"allOf\":[{\"$ref\":\"#\"}]}",
        "{\"anyOf\":[{\"type\":\"string\"},{\"not\":{\"$ref\":\"#\"}}]}",
        "{\"oneOf\":[true,{\"$ref\":\"#/oneOf/1\"}]}",
        "{\"dependentSchemas\":{\"a\":{\"$ref\":\"#\"}}}",
        "{\"if\":true,\"then\":{\"$ref\":\"#\"}}",
        "{\"if\":{\"$ref\":\"#\"}}",
        "{\"if\":true,\"else\":{\"$ref\":\"#\"}}",
        "{\"$dynamicRef\":\"#n\",\"$dynamicAnchor\":\"n\"}",
        ("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#"
         "/$defs/a\"}}}"),
        "{\"properties\":{\"a\":{\"$ref\":\"#/properties/a\"}}}",
    };
    static const char text[] = ": this schema refers to itself without "
                               "descending into the value, which never ends";
    tg_schema_t *schema;
    tg_str_t got;

    HELP_EACH(row, rows) {
        HELP_BUFFER(error);

        schema = test_compile(tg_alloc_libc(), *row, NULL, &error);
        got = tg_buf_view(&error);
        CU_ASSERT_PTR_NULL(schema);

        if (got.len > sizeof(text)) {
            got = tg_str(got.data + got.len - sizeof(text) + 1,
                         sizeof(text) - 1);
        }

        HELP_EQ(got, text);
        tg_schema_free(schema);
    }
}

/* --- external documents --- */

typedef struct {
    const char *uri;
    const char *text;
} test_document_t;

static const test_document_t test_documents[] = {
    { "http://h.example/int.json", "{\"type\":\"integer\"}" },
    { "http://h.example/dir/a.json",
      "{\"$ref\":\"b.json#/$defs/x\",\"$defs\":{\"back\":{\"$ref\":\""
      "http://h.example/int.json\"}}}" },
    { "http://h.example/dir/b.json",
      "{\"$defs\":{\"x\":{\"items\":{\"$ref\":\"a.json#/$defs/back\"}}}}" },
    { "http://h.example/renamed",
      "{\"$id\":\"http://h.example/real\",\"$defs\":{\"q\":{\"$ref\":"
      "\"int.json\"}}}" },
    { "http://h.example/list", "{\"items\":[{\"type\":\"integer\"}]}" },
    { "http://h.example/seven",
      "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":"
      "[{\"type\":\"integer\"}]}" },
    { "http://h.example/mine",
      "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"required\":"
      "[\"title\"]}" },
    { "http://h.example/vocabularies",
      "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\","
      "\"$vocabulary\":{\"https://json-schema.org/draft/2019-09/vocab/core\":"
      "true,\"https://json-schema.org/draft/2019-09/vocab/applicator\":true,"
      "\"https://json-schema.org/draft/2019-09/vocab/format\":true}}" },
    { "http://h.example/broken", "{\"type\":" },
    { "http://h.example/wrong",
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"x\"}}}" },
    { "http://h.example/novalidation",
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
      "\"$id\":\"http://h.example/novalidation\",\"$vocabulary\":{\"h"
      "ttps://json-schema.org/draft/2020-12/vocab/core\":true,\"https"
      "://json-schema.org/draft/2020-12/vocab/applicator\":true},\"$d"
      "ynamicAnchor\":\"meta\",\"allOf\":[{\"$ref\":\"https://json-sc"
      "hema.org/draft/2020-12/meta/core\"},{\"$ref\":\"https://json-s"
      "chema.org/draft/2020-12/meta/applicator\"}]}" },
    { "http://h.example/optional",
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
      "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab"
      "/core\":true,\"https://json-schema.org/draft/2020-12/vocab/val"
      "idation\":true,\"http://h.example/vocab\":false}}" },
    { "http://h.example/required",
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
      "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab"
      "/core\":true,\"http://h.example/vocab\":true}}" },
    { "http://h.example/asserts",
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
      "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab"
      "/core\":true,\"https://json-schema.org/draft/2020-12/vocab/val"
      "idation\":true,\"https://json-schema.org/draft/2020-12/vocab/a"
      "pplicator\":true,\"https://json-schema.org/draft/2020-12/vocab"
      "/format-assertion\":true}}" },
    { "http://h.example/strict",
      "{\"$schema\":\"http://h.example/strict\",\"$id\":\"http://h.ex"
      "ample/strict\",\"$ref\":\"https://json-schema.org/draft/2020-1"
      "2/schema\",\"properties\":{\"title\":{\"type\":\"string\"}},\""
      "required\":[\"$schema\"]}" },
    { "http://h.example/described",
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
      "\"$ref\":\"https://json-schema.org/draft/2020-12/schema\",\"re"
      "quired\":[\"description\"]}" },
};

/* Each text is valid until the next request. */
static int
test_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    static char text[1024];

    ++*(int *) ctx;

    HELP_EACH(document, test_documents) {
        if (tg_str_eq(uri, tg_str_from_cstr(document->uri))) {
            (void) snprintf(text, sizeof(text), "%s", document->text);
            *raw = tg_str_from_cstr(text);
            return TG_OK;
        }
    }

    return tg_str_eq(uri, TG_STR("http://h.example/locked")) ? TG_INVALID
                                                             : TG_MISSING;
}

static tg_schema_options_t
test_host_options(int *count)
{
    tg_schema_options_t options;

    *count = 0;
    options = test_options();
    options.resolve = test_resolve;
    options.resolve_ctx = count;
    options.base_uri = TG_STR("http://h.example/main.json");

    return options;
}

HELP_TEST(host, "documents")
{
    static const test_row_t rows[] = {
        { "{\"$ref\":\"int.json\"}", "1", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"$ref\":\"http://h.example/int.json#\"}", "1", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"$ref\":\"dir/a.json\"}", "[1]", NULL },
        { NULL, "[\"x\"]", "/0: expected integer, got string" },
        { "{\"$ref\":\"renamed#/$defs/q\"}", "1", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"allOf\":[{\"$ref\":\"renamed#/$defs/q\"},{\"$ref\":\"real#/"
          "$defs/q\"}]}",
          "1", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"$id\":\"http://h.example/int.json\",\"$ref\":\"#/$defs/a\","
          "\"$defs\":{\"a\":{\"type\":\"null\"}}}",
          "null", NULL },
        { "{\"properties\":{\"self\":{\"$ref\":\"main.json\"}},\"type\":"
          "\"object\"}",
          "{\"self\":{}}", NULL },
        { NULL, "{\"self\":1}", "*" },
    };

    tg_schema_options_t options;
    int count;

    options = test_host_options(&count);
    test_rows_with(rows, HELP_COUNT(rows), &options);
}

/* A document's draft is the one it declares, or that of the referrer. */
HELP_TEST(drafts, "drafts")
{
    static const test_row_t rows[] = {
        { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"list\"}",
          "[1]", NULL },
        { NULL, "[\"x\"]", "/0: expected integer, got string" },
        { "{\"$ref\":\"seven\",\"maxItems\":1}", "[1]", NULL },
        { NULL, "[\"x\"]", "*" },
        { NULL, "[1,2]", "*" },
        { "{\"$schema\":\"http://h.example/mine\",\"title\":\"t\",\"items\":"
          "[{\"type\":\"null\"}],\"additionalItems\":false}",
          "[null]", NULL },
        { NULL, "[null,1]", "*" },
        { "{\"$schema\":\"http://h.example/vocabularies\",\"items\":"
          "[{\"format\":\"date\",\"maxLength\":1}],\"unevaluatedItems\":false}",
          "[\"2024-02-29\"]", NULL },
        { NULL, "[\"2023-02-29\"]", "*" },
        { NULL, "[\"2024-02-29\",1]", "*" },
    };
    static const test_invalid_schema_t mistakes[] = {
        { "{\"$ref\":\"list\"}",
          "http://h.example/list#/items: must be one schema for all items; "
          "write a list of schemas as \"prefixItems\"" },
        { "{\"$schema\":\"http://h.example/mine\"}",
          "/$schema: not valid in this dialect: /title: missing; this "
          "property is required" },
    };

    tg_schema_options_t options;
    int count;

    options = test_host_options(&count);
    test_rows_with(rows, HELP_COUNT(rows), &options);
    test_mistakes_with(mistakes, HELP_COUNT(mistakes), &options);
}

HELP_TEST(vocabularies, "vocabularies")
{
    static const test_row_t rows[] = {
        { "{\"$schema\":\"http://h.example/novalidation\",\"properties\":"
          "{\"a\":{\"minimum\":5},\"b\":false}}",
          "{\"a\":1}", NULL },
        { NULL, "{\"b\":1}", "*" },
        { "{\"$schema\":\"http://h.example/optional\",\"type\":\"null\","
          "\"items\":false}",
          "null", NULL },
        { NULL, "[1]", "*" },
        { "{\"$schema\":\"http://h.example/asserts\",\"properties\":{\"d"
          "\":{\"format\":\"date\"}}}",
          "{\"d\":\"2024-02-29\"}", NULL },
        { NULL, "{\"d\":\"2023-02-29\"}",
          "/d: must have the format date, got \"2023-02-29\"" },
        { "{\"$schema\":\"http://h.example/strict\",\"title\":\"t\",\"typ"
          "e\":\"null\"}",
          "null", NULL },
        { NULL, "1", "*" },
        { "{\"$defs\":{\"e\":{\"$schema\":\"http://h.example/novalidation"
          "\",\"$id\":\"e\",\"minimum\":5}},\"$ref\":\"e\",\"maximum\":9}",
          "1", NULL },
        { NULL, "10", "*" },
    };

    tg_schema_options_t options;
    int count;

    options = test_host_options(&count);
    test_rows_with(rows, HELP_COUNT(rows), &options);
}

HELP_TEST(host_mistakes, "errors in documents")
{
    static const test_invalid_schema_t rows[] = {
        { "{\"$ref\":\"broken\"}",
          "/$ref: the document \"http://h.example/broken\" is not valid J"
          "SON: a value is missing (line 1, column 9)" },
        { "{\"$ref\":\"wrong\"}",
          "http://h.example/wrong#/properties/a/type: must be one of stri"
          "ng, number, integer, boolean, object, array, null, or a list o"
          "f them, got \"x\"" },
        { "{\"$ref\":\"absent\"}",
          "/$ref: the document \"http://h.example/absent\" is not known, and "
          "nothing is fetched; put it under \"$defs\" with this \"$id\"" },
        { "{\"$schema\":\"http://h.example/absent\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://h.example/absent\"" },
        { "{\"$schema\":\"http://h.example/required\"}",
          "/$schema: this dialect requires the unknown vocabulary \"http:"
          "//h.example/vocab\"" },
        { "{\"$schema\":\"http://h.example/asserts\",\"format\":\"colour\"}",
          "/format: unknown format, got \"colour\"" },
        { "{\"$schema\":\"http://h.example/described\",\"type\":\"null\"}",
          "/$schema: not valid in this dialect: /description: missing; th"
          "is property is required" },
        { "{\"$schema\":\"http://h.example/broken\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://h.example/broken\"" },
        { "{\"$ref\":\"locked\"}",
          "/$ref: the document \"http://h.example/locked\" cannot be loaded" },
        { "{\"$schema\":\"http://h.example/locked\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://h.example/locked\"" },
    };

    tg_schema_options_t options;
    int count;

    options = test_host_options(&count);
    test_mistakes_with(rows, HELP_COUNT(rows), &options);
}
