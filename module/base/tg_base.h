/*
 * Slices, result codes and the allocator: the base of every other folder.
 *
 * Result codes, in all folders that do not depend on NGINX:
 *   negative   fatal for the object (no memory); only its destructor may follow
 *   TG_OK      success
 *   positive   a condition; the function's comment says how to go on.
 */
#ifndef TG_BASE_H
#define TG_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The version of the whole product: of the NGINX module and all programs. */
#define TG_VERSION "0.1.0"

/* TG_HAS_ASAN: built with AddressSanitizer, by gcc or clang. */
#if defined(__SANITIZE_ADDRESS__)
#define TG_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_HAS_ASAN 1
#endif
#endif

enum {
    TG_NOMEM = -1,
    TG_OK = 0,
    TG_AGAIN = 1,   /* more input is needed */
    TG_INVALID = 2, /* the input breaks its grammar or contract */
    TG_LIMIT = 3,   /* a documented limit was reached */
    TG_END = 4,     /* there is no further element */
    TG_MISSING = 5, /* the element does not exist */
    TG_EXISTS = 6,  /* the element exists already */
    TG_CLOSED = 7
};

/*
 * A borrowed slice, not null-terminated, valid as long as its source says. data
 * is NULL if the value is absent; an empty value has data and len 0.
 */
typedef struct {
    const char *data;
    size_t len;
} tg_str_t;

#define TG_STR(literal) ((tg_str_t){ literal, sizeof(literal) - 1 })
/* A slice initializer for static storage: TG_STR() is not a constant there. */
#define TG_STR_INIT(literal)                                                   \
    {                                                                          \
        literal, sizeof(literal) - 1                                           \
    }
#define TG_STR_NONE ((tg_str_t){ NULL, 0 })

static inline tg_str_t
tg_str(const char *data, size_t len)
{
    return (tg_str_t){ data, len };
}

static inline tg_str_t
tg_str_from_cstr(const char *text)
{
    return (tg_str_t){ text, strlen(text) };
}

/* Returns the end, or NULL if str is absent: NULL + 0 is undefined. */
static inline const char *
tg_str_end(tg_str_t str)
{
    return str.len != 0 ? str.data + str.len : str.data;
}

/* Returns the slice without its first n bytes. */
static inline tg_str_t
tg_str_skip(tg_str_t str, size_t n)
{
    return tg_str(str.data + n, str.len - n);
}

static inline int
tg_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline int
tg_is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline char
tg_to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
}

static inline int
tg_hex_value(char c)
{
    if (tg_is_digit(c)) {
        return c - '0';
    }

    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* Checks whether c is one of the characters in `these`; NUL never is. */
static inline int
tg_is_one_of(char c, const char *these)
{
    return c != '\0' && strchr(these, c) != NULL;
}

/*
 * For large objects. The asm statement hides a constant size: some compilers
 * emit "rep stos" for it, which is slower than a call of memset().
 */
static inline void
tg_memzero(void *p, size_t size)
{
    __asm__("" : "+r"(size));
    memset(p, 0, size);
}

static inline const char *
tg_pick_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* For names, most of which are short: a call of memcmp() costs more. */
static inline int
tg_bytes_eq(const char *a, const char *b, size_t len)
{
    uint64_t x[2], y[2];
    uint32_t v[2], w[2];

    if (len > 16) {
        return memcmp(a, b, len) == 0;
    }

    if (len >= 8) {
        memcpy(&x[0], a, 8);
        memcpy(&y[0], b, 8);
        memcpy(&x[1], a + len - 8, 8);
        memcpy(&y[1], b + len - 8, 8);
        return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
    }

    if (len >= 4) {
        memcpy(&v[0], a, 4);
        memcpy(&w[0], b, 4);
        memcpy(&v[1], a + len - 4, 4);
        memcpy(&w[1], b + len - 4, 4);
        return ((v[0] ^ w[0]) | (v[1] ^ w[1])) == 0;
    }

    return len == 0
           || (a[0] == b[0] && a[len / 2] == b[len / 2]
               && a[len - 1] == b[len - 1]);
}

/* Copies without a call for 8 to 32 bytes. Returns the end of the copy. */
static inline char *
tg_bytes_copy(char *dst, const char *src, size_t len)
{
    char head[16], tail[16];

    if (len > 32 || len < 8) {
        memcpy(dst, src, len);

    } else if (len >= 16) {
        memcpy(head, src, 16);
        memcpy(tail, src + len - 16, 16);
        memcpy(dst, head, 16);
        memcpy(dst + len - 16, tail, 16);

    } else {
        memcpy(head, src, 8);
        memcpy(tail, src + len - 8, 8);
        memcpy(dst, head, 8);
        memcpy(dst + len - 8, tail, 8);
    }

    return dst + len;
}

#define TG_CONTAINER_OF(ptr, type, member)                                     \
    ((type *) (void *) ((char *) (ptr) -offsetof(type, member)))

static inline int
tg_str_eq(tg_str_t a, tg_str_t b)
{
    return a.len == b.len && tg_bytes_eq(a.data, b.data, a.len);
}

int tg_str_has_prefix(tg_str_t str, const char *prefix);

/* Compare ASCII without case. */
int tg_str_eq_nocase(tg_str_t a, tg_str_t b);
int tg_str_has_prefix_nocase(tg_str_t str, tg_str_t prefix);

/* Checks for a text, maybe empty, of ASCII letters, digits and `others`. */
int tg_str_is_word(tg_str_t str, const char *others);

/* Returns the offset of the first character that is in set, or the length. */
size_t tg_str_find_char(tg_str_t str, const char *set);

/* Skips the blanks of JSON at the beginning. */
tg_str_t tg_str_skip_blanks(tg_str_t str);

/* Returns the index of an equal word in NULL-terminated words, or -1. */
int tg_str_find(tg_str_t str, const char *const *words);

/* Returns a path's part after its last slash. */
tg_str_t tg_path_get_base_name(tg_str_t path);

/* Copies str to *at and advances *at. An absent str is returned unchanged. */
static inline tg_str_t
tg_str_copy_to(char **at, tg_str_t str)
{
    if (str.data != NULL) {
        memcpy(*at, str.data, str.len);
        str.data = *at;
        *at += str.len;
    }

    return str;
}

/*
 * The allocator of an object, which it must outlive. resize(ctx, NULL, n)
 * allocates, resize(ctx, p, n) reallocates, and resize(ctx, p, 0) frees p and
 * returns NULL. For n > 0 NULL means no memory, and p stays valid.
 */
typedef struct {
    void *(*resize)(void *ctx, void *ptr, size_t size);
    void *ctx;
} tg_alloc_t;

/*
 * FNV-1a; the first hash is TG_HASH_INIT. Hash only input from the config, not
 * from clients: the hash does not resist chosen collisions.
 */
#define TG_HASH_INIT UINT64_C(0xcbf29ce484222325)
uint64_t tg_hash_fnv1a(uint64_t hash, tg_str_t bytes);

/*
 * Hashes eight bytes at a time, to compare versions of long texts within one
 * machine: the value depends on the byte order.
 */
uint64_t tg_hash_fast(uint64_t hash, tg_str_t bytes);

const tg_alloc_t *tg_alloc_libc(void);

/* Allocates size bytes. Returns NULL if there is no memory or size is 0. */
void *tg_alloc(const tg_alloc_t *alloc, size_t size);
/* Returns zeroed memory, or NULL if there is none or size is 0. */
void *tg_calloc(const tg_alloc_t *alloc, size_t size);
/* Frees ptr, which may be NULL. */
void tg_free(const tg_alloc_t *alloc, void *ptr);

#endif
