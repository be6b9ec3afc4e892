/*
 * Parses and checks the options of the command line.
 */
#include "cli/tg_cli.h"

#include "cli/tg_cli_output.h"
#include "base/tg_suggest.h"

#include <stdlib.h>

/* Largest timeout in s: a year.  A larger value is probably meant in ms. */
#define TG_CLI_TIMEOUT_MAX 31536000.0
#define TG_CLI_OPT_TLS_ALL                                                     \
    (TG_CLI_OPT_CA | TG_CLI_OPT_CERT | TG_CLI_OPT_KEY | TG_CLI_OPT_TLS_NAME)

typedef struct {
    const char *name;
    uint64_t flag;
    size_t value; /* offset of the value in tg_cli_options_t; 0: no value */
} tg_cli_option_t;

#define TG_CLI_VALUE_OFFSET(member) offsetof(tg_cli_options_t, member)

static const tg_cli_option_t tg_cli_options[] = {
    { "--socket", TG_CLI_OPT_SOCKET, TG_CLI_VALUE_OFFSET(socket) },
    { "--json", TG_CLI_OPT_JSON, 0 },
    { "--watch", TG_CLI_OPT_WATCH, 0 },
    { "--prometheus", TG_CLI_OPT_PROMETHEUS, 0 },
    { "--timeout", TG_CLI_OPT_TIMEOUT, TG_CLI_VALUE_OFFSET(timeout) },
    { "--method", TG_CLI_OPT_METHOD, TG_CLI_VALUE_OFFSET(method) },
    { "--write", TG_CLI_OPT_WRITE, 0 },
    { "--name", TG_CLI_OPT_NAME, TG_CLI_VALUE_OFFSET(name) },
    { "--file", TG_CLI_OPT_FILE, TG_CLI_VALUE_OFFSET(file) },
    { "--help", TG_CLI_OPT_HELP, 0 },
    { "-h", TG_CLI_OPT_HELP, 0 },
    { "--version", TG_CLI_OPT_VERSION, 0 },
    { "--formats", TG_CLI_OPT_FORMATS, 0 },
    { "--schema", TG_CLI_OPT_SCHEMA, TG_CLI_VALUE_OFFSET(schema) },
    { "--ca", TG_CLI_OPT_CA, TG_CLI_VALUE_OFFSET(tls.ca) },
    { "--cert", TG_CLI_OPT_CERT, TG_CLI_VALUE_OFFSET(tls.certificate) },
    { "--key", TG_CLI_OPT_KEY, TG_CLI_VALUE_OFFSET(tls.key) },
    { "--tls-name", TG_CLI_OPT_TLS_NAME, TG_CLI_VALUE_OFFSET(tls.name) },
    { "--scope", TG_CLI_OPT_SCOPE, TG_CLI_VALUE_OFFSET(scope) },
    { "--remove", TG_CLI_OPT_REMOVE, 0 },
    { "--output", TG_CLI_OPT_OUTPUT, TG_CLI_VALUE_OFFSET(output) },
    { "--follow", TG_CLI_OPT_FOLLOW, 0 },
    { "--in", TG_CLI_OPT_IN, 0 },
    { "--out", TG_CLI_OPT_OUT, 0 },
    { "--connection", TG_CLI_OPT_TRACE_FILTER,
      TG_CLI_VALUE_OFFSET(connection) },
    { "--client", TG_CLI_OPT_TRACE_FILTER, TG_CLI_VALUE_OFFSET(client) },
    { "--dialect", TG_CLI_OPT_TRACE_FILTER, TG_CLI_VALUE_OFFSET(dialect) },
    { "--match", TG_CLI_OPT_TRACE_FILTER, TG_CLI_VALUE_OFFSET(match) },
    { "--agent", TG_CLI_OPT_AGENT, TG_CLI_VALUE_OFFSET(agent) },
    { "--priority", TG_CLI_OPT_TASK_SUBMIT, TG_CLI_VALUE_OFFSET(priority) },
    { "--cwd", TG_CLI_OPT_TASK_SUBMIT, TG_CLI_VALUE_OFFSET(cwd) },
    { "--metadata", TG_CLI_OPT_TASK_SUBMIT, TG_CLI_VALUE_OFFSET(metadata) },
    { "--state", TG_CLI_OPT_TASK_FILTER, TG_CLI_VALUE_OFFSET(state) },
    { "--limit", TG_CLI_OPT_TASK_FILTER, TG_CLI_VALUE_OFFSET(limit) },
    { "--force", TG_CLI_OPT_FORCE, 0 },
    { "--deny", TG_CLI_OPT_DENY, 0 },
    { "--all", TG_CLI_OPT_ALL, 0 },
    { "-s", TG_CLI_OPT_SOCKET, TG_CLI_VALUE_OFFSET(socket) },
    { "-j", TG_CLI_OPT_JSON, 0 },
    { "-t", TG_CLI_OPT_TIMEOUT, TG_CLI_VALUE_OFFSET(timeout) },
    { "-m", TG_CLI_OPT_METHOD, TG_CLI_VALUE_OFFSET(method) },
    { "-w", TG_CLI_OPT_WRITE, 0 },
    { "-n", TG_CLI_OPT_NAME, TG_CLI_VALUE_OFFSET(name) },
    { "-f", TG_CLI_OPT_FILE, TG_CLI_VALUE_OFFSET(file) },
    { "-o", TG_CLI_OPT_OUTPUT, TG_CLI_VALUE_OFFSET(output) },
    { "-V", TG_CLI_OPT_VERSION, 0 },
};

