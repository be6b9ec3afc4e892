/*
 * libtoolgate: offers the functions of a program to agents as tools.
 *
 *     toolgate_server_t *server = toolgate_server_new("notes");
 *
 *     toolgate_add_tool(server, "word_count", "Counts the words of a text.",
 *                       "{\"type\":\"object\",\"properties\":"
 *                       "{\"text\":{\"type\":\"string\"}},"
 *                       "\"required\":[\"text\"]}",
 *                       word_count, NULL);
 *     toolgate_start(server);
 *     config = toolgate_agent_config(server);
 *     ...                                  an agent runs with this config
 *     toolgate_stop(server);
 *     toolgate_server_free(server);
 *
 * A started server listens on a Unix socket that only this user can open, and
 * keeps a file with the schemas of the tools beside it. toolgate_stop() and
 * exit() remove both. Clients may use any dialect. docs/library.md is the full
 * manual.
 *
 * Results. A function that returns an int returns 0, or a negative
 * TOOLGATE_ERR_... code; then it has had no effect. After an error, also one
 * that a NULL reports, toolgate_error() says what happened and what to do.
 * Functions that set an option or a callback return TOOLGATE_ERR_STATE while
 * the server is started or the client is open, unless their comment says
 * otherwise.
 *
 * Threads. Any thread may call any function, unless its comment says otherwise.
 * Calls of toolgate_start(), toolgate_stop() and toolgate_server_free() for one
 * server must not overlap. Callbacks run in the thread of the server's event
 * loop, one at a time. A callback that needs long should return, and a thread
 * of the program should send the answer later. A callback must not throw a C++
 * exception.
 *
 * Strings are UTF-8 and end with a zero byte; a string that is passed with a
 * length needs no zero byte. Functions copy their arguments before they return.
 */
#ifndef TOOLGATE_H
#define TOOLGATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TOOLGATE_API __attribute__((visibility("default")))
#else
#define TOOLGATE_API
#endif

/* --- errors --- */

enum {
    TOOLGATE_ERR_IPC = -1,            /* invalid message */
    TOOLGATE_ERR_CONNECTION = -2,     /* not connected, or connection lost */
    TOOLGATE_ERR_MESSAGE_SIZE = -3,   /* message above the size limit */
    TOOLGATE_ERR_TOOL_EXECUTION = -4, /* the tool returned an error */
    TOOLGATE_ERR_BRIDGE_STARTUP = -5, /* the bridge did not start */
    TOOLGATE_ERR_ARGUMENT = -6,       /* invalid argument of the function */
    TOOLGATE_ERR_STATE = -7,          /* wrong state, or a forked child */
    TOOLGATE_ERR_SYSTEM = -8,         /* error of the operating system */
    TOOLGATE_ERR_MEMORY = -9,
    TOOLGATE_ERR_GONE = -10,   /* the call is unknown, answered or cancelled */
    TOOLGATE_ERR_BUSY = -11,   /* a limit is reached; try again later */
    TOOLGATE_ERR_TIMEOUT = -12 /* no answer in time */
};

/* Returns this thread's last error, valid until its next error; never NULL. */
TOOLGATE_API const char *toolgate_error(void);

/*
 * Returns the class name of an error code, as hosts in Python call it, such as
 * "IPCConnectionError". The first five codes are IPCError and its subclasses.
 */
TOOLGATE_API const char *toolgate_error_class(int code);

/* Returns the version of the running library; this header's may differ. */
TOOLGATE_API const char *toolgate_version(void);

/* Frees a string that the caller owns.  NULL is ignored. */
TOOLGATE_API void toolgate_free(char *text);

/* --- calls --- */

/*
 * The number of a call, never reused within a process: using it after the end
 * of its call is harmless.
 */
typedef uint64_t toolgate_call_t;

/*
 * Handles a call. arguments is a JSON object that is valid against the tool's
 * input schema; for a method it is the params, an object or an array. The text
 * ends with a zero byte, which len does not count, and is valid until the
 * function returns. The program answers with a function below, before this
 * function returns or later, from any thread.
 */
typedef void (*toolgate_call_pt)(toolgate_call_t call, const char *arguments,
                                 size_t len, void *data);

/*
 * Returns one argument: a string decoded, any other type as JSON; NULL if there
 * is none or on an error. The caller frees it with toolgate_free().
 */
TOOLGATE_API char *toolgate_argument(const char *arguments, size_t len,
                                     const char *name);

