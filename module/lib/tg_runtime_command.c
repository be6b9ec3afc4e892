/* Commands that the program's threads queue for the loop of a runtime. */
#include "lib/tg_runtime.h"

#include <stdlib.h>

tg_runtime_command_t *
tg_runtime_command_new(tg_str_t text, tg_str_t more)
{
    tg_runtime_command_t *command;

    command = malloc(sizeof(*command) + text.len + more.len);

    if (command == NULL) {
        (void) tg_lib_set_nomem_error();
        return NULL;
    }

    memset(command, 0, sizeof(*command));
    command->at = text.len;
    command->len = text.len + more.len;
    command->size = command->len;

    if (text.len != 0) {
        memcpy(command->text, text.data, text.len);
    }

    if (more.len != 0) {
        memcpy(command->text + text.len, more.data, more.len);
    }

    return command;
}

void
tg_runtime_command_free(tg_runtime_command_t *command)
{
    free(command);
}

int
tg_runtime_post_command(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    /* If nothing is queued, a command of any size is accepted. */
    if (command->size != 0 && runtime->command_bytes != 0
        && runtime->command_bytes + command->size > TG_RUNTIME_COMMANDS_MAX)
    {
        return tg_lib_set_error(
            TOOLGATE_ERR_BUSY,
            "more than %d bytes are queued for the event loop; it may be "
            "blocked by a callback, or not running",
            TG_RUNTIME_COMMANDS_MAX);
    }

    command->next = NULL;
    *runtime->last_command = command;
    runtime->last_command = &command->next;
    runtime->command_bytes += command->size;
    atomic_store(&runtime->has_commands, 1);
    (void) uv_async_send(&runtime->async);

    return 0;
}
