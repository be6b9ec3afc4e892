/*
 * The caller: what it sends, and how it takes what comes back.
 */
#include "core_end.h"

/* --- what it sends --- */

HELP_TEST(requests, "requests")
{
    end_t end;
    uint64_t id;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(tg_caller_hello(&end.caller) == TG_OK);
    CU_ASSERT(
        tg_caller_request(&end.caller, TG_STR("a\"b"), TG_STR_NONE, "1", &id)
        == TG_OK);
    CU_ASSERT(id == 1);
    CU_ASSERT(tg_caller_request(&end.caller, TG_STR("m"), TG_STR("[ 1,\n2 ]"),
                                "2", NULL)
              == TG_OK);
    CU_ASSERT(tg_caller_call_tool(&end.caller, TG_STR("\\u0061"),
                                  TG_STR("{ \"x\" : \" \" }"),
                                  TG_STR("{\"progressToken\": 1}"), "3", &id)
              == TG_OK);
    CU_ASSERT(id == 3);
    CU_ASSERT(strcmp(tg_caller_tag(&end.caller, 3), "3") == 0);
    CU_ASSERT(tg_caller_tag(&end.caller, 4) == NULL);
    CU_ASSERT(tg_caller_notify(&end.caller, TG_STR("n"), TG_STR("{ }"))
              == TG_OK);
    CU_ASSERT(tg_caller_shutdown(&end.caller, TG_STR("bye")) == TG_OK);
    END_SENDS(&end,
              "{\"jsonrpc\":\"2.0\",\"method\":"
              "\"notifications/toolgate/hello\"}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\\"b\"}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\","
              "\"params\":[1,2]}\n"
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"\\u0061\",\"arguments\":{\"x\":\" \"},"
              "\"_meta\":{\"progressToken\":1}}}\n"
              "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n");
    end_deinit(&end);

    end_init(&end, TG_DIALECT_RELAY);
    CU_ASSERT(tg_caller_hello(&end.caller) == TG_OK);
    CU_ASSERT(tg_caller_request(&end.caller, TG_STR("tools/list"), TG_STR("{}"),
                                "1", NULL)
              == TG_OK);
    CU_ASSERT(end_call(&end, "t", NULL) == TG_OK);
    CU_ASSERT(tg_caller_shutdown(&end.caller, TG_STR("b\"ye")) == TG_OK);
    END_SENDS(&end,
              "{\"kind\":\"mcp_request\",\"id\":1,\"method\":\"tools/list\","
              "\"params\":{}}\n"
              "{\"kind\":\"mcp_request\",\"id\":2,\"method\":\"tools/call\","
              "\"params\":{\"name\":\"t\",\"arguments\":{}}}\n"
              "{\"kind\":\"shutdown\",\"reason\":\"b\\\"ye\"}\n");
    end_deinit(&end);

    end_init(&end, TG_DIALECT_IPC);
    CU_ASSERT(
        tg_caller_request(&end.caller, TG_STR("m"), TG_STR_NONE, "1", NULL)
        == TG_MISSING);
    CU_ASSERT(end_call(&end, "t", NULL) == TG_OK);
    end_sends_ipc(&end, END_IPC_CALL("t"), 1);
    end_deinit(&end);
}

/* A request of exactly the limit goes, one byte more does not, nor a trace. */
static void
test_limit(tg_dialect_t dialect, size_t limit)
{
    end_t end;
    tg_buf_t arguments;
    size_t len;
    int more;

    end_init(&end, dialect);
    end.caller.max_frame = limit;
    CU_ASSERT(end_call(&end, "t", NULL) == TG_OK);
    len = end.caller.out.len - (dialect == TG_DIALECT_IPC ? 4 : 1);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "t: not started\n");

    /* {"":"…"} instead of {}: five more, and what is between. */
    tg_buf_init(&arguments, tg_alloc_libc());
    tg_buf_text(&arguments, "{\"\":\"");
    CU_ASSERT_FATAL(tg_buf_reserve(&arguments, limit) == TG_OK);
    len = limit - len - 5;

    for (more = 0; more < 2; more++) {
        memset(arguments.data + 5, 'x', len + 1);
        tg_buf_truncate(&arguments, 5 + len + (size_t) more);
        tg_buf_text(&arguments, "\"}");
        CU_ASSERT(tg_caller_call_tool(&end.caller, TG_STR("t"),
                                      tg_buf_view(&arguments), TG_STR_NONE, "t",
                                      NULL)
                  == (more ? TG_LIMIT : TG_OK));
        CU_ASSERT(end.caller.npending == 1);
        CU_ASSERT(end.caller.out.len
                  == limit + (dialect == TG_DIALECT_IPC ? 4 : 1));
    }

    tg_buf_deinit(&arguments);
    end_deinit(&end);
}

