#include "help.h"

#include "base/tg_utf8.h"

#include <stdio.h>
#include <stdlib.h>

void
fuzz_fail(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, what);
    abort();
}

void
fuzz_eq(tg_str_t a, tg_str_t b, const char *file, int line)
{
    if (!tg_str_eq(a, b)) {
        fprintf(stderr, "--- one:\n%.*s\n--- other:\n%.*s\n", (int) a.len,
                a.data, (int) b.len, b.data);
        fuzz_fail("they are the same", file, line);
    }
}

void
fuzz_line(tg_str_t text, const char *file, int line)
{
    if (!tg_utf8_is_valid(text) || memchr(text.data, '\n', text.len) != NULL) {
        fprintf(stderr, "%.*s\n", (int) text.len, text.data);
        fuzz_fail("it is one line of UTF-8", file, line);
    }
}

fuzz_in_t
fuzz_in(const uint8_t *data, size_t size)
{
    const char *pos;

    pos = (const char *) data;

    return (fuzz_in_t){ pos, size != 0 ? pos + size : pos };
}

unsigned
fuzz_byte(fuzz_in_t *in)
{
    return in->pos == in->end ? 0 : (unsigned char) *in->pos++;
}

tg_str_t
fuzz_rest(const fuzz_in_t *in)
{
    return tg_str(in->pos != NULL ? in->pos : "", (size_t) (in->end - in->pos));
}

tg_str_t
fuzz_until_newline(fuzz_in_t *in)
{
    const char *newline;
    tg_str_t text;

    text = fuzz_rest(in);
    newline = memchr(text.data, '\n', text.len);

    if (newline != NULL) {
        text.len = (size_t) (newline - text.data);
        in->pos = newline + 1;
    } else {
        in->pos = in->end;
    }

    return text;
}

size_t
fuzz_piece(uint32_t *seed, size_t len)
{
    size_t n;

    if (*seed == 0) {
        return len;
    }

    *seed = *seed * 1664525u + 1013904223u;
    n = *seed >> 16;
    n = n % 4 == 0 ? 1 : n % 4 == 1 ? 1 + n / 4 % 8 : 1 + n / 4 % 200;

    return n < len ? n : len;
}

char *
fuzz_copy(tg_str_t text)
{
    char *copy;

    copy = malloc(text.len);

    if (copy == NULL && text.len != 0) {
        abort();
    }

    if (text.len != 0) {
        memcpy(copy, text.data, text.len);
    }

    return copy;
}

/* Each resize moves the block: a stale pointer is found. */
static void *
fuzz_resize(void *ctx, void *ptr, size_t size)
{
    fuzz_alloc_t *alloc;
    size_t old;
    char *block;

    alloc = ctx;

    if (size == 0) {
        alloc->live -= ptr != NULL;
        free(ptr != NULL ? (char *) ptr - 16 : NULL);
        return NULL;
    }

    alloc->count++;

    if (alloc->fail_at != 0 && alloc->count >= alloc->fail_at) {
        return NULL;
    }

    block = malloc(size + 16);

    if (block == NULL) {
        abort();
    }

    memcpy(block, &size, sizeof(size));

    if (ptr != NULL) {
        memcpy(&old, (char *) ptr - 16, sizeof(old));
        memcpy(block + 16, ptr, old < size ? old : size);
        free((char *) ptr - 16);
    } else {
        alloc->live++;
    }

    return block + 16;
}

void
fuzz_alloc_init(fuzz_alloc_t *alloc, size_t fail_at)
{
    memset(alloc, 0, sizeof(*alloc));
    alloc->alloc.resize = fuzz_resize;
    alloc->alloc.ctx = alloc;
    alloc->fail_at = fail_at;
}
