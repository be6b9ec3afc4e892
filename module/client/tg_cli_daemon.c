/*
 * toolgate daemon
 */
#include "client/tg_cli_task.h"

#include "client/tg_cli_text.h"

static int
tg_cli_daemon_status_ask(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_show(session, "daemon.status", TG_STR_NONE,
                            tg_cli_task_put_daemon);
}

static int
tg_cli_daemon_status_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_daemon_status_ask, NULL);
}

static const tg_cli_command_t tg_cli_daemon_status = {
    .name = "daemon status",
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT | TG_CLI_WATCH
               | TG_CLI_BARE,
    .run = tg_cli_daemon_status_run,
};

static int
tg_cli_daemon_stop_ask(tg_cli_session_t *session, void *ctx)
{
    int rc, is_forced;

    is_forced = (session->options->given & TG_CLI_FORCE) != 0;
    rc = tg_cli_task_tell(session, "daemon.stop",
                          is_forced ? TG_STR("{\"force\":true}")
                                    : TG_STR("{}"));

    if (rc != TG_CLI_DONE || (session->options->given & TG_CLI_JSON)) {
        return rc == TG_CLI_DONE ? tg_cli_task_print(session, NULL) : rc;
    }

    (void) puts(is_forced ? "the tasks stop: what ran was ended, what waits "
                            "stays until NGINX is reloaded"
                          : "the tasks stop: what runs has 30 s to end, what "
                            "waits stays until NGINX is reloaded");

    return tg_cli_finish(TG_CLI_DONE);
}

static int
tg_cli_daemon_stop_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_daemon_stop_ask, NULL);
}

static const tg_cli_command_t tg_cli_daemon_stop = {
    .name = "daemon stop",
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT | TG_CLI_FORCE
               | TG_CLI_BARE,
    .run = tg_cli_daemon_stop_run,
};

static int
tg_cli_daemon_run(const tg_cli_options_t *options)
{
    static const tg_cli_command_t *const commands[] = {
        &tg_cli_daemon_status,
        &tg_cli_daemon_stop,
        NULL,
    };

    return tg_cli_sub_run(options, commands, "daemon");
}

const tg_cli_command_t tg_cli_daemon = {
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
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT | TG_CLI_WATCH
               | TG_CLI_FORCE,
    .run = tg_cli_daemon_run,
};
