/*
 * Plays every transcript against core's peer: whole, byte by byte, and split
 * at each offset.
 */
#include "core_play.h"

#include <stdlib.h>

static script_t *test_scripts;
static size_t test_nscripts;

static void
test_script(void)
{
    size_t i;

    for (i = 0;
         strcmp(test_scripts[i].title, CU_get_current_test()->pName) != 0; i++)
    {
        /* void */
    }

    play_all_ways(&test_scripts[i], 0);
}

int
main(void)
{
    CU_TestInfo *tests;
    size_t i;
    int status;

    test_scripts = play_scripts(&test_nscripts);
    tests = calloc(test_nscripts + 1, sizeof(tests[0]));

    if (tests == NULL) {
        return 2;
    }

    for (i = 0; i < test_nscripts; i++) {
        tests[i].pName = test_scripts[i].title;
        tests[i].pTestFunc = test_script;
    }

    status = help_main("core transcripts", tests);
    play_scripts_free(test_scripts, test_nscripts);
    free(tests);

    return status;
}
