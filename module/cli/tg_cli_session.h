/*
 * A command's connection to a server, by libtoolgate's client: one request at
 * a time. A signal or a timeout cancels the request.
 */
#ifndef TG_CLI_SESSION_H
#define TG_CLI_SESSION_H

#include "cli/tg_cli.h"
#include "cli/tg_cli_json.h"
#include "lib/tg_client.h"

/* Largest message in bytes; Toolgate sends no larger ones. */
#define TG_CLI_FRAME_MAX 67108864u
/* Timeout in ms of connecting, and of requests except tool calls. */
#define TG_CLI_REQUEST_TIMEOUT_MS 5000
/* A server waits up to 8 s for MCP servers that are starting. */
#define TG_CLI_LIST_TIMEOUT_MS 15000
#define TG_CLI_NSIGNALS 3

/* A copy of a tg_response_t; text of JSON is without white space. */
typedef struct {
    tg_response_type_t kind;
    int64_t code;
    int is_too_large;
    tg_buf_t text;           /* JSON of the result */
    json_object *result;     /* see tg_cli_session_parse_result() */
    tg_buf_t message;        /* of an error: the escaped body of a string */
    tg_buf_t data;           /* of an error: JSON, or empty */
    tg_buf_t absent_servers; /* of a list: JSON of MCP servers without tools */
    uint64_t elapsed_ns;
} tg_cli_response_t;

void tg_cli_response_init(tg_cli_response_t *response);

/* The response can be used again. */
void tg_cli_response_deinit(tg_cli_response_t *response);

/* Any status but TG_CLI_EXIT_OK ends the session. */
typedef int (*tg_cli_on_notification_pt)(const tg_cli_session_t *session,
                                         const char *method, tg_str_t params);

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
    int has_response;     /* in response */
    toolgate_call_t call; /* that the session waits for; 0: none */
    uint64_t sent_ns;
    tg_cli_response_t response; /* response to the last request */
    /* NULL: only a tool's progress is shown. */
    tg_cli_on_notification_pt on_notification;
    int notification_status; /* last return value of on_notification */
};

/* After a failure there is no session to close. */
int tg_cli_session_open(tg_cli_session_t *session,
                        const tg_cli_options_t *options);
void tg_cli_session_close(tg_cli_session_t *session);

int tg_cli_session_run(const tg_cli_options_t *options,
                       int (*on_connect)(tg_cli_session_t *session, void *ctx),
                       void *ctx);
void tg_cli_session_notify(tg_cli_session_t *session, const char *method);

/*
 * Send a request and wait for its response, which may be an error, in
 * session->response.
 */

/* Fetches all pages of a list; the result is such as {"tools":[...]}. */
int tg_cli_session_fetch_list(tg_cli_session_t *session, tg_mcp_kind_t kind);
int tg_cli_session_call_tool(tg_cli_session_t *session, const char *name,
                             const char *arguments);

/* params: JSON or NULL. max_wait_ms 0: no limit. */
int tg_cli_session_request(tg_cli_session_t *session, const char *method,
                           const char *params, uint64_t max_wait_ms);

/* For a method that changes nothing: resent after a reconnect. */
int tg_cli_session_request_read_only(tg_cli_session_t *session,
                                     const char *method, const char *params,
                                     uint64_t max_wait_ms);

/*
 * Parses the last result into session->response.result, which is else NULL:
 * the tree of a large result needs many times the memory of its text.
 */
int tg_cli_session_parse_result(tg_cli_session_t *session);

/* Receives notifications. Returns TG_CLI_EXIT_OK after a disconnect. */
int tg_cli_session_listen(tg_cli_session_t *session);

/* Returns TG_CLI_EXIT_OK, or the exit status after a signal. */
int tg_cli_session_sleep(tg_cli_session_t *session, uint64_t ms);

/* --- tg_cli_result.c --- */

/*
 * Fetches a list, as text only, or also parsed. Reports errors. The list of
 * prompts or resources of a server that has none of them is empty.
 */
int tg_cli_result_fetch_list(tg_cli_session_t *session, tg_mcp_kind_t kind,
                             int is_parsed);

/* Writes the text of a CallToolResult; with isError to standard error. */
int tg_cli_result_print(tg_str_t result);

/* Writes the messages of a prompt: the text of one user message, or each. */
int tg_cli_result_print_messages(tg_str_t result);

/* Writes the contents of a resource, decoded, to a file or standard output. */
int tg_cli_result_write_contents(tg_str_t result, const char *uri,
                                 const char *path);

/* Writes the result's image, audio or file, or else its text, to a file. */
int tg_cli_result_save_file(tg_str_t result, const char *path);

/* Writes the text of a string, or JSON with one member per line. */
int tg_cli_result_print_value(tg_str_t value);

/* Writes JSON on one line, and frees it. Returns status, or a failure's. */
int tg_cli_result_print_json(json_object *value, int status);

/* Writes the last result on one line. Returns status, or a failure's. */
int tg_cli_result_print_text(tg_cli_session_t *session, int status);

/* Reports an error response, with --json as {"error":{...}}. */
int tg_cli_response_print_error(const tg_cli_response_t *response,
                                const tg_cli_options_t *options);

#endif
