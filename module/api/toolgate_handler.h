/*
 * A native handler for Toolgate: a shared object that answers calls within
 * NGINX's worker processes.
 *
 *     library /usr/lib/toolgate/example.so [SYMBOL] [ARGUMENT ...];
 *
 * in a tool or method block names it.  It is linked against nothing of
 * Toolgate's or NGINX's: what it may do is in a table that it is handed.
 *
 * Processes and threads.  check() runs where the config is read: in the
 * master and under `nginx -t`, often as root.  Everything else runs in each
 * worker, as the workers' user, in the one thread that serves all clients:
 * load() once for each tool when the worker starts, unload() when it exits.
 * A hook that blocks holds all clients of that worker, and is logged with its
 * time.  What takes longer is for a thread of the library's own, started in
 * load(): all functions of toolgate_api_t may be called from any thread, at
 * any time, also when the call has long ended or its worker exits.
 *
 * At a reload each config gets a copy of the file of its own, so that the old
 * version goes on with its calls beside the new one, whatever happens to the
 * file.
 *
 * Versions.  A handler begins with TOOLGATE_HEAD.  One that was built for
 * another TOOLGATE_ABI is refused when the config is loaded.  Within one,
 * structs only grow at their ends: TOOLGATE_HAS() says whether a struct that
 * Toolgate hands out has a member that came later.
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
 * The number of a call.  No other call of that worker has it, ever: a number
 * that is kept for too long does no harm.
 */
typedef uint64_t toolgate_call_t;

/*
 * A text of Toolgate's: len bytes, and a zero behind them that is not
 * counted.
 */
typedef struct {
    const char *data;
    size_t len;
} toolgate_text_t;

enum {
    TOOLGATE_OK = 0,
    TOOLGATE_GONE = 1,     /* nobody waits (any more); nothing was done */
    TOOLGATE_NO_MEMORY = 2 /* nothing was done; it may be tried again */
};

/* Levels of NGINX's error log. */
enum {
    TOOLGATE_ERROR = 4,
    TOOLGATE_WARN = 5,
    TOOLGATE_NOTICE = 6,
    TOOLGATE_INFO = 7
};

/* A tool or method whose handler this is. */
typedef struct toolgate_tool_s toolgate_tool_t;

/*
 * What a library may ask of Toolgate, from any thread.  What it hands over is
 * copied before the return.
 */
typedef struct {
    size_t size;

    /*
     * Answers a call, once, with what `output` of the tool says: a text, a
     * JSON value or a whole MCP result.  What is none, or larger than
     * `max_output`, becomes an error for the caller.
     */
    int (*reply)(toolgate_call_t call, const char *data, size_t len);

    /* Answers it with an error: a text for whoever called. */
    int (*fail)(toolgate_call_t call, const char *data, size_t len);

    /*
     * How far it is: a number that rises; its end, or 0 when that is not
     * known; a text, or NULL.  The call has its `timeout` anew.  The caller
     * is told some times a second at most; the newest counts.
     */
    int (*progress)(toolgate_call_t call, uint64_t progress, uint64_t total,
                    const char *message);

    /* Does anybody wait for its answer?  1 or 0. */
    int (*is_wanted)(toolgate_call_t call);

    /* A line in NGINX's error log, in the name of the tool. */
    void (*log)(const toolgate_tool_t *tool, int level, const char *text);
} toolgate_api_t;

/* It lives until unload() has returned. */
struct toolgate_tool_s {
    size_t size;
    const toolgate_api_t *api;
    toolgate_text_t name;
    /*
     * The ARGUMENTs.  One with variables has another value in each call; its
     * data is NULL here.
     */
    const toolgate_text_t *args;
    size_t nargs;
};

/* A call; all of it lives until call() returns. */
typedef struct {
    size_t size;
    toolgate_call_t call;
    const toolgate_tool_t *tool;
    void *state;                 /* of load() */
    toolgate_text_t arguments;   /* a JSON object that fits `input_schema` */
    const toolgate_text_t *args; /* the ARGUMENTs, as many as the tool has */
} toolgate_request_t;

/* Each may be NULL but call. */
typedef struct {
    uint32_t abi; /* both: TOOLGATE_HEAD */
    uint32_t size;

    /*
     * The config is loaded: NULL, or what is wrong with the ARGUMENTs and
     * what to write.  It starts no threads and keeps nothing: whether this
     * config will be used is not known, and workers are other processes.
     */
    const char *(*check)(const toolgate_tool_t *tool);

    /*
     * A worker begins: NULL, or why this cannot work now.  Then calls fail
     * with that text, and load() is tried again with a later call.  *state
     * is the library's own.  Threads that it starts get no signals, as it
     * must be: signals are NGINX's.
     */
    const char *(*load)(const toolgate_tool_t *tool, void **state);

    /* A worker ends: its threads are to have ended when this returns. */
    void (*unload)(void *state);

    /*
     * A call: reply() or fail() answers it before the return, or later from
     * any thread.  It must not block.
     */
    void (*call)(const toolgate_request_t *request);

    /*
     * Nobody waits for the answer any more: it was cancelled, its client has
     * gone, or its time is over.  Each call that call() began ends in one of
     * two ways: reply() or fail() returned TOOLGATE_OK, or this is called,
     * once.
     */
    void (*cancel)(void *state, toolgate_call_t call);
} toolgate_handler_t;

#define TOOLGATE_HEAD TOOLGATE_ABI, (uint32_t) sizeof(toolgate_handler_t)

/*
 * Declares a handler under the name that is the SYMBOL in the config;
 * `toolgate_handler` when there is none:
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
