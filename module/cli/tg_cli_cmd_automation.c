/* The command `toolgate automation`. */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool.h"

/* --- status --- */

/* Appends the members of an object that are texts, separated by blanks. */
static void
tg_cli_append_members(tg_buf_t *out, json_object *object,
                      const char *const *members)
{
    const char *blank;
    tg_str_t text;

    for (blank = ""; *members != NULL; members++) {
        text = tg_cli_json_get_text(object, *members);

        if (text.len != 0) {
            tg_buf_append_cstr(out, blank);
            tg_cli_append_first_line(out, text);
            blank = " ";
        }
    }
}

static void
tg_cli_cell_append_trigger(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    static const char *const members[] = { "type",    "source", "expression",
                                           "pattern", "path",   NULL };

    tg_cli_append_members(out, tg_cli_json_get_object(cell->row, cell->member),
                          members);
}

static void
tg_cli_cell_append_action(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    static const char *const members[] = { "type", "agent", "channel", "url",
                                           NULL };

    tg_cli_append_members(out, tg_cli_json_get_object(cell->row, cell->member),
                          members);
}

static void
tg_cli_cell_append_enabled(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_buf_append_cstr(out, tg_cli_json_is_true(cell->row, cell->member)
                                ? "yes"
                                : "no");
}

static void
tg_cli_cell_append_approval(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_buf_append_cstr(out, tg_cli_json_is_true(cell->row, cell->member)
                                ? "required"
                                : "-");
}

static void
tg_cli_automation_append_status(tg_buf_t *out, json_object *status)
{
    static const tg_cli_column_t rules[] = {
        { "RULE", tg_cli_cell_append_text, "id" },
        { "ENABLED", tg_cli_cell_append_enabled, "enabled" },
        { "APPROVAL", tg_cli_cell_append_approval, "requiresApproval" },
        { ">COOLDOWN", tg_cli_cell_append_optional_ms, "cooldownMs" },
        { ">NEXT IN", tg_cli_cell_append_time_left, "nextRunAt" },
        { "TRIGGER", tg_cli_cell_append_trigger, "trigger" },
        { "ACTION", tg_cli_cell_append_action, "action" },
        { NULL, NULL, NULL },
    };
    static const tg_cli_column_t firings[] = {
        { "EXECUTION", tg_cli_cell_append_text, "executionId" },
        { "RULE", tg_cli_cell_append_text, "ruleId" },
        { "EVENT", tg_cli_cell_append_text, "eventType" },
        { "STATUS", tg_cli_cell_append_text, "status" },
        { ">AGE", tg_cli_cell_append_age, "timestamp" },
        { "TASK", tg_cli_cell_append_optional_text, "taskId" },
        { "ERROR", tg_cli_cell_append_first_line, "error" },
        { NULL, NULL, NULL },
    };
    json_object *list;
    tg_cli_table_t table;
    size_t n;

    tg_cli_automation_append_summary(out, status);
    tg_cli_table_init(&table, rules);
    tg_cli_table_add_list(&table, status, "rules");
    tg_cli_table_append_section(&table, out);
    tg_cli_table_init(&table, firings);
    list = tg_cli_json_get(status, "recentExecutions");
    n = json_object_is_type(list, json_type_array)
            ? json_object_array_length(list)
            : 0;

    /* The newest firing comes first, as the newest task does. */
    while (n-- > 0) {
        tg_cli_table_add(&table, status, json_object_array_get_idx(list, n));
    }

    tg_cli_table_append_section(&table, out);
}

static int
tg_cli_automation_status_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "automation.status", NULL,
                                       tg_cli_automation_append_status);
}

static const tg_cli_command_t tg_cli_cmd_automation_status = {
    .name = "automation status",
    .options = tg_cli_watch_only_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_automation_status_on_connect,
};

/* --- requests with an effect --- */

/* Frees params, and prints the response with --json. */
static int
tg_cli_automation_request(tg_cli_session_t *session, const char *method,
                          json_object *params)
{
    int rc;

    rc = tg_cli_task_request(session, method, params);

    return rc == TG_CLI_EXIT_OK && session->options->is_json
               ? tg_cli_task_print_response(session, NULL)
               : rc;
}

static void
tg_cli_automation_report_unknown(tg_cli_session_t *session, const char *id)
{
    tg_cli_json_iter_t json;
    json_object *rule;
    tg_cli_suggestion_t near;

    if (tg_cli_task_request_read_only(session, "automation.status", NULL,
                                      TG_CLI_TASK_TIMEOUT_MS)
        != TG_CLI_EXIT_OK)
    {
        return;
    }

    tg_cli_suggestion_init(&near, tg_str_from_cstr(id));
    tg_cli_json_iter_init(&json,
                          tg_cli_json_get(session->response.result, "rules"));

    while (tg_cli_json_iter_next(&json, &rule)) {
        tg_cli_suggestion_add(&near, tg_cli_json_get_text(rule, "id"));
    }

    (void) tg_cli_error("unknown rule \"%s\"" TG_CLI_SUGGESTION_FORMAT
                        " (toolgate automation status shows all rules)",
                        id, TG_CLI_SUGGESTION_ARGS(&near));
}

