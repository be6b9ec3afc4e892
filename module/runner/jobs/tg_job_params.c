/* Reads the params that all job types have, and single values for the types. */
#include "runner/jobs/tg_job_params.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* Common params of every job, stored after the params of its type. */
enum {
    TG_JOB_TOOL,
    TG_JOB_TIMEOUT_MS,
    TG_JOB_MAX_TIMEOUT_MS,
    TG_JOB_LIMITS,
    TG_JOB_CALL,
    TG_JOB_MAX_ANSWER,
    TG_JOB_TEXT_ONLY,
    TG_JOB_MEMBERS
};

static const char *const tg_job_members[] = {
    [TG_JOB_TOOL] = "tool",
    [TG_JOB_TIMEOUT_MS] = "timeout_ms",
    [TG_JOB_MAX_TIMEOUT_MS] = "max_timeout_ms",
    [TG_JOB_LIMITS] = "limits",
    [TG_JOB_CALL] = "call",
    [TG_JOB_MAX_ANSWER] = "max_answer",
    [TG_JOB_TEXT_ONLY] = "text_only",
    [TG_JOB_MEMBERS] = NULL,
};

/*
 * Splits the params into params of the type and common params, in one pass, as
 * params of a type may have megabytes.
 */
static int
tg_job_params_split(tg_str_t raw, const char *const *members, tg_str_t *values,
                    tg_str_t *common)
{
    const char *names[TG_JOB_MEMBERS_MAX + TG_JOB_MEMBERS + 1];
    tg_str_t all[TG_JOB_MEMBERS_MAX + TG_JOB_MEMBERS];
    size_t n;

    for (n = 0; members[n] != NULL; n++) {
        names[n] = members[n];
    }

    memcpy(names + n, tg_job_members, sizeof(tg_job_members));

    if (tg_json_get_members(raw, names, all) != TG_OK) {
        return TG_INVALID;
    }

    memcpy(values, all, n * sizeof(values[0]));
    memcpy(common, all + n, TG_JOB_MEMBERS * sizeof(common[0]));

    return TG_OK;
}

int
tg_param_read_int(tg_str_t raw, int64_t least, int64_t most, int64_t *value)
{
    int64_t number;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_parse_int64(raw, &number) != TG_OK || number < least
        || number > most)
    {
        return TG_INVALID;
    }

    *value = number;

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
tg_param_count_strings(tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t body;
    int n, rc;

    if (raw.data == NULL) {
        return 0;
    }

    tg_json_init(&json, raw);
    rc = tg_json_enter_array(&json);

    for (n = 0; rc == TG_OK; n++) {
        rc = tg_json_next_element(&json);

        if (rc == TG_END) {
            return n;
        }

        if (rc == TG_OK) {
            rc = tg_json_read_string(&json, &body);
        }
    }

    return -1;
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

int
tg_param_is_string_or_absent(tg_str_t raw)
{
    return raw.data == NULL || tg_json_type(raw) == TG_JSON_STRING;
}

int
tg_param_read_output_type(tg_str_t raw, tg_output_type_t *output)
{
    static const char *const names[] = {
        [TG_OUTPUT_TEXT] = "text",
        [TG_OUTPUT_JSON] = "json",
        [TG_OUTPUT_RESULT] = "result",
    };
    size_t i;

    *output = TG_OUTPUT_TEXT;

    for (i = 0; raw.data != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        if (tg_json_string_eq(raw, tg_str_from_cstr(names[i]))) {
            *output = (tg_output_type_t) i;
            return TG_OK;
        }
    }

    return raw.data == NULL ? TG_OK : TG_INVALID;
}

static int
tg_job_params_read_limit(tg_job_params_t *params, char **at, tg_str_t raw)
{
    tg_str_t name, key, number;
    int64_t concurrency, queue;
    tg_limit_spec_t *limit;

    concurrency = 1;
    queue = 0;

    if (tg_json_type(raw) != TG_JSON_OBJECT
        || params->nlimits == TG_JOB_LIMITS_MAX
        || tg_json_get_member(raw, TG_STR("name"), &name) != TG_OK
        || tg_json_type(name) != TG_JSON_STRING
        || tg_json_get_member(raw, TG_STR("key"), &key) != TG_OK
        || tg_json_type(key) != TG_JSON_STRING
        || tg_json_get_member(raw, TG_STR("concurrency"), &number) != TG_OK
        || tg_param_read_int(number, 1, INT32_MAX, &concurrency) != TG_OK)
    {
        return TG_INVALID;
    }

    if (tg_json_get_member(raw, TG_STR("queue"), &number) == TG_OK
        && tg_param_read_int(number, 0, INT32_MAX, &queue) != TG_OK)
    {
        return TG_INVALID;
    }

    limit = &params->limits[params->nlimits++];
    limit->concurrency = (unsigned) concurrency;
    limit->queue = (unsigned) queue;

    return tg_param_read_string(at, name, &limit->name) == TG_OK
                   && tg_param_read_string(at, key, &limit->key) == TG_OK
               ? TG_OK
               : TG_INVALID;
}

static int
tg_job_params_read_limits(tg_job_params_t *params, char **at, tg_str_t raw)
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
        rc = tg_job_params_read_limit(params, at, value);
    }

    return rc == TG_END ? TG_OK : TG_INVALID;
}

