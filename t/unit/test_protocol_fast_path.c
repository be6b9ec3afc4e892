/* Calls like an earlier one get the normal path's result; others avoid it. */
#include "protocol_host_talk.h"

#include "protocol/tg_peer_fast_path.h"

#define TEST_MAX 512

/* Replacements for each byte: all that JSON uses, and some others. */
static const char test_bytes[] =
    "\"\\,:{}[] \t\n\r0-.9eatfn/\x7f\x80\xc3\xa9\x01";

static const struct {
    tg_dialect_t dialect;
    const char *first;
    const char *second; /* similar to the first */
} test_calls[] = {
    { TG_DIALECT_JSONRPC,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
      "{\"name\":\"echo\",\"arguments\":{\"text\":\"one\"}}}",
      "{\"jsonrpc\":\"2.0\",\"id\":23,\"method\":\"tools/call\",\"params\":"
      "{\"name\":\"echo\",\"arguments\":{\"other\":[1],\"text\":\"t\\nw\"}}}" },
    { TG_DIALECT_JSONRPC,
      "{\"method\":\"tools/call\",\"params\":{\"arguments\":{\"text\":\"one\"},"
      "\"name\":\"echo\"},\"jsonrpc\":\"2.0\",\"id\":\"a\"}",
      "{\"method\":\"tools/call\",\"params\":{\"arguments\":{},"
      "\"name\":\"echo\"},\"jsonrpc\":\"2.0\",\"id\":7}" },
    { TG_DIALECT_JSONRPC,
      "{ \"jsonrpc\" : \"2.0\", \"more\" : [ ], \"id\" : 1, \"method\" : "
      "\"tools\\/call\", \"params\" : { \"name\" : \"ech\\u006f\", "
      "\"arguments\" : { \"text\" : \"one\" } } }",
      "{ \"jsonrpc\" : \"2.0\", \"more\" : [ ], \"id\" : 12, \"method\" : "
      "\"tools\\/call\", \"params\" : { \"name\" : \"ech\\u006f\", "
      "\"arguments\" : {\"text\":\"two\" } } }" },
    { TG_DIALECT_RELAY,
      "{\"kind\":\"mcp_request\",\"id\":1,\"method\":\"tools/call\",\"params\":"
      "{\"name\":\"echo\",\"arguments\":{\"text\":\"one\"}}}",
      "{\"kind\":\"mcp_request\",\"id\":\"x\",\"method\":\"tools/call\","
      "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"\"}}}" },
    { TG_DIALECT_IPC,
      "{\"method\":\"call_tool\",\"params\":"
      "{\"name\":\"echo\",\"arguments\":{\"text\":\"one\"}}}",
      "{\"method\":\"call_tool\",\"params\":"
      "{\"name\":\"echo\",\"arguments\":{\"text\":1}}}" },
    { TG_DIALECT_IPC,
      "{\"id\":1,\"method\":\"call_tool\",\"params\":"
      "{\"name\":\"fail\",\"arguments\":{}}}",
      "{\"id\":2,\"method\":\"call_tool\",\"params\":"
      "{\"name\":\"fail\",\"arguments\":{\"text\":null}}}" },
    { TG_DIALECT_JSONRPC,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
      "{\"name\":\"hang\",\"arguments\":{}}}",
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
      "{\"name\":\"hang\",\"arguments\":{}}}" },
};

#define TEST_CALLS (HELP_COUNT(test_calls))

static void
test_send_message(host_t *host, tg_str_t message)
{
    HELP_BUFFER(text);

    if (host->dialect == TG_DIALECT_IPC) {
        host_put_ipc(&text, message);
    } else {
        tg_buf_append_str(&text, message);
        tg_buf_append_char(&text, '\n');
    }

    host_feed(host, tg_buf_view(&text));
}

static void
test_forget(host_t *host)
{
    memset(tg_catalog_fast_paths(host->catalog), 0,
           sizeof(tg_fast_path_cache_t));
}

/* A call that resembles no other, and an unknown message. */
static void
test_run(host_t *host, tg_dialect_t dialect, const char *first,
         tg_str_t message, int may_be_similar)
{
    host_init(host, tg_alloc_libc(), dialect, 65536, 4);
    test_send_message(host, tg_str_from_cstr(first));

    if (!may_be_similar) {
        test_forget(host);
    }

    test_send_message(host, message);
    host_collect(host);
}

static void
test_same(tg_dialect_t dialect, const char *first, tg_str_t message)
{
    host_t known, fresh;

    test_run(&known, dialect, first, message, 1);
    test_run(&fresh, dialect, first, message, 0);
    CU_ASSERT(tg_str_eq(tg_buf_view(&known.out), tg_buf_view(&fresh.out)));
    CU_ASSERT(tg_str_eq(tg_buf_view(&known.log), tg_buf_view(&fresh.log)));
    CU_ASSERT(known.rc == fresh.rc);
    CU_ASSERT(known.ncalls == fresh.ncalls);
    CU_ASSERT(known.peer.ncalls == fresh.peer.ncalls);
    CU_ASSERT(known.peer.work == fresh.peer.work);
    CU_ASSERT(known.peer.frame_size == fresh.peer.frame_size);
    host_deinit(&known);
    host_deinit(&fresh);
}

