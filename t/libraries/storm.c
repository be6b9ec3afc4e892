/*
 * A native handler whose threads flood the worker with what the ARGUMENT
 * names: progress, results of calls that do not exist (strays) and log lines
 * as fast as possible while a call waits; or one result: a word, text of 9 MB,
 * or 366,000 blocks of content.
 */
#define _GNU_SOURCE

#include <toolgate_handler.h>

#include "detached.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const toolgate_api_t *api;
    const toolgate_tool_t *tool;
    toolgate_call_t call;
    const char *kind;
} storm_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_ended = PTHREAD_COND_INITIALIZER;
static int running;

static int
storm_is(const storm_t *storm, const char *kind)
{
    return strcmp(storm->kind, kind) == 0;
}

static void
storm_reply(const storm_t *storm)
{
    static const char block[] = "{\"type\":\"text\",\"text\":\"x\"},";
    enum {
        large = 9000000,
        size = sizeof(block) - 1,
        n = 366000
    };
    char *text, *at;
    int i;

    if (storm_is(storm, "word")) {
        (void) storm->api->reply(storm->call, "hello", 5);
        return;
    }

    text = at = malloc(n * size + 64);

    if (storm_is(storm, "blocks")) {
        at += sprintf(at, "{\"content\":[");

        for (i = 0; i < n; i++) {
            memcpy(at, block, size);
            at += size;
        }

        at += sprintf(at - 1, "]}") - 1;

    } else {
        memset(at, 'x', large);
        at += large;
    }

    (void) storm->api->reply(storm->call, text, (size_t) (at - text));
    free(text);
}

/* Leaves the processor that a bench reserves for the worker. */
static void
storm_move(void)
{
    cpu_set_t own, others;
    long i;

    CPU_ZERO(&others);

    if (sched_getaffinity(0, sizeof(own), &own) != 0 || CPU_COUNT(&own) != 1) {
        return;
    }

    for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++) {
        if (!CPU_ISSET(i, &own)) {
            CPU_SET(i, &others);
        }
    }

    (void) sched_setaffinity(0, sizeof(others), &others);
}

static void *
storm_work(void *data)
{
    storm_t *storm = data;
    const toolgate_api_t *api = storm->api;
    uint64_t i;

    storm_move();

    for (i = 1; api->is_wanted(storm->call); i++) {
        if (storm_is(storm, "progress")) {
            (void) api->progress(storm->call, i, 0, "storm");
        } else if (storm_is(storm, "strays")) {
            (void) api->reply(storm->call + 1000000 + i, "storm", 5);
        } else if (storm_is(storm, "lines")) {
            api->log(storm->tool, TOOLGATE_INFO, "storm");
        } else {
            storm_reply(storm);
        }
    }

    free(storm);
    (void) pthread_mutex_lock(&mutex);
    running--;
    (void) pthread_cond_signal(&has_ended);
    (void) pthread_mutex_unlock(&mutex);

    return NULL;
}

static const char *
storm_load(const toolgate_tool_t *tool, void **state)
{
    *state = NULL;

    return tool->nargs == 1 ? NULL : "name the kind";
}

static void
storm_unload(void *state)
{
    (void) state;
    (void) pthread_mutex_lock(&mutex);

    while (running > 0) {
        (void) pthread_cond_wait(&has_ended, &mutex);
    }

    (void) pthread_mutex_unlock(&mutex);
}

static void
storm_call(const toolgate_request_t *request)
{
    sigset_t all, before;
    storm_t *storm;

    storm = calloc(1, sizeof(*storm));
    storm->api = request->tool->api;
    storm->tool = request->tool;
    storm->call = request->call;
    storm->kind = request->tool->args[0].data;
    (void) pthread_mutex_lock(&mutex);
    running++;
    (void) pthread_mutex_unlock(&mutex);
    sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &before);

    if (detached(storm_work, storm) != 0) {
        (void) storm->api->fail(storm->call, "no thread", 9);
        free(storm);
        (void) pthread_mutex_lock(&mutex);
        running--;
        (void) pthread_mutex_unlock(&mutex);
    }

    (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

TOOLGATE_HANDLER(toolgate_handler) = { TOOLGATE_HEAD, NULL,       storm_load,
                                       storm_unload,  storm_call, NULL };
