#include "help.h"

#include "base/tg_utf8.h"

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

void
help_holds(int is_so, const char *what, const char *file, int line)
{
    if (!is_so) {
        fuzz_fail(what, file, line);
    }
}

void
fuzz_alloc_init(help_alloc_t *alloc, size_t fail_at)
{
    help_alloc_init(alloc);
    alloc->fail_at = fail_at;
    alloc->is_lasting = 1;
}
