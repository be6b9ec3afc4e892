/*
 * The caller, with and without an MCP client: the transcripts in
 * t/transcripts/caller, whole, byte by byte and out of memory; and tests
 * beyond them.
 */
#include "protocol_end.h"

#define TEST_SCRIPTS 64

typedef struct {
    const char *path;
    const char *title;
    char *text; /* zero-terminated lines, then an empty one */
    size_t nlines;
    tg_dialect_t dialect;
    tg_mcp_handshake_t handshake;
    int has_client;
} test_script_t;

static test_script_t test_scripts[TEST_SCRIPTS];
static size_t test_nscripts;
static const test_script_t *test_played;

static int
test_hello(end_t *end, const char *args)
{
    return tg_caller_send_hello(&end->caller, 0);
}

static int
test_resends(end_t *end, const char *args)
{
    return tg_caller_send_hello_resends(&end->caller);
}

/* Takes a word, and leaves the rest of the line. */
static tg_str_t
test_take(const char **args)
{
    tg_str_t word;

    word = tg_str(*args, strcspn(*args, " "));
    *args += word.len;
    *args += **args == ' ';

    return word.len != 0 ? word : TG_STR_NONE;
}

static tg_str_t
test_rest(const char *args)
{
    return *args != '\0' ? tg_str_from_cstr(args) : TG_STR_NONE;
}

static int
test_request(end_t *end, const char *args)
{
    const char *tag;
    tg_str_t method;

    tag = args;
    (void) test_take(&args);
    method = test_take(&args);

    return tg_caller_send_request(&end->caller, method, test_rest(args),
                                  (void *) (uintptr_t) tag, NULL);
}

static int
test_notify(end_t *end, const char *args)
{
    tg_str_t method;

    method = test_take(&args);

    return tg_caller_send_notification(&end->caller, method, test_rest(args));
}

static int
test_shutdown(end_t *end, const char *args)
{
    return tg_caller_send_shutdown(&end->caller, tg_str_from_cstr(args));
}

static int
test_cancel(end_t *end, const char *args)
{
    return tg_caller_cancel_request(&end->caller, strtoul(args, NULL, 10), 1);
}

static int
test_forget(end_t *end, const char *args)
{
    return tg_caller_cancel_request(&end->caller, strtoul(args, NULL, 10), 0);
}

static int
test_lose(end_t *end, const char *args)
{
    if (end->has_client) {
        tg_mcp_client_on_disconnect(&end->client);
    }

    tg_caller_on_disconnect(&end->caller);

    return TG_OK;
}

static int
test_nested_call(end_t *end, const char *args)
{
    end->again = args;

    return TG_OK;
}

static int
test_then_cancel(end_t *end, const char *args)
{
    end->cancel = strtoul(args, NULL, 10);

    return TG_OK;
}

static int
test_written(end_t *end, const char *args)
{
    tg_caller_count_written(&end->caller, strcmp(args, "all") == 0
                                              ? end->caller.out.len
                                              : strtoul(args, NULL, 10));

    return TG_OK;
}

static int
test_few(end_t *end, const char *args)
{
    end->caller.ops = &end_few_ops;

    return TG_OK;
}

static int
test_start(end_t *end, const char *args)
{
    return tg_mcp_client_start(&end->client, end->now);
}

static int
test_list(end_t *end, const char *args)
{
    if (end->client.handshake == TG_MCP_NO_HANDSHAKE) {
        tg_buf_printf(&end->log, "round %lu\n",
                      (unsigned long) tg_mcp_client_fresh_fetch_number(
                          &end->client));
    }

    return tg_mcp_client_fetch_list(&end->client, end->now);
}

static int
test_tick(end_t *end, const char *args)
{
    end->now += strtoul(args, NULL, 10);
    end_event(end, tg_mcp_client_on_timer(&end->client, end->now), "");

    return TG_OK;
}

static const struct {
    const char *name;
    int (*run)(end_t *end, const char *args);
} test_commands[] = {
    { "hello", test_hello },
    { "resends", test_resends },
    { "request", test_request },
    { "notify", test_notify },
    { "call", end_call },
    { "shutdown", test_shutdown },
    { "cancel", test_cancel },
    { "forget", test_forget },
    { "lose", test_lose },
    { "again", test_nested_call },
    { "then-cancel", test_then_cancel },
    { "written", test_written },
    { "few", test_few },
    { "start", test_start },
    { "list", test_list },
    { "kinds", end_set_kinds },
    { "method", end_call_method },
    { "uris", end_listen },
    { "subscribe", end_subscribe },
    { "tick", test_tick },
};

