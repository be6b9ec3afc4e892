/* Reads the params that all job types have, and single values. */
#include "runner/jobs/tg_job_params.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* Splits the params in one pass: those of a type may have megabytes. */
static int
tg_job_params_split(tg_str_t raw, const tg_json_field_t *fields,
                    tg_str_t *values, tg_str_t *common)
{
    tg_json_field_t all[TG_JSON_FIELDS_MAX + 1];
    tg_str_t found[TG_JSON_FIELDS_MAX];
    size_t n, ncommon;

    n = fields != NULL ? tg_json_count_fields(fields) : 0;
    ncommon = tg_json_count_fields(tg_job_fields);
    memcpy(all, tg_job_fields, ncommon * sizeof(all[0]));

    if (n != 0) {
        memcpy(all + ncommon, fields, n * sizeof(all[0]));
    }

    all[ncommon + n].name = NULL;

    if (tg_json_split_fields(all, raw, found) != TG_OK) {
        return TG_INVALID;
    }

    memcpy(common, found, ncommon * sizeof(found[0]));
    memcpy(values, found + ncommon, n * sizeof(found[0]));

    return TG_OK;
}

int
tg_param_read_string(char **at, tg_str_t raw, char **text)
{
    size_t len;

    len = tg_json_unescape(*at, tg_json_string_body(raw));
    *text = *at;
    (*at)[len] = '\0';
    *at += len + 1;

    return memchr(*text, '\0', len) == NULL ? TG_OK : TG_LIMIT;
}

int
tg_param_read_strings(char **at, tg_str_t raw, char ***slots)
{
    tg_json_cursor_t json;
    tg_str_t value;

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        if (tg_param_read_string(at, value, (*slots)++) != TG_OK) {
            return TG_LIMIT;
        }
    }

    *(*slots)++ = NULL;

    return TG_OK;
}

static int
tg_job_params_read_limit(tg_job_params_t *params, char **at, tg_str_t raw,
                         const char **why)
{
    tg_job_limit_t values;
    tg_limit_spec_t *limit;

    if (params->nlimits == TG_JOB_LIMITS_MAX
        || tg_json_read_fields(tg_job_limit_fields, raw, &values, why) != TG_OK)
    {
        return TG_INVALID;
    }

    limit = &params->limits[params->nlimits++];
    limit->concurrency = (unsigned) values.concurrency;
    limit->queue = (unsigned) values.queue;

    return tg_param_read_string(at, values.name, &limit->name) == TG_OK
                   && tg_param_read_string(at, values.key, &limit->key) == TG_OK
               ? TG_OK
               : TG_INVALID;
}

static int
tg_job_params_read_limits(tg_job_params_t *params, char **at, tg_str_t raw,
                          const char **why)
{
    tg_json_cursor_t json;
    tg_str_t value;
    int rc;

    if (raw.data == NULL) {
        return TG_OK;
    }

    tg_json_init(&json, raw);
    rc = tg_json_enter_array(&json);

    while (rc == TG_OK && (rc = tg_json_next_element(&json)) == TG_OK) {
        (void) tg_json_read_value(&json, &value);
        rc = tg_job_params_read_limit(params, at, value, why);
    }

    return rc == TG_END ? TG_OK : TG_INVALID;
}

static int
tg_job_params_read_strings(tg_job_params_t *params, const tg_job_spec_t *values,
                           const char **why)
{
    char *at;

    at = params->memory;
    *why = "has a NUL character in the name of its tool";

    if (tg_param_read_string(&at, values->tool, &params->tool) != TG_OK) {
        return TG_LIMIT;
    }

    *why = "limits must be an array of at most 4 objects, each with name and "
           "key (strings without NUL), concurrency (at least 1) and queue "
           "(at least 0)";

    return tg_job_params_read_limits(params, &at, values->limits, why);
}

int
tg_job_params_read(tg_job_params_t *params, tg_str_t raw,
                   const tg_json_field_t *fields, uint64_t timeout_ms,
                   tg_str_t *values, const char **why)
{
    tg_str_t split[TG_JSON_FIELDS_MAX];
    tg_job_spec_t common;
    int rc;

    memset(params, 0, sizeof(*params));
    *why = "params must be an object with a string tool";

    if (tg_job_params_split(raw, fields, values, split) != TG_OK
        || tg_json_store_fields(tg_job_fields, split, &common, why) != TG_OK)
    {
        return TG_INVALID;
    }

    params->timeout_ms = common.timeout_ms != 0 ? (uint64_t) common.timeout_ms
                                                : timeout_ms;
    params->max_timeout_ms = (uint64_t) common.max_timeout_ms;
    params->call = common.call;
    params->max_answer = (size_t) common.max_answer;
    params->is_text_only = (int) common.is_text_only;
    params->size = common.tool.len + common.limits.len + 1;
    params->memory = malloc(params->size);

    if (params->memory == NULL) {
        return TG_NOMEM;
    }

    rc = tg_job_params_read_strings(params, &common, why);

    if (rc != TG_OK) {
        tg_job_params_free(params);
    }

    return rc;
}

void
tg_job_params_free(tg_job_params_t *params)
{
    free(params->memory);
    memset(params, 0, sizeof(*params));
}
