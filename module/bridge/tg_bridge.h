/*
 * The bridge: an MCP server on stdio for an agent, and a client of the parent:
 * Toolgate or another program that speaks one of the dialects on a Unix socket.
 * The agent's session exists only in the bridge, so after a reconnect to the
 * parent only the catalog has to be fetched and compared.
 *
 *   tg_bridge_main.c            command line and environment
 *   tg_bridge_loop.c            event loop: setup, iteration, exit
 *   tg_bridge_agent.c           agent: stdio and its tg_peer_t
 *   tg_bridge_parent_mcp.c      parent: MCP client, its info and its tools
 *   tg_bridge_parent.c          parent: connection, errors, grace period
 *   tg_bridge_forward.c         requests of any other method, notifications
 *   tg_bridge_subscription.c    subscriptions that outlive a connection
 *   tg_bridge_request.c         requests of the agent to the parent
 *   tg_bridge_server_request.c  requests of the parent to the agent
 *   tg_bridge_schema_file.c     list of tools from a file, for ipc
 *   tg_bridge.c                 helpers for the files above
 *   tg_bridge_log.c             log on stderr
 *
 * Each file uses the files below it. Nothing here blocks, not even writes to
 * stderr. TG_NOMEM ends the bridge; an agent starts another one.
 */
#ifndef TG_BRIDGE_H
#define TG_BRIDGE_H

#include "protocol/tg_mcp_client_call.h"
#include "protocol/tg_peer.h"
#include "transport/tg_uv_client.h"

/*
 * Largest message to the agent. The common SDK closes the connection when its
 * read buffer would exceed 10 MiB, with up to one chunk of the next message.
 */
#define TG_BRIDGE_AGENT_FRAME_OUT_MAX (10485760u - 65536u - 1u)
/*
 * Largest message from the agent: that of ipc in MCP's envelope, whose id and
 * progress token may have a kilobyte each.
 */
#define TG_BRIDGE_AGENT_FRAME_IN_MAX (TG_FRAME_IPC_MAX + 8192u)
/*
 * Largest message from a jsonrpc parent: far above the agent's limit, so that
 * the agent receives an error for a result that is too large.
 */
#define TG_BRIDGE_PARENT_FRAME_MAX 67108864u
/* Unsent bytes to the parent above which the agent is not read. */
#define TG_BRIDGE_PARENT_BACKLOG_MAX 1048576u
/*
 * Unsent bytes to the agent above which the parent is not read. The bridge's
 * own answers, to `ping` for instance, are queued after them.
 */
#define TG_BRIDGE_AGENT_BACKLOG_MAX 65536u
/* Bytes of the parent's list that are parsed in one step, plus one tool. */
#define TG_BRIDGE_LIST_STEP_SIZE 16384
/* Limit of the agent's calls in flight; more calls are rejected. */
#define TG_BRIDGE_CALLS_MAX 1024
/* Bytes of arguments kept for calls that wait or may be resent. */
#define TG_BRIDGE_ARGUMENTS_MAX 67108864u

/* Limit of requests that restore subscriptions after a reconnect, at once. */
#define TG_BRIDGE_RESUBSCRIBE_MAX 16

/* Time in ms for the parent's answer to the agent's server/discover. */
#define TG_BRIDGE_DISCOVER_TIMEOUT 1000
/* Time that the agent's first messages wait for the parent's first, in ms. */
#define TG_BRIDGE_HOLD_TIMEOUT 1000
/* Default of --grace, in ms: time that requests wait for a reconnect. */
#define TG_BRIDGE_GRACE_DEFAULT 3000
/* Upper limit of --grace, in s: no restart of a parent takes longer. */
#define TG_BRIDGE_GRACE_MAX 3600
/* Timeout for connecting, with the TLS handshake, in ms. */
#define TG_BRIDGE_CONNECT_TIMEOUT 10000
/* Interval of the checks whether an agent that is not read has gone, in ms. */
#define TG_BRIDGE_HANGUP_CHECK_INTERVAL 500
/* Time to write the last bytes before the exit, in ms. */
#define TG_BRIDGE_QUIT_TIMEOUT 500
/* Time for requests in flight when stdin ends, in ms. */
#define TG_BRIDGE_DRAIN_TIMEOUT 5000
/*
 * Time in ms for an agent to send its first request after a runner has exited
 * or rejected the bridge; the answer gives the reason. After each such answer,
 * and after the handshake, the agent has the second time for the next request:
 * clients whose server/discover is refused send initialize.
 */
