#include "runner/tg_exec_params.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* PATH, HOME, LANG, TOOL_NAME, TOOL_PROGRESS_FD. */
#define TG_EXEC_BASE 5

/* The members as they came; absent ones have data NULL. */
typedef struct {
    tg_str_t tool;
    tg_str_t argv;
    tg_str_t env;
    tg_str_t cwd;
    tg_str_t input;
    tg_str_t timeout;
    tg_str_t max_timeout;
    tg_str_t max_output;
    tg_str_t limits;
} tg_exec_raw_t;

/* Where the next decoded string goes. */
typedef struct {
    char *at;
    char **slot;
} tg_exec_arena_t;

static int
tg_exec_members(tg_exec_raw_t *raw, tg_str_t text)
{
    const struct {
        tg_str_t key;
        tg_str_t *value;
    } members[] = {
        { TG_STR("tool"), &raw->tool },
        { TG_STR("argv"), &raw->argv },
        { TG_STR("env"), &raw->env },
        { TG_STR("cwd"), &raw->cwd },
        { TG_STR("stdin"), &raw->input },
        { TG_STR("timeout_ms"), &raw->timeout },
        { TG_STR("max_timeout_ms"), &raw->max_timeout },
        { TG_STR("max_output"), &raw->max_output },
        { TG_STR("limits"), &raw->limits },
    };
    tg_str_t key, value;
    tg_json_t json;
    size_t i;

    memset(raw, 0, sizeof(*raw));
    tg_json_init(&json, text);

    if (tg_json_object(&json) != TG_OK) {
        return TG_BAD;
    }

    while (tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);

        for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
            if (tg_json_body_is(key, members[i].key)) {
                *members[i].value = value;
            }
        }
    }

    return TG_OK;
}

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
tg_exec_number(tg_str_t raw, int64_t least, int64_t most, int64_t *value)
{
    int64_t number;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_int64(raw, &number) != TG_OK || number < least || number > most)
    {
        return TG_BAD;
    }

    *value = number;

    return TG_OK;
}

/*
 * Decodes a body, ends it with a NUL and returns its length.  The arena has
 * room: a decoded text and its NUL are shorter than the body and its quotes.
 */
static size_t
tg_exec_decode(tg_exec_arena_t *arena, tg_str_t body, char **text)
{
    size_t len;

    len = tg_json_decode(arena->at, body);
    *text = arena->at;
    arena->at[len] = '\0';
    arena->at += len + 1;

    return len;
}

/* The same for what the system ends at its first NUL. */
static int
tg_exec_string(tg_exec_arena_t *arena, tg_str_t raw, char **text)
{
    size_t len;

    len = tg_exec_decode(arena, tg_json_body(raw), text);

    return memchr(*text, '\0', len) == NULL ? TG_OK : TG_LIMIT;
}

static int
tg_exec_argv(tg_exec_params_t *params, tg_exec_arena_t *arena, tg_str_t raw)
{
    tg_json_t json;
    tg_str_t value;

    params->argv = arena->slot;
    tg_json_init(&json, raw);
    (void) tg_json_array(&json);

    while (tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &value);

        if (tg_exec_string(arena, value, arena->slot++) != TG_OK) {
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
             const tg_exec_env_t *env)
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
    strcpy(arena->at + 10, params->tool);
    arena->at += 10 + strlen(params->tool) + 1;

    if (raw.data != NULL) {
        tg_json_init(&json, raw);
        (void) tg_json_array(&json);

        while (tg_json_element(&json) == TG_OK) {
            (void) tg_json_value(&json, &value);

            if (tg_exec_string(arena, value, &pair) != TG_OK) {
                return TG_LIMIT;
            }

            equals = strchr(pair, '=');

            if (equals == NULL || equals == pair) {
                return TG_LIMIT;
            }

            tg_exec_env_set(params->envp, &n, pair, (size_t) (equals - pair));
        }
    }

    params->envp[n++] = NULL;
    arena->slot = params->envp + n;

    return TG_OK;
}

static int
tg_exec_limit(tg_exec_params_t *params, tg_exec_arena_t *arena, tg_str_t raw)
{
    tg_str_t name, key, number;
    int64_t concurrency, queue;
    tg_exec_limit_t *limit;

    concurrency = 1;
    queue = 0;

    if (tg_json_type(raw) != TG_JSON_OBJECT
        || params->nlimits == TG_EXEC_LIMITS_MAX
        || tg_json_get(raw, TG_STR("name"), &name) != TG_OK
        || tg_json_type(name) != TG_JSON_STRING
        || tg_json_get(raw, TG_STR("key"), &key) != TG_OK
        || tg_json_type(key) != TG_JSON_STRING
        || tg_json_get(raw, TG_STR("concurrency"), &number) != TG_OK
        || tg_exec_number(number, 1, INT32_MAX, &concurrency) != TG_OK)
    {
        return TG_BAD;
    }

    if (tg_json_get(raw, TG_STR("queue"), &number) == TG_OK
        && tg_exec_number(number, 0, INT32_MAX, &queue) != TG_OK)
    {
        return TG_BAD;
    }

    limit = &params->limits[params->nlimits++];
    limit->concurrency = (unsigned) concurrency;
    limit->queue = (unsigned) queue;

    if (tg_exec_string(arena, name, &limit->name) != TG_OK
        || tg_exec_string(arena, key, &limit->key) != TG_OK)
    {
        return TG_BAD;
    }

    return TG_OK;
}

