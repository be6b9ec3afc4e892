/* Parses and checks the options of the command line. */
#include "cli/tg_cli.h"

#include "cli/tg_cli_output.h"
#include "base/tg_suggest.h"

/* Column of the texts of options in the help. */
#define TG_CLI_HELP_INDENT 25
/* Largest number of options of all commands, with those of the same name. */
#define TG_CLI_OPTION_NAMES_MAX 255

/* The options of every command. */
static const tg_cli_option_t tg_cli_general_options[] = {
    TG_CLI_FLAG("--help", 'h', is_help, NULL),
    TG_CLI_FLAG("--version", 'V', is_version, NULL),
    TG_CLI_OPTIONS_END,
};

/* --- tables of options --- */

static const tg_cli_option_t *
tg_cli_option_find_in(const tg_cli_option_t *option, tg_str_t written)
{
    for (/* void */; option != NULL && option->name != NULL; option++) {
        if (tg_str_eq(written, tg_str_from_cstr(option->name))
            || (written.len == 2 && option->letter != '\0'
                && written.data[1] == option->letter))
        {
            return option;
        }
    }

    return NULL;
}

/* Finds an option of a command or of one of its subcommands. */
static const tg_cli_option_t *
tg_cli_command_find_option(const tg_cli_command_t *command, tg_str_t written)
{
    const tg_cli_command_t *const *sub;
    const tg_cli_option_t *option;

    option = tg_cli_option_find_in(command->options, written);

    for (sub = command->subcommands;
         option == NULL && sub != NULL && *sub != NULL; sub++)
    {
        option = tg_cli_option_find_in((*sub)->options, written);
    }

    return option;
}

/* A subcommand accepts the options of its command, too. */
static const tg_cli_option_t *
tg_cli_command_find_accepted(const tg_cli_options_t *options,
                             const tg_cli_command_t *command, tg_str_t written)
{
    const tg_cli_option_t *option;

    option = tg_cli_option_find_in(command->options, written);

    return option == NULL && options->command != NULL
               ? tg_cli_option_find_in(options->command->options, written)
               : option;
}

/* Of two options with the same letter, prefers one with a value. */
static const tg_cli_option_t *
tg_cli_option_find_any(tg_str_t written)
{
    const tg_cli_option_t *option, *found;
    size_t i;

    found = NULL;

    for (i = 0; tg_cli_commands[i] != NULL; i++) {
        option = tg_cli_command_find_option(tg_cli_commands[i], written);

        if (found == NULL || (option != NULL && option->arg != NULL)) {
            found = option;
        }
    }

    return found;
}

/* Finds an option of the command, else of any command. */
static const tg_cli_option_t *
tg_cli_option_find(const tg_cli_options_t *options, tg_str_t written)
{
    const tg_cli_option_t *option;

    option = options->command != NULL
                 ? tg_cli_command_find_option(options->command, written)
                 : NULL;
    option = option != NULL
                 ? option
                 : tg_cli_option_find_in(tg_cli_general_options, written);

    return option != NULL ? option : tg_cli_option_find_any(written);
}

/* Adds the names of a table.  Returns the number of all names. */
static size_t
tg_cli_option_add_names(const char **names, size_t n,
                        const tg_cli_option_t *option)
{
    for (/* void */; option != NULL && option->name != NULL; option++) {
        names[n] = option->name;
        n += n < TG_CLI_OPTION_NAMES_MAX;
    }

    return n;
}

static const char *
tg_cli_option_suggest(tg_str_t name)
{
    const char *names[TG_CLI_OPTION_NAMES_MAX + 1];
    const tg_cli_command_t *const *sub;
    size_t i, n;

    for (i = n = 0; tg_cli_commands[i] != NULL; i++) {
        n = tg_cli_option_add_names(names, n, tg_cli_commands[i]->options);
        sub = tg_cli_commands[i]->subcommands;

        for (/* void */; sub != NULL && *sub != NULL; sub++) {
            n = tg_cli_option_add_names(names, n, (*sub)->options);
        }
    }

    names[n] = NULL;

    return name.len > 2 ? tg_suggest_word(name, names) : NULL;
}

/* --- parsing --- */