/*
 * Answers a call with a result in the format of the tool's option "output": a
 * text, a JSON value, or a whole MCP result. The result of a resource may be
 * any bytes. A result that does not have it
 * becomes an error for the client, and the callback of toolgate_on_report() is
 * called.
 *
 * Returns 0, or: TOOLGATE_ERR_GONE, if nobody waits for the answer;
 * TOOLGATE_ERR_MEMORY, and the program may try again; TOOLGATE_ERR_STATE in a
 * forked child, as only the process that started the server can answer.
 */
TOOLGATE_API int toolgate_reply(toolgate_call_t call, const char *result,
                                size_t len);

/*
 * Answers a call with an error: type is its class or NULL, message is for the
 * client. Returns the errors of toolgate_reply(), or TOOLGATE_ERR_ARGUMENT if
 * type is not UTF-8.
 */
TOOLGATE_API int toolgate_fail(toolgate_call_t call, const char *type,
                               const char *message);

/*
 * Answers a method's call with a JSON-RPC error. code is not 0; -32000 to
 * -32099 are the program's. data is JSON or NULL. Returns the errors of
 * toolgate_reply(), or TOOLGATE_ERR_ARGUMENT for an invalid code or data.
 */
TOOLGATE_API int toolgate_fail_rpc(toolgate_call_t call, int code,
                                   const char *message, const char *data);

/*
 * Answers a call of a template with an error: it has no such resource. Returns
 * the errors of toolgate_reply().
 */
TOOLGATE_API int toolgate_fail_unknown(toolgate_call_t call);

/*
 * Reports progress and restarts the call's timeout. progress must rise; total
 * is its final value, or 0 if unknown; message may be NULL. The client receives
 * at most one notification every 50 ms, with the newest values. Returns 0,
 * TOOLGATE_ERR_GONE or TOOLGATE_ERR_STATE, as toolgate_reply() does.
 */
TOOLGATE_API int toolgate_progress(toolgate_call_t call, uint64_t progress,
                                   uint64_t total, const char *message);

/* Returns 1 if the client still waits for the answer to a call, else 0. */
TOOLGATE_API int toolgate_is_wanted(toolgate_call_t call);

/* --- server and tools --- */

typedef struct toolgate_server_s toolgate_server_t;

/*
 * name is what clients see, and the key of the server's entry in an agent's
 * config.
 */
TOOLGATE_API toolgate_server_t *toolgate_server_new(const char *name);

/* Stops a running server and frees the server.  NULL is ignored. */
TOOLGATE_API void toolgate_server_free(toolgate_server_t *server);

/*
 * Sets an option, such as "instructions" or "transport"; docs/library.md lists
 * them. Values are written as in nginx.conf: "5s", "4m".
 */
TOOLGATE_API int toolgate_set(toolgate_server_t *server, const char *option,
                              const char *value);

/*
 * Adds a tool. The list may change at any time: clients are notified.
 * description and input_schema may be NULL. data must stay valid until the
 * server is stopped, since a call of a removed tool may still run.
 */
TOOLGATE_API int toolgate_add_tool(toolgate_server_t *server, const char *name,
                                   const char *description,
                                   const char *input_schema,
                                   toolgate_call_pt called, void *data);

/* Adds a JSON-RPC method, at any time. data as for toolgate_add_tool(). */
TOOLGATE_API int toolgate_add_method(toolgate_server_t *server,
                                     const char *name, toolgate_call_pt called,
                                     void *data);

/*
 * Sets an option of a tool, such as "title", "output_schema", "output" or
 * "timeout", at any time; docs/library.md lists them. NULL restores the
 * default.
 */
TOOLGATE_API int toolgate_set_tool(toolgate_server_t *server, const char *name,
                                   const char *option, const char *value);

/* Sets an option of a method, as toolgate_set_tool() does for a tool. */
TOOLGATE_API int toolgate_set_method(toolgate_server_t *server,
                                     const char *name, const char *option,
                                     const char *value);

/*
 * Removes a tool. Running calls continue. Returns TOOLGATE_ERR_ARGUMENT if
 * there is none of that name.
 */
TOOLGATE_API int toolgate_remove_tool(toolgate_server_t *server,
                                      const char *name);

/* Removes a method, as toolgate_remove_tool() removes a tool. */
TOOLGATE_API int toolgate_remove_method(toolgate_server_t *server,
                                        const char *name);

/*
 * Adds a prompt, whose text a call returns. arguments is NULL, or a JSON array
 * of MCP's PromptArgument, such as [{"name":"commit","required":true}]; a call
 * receives their values as strings. Otherwise as toolgate_add_tool().
 */