HELP_TEST(limits, "limits")
{
    end_t end;

    test_limit(TG_DIALECT_JSONRPC, 1000);
    test_limit(TG_DIALECT_RELAY, 1000);
    test_limit(TG_DIALECT_IPC, 1000);

    tg_caller_init(&end.caller, tg_alloc_libc(), &end_few_ops, &end,
                   TG_DIALECT_IPC, SIZE_MAX);
    CU_ASSERT(end.caller.max_frame == TG_FRAME_IPC_MAX);
    tg_caller_init(&end.caller, tg_alloc_libc(), &end_few_ops, &end,
                   TG_DIALECT_RELAY, SIZE_MAX);
    CU_ASSERT(end.caller.max_frame == TG_FRAME_RELAY_MAX - 1);
}

/* --- what comes back --- */

HELP_TEST(answers, "answers")
{
    end_t end;
    int i;

    end_init(&end, TG_DIALECT_JSONRPC);

    for (i = 0; i < 6; i++) {
        CU_ASSERT(end_call(&end, "t", NULL) == TG_OK);
    }

    CU_ASSERT(
        end_feed(&end,
                 TG_STR(
                     "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{ \"a\":1 }}\n"
                     "\n{\"result\":null,\"id\":1.0,\"jsonrpc\":\"2.0\"}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-5,"
                     "\"message\":\"a\\n\",\"data\":[1]}}\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{}}\n"
                     "{\"id\":5,\"result\":[],\"error\":null}\n"
                     "{\"id\":2,\"result\":{}}\n{\"id\":99,\"result\":{}}\n"
                     "{\"id\":\"6\",\"result\":{}}\n{\"id\":-6,\"result\":1}\n"
                     "{\"id\":6}\n{\"id\":7,\"method\":\"ping\"}\noops\n[]\n"
                     "{\"method\":\"n\",\"params\":{\"x\":1}}\n"))
        == TG_OK);
    END_SAYS(&end, "t: result { \"a\":1 }\n"
                   "log: malformed frame dropped\n"
                   "t: result null\n"
                   "t: error -5 message=a\\n data=[1]\n"
                   "t: error\n"
                   "t: result []\n"
                   "log: answer to no request dropped\n"
                   "log: answer to no request dropped\n"
                   "log: answer to no request dropped\n"
                   "log: answer to no request dropped\n"
                   "log: frame that is no message dropped\n"
                   "log: malformed frame dropped\n"
                   "log: malformed frame dropped\n"
                   "notification n {\"x\":1}\n");
    CU_ASSERT(end.caller.npending == 1);

    /* Nobody listens to anything but answers. */
    end.caller.ops = &end_few_ops;
    CU_ASSERT(end_feed(&end, TG_STR("oops\n{\"method\":\"n\"}\n"
                                    "{\"id\":6,\"result\":7}\n"))
              == TG_OK);
    END_SAYS(&end, "t: result 7\n");
    end_deinit(&end);
}

/* An error without an id is for the one that waits alone, or for nobody. */
HELP_TEST(error_without_id, "errors without an id")
{
    static const tg_str_t error = TG_STR(
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
        "\"message\":\"too large\"}}\n");
    end_t end;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, error) == TG_OK);
    END_SAYS(&end, "log: answer to no request dropped\n");
    CU_ASSERT(end_feed(&end, TG_STR("{\"id\":1,\"result\":1}\n")) == TG_OK);
    END_SAYS(&end, "a: result 1\n");
    CU_ASSERT(end_feed(&end, error) == TG_OK);
    END_SAYS(&end, "b: error -32600 message=too large\n");
    CU_ASSERT(end_feed(&end, TG_STR("{\"id\":null,\"error\":{}}\n")) == TG_OK);
    END_SAYS(&end, "log: answer to no request dropped\n");
    end_deinit(&end);
}

/* A server may ask, too: we are there, and offer nothing. */
HELP_TEST(server_requests, "requests of the server")
{
    end_t end;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_feed(&end, TG_STR("{\"id\":\"p\",\"method\":\"ping\"}\n"
                                    "{\"id\":7,\"method\":\"roots/list\"}\n"))
              == TG_OK);
    END_SAYS(&end, "");
    END_SENDS(&end, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"
                    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{"
                    "\"code\":-32601,\"message\":\"Method not found\"}}\n");
    end_deinit(&end);

    end_init(&end, TG_DIALECT_RELAY);
    CU_ASSERT(end_feed(&end, TG_STR("{\"kind\":\"mcp_notification\",\"id\":1,"
                                    "\"method\":\"ping\"}\n"))
              == TG_OK);
    END_SAYS(&end, "log: request from the server dropped\n");
    END_SENDS(&end, "");
    end_deinit(&end);
}

HELP_TEST(relay_answers, "relay: answers")
{
    end_t end;

    end_init(&end, TG_DIALECT_RELAY);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(
        end_feed(&end,
                 TG_STR("{\"kind\":\"mcp_response\",\"id\":2,"
                        "\"result\":{}}\n"
                        "{\"kind\":\"mcp_response\",\"id\":1,\"error\":{"
                        "\"code\":-32603,\"message\":\"m\"}}\n"
                        "{\"kind\":\"mcp_notification\",\"method\":\"n\"}\n"
                        "{\"kind\":\"other\",\"method\":\"n\"}\n{oops\n"))
        == TG_OK);
    END_SAYS(&end, "b: result {}\na: error -32603 message=m\n"
                   "notification n\nlog: frame of another kind dropped\n"
                   "log: malformed frame dropped\n");
    end_deinit(&end);
}

