/* Rules about values without parts, with the cases that go wrong elsewhere. */
#include "schema_help.h"

HELP_TEST(boolean, "true and false")
{
    static const test_row_t rows[] = {
        { "true", "1", NULL },
        { NULL, "{}", NULL },
        { "false", "null", "(root): no value is allowed here; leave it out" },
        { " {\n} ", " [ ] ", NULL },
        { "{\"properties\":{\"a\":false}}", "{}", NULL },
        { NULL, "{\"a\":null}", "/a: no value is allowed here; leave it out" },
        { "{\"x-unknown\":[1,{\"type\":5}],\"type\":\"null\"}", "null", NULL },
        { NULL, "1", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(type, "type")
{
    static const test_row_t rows[] = {
        { "{\"type\":\"string\"}", "\"x\"", NULL },
        { NULL, "1", "(root): expected string, got number" },
        { NULL, "null", "(root): expected string, got null" },
        { NULL, "{}", "*" },
        { NULL, "[]", "*" },
        { NULL, "true", "(root): expected string, got boolean" },
        { "{\"type\":\"integer\"}", "1", NULL },
        { NULL, "1.0", NULL },
        { NULL, "-0.0", NULL },
        { NULL, "10e-1", NULL },
        { NULL, "1e400", NULL },
        { NULL, "9007199254740993", NULL },
        { NULL, "1.5", "(root): expected integer, got 1.5" },
        { NULL, "1e-1", "*" },
        { NULL, "\"1\"", "*" },
        { NULL, "0.10e1", NULL },
        { NULL, "12.30e1", NULL },
        { NULL, "12.34e1", "*" },
        { NULL, "0e-5", NULL },
        { "{\"type\":\"number\"}", "1", NULL },
        { NULL, "1.5", NULL },
        { NULL, "-1e-400", NULL },
        { NULL, "true", "(root): expected number, got boolean" },
        { "{\"type\":[\"integer\",\"null\"]}", "null", NULL },
        { NULL, "2", NULL },
        { NULL, "2.5", "(root): expected integer or null, got 2.5" },
        { NULL, "\"\"", "(root): expected integer or null, got string" },
        { "{\"type\":[\"number\",\"integer\",\"string\"]}", "[]",
          "(root): expected string or number, got array" },
        { "{\"type\":\"boolean\"}", "false", NULL },
        { NULL, "0", "*" },
        { NULL, "\"false\"", "*" },
        { "{\"type\":[\"array\",\"object\"]}", "[]", NULL },
        { NULL, "{}", NULL },
        { NULL, "null", "(root): expected object or array, got null" },
        { "{\"properties\":{\"a\":{\"items\":{\"type\":\"string\"}}}}",
          "{\"a\":[\"x\",1]}", "/a/1: expected string, got number" },
        { NULL, "{\"a\":1}", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(const, "const")
{
    static const test_row_t rows[] = {
        { "{\"const\":null}", "null", NULL },
        { NULL, "0", "*" },
        { NULL, "false", "(root): expected null, got false" },
        { "{\"const\":0}", "0", NULL },
        { NULL, "-0", NULL },
        { NULL, "0.0", NULL },
        { NULL, "0e99999999999999999999", NULL },
        { NULL, "false", "*" },
        { NULL, "\"\"", "*" },
        { NULL, "null", "*" },
        { "{\"const\":1}", "1.0", NULL },
        { NULL, "100e-2", NULL },
        { NULL, "true", "*" },
        { NULL, "1.0000000000000000000000000000000001", "*" },
        { "{\"const\":true}", "true", NULL },
        { NULL, "1", "*" },
        { "{\"const\":9007199254740993}", "9007199254740993", NULL },
        { NULL, "9007199254740992", "*" },
        { NULL, "9007199254740993.0", NULL },
        { "{\"const\":\"a/\\u00e9\\n\"}", "\"a\\/é\\u000A\"", NULL },
        { NULL, "\"a/e\\n\"", "*" },
        { "{\"const\":\"\\ud83d\\ude00\"}", "\"😀\"", NULL },
        { NULL, "\"\\uD83D\\uDE00\"", NULL },
        { NULL, "\"\\uD83D\"", "*" },
        { "{\"const\":{\"a\":[1,{\"b\":null}],\"c\":\"x\"}}",
          "{ \"c\" : \"x\", \"\\u0061\":[1.0,{\"b\":null}]}", NULL },
        { NULL, "{\"c\":\"x\",\"a\":[1,{\"b\":null},2]}", "*" },
        { NULL, "{\"c\":\"x\"}", "*" },
        { NULL, "{\"a\":[1,{\"b\":null}],\"c\":\"x\",\"d\":1}", "*" },
        { "{\"const\":{}}", "{}", NULL },
        { NULL, "[]", "*" },
        { NULL, "{\"a\":1}", "*" },
        { "{\"const\":[]}", "[]", NULL },
        { NULL, "[null]", "*" },
        { NULL, "{}", "*" },
        { "{\"const\":[[1],2]}", "[[1],2]", NULL },
        { NULL, "[[1]]", "*" },
        { NULL, "[2,[1]]", "*" },
        { NULL, "[1,2]", "*" },
        { "{\"not\":{\"const\":{\"a\":1}}}", "{\"a\":2,\"a\":1}",
          "(root): a key is given twice; give it once" },
        { NULL, "{\"a\":1,\"b\":2}", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(enum, "enum")
{
    static const test_row_t rows[] = {
        { "{\"enum\":[\"red\",\"green\"]}", "\"red\"", NULL },
        { NULL, "\"gr\\u0065en\"", NULL },
        { NULL, "\"Red\"",
          "(root): expected one of \"red\", \"green\", got \"Red\"" },
        { NULL, "1", "(root): expected one of \"red\", \"green\", got 1" },
        { "{\"enum\":[1,\"1\",null,[1],{\"a\":1}]}", "1.0", NULL },
        { NULL, "\"1\"", NULL },
        { NULL, "null", NULL },
        { NULL, "[1]", NULL },
        { NULL, "{\"a\":1.0}", NULL },
        { NULL, "true", "*" },
        { NULL, "[[1]]", "*" },
        { NULL, "{\"a\":2}", "*" },
        { "{\"enum\":[]}", "null",
          "(root): no value is allowed (the enum is empty), got null" },
        { "{\"enum\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i"
          "\",\"j\"]}",
          "\"j\"", NULL },
        { NULL, "\"k\"", "*" },
        { NULL, "\"\"", "*" },
        { "{\"properties\":{\"a\":{\"enum\":[1]}}}", "{\"a\":2}",
          "/a: expected 1, got 2" },
        { "{\"enum\":[\"x\"],\"const\":\"y\"}", "\"x\"",
          "(root): expected \"y\", got \"x\"" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(bounds, "bounds")
{
    static const test_row_t rows[] = {
        { "{\"minimum\":1.1}", "1.1", NULL },
        { NULL, "1.10", NULL },
        { NULL, "11e-1", NULL },
        { NULL, "1.09999999999999999999999999",
          "(root): must be at least 1.1, got 1.09999999999999999999999999" },
        { NULL, "\"0\"", NULL },
        { "{\"maximum\":300}", "300", NULL },
        { NULL, "3e2", NULL },
        { NULL, "300.000000000000000000000001", "*" },
        { NULL, "-1e9999", NULL },
        { NULL, "1e9999", "*" },
        { "{\"exclusiveMinimum\":0}", "0",
          "(root): must be greater than 0, got 0" },
        { NULL, "-0.0", "*" },
        { NULL, "1e-9999", NULL },
        { NULL, "-1e-9999", "*" },
        { "{\"exclusiveMaximum\":3}", "3.0",
          "(root): must be less than 3, got 3.0" },
        { NULL, "2.999999999999999999999999", NULL },
        { "{\"minimum\":-2}", "-2", NULL },
        { NULL, "-2.0000000000001", "*" },
        { NULL, "-1", NULL },
        { NULL, "-20", "*" },
        { NULL, "-0.1e1", NULL },
        { NULL, "0", NULL },
        { "{\"maximum\":-2}", "-2", NULL },
        { NULL, "-1.9", "*" },
        { NULL, "-3", NULL },
        { NULL, "-2e1", NULL },
        { NULL, "0", "*" },
        { "{\"minimum\":9007199254740993}", "9007199254740992", "*" },
        { NULL, "9007199254740993", NULL },
        { "{\"maximum\":1e400}", "1e400", NULL },
        { NULL, "10e399", NULL },
        { NULL, "1e401", "*" },
        { NULL, "1.1e400", "*" },
        { "{\"minimum\":0}", "1e99999999999999999",
          "(root): the number's exponent is out of range" },
        { NULL, "0e99999999999999999", NULL },
        { "{\"minimum\":12345678901234567890.5}", "12345678901234567890.5",
          NULL },
        { NULL, "12345678901234567890.49", "*" },
        { NULL, "123456789012345678905e-1", NULL },
    };

    TEST_ROWS(rows);
}

HELP_TEST(multiple, "multipleOf")
{
    static const test_row_t rows[] = {
        { "{\"multipleOf\":2}", "10", NULL },
        { NULL, "7", "(root): must be a multiple of 2, got 7" },
        { NULL, "0", NULL },
        { NULL, "-4", NULL },
        { NULL, "1e400", NULL },
        { NULL, "2.0", NULL },
        { NULL, "1e-1", "*" },
        { "{\"multipleOf\":0.01}", "0.07", NULL },
        { NULL, "19.99", NULL },
        { NULL, "4.35", NULL },
        { NULL, "0.0075", "*" },
        { NULL, "1e3", NULL },
        { NULL, "0.075", "*" },
        { "{\"multipleOf\":1e-8}", "12391239123", NULL },
        { NULL, "0.00000001", NULL },
        { NULL, "0.000000015", "*" },
        { "{\"multipleOf\":0.1}", "0.3", NULL },
        { NULL, "1.1", NULL },
        { NULL, "0.35", "*" },
        { "{\"multipleOf\":3}", "1e400", "*" },
        { NULL, "3e400", NULL },
        { NULL, "111111111111111111111111111111", NULL },
        { NULL, "111111111111111111111111111112", "*" },
        { "{\"multipleOf\":64}", "1e6", NULL },
        { NULL, "1e5", "*" },
        { NULL, "1e300", NULL },
        { NULL, "32", "*" },
        { "{\"multipleOf\":1.5e1}", "30", NULL },
        { NULL, "20", "*" },
        { NULL, "-15", NULL },
        { "{\"type\":\"integer\",\"multipleOf\":0.123456789}", "1e308", "*" },
        { NULL, "123456789", NULL },
        { "{\"multipleOf\":999999999999999999}", "999999999999999999", NULL },
        { NULL, "999999999999999999000", NULL },
        { NULL, "999999999999999998", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(length, "lengths")
{
    static const test_row_t rows[] = {
        { "{\"minLength\":2}", "\"ab\"", NULL },
        { NULL, "\"a\"", "(root): must have at least 2 characters, got 1" },
        { NULL, "\"\\u00e9\"", "*" },
        { NULL, "\"😀\"", "*" },
        { NULL, "\"😀é\"", NULL },
        { NULL, "\"\\ud83d\\ude00\"",
          "(root): must have at least 2 characters, got 1" },
        { NULL, "\"\\ud83d\\ud83d\"", NULL },
        { NULL, "1", NULL },
        { NULL, "\"\\n\\t\"", NULL },
        { NULL, "\"\\\\\"", "*" },
        { "{\"maxLength\":2}", "\"ab\"", NULL },
        { NULL, "\"abc\"", "(root): must have at most 2 characters, got 3" },
        { NULL, "\"😀😀\"", NULL },
        { NULL, "\"\\ud83d\\ude00\\ud83d\\ude00\"", NULL },
        { NULL, "\"\\ude00\\ud83d\"", NULL },
        { NULL, "\"\\u0000\\u0000\\u0000\"", "*" },
        { NULL, "\"éé\"", NULL },
        { NULL, "\"ééé\"", "*" },
        { "{\"maxLength\":0}", "\"\"", NULL },
        { NULL, "\"a\"", "*" },
        { "{\"minLength\":2.0,\"maxLength\":1e1}", "\"ab\"", NULL },
        { NULL, "\"a\"", "*" },
        { NULL, "\"abcdefghijk\"", "*" },
        { "{\"minLength\":1}", "\"\"",
          "(root): must have at least 1 character, got 0" },
        { "{\"maxLength\":1e30}", "\"abc\"", NULL },
        { "{\"minLength\":1e30}", "\"abc\"", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(pattern, "pattern")
{
    static const test_row_t rows[] = {
        { "{\"pattern\":\"^a+$\"}", "\"aaa\"", NULL },
        { NULL, "\"aab\"",
          "(root): must match the pattern \"^a+$\", got \"aab\"" },
        { NULL, "\"aaa\\n\"", "*" },
        { NULL, "5", NULL },
        { NULL, "\"\"", "*" },
        { NULL, "\"\\u0061\"", NULL },
        { "{\"pattern\":\"b\"}", "\"abc\"", NULL },
        { NULL, "\"\\n\\nb\"", NULL },
        { NULL, "\"ac\"", "*" },
        { "{\"pattern\":\"^\\\\d\\\\S$\"}", "\"1x\"", NULL },
        { NULL, "\"١x\"", "*" },
        { NULL, "\"1\\u00a0\"", "*" },
        { "{\"pattern\":\"^.$\"}", "\"😀\"", NULL },
        { NULL, "\"\\ud83d\\ude00\"", NULL },
        { NULL, "\"\\u2028\"", "*" },
        { NULL, "\"\\u0085\"", NULL },
        { "{\"pattern\":\"^\\\\p{Letter}+$\"}", "\"école\"", NULL },
        { NULL, "\"a1\"", "*" },
        { "{\"pattern\":\"\"}", "\"\"", NULL },
        { NULL, "\"x\"", NULL },
        { "{\"pattern\":\"^x|y$\"}", "\"xa\"", NULL },
        { NULL, "\"ay\"", NULL },
        { NULL, "\"ax\"", "*" },
    };

    TEST_ROWS(rows);
}

HELP_TEST(remarks, "remarks")
{
    static const test_row_t rows[] = {
        { "{\"title\":\"t\",\"description\":\"d\",\"default\":5,\"example"
          "s\":[1],\"deprecated\":true,\"readOnly\":false,\"writeOnly\":t"
          "rue,\"$comment\":\"c\",\"format\":\"email\",\"contentEncoding"
          "\":\"base64\",\"contentMediaType\":\"application/json\",\"cont"
          "entSchema\":{\"type\":\"number\"}}",
          "\"no mail\"", NULL },
        { NULL, "[]", NULL },
    };

    TEST_ROWS(rows);
}
