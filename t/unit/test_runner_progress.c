/* Progress: the lines of a program, and the notifications to its caller. */
#include "runner_host.h"

/* --- lines --- */

/* Compares the notification after this input; "": none. */
static void
test_progress_is(const char *input, size_t portion, const char *expected)
{
    tg_progress_t progress;
    size_t at, n, len;
    HELP_BUFFER(json);
    int has_risen;

    tg_progress_init(&progress);
    len = strlen(input);
    has_risen = 0;

    for (at = 0; at < len; at += n) {
        n = portion < len - at ? portion : len - at;
        has_risen |= tg_progress_feed(&progress, input + at, n);
    }

    CU_ASSERT(has_risen == (expected[0] != '\0'));
    CU_ASSERT(tg_progress_has_update(&progress) == has_risen);
    tg_progress_take_members(&progress, &json);
    CU_ASSERT(!tg_progress_has_update(&progress));

    if (!tg_str_eq(tg_buf_view(&json), tg_str_from_cstr(expected))) {
        fprintf(stderr, "%s by %zu: %.*s\n", input, portion, (int) json.len,
                json.data);
        CU_FAIL("another line");
    }

    tg_progress_deinit(&progress);
}

static const struct {
    const char *input, *expected;
} test_cases[] = {
    { "{\"progress\":1}\n", "\"progress\":1" },
    { "{\"progress\":0}\n", "\"progress\":0" },
    { "{\"progress\":-2.5e0}\r\n", "\"progress\":-2.5e0" },
    { " { \"message\" : \"a\\u0041\" , \"x\":[{}], \"total\" : 10 , "
      "\"progress\" : 3 } \n",
      "\"progress\":3,\"total\":10,\"message\":\"a\\u0041\"" },
    { "{\"\\u0070rogress\":1,\"total\":null,\"message\":null}\n",
      "\"progress\":1" },

    /* Only rising values, compared exactly. */
    { "{\"progress\":1}\n{\"progress\":2}\n", "\"progress\":2" },
    { "{\"progress\":2}\n{\"progress\":1}\n", "\"progress\":2" },
    { "{\"progress\":2,\"total\":3}\n{\"progress\":2.0}\n",
      "\"progress\":2,\"total\":3" },
    { "{\"progress\":9007199254740992}\n{\"progress\":9007199254740993}\n",
      "\"progress\":9007199254740993" },
    { "{\"progress\":0.1}\n{\"progress\":0.10000000000000000001}\n",
      "\"progress\":0.10000000000000000001" },
    { "{\"progress\":-1}\n{\"progress\":-0.5}\n", "\"progress\":-0.5" },

    /* Invalid lines are skipped, later ones are not. */
    { "", "" },
    { "\n\n", "" },
    { "{\"progress\":1}", "" },
    { "progress 1\n", "" },
    { "1\n", "" },
    { "[{\"progress\":1}]\n", "" },
    { "{}\n", "" },
    { "{\"progress\":null}\n", "" },
    { "{\"progress\":\"1\"}\n", "" },
    { "{\"progress\":01}\n", "" },
    { "{\"progress\":NaN}\n", "" },
    { "{\"progress\":1e9999999999999999999}\n", "" },
    { "{\"progress\":123456789012345678901234567890123}\n", "" },
    { "{\"progress\":1,\"total\":\"2\"}\n", "" },
    { "{\"progress\":1,\"message\":2}\n", "" },
    { "{\"progress\":1,\"message\":\"\xff\"}\n", "" },
    { "{\"progress\":1} {\"progress\":2}\n", "" },
    { "{\"progress\":1}{\n{\"progress\":2}\n", "\"progress\":2" },
    { "what?\n{\"progress\":1}\n{\"progress\":\n", "\"progress\":1" },
};

HELP_TEST(lines, "valid and invalid lines")
{
    size_t portion;

    HELP_EACH(item, test_cases) {
        for (portion = 1; portion <= strlen(item->input) + 1; portion++) {
            test_progress_is(item->input, portion, item->expected);
        }
    }
}

