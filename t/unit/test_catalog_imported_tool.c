/* Tools of other MCP servers: patterns, local names and descriptions. */
#include "protocol_help.h"

#include "catalog/tg_imported_tool.h"
#include "protocol/tg_outcome.h"

HELP_TEST(globs, "patterns")
{
    static const struct {
        const char *pattern, *name;
        int fits;
    } cases[] = {
        { "read", "read", 1 },
        { "read", "read_file", 0 },
        { "read", "rea", 0 },
        { "read*", "read", 1 },
        { "read*", "read_file", 1 },
        { "*", "", 1 },
        { "**", "a", 1 },
        { "?", "", 0 },
        { "?", "a", 1 },
        { "??", "a", 0 },
        { "*file", "read_file", 1 },
        { "*file", "read_files", 0 },
        { "*a*b", "xaxaxb", 1 },
        { "*a*b", "xaxax", 0 },
        { "a*b*c", "abcbc", 1 },
        { "r?ad_*_file", "read_text_file", 1 },
        { "r?ad_*_file", "read_file", 0 },
        { "", "", 1 },
        { "", "a", 0 },
        { "Read", "read", 0 },
    };

    HELP_EACH(item, cases) {
        CU_ASSERT(tg_glob_match(tg_str_from_cstr(item->pattern),
                                tg_str_from_cstr(item->name))
                  == item->fits);
    }
}

HELP_TEST(wrong_globs, "invalid patterns")
{
    static const char *const invalid[] = { "",    "read_[ab]", "^read",
                                           "a b", "a|b",       "read$",
                                           "(x)", "a,b",       "\\d",
                                           "{a}", "~read",     "\xc3\xa9" };
    char name[TG_NAME_MAX + 1];

    CU_ASSERT(tg_glob_check(TG_STR("Read-1_*.x?/y:z")) == NULL);

    HELP_EACH(row, invalid) {
        CU_ASSERT(tg_glob_check(tg_str_from_cstr(*row)) != NULL);
    }

    memset(name, 'a', sizeof(name));
    CU_ASSERT(tg_glob_check(tg_str(name, TG_NAME_MAX)) == NULL);
    CU_ASSERT(tg_glob_check(tg_str(name, TG_NAME_MAX + 1)) != NULL);
}

HELP_TEST(names, "names")
{
    static const struct {
        const char *prefix, *name, *here;
    } cases[] = {
        { "files_", "read", "files_read" },
        { "", "read-1", "read-1" },
        { "a.b_", "x.y", "a_b_x_y" },
        { "", "ns:tool/do it", "ns_tool_do_it" },
        { "", "\xc3\xa9", "__" },
    };
    char room[TG_NAME_AGENT_MAX], other[TG_NAME_AGENT_MAX];
    char name[TG_NAME_AGENT_MAX + 2];
    tg_str_t a, b;

    HELP_EACH(item, cases) {
        HELP_EQ(tg_imported_tool_make_name(tg_str_from_cstr(item->prefix),
                                           tg_str_from_cstr(item->name), room),
                item->here);
    }

    /* A name that fits is unchanged; longer names stay distinct. */
    memset(name, 'a', sizeof(name));
    a = tg_imported_tool_make_name(TG_STR("x_"),
                                   tg_str(name, TG_NAME_AGENT_MAX - 2), room);
    CU_ASSERT(a.len == TG_NAME_AGENT_MAX);
    CU_ASSERT(a.data[a.len - 1] == 'a' && a.data[a.len - 9] == 'a');
    a = tg_imported_tool_make_name(TG_STR("x_"),
                                   tg_str(name, TG_NAME_AGENT_MAX - 1), room);
    b = tg_imported_tool_make_name(TG_STR("x_"),
                                   tg_str(name, TG_NAME_AGENT_MAX), other);
    CU_ASSERT(a.len == TG_NAME_AGENT_MAX && b.len == TG_NAME_AGENT_MAX);
    CU_ASSERT(a.data[a.len - 9] == '_' && b.data[b.len - 9] == '_');
    CU_ASSERT(!tg_str_eq(a, b));
    b = tg_imported_tool_make_name(TG_STR("x_"),
                                   tg_str(name, TG_NAME_AGENT_MAX - 1), other);
    CU_ASSERT(tg_str_eq(a, b));
}

HELP_TEST(listings, "a tool's description")
{
    static const char raw[] =
        "{ \"icons\" : [ {\"src\":\"x\"} ], \"na\\u006de\":\"read\",\n"
        " \"description\":\"Reads \\u00e9.\", \"inputSchema\":"
        "{\"type\":\"object\", \"x\":1.50}, \"_meta\":{\"a/b\":1},"
        " \"annotations\":{\"readOnlyHint\":true}}";
    tg_catalog_entry_t instead;
    HELP_BUFFER(out);

    memset(&instead, 0, sizeof(instead));
    instead.name = TG_STR("files_read");
    tg_imported_tool_write_json(&out, TG_STR(raw), &instead);
    HELP_EQ(tg_buf_view(&out),
            "{\"name\":\"files_read\",\"icons\":[{\"src\":\"x\"}],"
            "\"description\":\"Reads \\u00e9.\",\"inputSchema\":"
            "{\"type\":\"object\",\"x\":1.50},\"_meta\":{\"a/b\":1},"
            "\"annotations\":{\"readOnlyHint\":true}}");

    instead.title = TG_STR("Read");
    instead.description = TG_STR("Ours \"here\".");
    instead.input_schema = TG_STR("{\"type\":\"object\"}");
    instead.annotations = TG_STR("{}");
    tg_buf_truncate(&out, 0);
    tg_imported_tool_write_json(&out, TG_STR(raw), &instead);
    HELP_EQ(tg_buf_view(&out),
            "{\"name\":\"files_read\",\"title\":\"Read\","
            "\"description\":\"Ours \\\"here\\\".\",\"inputSchema\":"
            "{\"type\":\"object\"},\"annotations\":{},"
            "\"icons\":[{\"src\":\"x\"}],\"_meta\":{\"a/b\":1}}");

    memset(&instead, 0, sizeof(instead));
    instead.icons = TG_STR("[{\"src\":\"y\"}]");
    instead.meta = TG_STR("{\"a/b\":2,\"c\":3}");
    tg_buf_truncate(&out, 0);
    tg_imported_tool_write_json(
        &out, TG_STR("{\"_meta\":{\"a\\u002fb\":1,\"d\":[ 4 ]},\"x\":5}"),
        &instead);
    HELP_EQ(tg_buf_view(&out),
            "{\"icons\":[{\"src\":\"y\"}],\"_meta\":{\"a/b\":2,\"c\":3,"
            "\"d\":[4]},\"x\":5}");

    instead.icons = TG_STR_NONE;
    tg_buf_truncate(&out, 0);
    tg_imported_tool_write_json(&out, TG_STR("{\"_meta\":5,\"x\":5}"),
                                &instead);
    HELP_EQ(tg_buf_view(&out), "{\"_meta\":{\"a/b\":2,\"c\":3},\"x\":5}");
}

HELP_TEST(input_requests, "results that request input")
{
    CU_ASSERT(tg_tool_result_is_input_required(
        TG_STR("{\"resultType\":\"input_required\",\"requestState\":\"x\"}")));
    CU_ASSERT(!tg_tool_result_is_input_required(
        TG_STR("{\"resultType\":\"complete\",\"content\":[]}")));
    CU_ASSERT(!tg_tool_result_is_input_required(TG_STR("{\"content\":[]}")));
    CU_ASSERT(!tg_tool_result_is_input_required(TG_STR("{\"resultType\":1}")));
}
