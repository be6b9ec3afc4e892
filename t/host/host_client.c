/*
 * A client of another server: "client COMMAND". The result of an asynchronous
 * call is an event, "answered N CLASS TEXT".
 */
#include "host.h"

#include "../libraries/detached.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest part of a result that is printed. */
#define HOST_SHOWN 2000

toolgate_client_t *host_client;

static long host_begun;
static toolgate_call_t host_calls[HOST_CALLS];
static long host_missing; /* results that "many" still expects */
static long host_wrong;

static void
host_put(char *out, size_t size, int code, const char *result, size_t len)
{
    int n = snprintf(out, size, "%s ", toolgate_error_class(code));

    if (code != 0) {
        n += snprintf(out + n, size - (size_t) n, "%s ", toolgate_error());
    }

    if (result == NULL) {
        return;
    }

    if (len > HOST_SHOWN) {
        snprintf(out + n, size - (size_t) n, "%zu bytes", len);
    } else {
        snprintf(out + n, size - (size_t) n, "%s", result);
    }
}

static void
host_completed(toolgate_call_t call, int code, const char *result, size_t len,
               void *data)
{
    char text[8192];
    int n = snprintf(text, sizeof(text), "%ld ", (long) (intptr_t) data);

    host_put(text + n, sizeof(text) - (size_t) n, code, result, len);
    host_print("answered ", text, strlen(text));
}

static void
host_progressed(toolgate_call_t call, const char *params, size_t len,
                void *data)
{
    host_print("progress ", params, len);
}

static void
host_notified(const char *method, const char *params, size_t len, void *data)
{
    char text[8192];
    char *result;
    int rc;

    snprintf(text, sizeof(text), "%s %s", method,
             params != NULL ? params : "-");
    host_print("notified ", text, strlen(text));

    /* A callback must not block. */
    rc = toolgate_client_call(host_client, "x", NULL, 0, &result);

    if (rc != TOOLGATE_ERR_STATE || result != NULL) {
        host_print("waited", "", 0);
    }
}

static void
host_connected(int is_connected, const char *why, void *data)
{
    if (is_connected) {
        host_print("connected", "", 0);
    } else {
        host_print("lost ", why, strlen(why));
    }
}

static void
host_updated(const char *uri, void *data)
{
    host_print("updated ", uri, strlen(uri));
}

/* --- many at once --- */

static void
host_many_completed(toolgate_call_t call, int code, const char *result,
                    size_t len, void *data)
{
    char text[64];

    /* The echoed argument is the number of the call. */
    snprintf(text, sizeof(text), "\"%ld\"", (long) (intptr_t) data);

    if (code != 0 || result == NULL || strstr(result, text) == NULL) {
        host_wrong++;
        host_completed(call, code, result, len, data);
    }

    if (--host_missing == 0) {
        snprintf(text, sizeof(text), "%ld", host_wrong);
        host_print("many wrong ", text, strlen(text));
    }
}

static void
host_do_many(char *line)
{
    long i, n = strtol(line, &line, 10);
    char arguments[64];
    int rc = 0;

    host_missing = n;
    host_wrong = 0;

    for (i = 0; i < n && rc == 0; i++) {
        snprintf(arguments, sizeof(arguments), "{\"text\":\"%ld\"}", i);
        rc = toolgate_client_begin_call(host_client, line + 1, arguments, 0,
                                        host_many_completed,
                                        (void *) (intptr_t) i, NULL);
    }

    host_done(rc);
}

/* Sends as many large calls as are accepted while this blocks the loop. */

static void
host_flood_completed(toolgate_call_t call, int code, const char *result,
                     size_t len, void *data)
{
    char text[64];

    if (code != 0 && host_wrong++ == 0) {
        host_completed(call, code, NULL, 0, data);
    }

    if (--host_missing == 0) {
        snprintf(text, sizeof(text), "%ld", host_wrong);
        host_print("flood wrong ", text, strlen(text));
    }
}

static void
host_do_flood(void)
{
    enum {
        size = 1000000
    };
    char *params = malloc(size + 16), text[4096];
    int rc = 0;

    snprintf(params, size + 16, "{\"x\":\"%0*d\"}", size, 0);
    host_wrong = 0;

    for (host_missing = 0; rc == 0 && host_missing < 1000; host_missing++) {
        rc = toolgate_client_begin_request(host_client, "get_data", params,
                                           600000, host_flood_completed, NULL,
                                           NULL);
    }

    host_missing -= rc != 0;
    snprintf(text, sizeof(text), "= %ld %s %s", host_missing,
             toolgate_error_class(rc), rc != 0 ? toolgate_error() : "");
    host_print(text, "", 0);
    free(params);
}

