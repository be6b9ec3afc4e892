/*
 * What a program puts out, and what the method `exec` makes of it.
 */
#ifndef TG_EXEC_OUTPUT_H
#define TG_EXEC_OUTPUT_H

#include "runner/program/tg_tail.h"
#include "runner/tg_answer.h"

/* Of a program that failed: what a model can read, and each dialect carry. */
#define TG_EXEC_ENDS_MAX 65536

typedef struct {
    tg_buf_t out;
    tg_output_t form; /* what it is to be */
    size_t max_output;
    tg_tail_t err;
} tg_exec_output_t;

void tg_exec_output_init(tg_exec_output_t *output, tg_output_t form,
                         size_t max_output);
void tg_exec_output_deinit(tg_exec_output_t *output);

/* TG_OK, TG_LIMIT when it is more than max_output, TG_NOMEM. */
int tg_exec_output_out(tg_exec_output_t *output, const char *data, size_t len);

/* Appends the answer for a program that ended with this wait status. */
void tg_exec_answer(tg_buf_t *json, const tg_exec_output_t *output,
                    const char *tool, int status, const tg_ran_t *times);

#endif
