/* Parses values of configs. */
#include "protocol_help.h"

#include "catalog/tg_template.h"

/* Compares tokens, written as `text` and `<name>`; `!` is an error. */
static void
test_cut(const char *value, const char *expected)
{
    tg_template_token_t token;
    tg_str_t rest;
    HELP_BUFFER(got);
    int rc;

    rest = tg_str_from_cstr(value);

    while ((rc = tg_template_next(&rest, &token)) == TG_OK) {
        tg_buf_append_char(&got, token.name.data != NULL ? '<' : '\'');
        tg_buf_append_str(&got,
                          token.name.data != NULL ? token.name : token.text);
        tg_buf_append_char(&got, token.name.data != NULL ? '>' : '\'');
    }

    if (rc == TG_INVALID) {
        CU_ASSERT(rest.len != 0 && rest.data[0] == '$');
        tg_buf_append_char(&got, '!');
    }

    CU_ASSERT(tg_str_eq(tg_buf_view(&got), tg_str_from_cstr(expected)));
}

HELP_TEST(tokens, "texts, variables and dollars")
{
    static const struct {
        const char *value, *tokens;
    } cases[] = {
        { "", "" },
        { "text", "'text'" },
        { "$a", "<a>" },
        { "${a}", "<a>" },
        { "x$a_1.b", "'x'<a_1>'.b'" },
        { "x${a}b$c", "'x'<a>'b'<c>" },
        { "${a.b-c}", "<a.b-c>" },
        { "$$", "'$'" },
        { "a$$b", "'a''$''b'" },
        { "$$$a", "'$'<a>" },
        { "$$$$", "'$''$'" },
        { "$", "!" },
        { "a$", "'a'!" },
        { "$$$", "'$'!" },
        { "${", "!" },
        { "${}", "!" },
        { "${a", "!" },
        { "${a b}", "!" },
        { "$-", "!" },
        { "$.a", "!" },
    };

    HELP_EACH(item, cases) {
        test_cut(item->value, item->tokens);
    }
}

HELP_TEST(kinds, "argument names")
{
    tg_str_t path;

    CU_ASSERT(tg_variable_get_type(TG_STR("tool_arg_x"), &path)
              == TG_VARIABLE_ARG);
    CU_ASSERT(tg_str_eq(path, TG_STR("x")));
    CU_ASSERT(tg_variable_get_type(TG_STR("Tool_JSON_a.b"), &path)
              == TG_VARIABLE_JSON);
    CU_ASSERT(tg_str_eq(path, TG_STR("a.b")));
    CU_ASSERT(tg_variable_get_type(TG_STR("tool_has_X"), &path)
              == TG_VARIABLE_HAS);
    CU_ASSERT(tg_str_eq(path, TG_STR("X")));
    CU_ASSERT(tg_variable_get_type(TG_STR("tool_arg_"), &path)
              == TG_VARIABLE_OTHER);
    CU_ASSERT(tg_variable_get_type(TG_STR("tool_args"), &path)
              == TG_VARIABLE_OTHER);
    CU_ASSERT(tg_variable_get_type(TG_STR("tool_name"), &path)
              == TG_VARIABLE_OTHER);
    CU_ASSERT(tg_variable_get_type(TG_STR(""), &path) == TG_VARIABLE_OTHER);

    CU_ASSERT(tg_variable_has_special_chars(TG_STR("a.b")));
    CU_ASSERT(tg_variable_has_special_chars(TG_STR("a-b")));
    CU_ASSERT(!tg_variable_has_special_chars(TG_STR("a_B9")));
}

HELP_TEST(steps, "paths to members")
{
    tg_str_t path, name;

    path = TG_STR("a.bc.d");
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_OK);
    CU_ASSERT(tg_str_eq(name, TG_STR("a")));
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_OK);
    CU_ASSERT(tg_str_eq(name, TG_STR("bc")));
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_OK);
    CU_ASSERT(tg_str_eq(name, TG_STR("d")));
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_END);

    path = TG_STR("a..b");
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_OK);
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_INVALID);

    path = TG_STR("a.");
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_OK);
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_INVALID);

    path = TG_STR(".a");
    CU_ASSERT(tg_variable_next_member(&path, &name) == TG_INVALID);
}

HELP_TEST(names, "the property that a name refers to")
{
    CU_ASSERT(tg_variable_is_named(TG_STR("a_b"), TG_STR("a_b")));
    CU_ASSERT(tg_variable_is_named(TG_STR("username"), TG_STR("userName")));
    CU_ASSERT(tg_variable_is_named(TG_STR("UserName"), TG_STR("username")));
    CU_ASSERT(tg_variable_is_named(TG_STR("a_b"), TG_STR("a-b")));
    CU_ASSERT(tg_variable_is_named(TG_STR("a_b"), TG_STR("A.b")));
    CU_ASSERT(tg_variable_is_named(TG_STR("a-b"), TG_STR("A-B")));
    CU_ASSERT(!tg_variable_is_named(TG_STR("a-b"), TG_STR("a_b")));
    CU_ASSERT(!tg_variable_is_named(TG_STR("a"), TG_STR("ab")));
    CU_ASSERT(!tg_variable_is_named(TG_STR("ab"), TG_STR("ac")));
}
