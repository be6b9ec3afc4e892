/* The command `toolgate watch`: prints the notifications of a server. */
#include "cli/tg_cli_session.h"

#include "cli/tg_cli_output.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <time.h>

/* Appends `TIME METHOD PARAMS`, or JSON. */
static void
tg_cli_watch_append_notification(tg_buf_t *out, const char *method,
                                 tg_str_t params, int is_json)
{
    tg_buf_t text;
    char now[32];
    struct tm tm;
    time_t t;

    if (is_json) {
        tg_buf_append_char(out, '{');
        tg_json_add_cstr(out, "method", method);
        tg_json_add_compact(out, "params", params);
        tg_buf_append_cstr(out, "}\n");
        return;
    }

    t = time(NULL);
    now[0] = '\0';

    if (localtime_r(&t, &tm) != NULL) {
        (void) strftime(now, sizeof(now), "%H:%M:%S ", &tm);
    }

    tg_buf_init(&text, out->alloc);
    tg_buf_append_cstr(&text, method);

    if (params.data != NULL) {
        tg_buf_append_char(&text, ' ');
        tg_json_write_compact(&text, params);
    }

    tg_buf_append_cstr(out, now);
    tg_utf8_append_visible(out, tg_buf_view(&text), 1);
    tg_buf_append_char(out, '\n');
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

static int
tg_cli_watch_on_notification(const tg_cli_session_t *session,
                             const char *method, tg_str_t params)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_watch_append_notification(&out, method, params,
                                     session->options->is_json != 0);

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

/* In this version of MCP all notifications come without a subscription. */
static int
tg_cli_watch_initialize(tg_cli_session_t *session)
{
    int rc;

    rc = tg_cli_session_request_read_only(
        session, "initialize", TG_MCP_INITIALIZE_PARAMS("toolgate"),
        session->client->conn->client.has_endless_reconnect
            ? 0
            : TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind == TG_RESPONSE_ERROR
        && session->response.code != TG_RPC_METHOD_NOT_FOUND)
    {
        return tg_cli_response_print_error(&session->response,
                                           session->options);
    }

    tg_cli_session_notify(session, "notifications/initialized");

    return TG_CLI_EXIT_OK;
}

static int
tg_cli_watch_on_connect(tg_cli_session_t *session, void *ctx)
{
    int rc;

    session->on_notification = tg_cli_watch_on_notification;

    for (;;) {
        rc = tg_cli_watch_initialize(session);

        if (rc != TG_CLI_EXIT_OK) {
            return rc;
        }

        (void) fprintf(stderr, "toolgate: watching %s\n", session->address);
        rc = tg_cli_session_listen(session);

        if (rc != TG_CLI_EXIT_OK) {
            return rc;
        }

        session->client->conn->client.has_endless_reconnect = 1;
        (void) fprintf(stderr, "toolgate: lost the connection; "
                               "reconnecting\n");
    }
}

static const tg_cli_option_t tg_cli_watch_options[] = {
    TG_CLI_OPTION_JSON("print {\"method\":...,\"params\":...}, one per line"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_watch = {
    .name = "watch",
    .synopsis = "watch [--json] [--socket PATH]",
    .summary = "print the notifications that the server sends",
    .help = "Prints the notifications of the server until Ctrl-C, one per "
            "line, with the time, the method and the params: broadcasts, "
            "changes of tasks and of the list of tools. Reconnects when the "
            "connection is lost; notifications in between are missed.",
    .options = tg_cli_watch_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_watch_on_connect,
};