#define TG_CLI_NOPTIONS (sizeof(tg_cli_options) / sizeof(tg_cli_options[0]))

/* -f means --follow for `trace` and `task`, and --file for other commands. */
static const tg_cli_option_t tg_cli_option_short_follow = { "-f",
                                                            TG_CLI_OPT_FOLLOW,
                                                            0 };

/* -w means --watch, except for `config`, where it means --write. */
static const tg_cli_option_t tg_cli_option_short_watch = { "-w",
                                                           TG_CLI_OPT_WATCH,
                                                           0 };

static const tg_cli_option_t *
tg_cli_option_find(const tg_cli_options_t *options, tg_str_t name)
{
    size_t i;

    if (options->nargs != 0
        && (strcmp(options->args[0], "trace") == 0
            || strcmp(options->args[0], "task") == 0)
        && tg_str_eq(name, TG_STR("-f")))
    {
        return &tg_cli_option_short_follow;
    }

    if (options->nargs != 0 && strcmp(options->args[0], "config") != 0
        && tg_str_eq(name, TG_STR("-w")))
    {
        return &tg_cli_option_short_watch;
    }

    for (i = 0; i < TG_CLI_NOPTIONS; i++) {
        if (tg_str_eq(name, tg_str_from_cstr(tg_cli_options[i].name))) {
            return &tg_cli_options[i];
        }
    }

    return NULL;
}

/* Returns the long name of an option. */
static const char *
tg_cli_option_get_long_name(const tg_cli_option_t *option)
{
    const tg_cli_option_t *first;

    first = tg_cli_options;

    while (first->flag != option->flag || first->value != option->value) {
        first++;
    }

    return first->name;
}

/*
 * Appends a hint for an option that was given to `call`: "--limit 5" as an
 * argument of the tool is written limit=5.
 */
static void
tg_cli_option_append_arg_hint(tg_buf_t *hint, const tg_cli_options_t *options,
                              const char *written, const char *value)
{
    size_t len;

    if (options->nargs == 0 || strcmp(options->args[0], "call") != 0
        || strncmp(written, "--", 2) != 0)
    {
        return;
    }

    written += 2;
    len = strcspn(written, "=");
    value = written[len] == '=' ? written + len + 1 : value;
    tg_buf_printf(hint, "%s argument of the tool is written %.*s=%s",
                  hint->len == 0 ? "; an" : " An", (int) len, written,
                  value != NULL ? value : "VALUE");
}

