/* The members and directives of `task_agent`. */
#include "spec/tg_agent_spec.h"

#include "spec/tg_program_spec.h"
#include "spec/tg_output_spec.h"

#define TG_AGENT_FIELD(text, kind, member)                                     \
    .name = text, .type = kind, TG_FIELD_AT(tg_agent_spec_t, member)

const tg_json_field_t tg_agent_fields[] = {
    { TG_AGENT_FIELD("name", TG_FIELD_STRING, name), .is_required = 1 },
    { TG_AGENT_FIELD("argv", TG_FIELD_RAW, argv) },
    { TG_AGENT_FIELD("env", TG_FIELD_RAW, env) },
    { TG_AGENT_FIELD("cwd", TG_FIELD_RAW, cwd) },
    { TG_AGENT_FIELD("stdin", TG_FIELD_RAW, input) },
    { TG_AGENT_FIELD("success", TG_FIELD_RAW, success) },
    { TG_AGENT_FIELD("memory", TG_FIELD_INT, memory), .min = 1,
      .max = INT64_MAX, .absent = TG_SPEC_UNSET,
      .option = &tg_program_memory_option },
    { TG_AGENT_FIELD("pids", TG_FIELD_INT, pids), .min = 1, .max = INT64_MAX,
      .absent = TG_SPEC_UNSET, .option = &tg_program_pids_option },
    { TG_AGENT_FIELD("timeout_ms", TG_FIELD_INT, timeout_ms), .min = 1,
      .max = INT32_MAX },
    { TG_AGENT_FIELD("concurrency", TG_FIELD_INT, concurrency), .min = 1,
      .max = TG_TASK_CONCURRENCY_MAX, .absent = TG_TASK_CONCURRENCY_MAX },
    { TG_AGENT_FIELD("max_output", TG_FIELD_INT, max_output), .max = INT64_MAX,
      .absent = TG_OUTPUT_DEFAULT },
    { TG_AGENT_FIELD("retry", TG_FIELD_INT, retry), .max = INT64_MAX },
    { .name = NULL },
};
