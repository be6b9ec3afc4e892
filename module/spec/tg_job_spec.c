/* The members and directives of limits. */
#include "spec/tg_job_spec.h"

#define TG_JOB_TIMEOUT_ERROR                                                   \
    "timeout_ms and max_timeout_ms must be 1 to 2147483647"

static const char *const tg_rate_log_levels[] = { "error", "warn", "notice",
                                                  "info", NULL };

const tg_json_field_t tg_job_fields[] = {
    { TG_FIELD(tg_job_spec_t, "tool", TG_FIELD_STRING, tool),
      .is_required = 1 },
    { TG_FIELD(tg_job_spec_t, "timeout_ms", TG_FIELD_INT, timeout_ms), .min = 1,
      .max = TG_JOB_TIMEOUT_MAX, .why = TG_JOB_TIMEOUT_ERROR,
      TG_TOOL_OPTION("timeout", .syntax = TG_SPEC_TIME, .max = TG_TIMEOUT_MAX,
                     .initial = TG_TIMEOUT_DEFAULT,
                     .expected = "between 1ms and 24h, such as \"30s\", or "
                                 "\"30s max=2h\", with a max that is not less, "
                                 "for calls that report progress") },
    { TG_FIELD(tg_job_spec_t, "max_timeout_ms", TG_FIELD_INT, max_timeout_ms),
      .min = 1, .max = TG_JOB_TIMEOUT_MAX, .absent = TG_JOB_TIMEOUT_MAX,
      .why = TG_JOB_TIMEOUT_ERROR,
      TG_PARAMETER("max=", .syntax = TG_SPEC_TIME, .max = TG_TIMEOUT_MAX,
                   .initial = TG_MAX_TIMEOUT_DEFAULT) },
    { TG_FIELD(tg_job_spec_t, "limits", TG_FIELD_RAW, limits) },
    { TG_FIELD(tg_job_spec_t, "call", TG_FIELD_INT, call), .min = 1,
      .max = INT64_MAX, .why = "call must be a number, at least 1" },
    { TG_FIELD(tg_job_spec_t, "max_answer", TG_FIELD_INT, max_answer), .min = 1,
      .max = INT64_MAX, .why = "max_answer must be a number, at least 1" },
    { TG_FIELD(tg_job_spec_t, "text_only", TG_FIELD_FLAG, is_text_only) },
    { .name = NULL },
};

const tg_json_field_t tg_job_limit_fields[] = {
    { TG_FIELD(tg_job_limit_t, "name", TG_FIELD_STRING, name),
      .is_required = 1 },
    { TG_FIELD(tg_job_limit_t, "key", TG_FIELD_STRING, key), .is_required = 1 },
    { TG_FIELD(tg_job_limit_t, "concurrency", TG_FIELD_INT, concurrency),
      .is_required = 1, .min = 1, .max = INT32_MAX,
      TG_TOOL_OPTION("concurrency", .syntax = TG_SPEC_NUMBER,
                     .max = TG_CONCURRENCY_MAX, .noun = "",
                     .expected = "how many calls may run at once and how many "
                                 "may wait, each at most 65536, such as \"%V 2 "
                                 "queue=10\"") },
    { TG_FIELD(tg_job_limit_t, "queue", TG_FIELD_INT, queue), .max = INT32_MAX,
      TG_PARAMETER("queue=", .syntax = TG_SPEC_NUMBER,
                   .max = TG_CONCURRENCY_MAX) },
    { .name = NULL },
};

const tg_json_field_t tg_rate_fields[] = {
    { TG_FIELD(tg_rate_t, TG_SPEC_NOT_JSON, TG_FIELD_INT, rate), .min = 1,
      .max = TG_CONCURRENCY_MAX,
      TG_TOOL_OPTION("rate", .syntax = TG_SPEC_RATE, .noun = "",
                     .expected = "a rate per second or minute, and optionally "
                                 "a burst, such as \"%V 10r/s burst=5\" or "
                                 "\"%V 30r/m\"; \"dry_run\" and \"log_level=\" "
                                 "with info, notice, warn or error may "
                                 "follow") },
    { TG_FIELD(tg_rate_t, TG_SPEC_NOT_JSON, TG_FIELD_INT, burst),
      .max = TG_CONCURRENCY_MAX,
      TG_PARAMETER("burst=", .syntax = TG_SPEC_NUMBER) },
    { TG_FIELD(tg_rate_t, TG_SPEC_NOT_JSON, TG_FIELD_FLAG, dry_run),
      TG_PARAMETER("dry_run", .syntax = TG_SPEC_FLAG) },
    { TG_FIELD(tg_rate_t, TG_SPEC_NOT_JSON, TG_FIELD_WORD, log_level),
      .words = tg_rate_log_levels,
      TG_PARAMETER("log_level=", .syntax = TG_SPEC_WORD) },
    { .name = NULL },
};