/*
 * Reports an unknown option, and suggests a similar one.  next is the argument
 * after it, or NULL.
 */
static int
tg_cli_option_report_unknown(const tg_cli_options_t *options, const char *arg,
                             size_t len, const char *next)
{
    const char *words[TG_CLI_NOPTIONS + 1], *near;
    tg_buf_t hint;
    size_t i;

    for (i = 0; i < TG_CLI_NOPTIONS; i++) {
        words[i] = tg_cli_options[i].name;
    }

    words[i] = NULL;
    near = len > 2 ? tg_suggest_word(tg_str(arg, len), words) : NULL;
    tg_buf_init(&hint, tg_alloc_libc());

    if (near != NULL) {
        tg_buf_printf(&hint, "; did you mean %s?", near);
    }

    tg_cli_option_append_arg_hint(&hint, options, arg,
                                  next != NULL && next[0] != '-' ? next : NULL);
    (void) tg_cli_error("unknown option %s%.*s (see toolgate help)", arg,
                        (int) hint.len, tg_buf_view(&hint).data);
    tg_buf_deinit(&hint);

    return TG_CLI_EXIT_FAILED;
}

/* Records a given option, for the messages of tg_cli_options_check(). */
static int
tg_cli_options_add_given(tg_cli_options_t *options,
                         const tg_cli_option_t *option, const char *written,
                         const char *value)
{
    if (options->ngiven_options == TG_CLI_OPTIONS_MAX) {
        return tg_cli_error("too many options; the limit is %d",
                            TG_CLI_OPTIONS_MAX);
    }

    options->given |= option->flag;
    options->given_options[options->ngiven_options++] = (tg_cli_given_option_t){
        .flag = option->flag,
        .name = tg_cli_option_get_long_name(option),
        .written = written,
        .value = value,
    };

    return TG_CLI_EXIT_OK;
}

/*
 * Parses the option at argv[*i], and advances *i if its value is the next
 * argument.
 */
static int
tg_cli_options_parse_one(tg_cli_options_t *options, char **argv, int *i)
{
    const tg_cli_option_t *option;
    const char *written, *value;
    size_t len;

    written = argv[*i];
    len = strcspn(written, "=");
    option = tg_cli_option_find(options, tg_str(written, len));

    if (option == NULL) {
        return tg_cli_option_report_unknown(options, written, len,
                                            argv[*i + 1]);
    }

    value = written[len] == '=' ? written + len + 1 : NULL;

    if (option->value == 0) {
        return value == NULL
                   ? tg_cli_options_add_given(options, option, written, NULL)
                   : tg_cli_error("%s takes no value", option->name);
    }

    /* argv[argc] is NULL. */
    value = value != NULL ? value : argv[++*i];

    if (value == NULL || value[0] == '\0') {
        return tg_cli_error("%s needs a value%s", option->name,
                            value != NULL ? " that is not empty" : "");
    }

    memcpy((char *) options + option->value, (void *) &value, sizeof(value));

    if (option->flag == TG_CLI_OPT_SCHEMA) {
        if (options->nschemas == TG_CLI_SCHEMAS_MAX) {
            return tg_cli_error("%s is given more than %d times", option->name,
                                TG_CLI_SCHEMAS_MAX);
        }

        options->schemas[options->nschemas++] = value;
    }

    return tg_cli_options_add_given(options, option, written, value);
}

static int
tg_cli_options_parse_timeout(tg_cli_options_t *options)
{
    double seconds;
    char *end;

    seconds = strtod(options->timeout, &end);

    /* The comparison is negated so that NaN fails, too. */
    if (end == options->timeout || *end != '\0'
        || !(seconds >= 0.001 && seconds <= TG_CLI_TIMEOUT_MAX))
    {
        return tg_cli_error("--timeout must be in seconds, such as 30 or "
                            "0.5, not \"%s\"",
                            options->timeout);
    }

    options->timeout_ms = (uint64_t) (seconds * 1000);

    return TG_CLI_EXIT_OK;
}

