#include "runner/exec/tg_exec_params.h"

#include "base/tg_json.h"
#include "runner/tg_job_params.h"

#include <stdlib.h>

/* PATH, HOME, LANG, TOOL_NAME, TOOL_PROGRESS_FD. */
#define TG_EXEC_BASE 5

enum {
    TG_EXEC_ARGV,
    TG_EXEC_ENV,
    TG_EXEC_CWD,
    TG_EXEC_STDIN,
    TG_EXEC_FORM,
    TG_EXEC_MAX_OUTPUT,
    TG_EXEC_MEMORY,
    TG_EXEC_PIDS
};

const char *const tg_exec_members[] = {
    [TG_EXEC_ARGV] = "argv",
    [TG_EXEC_ENV] = "env",
    [TG_EXEC_CWD] = "cwd",
    [TG_EXEC_STDIN] = "stdin",
    [TG_EXEC_FORM] = "output",
    [TG_EXEC_MAX_OUTPUT] = "max_output",
    [TG_EXEC_MEMORY] = "memory",
    [TG_EXEC_PIDS] = "pids",
    NULL,
};

/* Where the next decoded string goes. */
typedef struct {
    char *at;
    char **slot;
} tg_exec_arena_t;

/* The number of strings in an array, 0 when absent; or -1: no such array. */
static int
tg_exec_count(tg_str_t raw)
{
    tg_json_t json;
    tg_str_t body;
    int n, rc;

    if (raw.data == NULL) {
        return 0;
    }

    tg_json_init(&json, raw);
    rc = tg_json_array(&json);

    for (n = 0; rc == TG_OK; n++) {
        rc = tg_json_element(&json);

        if (rc == TG_END) {
            return n;
        }

        if (rc == TG_OK) {
            rc = tg_json_string(&json, &body);
        }
    }

    return -1;
}

static int
tg_exec_argv(tg_exec_params_t *params, tg_exec_arena_t *arena, tg_str_t raw)
{
    tg_json_t json;
    tg_str_t value;

    params->argv = arena->slot;

    for (tg_json_each(&json, raw); tg_json_item(&json, &value);) {
        if (tg_job_string(&arena->at, value, arena->slot++) != TG_OK) {
            return TG_LIMIT;
        }
    }

    *arena->slot++ = NULL;

    return TG_OK;
}

/* Sets "K=V", in the place of an earlier one of that name. */
static void
tg_exec_env_set(char **envp, size_t *n, char *pair, size_t key_len)
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

static int
tg_exec_envp(tg_exec_params_t *params, tg_exec_arena_t *arena, tg_str_t raw,
             const char *tool, const tg_exec_env_t *env)
{
    char *pair, *equals;
    tg_json_t json;
    tg_str_t value;
    size_t n;

    params->envp = arena->slot;
    params->envp[0] = (char *) (uintptr_t) env->path;
    params->envp[1] = (char *) (uintptr_t) env->home;
    params->envp[2] = (char *) (uintptr_t) env->lang;
    params->envp[3] = arena->at;
    params->envp[4] = (char *) (uintptr_t) env->progress;
    n = TG_EXEC_BASE;
    memcpy(arena->at, "TOOL_NAME=", 10);
    strcpy(arena->at + 10, tool);
    arena->at += 10 + strlen(tool) + 1;

    for (tg_json_each(&json, raw); tg_json_item(&json, &value);) {
        if (tg_job_string(&arena->at, value, &pair) != TG_OK) {
            return TG_LIMIT;
        }

        equals = strchr(pair, '=');

        if (equals == NULL || equals == pair) {
            return TG_LIMIT;
        }

        tg_exec_env_set(params->envp, &n, pair, (size_t) (equals - pair));
    }

    params->envp[n++] = NULL;
    arena->slot = params->envp + n;

    return TG_OK;
}

/* The pointers first, for their alignment, then the text. */
static int
tg_exec_alloc(tg_exec_params_t *params, tg_exec_arena_t *arena,
              const tg_str_t *values, const char *tool, size_t strings)
{
    size_t slots;

    slots = strings + TG_EXEC_BASE + 2;
    params->size = slots * sizeof(char *) + sizeof("TOOL_NAME=") + strlen(tool)
                   + values[TG_EXEC_ARGV].len + values[TG_EXEC_ENV].len
                   + values[TG_EXEC_CWD].len + values[TG_EXEC_STDIN].len;
    params->memory = malloc(params->size);

    if (params->memory == NULL) {
        return TG_NOMEM;
    }

    arena->slot = params->memory;
    arena->at = (char *) (arena->slot + slots);

    return TG_OK;
}

