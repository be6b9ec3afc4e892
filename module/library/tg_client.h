/*
 * A client as the program has it, and the line of one that is open: its loop,
 * its connection, its questions.
 *
 *   tg_client.c       options, and from opening to closing
 *   tg_client_ask.c   what threads ask
 *   tg_client_line.c  the connection, in the loop's thread
 *   tg_waiter.c       who waits for that
 *
 * A line begins with a run, which has the loop; who frees the one frees the
 * other.
 */
#ifndef TG_CLIENT_H
#define TG_CLIENT_H

#include "library/tg_run.h"
#include "uv/tg_uv_client.h"

/* Ms for an answer, and for a server to come back, where nobody says. */
#define TG_CLIENT_TIMEOUT 30000
#define TG_CLIENT_GRACE 3000
/* Ms for an address to answer, and the server behind it to say a word. */
#define TG_CLIENT_CONNECT 10000
/* The largest message: more than Toolgate lets anybody send. */
#define TG_CLIENT_FRAME 67108864
/* Of an answer's copy, what is kept for the next one. */
#define TG_CLIENT_KEEP 65536

/* A call's number, of its count; other numbers of calls are smaller. */
#define TG_CLIENT_CALL(count) (UINT64_C(1) << 63 | (uint64_t) (count))

typedef struct tg_line_s tg_line_t;

/* What a client's options say of its lines. */
typedef struct {
    uint64_t timeout;
    uint64_t grace;
    uint64_t connect_timeout;
    uint64_t max_frame;
    toolgate_notified_pt notified;
    void *notified_data;
    toolgate_connected_pt connected;
    void *connected_data;
    toolgate_call_pt progress;
    void *progress_data;
} tg_client_conf_t;

/* Who waits for an answer, or for a connection.  Locked. */
typedef struct {
    pthread_cond_t cond;
    int is_done;
    int code;
    char *result; /* NULL: none */
    char *why;    /* of an error; NULL: no memory */
} tg_waiter_t;

/* The loop's, once it has taken it up. */
struct tg_ask_s {
    tg_uv_question_t question;
    tg_ask_t *next; /* of the line */
    tg_ask_t *prev;
    tg_mcp_list_t list;
    toolgate_call_t call;
    uint64_t timeout;
    uint64_t deadline; /* the loop's time; 0: none */
    toolgate_answered_pt answered;
    void *data;
    char text[]; /* what the question is made of */
};

struct tg_line_s {
    tg_run_t run;
    tg_uv_client_t client;
    tg_uv_place_t place;
    char *address; /* where place's text is */
    char *info;    /* the client's clientInfo */
    tg_client_conf_t conf;
    tg_waiter_t *opener; /* locked, as the next three */
    int is_connected;
    int fd; /* of its socket, or -1 */
    tg_file_id_t id;
    uint64_t grace_until;
    char why[TG_UV_EXPLAIN]; /* there is no connection */
    tg_ask_t *first;
    tg_ask_t *last;
};

struct toolgate_client_s {
    toolgate_client_t *next; /* of all that are open */
    toolgate_client_t *prev;
    char *address; /* NULL: found */
    char *ca;
    char *certificate;
    char *key;
    char *tls_name;
    char *name; /* NULL: "libtoolgate" */
    char *version;
    tg_loop_t loop;
    uv_loop_t *uv; /* of TG_LOOP_UV */
    tg_client_conf_t conf;
    pid_t pid;       /* who opened it */
    tg_line_t *line; /* NULL: it is not open */
    tg_run_t *ended; /* of TG_LOOP_THREAD: its thread was not waited for yet */
};

/* --- tg_client.c --- */

/* Locked: its line, or NULL and an error, told, in *rc. */
tg_line_t *tg_client_line(const toolgate_client_t *client, int *rc);

/* --- tg_waiter.c --- */

/*
 * Until somebody has ended the wait: in a callback, or a loop of libuv's,
 * nobody may.  Locked; its code, with toolgate_error().
 */
int tg_client_wait(tg_line_t *line, tg_waiter_t *waiter);

void tg_waiter_init(tg_waiter_t *waiter);
void tg_waiter_deinit(tg_waiter_t *waiter);

/*
 * Ends the wait, with the result, which is the waiter's then, or NULL, and
 * toolgate_error() of a code that is one.  Locked.
 */
void tg_waiter_end(tg_waiter_t *waiter, int code, char *result);

/* --- tg_client_line.c --- */

/* With run, place and conf set: opens its client. */
void tg_line_open(tg_line_t *line);

/* What a line is asked, by an order; with NULL it is closed. */
void tg_line_ask(tg_run_t *run, tg_order_t *order);
void tg_line_cancel(tg_run_t *run, tg_order_t *order);

/* Of a run: frees what the line has. */
void tg_line_free(tg_run_t *run);

/* --- tg_fork.c --- */

void tg_client_know(toolgate_client_t *client);
void tg_client_forget(toolgate_client_t *client);

#endif