/* `toolgate call TOOL --limit 5` is written `toolgate call TOOL limit=5`. */
static void
tg_cli_option_append_arg_hint(tg_buf_t *hint, const tg_cli_options_t *options,
                              const char *written, const char *value)
{
    size_t len;

    if ((options->command != &tg_cli_cmd_call
         && options->command != &tg_cli_cmd_prompt)
        || strncmp(written, "--", 2) != 0)
    {
        return;
    }

    written += 2;
    len = strcspn(written, "=");
    value = written[len] == '=' ? written + len + 1 : value;
    tg_buf_printf(hint, "%s argument of the %s is written %.*s=%s",
                  hint->len == 0 ? "; an" : " An",
                  options->command == &tg_cli_cmd_call ? "tool" : "prompt",
                  (int) len, written, value != NULL ? value : "VALUE");
}

/* next: the argument after the option, or NULL. */
static int
tg_cli_option_report_unknown(const tg_cli_options_t *options, const char *arg,
                             size_t len, const char *next)
{
    const char *near;
    tg_buf_t hint;

    near = tg_cli_option_suggest(tg_str(arg, len));
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

/* Advances *i if the next argument is the option's value. */
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

    if (option->arg == NULL && value != NULL) {
        return tg_cli_error("%s takes no value", option->name);
    }

    if (option->arg != NULL) {
        /* argv[argc] is NULL. */
        value = value != NULL ? value : argv[++*i];

        if (value == NULL || value[0] == '\0') {
            return tg_cli_error("%s needs a value%s", option->name,
                                value != NULL ? " that is not empty" : "");
        }
    }

    if (options->ngiven == TG_CLI_OPTIONS_MAX) {
        return tg_cli_error("too many options; the limit is %d",
                            TG_CLI_OPTIONS_MAX);
    }

    options->given[options->ngiven++] = (tg_cli_given_option_t){
        .written = written,
        .value = value,
    };
    options->is_help |= option == &tg_cli_general_options[0];
    options->is_version |= option == &tg_cli_general_options[1];

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

            if (options->nargs == 1) {
                options->command = tg_cli_command_find(tg_cli_commands,
                                                       argv[i]);
            }

        } else if (strcmp(argv[i], "--") == 0) {
            is_ended = 1;

        } else if (tg_cli_options_parse_one(options, argv, &i)
                   != TG_CLI_EXIT_OK) {
            return TG_CLI_EXIT_FAILED;
        }
    }

    return TG_CLI_EXIT_OK;
}

/* --- values --- */

static int
tg_cli_option_set(tg_cli_options_t *options, const tg_cli_option_t *option,
                  const char *value)
{
    char *member;

    member = (char *) options + option->offset;

    if (option->set != NULL) {
        return option->set(options, value);
    }

    if (option->arg == NULL) {
        *(int *) (void *) member = 1;
    } else {
        *(const char **) (void *) member = value;
    }

    return TG_CLI_EXIT_OK;
}

/* KEY=VALUE and KEY may have been meant as the option --KEY. */
static int
tg_cli_options_report_extra_arg(const tg_cli_options_t *options,
                                const tg_cli_command_t *command,
                                const char *arg)
{
    const tg_cli_option_t *option;
    const char *value;
    tg_buf_t name;

    value = strchr(arg, '=');
    tg_buf_init(&name, tg_alloc_libc());
    tg_buf_append_cstr(&name, "--");
    tg_buf_append(&name, arg, strcspn(arg, "="));
    option = tg_cli_command_find_accepted(options, command, tg_buf_view(&name));
    tg_buf_deinit(&name);

    if (option == NULL) {
        return tg_cli_error(
            "%s takes no arguments; unexpected argument \"%s\"%s",
            command->name, arg,
            command->extra_arg_hint != NULL ? command->extra_arg_hint : "");
    }

    value = option->arg == NULL ? "" : value != NULL ? value : "=VALUE";

    return tg_cli_error("%s takes no arguments; unexpected argument \"%s\"; "
                        "did you mean %s%s?",
                        command->name, arg, option->name, value);
}