/* Whose answer it is can be told, so nobody waits for ever. */
HELP_TEST(halves, "answers that are no whole")
{
    static const char neither[] = "error -32603 message=The answer has neither "
                                  "a result nor an error; look into the log of "
                                  "the server that gave it.\n";
    static const char *const whole[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1}\n",
        "{\"kind\":\"mcp_response\",\"id\":1}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}\n",
        "{\"id\":1,\"result\":{},\"error\":7}\n",
    };
    tg_dialect_t dialects[] = { TG_DIALECT_JSONRPC, TG_DIALECT_RELAY };
    char expected[256];
    end_t end;
    size_t i, j;

    for (j = 0; j < 2; j++) {
        for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
            end_init(&end, dialects[j]);
            CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
            CU_ASSERT(end_feed(&end, tg_str_c(whole[i])) == TG_OK);
            (void) snprintf(expected, sizeof(expected), "a: %s", neither);
            END_SAYS(&end, expected);
            CU_ASSERT(end_feed(&end, tg_str_c(whole[i])) == TG_OK);
            END_SAYS(&end, "log: answer to no request dropped\n");
            end_deinit(&end);
        }

        /* Never both: it failed. */
        end_init(&end, dialects[j]);
        CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
        CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
        CU_ASSERT(end_feed(&end, TG_STR("{\"id\":1,\"result\":{},\"error\":{"
                                        "\"code\":-5,\"message\":\"no\"}}\n"
                                        "{\"id\":2,\"result\":{},"
                                        "\"error\":\"no\"}\n"))
                  == TG_OK);
        END_SAYS(&end, "a: error -5 message=no\nb: error -32603 message=no\n");
        end_deinit(&end);
    }

    end_init(&end, TG_DIALECT_IPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_feed_ipc(&end, "{\"result\":{},\"error\":{"
                                 "\"type\":\"E\",\"message\":\"no\"}}")
              == TG_OK);
    END_SAYS(&end, "a: error message=no type=E\n");
    end_deinit(&end);
}

/* The one that it names learns why, and then the connection ends. */
HELP_TEST(relay_error, "relay: an error frame")
{
    end_t end;

    end_init(&end, TG_DIALECT_RELAY);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    END_SENDS(&end, "{\"kind\":\"mcp_request\",\"id\":1,\"method\":"
                    "\"tools/call\",\"params\":{\"name\":\"a\","
                    "\"arguments\":{}}}\n"
                    "{\"kind\":\"mcp_request\",\"id\":2,\"method\":"
                    "\"tools/call\",\"params\":{\"name\":\"b\","
                    "\"arguments\":{}}}\n");
    CU_ASSERT(end_feed(&end, TG_STR("{\"kind\":\"error\",\"id\":1,"
                                    "\"message\":\"broker \\\"down\\\"\"}"
                                    "\n"))
              == TG_CLOSED);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "a: error -32603 message=broker \\\"down\\\"\n"
                   "farewell broker \\\"down\\\"\nb: lost\n");
    end_deinit(&end);
}

HELP_TEST(too_large, "answers too large")
{
    end_t end;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    CU_ASSERT_FATAL(tg_buf_reserve(&text, END_MAX + 1) == TG_OK);
    memset(text.data, ' ', END_MAX + 1);
    text.len = END_MAX + 1;
    tg_buf_text(&text, "\n{\"id\":1,\"result\":1}\n");
    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, tg_buf_view(&text)) == TG_OK);
    END_SAYS(&end, "log: frame beyond the limit dropped\na: result 1\n");
    end_deinit(&end);

    /* Where the head says whose answer it is, that one learns of it. */
    memcpy(text.data, "{\"id\":1,\"result\":[", 19);
    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, tg_buf_view(&text)) == TG_OK);
    END_SAYS(&end, "a: error -32603 message=The answer is larger than this "
                   "connection carries; ask for less.\n"
                   "log: answer to no request dropped\n");
    CU_ASSERT(end.caller.npending == 1);
    end_deinit(&end);

    /* So it is where the end says it. */
    memcpy(text.data, "{\"result\": [\"id\",", 18);
    memcpy(text.data + END_MAX - 9, "0],\"id\":2}", 10);
    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, tg_buf_view(&text)) == TG_OK);
    END_SAYS(&end, "b: error -32603 message=The answer is larger than this "
                   "connection carries; ask for less.\na: result 1\n");
    end_deinit(&end);
    tg_buf_deinit(&text);

    end_init(&end, TG_DIALECT_IPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, TG_STR("\0\1\0\1{}")) == TG_CLOSED);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "a: not started\n");
    end_deinit(&end);
}
