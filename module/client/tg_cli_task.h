/*
 * Tasks on the command line: `toolgate task ...`, `toolgate automation ...` and
 * `toolgate daemon ...`.
 *
 *   tg_cli_task.c        the commands
 *   tg_cli_task_ask.c    what all of them do
 *   tg_cli_task_look.c   wait and output
 *   tg_cli_task_table.c  what people read
 *   tg_cli_automation.c  rules that make them
 *   tg_cli_daemon.c      the daemon that runs them
 */
#ifndef TG_CLI_TASK_H
#define TG_CLI_TASK_H

#include "client/tg_cli_session.h"
#include "client/tg_cli_status.h"

/* Between two looks of --watch, and at one that is waited for. */
#define TG_CLI_TASK_LOOK_MS 1000
/* The server answers such questions within 25 s. */
#define TG_CLI_TASK_PATIENCE_MS 60000

/*
 * One of several commands behind a word: runs the one that is meant.  what is
 * that word, for messages.
 */
int tg_cli_sub_run(const tg_cli_options_t *options,
                   const tg_cli_command_t *const *commands, const char *what);

/*
 * A method with params, raw.  It changes nothing: it is asked again when the
 * connection broke.  TG_CLI_DONE: there is a result; else the exit status.
 */
int tg_cli_task_ask(tg_cli_session_t *session, const char *method,
                    tg_str_t params, uint64_t patience);

/* The same, of one that does something. */
int tg_cli_task_tell(tg_cli_session_t *session, const char *method,
                     tg_str_t params);

/* {"taskId":"…", is left open. */
void tg_cli_task_params(tg_buf_t *params, const char *id);

/* Writes the answer: as JSON with --json, else as put() has it. */
int tg_cli_task_print(const tg_cli_session_t *session,
                      void (*put)(tg_buf_t *out, struct json_object *answer));

/* Asks, writes, and with --watch again and again. */
int tg_cli_task_show(tg_cli_session_t *session, const char *method,
                     tg_str_t params,
                     void (*put)(tg_buf_t *out, struct json_object *answer));

/* --- tg_cli_task_look.c --- */

extern const tg_cli_command_t tg_cli_task_wait;
extern const tg_cli_command_t tg_cli_task_output;

/* Writes what it puts out, until it has ended: the exit status. */
int tg_cli_task_follow(tg_cli_session_t *session, const char *id);

/* --- tg_cli_task_table.c --- */

void tg_cli_task_put_list(tg_buf_t *out, struct json_object *tasks);
void tg_cli_task_put(tg_buf_t *out, struct json_object *task);
void tg_cli_task_put_stats(tg_buf_t *out, struct json_object *stats);
void tg_cli_task_put_daemon(tg_buf_t *out, struct json_object *status);

/* From its start to its end, or to now; and whether it has begun: ms, or -1. */
double tg_cli_task_took(struct json_object *task);

/* Cells: how long ago that was, and how long it is until then; or -. */
void tg_cli_cell_age(tg_buf_t *cells, struct json_object *object,
                     const char *member);
void tg_cli_cell_due(tg_buf_t *cells, struct json_object *object,
                     const char *member);

/* `automation: enabled, rules 3` */
void tg_cli_automation_put_line(tg_buf_t *out, struct json_object *automation);

#endif
