/* The members and directives of `exec`. */
#include "spec/tg_exec_spec.h"

#include "spec/tg_output_spec.h"

static const char *const tg_exec_binary_words[] = { "none", "image", "audio",
                                                    "file", NULL };
static const char *const tg_exec_stderr_words[] = { "error", "drop", "append",
                                                    NULL };

const tg_json_field_t tg_exec_fields[] = {
    { TG_ARGV_FIELD(tg_exec_spec_t, "argv", program.argv) },
    { TG_STRINGS_FIELD(tg_exec_spec_t, "env", program.env) },
    { TG_STRING_FIELD(tg_exec_spec_t, "cwd", program.cwd) },
    { TG_STRING_FIELD(tg_exec_spec_t, "stdin", input) },
    { TG_FIELD(tg_exec_spec_t, "output", TG_FIELD_WORD, output),
      .words = tg_output_type_words,
      .why = "output must be text, json, result, content or base64" },
    { TG_INT_FIELD(tg_exec_spec_t, "max_output", max_output, 0, TG_OUTPUT_MAX),
      .absent = TG_OUTPUT_DEFAULT },
    { TG_FIELD(tg_exec_spec_t, "bytes", TG_FIELD_WORD, bytes),
      .words = tg_exec_binary_words,
      .why = "bytes must be image, audio or file" },
    { TG_STRING_FIELD(tg_exec_spec_t, "mime", mime) },
    { TG_OBJECT_FIELD(tg_exec_spec_t, "spill", spill) },
    { TG_INT_FROM_FIELD(tg_exec_spec_t, "memory", program.options.memory, 1),
      TG_MEMORY_OPTION },
    { TG_INT_FROM_FIELD(tg_exec_spec_t, "pids", program.options.pids, 1),
      TG_PIDS_OPTION },
    { TG_INT_FIELD(tg_exec_spec_t, "nice", program.options.nice, 0, 19),
      TG_TOOL_OPTION("nice", .syntax = TG_SPEC_NUMBER) },
    { TG_FIELD(tg_exec_spec_t, "success", TG_FIELD_BITS, success),
      .why = "success must be an array of integers from 0 to 255",
      TG_TOOL_OPTION("success", .syntax = TG_SPEC_NUMBERS,
                     .expected = "numbers from 0 to 255, such as \"0 1\"") },
    { TG_FIELD(tg_exec_spec_t, "stderr", TG_FIELD_WORD, err),
      .words = tg_exec_stderr_words,
      .why = "stderr must be error, drop or append",
      TG_TOOL_OPTION("stderr", .syntax = TG_SPEC_WORD) },
    { .name = NULL },
};
