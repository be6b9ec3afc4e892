/*
 * What the method `exec` was asked to do:
 *
 *   {"tool":"word_count","argv":["/usr/bin/wc","-w"],"env":["K=V"],
 *    "cwd":"/x","stdin":"…","timeout_ms":5000,"max_timeout_ms":60000,
 *    "max_output":1048576,"limits":[{"name":"concurrency","key":"a",
 *    "concurrency":2,"queue":10}]}
 *
 * tool and argv are required.  Members that are not known are passed over.
 */
#ifndef TG_EXEC_PARAMS_H
#define TG_EXEC_PARAMS_H

#include "base/tg_base.h"

/*
 * The deadline when none was given, and the longest (24 days), which is the
 * cap for calls that make progress when none was given.
 */
#define TG_EXEC_TIMEOUT 60000
#define TG_EXEC_TIMEOUT_MAX INT32_MAX
/* DESIGN.md: max_output is 1m by default. */
#define TG_EXEC_OUTPUT 1048576
/*
 * Control characters grow sixfold in JSON; what is usual must still fit an
 * answer of 64 MiB.
 */
#define TG_EXEC_OUTPUT_MAX 33554432
/* Elements of argv and of env; far beyond any config. */
#define TG_EXEC_STRINGS_MAX 4096
/* Kinds that one call may be of: its tool's and its server's are two. */
#define TG_EXEC_LIMITS_MAX 4

/* What every program's environment starts from; each is "K=V". */
typedef struct {
    const char *path;
    const char *home;
    const char *lang;
    const char *progress;
} tg_exec_env_t;

/* At most so many calls with this key may run, and so many wait. */
typedef struct {
    char *name; /* the directive, for messages */
    char *key;
    unsigned concurrency;
    unsigned queue;
} tg_exec_limit_t;

/* Everything points into memory, which is owned. */
typedef struct {
    void *memory;
    size_t size;
    char *tool;
    char *cwd;
    char **argv; /* NULL at the end */
    char **envp; /* the whole environment, NULL at the end */
    tg_str_t input;
    uint64_t timeout_ms;     /* from the call or its last progress */
    uint64_t max_timeout_ms; /* from the call */
    size_t max_output;
    tg_exec_limit_t limits[TG_EXEC_LIMITS_MAX];
    unsigned nlimits;
} tg_exec_params_t;

/*
 * Reads raw, a validated JSON value.
 *
 *   TG_OK    params is filled and must be freed
 *   TG_BAD   it is not what the method takes: *why, static
 *   TG_LIMIT a value cannot be given to a program: *why, static
 *   TG_NOMEM
 */
int tg_exec_params_read(tg_exec_params_t *params, tg_str_t raw,
                        const tg_exec_env_t *env, const char **why);

void tg_exec_params_free(tg_exec_params_t *params);

#endif
