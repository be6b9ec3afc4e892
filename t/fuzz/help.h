/*
 * What the fuzz targets share.  A target is t/fuzz/fuzz_ROOM_TOPIC.c with
 * one LLVMFuzzerTestOneInput(); libFuzzer calls it with what it makes up
 * (./build.sh fuzz), replay.c with its packed corpus (test unit).
 *
 * The first bytes of an input choose options and how the rest is cut into
 * pieces; what follows is what the other side sends, so that a corpus can be
 * read.
 */
#ifndef FUZZ_HELP_H
#define FUZZ_HELP_H

#include "../unit/protocol_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold.  Ends the process with the place. */
#define FUZZ(cond) ((cond) ? (void) 0 : fuzz_fail(#cond, __FILE__, __LINE__))
__attribute__((noreturn)) void fuzz_fail(const char *what, const char *file,
                                         int line);

/* Shows two texts, then fails, unless they are the same. */
#define FUZZ_EQ(a, b) fuzz_eq(a, b, __FILE__, __LINE__)
void fuzz_eq(tg_str_t a, tg_str_t b, const char *file, int line);

/* Text for a log: valid UTF-8 without line breaks. */
#define FUZZ_LINE(text) fuzz_line(text, __FILE__, __LINE__)
void fuzz_line(tg_str_t text, const char *file, int line);

/* --- taking an input apart --- */

typedef struct {
    const char *pos;
    const char *end;
} fuzz_in_t;

fuzz_in_t fuzz_in(const uint8_t *data, size_t size);

/* The next byte; 0 when there is none. */
unsigned fuzz_byte(fuzz_in_t *in);

/* Up to the next newline, which is passed; the rest when there is none. */
tg_str_t fuzz_until_newline(fuzz_in_t *in);
tg_str_t fuzz_rest(const fuzz_in_t *in);

/*
 * The length of the next piece of len bytes, at least 1: small ones, large
 * ones and all of it, as a seed has it.  Seed 0: always all.
 */
size_t fuzz_piece(uint32_t *seed, size_t len);

/* An allocation that fails, and all after it; 0: none. */
void fuzz_alloc_init(help_alloc_t *alloc, size_t fail_at);

#endif
