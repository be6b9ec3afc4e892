/*
 * A program with libtoolgate, for tests: t/lib/Toolgate/Host.pm starts it and
 * sends it commands, one per line. It responds with "= ..." or "! CLASS TEXT";
 * events are lines of their own.
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
extern toolgate_client_t *host_client; /* NULL: no client */
extern const char *host_mode;
extern uv_loop_t host_loop;

/* --- host_print.c: output, from any thread --- */

void host_print(const char *what, const char *text, size_t len);

/*
 * Print a response: of a function's result; a text, NULL: the error; a number.
 */
void host_done(int rc);
void host_text(const char *text);
void host_number(long number);

/* --- host_tools.c --- */

/* Adds the tools of the transcripts; exits on failure. */
void host_add_all(void);

/* Adds one more tool by name. */
int host_add(const char *name);

/* The newest call of the tool "held", which stays without a result. */
extern toolgate_call_t host_held;

/* --- host_do.c --- */

/* Runs a command line. */
void host_do(char *line);

/* --- host_items.c --- */

void host_item_do(char *line);

/* --- host_offers.c --- */

/* Adds the prompts, resources and templates of the transcripts. */
int host_offer_all(void);

/* --- host_client.c --- */

void host_client_do(char *line);
void host_client_free(void);

#endif
