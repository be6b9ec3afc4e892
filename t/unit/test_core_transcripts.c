/*
 * Plays every transcript against core's peer: whole, byte by byte, and split
 * at each offset.
 */
#include "core_host.h"
#include "core_script.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a heavy transcript so many splits are tried. */
#define TEST_HEAVY_SPLITS 8
#define TEST_HEAVY_CHUNK 65521

typedef struct {
    const script_t *script;
    host_t host;
    size_t sent;
    size_t cut;   /* split behind so many bytes; 0: nowhere */
    size_t chunk; /* bytes at once; 0: all */
    tg_buf_t got;
    size_t at; /* bytes of got that were looked at */
    int is_wrong;
} test_play_t;

static script_t *test_scripts;
static size_t test_nscripts;

static void
test_wrong(test_play_t *play, const script_step_t *step, const char *what,
           tg_str_t got)
{
    play->is_wrong = 1;
    fprintf(stderr, "\n%s:%u: %s (cut %zu, chunk %zu)\n  got      %s\n",
            play->script->path, step != NULL ? step->line : 0, what, play->cut,
            play->chunk, help_text(got));

    if (step != NULL && step->text.len != 0) {
        fprintf(stderr, "  expected %s\n", help_text(tg_buf_view(&step->text)));
    }
}

/* --- bytes --- */

static void
test_drain(test_play_t *play)
{
    tg_buf_t *out;

    out = &play->host.peer.out;

    do {
        tg_buf_str(&play->got, tg_buf_view(out));
        tg_buf_drop(out, out->len);

        /* It paused for what was just taken. */
        if (play->host.rc == TG_LIMIT) {
            host_feed(&play->host, TG_STR(""));
        }
    } while (out->len != 0);
}

static void
test_send(test_play_t *play, tg_str_t bytes)
{
    size_t n;

    while (bytes.len != 0) {
        n = bytes.len;

        if (play->chunk != 0 && n > play->chunk) {
            n = play->chunk;
        }

        if (play->cut > play->sent && play->cut - play->sent < n) {
            n = play->cut - play->sent;
        }

        host_feed(&play->host, tg_str(bytes.data, n));
        test_drain(play);
        play->sent += n;
        bytes = tg_str(bytes.data + n, bytes.len - n);
    }
}

static tg_str_t
test_left(const test_play_t *play)
{
    tg_str_t all;

    all = tg_buf_view(&play->got);

    return tg_str(all.data + play->at, all.len - play->at);
}

/* The next message that is there already. */
static int
test_next(test_play_t *play, int is_ipc, tg_str_t *message)
{
    const unsigned char *u;
    const char *newline;
    tg_str_t left;
    size_t len;

    left = test_left(play);

    if (is_ipc) {
        if (left.len < TG_FRAME_PREFIX_SIZE) {
            return 0;
        }

        u = (const unsigned char *) left.data;
        len = (size_t) u[0] << 24 | (size_t) u[1] << 16 | (size_t) u[2] << 8
              | u[3];

        if (left.len - TG_FRAME_PREFIX_SIZE < len) {
            return 0;
        }

        *message = tg_str(left.data + TG_FRAME_PREFIX_SIZE, len);
        play->at += TG_FRAME_PREFIX_SIZE + len;
        return 1;
    }

    newline = left.len != 0 ? memchr(left.data, '\n', left.len) : NULL;

    if (newline == NULL) {
        return 0;
    }

    len = (size_t) (newline - left.data);
    *message = tg_str(left.data, len);
    play->at += len + 1;

    return 1;
}

/* … or that comes when calls end, one after the other. */
static int
test_await(test_play_t *play, const script_step_t *step, tg_str_t *message)
{
    while (!test_next(play, step->is_ipc, message)) {
        if (!host_fire(&play->host)) {
            test_wrong(play, step, "nothing came", test_left(play));
            return 0;
        }

        test_drain(play);
    }

    if (tg_json_check(*message, NULL) != TG_OK) {
        test_wrong(play, step, "no JSON came", *message);
        return 0;
    }

    return 1;
}

/* --- steps --- */

static void
test_expect(test_play_t *play, const script_step_t *step)
{
    tg_str_t message;

    if (test_await(play, step, &message)
        && !help_json_match(tg_buf_view(&step->text), message))
    {
        test_wrong(play, step, "something else came", message);
    }
}

/* As many messages as there are neighbours; the number of them. */
static size_t
test_unordered(test_play_t *play, const script_step_t *steps, size_t n)
{
    tg_str_t message;
    size_t count, i, k;
    uint64_t seen;

    for (count = 0; count < n && steps[count].kind == SCRIPT_UNORDERED; count++)
    {
        /* void */
    }

    seen = 0;

    for (i = 0; i < count && !play->is_wrong; i++) {
        if (!test_await(play, &steps[i], &message)) {
            break;
        }

        for (k = 0; k < count; k++) {
            if ((seen >> k & 1) == 0
                && help_json_match(tg_buf_view(&steps[k].text), message))
            {
                seen |= UINT64_C(1) << k;
                break;
            }
        }

        if (k == count) {
            test_wrong(play, &steps[0], "none of these came", message);
        }
    }

    return count;
}