static int
tg_exec_limits(tg_exec_params_t *params, tg_exec_arena_t *arena, tg_str_t raw,
               const char **why)
{
    tg_json_t json;
    tg_str_t value;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    *why = "limits must be an array of at most 4 objects with name and key, "
           "which are strings without NUL, concurrency from 1 and queue from 0";
    tg_json_init(&json, raw);
    rc = tg_json_array(&json);

    while (rc == TG_OK && (rc = tg_json_element(&json)) == TG_OK) {
        (void) tg_json_value(&json, &value);
        rc = tg_exec_limit(params, arena, value);
    }

    return rc == TG_END ? TG_OK : TG_BAD;
}

/* The pointers first, for their alignment, then the text. */
static int
tg_exec_alloc(tg_exec_params_t *params, tg_exec_arena_t *arena,
              const tg_exec_raw_t *raw, size_t strings)
{
    size_t slots;

    /* tool is written twice: once as it is, once behind TOOL_NAME=. */
    slots = strings + TG_EXEC_BASE + 2;
    params->size = slots * sizeof(char *) + 2 * raw->tool.len + 16
                   + raw->argv.len + raw->env.len + raw->cwd.len
                   + raw->input.len + raw->limits.len;
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
             const tg_exec_raw_t *raw, const tg_exec_env_t *env,
             const char **why)
{
    static char root[] = "/";
    char *text;

    *why = "holds a NUL character, which no program can be given outside "
           "its standard input";
    params->cwd = root;

    if (tg_exec_string(arena, raw->tool, &params->tool) != TG_OK
        || (raw->cwd.data != NULL
            && tg_exec_string(arena, raw->cwd, &params->cwd) != TG_OK)
        || tg_exec_argv(params, arena, raw->argv) != TG_OK)
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

    if (tg_exec_envp(params, arena, raw->env, env) != TG_OK) {
        *why = "has a variable for its environment that is not NAME=VALUE "
               "or holds a NUL character";
        return TG_LIMIT;
    }

    params->input = TG_STR("");

    if (raw->input.data != NULL) {
        params->input.len = tg_exec_decode(arena, tg_json_body(raw->input),
                                           &text);
        params->input.data = text;
    }

    return tg_exec_limits(params, arena, raw->limits, why);
}

static int
tg_exec_numbers(tg_exec_params_t *params, const tg_exec_raw_t *raw,
                const char **why)
{
    int64_t timeout, max_timeout, max_output;

    timeout = TG_EXEC_TIMEOUT;
    max_timeout = TG_EXEC_TIMEOUT_MAX;
    max_output = TG_EXEC_OUTPUT;

    if (tg_exec_number(raw->timeout, 1, TG_EXEC_TIMEOUT_MAX, &timeout) != TG_OK
        || tg_exec_number(raw->max_timeout, 1, TG_EXEC_TIMEOUT_MAX,
                          &max_timeout)
               != TG_OK
        || tg_exec_number(raw->max_output, 0, TG_EXEC_OUTPUT_MAX, &max_output)
               != TG_OK)
    {
        *why = "timeout_ms and max_timeout_ms must be 1 to 2147483647, "
               "max_output 0 to 33554432";
        return TG_BAD;
    }

    params->timeout_ms = (uint64_t) timeout;
    params->max_timeout_ms = (uint64_t) max_timeout;
    params->max_output = (size_t) max_output;

    return TG_OK;
}

static int
tg_exec_is_string(tg_str_t raw, int is_required)
{
    return raw.data == NULL ? !is_required
                            : tg_json_type(raw) == TG_JSON_STRING;
}

int
tg_exec_params_read(tg_exec_params_t *params, tg_str_t raw_text,
                    const tg_exec_env_t *env, const char **why)
{
    tg_exec_arena_t arena;
    tg_exec_raw_t raw;
    int argc, envc, rc;

    memset(params, 0, sizeof(*params));
    *why = "exec takes an object with tool, argv and, as needed, env, cwd, "
           "stdin, timeout_ms, max_timeout_ms, max_output, limits";

    if (tg_exec_members(&raw, raw_text) != TG_OK
        || !tg_exec_is_string(raw.tool, 1) || !tg_exec_is_string(raw.cwd, 0)
        || !tg_exec_is_string(raw.input, 0))
    {
        return TG_BAD;
    }

    argc = tg_exec_count(raw.argv);
    envc = tg_exec_count(raw.env);

    if (argc < 1 || envc < 0) {
        *why = "argv must be an array of at least one string, env one of "
               "strings";
        return TG_BAD;
    }

    if (tg_exec_numbers(params, &raw, why) != TG_OK) {
        return TG_BAD;
    }

    if (argc > TG_EXEC_STRINGS_MAX || envc > TG_EXEC_STRINGS_MAX) {
        *why = "has more than 4096 arguments or variables";
        return TG_LIMIT;
    }

    if (tg_exec_alloc(params, &arena, &raw, (size_t) argc + (size_t) envc)
        != TG_OK) {
        return TG_NOMEM;
    }

    rc = tg_exec_fill(params, &arena, &raw, env, why);

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
