/*
 * Tasks of a server: the params of the runner's method `task_open`
 * (docs/protocols.md, "Worker and runner"), and the directives that set them.
 */
#ifndef TG_TASK_SPEC_H
#define TG_TASK_SPEC_H

#include "spec/tg_agent_spec.h"

/* Default of `task_concurrency`: this many agents keep a machine busy. */
#define TG_TASK_CONCURRENCY_DEFAULT 3

/* Default and maximum of `task_queue`. */
#define TG_TASK_QUEUE_DEFAULT 1000
#define TG_TASK_QUEUE_MAX 100000

/* Default of `task_keep` in ms: a week. */
#define TG_TASK_KEEP_DEFAULT_MS 604800000

/*
 * Default and minimum of `task_output_quota` in bytes: a hundred outputs of an
 * agent's default max_output, and two pieces.
 */
#define TG_TASK_OUTPUT_QUOTA_DEFAULT 1073741824
#define TG_TASK_OUTPUT_QUOTA_MIN 2097152

/*
 * Default of lease_ms: within it, a database may be unavailable for a while, or
 * the machine too busy.
 */
#define TG_TASK_LEASE_DEFAULT_MS 30000

typedef struct {
    tg_str_t store; /* raw values */
    tg_str_t generation;
    tg_str_t default_agent; /* agent of tasks that name none */
    tg_str_t password;
    tg_str_t rules;  /* rules of automation */
    tg_str_t agents; /* array of tg_agent_spec_t */
    int64_t lease_ms;
    int64_t concurrency;
    int64_t queue_max;
    int64_t keep_ms;
    int64_t output_quota;
} tg_task_spec_t;

extern const tg_json_field_t tg_task_fields[];

#endif
