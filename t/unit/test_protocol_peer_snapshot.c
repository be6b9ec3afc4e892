/* A peer that moves after each input of every transcript; damaged states. */
#include "protocol_play.h"

#include "protocol/tg_peer_snapshot.h"

HELP_TEST(transcripts, "transcripts with moves")
{
    const script_t *scripts;
    size_t i, n;

    scripts = play_scripts(&n);

    for (i = 0; i < n; i++) {
        play_all_ways(&scripts[i], 1);
    }
}

/* --- changes of the catalog --- */

#define TEST_CALL(id, name)                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","            \
    "\"params\":{\"name\":\"" name "\",\"arguments\":{}}}"
#define TEST_INITIALIZE                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"     \
    "\"protocolVersion\":\"2025-03-26\"}}\n"
#define TEST_CHANGED                                                           \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"

static void
test_init(host_t *host, tg_dialect_t dialect)
{
    host_init(host, tg_alloc_libc(), dialect, 1 << 20, 64);
}

HELP_TEST(unchanged, "no change, or none that this client can see")
{
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(!host.changes);

    host.is_hiding = 1; /* of it, `fail` is now hidden */
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(!host.changes);
    host.is_reworded = 1;
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(!host.changes);
    host.dropped = "hello"; /* a method, which no list shows */
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(!host.changes);
    host_deinit(&host);
}

HELP_TEST(changed, "a change for this client")
{
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    host.is_reworded = 1;
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.changes);
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(!host.changes);
    host.dropped = "echo";
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.changes);

    /* Nobody is subscribed yet. */
    tg_peer_notify_list_changed(&host.peer, TG_ENTRY_TOOL);
    HELP_EQ(host_take(&host), "");
    host_feed(&host, TG_STR(TEST_INITIALIZE));
    (void) host_take(&host);
    CU_ASSERT(host_move(&host) == TG_OK);
    tg_peer_notify_list_changed(&host.peer, TG_ENTRY_TOOL);
    HELP_EQ(host_take(&host), TEST_CHANGED "\n");
    HOST_LINE(&host, TEST_CALL("1", "echo"),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,"
              "\"message\":\"$contains:Unknown tool: echo\"}}");
    host_deinit(&host);
}

/* The tool of a running call is removed: the call still gets its result. */
HELP_TEST(gone, "a tool is removed while it runs")
{
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, TG_STR(TEST_INITIALIZE TEST_CALL("1", "slow") "\n"));
    (void) host_take(&host);
    host.dropped = "slow";
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.peer.calls->entry->host == NULL);
    CU_ASSERT(host_fire(&host));
    HELP_JSON(tg_str(host.peer.out.data, host.peer.out.len - 1),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{"
              "\"type\":\"text\",\"text\":\"slow: did not finish in time\"}],"
              "\"isError\":true}}");
    (void) host_take(&host);
    CU_ASSERT(host.peer.ncalls == 0);
    host_deinit(&host);
}

#define TEST_SUBSCRIBE(id, uri)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"resources/subscribe\","   \
    "\"params\":{\"uri\":\"" uri "\"}}\n"

HELP_TEST(versions, "the version of a resource that the client knows is kept")
{
    const tg_str_t today = TG_STR("note:///today");
    const tg_str_t monday = TG_STR("note:///monday");
    host_t host;

    host_init_offering(&host, tg_alloc_libc(), TG_DIALECT_AUTO, 1 << 20, 64);
    host_feed(&host, TG_STR(TEST_INITIALIZE TEST_SUBSCRIBE("1", "note:///today")
                                TEST_SUBSCRIBE("2", "note:///monday")));
    (void) host_take(&host);
    CU_ASSERT_EQUAL(tg_peer_get_resource_version(&host.peer, today), 0);
    tg_peer_set_resource_version(&host.peer, today, UINT64_MAX);
    tg_peer_set_resource_version(&host.peer, TG_STR("note:///other"), 7);
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT_EQUAL(tg_peer_get_resource_version(&host.peer, today),
                    UINT64_MAX);
    CU_ASSERT_EQUAL(tg_peer_get_resource_version(&host.peer, monday), 0);

    /* A repeated subscription keeps the version, a new one has none. */
    host_feed(&host, TG_STR(TEST_SUBSCRIBE("3", "note:///today")));
    CU_ASSERT_EQUAL(tg_peer_get_resource_version(&host.peer, today),
                    UINT64_MAX);
    host_feed(&host,
              TG_STR(
                  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/"
                  "unsubscribe\",\"params\":{\"uri\":\"note:///today\"}}\n"));
    CU_ASSERT_EQUAL(tg_peer_get_resource_version(&host.peer, today), 0);
    host_feed(&host, TG_STR(TEST_SUBSCRIBE("5", "note:///today")));
    CU_ASSERT_EQUAL(tg_peer_get_resource_version(&host.peer, today), 0);
    (void) host_take(&host);
    host_deinit(&host);
}

