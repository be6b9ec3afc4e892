/* Reads the params of the method `exec`. */
#include "runner/exec/tg_exec_params.h"

#include "base/tg_json.h"
#include "runner/jobs/tg_job_params.h"

#include <stdlib.h>

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

static int
tg_exec_params_read_output(tg_exec_output_params_t *output_params,
                           const tg_exec_spec_t *spec, const char **why)
{
    if ((spec->bytes != TG_EXEC_BINARY_NONE) != (spec->mime.data != NULL)) {
        *why = "bytes and mime must be set together";
        return TG_INVALID;
    }

    output_params->type = (tg_output_type_t) spec->output;
    output_params->max_output = (size_t) spec->max_output;
    output_params->err = (tg_exec_stderr_t) spec->err;
    output_params->bytes = (tg_exec_binary_t) spec->bytes;
    output_params->success = spec->success;

    return tg_output_store_params_read(&output_params->store_params, NULL,
                                       spec->spill, why);
}

int
tg_exec_params_read(tg_exec_params_t *params, const tg_str_t *values,
                    const char *tool, const tg_program_base_env_t *env,
                    const char **why)
{
    tg_exec_spec_t spec;
    int rc;

    memset(params, 0, sizeof(*params));
    memset(&spec, 0, sizeof(spec));

    if (tg_json_store_fields(tg_exec_fields, values, &spec, why) != TG_OK
        || tg_exec_params_read_output(&params->output_params, &spec, why)
               != TG_OK)
    {
        return TG_INVALID;
    }

    rc = tg_program_params_read(&params->program, &spec.program, env, tool,
                                why);

    if (rc != TG_OK) {
        return rc;
    }

    params->size = params->program.size + spec.input.len;
    rc = tg_exec_params_read_input(params, spec.input, spec.mime);

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
