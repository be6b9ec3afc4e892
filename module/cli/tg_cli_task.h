/* `toolgate task`, `toolgate automation` and `toolgate daemon`. */
#ifndef TG_CLI_TASK_H
#define TG_CLI_TASK_H

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_table.h"

/* Interval of --watch, in ms. */
#define TG_CLI_TASK_POLL_INTERVAL_MS 1000
/* Timeout of a request in ms; the server answers such requests within 25 s. */
#define TG_CLI_TASK_TIMEOUT_MS 60000

/* Calls a method that changes nothing. Frees params, or NULL. */
int tg_cli_task_request_read_only(tg_cli_session_t *session, const char *method,
                                  json_object *params, uint64_t max_wait_ms);

/* Calls a method that has an effect. Frees params. */
int tg_cli_task_request(tg_cli_session_t *session, const char *method,
                        json_object *params);
json_object *tg_cli_task_new_params(const char *id);

/* The options of commands, and --watch alone. */
extern const tg_cli_option_t tg_cli_task_request_options[];
extern const tg_cli_option_t tg_cli_watch_only_options[];

/* Writes the response, as JSON with --json. */
int tg_cli_task_print_response(tg_cli_session_t *session,
                               void (*append)(tg_buf_t *out,
                                              json_object *response));

/* Repeats the call with --watch. Frees params. */
int tg_cli_task_fetch_and_print(tg_cli_session_t *session, const char *method,
                                json_object *params,
                                void (*append)(tg_buf_t *out,
                                               json_object *response));

/* --- tg_cli_cmd_task_wait.c --- */

extern const tg_cli_command_t tg_cli_cmd_task_wait;
extern const tg_cli_command_t tg_cli_cmd_task_output;

int tg_cli_task_follow_output(tg_cli_session_t *session, const char *id);

/* --- tg_cli_task_table.c --- */

void tg_cli_task_append_list(tg_buf_t *out, json_object *tasks);
void tg_cli_task_append_details(tg_buf_t *out, json_object *task);
void tg_cli_task_append_stats(tg_buf_t *out, json_object *stats);
void tg_cli_daemon_append_status(tg_buf_t *out, json_object *status);

/* Returns the duration so far in ms; -1: the task has not started. */
double tg_cli_task_get_duration(json_object *task);

/* Appends the time since a timestamp, or "-" if there is no such member. */
void tg_cli_cell_append_age(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends the time until a timestamp, or "-" if there is no such member. */
void tg_cli_cell_append_time_left(tg_buf_t *out, const tg_cli_cell_t *cell);

/* Appends `automation: enabled, rules 3`. */
void tg_cli_automation_append_summary(tg_buf_t *out, json_object *automation);

#endif
