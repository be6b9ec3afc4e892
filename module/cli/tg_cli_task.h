/*
 * Tasks on the command line: `toolgate task ...`, `toolgate automation ...` and
 * `toolgate daemon ...`.
 *
 *   tg_cli_cmd_task.c        the commands
 *   tg_cli_task_request.c    what all of them do
 *   tg_cli_cmd_task_wait.c   wait and output
 *   tg_cli_task_table.c  what people read
 *   tg_cli_cmd_automation.c  rules that make them
 *   tg_cli_cmd_daemon.c      the daemon that runs them
 */
#ifndef TG_CLI_TASK_H
#define TG_CLI_TASK_H

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_status.h"

/* Between two looks of --watch, and at one that is waited for. */
#define TG_CLI_TASK_POLL_INTERVAL_MS 1000
/* The server answers such questions within 25 s. */
#define TG_CLI_TASK_TIMEOUT_MS 60000

/*
 * One of several commands behind a word: runs the one that is meant.  what is
 * that word, for messages.
 */
int tg_cli_subcommand_run(const tg_cli_options_t *options,
                          const tg_cli_command_t *const *commands,
                          const char *what);

/*
 * A method with params, raw.  It changes nothing: it is asked again when the
 * connection broke.  TG_CLI_EXIT_OK: there is a result; else the exit status.
 */
int tg_cli_task_request_read_only(tg_cli_session_t *session, const char *method,
                                  tg_str_t params, uint64_t max_wait_ms);

/* The same, of one that does something. */
int tg_cli_task_request(tg_cli_session_t *session, const char *method,
                        tg_str_t params);

/* {"taskId":"…", is left open. */
void tg_cli_task_begin_params(tg_buf_t *params, const char *id);

/* Writes the answer: as JSON with --json, else as put() has it. */
int tg_cli_task_print_response(const tg_cli_session_t *session,
                               void (*append)(tg_buf_t *out,
                                              struct json_object *response));

/* Asks, writes, and with --watch again and again. */
int tg_cli_task_fetch_and_print(tg_cli_session_t *session, const char *method,
                                tg_str_t params,
                                void (*append)(tg_buf_t *out,
                                               struct json_object *response));

/* --- tg_cli_cmd_task_wait.c --- */

extern const tg_cli_command_t tg_cli_cmd_task_wait;
extern const tg_cli_command_t tg_cli_cmd_task_output;

/* Writes what it puts out, until it has ended: the exit status. */
int tg_cli_task_follow_output(tg_cli_session_t *session, const char *id);

/* --- tg_cli_task_table.c --- */

void tg_cli_task_append_list(tg_buf_t *out, struct json_object *tasks);
void tg_cli_task_append_details(tg_buf_t *out, struct json_object *task);
void tg_cli_task_append_stats(tg_buf_t *out, struct json_object *stats);
void tg_cli_daemon_append_status(tg_buf_t *out, struct json_object *status);

/* From its start to its end, or to now; and whether it has begun: ms, or -1. */
double tg_cli_task_get_duration(struct json_object *task);

/* Cells: how long ago that was, and how long it is until then; or -. */
void tg_cli_cells_append_age(tg_buf_t *cells, struct json_object *object,
                             const char *member);
void tg_cli_cells_append_time_left(tg_buf_t *cells, struct json_object *object,
                                   const char *member);

/* `automation: enabled, rules 3` */
void tg_cli_automation_append_summary(tg_buf_t *out,
                                      struct json_object *automation);

#endif
