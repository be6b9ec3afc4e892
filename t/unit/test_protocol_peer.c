/* The peer: tests beyond the transcripts, which only know the wire. */
#include "protocol_host_talk.h"

#include "protocol/tg_peer_impl.h"

#define TEST_MAX 65536

#define TEST_CALL(id, name)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","            \
    "\"params\":{\"name\":\"" name "\",\"arguments\":{\"text\":\"hi\"}}}"
#define TEST_REQUEST(id, method)                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define TEST_IPC(name)                                                         \
    "{\"method\":\"call_tool\",\"params\":{\"name\":\"" name "\","             \
    "\"arguments\":{\"text\":\"hi\"}}}"
#define TEST_RESULT(id, text)                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":["             \
    "{\"type\":\"text\",\"text\":\"" text "\"}],\"isError\":false}}"
#define TEST_ERROR(id, code)                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code ","         \
    "\"message\":\"$string\"}}"

static void
test_init(host_t *host, tg_dialect_t dialect)
{
    host_init(host, tg_alloc_libc(), dialect, TEST_MAX, 4);
}

HELP_TEST(names, "names")
{
    CU_ASSERT_STRING_EQUAL(tg_dialect_name(TG_DIALECT_AUTO), "auto");
    CU_ASSERT_STRING_EQUAL(tg_dialect_name(TG_DIALECT_IPC), "ipc");
    CU_ASSERT_STRING_EQUAL(tg_dialect_name(TG_DIALECT_JSONRPC), "jsonrpc");
    CU_ASSERT_STRING_EQUAL(tg_dialect_name(TG_DIALECT_RELAY), "relay");
}

/* For ipc the first byte decides; transcripts test the rest. */
HELP_TEST(detection, "detection")
{
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, tg_str("\0", 1));
    CU_ASSERT(host.peer.dialect == TG_DIALECT_IPC && host.rc == TG_OK);
    host_deinit(&host);
}

HELP_TEST(message, "a host with its own framing passes whole messages")
{
    host_t host;
    tg_str_t got;

    test_init(&host, TG_DIALECT_AUTO);
    CU_ASSERT(tg_peer_handle_message(&host.peer, TG_STR(" ")) == TG_OK);
    CU_ASSERT(tg_peer_handle_message(&host.peer, TG_STR(TEST_CALL("1", "echo")))
              == TG_OK);
    got = host_take(&host);
    CU_ASSERT_FATAL(got.len != 0);
    HELP_JSON(tg_str(got.data, got.len - 1), TEST_RESULT("1", "hi"));
    CU_ASSERT(host.peer.dialect == TG_DIALECT_JSONRPC);

    host.peer.frame.limit = sizeof(TEST_REQUEST("2", "hello")) - 2;
    CU_ASSERT(
        tg_peer_handle_message(&host.peer, TG_STR(TEST_REQUEST("2", "hello")))
        == TG_OK);
    got = host_take(&host);
    CU_ASSERT_FATAL(got.len != 0);
    HELP_JSON(tg_str(got.data, got.len - 1), TEST_ERROR("2", "-32600"));
    host_deinit(&host);

    test_init(&host, TG_DIALECT_IPC);
    CU_ASSERT(tg_peer_handle_message(&host.peer, TG_STR(TEST_IPC("hang")))
              == TG_OK);
    CU_ASSERT(tg_peer_handle_message(&host.peer, TG_STR(TEST_IPC("echo")))
              == TG_LIMIT);
    tg_call_forget(host.deferred[0]);
    host.ndeferred = 0;
    CU_ASSERT(tg_peer_handle_message(&host.peer, TG_STR("{oops")) == TG_CLOSED);
    CU_ASSERT(tg_peer_handle_message(&host.peer, TG_STR(TEST_IPC("echo")))
              == TG_CLOSED);
    host_deinit(&host);

    test_init(&host, TG_DIALECT_RELAY);
    CU_ASSERT(
        tg_peer_handle_message(&host.peer, TG_STR("{\"kind\":\"shutdown\"}"))
        == TG_CLOSED);
    host_deinit(&host);
}