/* A line of this length, and one after it. */
static void
test_line_of(size_t len, size_t portion, const char *expected)
{
    static const char head[] = "{\"progress\":1,\"message\":\"";
    static const char tail[] = "\"}";
    tg_progress_t progress;
    size_t at, n;
    HELP_BUFFER(text);

    tg_progress_init(&progress);
    tg_buf_append_cstr(&text, head);

    while (text.len < len - strlen(tail)) {
        tg_buf_append_char(&text, 'x');
    }

    tg_buf_append_cstr(&text, "\"}\n");

    for (at = 0; at < text.len; at += n) {
        n = portion < text.len - at ? portion : text.len - at;
        (void) tg_progress_feed(&progress, text.data + at, n);
    }

    CU_ASSERT(progress.last_len == strlen(expected));
    CU_ASSERT(memcmp(progress.last, expected, strlen(expected)) == 0);
    CU_ASSERT(progress.line.cap <= 2 * TG_PROGRESS_LINE_MAX);
    CU_ASSERT(tg_progress_feed(&progress, "{\"progress\":2}\n", 15));
    tg_progress_deinit(&progress);
}

HELP_TEST(long_lines, "long")
{
    static const size_t portions[] = { 1000, 65535, 65536, 65537, 1 << 20 };

    HELP_EACH(portion, portions) {
        test_line_of(TG_PROGRESS_LINE_MAX, *portion, "1");
        test_line_of(TG_PROGRESS_LINE_MAX + 1, *portion, "");
        test_line_of(10 * TG_PROGRESS_LINE_MAX, *portion, "");
    }
}

HELP_TEST(last_line, "the last")
{
    tg_progress_t progress;

    tg_progress_init(&progress);
    CU_ASSERT(!tg_progress_feed_end(&progress));
    CU_ASSERT(!tg_progress_feed(&progress, "{\"progress\":1}", 14));
    CU_ASSERT(tg_progress_feed_end(&progress));
    CU_ASSERT(!tg_progress_feed(&progress, "{\"progress\":2", 13));
    CU_ASSERT(!tg_progress_feed_end(&progress));
    CU_ASSERT(!tg_progress_feed_end(&progress));
    tg_progress_deinit(&progress);
}

/* --- programs --- */

static tg_str_t
test_param(const char *key)
{
    tg_str_t params, value;

    if (tg_json_get_member(tg_buf_view(&host.line), TG_STR("params"), &params)
            != TG_OK
        || tg_json_get_member(params, tg_str_from_cstr(key), &value) != TG_OK)
    {
        return TG_STR_NONE;
    }

    return value;
}

/* Returns the progress in the last line, or -1 for a result. */
static int64_t
test_progress(unsigned id)
{
    int64_t value;

    if (test_param("progress").data == NULL) {
        return -1;
    }

    CU_ASSERT(tg_json_parse_int64(test_param("id"), &value) == TG_OK);
    CU_ASSERT(value == id);
    CU_ASSERT(tg_json_parse_int64(test_param("progress"), &value) == TG_OK);

    return value;
}

/* Counts the rising notifications before the result. */
static int
test_until_result(unsigned id, int64_t *last)
{
    int64_t progress;
    int n;

    *last = -1;

    for (n = 0; host_recv() && (progress = test_progress(id)) != -1; n++) {
        CU_ASSERT(progress > *last);
        *last = progress;
    }

    CU_ASSERT(host_result("ran_ms").data != NULL);

    return n;
}

