/* The members and directives of `task_agent`. */
#include "spec/tg_agent_spec.h"

#include "spec/tg_program_spec.h"
#include "spec/tg_output_spec.h"

const tg_json_field_t tg_agent_fields[] = {
    { TG_FIELD(tg_agent_spec_t, "name", TG_FIELD_STRING, name),
      .is_required = 1 },
    { TG_FIELD(tg_agent_spec_t, "argv", TG_FIELD_RAW, argv) },
    { TG_FIELD(tg_agent_spec_t, "env", TG_FIELD_RAW, env) },
    { TG_FIELD(tg_agent_spec_t, "cwd", TG_FIELD_RAW, cwd) },
    { TG_FIELD(tg_agent_spec_t, "stdin", TG_FIELD_RAW, input) },
    { TG_FIELD(tg_agent_spec_t, "success", TG_FIELD_RAW, success) },
    { TG_FIELD(tg_agent_spec_t, "memory", TG_FIELD_INT, memory), .min = 1,
      .max = INT64_MAX, .absent = TG_SPEC_UNSET, TG_MEMORY_OPTION },
    { TG_FIELD(tg_agent_spec_t, "pids", TG_FIELD_INT, pids), .min = 1,
      .max = INT64_MAX, .absent = TG_SPEC_UNSET, TG_PIDS_OPTION },
    { TG_FIELD(tg_agent_spec_t, "timeout_ms", TG_FIELD_INT, timeout_ms),
      .min = 1, .max = INT32_MAX,
      TG_OPTION("timeout", .syntax = TG_SPEC_TIME,
                .initial = TG_AGENT_TIMEOUT_DEFAULT,
                .expected = "at most 24d, such as \"2h\"") },
    { TG_FIELD(tg_agent_spec_t, "concurrency", TG_FIELD_INT, concurrency),
      .min = 1, .max = TG_TASK_CONCURRENCY_MAX,
      .absent = TG_TASK_CONCURRENCY_MAX,
      TG_OPTION("concurrency", .syntax = TG_SPEC_NUMBER) },
    { TG_FIELD(tg_agent_spec_t, "max_output", TG_FIELD_INT, max_output),
      .max = INT64_MAX, .absent = TG_OUTPUT_DEFAULT,
      TG_OPTION("max_output", .syntax = TG_SPEC_SIZE, .min = 1,
                .initial = TG_AGENT_MAX_OUTPUT_DEFAULT,
                .expected = "a size such as \"10m\"") },
    { TG_FIELD(tg_agent_spec_t, "retry", TG_FIELD_INT, retry), .max = INT64_MAX,
      TG_OPTION("retry", .syntax = TG_SPEC_NUMBER, .max = TG_AGENT_RETRY_MAX) },
    { .name = NULL },
};
