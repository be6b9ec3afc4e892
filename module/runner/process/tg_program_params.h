/*
 * Params of a program's start, in JSON:
 *
 *   {"argv":["/usr/bin/wc","-w"],"env":["K=V"],"cwd":"/x",
 *    "memory":268435456,"pids":20}
 *
 * `argv` is required. `memory` (bytes) and `pids` (processes) are limits of the
 * program's cgroup. If there are no cgroups, a program with limits is not
 * started.
 */
#ifndef TG_PROGRAM_PARAMS_H
#define TG_PROGRAM_PARAMS_H

#include "base/tg_base.h"
#include "runner/process/tg_cgroup.h"

/* Maximum number of elements of argv and of env, far above any config. */
#define TG_PROGRAM_STRINGS_MAX 4096

/* Environment that every program starts with. Each string is "K=V". */
typedef struct {
    const char *path;
    const char *home;
    const char *lang;
    const char *progress; /* TOOL_PROGRESS_FD; NULL: no progress descriptor */
} tg_program_base_env_t;

/*
 * Raw JSON values of the right types. The data of absent ones is NULL, absent
 * numbers are 0.
 */
typedef struct {
    tg_str_t argv;
    tg_str_t env;
    tg_str_t cwd;
    int64_t memory;
    int64_t pids;
} tg_program_raw_params_t;

/* Parsed params. All pointers point into `memory`, which this object owns. */
typedef struct {
    void *memory;
    size_t size;
    char *cwd;
    char **argv; /* NULL-terminated */
    char **envp; /* complete environment, NULL-terminated */
    tg_cgroup_limits_t limits;
} tg_program_params_t;

/*
 * Reads the values. `tool` becomes the variable TOOL_NAME, unless it is NULL.
 * Returns the codes of tg_job_params_read().
 */
int tg_program_params_read(tg_program_params_t *params,
                           const tg_program_raw_params_t *raw,
                           const tg_program_base_env_t *env, const char *tool,
                           const char **why);

void tg_program_params_free(tg_program_params_t *params);

#endif
