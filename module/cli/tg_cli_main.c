/* toolgate: finds the command and runs it. */
#include "cli/tg_cli.h"

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_tool.h"
#include "cli/tg_cli_output.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* The options of `toolgate help TOOL`. */
static const tg_cli_option_t tg_cli_help_options[] = {
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT(NULL),
    TG_CLI_OPTIONS_END,
};

static const tg_cli_command_t tg_cli_cmd_help = {
    .name = "help",
    .options = tg_cli_help_options,
    .ignores_options = 1,
};

static int
tg_cli_command_report_unknown(const char *name, int is_help)
{
    const char *near;

    near = tg_cli_command_suggest(tg_cli_commands, name);

    if (near == NULL && !is_help) {
        return tg_cli_error("unknown command \"%s\" (see toolgate help); to "
                            "call a tool, use toolgate call NAME",
                            name);
    }

    return tg_cli_error("unknown command \"%s\"%s%s%s (see toolgate help)",
                        name, near != NULL ? "; did you mean " : "",
                        near != NULL ? near : "", near != NULL ? "?" : "");
}

static int
tg_cli_subcommand_report_unknown(const tg_cli_command_t *command,
                                 const char *name)
{
    const char *near;

    if (name == NULL) {
        return tg_cli_error("%s needs a subcommand (see toolgate help %s)",
                            command->name, command->name);
    }

    near = tg_cli_command_suggest(command->subcommands, name);

    return tg_cli_error("unknown command \"%s %s\"%s%s%s (see toolgate help "
                        "%s)",
                        command->name, name,
                        near != NULL ? "; did you mean " : "",
                        near != NULL ? near : "", near != NULL ? "?" : "",
                        command->name);
}

static void
tg_cli_usage_print(FILE *file)
{
    size_t i;

    (void) fputs("usage: toolgate COMMAND [ARGUMENTS] [OPTIONS]\n\n", file);

    for (i = 0; tg_cli_commands[i] != NULL; i++) {
        (void) fprintf(file, "  %-10s %s\n", tg_cli_commands[i]->name,
                       tg_cli_commands[i]->summary);
    }

    (void) fputs(
        "  help       explain a command or a tool, such as toolgate help call\n"
        "\n"
        "Options of all commands that connect to a server:\n\n"
        "  -s, --socket PATH      the server's socket, or HOST:PORT, or\n"
        "                         tls:HOST:PORT; default: TOOLGATE_SOCKET,\n"
        "                         else toolgate.sock in XDG_RUNTIME_DIR, else\n"
        "                         /run/toolgate/tools.sock\n"
        "      --ca FILE          the certificates to trust (TOOLGATE_CA)\n"
        "      --cert FILE        your certificate (TOOLGATE_CERT)\n"
        "      --key FILE         your certificate's key (TOOLGATE_KEY)\n"
        "      --tls-name NAME    the name in the server's certificate, if it\n"
        "                         is not HOST (TOOLGATE_TLS_NAME)\n\n"
        "  -h, --help             explain the command\n"
        "  -V, --version          print the version\n\n"
        "TOOLGATE_DEBUG=1 shows every message on standard error.\n"
        "Exit status: 0 success, 1 the tool or the server returned an error,\n"
        "2 no response or an invalid command line; `toolgate help validate`\n"
        "describes its own exit statuses.\n",
        file);
}

static int
tg_cli_help_print_command(const tg_cli_command_t *command)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());
    tg_buf_printf(&out, "usage: toolgate %s\n\n", command->synopsis);
    tg_cli_append_wrapped_text(&out, tg_str_from_cstr(command->help), 0,
                               TG_CLI_HELP_WIDTH);
    tg_buf_append_char(&out, '\n');
    tg_cli_options_append_help(&out, command);

    if (command->note != NULL) {
        tg_buf_append_char(&out, '\n');
        tg_cli_append_wrapped_text(&out, tg_str_from_cstr(command->note), 0,
                                   TG_CLI_HELP_WIDTH);
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static int
tg_cli_help_print(tg_cli_options_t *options, const char *name)
{
    const tg_cli_command_t *command;
    int rc;

    if (name == NULL) {
        tg_cli_usage_print(stdout);
        return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    }

    command = tg_cli_command_find(tg_cli_commands, name);

    if (command != NULL) {
        return tg_cli_help_print_command(command);
    }

    rc = tg_cli_options_set(options, &tg_cli_cmd_help);
    rc = rc == TG_CLI_EXIT_OK ? tg_cli_tool_help_print(options, name) : rc;

    return rc != TG_CLI_EXIT_FAILED ? rc
                                    : tg_cli_command_report_unknown(name, 1);
}

static int
tg_cli_command_run_each(tg_cli_session_t *session, void *ctx)
{
    const tg_cli_command_t *command;
    const tg_cli_options_t *options;
    int i, rc, status;

    command = ctx;
    options = session->options;
    status = options->nargs == 0 ? command->on_each_arg(session, NULL)
                                 : TG_CLI_EXIT_OK;

    for (i = 0; i < options->nargs; i++) {
        rc = command->on_each_arg(session, options->args[i]);

        if (rc > TG_CLI_EXIT_REFUSED) {
            return rc;
        }

        status |= rc;
    }

    return tg_cli_flush_stdout(status);
}

/* Runs the command that options->args begins with. */
static int
tg_cli_command_run(tg_cli_options_t *options, const tg_cli_command_t *command)
{
    int rc;

    options->args++;
    options->nargs--;

    if (command->subcommands != NULL) {
        const char *name;

        name = options->nargs != 0 ? options->args[0] : NULL;
        command = name != NULL ? tg_cli_command_find(command->subcommands, name)
                               : NULL;

        return command != NULL
                   ? tg_cli_command_run(options, command)
                   : tg_cli_subcommand_report_unknown(options->command, name);
    }

    rc = tg_cli_options_set(options, command);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (command->run != NULL) {
        return command->run(options);
    }

    return command->on_connect != NULL
               ? tg_cli_session_run(options, command->on_connect, options)
               : tg_cli_session_run(options, tg_cli_command_run_each,
                                    (void *) (uintptr_t) command);
}

static int
tg_cli_command_dispatch(tg_cli_options_t *options)
{
    const char *name;

    if (options->is_version) {
        (void) puts("toolgate " TG_VERSION);
        return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    }

    name = options->nargs != 0 ? options->args[0] : NULL;

    if (name != NULL && strcmp(name, "help") == 0) {
        return tg_cli_help_print(options,
                                 options->nargs > 1 ? options->args[1] : NULL);
    }

    if (options->is_help) {
        return tg_cli_help_print(options, name);
    }

    if (name == NULL) {
        tg_cli_usage_print(stderr);
        return TG_CLI_EXIT_FAILED;
    }

    return options->command != NULL
               ? tg_cli_command_run(options, options->command)
               : tg_cli_command_report_unknown(name, 0);
}

int
main(int argc, char **argv)
{
    tg_cli_options_t options;
    int fd;

    /* A socket with such a number would receive the output. */
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
