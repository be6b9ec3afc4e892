/*
 * Progress of a call in one line that is drawn again on each change.  The line
 * is shown only if standard error is a terminal.
 */
#ifndef TG_CLI_PROGRESS_H
#define TG_CLI_PROGRESS_H

#include "cli/tg_cli_json.h"

/*
 * Returns the further member of a call's params that requests progress, or an
 * absent string if there is no terminal.
 */
tg_str_t tg_cli_progress_get_meta(void);

/* Shows the values of a progress notification; ignores other notifications. */
void tg_cli_progress_on_notification(tg_str_t method, json_object *params);

/* Shows text in the progress line, until the next change. */
void tg_cli_progress_show_text(tg_str_t text);

/* Clears the progress line after the end of the call. */
void tg_cli_progress_clear(void);

#endif
