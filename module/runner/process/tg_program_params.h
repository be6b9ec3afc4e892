/*
 * What a program is started with, as a caller has it in JSON:
 *
 *   {"argv":["/usr/bin/wc","-w"],"env":["K=V"],"cwd":"/x",
 *    "memory":268435456,"pids":20}
 *
 * argv is required.  memory (bytes) and pids are limits of its cgroup; without
 * one a program that has them is not started.
 */
#ifndef TG_PROGRAM_PARAMS_H
#define TG_PROGRAM_PARAMS_H

#include "base/tg_base.h"
#include "runner/process/tg_cgroup.h"

/* Elements of argv and of env; far beyond any config. */
#define TG_PROGRAM_STRINGS_MAX 4096

/* What every program's environment starts from; each is "K=V". */
typedef struct {
    const char *path;
    const char *home;
    const char *lang;
    const char *progress; /* NULL: it has no such descriptor */
} tg_program_base_env_t;

/* The raw values; the data of absent ones is NULL. */
typedef struct {
    tg_str_t argv;
    tg_str_t env;
    tg_str_t cwd;
    tg_str_t memory;
    tg_str_t pids;
} tg_program_raw_params_t;

/* Everything points into memory, which is owned. */
typedef struct {
    void *memory;
    size_t size;
    char *cwd;
    char **argv; /* NULL at the end */
    char **envp; /* the whole environment, NULL at the end */
    tg_cgroup_limits_t limits;
} tg_program_params_t;

/*
 * Reads the values; tool is TOOL_NAME, or NULL.  Returns as
 * tg_job_params_read(), but *why only with TG_LIMIT.
 */
int tg_program_params_read(tg_program_params_t *params,
                           const tg_program_raw_params_t *raw,
                           const tg_program_base_env_t *env, const char *tool,
                           const char **why);

void tg_program_params_free(tg_program_params_t *params);

#endif