/* --- deferred calls --- */

HELP_TEST(call_error, "errors of a backend")
{
    host_t host;
    tg_call_t *call;

    test_init(&host, TG_DIALECT_JSONRPC);
    HOST_LINE(&host, TEST_CALL("1", "hang"), NULL);
    call = host_call(&host, "1");
    host_forget(&host, call);
    tg_call_respond_error(call, -5, TG_STR("a \\\"b\\\"\\u0041"),
                          TG_STR("{ \"x\":1 }"));
    HELP_JSON(host_take(&host),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-5,"
              "\"message\":\"a \\\"b\\\"A\",\"data\":{\"x\":1}}}");
    HOST_LINE(&host, TEST_CALL("1", "hang"), NULL);
    call = host_call(&host, "1");
    host_forget(&host, call);
    tg_call_respond_error(call, -32603, TG_STR_NONE, TG_STR_NONE);
    HELP_JSON(host_take(&host),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"
              "\"message\":\"\"}}");
    host_deinit(&host);

    /* ipc has exception classes instead of codes. */
    test_init(&host, TG_DIALECT_IPC);
    HOST_IPC(&host, TEST_IPC("hang"), NULL);
    call = host.deferred[0];
    host_forget(&host, call);
    tg_call_respond_error(call, -32602, TG_STR("no"), TG_STR_NONE);
    CU_ASSERT(host.peer.out.len > 4);
    HELP_JSON(tg_str(host.peer.out.data + 4, host.peer.out.len - 4),
              "{\"error\":{\"message\":\"no\",\"type\":\"ValueError\"}}");
    host_deinit(&host);
}

/* --- ipc is sequential --- */

HELP_TEST(ipc_waits, "ipc waits")
{
    host_t host;
    HELP_BUFFER(text);

    host_put_ipc(&text, TG_STR(TEST_IPC("slow")));
    host_put_ipc(&text, TG_STR(TEST_IPC("lost")));
    host_put_ipc(&text, TG_STR(TEST_IPC("echo")));
    test_init(&host, TG_DIALECT_IPC);
    host_feed(&host, tg_buf_view(&text));
    CU_ASSERT(host.rc == TG_LIMIT && host.ncalls == 1);
    host_feed(&host, TG_STR(""));
    CU_ASSERT(host.rc == TG_LIMIT && host.ncalls == 1);
    HELP_EQ(host_take(&host), "");
    CU_ASSERT(host_fire(&host));
    CU_ASSERT(host.rc == TG_LIMIT && host.ncalls == 2);
    CU_ASSERT(host_fire(&host));
    CU_ASSERT(host.rc == TG_OK && host.ncalls == 3);
    CU_ASSERT(host.in.len == 0);
    host_deinit(&host);
}

/* --- a client that does not read --- */

HELP_TEST(backlog, "backlog")
{
    host_t host;
    HELP_BUFFER(text);
    unsigned i, calls;

    host_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC, 1 << 20, 4);

    for (i = 0; i < 10000; i++) {
        tg_buf_append_cstr(&text, TEST_CALL("1", "echo") "\n");
    }

    host_feed(&host, tg_buf_view(&text));
    CU_ASSERT(host.rc == TG_LIMIT);
    CU_ASSERT(host.peer.out.len > TG_PEER_OUTPUT_MAX);
    CU_ASSERT(host.peer.out.len < TG_PEER_OUTPUT_MAX + 1000);
    calls = host.ncalls;
    CU_ASSERT(calls < 10000);
    host_feed(&host, TG_STR(""));
    CU_ASSERT(host.rc == TG_LIMIT && host.ncalls == calls);

    /* Reading one byte below the limit lets the peer continue. */
    while (host.rc == TG_LIMIT) {
        (void) host_take(&host);
        host_feed(&host, TG_STR(""));
    }

    CU_ASSERT(host.ncalls == 10000 && host.in.len == 0);
    host_deinit(&host);
}

