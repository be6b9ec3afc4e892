/*
 * What the bench says in each dialect: one call of the tool `echo` with one
 * string argument, and the reply to it.
 *
 * Everything but the id and the argument is fixed, and the id always has
 * BENCH_ID digits, so that a server that parses nothing can answer: the raw
 * echo, which is the limit that Toolgate is measured against.
 */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_ID 8

typedef struct {
    const char *name;
    int has_prefix; /* 4 bytes of length, else a newline at the end */
    int has_id;

    /* A request is before_id, id, before_arg, argument, end. */
    const char *before_id;
    const char *before_arg;
    const char *end;

    /* So is a reply. */
    const char *reply_id;
    const char *reply_arg;
    const char *reply_end;
} bench_wire_t;

/* NULL: no such dialect. */
const bench_wire_t *bench_wire(const char *name);

/* Bytes before the argument, prefix and id included, and behind it. */
size_t bench_request_head(const bench_wire_t *wire);
size_t bench_request_tail(const bench_wire_t *wire);
size_t bench_reply_head(const bench_wire_t *wire);
size_t bench_reply_tail(const bench_wire_t *wire);

/* Where the id is in a request or a reply; its digits are written there. */
size_t bench_request_id(const bench_wire_t *wire);
size_t bench_reply_id(const bench_wire_t *wire);
void bench_put_id(char *dst, uint32_t id);

/*
 * Writes head and tail around an argument of len bytes that the caller puts
 * between them; both have the size that the functions above say.
 */
void bench_put_request(const bench_wire_t *wire, char *dst, size_t len,
                       const char *tool);
void bench_put_reply(const bench_wire_t *wire, char *dst, size_t len);

#endif
