/*
 * A native handler that answers from its own thread: the number of primes
 * below a number.  It reports progress, and stops when the call is cancelled.
 *
 *     gcc -shared -fPIC -O2 -Wall -Wextra -pthread -o primes.so primes.c
 *
 *     tool primes {
 *         description  "Counts the prime numbers below a number.";
 *         input_schema '{"type":"object",
 *                        "properties":{"below":{"type":"integer",
 *                                               "minimum":0,
 *                                               "maximum":1000000000}},
 *                        "required":["below"]}';
 *         library      primes.so primes $tool_arg_below;
 *         timeout      10s max=10m;
 *         concurrency  2 queue=16;
 *     }
 */
#include <toolgate_handler.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers between two checks whether the call is cancelled. */
#define STEP 20000

typedef struct job_s job_t;

struct job_s {
    job_t *next;
    toolgate_call_t call;
    unsigned long below;
};

/* State of a tool, in each worker. */
typedef struct {
    const toolgate_tool_t *tool;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t is_needed;
    job_t *first; /* waiting jobs, oldest first */
    job_t **last;
    int is_over;
} state_t;

static const char *
check(const toolgate_tool_t *tool)
{
    return tool->nargs == 1 ? NULL
                            : "it needs one argument, a number: write "
                              "\"library primes.so primes $tool_arg_below\"";
}

/* Returns the next job; NULL: the worker exits. */
static job_t *
next_job(state_t *state)
{
    job_t *job;

    (void) pthread_mutex_lock(&state->mutex);

    while (state->first == NULL && !state->is_over) {
        (void) pthread_cond_wait(&state->is_needed, &state->mutex);
    }

    job = state->is_over ? NULL : state->first;

    if (job != NULL) {
        state->first = job->next;
        state->last = job->next != NULL ? state->last : &state->first;
    }

    (void) pthread_mutex_unlock(&state->mutex);

    return job;
}

/* Checks that the call is not cancelled and the worker does not exit. */
static int
is_wanted(state_t *state, const job_t *job)
{
    int is_over;

    (void) pthread_mutex_lock(&state->mutex);
    is_over = state->is_over;
    (void) pthread_mutex_unlock(&state->mutex);

    return !is_over && state->tool->api->is_wanted(job->call);
}

static int
is_prime(unsigned long n)
{
    unsigned long d;

    for (d = 2; d * d <= n; d++) {
        if (n % d == 0) {
            return 0;
        }
    }

    return n >= 2;
}

static void
count(state_t *state, const job_t *job)
{
    const toolgate_api_t *api = state->tool->api;

    unsigned long n, primes;
    char result[64];

    for (n = 0, primes = 0; n < job->below; n++) {
        if (n % STEP == 0) {
            if (!is_wanted(state, job)) {
                return;
            }

            (void) api->progress(job->call, n, job->below, "counting");
        }

        primes += (unsigned long) is_prime(n);
    }

    (void) snprintf(result, sizeof(result), "%lu", primes);
    (void) api->reply(job->call, result, strlen(result));
}

static void *
work(void *data)
{
    state_t *state = data;

    job_t *job;

    while ((job = next_job(state)) != NULL) {
        count(state, job);
        free(job);
    }

    return NULL;
}

static const char *
load(const toolgate_tool_t *tool, void **data)
{
    state_t *state;

    state = calloc(1, sizeof(state_t));

    if (state == NULL) {
        return "no memory";
    }

    state->tool = tool;
    state->last = &state->first;
    (void) pthread_mutex_init(&state->mutex, NULL);
    (void) pthread_cond_init(&state->is_needed, NULL);

    if (pthread_create(&state->thread, NULL, work, state) != 0) {
        free(state);
        return "no thread";
    }

    *data = state;

    return NULL;
}

static void
unload(void *data)
{
    state_t *state = data;

    job_t *job;

    (void) pthread_mutex_lock(&state->mutex);
    state->is_over = 1;
    (void) pthread_cond_signal(&state->is_needed);
    (void) pthread_mutex_unlock(&state->mutex);
    (void) pthread_join(state->thread, NULL);

    while ((job = state->first) != NULL) {
        state->first = job->next;
        free(job);
    }

    (void) pthread_cond_destroy(&state->is_needed);
    (void) pthread_mutex_destroy(&state->mutex);
    free(state);
}

static void
call(const toolgate_request_t *request)
{
    const toolgate_api_t *api = request->tool->api;
    state_t *state = request->state;

    char *end;
    job_t *job;

    job = calloc(1, sizeof(job_t));

    if (job == NULL) {
        (void) api->fail(request->call, "no memory", 9);
        return;
    }

    job->call = request->call;
    job->below = strtoul(request->args[0].data, &end, 10);

    if (end == request->args[0].data || *end != '\0') {
        (void) api->fail(request->call, "below: a whole number is needed", 31);
        free(job);
        return;
    }

    (void) pthread_mutex_lock(&state->mutex);
    *state->last = job;
    state->last = &job->next;
    (void) pthread_cond_signal(&state->is_needed);
    (void) pthread_mutex_unlock(&state->mutex);
}

/* Drops a waiting job; the thread checks its own job. */
static void
cancel(void *data, toolgate_call_t call)
{
    state_t *state = data;

    job_t **link, *job;

    (void) pthread_mutex_lock(&state->mutex);

    for (link = &state->first; (job = *link) != NULL; link = &job->next) {
        if (job->call == call) {
            *link = job->next;
            state->last = *link != NULL ? state->last : link;
            free(job);
            break;
        }
    }

    (void) pthread_mutex_unlock(&state->mutex);
}

TOOLGATE_HANDLER(primes) = { TOOLGATE_HEAD, check, load, unload, call, cancel };
