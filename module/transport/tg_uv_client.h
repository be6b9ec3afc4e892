/*
 * A client of one server: a caller upon a connection that goes and comes
 * back, and the questions that are asked on it.
 *
 * A connection begins with a hello and a greeting.  Questions are sent when
 * that was answered: from then on the server is known to be alive and to have
 * read the hello, so that it says goodbye before it leaves, and what it had
 * not taken up is asked again, on the next connection, without running twice.
 * What changes nothing is asked again whatever happened.
 *
 * Nothing here knows how long anybody waits: that is the owner's business.
 */
#ifndef TG_UV_CLIENT_H
#define TG_UV_CLIENT_H

#include "protocol/tg_mcp_client.h"
#include "transport/tg_uv_endpoint.h"

/*
 * Connections that one question may break, and connections in a row that may
 * fail: with waits that double from the first, five seconds in all at least,
 * which is longer than NGINX needs to start anew.
 */
#define TG_UV_CLIENT_TRIES_MAX 8
#define TG_UV_CLIENT_RETRY_DELAY_MIN 20
/* The longest of them, of who waits without end. */
#define TG_UV_CLIENT_RETRY_DELAY_MAX 1000
/* Connections that one question of theirs may break. */
#define TG_UV_CLIENT_REQUEST_TRIES_MAX 20
/*
 * A server that took a connection and ended it before it said a word: an
 * old worker on its way out may, but not time after time.
 */
#define TG_UV_CLIENT_SILENT_TRIES_MAX 4
/* A connection that lived shorter is not opened again without a wait. */
#define TG_UV_CLIENT_LIFETIME_MIN 100
/* How long the last bytes may take to leave. */
#define TG_UV_CLIENT_CLOSE_TIMEOUT 1000
/*
 * Bytes of refusals that the server does not read: it is not read from until
 * it does, so that TG_CALLER_REFUSALS_MAX is never reached.
 */
#define TG_UV_CLIENT_REFUSALS_MAX 524288
/* Pages of a list: at half a mebibyte each, more than anybody has. */
#define TG_UV_CLIENT_LIST_PAGES_MAX 256

typedef struct tg_uv_client_s tg_uv_client_t;
typedef struct tg_uv_request_s tg_uv_request_t;

typedef enum {
    TG_UV_CLIENT_IDLE,       /* no connection, and none is wanted */
    TG_UV_CLIENT_WAITING,    /* between two */
    TG_UV_CLIENT_CONNECTING, /* up to the answer to the greeting */
    TG_UV_CLIENT_OPEN,
    TG_UV_CLIENT_CLOSING,
    TG_UV_CLIENT_CLOSED
} tg_uv_client_state_t;

/* Its owner's, who sets what stands above the line; all text lives with it. */
struct tg_uv_request_s {
    tg_str_t name;   /* of a method, plain; of a tool, escaped */
    tg_str_t params; /* of a method, or absent; of a tool, its arguments */
    tg_str_t extra_members; /* of a tool, as tg_caller_call_tool() has it */
    tg_mcp_list_t *list;    /* whose pages it asks for, until it is whole */
    unsigned is_tool_call:1;
    unsigned is_read_only:1; /* it changes nothing; lists are, too */

    unsigned is_sent:1;
    unsigned is_queued:1; /* it is among the client's */
    unsigned tries;
    uint64_t id;
    uint64_t seq;
    tg_uv_request_t *next;
    tg_uv_request_t *prev;
};

typedef struct {
    /*
     * A question's one answer: the client does not know it any more.  LOST
     * and NOT_STARTED when no connection will bring another.
     */
    void (*on_response)(void *host, tg_uv_request_t *request,
                        const tg_response_t *answer);

    /* The greeting was answered: there is a connection. */
    void (*opened)(void *host);

    /*
     * A connection ended, or came to nothing, of which client->err is the
     * reason.  ended comes before any question is answered; may be NULL.  In
     * lost, the client waits for the next one, or is idle: then it has
     * given up, and all questions are answered.
     */
    void (*on_disconnect)(void *host);
    void (*on_conn_lost)(void *host, int was_open);

    void (*notification)(void *host, tg_str_t method,
                         const tg_message_t *message); /* may be NULL */

    /*
     * Of who greets, or sends, in words of its own; each may be NULL. greet:
     * there is a connection; tg_uv_client_complete_handshake() when it is of
     * use. answer: is it of a request that the owner made on the caller?  send:
     * a question, with its address as the tag; TG_OK: it was, TG_CLOSED: it was
     * not, or is the client's no more.
     */
    int (*start_handshake)(void *host);
    int (*answer)(void *host, void *tag, const tg_response_t *answer);
    int (*send_request)(void *host, tg_uv_request_t *request);

    /* As a caller's; may be NULL. */
    void (*on_shutdown_notice)(void *host, tg_str_t reason, int is_drained);
    void (*log)(void *host, const char *text);
    void (*on_request)(void *host, const tg_message_t *message);

    /* An attempt to connect begins: place may be another.  May be NULL. */
    void (*on_connect_attempt)(void *host);

    /*
     * May the server be read from?  If not, tg_uv_client_resume() once it may.
     * May be NULL.
     */
    int (*can_read)(void *host);

    /* Each message: of the server's, or not.  May be NULL. */
    void (*trace)(void *host, int is_theirs, tg_str_t bytes);

    /* After tg_uv_client_close(): the last call.  May be NULL. */
    void (*closed)(void *host);
} tg_uv_client_ops_t;