HELP_TEST(reported, "reported")
{
    char path[96], script[512], expected[256];
    unsigned id;

    snprintf(path, sizeof(path), "%s/go", help_dir);
    snprintf(script, sizeof(script),
             "echo '{\"progress\":1, \"total\":2,\"message\":\"\\u00e9\"}' "
             ">&$TOOL_PROGRESS_FD; until [ -e %s ]; do sleep 0.01; done; "
             "echo '{\"progress\":2}' >&3; echo done",
             path);
    id = host_send(host_sh(script, ""));
    CU_ASSERT(host_recv());
    snprintf(expected, sizeof(expected),
             "{\"jsonrpc\":\"2.0\",\"method\":\"progress\",\"params\":{"
             "\"id\":%u,\"progress\":1,\"total\":2,\"message\":\"\\u00e9\"}}",
             id);
    CU_ASSERT(tg_str_eq(tg_buf_view(&host.line), tg_str_from_cstr(expected)));

    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    CU_ASSERT(host_recv());
    CU_ASSERT(test_progress(id) == 2);
    CU_ASSERT(test_param("total").data == NULL);
    HOST_RECV_TEXT("done\n");
    unlink(path);
}

/* The last progress and the result are separate writes for some clients. */
HELP_TEST(apart, "apart from the answer")
{
    unsigned id;
    int i;

    for (i = 0; i < 20; i++) {
        id = host_send(host_sh("echo '{\"progress\":1}' >&3", ""));
        CU_ASSERT(host_recv());
        CU_ASSERT(test_progress(id) == 1);
        CU_ASSERT(host.peer.out.len == 0);
        CU_ASSERT(host_recv());
        CU_ASSERT(host_result("text").data != NULL);
    }
}

/* The last line is reported before the result, with or without a newline. */
HELP_TEST(last, "the last before the answer")
{
    static const char silent[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"exec\",\"params\":{\"tool\":\"t\","
        "\"argv\":[\"/bin/sh\",\"-c\",\"echo '{\\\"progress\\\":1}' >&3\"]}}\n";
    int64_t last;
    unsigned id;

    id = host_send(host_sh("seq -f '{\"progress\":%.0f}' 1 2000 >&3", ""));
    CU_ASSERT(test_until_result(id, &last) < 20);
    CU_ASSERT(last == 2000);

    id = host_send(host_sh("echo '{\"progress\":1}' >&3; sleep 0.02; "
                           "printf '{\"progress\":2}' >&3",
                           ""));
    (void) test_until_result(id, &last);
    CU_ASSERT(last == 2);

    id = host_send(host_sh("echo nonsense >&3; echo '{\"progress\":0}' >&3; "
                           "echo '{\"progress\":-1}' >&3; exit 3",
                           ""));
    CU_ASSERT(test_until_result(id, &last) == 1);
    CU_ASSERT(last == 0);
    CU_ASSERT(host_is_text("message", "tool exited with status 3 and wrote "
                                      "nothing to stderr"));

    /* A notification, so no reply is expected. */
    host_feed(silent, strlen(silent));
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.peer.out.len == 0);
}

/* A program that reports too often is throttled and its messages are cut. */
HELP_TEST(spam, "spam")
{
    int64_t last;
    unsigned id;
    int n;

    id = host_send(host_sh("exec seq -f '{\"progress\":%.0f}' 1 1000000000 >&3",
                           ",\"timeout_ms\":3000,\"max_timeout_ms\":4000"));
    n = test_until_result(id, &last);
    CU_ASSERT(n > 2 && n <= 4000 / TG_JOB_PROGRESS_INTERVAL_MS + 2);
    CU_ASSERT(last < 1000000);
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"), "did not finish within 4 s (it "
                                           "waited 0 ms in the queue and ran ")
              != NULL);
    CU_ASSERT(strstr(host_text("message"), "(the max of timeout); ask for less")
              != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.peer.out.len == 0);

    /* Invalid lines do not count, and block nothing. */
    id = host_send("{\"tool\":\"t\",\"argv\":[\"/bin/sh\",\"-c\","
                   "\"exec yes >&3\"],\"timeout_ms\":300}");
    CU_ASSERT(test_until_result(id, &last) == 0);
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(host_until(host_no_exec, NULL));
}