static int
tg_exec_fill(tg_exec_params_t *params, tg_exec_arena_t *arena,
             const tg_str_t *values, const char *tool, const tg_exec_env_t *env,
             const char **why)
{
    static char root[] = "/";
    char *input;

    *why = "holds a NUL character, which no program can be given outside "
           "its standard input";
    params->cwd = root;

    if ((values[TG_EXEC_CWD].data != NULL
         && tg_job_string(&arena->at, values[TG_EXEC_CWD], &params->cwd)
                != TG_OK)
        || tg_exec_argv(params, arena, values[TG_EXEC_ARGV]) != TG_OK)
    {
        return TG_LIMIT;
    }

    /* There is one: who counted them saw to that. */
    if (params->argv[0] == NULL || params->argv[0][0] != '/'
        || params->cwd[0] != '/')
    {
        *why = "names a program or a working directory without its full "
               "path; write one that starts with /";
        return TG_LIMIT;
    }

    if (tg_exec_envp(params, arena, values[TG_EXEC_ENV], tool, env) != TG_OK) {
        *why = "has a variable for its environment that is not NAME=VALUE "
               "or holds a NUL character";
        return TG_LIMIT;
    }

    params->input = TG_STR("");

    if (values[TG_EXEC_STDIN].data != NULL) {
        (void) tg_job_string(&arena->at, values[TG_EXEC_STDIN], &input);
        params->input = tg_str(input, (size_t) (arena->at - input) - 1);
    }

    return TG_OK;
}

static int
tg_exec_is_string(tg_str_t raw)
{
    return raw.data == NULL || tg_json_type(raw) == TG_JSON_STRING;
}

/* What the output is to be, text when nothing is said; or TG_BAD. */
static int
tg_exec_form(tg_str_t raw, tg_output_t *output)
{
    static const char *const names[] = {
        [TG_OUTPUT_TEXT] = "text",
        [TG_OUTPUT_JSON] = "json",
        [TG_OUTPUT_RESULT] = "result",
    };
    size_t i;

    *output = TG_OUTPUT_TEXT;

    for (i = 0; raw.data != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (tg_json_is_text(raw, tg_str_c(names[i]))) {
            *output = (tg_output_t) i;
            return TG_OK;
        }
    }

    return raw.data == NULL ? TG_OK : TG_BAD;
}

int
tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                    const char *tool, const tg_exec_env_t *env,
                    const char **why)
{
    tg_exec_arena_t arena;
    int64_t max_output, memory, pids;
    int argc, envc, rc;

    memset(params, 0, sizeof(*params));
    argc = tg_exec_count(values[TG_EXEC_ARGV]);
    envc = tg_exec_count(values[TG_EXEC_ENV]);
    max_output = TG_EXEC_OUTPUT;
    memory = 0;
    pids = 0;

    if (argc < 1 || envc < 0 || !tg_exec_is_string(values[TG_EXEC_CWD])
        || !tg_exec_is_string(values[TG_EXEC_STDIN])
        || tg_exec_form(values[TG_EXEC_FORM], &params->output) != TG_OK
        || tg_job_number(values[TG_EXEC_MAX_OUTPUT], 0, TG_EXEC_OUTPUT_MAX,
                         &max_output)
               != TG_OK
        || tg_job_number(values[TG_EXEC_MEMORY], 1, INT64_MAX, &memory) != TG_OK
        || tg_job_number(values[TG_EXEC_PIDS], 1, INT64_MAX, &pids) != TG_OK)
    {
        *why = "argv must be an array of at least one string, env one of "
               "strings, cwd and stdin a string, output text, json or "
               "result, max_output 0 to 33554432, memory and pids at least 1";
        return TG_BAD;
    }

    if (argc > TG_EXEC_STRINGS_MAX || envc > TG_EXEC_STRINGS_MAX) {
        *why = "has more than 4096 arguments or variables";
        return TG_LIMIT;
    }

    params->max_output = (size_t) max_output;
    params->limits.memory = (uint64_t) memory;
    params->limits.pids = (uint64_t) pids;

    if (tg_exec_alloc(params, &arena, values, tool,
                      (size_t) argc + (size_t) envc)
        != TG_OK)
    {
        return TG_NOMEM;
    }

    rc = tg_exec_fill(params, &arena, values, tool, env, why);

    if (rc != TG_OK) {
        tg_exec_params_free(params);
    }

    return rc;
}

void
tg_exec_params_free(tg_exec_params_t *params)
{
    free(params->memory);
    memset(params, 0, sizeof(*params));
}
