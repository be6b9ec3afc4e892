/* One pass over envelopes of all dialects. */
#include "protocol_help.h"

#include "protocol/tg_message.h"

static int
test_parse(tg_message_t *message, const char *text)
{
    return tg_message_parse(message, tg_str_from_cstr(text));
}

HELP_TEST(jsonrpc, "jsonrpc")
{
    tg_message_t m;

    CU_ASSERT(test_parse(&m, " {\"jsonrpc\":\"2.0\", \"id\" : 7 ,"
                             "\"method\":\"tools/call\",\"params\":{"
                             "\"name\":\"echo\",\"arguments\":{ \"a\":[1] },"
                             "\"_meta\":{\"progressToken\":\"t\","
                             "\"io.modelcontextprotocol/protocolVersion\":"
                             "\"2026-07-28\","
                             "\"io.modelcontextprotocol/clientCapabilities\":"
                             "{},\"other\":{}}}} ")
              == TG_OK);
    CU_ASSERT(m.type == TG_JSON_OBJECT);
    CU_ASSERT(m.text.data[0] == '{' && m.text.data[m.text.len - 1] == '}');
    HELP_EQ(m.jsonrpc, "\"2.0\"");
    HELP_EQ(m.id, "7");
    HELP_EQ(m.method, "\"tools/call\"");
    HELP_EQ(m.p.name, "\"echo\"");
    HELP_EQ(m.p.arguments, "{ \"a\":[1] }");
    HELP_EQ(m.meta.progress_token, "\"t\"");
    HELP_EQ(m.meta.protocol_version, "\"2026-07-28\"");
    HELP_EQ(m.meta.client_capabilities, "{}");
    CU_ASSERT(m.p.meta.data[0] == '{' && m.params.data[0] == '{');
    CU_ASSERT(m.params.data[m.params.len - 1] == '}');
    CU_ASSERT(m.result.data == NULL && m.error.data == NULL);
    CU_ASSERT(m.p.cursor.data == NULL && m.p.progress_token.data == NULL);
    CU_ASSERT(!m.has_duplicate && m.why == NULL);
}

/* White space in all places; the arguments' members are noted. */
HELP_TEST(white_space, "spread out")
{
    tg_message_t m;

    CU_ASSERT(test_parse(&m, "\r\n{ \"method\"\t: \"x\" ,\n \"params\" :\n\t{ "
                             "\"arguments\" : { \"a\" : [ 1 ] , \"b\" : "
                             "\"\\n\" } , \"_meta\" : 7 } , \"id\" : 1 } \n")
              == TG_OK);
    HELP_EQ(m.p.arguments, "{ \"a\" : [ 1 ] , \"b\" : \"\\n\" }");
    HELP_EQ(m.p.meta, "7");
    HELP_EQ(m.id, "1");
    CU_ASSERT_FATAL(m.notes.n == 2);
    HELP_EQ(m.notes.list[0].key, "a");
    HELP_EQ(m.notes.list[0].value, "[ 1 ]");
    HELP_EQ(m.notes.list[1].value, "\"\\n\"");

    CU_ASSERT(test_parse(&m, "{\"params\": ") == TG_INVALID);
    CU_ASSERT(test_parse(&m, "{\"params\":") == TG_INVALID);
    CU_ASSERT(test_parse(&m, "{\"params\": [],\"id\":1}") == TG_OK);
    HELP_EQ(m.params, "[]");
    CU_ASSERT(m.notes.n == 0);
    CU_ASSERT(test_parse(&m, "{\"params\": \x0b{}}") == TG_INVALID);
}

