/*
 * What every job is asked, whatever its kind:
 *
 *   {"tool":"word_count","timeout_ms":5000,"max_timeout_ms":60000,
 *    "limits":[{"name":"concurrency","key":"a","concurrency":2,"queue":10}],
 *    "call":17,"max_answer":10485760,"text_only":true}
 *
 * tool is required; call is a number by which `status` names it.  max_answer
 * is the largest message that the client takes, of whose results only the
 * texts count with text_only.  What else there is belongs to the kind, or is
 * passed over.
 */
#ifndef TG_JOB_PARAMS_H
#define TG_JOB_PARAMS_H

#include "catalog/tg_catalog.h"
#include "runner/jobs/tg_limit.h"

/*
 * The longest deadline (24 days), and the cap for calls that make progress
 * when none was given.
 */
#define TG_JOB_TIMEOUT_MAX INT32_MAX
/* Kinds that one call may be of: its tool's and its server's are two. */
#define TG_JOB_LIMITS_MAX 4
/* Members that a kind of job may have of its own. */
#define TG_JOB_MEMBERS_MAX 16

/* Everything points into memory, which is owned. */
typedef struct {
    char *memory;
    size_t size;
    char *tool;
    int64_t call;            /* 0: it has no number */
    uint64_t timeout_ms;     /* from the call or its last progress */
    uint64_t max_timeout_ms; /* from the call */
    size_t max_answer;       /* bytes that the client takes; 0: any number */
    int is_text_only;        /* it gets no more of a result than the texts */
    tg_limit_spec_t limits[TG_JOB_LIMITS_MAX];
    unsigned nlimits;
} tg_job_params_t;

/*
 * Reads raw, a validated JSON value.  members are the kind's own, NULL at
 * the end, and values their raw values in that order; the data of absent
 * ones is NULL.  timeout_ms is the deadline when none was given.
 *
 *   TG_OK    params is filled and must be freed
 *   TG_INVALID   it is not what the method takes: *why, static
 *   TG_LIMIT a value cannot be used: *why, static
 *   TG_NOMEM
 */
int tg_job_params_read(tg_job_params_t *params, tg_str_t raw,
                       const char *const *members, uint64_t timeout_ms,
                       tg_str_t *values, const char **why);

void tg_job_params_free(tg_job_params_t *params);

/* A whole number from least to most, left alone when raw is absent. */
int tg_param_read_int(tg_str_t raw, int64_t least, int64_t most,
                      int64_t *value);

/*
 * Decodes a raw string to *at, ends it with a NUL and moves *at behind it.
 * There is room: a decoded text and its NUL are shorter than what is raw.
 * TG_LIMIT when there is a NUL within.
 */
int tg_param_read_string(char **at, tg_str_t raw, char **text);

/* The number of strings in an array, 0 when absent; or -1: no such array. */
int tg_param_count_strings(tg_str_t raw);

/*
 * Decodes them likewise: *slots get their texts and NULL, and is moved behind
 * that.
 */
int tg_param_read_strings(char **at, tg_str_t raw, char ***slots);

/* Is it a string, or absent? */
int tg_param_is_string_or_absent(tg_str_t raw);

/* What the output is to be, text when nothing is said; or TG_INVALID. */
int tg_param_read_output_type(tg_str_t raw, tg_output_type_t *output);

#endif
