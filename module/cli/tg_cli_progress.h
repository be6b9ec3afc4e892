/* Progress of a call in one line, if standard error is a terminal. */
#ifndef TG_CLI_PROGRESS_H
#define TG_CLI_PROGRESS_H

#include "cli/tg_cli_json.h"

void tg_cli_progress_show(json_object *params);

/* Shows text in the progress line, until the next change. */
void tg_cli_progress_show_text(tg_str_t text);
void tg_cli_progress_clear(void);

#endif
