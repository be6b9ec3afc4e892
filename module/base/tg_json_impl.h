/*
 * Parts of the JSON cursor, for tg_json_*.c only. A skip function returns TG_OK
 * with pos after the skipped text, or fails the cursor.
 */
#ifndef TG_JSON_IMPL_H
#define TG_JSON_IMPL_H

#include "base/tg_json.h"

/* Fails a cursor that has not failed yet. why is static. Returns its code. */
int tg_json_fail(tg_json_cursor_t *json, int code, const char *why);

/* Skips the rest of a string, from p on, which may be the closing quote. */
int tg_json_skip_string_rest(tg_json_cursor_t *json, const char *p);

int tg_json_skip_number(tg_json_cursor_t *json);
/* Skips the literal word ("true", "false", "null"), which must be at pos. */
int tg_json_skip_literal(tg_json_cursor_t *json, const char *word, size_t len);

/* Types of the open containers that are deeper than base. */
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
     * Returns the end of the container at p, or NULL if it is invalid,
     * incomplete, or nests too deep. depth is the number of containers around
     * it.
     */
    const char *(*skip_container)(const char *p, const char *end, int depth);

    /*
     * Skips string text from p on. Returns the closing quote, an earlier
     * position, or p at an invalid byte. Sets the TG_JSON_HAS_* flags of the
     * skipped escapes in *kinds.
     */
    const char *(*text)(const char *p, const char *end, unsigned *kinds);

    /* Appends a valid value without the white space outside of strings. */
    void (*write_compact)(tg_buf_t *buf, tg_str_t raw);

    /*
     * Writes text escaped to *dst and advances both. Stops at the last
     * incomplete block, at a block that needs a \u escape, or less than two
     * blocks before limit. May be NULL.
     */
    void (*escape)(const char **text, const char *end, char **dst,
                   const char *limit);
} tg_json_simd_t;

enum {
    TG_BLOCK_QUOTE = 1,
    TG_BLOCK_BACKSLASH = 2,  /* the escape character */
    TG_BLOCK_STRUCTURAL = 4, /* brackets, commas and colons */
    TG_BLOCK_SPACE = 8,
    TG_BLOCK_CONTROL = 16,
    TG_BLOCK_NON_ASCII = 128 /* 0x80 and above; may be in other classes, too */
};

/* Returns the AVX-512 functions, or NULL if they are not supported. */
const tg_json_simd_t *tg_json_simd_get_avx512(void);
/* Returns NULL without AVX2 in the CPU or compiler. */
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
