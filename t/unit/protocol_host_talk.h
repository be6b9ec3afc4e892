/* Sends single messages to a host and compares the replies. */
#ifndef PROTOCOL_HOST_TALK_H
#define PROTOCOL_HOST_TALK_H

#include "protocol_help.h"
#include "protocol_host.h"

/* Takes the peer's output, valid until the next call of host_take(). */
tg_str_t host_take(host_t *host);

/* Feeds a line or an ipc frame and compares the reply, as JSON. */
#define HOST_LINE(host, line, reply)                                           \
    host_line(host, line, reply, __FILE__, __LINE__)
void host_line(host_t *host, const char *line, const char *reply,
               const char *file, int number);
#define HOST_IPC(host, frame, reply)                                           \
    host_ipc(host, frame, reply, __FILE__, __LINE__)
void host_ipc(host_t *host, const char *frame, const char *reply,
              const char *file, int number);

#endif
