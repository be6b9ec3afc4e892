/*
 * Params that every type of job has:
 *
 *   {"tool":"word_count","timeout_ms":5000,"max_timeout_ms":60000,
 *    "limits":[{"name":"concurrency","key":"a","concurrency":2,"queue":10}],
 *    "call":17,"max_answer":10485760,"text_only":true}
 *
 * `tool` is required. `call` is the number in `status`. `max_answer` is the
 * client's maximum message in bytes; with `text_only`, only texts of a result
 * count. Other members belong to the type or are ignored.
 */
#ifndef TG_JOB_PARAMS_H
#define TG_JOB_PARAMS_H

#include "catalog/tg_catalog.h"
#include "runner/jobs/tg_limit.h"
#include "spec/tg_job_spec.h"

/* Maximum number of limits of a call; a tool and a server have one each. */
#define TG_JOB_LIMITS_MAX 4

/* Maximum number of params of one job type. */
#define TG_JOB_MEMBERS_MAX 16

/* Parsed params. Strings point into `memory`, which the object owns. */
typedef struct {
    char *memory;
    size_t size;
    char *tool;
    int64_t call;            /* number that `status` shows; 0: none */
    uint64_t timeout_ms;     /* timeout after the call or its last progress */
    uint64_t max_timeout_ms; /* timeout after the call */
    size_t max_answer;       /* size that the client accepts; 0: unlimited */
    int is_text_only;        /* the client gets only the texts of a result */
    tg_limit_spec_t limits[TG_JOB_LIMITS_MAX];
    unsigned nlimits;
} tg_job_params_t;

/*
 * Parses `raw`, a validated JSON value. `fields` are the type's own params, or
 * NULL; `values` gets their raw values, with data == NULL for an absent one.
 * `timeout_ms` is the default.
 *
 *   TG_OK       params is set and must be freed
 *   TG_INVALID  the params are malformed: *why, static
 *   TG_LIMIT    a value cannot be used: *why, static
 *   TG_NOMEM    out of memory
 */
int tg_job_params_read(tg_job_params_t *params, tg_str_t raw,
                       const tg_json_field_t *fields, uint64_t timeout_ms,
                       tg_str_t *values, const char **why);

void tg_job_params_free(tg_job_params_t *params);

/*
 * Decodes a raw JSON string to *at, with a NUL, and moves *at past it. The raw
 * length is enough for the buffer. TG_LIMIT: the string contains a NUL.
 */
int tg_param_read_string(char **at, tg_str_t raw, char **text);

/*
 * Decodes an array of strings like tg_param_read_string(). Stores pointers to
 * them and a NULL at *slots, and moves *slots past the NULL.
 */
int tg_param_read_strings(char **at, tg_str_t raw, char ***slots);

#endif
