/*
 * A client of the public API, and the connection of an open client, which
 * begins with the tg_runtime_t of its event loop: tg_runtime_free() frees both.
 *
 *   tg_client.c          options, open and close
 *   tg_client_request.c  requests of the program's threads
 *   tg_client_mcp.c      requests for prompts and resources, subscriptions
 *   tg_client_conn.c     the connection, in the loop's thread
 *   tg_client_waiter.c   a thread's wait for the loop
 */
#ifndef TG_CLIENT_H
#define TG_CLIENT_H

#include "lib/tg_runtime.h"
#include "transport/tg_uv_client.h"

/* Defaults in ms: timeout of a request, and wait for a lost server. */
#define TG_CLIENT_TIMEOUT_DEFAULT 30000
#define TG_CLIENT_GRACE_DEFAULT 3000
/* Timeout in ms for connecting and the server's first message. */
#define TG_CLIENT_CONNECT_TIMEOUT_DEFAULT 10000
/* Default limit of a message in bytes; Toolgate sends no larger messages. */
#define TG_CLIENT_MAX_FRAME_DEFAULT 67108864
/* Largest number of resources that a client is subscribed to. */
#define TG_CLIENT_SUBSCRIPTIONS_MAX 1024
/* Bytes of the buffer for answers that are kept for the next answer. */
#define TG_CLIENT_BUFFER_KEEP 65536

/* The top bit keeps a request's number apart from the numbers of calls. */
#define TG_CLIENT_CALL_NUMBER(count) (UINT64_C(1) << 63 | (uint64_t) (count))

typedef struct tg_client_conn_s tg_client_conn_t;

/*
 * Gives the command line more than the public API.  A client with hooks
 * reconnects only for a request, without a time limit, and its program sends
 * MCP's `initialize`.
 */
typedef struct {
    /* Reports a response before its request ends.  list: NULL, or the list. */
    void (*on_response)(toolgate_call_t call, const tg_response_t *response,
                        const tg_mcp_list_t *list, void *data);
    /* Reports the bytes of each message. */
    void (*on_trace)(int is_theirs, tg_str_t bytes, void *data);
    void *data;
} tg_client_hooks_t;

/* Copied from the options of the client; times are in ms. */
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
    toolgate_updated_pt updated;
    void *updated_data;
    const tg_client_hooks_t *hooks; /* or NULL */
} tg_client_config_t;

/* A thread's wait for an answer or a connection.  Guarded by the lock. */
typedef struct {
    pthread_cond_t cond;
    int is_done;
    int code;
    char *result; /* NULL: no result */
    char *why;    /* message of an error; NULL: out of memory */
} tg_waiter_t;

typedef enum {
    TG_CLIENT_REQUEST_CALL,
    TG_CLIENT_REQUEST_METHOD,
    TG_CLIENT_REQUEST_LIST
} tg_client_request_type_t;

typedef enum {
    TG_CLIENT_NO_SUBSCRIPTION,
    TG_CLIENT_SUBSCRIBE,
    TG_CLIENT_UNSUBSCRIBE
} tg_client_subscription_type_t;

/* A request as the program specifies it. */
typedef struct {
    tg_client_request_type_t type;
    tg_mcp_kind_t kind; /* of a list */
    const char *name;
    const char *params;
    int timeout;
    toolgate_answered_pt on_response;
    void *data;
    int is_read_only; /* the request is resent after a reconnect */
    tg_client_subscription_type_t subscription;
} tg_client_request_spec_t;

/* A request.  Owned by the loop once the loop has taken its command. */
struct tg_client_request_s {
    tg_uv_request_t uv_request;
    tg_client_request_t *next; /* list of the connection */
    tg_client_request_t *prev;
    tg_mcp_list_t list;
    tg_mcp_kind_t kind; /* of list */
    tg_client_subscription_type_t subscription;
    toolgate_call_t call;
    uint64_t timeout;
    uint64_t deadline; /* in ms of the loop's clock; 0: none */
    toolgate_answered_pt on_response;
    void *data;
    char text[]; /* name, params and further members of the request */
};

/* A subscription that a new connection renews. */
typedef struct tg_client_subscription_s tg_client_subscription_t;

