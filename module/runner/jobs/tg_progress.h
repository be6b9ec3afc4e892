/*
 * What a program reports of itself, line by line:
 *
 *   {"progress":3,"total":10,"message":"third of ten"}
 *
 * progress is a number and must rise from line to line; total, a number, and
 * message, a string, may be null or absent; other members are passed over.
 * What is anything else, or longer than a line may be, is passed over as a
 * whole: nobody could be told, as the program's call goes on.
 */
#ifndef TG_PROGRESS_H
#define TG_PROGRESS_H

#include "base/tg_buf.h"
#include "protocol/tg_peer.h"

/* Bytes of a line without its newline. */
#define TG_PROGRESS_LINE_MAX 65536

typedef struct {
    tg_buf_t line;   /* the beginning of one */
    tg_buf_t newest; /* "progress":3,"total":10,"message":"…" */
    char last[TG_PROGRESS_VALUE_MAX]; /* the progress of newest, raw */
    size_t last_len;                  /* 0: there was none yet */
    int is_skipping;                  /* up to the next newline */
} tg_progress_t;

void tg_progress_init(tg_progress_t *progress);
void tg_progress_deinit(tg_progress_t *progress);

/*
 * Takes one object, which may have other members too; says whether it is a
 * newer one than before.
 */
int tg_progress_update(tg_progress_t *progress, tg_str_t text);

/* Takes what was read; says whether there is a newer one than before. */
int tg_progress_feed(tg_progress_t *progress, const char *data, size_t len);

/* The same for the end of all, which may come without a newline. */
int tg_progress_feed_end(tg_progress_t *progress);

/* Is there one that was not taken? */
static inline int
tg_progress_has_update(const tg_progress_t *progress)
{
    return progress->newest.len != 0;
}

/* Appends the newest one's members to an object, and forgets them. */
void tg_progress_take_members(tg_progress_t *progress, tg_buf_t *json);

#endif
