#include "protocol_play.h"

/* Number of splits to try with a heavy transcript. */
#define PLAY_HEAVY_SPLITS 8
#define PLAY_HEAVY_CHUNK 65521
#define PLAY_SCRIPTS 128

static void
play_heavy(const script_t *script, play_how_t *how, size_t *cuts)
{
    size_t i, k, left, len;

    how->chunk = PLAY_HEAVY_CHUNK;
    CU_ASSERT(play_script(script, how));
    how->chunk = 0;
    how->cuts = cuts;

    for (i = 1; i <= PLAY_HEAVY_SPLITS; i++) {
        left = script->size * i / (PLAY_HEAVY_SPLITS + 1);

        for (k = 0; k < script->nsteps; k++) {
            len = script->steps[k].kind == SCRIPT_SEND
                      ? script->steps[k].text.len
                      : 0;
            cuts[k] = left < len ? left : 0;
            left = left > len ? left - len : 0;
        }

        if (!play_script(script, how)) {
            CU_FAIL("split");
            return;
        }
    }
}

/*
 * Splits every other step in each play. last: where each step was split last;
 * 0 at first.
 */
static void
play_splits(const script_t *script, play_how_t *how, size_t *cuts, size_t *last)
{
    size_t k, n;
    int was_split;

    how->cuts = cuts;

    do {
        n = 0;
        was_split = 0;

        for (k = 0; k < script->nsteps; k++) {
            if (script->steps[k].kind != SCRIPT_SEND) {
                continue;
            }

            was_split = !was_split && last[k] + 1 < script->steps[k].text.len;
            cuts[k] = was_split ? ++last[k] : 0;
            n += (size_t) was_split;
        }

        if (n != 0 && !play_script(script, how)) {
            CU_FAIL("split");
            return;
        }
    } while (n != 0);
}

void
play_all_ways(const script_t *script, int is_moving)
{
    play_how_t how = { .is_moving = is_moving };
    size_t *cuts;

    CU_ASSERT(play_script(script, &how));
    how.is_yielding = 1;
    CU_ASSERT(play_script(script, &how));
    how.is_yielding = 0;
    cuts = calloc(2 * script->nsteps, sizeof(cuts[0]));

    if (cuts == NULL) {
        abort();
    }

    if (script->is_heavy) {
        play_heavy(script, &how, cuts);
        free(cuts);
        return;
    }

    how.chunk = 1;
    CU_ASSERT(play_script(script, &how));
    how.chunk = 0;

    if (is_moving) {
        how.is_splitting = 1;
        CU_ASSERT(play_script(script, &how));
        how.is_splitting = 0;
        how.is_apart = 1;
        CU_ASSERT(play_script(script, &how));
    } else {
        play_splits(script, &how, cuts, cuts + script->nsteps);
    }

    free(cuts);
}

static script_t play_all[PLAY_SCRIPTS];
static size_t play_nscripts;

static void
play_read(const char *path, char *text)
{
    if (play_nscripts == PLAY_SCRIPTS) {
        help_error(path, 0, "too many");
    }

    script_read(&play_all[play_nscripts++], path, text);
    free(text);
}

const script_t *
play_scripts(size_t *n)
{
    if (play_nscripts == 0) {
        help_files("t/transcripts/*.txt", play_read);
    }

    *n = play_nscripts;

    return play_all;
}
