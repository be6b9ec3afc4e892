/* The table of commands. */
#include "cli/tg_cli.h"

#include "base/tg_suggest.h"

/* Largest number of commands, and of subcommands. */
#define TG_CLI_COMMANDS_MAX 31

const tg_cli_command_t *const tg_cli_commands[] = {
    &tg_cli_cmd_list,   &tg_cli_cmd_call,       &tg_cli_cmd_prompts,
    &tg_cli_cmd_prompt, &tg_cli_cmd_resources,  &tg_cli_cmd_read,
    &tg_cli_cmd_ping,   &tg_cli_cmd_status,     &tg_cli_cmd_ps,
    &tg_cli_cmd_cancel, &tg_cli_cmd_watch,      &tg_cli_cmd_trace,
    &tg_cli_cmd_task,   &tg_cli_cmd_automation, &tg_cli_cmd_daemon,
    &tg_cli_cmd_config, &tg_cli_cmd_validate,   NULL,
};

/* Returns the name of a command, without the command before a subcommand. */
static const char *
tg_cli_command_get_word(const tg_cli_command_t *command)
{
    const char *blank;

    blank = strchr(command->name, ' ');

    return blank != NULL ? blank + 1 : command->name;
}

const tg_cli_command_t *
tg_cli_command_find(const tg_cli_command_t *const *commands, const char *name)
{
    for (/* void */; *commands != NULL; commands++) {
        if (strcmp(tg_cli_command_get_word(*commands), name) == 0) {
            return *commands;
        }
    }

    return NULL;
}

const char *
tg_cli_command_suggest(const tg_cli_command_t *const *commands,
                       const char *name)
{
    const char *words[TG_CLI_COMMANDS_MAX + 2];
    size_t i;

    for (i = 0; i < TG_CLI_COMMANDS_MAX && commands[i] != NULL; i++) {
        words[i] = tg_cli_command_get_word(commands[i]);
    }

    if (commands == tg_cli_commands) {
        words[i++] = "help";
    }

    words[i] = NULL;

    return tg_suggest_word(tg_str_from_cstr(name), words);
}
