/*
 * libtoolgate: the functions of a program, offered to agents as tools.
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
 *     ...                                         an agent runs with it
 *     toolgate_stop(server);
 *     toolgate_server_free(server);
 *
 * A server is a socket that nobody else can open, in all dialects that
 * Toolgate speaks, with a file of the tools' schemas beside it, for the time
 * between toolgate_start() and toolgate_stop(); neither is left behind when
 * the program calls exit().  docs/library.md has all of this at length.
 *
 * Results.  A function that returns an int returns 0, or a TOOLGATE_ERR_...,
 * which is negative; toolgate_error() then says what happened and what to
 * do.  Nothing is done in that case.
 *
 * Threads.  All functions may be called from any thread but those of which it
 * is said otherwise; toolgate_start(), toolgate_stop() and
 * toolgate_server_free() of one server by one thread at a time.  Callbacks
 * run in the thread of the server's loop, one at a time: what takes long is
 * answered later, from a thread of the program's own.  No callback may throw
 * a C++ exception.
 *
 * Texts are UTF-8 and end with a zero; what comes with a length need not.
 * What a function is given is copied before it returns.
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
    TOOLGATE_ERR_IPC = -1,            /* a message that cannot be read */
    TOOLGATE_ERR_CONNECTION = -2,     /* nobody there, or not any more */
    TOOLGATE_ERR_MESSAGE_SIZE = -3,   /* larger than a message may be */
    TOOLGATE_ERR_TOOL_EXECUTION = -4, /* the tool said no */
    TOOLGATE_ERR_BRIDGE_STARTUP = -5, /* the bridge did not come up */
    TOOLGATE_ERR_ARGUMENT = -6,       /* of the function, not of a tool */
    TOOLGATE_ERR_STATE = -7,          /* not now; or not in this process */
    TOOLGATE_ERR_SYSTEM = -8,         /* the operating system said no */
    TOOLGATE_ERR_MEMORY = -9,
    TOOLGATE_ERR_GONE = -10,   /* nobody waits for that answer (any more) */
    TOOLGATE_ERR_BUSY = -11,   /* a limit is reached; later */
    TOOLGATE_ERR_TIMEOUT = -12 /* there was no answer in time */
};

/*
 * What was wrong with the last function of this thread that returned an
 * error; it lives until the next one.  Never NULL.
 */
TOOLGATE_API const char *toolgate_error(void);

/*
 * The class of an error, as Python's hosts call it: "IPCConnectionError".
 * The first five are IPCError and what is derived from it.
 */
TOOLGATE_API const char *toolgate_error_class(int code);

/* "0.1.0": of the library that runs, not of this header. */
TOOLGATE_API const char *toolgate_version(void);

/* Frees a text that a function below says is the caller's.  NULL is none. */
TOOLGATE_API void toolgate_free(char *text);

/* --- calls --- */

/*
 * The number of a call.  No other call of this process has it, ever: a number
 * that is kept for too long does no harm.
 */
typedef uint64_t toolgate_call_t;

/*
 * Somebody calls a tool or a method.  arguments is a JSON object that fits
 * the tool's schema (of a method: its params, an object or an array), with a
 * zero behind it; it lives until the return.  One of the functions below
 * answers, before the return or later, from any thread.
 */
typedef void (*toolgate_call_pt)(toolgate_call_t call, const char *arguments,
                                 size_t len, void *data);

/*
 * One of the arguments: a string decoded, anything else as JSON.  The
 * caller's, or NULL when there is none of that name.
 */
TOOLGATE_API char *toolgate_argument(const char *arguments, size_t len,
                                     const char *name);

/*
 * Answers with what "output" of the tool says: a text, a JSON value or a
 * whole MCP result.  What is none becomes an error for the caller, and is
 * reported.  TOOLGATE_ERR_GONE; _MEMORY, which may be tried again; or _STATE
 * in a forked child, as only the process that has the server can answer.  The
 * functions below return these, too.
 */
TOOLGATE_API int toolgate_reply(toolgate_call_t call, const char *result,
                                size_t len);

/* Answers with an error: a text for whoever called, and its class or NULL. */
TOOLGATE_API int toolgate_fail(toolgate_call_t call, const char *type,
                               const char *message);

/*
 * Answers a method with an error of JSON-RPC: a code of the program's own
 * (-32000 to -32099), a text, and data as JSON or NULL.
 */
TOOLGATE_API int toolgate_fail_rpc(toolgate_call_t call, int code,
                                   const char *message, const char *data);

/*
 * How far it is: a number that rises; its end, or 0 when that is not known; a
 * text, or NULL.  The call has its time anew.  The caller is told some times
 * a second at most; the newest counts.
 */
