/* The lock and the errors of the library, and small public functions. */
#include "lib/tg_lib.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Longest error text in bytes; errors in a schema are the longest. */
#define TG_ERROR_MAX 2048

static pthread_mutex_t tg_lib_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tg_lib_cond = PTHREAD_COND_INITIALIZER;
static __thread char tg_lib_error_text[TG_ERROR_MAX];

void
tg_lib_lock(void)
{
    (void) pthread_mutex_lock(&tg_lib_mutex);
}

void
tg_lib_unlock(void)
{
    (void) pthread_mutex_unlock(&tg_lib_mutex);
}

void
tg_lib_cond_broadcast(void)
{
    (void) pthread_cond_broadcast(&tg_lib_cond);
}

void
tg_lib_cond_wait(void)
{
    tg_lib_cond_wait_on(&tg_lib_cond);
}

void
tg_lib_cond_wait_on(pthread_cond_t *cond)
{
    (void) pthread_cond_wait(cond, &tg_lib_mutex);
}

int
tg_lib_set_error(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void) vsnprintf(tg_lib_error_text, sizeof(tg_lib_error_text), format,
                     args);
    va_end(args);

    return code;
}

int
tg_lib_set_errno_error(const char *format, ...)
{
    char text[TG_ERROR_MAX / 2];
    va_list args;
    int err;

    err = errno;
    va_start(args, format);
    (void) vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    return tg_lib_set_error(TOOLGATE_ERR_SYSTEM, "%s: %s", text, strerror(err));
}

int
tg_lib_set_nomem_error(void)
{
    return tg_lib_set_error(TOOLGATE_ERR_MEMORY, "out of memory; try again");
}

char *
tg_str_dup(tg_str_t text)
{
    char *copy;

    copy = malloc(text.len + 1);

    if (copy != NULL) {
        if (text.len != 0) {
            memcpy(copy, text.data, text.len);
        }

        copy[text.len] = '\0';
    }

    return copy;
}

const char *
toolgate_error(void)
{
    return tg_lib_error_text;
}

const char *
toolgate_error_class(int code)
{
    static const struct {
        int code;
        const char *name;
    } classes[] = {
        { 0, "" },
        { TOOLGATE_ERR_IPC, "IPCError" },
        { TOOLGATE_ERR_CONNECTION, "IPCConnectionError" },
        { TOOLGATE_ERR_MESSAGE_SIZE, "IPCMessageSizeError" },
        { TOOLGATE_ERR_TOOL_EXECUTION, "IPCToolExecutionError" },
        { TOOLGATE_ERR_BRIDGE_STARTUP, "BridgeStartupError" },
        { TOOLGATE_ERR_ARGUMENT, "ValueError" },
        { TOOLGATE_ERR_STATE, "RuntimeError" },
        { TOOLGATE_ERR_SYSTEM, "OSError" },
        { TOOLGATE_ERR_MEMORY, "MemoryError" },
        { TOOLGATE_ERR_GONE, "CancelledError" },
        { TOOLGATE_ERR_BUSY, "BlockingIOError" },
        { TOOLGATE_ERR_TIMEOUT, "TimeoutError" },
    };
    size_t i;

    for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (classes[i].code == code) {
            return classes[i].name;
        }
    }

    return "Exception";
}

const char *
toolgate_version(void)
{
    return TG_VERSION;
}

void
toolgate_free(char *text)
{
    free(text);
}
