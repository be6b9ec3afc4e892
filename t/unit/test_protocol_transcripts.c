/* Plays every transcript whole, byte by byte, and split at each offset. */
#include "protocol_play.h"

static const script_t *test_scripts;
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
help_begin(void)
{
    size_t i;

    test_scripts = play_scripts(&test_nscripts);

    for (i = 0; i < test_nscripts; i++) {
        help_add((int) i, test_scripts[i].title, test_script);
    }

    return 0;
}