TOOLGATE_API int toolgate_progress(toolgate_call_t call, uint64_t progress,
                                   uint64_t total, const char *message);

/* Does anybody wait for its answer?  1 or 0. */
TOOLGATE_API int toolgate_is_wanted(toolgate_call_t call);

/* --- a server and its tools --- */

typedef struct toolgate_server_s toolgate_server_t;

/*
 * What clients call the server, and what its entry in an agent's config is
 * called.  NULL: see toolgate_error().
 */
TOOLGATE_API toolgate_server_t *toolgate_server_new(const char *name);

/* Stops it, if it runs, and frees it.  NULL is none. */
TOOLGATE_API void toolgate_server_free(toolgate_server_t *server);

/*
 * Sets one of the options that docs/library.md lists, "instructions" or
 * "transport" for instance, to a value as it would stand in a file: "5s",
 * "4m".  While it is started: TOOLGATE_ERR_STATE.
 */
TOOLGATE_API int toolgate_set(toolgate_server_t *server, const char *option,
                              const char *value);

/*
 * Tools and methods may be added, removed and filtered at any time: clients
 * that are there are told that the list changed.  description and
 * input_schema may be NULL.  data must live as long as a call of the tool can
 * be under way: until the server is stopped.
 */
TOOLGATE_API int toolgate_add_tool(toolgate_server_t *server, const char *name,
                                   const char *description,
                                   const char *input_schema,
                                   toolgate_call_pt called, void *data);
TOOLGATE_API int toolgate_add_method(toolgate_server_t *server,
                                     const char *name, toolgate_call_pt called,
                                     void *data);

/* "title", "output_schema", "output", "timeout" and others; see there. */
TOOLGATE_API int toolgate_set_tool(toolgate_server_t *server, const char *name,
                                   const char *option, const char *value);
TOOLGATE_API int toolgate_set_method(toolgate_server_t *server,
                                     const char *name, const char *option,
                                     const char *value);

/* Calls of it that run go on.  TOOLGATE_ERR_ARGUMENT: there is no such. */
TOOLGATE_API int toolgate_remove_tool(toolgate_server_t *server,
                                      const char *name);
TOOLGATE_API int toolgate_remove_method(toolgate_server_t *server,
                                        const char *name);

/*
 * Asks of each tool whether it is offered from now on, and makes the
 * configuration anew: a server that is not started will have another socket
 * and another file.  filter NULL: all are.
 */
typedef int (*toolgate_filter_pt)(const char *tool, void *data);
TOOLGATE_API int toolgate_filter(toolgate_server_t *server,
                                 toolgate_filter_pt filter, void *data);

/*
 * Nobody waits for an answer any more: the call was cancelled, its client has
 * gone, its time is over, or the server was stopped.  Each call ends in one
 * of two ways: an answer returned 0, or this is called, once.
 */
typedef void (*toolgate_cancel_pt)(toolgate_call_t call, void *data);
TOOLGATE_API int toolgate_on_cancel(toolgate_server_t *server,
                                    toolgate_cancel_pt cancelled, void *data);

/*
 * What went wrong: a TOOLGATE_ERR_... and a text.  Each error of a tool is
 * told here, too.
 */
typedef void (*toolgate_report_pt)(int code, const char *message, void *data);
TOOLGATE_API int toolgate_on_report(toolgate_server_t *server,
                                    toolgate_report_pt report, void *data);

/* --- its life --- */

enum {
    TOOLGATE_CREATED = 0,
    TOOLGATE_STARTED = 1,
    TOOLGATE_STOPPED = 2 /* may be started again */
};

/*
 * Opens the socket and writes the schema file, both for this user alone; with
 * the transport "sdk" there is neither.  When it returns, clients can
 * connect.
 */
TOOLGATE_API int toolgate_start(toolgate_server_t *server);

/*
 * Removes socket and file, ends all connections and all calls, and the thread
 * if there is one.  In a callback of the server's: all that when the callback
 * has returned.  Of one that is not started, nothing.
 */
TOOLGATE_API int toolgate_stop(toolgate_server_t *server);

/* TOOLGATE_CREATED, TOOLGATE_STARTED or TOOLGATE_STOPPED. */
TOOLGATE_API int toolgate_state(const toolgate_server_t *server);

/* How many clients are connected. */
TOOLGATE_API int toolgate_clients(const toolgate_server_t *server);

/*
 * Where the socket and the schema file are, or will be: they live until
 * toolgate_filter() or the server's end.  NULL with the transport "sdk".
 */
TOOLGATE_API const char *toolgate_socket(toolgate_server_t *server);
TOOLGATE_API const char *toolgate_schema_file(toolgate_server_t *server);

