/* The members and directives of `exec`. */
#include "spec/tg_exec_spec.h"

#include "spec/tg_output_spec.h"

#define TG_EXEC_FIELD(text, kind, member)                                      \
    .name = text, .type = kind, TG_FIELD_AT(tg_exec_spec_t, member)

static const char *const tg_exec_binary_words[] = { "none", "image", "audio",
                                                    "file", NULL };
static const char *const tg_exec_stderr_words[] = { "error", "drop", "append",
                                                    NULL };

const tg_spec_option_t tg_program_memory_option = {
    .directive = "memory",
    .inherited = "tool_memory",
    .syntax = TG_SPEC_SIZE,
    .min = TG_PROGRAM_MEMORY_MIN,
    .noun = "value",
    .expected = "1m or more, such as \"512m\"",
};

const tg_spec_option_t tg_program_pids_option = {
    .directive = "pids",
    .inherited = "tool_pids",
    .syntax = TG_SPEC_SIZE,
    .noun = "value",
    .expected = "the maximum number of processes and threads, such as \"20\"",
};

static const tg_spec_option_t tg_exec_nice_option = {
    .directive = "nice",
    .inherited = "tool_nice",
    .syntax = TG_SPEC_NUMBER,
    .noun = "number",
    .expected = "0 to 19",
};

static const tg_spec_option_t tg_exec_success_option = {
    .directive = "success",
    .inherited = "tool_success",
    .syntax = TG_SPEC_NUMBERS,
    .noun = "status",
    .expected = "numbers from 0 to 255, such as \"0 1\"",
};

static const tg_spec_option_t tg_exec_stderr_option = {
    .directive = "stderr",
    .inherited = "tool_stderr",
    .syntax = TG_SPEC_WORD,
    .noun = "value",
    .expected = "one of error, drop, append",
};

const tg_json_field_t tg_exec_fields[] = {
    { TG_EXEC_FIELD("argv", TG_FIELD_STRINGS, program.argv), .is_required = 1,
      .min = 1, .why = "argv must be an array of at least one string" },
    { TG_EXEC_FIELD("env", TG_FIELD_STRINGS, program.env),
      .why = "env must be an array of strings" },
    { TG_EXEC_FIELD("cwd", TG_FIELD_STRING, program.cwd),
      .why = "cwd must be a string" },
    { TG_EXEC_FIELD("stdin", TG_FIELD_STRING, input),
      .why = "stdin must be a string" },
    { TG_EXEC_FIELD("output", TG_FIELD_WORD, output),
      .words = tg_output_type_words,
      .why = "output must be text, json or result" },
    { TG_EXEC_FIELD("max_output", TG_FIELD_INT, max_output),
      .max = TG_OUTPUT_MAX, .absent = TG_OUTPUT_DEFAULT,
      .why = "max_output must be an integer from 0 to 33554432" },
    { TG_EXEC_FIELD("bytes", TG_FIELD_WORD, bytes),
      .words = tg_exec_binary_words,
      .why = "bytes must be image, audio or file" },
    { TG_EXEC_FIELD("mime", TG_FIELD_STRING, mime),
      .why = "mime must be a string" },
    { TG_EXEC_FIELD("spill", TG_FIELD_OBJECT, spill),
      .why = "spill must be an object" },
    { TG_EXEC_FIELD("memory", TG_FIELD_INT, program.options.memory), .min = 1,
      .max = INT64_MAX, .why = "memory must be an integer from 1",
      .option = &tg_program_memory_option },
    { TG_EXEC_FIELD("pids", TG_FIELD_INT, program.options.pids), .min = 1,
      .max = INT64_MAX, .why = "pids must be an integer from 1",
      .option = &tg_program_pids_option },
    { TG_EXEC_FIELD("nice", TG_FIELD_INT, program.options.nice), .max = 19,
      .why = "nice must be an integer from 0 to 19",
      .option = &tg_exec_nice_option },
    { TG_EXEC_FIELD("success", TG_FIELD_BITS, success),
      .why = "success must be an array of integers from 0 to 255",
      .option = &tg_exec_success_option },
    { TG_EXEC_FIELD("stderr", TG_FIELD_WORD, err),
      .words = tg_exec_stderr_words,
      .why = "stderr must be error, drop or append",
      .option = &tg_exec_stderr_option },
    { .name = NULL },
};
