/*
 * How the large output of a call is stored, and what the caller is shown of
 * it: its beginning, its end, and how toolgate_output reads the rest.
 */
#ifndef TG_OUTPUT_PREVIEW_H
#define TG_OUTPUT_PREVIEW_H

#include "base/tg_buf.h"
#include "runner/output/tg_output_store.h"

/* Bytes that are shown where the tool does not say; of max_output at most. */
#define TG_OUTPUT_PREVIEW_BYTES 16384
/* The most that `preview` and `max_output` may say. */
#define TG_OUTPUT_PREVIEW_BYTES_MAX 33554432

/* The tool that reads the rest. */
#define TG_OUTPUT_PAGER_TOOL "toolgate_output"

typedef struct {
    tg_output_store_t *output_store; /* NULL: nothing is stored */
    char owner[TG_STORED_OUTPUT_OWNER_MAX + 1];
    uint64_t quota;   /* bytes of all that is stored */
    uint64_t keep_ms; /* how long it is stored */
    size_t preview;   /* bytes that are shown; 0: as usual */
} tg_output_store_params_t;

/*
 * Reads the member `spill` of a job's params: {"owner":"1000","quota":BYTES,
 * "keep_ms":MS,"preview":BYTES}, raw or absent.  Returns TG_OK or TG_INVALID;
 * spec stays as it is where raw is absent.
 */
int tg_output_store_params_read(tg_output_store_params_t *spec,
                                tg_output_store_t *output_store, tg_str_t raw);

/* The most bytes that an answer has whole. */
size_t tg_output_store_params_get_max(const tg_output_store_params_t *spec,
                                      size_t max_output);

/*
 * Stores what was written and appends the preview of it.  Returns 0, or -1
 * where it could not be stored.
 */
int tg_stored_output_append_preview(tg_stored_output_t *stored_output,
                                    const tg_output_store_params_t *spec,
                                    size_t max_output, tg_buf_t *text);

/* Stores what was written and appends where to read it. */
void tg_stored_output_append_usage(tg_stored_output_t *stored_output,
                                   const tg_output_store_params_t *spec,
                                   tg_buf_t *text);

/* Reads its last bytes, most of them, into tail. */
void tg_stored_output_read_tail(const tg_stored_output_t *stored_output,
                                size_t most, tg_buf_t *tail);

/*
 * Cuts the beginning of a text, or its end, to whole lines, unless less than
 * half of it would be left.
 */
tg_str_t tg_output_trim_to_lines(tg_str_t text, int is_head);

#endif
