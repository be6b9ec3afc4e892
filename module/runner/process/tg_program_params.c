/* Reads the params of a program and builds its argv and environment. */
#include "runner/process/tg_program_params.h"

#include "base/tg_json.h"
#include "runner/jobs/tg_job_params.h"

#include <stdlib.h>

/* Number of basic variables: PATH, HOME, LANG, TOOL_NAME, TOOL_PROGRESS_FD. */
#define TG_PROGRAM_BASE_ENV 5

/* Write position of the next decoded string and of its pointer. */
typedef struct {
    char *at;
    char **slot;
} tg_program_arena_t;

/* Sets "K=V", and replaces an earlier variable with this name. */
static void
tg_program_params_set_env(char **envp, size_t *n, char *pair, size_t key_len)
{
    size_t i;

    for (i = 0; i < *n; i++) {
        if (strncmp(envp[i], pair, key_len + 1) == 0) {
            envp[i] = pair;
            return;
        }
    }

    envp[(*n)++] = pair;
}

/* Adds the basic environment. Returns the number of variables. */
static size_t
tg_program_params_add_base_env(tg_program_params_t *params,
                               tg_program_arena_t *arena,
                               const tg_program_base_env_t *env,
                               const char *tool)
{
    size_t n;

    params->envp[0] = (char *) (uintptr_t) env->path;
    params->envp[1] = (char *) (uintptr_t) env->home;
    params->envp[2] = (char *) (uintptr_t) env->lang;
    n = 3;

    if (tool != NULL) {
        params->envp[n++] = arena->at;
        memcpy(arena->at, "TOOL_NAME=", 10);
        strcpy(arena->at + 10, tool);
        arena->at += 10 + strlen(tool) + 1;
    }

    if (env->progress != NULL) {
        params->envp[n++] = (char *) (uintptr_t) env->progress;
    }

    return n;
}

static int
tg_program_params_read_env(tg_program_params_t *params,
                           tg_program_arena_t *arena, tg_str_t raw,
                           const tg_program_base_env_t *env, const char *tool)
{
    char *pair, *equals;
    tg_json_cursor_t json;
    tg_str_t value;
    size_t n;

    params->envp = arena->slot;
    n = tg_program_params_add_base_env(params, arena, env, tool);

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        if (tg_param_read_string(&arena->at, value, &pair) != TG_OK) {
            return TG_LIMIT;
        }

        equals = strchr(pair, '=');

        if (equals == NULL || equals == pair) {
            return TG_LIMIT;
        }

        tg_program_params_set_env(params->envp, &n, pair,
                                  (size_t) (equals - pair));
    }

    params->envp[n++] = NULL;
    arena->slot = params->envp + n;

    return TG_OK;
}

/* Allocates a block: first the pointers, for their alignment, then the text. */
static int
tg_program_params_alloc(tg_program_params_t *params, tg_program_arena_t *arena,
                        const tg_program_spec_t *raw, const char *tool,
                        size_t strings)
{
    size_t slots;

    slots = strings + TG_PROGRAM_BASE_ENV + 2;
    params->size = slots * sizeof(char *) + sizeof("TOOL_NAME=")
                   + (tool != NULL ? strlen(tool) : 0) + raw->argv.len
                   + raw->env.len + raw->cwd.len;
    params->memory = malloc(params->size);

    if (params->memory == NULL) {
        return TG_NOMEM;
    }

    arena->slot = params->memory;
    arena->at = (char *) (arena->slot + slots);

    return TG_OK;
}

static int
tg_program_params_read_strings(tg_program_params_t *params,
                               tg_program_arena_t *arena,
                               const tg_program_spec_t *raw,
                               const tg_program_base_env_t *env,
                               const char *tool, const char **why)
{
    static char root[] = "/";

    *why = "contains a NUL character, which a program can receive only on "
           "its standard input";
    params->cwd = root;
    params->argv = arena->slot;

    if ((raw->cwd.data != NULL
         && tg_param_read_string(&arena->at, raw->cwd, &params->cwd) != TG_OK)
        || tg_param_read_strings(&arena->at, raw->argv, &arena->slot) != TG_OK)
    {
        return TG_LIMIT;
    }

    /* argv[0] exists: tg_program_params_read() has checked the count. */
    if (params->argv[0] == NULL || params->argv[0][0] != '/'
        || params->cwd[0] != '/')
    {
        *why = "has a program or a working directory that is not an absolute "
               "path; write one that starts with /";
        return TG_LIMIT;
    }

    if (tg_program_params_read_env(params, arena, raw->env, env, tool) != TG_OK)
    {
        *why = "has an environment variable that is not NAME=VALUE or "
               "contains a NUL character";
        return TG_LIMIT;
    }

    return TG_OK;
}

int
tg_program_params_read(tg_program_params_t *params,
                       const tg_program_spec_t *raw,
                       const tg_program_base_env_t *env, const char *tool,
                       const char **why)
{
    tg_program_arena_t arena;
    int argc, envc, rc;

    memset(params, 0, sizeof(*params));
    argc = tg_json_count_strings(raw->argv);
    envc = tg_json_count_strings(raw->env);

    if (argc > TG_PROGRAM_STRINGS_MAX || envc > TG_PROGRAM_STRINGS_MAX) {
        *why = "has more than 4096 arguments or environment variables";
        return TG_LIMIT;
    }

    params->options = raw->options;

    if (tg_program_params_alloc(params, &arena, raw, tool,
                                (size_t) argc + (size_t) envc)
        != TG_OK)
    {
        return TG_NOMEM;
    }

    rc = tg_program_params_read_strings(params, &arena, raw, env, tool, why);

    if (rc != TG_OK) {
        tg_program_params_free(params);
    }

    return rc;
}

void
tg_program_params_free(tg_program_params_t *params)
{
    free(params->memory);
    memset(params, 0, sizeof(*params));
}
