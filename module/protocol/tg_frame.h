/*
 * Byte boundaries: where a frame ends, in a stream of bytes.
 *
 *   TG_FRAME_LINE    one JSON text a line, ended by \n
 *   TG_FRAME_PREFIX  4 bytes of big-endian length, then that many bytes
 *   TG_FRAME_AUTO    the first byte decides, see tg_frame_is_prefix()
 *
 * The caller owns the bytes and keeps those that were not consumed; the
 * frame remembers how far it has looked, so that each byte is looked at
 * once.
 */
#ifndef TG_FRAME_H
#define TG_FRAME_H

#include "base/tg_buf.h"

/* docs/protocols.md "The table": the payload. */
#define TG_FRAME_IPC_MAX 10485760u
/* Likewise, with the newline. */
#define TG_FRAME_RELAY_MAX 1048576u
#define TG_FRAME_PREFIX_SIZE 4
/* Bytes of the end of a line too large that are told: the longest id fits. */
#define TG_FRAME_TAIL_MAX 1280

typedef enum {
    TG_FRAME_AUTO,
    TG_FRAME_LINE,
    TG_FRAME_PREFIX
} tg_frame_type_t;

/*
 * Is this the first byte of a length?  One below 16 MiB starts with 0x00, a
 * larger one with another control character, and no line of JSON with either,
 * but for white space.
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
    size_t limit;   /* the largest payload, without newline or prefix */
    size_t scanned; /* bytes of the pending frame that hold no end */
} tg_frame_t;

void tg_frame_init(tg_frame_t *frame, tg_frame_type_t kind, size_t limit);

/*
 * Looks for the next frame in data, which starts where the bytes not yet
 * consumed start.
 *
 *   TG_OK     payload is the frame's body (for a line without \n), within
 *             data; consumed covers the whole frame
 *   TG_AGAIN  no whole frame: call again with more behind the bytes that
 *             are left after consumed
 *   TG_LIMIT  the frame is larger than the limit, told once a frame.  Of a
 *             line, payload is what came of it (at least limit bytes), and
 *             further calls discard it; a prefixed frame cannot be passed:
 *             close.
 *   TG_END    a discarded line has ended: payload is its end, TG_FRAME_TAIL_MAX
 *             bytes of it at most
 */
int tg_frame_next(tg_frame_t *frame, const char *data, size_t len,
                  size_t *consumed, tg_str_t *payload);

/*
 * Takes the first frame off bytes that begin with one, whatever its size.
 * TG_OK; TG_AGAIN: it is cut, and payload what there is of it; TG_END: there
 * is none.
 */
int tg_frame_split(tg_frame_type_t kind, tg_str_t *bytes, tg_str_t *payload);

/* Is the stream in the middle of a frame, with left bytes not consumed? */
int tg_frame_is_partial(const tg_frame_t *frame, size_t left);

/* Begins a frame in out and returns where; its payload is written next. */
size_t tg_frame_open(tg_frame_type_t kind, tg_buf_t *out);

/*
 * Ends the frame that began at start.  TG_OK; TG_NOMEM when out has failed;
 * TG_LIMIT when the payload is larger than limit: nothing was changed.
 */
int tg_frame_close(tg_frame_type_t kind, tg_buf_t *out, size_t start,
                   size_t limit);

/* The 4 bytes in front of a payload of len bytes. */
void tg_frame_write_prefix(char dst[TG_FRAME_PREFIX_SIZE], size_t len);

#endif
