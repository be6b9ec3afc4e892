#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t host_mutex = PTHREAD_MUTEX_INITIALIZER;

void
host_print(const char *what, const char *text, size_t len)
{
    pthread_mutex_lock(&host_mutex);
    printf("%s", what);
    fwrite(text, 1, len, stdout);
    putchar('\n');
    fflush(stdout);
    pthread_mutex_unlock(&host_mutex);
}

void
host_done(int rc)
{
    char text[4096];

    if (rc == 0) {
        host_print("= ", "ok", 2);
        return;
    }

    snprintf(text, sizeof(text), "%s %s", toolgate_error_class(rc),
             toolgate_error());
    host_print("! ", text, strlen(text));
}

void
host_text(const char *text)
{
    if (text != NULL) {
        host_print("= ", text, strlen(text));
    } else {
        host_print("! ", toolgate_error(), strlen(toolgate_error()));
    }
}

void
host_number(long number)
{
    char text[32];

    snprintf(text, sizeof(text), "%ld", number);
    host_text(text);
}
