/*
 * Arguments that look like real ones, the same in each run: source code,
 * numbers, nested objects.
 *
 * They are made to stand between the quotes of the bench's one string: an
 * argument that is no string closes that one, and is called `data`.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stddef.h>

/* Digits of a connection's number, which tells its argument from others'. */
#define BENCH_MARK 8
/* Room that the smallest of them needs. */
#define BENCH_DATA_MIN 64

typedef struct {
    char *text;
    size_t len;
    size_t mark; /* of so many bytes in front of eight digits */
} bench_data_t;

/*
 * size bytes of a kind: text, source, numbers or nested; and the escaped text
 * that a tool answers with which returns it.
 */
void bench_data(bench_data_t *argument, bench_data_t *answer, const char *kind,
                size_t size);

/* size bytes of JSON, with a text's quotes. */
void bench_data_value(bench_data_t *value, const char *kind, size_t size);

#endif