struct tg_client_subscription_s {
    tg_client_subscription_t *next;
    tg_client_subscription_t *prev;
    size_t len;
    char params[]; /* of resources/subscribe, with a zero byte */
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
    tg_client_subscription_t *first_subscription;
    tg_client_subscription_t *last_subscription;
    unsigned nsubscriptions;
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
    /* With TG_LOOP_THREAD: a closed runtime whose thread must be joined. */
    tg_runtime_t *ended;
};

/* Returns the connection, or NULL and *rc. Requires tg_lib_lock(). */
tg_client_conn_t *tg_client_get_conn(const toolgate_client_t *client, int *rc);

/* Sends a request as toolgate_client_begin_...() do. */
int tg_client_request_begin(const toolgate_client_t *client,
                            const tg_client_request_spec_t *spec,
                            toolgate_call_t *call);

/* Sends a request and waits, as toolgate_client_call() does. */
int tg_client_request_wait(const toolgate_client_t *client,
                           const tg_client_request_spec_t *spec, char **result);

/* Creates a request; its call and timeout are 0. NULL: no memory. */
tg_client_request_t *tg_client_request_new(const tg_client_request_spec_t *spec,
                                           const tg_buf_t *text,
                                           const size_t ends[3]);

/*
 * Waits until tg_waiter_complete() is called, and returns the waiter's code.
 * Requires tg_lib_lock(), which is released during the wait. Must not be called
 * in a callback, nor with a libuv loop of the program.
 */
int tg_client_conn_wait(tg_client_conn_t *conn, tg_waiter_t *waiter);

void tg_waiter_init(tg_waiter_t *waiter);
void tg_waiter_deinit(tg_waiter_t *waiter);

/*
 * Ends a wait. The waiter then owns the result, or NULL. For an error code,
 * copies the text of toolgate_error(). Requires tg_lib_lock().
 */
void tg_waiter_complete(tg_waiter_t *waiter, int code, char *result);

/* Starts to connect.  Requires runtime, endpoint and conf to be set. */
void tg_client_conn_open(tg_client_conn_t *conn);

/* Sends a request. It fails if runtime is NULL: the client is closed. */
void tg_client_conn_run_request(tg_runtime_t *runtime,
                                tg_runtime_command_t *command);

/* Sends a request of the loop itself. */
void tg_client_conn_send_request(tg_client_conn_t *conn,
                                 tg_client_request_t *request);

/* Cancels a request; has no effect with runtime NULL. */
void tg_client_conn_run_cancel(tg_runtime_t *runtime,
                               tg_runtime_command_t *command);

/* Frees a connection without its runtime; the runtime's release(). */
void tg_client_conn_free(tg_runtime_t *runtime);

/* Returns a copy with a zero byte, valid until the next call, or NULL. */
const char *tg_client_conn_copy_text(tg_client_conn_t *conn, tg_str_t text);

/* Calls the callback. For an error code, toolgate_error() must be set. */
void tg_client_conn_finish_request(tg_client_conn_t *conn,
                                   tg_client_request_t *request, int code,
                                   tg_str_t result);

void tg_client_conn_finish_result(tg_client_conn_t *conn,
                                  tg_client_request_t *request,
                                  tg_str_t result);

void tg_client_conn_finish_error(tg_client_conn_t *conn,
                                 tg_client_request_t *request,
                                 const tg_response_t *answer);

/* --- tg_client_mcp.c, in the loop's thread --- */

/* Remembers a subscription after the server has accepted it. */
int tg_client_conn_add_subscription(tg_client_conn_t *conn, tg_str_t params);

void tg_client_conn_remove_subscription(tg_client_conn_t *conn,
                                        tg_str_t params);
void tg_client_conn_free_subscriptions(tg_client_conn_t *conn);

/* Subscribes again on a new connection, and reports each resource. */
void tg_client_conn_renew_subscriptions(tg_client_conn_t *conn);

/* Reports the resource of notifications/resources/updated. */
void tg_client_conn_report_update(tg_client_conn_t *conn, tg_str_t params);

/* Adds the client to the list for fork(). Requires tg_lib_lock(). */
void tg_client_register(toolgate_client_t *client);

/* Requires tg_lib_lock(). */
void tg_client_unregister(toolgate_client_t *client);

#endif
