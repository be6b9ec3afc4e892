/* Reading an object by a table of its members, and writing its values. */
#include "protocol_help.h"

#include "base/tg_json_fields.h"

typedef struct {
    tg_str_t raw;
    tg_str_t string;
    tg_str_t object;
    tg_str_t strings;
    int64_t number;
    int64_t word;
    int64_t flag;
    tg_field_bits_t bits;
} test_values_t;

#define TEST_FIELD(text, kind, member)                                         \
    .name = text, .type = kind, TG_FIELD_AT(test_values_t, member)

static const char *const test_words[] = { "one", "two", NULL };

static const tg_json_field_t test_fields[] = {
    { TEST_FIELD("raw", TG_FIELD_RAW, raw) },
    { TEST_FIELD("string", TG_FIELD_STRING, string), .is_required = 1,
      .why = "string" },
    { TEST_FIELD("object", TG_FIELD_OBJECT, object), .why = "object" },
    { TEST_FIELD("strings", TG_FIELD_STRINGS, strings), .min = 1,
      .why = "strings" },
    { TEST_FIELD("number", TG_FIELD_INT, number), .min = -2, .max = 7,
      .absent = 5, .why = "number" },
    { TEST_FIELD("word", TG_FIELD_WORD, word), .words = test_words },
    { TEST_FIELD("flag", TG_FIELD_FLAG, flag) },
    { TEST_FIELD("bits", TG_FIELD_BITS, bits), .why = "bits" },
    { .name = NULL },
};

static int
test_read(const char *text, test_values_t *values, const char **why)
{
    memset(values, 0, sizeof(*values));
    *why = "else";

    return tg_json_read_fields(test_fields, tg_str_from_cstr(text), values,
                               why);
}

static const char test_text[] =
    "{\"raw\":[1,null],\"string\":\"a\\n\",\"object\":{\"b\":2},"
    "\"strings\":[\"c\"],\"number\":-2,\"word\":\"two\",\"flag\":true,"
    "\"bits\":[0,31,32,255]}";

HELP_TEST(all, "all members")
{
    test_values_t values;
    const char *why;

    CU_ASSERT(test_read(test_text, &values, &why) == TG_OK);
    HELP_EQ(values.raw, "[1,null]");
    HELP_EQ(values.string, "\"a\\n\"");
    HELP_EQ(values.object, "{\"b\":2}");
    HELP_EQ(values.strings, "[\"c\"]");
    CU_ASSERT(values.number == -2);
    CU_ASSERT(values.word == 1);
    CU_ASSERT(values.flag == 1);
    CU_ASSERT(values.bits.is_set == 1);
    CU_ASSERT(values.bits.bits[0] == 0x80000001);
    CU_ASSERT(values.bits.bits[1] == 1);
    CU_ASSERT(values.bits.bits[7] == 0x80000000);
    CU_ASSERT_STRING_EQUAL(why, "else");
}

HELP_TEST(absent, "absent and unknown members")
{
    test_values_t values;
    const char *why;

    CU_ASSERT(test_read(" { \"x\" : [ ] , \"string\" : \"\" } ", &values, &why)
              == TG_OK);
    CU_ASSERT(values.raw.data == NULL);
    CU_ASSERT(values.strings.data == NULL);
    CU_ASSERT(values.number == 5);
    CU_ASSERT(values.word == 0);
    CU_ASSERT(values.flag == 0);
    CU_ASSERT(values.bits.is_set == 0);
}

HELP_TEST(last, "members with equal names")
{
    test_values_t values;
    const char *why;

    CU_ASSERT(test_read("{\"string\":1,\"number\":9,\"string\":\"\","
                        "\"numbe\\u0072\":3}",
                        &values, &why)
              == TG_OK);
    CU_ASSERT(values.number == 3);
}

HELP_TEST(invalid, "invalid values")
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        { "{}", "string" },
        { "{\"string\":1}", "string" },
        { "{\"string\":\"\",\"object\":[]}", "object" },
        { "{\"string\":\"\",\"strings\":[]}", "strings" },
        { "{\"string\":\"\",\"strings\":[1]}", "strings" },
        { "{\"string\":\"\",\"strings\":\"a\"}", "strings" },
        { "{\"string\":\"\",\"number\":8}", "number" },
        { "{\"string\":\"\",\"number\":-3}", "number" },
        { "{\"string\":\"\",\"number\":1.5}", "number" },
        { "{\"string\":\"\",\"number\":\"1\"}", "number" },
        { "{\"string\":\"\",\"word\":\"three\"}", "else" },
        { "{\"string\":\"\",\"word\":1}", "else" },
        { "{\"string\":\"\",\"bits\":1}", "bits" },
        { "{\"string\":\"\",\"bits\":[256]}", "bits" },
        { "{\"string\":\"\",\"bits\":[-1]}", "bits" },
        { "[]", "else" },
        { "{\"string\":\"\"} 1", "else" },
        { "{\"string\":\"\"", "else" },
    };
    test_values_t values;
    const char *why;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT(test_read(rows[i].text, &values, &why) == TG_INVALID);
        CU_ASSERT_STRING_EQUAL(why, rows[i].why);
    }
}

HELP_TEST(again, "values are written as they were read")
{
    const tg_json_field_t *field;
    test_values_t values;
    const char *why;
    HELP_BUFFER(json);

    CU_ASSERT(test_read(test_text, &values, &why) == TG_OK);
    tg_json_begin_object(&json);

    for (field = test_fields; field->name != NULL; field++) {
        tg_json_add_field(&json, field, &values);
    }

    tg_buf_append_char(&json, '}');
    HELP_EQ(tg_buf_view(&json), test_text);
    CU_ASSERT(tg_json_count_fields(test_fields) == 8);
}
