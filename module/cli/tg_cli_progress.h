/*
 * How far a call is, in a line of the terminal that is drawn anew each time;
 * nothing where standard error is none.
 */
#ifndef TG_CLI_PROGRESS_H
#define TG_CLI_PROGRESS_H

#include "protocol/tg_message.h"

/* What a call's params have, so that its progress is told; or nothing. */
tg_str_t tg_cli_progress_get_meta(void);

/* A notification of the server's. */
void tg_cli_progress_on_notification(tg_str_t method,
                                     const tg_message_t *message);

/* A line of one's own in its place, until the next one or the end. */
void tg_cli_progress_show_text(tg_str_t text);

/* The call is over: the line is wiped. */
void tg_cli_progress_clear(void);

#endif
