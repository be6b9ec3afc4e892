/*
 * Checks patterns of file names: each path gets a verdict in bounded time, and
 * copies of pattern and path get the same verdict.
 *
 * Input: the pattern, newline, a path.
 */
#include "help.h"

#include "base/tg_glob.h"

FUZZ_TARGET(in)
{
    tg_str_t pattern, path;
    const char *why;
    char *a, *b;

    pattern = fuzz_until_newline(&in);
    path = fuzz_rest(&in);
    a = help_copy(pattern);
    b = help_copy(path);
    why = tg_path_glob_check(tg_str(a, pattern.len));

    if (why != NULL) {
        FUZZ(why[0] != '\0');
        FUZZ_LINE(tg_str_from_cstr(why));
    } else {
        FUZZ(pattern.len != 0 && pattern.len <= TG_PATH_GLOB_LEN_MAX);
        FUZZ(tg_path_glob_match(tg_str(a, pattern.len), tg_str(b, path.len))
             == tg_path_glob_match(pattern, path));
    }

    free(a);
    free(b);
}
