#include "runner/exec/tg_exec_params.h"

#include "base/tg_json.h"
#include "runner/tg_job_params.h"

#include <stdlib.h>

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

static int
tg_exec_input(tg_exec_params_t *params, tg_str_t raw)
{
    params->input = TG_STR("");

    if (raw.data == NULL) {
        return TG_OK;
    }

    params->memory = malloc(raw.len);

    if (params->memory == NULL) {
        return TG_NOMEM;
    }

    params->input = tg_str(params->memory,
                           tg_json_decode(params->memory, tg_json_body(raw)));

    return TG_OK;
}

int
tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                    const char *tool, const tg_program_env_t *env,
                    const char **why)
{
    tg_program_raw_t raw;
    int64_t max_output;
    tg_str_t input;
    int rc;

    memset(params, 0, sizeof(*params));
    raw.argv = values[TG_EXEC_ARGV];
    raw.env = values[TG_EXEC_ENV];
    raw.cwd = values[TG_EXEC_CWD];
    raw.memory = values[TG_EXEC_MEMORY];
    raw.pids = values[TG_EXEC_PIDS];
    input = values[TG_EXEC_STDIN];
    max_output = TG_EXEC_OUTPUT;
    rc = TG_BAD;

    if ((input.data == NULL || tg_json_type(input) == TG_JSON_STRING)
        && tg_job_form(values[TG_EXEC_FORM], &params->output) == TG_OK
        && tg_job_number(values[TG_EXEC_MAX_OUTPUT], 0, TG_EXEC_OUTPUT_MAX,
                         &max_output)
               == TG_OK)
    {
        rc = tg_program_params_read(&params->program, &raw, env, tool, why);
    }

    if (rc == TG_BAD) {
        *why = "argv must be an array of at least one string, env one of "
               "strings, cwd and stdin a string, output text, json or "
               "result, max_output 0 to 33554432, memory and pids at least 1";
    }

    if (rc != TG_OK) {
        return rc;
    }

    params->max_output = (size_t) max_output;
    params->size = params->program.size + input.len;
    rc = tg_exec_input(params, input);

    if (rc != TG_OK) {
        tg_exec_params_free(params);
    }

    return rc;
}

void
tg_exec_params_free(tg_exec_params_t *params)
{
    tg_program_params_free(&params->program);
    free(params->memory);
    memset(params, 0, sizeof(*params));
}