struct tg_uv_client_s {
    uv_loop_t *loop;
    tg_uv_sched_t *sched; /* of that loop */
    const tg_uv_client_ops_t *ops;
    void *host;
    const tg_uv_endpoint_t *endpoint;
    const char *info;         /* the client's clientInfo, as JSON; or NULL */
    uint64_t connect_timeout; /* ms of an attempt to connect; 0: no bound */
    uv_timer_t timer; /* the next attempt, its end, or that of closing */
    tg_caller_ops_t caller_ops;
    tg_caller_t caller;
    tg_uv_conn_t conn;
    tg_uv_client_state_t state;
    int err;             /* why there is no connection: a libuv error, or 0 */
    unsigned tries;      /* connections in a row that failed */
    uint64_t opened;     /* the loop's time */
    uint64_t jitter;     /* many clients lose one server at once */
    unsigned has_conn:1; /* conn's last callback is still to come */
    unsigned is_read_stopped:1; /* not read from, as it was not welcome */
    unsigned was_open:1;        /* one was, so that there is a server */
    unsigned is_drained:1;      /* the server said a proper goodbye */
    unsigned
        has_endless_reconnect:1; /* who was there is waited for, without end */
    unsigned has_endless_connect:1; /* who was never there is, too */
    unsigned is_persistent:1; /* a connection is wanted without a question */
    unsigned
        has_mcp_initialize:1; /* by `initialize`, with info; else by `ping` */
    uint64_t seq;
    tg_uv_request_t *first;
    tg_uv_request_t *last;
};

/*
 * What was set before stays: place, info, patience, is_patient, is_awaited,
 * is_kept and greets_mcp.  max_frame: of messages, both ways.  ops, place and
 * info outlive it.
 */
void tg_uv_client_init(tg_uv_client_t *client, tg_uv_sched_t *sched,
                       const tg_uv_client_ops_t *ops, void *host,
                       tg_dialect_t dialect, size_t max_frame);

/* Connects, if nothing of that kind is under way. */
void tg_uv_client_connect(tg_uv_client_t *client);

/* Of who greets: it was answered, and questions pass. */
void tg_uv_client_complete_handshake(tg_uv_client_t *client);

/* The connection is closed as if it had been lost; or never of use. */
void tg_uv_client_drop_conn(tg_uv_client_t *client);
void tg_uv_client_reject_conn(tg_uv_client_t *client);

/* Asks now, or when there is a connection; tg_uv_client_flush() sends it. */
void tg_uv_client_send_request(tg_uv_client_t *client,
                               tg_uv_request_t *request);

/*
 * Forgets a question that was asked; the server is told, for a method by
 * JSON-RPC's words and else by MCP's.
 */
void tg_uv_client_cancel_request(tg_uv_client_t *client,
                                 tg_uv_request_t *request);

/* Answers all that were not sent: they wait no more. */
void tg_uv_client_fail_unsent(tg_uv_client_t *client);

/* Says something that is not answered. */
void tg_uv_client_notify(tg_uv_client_t *client, tg_str_t method,
                         tg_str_t params);

void tg_uv_client_flush(tg_uv_client_t *client);

/* Reads on from a server that was not welcome, if it is now. */
void tg_uv_client_resume(tg_uv_client_t *client);

/*
 * Lets the last bytes leave, then closes: ops->closed tells, from the loop.
 * No question is answered any more.
 */
void tg_uv_client_close(tg_uv_client_t *client);

/* Of one that is closed. */
void tg_uv_client_deinit(tg_uv_client_t *client);

#endif
