/*
 * The end of what a program wrote, and how it ended.
 */
#ifndef TG_OUTPUT_TAIL_H
#define TG_OUTPUT_TAIL_H

#include "base/tg_buf.h"

/* What a message quotes of it; enough for a stack trace. */
#define TG_OUTPUT_TAIL_MAX 4096

typedef struct {
    char text[2 * TG_OUTPUT_TAIL_MAX]; /* the end of what came */
    size_t len;
    int is_cut; /* something came before it */
} tg_output_tail_t;

void tg_output_tail_init(tg_output_tail_t *tail);
void tg_output_tail_append(tg_output_tail_t *tail, const char *data,
                           size_t len);

/*
 * What is quoted of it, which ends with no newline and may be no UTF-8;
 * *is_cut: something came before it.
 */
tg_str_t tg_output_tail_get(const tg_output_tail_t *tail, int *is_cut);

/* The same of the last bytes of a text; *is_cut is set where some are not. */
tg_str_t tg_output_tail_cut(tg_str_t bytes, size_t most, int *is_cut);

/* Appends " exited with status 3", or " was ended by signal 9 (SIGKILL)". */
void tg_exit_status_append_text(tg_buf_t *text, int status);

#endif
