/* Parsed params of a program; spec/tg_program_spec.h has the members. */
#ifndef TG_PROGRAM_PARAMS_H
#define TG_PROGRAM_PARAMS_H

#include "base/tg_base.h"
#include "spec/tg_program_spec.h"

/* Maximum number of elements of argv and of env, far above any config. */
#define TG_PROGRAM_STRINGS_MAX 4096

/* Environment that every program starts with. Each string is "K=V". */
typedef struct {
    const char *path;
    const char *home;
    const char *lang;
    const char *progress; /* TOOL_PROGRESS_FD; NULL: no progress descriptor */
} tg_program_base_env_t;

/* Parsed params. All pointers point into `memory`, which this object owns. */
typedef struct {
    void *memory;
    size_t size;
    char *cwd;
    char **argv; /* NULL-terminated */
    char **envp; /* complete environment, NULL-terminated */
    tg_program_options_t options;
} tg_program_params_t;

/* Reads the values. `tool` (or NULL) is the variable TOOL_NAME. */
int tg_program_params_read(tg_program_params_t *params,
                           const tg_program_spec_t *raw,
                           const tg_program_base_env_t *env, const char *tool,
                           const char **why);

void tg_program_params_free(tg_program_params_t *params);

#endif
