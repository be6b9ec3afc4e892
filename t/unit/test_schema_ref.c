/* References, identity, dialects and documents from the host. */
#include "schema_help.h"

HELP_TEST(pointer, "$ref to a pointer")
{
    static const test_row_t rows[] = {
        { "{\"properties\":{\"foo\":{\"$ref\":\"#\"}},\"additionalPropert"
          "ies\":false}",
          "{\"foo\":{\"foo\":{}}}", NULL },
        { NULL, "{\"foo\":{\"bar\":1}}",
          "/foo/bar: unknown property; known are \"foo\"" },
        { "{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"$ref\":"
          "\"#/properties/a\"}}}",
          "{\"b\":1}", NULL },
        { NULL, "{\"b\":\"x\"}", "/b: expected integer, got string" },
        { "{\"prefixItems\":[{\"type\":\"integer\"},{\"$ref\":\"#/prefixI"
          "tems/0\"}]}",
          "[1,2]", NULL },
        { NULL, "[1,\"x\"]", "/1: expected integer, got string" },
        { "{\"$defs\":{\"a~b\":{\"const\":1},\"c/d\":{\"const\":2},\"e%f"
          "\":{\"const\":3},\"\":{\"\":{\"const\":4}},\"é\":{\"const\":5}"
          "},\"prefixItems\":[{\"$ref\":\"#/$defs/a~0b\"},{\"$ref\":\"#/$"
          "defs/c~1d\"},{\"$ref\":\"#/$defs/e%25f\"},{\"$ref\":\"#/$defs/"
          "/\"},{\"$ref\":\"#/%24defs/%C3%A9\"}]}",
          "[1,2,3,4,5]", NULL },
        { NULL, "[1,2,3,4,6]", "*" },
        { NULL, "[1,2,4,4,5]", "*" },
        { NULL, "[1,2,3,5]", "*" },
        { NULL, "[2]", "*" },
        { NULL, "[1,1]", "*" },
        { "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b"
          "\"},\"b\":{\"type\":\"null\"}},\"description\":\"siblings coun"
          "t\",\"maxLength\":1}",
          "null", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"$ref\":\"#/$defs/o\",\"maxProperties\":1,\"$defs\":{\"o\":{"
          "\"type\":\"object\"}}}",
          "{}", NULL },
        { NULL, "{\"a\":1,\"b\":2}", "*" },
        { "{\"$ref\":\"#/definitions/a\",\"definitions\":{\"a\":{\"proper"
          "ties\":{\"x\":{\"$ref\":\"#/definitions/b\"}}},\"b\":{\"type\""
          ":\"null\"}}}",
          "{\"x\":null}", NULL },
        { NULL, "{\"x\":1}", "*" },
        { "{\"properties\":{\"$ref\":{\"type\":\"string\"},\"a\":{\"$ref"
          "\":\"#/properties/%24ref\"}}}",
          "{\"$ref\":\"x\",\"a\":\"y\"}", NULL },
        { NULL, "{\"$ref\":1}", "/$ref: expected string, got number" },
        { NULL, "{\"a\":1}", "*" },
        { "{\"const\":{\"$ref\":\"#/nowhere\",\"$id\":\"#bad\"},\"enum\":"
          "[{\"$ref\":\"#/nowhere\",\"$id\":\"#bad\"}]}",
          "{\"$ref\":\"#/nowhere\",\"$id\":\"#bad\"}", NULL },
        { "{\"$ref\":\"#/$defs/t\",\"$defs\":{\"t\":true,\"f\":false}}", "1",
          NULL },
        { "{\"$ref\":\"#/$defs/f\",\"$defs\":{\"f\":false}}", "1", "*" },
        { "{\"type\":\"object\",\"properties\":{\"v\":{\"type\":\"number"
          "\"},\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":\"#\"}}},"
          "\"required\":[\"v\"]}",
          "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[{\"v\":3}]}]}", NULL },
        { NULL, "{\"v\":1,\"kids\":[{\"v\":2,\"kids\":[{\"v\":\"3\"}]}]}",
          "/kids/0/kids/0/v: expected number, got string" },
        { NULL, "{\"v\":1,\"kids\":[{}]}",
          "/kids/0/v: missing; this property is required" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(anchor, "$anchor")
{
    static const test_row_t rows[] = {
        { "{\"$ref\":\"#A\",\"$defs\":{\"x\":{\"$anchor\":\"A\",\"type\":"
          "\"integer\"}}}",
          "1", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"$id\":\"http://a.example/r\",\"$ref\":\"other#A\",\"$defs\""
          ":{\"o\":{\"$id\":\"other\",\"$defs\":{\"x\":{\"$anchor\":\"A\""
          ",\"type\":\"null\"}}},\"mine\":{\"$anchor\":\"A\",\"type\":\"s"
          "tring\"}}}",
          "null", NULL },
        { NULL, "\"x\"", "*" },
        { "{\"$ref\":\"#A\",\"$defs\":{\"e\":{\"$id\":\"e\",\"$defs\":{\""
          "x\":{\"$anchor\":\"A\",\"const\":1}}},\"x\":{\"$anchor\":\"A\""
          ",\"const\":2}}}",
          "2", NULL },
        { NULL, "1", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(id, "$id")
{
    static const test_row_t rows[] = {
        { "{\"$id\":\"http://a.example/root.json\",\"properties\":{\"p\":"
          "{\"$ref\":\"item.json\"},\"q\":{\"$ref\":\"/abs.json\"},\"r\":"
          "{\"$ref\":\"http://a.example/dir/x.json#/$defs/d\"}},\"$defs\""
          ":{\"i\":{\"$id\":\"item.json\",\"type\":\"integer\"},\"a\":{\""
          "$id\":\"/abs.json\",\"type\":\"null\"},\"x\":{\"$id\":\"dir/x."
          "json\",\"$defs\":{\"d\":{\"$ref\":\"y.json\"},\"y\":{\"$id\":"
          "\"y.json\",\"const\":\"y\"}}}}}",
          "{\"p\":1,\"q\":null,\"r\":\"y\"}", NULL },
        { NULL, "{\"p\":\"1\"}", "*" },
        { NULL, "{\"q\":1}", "*" },
        { NULL, "{\"r\":\"z\"}", "/r: expected \"y\", got \"z\"" },
        { "{\"$id\":\"http://a.example/b\",\"$ref\":\"#/$defs/x\",\"$defs"
          "\":{\"x\":{\"$id\":\"c\",\"$ref\":\"#/$defs/y\",\"$defs\":{\"y"
          "\":{\"const\":\"inner\"}}},\"y\":{\"const\":\"outer\"}}}",
          "\"inner\"", NULL },
        { NULL, "\"outer\"", "*" },
        { "{\"$id\":\"urn:uuid:deadbeef-1234-0000-0000-4321feebdaed\",\"p"
          "roperties\":{\"a\":{\"$ref\":\"urn:uuid:deadbeef-1234-0000-000"
          "0-4321feebdaed#/$defs/b\"},\"c\":{\"$ref\":\"#here\"}},\"$defs"
          "\":{\"b\":{\"type\":\"null\"},\"d\":{\"$anchor\":\"here\",\"ty"
          "pe\":\"string\"}}}",
          "{\"a\":null,\"c\":\"\"}", NULL },
        { NULL, "{\"a\":1}", "*" },
        { NULL, "{\"c\":1}", "*" },
        { "{\"$id\":\"http://a.example/x/../y/./z.json\",\"$ref\":\"http:"
          "//a.example/y/w.json\",\"$defs\":{\"w\":{\"$id\":\"../y/w.json"
          "\",\"const\":1}}}",
          "1", NULL },
        { NULL, "2", "*" },
        { "{\"$defs\":{\"x\":{\"$id\":\"HTTP://A.example/q#\",\"const\":1"
          "}},\"$ref\":\"http://a.example/q\"}",
          "1", NULL },
        { NULL, "2", "*" },
        { "{\"$id\":\"http://a.example/s\",\"$ref\":\"?v=2\",\"$defs\":{"
          "\"x\":{\"$id\":\"?v=2\",\"const\":1}}}",
          "1", NULL },
        { NULL, "2", "*" },
        { "{\"x-extra\":{\"$id\":\"http://a.example/hidden\",\"const\":1}"
          ",\"$ref\":\"http://a.example/seen\",\"$defs\":{\"x\":{\"$id\":"
          "\"http://a.example/seen\",\"const\":2}}}",
          "2", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(dynamic, "$dynamicRef")
{
    static const test_row_t rows[] = {
        { "{\"$id\":\"http://t.example/strict\",\"$dynamicAnchor\":\"node"
          "\",\"$ref\":\"tree\",\"unevaluatedProperties\":false,\"$defs\""
          ":{\"tree\":{\"$id\":\"tree\",\"$dynamicAnchor\":\"node\",\"typ"
          "e\":\"object\",\"properties\":{\"data\":true,\"kids\":{\"type"
          "\":\"array\",\"items\":{\"$dynamicRef\":\"#node\"}}}}}}",
          "{\"kids\":[{\"data\":1}]}", NULL },
        { NULL, "{\"kids\":[{\"daat\":1}]}",
          "/kids/0/daat: unknown property (unevaluatedProperties)" },
        { NULL, "{\"kids\":[{\"kids\":[{\"x\":1}]}]}", "*" },
        { "{\"$id\":\"http://t.example/strict\",\"$dynamicAnchor\":\"node"
          "\",\"$ref\":\"tree\",\"unevaluatedProperties\":false,\"$defs\""
          ":{\"tree\":{\"$id\":\"tree\",\"$dynamicAnchor\":\"node\",\"typ"
          "e\":\"object\",\"properties\":{\"data\":true,\"kids\":{\"type"
          "\":\"array\",\"items\":{\"$ref\":\"#node\"}}}}}}",
          "{\"kids\":[{\"daat\":1}]}", NULL },
        { NULL, "{\"x\":1}", "*" },
        { "{\"$id\":\"http://t.example/list-of-strings\",\"$ref\":\"list"
          "\",\"$defs\":{\"t\":{\"$dynamicAnchor\":\"T\",\"type\":\"strin"
          "g\"},\"list\":{\"$id\":\"list\",\"type\":\"array\",\"items\":{"
          "\"$dynamicRef\":\"#T\"},\"$defs\":{\"any\":{\"$comment\":\"boo"
          "kend\",\"$dynamicAnchor\":\"T\"}}}}}",
          "[\"a\"]", NULL },
        { NULL, "[1]", "/0: expected string, got number" },
        { "{\"$id\":\"http://t.example/nobookend\",\"$ref\":\"list\",\"$d"
          "efs\":{\"t\":{\"$dynamicAnchor\":\"T\",\"type\":\"string\"},\""
          "list\":{\"$id\":\"list\",\"items\":{\"$dynamicRef\":\"#T\"},\""
          "$defs\":{\"any\":{\"$anchor\":\"T\"}}}}}",
          "[\"a\"]", NULL },
        { NULL, "[1]", NULL },
        { "{\"$id\":\"http://t.example/plain\",\"$ref\":\"list\",\"$defs"
          "\":{\"t\":{\"$anchor\":\"T\",\"type\":\"string\"},\"list\":{\""
          "$id\":\"list\",\"items\":{\"$dynamicRef\":\"#T\"},\"$defs\":{"
          "\"any\":{\"$dynamicAnchor\":\"T\"}}}}}",
          "[1]", NULL },
        { "{\"$id\":\"http://t.example/ptr\",\"$ref\":\"list\",\"$defs\":"
          "{\"t\":{\"$dynamicAnchor\":\"T\",\"type\":\"string\"},\"list\""
          ":{\"$id\":\"list\",\"items\":{\"$dynamicRef\":\"#/$defs/any\"}"
          ",\"$defs\":{\"any\":{\"$dynamicAnchor\":\"T\",\"type\":\"numbe"
          "r\"}}}}}",
          "[1]", NULL },
        { NULL, "[\"a\"]", "*" },
        { "{\"$dynamicRef\":\"#A\",\"$defs\":{\"a\":{\"$dynamicAnchor\":"
          "\"A\",\"type\":\"null\"}}}",
          "null", NULL },
        { NULL, "1", "*" },
        { "{\"$ref\":\"#A\",\"$defs\":{\"a\":{\"$dynamicAnchor\":\"A\",\""
          "type\":\"null\"}}}",
          "null", NULL },
        { NULL, "1", "*" },
        { "{\"$id\":\"http://t.example/main\",\"if\":{\"$id\":\"first\","
          "\"$defs\":{\"t\":{\"$dynamicAnchor\":\"T\",\"type\":\"string\""
          "}}},\"then\":{\"$id\":\"second\",\"$ref\":\"start\",\"$defs\":"
          "{\"t\":{\"$dynamicAnchor\":\"T\",\"type\":\"null\"}}},\"$defs"
          "\":{\"start\":{\"$id\":\"start\",\"$ref\":\"inner\"},\"inner\""
          ":{\"$id\":\"inner\",\"$dynamicRef\":\"#T\",\"$defs\":{\"t\":{"
          "\"$dynamicAnchor\":\"T\"}}}}}",
          "null", NULL },
        { NULL, "\"a\"", "*" },
        { "{\"$id\":\"http://t.example/outer-wins\",\"$dynamicAnchor\":\""
          "N\",\"$ref\":\"mid\",\"maximum\":9,\"$defs\":{\"mid\":{\"$id\""
          ":\"mid\",\"$dynamicAnchor\":\"N\",\"$ref\":\"low\",\"maximum\""
          ":5},\"low\":{\"$id\":\"low\",\"$dynamicAnchor\":\"N\",\"proper"
          "ties\":{\"n\":{\"$dynamicRef\":\"#N\"}},\"maximum\":3}}}",
          "{\"n\":3}", NULL },
        { NULL, "{\"n\":4}", "*" },
        { NULL, "{\"n\":6}", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(metaschema, "metaschema")
{
    static const test_row_t rows[] = {
        { "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", "true",
          NULL },
        { NULL, "{}", NULL },
        { NULL, "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}",
          NULL },
        { NULL, "{\"type\":\"strin\"}", "*" },
        { NULL, "{\"minLength\":-1}", "*" },
        { NULL, "{\"minLength\":2.0}", NULL },
        { NULL, "{\"properties\":{\"a\":{\"properties\":{\"b\":5}}}}",
          "/properties/a/properties/b: expected boolean or object, got nu"
          "mber" },
        { NULL, "{\"required\":[\"a\",\"a\"]}",
          "/required: items must be unique, but 0 and 1 are equal: \"a\"" },
        { NULL, "{\"$id\":\"x#y\"}", "*" },
        { NULL, "{\"$defs\":{\"a\":{\"$anchor\":\"1\"}}}", "*" },
        { NULL, "{\"items\":[]}", "*" },
        { NULL, "{\"dependencies\":{\"a\":[\"b\"]}}", NULL },
        { NULL, "{\"definitions\":{\"a\":1}}", "*" },
        { NULL, "1", "*" },
        { "{\"$ref\":\"https://json-schema.org/draft/2020-12/meta/validat"
          "ion\"}",
          "{\"maxLength\":\"1\"}", "*" },
        { NULL, "{\"items\":5}", NULL },
        { "{\"$ref\":\"https://json-schema.org/draft/2020-12/meta/core#/$"
          "defs/anchorString\"}",
          "\"a1\"", NULL },
        { NULL, "\"1a\"", "*" },
        { "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
          "\"type\":\"null\"}",
          "null", NULL },
        { NULL, "1", "*" },
        { "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema#\""
          ",\"type\":\"null\"}",
          "1", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(missing, "references to nothing")
{
    static const test_mistake_t rows[] = {
        { "{\"$ref\":\"#/$defs/x\"}",
          "/$ref: \"#/$defs/x\" leads to nothing; see that this path is i"
          "n the schema" },
        { "{\"properties\":{\"a\":{\"$ref\":\"#nope\"}}}",
          "/properties/a/$ref: \"#nope\": no schema has this anchor; a pa"
          "th starts with \"#/\"" },
        { "{\"$ref\":\"#/properties\"}",
          "/$ref: \"#/properties\" leads to nothing; see that this path i"
          "s in the schema" },
        { "{\"$ref\":\"#/required\",\"required\":[\"a\"]}",
          "/$ref: \"#/required\" leads to something that is no schema" },
        { "{\"$ref\":\"#/allOf/01\",\"allOf\":[true,true]}",
          "/$ref: \"#/allOf/01\" leads to nothing; see that this path is "
          "in the schema" },
        { "{\"$ref\":\"#/allOf/-\",\"allOf\":[true,true]}",
          "/$ref: \"#/allOf/-\" leads to nothing; see that this path is i"
          "n the schema" },
        { "{\"$ref\":\"other.json\"}",
          "/$ref: the document \"schema:///other.json\" is not known; not"
          "hing is ever fetched: put it under \"$defs\" with this \"$id\"" },
        { "{\"$ref\":\"http://evil.example/x\"}",
          "/$ref: the document \"http://evil.example/x\" is not known; no"
          "thing is ever fetched: put it under \"$defs\" with this \"$id"
          "\"" },
        { "{\"$dynamicRef\":\"#x\"}",
          "/$dynamicRef: \"#x\": no schema has this anchor; a path starts"
          " with \"#/\"" },
        { "{\"$ref\":\"#/%FF\"}", "/$ref: \"#/%FF\" is not valid UTF-8" },
        { "{\"$ref\":\"a b\"}", "/$ref: must be a URI reference, got \"a b\"" },
        { "{\"$ref\":5}", "/$ref: must be a string, got 5" },
        { "{\"x-e\":{\"$id\":\"http://a.example/hidden\"},\"$ref\":\"http"
          "://a.example/hidden\"}",
          "/$ref: the document \"http://a.example/hidden\" is not known; "
          "nothing is ever fetched: put it under \"$defs\" with this \"$i"
          "d\"" },
    };

    TEST_MISTAKES(rows);
}

/* Which schema of a loop is named depends on where the search starts. */
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
    static const char text[] = ": this schema refers to itself without going "
                               "into the value, which never ends";
    tg_schema_t *schema;
    tg_str_t got;
    tg_buf_t error;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tg_buf_init(&error, tg_alloc_libc());
        schema = test_compile(tg_alloc_libc(), rows[i], NULL, &error);
        got = tg_buf_view(&error);
        CU_ASSERT_PTR_NULL(schema);

        if (got.len > sizeof(text)) {
            got = tg_str(got.data + got.len - sizeof(text) + 1,
                         sizeof(text) - 1);
        }

        HELP_EQ(got, text);
        tg_schema_free(schema);
        tg_buf_deinit(&error);
    }
}

/* --- documents from the host --- */

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
      "{\"$defs\":{\"x\":{\"items\":{\"$ref\":\"a.json#/$defs/back\"}"
      "}}}" },
    { "http://h.example/renamed",
      "{\"$id\":\"http://h.example/real\",\"$defs\":{\"q\":{\"$ref\":"
      "\"int.json\"}}}" },
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

static int
test_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    size_t i;

    ++*(int *) ctx;

    for (i = 0; i < sizeof(test_documents) / sizeof(test_documents[0]); i++) {
        if (tg_str_eq(uri, tg_str_c(test_documents[i].uri))) {
            *raw = tg_str_c(test_documents[i].text);
            return TG_OK;
        }
    }

    return tg_str_eq(uri, TG_STR("http://h.example/locked")) ? TG_BAD
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
    test_rows_with(rows, sizeof(rows) / sizeof(rows[0]), &options);
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
    test_rows_with(rows, sizeof(rows) / sizeof(rows[0]), &options);
}

HELP_TEST(host_mistakes, "mistakes in documents")
{
    static const test_mistake_t rows[] = {
        { "{\"$ref\":\"broken\"}",
          "/$ref: the document \"http://h.example/broken\" is not valid J"
          "SON: a value is missing (line 1, column 9)" },
        { "{\"$ref\":\"wrong\"}",
          "http://h.example/wrong#/properties/a/type: must be one of stri"
          "ng, number, integer, boolean, object, array, null, or a list o"
          "f them, got \"x\"" },
        { "{\"$ref\":\"absent\"}",
          "/$ref: the document \"http://h.example/absent\" is not known; "
          "nothing is ever fetched: put it under \"$defs\" with this \"$i"
          "d\"" },
        { "{\"$schema\":\"http://h.example/absent\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://h.example/absent\"" },
        { "{\"$schema\":\"http://h.example/required\"}",
          "/$schema: this dialect requires the unknown vocabulary \"http:"
          "//h.example/vocab\"" },
        { "{\"$schema\":\"http://h.example/asserts\",\"format\":\"colour"
          "\"}",
          "/format: unknown format, got \"colour\"" },
        { "{\"$schema\":\"http://h.example/described\",\"type\":\"null\"}",
          "/$schema: not valid in this dialect: /description: missing; th"
          "is property is required" },
        { "{\"$schema\":\"http://h.example/broken\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://h.example/broken\"" },
        { "{\"$ref\":\"locked\"}",
          "/$ref: the document \"http://h.example/locked\" cannot be had" },
        { "{\"$schema\":\"http://h.example/locked\"}",
          "/$schema: unknown dialect: write \"https://json-schema.org/dra"
          "ft/2020-12/schema\", got \"http://h.example/locked\"" },
    };

    tg_schema_options_t options;
    int count;

    options = test_host_options(&count);
    test_mistakes_with(rows, sizeof(rows) / sizeof(rows[0]), &options);
}