HELP_TEST(similar, "similar calls take the fast path")
{
    tg_fast_path_cache_t *fast_paths;
    host_t host;
    size_t i;

    for (i = 0; i < TEST_CALLS; i++) {
        host_init(&host, tg_alloc_libc(), test_calls[i].dialect, 65536, 4);
        fast_paths = tg_catalog_fast_paths(host.catalog);
        test_send_message(&host, tg_str_from_cstr(test_calls[i].first));
        CU_ASSERT(fast_paths->n == 1);
        test_send_message(&host, tg_str_from_cstr(test_calls[i].second));
        CU_ASSERT(fast_paths->n == 1);
        CU_ASSERT(host.ncalls == 2);
        host_deinit(&host);
        test_same(test_calls[i].dialect, test_calls[i].first,
                  tg_str_from_cstr(test_calls[i].first));
        test_same(test_calls[i].dialect, test_calls[i].first,
                  tg_str_from_cstr(test_calls[i].second));
    }
}

/* Replaces, doubles or removes each byte, and cuts each message. */
static void
test_mutate(tg_dialect_t dialect, const char *first, const char *message)
{
    char text[TEST_MAX];
    size_t len, at, i;

    len = strlen(message);
    CU_ASSERT_FATAL(len < sizeof(text));

    for (at = 0; at < len; at++) {
        for (i = 0; i < sizeof(test_bytes) - 1; i++) {
            memcpy(text, message, len);
            text[at] = test_bytes[i];
            test_same(dialect, first, tg_str(text, len));
        }

        memcpy(text, message, at + 1);
        memcpy(text + at + 1, message + at, len - at);
        test_same(dialect, first, tg_str(text, len + 1));
        memcpy(text + at, message + at + 1, len - at - 1);
        test_same(dialect, first, tg_str(text, len - 1));
        test_same(dialect, first, tg_str(message, at));
    }
}

HELP_TEST(mutations, "nearly similar calls")
{
    size_t i;

    for (i = 0; i < TEST_CALLS; i++) {
        test_mutate(test_calls[i].dialect, test_calls[i].first,
                    test_calls[i].second);
    }
}

HELP_TEST(depth, "depth counts from the outermost bracket")
{
    static const char head[] = "{\"method\":\"call_tool\",\"params\":{\"name\":"
                               "\"fail\",\"arguments\":{\"a\":";
    char text[TEST_MAX];
    int depth, at;

    for (depth = TG_JSON_MAX_DEPTH - 5; depth < TG_JSON_MAX_DEPTH; depth++) {
        at = snprintf(text, sizeof(text), "%s", head);
        memset(text + at, '[', (size_t) depth);
        memset(text + at + depth, ']', (size_t) depth);
        at += 2 * depth;
        at += snprintf(text + at, sizeof(text) - (size_t) at, "}}}");
        test_same(TG_DIALECT_IPC, test_calls[4].first,
                  tg_str(text, (size_t) at));
        test_same(TG_DIALECT_IPC,
                  "{\"method\":\"call_tool\",\"params\":{\"name\":\"fail\","
                  "\"arguments\":{}}}",
                  tg_str(text, (size_t) at));
    }
}

HELP_TEST(many, "more kinds of messages than the cache holds, in turns")
{
    char text[TEST_MAX];
    tg_str_t got;
    host_t host;
    int i;

    host_init(&host, tg_alloc_libc(), TG_DIALECT_JSONRPC, 65536, 4);

    for (i = 0; i < TG_FAST_PATH_CACHE_SIZE * TG_FAST_PATH_SAMPLE * 8; i++) {
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
                 "\"params\":{%*s\"name\":\"echo\",\"arguments\":{\"text\":"
                 "\"%d\"}}}",
                 i, i % (TG_FAST_PATH_CACHE_SIZE + 3), "", i);
        test_send_message(&host, tg_str_from_cstr(text));
        got = host_take(&host);
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[{"
                 "\"type\":\"text\",\"text\":\"%d\"}],\"isError\":false}}\n",
                 i, i);
        HELP_EQ(got, text);
    }

    /* Some of them took the fast path. */
    CU_ASSERT(tg_catalog_fast_paths(host.catalog)->n
              < TG_FAST_PATH_CACHE_SIZE * TG_FAST_PATH_SAMPLE * 8);
    host_deinit(&host);
}

HELP_TEST(peers, "a peer not yet known as MCP must become so")
{
    host_t host, other;
    size_t i;

    for (i = 0; i < TEST_CALLS; i++) {
        host_init(&host, tg_alloc_libc(), test_calls[i].dialect, 65536, 4);
        host_init(&other, tg_alloc_libc(), test_calls[i].dialect, 65536, 4);
        tg_peer_set_catalog(&other.peer, host.catalog);
        test_send_message(&host, tg_str_from_cstr(test_calls[i].first));
        test_send_message(&other, tg_str_from_cstr(test_calls[i].second));
        CU_ASSERT(other.peer.is_mcp == host.peer.is_mcp);
        CU_ASSERT(other.ncalls == 1);
        host_deinit(&other);
        host_deinit(&host);
    }
}