static void
test_quiet(test_play_t *play, const script_step_t *step)
{
    if (test_left(play).len != 0) {
        test_wrong(play, step, "nobody expected this", test_left(play));
    }
}

static void
test_command(test_play_t *play, const script_step_t *step)
{
    char text[256], id[64], number[64];
    tg_call_t *call;

    snprintf(text, sizeof(text), "%s", help_text(tg_buf_view(&step->text)));

    if (strcmp(text, "list_changed") == 0) {
        tg_peer_list_changed(&play->host.peer);

    } else if (strncmp(text, "farewell ", 9) == 0) {
        tg_peer_farewell(&play->host.peer, tg_str_c(text + 9));
        host_feed(&play->host, TG_STR(""));

    } else if (sscanf(text, "progress %63s %63s", id, number) == 2) {
        call = host_call(&play->host, id);

        if (call == NULL) {
            test_wrong(play, step, "no such call", TG_STR(""));
            return;
        }

        tg_call_progress(call, tg_str_c(number), TG_STR_NONE, TG_STR_NONE);

    } else {
        test_wrong(play, step, "an unknown command", TG_STR(""));
    }

    test_drain(play);
}

static size_t
test_step(test_play_t *play, const script_step_t *step, size_t left)
{
    switch (step->kind) {
    case SCRIPT_SEND:
        test_send(play, tg_buf_view(&step->text));
        break;
    case SCRIPT_EXPECT:
        test_expect(play, step);
        break;
    case SCRIPT_UNORDERED:
        return test_unordered(play, step, left);
    case SCRIPT_QUIET:
        test_quiet(play, step);
        break;
    case SCRIPT_CLOSE:
        test_quiet(play, step);

        if (play->host.rc != TG_CLOSED) {
            test_wrong(play, step, "it does not close", TG_STR(""));
        }

        break;
    default:
        test_command(play, step);
    }

    return 1;
}

/* --- plays --- */

static int
test_play(const script_t *script, size_t cut, size_t chunk)
{
    test_play_t play;
    size_t i;

    memset(&play, 0, sizeof(play));
    play.script = script;
    play.cut = cut;
    play.chunk = chunk;
    tg_buf_init(&play.got, tg_alloc_libc());
    host_init(&play.host, tg_alloc_libc(), script->dialect, script->max_frame,
              script->max_inflight);

    for (i = 0; i < script->nsteps && !play.is_wrong; /* void */) {
        i += test_step(&play, &script->steps[i], script->nsteps - i);
    }

    while (!play.is_wrong && host_fire(&play.host)) {
        test_drain(&play);
    }

    if (!play.is_wrong) {
        test_quiet(&play, NULL);
    }

    host_deinit(&play.host);
    tg_buf_deinit(&play.got);

    return !play.is_wrong;
}

static void
test_heavy(const script_t *script)
{
    size_t i;

    CU_ASSERT(test_play(script, 0, TEST_HEAVY_CHUNK));

    for (i = 1; i <= TEST_HEAVY_SPLITS; i++) {
        if (!test_play(script, script->size * i / (TEST_HEAVY_SPLITS + 1), 0)) {
            CU_FAIL("split");
            return;
        }
    }
}

static void
test_script(void)
{
    const script_t *script;
    size_t i;

    for (i = 0;
         strcmp(test_scripts[i].title, CU_get_current_test()->pName) != 0; i++)
    {
        /* void */
    }

    script = &test_scripts[i];
    CU_ASSERT(test_play(script, 0, 0));

    if (script->is_heavy) {
        test_heavy(script);
        return;
    }

    CU_ASSERT(test_play(script, 0, 1));

    for (i = 1; i < script->size; i++) {
        if (!test_play(script, i, 0)) {
            CU_FAIL("split");
            return;
        }
    }
}

int
main(void)
{
    const char *dir;
    char pattern[4096];
    CU_TestInfo *tests;
    glob_t found;
    size_t i;
    int status;

    dir = getenv("TG_TRANSCRIPTS");
    snprintf(pattern, sizeof(pattern), "%s/*.txt",
             dir != NULL ? dir : "t/transcripts");

    if (glob(pattern, 0, NULL, &found) != 0) {
        fprintf(stderr,
                "no %s: start it in the repository, or set TG_TRANSCRIPTS\n",
                pattern);
        return 2;
    }

    test_nscripts = found.gl_pathc;
    test_scripts = calloc(test_nscripts, sizeof(test_scripts[0]));
    tests = calloc(test_nscripts + 1, sizeof(tests[0]));

    if (test_scripts == NULL || tests == NULL) {
        return 2;
    }

    for (i = 0; i < test_nscripts; i++) {
        script_read(&test_scripts[i], found.gl_pathv[i]);
        tests[i].pName = test_scripts[i].title;
        tests[i].pTestFunc = test_script;
    }

    status = help_main("core transcripts", tests);

    for (i = 0; i < test_nscripts; i++) {
        script_free(&test_scripts[i]);
    }

    free(test_scripts);
    free(tests);
    globfree(&found);

    return status;
}
