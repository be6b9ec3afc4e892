/* Reads the params of the method `exec`. */
#include "runner/exec/tg_exec_params.h"

#include "base/tg_json.h"
#include "runner/jobs/tg_job_params.h"

#include <stdlib.h>

enum {
    TG_EXEC_ARGV,
    TG_EXEC_ENV,
    TG_EXEC_CWD,
    TG_EXEC_STDIN,
    TG_EXEC_OUTPUT_TYPE,
    TG_EXEC_MAX_OUTPUT,
    TG_EXEC_MEMORY,
    TG_EXEC_PIDS,
    TG_EXEC_SUCCESS,
    TG_EXEC_STDERR,
    TG_EXEC_BYTES,
    TG_EXEC_MIME,
    TG_EXEC_SPILL
};

const char *const tg_exec_members[] = {
    [TG_EXEC_ARGV] = "argv",
    [TG_EXEC_ENV] = "env",
    [TG_EXEC_CWD] = "cwd",
    [TG_EXEC_STDIN] = "stdin",
    [TG_EXEC_OUTPUT_TYPE] = "output",
    [TG_EXEC_MAX_OUTPUT] = "max_output",
    [TG_EXEC_MEMORY] = "memory",
    [TG_EXEC_PIDS] = "pids",
    [TG_EXEC_SUCCESS] = "success",
    [TG_EXEC_STDERR] = "stderr",
    [TG_EXEC_BYTES] = "bytes",
    [TG_EXEC_MIME] = "mime",
    [TG_EXEC_SPILL] = "spill",
    NULL,
};

static int
tg_exec_params_read_input(tg_exec_params_t *params, tg_str_t raw, tg_str_t mime)
{
    char *at, *text;

    params->input = TG_STR("");

    if (raw.data == NULL && mime.data == NULL) {
        return TG_OK;
    }

    params->memory = malloc(raw.len + mime.len);

    if (params->memory == NULL) {
        return TG_NOMEM;
    }

    at = params->memory;

    if (mime.data != NULL) {
        (void) tg_param_read_string(&at, mime, &text);
        params->output_params.mime = text;
    }

    if (raw.data != NULL) {
        params->input = tg_str(at,
                               tg_json_unescape(at, tg_json_string_body(raw)));
    }

    return TG_OK;
}

/*
 * Returns the index of a value in a list of words: 0 if the value is absent,
 * `n` if it is not in the list.
 */
static size_t
tg_exec_params_find_word(tg_str_t raw, const char *const *words, size_t n)
{
    size_t i;

    if (raw.data == NULL) {
        return 0;
    }

    for (i = 0; i < n && !tg_json_string_eq(raw, tg_str_from_cstr(words[i]));
         i++) {
        /* void */
    }

    return i;
}

static int
tg_exec_params_read_statuses(tg_exec_output_params_t *output_params,
                             tg_str_t raw)
{
    int64_t status;
    tg_json_cursor_t json;
    tg_str_t value;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        return TG_INVALID;
    }

    output_params->has_success = 1;

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        status = -1;

        if (tg_param_read_int(value, 0, TG_EXEC_EXIT_STATUSES - 1, &status)
            != TG_OK) {
            return TG_INVALID;
        }

        output_params->success[status / 32] |= UINT32_C(1) << status % 32;
    }

    return TG_OK;
}

static int
tg_exec_params_read_output(tg_exec_output_params_t *output_params,
                           const tg_str_t *values)
{
    static const char *const errs[] = { "error", "drop", "append" };
    static const char *const bytes[] = { "none", "image", "audio", "file" };
    int64_t max_output;
    size_t err, kind;

    max_output = TG_EXEC_OUTPUT_DEFAULT;
    err = tg_exec_params_find_word(values[TG_EXEC_STDERR], errs, 3);
    kind = tg_exec_params_find_word(values[TG_EXEC_BYTES], bytes, 4);

    if (tg_param_read_output_type(values[TG_EXEC_OUTPUT_TYPE],
                                  &output_params->type)
            != TG_OK
        || tg_param_read_int(values[TG_EXEC_MAX_OUTPUT], 0, TG_EXEC_OUTPUT_MAX,
                             &max_output)
               != TG_OK
        || tg_exec_params_read_statuses(output_params, values[TG_EXEC_SUCCESS])
               != TG_OK
        || err == 3 || kind == 4
        || !tg_param_is_string_or_absent(values[TG_EXEC_MIME])
        || (kind != 0) != (values[TG_EXEC_MIME].data != NULL)
        || tg_output_store_params_read(&output_params->store_params, NULL,
                                       values[TG_EXEC_SPILL])
               != TG_OK)
    {
        return TG_INVALID;
    }

    output_params->max_output = (size_t) max_output;
    output_params->err = (tg_exec_stderr_t) err;
    output_params->bytes = (tg_exec_binary_t) kind;

    return TG_OK;
}

int
tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                    const char *tool, const tg_program_base_env_t *env,
                    const char **why)
{
    tg_program_raw_params_t raw;
    tg_str_t input;
    int rc;

    memset(params, 0, sizeof(*params));
    raw.argv = values[TG_EXEC_ARGV];
    raw.env = values[TG_EXEC_ENV];
    raw.cwd = values[TG_EXEC_CWD];
    raw.memory = values[TG_EXEC_MEMORY];
    raw.pids = values[TG_EXEC_PIDS];
    input = values[TG_EXEC_STDIN];
    rc = TG_INVALID;

    if (tg_param_is_string_or_absent(input)
        && tg_exec_params_read_output(&params->output_params, values) == TG_OK)
    {
        rc = tg_program_params_read(&params->program, &raw, env, tool, why);
    }

    if (rc == TG_INVALID) {
        *why = "argv must be an array of at least one string, env one of "
               "strings, cwd and stdin a string, output text, json or "
               "result, max_output 0 to 33554432, memory and pids at least 1, "
               "success an array of numbers from 0 to 255, stderr error, drop "
               "or append, bytes image, audio or file, with mime, spill an "
               "object of owner, quota, keep_ms and preview";
    }

    if (rc != TG_OK) {
        return rc;
    }

    params->size = params->program.size + input.len;
    rc = tg_exec_params_read_input(params, input, values[TG_EXEC_MIME]);

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