/* --- enable, disable --- */

/* Enables or disables a rule, or with id NULL automation as a whole. */
static int
tg_cli_automation_set_enabled(tg_cli_session_t *session, const char *id,
                              int is_on)
{
    json_object *params;
    int rc;

    params = json_object_new_object();
    tg_cli_json_add_text(params, "ruleId",
                         id != NULL ? tg_str_from_cstr(id) : TG_STR_NONE);
    rc = tg_cli_automation_request(
        session, is_on ? "automation.enable" : "automation.disable", params);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (id != NULL && !tg_cli_json_is_true(session->response.result, "success"))
    {
        tg_cli_automation_report_unknown(session, id);
        rc = TG_CLI_EXIT_REFUSED;

    } else if (!session->options->is_json) {
        (void) printf("%s is %s\n", id != NULL ? id : "automation",
                      is_on ? "enabled" : "disabled");
    }

    return rc;
}

static int
tg_cli_automation_enable_one(tg_cli_session_t *session, const char *id)
{
    return tg_cli_automation_set_enabled(session, id, 1);
}

static int
tg_cli_automation_disable_one(tg_cli_session_t *session, const char *id)
{
    return tg_cli_automation_set_enabled(session, id, 0);
}

static const tg_cli_command_t tg_cli_cmd_automation_enable = {
    .name = "automation enable",
    .on_each_arg = tg_cli_automation_enable_one,
};

static const tg_cli_command_t tg_cli_cmd_automation_disable = {
    .name = "automation disable",
    .on_each_arg = tg_cli_automation_disable_one,
};

/* --- approve --- */

static int
tg_cli_automation_approve_one(tg_cli_session_t *session, const char *id)
{
    json_object *params, *response;
    tg_str_t text;
    int rc, is_denied;

    is_denied = session->options->is_deny;
    params = json_object_new_object();
    tg_cli_json_add_text(params, "executionId",
                         id != NULL ? tg_str_from_cstr(id) : TG_STR_NONE);
    (void) json_object_object_add(params, "approve",
                                  json_object_new_boolean(!is_denied));
    rc = tg_cli_automation_request(session, "automation.approve", params);
    response = session->response.result;

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (!tg_cli_json_is_true(response, "success")) {
        text = tg_cli_json_get_text(response, "error");
        (void) tg_cli_error("%s was approved, but failed: %.*s", id,
                            (int) text.len, text.len != 0 ? text.data : "");
        return TG_CLI_EXIT_REFUSED;
    }

    if (!session->options->is_json) {
        text = tg_cli_json_get_text(response, "taskId");
        (void) printf("%s was %s%s", id, is_denied ? "denied" : "approved",
                      text.len != 0 ? ": " : "");
        tg_cli_print(stdout, text);
        (void) putchar('\n');
    }

    return rc;
}

static const tg_cli_option_t tg_cli_automation_approve_options[] = {
    TG_CLI_FLAG("--deny", '\0', is_deny, "deny the execution instead"),
    TG_CLI_OPTIONS_END,
};

static const tg_cli_command_t tg_cli_cmd_automation_approve = {
    .name = "automation approve",
    .options = tg_cli_automation_approve_options,
    .missing_arg = "approve which execution? (toolgate automation status shows "
                   "them)",
    .on_each_arg = tg_cli_automation_approve_one,
};

/* --- command --- */

static const tg_cli_command_t *const tg_cli_automation_commands[] = {
    &tg_cli_cmd_automation_status,
    &tg_cli_cmd_automation_enable,
    &tg_cli_cmd_automation_disable,
    &tg_cli_cmd_automation_approve,
    NULL,
};

const tg_cli_command_t tg_cli_cmd_automation = {
    .name = "automation",
    .synopsis = "automation status [--watch] [--json] [--socket PATH] "
                "[--timeout SECONDS]\n"
                "       toolgate automation enable|disable [RULE...] [--json] "
                "...\n"
                "       toolgate automation approve EXECUTION... [--deny] "
                "[--json] ...",
    .summary = "show and control rules; approve what they want to do",
    .help =
        "The rules of automation in nginx.conf submit tasks, notify clients "
        "and call webhooks.\n\n"
        "  status   shows the rules, and their recent executions\n"
        "  enable   enables rules; without a name, automation as a whole\n"
        "  disable  disables them; this persists across restarts\n"
        "  approve  approves executions that wait for approval",
    .note = "All commands but status are only for users that may see all tasks "
            "(task_visibility in nginx.conf).",
    .options = tg_cli_task_request_options,
    .subcommands = tg_cli_automation_commands,
};
