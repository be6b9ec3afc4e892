/* Native handlers for tests, good and bad ones. */
#include <toolgate_handler.h>

#include "detached.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef PROBE_VERSION
#define PROBE_VERSION "1"
#endif

/* For the bench: its arguments are `{"text":"…"}`. */
static void
echo_text(const toolgate_request_t *request)
{
    static const char head[] = "{\"text\":\"";
    const toolgate_text_t *arguments = &request->arguments;

    (void) request->tool->api->reply(request->call,
                                     arguments->data + sizeof(head) - 1,
                                     arguments->len - (sizeof(head) - 1) - 2);
}

/* For the bench: its ARGUMENT is `$tool_arg_text`. */
static void
echo_argument(const toolgate_request_t *request)
{
    (void) request->tool->api->reply(request->call, request->args[0].data,
                                     request->args[0].len);
}

/* --- immediate results --- */

static void
echo(const toolgate_request_t *request)
{
    (void) request->tool->api->reply(request->call, request->arguments.data,
                                     request->arguments.len);
}

/* Returns the ARGUMENTs, each after its length. */
static void
say(const toolgate_request_t *request)
{
    char text[4096];
    size_t i, n;

    for (i = 0, n = 0; i < request->tool->nargs; i++) {
        n += (size_t) snprintf(text + n, sizeof(text) - n, "[%zu:%s]",
                               request->args[i].len, request->args[i].data);
    }

    (void) request->tool->api->reply(request->call, text, n);
}

static void
version(const toolgate_request_t *request)
{
    (void) request->tool->api->reply(request->call, PROBE_VERSION,
                                     sizeof(PROBE_VERSION) - 1);
}

static void
fail(const toolgate_request_t *request)
{
    static const char text[] = "no:\n\xff that \x1b will not do";

    (void) request->tool->api->fail(request->call, text, sizeof(text) - 1);
}

static void
not_utf8(const toolgate_request_t *request)
{
    (void) request->tool->api->reply(request->call, "\xff", 1);
}

/* Returns the number of bytes in its ARGUMENT. */
static void
bytes(const toolgate_request_t *request)
{
    size_t len;
    char *text;

    len = strtoul(request->args[0].data, NULL, 10);
    text = malloc(len + 1);
    memset(text, 'x', len);
    (void) request->tool->api->reply(request->call, text, len);
    free(text);
}

/* Responds three times and logs the return values of the last two. */
static void
twice(const toolgate_request_t *request)
{
    const toolgate_api_t *api = request->tool->api;

    char text[64];
    int rc[3];

    rc[0] = api->reply(request->call, "first", 5);
    rc[1] = api->reply(request->call, "second", 6);
    rc[2] = api->fail(request->call, "third", 5);
    (void) snprintf(text, sizeof(text), "twice: %d %d %d, wanted %d, %d", rc[0],
                    rc[1], rc[2], api->is_wanted(request->call),
                    api->progress(request->call, 1, 0, NULL));
    api->log(request->tool, TOOLGATE_NOTICE, text);
}

/* Uses call numbers that no call has. */
static void
stray(const toolgate_request_t *request)
{
    const toolgate_api_t *api = request->tool->api;

    (void) api->reply(0, "x", 1);
    (void) api->fail(UINT64_MAX, "x", 1);
    (void) api->reply(request->call + 1, "x", 1);
    (void) api->progress(request->call + 1, 1, 2, "x");
    (void) api->reply(request->call, "stray", 5);
}

static void
block(const toolgate_request_t *request)
{
    (void) usleep((useconds_t) strtoul(request->args[0].data, NULL, 10) * 1000);
    (void) request->tool->api->reply(request->call, "slept", 5);
}

static void
chatter(const toolgate_request_t *request)
{
    int i;

    for (i = 0; i < 2000; i++) {
        request->tool->api->log(request->tool, i % 10 == 0 ? 99 : 6,
                                "chatter\n\x1b[31m of a library that goes on "
                                "and on and on and on and on");
    }

    (void) request->tool->api->reply(request->call, "said", 4);
}

/* --- threads --- */

