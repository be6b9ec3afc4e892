/*
 * Stores a large output and creates its preview: the beginning, the end, and
 * how the tool toolgate_output reads the rest.
 */
#ifndef TG_OUTPUT_PREVIEW_H
#define TG_OUTPUT_PREVIEW_H

#include "base/tg_buf.h"
#include "runner/output/tg_output_store.h"

/* Default size of a preview in bytes. It is never larger than max_output. */
#define TG_OUTPUT_PREVIEW_BYTES 16384

/* Maximum of `preview` and `max_output`, in bytes. */
#define TG_OUTPUT_PREVIEW_BYTES_MAX 33554432

/* Name of the tool that reads the rest. */
#define TG_OUTPUT_PAGER_TOOL "toolgate_output"

typedef struct {
    tg_output_store_t *output_store; /* store to use; NULL: nothing is stored */
    char owner[TG_STORED_OUTPUT_OWNER_MAX + 1];
    uint64_t quota;   /* maximum size of all stored outputs, in bytes */
    uint64_t keep_ms; /* storage time in ms */
    size_t preview;   /* bytes of a preview; 0: the default */
} tg_output_store_params_t;

/*
 * Reads a job's member `spill`: {"owner":"1000","quota":BYTES,"keep_ms":MS,
 * "preview":BYTES}, or leaves `spec` if `raw` is absent. Returns TG_OK, or
 * TG_INVALID with a static *why.
 */
int tg_output_store_params_read(tg_output_store_params_t *spec,
                                tg_output_store_t *output_store, tg_str_t raw,
                                const char **why);

/* Returns the maximum size of an output that is returned as a whole. */
size_t tg_output_store_params_get_max(const tg_output_store_params_t *spec,
                                      size_t max_output);

/* Publishes the stored output and appends its preview. Returns 0, or -1. */
int tg_stored_output_append_preview(tg_stored_output_t *stored_output,
                                    const tg_output_store_params_t *spec,
                                    size_t max_output, tg_buf_t *text);

/* Publishes the stored output and appends how to read it. */
void tg_stored_output_append_usage(tg_stored_output_t *stored_output,
                                   const tg_output_store_params_t *spec,
                                   tg_buf_t *text);

/* Reads at most `most` bytes at the end of the output into `tail`. */
void tg_stored_output_read_tail(const tg_stored_output_t *stored_output,
                                size_t most, tg_buf_t *tail);

/*
 * Shortens a text that was cut at its end (is_head) or beginning to whole
 * lines, unless less than half is left; always drops a divided character. The
 * slice points into `text`.
 */
tg_str_t tg_output_trim_to_lines(tg_str_t text, int is_head);

#endif
