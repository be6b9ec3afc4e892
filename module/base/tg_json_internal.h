/*
 * Parts of the JSON cursor, for tg_json_*.c only. The skip functions return
 * TG_OK with pos after the skipped text, or fail the cursor and return its
 * code.
 */
#ifndef TG_JSON_INTERNAL_H
#define TG_JSON_INTERNAL_H

#include "base/tg_json.h"

/*
 * Fails the cursor with code and the static text why, unless it has failed
 * already. Returns the code of the first failure.
 */
int tg_json_fail(tg_json_cursor_t *json, int code, const char *why);

/*
 * Skips the rest of a string from p on, which may be its closing quote. The
 * string's bytes before p are valid.
 */
int tg_json_skip_string_rest(tg_json_cursor_t *json, const char *p);

/* Skips the number that starts at pos. */
int tg_json_skip_number(tg_json_cursor_t *json);
/* Skips the literal word ("true", "false", "null"), which must be at pos. */
int tg_json_skip_literal(tg_json_cursor_t *json, const char *word, size_t len);

/*
 * A stack of the open containers: the type of each one that is deeper than
 * base.
 */
typedef struct {
    int base;
    int depth;
    /* one bit per container, 1 for an object; the innermost is bit 0 */
    uint64_t objects[2];
} tg_json_stack_t;

static inline void
tg_json_stack_push(tg_json_stack_t *nest, uint64_t is_object)
{
    nest->depth++;
    nest->objects[1] = nest->objects[1] << 1 | nest->objects[0] >> 63;
    nest->objects[0] = nest->objects[0] << 1 | is_object;
}

static inline void
tg_json_stack_pop(tg_json_stack_t *nest)
{
    nest->depth--;
    nest->objects[0] = nest->objects[0] >> 1 | nest->objects[1] << 63;
    nest->objects[1] >>= 1;
}

static inline uint64_t
tg_json_stack_is_object(const tg_json_stack_t *nest)
{
    return nest->objects[0] & 1;
}

/* Functions that process blocks of 64 bytes with SIMD instructions. */
typedef struct {
    /*
     * Returns the end of the object or array that starts at p. depth is the
     * number of containers around it. Returns NULL if the container is
     * invalid, incomplete, or nests too deep.
     */
    const char *(*skip_container)(const char *p, const char *end, int depth);

    /*
     * Skips the body of a string from p on and returns the closing quote or an
     * earlier position; returns p if p is at an invalid byte. Sets the
     * TG_JSON_HAS_* flags of the skipped escapes in *kinds.
     */
    const char *(*text)(const char *p, const char *end, unsigned *kinds);

    /* Appends a valid value without the white space outside of strings. */
    void (*write_compact)(tg_buf_t *buf, tg_str_t raw);

    /*
     * Writes text escaped to *dst and advances both pointers. Stops at the
     * last incomplete block, at a block that needs a \u escape, or when less
     * than twice the block size is left before limit. May be NULL.
     */
    void (*escape)(const char **text, const char *end, char **dst,
                   const char *limit);
} tg_json_simd_t;

/* Character classes of a byte in a block. */
enum {
    TG_BLOCK_QUOTE = 1,
    TG_BLOCK_BACKSLASH = 2,  /* the escape character */
    TG_BLOCK_STRUCTURAL = 4, /* brackets, commas and colons */
    TG_BLOCK_SPACE = 8,
    TG_BLOCK_CONTROL = 16,
    TG_BLOCK_NON_ASCII = 128 /* 0x80 and above; may be in other classes, too */
};

/*
 * Returns the AVX-512 functions, or NULL if the CPU or the compiler does not
 * support AVX-512.
 */
const tg_json_simd_t *tg_json_simd_get_avx512(void);
/*
 * Returns the AVX2 functions, or NULL if the CPU or the compiler does not
 * support AVX2.
 */
const tg_json_simd_t *tg_json_simd_get_avx2(void);

/* Returns the functions for the widest supported registers, or NULL. */
static inline const tg_json_simd_t *
tg_json_simd_get(void)
{
    const tg_json_simd_t *blocks;

    blocks = tg_json_simd_get_avx512();

    return blocks != NULL ? blocks : tg_json_simd_get_avx2();
}

#endif
