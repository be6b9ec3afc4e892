/*
 * The command `toolgate watch`: prints the notifications of a server, and those
 * of the resources that the user names.
 */
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

/*
 * In this version of MCP all notifications but those of resources come without
 * a subscription.
 */
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
tg_cli_watch_subscribe(tg_cli_session_t *session, const char *uri)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "uri", tg_str_from_cstr(uri));
    tg_buf_append(&params, "}", sizeof("}"));
    rc = tg_buf_has_failed(&params)
             ? tg_cli_error_nomem()
             : tg_cli_session_request_read_only(session, "resources/subscribe",
                                                params.data,
                                                TG_CLI_REQUEST_TIMEOUT_MS);
    tg_buf_deinit(&params);

    if (rc != TG_CLI_EXIT_OK || session->response.kind == TG_RESPONSE_RESULT) {
        return rc;
    }

    (void) tg_cli_error(
        session->response.code == TG_RPC_METHOD_NOT_FOUND
            ? "%s does not report changes of resources; toolgate watch "
              "without \"%s\" prints its other notifications"
            : "%s refuses to report changes of \"%s\"",
        session->address, uri);

    return session->response.code == TG_RPC_METHOD_NOT_FOUND
               ? TG_CLI_EXIT_REFUSED
               : tg_cli_response_print_error(&session->response,
                                             session->options);
}

/* Subscribes to the resources that the user names. */
static int
tg_cli_watch_subscribe_all(tg_cli_session_t *session)
{
    int i, rc;

    rc = TG_CLI_EXIT_OK;

    for (i = 0; rc == TG_CLI_EXIT_OK && i < session->options->nargs; i++) {
        rc = tg_cli_watch_subscribe(session, session->options->args[i]);
    }

    return rc;
}

static int
tg_cli_watch_on_connect(tg_cli_session_t *session, void *ctx)
{
    int rc;

    session->on_notification = tg_cli_watch_on_notification;

    for (;;) {
        rc = tg_cli_watch_initialize(session);
        rc = rc == TG_CLI_EXIT_OK ? tg_cli_watch_subscribe_all(session) : rc;

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

/* A URI has a scheme: a word without one is a mistake. */
static int
tg_cli_watch_run(const tg_cli_options_t *options)
{
    tg_str_t uri;
    int i;

    for (i = 0; i < options->nargs; i++) {
        uri = tg_str_from_cstr(options->args[i]);

        if (!tg_utf8_is_valid(uri) || memchr(uri.data, ':', uri.len) == NULL) {
            return tg_cli_error("watch takes no arguments but URIs of "
                                "resources, such as file:///srv/log, not "
                                "\"%s\"",
                                options->args[i]);
        }
    }

    return tg_cli_session_run(options, tg_cli_watch_on_connect, NULL);
}

static const tg_cli_option_t tg_cli_watch_options[] = {
    TG_CLI_OPTION_JSON("print {\"method\":...,\"params\":...}, one per line"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_watch = {
    .name = "watch",
    .synopsis = "watch [URI ...] [--json] [--socket PATH]",
    .summary = "print the notifications that the server sends",
    .help = "Prints the notifications of the server until Ctrl-C, one per "
            "line, with the time, the method and the params: broadcasts, "
            "changes of tasks and of the lists of tools, prompts and "
            "resources. With URIs, also changes of these resources. Reconnects "
            "when the connection is lost; notifications in between are "
            "missed.",
    .options = tg_cli_watch_options,
    .run = tg_cli_watch_run,
};
