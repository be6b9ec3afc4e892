/* Implementation of tg_base.h: the libc allocator, slices, hashes. */
#include "base/tg_base.h"

#include <stdlib.h>

static void *
tg_libc_resize(void *ctx, void *ptr, size_t size)
{
    if (size == 0) {
        free(ptr);
        return NULL;
    }

    return realloc(ptr, size);
}

const tg_alloc_t *
tg_alloc_libc(void)
{
    static const tg_alloc_t libc = { tg_libc_resize, NULL };

    return &libc;
}

void *
tg_alloc(const tg_alloc_t *alloc, size_t size)
{
    return alloc->resize(alloc->ctx, NULL, size);
}

void *
tg_calloc(const tg_alloc_t *alloc, size_t size)
{
    void *ptr;

    ptr = tg_alloc(alloc, size);

    if (ptr != NULL) {
        memset(ptr, 0, size);
    }

    return ptr;
}

void
tg_free(const tg_alloc_t *alloc, void *ptr)
{
    if (ptr != NULL) {
        (void) alloc->resize(alloc->ctx, ptr, 0);
    }
}

int
tg_str_has_prefix(tg_str_t str, const char *prefix)
{
    size_t len;

    len = strlen(prefix);

    return str.len >= len && memcmp(str.data, prefix, len) == 0;
}

int
tg_str_eq_nocase(tg_str_t a, tg_str_t b)
{
    size_t i;

    for (i = 0; a.len == b.len && i < a.len; i++) {
        if (tg_to_lower(a.data[i]) != tg_to_lower(b.data[i])) {
            return 0;
        }
    }

    return a.len == b.len;
}

int
tg_str_has_prefix_nocase(tg_str_t str, tg_str_t prefix)
{
    return str.len >= prefix.len
           && tg_str_eq_nocase(tg_str(str.data, prefix.len), prefix);
}

int
tg_str_is_word(tg_str_t str, const char *others)
{
    size_t i;

    for (i = 0; i < str.len; i++) {
        if (!tg_is_alpha(str.data[i]) && !tg_is_digit(str.data[i])
            && !tg_is_one_of(str.data[i], others))
        {
            return 0;
        }
    }

    return 1;
}

size_t
tg_str_find_char(tg_str_t str, const char *set)
{
    size_t i;

    for (i = 0; i < str.len && !tg_is_one_of(str.data[i], set); i++) {
        /* void */
    }

    return i;
}

tg_str_t
tg_str_skip_blanks(tg_str_t str)
{
    while (str.len != 0 && tg_is_one_of(str.data[0], " \t\r\n")) {
        str = tg_str_skip(str, 1);
    }

    return str;
}

int
tg_str_find(tg_str_t str, const char *const *words)
{
    int i;

    for (i = 0; words[i] != NULL; i++) {
        if (tg_str_eq(str, tg_str_from_cstr(words[i]))) {
            return i;
        }
    }

    return -1;
}

tg_str_t
tg_path_get_base_name(tg_str_t path)
{
    size_t i;

    for (i = path.len; i > 0 && path.data[i - 1] != '/'; i--) {
        /* void */
    }

    return tg_str_skip(path, i);
}

uint64_t
tg_hash_fnv1a(uint64_t hash, tg_str_t bytes)
{
    size_t i;

    for (i = 0; i < bytes.len; i++) {
        hash ^= (unsigned char) bytes.data[i];
        hash *= UINT64_C(0x100000001b3);
    }

    return hash;
}

static uint64_t
tg_hash_fast_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ hash >> 32;
}

uint64_t
tg_hash_fast(uint64_t hash, tg_str_t bytes)
{
    uint64_t word;
    size_t i;

    for (i = 0; bytes.len - i >= sizeof(word); i += sizeof(word)) {
        memcpy(&word, bytes.data + i, sizeof(word));
        hash = tg_hash_fast_mix(hash, word);
    }

    word = 0;

    if (i < bytes.len) {
        memcpy(&word, bytes.data + i, bytes.len - i);
    }

    return tg_hash_fast_mix(tg_hash_fast_mix(hash, word), bytes.len);
}