/* Logs a failure as an event. */
static void
test_result(end_t *end, int rc)
{
    if (rc == TG_NOMEM || tg_buf_has_failed(&end->caller.out)) {
        end->has_failed = 1;
    } else if (rc != TG_OK) {
        tg_buf_append_cstr(&end->log, rc == TG_CLOSED    ? "closed\n"
                                      : rc == TG_MISSING ? "missing\n"
                                                         : "failed\n");
    }
}

static void
test_command(end_t *end, const char *line)
{
    tg_str_t name;

    name = test_take(&line);

    HELP_EACH(command, test_commands) {
        if (tg_str_eq(name, tg_str_from_cstr(command->name))) {
            test_result(end, command->run(end, line));
            return;
        }
    }

    CU_FAIL("an unknown command");
}

/* Appends the bytes of `TEXT`, `ipc TEXT` or `raw TEXT`. */
static void
test_bytes(tg_buf_t *out, const char *line)
{
    const char *version;
    char prefix[TG_FRAME_PREFIX_SIZE];
    int is_ipc, is_raw;

    is_ipc = strncmp(line, "ipc", 3) == 0;
    is_raw = strncmp(line, "raw", 3) == 0;
    line += is_ipc || is_raw ? 3 : 0;
    line += *line == ' ';
    version = strstr(line, "$VERSION");

    if (is_ipc) {
        tg_frame_write_prefix(prefix, strlen(line));
        tg_buf_append(out, prefix, sizeof(prefix));
    }

    if (version != NULL) {
        tg_buf_append(out, line, (size_t) (version - line));
        tg_buf_append_cstr(out, TG_VERSION);
        line = version + strlen("$VERSION");
    }

    tg_buf_append_cstr(out, line);
    tg_buf_append_cstr(out, is_ipc || is_raw ? "" : "\n");
}

static void
test_feed(end_t *end, const char *line, size_t chunk)
{
    HELP_BUFFER(bytes);
    int rc;

    test_bytes(&bytes, line);
    rc = end_feed(end, tg_buf_view(&bytes), chunk);
    test_result(end, rc);
}

/* Takes the next message and compares it. */
static int
test_next(tg_buf_t *got, const char *line)
{
    HELP_BUFFER(text);
    int is_so;

    test_bytes(&text, line);
    is_so = got->len >= text.len && memcmp(got->data, text.data, text.len) == 0;
    CU_ASSERT(is_so);

    if (is_so) {
        tg_buf_consume(got, text.len);
    }

    return is_so;
}

static int
test_sent(end_t *end, const char *line)
{
    size_t len;
    int is_written;

    is_written = line[0] != '>';
    len = end->caller.out.len;
    end->is_read = is_written;

    if (!test_next(&end->caller.out, line + !is_written)) {
        return 0;
    }

    if (is_written) {
        tg_caller_count_written(&end->caller, len - end->caller.out.len);
    }

    return 1;
}

/* Runs a line; returns 0 if its expectation fails. */
static int
test_step(end_t *end, const char *line, size_t chunk)
{
    switch (line[0]) {
    case '=':
        return test_next(&end->log, line + 1);
    case '>':
        return test_sent(end, line + 1);
    case '-':
        return end->caller.out.len == 0;
    case '?':
        return end->caller.npending == strtoul(line + 9, NULL, 10);
    case '!':
    case '<':
        if (end->log.len != 0 || (end->is_read && end->caller.out.len != 0)) {
            return 0;
        }

        end->is_read = 0;

        if (line[0] == '!') {
            test_command(end, line + 1);
        } else {
            test_feed(end, line + 1, chunk);
        }

        return 1;
    default:
        return line[0] == '#' || line[0] == '\0';
    }
}

