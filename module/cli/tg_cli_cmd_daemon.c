/*
 * The command `toolgate daemon`: shows or stops the daemon that runs tasks.
 */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"

static int
tg_cli_daemon_status_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "daemon.status", TG_STR_NONE,
                                       tg_cli_daemon_append_status);
}

static int
tg_cli_daemon_status_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_daemon_status_on_connect, NULL);
}

static const tg_cli_command_t tg_cli_cmd_daemon_status = {
    .name = "daemon status",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_NO_ARGS,
    .run = tg_cli_daemon_status_run,
};

static int
tg_cli_daemon_stop_on_connect(tg_cli_session_t *session, void *ctx)
{
    int rc, is_forced;

    is_forced = (session->options->given & TG_CLI_OPT_FORCE) != 0;
    rc = tg_cli_task_request(session, "daemon.stop",
                             is_forced ? TG_STR("{\"force\":true}")
                                       : TG_STR("{}"));

    if (rc != TG_CLI_EXIT_OK || (session->options->given & TG_CLI_OPT_JSON)) {
        return rc == TG_CLI_EXIT_OK ? tg_cli_task_print_response(session, NULL)
                                    : rc;
    }

    (void) puts(is_forced ? "the tasks stop: running tasks were ended, "
                            "queued tasks wait until NGINX is reloaded"
                          : "the tasks stop: running tasks have 30 s to end, "
                            "queued tasks wait until NGINX is reloaded");

    return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
}

static int
tg_cli_daemon_stop_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_daemon_stop_on_connect, NULL);
}

static const tg_cli_command_t tg_cli_cmd_daemon_stop = {
    .name = "daemon stop",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_FORCE | TG_CLI_NO_ARGS,
    .run = tg_cli_daemon_stop_run,
};

static int
tg_cli_daemon_run(const tg_cli_options_t *options)
{
    static const tg_cli_command_t *const commands[] = {
        &tg_cli_cmd_daemon_status,
        &tg_cli_cmd_daemon_stop,
        NULL,
    };

    return tg_cli_subcommand_run(options, commands, "daemon");
}

const tg_cli_command_t tg_cli_cmd_daemon = {
    .name = "daemon",
    .synopsis = "daemon status [--watch] [--json] [--socket PATH] "
                "[--timeout SECONDS]\n"
                "       toolgate daemon stop [--force] [--json] ...",
    .summary = "who runs the tasks, and is to stop",
    .help =
        "Shows the daemon that runs the tasks of a server, those that run and "
        "those that\nwait; or tells it to stop: no more tasks are taken or "
        "started, until NGINX is\nreloaded or started. That is for those whom "
        "task_admin in nginx.conf names.\n\n"
        "  --force            what runs is ended at once, not given 30 s\n"
        "  --watch            again and again, until Ctrl-C\n"
        "  --json             as the server sent it\n"
        "  --socket PATH      the server's socket; else TOOLGATE_SOCKET\n"
        "  --timeout SECONDS  how long to wait; default 5\n",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_OPT_FORCE,
    .run = tg_cli_daemon_run,
};
