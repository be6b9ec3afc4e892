/*
 * The commands' connection to a server: one request at a time, and its
 * response.
 *
 * libtoolgate's client connects, reconnects, and resends requests, in a loop of
 * the session.
 *
 * Errors are reported here, on standard error, and are returned as exit
 * statuses.  A signal ends the wait: the request is then cancelled, so that
 * the server stops working on it.
 */
#ifndef TG_CLI_SESSION_H
#define TG_CLI_SESSION_H

#include "cli/tg_cli.h"
#include "cli/tg_cli_json.h"
#include "lib/tg_client.h"

/*
 * Largest message in both directions, in bytes; Toolgate sends no larger
 * messages.
 */
#define TG_CLI_FRAME_MAX 67108864u
/*
 * Default timeout in ms for connecting, and for requests other than tool
 * calls.
 */
#define TG_CLI_REQUEST_TIMEOUT_MS 5000
/*
 * Timeout of a list in ms: a server waits up to 8 s for MCP servers that are
 * starting.
 */
#define TG_CLI_LIST_TIMEOUT_MS 15000
#define TG_CLI_NSIGNALS 3

/* A copy of a tg_response_t. */
typedef struct {
    tg_response_type_t kind;
    int64_t code;
    int is_too_large;
    int is_nomem;         /* there is no copy, as memory is exhausted */
    int has_data;         /* of an error */
    json_object *result;  /* NULL: `null` */
    json_object *message; /* a text */
    json_object *data;
    json_object *absent_servers; /* of a list: MCP servers without tools */
    uint64_t elapsed_ns;
} tg_cli_response_t;

void tg_cli_response_deinit(tg_cli_response_t *response);

/*
 * Handles a notification of the server; params is NULL if there are none.
 * Returns TG_CLI_EXIT_OK, or the exit status to end the session with.
 */
typedef int (*tg_cli_on_notification_pt)(const tg_cli_session_t *session,
                                         const char *method,
                                         json_object *params);

struct tg_cli_session_s {
    const tg_cli_options_t *options;
    const char *address;
    uv_loop_t loop;
    uv_timer_t timer; /* timeout of the current wait */
    uv_signal_t signals[TG_CLI_NSIGNALS];
    toolgate_client_t *client;
    tg_client_hooks_t hooks;
    uint64_t timeout_ms; /* --timeout, for the whole session; 0: none */
    /* end of timeout_ms, in ms of the loop's clock; 0: none */
    uint64_t deadline;
    int is_open;
    int is_done;
    int is_timed_out;
    int signum;
    int has_response; /* in response */
    uint64_t sent_ns;
    tg_cli_response_t response; /* response to the last request */
    /* NULL: only a tool's progress is shown. */
    tg_cli_on_notification_pt on_notification;
    int notification_status; /* last return value of on_notification */
};

/*
 * Connects to the server.  Returns TG_CLI_EXIT_OK, or the exit status of the
 * failure; then there is no session to close.
 */
int tg_cli_session_open(tg_cli_session_t *session,
                        const tg_cli_options_t *options);

/* Closes a session in any state. */
void tg_cli_session_close(tg_cli_session_t *session);

/*
 * Opens a session, calls on_connect, and closes the session.  Returns the exit
 * status.
 */
int tg_cli_session_run(const tg_cli_options_t *options,
                       int (*on_connect)(tg_cli_session_t *session, void *ctx),
                       void *ctx);

/* Sends a notification without params. */
void tg_cli_session_notify(tg_cli_session_t *session, const char *method);

/*
 * The functions below send a request and wait for the response.  Strings must
 * be valid until they return.  They return TG_CLI_EXIT_OK if there is a
 * response in session->response, which may be an error, else the exit status.
 */

/* Fetches all pages of tools/list; the result is {"tools":[...]}. */
int tg_cli_session_list_tools(tg_cli_session_t *session);

/* Calls a tool with a JSON object. */
int tg_cli_session_call_tool(tg_cli_session_t *session, const char *name,
                             const char *arguments);

/*
 * Calls a method with JSON, or NULL.  Waits for at most max_wait_ms; 0: no
 * limit.
 */
int tg_cli_session_request(tg_cli_session_t *session, const char *method,
                           const char *params, uint64_t max_wait_ms);

/*
 * Calls a method that changes nothing, so that the request may be resent after
 * a reconnect.  Waits for at most max_wait_ms; 0: no limit.
 */
int tg_cli_session_request_read_only(tg_cli_session_t *session,
                                     const char *method, const char *params,
                                     uint64_t max_wait_ms);

/*
 * Receives notifications until the connection is lost.  Returns TG_CLI_EXIT_OK
 * if the connection was lost, else the exit status after a signal or of
 * on_notification.
 */
int tg_cli_session_listen(tg_cli_session_t *session);

/*
 * Runs the loop for ms.  Returns TG_CLI_EXIT_OK, or the exit status after a
 * signal.
 */
int tg_cli_session_sleep(tg_cli_session_t *session, uint64_t ms);

#endif
