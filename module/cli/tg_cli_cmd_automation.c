/*
 * The command `toolgate automation`: shows, enables, disables and approves
 * rules.
 */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool_list.h"

/* --- status --- */

static int
tg_cli_json_get_bool(struct json_object *object, const char *member)
{
    return json_object_get_boolean(
        tg_cli_json_get_member(object, member, json_type_boolean));
}

/*
 * Appends a cell with the text members of an object, separated by blanks;
 * missing members are skipped.
 */
static void
tg_cli_cells_append_members(tg_buf_t *cells, struct json_object *object,
                            const char *const *members, char end)
{
    const char *text, *blank;
    tg_buf_t words;

    blank = "";
    tg_buf_init(&words, cells->alloc);

    for (; *members != NULL; members++) {
        text = tg_cli_json_get_text(object, *members);

        if (text[0] != '\0') {
            tg_buf_append_cstr(&words, blank);
            tg_buf_append_cstr(&words, text);
            blank = " ";
        }
    }

    tg_buf_append_char(&words, '\0');
    tg_cli_cells_append_first_line(cells,
                                   tg_buf_has_failed(&words) ? "" : words.data,
                                   end);
    cells->failed |= words.failed;
    tg_buf_deinit(&words);
}

static void
tg_cli_automation_append_rules(tg_buf_t *cells, struct json_object *status)
{
    static const char *const triggers[] = { "type",    "source", "expression",
                                            "pattern", "path",   NULL };
    static const char *const actions[] = { "type", "agent", "channel", "url",
                                           NULL };
    struct json_object *rule;
    size_t i;

    for (i = 0; (rule = tg_cli_json_get_element(status, "rules", i)) != NULL;
         i++) {
        tg_cli_cells_append_text(cells, tg_cli_json_get_text(rule, "id"), '\t');
        tg_buf_append_cstr(cells, tg_cli_json_get_bool(rule, "enabled")
                                      ? "yes\t"
                                      : "no\t");
        tg_buf_append_cstr(cells, tg_cli_json_get_bool(rule, "requiresApproval")
                                      ? "required\t"
                                      : "-\t");

        if (tg_cli_json_get_uint(rule, "cooldownMs") != 0) {
            tg_cli_append_duration(
                cells, (double) tg_cli_json_get_uint(rule, "cooldownMs"));
        } else {
            tg_buf_append_char(cells, '-');
        }

        tg_buf_append_char(cells, '\t');
        tg_cli_cells_append_time_left(cells, rule, "nextRunAt");
        tg_cli_cells_append_members(
            cells, tg_cli_json_get_member(rule, "trigger", json_type_object),
            triggers, '\t');
        tg_cli_cells_append_members(
            cells, tg_cli_json_get_member(rule, "action", json_type_object),
            actions, '\n');
    }
}

/*
 * Appends the rows of firings, sorted from the newest to the oldest, as tasks
 * are.
 */
static void
tg_cli_automation_append_firings(tg_buf_t *cells, struct json_object *status)
{
    static const char *const why[] = { "error", NULL };
    struct json_object *firing;
    size_t i;

    i = 0;

    while (tg_cli_json_get_element(status, "recentExecutions", i) != NULL) {
        i++;
    }

    while (i-- > 0) {
        firing = tg_cli_json_get_element(status, "recentExecutions", i);
        tg_cli_cells_append_text(cells,
                                 tg_cli_json_get_text(firing, "executionId"),
                                 '\t');
        tg_cli_cells_append_text(cells, tg_cli_json_get_text(firing, "ruleId"),
                                 '\t');
        tg_cli_cells_append_text(cells,
                                 tg_cli_json_get_text(firing, "eventType"),
                                 '\t');
        tg_cli_cells_append_text(cells, tg_cli_json_get_text(firing, "status"),
                                 '\t');
        tg_cli_cells_append_age(cells, firing, "timestamp");
        tg_cli_cells_append_text(
            cells,
            tg_cli_json_get_member(firing, "taskId", json_type_string) != NULL
                ? tg_cli_json_get_text(firing, "taskId")
                : "-",
            '\t');
        tg_cli_cells_append_members(cells, firing, why, '\n');
    }
}

/* Appends an empty line and a table, unless the table has no rows. */
static void
tg_cli_automation_append_table(tg_buf_t *out, struct json_object *status,
                               const char *head,
                               void (*append)(tg_buf_t *cells,
                                              struct json_object *status))
{
    tg_buf_t cells;
    size_t len;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells, head);
    len = cells.len;
    append(&cells, status);

    if (cells.len != len) {
        tg_buf_append_char(out, '\n');
        tg_cli_append_table(out, tg_buf_view(&cells));
    }

    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
}