#define TG_BRIDGE_FIRST_REFUSAL_TIMEOUT 5000
#define TG_BRIDGE_NEXT_REFUSAL_TIMEOUT 2000

typedef struct tg_bridge_s tg_bridge_t;

typedef struct {
    tg_dialect_t dialect; /* dialect of the parent, never AUTO */
    const char *socket;   /* NULL: the default sockets */
    tg_uv_tls_options_t tls;
    tg_uv_endpoint_t endpoint;
    const char *schema_file; /* for ipc, else NULL */
    const char *name;        /* server name for the agent; NULL: the parent's */
    uint64_t grace;          /* in ms */
    int is_debug;
} tg_bridge_options_t;

typedef struct tg_bridge_request_s tg_bridge_request_t;
typedef struct tg_bridge_server_request_s tg_bridge_server_request_t;
typedef struct tg_bridge_subscription_s tg_bridge_subscription_t;

typedef enum {
    TG_BRIDGE_CALL,
    TG_BRIDGE_LIST,    /* tools/list, answered from the bridge's list */
    TG_BRIDGE_LISTEN,  /* subscriptions/listen, which the bridge answers */
    TG_BRIDGE_METHOD,  /* any other method, forwarded as it is */
    TG_BRIDGE_DISCOVER /* server/discover, which the bridge can answer, too */
} tg_bridge_request_type_t;

/* A request of the agent that waits for the parent. */
struct tg_bridge_request_s {
    tg_uv_request_t uv_request; /* for a call */
    tg_bridge_t *bridge;
    tg_call_t *call; /* the call in the agent's peer */
    uint64_t seq;    /* order of the agent's requests, and progress token */
    uint64_t fetch_number; /* for a list: the first fetch that may answer it */
    size_t size;
    tg_bridge_request_type_t kind;
    unsigned has_progress:1;
    tg_str_t cursor; /* for a list: raw cursor, stored in data, or absent */
    /* Stored in data. For a method: its name, and params as arguments. */
    tg_mcp_call_t call_params;
    char data[];
};

typedef enum {
    TG_BRIDGE_TIMER_HOLD,
    TG_BRIDGE_TIMER_MCP,
    TG_BRIDGE_TIMER_GRACE,
    TG_BRIDGE_TIMER_HANGUP_CHECK,
    TG_BRIDGE_TIMER_QUIT,
    TG_BRIDGE_TIMER_DRAIN,
    TG_BRIDGE_TIMER_REFUSAL,
    TG_BRIDGE_TIMER_DISCOVER,
    TG_BRIDGE_TIMER_COUNT
} tg_bridge_timer_t;

typedef void (*tg_bridge_timer_action_pt)(tg_bridge_t *bridge);

struct tg_bridge_s {
    const tg_bridge_options_t *options;
    const tg_bridge_timer_action_pt *actions; /* callbacks of timers */
    uv_loop_t loop;
    tg_uv_sched_t sched;
    uv_prepare_t prepare;
    uv_signal_t signals[2];
    uv_timer_t timers[TG_BRIDGE_TIMER_COUNT];
    int exit_code;
    unsigned is_quitting:1;
    unsigned is_closing:1;         /* both connections are being closed */
    unsigned has_closed_handles:1; /* all handles are closed or being closed */
    unsigned is_agent_held:1; /* the agent's first messages are not read yet */
    unsigned has_agent:1;     /* connection not closed yet */
    /* Input has ended: answer the requests in flight, then quit. */
    unsigned is_draining:1;
    /* The agent is not read until tg_bridge_agent_can_read() allows it. */
    unsigned is_agent_paused:1;
    unsigned has_agent_listed:1; /* the agent has sent tools/list */
    /* The parent's list is fetched, or the parent has no list. */
    unsigned has_list:1;
    unsigned is_runner_shut_down:1; /* the runner sent shutdown (relay) */
    /* The agent has sent tools/list or tools/call. */
    unsigned has_agent_asked:1;
    unsigned has_parent_info:1; /* info is that of the parent */
    /* The agent has listed these: it is notified after a reconnect. */
    unsigned has_listed_prompts:1;
    unsigned has_listed_resources:1;
    /* The agent was told of the capabilities that a parent may have. */
    unsigned has_assumed_caps:1;

