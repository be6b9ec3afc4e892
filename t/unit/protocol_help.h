/* Helpers of the test suites: failing allocator, slices of literals, main(). */
#ifndef PROTOCOL_HELP_H
#define PROTOCOL_HELP_H

#include "protocol_memory.h"

#include <CUnit/Basic.h>

/* Repeats a conversation with each allocation failing in turn. */
void help_each_failure(void (*run)(const tg_alloc_t *alloc, int may_fail));

/* Returns a copy of a slice, valid for the next three calls. */
const char *help_text(tg_str_t text);

/* A folder of this program, which must be empty at the end. */
extern char help_dir[];

/* Returns the path of a file in help_dir, valid for the next three calls. */
const char *help_path(const char *name);

/*
 * Reads the files that match a pattern, in order. The text ends with two zeros
 * and belongs to the reader. Exits with a message if there is no file or on an
 * error.
 */
void help_files(const char *pattern,
                void (*read)(const char *path, char *text));
void help_error(const char *path, unsigned line, const char *why)
    __attribute__((noreturn));

#define HELP_EQ(got, expected) help_eq(got, expected, __FILE__, __LINE__)
void help_eq(tg_str_t got, const char *expected, const char *file, int line);

/* Asserts that JSON matches a pattern; see help_json_match(). */
#define HELP_JSON(got, pattern) help_json(got, pattern, __FILE__, __LINE__)
void help_json(tg_str_t got, const char *pattern, const char *file, int line);

/*
 * Compares JSON by meaning: members may be in any order; numbers and ids must
 * be identical. Some strings in the pattern are wildcards:
 *  $any $string $number $object $array   any value, or any of that type
 *  $contains:TEXT                        a string that contains TEXT
 */
int help_json_match(tg_str_t pattern, tg_str_t got);

/* Defines a test as a function; main() runs all tests in order. */
#define HELP_TEST(name, title)                                                 \
    static void test_##name(void);                                             \
    __attribute__((constructor)) static void help_add_##name(void)             \
    {                                                                          \
        help_add(__LINE__, title, test_##name);                                \
    }                                                                          \
    static void test_##name(void)

void help_add(int line, const char *title, CU_TestFunc test);

/* Optional: help_begin() returns 0 or no test runs, help_end() leftovers. */
int help_begin(void) __attribute__((weak));
unsigned help_end(void) __attribute__((weak));

#endif
