/*
 * `task_agent`: how to run a task. A worker sends the agents of its config
 * (docs/protocols.md, "Worker and runner").
 */
#ifndef TG_AGENT_SPEC_H
#define TG_AGENT_SPEC_H

#include "spec/tg_spec.h"

/* Defaults of an agent's program, in ms and bytes: nobody waits for it. */
#define TG_AGENT_TIMEOUT_DEFAULT 7200000
#define TG_AGENT_MAX_OUTPUT_DEFAULT 10485760

/*
 * Largest value of `retry`: a task that is interrupted more often will never
 * end.
 */
#define TG_AGENT_RETRY_MAX 100

/* Maximum of `task_concurrency`, and of an agent's `concurrency`. */
#define TG_TASK_CONCURRENCY_MAX 32

typedef struct {
    tg_str_t name; /* letters, digits, _ and -; or that of any agent */
    /* raw: an array of templates, see tg_agent_append_template() */
    tg_str_t argv;
    tg_str_t env; /* raw: an array of templates of NAME=VALUE */
    tg_str_t cwd; /* raw: a template */
    tg_str_t input;
    tg_str_t success;
    int64_t memory; /* options of the program */
    int64_t pids;
    int64_t timeout_ms;
    int64_t concurrency;
    int64_t max_output;
    int64_t retry; /* maximum number of retries after interruptions */
} tg_agent_spec_t;

extern const tg_json_field_t tg_agent_fields[];

#endif
