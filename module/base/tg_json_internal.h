/*
 * What the cursor is made of, for tg_json_*.c only.  All of them return
 * TG_OK with pos behind what they passed, or fail the cursor.
 */
#ifndef TG_JSON_INTERNAL_H
#define TG_JSON_INTERNAL_H

#include "base/tg_json.h"

/* Fails the cursor, unless it has failed before; why is static. */
int tg_json_fail(tg_json_cursor_t *json, int code, const char *why);

/* A string from p on, within it or at its end; all before p is in order. */
int tg_json_skip_string_rest(tg_json_cursor_t *json, const char *p);

/* What starts at pos: a number; one certain word. */
int tg_json_skip_number(tg_json_cursor_t *json);
int tg_json_skip_literal(tg_json_cursor_t *json, const char *word, size_t len);

/* Containers that are open, of which those from base on are a value's own. */
typedef struct {
    int base;
    int depth;
    uint64_t objects[2]; /* a bit each, the innermost's is the lowest */
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

/* What goes in blocks of 64 bytes, where the machine can. */
typedef struct {
    /*
     * Behind the object or array that starts at p, depth containers deep, or
     * NULL: it is not in order, or nests too deep.
     */
    const char *(*skip_container)(const char *p, const char *end, int depth);

    /* From p on, in a string: to its end, or nearer; p where it is wrong. */
    const char *(*text)(const char *p, const char *end, unsigned *kinds);

    /* Appends a valid value without the white space outside of strings. */
    void (*write_compact)(tg_buf_t *buf, tg_str_t raw);

    /*
     * Writes text escaped to dst, and moves both: to a block that is not
     * whole, has what needs a long escape, or has no room for twice its size
     * before limit.  May be NULL.
     */
    void (*escape)(const char **text, const char *end, char **dst,
                   const char *limit);
} tg_json_simd_t;

/* What a byte of a block may be. */
enum {
    TG_BLOCK_QUOTE = 1,
    TG_BLOCK_BACKSLASH = 2,  /* the one that escapes */
    TG_BLOCK_STRUCTURAL = 4, /* brackets, commas and colons */
    TG_BLOCK_SPACE = 8,
    TG_BLOCK_CONTROL = 16,
    TG_BLOCK_NON_ASCII = 128 /* 0x80 and more; may look like others, too */
};

/* NULL where the machine, or the compiler, does not have it. */
const tg_json_simd_t *tg_json_simd_get_avx512(void);
const tg_json_simd_t *tg_json_simd_get_avx2(void);

/* The wider, or NULL. */
static inline const tg_json_simd_t *
tg_json_simd_get(void)
{
    const tg_json_simd_t *blocks;

    blocks = tg_json_simd_get_avx512();

    return blocks != NULL ? blocks : tg_json_simd_get_avx2();
}

#endif