static void
test_play(const test_script_t *script, const tg_alloc_t *alloc, size_t chunk)
{
    const char *line;
    unsigned number;
    end_t end;

    end_init(&end, alloc, script->dialect,
             script->has_client ? &script->handshake : NULL);
    line = script->text;

    for (number = 1; number <= script->nlines && !end.has_failed; number++) {
        if (!test_step(&end, line, chunk) && !end.has_failed) {
            fprintf(stderr, "\n%s:%u: %s\n  happened %s\n  sent     %s\n",
                    script->path, number, line,
                    help_text(tg_buf_view(&end.log)),
                    help_text(tg_buf_view(&end.caller.out)));
            CU_FAIL("something else");
            break;
        }

        line += strlen(line) + 1;
    }

    CU_ASSERT(end.log.len == 0 || number <= script->nlines);
    end_deinit(&end);
}

static void
test_each(const tg_alloc_t *alloc, int may_fail)
{
    test_play(test_played, alloc, SIZE_MAX);
}

static void
test_script(void)
{
    test_played = test_scripts;

    while (strcmp(test_played->title, CU_get_current_test()->pName) != 0) {
        test_played++;
    }

    test_play(test_played, tg_alloc_libc(), SIZE_MAX);
    test_play(test_played, tg_alloc_libc(), 1);
    help_each_failure(test_each);
}

/* Turns a header into a comment. */
static void
test_header(test_script_t *script, char *line)
{
    static const char *const eras[] = { "bare", "greets", "probes" };
    tg_dialect_t dialect;
    unsigned handshake;

    if (strncmp(line, "protocol: ", 10) == 0) {
        for (dialect = TG_DIALECT_AUTO; dialect < TG_DIALECT_COUNT; dialect++) {
            if (strcmp(line + 10, tg_dialect_name(dialect)) == 0) {
                script->dialect = dialect;
                line[0] = '#';
            }
        }
    }

    for (handshake = 0; handshake < 3 && strncmp(line, "client: ", 8) == 0;
         handshake++)
    {
        if (strcmp(line + 8, eras[handshake]) == 0) {
            script->handshake = (tg_mcp_handshake_t) handshake;
            script->has_client = 1;
            line[0] = '#';
        }
    }
}

static void
test_read(const char *path, char *text)
{
    test_script_t *script;
    char *line, *next;

    if (test_nscripts == TEST_SCRIPTS || text[0] != '#') {
        help_error(path, 1, "a title is missing, or there are too many");
    }

    script = &test_scripts[test_nscripts];
    script->path = help_copy(tg_str(path, strlen(path) + 1));
    script->text = text;
    script->title = text + 2;

    for (line = text; line[0] != '\0'; line = next) {
        next = line + strcspn(line, "\n");
        *next++ = '\0';
        test_header(script, line);
        script->nlines++;
    }

    help_add((int) test_nscripts++, script->title, test_script);
}

int
help_begin(void)
{
    help_files("t/transcripts/caller/*.txt", test_read);

    return 0;
}

HELP_TEST(ids, "ids and tags")
{
    end_t end;
    uint64_t id;

    end_init(&end, tg_alloc_libc(), TG_DIALECT_JSONRPC, NULL);
    CU_ASSERT(
        tg_caller_send_request(&end.caller, TG_STR("m"), TG_STR_NONE, "1", &id)
        == TG_OK);
    CU_ASSERT(id == 1);
    CU_ASSERT(tg_caller_send_request(&end.caller, TG_STR("m"),
                                     TG_STR("[ 1,\n2 ]"), "2", NULL)
              == TG_OK);
    tg_buf_truncate(&end.caller.out, 0);
    CU_ASSERT(tg_caller_call_tool(&end.caller, TG_STR("\\u0061"),
                                  TG_STR("{ \"x\" : \" \" }"),
                                  TG_STR(",\"_meta\":{\"progressToken\":1}"),
                                  "3", &id)
              == TG_OK);
    CU_ASSERT(id == 3);
    CU_ASSERT(strcmp(tg_caller_find_tag(&end.caller, 3), "3") == 0);
    CU_ASSERT(tg_caller_find_tag(&end.caller, 4) == NULL);
    HELP_EQ(tg_buf_view(&end.caller.out),
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
            "\"params\":{\"name\":\"\\u0061\",\"arguments\":{\"x\":\" \"},"
            "\"_meta\":{\"progressToken\":1}}}\n");
    end_deinit(&end);

    end_init(&end, tg_alloc_libc(), TG_DIALECT_IPC, NULL);
    CU_ASSERT(
        tg_caller_send_request(&end.caller, TG_STR("m"), TG_STR_NONE, "1", NULL)
        == TG_MISSING);
    end_deinit(&end);
}

