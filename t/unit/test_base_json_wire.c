/*
 * Valid JSON (RFC 8259) is served in every dialect, invalid JSON gets the
 * error of the dialect's contract, whether it arrives at once or byte by byte.
 */
#include "protocol_host_talk.h"

#define TEST_MAX 65536

/* Around a value that is sent as another argument of `echo`. */
#define TEST_PARAMS(value)                                                     \
    "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\","            \
    "\"x\":" value "}}}"
#define TEST_HI                                                                \
    "{\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"isError\":false}"

typedef struct {
    tg_dialect_t dialect;
    const char *before; /* before params in a request */
    const char *served;
    const char *invalid; /* reply to invalid JSON, or NULL */
    const char *deep;
    const char *twice; /* reply to a duplicate key */
    int is_over;       /* invalid JSON ends the connection */
} test_dialect_t;

static const test_dialect_t test_dialects[] = {
    { TG_DIALECT_JSONRPC,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" TEST_HI "}",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,"
      "\"message\":\"$contains:not valid JSON\"}}",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
      "\"message\":\"$contains:128 levels\"}}",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,"
      "\"message\":\"$contains:duplicated\"}}",
      0 },
    { TG_DIALECT_RELAY,
      "{\"kind\":\"mcp_request\",\"id\":1,\"method\":\"tools/call\",",
      "{\"kind\":\"mcp_response\",\"id\":1,\"result\":" TEST_HI "}", NULL, NULL,
      NULL, 0 },
    { TG_DIALECT_IPC, "{\"method\":\"call_tool\",", "{\"result\":" TEST_HI "}",
      "{\"error\":{\"type\":\"IPCError\",\"message\":\"$contains:not valid "
      "JSON\"}}",
      "{\"error\":{\"type\":\"IPCError\",\"message\":\"$contains:128 "
      "levels\"}}",
      "{\"error\":{\"type\":\"ValueError\",\"message\":"
      "\"$contains:duplicate\"}}",
      1 },
};

/* Feeds bytes one by one, so that each is a read of its own. */
static void
test_feed(host_t *host, tg_str_t bytes, int is_slow)
{
    size_t i;

    if (!is_slow) {
        host_feed(host, bytes);
        return;
    }

    for (i = 0; i < bytes.len; i++) {
        host_feed(host, tg_str(bytes.data + i, 1));
    }
}

/* Sends a message as a frame of the dialect. */
static void
test_send(host_t *host, tg_str_t message, int is_slow)
{
    HELP_BUFFER(bytes);

    if (host->dialect == TG_DIALECT_IPC) {
        host_put_ipc(&bytes, message);
    } else {
        tg_buf_append_str(&bytes, message);
        tg_buf_append_char(&bytes, '\n');
    }

    test_feed(host, tg_buf_view(&bytes), is_slow);
}

/* Compares the one reply, without its frame. */
static void
test_response(host_t *host, const char *expected)
{
    tg_str_t got;

    got = host_take(host);

    if (expected == NULL || got.len == 0) {
        CU_ASSERT_TRUE(expected == NULL && got.len == 0);
        return;
    }

    if (host->dialect == TG_DIALECT_IPC) {
        got = tg_str(got.data + 4, got.len - 4);
    } else {
        CU_ASSERT_EQUAL(got.data[got.len - 1], '\n');
        got.len--;
    }

    HELP_JSON(got, expected);
}

static void
test_init(host_t *host, const test_dialect_t *dialect)
{
    host_init(host, tg_alloc_libc(), dialect->dialect, TEST_MAX, 4);

    /* An MCP client from the start: errors without an id have none. */
    host->peer.is_mcp = 1;
}

/* Sends a message on a new connection, then a call that must work. */
static void
test_message(const test_dialect_t *dialect, tg_str_t message,
             const char *expected, int is_slow)
{
    HELP_BUFFER(call);
    host_t host;

    test_init(&host, dialect);
    test_send(&host, message, is_slow);
    test_response(&host, expected);

    if (expected != NULL && expected == dialect->invalid && dialect->is_over) {
        CU_ASSERT_EQUAL(host.rc, TG_CLOSED);
        host_deinit(&host);
        return;
    }

    if (expected != NULL && expected == dialect->deep && dialect->is_over) {
        CU_ASSERT_EQUAL(host.rc, TG_CLOSED);
        host_deinit(&host);
        return;
    }

    tg_buf_append_cstr(&call, dialect->before);
    tg_buf_append_cstr(&call, TEST_PARAMS("0"));
    test_send(&host, tg_buf_view(&call), is_slow);
    test_response(&host, dialect->served);
    CU_ASSERT_EQUAL(host.rc, TG_OK);
    host_deinit(&host);
}

/* Calls a tool with a value in the arguments, in all dialects. */
static void
test_value(const char *value, const char *behind, size_t which)
{
    int is_slow;

    HELP_EACH(dialect, test_dialects) {
        HELP_BUFFER(call);

        tg_buf_printf(&call,
                      "%s\"params\":{\"name\":\"echo\",\"arguments\":"
                      "{\"text\":\"hi\",\"x\":%s}}}%s",
                      dialect->before, value, behind);

        for (is_slow = 0; is_slow < 2; is_slow++) {
            test_message(dialect, tg_buf_view(&call),
                         which == 0   ? dialect->served
                         : which == 1 ? dialect->invalid
                                      : dialect->deep,
                         is_slow);
        }
    }
}

