/*
 * The caller's ends: ipc's turns, lost connections, farewells, cancellation.
 */
#include "core_end.h"

/* --- ipc: one after the other --- */

HELP_TEST(ipc, "ipc: one after the other")
{
    end_t end;
    uint64_t a, c;

    end_init(&end, TG_DIALECT_IPC);
    CU_ASSERT(end_call(&end, "a", &a) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "c", &c) == TG_OK);
    CU_ASSERT(end_call(&end, "d", NULL) == TG_OK);
    end_sends_ipc(&end, END_IPC_CALL("a"), 1);

    /* One that is queued vanishes; the answer of one that is not is eaten. */
    CU_ASSERT(tg_caller_cancel(&end.caller, c, 1) == TG_OK);
    CU_ASSERT(tg_caller_cancel(&end.caller, c, 1) == TG_MISSING);
    CU_ASSERT(tg_caller_cancel(&end.caller, a, 1) == TG_OK);
    CU_ASSERT(end.caller.out.len == 0);
    CU_ASSERT(end_feed_ipc(&end, "{\"result\":{\"content\":[]}}") == TG_OK);
    END_SAYS(&end, "");
    end_sends_ipc(&end, END_IPC_CALL("b"), 1);
    CU_ASSERT(end_feed_ipc(&end, "{\"error\":{\"message\":\"m\","
                                 "\"type\":\"ValueError\"}}")
              == TG_OK);
    END_SAYS(&end, "b: error message=m type=ValueError\n");
    end_sends_ipc(&end, END_IPC_CALL("d"), 1);

    /* A call from within an answer finds the way free. */
    end.again = "e";
    CU_ASSERT(end_feed_ipc(&end, "{\"result\":1}") == TG_OK);
    end_sends_ipc(&end, END_IPC_CALL("e"), 1);
    CU_ASSERT(end_feed_ipc(&end, "{\"result\":2}") == TG_OK);
    END_SAYS(&end, "d: result 1\ne: result 2\n");
    CU_ASSERT(end.caller.npending == 0 && end.caller.out.len == 0);
    end_deinit(&end);
}

HELP_TEST(ipc_broken, "ipc: broken")
{
    static const char *const bad[] = {
        "", "{", "[]", "7", "{\"a\":1}", "{\"method\":\"call_tool\"}"
    };
    end_t end;
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        end_init(&end, TG_DIALECT_IPC);
        CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
        CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
        end_sends_ipc(&end, END_IPC_CALL("a"), 1);
        CU_ASSERT(end_feed_ipc(&end, bad[i]) == TG_CLOSED);
        CU_ASSERT(end_call(&end, "c", NULL) == TG_CLOSED);
        tg_caller_lose(&end.caller);
        END_SAYS(&end, "a: lost\nb: not started\n");
        end_deinit(&end);
    }
}

/* --- ends --- */

HELP_TEST(lose, "lose")
{
    end_t end;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "c", NULL) == TG_OK);

    /* All of a and one byte of b went out. */
    tg_caller_written(&end.caller, end.caller.out.len / 3 + 1);
    end.again = "d";
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "a: lost\nb: lost\nc: not started\n");
    END_SENDS(&end, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\","
                    "\"params\":{\"name\":\"d\",\"arguments\":{}}}\n");
    CU_ASSERT(end.caller.npending == 1);

    /* An answer may cancel what is about to be lost, the last one too. */
    CU_ASSERT(end_call(&end, "e", NULL) == TG_OK);
    end.cancel = 5;
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "d: lost\n");
    end_deinit(&end);
}

/* Half a frame of the old connection is no part of the new one. */
HELP_TEST(lose_framing, "lose: framing")
{
    end_t end;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(tg_caller_input(&end.caller, "{\"id\":1,", 8, &(size_t){ 0 })
              == TG_OK);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "a: not started\n");
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, TG_STR("{\"id\":2,\"result\":1}\n")) == TG_OK);
    END_SAYS(&end, "b: result 1\n");
    end_deinit(&end);
}

