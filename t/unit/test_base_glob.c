/* Patterns of file names. */
#include "protocol_help.h"

#include "base/tg_glob.h"

#define IS(pattern, path)                                                      \
    CU_ASSERT(tg_path_glob_check(TG_STR(pattern)) == NULL                      \
              && tg_path_glob_match(TG_STR(pattern), TG_STR(path)))
#define IS_NOT(pattern, path)                                                  \
    CU_ASSERT(tg_path_glob_check(TG_STR(pattern)) == NULL                      \
              && !tg_path_glob_match(TG_STR(pattern), TG_STR(path)))

HELP_TEST(names, "the last name of a path")
{
    IS("*.c", "a.c");
    IS("*.c", "src/deep/a.c");
    IS("*.c", ".c");
    IS_NOT("*.c", "a.cc");
    IS_NOT("*.c", "a.c/b");
    IS("a", "a");
    IS("a", "x/a");
    IS_NOT("a", "ab");
    IS("a?c", "abc");
    IS_NOT("a?c", "ac");
    IS("*", "anything");
    IS("*a*b*", "xxaxxbxx");
    IS_NOT("*a*b*", "xxbxxaxx");
    IS("[a-cx]1", "b1");
    IS("[a-cx]1", "x1");
    IS_NOT("[a-cx]1", "d1");
    IS("[!a-c]1", "d1");
    IS("[^a-c]1", "d1");
    IS_NOT("[!a-c]1", "b1");
    IS("[]]", "]");
    IS("[a-]", "-");
    IS("\\*\\[", "*[");
    IS_NOT("\\*", "a");
    IS("Makefile", "sub/Makefile");
    IS_NOT("makefile", "Makefile");
}

HELP_TEST(paths, "whole paths, and folders")
{
    IS("src/*.c", "src/a.c");
    IS_NOT("src/*.c", "src/sub/a.c");
    IS_NOT("src/*.c", "x/src/a.c");
    IS_NOT("src/*.c", "a.c");
    IS("**/*.c", "a.c");
    IS("**/*.c", "src/a.c");
    IS("**/*.c", "src/deep/a.c");
    IS("src/**", "src/a");
    IS("src/**", "src/a/b/c");
    IS_NOT("src/**", "srcs/a");
    IS("src/**/a.c", "src/a.c");
    IS("src/**/a.c", "src/x/y/a.c");
    IS_NOT("src/**/a.c", "src/x/y/ba.c");
    IS("a/**/b/**/c", "a/b/c");
    IS("a/**/b/**/c", "a/x/b/y/b/z/c");
    IS_NOT("a/**/b/**/c", "a/x/y/z/c");
    IS_NOT("x**/y", "xy");
    IS("x**/y", "xa/b/y");
    IS("**/test_*", "t/unit/test_a.c");
    IS_NOT("**/test_*", "t/unit/ctest_a.c");
    IS_NOT("src/?/a", "src//a");
}

HELP_TEST(checks, "invalid patterns")
{
    char text[TG_PATH_GLOB_LEN_MAX + 1];

    memset(text, 'a', sizeof(text));
    CU_ASSERT(tg_path_glob_check(TG_STR("")) != NULL);
    CU_ASSERT(tg_path_glob_check(tg_str(text, sizeof(text))) != NULL);
    CU_ASSERT(tg_path_glob_check(tg_str(text, sizeof(text) - 1)) == NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("/src/*.c")) != NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("a\\")) != NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("[a")) != NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("[")) != NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("[]")) != NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("[a/b]")) != NULL);
    CU_ASSERT(tg_path_glob_check(TG_STR("[a\\]b]")) != NULL);
}
