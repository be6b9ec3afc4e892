/*
 * The commands' way to a server: one question at a time, and its answer.
 *
 * Whatever goes wrong on the way is said here, on standard error, and comes
 * back as an exit status.  Signals end the wait: what was asked is then
 * cancelled, so that the server stops working on it.
 */
#ifndef TG_CLI_SESSION_H
#define TG_CLI_SESSION_H

#include "client/tg_cli.h"
#include "client/tg_client.h"

/* How long anything but a tool may take, unless --timeout says otherwise. */
#define TG_CLI_PATIENCE_MS 5000

#define TG_CLI_NSIGNALS 3

/* A copy of a tg_answer_t; data.len is 0 when there was none. */
typedef struct {
    tg_answer_kind_t kind;
    int64_t code;
    tg_buf_t result;
    tg_buf_t message; /* plain text */
    tg_buf_t data;
    uint64_t took_ns;
} tg_cli_answer_t;

typedef struct {
    const char *path;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t signals[TG_CLI_NSIGNALS];
    tg_client_t *client;
    tg_client_call_t *call;
    uint64_t timeout_ms; /* of --timeout, for everything together, or 0 */
    uint64_t deadline;   /* the same in the loop's time */
    uint64_t asked_ns;
    int is_connected;
    int is_done;
    int is_late;
    int is_closed;
    int signum;
    tg_cli_answer_t answer; /* of the last question */
} tg_cli_session_t;

/* Connects.  TG_CLI_DONE, or the exit status: there is no session then. */
int tg_cli_session_open(tg_cli_session_t *session,
                        const tg_cli_options_t *options);

/* Ends it, however it stands. */
void tg_cli_session_close(tg_cli_session_t *session);

/*
 * Questions.  TG_CLI_DONE when there is an answer, be it an error, in
 * session->answer; else the exit status.
 */
int tg_cli_session_list(tg_cli_session_t *session);
int tg_cli_session_call(tg_cli_session_t *session, tg_str_t name,
                        tg_str_t arguments);

/* With has_patience, not longer than TG_CLI_PATIENCE_MS. */
int tg_cli_session_request(tg_cli_session_t *session, tg_str_t method,
                           tg_str_t params, int has_patience);

/*
 * Says what error the server answered with, with --json as {"error":{…}} on
 * standard output; returns TG_CLI_REFUSED.
 */
int tg_cli_session_refused(const tg_cli_session_t *session,
                           const tg_cli_options_t *options);
int tg_cli_refused(int64_t code, tg_str_t message);

#endif
