/* Writing JSON value by value. */
#include "protocol_help.h"

#include "base/tg_json.h"

static void
test_write(tg_buf_t *json)
{
    tg_json_begin_object(json);
    tg_json_add_string(json, "s", TG_STR("a\"b"));
    tg_json_add_cstr(json, "c", "{");
    tg_json_add_optional(json, "o", TG_STR("x"));
    tg_json_add_optional(json, "absent", TG_STR_NONE);
    tg_json_add_uint(json, "u", UINT64_MAX);
    tg_json_add_int(json, "i", INT64_MIN);
    tg_json_add_bool(json, "t", 1);
    tg_json_add_bool(json, "f", 0);
    tg_json_add_raw(json, "r", TG_STR("[ 1 ]"));
    tg_json_add_raw(json, "absent", TG_STR_NONE);
    tg_json_add_compact(json, "p", TG_STR("[ 1, { } ]"));
    tg_json_add_compact(json, "absent", TG_STR_NONE);
    tg_json_begin_member(json, "list");
    tg_buf_append_char(json, '[');
    tg_json_begin_element(json);
    tg_buf_append_uint(json, 1);
    tg_json_begin_object(json);
    tg_buf_append_char(json, '}');
    tg_json_begin_object(json);
    tg_json_add_uint(json, "x", 2);
    tg_buf_append_cstr(json, "}]");
    tg_json_begin_member(json, "inner");
    tg_json_begin_object(json);
    tg_json_add_uint(json, "y", 3);
    tg_buf_append_cstr(json, "}}");
}

static const char test_text[] =
    "{\"s\":\"a\\\"b\",\"c\":\"{\",\"o\":\"x\",\"u\":18446744073709551615,"
    "\"i\":-9223372036854775808,\"t\":true,\"f\":false,\"r\":[ 1 ],"
    "\"p\":[1,{}],\"list\":[1,{},{\"x\":2}],\"inner\":{\"y\":3}}";

HELP_TEST(values, "values and commas")
{
    const char *why;
    HELP_BUFFER(json);

    test_write(&json);
    HELP_EQ(tg_buf_view(&json), test_text);
    CU_ASSERT(tg_json_validate(tg_buf_view(&json), &why) == TG_OK);
}

HELP_TEST(bounded, "buffer of fixed size")
{
    char room[sizeof(test_text)];
    tg_buf_t json;
    size_t size;

    for (size = 0; size <= sizeof(room); size++) {
        json = tg_buf_make_fixed(room, size);
        test_write(&json);
        CU_ASSERT(json.len <= size);
        CU_ASSERT(tg_buf_has_failed(&json) || size >= sizeof(test_text) - 1);
        CU_ASSERT(!tg_buf_has_failed(&json) || size < sizeof(test_text));
    }

    HELP_EQ(tg_buf_view(&json), test_text);
}

static void
test_run_out_of_memory(const tg_alloc_t *alloc, int may_fail)
{
    tg_buf_t json;

    tg_buf_init(&json, alloc);
    test_write(&json);
    CU_ASSERT(tg_buf_has_failed(&json) == may_fail);
    tg_buf_deinit(&json);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run_out_of_memory);
}