/*
 * What an agent needs to start the bridge, as JSON, the caller's:
 *
 *     {"mcpServers":{"notes":{"type":"stdio","command":"...","args":[...]}}}
 *
 * NULL: see toolgate_error().
 */
TOOLGATE_API char *toolgate_agent_config(toolgate_server_t *server);

/*
 * Starts the bridge as the agent would, has it greet and list the tools of
 * this server, which is started, and ends it: TOOLGATE_ERR_BRIDGE_STARTUP
 * when that was not done after so many milliseconds, with what it wrote to
 * stderr last.  Not in a callback, nor in the thread that calls
 * toolgate_process() or runs the loop.
 */
TOOLGATE_API int toolgate_check_bridge(toolgate_server_t *server, int timeout);

/* Tells all clients something.  params is JSON, an object or NULL. */
TOOLGATE_API int toolgate_notify(toolgate_server_t *server, const char *method,
                                 const char *params);

/* --- its loop --- */

/*
 * With "loop" set to "fd" the server has no thread: the caller waits until
 * the descriptor is readable, by poll() or what he has, and has the server
 * do what there is to do, which never waits.  All this, toolgate_start() and
 * toolgate_stop() in one thread.  -1 while it is not started.
 */
TOOLGATE_API int toolgate_fd(const toolgate_server_t *server);
TOOLGATE_API int toolgate_process(toolgate_server_t *server);

/*
 * With TOOLGATE_UV defined: the server is one of a libuv loop's, whose thread
 * starts, stops and frees it, and which must run on for a moment after the
 * stop.  The program ignores SIGPIPE, as libuv wants it.  NULL: it is not.
 */
#ifdef TOOLGATE_UV
struct uv_loop_s;
TOOLGATE_API int toolgate_use_uv(toolgate_server_t *server,
                                 struct uv_loop_s *loop);
#endif

/* --- clients that do not come by the socket --- */

/*
 * Serves a client at the other end of two descriptors, or of one that is
 * given twice: pipes, sockets.  They are the server's from now on.
 */
TOOLGATE_API int toolgate_serve(toolgate_server_t *server, int in, int out);

/* A client in this process, to which messages are carried by hand. */
typedef struct toolgate_link_s toolgate_link_t;

/* A message for that client, one whole JSON text; it lives until the return. */
typedef void (*toolgate_message_pt)(const char *message, size_t len,
                                    void *data);

/* Of a server that is started; NULL: see toolgate_error(). */
TOOLGATE_API toolgate_link_t *toolgate_link_open(toolgate_server_t *server,
                                                 toolgate_message_pt message,
                                                 void *data);

/* A message of that client: one whole JSON text. */
TOOLGATE_API int toolgate_link_send(toolgate_link_t *link, const char *message,
                                    size_t len);

/*
 * The client goes; its calls are cancelled.  Also of a link whose server was
 * stopped, or freed.  After the return nothing is told of it any more, but
 * from within a callback that runs.  NULL is none.
 */
TOOLGATE_API void toolgate_link_close(toolgate_link_t *link);

/* --- a client --- */

/*
 * The other end: a program that calls the tools and methods of a server, be
 * it NGINX, a program like those above, or anything else that speaks JSON-RPC
 * in lines.
 *
 *     toolgate_client_t *client = toolgate_client_new("/run/tools.sock");
 *     char *result;
 *
 *     toolgate_client_open(client);
 *     toolgate_client_call(client, "word_count", "{\"text\":\"a b\"}", 0,
 *                          &result);
 *     ...
 *     toolgate_free(result);
 *     toolgate_client_free(client);
 *
 * A connection that is lost comes back by itself, for as long as the client
 * is open.  What the server had not begun is asked again then; what it may
 * have begun ends with TOOLGATE_ERR_CONNECTION, as only the program knows
 * whether doing it twice does harm.
 */
typedef struct toolgate_client_s toolgate_client_t;

/*
 * Of a server at the path of a Unix socket, HOST:PORT, or tls:HOST:PORT;
 * NULL: wherever one is, as toolgate(1) finds it.  Nothing is connected yet.
 * NULL: see toolgate_error().
 */
TOOLGATE_API toolgate_client_t *toolgate_client_new(const char *address);

/* Closes it, if it is open, and frees it.  Not in a callback. */
TOOLGATE_API void toolgate_client_free(toolgate_client_t *client);

/* As toolgate_set(), of the options of a client.  Before it is opened. */
TOOLGATE_API int toolgate_client_set(toolgate_client_t *client,
                                     const char *option, const char *value);
#ifdef TOOLGATE_UV
TOOLGATE_API int toolgate_client_use_uv(toolgate_client_t *client,
                                        struct uv_loop_s *loop);
#endif

/*
 * What the server tells unasked: params is JSON, or NULL; both live until the
 * return.  What callbacks are set is set before it is opened.
 */
