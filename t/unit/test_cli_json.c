/* JSON documents of json-c: numbers and texts are written as they came. */
#include "cli/tg_cli_json.h"

#include "protocol_help.h"

static json_object *
test_parse(const char *json)
{
    json_object *value;

    CU_ASSERT_FATAL(tg_cli_json_parse(tg_str_from_cstr(json), &value) == TG_OK);

    return value;
}

HELP_TEST(same, "texts that are written as they were")
{
    static const char *const texts[] = {
        "null",
        "1",
        "-0",
        "[0,-0,1.10,1e5,1E400,-1.5e-300,0.0,-0.0]",
        "[9223372036854775807,9223372036854775808,18446744073709551616]",
        "{\"n\":12345678901234567890123,\"m\":-12345678901234567890123}",
        "[1234567890123456789012.5,12345678901234567890e1]",
        "[-0,2.5e-0007,1e-0005,12345678901234567890123]",
        "[true,false,null,{},[],\"\"]",
        "[\"a/b\\\\\\\"\\n\\u0001\\u0000é 12345678901234567890123 -0\"]",
        "{\"12345678901234567890123\":\"-0\",\"z\":1,\"a\":2}",
    };
    json_object *value;

    HELP_EACH(text, texts) {
        value = test_parse(*text);
        HELP_EQ(tg_cli_json_write(value), *text);
        json_object_put(value);
    }
}

HELP_TEST(compact, "white space is removed, escapes are decoded")
{
    json_object *value;

    value = test_parse(" { \"a\" : [ 12345678901234567890123 ,\t-0 ] ,\n"
                       "\"b\":\"\\u00e9\\/\\ud83d\\ude00\\ud800\" } ");
    HELP_EQ(tg_cli_json_write(value),
            "{\"a\":[12345678901234567890123,-0],\"b\":\"é/😀�\"}");
    json_object_put(value);
}

HELP_TEST(pretty, "one member per line")
{
    json_object *value;
    HELP_BUFFER(out);

    value = test_parse(
        "{\"a\":[],\"b\":{},\"c\":[1,{\"d\":\",{\\\"\"}],\"e\":-0}");
    tg_cli_json_append_pretty(&out, tg_cli_json_write(value));
    HELP_EQ(tg_buf_view(&out),
            "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n"
            "      \"d\": \",{\\\"\"\n    }\n  ],\n  \"e\": -0\n}");
    json_object_put(value);
}

HELP_TEST(invalid, "texts that are not JSON")
{
    static const char *const texts[] = {
        "",    "[1,]", "{\"a\":1,}", "[1] x", "01",      "['a']",
        "\"a", "nul",  "[1",         "-",     "[1/**/]",
    };
    json_object *value;

    HELP_EACH(text, texts) {
        CU_ASSERT(tg_cli_json_parse(tg_str_from_cstr(*text), &value)
                  == TG_INVALID);
    }

    /* json-c accepts these. */
    CU_ASSERT(tg_cli_json_check(TG_STR("[1.]"), NULL) != TG_OK);
    CU_ASSERT(tg_cli_json_check(TG_STR("NaN"), NULL) != TG_OK);
}

HELP_TEST(values, "members of any type")
{
    json_object *value;

    value = test_parse("{\"n\":7,\"m\":-7,\"f\":1e2,\"s\":\"x\",\"t\":true,"
                       "\"z\":null,\"b\":12345678901234567890123,"
                       "\"x\":1234567890123456789}");
    CU_ASSERT(tg_cli_json_get_uint(value, "n") == 7);
    CU_ASSERT(tg_cli_json_get_uint(value, "m") == 0);
    CU_ASSERT(tg_cli_json_get_uint(value, "f") == 100);
    CU_ASSERT(tg_cli_json_get_uint(value, "s") == 0);
    CU_ASSERT(tg_cli_json_get_uint(value, "z") == 0);
    CU_ASSERT(tg_cli_json_get_uint(NULL, "n") == 0);
    CU_ASSERT(tg_cli_json_get_uint(value, "b") == UINT64_MAX);
    CU_ASSERT(tg_cli_json_get_uint(value, "x") == 1234567890123456789);
    CU_ASSERT(tg_cli_json_has_text(value, "s", "x"));
    CU_ASSERT(!tg_cli_json_has_text(value, "n", "7"));
    CU_ASSERT(tg_cli_json_is_true(value, "t"));
    CU_ASSERT(!tg_cli_json_is_true(value, "n"));
    CU_ASSERT(tg_cli_json_get_text(value, "n").data == NULL);
    CU_ASSERT(tg_cli_json_get_object(value, "s") == NULL);
    json_object_put(value);
}