/* --- threads with blocking calls --- */

typedef struct {
    pthread_t thread;
    long first;
    long n;
    long wrong;
    long lost;
} host_caller_t;

static void *
host_caller(void *data)
{
    host_caller_t *caller = data;
    char arguments[64], wanted[64], *result;
    long i;
    int rc;

    for (i = caller->first; i < caller->first + caller->n; i++) {
        snprintf(arguments, sizeof(arguments), "{\"text\":\"%ld\"}", i);
        snprintf(wanted, sizeof(wanted), "\"%ld\"", i);
        rc = toolgate_client_call(host_client, "echo", arguments, 0, &result);

        if (rc == TOOLGATE_ERR_CONNECTION) {
            caller->lost++;
        } else if (rc != 0 || strstr(result, wanted) == NULL) {
            caller->wrong++;
            host_print("wrong ", toolgate_error(), strlen(toolgate_error()));
        }

        toolgate_free(result);
    }

    return NULL;
}

static void *
host_callers(void *data)
{
    long i, n, each, wrong = 0, lost = 0;
    host_caller_t callers[64];
    char text[64];

    sscanf(data, "%ld %ld", &n, &each);
    free(data);

    for (i = 0; i < n; i++) {
        callers[i].first = i * each;
        callers[i].n = each;
        callers[i].wrong = 0;
        callers[i].lost = 0;
        pthread_create(&callers[i].thread, NULL, host_caller, &callers[i]);
    }

    for (i = 0; i < n; i++) {
        pthread_join(callers[i].thread, NULL);
        wrong += callers[i].wrong;
        lost += callers[i].lost;
    }

    snprintf(text, sizeof(text), "wrong %ld lost %ld", wrong, lost);
    host_print("threads ", text, strlen(text));

    return NULL;
}

static void
host_do_threads(const char *line)
{
    detached(host_callers, strdup(line));
    host_text("ok");
}

/* --- single calls --- */

/* The words of requests, with the functions that wait and that do not. */
typedef struct {
    const char *word;
    int (*wait)(toolgate_client_t *client, const char *name, int timeout,
                char **result);
    int (*begin)(toolgate_client_t *client, const char *name, int timeout,
                 toolgate_answered_pt answered, void *data,
                 toolgate_call_t *call);
} host_request_t;

static int
host_subscribe(toolgate_client_t *client, const char *name, int timeout,
               char **result)
{
    *result = NULL;

    return toolgate_client_subscribe(client, name, timeout);
}

static int
host_unsubscribe(toolgate_client_t *client, const char *name, int timeout,
                 char **result)
{
    *result = NULL;

    return toolgate_client_unsubscribe(client, name, timeout);
}

/* Requests without params. */
static const host_request_t host_requests[] = {
    { "all", toolgate_client_list_all, toolgate_client_begin_list_all },
    { "read", toolgate_client_read, toolgate_client_begin_read },
    { "subscribe", host_subscribe, toolgate_client_begin_subscribe },
    { "unsubscribe", host_unsubscribe, toolgate_client_begin_unsubscribe },
    { NULL, NULL, NULL },
};

static const host_request_t *
host_find_request(const char *what)
{
    const host_request_t *request;

    for (request = host_requests; request->word != NULL; request++) {
        if (strcmp(request->word, what) == 0) {
            return request;
        }
    }

    return NULL;
}

static void
host_do_wait(const char *what, int timeout, char *name)
{
    const host_request_t *request = host_find_request(what);
    char *params = strchr(name, ' '), *result, text[8192];
    int rc;

    if (params != NULL) {
        *params++ = '\0';
    }

    rc = request != NULL ? request->wait(host_client, name, timeout, &result)
         : strcmp(what, "call") == 0
             ? toolgate_client_call(host_client, name, params, timeout, &result)
         : strcmp(what, "prompt") == 0
             ? toolgate_client_prompt(host_client, name, params, timeout,
                                      &result)
         : strcmp(what, "request") == 0
             ? toolgate_client_request(host_client, name, params, timeout,
                                       &result)
             : toolgate_client_list(host_client, timeout, &result);
    host_put(text, sizeof(text), rc, result,
             result != NULL ? strlen(result) : 0);
    host_print(rc == 0 ? "=" : "! ", text, strlen(text));
    toolgate_free(result);
}