typedef void (*toolgate_notified_pt)(const char *method, const char *params,
                                     size_t len, void *data);
TOOLGATE_API int toolgate_client_on_notification(toolgate_client_t *client,
                                                 toolgate_notified_pt notified,
                                                 void *data);

/*
 * The connection is there (1; after the first time, lists of tools may have
 * changed meanwhile), or is lost (0, and why).
 */
typedef void (*toolgate_connected_pt)(int is_connected, const char *why,
                                      void *data);
TOOLGATE_API int toolgate_client_on_connection(toolgate_client_t *client,
                                               toolgate_connected_pt connected,
                                               void *data);

/*
 * How far a call of a tool is: the params of MCP's notifications/progress,
 * of which toolgate_argument() gives "progress", "total" and "message".  The
 * call has its time anew.  Servers are asked for it where this is set.
 */
TOOLGATE_API int toolgate_client_on_progress(toolgate_client_t *client,
                                             toolgate_call_pt progress,
                                             void *data);

/*
 * Connects, and waits until the server has said a word:
 * TOOLGATE_ERR_CONNECTION when there is none, and what to do; then it is as
 * before.  In a loop of libuv's it does not wait: connected is called.
 */
TOOLGATE_API int toolgate_client_open(toolgate_client_t *client);

/*
 * Ends its calls with TOOLGATE_ERR_CONNECTION, the connection, and the thread
 * if there is one.  In a callback: when that has returned.  Of one that is
 * not open, nothing.
 */
TOOLGATE_API int toolgate_client_close(toolgate_client_t *client);

/* Is there a connection just now?  1 or 0. */
TOOLGATE_API int toolgate_client_is_connected(const toolgate_client_t *client);

/* As toolgate_fd() and toolgate_process(), with "loop" set to "fd". */
TOOLGATE_API int toolgate_client_fd(const toolgate_client_t *client);
TOOLGATE_API int toolgate_client_process(toolgate_client_t *client);

/*
 * Calls a tool, with a JSON object or NULL; or a method, with an object, an
 * array or NULL; or asks for all tools.  They wait for timeout ms; 0: for the
 * option "timeout", 30 s by default.  Any number of threads may ask at once.
 * Not in a callback, nor with a loop of libuv's.
 *
 * *result is JSON and the caller's: MCP's result of a call, a method's, or
 * {"tools":[...]}.  With TOOLGATE_ERR_TOOL_EXECUTION it is there, too: the
 * result that "isError", or JSON-RPC's error.  Else it is NULL then.  result
 * may be NULL: then nobody wants it.
 *
 * TOOLGATE_ERR_CONNECTION (toolgate_error() says whether it may have been
 * executed), _TIMEOUT (the server is told that nobody waits any more),
 * _MESSAGE_SIZE, _IPC, _BUSY, _STATE, _ARGUMENT, _MEMORY.
 */
TOOLGATE_API int toolgate_client_call(toolgate_client_t *client,
                                      const char *tool, const char *arguments,
                                      int timeout, char **result);
TOOLGATE_API int toolgate_client_request(toolgate_client_t *client,
                                         const char *method, const char *params,
                                         int timeout, char **result);
TOOLGATE_API int toolgate_client_list(toolgate_client_t *client, int timeout,
                                      char **result);

/*
 * The same without waiting: answered is called once, in the thread of the
 * client's loop, with what the above return, and the result with a zero
 * behind it, which lives until the return, or NULL; toolgate_error() is there
 * in it.  When a function below returns an error, it is not.  *call is the
 * call's number, for toolgate_client_cancel(); call may be NULL.
 */
typedef void (*toolgate_answered_pt)(toolgate_call_t call, int code,
                                     const char *result, size_t len,
                                     void *data);
TOOLGATE_API int toolgate_client_begin_call(toolgate_client_t *client,
                                            const char *tool,
                                            const char *arguments, int timeout,
                                            toolgate_answered_pt answered,
                                            void *data, toolgate_call_t *call);
TOOLGATE_API int toolgate_client_begin_request(toolgate_client_t *client,
                                               const char *method,
                                               const char *params, int timeout,
                                               toolgate_answered_pt answered,
                                               void *data,
                                               toolgate_call_t *call);
TOOLGATE_API int toolgate_client_begin_list(toolgate_client_t *client,
                                            int timeout,
                                            toolgate_answered_pt answered,
                                            void *data, toolgate_call_t *call);

/*
 * Nobody wants that answer any more: the server is told, and answered is
 * called with TOOLGATE_ERR_GONE, unless the answer came before.
 */
TOOLGATE_API int toolgate_client_cancel(toolgate_client_t *client,
                                        toolgate_call_t call);

#ifdef __cplusplus
}
#endif

#endif
