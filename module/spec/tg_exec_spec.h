/*
 * `exec`: params of the runner's method, in addition to those of every job
 * (runner/jobs/tg_job_params.h), and the directives that set them:
 *
 *   {"argv":["/usr/bin/wc","-w"],"env":["K=V"],"cwd":"/x","stdin":"…",
 *    "output":"text","max_output":1048576,"memory":268435456,"pids":20,
 *    "success":[0,1],"stderr":"error","bytes":"image","mime":"image/png",
 *    "spill":{"owner":"1000","quota":268435456,"keep_ms":3600000,
 *             "preview":8192}}
 *
 * `argv` is required.
 */
#ifndef TG_EXEC_SPEC_H
#define TG_EXEC_SPEC_H

#include "spec/tg_program_spec.h"

/* Handling of stderr. */
typedef enum {
    TG_EXEC_STDERR_ERROR, /* its end is part of a failure message */
    TG_EXEC_STDERR_DROP,  /* ignored */
    TG_EXEC_STDERR_APPEND /* all of it is appended to stdout */
} tg_exec_stderr_t;

/* Type of a binary stdout. */
typedef enum {
    TG_EXEC_BINARY_NONE,
    TG_EXEC_BINARY_IMAGE,
    TG_EXEC_BINARY_AUDIO,
    TG_EXEC_BINARY_FILE
} tg_exec_binary_t;

typedef struct {
    tg_program_spec_t program;
    tg_str_t input; /* raw values of the call */
    tg_str_t mime;
    tg_str_t spill;
    int64_t output; /* tg_output_type_t */
    int64_t max_output;
    int64_t bytes;           /* tg_exec_binary_t */
    int64_t err;             /* tg_exec_stderr_t */
    tg_field_bits_t success; /* successful exit statuses; not set: only 0 */
} tg_exec_spec_t;

extern const tg_json_field_t tg_exec_fields[];

#endif
