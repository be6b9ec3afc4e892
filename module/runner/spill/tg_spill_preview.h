/*
 * How the large output of a call is stored, and what the caller is shown of
 * it: its beginning, its end, and how toolgate_output reads the rest.
 */
#ifndef TG_SPILL_PREVIEW_H
#define TG_SPILL_PREVIEW_H

#include "base/tg_buf.h"
#include "runner/spill/tg_spill.h"

/* Bytes that are shown where the tool does not say; of max_output at most. */
#define TG_SPILL_PREVIEW 16384
/* The most that `preview` and `max_output` may say. */
#define TG_SPILL_PREVIEW_MAX 33554432

/* The tool that reads the rest. */
#define TG_SPILL_READER "toolgate_output"

typedef struct {
    tg_spills_t *spills; /* NULL: nothing is stored */
    char owner[TG_SPILL_OWNER_MAX + 1];
    uint64_t quota;   /* bytes of all that is stored */
    uint64_t keep_ms; /* how long it is stored */
    size_t preview;   /* bytes that are shown; 0: as usual */
} tg_spill_spec_t;

/*
 * Reads the member `spill` of a job's params: {"owner":"1000","quota":BYTES,
 * "keep_ms":MS,"preview":BYTES}, raw or absent.  Returns TG_OK or TG_BAD; spec
 * stays as it is where raw is absent.
 */
int tg_spill_spec_read(tg_spill_spec_t *spec, tg_spills_t *spills,
                       tg_str_t raw);

/* The most bytes that an answer has whole. */
size_t tg_spill_most(const tg_spill_spec_t *spec, size_t max_output);

/*
 * Stores what was written and appends the preview of it.  Returns 0, or -1
 * where it could not be stored.
 */
int tg_spill_put_preview(tg_spill_t *spill, const tg_spill_spec_t *spec,
                         size_t max_output, tg_buf_t *text);

/* Stores what was written and appends where to read it. */
void tg_spill_put_where(tg_spill_t *spill, const tg_spill_spec_t *spec,
                        tg_buf_t *text);

/* Reads its last bytes, most of them, into tail. */
void tg_spill_tail(const tg_spill_t *spill, size_t most, tg_buf_t *tail);

/*
 * Cuts the beginning of a text, or its end, to whole lines, unless less than
 * half of it would be left.
 */
tg_str_t tg_spill_lines(tg_str_t text, int is_head);

#endif
