/*
 * The client of libtoolgate, a part of toolgate.h: a program that calls the
 * tools and methods of a server, and reads its prompts and resources: NGINX, a
 * program with this library, or any other that speaks JSON-RPC, one message a
 * line.
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
 * An open client reconnects by itself. A request that the server had not begun
 * is sent again. A request that it may have begun ends with
 * TOOLGATE_ERR_CONNECTION, as only the program knows whether executing it twice
 * does harm.
 */
#ifndef TOOLGATE_CLIENT_H
#define TOOLGATE_CLIENT_H

#include "toolgate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct toolgate_client_s toolgate_client_t;

/*
 * address is the path of a Unix socket, HOST:PORT or tls:HOST:PORT; NULL stands
 * for the default sockets that toolgate(1) tries. Does not connect.
 */
TOOLGATE_API toolgate_client_t *toolgate_client_new(const char *address);

/* Closes and frees a client or NULL. Must not be called in a callback. */
TOOLGATE_API void toolgate_client_free(toolgate_client_t *client);

/* Sets an option, such as "timeout" or "grace"; docs/library.md lists them. */
TOOLGATE_API int toolgate_client_set(toolgate_client_t *client,
                                     const char *option, const char *value);
#ifdef TOOLGATE_UV

/* Runs the client in a libuv loop, as toolgate_use_uv() does for a server. */
TOOLGATE_API int toolgate_client_use_uv(toolgate_client_t *client,
                                        struct uv_loop_s *loop);
#endif

/*
 * Receives a notification. method and params, which is JSON or NULL, are valid
 * until the callback returns.
 */
typedef void (*toolgate_notified_pt)(const char *method, const char *params,
                                     size_t len, void *data);

/* Sets the callback for notifications; NULL: none. */
TOOLGATE_API int toolgate_client_on_notification(toolgate_client_t *client,
                                                 toolgate_notified_pt notified,
                                                 void *data);

/*
 * Reports the connection. is_connected is 1 after each connect, and why is
 * NULL; before a reconnect notifications may have been missed, so lists of
 * tools may have changed. is_connected is 0 after a loss, and why is the
 * reason.
 */
typedef void (*toolgate_connected_pt)(int is_connected, const char *why,
                                      void *data);

/* Sets the callback for changes of the connection; NULL: none. */
TOOLGATE_API int toolgate_client_on_connection(toolgate_client_t *client,
                                               toolgate_connected_pt connected,
                                               void *data);

/*
 * Sets the callback for the progress of tool calls, which the client requests
 * from the server only then; NULL: none. It receives the params of MCP's
 * notifications/progress: toolgate_argument() returns "progress", "total" and
 * "message". Each notification restarts the timeout of its call.
 */
TOOLGATE_API int toolgate_client_on_progress(toolgate_client_t *client,
                                             toolgate_call_pt progress,
                                             void *data);

/*
 * Reports that a resource may have changed: the server has said so, or the
 * connection was lost and restored. uri is valid until the callback returns.
 */
typedef void (*toolgate_updated_pt)(const char *uri, void *data);

/* Sets the callback for toolgate_client_subscribe(); NULL: none. */
TOOLGATE_API int toolgate_client_on_update(toolgate_client_t *client,
                                           toolgate_updated_pt updated,
                                           void *data);

/*
 * Connects and waits for the server's first message. After
 * TOOLGATE_ERR_CONNECTION the client is closed again. In a libuv loop the
 * function does not wait: the callback of toolgate_client_on_connection() is
 * called.
 */
TOOLGATE_API int toolgate_client_open(toolgate_client_t *client);

/*
 * Ends the requests with TOOLGATE_ERR_CONNECTION, closes the connection, and
 * joins the client's thread if it has one. Within a callback, all of this
 * happens after its return. Returns 0 if the client is not open.
 */
TOOLGATE_API int toolgate_client_close(toolgate_client_t *client);

/* Returns 1 if the client is connected, else 0. */
TOOLGATE_API int toolgate_client_is_connected(const toolgate_client_t *client);

/*
 * Returns a descriptor to poll if the option "loop" is "fd", as toolgate_fd()
 * does for a server; -1 while the client is not open.
 */
TOOLGATE_API int toolgate_client_fd(const toolgate_client_t *client);

/* Handles all pending events, as toolgate_process() does for a server. */
TOOLGATE_API int toolgate_client_process(toolgate_client_t *client);

/*
 * Calls a tool with a JSON object or NULL, and waits for the result for timeout
 * ms; 0 stands for the option "timeout", 30 s by default. Any number of threads
 * may send requests at the same time. Must not be called in a callback, nor
 * with a libuv loop.
 *
 * *result is MCP's result in JSON, which the caller frees. With
 * TOOLGATE_ERR_TOOL_EXECUTION it is the result that has "isError", or the
 * JSON-RPC error object; with other errors it is NULL. result may be NULL.
 *
 * Returns 0 or: TOOLGATE_ERR_CONNECTION (toolgate_error() says whether the
 * request may have been executed), TOOLGATE_ERR_TIMEOUT (the server is sent a
 * cancellation), TOOLGATE_ERR_TOOL_EXECUTION, _MESSAGE_SIZE, _IPC, _BUSY,
 * _STATE, _ARGUMENT or _MEMORY.
 */
