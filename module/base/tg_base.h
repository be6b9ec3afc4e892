/*
 * Slices, result codes and the allocator: what every room builds on.
 *
 * The error contract of core, stated once:
 *   negative   fatal for the object (no memory); only its destructor may be
 *              called afterwards;
 *   TG_OK      done;
 *   positive   a documented condition of the called function, after which
 *              the object may be used as that function says.
 */
#ifndef TG_BASE_H
#define TG_BASE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of the whole product, as every program and the module call it. */
#define TG_VERSION "0.1.0"

enum {
    TG_NOMEM = -1,  /* the allocator said no */
    TG_OK = 0,      /* done */
    TG_AGAIN = 1,   /* more input is needed */
    TG_INVALID = 2, /* the input breaks its grammar or contract */
    TG_LIMIT = 3,   /* a named limit was reached */
    TG_END = 4,     /* no further element */
    TG_MISSING = 5, /* not there */
    TG_EXISTS = 6,  /* there already */
    TG_CLOSED = 7   /* the conversation is over */
};

/*
 * A borrowed run of bytes, not terminated.  Whoever hands one out says until
 * which call it lives.  data is NULL when what it stands for is absent; an
 * empty value has data and len 0.
 */
typedef struct {
    const char *data;
    size_t len;
} tg_str_t;

#define TG_STR(literal) ((tg_str_t){ literal, sizeof(literal) - 1 })
/* The same, in what is initialized before the program runs. */
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

/* Behind the last byte.  An absent slice has NULL, to which C adds nothing. */
static inline const char *
tg_str_end(tg_str_t str)
{
    return str.len != 0 ? str.data + str.len : str.data;
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

/* What a digit in hex stands for, or -1. */
static inline int
tg_hex_value(char c)
{
    if (tg_is_digit(c)) {
        return c - '0';
    }

    return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* Is c, which is not NUL, one of these? */
static inline int
tg_is_one_of(char c, const char *these)
{
    return c != '\0' && strchr(these, c) != NULL;
}

/*
 * memset() to 0, of what is not small.  A size that is known makes some
 * compilers write "rep stos", which takes longer than the call.
 */
static inline void
tg_memzero(void *p, size_t size)
{
    __asm__("" : "+r"(size));
    memset(p, 0, size);
}

/* The word for one of them, or for any other number. */
static inline const char *
tg_pick_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* memcmp() for names: most are short, and a call costs more than they do. */
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

/* memcpy() for the same; returns what is behind the copy. */
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

/* The structure of this type whose member is at ptr. */
#define TG_CONTAINER_OF(ptr, type, member)                                     \
    ((type *) (void *) ((char *) (ptr) -offsetof(type, member)))

static inline int
tg_str_eq(tg_str_t a, tg_str_t b)
{
    return a.len == b.len && tg_bytes_eq(a.data, b.data, a.len);
}

/* A copy at *at, which moves on behind it; absent stays absent. */
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
 * The allocator that an object was given; it must outlive the object.
 * resize(ctx, NULL, n) allocates, resize(ctx, p, n) moves, and
 * resize(ctx, p, 0) frees and returns NULL.  NULL for n > 0 means no memory,
 * and p is untouched.
 */
typedef struct {
    void *(*resize)(void *ctx, void *ptr, size_t size);
    void *ctx;
} tg_alloc_t;

/*
 * FNV-1a, on from hash: for tables and to tell versions of the same apart,
 * both of what comes from the config and not from clients.
 */
#define TG_HASH_INIT UINT64_C(0xcbf29ce484222325)
uint64_t tg_hash_fnv1a(uint64_t hash, tg_str_t bytes);

/*
 * Hashes long texts, eight bytes at a time, to tell versions of them apart in
 * the processes of one machine.
 */
uint64_t tg_hash_fast(uint64_t hash, tg_str_t bytes);

/* malloc, realloc and free behind that interface. */
const tg_alloc_t *tg_alloc_libc(void);

/* NULL: no memory, or of 0 bytes; tg_calloc() fills with zeros. */
void *tg_alloc(const tg_alloc_t *alloc, size_t size);
void *tg_calloc(const tg_alloc_t *alloc, size_t size);
void tg_free(const tg_alloc_t *alloc, void *ptr);

#endif