HELP_TEST(deadline, "deadline")
{
    int64_t last;
    unsigned id;

    id = host_send(host_sh("i=0; while [ $i -lt 8 ]; do sleep 0.5; i=$((i + "
                           "1)); echo '{\"progress\":'$i'}' >&3; done; echo ok",
                           ",\"timeout_ms\":3000"));
    (void) test_until_result(id, &last);
    CU_ASSERT(last == 8);
    CU_ASSERT(host_is_text("text", "ok\n"));

    /* A value that does not rise is not progress. */
    id = host_send(host_sh("while :; do sleep 0.02; "
                           "echo '{\"progress\":1}' >&3; done",
                           ",\"timeout_ms\":3000"));
    CU_ASSERT(test_until_result(id, &last) == 1);
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(strstr(host_text("message"),
                     "tool reported no progress for 3 s (it waited 0 ms in "
                     "the queue and ran ")
              != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
}

static int
test_deaf_is_over(void *ctx)
{
    return uv_now(&host.loop) >= *(uint64_t *) ctx;
}

/* A caller that does not read gets no notifications; the call is unaffected. */
HELP_TEST(deaf, "a caller that does not read")
{
    uint64_t until;
    int64_t last;
    unsigned id;

    host.is_deaf = 1;
    id = host_send(host_sh("i=0; while [ $i -lt 24 ]; do sleep 0.2; i=$((i + "
                           "1)); echo '{\"progress\":'$i'}' >&3; done",
                           ",\"timeout_ms\":3000"));
    until = uv_now(&host.loop) + 4000;
    CU_ASSERT(host_until(test_deaf_is_over, &until));
    CU_ASSERT(host.peer.out.len == 0);
    host.is_deaf = 0;
    CU_ASSERT(host_recv());
    CU_ASSERT(test_progress(id) > 1);
    (void) test_until_result(id, &last);
    CU_ASSERT(last == 24);
    CU_ASSERT(host_result("text").data != NULL);

    /* The result comes with the last progress, even if not read. */
    host.is_deaf = 1;
    id = host_send(host_sh("echo '{\"progress\":7}' >&3", ""));
    CU_ASSERT(test_until_result(id, &last) == 1);
    CU_ASSERT(last == 7);
    host.is_deaf = 0;
}

/* A background process that holds the descriptor delays nothing. */
HELP_TEST(held_open, "held open")
{
    unsigned id;
    int64_t last;
    pid_t pid;

    CU_ASSERT(host_exec(host_sh("sleep 1000 >/dev/null 2>&1 & echo $!", "")));
    pid = atoi(host_text("text"));
    CU_ASSERT(pid > 1);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host_has_exited(pid));

    /* Nor does one that never stops writing. */
    id = host_send(host_sh("seq -f '{\"progress\":%.0f}' 1 1000000000 >&3 "
                           "2>/dev/null & exec >/dev/null 2>&1",
                           ""));
    (void) test_until_result(id, &last);
    CU_ASSERT(host_result("text").data != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.peer.out.len == 0);

    /* A program may close the descriptor, or use its number otherwise. */
    CU_ASSERT(host_exec(host_sh("exec 3>&-; echo ok", "")));
    CU_ASSERT(host_is_text("text", "ok\n"));
}

HELP_TEST(none_after, "after the result a program may write anything")
{
    int64_t last;
    unsigned id;

    id = host_send(host_sh("trap 'echo \"{\\\"progress\\\":2}\" >&3; exit' "
                           "TERM; echo '{\"progress\":1}' >&3; "
                           "while :; do sleep 0.05; done",
                           ",\"timeout_ms\":3000"));
    CU_ASSERT(test_until_result(id, &last) == 1);
    CU_ASSERT(last == 1);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.peer.out.len == 0);

    id = host_send(host_sh("while :; do echo '{\"progress\":1}' >&3; "
                           "sleep 0.01; done",
                           ""));
    CU_ASSERT(host_recv());
    CU_ASSERT(test_progress(id) == 1);
    host_cancel(id);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.peer.out.len == 0);
}
