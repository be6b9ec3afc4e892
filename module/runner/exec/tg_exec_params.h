/*
 * What the method `exec` is asked to do, besides what every job is
 * (tg_job_params.h):
 *
 *   {"argv":["/usr/bin/wc","-w"],"env":["K=V"],"cwd":"/x","stdin":"…",
 *    "output":"text","max_output":1048576,"memory":268435456,"pids":20,
 *    "success":[0,1],"stderr":"error","bytes":"image","mime":"image/png",
 *    "spill":{"owner":"1000","quota":268435456,"keep_ms":3600000,
 *             "preview":8192}}
 *
 * argv is required; of a program see tg_program_params.h.
 */
#ifndef TG_EXEC_PARAMS_H
#define TG_EXEC_PARAMS_H

#include "runner/exec/tg_exec_output.h"
#include "runner/process/tg_program_params.h"

/* The directive's own default. */
#define TG_EXEC_OUTPUT_DEFAULT 1048576
/*
 * Control characters grow sixfold in JSON; what is usual must still fit an
 * answer of 64 MiB.
 */
#define TG_EXEC_OUTPUT_MAX 33554432

typedef struct {
    tg_program_params_t program;
    char *memory; /* of input and the type of bytes, owned */
    size_t size;  /* of all */
    tg_str_t input;
    tg_exec_output_params_t output_params; /* what is to become of its output */
} tg_exec_params_t;

/* The members that are read, NULL at the end. */
extern const char *const tg_exec_members[];

/* Reads their values; returns as tg_job_params_read(). */
int tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                        const char *tool, const tg_program_base_env_t *env,
                        const char **why);

void tg_exec_params_free(tg_exec_params_t *params);

#endif
