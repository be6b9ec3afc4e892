/* The members and directives of a server's tasks. */
#include "spec/tg_task_spec.h"

#define TG_TASK_FIELD(text, kind, member)                                      \
    .name = text, .type = kind, TG_FIELD_AT(tg_task_spec_t, member)

static const tg_spec_option_t tg_task_concurrency_option = {
    .directive = "task_concurrency",
    .syntax = TG_SPEC_NUMBER,
    .initial = TG_TASK_CONCURRENCY_DEFAULT,
    .noun = "number",
    .expected = "1 to 32",
};

static const tg_spec_option_t tg_task_queue_option = {
    .directive = "task_queue",
    .syntax = TG_SPEC_NUMBER,
    .initial = TG_TASK_QUEUE_DEFAULT,
    .noun = "number",
    .expected = "1 to 100000",
};

static const tg_spec_option_t tg_task_keep_option = {
    .directive = "task_keep",
    .syntax = TG_SPEC_TIME,
    .min = 1000,
    .initial = TG_TASK_KEEP_DEFAULT_MS,
    .noun = "time",
    .expected = "a time such as \"7d\"",
};

static const tg_spec_option_t tg_task_output_quota_option = {
    .directive = "task_output_quota",
    .syntax = TG_SPEC_SIZE,
    .min = TG_TASK_OUTPUT_QUOTA_MIN,
    .initial = TG_TASK_OUTPUT_QUOTA_DEFAULT,
    .noun = "size",
    .expected = "\"2m\" or more",
};

const tg_json_field_t tg_task_fields[] = {
    { TG_TASK_FIELD("store", TG_FIELD_STRING, store), .is_required = 1 },
    { TG_TASK_FIELD("generation", TG_FIELD_STRING, generation) },
    { TG_TASK_FIELD("default", TG_FIELD_STRING, default_agent) },
    { TG_TASK_FIELD("concurrency", TG_FIELD_INT, concurrency), .min = 1,
      .max = TG_TASK_CONCURRENCY_MAX, .absent = 1,
      .option = &tg_task_concurrency_option },
    { TG_TASK_FIELD("queue", TG_FIELD_INT, queue_max), .min = 1,
      .max = TG_TASK_QUEUE_MAX, .absent = 1, .option = &tg_task_queue_option },
    { TG_TASK_FIELD("keep_ms", TG_FIELD_INT, keep_ms), .max = INT64_MAX,
      .absent = INT64_MAX, .option = &tg_task_keep_option },
    { TG_TASK_FIELD("rules", TG_FIELD_RAW, rules) },
    { TG_TASK_FIELD("agents", TG_FIELD_RAW, agents) },
    { TG_TASK_FIELD("password", TG_FIELD_STRING, password) },
    { TG_TASK_FIELD("lease_ms", TG_FIELD_INT, lease_ms), .min = 1000,
      .max = INT64_MAX / 1000, .absent = TG_TASK_LEASE_DEFAULT_MS },
    { TG_TASK_FIELD("output_quota", TG_FIELD_INT, output_quota),
      .max = INT64_MAX, .absent = INT64_MAX,
      .option = &tg_task_output_quota_option },
    { .name = NULL },
};