static int
tg_cli_options_report_unaccepted(const tg_cli_options_t *options,
                                 const tg_cli_command_t *command,
                                 const tg_cli_given_option_t *given,
                                 tg_str_t written)
{
    const char *name;
    tg_buf_t hint;

    name = tg_cli_option_find(options, written)->name;
    tg_buf_init(&hint, tg_alloc_libc());

    if (written.data[1] != '-') {
        tg_buf_printf(&hint, " (%.*s)", (int) written.len, written.data);
    }

    tg_cli_option_append_arg_hint(&hint, options, given->written, given->value);
    (void) tg_cli_error("%s does not take %s%.*s (see toolgate help %s)",
                        command->name, name, (int) hint.len,
                        tg_buf_view(&hint).data, command->name);
    tg_buf_deinit(&hint);

    return TG_CLI_EXIT_FAILED;
}

int
tg_cli_options_set(tg_cli_options_t *options, const tg_cli_command_t *command)
{
    const tg_cli_given_option_t *given;
    const tg_cli_option_t *option;
    tg_str_t written;
    size_t i;

    if (command->takes_no_args && options->nargs != 0) {
        return tg_cli_options_report_extra_arg(options, command,
                                               options->args[0]);
    }

    if (command->max_args != 0 && options->nargs > command->max_args) {
        return tg_cli_error("%s takes one argument; unexpected argument "
                            "\"%s\"",
                            command->name, options->args[command->max_args]);
    }

    for (i = 0; i < options->ngiven; i++) {
        given = &options->given[i];
        written = tg_str(given->written, strcspn(given->written, "="));
        option = tg_cli_command_find_accepted(options, command, written);

        if (option == NULL && command->ignores_options) {
            continue;
        }

        /* The value was parsed for the option of another command. */
        if (option == NULL || (option->arg != NULL) != (given->value != NULL)) {
            return tg_cli_options_report_unaccepted(options, command, given,
                                                    written);
        }

        if (tg_cli_option_set(options, option, given->value) != TG_CLI_EXIT_OK)
        {
            return TG_CLI_EXIT_FAILED;
        }
    }

    if (options->nargs == 0 && command->missing_arg != NULL) {
        return tg_cli_error("%s", command->missing_arg);
    }

    return TG_CLI_EXIT_OK;
}

/* --- help --- */

static void
tg_cli_option_append_help(tg_buf_t *out, const tg_cli_option_t *option)
{
    tg_buf_t left, text;

    tg_buf_init(&left, out->alloc);
    tg_buf_init(&text, out->alloc);

    if (option->letter != '\0') {
        tg_buf_printf(&left, "  -%c, %s", option->letter, option->name);
    } else {
        tg_buf_printf(&left, "      %s", option->name);
    }

    if (option->arg != NULL) {
        tg_buf_printf(&left, " %s", option->arg);
    }

    tg_cli_append_wrapped_text(&text, tg_str_from_cstr(option->help),
                               TG_CLI_HELP_INDENT, TG_CLI_HELP_WIDTH);

    if (!tg_buf_has_failed(&left) && !tg_buf_has_failed(&text)) {
        tg_buf_printf(out, "%-*.*s%.*s", TG_CLI_HELP_INDENT, (int) left.len,
                      left.data, (int) text.len - TG_CLI_HELP_INDENT,
                      text.data + TG_CLI_HELP_INDENT);
    }

    tg_buf_deinit(&left);
    tg_buf_deinit(&text);
}

void
tg_cli_options_append_help(tg_buf_t *out, const tg_cli_command_t *command)
{
    const tg_cli_command_t *const *sub, *const *first;
    const tg_cli_option_t *option;

    for (sub = command->subcommands; sub != NULL && *sub != NULL; sub++) {
        for (option = (*sub)->options; option != NULL && option->name != NULL;
             option++) {
            /* An option of several subcommands is shown once. */
            for (first = command->subcommands;
                 tg_cli_option_find_in((*first)->options,
                                       tg_str_from_cstr(option->name))
                 == NULL;
                 first++)
            {
            }

            if (first == sub) {
                tg_cli_option_append_help(out, option);
            }
        }
    }

    for (option = command->options; option != NULL && option->name != NULL;
         option++)
    {
        if (option->help != NULL) {
            tg_cli_option_append_help(out, option);
        }
    }
}
