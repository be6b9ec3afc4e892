/*
 * Helpers of all fuzz targets. A target is t/fuzz/fuzz_FOLDER_TOPIC.c with one
 * FUZZ_TARGET(); libFuzzer calls it with generated inputs (./build.sh fuzz),
 * replay.c with its packed corpus (test unit).
 *
 * The first bytes of an input choose options and how the rest is cut into
 * pieces; the rest is what the other side sends, so that a corpus is readable.
 */
#ifndef FUZZ_HELP_H
#define FUZZ_HELP_H

#include "../unit/protocol_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Asserts a condition; a failure prints its location and ends the process. */
#define FUZZ(cond) ((cond) ? (void) 0 : fuzz_fail(#cond, __FILE__, __LINE__))
__attribute__((noreturn)) void fuzz_fail(const char *what, const char *file,
                                         int line);

/* Asserts that two texts are equal, and prints both if not. */
#define FUZZ_EQ(a, b) fuzz_eq(a, b, __FILE__, __LINE__)
void fuzz_eq(tg_str_t a, tg_str_t b, const char *file, int line);

/* Asserts that a text is fit for a log: valid UTF-8 without line breaks. */
#define FUZZ_LINE(text) fuzz_line(text, __FILE__, __LINE__)
void fuzz_line(tg_str_t text, const char *file, int line);

/* --- reading an input --- */

typedef struct {
    const char *pos;
    const char *end;
} fuzz_in_t;

fuzz_in_t fuzz_in(const uint8_t *data, size_t size);

/* Defines a target as a function that reads the input `in`. */
#define FUZZ_TARGET(in)                                                        \
    static void fuzz_target(fuzz_in_t in);                                     \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)               \
    {                                                                          \
        fuzz_target(fuzz_in(data, size));                                      \
        return 0;                                                              \
    }                                                                          \
    static void fuzz_target(fuzz_in_t in)

/* Returns the next byte; 0 at the end. */
unsigned fuzz_byte(fuzz_in_t *in);

/* Returns the text up to the next newline, which is skipped, or to the end. */
tg_str_t fuzz_until_newline(fuzz_in_t *in);
tg_str_t fuzz_rest(const fuzz_in_t *in);

/*
 * Returns the length of the next piece of `len` bytes: 1, a few, many or all,
 * as the seed decides. Seed 0: always all.
 */
size_t fuzz_piece(uint32_t *seed, size_t len);

/* Makes an allocation and all later ones fail; 0: none. */
void fuzz_alloc_init(help_alloc_t *alloc, size_t fail_at);

#endif
