/*
 * toolgate: finds the command and runs it.
 */
#include "cli/tg_cli.h"

#include "cli/tg_cli_tool_help.h"
#include "cli/tg_cli_output.h"
#include "base/tg_suggest.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static const tg_cli_command_t *const tg_cli_commands[] = {
    &tg_cli_cmd_list,       &tg_cli_cmd_call,   &tg_cli_cmd_ping,
    &tg_cli_cmd_status,     &tg_cli_cmd_ps,     &tg_cli_cmd_cancel,
    &tg_cli_cmd_watch,      &tg_cli_cmd_trace,  &tg_cli_cmd_task,
    &tg_cli_cmd_automation, &tg_cli_cmd_daemon, &tg_cli_cmd_config,
    &tg_cli_cmd_validate,
};

#define TG_CLI_NCOMMANDS (sizeof(tg_cli_commands) / sizeof(tg_cli_commands[0]))

/* Returns a command by its name, or NULL. */
static const tg_cli_command_t *
tg_cli_command_find(const char *name)
{
    size_t i;

    for (i = 0; i < TG_CLI_NCOMMANDS; i++) {
        if (strcmp(tg_cli_commands[i]->name, name) == 0) {
            return tg_cli_commands[i];
        }
    }

    return NULL;
}

static int
tg_cli_command_report_unknown(const char *name, int is_help)
{
    const char *words[TG_CLI_NCOMMANDS + 2], *near;
    size_t i;

    for (i = 0; i < TG_CLI_NCOMMANDS; i++) {
        words[i] = tg_cli_commands[i]->name;
    }

    words[i++] = "help";
    words[i] = NULL;
    near = tg_suggest_word(tg_str_from_cstr(name), words);

    if (near == NULL && !is_help) {
        return tg_cli_error("unknown command \"%s\" (see toolgate help); to "
                            "call a tool, use toolgate call NAME",
                            name);
    }

    return tg_cli_error("unknown command \"%s\"%s%s%s (see toolgate help)",
                        name, near != NULL ? "; did you mean " : "",
                        near != NULL ? near : "", near != NULL ? "?" : "");
}

static void
tg_cli_usage_print(FILE *file)
{
    size_t i;

    (void) fputs("usage: toolgate COMMAND [ARGUMENTS] [OPTIONS]\n\n", file);

    for (i = 0; i < TG_CLI_NCOMMANDS; i++) {
        (void) fprintf(file, "  %-10s %s\n", tg_cli_commands[i]->name,
                       tg_cli_commands[i]->summary);
    }

    (void) fputs(
        "  help       explain a command, or a tool: toolgate help call\n\n"
        "The socket of the server comes from --socket PATH or from\n"
        "TOOLGATE_SOCKET, else it is toolgate.sock in XDG_RUNTIME_DIR or\n"
        "/run/toolgate/tools.sock.  It may be HOST:PORT, or tls:HOST:PORT\n"
        "with --ca FILE (whom to trust), --cert FILE and --key FILE (yours)\n"
        "and --tls-name NAME (the server's), or TOOLGATE_CA, TOOLGATE_CERT,\n"
        "TOOLGATE_KEY and TOOLGATE_TLS_NAME.\n\n"
        "-s, -j, -t, -o, -w, -h and -V are --socket, --json, --timeout,\n"
        "--output, --watch (of config: --write), --help and --version.\n\n"
        "With TOOLGATE_DEBUG=1 every message is shown on standard error.\n"
        "Exit status: 0 done, 1 the tool or the server said no, 2 it could\n"
        "not be asked; `toolgate help validate` has its own.\n",
        file);
}

static int
tg_cli_help_print(const tg_cli_options_t *options, const char *name)
{
    const tg_cli_command_t *command;

    if (name == NULL) {
        tg_cli_usage_print(stdout);
        return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    }

    command = tg_cli_command_find(name);

    if (command == NULL) {
        return tg_cli_tool_help_print(options, name) == TG_CLI_EXIT_OK
                   ? TG_CLI_EXIT_OK
                   : tg_cli_command_report_unknown(name, 1);
    }

    (void) printf("usage: toolgate %s\n\n%s", command->synopsis, command->help);

    return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
}

static int
tg_cli_command_dispatch(tg_cli_options_t *options)
{
    const tg_cli_command_t *command;
    const char *name;
    int rc;

    if (options->given & TG_CLI_OPT_VERSION) {
        (void) puts("toolgate " TG_VERSION);
        return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    }

    name = options->nargs != 0 ? options->args[0] : NULL;

    if (name != NULL && strcmp(name, "help") == 0) {
        return tg_cli_help_print(options,
                                 options->nargs > 1 ? options->args[1] : NULL);
    }

    if (options->given & TG_CLI_OPT_HELP) {
        return tg_cli_help_print(options, name);
    }

    if (name == NULL) {
        tg_cli_usage_print(stderr);
        return TG_CLI_EXIT_FAILED;
    }

    command = tg_cli_command_find(name);

    if (command == NULL) {
        return tg_cli_command_report_unknown(name, 0);
    }

    rc = tg_cli_options_check(options, command);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    options->args++;
    options->nargs--;

    return command->run(options);
}

int
main(int argc, char **argv)
{
    tg_cli_options_t options;
    int fd;

    /*
     * Opens closed standard descriptors, since a socket with such a number
     * would receive the output.
     */
    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);

    if (fd >= 0) {
        (void) close(fd);
    }

    (void) signal(SIGPIPE, SIG_IGN);

    if (tg_cli_options_parse(&options, argc, argv) != TG_CLI_EXIT_OK) {
        return TG_CLI_EXIT_FAILED;
    }

    return tg_cli_command_dispatch(&options);
}