static void
tg_cli_automation_append_status(tg_buf_t *out, struct json_object *status)
{
    tg_cli_automation_append_summary(out, status);
    tg_cli_automation_append_table(
        out, status,
        "RULE\tENABLED\tAPPROVAL\t>COOLDOWN\t>NEXT IN\tTRIGGER\tACTION\n",
        tg_cli_automation_append_rules);
    tg_cli_automation_append_table(
        out, status,
        "EXECUTION\tRULE\tEVENT\tSTATUS\t>AGE\tTASK\t"
        "ERROR\n",
        tg_cli_automation_append_firings);
}

static int
tg_cli_automation_status_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "automation.status",
                                       TG_STR_NONE,
                                       tg_cli_automation_append_status);
}

static int
tg_cli_automation_status_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_automation_status_on_connect,
                              NULL);
}

static const tg_cli_command_t tg_cli_cmd_automation_status = {
    .name = "automation status",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_NO_ARGS,
    .run = tg_cli_automation_status_run,
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

    if (*rc == TG_CLI_EXIT_OK && (session->options->given & TG_CLI_OPT_JSON)) {
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

    } else if (!(session->options->given & TG_CLI_OPT_JSON)) {
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

static int
tg_cli_automation_enable_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_automation_enable_on_connect,
                              (void *) (uintptr_t) options);
}

static int
tg_cli_automation_disable_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_automation_disable_on_connect,
                              (void *) (uintptr_t) options);
}

static const tg_cli_command_t tg_cli_cmd_automation_enable = {
    .name = "automation enable",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT,
    .run = tg_cli_automation_enable_run,
};

static const tg_cli_command_t tg_cli_cmd_automation_disable = {
    .name = "automation disable",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT,
    .run = tg_cli_automation_disable_run,
};

/* --- approve --- */

static int
tg_cli_automation_approve_one(tg_cli_session_t *session, const char *id)
{
    struct json_object *response;
    int rc, is_denied;

    is_denied = (session->options->given & TG_CLI_OPT_DENY) != 0;
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

    } else if (!(session->options->given & TG_CLI_OPT_JSON)) {
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

static int
tg_cli_automation_approve_run(const tg_cli_options_t *options)
{
    return options->nargs != 0
               ? tg_cli_session_run(options,
                                    tg_cli_automation_approve_on_connect,
                                    (void *) (uintptr_t) options)
               : tg_cli_error("approve which execution? (toolgate automation "
                              "status shows them)");
}

static const tg_cli_command_t tg_cli_cmd_automation_approve = {
    .name = "automation approve",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_DENY,
    .run = tg_cli_automation_approve_run,
};

/* --- command --- */

static int
tg_cli_automation_run(const tg_cli_options_t *options)
{
    static const tg_cli_command_t *const commands[] = {
        &tg_cli_cmd_automation_status,
        &tg_cli_cmd_automation_enable,
        &tg_cli_cmd_automation_disable,
        &tg_cli_cmd_automation_approve,
        NULL,
    };

    return tg_cli_subcommand_run(options, commands, "automation");
}

const tg_cli_command_t tg_cli_cmd_automation = {
    .name = "automation",
    .synopsis = "automation status [--watch] [--json] [--socket PATH] "
                "[--timeout SECONDS]\n"
                "       toolgate automation enable|disable [RULE...] [--json] "
                "...\n"
                "       toolgate automation approve EXECUTION... [--deny] "
                "[--json] ...",
    .summary = "rules, what they did, and what waits for approval",
    .help =
        "Rules are those of automation in nginx.conf: they make tasks, tell "
        "clients\nand call webhooks.\n\n"
        "  status   shows the rules, and what they did last\n"
        "  enable   lets rules fire; without a name, automation as a whole\n"
        "  disable  the opposite; both hold over restarts\n"
        "  approve  has done what waits for approval, or, with --deny, not\n\n"
        "All but status are for those who see all tasks (task_visibility in "
        "nginx.conf).\n\n"
        "  --deny             it is not to be done\n"
        "  --watch            again and again, until Ctrl-C\n"
        "  --json             as the server sent it\n"
        "  --socket PATH      the server's socket; else TOOLGATE_SOCKET\n"
        "  --timeout SECONDS  how long to wait\n",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_OPT_DENY,
    .run = tg_cli_automation_run,
};
