/*
 * Checks frame detection: however the bytes are cut, the same frames come out,
 * and they are those that a simple implementation of the contract finds.
 *
 * Input: frame type and limit, cut, bytes.
 */
#include "help.h"

#include "protocol/tg_frame.h"

static void
frame_log(tg_buf_t *log, int rc, tg_str_t payload)
{
    tg_buf_append_int(log, rc);
    tg_buf_append_char(log, ' ');

    /* The part of a too large frame that is seen depends on the cut. */
    if (rc != TG_LIMIT) {
        tg_buf_append_str(log, payload);
    }

    tg_buf_append_char(log, '\n');
}

/*
 * Collects the frames that tg_frame finds and returns the number of unused
 * bytes.
 */
static size_t
frame_run(tg_frame_type_t kind, size_t limit, uint32_t seed, tg_str_t text,
          tg_buf_t *log)
{
    size_t have, done, consumed;
    tg_frame_t frame;
    tg_str_t payload;
    char *copy;
    int rc;

    tg_frame_init(&frame, kind, limit);
    have = 0;
    done = 0;

    do {
        have += fuzz_piece(&seed, text.len - have);

        do {
            copy = help_copy(tg_str(text.data + done, have - done));
            rc = tg_frame_next(&frame, copy, have - done, &consumed, &payload);
            FUZZ(consumed <= have - done);

            if (rc == TG_OK) {
                FUZZ(payload.len <= limit);
                FUZZ(payload.len == 0
                     || (payload.data >= copy
                         && payload.data + payload.len <= copy + consumed));
            }

            if (rc != TG_AGAIN) {
                frame_log(log, rc, payload);
            }

            done += consumed;
            free(copy);

            if (rc == TG_LIMIT && frame.kind == TG_FRAME_PREFIX) {
                return 0;
            }
        } while (rc != TG_AGAIN);

        FUZZ(tg_frame_is_partial(&frame, have - done)
             || (have == done && !frame.is_discarding));
    } while (have != text.len);

    return text.len - done;
}

static void
frame_expect_lines(size_t limit, tg_str_t text, tg_buf_t *log)
{
    const char *newline;
    size_t len, tail;

    while (text.len != 0) {
        newline = memchr(text.data, '\n', text.len);
        len = newline != NULL ? (size_t) (newline - text.data) : text.len;

        if (len > limit) {
            frame_log(log, TG_LIMIT, TG_STR_NONE);
            tail = len < TG_FRAME_TAIL_MAX ? len : TG_FRAME_TAIL_MAX;

            if (newline != NULL) {
                frame_log(log, TG_END, tg_str(newline - tail, tail));
            }

        } else if (newline != NULL) {
            frame_log(log, TG_OK, tg_str(text.data, len));
        }

        if (newline == NULL) {
            return;
        }

        text = tg_str(newline + 1, text.len - len - 1);
    }
}

static void
frame_expect_prefixed(size_t limit, tg_str_t text, tg_buf_t *log)
{
    const unsigned char *p;
    size_t len;

    while (text.len >= TG_FRAME_PREFIX_SIZE) {
        p = (const unsigned char *) text.data;
        len = (size_t) p[0] << 24 | (size_t) p[1] << 16 | (size_t) p[2] << 8
              | p[3];
        text = tg_str(text.data + 4, text.len - 4);

        if (len > limit) {
            frame_log(log, TG_LIMIT, TG_STR_NONE);
            return;
        }

        if (len > text.len) {
            return;
        }

        frame_log(log, TG_OK, tg_str(text.data, len));
        text = tg_str(text.data + len, text.len - len);
    }
}

FUZZ_TARGET(in)
{
    static const size_t limits[] = { 1, 7, 64, 10485760 };
    HELP_BUFFER(whole);
    HELP_BUFFER(cut);
    HELP_BUFFER(expected);
    tg_frame_type_t kind;
    uint32_t seed;
    tg_str_t text;
    size_t limit;
    unsigned byte;

    byte = fuzz_byte(&in);
    seed = fuzz_byte(&in);
    text = fuzz_rest(&in);
    kind = byte & 1 ? TG_FRAME_LINE : TG_FRAME_PREFIX;
    limit = limits[byte / 2 % 4];

    (void) frame_run(kind, limit, 0, text, &whole);
    (void) frame_run(kind, limit, seed + 1, text, &cut);
    FUZZ_EQ(tg_buf_view(&whole), tg_buf_view(&cut));

    if (kind == TG_FRAME_LINE) {
        frame_expect_lines(limit, text, &expected);
    } else {
        frame_expect_prefixed(limit, text, &expected);
    }

    FUZZ_EQ(tg_buf_view(&whole), tg_buf_view(&expected));
}