int
tg_cli_options_parse(tg_cli_options_t *options, int argc, char **argv)
{
    int i, is_ended;

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

        if (tg_cli_options_parse_one(options, argv, &i) != TG_CLI_EXIT_OK) {
            return TG_CLI_EXIT_FAILED;
        }
    }

    return options->timeout != NULL ? tg_cli_options_parse_timeout(options)
                                    : TG_CLI_EXIT_OK;
}

/*
 * Reports an argument of a command that takes none.  KEY=VALUE and KEY may
 * have been meant as the option --KEY.
 */
static int
tg_cli_options_report_extra_arg(const tg_cli_options_t *options,
                                const tg_cli_command_t *command)
{
    const tg_cli_option_t *option;
    const char *arg, *value;
    tg_buf_t name;

    arg = options->args[1];
    value = strchr(arg, '=');
    tg_buf_init(&name, tg_alloc_libc());
    tg_buf_append_cstr(&name, "--");
    tg_buf_append(&name, arg, strcspn(arg, "="));
    option = tg_cli_option_find(options, tg_buf_view(&name));
    tg_buf_deinit(&name);

    if (option == NULL || !(command->options & option->flag)) {
        return tg_cli_error(
            "%s takes no arguments; unexpected argument \"%s\"%s",
            command->name, arg,
            command->extra_arg_hint != NULL ? command->extra_arg_hint : "");
    }

    value = option->value == 0 ? "" : value != NULL ? value : "=VALUE";

    return tg_cli_error("%s takes no arguments; unexpected argument \"%s\"; "
                        "did you mean %s%s?",
                        command->name, arg, option->name, value);
}

int
tg_cli_options_check(const tg_cli_options_t *options,
                     const tg_cli_command_t *command)
{
    const tg_cli_given_option_t *given;
    uint64_t known;
    tg_buf_t hint;
    size_t i;

    if ((command->options & TG_CLI_NO_ARGS) && options->nargs > 1) {
        return tg_cli_options_report_extra_arg(options, command);
    }

    /* A command that accepts a socket accepts the TLS options. */
    known = command->options | TG_CLI_OPT_HELP
            | (command->options & TG_CLI_OPT_SOCKET ? TG_CLI_OPT_TLS_ALL : 0);

    for (i = 0; i < options->ngiven_options
                && (options->given_options[i].flag & known) != 0;
         i++)
    {
    }

    if (i == options->ngiven_options) {
        return TG_CLI_EXIT_OK;
    }

    given = &options->given_options[i];
    tg_buf_init(&hint, tg_alloc_libc());

    if (given->written[1] != '-') {
        tg_buf_printf(&hint, " (%s)", given->written);
    }

    tg_cli_option_append_arg_hint(&hint, options, given->written, given->value);
    (void) tg_cli_error("%s does not take %s%.*s (see toolgate help %s)",
                        command->name, given->name, (int) hint.len,
                        tg_buf_view(&hint).data, command->name);
    tg_buf_deinit(&hint);

    return TG_CLI_EXIT_FAILED;
}

const char *
tg_cli_options_get_socket(const tg_cli_options_t *options)
{
    const char *path;
    int is_there;

    path = options->socket != NULL ? options->socket
                                   : getenv("TOOLGATE_SOCKET");

    if (path != NULL && path[0] != '\0') {
        return path;
    }

    path = tg_uv_endpoint_get_default(&is_there);

    if (!is_there) {
        tg_cli_error("no socket given. Use --socket PATH, or set "
                     "TOOLGATE_SOCKET to the path after `listen unix:` in "
                     "nginx.conf; neither toolgate.sock in XDG_RUNTIME_DIR "
                     "nor %s exists",
                     path);
        return NULL;
    }

    return path;
}

int
tg_cli_is_debug_enabled(void)
{
    const char *debug;

    debug = getenv("TOOLGATE_DEBUG");

    return debug != NULL && debug[0] != '\0' && strcmp(debug, "0") != 0;
}
