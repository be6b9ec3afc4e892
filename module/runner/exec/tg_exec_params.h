/* Parsed params of the method `exec`; spec/tg_exec_spec.h has the members. */
#ifndef TG_EXEC_PARAMS_H
#define TG_EXEC_PARAMS_H

#include "runner/exec/tg_exec_output.h"
#include "runner/process/tg_program_params.h"

typedef struct {
    tg_program_params_t program;
    char *memory; /* holds the input and the MIME type, owned */
    size_t size;  /* size of all params in bytes */
    tg_str_t input;
    tg_exec_output_params_t output_params; /* params of the outputs */
} tg_exec_params_t;

/* Reads the values of the params. Returns the codes of tg_job_params_read(). */
int tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                        const char *tool, const tg_program_base_env_t *env,
                        const char **why);

void tg_exec_params_free(tg_exec_params_t *params);

#endif
