/* The tools of t/transcripts and further ones. */
#include "host.h"

#include "../libraries/detached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int
host_reply(toolgate_call_t call, const char *text)
{
    return toolgate_reply(call, text, strlen(text));
}

static void
host_value(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    host_reply(call, data);
}

static void
host_argument(toolgate_call_t call, const char *arguments, size_t len,
              void *data)
{
    char *text;

    text = toolgate_argument(arguments, len, data);

    if (text == NULL) {
        toolgate_fail(call, "KeyError", toolgate_error());
    } else {
        host_reply(call, text);
    }

    toolgate_free(text);
}

static void
host_arguments(toolgate_call_t call, const char *arguments, size_t len,
               void *data)
{
    toolgate_reply(call, arguments, len);
}

static void
host_fail(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    toolgate_fail(call, NULL, "no luck");
}

static void
host_raise(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    toolgate_fail(call, "FileNotFoundError", "there is no such file");
}

static void
host_not_found(toolgate_call_t call, const char *arguments, size_t len,
               void *data)
{
    toolgate_fail_rpc(call, -32000, "Task Not Found", "{ \"taskId\": \"x\" }");
}

static void
host_never(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    host_print("hangs", "", 0);
}

static void
host_large(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    size_t n = strtoul(data, NULL, 10);
    char *text = malloc(n);

    memset(text, 'x', n);
    toolgate_reply(call, text, n);
    free(text);
}

static void
host_sum(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    const char *at = arguments + 1;
    char text[32], *minuend, *subtrahend, *end;
    long sum, n;

    if (arguments[0] == '{') {
        minuend = toolgate_argument(arguments, len, "minuend");
        subtrahend = toolgate_argument(arguments, len, "subtrahend");
        sum = strtol(minuend, NULL, 10) - strtol(subtrahend, NULL, 10);
        toolgate_free(minuend);
        toolgate_free(subtrahend);

    } else {
        for (sum = 0, n = 0; *at != ']' && *at != '\0'; n++) {
            long value = strtol(at, &end, 10);

            sum += n == 0 || data != NULL ? value : -value;
            at = end + strspn(end, ", ");
        }
    }

    snprintf(text, sizeof(text), "%ld", sum);
    host_reply(call, text);
}

/* Returns a result from a thread of its own after a few progress steps. */
static void *
host_thread(void *arg)
{
    static const struct timespec pause = { 0, 2000000 };
    toolgate_call_t call = (toolgate_call_t) (uintptr_t) arg;
    int i;

    for (i = 1; i <= 3; i++) {
        nanosleep(&pause, NULL);
        toolgate_progress(call, (uint64_t) i, 3, i == 2 ? "half" : NULL);
    }

    if (host_reply(call, "from a thread") != 0) {
        host_print("late ", toolgate_error(), strlen(toolgate_error()));
    }

    return NULL;
}

static void
host_later(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    detached(host_thread, (void *) (uintptr_t) call);
}

toolgate_call_t host_held;

/* Keeps the call for the command "answer". */
static void
host_hold(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    host_held = call;
    host_print("held", "", 0);
}

static void
host_stops(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    host_reply(call, "{\"stopping\":true}");
    host_done(toolgate_stop(host_server));
}

