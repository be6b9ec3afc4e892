/* Keeps the end of a program's output, for messages; formats exit statuses. */
#ifndef TG_OUTPUT_TAIL_H
#define TG_OUTPUT_TAIL_H

#include "base/tg_buf.h"

/* Maximum size of a quotation in a message, in bytes. */
#define TG_OUTPUT_TAIL_MAX 4096

typedef struct {
    char text[2 * TG_OUTPUT_TAIL_MAX]; /* end of the output */
    size_t len;
    int is_cut; /* earlier output was dropped */
} tg_output_tail_t;

void tg_output_tail_init(tg_output_tail_t *tail);
void tg_output_tail_append(tg_output_tail_t *tail, const char *data,
                           size_t len);

/*
 * Returns text without a final newline, maybe invalid UTF-8. *is_cut: earlier
 * output is missing. Valid until the next append.
 */
tg_str_t tg_output_tail_get(const tg_output_tail_t *tail, int *is_cut);

/*
 * Returns the last `most` bytes without final newlines. Sets *is_cut to 1 if
 * bytes are missing; the caller initializes it.
 */
tg_str_t tg_output_tail_cut(tg_str_t bytes, size_t most, int *is_cut);

/* Appends " exited with status 3" or " was ended by signal 9 (SIGKILL)". */
void tg_exit_status_append_text(tg_buf_t *text, int status);

#endif
