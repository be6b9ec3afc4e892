/* Validation of traceparent and tracestate. */
#include "protocol/tg_trace_context.h"

/* Largest number of members in a tracestate. */
#define TG_TRACESTATE_MEMBERS_MAX 32

/*
 * Checks n lowercase hexadecimal digits and advances *at. *is_something is set
 * to whether one of them is not 0.
 */
static int
tg_trace_check_digits(const char **at, size_t n, int *is_something)
{
    const char *p;

    *is_something = 0;

    for (p = *at, *at += n; p < *at; p++) {
        if (!tg_is_digit(*p) && (*p < 'a' || *p > 'f')) {
            return 0;
        }

        *is_something |= *p != '0';
    }

    return 1;
}

int
tg_trace_is_traceparent(tg_str_t text)
{
    static const size_t digits[] = { 2, 32, 16, 2 };
    static const size_t len = 2 + 1 + 32 + 1 + 16 + 1 + 2;
    int is_something[4];
    const char *p;
    size_t i;

    if (text.len < len || text.len > TG_TRACEPARENT_MAX) {
        return 0;
    }

    for (i = 0, p = text.data; i < 4; i++) {
        if ((i != 0 && *p++ != '-')
            || !tg_trace_check_digits(&p, digits[i], &is_something[i]))
        {
            return 0;
        }
    }

    /* Version 00 has no further fields; version ff is invalid. */
    if (memcmp(text.data, "ff", 2) == 0
        || (text.len != len && (!is_something[0] || *p != '-')))
    {
        return 0;
    }

    for (/* void */; p < tg_str_end(text); p++) {
        if (*p <= ' ' || *p > '~') {
            return 0;
        }
    }

    return is_something[1] && is_something[2];
}

/* Blanks may surround `KEY=VALUE`, and an empty member is valid. */
static int
tg_trace_is_tracestate_member(const char *p, const char *end)
{
    const char *key;

    while (p < end && (*p == ' ' || *p == '\t')) {
        p++;
    }

    while (p < end && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }

    for (key = p; p < end && *p != '='; p++) {
        if (!tg_is_digit(*p) && (*p < 'a' || *p > 'z')
            && (p == key || !tg_is_one_of(*p, "_-*/@")))
        {
            return 0;
        }
    }

    if (p == end || p == key) {
        return p == key && p == end;
    }

    for (key = ++p; p < end; p++) {
        if (*p < ' ' || *p > '~' || *p == '=') {
            return 0;
        }
    }

    return p != key;
}

int
tg_trace_is_tracestate(tg_str_t text)
{
    const char *p, *end, *comma;
    size_t n;

    if (text.len == 0 || text.len > TG_TRACESTATE_MAX) {
        return 0;
    }

    p = text.data;
    end = tg_str_end(text);
    n = 0;

    do {
        comma = memchr(p, ',', (size_t) (end - p));
        comma = comma != NULL ? comma : end;

        if (n++ == TG_TRACESTATE_MEMBERS_MAX
            || !tg_trace_is_tracestate_member(p, comma))
        {
            return 0;
        }

        p = comma != end ? comma + 1 : end;
    } while (comma != end);

    return 1;
}
