/*
 * What the suites of core share: an allocator that keeps account and fails
 * on demand, slices of literals, and one way to run a suite.
 */
#ifndef PROTOCOL_HELP_H
#define PROTOCOL_HELP_H

#include "protocol_memory.h"

#include <CUnit/Basic.h>

/*
 * Runs a conversation again and again, the first, second, … allocation
 * failing each time, until it gets by without a failure.  Each run must free
 * everything itself.
 */
void help_each_failure(void (*run)(const tg_alloc_t *alloc, int may_fail));

/* The copied text of a slice, valid until the next but three calls. */
const char *help_text(tg_str_t text);

/* A folder of this program's own, which must be empty in the end. */
extern char help_dir[];

/* The path of a file in it, valid until the next but three calls. */
const char *help_path(const char *name);

/*
 * Reads the files of a pattern, in order.  The text ends with two zeros and
 * is the reader's.  Exits with a message when there is none, or on a mistake.
 */
void help_files(const char *pattern,
                void (*read)(const char *path, char *text));
void help_mistake(const char *path, unsigned line, const char *why)
    __attribute__((noreturn));

#define HELP_EQ(got, expected) help_eq(got, expected, __FILE__, __LINE__)
void help_eq(tg_str_t got, const char *expected, const char *file, int line);

/* Is JSON text a, as pattern, the same as b?  See help_json_match(). */
#define HELP_JSON(got, pattern) help_json(got, pattern, __FILE__, __LINE__)
void help_json(tg_str_t got, const char *pattern, const char *file, int line);

/*
 * Compares JSON by meaning; members of objects in any order, numbers and ids
 * to the letter.  In the pattern some strings stand for more:
 *   $any $string $number $object $array   any value, or any of that type
 *   $contains:TEXT                        a string with TEXT in it
 */
int help_json_match(tg_str_t pattern, tg_str_t got);

/*
 * A test, as a function.  main() is the help's: it runs all of a program, in
 * the order in which they stand.
 */
#define HELP_TEST(name, title)                                                 \
    static void test_##name(void);                                             \
    __attribute__((constructor)) static void help_add_##name(void)             \
    {                                                                          \
        help_add(__LINE__, title, test_##name);                                \
    }                                                                          \
    static void test_##name(void)

void help_add(int line, const char *title, CU_TestFunc test);

/*
 * What a program may have around its tests: 0, or no test runs, and the number
 * of things that were left behind.
 */
int help_begin(void) __attribute__((weak));
unsigned help_end(void) __attribute__((weak));

#endif