    tg_uv_conn_t agent;
    tg_peer_t peer;
    tg_server_info_t info;
    tg_buf_t info_text; /* storage of the strings of info */

    tg_uv_client_t parent;
    tg_uv_endpoint_t endpoint;
    tg_mcp_client_t mcp;
    /* Queued while a list of the parent is being parsed. */
    tg_sched_source_t reader;
    /* Time for which TG_BRIDGE_TIMER_MCP is set, in ms of the loop's clock. */
    uint64_t mcp_due;
    /* End of the wait for a connection, in ms of the loop's clock. */
    uint64_t grace_until;
    char label[160]; /* path of the socket as UTF-8 */
    /* Why the parent is unavailable and how to start it, or "". */
    char why[1024];
    char shutdown_reason[256]; /* the runner's reason for its exit, or "" */

    tg_catalog_t *tools; /* tools that the agent sees */
    /* Digest of the list that was last sent to the agent; 0: none. */
    uint64_t sent_list_digest;

    size_t request_bytes; /* size of all requests, in bytes */
    uint64_t seq;

    tg_bridge_subscription_t *subscriptions;
    unsigned nsubscriptions;
    unsigned nsubscribing; /* requests of the bridge for subscriptions */
    /* level of the last logging/setLevel that the parent has accepted */
    tg_mcp_log_level_t log_level;
    char own_tag; /* its address is the tag of other own requests */

    tg_bridge_server_request_t *server_requests;
    /* Capabilities of the agent that were last sent to the parent. */
    unsigned client_caps;
    /* The peer's nclient_changes when clientInfo was last sent. */
    unsigned sent_nmet;
};

int tg_bridge_run(const tg_bridge_options_t *options);

/*
 * Quits at the end of the loop iteration, after writing pending output. The
 * first exit status other than 0 is kept.
 */
void tg_bridge_quit(tg_bridge_t *bridge, int exit_code);

/* Logs a lack of memory and quits with exit status 1. */
void tg_bridge_quit_nomem(tg_bridge_t *bridge);

void tg_bridge_timer_start(tg_bridge_t *bridge, tg_bridge_timer_t timer,
                           uint64_t ms);
void tg_bridge_timer_stop(tg_bridge_t *bridge, tg_bridge_timer_t timer);
int tg_bridge_timer_is_active(const tg_bridge_t *bridge,
                              tg_bridge_timer_t timer);

/* Starts reading the agent's messages, which waited for the parent. */
void tg_bridge_agent_release_input(tg_bridge_t *bridge);

/* Returns "Toolgate", "the parent process" or "the runner". */
const char *tg_bridge_parent_get_name(const tg_bridge_t *bridge);
/* Checks whether calls can be sent to the parent. */
int tg_bridge_parent_is_open(const tg_bridge_t *bridge);
void tg_bridge_parent_fetch_list(tg_bridge_t *bridge);

/* Returns TG_OK or TG_NOMEM. */
int tg_bridge_agent_init(tg_bridge_t *bridge);
void tg_bridge_agent_start(tg_bridge_t *bridge);
/* Checks whether the agent may be read: the parent takes more requests. */
int tg_bridge_agent_can_read(const tg_bridge_t *bridge);
/* Detects the end of an agent that is not read or has ended its input. */
void tg_bridge_agent_check_hangup(tg_bridge_t *bridge);
/* Checks whether all requests are answered and all answers are written. */
int tg_bridge_agent_is_drained(const tg_bridge_t *bridge);
/* Cancels the requests that are still not answered, and quits. */
void tg_bridge_agent_on_drain_timeout(tg_bridge_t *bridge);

extern const tg_uv_client_ops_t tg_bridge_parent_ops;

/* Handles the agent's tools/list. TG_END: the peer answers from the catalog. */
int tg_bridge_list_handle_request(tg_bridge_t *bridge,
                                  const tg_request_t *request);

