#include "bench_data.h"

#include "bench_util.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits that tell a connection's argument from another's. */
#define DATA_MARK "10000000"

static uint32_t data_seed;

static uint32_t
data_random(uint32_t n)
{
    data_seed = data_seed * 1664525 + 1013904223;

    return (data_seed >> 8) % n;
}

static const char *
data_word(void)
{
    static const char *const words[] = { "buffer",  "session", "length",
                                         "n",       "request", "i",
                                         "handler", "entry",   "value",
                                         "result",  "message", "state" };

    return words[data_random(sizeof(words) / sizeof(words[0]))];
}

/* Appends a piece where it fits; 0: it does not, and nothing more will. */
static int __attribute__((format(printf, 3, 4)))
data_put(bench_data_t *data, size_t size, const char *format, ...)
{
    char piece[512];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(piece, sizeof(piece), format, args);
    va_end(args);

    if ((size_t) n > size - data->len) {
        memset(data->text + data->len, ' ', size - data->len);
        data->len = size;
        return 0;
    }

    memcpy(data->text + data->len, piece, (size_t) n);
    data->len += (size_t) n;

    return 1;
}

/* Lines of C, some of which have strings: an escape every 22 bytes. */
static int
data_source(bench_data_t *data, size_t size)
{
    int depth;

    depth = 4 * (int) data_random(4);

    switch (data_random(6)) {
    case 0:
        return data_put(data, size, "%*sif (%s->%s == NULL) {\\n", depth, "",
                        data_word(), data_word());
    case 1:
        return data_put(data, size, "%*slog(%s, \\\"no %s: %%d\\\\n\\\");\\n",
                        depth, "", data_word(), data_word());
    case 2:
        return data_put(data, size, "%*s}\\n\\n", depth, "");
    default:
        return data_put(data, size, "%*s%s = tg_%s_%s(%s, %u);\\n", depth, "",
                        data_word(), data_word(), data_word(), data_word(),
                        data_random(100));
    }
}

/* As an embedding has them. */
static int
data_number(bench_data_t *data, size_t size)
{
    static const uint32_t wide[] = { 10000, 100000, 1000000, 10000000 };
    unsigned digits;

    digits = data_random(4);

    return data_put(data, size, ",%s0.%0*u", data_random(2) ? "-" : "",
                    (int) digits + 4, data_random(wide[digits]));
}

/* As a list of edits has them. */
static int
data_object(bench_data_t *data, size_t size)
{
    return data_put(
        data, size,
        ",{\"path\":\"src/%s/%s.c\",\"range\":{\"start\":{\"line\":%u,"
        "\"column\":%u},\"end\":{\"line\":%u,\"column\":%u}},\"text\":\"%s %s "
        "%s\",\"isNew\":%s,\"tags\":[\"%s\",\"%s\"],\"score\":%u.%u,"
        "\"parent\":null}",
        data_word(), data_word(), data_random(900), data_random(80),
        data_random(900), data_random(80), data_word(), data_word(),
        data_word(), data_random(2) ? "true" : "false", data_word(),
        data_word(), data_random(100), data_random(1000));
}

static const struct {
    const char *name;
    const char *head; /* with the mark */
    int (*put)(bench_data_t *data, size_t size);
    const char *tail;
    int is_text;
} data_kinds[] = {
    { "text", "\"", NULL, "\"", 1 },
    { "source", "\"" DATA_MARK, data_source, "\"", 1 },
    { "numbers", "[" DATA_MARK, data_number, "]", 0 },
    { "nested", "{\"number\":" DATA_MARK ",\"list\":[0", data_object, "]}", 0 },
};

#define DATA_KINDS (sizeof(data_kinds) / sizeof(data_kinds[0]))
#define DATA_BEFORE "\",\"data\":"
#define DATA_BEHIND ",\"end\":\""

static size_t
data_kind(const char *kind)
{
    size_t i;

    for (i = 0; i < DATA_KINDS; i++) {
        if (strcmp(data_kinds[i].name, kind) == 0) {
            return i;
        }
    }

    bench_die("no data \"%s\"; there is text, source, numbers, nested", kind);
}

void
bench_data_value(bench_data_t *value, const char *kind, size_t size)
{
    size_t i, tail;

    i = data_kind(kind);
    tail = strlen(data_kinds[i].tail);
    data_seed = 1;
    value->text = bench_alloc(size + 1);
    value->len = 0;
    value->mark = strcspn(data_kinds[i].head, "1");

    if (data_kinds[i].put != NULL && size < BENCH_DATA_MIN) {
        bench_die("no %s of %zu bytes", kind, size);
    }

    (void) data_put(value, size - tail, "%s", data_kinds[i].head);

    if (data_kinds[i].put == NULL) {
        memset(value->text + value->len, 'a', size - tail - value->len);
        value->len = size - tail;
    } else {
        while (data_kinds[i].put(value, size - tail)) { /* void */
        }
    }

    (void) data_put(value, size, "%s", data_kinds[i].tail);
}

/* Its quotes escaped: nothing else in it needs to be. */
static void
data_escape(bench_data_t *dst, const bench_data_t *src)
{
    size_t i;

    dst->text = bench_alloc(src->len * 2 + 1);
    dst->len = 0;
    dst->mark = 0;

    for (i = 0; i < src->len; i++) {
        if (i == src->mark) {
            dst->mark = dst->len;
        }

        if (src->text[i] == '"') {
            dst->text[dst->len++] = '\\';
        }

        dst->text[dst->len++] = src->text[i];
    }
}

void
bench_data(bench_data_t *argument, bench_data_t *answer, const char *kind,
           size_t size)
{
    bench_data_t value;
    size_t around;

    if (data_kinds[data_kind(kind)].is_text) {
        bench_data_value(&value, kind, size + 2);
        *argument = (bench_data_t){ value.text + 1, size, value.mark - 1 };
        *answer = *argument;
        return;
    }

    around = strlen(DATA_BEFORE) + strlen(DATA_BEHIND);

    if (size < around) {
        bench_die("no %s of %zu bytes", kind, size);
    }

    bench_data_value(&value, kind, size - around);
    data_escape(answer, &value);
    argument->text = bench_alloc(size + 1);
    argument->len = size;
    argument->mark = strlen(DATA_BEFORE) + value.mark;
    (void) snprintf(argument->text, size + 1, "%s%s%s", DATA_BEFORE, value.text,
                    DATA_BEHIND);
    free(value.text);
}
