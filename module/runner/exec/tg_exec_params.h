/*
 * Params of the method `exec`, in addition to those of every job
 * (tg_job_params.h):
 *
 *   {"argv":["/usr/bin/wc","-w"],"env":["K=V"],"cwd":"/x","stdin":"…",
 *    "output":"text","max_output":1048576,"memory":268435456,"pids":20,
 *    "success":[0,1],"stderr":"error","bytes":"image","mime":"image/png",
 *    "spill":{"owner":"1000","quota":268435456,"keep_ms":3600000,
 *             "preview":8192}}
 *
 * `argv` is required. For the params of the program see tg_program_params.h.
 */
#ifndef TG_EXEC_PARAMS_H
#define TG_EXEC_PARAMS_H

#include "runner/exec/tg_exec_output.h"
#include "runner/process/tg_program_params.h"

/* Default of max_output in bytes, equal to the directive's default. */
#define TG_EXEC_OUTPUT_DEFAULT 1048576

/*
 * Maximum of max_output in bytes. Control characters grow sixfold in JSON, but
 * usual output of this size must fit into a result of 64 MiB.
 */
#define TG_EXEC_OUTPUT_MAX 33554432

typedef struct {
    tg_program_params_t program;
    char *memory; /* holds the input and the MIME type, owned */
    size_t size;  /* size of all params in bytes */
    tg_str_t input;
    tg_exec_output_params_t output_params; /* params of the outputs */
} tg_exec_params_t;

/* Names of the params, NULL-terminated. */
extern const char *const tg_exec_members[];

/* Reads the values of the params. Returns the codes of tg_job_params_read(). */
int tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                        const char *tool, const tg_program_base_env_t *env,
                        const char **why);

void tg_exec_params_free(tg_exec_params_t *params);

#endif