HELP_TEST(schema, "the output schema is kept over a second move too")
{
    host_t host;
    size_t i;

    test_init(&host, TG_DIALECT_AUTO);

    for (i = 0; i < tg_catalog_size(host.catalog); i++) {
        host.entries[i].output_digest = 7;
    }

    host_feed(&host, TG_STR(TEST_CALL("1", "hang") "\n"));
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT_EQUAL(host.peer.calls->entry->output_digest, 7);
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT_EQUAL(host.peer.calls->entry->output_digest, 7);
    host_deinit(&host);
}

HELP_TEST(removed_in_ipc, "a tool is removed while it runs, in ipc")
{
    host_t host;

    test_init(&host, TG_DIALECT_IPC);
    HOST_IPC(&host, "{\"method\":\"call_tool\",\"params\":{\"name\":\"slow\"}}",
             NULL);
    CU_ASSERT(host.rc == TG_LIMIT);
    host.dropped = "slow";
    CU_ASSERT(host_move(&host) == TG_OK);
    host_feed(&host, TG_STR(""));
    CU_ASSERT(host.rc == TG_LIMIT);
    CU_ASSERT(host_fire(&host));
    CU_ASSERT(host.rc == TG_OK);
    HELP_JSON(tg_str(host.peer.out.data + TG_FRAME_PREFIX_SIZE,
                     host.peer.out.len - TG_FRAME_PREFIX_SIZE),
              "{\"error\":{\"type\":\"TimeoutError\",\"message\":"
              "\"slow: did not finish in time\"}}");
    (void) host_take(&host);
    host_deinit(&host);
}

/* --- changes of the listener --- */

HELP_TEST(dialects, "another dialect")
{
    host_t host;

    /* Undetected: the new listener's dialect counts. */
    test_init(&host, TG_DIALECT_AUTO);
    host.dialect = TG_DIALECT_RELAY;
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.peer.dialect == TG_DIALECT_RELAY);
    CU_ASSERT(host.peer.frame.limit == TG_FRAME_RELAY_MAX - 1);

    /* Detected: the connection keeps its dialect. */
    host.dialect = TG_DIALECT_IPC;
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.peer.dialect == TG_DIALECT_RELAY);
    CU_ASSERT(host.peer.frame.kind == TG_FRAME_LINE);
    CU_ASSERT(host.peer.frame.limit == TG_FRAME_RELAY_MAX - 1);
    host_deinit(&host);

    /* Half of a first line: a line protocol. */
    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"id\":7,"));
    host.dialect = TG_DIALECT_IPC;
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.peer.frame.limit == 1 << 20);
    HOST_LINE(&host, "\"method\":\"hello\"}",
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"hello\"}");
    host_deinit(&host);
}

/* If more calls run than allowed, they continue; new ones are refused. */
HELP_TEST(fewer_calls, "fewer calls allowed")
{
    host_t host;

    test_init(&host, TG_DIALECT_AUTO);
    host_feed(&host, TG_STR(TEST_INITIALIZE TEST_CALL(
                         "1", "hang") "\n" TEST_CALL("2", "hang") "\n"));
    (void) host_take(&host);
    CU_ASSERT(host_move(&host) == TG_OK);
    host.peer.max_calls = 1;
    CU_ASSERT(host_move(&host) == TG_OK);
    CU_ASSERT(host.peer.ncalls == 2);
    HOST_LINE(&host, TEST_CALL("2", "hang"),
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32600,"
              "\"message\":\"$contains:is still running\"}}");
    HOST_LINE(&host, TEST_CALL("3", "hang"),
              "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[{"
              "\"type\":\"text\",\"text\":\"$contains:tool_max_inflight\"}],"
              "\"isError\":true}}");
    host_deinit(&host);
    CU_ASSERT(host.ncancelled == 2);
}

/* --- damaged states --- */

