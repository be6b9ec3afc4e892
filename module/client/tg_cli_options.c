#include "client/tg_cli.h"

#include "client/tg_cli_text.h"

#include <stdlib.h>

/* A year: beyond it, somebody meant milliseconds. */
#define TG_CLI_TIMEOUT_MAX 31536000.0

typedef struct {
    const char *name;
    unsigned flag;
    int has_value;
} tg_cli_option_t;

static const tg_cli_option_t tg_cli_options[] = {
    { "--socket", TG_CLI_SOCKET, 1 },   { "--json", TG_CLI_JSON, 0 },
    { "--timeout", TG_CLI_TIMEOUT, 1 }, { "--method", TG_CLI_METHOD, 1 },
    { "--write", TG_CLI_WRITE, 0 },     { "--name", TG_CLI_NAME, 1 },
    { "--file", TG_CLI_FILE, 1 },       { "--help", TG_CLI_HELP, 0 },
    { "-h", TG_CLI_HELP, 0 },           { "--version", TG_CLI_VERSION, 0 },
    { "--formats", TG_CLI_FORMATS, 0 },
};

#define TG_CLI_NOPTIONS (sizeof(tg_cli_options) / sizeof(tg_cli_options[0]))

/* value is what follows the `=`, or NULL. */
static const tg_cli_option_t *
tg_cli_option_find(const char *arg, const char **value)
{
    const tg_cli_option_t *option;
    size_t i, len;

    len = strcspn(arg, "=");

    for (i = 0; i < TG_CLI_NOPTIONS; i++) {
        option = &tg_cli_options[i];

        if (strlen(option->name) == len && strncmp(option->name, arg, len) == 0)
        {
            *value = arg[len] == '=' ? arg + len + 1 : NULL;
            return option;
        }
    }

    return NULL;
}

static int
tg_cli_option_timeout(tg_cli_options_t *options, const char *value)
{
    double seconds;
    char *end;

    seconds = strtod(value, &end);

    /* Negated, so that what is no number fails too. */
    if (end == value || *end != '\0'
        || !(seconds >= 0.001 && seconds <= TG_CLI_TIMEOUT_MAX))
    {
        return tg_cli_error(
            "--timeout wants seconds, such as 30 or 0.5, not \"%s\"", value);
    }

    options->timeout_ms = (uint64_t) (seconds * 1000);

    return TG_CLI_DONE;
}

static int
tg_cli_option_set(tg_cli_options_t *options, unsigned flag, const char *value)
{
    options->given |= flag;

    switch (flag) {
    case TG_CLI_SOCKET:
        options->socket = value;
        break;
    case TG_CLI_METHOD:
        options->method = value;
        break;
    case TG_CLI_NAME:
        options->name = value;
        break;
    case TG_CLI_FILE:
        options->file = value;
        break;
    case TG_CLI_TIMEOUT:
        /* Every option that has_value gets one. */
        return value != NULL ? tg_cli_option_timeout(options, value)
                             : TG_CLI_FAILED;
    default:
        break;
    }

    return TG_CLI_DONE;
}

/* The option at argv[*i]; moves *i when its value is the next argument. */
static int
tg_cli_option_take(tg_cli_options_t *options, int argc, char **argv, int *i)
{
    const tg_cli_option_t *option;
    const char *value;

    option = tg_cli_option_find(argv[*i], &value);

    if (option == NULL) {
        return tg_cli_error("unknown option %s (see toolgate help)", argv[*i]);
    }

    if (!option->has_value && value != NULL) {
        return tg_cli_error("%s takes no value", option->name);
    }

    if (option->has_value && value == NULL) {
        if (*i + 1 == argc) {
            return tg_cli_error("%s wants a value", option->name);
        }

        value = argv[++*i];
    }

    if (value != NULL && value[0] == '\0') {
        return tg_cli_error("%s wants a value that is not empty", option->name);
    }

    return tg_cli_option_set(options, option->flag, value);
}

int
tg_cli_options_parse(tg_cli_options_t *options, int argc, char **argv)
{
    int i, is_ended, rc;

    memset(options, 0, sizeof(*options));
    options->args = argv;
    is_ended = 0;

    for (i = 1; i < argc; i++) {

        if (is_ended || argv[i][0] != '-' || argv[i][1] == '\0') {
            options->args[options->nargs++] = argv[i];
            continue;
        }

        if (strcmp(argv[i], "--") == 0) {
            is_ended = 1;
            continue;
        }

        rc = tg_cli_option_take(options, argc, argv, &i);

        if (rc != TG_CLI_DONE) {
            return rc;
        }
    }

    return TG_CLI_DONE;
}

int
tg_cli_options_check(const tg_cli_options_t *options,
                     const tg_cli_command_t *command)
{
    unsigned extra;
    size_t i;

    if ((command->options & TG_CLI_BARE) && options->nargs > 1) {
        return tg_cli_error("%s takes no arguments, and \"%s\" is one",
                            command->name, options->args[1]);
    }

    extra = options->given & ~(command->options | TG_CLI_HELP);

    for (i = 0; i < TG_CLI_NOPTIONS; i++) {
        if (tg_cli_options[i].flag & extra) {
            return tg_cli_error("%s does not take %s (see toolgate help %s)",
                                command->name, tg_cli_options[i].name,
                                command->name);
        }
    }

    return TG_CLI_DONE;
}

const char *
tg_cli_options_socket(const tg_cli_options_t *options)
{
    const char *path;

    path = options->socket != NULL ? options->socket
                                   : getenv("TOOLGATE_SOCKET");

    /* As `listen` in nginx.conf has it. */
    if (path != NULL && strncmp(path, "unix:", 5) == 0) {
        path += 5;
    }

    if (path == NULL || path[0] == '\0') {
        tg_cli_error("which socket? Give it with --socket PATH, or set "
                     "TOOLGATE_SOCKET to the path behind `listen unix:` in "
                     "nginx.conf");
        return NULL;
    }

    return path;
}
