/* The commands `toolgate status`, `toolgate ps` and `toolgate cancel`. */
#include "cli/tg_cli_status.h"

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool.h"
#include "protocol/tg_rpc.h"

#include <stdlib.h>

/* Interval of --watch, in ms. */
#define TG_CLI_WATCH_INTERVAL_MS 1000

/* Appends the status in one of its forms. */
typedef void (*tg_cli_status_append_pt)(tg_buf_t *out, json_object *status);

typedef struct {
    tg_cli_status_append_pt append;
    /* tool, method or MCP server to show; NULL: use append() */
    const char *name;
} tg_cli_status_view_t;

/* "method not found": the client is not allowed to see the status. */
static int
tg_cli_status_report_error(const tg_cli_session_t *session)
{
    if (session->response.code != TG_RPC_METHOD_NOT_FOUND
        || session->options->is_json)
    {
        return tg_cli_response_print_error(&session->response,
                                           session->options);
    }

    (void) tg_cli_error("%s does not show you its status: tool_status_allow "
                        "in nginx.conf says who may see it, by default root "
                        "and the owner of the socket",
                        session->address);

    return TG_CLI_EXIT_REFUSED;
}

static int
tg_cli_status_report_unknown_name(json_object *status, const char *name)
{
    static const char *const lists[] = { "tools", "mcp_servers" };
    tg_cli_json_iter_t servers, json;
    json_object *server, *object;
    tg_cli_suggestion_t near;
    size_t list;

    tg_cli_suggestion_init(&near, tg_str_from_cstr(name));
    tg_cli_json_iter_init(&servers, tg_cli_json_get(status, "servers"));

    while (tg_cli_json_iter_next(&servers, &server)) {
        for (list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
            tg_cli_json_iter_init(&json, tg_cli_json_get(server, lists[list]));

            while (tg_cli_json_iter_next(&json, &object)) {
                tg_cli_suggestion_add(&near,
                                      tg_cli_json_get_text(object, "name"));
            }
        }
    }

    (void) tg_cli_error(
        "unknown tool, method or MCP server \"%s\"" TG_CLI_SUGGESTION_FORMAT
        " (toolgate status --all shows all names)",
        name, TG_CLI_SUGGESTION_ARGS(&near));

    return TG_CLI_EXIT_REFUSED;
}

