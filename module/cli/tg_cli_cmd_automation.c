/*
 * The command `toolgate automation`: shows, enables, disables and approves
 * rules.
 */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool_list.h"

/* --- status --- */

/* Appends the members of an object that are texts, separated by blanks. */
static void
tg_cli_append_members(tg_buf_t *out, tg_str_t object,
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

    tg_cli_append_members(
        out, tg_cli_json_get_member(cell->row, cell->member, TG_JSON_OBJECT),
        members);
}

static void
tg_cli_cell_append_action(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    static const char *const members[] = { "type", "agent", "channel", "url",
                                           NULL };

    tg_cli_append_members(
        out, tg_cli_json_get_member(cell->row, cell->member, TG_JSON_OBJECT),
        members);
}

static void
tg_cli_cell_append_enabled(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_buf_append_cstr(out, tg_cli_json_get_bool(cell->row, cell->member)
                                ? "yes"
                                : "no");
}

static void
tg_cli_cell_append_approval(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_buf_append_cstr(out, tg_cli_json_get_bool(cell->row, cell->member)
                                ? "required"
                                : "-");
}

static void
tg_cli_automation_append_status(tg_buf_t *out, tg_str_t status)
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
    tg_json_cursor_t json;
    tg_cli_table_t table;
    tg_str_t firing;
    size_t i, n;

    tg_cli_automation_append_summary(out, status);
    tg_cli_table_init(&table, rules);
    tg_cli_table_add_list(&table, status, "rules");
    tg_cli_table_append_section(&table, out);
    tg_cli_table_init(&table, firings);
    tg_cli_json_iter_init(&json, status, "recentExecutions");

    for (n = 0; tg_json_iter_next(&json, &firing); n++) {
        /* void */
    }

    /* The newest firing comes first, as the newest task does. */
    for (/* void */; n > 0; n--) {
        tg_cli_json_iter_init(&json, status, "recentExecutions");

        for (i = 0; i < n; i++) {
            (void) tg_json_iter_next(&json, &firing);
        }

        tg_cli_table_add(&table, status, firing);
    }

    tg_cli_table_append_section(&table, out);
}

static int
tg_cli_automation_status_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "automation.status",
                                       TG_STR_NONE,
                                       tg_cli_automation_append_status);
}

static const tg_cli_option_t tg_cli_automation_status_options[] = {
    TG_CLI_OPTION_WATCH,
    TG_CLI_OPTIONS_END,
};

static const tg_cli_command_t tg_cli_cmd_automation_status = {
    .name = "automation status",
    .options = tg_cli_automation_status_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_automation_status_on_connect,
};

/* --- requests with an effect --- */

/*
 * Calls a method for one id, or for all with id NULL, and stores the response.
 * Returns the exit status.
 */
static int
tg_cli_automation_request(tg_cli_session_t *session, const char *method,
                          const char *key, const char *id,
                          const char *extra_params, tg_str_t *response)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');

    if (id != NULL) {
        tg_json_add_cstr(&params, key, id);
    }

    tg_buf_append_cstr(&params, extra_params);
    tg_buf_append_char(&params, '}');
    rc = tg_buf_has_failed(&params)
             ? tg_cli_error_nomem()
             : tg_cli_task_request(session, method, tg_buf_view(&params));
    tg_buf_deinit(&params);
    *response = tg_buf_view(&session->response.result);

    return rc == TG_CLI_EXIT_OK && session->options->is_json
               ? tg_cli_task_print_response(session, NULL)
               : rc;
}

/* Reports an unknown rule, and suggests a similar name. */
static void
tg_cli_automation_report_unknown(tg_cli_session_t *session, const char *id)
{
    tg_json_cursor_t json;
    tg_buf_t names, near;
    tg_str_t rule;

    if (tg_cli_task_request_read_only(session, "automation.status", TG_STR_NONE,
                                      TG_CLI_TASK_TIMEOUT_MS)
        != TG_CLI_EXIT_OK)
    {
        return;
    }

    tg_buf_init(&names, tg_alloc_libc());
    tg_buf_init(&near, tg_alloc_libc());
    tg_buf_append_char(&names, '{');
    tg_cli_json_iter_init(&json, tg_buf_view(&session->response.result),
                          "rules");

    while (tg_json_iter_next(&json, &rule)) {
        tg_cli_append_name_key(&names, rule, "id");
    }

    tg_buf_append_char(&names, '}');

    if (!tg_buf_has_failed(&names)) {
        tg_cli_append_key_suggestion(&near, tg_str_from_cstr(id),
                                     tg_buf_view(&names));
    }

    tg_buf_append_char(&near, '\0');
    (void) tg_cli_error(
        "unknown rule \"%s\"%s (toolgate automation status shows all rules)",
        id, tg_buf_has_failed(&near) ? "" : near.data);
    tg_buf_deinit(&near);
    tg_buf_deinit(&names);
}

/* --- enable, disable --- */

/* Enables or disables a rule, or with id NULL automation as a whole. */
static int
tg_cli_automation_set_enabled(tg_cli_session_t *session, const char *id,
                              int is_on)
{
    tg_str_t response;
    int rc;

    rc = tg_cli_automation_request(session,
                                   is_on ? "automation.enable"
                                         : "automation.disable",
                                   "ruleId", id, "", &response);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (id != NULL && !tg_cli_json_get_bool(response, "success")) {
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
    tg_str_t response;
    tg_buf_t text;
    int rc, is_denied;

    is_denied = session->options->is_deny;
    rc = tg_cli_automation_request(
        session, "automation.approve", "executionId", id,
        is_denied ? ",\"approve\":false" : ",\"approve\":true", &response);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (!tg_cli_json_get_bool(response, "success")) {
        tg_cli_json_append_text(&text, response, "error");
        (void) tg_cli_error("%s was approved, but failed: %.*s", id,
                            (int) text.len, tg_buf_view(&text).data);
        rc = TG_CLI_EXIT_REFUSED;

    } else if (!session->options->is_json) {
        tg_cli_json_append_text(&text, response, "taskId");
        (void) printf("%s was %s%s", id, is_denied ? "denied" : "approved",
                      text.len != 0 ? ": " : "");
        tg_cli_print(stdout, tg_buf_view(&text));
        (void) putchar('\n');
    }

    tg_buf_deinit(&text);

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

static const tg_cli_option_t tg_cli_automation_options[] = {
    TG_CLI_OPTION_RAW_JSON,
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 60)"),
    TG_CLI_OPTIONS_END,
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
    .options = tg_cli_automation_options,
    .subcommands = tg_cli_automation_commands,
};
