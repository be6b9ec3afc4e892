/*
 * Every transcript with memory that ends at each allocation in turn, once and
 * for good. Nothing crashes or leaks, and unless the peer reports that it is
 * out of memory, no reply is missing, doubled or cut.
 */
#include "protocol_play.h"

/* Larger transcripts add nothing. */
#define TEST_SIZE_MAX 8192

typedef struct {
    size_t messages; /* messages to the client, plus cancelled calls */
    int is_broken;   /* the peer reported that it is out of memory */
} test_result_t;

static size_t
test_frames(tg_str_t text)
{
    const unsigned char *p;
    size_t n, len;

    for (n = 0; text.len != 0; n++) {
        CU_ASSERT_FATAL(text.len >= TG_FRAME_PREFIX_SIZE);
        p = (const unsigned char *) text.data;
        len = ((size_t) p[0] << 24 | (size_t) p[1] << 16 | (size_t) p[2] << 8
               | p[3])
              + TG_FRAME_PREFIX_SIZE;
        CU_ASSERT_FATAL(len <= text.len);
        text = tg_str(text.data + len, text.len - len);
    }

    return n;
}

/* Counts one message, or those of a batch. */
static size_t
test_messages(tg_str_t line)
{
    tg_json_cursor_t json;
    size_t n;

    CU_ASSERT(tg_json_validate(line, NULL) == TG_OK);

    if (tg_json_type(line) != TG_JSON_ARRAY) {
        return 1;
    }

    tg_json_init(&json, line);
    (void) tg_json_enter_array(&json);

    for (n = 0; tg_json_next_element(&json) == TG_OK; n++) {
        (void) tg_json_read_value(&json, NULL);
    }

    return n;
}

static size_t
test_lines(tg_str_t text)
{
    const char *newline;
    size_t n, len;

    n = 0;

    while (text.len != 0) {
        newline = memchr(text.data, '\n', text.len);
        CU_ASSERT_FATAL(newline != NULL);
        len = (size_t) (newline - text.data);
        n += test_messages(tg_str(text.data, len));
        text = tg_str(newline + 1, text.len - len - 1);
    }

    return n;
}

/* Reads the result of the last bytes; nothing is expected afterwards. */
static void
test_take(host_t *host, test_result_t *result)
{
    tg_str_t out;

    if (host->rc == TG_NOMEM || tg_buf_has_failed(&host->peer.out)) {
        result->is_broken = 1;
        return;
    }

    out = host_take(host);
    result->messages += host->peer.dialect == TG_DIALECT_IPC ? test_frames(out)
                                                             : test_lines(out);
}

static test_result_t
test_play(const script_t *script, const tg_alloc_t *alloc)
{
    const script_step_t *step;
    test_result_t result;
    host_t host;
    size_t i;

    memset(&result, 0, sizeof(result));
    play_init_host(&host, alloc, script);

    for (i = 0; i < script->nsteps && !result.is_broken; i++) {
        step = &script->steps[i];

        if (step->kind == SCRIPT_SEND) {
            host_feed(&host, tg_buf_view(&step->text));
            test_take(&host, &result);
        }

        while (!result.is_broken && host_fire(&host)) {
            test_take(&host, &result);
        }
    }

    if (!result.is_broken) {
        tg_peer_notify_list_changed(&host.peer, TG_ENTRY_TOOL);
        tg_peer_send_shutdown_notice(&host.peer, TG_STR("bye"));
        test_take(&host, &result);
    }

    host_deinit(&host);
    result.messages += host.ncancelled;

    return result;
}

static void
test_script(const script_t *script)
{
    test_result_t whole, result;
    help_alloc_t help;
    size_t n, total;

    help_alloc_init(&help);
    whole = test_play(script, &help.alloc);
    CU_ASSERT(!whole.is_broken);
    CU_ASSERT(help.live == 0);
    total = help.count;

    for (n = 1; n <= 2 * total; n++) {
        help_alloc_init(&help);
        help.fail_at = (n + 1) / 2;
        help.is_lasting = n % 2 == 0;
        result = test_play(script, &help.alloc);
        CU_ASSERT(help.live == 0);
        CU_ASSERT(help.has_failed);
        CU_ASSERT(result.is_broken || result.messages == whole.messages);
    }
}

HELP_TEST(transcripts, "transcripts")
{
    const script_t *scripts;
    size_t i, n, played;

    scripts = play_scripts(&n);
    played = 0;

    for (i = 0; i < n; i++) {
        if (!scripts[i].is_heavy && scripts[i].size <= TEST_SIZE_MAX) {
            test_script(&scripts[i]);
            played++;
        }
    }

    CU_ASSERT(played > 20);
}
