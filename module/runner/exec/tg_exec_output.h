/*
 * What a program puts out, and what the method `exec` makes of it.
 */
#ifndef TG_EXEC_OUTPUT_H
#define TG_EXEC_OUTPUT_H

#include "base/tg_base64.h"
#include "runner/process/tg_output_tail.h"
#include "runner/output/tg_output_response.h"

/* Of a program that failed: what a model can read, and each dialect carry. */
#define TG_EXEC_TAILS_MAX 65536
/* As which a file is named in a result. */
#define TG_EXEC_URI "toolgate://output"
/* A program's exit status has eight bits. */
#define TG_EXEC_EXIT_STATUSES 256

/* What becomes of stderr. */
typedef enum {
    TG_EXEC_STDERR_ERROR, /* its end is told of a program that failed */
    TG_EXEC_STDERR_DROP,  /* nothing */
    TG_EXEC_STDERR_APPEND /* all of it, behind stdout */
} tg_exec_stderr_t;

/* What stdout is, if it is no text. */
typedef enum {
    TG_EXEC_BINARY_NONE,
    TG_EXEC_BINARY_IMAGE,
    TG_EXEC_BINARY_AUDIO,
    TG_EXEC_BINARY_FILE
} tg_exec_binary_t;

/* What is to become of it all. */
typedef struct {
    tg_output_type_t type;
    size_t max_output;
    tg_exec_stderr_t err;
    tg_exec_binary_t bytes;
    const char *mime; /* of bytes: their type */
    int has_success;  /* bits of success: statuses that are no error */
    uint32_t success[TG_EXEC_EXIT_STATUSES / 32];
    tg_output_store_params_t store_params;
} tg_exec_output_params_t;

typedef struct {
    tg_exec_output_params_t output_params;
    tg_buf_t out; /* bytes as a result of MCP in the making */
    tg_stored_output_t stored_output; /* where stdout is instead */
    int is_refused;                   /* nothing can be kept */
    tg_buf_t all;                     /* of stderr, where it is appended */
    tg_output_tail_t err;
    size_t size;    /* bytes of both that count */
    size_t escaped; /* bytes of stdout when written as JSON */
    tg_base64_encoder_t base64;
} tg_exec_output_t;

void tg_exec_output_init(tg_exec_output_t *output, tg_output_type_t type,
                         size_t max_output);
void tg_exec_output_deinit(tg_exec_output_t *output);

/*
 * Of stdout, or stderr: TG_OK, TG_LIMIT when it is more than max_output,
 * TG_INVALID when no frame carries it as JSON, TG_NOMEM.
 */
int tg_exec_output_add_stdout(tg_exec_output_t *output, const char *data,
                              size_t len);
int tg_exec_output_add_stderr(tg_exec_output_t *output, const char *data,
                              size_t len);

/* The answer for a program, while it is written. */
typedef struct {
    tg_output_response_t answer;
    char meta[64];
} tg_exec_response_t;

/*
 * Begins the answer for a program that ended with this wait status; output and
 * params outlive it.  Then the steps and the end of answer->answer follow.
 */
void tg_exec_response_begin(tg_exec_response_t *answer,
                            tg_exec_output_t *output,
                            const tg_job_params_t *params, int status,
                            const tg_run_stats_t *times);

#endif
