/* The command `toolgate daemon`: shows or stops the daemon that runs tasks. */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"

static int
tg_cli_daemon_status_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "daemon.status", NULL,
                                       tg_cli_daemon_append_status);
}

static const tg_cli_command_t tg_cli_cmd_daemon_status = {
    .name = "daemon status",
    .options = tg_cli_watch_only_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_daemon_status_on_connect,
};

static int
tg_cli_daemon_stop_on_connect(tg_cli_session_t *session, void *ctx)
{
    json_object *params;
    int rc, is_forced;

    is_forced = session->options->is_force;
    params = json_object_new_object();

    if (is_forced) {
        (void) json_object_object_add(params, "force",
                                      json_object_new_boolean(1));
    }

    rc = tg_cli_task_request(session, "daemon.stop", params);

    if (rc != TG_CLI_EXIT_OK || session->options->is_json) {
        return rc == TG_CLI_EXIT_OK ? tg_cli_task_print_response(session, NULL)
                                    : rc;
    }

    (void) puts(is_forced ? "the tasks stop: running tasks were ended, "
                            "queued tasks wait until NGINX is reloaded"
                          : "the tasks stop: running tasks have 30 s to end, "
                            "queued tasks wait until NGINX is reloaded");

    return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
}

static const tg_cli_option_t tg_cli_daemon_stop_options[] = {
    TG_CLI_FLAG("--force", '\0', is_force,
                "end running tasks at once, instead of after 30 s"),
    TG_CLI_OPTIONS_END,
};

static const tg_cli_command_t tg_cli_cmd_daemon_stop = {
    .name = "daemon stop",
    .options = tg_cli_daemon_stop_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_daemon_stop_on_connect,
};

static const tg_cli_command_t *const tg_cli_daemon_commands[] = {
    &tg_cli_cmd_daemon_status,
    &tg_cli_cmd_daemon_stop,
    NULL,
};

const tg_cli_command_t tg_cli_cmd_daemon = {
    .name = "daemon",
    .synopsis = "daemon status [--watch] [--json] [--socket PATH] "
                "[--timeout SECONDS]\n"
                "       toolgate daemon stop [--force] [--json] ...",
    .summary = "show or stop the daemon that runs the tasks",
    .help =
        "Shows the daemon that runs the tasks of a server, with its running "
        "and queued tasks; or stops it: no task is accepted or started until "
        "NGINX is reloaded or restarted. Only users that task_admin in "
        "nginx.conf names may stop it.",
    .options = tg_cli_task_request_options,
    .subcommands = tg_cli_daemon_commands,
};