/* A request of exactly the limit is sent; one byte more leaves no trace. */
static void
test_limit(tg_dialect_t dialect, size_t limit)
{
    end_t end;
    HELP_BUFFER(arguments);
    size_t len;
    int more;

    end_init(&end, tg_alloc_libc(), dialect, NULL);
    end.caller.max_frame = limit;
    CU_ASSERT(end_call(&end, "t") == TG_OK);
    len = end.caller.out.len - (dialect == TG_DIALECT_IPC ? 4 : 1);
    tg_caller_on_disconnect(&end.caller);
    END_LOG_IS(&end, "t: not started\n");

    /* {"":"…"} instead of {}: five bytes more, plus the text. */
    tg_buf_append_cstr(&arguments, "{\"\":\"");
    CU_ASSERT_FATAL(tg_buf_reserve(&arguments, limit) == TG_OK);
    len = limit - len - 5;

    for (more = 0; more < 2; more++) {
        memset(arguments.data + 5, 'x', len + 1);
        tg_buf_truncate(&arguments, 5 + len + (size_t) more);
        tg_buf_append_cstr(&arguments, "\"}");
        CU_ASSERT(tg_caller_call_tool(&end.caller, TG_STR("t"),
                                      tg_buf_view(&arguments), TG_STR_NONE, "t",
                                      NULL)
                  == (more ? TG_LIMIT : TG_OK));
        CU_ASSERT(end.caller.npending == 1);
        CU_ASSERT(end.caller.out.len
                  == limit + (dialect == TG_DIALECT_IPC ? 4 : 1));
    }

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

/* Only the head of a too long line is known; "a" waits for 1, "b" for 2. */
static void
test_large(const char *head, const char *tail, const char *sent,
           const char *expected_log)
{
    static char text[END_MAX + 1 + 21];
    end_t end;

    memset(text, ' ', END_MAX + 1);
    memcpy(text, head, strlen(head));
    memcpy(text + END_MAX + 1 - strlen(tail), tail, strlen(tail));
    memcpy(text + END_MAX + 1, "\n{\"id\":1,\"result\":1}\n", 21);
    end_init(&end, tg_alloc_libc(), TG_DIALECT_JSONRPC, NULL);
    CU_ASSERT(end_call(&end, "a") == TG_OK && end_call(&end, "b") == TG_OK);
    tg_buf_truncate(&end.caller.out, 0);
    CU_ASSERT(end_feed(&end, tg_str(text, sizeof(text)), SIZE_MAX) == TG_OK);
    END_LOG_IS(&end, expected_log);
    HELP_EQ(tg_buf_view(&end.caller.out), sent);
    end_deinit(&end);
}

HELP_TEST(too_large, "too large responses and requests")
{
    const char *refused = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{"
                          "\"code\":-32600,\"message\":\"The request is "
                          "larger than this connection carries.\"}}\n";
    end_t end;

    test_large("", "", "",
               "log: frame larger than the limit dropped\na: result 1\n");
    test_large(
        "{\"id\":1,\"result\":[", "", "",
        "a: error -32603 message=The answer is larger than this connection "
        "carries; ask for less.\nlog: response without a matching request "
        "dropped\n");
    test_large(
        "{\"result\": [\"id\",", "0],\"id\":2}", "",
        "b: error -32603 message=The answer is larger than this connection "
        "carries; ask for less.\na: result 1\n");
    /* A request of the server has its own ids; a notification has none. */
    test_large("{\"id\":1,\"method\":\"m\",\"params\":[", "", refused,
               "a: result 1\n");
    test_large("{\"method\":\"m\",\"params\":[", "],\"id\":1}", refused,
               "a: result 1\n");
    test_large("{\"method\":\"m\",\"params\":[", "]}", "",
               "log: frame larger than the limit dropped\na: result 1\n");

    end_init(&end, tg_alloc_libc(), TG_DIALECT_IPC, NULL);
    CU_ASSERT(end_call(&end, "a") == TG_OK
              && end_feed(&end, TG_STR("\0\1\0\1{}"), SIZE_MAX) == TG_CLOSED);
    tg_caller_on_disconnect(&end.caller);
    END_LOG_IS(&end, "a: not started\n");
    end_deinit(&end);
}
