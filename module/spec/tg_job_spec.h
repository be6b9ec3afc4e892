/*
 * Limits: timeouts, `concurrency` and `rate`. Timeouts and `concurrency` are
 * params of every job (runner/jobs/tg_job_params.h); `rate` is counted by the
 * workers.
 */
#ifndef TG_JOB_SPEC_H
#define TG_JOB_SPEC_H

#include "spec/tg_spec.h"

/* Default and maximum of `timeout` in ms. */
#define TG_TIMEOUT_DEFAULT 60000
#define TG_TIMEOUT_MAX 86400000
/* Default of `timeout max=` in ms; a longer timeout is its own maximum. */
#define TG_MAX_TIMEOUT_DEFAULT 3600000
/* Maximum timeout of a job in ms (24 days). Also the default maximum. */
#define TG_JOB_TIMEOUT_MAX INT32_MAX
/*
 * Largest value of `concurrency`: a runner runs 64 programs at once, so larger
 * values have no effect but are accepted.
 */
#define TG_CONCURRENCY_MAX 65536

/* The params that all jobs have. */
typedef struct {
    tg_str_t tool; /* raw values */
    tg_str_t limits;
    int64_t timeout_ms; /* without progress; 0: the default of the job's type */
    int64_t max_timeout_ms; /* in total */
    int64_t call;
    int64_t max_answer;
    int64_t is_text_only;
} tg_job_spec_t;

extern const tg_json_field_t tg_job_fields[];

/* One of the limits of a job. */
typedef struct {
    tg_str_t name; /* raw values */
    tg_str_t key;
    int64_t concurrency; /* maximum number of running calls */
    int64_t queue;
} tg_job_limit_t;

extern const tg_json_field_t tg_job_limit_fields[];

/* The parameters of `rate`. */
typedef struct {
    int64_t rate; /* thousandths of calls per minute */
    int64_t burst;
    int64_t dry_run;   /* log calls that exceed the rate, do not reject them */
    int64_t log_level; /* index of error, warn, notice, info */
} tg_rate_t;

extern const tg_json_field_t tg_rate_fields[];

#endif