HELP_TEST(served, "served")
{
    /* clang-format off */
    static const char *const values[] = {
        "0", "-0", "1.5e-3", "1E400", "123456789012345678901234567890", "true",
        "false", "null", "\"\"", "\"\\u0000\\/\\b\\f\\n\\r\\t\"",
        "\"\\ud800\"", "\"\\uDC00\\uD800\"", "\"\\ud83d\\ude00\"",
        "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", "\"\x7f\"",
        "\"\xef\xbf\xbf\"", "[]", "{}", "[[],{},[1,[2]]]", "{\"\":{\"\":0}}",
        "{\"\":1,\"\":2}", "{\"a\":1,\"a\":2,\"\\u0061\":3}", " \t\r1 \t\r",
        "[ 1 , 2 ]", "{ \"a\" : 1 }",
    };
    /* clang-format on */

    HELP_EACH(value, values) {
        test_value(*value, "", 0);
    }

    test_value("1", " \t\r ", 0);
}

HELP_TEST(refused, "refused")
{
    /* clang-format off */
    static const char *const values[] = {
        "", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity",
        "True", "nul", "tru", "nulll", "'a'", "\"", "\"\\\"", "\"\\x41\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"\t\"", "\"\x01\"", "\"\x1f\"",
        "\"\x80\"", "\"\xc0\xaf\"", "\"\xc1\xbf\"", "\"\xe0\x9f\xbf\"",
        "\"\xed\xa0\x80\"", "\"\xed\xbf\xbf\"", "\"\xf0\x8f\xbf\xbf\"",
        "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xff\"",
        "\"\xe2\x82\"", "\xc3\xa9", "[1,]", "[,1]", "[1 2]", "[1", "{\"a\"}",
        "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "[}", "{]", "1 2", "1//",
        "/**/1", "\v1", "\f1", "1\xc2\xa0",
    };
    /* clang-format on */
    static const char *const behind[] = {
        "x", "{}",   "[]", "0",    ",",    "}",
        "]", "\"\"", "\v", "\x1f", "null", "\xef\xbb\xbf"
    };

    HELP_EACH(value, values) {
        test_value(*value, "", 1);
    }

    HELP_EACH(row, behind) {
        test_value("1", *row, 1);
    }
}

HELP_TEST(deep, "three levels belong to the envelope")
{
    char value[2 * TG_JSON_MAX_DEPTH];
    size_t n;

    for (n = TG_JSON_MAX_DEPTH - 4; n <= TG_JSON_MAX_DEPTH - 2; n++) {
        memset(value, '[', n);
        memset(value + n, ']', n);
        value[2 * n] = '\0';
        test_value(value, "", n <= TG_JSON_MAX_DEPTH - 3 ? 0 : 2);
    }
}

HELP_TEST(twice, "a duplicate significant key, however it is escaped")
{
    static const struct {
        const char *text; /* after the opening brace of the envelope */
        const char *params;
    } rows[] = {
        { "\"method\":\"x\",", TEST_PARAMS("1") },
        { "\"m\\u0065thod\":\"x\",", TEST_PARAMS("1") },
        { "\"params\":{},", TEST_PARAMS("1") },
        { "", "\"params\":{\"name\":\"a\",\"name\":\"echo\",\"arguments\":{"
              "\"text\":\"hi\"}}}" },
        { "", "\"params\":{\"name\":\"echo\",\"\\u006eame\":\"echo\","
              "\"arguments\":{\"text\":\"hi\"}}}" },
        { "", "\"params\":{\"name\":\"echo\",\"arguments\":{},\"arguments\":{"
              "\"text\":\"hi\"}}}" },
        { "", "\"params\":{\"name\":\"echo\",\"arguments\":0,\"arguments\":{"
              "\"text\":\"hi\"}}}" },
    };

    HELP_EACH(dialect, test_dialects) {
        HELP_EACH(row, rows) {
            HELP_BUFFER(call);

            tg_buf_printf(&call, "{%s%s%s", row->text, dialect->before + 1,
                          row->params);
            test_message(dialect, tg_buf_view(&call), dialect->twice, 0);
            test_message(dialect, tg_buf_view(&call), dialect->twice, 1);
        }
    }
}

HELP_TEST(others, "insignificant keys: empty, unknown, duplicate")
{
    static const char *const texts[] = {
        "\"\":0,",
        "\"\":0,\"\":1,",
        "\"x\":{\"x\":[]},\"x\":null,",
        "\"metho\":1,\"methods\":2,\"Method\":3,",
    };

    HELP_EACH(dialect, test_dialects) {
        HELP_EACH(text, texts) {
            HELP_BUFFER(call);

            tg_buf_append_char(&call, '{');
            tg_buf_append_cstr(&call, *text);
            tg_buf_append_cstr(&call, dialect->before + 1);
            tg_buf_append_cstr(&call, TEST_PARAMS("1"));
            test_message(dialect, tg_buf_view(&call), dialect->served, 0);
        }
    }
}