static int
tg_job_params_read_strings(tg_job_params_t *params, const tg_str_t *common,
                           const char **why)
{
    char *at;

    at = params->memory;
    *why = "has a NUL character in the name of its tool";

    if (tg_param_read_string(&at, common[TG_JOB_TOOL], &params->tool) != TG_OK)
    {
        return TG_LIMIT;
    }

    *why = "limits must be an array of at most 4 objects with name and key, "
           "which are strings without NUL, concurrency from 1 and queue from 0";

    return tg_job_params_read_limits(params, &at, common[TG_JOB_LIMITS]);
}

static int
tg_job_params_read_numbers(tg_job_params_t *params, const tg_str_t *common,
                           int64_t timeout, const char **why)
{
    int64_t max_timeout, max_answer;

    max_timeout = TG_JOB_TIMEOUT_MAX;
    max_answer = 0;
    *why = "timeout_ms and max_timeout_ms must be 1 to 2147483647";

    if (tg_param_read_int(common[TG_JOB_TIMEOUT_MS], 1, TG_JOB_TIMEOUT_MAX,
                          &timeout)
            != TG_OK
        || tg_param_read_int(common[TG_JOB_MAX_TIMEOUT_MS], 1,
                             TG_JOB_TIMEOUT_MAX, &max_timeout)
               != TG_OK)
    {
        return TG_INVALID;
    }

    *why = "call must be a number from 1";

    if (tg_param_read_int(common[TG_JOB_CALL], 1, INT64_MAX, &params->call)
        != TG_OK)
    {
        return TG_INVALID;
    }

    *why = "max_answer must be a number from 1";

    if (tg_param_read_int(common[TG_JOB_MAX_ANSWER], 1, INT64_MAX, &max_answer)
        != TG_OK)
    {
        return TG_INVALID;
    }

    params->timeout_ms = (uint64_t) timeout;
    params->max_timeout_ms = (uint64_t) max_timeout;
    params->max_answer = (size_t) max_answer;
    params->is_text_only = tg_json_type(common[TG_JOB_TEXT_ONLY])
                           == TG_JSON_TRUE;

    return TG_OK;
}

int
tg_job_params_read(tg_job_params_t *params, tg_str_t raw,
                   const char *const *members, uint64_t timeout_ms,
                   tg_str_t *values, const char **why)
{
    tg_str_t common[TG_JOB_MEMBERS];
    int rc;

    memset(params, 0, sizeof(*params));
    *why = "params must be an object in which tool is a string";

    if (tg_job_params_split(raw, members, values, common) != TG_OK
        || common[TG_JOB_TOOL].data == NULL
        || tg_json_type(common[TG_JOB_TOOL]) != TG_JSON_STRING
        || tg_job_params_read_numbers(params, common, (int64_t) timeout_ms, why)
               != TG_OK)
    {
        return TG_INVALID;
    }

    params->size = common[TG_JOB_TOOL].len + common[TG_JOB_LIMITS].len + 1;
    params->memory = malloc(params->size);

    if (params->memory == NULL) {
        return TG_NOMEM;
    }

    rc = tg_job_params_read_strings(params, common, why);

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
