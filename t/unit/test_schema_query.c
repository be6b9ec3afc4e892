/* Declarations of schemas, read from their text. */
#include "schema_help.h"

#include "schema/tg_schema_query.h"

static int
test_is_named(tg_str_t name, tg_str_t key)
{
    return name.len == key.len && (name.data[0] | 0x20) == (key.data[0] | 0x20);
}

/* The schema of a property, or `?`: unknown, `-`: not declared. */
static void
test_declared(const char *schema, const char *name, const char *expected)
{
    tg_str_t key, value;
    int rc;

    rc = tg_schema_query_property(tg_str_from_cstr(schema),
                                  tg_str_from_cstr(schema),
                                  tg_str_from_cstr(name), test_is_named, &key,
                                  &value);

    if (rc != TG_OK) {
        value = rc == TG_AGAIN ? TG_STR("?") : TG_STR("-");
    }

    CU_ASSERT(tg_str_eq(value, tg_str_from_cstr(expected)));
}

HELP_TEST(properties, "properties")
{
    static const char plain[] = "{\"properties\":{\"A\":1,\"a\":2,\"B\":3}}";
    static const char loop[] = "{\"$ref\":\"#\",\"allOf\":[{\"$ref\":\"#\"},"
                               "{\"$ref\":\"#/allOf\"}]}";

    test_declared(plain, "A", "1");
    test_declared(plain, "a", "2");
    test_declared(plain, "b", "3");
    test_declared(plain, "c", "-");
    test_declared("{}", "a", "?");
    test_declared("true", "a", "?");
    test_declared("{\"additionalProperties\":false}", "a", "-");
    test_declared("{\"properties\":{},\"additionalProperties\":true}", "a",
                  "?");
    test_declared("{\"properties\":{},\"patternProperties\":{\"b\":1}}", "a",
                  "?");
    test_declared("{\"$ref\":\"#/$defs/x~1y\",\"$defs\":{\"x/y\":"
                  "{\"properties\":{\"a\":4}}}}",
                  "a", "4");
    test_declared("{\"$ref\":\"else\",\"properties\":{}}", "a", "?");
    test_declared("{\"$ref\":\"#/$defs/no\",\"properties\":{}}", "a", "?");
    test_declared("{\"anyOf\":[{},{\"properties\":{\"a\":5}}]}", "a", "5");
    test_declared("{\"if\":{},\"then\":{\"properties\":{\"a\":6}}}", "a", "6");
    test_declared(loop, "a", "?");
}

HELP_TEST(keywords, "keywords, types and what is required")
{
    tg_str_t schema, value;

    schema = TG_STR("{\"$ref\":\"#/$defs/a\",\"required\":[\"x\"],\"$defs\":"
                    "{\"a\":{\"default\":1,\"type\":[\"array\",\"null\"],"
                    "\"required\":[\"y\"]}}}");
    CU_ASSERT(tg_schema_query_keyword(schema, schema, "default", &value)
              == TG_OK);
    CU_ASSERT(tg_str_eq(value, TG_STR("1")));
    CU_ASSERT(tg_schema_query_keyword(schema, schema, "title", &value)
              == TG_MISSING);
    CU_ASSERT(tg_schema_query_allows_type(schema, schema, "array"));
    CU_ASSERT(!tg_schema_query_allows_type(schema, schema, "string"));
    CU_ASSERT(
        tg_schema_query_allows_type(TG_STR("{}"), TG_STR("{}"), "string"));
    CU_ASSERT(tg_schema_query_is_required(schema, schema, TG_STR("x")));
    CU_ASSERT(tg_schema_query_is_required(schema, schema, TG_STR("y")));
    CU_ASSERT(!tg_schema_query_is_required(schema, schema, TG_STR("z")));
}

HELP_TEST(integers, "integer properties")
{
    static const struct {
        const char *schema;
        int is_integer;
    } rows[] = {
        { "{\"type\":\"integer\"}", 1 },
        { "{\"type\":[\"null\",\"integer\"]}", 1 },
        { "{\"type\":[\"string\",\"integer\"]}", 1 },
        { "{\"type\":[\"number\",\"integer\"]}", 0 },
        { "{\"type\":\"number\"}", 0 },
        { "{\"type\":\"string\"}", 0 },
        { "{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"integer\"}}}",
          1 },
        { "{\"allOf\":[{\"minimum\":1},{\"type\":\"integer\"}]}", 1 },
        { "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}", 1 },
        { "{\"oneOf\":[{\"type\":\"null\"},{\"$ref\":\"#/$defs/n\"}],"
          "\"$defs\":{\"n\":{\"type\":\"integer\"}}}",
          1 },
        { "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}", 0 },
        { "{\"anyOf\":[{\"type\":\"integer\"},{}]}", 0 },
        { "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", 0 },
        { "{\"minimum\":1}", 0 },
        { "{}", 0 },
        { "true", 0 },
    };

    HELP_EACH(row, rows) {
        CU_ASSERT_EQUAL(
            tg_schema_query_is_integer(tg_str_from_cstr(row->schema),
                                       tg_str_from_cstr(row->schema)),
            row->is_integer);
    }
}

HELP_TEST(bound, "a query is bounded")
{
    HELP_BUFFER(text);
    tg_str_t value;
    int i;

    /* Each of them leads to all of them twice. */
    tg_buf_append_cstr(&text, "{\"allOf\":[{\"$ref\":\"#\"}");

    for (i = 0; i < 40; i++) {
        tg_buf_append_cstr(&text, ",{\"$ref\":\"#\"}");
    }

    tg_buf_append_cstr(&text, "]}");
    CU_ASSERT(tg_schema_query_keyword(tg_buf_view(&text), tg_buf_view(&text),
                                      "type", &value)
              == TG_MISSING);
}
