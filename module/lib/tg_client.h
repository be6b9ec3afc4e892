/*
 * A client as the program has it, and the line of one that is open: its loop,
 * its connection, its questions.
 *
 *   tg_client.c       options, and from opening to closing
 *   tg_client_request.c   what threads ask
 *   tg_client_conn.c  the connection, in the loop's thread
 *   tg_client_waiter.c       who waits for that
 *
 * A line begins with a run, which has the loop; who frees the one frees the
 * other.
 */
#ifndef TG_CLIENT_H
#define TG_CLIENT_H

#include "lib/tg_runtime.h"
#include "transport/tg_uv_client.h"

/* Ms for an answer, and for a server to come back, where nobody says. */
#define TG_CLIENT_TIMEOUT_DEFAULT 30000
#define TG_CLIENT_GRACE_DEFAULT 3000
/* Ms for an address to answer, and the server behind it to say a word. */
#define TG_CLIENT_CONNECT_TIMEOUT_DEFAULT 10000
/* The largest message: more than Toolgate lets anybody send. */
#define TG_CLIENT_MAX_FRAME_DEFAULT 67108864
/* Of an answer's copy, what is kept for the next one. */
#define TG_CLIENT_BUFFER_KEEP 65536

/* A call's number, of its count; other numbers of calls are smaller. */
#define TG_CLIENT_CALL_NUMBER(count) (UINT64_C(1) << 63 | (uint64_t) (count))

typedef struct tg_client_conn_s tg_client_conn_t;

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
} tg_client_config_t;

/* Who waits for an answer, or for a connection.  Locked. */
typedef struct {
    pthread_cond_t cond;
    int is_done;
    int code;
    char *result; /* NULL: none */
    char *why;    /* of an error; NULL: no memory */
} tg_waiter_t;

/* The loop's, once it has taken it up. */
struct tg_client_request_s {
    tg_uv_request_t uv_request;
    tg_client_request_t *next; /* of the line */
    tg_client_request_t *prev;
    tg_mcp_list_t list;
    toolgate_call_t call;
    uint64_t timeout;
    uint64_t deadline; /* the loop's time; 0: none */
    toolgate_answered_pt on_response;
    void *data;
    char text[]; /* what the question is made of */
};

struct tg_client_conn_s {
    tg_runtime_t runtime;
    tg_uv_client_t client;
    tg_uv_endpoint_t endpoint;
    char *address; /* where place's text is */
    char *info;    /* the client's clientInfo */
    tg_client_config_t conf;
    tg_waiter_t *opener; /* locked, as the next three */
    int is_connected;
    int fd; /* of its socket, or -1 */
    tg_file_id_t id;
    uint64_t grace_until;
    char why[TG_UV_EXPLAIN_SIZE]; /* there is no connection */
    tg_client_request_t *first;
    tg_client_request_t *last;
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
    tg_loop_type_t loop;
    uv_loop_t *uv; /* of TG_LOOP_UV */
    tg_client_config_t conf;
    pid_t pid;              /* who opened it */
    tg_client_conn_t *conn; /* NULL: it is not open */
    tg_runtime_t
        *ended; /* of TG_LOOP_THREAD: its thread was not waited for yet */
};

/* --- tg_client.c --- */

/* Locked: its line, or NULL and an error, told, in *rc. */
tg_client_conn_t *tg_client_get_conn(const toolgate_client_t *client, int *rc);

/* --- tg_client_waiter.c --- */

/*
 * Until somebody has ended the wait: in a callback, or a loop of libuv's,
 * nobody may.  Locked; its code, with toolgate_error().
 */
int tg_client_conn_wait(tg_client_conn_t *conn, tg_waiter_t *waiter);

void tg_waiter_init(tg_waiter_t *waiter);
void tg_waiter_deinit(tg_waiter_t *waiter);

/*
 * Ends the wait, with the result, which is the waiter's then, or NULL, and
 * toolgate_error() of a code that is one.  Locked.
 */
void tg_waiter_complete(tg_waiter_t *waiter, int code, char *result);

/* --- tg_client_conn.c --- */

/* With run, place and conf set: opens its client. */
void tg_client_conn_open(tg_client_conn_t *conn);

/* What a line is asked, by an order; with NULL it is closed. */
void tg_client_conn_run_request(tg_runtime_t *runtime,
                                tg_runtime_command_t *command);
void tg_client_conn_run_cancel(tg_runtime_t *runtime,
                               tg_runtime_command_t *command);

/* Of a run: frees what the line has. */
void tg_client_conn_free(tg_runtime_t *runtime);

/* --- tg_fork.c --- */

void tg_client_register(toolgate_client_t *client);
void tg_client_unregister(toolgate_client_t *client);

#endif