/* ipc: a call from within a lost answer is behind others, and still goes. */
HELP_TEST(lose_ipc, "lose: ipc")
{
    end_t end;

    end_init(&end, TG_DIALECT_IPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    end_sends_ipc(&end, END_IPC_CALL("a"), 1);
    end.again = "c";
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "a: lost\nb: not started\n");
    end_sends_ipc(&end, END_IPC_CALL("c"), 0);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "c: not started\n");
    end_deinit(&end);
}

HELP_TEST(farewell, "farewell")
{
    end_t end;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    CU_ASSERT(end_call(&end, "b", NULL) == TG_OK);
    tg_caller_written(&end.caller, end.caller.out.len);
    CU_ASSERT(end_feed(&end, TG_STR("{\"id\":1,\"result\":1}\n"
                                    "{\"jsonrpc\":\"2.0\",\"method\":"
                                    "\"notifications/toolgate/closing\","
                                    "\"params\":{\"reason\":\"reload\"}}\n"
                                    "{\"id\":2,\"result\":2}\n"))
              == TG_CLOSED);
    END_SAYS(&end, "a: result 1\ndrained farewell reload\n");
    CU_ASSERT(end_call(&end, "c", NULL) == TG_CLOSED);
    CU_ASSERT(
        tg_caller_request(&end.caller, TG_STR("m"), TG_STR_NONE, "m", NULL)
        == TG_CLOSED);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "b: not started\n");

    /* The next connection is as good as the first. */
    CU_ASSERT(end_call(&end, "c", NULL) == TG_OK);
    CU_ASSERT(end_feed(&end, TG_STR("{\"method\":"
                                    "\"notifications/toolgate/closing\"}\n"))
              == TG_CLOSED);
    END_SAYS(&end, "drained farewell\n");
    end_deinit(&end);

    /* relay promises nothing of what is in flight. */
    end_init(&end, TG_DIALECT_RELAY);
    CU_ASSERT(end_call(&end, "a", NULL) == TG_OK);
    tg_caller_written(&end.caller, end.caller.out.len);
    CU_ASSERT(end_feed(&end, TG_STR("{\"kind\":\"shutdown\","
                                    "\"reason\":\"x\"}\n"))
              == TG_CLOSED);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "farewell x\na: lost\n");
    CU_ASSERT(end_feed(&end, TG_STR("{\"kind\":\"error\",\"message\":\"m\"}\n"))
              == TG_CLOSED);
    END_SAYS(&end, "farewell m\n");
    end_deinit(&end);
}

HELP_TEST(cancel, "cancel")
{
    end_t end;
    uint64_t a, b;

    end_init(&end, TG_DIALECT_JSONRPC);
    CU_ASSERT(end_call(&end, "a", &a) == TG_OK);
    CU_ASSERT(end_call(&end, "b", &b) == TG_OK);
    tg_buf_truncate(&end.caller.out, 0);
    CU_ASSERT(tg_caller_cancel(&end.caller, a, 1) == TG_OK);
    CU_ASSERT(tg_caller_cancel(&end.caller, b, 0) == TG_OK);
    CU_ASSERT(tg_caller_cancel(&end.caller, b, 0) == TG_MISSING);
    CU_ASSERT(tg_caller_cancel(&end.caller, 77, 0) == TG_MISSING);
    END_UNSENT(&end,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
               "\"params\":{\"requestId\":1}}\n"
               "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\","
               "\"params\":{\"id\":2}}\n");
    CU_ASSERT(end_feed(&end, TG_STR("{\"id\":1,\"result\":1}\n")) == TG_OK);
    tg_caller_lose(&end.caller);
    END_SAYS(&end, "log: answer to no request dropped\n");
    end_deinit(&end);

    /* relay has no word for it: it is only forgotten. */
    end_init(&end, TG_DIALECT_RELAY);
    CU_ASSERT(end_call(&end, "a", &a) == TG_OK);
    tg_buf_truncate(&end.caller.out, 0);
    CU_ASSERT(tg_caller_cancel(&end.caller, a, 1) == TG_OK);
    CU_ASSERT(end.caller.out.len == 0 && end.caller.npending == 0);
    end_deinit(&end);
}
