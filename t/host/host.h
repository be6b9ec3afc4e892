/*
 * A program that has libtoolgate, for tests: t/lib/Toolgate/Host.pm starts it
 * and tells it what to do, a line each.  It answers "= ..." or
 * "! CLASS TEXT"; what happens besides is a line of its own.
 *
 *     host [thread|fd|uv] [OPTION=VALUE ...]
 */
#ifndef HOST_H
#define HOST_H

#define TOOLGATE_UV
#include <toolgate.h>
#include <uv.h>

#define HOST_LINE 65536
#define HOST_CALLS 64

extern toolgate_server_t *host_server;
extern toolgate_client_t *host_client; /* NULL: there is none */
extern const char *host_kind;
extern uv_loop_t host_loop;

/* --- host_say.c: what it says, from any thread --- */

void host_say(const char *what, const char *text, size_t len);

/* The answers: of a function's result; a text, NULL: the error; a number. */
void host_done(int rc);
void host_text(const char *text);
void host_number(long number);

/* --- host_tools.c --- */

/* Those of the transcripts; exits where that cannot be. */
void host_add_all(void);

/* One more, by name. */
int host_add(const char *name);

/* The newest call of the tool "held", which nobody answers. */
extern toolgate_call_t host_held;

/* --- host_do.c --- */

/* A line that it was told. */
void host_do(char *line);

/* --- host_client.c --- */

void host_client_do(char *line);
void host_client_free(void);

#endif