/* Sets the timer to the deadline that the MCP client asks for. */
void tg_bridge_mcp_update_timer(tg_bridge_t *bridge);

/* Passes the expiry of the timer to the MCP client. */
void tg_bridge_mcp_on_timeout(tg_bridge_t *bridge);

void tg_bridge_parent_init(tg_bridge_t *bridge, const tg_uv_client_ops_t *ops);
void tg_bridge_parent_start(tg_bridge_t *bridge);
/* Checks whether the parent may be read: the agent takes more output. */
int tg_bridge_parent_can_read(void *host);
/* Callbacks for tg_uv_client_ops_t. */
void tg_bridge_parent_on_connect_attempt(void *host);
int tg_bridge_parent_start_handshake(void *host);
void tg_bridge_parent_on_open(void *host);
void tg_bridge_parent_on_disconnect(void *host);
void tg_bridge_parent_on_conn_lost(void *host, int was_open);
void tg_bridge_parent_on_trace(void *host, int is_theirs, tg_str_t bytes);
void tg_bridge_parent_on_list_ready(tg_bridge_t *bridge);
/* Reads from a raw object what the agent may subscribe to. */
void tg_bridge_parent_read_capabilities(tg_bridge_t *bridge,
                                        tg_str_t capabilities);
/* Disconnects from a parent that is not usable; text is the reason. */
void tg_bridge_parent_reject(tg_bridge_t *bridge, const char *text);
/* Fails the waiting requests at the end of the grace period. */
void tg_bridge_parent_on_grace_timeout(tg_bridge_t *bridge);
/* Handles a parent that did not answer the handshake in time. */
void tg_bridge_parent_on_handshake_timeout(tg_bridge_t *bridge);
/* Closes the connection to the parent, because the bridge exits. */
void tg_bridge_parent_shutdown(tg_bridge_t *bridge);
/* Ends the wait for an agent to ask why the runner has gone. */
void tg_bridge_parent_on_refusal_timeout(tg_bridge_t *bridge);

/*
 * Takes a request of the agent, or answers it with an error. For a list,
 * fetch_number is the first fetch that may answer it.
 */
void tg_bridge_request_accept(tg_bridge_t *bridge, const tg_request_t *asked,
                              tg_bridge_request_type_t kind,
                              uint64_t fetch_number);
/* Handles the parent's answer to a call, or the loss of the call. */
void tg_bridge_request_on_response(void *host, tg_uv_request_t *uv_request,
                                   const tg_response_t *answer);

/* Sends a call. TG_CLOSED: it was answered with an error instead. */
int tg_bridge_request_send(void *host, tg_uv_request_t *uv_request);
/* Frees a request; the caller answers its call. */
void tg_bridge_request_free(tg_bridge_request_t *request);
/* Cancels and frees a request, because the agent cancelled it or has gone. */
void tg_bridge_request_cancel(tg_bridge_request_t *request);
/* Answers all unsent requests with an error: why the parent is unavailable. */
void tg_bridge_requests_fail_unsent(tg_bridge_t *bridge);
/* Cancels all requests and answers them with an error. */
void tg_bridge_requests_cancel(tg_bridge_t *bridge, const char *why);
/* Answers the lists that the last fetch may answer, or all by an error. */
void tg_bridge_requests_respond_lists(tg_bridge_t *bridge,
                                      const tg_response_t *error);
/* Checks whether any request is unsent, or with is_list any list. */
int tg_bridge_requests_has_unsent(const tg_bridge_t *bridge, int is_list);
/* Answers server/discover without the parent, which takes too long. */
void tg_bridge_requests_on_discover_timeout(tg_bridge_t *bridge);

/* Forwards a request or notification of the agent with any other method. */
void tg_bridge_forward(tg_bridge_t *bridge, const tg_request_t *request);
/* Forwards server/discover. TG_END: the peer answers. */
int tg_bridge_forward_discover(tg_bridge_t *bridge,
                               const tg_request_t *request);
/* Remembers what the answered method changes for later connections. */
void tg_bridge_forward_on_response(const tg_bridge_request_t *request,
                                   const tg_response_t *answer);
/*
 * Appends a result with the members that a modern agent requires, if a parent
 * that knows only the legacy era has left them out; otherwise nothing.
 */
