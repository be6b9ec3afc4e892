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
tg_cli_append_members(tg_buf_t *out, struct json_object *object,
                      const char *const *members)
{
    const char *text, *blank;

    for (blank = ""; *members != NULL; members++) {
        text = tg_cli_json_get_text(object, *members);

        if (text[0] != '\0') {
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
        out, tg_cli_json_get_member(cell->row, cell->member, json_type_object),
        members);
}

static void
tg_cli_cell_append_action(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    static const char *const members[] = { "type", "agent", "channel", "url",
                                           NULL };

    tg_cli_append_members(
        out, tg_cli_json_get_member(cell->row, cell->member, json_type_object),
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
tg_cli_automation_append_status(tg_buf_t *out, struct json_object *status)
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
    tg_cli_table_t table;
    size_t i;

    tg_cli_automation_append_summary(out, status);
    tg_cli_table_init(&table, rules);
    tg_cli_table_add_list(&table, status, "rules");
    tg_cli_table_append_section(&table, out);
    tg_cli_table_init(&table, firings);
    i = 0;

    while (tg_cli_json_get_element(status, "recentExecutions", i) != NULL) {
        i++;
    }

    /* The newest firing comes first, as the newest task does. */
    while (i-- > 0) {
        tg_cli_table_add(&table, status,
                         tg_cli_json_get_element(status, "recentExecutions",
                                                 i));
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
 * Calls a method for one id, or for all with id NULL.  Returns the response,
 * or NULL with the exit status in *rc.
 */
static struct json_object *
tg_cli_automation_request(tg_cli_session_t *session, const char *method,
                          const char *key, const char *id,
                          const char *extra_params, int *rc)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');

    if (id != NULL) {
        tg_buf_printf(&params, "\"%s\":", key);
        tg_json_write_string(&params, tg_str_from_cstr(id));
    }

    tg_buf_append_cstr(&params, extra_params);
    tg_buf_append_char(&params, '}');
    *rc = tg_buf_has_failed(&params)
              ? tg_cli_error_nomem()
              : tg_cli_task_request(session, method, tg_buf_view(&params));
    tg_buf_deinit(&params);

    if (*rc == TG_CLI_EXIT_OK && session->options->is_json) {
        *rc = tg_cli_task_print_response(session, NULL);
    }

    return *rc == TG_CLI_EXIT_OK
               ? tg_cli_json_parse(tg_buf_view(&session->response.result))
               : NULL;
}

/* Reports an unknown rule, and suggests a similar name. */
static void
tg_cli_automation_report_unknown(tg_cli_session_t *session, const char *id)
{
    struct json_object *status, *rule;
    tg_buf_t names, near;
    size_t i;

    if (tg_cli_task_request_read_only(session, "automation.status", TG_STR_NONE,
                                      TG_CLI_TASK_TIMEOUT_MS)
        != TG_CLI_EXIT_OK)
    {
        return;
    }

    status = tg_cli_json_parse(tg_buf_view(&session->response.result));
    tg_buf_init(&names, tg_alloc_libc());
    tg_buf_init(&near, tg_alloc_libc());

    for (i = 0; (rule = tg_cli_json_get_element(status, "rules", i)) != NULL;
         i++) {
        tg_buf_append_char(&names, i == 0 ? '{' : ',');
        tg_json_write_string(&names, tg_str_from_cstr(
                                         tg_cli_json_get_text(rule, "id")));
        tg_buf_append_cstr(&names, ":0");
    }

    tg_buf_append_cstr(&names, i == 0 ? "{}" : "}");

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
    (void) json_object_put(status);
}

/*
 * Calls one() for each argument, even after a failure, or once with NULL if
 * there are no arguments.  Returns the exit status.
 */
static int
tg_cli_automation_apply_each(tg_cli_session_t *session,
                             const tg_cli_options_t *options,
                             int (*one)(tg_cli_session_t *session,
                                        const char *id))
{
    int i, rc, status;

    status = options->nargs == 0 ? one(session, NULL) : TG_CLI_EXIT_OK;

    for (i = 0; i < options->nargs; i++) {
        rc = one(session, options->args[i]);

        if (rc > TG_CLI_EXIT_REFUSED) {
            return rc;
        }

        status |= rc;
    }

    return tg_cli_flush_stdout(status);
}

/* --- enable, disable --- */

/* Enables or disables a rule, or with id NULL automation as a whole. */
static int
tg_cli_automation_set_enabled(tg_cli_session_t *session, const char *id,
                              int is_on)
{
    struct json_object *response;
    int rc;

    response = tg_cli_automation_request(session,
                                         is_on ? "automation.enable"
                                               : "automation.disable",
                                         "ruleId", id, "", &rc);

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

    (void) json_object_put(response);

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

static int
tg_cli_automation_enable_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_automation_apply_each(session, ctx,
                                        tg_cli_automation_enable_one);
}

static int
tg_cli_automation_disable_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_automation_apply_each(session, ctx,
                                        tg_cli_automation_disable_one);
}

static const tg_cli_command_t tg_cli_cmd_automation_enable = {
    .name = "automation enable",
    .on_connect = tg_cli_automation_enable_on_connect,
};

static const tg_cli_command_t tg_cli_cmd_automation_disable = {
    .name = "automation disable",
    .on_connect = tg_cli_automation_disable_on_connect,
};

/* --- approve --- */

static int
tg_cli_automation_approve_one(tg_cli_session_t *session, const char *id)
{
    struct json_object *response;
    int rc, is_denied;

    is_denied = session->options->is_deny;
    response = tg_cli_automation_request(
        session, "automation.approve", "executionId", id,
        is_denied ? ",\"approve\":false" : ",\"approve\":true", &rc);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (!tg_cli_json_get_bool(response, "success")) {
        (void) tg_cli_error("%s was approved, but failed: %s", id,
                            tg_cli_json_get_text(response, "error"));
        rc = TG_CLI_EXIT_REFUSED;

    } else if (!session->options->is_json) {
        (void) printf("%s was %s", id, is_denied ? "denied" : "approved");
        tg_cli_print(stdout, tg_cli_json_get_member(response, "taskId",
                                                    json_type_string)
                                     != NULL
                                 ? TG_STR(": ")
                                 : TG_STR(""));
        tg_cli_print(stdout, tg_str_from_cstr(
                                 tg_cli_json_get_text(response, "taskId")));
        (void) putchar('\n');
    }

    (void) json_object_put(response);

    return rc;
}

static int
tg_cli_automation_approve_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_automation_apply_each(session, ctx,
                                        tg_cli_automation_approve_one);
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
    .on_connect = tg_cli_automation_approve_on_connect,
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