static int
tg_cli_status_print(tg_cli_session_t *session, const tg_cli_status_view_t *view)
{
    json_object *status;
    tg_buf_t out;
    int rc;

    if (session->options->is_json) {
        return tg_cli_result_print_text(session, TG_CLI_EXIT_OK);
    }

    rc = tg_cli_session_parse_result(session);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    status = session->response.result;
    tg_buf_init(&out, tg_alloc_libc());

    if (view->name == NULL) {
        view->append(&out, status);
    } else if (tg_cli_status_append_details(&out, status, view->name) == 0) {
        tg_buf_deinit(&out);
        return tg_cli_status_report_unknown_name(status, view->name);
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static int
tg_cli_status_fetch_and_print(tg_cli_session_t *session,
                              const tg_cli_status_view_t *view)
{
    int rc;

    rc = tg_cli_session_request(session, "toolgate.status", NULL,
                                TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind != TG_RESPONSE_RESULT) {
        return tg_cli_status_report_error(session);
    }

    if (session->options->is_watch) {
        tg_cli_terminal_clear();
    }

    return tg_cli_status_print(session, view);
}

static int
tg_cli_status_on_connect(tg_cli_session_t *session, void *ctx)
{
    const tg_cli_status_view_t *view;
    int rc;

    view = ctx;
    rc = tg_cli_status_fetch_and_print(session, view);

    while (rc == TG_CLI_EXIT_OK && session->options->is_watch) {
        rc = tg_cli_session_sleep(session, TG_CLI_WATCH_INTERVAL_MS);

        if (rc == TG_CLI_EXIT_OK) {
            rc = tg_cli_status_fetch_and_print(session, view);
        }
    }

    return rc;
}

static int
tg_cli_status_run(const tg_cli_options_t *options)
{
    tg_cli_status_view_t view;

    if (options->is_json && options->is_prometheus) {
        return tg_cli_error("give either --json or --prometheus, "
                            "not both");
    }

    if (options->nargs != 0
        && (options->is_json || options->is_prometheus || options->is_all))
    {
        return tg_cli_error("status NAME cannot be combined with --json, "
                            "--prometheus or --all");
    }

    view.name = options->nargs != 0 ? options->args[0] : NULL;
    view.append = options->is_prometheus ? tg_cli_status_append_prometheus
                  : options->is_all      ? tg_cli_status_append_full
                                         : tg_cli_status_append_summary;

    return tg_cli_session_run(options, tg_cli_status_on_connect, &view);
}

static int
tg_cli_ps_run(const tg_cli_options_t *options)
{
    tg_cli_status_view_t view = { .append = tg_cli_status_append_calls };

    return tg_cli_session_run(options, tg_cli_status_on_connect, &view);
}

/* --- cancel --- */

static int
tg_cli_cancel_on_connect(tg_cli_session_t *session, void *ctx)
{
    const char *id;
    json_object *params;
    int rc;

    id = ctx;
    params = json_object_new_object();
    (void) json_object_object_add(params, "id",
                                  json_object_new_int64(atoll(id)));
    rc = tg_cli_session_request(session, "toolgate.cancel",
                                tg_cli_json_write(params).data,
                                TG_CLI_REQUEST_TIMEOUT_MS);
    json_object_put(params);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind != TG_RESPONSE_RESULT
        && session->response.code == TG_RPC_INVALID_PARAMS
        && !session->options->is_json)
    {
        (void) tg_cli_error("no call %s is running (toolgate ps shows the "
                            "running calls)",
                            id);
        return TG_CLI_EXIT_REFUSED;
    }

    if (session->response.kind != TG_RESPONSE_RESULT) {
        return tg_cli_status_report_error(session);
    }

    if (session->options->is_json) {
        return tg_cli_result_print_text(session, TG_CLI_EXIT_OK);
    }

    (void) printf("call %s was ended\n", id);

    return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
}

static int
tg_cli_cancel_run(const tg_cli_options_t *options)
{
    const char *id;

    id = options->args[0];

    /* A JSON integer without leading zeros that fits into 64 bits. */
    if (id[0] == '\0' || id[0] == '0' || strlen(id) > 18
        || id[strspn(id, "0123456789")] != '\0')
    {
        return tg_cli_error("\"%s\" is not the ID of a call (toolgate ps "
                            "shows the IDs)",
                            id);
    }

    return tg_cli_session_run(options, tg_cli_cancel_on_connect, (void *) id);
}

static const char tg_cli_status_note[] =
    "The server shows its status to the users that tool_status_allow in "
    "nginx.conf names, by default root and the owner of the socket.";

static const tg_cli_option_t tg_cli_status_options[] = {
    TG_CLI_FLAG("--all", '\0', is_all,
                "show also tools without calls, and the methods that "
                "task_methods adds"),
    TG_CLI_OPTION_WATCH,
    TG_CLI_OPTION_RAW_JSON,
    TG_CLI_FLAG("--prometheus", '\0', is_prometheus,
                "print the metrics in Prometheus' text format"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 5)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_status = {
    .name = "status",
    .synopsis = "status [NAME] [--all] [--watch] [--json | --prometheus]\n"
                "                [--socket PATH] [--timeout SECONDS]",
    .summary = "show how often tools were called, and with what result",
    .help =
        "Shows the totals of all workers since NGINX was started. For "
        "each tool: its CALLS; the calls that are running NOW, and how "
        "many of them WAIT; their MEAN duration, and the duration that 95% "
        "of the calls did not exceed (estimated from a histogram with the "
        "bounds 1, 5, 10, 50, 100, 500 ms, 1, 5, 10 and 60 s); the bytes IN "
        "and OUT; and how many FAILED, by reason. Then the MCP servers with "
        "the first line of their last error, and the runners.\n\n"
        "With NAME, shows everything about this tool, method or MCP server, "
        "including the whole last error.",
    .note = tg_cli_status_note,
    .options = tg_cli_status_options,
    .max_args = 1,
    .run = tg_cli_status_run,
};

static const tg_cli_option_t tg_cli_ps_options[] = {
    TG_CLI_OPTION_WATCH,
    TG_CLI_OPTION_JSON("print the whole status as JSON"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 5)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_ps = {
    .name = "ps",
    .synopsis = "ps [--watch] [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "show the running calls",
    .help = "Shows the calls that are queued or running: the ID for `toolgate "
            "cancel`, the age, the state, the kind of handler and its process, "
            "and the client.",
    .note = tg_cli_status_note,
    .options = tg_cli_ps_options,
    .takes_no_args = 1,
    .run = tg_cli_ps_run,
};

static const tg_cli_option_t tg_cli_cancel_options[] = {
    TG_CLI_OPTION_JSON("print {\"id\":...,\"ended\":true}"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 5)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_cancel = {
    .name = "cancel",
    .synopsis = "cancel ID [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "end a running call",
    .help = "Ends a call that `toolgate ps` shows, and all its processes. Its "
            "caller gets an error that says that the operator ended the call.",
    .note = tg_cli_status_note,
    .options = tg_cli_cancel_options,
    .max_args = 1,
    .missing_arg = "cancel which call? (toolgate ps shows them)",
    .run = tg_cli_cancel_run,
};
