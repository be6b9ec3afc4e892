/* Parsed params of a program; spec/tg_program_spec.h has the members. */
#ifndef TG_PROGRAM_PARAMS_H
#define TG_PROGRAM_PARAMS_H

#include "base/tg_base.h"
#include "spec/tg_program_spec.h"

/* Maximum number of elements of argv and env. */
#define TG_PROGRAM_STRINGS_MAX 4096

/* Environment of every program. Each string is "K=V". */
typedef struct {
    const char *path;
    const char *home;
    const char *lang;
    const char *progress; /* TOOL_PROGRESS_FD; NULL: no progress descriptor */
} tg_program_base_env_t;

/* All pointers point into `memory`, which the object owns. */
typedef struct {
    void *memory;
    size_t size;
    char *cwd;
    char **argv; /* NULL-terminated */
    char **envp; /* complete environment, NULL-terminated */
    tg_program_options_t options;
} tg_program_params_t;

/* `tool` becomes TOOL_NAME, or NULL. Returns as tg_job_params_read(). */
int tg_program_params_read(tg_program_params_t *params,
                           const tg_program_spec_t *raw,
                           const tg_program_base_env_t *env, const char *tool,
                           const char **why);

void tg_program_params_free(tg_program_params_t *params);

#endif
