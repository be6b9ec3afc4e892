/*
 * Framing: finds where each frame ends in a stream of bytes.
 *
 *   TG_FRAME_LINE    one JSON text per line, ended by \n
 *   TG_FRAME_PREFIX  payload length (4 bytes, big-endian), then the payload
 *   TG_FRAME_AUTO    decided by the first byte, see tg_frame_is_prefix()
 *
 * The caller owns the bytes and keeps those that were not consumed. The frame
 * remembers how far it has scanned, so that each byte is scanned once.
 */
#ifndef TG_FRAME_H
#define TG_FRAME_H

#include "base/tg_buf.h"

/*
 * Largest payload in the `ipc` dialect (docs/protocols.md, "Comparison of the
 * dialects").
 */
#define TG_FRAME_IPC_MAX 10485760u
/*
 * Largest line in the `relay` dialect, newline included (docs/protocols.md,
 * "Comparison of the dialects").
 */
#define TG_FRAME_RELAY_MAX 1048576u
#define TG_FRAME_PREFIX_SIZE 4
/*
 * Bytes returned from the end of an oversized line: enough for the longest id.
 */
#define TG_FRAME_TAIL_MAX 1280

typedef enum {
    TG_FRAME_AUTO,
    TG_FRAME_LINE,
    TG_FRAME_PREFIX
} tg_frame_type_t;

/*
 * Checks whether the first byte of a stream belongs to a length prefix. A
 * length below 16 MiB starts with 0x00, a larger one with another control
 * character. JSON text starts with neither, except for white space.
 */
static inline int
tg_frame_is_prefix(char first)
{
    return (unsigned char) first < ' ' && first != '\t' && first != '\n'
           && first != '\r';
}

typedef struct {
    tg_frame_type_t kind;
    int is_discarding;
    size_t limit;   /* largest payload, without newline or prefix */
    size_t scanned; /* bytes of the pending frame without newline */
} tg_frame_t;

void tg_frame_init(tg_frame_t *frame, tg_frame_type_t kind, size_t limit);

/*
 * Finds the next frame in data, which starts at the first byte that was not
 * consumed.
 *
 *   TG_OK     payload is the frame's body (a line without \n), a slice of
 *             data; consumed covers the whole frame
 *   TG_AGAIN  no complete frame: call again with the bytes that were not
 *             consumed and more data after them
 *   TG_LIMIT  the frame exceeds the limit; returned once per frame. For a
 *             line, payload is its beginning (at least limit bytes), and
 *             further calls discard the rest. A prefixed frame cannot be
 *             skipped: close the connection.
 *   TG_END    a discarded line has ended: payload is its last bytes, at most
 *             TG_FRAME_TAIL_MAX
 */
int tg_frame_next(tg_frame_t *frame, const char *data, size_t len,
                  size_t *consumed, tg_str_t *payload);

/*
 * Removes the first frame from bytes, which start with a frame of any size.
 * TG_OK: payload is the frame's body; TG_AGAIN: the frame is incomplete and
 * payload is the part that is present; TG_END: bytes is empty.
 */
int tg_frame_split(tg_frame_type_t kind, tg_str_t *bytes, tg_str_t *payload);

/*
 * Checks whether the stream stopped inside a frame. left: number of bytes that
 * were not consumed.
 */
int tg_frame_is_partial(const tg_frame_t *frame, size_t left);

/*
 * Begins a frame in out and returns its offset. The caller appends the payload
 * next.
 */
size_t tg_frame_open(tg_frame_type_t kind, tg_buf_t *out);

/*
 * Ends the frame that began at offset start. TG_OK; TG_NOMEM if out has
 * failed; TG_LIMIT if the payload exceeds limit bytes: out is unchanged.
 */
int tg_frame_close(tg_frame_type_t kind, tg_buf_t *out, size_t start,
                   size_t limit);

/* Writes the 4-byte length prefix of a payload of len bytes. */
void tg_frame_write_prefix(char dst[TG_FRAME_PREFIX_SIZE], size_t len);

#endif
