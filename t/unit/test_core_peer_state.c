/*
 * A peer that moves: every transcript with a move after each input, and what
 * the bytes of its state are good for.
 */
#include "core_play.h"

#include "core/tg_peer_state.h"

#include <stdlib.h>

static script_t *test_scripts;
static size_t test_nscripts;

static void
test_transcripts(void)
{
    size_t i;

    for (i = 0; i < test_nscripts; i++) {
        play_all_ways(&test_scripts[i], 1);
    }
}

int
main(void)
{
    CU_TestInfo tests[] = {
        { "transcripts with moves", test_transcripts },
        CU_TEST_INFO_NULL,
    };
    int status;

    test_scripts = play_scripts(&test_nscripts);
    status = help_main("core peer state", tests);
    play_scripts_free(test_scripts, test_nscripts);

    return status;
}
