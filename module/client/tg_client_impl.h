/*
 * What the files of the client library share.
 */
#ifndef TG_CLIENT_IMPL_H
#define TG_CLIENT_IMPL_H

#include "client/tg_client.h"

#include "core/tg_mcp_client.h"

/*
 * Connections that one request may break, and connections in a row that may
 * fail: with waits that double from the first, five seconds in all, which is
 * longer than NGINX needs to start anew.
 */
#define TG_CLIENT_TRIES 8
#define TG_CLIENT_FIRST_WAIT_MS 20
/*
 * A server that took a connection and ended it before it said a word: an
 * old worker on its way out may, but not time after time.
 */
#define TG_CLIENT_MUTE_TRIES 4
/* How long the last bytes may take to leave. */
#define TG_CLIENT_CLOSE_MS 1000
/* Pages of a list: at half a mebibyte each, more than anybody has. */
#define TG_CLIENT_PAGES_MAX 256

typedef enum {
    TG_CLIENT_IDLE,       /* no connection, and nobody asked for one */
    TG_CLIENT_CONNECTING, /* up to the answer to the ping */
    TG_CLIENT_OPEN,
    TG_CLIENT_WAITING, /* between two connections */
    TG_CLIENT_CLOSING
} tg_client_state_t;

typedef enum {
    TG_CLIENT_REQUEST,
    TG_CLIENT_TOOL,
    TG_CLIENT_LIST
} tg_client_kind_t;

struct tg_client_call_s {
    tg_client_t *client;
    tg_client_call_t *next;
    tg_client_call_t *prev;
    tg_client_kind_t kind;
    tg_client_answer_pt answer;
    void *ctx;
    tg_buf_t name;   /* of a method, plain; of a tool, escaped */
    tg_buf_t params; /* of a method, or empty; of a tool, its arguments */
    uint64_t id;
    int is_sent;
    unsigned tries;
    tg_mcp_list_t list;
};

struct tg_client_s {
    uv_loop_t *loop;
    const tg_client_ops_t *ops;
    void *host;
    char *path;
    tg_client_state_t state;
    int err;
    int has_conn; /* conn's last callback is still to come */
    int was_open; /* one connection was, so that there is a server */
    unsigned tries;
    tg_caller_t caller;
    tg_uv_conn_t conn;
    uv_timer_t timer;
    tg_client_call_t *first;
    tg_client_call_t *last;
};

tg_client_call_t *tg_client_call_new(tg_client_t *client, tg_client_kind_t kind,
                                     tg_client_answer_pt answer, void *ctx);

/* Sends a new call now or when there is a connection, or frees it. */
int tg_client_call_start(tg_client_call_t *call, tg_client_call_t **out);

/* Sends a call that is in the queue, when there is a connection. */
void tg_client_call_send(tg_client_call_t *call);

/* Hands the answer out and frees the call. */
void tg_client_call_end(tg_client_call_t *call, const tg_answer_t *answer);

void tg_client_call_free(tg_client_call_t *call);

/* An answer to a page of a list, of any kind but TG_ANSWER_NOT_STARTED. */
void tg_client_list_page(tg_client_call_t *call, const tg_answer_t *answer);

#endif
