/* Options: set, inherited, written; the tables of all features. */
#include "protocol_help.h"

#include "spec/tg_exec_spec.h"
#include "spec/tg_http_spec.h"
#include "spec/tg_job_spec.h"
#include "spec/tg_mcp_server_spec.h"
#include "spec/tg_output_spec.h"
#include "spec/tg_rule_spec.h"
#include "spec/tg_task_spec.h"

HELP_TEST(inherit, "inheritance and JSON")
{
    tg_exec_spec_t server, tool;
    HELP_BUFFER(json);

    tg_spec_init(tg_exec_fields, &server);
    tg_spec_init(tg_exec_fields, &tool);
    tg_spec_write(tg_exec_fields, &tool, &json);
    CU_ASSERT(json.len == 0);
    CU_ASSERT_PTR_NULL(tg_spec_find_set(tg_exec_fields, &tool));

    server.program.options.memory = 1 << 20;
    server.program.options.pids = 7;
    server.success.is_set = 1;
    server.success.bits[0] = 5;
    tool.program.options.pids = 3;
    tool.err = TG_EXEC_STDERR_DROP;
    CU_ASSERT_STRING_EQUAL(tg_spec_find_set(tg_exec_fields, &tool), "pids");
    tg_spec_inherit(tg_exec_fields, &tool, &server);
    tg_json_begin_object(&json);
    tg_spec_write(tg_exec_fields, &tool, &json);
    tg_buf_append_char(&json, '}');
    HELP_EQ(tg_buf_view(&json),
            "{\"memory\":1048576,\"pids\":3,\"success\":[0,2],"
            "\"stderr\":\"drop\"}");
}

HELP_TEST(defaults, "defaults")
{
    tg_mcp_server_spec_t spec;
    tg_task_spec_t tasks;

    tg_spec_init(tg_task_fields, &tasks);
    tasks.queue_max = 7;
    tg_spec_set_defaults(tg_task_fields, &tasks);
    CU_ASSERT(tasks.queue_max == 7);
    CU_ASSERT(tasks.concurrency == TG_TASK_CONCURRENCY_DEFAULT);
    tg_spec_init(tg_mcp_server_fields, &spec);
    spec.idle_ms = 0;
    tg_spec_set_defaults(tg_mcp_server_fields, &spec);
    CU_ASSERT(spec.share == TG_MCP_SHARE_ALL);
    CU_ASSERT(spec.idle_ms == 0);
    CU_ASSERT(spec.start_ms == TG_MCP_SERVER_START_MS);
    CU_ASSERT(spec.program.options.memory == 0);
}

/* A row has a directive, or belongs to the one of the row before it. */
static void
test_option(const tg_json_field_t *field, const tg_spec_option_t *option)
{
    if (option->parameter != NULL) {
        CU_ASSERT_PTR_NULL(option->directive);
        CU_ASSERT_PTR_NULL(option->inherited);
    } else {
        CU_ASSERT(option->directive != NULL || option->inherited != NULL
                  || option->expected != NULL);
    }

    if (option->syntax < TG_SPEC_WORD) {
        CU_ASSERT(option->min <= (option->max != 0 ? option->max : field->max));
    }
}

HELP_TEST(parameters, "parameters of a directive")
{
    tg_output_spec_t server, tool;
    tg_spill_spec_t stream, spill;
    HELP_BUFFER(json);

    tg_spec_init(tg_output_fields, &server);
    tg_spec_init(tg_output_fields, &tool);
    server.max_output = 10;
    server.is_stored = 1;
    tool.max_output = 20;
    tg_spec_set_parameter_defaults(tg_output_fields, &tool);
    CU_ASSERT(tool.is_stored == 0);
    CU_ASSERT(tool.preview == TG_SPEC_UNSET);

    /* A directive is inherited with its parameters, or not at all. */
    tg_spec_inherit(tg_output_fields, &tool, &server);
    CU_ASSERT(tool.max_output == 20);
    CU_ASSERT(tool.is_stored == 0);
    tg_spec_set_defaults(tg_output_fields, &tool);
    CU_ASSERT(tool.preview == 0);

    /* A server inherits each parameter of its own directives alone. */
    tg_spec_init(tg_spill_fields, &stream);
    tg_spec_init(tg_spill_fields, &spill);
    stream.quota = 10;
    stream.keep_ms = 11;
    spill.quota = 20;
    tg_spec_set_parameter_defaults(tg_spill_fields, &spill);
    tg_spec_inherit(tg_spill_fields, &spill, &stream);
    CU_ASSERT(spill.quota == 20);
    CU_ASSERT(spill.keep_ms == 11);

    /* Not all members are JSON. */
    tg_json_begin_object(&json);
    tg_spec_write(tg_output_fields, &tool, &json);
    HELP_EQ(tg_buf_view(&json), "{\"max_output\":20");
}

static void
test_table(const tg_json_field_t *fields)
{
    const tg_json_field_t *field;

    CU_ASSERT(tg_json_count_fields(fields) <= TG_JSON_FIELDS_MAX);

    for (field = fields; field->name != NULL; field++) {
        CU_ASSERT(field->type != TG_FIELD_INT || field->min < field->max);
        CU_ASSERT(field->type != TG_FIELD_WORD || field->words != NULL);

        if (field->option != NULL) {
            CU_ASSERT((field->type < TG_FIELD_INT)
                      == (field->option->syntax >= TG_SPEC_TEXT
                          && field->option->syntax <= TG_SPEC_LIST));
            CU_ASSERT((field->type == TG_FIELD_BITS)
                      == (field->option->syntax == TG_SPEC_NUMBERS));
            CU_ASSERT((field->words != NULL)
                      == (field->option->syntax == TG_SPEC_WORD));
            test_option(field, field->option);
        }
    }
}

HELP_TEST(tables, "rows of all features")
{
    test_table(tg_exec_fields);
    test_table(tg_http_fields);
    test_table(tg_mcp_server_fields);
    test_table(tg_agent_fields);
    test_table(tg_task_fields);
    test_table(tg_job_fields);
    test_table(tg_job_limit_fields);
    test_table(tg_rate_fields);
    test_table(tg_output_fields);
    test_table(tg_spill_fields);
    test_table(tg_rule_fields);
    test_table(tg_rule_action_fields);
    test_table(tg_cron_trigger_fields);
    test_table(tg_event_trigger_fields);
    test_table(tg_file_trigger_fields);
}