/* Number of threads in this process, so that unload can wait for them. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_ended = PTHREAD_COND_INITIALIZER;
static int running;
static int is_over;

typedef struct {
    const toolgate_tool_t *tool;
    toolgate_call_t call;
    double seconds;
    char text[256];
} later_t;

static void
later_end(void)
{
    (void) pthread_mutex_lock(&mutex);
    running--;
    (void) pthread_cond_signal(&has_ended);
    (void) pthread_mutex_unlock(&mutex);
}

static int
later_is_over(void)
{
    int over;

    (void) pthread_mutex_lock(&mutex);
    over = is_over;
    (void) pthread_mutex_unlock(&mutex);

    return over;
}

/* Sleeps half of its time, reports progress, sleeps the other half. */
static void *
later_work(void *data)
{
    later_t *later = data;
    const toolgate_api_t *api = later->tool->api;

    char text[320];
    int i, n;

    n = (int) (later->seconds * 500);

    for (i = 0; i < 2 * n && !later_is_over(); i++) {
        if (i == n) {
            (void) api->progress(later->call, 1, 2, "half");
        }

        if (i % 16 == 0 && !api->is_wanted(later->call)) {
            (void) snprintf(text, sizeof(text), "thread of \"%s\" stops",
                            later->text);
            api->log(later->tool, TOOLGATE_NOTICE, text);
            break;
        }

        (void) usleep(1000);
    }

    (void) api->reply(later->call, later->text, strlen(later->text));
    free(later);
    later_end();

    return NULL;
}

/*
 * Reports progress as fast as it can, with messages of a given size, then
 * responds twice; the second result must be ignored.
 */
static void *
flood_work(void *data)
{
    later_t *later = data;
    const toolgate_api_t *api = later->tool->api;

    uint64_t i;
    char *text;

    text = calloc(1, (size_t) later->seconds + 1);
    memset(text, 'x', (size_t) later->seconds);

    for (i = 1; i <= 20000 && !later_is_over(); i++) {
        (void) api->progress(later->call, i, 20000, text);
    }

    free(text);
    (void) api->reply(later->call, "flooded", 7);
    (void) api->reply(later->call, "again", 5);
    free(later);
    later_end();

    return NULL;
}

/* Reports progress continuously for at least the given time. */
static void *
pulse_work(void *data)
{
    later_t *later = data;

    struct timespec from, now;
    uint64_t i;

    (void) clock_gettime(CLOCK_MONOTONIC, &from);
    now = from;

    for (i = 1; (double) (now.tv_sec - from.tv_sec) < later->seconds
                && !later_is_over();
         i++)
    {
        (void) later->tool->api->progress(later->call, i, 0, NULL);
        (void) usleep(10000);
        (void) clock_gettime(CLOCK_MONOTONIC, &now);
    }

    (void) later->tool->api->reply(later->call, later->text,
                                   strlen(later->text));
    free(later);
    later_end();

    return NULL;
}

/* Responds before or after call() has returned. */
static void *
race_work(void *data)
{
    later_t *later = data;

    (void) later->tool->api->progress(later->call, 1, 1, NULL);
    (void) later->tool->api->reply(later->call, later->text,
                                   strlen(later->text));
    free(later);
    later_end();

    return NULL;
}

static void
start(const toolgate_request_t *request, void *(*work)(void *) )
{
    later_t *later;
    sigset_t all, before;
    size_t len;

    later = calloc(1, sizeof(later_t));
    later->tool = request->tool;
    later->call = request->call;
    later->seconds = strtod(request->args[0].data, NULL);
    len = request->args[1].len < 255 ? request->args[1].len : 255;
    memcpy(later->text, request->args[1].data, len);
    (void) pthread_mutex_lock(&mutex);
    running++;
    (void) pthread_mutex_unlock(&mutex);
    sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);

    if (detached(work, later) != 0) {
        (void) request->tool->api->fail(request->call, "no thread", 9);
        free(later);
        later_end();
    }

    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void
later(const toolgate_request_t *request)
{
    start(request, later_work);
}

static void
flood(const toolgate_request_t *request)
{
    start(request, flood_work);
}

static void
pulse(const toolgate_request_t *request)
{
    start(request, pulse_work);
}

static void
race(const toolgate_request_t *request)
{
    start(request, race_work);
}

static const char *
later_load(const toolgate_tool_t *tool, void **state)
{
    *state = (void *) (uintptr_t) tool;
    tool->api->log(tool, TOOLGATE_NOTICE, "loads version " PROBE_VERSION);

    return NULL;
}

static void
later_unload(void *state)
{
    const toolgate_tool_t *tool = state;

    (void) pthread_mutex_lock(&mutex);
    is_over = 1;

    while (running > 0) {
        (void) pthread_cond_wait(&has_ended, &mutex);
    }

    (void) pthread_mutex_unlock(&mutex);
    tool->api->log(tool, TOOLGATE_NOTICE, "unloads version " PROBE_VERSION);
}

static void
later_cancel(void *state, toolgate_call_t call)
{
    const toolgate_tool_t *tool = state;

    char text[64];

    (void) snprintf(text, sizeof(text), "call cancelled, wanted %d, reply %d",
                    tool->api->is_wanted(call),
                    tool->api->reply(call, "too late", 8));
    tool->api->log(tool, TOOLGATE_NOTICE, text);
}

/* The last call; the next call may belong to another client. */
static _Atomic toolgate_call_t haunted;