TOOLGATE_API int toolgate_add_prompt(toolgate_server_t *server,
                                     const char *name, const char *description,
                                     const char *arguments,
                                     toolgate_call_pt called, void *data);

/*
 * Adds a resource, whose contents a call returns: text, or any bytes. name is
 * what people see, mime its MIME type; both may be NULL. Otherwise as
 * toolgate_add_tool().
 */
TOOLGATE_API int toolgate_add_resource(toolgate_server_t *server,
                                       const char *uri, const char *name,
                                       const char *mime,
                                       toolgate_call_pt called, void *data);

/*
 * Adds a template of resources, such as "notes:///{+path}"; a call receives the
 * values of the variables as strings. Otherwise as toolgate_add_resource().
 */
TOOLGATE_API int toolgate_add_template(toolgate_server_t *server,
                                       const char *uri_template,
                                       const char *name, const char *mime,
                                       toolgate_call_pt called, void *data);

/* Sets an option of a prompt, as toolgate_set_tool() does for a tool. */
TOOLGATE_API int toolgate_set_prompt(toolgate_server_t *server,
                                     const char *name, const char *option,
                                     const char *value);

/* Sets an option of a resource, as toolgate_set_tool() does for a tool. */
TOOLGATE_API int toolgate_set_resource(toolgate_server_t *server,
                                       const char *uri, const char *option,
                                       const char *value);

/* Sets an option of a template, as toolgate_set_tool() does for a tool. */
TOOLGATE_API int toolgate_set_template(toolgate_server_t *server,
                                       const char *uri_template,
                                       const char *option, const char *value);

/* Removes a prompt, as toolgate_remove_tool() removes a tool. */
TOOLGATE_API int toolgate_remove_prompt(toolgate_server_t *server,
                                        const char *name);

/* Removes a resource, as toolgate_remove_tool() removes a tool. */
TOOLGATE_API int toolgate_remove_resource(toolgate_server_t *server,
                                          const char *uri);

/* Removes a template, as toolgate_remove_tool() removes a tool. */
TOOLGATE_API int toolgate_remove_template(toolgate_server_t *server,
                                          const char *uri_template);

/*
 * Suggests values for an argument of a prompt: a call receives the arguments
 * that are known already, and returns one value per line. Clients get the
 * values that match what was typed, at most 100. The prompt's removal ends it.
 * Otherwise as toolgate_add_tool().
 */
TOOLGATE_API int toolgate_complete_prompt(toolgate_server_t *server,
                                          const char *name,
                                          const char *argument,
                                          toolgate_call_pt called, void *data);

/* Suggests values for a variable, as toolgate_complete_prompt() does. */
TOOLGATE_API int toolgate_complete_template(toolgate_server_t *server,
                                            const char *uri_template,
                                            const char *argument,
                                            toolgate_call_pt called,
                                            void *data);

/* Notifies the clients that are subscribed to a resource of its change. */
TOOLGATE_API int toolgate_updated(toolgate_server_t *server, const char *uri);

/* Returns 0 to hide a tool of a server, or any other value to offer it. */
typedef int (*toolgate_filter_pt)(const char *tool, void *data);

/*
 * Offers only the tools for which filter returns a value other than 0, or all
 * if it is NULL. May be called at any time. If the server is not started, its
 * next start uses new names for the socket and the schema file.
 */
TOOLGATE_API int toolgate_filter(toolgate_server_t *server,
                                 toolgate_filter_pt filter, void *data);

/*
 * Reports that nobody waits for the answer any more: the client has cancelled
 * or disconnected, the call has timed out, or the server is being stopped. Each
 * call ends in exactly one of two ways: a function that answers it returns 0,
 * or this callback is called once.
 */
typedef void (*toolgate_cancel_pt)(toolgate_call_t call, void *data);

/* Sets the callback for cancelled calls; NULL: none. */
TOOLGATE_API int toolgate_on_cancel(toolgate_server_t *server,
                                    toolgate_cancel_pt cancelled, void *data);

/*
 * Receives an error, a TOOLGATE_ERR_... code and a text that is valid until the
 * callback returns. Every error of a tool is reported, too.
 */
typedef void (*toolgate_report_pt)(int code, const char *message, void *data);

/* Sets the callback for errors; NULL: none. */
TOOLGATE_API int toolgate_on_report(toolgate_server_t *server,
                                    toolgate_report_pt report, void *data);

/* --- start and stop --- */

enum {
    TOOLGATE_CREATED = 0,
    TOOLGATE_STARTED = 1,
    TOOLGATE_STOPPED = 2 /* can be started again */
};