void tg_bridge_forward_complete_result(const tg_bridge_request_t *request,
                                       tg_str_t result, tg_buf_t *text);
/*
 * Returns the empty result of a list that the bridge has promised and the
 * parent does not have, or absent.
 */
tg_str_t tg_bridge_forward_get_empty_result(const tg_bridge_request_t *request);
/* Forwards the progress of a request to the agent. */
void tg_bridge_forward_progress(tg_bridge_t *bridge,
                                const tg_message_t *message);
/* Forwards a notification of the parent. method is an escaped body. */
void tg_bridge_forward_notification(tg_bridge_t *bridge, tg_str_t method,
                                    tg_str_t params);
/* Notifies the agent that a resource, in plain text, may have changed. */
void tg_bridge_forward_resource_updated(tg_bridge_t *bridge, tg_str_t uri);
/* Restores on a new connection what the agent has set on an earlier one. */
void tg_bridge_forward_on_open(tg_bridge_t *bridge);

/*
 * Adds or removes the subscription to a resource, in plain text. has_request:
 * the agent's own request has told the parent; otherwise the bridge does.
 */
void tg_bridge_subscription_set(tg_bridge_t *bridge, tg_str_t uri,
                                int has_request, int is_on);
/* Subscribes again to everything, on a new connection. */
void tg_bridge_subscriptions_restore(tg_bridge_t *bridge);
/* Handles the answer to a request of the bridge. 0: it is another one. */
int tg_bridge_subscriptions_on_response(tg_bridge_t *bridge, const void *tag,
                                        const tg_response_t *answer);
/*
 * Handles the agent's subscriptions/listen: asks the parent which of its
 * resources are reported. TG_END: it has none; TG_OK: answered or taken.
 */
int tg_bridge_listen(tg_bridge_t *bridge, const tg_request_t *request);
/* Notifies the agent's listens of a change of a resource or a part of it. */
void tg_bridge_subscriptions_notify(tg_bridge_t *bridge, tg_str_t uri);
/* Answers all of them with what the parent has accepted up to now. */
void tg_bridge_listens_respond(tg_bridge_t *bridge);
int tg_bridge_subscription_is_known(tg_bridge_t *bridge, tg_str_t uri);
/* Checks whether the agent does not expect updates in its legacy session. */
int tg_bridge_subscription_is_only_listened(tg_bridge_t *bridge, tg_str_t uri);
void tg_bridge_subscriptions_free(tg_bridge_t *bridge);

/* Handles a request of the parent: the on_request() of its client. */
void tg_bridge_on_server_request(void *host, const tg_message_t *message);

/* Forwards the agent's response to the parent. */
void tg_bridge_on_agent_response(void *host, uint64_t tag,
                                 const tg_message_t *message);

/* Cancels the request of the parent that has this raw id. */
void tg_bridge_cancel_server_request(tg_bridge_t *bridge, tg_str_t id);

void tg_bridge_cancel_server_requests(tg_bridge_t *bridge);

/* Sends the agent's clientInfo and capabilities to the parent. */
int tg_bridge_send_hello(tg_bridge_t *bridge, unsigned client_caps);

/* Sends clientInfo and capabilities again if they have changed. */
void tg_bridge_update_hello(tg_bridge_t *bridge);

/* Callbacks for tg_tool_list_repair(), which log each repair. */
extern const tg_tool_list_check_t tg_bridge_list_check;

/* Loads a schema file (docs/protocols.md, ipc). NULL: why is the reason. */
tg_catalog_t *tg_bridge_schema_file_load(const char *path, char *why,
                                         size_t size);

/* Logs a line to stderr, unless there are too many. */
__attribute__((format(printf, 1, 2))) void tg_bridge_log(const char *format,
                                                         ...);

/* Logs messages for debugging, one per line, cut to a maximum length. */
void tg_bridge_log_messages(const char *where, tg_frame_type_t kind,
                            tg_str_t bytes);

/* Decodes a string's body, cut to size, without control characters. */
void tg_bridge_decode_visible(char *dst, size_t size, tg_str_t body);

/* Copies text as one visible line, cut to size. */
void tg_bridge_copy_visible(char *dst, size_t size, tg_str_t text);

#endif
