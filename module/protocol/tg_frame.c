/* Framing by newlines and by length prefixes. */
#include "protocol/tg_frame.h"

void
tg_frame_init(tg_frame_t *frame, tg_frame_type_t kind, size_t limit)
{
    frame->kind = kind;
    frame->limit = limit;
    frame->scanned = 0;
    frame->is_discarding = 0;
}

static int
tg_frame_next_line(tg_frame_t *frame, const char *data, size_t len,
                   size_t *consumed, tg_str_t *payload)
{
    const char *newline;
    size_t size, tail;
    int rc;

    newline = NULL;

    if (len > frame->scanned) {
        newline = memchr(data + frame->scanned, '\n', len - frame->scanned);
    }

    size = newline != NULL ? (size_t) (newline - data) : len;
    tail = size < TG_FRAME_TAIL_MAX ? size : TG_FRAME_TAIL_MAX;

    if (frame->is_discarding && newline != NULL) {
        *payload = tg_str(newline - tail, tail);
        *consumed = size + 1;
        frame->scanned = 0;
        frame->is_discarding = 0;
        return TG_END;
    }

    if (frame->is_discarding || size > frame->limit) {
        /* The part's last bytes may be the line's tail: do not consume them. */
        *payload = tg_str(data, size);
        *consumed = size - tail;
        frame->scanned = tail;
        rc = frame->is_discarding ? TG_AGAIN : TG_LIMIT;
        frame->is_discarding = 1;
        return rc;
    }

    if (newline == NULL) {
        *consumed = 0;
        frame->scanned = len;
        return TG_AGAIN;
    }

    *consumed = size + 1;
    *payload = tg_str(data, size);
    frame->scanned = 0;

    return TG_OK;
}

static size_t
tg_frame_read_prefix(const char *prefix)
{
    const unsigned char *u;

    u = (const unsigned char *) prefix;

    return (size_t) u[0] << 24 | (size_t) u[1] << 16 | (size_t) u[2] << 8
           | (size_t) u[3];
}

static int
tg_frame_next_prefixed(tg_frame_t *frame, const char *data, size_t len,
                       size_t *consumed, tg_str_t *payload)
{
    size_t size;

    *consumed = 0;

    if (len < TG_FRAME_PREFIX_SIZE) {
        return TG_AGAIN;
    }

    size = tg_frame_read_prefix(data);

    if (size > frame->limit) {
        return TG_LIMIT;
    }

    if (len - TG_FRAME_PREFIX_SIZE < size) {
        return TG_AGAIN;
    }

    *consumed = TG_FRAME_PREFIX_SIZE + size;
    *payload = tg_str(data + TG_FRAME_PREFIX_SIZE, size);

    return TG_OK;
}

int
tg_frame_next(tg_frame_t *frame, const char *data, size_t len, size_t *consumed,
              tg_str_t *payload)
{
    *consumed = 0;

    if (len == 0) {
        return TG_AGAIN;
    }

    if (frame->kind == TG_FRAME_AUTO) {
        frame->kind = tg_frame_is_prefix(data[0]) ? TG_FRAME_PREFIX
                                                  : TG_FRAME_LINE;
    }

    if (frame->kind == TG_FRAME_PREFIX) {
        return tg_frame_next_prefixed(frame, data, len, consumed, payload);
    }

    return tg_frame_next_line(frame, data, len, consumed, payload);
}

int
tg_frame_split(tg_frame_type_t kind, tg_str_t *bytes, tg_str_t *payload)
{
    const char *newline;
    size_t size, head, all;
    int rc;

    if (bytes->len == 0) {
        return TG_END;
    }

    head = 0;
    all = size = bytes->len;
    rc = TG_AGAIN;

    if (kind != TG_FRAME_PREFIX) {
        newline = memchr(bytes->data, '\n', bytes->len);

        if (newline != NULL) {
            size = (size_t) (newline - bytes->data);
            all = size + 1;
            rc = TG_OK;
        }

    } else if (all < TG_FRAME_PREFIX_SIZE) {
        size = 0;

    } else {
        head = TG_FRAME_PREFIX_SIZE;
        size = tg_frame_read_prefix(bytes->data);

        if (size <= all - head) {
            all = head + size;
            rc = TG_OK;
        } else {
            size = all - head;
        }
    }

    *payload = tg_str(bytes->data + head, size);
    *bytes = tg_str_skip(*bytes, all);

    return rc;
}

int
tg_frame_is_partial(const tg_frame_t *frame, size_t left)
{
    return left != 0 || frame->is_discarding;
}

size_t
tg_frame_open(tg_frame_type_t kind, tg_buf_t *out)
{
    size_t start;

    start = out->len;

    if (kind == TG_FRAME_PREFIX) {
        tg_buf_append(out, "\0\0\0\0", TG_FRAME_PREFIX_SIZE);
    }

    return start;
}

int
tg_frame_close(tg_frame_type_t kind, tg_buf_t *out, size_t start, size_t limit)
{
    size_t size;

    if (tg_buf_has_failed(out)) {
        return TG_NOMEM;
    }

    size = out->len - start;

    if (kind == TG_FRAME_PREFIX) {
        size -= TG_FRAME_PREFIX_SIZE;
    }

    if (size > limit) {
        return TG_LIMIT;
    }

    if (kind == TG_FRAME_PREFIX) {
        tg_frame_write_prefix(out->data + start, size);
        return TG_OK;
    }

    tg_buf_append_char(out, '\n');

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
}

void
tg_frame_write_prefix(char dst[TG_FRAME_PREFIX_SIZE], size_t len)
{
    dst[0] = (char) (len >> 24);
    dst[1] = (char) (len >> 16);
    dst[2] = (char) (len >> 8);
    dst[3] = (char) len;
}
