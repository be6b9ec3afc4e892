/*
 * Parser of the progress that a program reports, one JSON object per line:
 *
 *   {"progress":3,"total":10,"message":"third of ten"}
 *
 * `progress` is a number and must increase. `total`, a number, and `message`, a
 * string, may be null or absent. Other members and invalid or too long lines
 * are ignored, because the program's call continues.
 */
#ifndef TG_PROGRESS_H
#define TG_PROGRESS_H

#include "base/tg_buf.h"
#include "protocol/tg_request.h"

/* Maximum length of a line in bytes, without its newline. */
#define TG_PROGRESS_LINE_MAX 65536

typedef struct {
    tg_buf_t line;   /* beginning of an incomplete line */
    tg_buf_t newest; /* members: "progress":3,"total":10,"message":"…" */
    char last[TG_PROGRESS_VALUE_MAX]; /* raw value of the newest progress */
    size_t last_len;                  /* length of `last`; 0: no progress yet */

    /* Input is ignored up to the next newline. */
    int is_skipping;
} tg_progress_t;

void tg_progress_init(tg_progress_t *progress);
void tg_progress_deinit(tg_progress_t *progress);

/* Parses a JSON object. Returns 1 if its progress value has increased. */
int tg_progress_update(tg_progress_t *progress, tg_str_t text);

/* Parses the lines in `data`. Returns 1 if one of them has new progress. */
int tg_progress_feed(tg_progress_t *progress, const char *data, size_t len);

/* Parses a last line without a newline. Returns 1 for new progress. */
int tg_progress_feed_end(tg_progress_t *progress);

/* Checks for progress that was not taken yet. */
static inline int
tg_progress_has_update(const tg_progress_t *progress)
{
    return progress->newest.len != 0;
}

/* Appends the newest progress to an object and clears it. */
void tg_progress_take_members(tg_progress_t *progress, tg_buf_t *json);

#endif