HELP_TEST(others, "other members")
{
    tg_message_t m;

    CU_ASSERT(test_parse(&m, "{\"id\":null,\"error\":{\"code\":-32600,"
                             "\"message\":\"no\",\"data\":[1],\"type\":\"E\"}}")
              == TG_OK);
    HELP_EQ(m.id, "null");
    HELP_EQ(m.e.code, "-32600");
    HELP_EQ(m.e.message, "\"no\"");
    HELP_EQ(m.e.data, "[1]");
    HELP_EQ(m.e.type, "\"E\"");

    CU_ASSERT(test_parse(&m, "{\"kind\":\"shutdown\",\"reason\":\"bye\"}")
              == TG_OK);
    HELP_EQ(m.kind, "\"shutdown\"");
    HELP_EQ(m.reason, "\"bye\"");

    CU_ASSERT(test_parse(&m, "{\"kind\":\"error\",\"message\":\"m\"}")
              == TG_OK);
    HELP_EQ(m.message, "\"m\"");

    CU_ASSERT(test_parse(&m, "{\"result\":null}") == TG_OK);
    HELP_EQ(m.result, "null");

    CU_ASSERT(test_parse(&m, "{\"method\":\"x\",\"params\":{\"requestId\":1,"
                             "\"id\":2,\"cursor\":\"c\",\"progress\":3,"
                             "\"total\":4,\"message\":\"5\",\"progressToken\":"
                             "6,\"notifications\":{\"toolsListChanged\":true},"
                             "\"protocolVersion\":\"v\"}}")
              == TG_OK);
    HELP_EQ(m.p.request_id, "1");
    HELP_EQ(m.p.id, "2");
    HELP_EQ(m.p.cursor, "\"c\"");
    HELP_EQ(m.p.progress, "3");
    HELP_EQ(m.p.total, "4");
    HELP_EQ(m.p.message, "\"5\"");
    HELP_EQ(m.p.progress_token, "6");
    HELP_EQ(m.p.tools_list_changed, "true");
    HELP_EQ(m.p.protocol_version, "\"v\"");
    CU_ASSERT(m.id.data == NULL && m.message.data == NULL);
}

HELP_TEST(odd_types, "members that are walked as objects may have any type")
{
    tg_message_t m;

    CU_ASSERT(test_parse(&m, "{\"params\":[{\"name\":1}],\"error\":\"e\","
                             "\"id\":{},\"method\":3}")
              == TG_OK);
    HELP_EQ(m.params, "[{\"name\":1}]");
    HELP_EQ(m.error, "\"e\"");
    HELP_EQ(m.id, "{}");
    HELP_EQ(m.method, "3");
    CU_ASSERT(m.p.name.data == NULL && m.e.code.data == NULL);

    CU_ASSERT(test_parse(&m, "{\"params\":{\"_meta\":7,\"notifications\":[]}}")
              == TG_OK);
    HELP_EQ(m.p.meta, "7");
    HELP_EQ(m.p.notifications, "[]");

    CU_ASSERT(test_parse(&m, "{}") == TG_OK);
    CU_ASSERT(m.type == TG_JSON_OBJECT && m.method.data == NULL);
}

HELP_TEST(not_objects, "not objects")
{
    static const struct {
        const char *text;
        tg_json_type_t type;
    } rows[] = {
        { "[{\"id\":1}]", TG_JSON_ARRAY }, { "[]", TG_JSON_ARRAY },
        { "\"method\"", TG_JSON_STRING },  { "-1", TG_JSON_NUMBER },
        { "null", TG_JSON_NULL },
    };
    tg_message_t m;

    HELP_EACH(row, rows) {
        CU_ASSERT(test_parse(&m, row->text) == TG_OK);
        CU_ASSERT(m.type == row->type);
        HELP_EQ(m.text, row->text);
        CU_ASSERT(m.id.data == NULL);
    }
}

HELP_TEST(duplicates, "duplicates")
{
    static const char *const twice[] = {
        "{\"id\":1,\"id\":1}",
        "{\"id\":1,\"method\":\"a\",\"\\u0069d\":2}",
        "{\"method\":\"a\",\"method\":\"a\"}",
        "{\"params\":{},\"params\":{}}",
        "{\"params\":{\"name\":1,\"name\":2}}",
        "{\"params\":{\"_meta\":{\"progressToken\":1,\"progressToken\":1}}}",
        "{\"error\":{\"code\":1,\"code\":1}}",
        "{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\"}",
        "{\"kind\":\"a\",\"kind\":\"b\"}",
    };
    static const char *const once[] = {
        /* Equal keys in different objects, and in opaque values. */
        "{\"id\":1,\"params\":{\"id\":1,\"message\":2},\"message\":3}",
        "{\"params\":{\"arguments\":{\"a\":1,\"a\":2}}}",
        "{\"result\":{\"a\":1,\"a\":2}}",
        "{\"params\":{\"progressToken\":1,\"_meta\":{\"progressToken\":1}}}",
        "{\"ID\":1,\"id\":2}",
    };
    tg_message_t m;

    HELP_EACH(row, twice) {
        CU_ASSERT(test_parse(&m, *row) == TG_OK);
        CU_ASSERT(m.has_duplicate);
    }

    HELP_EACH(row, once) {
        CU_ASSERT(test_parse(&m, *row) == TG_OK);
        CU_ASSERT(!m.has_duplicate);
    }
}

