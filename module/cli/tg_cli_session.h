/*
 * The commands' way to a server: one question at a time, and its answer.
 *
 * How a connection comes, goes and comes back, and what is asked again then,
 * is the client's business (transport/tg_uv_client.h).
 *
 * Whatever goes wrong on the way is said here, on standard error, and comes
 * back as an exit status.  Signals end the wait: what was asked is then
 * cancelled, so that the server stops working on it.
 */
#ifndef TG_CLI_SESSION_H
#define TG_CLI_SESSION_H

#include "cli/tg_cli.h"
#include "transport/tg_uv_client.h"

/* The largest message either way: more than Toolgate lets anybody send. */
#define TG_CLI_FRAME_MAX 67108864u
/* How long anything but a tool may take, unless --timeout says otherwise. */
#define TG_CLI_REQUEST_TIMEOUT_MS 5000
/* A list: a server waits 8 s for those behind it that start. */
#define TG_CLI_LIST_TIMEOUT_MS 15000
#define TG_CLI_NSIGNALS 3

/* A copy of a tg_response_t; data.len is 0 when there was none. */
typedef struct {
    tg_response_type_t kind;
    int64_t code;
    int is_too_large;
    tg_buf_t result;
    tg_buf_t message; /* plain text */
    tg_buf_t data;
    uint64_t elapsed_ns;
} tg_cli_response_t;

typedef struct tg_cli_session_s tg_cli_session_t;

/*
 * What the server tells unasked; both live until it returns TG_CLI_EXIT_OK, or
 * the exit status when that is to be the end.
 */
typedef int (*tg_cli_on_notification_pt)(const tg_cli_session_t *session,
                                         tg_str_t method,
                                         const tg_message_t *message);

struct tg_cli_session_s {
    const tg_cli_options_t *options;
    tg_uv_endpoint_t endpoint;
    uv_loop_t loop;
    tg_uv_sched_t sched;
    uv_timer_t timer; /* the end of patience */
    uv_signal_t signals[TG_CLI_NSIGNALS];
    tg_uv_client_t client;
    uint64_t timeout_ms; /* of --timeout, for everything together, or 0 */
    uint64_t deadline;   /* the same in the loop's time */
    int is_done;
    int is_timed_out;
    int signum;
    tg_mcp_list_t list;
    tg_uv_request_t request;
    uint64_t sent_ns;
    tg_cli_response_t response; /* of the last question */
    tg_cli_on_notification_pt
        on_notification;     /* NULL: that is for a tool's progress alone */
    int notification_status; /* what it has returned last */
    int is_debug;            /* TOOLGATE_DEBUG: each message is shown */
};

/* Connects.  TG_CLI_EXIT_OK, or the exit status: there is no session then. */
int tg_cli_session_open(tg_cli_session_t *session,
                        const tg_cli_options_t *options);

/* Ends it, however it stands. */
void tg_cli_session_close(tg_cli_session_t *session);

/* A session for what ask does with it: the exit status. */
int tg_cli_session_run(const tg_cli_options_t *options,
                       int (*on_connect)(tg_cli_session_t *session, void *ctx),
                       void *ctx);

/*
 * Questions; all text lives until they return.  TG_CLI_EXIT_OK when there is an
 * answer, be it an error, in session->answer; else the exit status.
 */

/* All pages of tools/list: the result is {"tools":[…]}. */
int tg_cli_session_list_tools(tg_cli_session_t *session);

/* name is plain text, arguments a raw JSON object. */
int tg_cli_session_call_tool(tg_cli_session_t *session, tg_str_t name,
                             tg_str_t arguments);

/*
 * method is plain text, params raw JSON or absent; waits patience ms at most
 * (0: no bound).
 */
int tg_cli_session_request(tg_cli_session_t *session, tg_str_t method,
                           tg_str_t params, uint64_t max_wait_ms);

/* The same of one that changes nothing, within patience (ms; 0: no bound). */
int tg_cli_session_request_read_only(tg_cli_session_t *session, tg_str_t method,
                                     tg_str_t params, uint64_t max_wait_ms);

/*
 * Listens for as long as the connection lasts: TG_CLI_EXIT_OK when it was lost,
 * else the exit status: a signal came, or session->told wants the end.
 */
int tg_cli_session_listen(tg_cli_session_t *session);

/* Lets time pass between two questions; the exit status when a signal came. */
int tg_cli_session_sleep(tg_cli_session_t *session, uint64_t ms);

/* --- tg_cli_session_client.c, for tg_cli_session.c --- */

void tg_cli_session_client_init(tg_cli_session_t *session);

/* Asks session->question, now or when there is a connection. */
void tg_cli_session_client_send(tg_cli_session_t *session);

void tg_cli_session_client_deinit(tg_cli_session_t *session);

#endif
