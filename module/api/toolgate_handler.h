/*
 * A native handler for Toolgate: a shared library that answers calls within
 * NGINX's worker processes. The directive
 *
 *     library /usr/lib/toolgate/example.so [SYMBOL] [ARGUMENT ...];
 *
 * in the block of a tool, method, prompt, resource or template names the
 * library. The library is not linked against Toolgate or NGINX: it receives a
 * table of the functions that it may call.
 *
 * Processes and threads. check() runs where the config is read: in the master
 * and under `nginx -t`, often as root. All else runs in each worker, as the
 * workers' user, in the one thread that serves all clients: load() once for
 * each tool when the worker starts, unload() when it exits. A function that
 * blocks delays all clients of that worker, and NGINX logs how long it took.
 * For longer work, load() starts threads of the library: all functions of
 * toolgate_api_t may be called from any thread, at any time, even if the call
 * has ended or the worker exits.
 *
 * At a reload each config gets its own copy of the library file. The old
 * version finishes its calls beside the new one, and the file may be replaced
 * at any time.
 *
 * Versions. A handler begins with TOOLGATE_HEAD. One that was built for another
 * TOOLGATE_ABI is rejected when the config is loaded. Within one TOOLGATE_ABI,
 * structs only grow at their ends: TOOLGATE_HAS() checks whether a struct that
 * Toolgate passes has a member that was added later.
 */
#ifndef TOOLGATE_HANDLER_H
#define TOOLGATE_HANDLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TOOLGATE_ABI 1

#define TOOLGATE_HAS(type, object, member)                                     \
    ((object)->size > offsetof(type, member))

/*
 * The number of a call, never reused within a worker: using it after the end of
 * its call is harmless.
 */
typedef uint64_t toolgate_call_t;

/* A string of Toolgate: len bytes, and a zero byte that len does not count. */
typedef struct {
    const char *data;
    size_t len;
} toolgate_text_t;

enum {
    TOOLGATE_OK = 0,
    TOOLGATE_GONE = 1,     /* the call has ended; no effect */
    TOOLGATE_NO_MEMORY = 2 /* out of memory; no effect, try again */
};

/* Log levels, as in NGINX's error log. */
enum {
    TOOLGATE_ERROR = 4,
    TOOLGATE_WARN = 5,
    TOOLGATE_NOTICE = 6,
    TOOLGATE_INFO = 7
};

/* The tool or method that a handler implements. */
typedef struct toolgate_tool_s toolgate_tool_t;

/*
 * The functions that a library may call, from any thread. They copy their
 * arguments before they return.
 */
typedef struct {
    size_t size;

    /*
     * Answers a call, once, with a result in the format of the tool's directive
     * `output`: a text, a JSON value or a whole MCP result. The text of a
     * resource may be any bytes. The client receives an error if the result
     * does not have the format, or is larger than `max_output`.
     */
    int (*reply)(toolgate_call_t call, const char *data, size_t len);

    /* Answers a call with an error; data is the text for the client. */
    int (*fail)(toolgate_call_t call, const char *data, size_t len);

    /*
     * Reports progress and restarts the call's `timeout`. progress must rise;
     * total is its final value, or 0 if unknown; message may be NULL. The
     * client receives at most one notification every 50 ms, with the newest
     * values.
     */
    int (*progress)(toolgate_call_t call, uint64_t progress, uint64_t total,
                    const char *message);

    /* Returns 1 if the client still waits for the answer, else 0. */
    int (*is_wanted)(toolgate_call_t call);

    /* Writes a line to NGINX's error log, with the name of the tool. */
    void (*log)(const toolgate_tool_t *tool, int level, const char *text);
} toolgate_api_t;

/* Valid until unload() has returned. */
struct toolgate_tool_s {
    size_t size;
    const toolgate_api_t *api;
    toolgate_text_t name;
    /*
     * Of the directive `library`. An ARGUMENT with variables has a value of its
     * own in each call; its data is NULL here.
     */
    const toolgate_text_t *args;
    size_t nargs;
};

/* A call of a tool or method; valid until call() returns. */
typedef struct {
    size_t size;
    toolgate_call_t call;
    const toolgate_tool_t *tool;
    void *state;                 /* the state that load() has set */
    toolgate_text_t arguments;   /* JSON object, valid against `input_schema` */
    const toolgate_text_t *args; /* the tool's nargs ARGUMENTs */
} toolgate_request_t;

/* A handler.  Each function but call may be NULL. */
typedef struct {
    uint32_t abi; /* abi and size: TOOLGATE_HEAD */
    uint32_t size;

    /*
     * Checks the ARGUMENTs when the config is loaded. Returns NULL, or which
     * one is wrong and what to write instead. It must not start threads or keep
     * anything: the config may be rejected yet, and workers are other
     * processes.
     */
    const char *(*check)(const toolgate_tool_t *tool);

    /*
     * Initializes a tool when a worker starts. Returns NULL, or why the tool
     * cannot work now; then calls fail with that text, and a later call tries
     * load() again. *state belongs to the library. In threads that load()
     * starts all signals are blocked and must stay so, as NGINX handles them.
     */
    const char *(*load)(const toolgate_tool_t *tool, void **state);

    /*
     * Frees the state when a worker exits. The library's threads must have
     * ended when it returns.
     */
    void (*unload)(void *state);

    /*
     * Handles a call and must not block. reply() or fail() answers it, before
     * the return or later, from any thread.
     */
    void (*call)(const toolgate_request_t *request);

    /*
     * Reports that nobody waits for the answer any more: the client has
     * cancelled or disconnected, or the call has timed out. Each call ends in
     * exactly one of two ways: reply() or fail() returns TOOLGATE_OK, or
     * cancel() is called once.
     */
    void (*cancel)(void *state, toolgate_call_t call);
} toolgate_handler_t;

#define TOOLGATE_HEAD TOOLGATE_ABI, (uint32_t) sizeof(toolgate_handler_t)

/*
 * Declares a handler.  name is the SYMBOL of the directive `library`, by
 * default `toolgate_handler`:
 *
 *     TOOLGATE_HANDLER(toolgate_handler) = {
 *         TOOLGATE_HEAD, check, load, unload, call, cancel
 *     };
 */
#if defined(__GNUC__)
#define TOOLGATE_EXPORT __attribute__((visibility("default")))
#else
#define TOOLGATE_EXPORT
#endif

#ifdef __cplusplus
}
#define TOOLGATE_HANDLER(name)                                                 \
    extern "C" {                                                               \
    extern TOOLGATE_EXPORT const toolgate_handler_t name;                      \
    }                                                                          \
    const toolgate_handler_t name
#else
#define TOOLGATE_HANDLER(name)                                                 \
    extern TOOLGATE_EXPORT const toolgate_handler_t name;                      \
    const toolgate_handler_t name
#endif

#endif
