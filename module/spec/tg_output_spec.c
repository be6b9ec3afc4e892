/* The members and directives of a tool's output. */
#include "spec/tg_output_spec.h"

#define TG_OUTPUT_SIZE_EXPECTED "between 1 and 32m, such as \"64k\" or \"4m\""

const char *const tg_output_type_words[] = { "text",    "json",   "result",
                                             "content", "base64", NULL };

const tg_json_field_t tg_output_fields[] = {
    { TG_INT_FIELD(tg_output_spec_t, "max_output", max_output, 1,
                   TG_OUTPUT_MAX),
      TG_TOOL_OPTION("max_output", .syntax = TG_SPEC_SIZE,
                     .initial = TG_OUTPUT_DEFAULT,
                     .expected = TG_OUTPUT_SIZE_EXPECTED) },
    { TG_FIELD(tg_output_spec_t, TG_SPEC_NOT_JSON, TG_FIELD_FLAG, is_stored),
      TG_PARAMETER("spill", .syntax = TG_SPEC_FLAG,
                   .expected = "\"spill\", or nothing") },
    { TG_FIELD(tg_output_spec_t, TG_SPEC_NOT_JSON, TG_FIELD_INT, preview),
      .min = 1, .max = TG_OUTPUT_MAX,
      TG_TOOL_OPTION("preview", .syntax = TG_SPEC_SIZE_OR_OFF,
                     .expected = TG_OUTPUT_SIZE_EXPECTED) },
    { .name = NULL },
};

const tg_json_field_t tg_spill_fields[] = {
    { TG_FIELD(tg_spill_spec_t, "quota", TG_FIELD_INT, quota), .min = 1,
      .max = INT64_MAX,
      TG_OPTION(NULL, .inherited = "tool_output_store",
                .syntax = TG_SPEC_SIZE_OR_OFF, .min = TG_SPILL_QUOTA_MIN,
                .initial = TG_SPILL_QUOTA_DEFAULT,
                .expected = "a size of at least 1m, such as \"256m\" or "
                            "\"2g\", or \"off\"") },
    { TG_FIELD(tg_spill_spec_t, "keep_ms", TG_FIELD_INT, keep_ms), .min = 1,
      .max = INT32_MAX,
      TG_PARAMETER("time=", .syntax = TG_SPEC_TIME, .max = TG_SPILL_TIME_MAX,
                   .initial = TG_SPILL_TIME_DEFAULT,
                   .expected = "between 1ms and 24h, such as \"time=1h\"") },
    { TG_FIELD(tg_spill_spec_t, "preview", TG_FIELD_INT, preview), .min = 1,
      .max = TG_OUTPUT_MAX },
    { TG_FIELD(tg_spill_spec_t, "owner", TG_FIELD_STRING, owner),
      .is_required = 1 },
    { .name = NULL },
};