HELP_TEST(keys, "keys are compared decoded and exactly")
{
    tg_message_t m;

    CU_ASSERT(test_parse(&m, "{\"\\u006dethod\":\"a\",\"ids\":1,\"i\":2,"
                             "\"\":3,\"params\":{\"_m\\u0065ta\":{"
                             "\"io.modelcontextprotocol\\/protocolVersion\":"
                             "\"v\"}}}")
              == TG_OK);
    HELP_EQ(m.method, "\"a\"");
    HELP_EQ(m.meta.protocol_version, "\"v\"");
    CU_ASSERT(m.id.data == NULL);
}

HELP_TEST(invalid, "bad")
{
    /* clang-format off */
    static const char *const invalid[] = {
        "", "{", "{\"id\":}", "{\"id\":1}x", "{\"params\":{\"_meta\":{}",
        "{\"params\":{\"_meta\":{]}}", "{\"error\":{\"code\"}}",
        "{\"params\":{\"notifications\":{\"toolsListChanged\":tru}}}",
        "{\"x\":\"\xff\"}", "{\"id\":1,}", "[1,]",
    };
    /* clang-format on */
    tg_message_t m;

    HELP_EACH(row, invalid) {
        CU_ASSERT(test_parse(&m, *row) == TG_INVALID);
        CU_ASSERT(m.why != NULL);
    }
}

static int
test_nested(const char *head, int n, const char *tail)
{
    tg_message_t m;
    HELP_BUFFER(buf);
    int i, rc;

    tg_buf_append_cstr(&buf, head);

    for (i = 0; i < n; i++) {
        tg_buf_append_char(&buf, '[');
    }

    for (i = 0; i < n; i++) {
        tg_buf_append_char(&buf, ']');
    }

    tg_buf_append_cstr(&buf, tail);
    rc = tg_message_parse(&m, tg_buf_view(&buf));

    return rc;
}

HELP_TEST(depth, "the levels of the envelope count")
{
    CU_ASSERT(test_nested("{\"x\":", 127, "}") == TG_OK);
    CU_ASSERT(test_nested("{\"x\":", 128, "}") == TG_LIMIT);
    CU_ASSERT(test_nested("{\"params\":{\"name\":", 126, "}}") == TG_OK);
    CU_ASSERT(test_nested("{\"params\":{\"name\":", 127, "}}") == TG_LIMIT);
    CU_ASSERT(test_nested("{\"params\":{\"_meta\":{\"a\":", 125, "}}}")
              == TG_OK);
    CU_ASSERT(test_nested("{\"params\":{\"_meta\":{\"a\":", 126, "}}}")
              == TG_LIMIT);
    CU_ASSERT(test_nested("", 128, "") == TG_OK);
    CU_ASSERT(test_nested("", 129, "") == TG_LIMIT);
}

/* --- the id of a too large message --- */

static void
test_head(const char *head, int rc, const char *expected)
{
    tg_message_head_t known;

    CU_ASSERT(tg_message_parse_head(tg_str_from_cstr(head), &known) == rc);
    HELP_EQ(known.id, expected);
}

/* 'q' for a request, 'a' for a response, '?'. */
static void
test_message_type(const char *head, char expected)
{
    tg_message_head_t known;

    CU_ASSERT(tg_message_parse_head(tg_str_from_cstr(head), &known) == TG_OK);
    CU_ASSERT(!(known.is_request && known.is_response));
    CU_ASSERT((known.is_request    ? 'q'
               : known.is_response ? 'a'
                                   : '?')
              == expected);
}