static void
host_do_begin(const char *what, int timeout, char *name)
{
    const host_request_t *request = host_find_request(what);
    char *params = strchr(name, ' ');
    long i = host_begun % HOST_CALLS;
    void *data = (void *) (intptr_t) i;
    int rc;

    if (params != NULL) {
        *params++ = '\0';
    }

    rc = request != NULL ? request->begin(host_client, name, timeout,
                                          host_completed, data, &host_calls[i])
         : strcmp(what, "call") == 0
             ? toolgate_client_begin_call(host_client, name, params, timeout,
                                          host_completed, data, &host_calls[i])
         : strcmp(what, "prompt") == 0
             ? toolgate_client_begin_prompt(host_client, name, params, timeout,
                                            host_completed, data,
                                            &host_calls[i])
         : strcmp(what, "request") == 0
             ? toolgate_client_begin_request(host_client, name, params, timeout,
                                             host_completed, data,
                                             &host_calls[i])
             : toolgate_client_begin_list(host_client, timeout, host_completed,
                                          data, &host_calls[i]);

    if (rc != 0) {
        host_done(rc);
    } else {
        host_begun++;
        host_number(i);
    }
}

static void
host_do_new(char *line)
{
    char *address = strtok(line, " "), *option, *value;
    int rc = 0, is_bare = 0;

    host_client = toolgate_client_new(address);

    if (host_client == NULL) {
        host_text(NULL);
        return;
    }

    while (rc == 0 && (option = strtok(NULL, " ")) != NULL) {
        value = strchr(option, '=');

        if (value == NULL) {
            is_bare = 1;
            continue;
        }

        *value++ = '\0';
        rc = toolgate_client_set(host_client, option, value);
    }

    if (strcmp(host_mode, "fd") == 0) {
        rc = rc == 0 ? toolgate_client_set(host_client, "loop", "fd") : rc;
    } else if (strcmp(host_mode, "uv") == 0) {
        rc = rc == 0 ? toolgate_client_use_uv(host_client, &host_loop) : rc;
    }

    toolgate_client_on_connection(host_client, host_connected, NULL);

    if (!is_bare) {
        toolgate_client_on_notification(host_client, host_notified, NULL);
        toolgate_client_on_progress(host_client, host_progressed, NULL);
        toolgate_client_on_update(host_client, host_updated, NULL);
    }

    host_done(rc);
}

void
host_client_free(void)
{
    toolgate_client_free(host_client);
    host_client = NULL;
}

/*
 * Runs "client [begin] [MS] WORD ...", where the word is call, request, prompt,
 * list or one of host_requests, and other commands.
 */
void
host_client_do(char *line)
{
    int is_begin = strncmp(line, "begin ", 6) == 0, timeout;
    char *rest;

    line += is_begin ? 6 : 0;
    timeout = (int) strtol(line, &line, 10);
    line += *line == ' ';
    rest = strchr(line, ' ');

    if (rest != NULL) {
        *rest++ = '\0';
    } else {
        rest = line + strlen(line);
    }

    if (strcmp(line, "call") == 0 || strcmp(line, "request") == 0
        || strcmp(line, "list") == 0 || strcmp(line, "prompt") == 0
        || host_find_request(line) != NULL)
    {
        if (is_begin) {
            host_do_begin(line, timeout, rest);
        } else {
            host_do_wait(line, timeout, rest);
        }
    } else if (strcmp(line, "new") == 0) {
        host_do_new(rest);
    } else if (strcmp(line, "open") == 0) {
        host_done(toolgate_client_open(host_client));
    } else if (strcmp(line, "close") == 0) {
        host_done(toolgate_client_close(host_client));
    } else if (strcmp(line, "free") == 0) {
        host_client_free();
        host_text("ok");
    } else if (strcmp(line, "connected") == 0) {
        host_number(toolgate_client_is_connected(host_client));
    } else if (strcmp(line, "cancel") == 0) {
        host_done(toolgate_client_cancel(host_client, host_calls[atoi(rest)]));
    } else if (strcmp(line, "set") == 0) {
        rest = strtok(rest, " ");
        host_done(toolgate_client_set(host_client, rest, strtok(NULL, " ")));
    } else if (strcmp(line, "many") == 0) {
        host_do_many(rest);
    } else if (strcmp(line, "flood") == 0) {
        host_do_flood();
    } else if (strcmp(line, "threads") == 0) {
        host_do_threads(rest);
    } else {
        host_text("what?");
    }
}