/* --- sizes --- */

/* A request of exactly the dialect's limit, and one byte more. */
static void
test_sized(tg_dialect_t dialect, const char *head, const char *tail,
           size_t limit, int is_taken, int rc)
{
    host_t host;
    HELP_BUFFER(text);
    size_t len;

    host_init(&host, tg_alloc_libc(), dialect, TEST_MAX, 4);

    if (dialect == TG_DIALECT_IPC) {
        tg_frame_write_prefix(host.peer.priv->version, limit);
        tg_buf_append(&text, host.peer.priv->version, TG_FRAME_PREFIX_SIZE);
        memset(host.peer.priv->version, 0, sizeof(host.peer.priv->version));
    }

    tg_buf_append_cstr(&text, head);
    len = limit - strlen(head) - strlen(tail);
    CU_ASSERT_FATAL(tg_buf_reserve(&text, len) == TG_OK);
    memset(text.data + text.len, 'x', len);
    text.len += len;
    tg_buf_append_cstr(&text, tail);

    if (dialect != TG_DIALECT_IPC) {
        tg_buf_append_cstr(&text, "\n");
    }

    host_feed(&host, tg_buf_view(&text));
    CU_ASSERT(host.ncalls == (unsigned) is_taken);
    CU_ASSERT(host.rc == rc);
    host_deinit(&host);
}

HELP_TEST(limits, "limits")
{
    static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                               "\"tools/call\",\"params\":{\"name\":\"json\","
                               "\"arguments\":{\"x\":\"";
    static const char relay[] = "{\"kind\":\"mcp_request\",\"id\":1,\"method\":"
                                "\"tools/call\",\"params\":{\"name\":\"json\","
                                "\"arguments\":{\"x\":\"";
    static const char ipc[] = "{\"method\":\"call_tool\",\"params\":{"
                              "\"name\":\"json\",\"arguments\":{\"x\":\"";
    static const char tail[] = "\"}}}";

    test_sized(TG_DIALECT_JSONRPC, line, tail, TEST_MAX, 1, TG_OK);
    test_sized(TG_DIALECT_JSONRPC, line, tail, TEST_MAX + 1, 0, TG_OK);
    test_sized(TG_DIALECT_AUTO, line, tail, TEST_MAX, 1, TG_OK);
    test_sized(TG_DIALECT_AUTO, line, tail, TEST_MAX + 1, 0, TG_OK);

    /* relay: 1 MiB with the newline; ipc: 10 MiB of payload. */
    test_sized(TG_DIALECT_RELAY, relay, tail, TG_FRAME_RELAY_MAX - 1, 1, TG_OK);
    test_sized(TG_DIALECT_RELAY, relay, tail, TG_FRAME_RELAY_MAX, 0, TG_OK);
    test_sized(TG_DIALECT_IPC, ipc, tail, TG_FRAME_IPC_MAX, 1, TG_OK);
    test_sized(TG_DIALECT_IPC, ipc, tail, TG_FRAME_IPC_MAX + 1, 0, TG_CLOSED);
}

/*
 * Replies of a batch that exceed the limit, each to the longest id: every
 * request gets a reply.
 */
