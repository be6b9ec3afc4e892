/*
 * A client of the public API, and the connection of an open client: its event
 * loop, its socket, its requests.
 *
 *   tg_client.c          options, open and close
 *   tg_client_request.c  requests of the program's threads
 *   tg_client_conn.c     the connection, in the loop's thread
 *   tg_client_waiter.c   a thread's wait for the loop
 *
 * A tg_client_conn_t begins with its tg_runtime_t, which owns the event loop;
 * tg_runtime_free() frees both.
 */
#ifndef TG_CLIENT_H
#define TG_CLIENT_H

#include "lib/tg_runtime.h"
#include "transport/tg_uv_client.h"

/*
 * Default timeout of a request, and default wait for a lost server to come
 * back, in ms.
 */
#define TG_CLIENT_TIMEOUT_DEFAULT 30000
#define TG_CLIENT_GRACE_DEFAULT 3000
/*
 * Default timeout for connecting and for the first message of the server, in
 * ms.
 */
#define TG_CLIENT_CONNECT_TIMEOUT_DEFAULT 10000
/* Default limit of a message in bytes; Toolgate sends no larger messages. */
#define TG_CLIENT_MAX_FRAME_DEFAULT 67108864
/*
 * Bytes of the buffer for copies of answers that are kept for the next answer.
 */
#define TG_CLIENT_BUFFER_KEEP 65536

/*
 * Returns the number of a client's request, given its count.  The top bit
 * keeps the number apart from the numbers of a server's calls.
 */
#define TG_CLIENT_CALL_NUMBER(count) (UINT64_C(1) << 63 | (uint64_t) (count))

typedef struct tg_client_conn_s tg_client_conn_t;

/*
 * Settings that a connection copies from the options of its client; times are
 * in ms.
 */
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

/* A thread's wait for an answer or a connection.  Guarded by the lock. */
typedef struct {
    pthread_cond_t cond;
    int is_done;
    int code;
    char *result; /* NULL: no result */
    char *why;    /* message of an error; NULL: out of memory */
} tg_waiter_t;

/* A request.  Owned by the loop once the loop has taken its command. */
struct tg_client_request_s {
    tg_uv_request_t uv_request;
    tg_client_request_t *next; /* list of the connection */
    tg_client_request_t *prev;
    tg_mcp_list_t list;
    toolgate_call_t call;
    uint64_t timeout;
    uint64_t deadline; /* in ms of the loop's clock; 0: none */
    toolgate_answered_pt on_response;
    void *data;
    char text[]; /* name, params and further members of the request */
};

struct tg_client_conn_s {
    tg_runtime_t runtime;
    tg_uv_client_t client;
    tg_uv_endpoint_t endpoint;
    char *address; /* storage of endpoint.text */
    char *info;    /* JSON of the client's clientInfo */
    tg_client_config_t conf;
    tg_waiter_t *opener; /* guarded by the lock, as the next three members */
    int is_connected;
    int fd; /* descriptor of the socket, or -1 */
    tg_file_id_t id;
    uint64_t grace_until;
    char why[TG_UV_EXPLAIN_SIZE]; /* reason why there is no connection */
    tg_client_request_t *first;
    tg_client_request_t *last;
};

struct toolgate_client_s {
    toolgate_client_t *next; /* list of all open clients */
    toolgate_client_t *prev;
    char *address; /* NULL: default */
    char *ca;
    char *certificate;
    char *key;
    char *tls_name;
    char *name; /* NULL: "libtoolgate" */
    char *version;
    tg_loop_type_t loop;
    uv_loop_t *uv; /* for TG_LOOP_UV */
    tg_client_config_t conf;
    pid_t pid;              /* process that opened the client */
    tg_client_conn_t *conn; /* NULL: the client is not open */
    /*
     * For TG_LOOP_THREAD: closed runtime whose thread must still be joined, or
     * NULL.
     */
    tg_runtime_t *ended;
};

/* --- tg_client.c --- */

/*
 * Returns the connection of an open client.  Requires tg_lib_lock().  Returns
 * NULL and sets *rc and toolgate_error() if the client is not open or was
 * opened by another process.
 */
tg_client_conn_t *tg_client_get_conn(const toolgate_client_t *client, int *rc);

/* --- tg_client_waiter.c --- */

/*
 * Waits until tg_waiter_complete() is called.  Requires tg_lib_lock(), which
 * is released during the wait.  Must not be called in a callback, nor with a
 * libuv loop of the program.  Returns the code of the waiter, with
 * toolgate_error() set.
 */
int tg_client_conn_wait(tg_client_conn_t *conn, tg_waiter_t *waiter);

void tg_waiter_init(tg_waiter_t *waiter);
void tg_waiter_deinit(tg_waiter_t *waiter);

/*
 * Ends a wait with a code and a result, which is then owned by the waiter, or
 * NULL.  For an error code, copies the text of toolgate_error().  Requires
 * tg_lib_lock().
 */
void tg_waiter_complete(tg_waiter_t *waiter, int code, char *result);

/* --- tg_client_conn.c --- */

/* Starts to connect.  Requires runtime, endpoint and conf to be set. */
void tg_client_conn_open(tg_client_conn_t *conn);

/*
 * Executes a command that sends a request.  With runtime NULL the client is
 * closed, and the request fails.
 */
void tg_client_conn_run_request(tg_runtime_t *runtime,
                                tg_runtime_command_t *command);

/*
 * Executes a command that cancels a request; has no effect with runtime NULL.
 */
void tg_client_conn_run_cancel(tg_runtime_t *runtime,
                               tg_runtime_command_t *command);

/*
 * Frees what a connection owns, but not its runtime: the runtime's release().
 */
void tg_client_conn_free(tg_runtime_t *runtime);

/* --- tg_client_response.c --- */

/*
 * Returns a copy of text that ends with a zero byte and is valid until the
 * next call, or NULL if there is no memory.
 */
const char *tg_client_conn_copy_text(tg_client_conn_t *conn, tg_str_t text);

/*
 * Removes a request and calls its callback.  For an error code,
 * toolgate_error() must be set.
 */
void tg_client_conn_finish_request(tg_client_conn_t *conn,
                                   tg_client_request_t *request, int code,
                                   tg_str_t result);

/* Ends a request with a result of the server. */
void tg_client_conn_finish_result(tg_client_conn_t *conn,
                                  tg_client_request_t *request,
                                  tg_str_t result);

/* Ends a request with an error of the server. */
void tg_client_conn_finish_error(tg_client_conn_t *conn,
                                 tg_client_request_t *request,
                                 const tg_response_t *answer);

/* --- tg_fork.c --- */

/*
 * Adds a client to the list of open clients, for fork().  Requires
 * tg_lib_lock().
 */
void tg_client_register(toolgate_client_t *client);

/* Removes a client from the list of open clients.  Requires tg_lib_lock(). */
void tg_client_unregister(toolgate_client_t *client);

#endif