/*
 * Opens the socket and writes the schema file, both for this user only; the
 * transport "sdk" has neither. Then clients can connect.
 */
TOOLGATE_API int toolgate_start(toolgate_server_t *server);

/*
 * Removes the socket and the schema file, ends all calls and connections, and
 * joins the server's thread if it has one. Within a callback of the server,
 * they end after its return. Returns 0 if the server is not started.
 */
TOOLGATE_API int toolgate_stop(toolgate_server_t *server);

/* Returns TOOLGATE_CREATED, TOOLGATE_STARTED or TOOLGATE_STOPPED. */
TOOLGATE_API int toolgate_state(const toolgate_server_t *server);

/* Returns the number of connected clients. */
TOOLGATE_API int toolgate_clients(const toolgate_server_t *server);

/*
 * Returns the path of the socket, even before the start, valid until the server
 * is freed; its text changes when toolgate_filter() or the option "directory"
 * chooses new names. Returns NULL on error, and always with the transport
 * "sdk".
 */
TOOLGATE_API const char *toolgate_socket(toolgate_server_t *server);

/* Returns the path of the schema file, as toolgate_socket() does. */
TOOLGATE_API const char *toolgate_schema_file(toolgate_server_t *server);

/*
 * Returns what an agent needs to start the bridge, or NULL. The caller frees it
 * with toolgate_free().
 *
 *     {"mcpServers":{"notes":{"type":"stdio","command":"...","args":[...]}}}
 */
TOOLGATE_API char *toolgate_agent_config(toolgate_server_t *server);

/*
 * Checks that an agent can reach a started server: starts the bridge,
 * initializes MCP, lists the tools, and stops the bridge. Returns
 * TOOLGATE_ERR_BRIDGE_STARTUP if that fails or takes longer than timeout ms;
 * toolgate_error() has the bridge's last lines of stderr. Must not be called in
 * a callback, nor in the thread that calls toolgate_process() or runs the libuv
 * loop.
 */
TOOLGATE_API int toolgate_check_bridge(toolgate_server_t *server, int timeout);

/* Sends a notification to all clients.  params is a JSON object or NULL. */
TOOLGATE_API int toolgate_notify(toolgate_server_t *server, const char *method,
                                 const char *params);

/* --- event loop --- */

/*
 * Returns a descriptor to poll, or -1 while the server is not started. With the
 * option "loop" set to "fd" the server has no thread: when the descriptor is
 * readable, the program must call toolgate_process().
 */
TOOLGATE_API int toolgate_fd(const toolgate_server_t *server);

/*
 * Handles the pending events of a server with the option "loop" set to "fd".
 * Never blocks. The program must call this function, toolgate_start() and
 * toolgate_stop() in one thread.
 */
TOOLGATE_API int toolgate_process(toolgate_server_t *server);

/*
 * Runs the server in a libuv loop of the program; TOOLGATE_UV must be defined
 * before this header is included. The loop's thread starts, stops and frees the
 * server, and must run the loop until all handles are closed after the stop.
 * The program must ignore SIGPIPE. With loop NULL the server has a thread of
 * its own again.
 */
#ifdef TOOLGATE_UV
struct uv_loop_s;
TOOLGATE_API int toolgate_use_uv(toolgate_server_t *server,
                                 struct uv_loop_s *loop);
#endif

/* --- clients without the socket --- */

/*
 * Serves a client on two descriptors, such as pipes, or on a socket that is
 * passed twice. On success the server owns them.
 */
TOOLGATE_API int toolgate_serve(toolgate_server_t *server, int in, int out);

/* A client in this process: the program passes its messages to and fro. */
typedef struct toolgate_link_s toolgate_link_t;

/*
 * Receives a message to a link's client: one complete JSON text, valid until
 * the function returns.
 */
typedef void (*toolgate_message_pt)(const char *message, size_t len,
                                    void *data);

/* Opens a link to a started server; message gets what is sent to the client. */
TOOLGATE_API toolgate_link_t *toolgate_link_open(toolgate_server_t *server,
                                                 toolgate_message_pt message,
                                                 void *data);

/* Sends a message of the client of a link: one complete JSON text. */
TOOLGATE_API int toolgate_link_send(toolgate_link_t *link, const char *message,
                                    size_t len);

/*
 * Closes a link and cancels its client's calls. The server may be stopped or
 * freed already. Afterwards the link's callback is not called any more, unless
 * this function was called within a callback. NULL is ignored.
 */
TOOLGATE_API void toolgate_link_close(toolgate_link_t *link);

#ifdef __cplusplus
}
#endif

#include "toolgate_client.h"

#endif