HELP_TEST(batch_too_large, "batch: replies too large")
{
    char id[TG_REQUEST_ID_MAX + 1];
    host_t host;
    HELP_BUFFER(text);
    tg_json_cursor_t json;
    tg_str_t got, reply, value;
    size_t i, errors;

    host_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC, TEST_MAX, 4);
    memset(id, '1', TG_REQUEST_ID_MAX);
    id[TG_REQUEST_ID_MAX] = '\0';

    for (i = 0; i < 59; i++) {
        tg_buf_append_cstr(&text, i == 0 ? "[" : ",");
        tg_buf_append_cstr(&text, "{\"jsonrpc\":\"2.0\",\"id\":");
        tg_buf_append_cstr(&text, id);
        tg_buf_append_cstr(&text, ",\"method\":\"tools/list\"}");
    }

    tg_buf_append_cstr(&text, "]\n");
    CU_ASSERT_FATAL(text.len < TEST_MAX);
    host_feed(&host, tg_buf_view(&text));
    CU_ASSERT(host.rc == TG_OK);
    got = host_take(&host);
    tg_json_init(&json, got);
    CU_ASSERT(tg_json_enter_array(&json) == TG_OK);
    errors = 0;

    for (i = 0; tg_json_next_element(&json) == TG_OK; i++) {
        CU_ASSERT_FATAL(tg_json_read_value(&json, &reply) == TG_OK);
        CU_ASSERT(tg_json_get_member(reply, TG_STR("id"), &value) == TG_OK);
        CU_ASSERT(value.len == TG_REQUEST_ID_MAX);
        errors += tg_json_get_member(reply, TG_STR("error"), &value) == TG_OK;
    }

    CU_ASSERT(tg_json_expect_end(&json) == TG_OK);
    CU_ASSERT(i == 59 && errors > 10 && errors < 59);
    host_deinit(&host);
}

HELP_TEST(hopeless, "a result that cannot fit is not escaped to find that out")
{
    static const struct {
        tg_outcome_type_t kind;
        const char *part;
        const char *said; /* NULL: it is sent */
    } rows[] = {
        { TG_OUTCOME_TEXT, "\n\n", "The answer has 100000 bytes, more" },
        { TG_OUTCOME_BODY, "xx", "The answer has 100000 bytes, more" },
        { TG_OUTCOME_JSON, "11", "The answer has 100000 bytes, more" },
        { TG_OUTCOME_JSON, "  ", NULL },
    };
    tg_outcome_t outcome;
    tg_reply_t reply;
    tg_str_t got;
    tg_buf_t text;
    host_t host;

    HELP_EACH(row, rows) {
        host_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC, TEST_MAX, 4);
        tg_buf_init(&text, tg_alloc_libc());

        while (text.len < 100000) {
            tg_buf_append(&text, row->part, 2);
        }

        text.data[text.len - 1] = '1';
        outcome = tg_outcome_make(row->kind, tg_buf_view(&text));
        memset(&reply, 0, sizeof(reply));
        reply.id = TG_STR("7");
        tg_peer_respond(&host.peer, &reply, &outcome);
        got = host_take(&host);
        CU_ASSERT(got.len < 300);
        CU_ASSERT((memmem(got.data, got.len, "The answer has", 14) != NULL)
                  == (row->said != NULL));
        CU_ASSERT(row->said == NULL
                  || memmem(got.data, got.len, row->said, strlen(row->said))
                         != NULL);
        tg_buf_deinit(&text);
        host_deinit(&host);
    }
}

HELP_TEST(ids, "ids")
{
    char line[TG_REQUEST_ID_MAX + 200], id[TG_REQUEST_ID_MAX + 2];
    host_t host;
    int more;

    test_init(&host, TG_DIALECT_JSONRPC);

    for (more = 0; more < 2; more++) {
        memset(id, 'i', sizeof(id));
        id[0] = '"';
        id[TG_REQUEST_ID_MAX - 1 + more] = '"';
        id[TG_REQUEST_ID_MAX + more] = '\0';
        snprintf(line, sizeof(line),
                 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"nothing\"}\n",
                 id);
        host_feed(&host, tg_str_from_cstr(line));
        snprintf(line, sizeof(line),
                 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,"
                 "\"message\":\"$string\"}}",
                 more ? "null" : id, more ? "-32600" : "-32601");
        HELP_JSON(host_take(&host), line);
    }

    host_deinit(&host);
}