TOOLGATE_API int toolgate_client_call(toolgate_client_t *client,
                                      const char *tool, const char *arguments,
                                      int timeout, char **result);

/*
 * Calls a method with a JSON object, a JSON array or NULL; otherwise as
 * toolgate_client_call().
 */
TOOLGATE_API int toolgate_client_request(toolgate_client_t *client,
                                         const char *method, const char *params,
                                         int timeout, char **result);

/*
 * Fetches the list of all tools, {"tools":[...]}; otherwise as
 * toolgate_client_call().
 */
TOOLGATE_API int toolgate_client_list(toolgate_client_t *client, int timeout,
                                      char **result);

/*
 * Fetches a whole list: "tools/list", "prompts/list", "resources/list" or
 * "resources/templates/list". The result is such as {"prompts":[...]};
 * otherwise as toolgate_client_call().
 */
TOOLGATE_API int toolgate_client_list_all(toolgate_client_t *client,
                                          const char *method, int timeout,
                                          char **result);

/*
 * Gets a prompt, {"messages":[...]}, with a JSON object of strings or NULL;
 * otherwise as toolgate_client_call(). The request may be sent twice.
 */
TOOLGATE_API int toolgate_client_prompt(toolgate_client_t *client,
                                        const char *name, const char *arguments,
                                        int timeout, char **result);

/*
 * Reads a resource, {"contents":[...]}; otherwise as toolgate_client_call().
 * The request may be sent twice.
 */
TOOLGATE_API int toolgate_client_read(toolgate_client_t *client,
                                      const char *uri, int timeout,
                                      char **result);

/*
 * Subscribes to the changes of a resource: the callback of
 * toolgate_client_on_update() is called, also after a reconnect, until
 * toolgate_client_unsubscribe() or toolgate_client_close(). Subscribing again
 * has no effect. Waits and returns as toolgate_client_call().
 */
TOOLGATE_API int toolgate_client_subscribe(toolgate_client_t *client,
                                           const char *uri, int timeout);

/* Ends a subscription. Waits and returns as toolgate_client_call(). */
TOOLGATE_API int toolgate_client_unsubscribe(toolgate_client_t *client,
                                             const char *uri, int timeout);

/*
 * Receives the answer to a request, once, in the thread of the client's loop.
 * code is one of toolgate_client_call(), and toolgate_error() returns its
 * message in the callback. result ends with a zero byte, is valid until the
 * callback returns, and may be NULL.
 */
typedef void (*toolgate_answered_pt)(toolgate_call_t call, int code,
                                     const char *result, size_t len,
                                     void *data);

/*
 * Calls a tool without waiting: answered receives the result, unless this
 * function returns an error. *call becomes the number for
 * toolgate_client_cancel(); call may be NULL.
 */
TOOLGATE_API int toolgate_client_begin_call(toolgate_client_t *client,
                                            const char *tool,
                                            const char *arguments, int timeout,
                                            toolgate_answered_pt answered,
                                            void *data, toolgate_call_t *call);

/* Calls a method; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_request(toolgate_client_t *client,
                                               const char *method,
                                               const char *params, int timeout,
                                               toolgate_answered_pt answered,
                                               void *data,
                                               toolgate_call_t *call);

/* Requests the list of all tools; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_list(toolgate_client_t *client,
                                            int timeout,
                                            toolgate_answered_pt answered,
                                            void *data, toolgate_call_t *call);

/* Fetches a whole list; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_list_all(toolgate_client_t *client,
                                                const char *method, int timeout,
                                                toolgate_answered_pt answered,
                                                void *data,
                                                toolgate_call_t *call);

/* Gets a prompt; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_prompt(
    toolgate_client_t *client, const char *name, const char *arguments,
    int timeout, toolgate_answered_pt answered, void *data,
    toolgate_call_t *call);

/* Reads a resource; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_read(toolgate_client_t *client,
                                            const char *uri, int timeout,
                                            toolgate_answered_pt answered,
                                            void *data, toolgate_call_t *call);

/* Subscribes to a resource; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_subscribe(toolgate_client_t *client,
                                                 const char *uri, int timeout,
                                                 toolgate_answered_pt answered,
                                                 void *data,
                                                 toolgate_call_t *call);

/* Ends a subscription; otherwise as toolgate_client_begin_call(). */
TOOLGATE_API int toolgate_client_begin_unsubscribe(
    toolgate_client_t *client, const char *uri, int timeout,
    toolgate_answered_pt answered, void *data, toolgate_call_t *call);

/*
 * Notifies the server, and calls the call's callback with TOOLGATE_ERR_GONE,
 * unless the call has been answered before.
 */
TOOLGATE_API int toolgate_client_cancel(toolgate_client_t *client,
                                        toolgate_call_t call);

#ifdef __cplusplus
}
#endif

#endif