/* A session with everything: of two batches, replies are pending. */
static const char *const test_rich[] = {
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/toolgate/hello\"}",
    "[" TEST_CALL("1", "slow") "," TEST_CALL("2", "hang") "]",
    "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\","
    "\"params\":{\"notifications\":{\"toolsListChanged\":true},"
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{"
    "\"name\":\"hang\",\"_meta\":{\"progressToken\":\"p\"}}}",
    "[" TEST_CALL("5", "json") "," TEST_CALL("6", "lost") "]",
};

static void
test_make(host_t *host, const tg_alloc_t *alloc)
{
    host_init(host, alloc, TG_DIALECT_AUTO, 1 << 20, 64);
    host_feed(host, TG_STR(TEST_INITIALIZE));

    HELP_EACH(row, test_rich) {
        host_feed(host, tg_str_from_cstr(*row));
        host_feed(host, TG_STR("\n"));
    }

    host_feed(host, TG_STR("{\"jsonrpc\":\"2.0\",\"id\":8,"));

    if (host_call(host, "4") != NULL) {
        tg_call_notify_progress(host_call(host, "4"), TG_STR("1"), TG_STR_NONE,
                                TG_STR_NONE);
    }

    (void) host_take(host);
}

static unsigned test_nresumed;

/* Completes every third call at once, as if it no longer ran. */
static void
test_on_resume(void *ctx, tg_call_t *call, const tg_catalog_entry_t *now,
               tg_str_t token)
{
    tg_outcome_t outcome;
    host_t *host;

    host = ctx;

    if (++test_nresumed % 3 == 0) {
        outcome = tg_outcome_make_failure(TG_FAILURE_LOST, "gone");
        tg_call_respond(call, &outcome);
        return;
    }

    CU_ASSERT_FATAL(host->ndeferred < HOST_CALLS);
    host->deferred[host->ndeferred++] = call;
    call->host = call;
}

/* Loads a state, talks on if it loaded, and checks that nothing is left. */
static int
test_load(const tg_alloc_t *alloc, tg_str_t state)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    host_t host;
    char *copy;
    int rc;

    host_init(&host, alloc, TG_DIALECT_AUTO, 1 << 20, 64);
    test_nresumed = 0;
    copy = help_copy(state);
    rc = tg_peer_load(&host.peer, tg_str(copy, state.len), NULL, NULL,
                      test_on_resume, &host.changes);
    free(copy);
    CU_ASSERT(rc == TG_OK || rc == TG_INVALID || rc == TG_NOMEM);
    CU_ASSERT(rc != TG_INVALID
              || (test_nresumed == 0 && host.peer.ncalls == 0));

    if (host.peer.calls != NULL) {
        tg_call_notify_progress(host.peer.calls, TG_STR("2"), TG_STR_NONE,
                                TG_STR_NONE);
    }

    if (rc == TG_OK) {
        tg_peer_notify_list_changed(&host.peer, TG_ENTRY_TOOL);
        host_feed(&host, TG_STR("\"method\":\"hello\"}\n"));
        host_feed(&host, TG_STR("{\"jsonrpc\":\"2.0\",\"method\":"
                                "\"notifications/cancelled\",\"params\":{"
                                "\"requestId\":2}}\n"));

        while (host.ndeferred != 0) {
            call = host.deferred[0];
            outcome = tg_outcome_make_text(TG_STR("late"));
            host_forget(&host, call);
            tg_call_respond(call, &outcome);
        }
    }

    host_deinit(&host);

    return rc;
}

HELP_TEST(bytes, "truncated and flipped bits")
{
    HELP_BUFFER(state);
    unsigned bit;
    size_t i;
    host_t host;

    test_make(&host, tg_alloc_libc());
    CU_ASSERT_FATAL(host.peer.ncalls == 4);
    CU_ASSERT(tg_peer_save(&host.peer, NULL, 0, &state) == TG_OK);
    host_deinit(&host);
    CU_ASSERT(test_load(tg_alloc_libc(), tg_buf_view(&state)) == TG_OK);
    CU_ASSERT(test_nresumed == 4);

    for (i = 0; i < state.len; i++) {
        CU_ASSERT(test_load(tg_alloc_libc(), tg_str(state.data, i))
                  == TG_INVALID);

        for (bit = 0; bit < 8; bit++) {
            state.data[i] = (char) (state.data[i] ^ 1 << bit);
            (void) test_load(tg_alloc_libc(), tg_buf_view(&state));
            state.data[i] = (char) (state.data[i] ^ 1 << bit);
        }
    }

    tg_buf_append_char(&state, '\0');
    CU_ASSERT(test_load(tg_alloc_libc(), tg_buf_view(&state)) == TG_INVALID);
}

static tg_buf_t test_state;

static void
test_each_save(const tg_alloc_t *alloc, int may_fail)
{
    tg_buf_t state;
    host_t host;
    int rc;

    test_make(&host, tg_alloc_libc());
    tg_buf_init(&state, alloc);
    rc = tg_peer_save(&host.peer, NULL, 0, &state);
    CU_ASSERT(rc == (may_fail ? TG_NOMEM : TG_OK));
    tg_buf_deinit(&state);

    /* The peer can still be used. */
    CU_ASSERT(host_fire(&host));
    CU_ASSERT(host_move(&host) == TG_OK);
    host_deinit(&host);
}

static void
test_each_load(const tg_alloc_t *alloc, int may_fail)
{
    int rc;

    rc = test_load(alloc, tg_buf_view(&test_state));
    CU_ASSERT(may_fail || rc == TG_OK);
    CU_ASSERT(rc == TG_OK || rc == TG_NOMEM);
}

HELP_TEST(memory, "no memory")
{
    host_t host;

    tg_buf_init(&test_state, tg_alloc_libc());
    test_make(&host, tg_alloc_libc());
    CU_ASSERT(tg_peer_save(&host.peer, NULL, 0, &test_state) == TG_OK);
    host_deinit(&host);
    help_each_failure(test_each_save);
    help_each_failure(test_each_load);
    tg_buf_deinit(&test_state);
}

static void
test_put_much(void *ctx, const tg_call_t *call, tg_buf_t *out)
{
    static const char much[TG_PEER_TOKEN_MAX + 1];

    tg_buf_append(out, much, sizeof(much));
}

HELP_TEST(long_token, "a token that is too long")
{
    HELP_BUFFER(state);
    host_t host;

    test_make(&host, tg_alloc_libc());
    CU_ASSERT(tg_peer_save(&host.peer, test_put_much, 0, &state) == TG_LIMIT);
    host_deinit(&host);
}
