/*
 * A program whose tool takes seconds: its own threads work on calls, report
 * progress, and stop when a call is cancelled.
 *
 *     cc -o host_threads host_threads.c \
 *         $(pkg-config --cflags --libs toolgate) -lpthread
 *
 *     ./host_threads >mcp.json &
 *     claude --mcp-config mcp.json
 *
 * It exits at the end of its standard input.
 */
#include <toolgate.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

typedef struct job_s job_t;

struct job_s {
    job_t *next;
    toolgate_call_t call;
    long below;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static job_t *jobs;
static int is_over;

/* Returns the next job; NULL: the program exits. */
static job_t *
next_job(void)
{
    job_t *job;

    pthread_mutex_lock(&mutex);

    while (jobs == NULL && !is_over) {
        pthread_cond_wait(&cond, &mutex);
    }

    job = jobs;

    if (job != NULL) {
        jobs = job->next;
    }

    pthread_mutex_unlock(&mutex);

    return job;
}

static int
is_prime(long n)
{
    long i;

    for (i = 2; i * i <= n; i++) {
        if (n % i == 0) {
            return 0;
        }
    }

    return n > 1;
}

/* Computes in steps, and checks after each whether the call is cancelled. */
static void
work(const job_t *job)
{
    char text[32];
    long i, n;

    for (i = 0, n = 0; i < job->below; i++) {
        n += is_prime(i);

        if (i % 10000 == 9999
            && toolgate_progress(job->call, (uint64_t) i + 1,
                                 (uint64_t) job->below, "counting")
                   != 0)
        {
            return;
        }
    }

    snprintf(text, sizeof(text), "%ld", n);
    toolgate_reply(job->call, text, strlen(text));
}

static void *
run(void *arg)
{
    job_t *job;

    while ((job = next_job()) != NULL) {
        work(job);
        free(job);
    }

    return arg;
}

/* Runs in the library's thread, so it must not block. */
static void
primes(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    job_t *job, **last;
    char *below;

    below = toolgate_argument(arguments, len, "below");
    job = below != NULL ? malloc(sizeof(*job)) : NULL;

    if (job == NULL) {
        toolgate_fail(call, "MemoryError", "there is no memory");
        toolgate_free(below);
        return;
    }

    job->next = NULL;
    job->call = call;
    job->below = strtol(below, NULL, 10);
    toolgate_free(below);
    pthread_mutex_lock(&mutex);

    for (last = &jobs; *last != NULL; last = &(*last)->next) {
        /* Find the end. */
    }

    *last = job;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
}

static void
report(int code, const char *message, void *data)
{
    fprintf(stderr, "%s: %s\n", toolgate_error_class(code), message);
}

int
main(void)
{
    toolgate_server_t *server;
    pthread_t threads[THREADS];
    char *config;
    int i;

    server = toolgate_server_new("numbers");

    if (server == NULL || toolgate_on_report(server, report, NULL) != 0
        || toolgate_add_tool(server, "primes", "How many primes are below?",
                             "{\"type\":\"object\",\"properties\":{\"below\":"
                             "{\"type\":\"integer\",\"minimum\":0,"
                             "\"maximum\":1000000000}},"
                             "\"required\":[\"below\"]}",
                             primes, NULL)
               != 0
        || toolgate_set_tool(server, "primes", "timeout", "10s") != 0
        || toolgate_start(server) != 0)
    {
        fprintf(stderr, "host_threads: %s\n", toolgate_error());
        return 1;
    }

    for (i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, run, NULL) != 0) {
            return 1;
        }
    }

    config = toolgate_agent_config(server);
    puts(config != NULL ? config : toolgate_error());
    fflush(stdout);
    toolgate_free(config);

    while (getchar() != EOF) {
        /* The threads do all the work. */
    }

    toolgate_server_free(server);
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);

    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }

    return 0;
}