static const struct {
    const char *name;
    const char *description; /* NULL: a method */
    const char *schema, *output, *timeout;
    toolgate_call_pt called;
    const void *data;
} host_tools[] = {
    { "echo", "Gives its text back.",
      "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
      "\"required\":[\"text\"]}",
      NULL, NULL, host_argument, "text" },
    { "fail", "Always fails.", NULL, NULL, NULL, host_fail, NULL },
    { "slow", "Never in time.", NULL, NULL, "200ms", host_never, NULL },
    { "hang", "Never ends.", NULL, NULL, "600s", host_never, NULL },
    { "lost", "Loses its backend.", NULL, NULL, NULL, host_value, "lost" },
    { "json", "Gives an object.", NULL, "json", NULL, host_value,
      "{ \"a\": 1 }" },
    { "list", "Gives an array.", NULL, "json", NULL, host_value, "[1,2]" },
    { "result", "Gives a whole result.", NULL, "result", NULL, host_value,
      "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
      "{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":\"image/png\"},"
      "{\"type\":\"text\",\"text\":\"two\"}],\"_meta\":{\"x\":1}}" },
    { "refuse", "Gives a result that is an error.", NULL, "result", NULL,
      host_value,
      "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}" },
    { "locked", "Says its error's class.", NULL, "result", NULL, host_value,
      "{\"content\":[{\"type\":\"text\",\"text\":\"in use\"}],\"isError\":true,"
      "\"_meta\":{\"toolgate/errorType\":\"FileLockedError\"}}" },
    { "broken", "Promises JSON and gives none.", NULL, "json", NULL, host_value,
      "oops" },
    { "big", "Gives too much.", NULL, NULL, NULL, host_large, "11000000" },
    { "build.status", NULL, NULL, NULL, NULL, host_value, "{\"ok\":true}" },
    { "hello", NULL, NULL, "text", NULL, host_value, "hello" },
    { "get_data", NULL, NULL, NULL, NULL, host_value, "[\"hello\",5]" },
    { "sum", NULL, NULL, NULL, NULL, host_sum, "+" },
    { "subtract", NULL, NULL, NULL, NULL, host_sum, NULL },
    { "checked", NULL,
      "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
      "\"required\":[\"n\"]}",
      NULL, NULL, host_argument, "n" },
    { "fail.status", NULL, NULL, NULL, NULL, host_fail, NULL },
    { "slow.status", NULL, NULL, NULL, "200ms", host_never, NULL },
    { "hang.status", NULL, NULL, NULL, "600s", host_never, NULL },
    { "lost.status", NULL, NULL, NULL, NULL, host_value, "\"lost\"" },
    { "big.status", NULL, NULL, "text", NULL, host_large, "11000000" },
    /* Not in a transcript. */
    { "task.missing", NULL, NULL, NULL, NULL, host_not_found, NULL },
    { "host.stop", NULL, NULL, NULL, NULL, host_stops, NULL },
};

/* Tools that a test adds by name ("tool NAME"). */
static const struct {
    const char *name;
    toolgate_call_pt called;
    const void *data;
} host_more[] = {
    { "later", host_later, NULL },
    { "raise", host_raise, NULL },
    { "whole", host_arguments, NULL },
    { "ten", host_large, "10000000" },
    { "held", host_hold, NULL },
    { "two", host_value, "two" },
    { "typed", host_value, "{\"n\":\"x\"}" },
};

static void
host_set(const char *name, int is_tool, const char *option, const char *value)
{
    int rc;

    if (value == NULL) {
        return;
    }

    rc = is_tool ? toolgate_set_tool(host_server, name, option, value)
                 : toolgate_set_method(host_server, name, option, value);

    if (rc != 0) {
        host_done(rc);
        exit(1);
    }
}

void
host_add_all(void)
{
    size_t i;
    int rc;

    for (i = 0; i < sizeof(host_tools) / sizeof(host_tools[0]); i++) {
        const char *name = host_tools[i].name;
        int is_tool = host_tools[i].description != NULL;
        void *data = (void *) (uintptr_t) host_tools[i].data;

        rc = is_tool ? toolgate_add_tool(host_server, name,
                                         host_tools[i].description,
                                         host_tools[i].schema,
                                         host_tools[i].called, data)
                     : toolgate_add_method(host_server, name,
                                           host_tools[i].called, data);

        if (rc != 0) {
            host_done(rc);
            exit(1);
        }

        if (!is_tool) {
            host_set(name, 0, "input_schema", host_tools[i].schema);
        }

        host_set(name, is_tool, "output", host_tools[i].output);
        host_set(name, is_tool, "timeout", host_tools[i].timeout);
    }
}

int
host_add(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(host_more) / sizeof(host_more[0]); i++) {
        if (strcmp(host_more[i].name, name) == 0) {
            return toolgate_add_tool(host_server, name, "One more.", NULL,
                                     host_more[i].called,
                                     (void *) (uintptr_t) host_more[i].data);
        }
    }

    return toolgate_add_tool(host_server, name, NULL, NULL, host_value,
                             (void *) (uintptr_t) "new");
}