static void
test_tail(const char *tail, const char *expected)
{
    tg_str_t id;

    id = TG_STR_NONE;
    CU_ASSERT(tg_message_find_tail_id(tg_str_from_cstr(tail), &id)
              == (*expected != '\0' ? TG_OK : TG_MISSING));
    HELP_EQ(id, expected);
}

HELP_TEST(ids, "ids of too large messages")
{
    test_head("{\"id\":1,\"params\":{\"x", TG_OK, "1");
    test_head(" { \"a\" : {\"id\":2}, \"id\" : \"x\" ,", TG_OK, "\"x\"");
    test_head("{\"id\":12", TG_OK, ""); /* or 123 */
    test_head("{\"id\":\"x", TG_OK, "");
    test_head("{\"id\":null,\"a\":[1", TG_OK, "");
    test_head("{\"id\":[1],\"a\":[1", TG_OK, "");
    test_head("{\"params\":{\"id\":1", TG_OK, "");
    test_head("{", TG_INVALID, "");
    test_head("{}", TG_INVALID, "");
    test_head("{{", TG_INVALID, "");
    test_head("[{\"id\":1},", TG_INVALID, "");
    test_head("", TG_INVALID, "");

    test_message_type("{\"id\":1,\"method\":\"x\",\"params\":{\"result\":1",
                      'q');
    test_message_type("{\"id\":1,\"params\":{\"x", 'q');
    test_message_type("{\"result\":[\"method\",{\"params\":1", 'a');
    test_message_type("{\"id\":1,\"error\":null,\"result\":\"x", 'a');
    test_message_type("{\"error\":{\"code\":1},\"id\":1,\"x\":1", 'a');
    test_message_type("{\"result\":1,\"method\":\"x\",\"y\":[", 'q');
    test_message_type("{\"id\":1,\"resul", '?');
    test_message_type("{\"id\":1,\"x\":{\"result\":1", '?');

    test_tail("xxx\"},\"id\":1}", "1");
    test_tail("xxx\"} , \"id\" : \"\\u0061\" } \r", "\"\\u0061\"");
    test_tail("\"id\":-1,\"a\":[{}],\"b\":\"}\"}", "-1");
    test_tail("\"id\":1,\"id\":2}", "2");
    test_tail("\"id\":{\"id\":2}}", "");
    test_tail("\"params\":{\"id\":2}}", "");
    test_tail("{\"id\":2}", "2");
    test_tail("[{\"id\":2}]", "");
    test_tail("\"id\":null}", "");
    test_tail("\"id\":2", "");
    test_tail("\\\"id\\\":2}", "");
    test_tail("\"id\"}", "");
    test_tail("\"id\"", "");
    test_tail("", "");
}

HELP_TEST(nulls, "optional members that are null")
{
    tg_message_t m;

    CU_ASSERT(test_parse(&m, "{\"id\":null,\"params\":{\"name\":null,"
                             "\"arguments\":null,\"cursor\": null ,"
                             "\"requestState\":null,\"_meta\":null}}")
              == TG_OK);
    HELP_EQ(m.id, "null");
    HELP_EQ(m.p.name, "null");
    CU_ASSERT(m.params.data != NULL && m.p.arguments.data == NULL);
    CU_ASSERT(m.p.cursor.data == NULL && m.p.request_state.data == NULL);
    CU_ASSERT(m.p.meta.data == NULL && !m.has_duplicate);

    CU_ASSERT(test_parse(&m, "{\"params\":null,\"params\":{}}") == TG_OK);
    CU_ASSERT(m.has_duplicate);

    CU_ASSERT(tg_message_is_empty_array(TG_STR("[ ]")));
    CU_ASSERT(!tg_message_is_empty_array(TG_STR("[0]")));
    CU_ASSERT(!tg_message_is_empty_array(TG_STR("{}")));
    CU_ASSERT(!tg_message_is_empty_array(TG_STR_NONE));
    CU_ASSERT(tg_message_is_mcp_notification(TG_STR("\"notifications/x\"")));
    CU_ASSERT(!tg_message_is_mcp_notification(TG_STR("\"notifications\"")));
    CU_ASSERT(!tg_message_is_mcp_notification(TG_STR_NONE));
}