/*
 * Never responds, and its thread never ends: while NGINX exits, it reports
 * progress of its last call, of earlier ones, and of calls that do not exist.
 */
static void *
haunt_work(void *data)
{
    const toolgate_tool_t *tool = data;
    const toolgate_api_t *api = tool->api;

    toolgate_call_t call;
    uint64_t i;

    for (i = 0;; i++) {
        call = i % 2 == 0 ? haunted - i % 64 : haunted + 1000000 + i;
        (void) api->reply(call, "boo", 3);
        (void) api->progress(call, i, 0, "boo");
        (void) api->is_wanted(call);

        if (i % 64 == 0) {
            (void) usleep(100);
        }
    }

    return NULL;
}

static const char *
haunt_load(const toolgate_tool_t *tool, void **state)
{
    (void) state;
    (void) detached(haunt_work, (void *) (uintptr_t) tool);

    return NULL;
}

static void
haunt(const toolgate_request_t *request)
{
    haunted = request->call;
}

/* --- refused calls --- */

static const char *
refuse(const toolgate_tool_t *tool)
{
    static char text[128];

    (void) snprintf(text, sizeof(text),
                    "\"%s\" has %zu arguments, the first %s; write one",
                    tool->name.data, tool->nargs,
                    tool->nargs > 0 && tool->args[0].data != NULL ? "known"
                                                                  : "not");

    return text;
}

/* Fails to load until the file that its ARGUMENT names exists. */
static const char *
moody_load(const toolgate_tool_t *tool, void **state)
{
    *state = NULL;

    return access(tool->args[0].data, F_OK) == 0 ? NULL : "the file is missing";
}

/*
 * Loads once the file that its ARGUMENT names is gone; first creates a file
 * with that name and the worker's number appended.
 */
static const char *
slow_load(const toolgate_tool_t *tool, void **state)
{
    char path[4096];
    int fd, i;

    *state = NULL;
    (void) snprintf(path, sizeof(path), "%s.%d", tool->args[0].data,
                    (int) getpid());
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    if (fd != -1) {
        (void) close(fd);
    }

    for (i = 0; i < 60000 && access(tool->args[0].data, F_OK) == 0; i++) {
        (void) usleep(5000);
    }

    return NULL;
}

#define PROBE(name, ...) TOOLGATE_HANDLER(name) = { TOOLGATE_HEAD, __VA_ARGS__ }

PROBE(toolgate_handler, NULL, NULL, NULL, version, NULL);
PROBE(probe_echo, NULL, NULL, NULL, echo, NULL);
PROBE(probe_echo_text, NULL, NULL, NULL, echo_text, NULL);
PROBE(probe_echo_argument, NULL, NULL, NULL, echo_argument, NULL);
PROBE(probe_say, NULL, NULL, NULL, say, NULL);
PROBE(probe_fail, NULL, NULL, NULL, fail, NULL);
PROBE(probe_not_utf8, NULL, NULL, NULL, not_utf8, NULL);
PROBE(probe_bytes, NULL, NULL, NULL, bytes, NULL);
PROBE(probe_twice, NULL, NULL, NULL, twice, NULL);
PROBE(probe_stray, NULL, NULL, NULL, stray, NULL);
PROBE(probe_block, NULL, NULL, NULL, block, NULL);
PROBE(probe_chatter, NULL, NULL, NULL, chatter, NULL);
PROBE(probe_later, NULL, later_load, later_unload, later, later_cancel);
PROBE(probe_flood, NULL, later_load, later_unload, flood, later_cancel);
PROBE(probe_pulse, NULL, later_load, later_unload, pulse, later_cancel);
PROBE(probe_race, NULL, later_load, later_unload, race, later_cancel);
PROBE(probe_haunt, NULL, haunt_load, NULL, haunt, NULL);
PROBE(probe_refuse, refuse, NULL, NULL, echo, NULL);
PROBE(probe_moody, NULL, moody_load, NULL, echo, NULL);
PROBE(probe_slow, NULL, slow_load, NULL, echo, NULL);
PROBE(probe_no_call, NULL, NULL, NULL, NULL, NULL);

TOOLGATE_HANDLER(probe_other_abi) = {
    7, sizeof(toolgate_handler_t), NULL, NULL, NULL, echo, NULL
};
TOOLGATE_HANDLER(probe_short) = {
    TOOLGATE_ABI, 16, NULL, NULL, NULL, echo, NULL
};

TOOLGATE_EXPORT int probe_function(void);

int
probe_function(void)
{
    return 1;
}

/* In a section of its own: clang's AddressSanitizer makes others larger. */
TOOLGATE_EXPORT extern const int probe_number;
__attribute__((section("probe"))) const int probe_number = 1;
