/*
 * The bridge: MCP on stdio towards an agent, any dialect on a Unix socket
 * towards the parent (Toolgate, or another that speaks such a dialect).
 *
 * MCP ends here on both sides.  The agent's session lives in the bridge
 * alone, so after the parent was lost and found again nothing but its
 * catalogue must be fetched and compared.
 *
 *   tg_bridge_main.c    arguments, environment
 *   tg_bridge_loop.c     the loop, its beginning and its end
 *   tg_bridge_agent.c   stdio and core's peer
 *   tg_bridge_parent_mcp.c     core's MCP client: who the parent is, its list
 *   tg_bridge_parent.c  the socket's client: greet, lose, why, and until when
 *   tg_bridge_request.c requests on their way from one to the other
 *   tg_bridge_server_request.c     what the parent asks of the agent, likewise
 *   tg_bridge_schema_file.c  the list from a file, where the parent has none
 *   tg_bridge.c         what all of them ask of both sides
 *   tg_bridge_log.c     stderr
 *
 * Each needs those below it.  To go is noted, and done at the end of the
 * loop's turn.
 *
 * Nothing here blocks, on stderr neither.  TG_NOMEM anywhere ends the
 * bridge: an agent starts a new one.
 */
#ifndef TG_BRIDGE_H
#define TG_BRIDGE_H

#include "protocol/tg_mcp_client_call.h"
#include "protocol/tg_peer.h"
#include "transport/tg_uv_client.h"

/*
 * The common SDK closes when its read buffer would pass 10 MiB; what it had
 * read of a next message, one chunk at most, counts too.
 */
#define TG_BRIDGE_AGENT_FRAME_OUT_MAX (10485760u - 65536u - 1u)
/*
 * From the agent comes more: the largest message of ipc, in MCP's envelope
 * (its id and token may have a kilobyte each).
 */
#define TG_BRIDGE_AGENT_FRAME_IN_MAX (TG_FRAME_IPC_MAX + 8192u)
/*
 * What a jsonrpc parent may send.  Far above the agent's limit, so that a
 * result that is too large for the agent is answered as that.
 */
#define TG_BRIDGE_PARENT_FRAME_MAX 67108864u
/* Unwritten bytes towards the parent at which the agent is not read. */
#define TG_BRIDGE_PARENT_BACKLOG_MAX 1048576u
/*
 * Unwritten bytes towards the agent at which the parent is not read.  What the
 * bridge answers itself, as `ping`, waits behind them.
 */
#define TG_BRIDGE_AGENT_BACKLOG_MAX 65536u
/* Bytes of the parent's list that are read in one step, and one tool. */
#define TG_BRIDGE_LIST_STEP_SIZE 16384
/* More calls than any agent makes at once; beyond it they are refused. */
#define TG_BRIDGE_CALLS_MAX 1024
/* Arguments kept for calls that wait or may have to be sent again. */
#define TG_BRIDGE_ARGUMENTS_MAX 67108864u

/* The agent's first words wait as long for the parent's, in ms. */
#define TG_BRIDGE_HOLD_TIMEOUT 1000
/* How long requests wait for the parent to come back, without --grace. */
#define TG_BRIDGE_GRACE_DEFAULT 3000
/* Of --grace, in s: who waits for longer is not waiting for a restart. */
#define TG_BRIDGE_GRACE_MAX 3600
/* How long an address may take to answer, and to agree on TLS. */
#define TG_BRIDGE_CONNECT_TIMEOUT 10000
/* An agent that is not read from is looked after as often. */
#define TG_BRIDGE_HANGUP_CHECK_INTERVAL 500
/* The last bytes may take so long to leave. */
#define TG_BRIDGE_QUIT_TIMEOUT 500
/* Requests before the end of stdin have this many ms to be answered. */
#define TG_BRIDGE_DRAIN_TIMEOUT 5000
/*
 * An agent that starts has this many ms for its first request after a runner
 * has gone or refused the bridge: the answer says why.  After each such answer,
 * and after its handshake, it has TG_BRIDGE_NEXT_REFUSAL_TIMEOUT ms for the
 * next request, as clients that were refused server/discover ask for
 * initialize.
 */
#define TG_BRIDGE_FIRST_REFUSAL_TIMEOUT 5000
#define TG_BRIDGE_NEXT_REFUSAL_TIMEOUT 2000

typedef struct tg_bridge_s tg_bridge_t;

typedef struct {
    tg_dialect_t dialect; /* of the parent, never AUTO */
    const char *socket;   /* NULL: wherever one is */
    tg_uv_tls_options_t tls;
    tg_uv_endpoint_t endpoint;
    const char *schema_file; /* with ipc, else NULL */
    const char *name;        /* for the agent; NULL: the parent's */
    uint64_t grace;          /* in ms */
    int is_debug;
} tg_bridge_options_t;

typedef struct tg_bridge_request_s tg_bridge_request_t;
typedef struct tg_bridge_server_request_s tg_bridge_server_request_t;

/* A tools/call or a tools/list of the agent that cannot be answered yet. */
struct tg_bridge_request_s {
    tg_uv_request_t uv_request; /* of a call */
    tg_bridge_t *bridge;
    tg_call_t *call;       /* the peer's */
    uint64_t seq;          /* in the order of the agent's requests */
    uint64_t fetch_number; /* of a list: the fetch that may answer it */
    size_t size;
    unsigned is_list:1;
    unsigned has_progress:1;
    tg_str_t cursor;           /* of a list, raw or absent, in data */
    tg_mcp_call_t call_params; /* of a call; its slices are in data */
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
    TG_BRIDGE_TIMER_COUNT
} tg_bridge_timer_t;

typedef void (*tg_bridge_timer_action_pt)(tg_bridge_t *bridge);

struct tg_bridge_s {
    const tg_bridge_options_t *options;
    const tg_bridge_timer_action_pt *actions; /* of the timers */
    uv_loop_t loop;
    tg_uv_sched_t sched;
    uv_prepare_t prepare;
    uv_signal_t signals[2];
    uv_timer_t timers[TG_BRIDGE_TIMER_COUNT];
    int exit_code; /* the exit status */
    unsigned is_quitting:1;
    unsigned is_closing:1;         /* both sides were told */
    unsigned has_closed_handles:1; /* everything is closed or being closed */
    unsigned is_agent_held:1;      /* the agent's first words wait */
    unsigned has_agent:1;          /* its connection is not closed yet */
    unsigned is_draining:1;     /* the agent's input ends: answer, then quit */
    unsigned is_agent_paused:1; /* the agent is not read from, see is_welcome */
    unsigned has_agent_listed:1;    /* the agent asked for the list */
    unsigned has_list:1;            /* its list is here, or it has none */
    unsigned is_runner_shut_down:1; /* the runner sent shutdown (relay) */
    unsigned
        has_agent_asked:1; /* the agent has asked for the list, or called */

    tg_uv_conn_t agent;
    tg_peer_t peer;
    tg_server_info_t info;
    tg_buf_t info_text; /* what info points to */

    tg_uv_client_t parent;
    tg_uv_endpoint_t endpoint;
    tg_mcp_client_t mcp;
    tg_sched_source_t reader; /* waits while a list of the parent is read */
    uint64_t mcp_due;         /* what its timer was started for */
    uint64_t grace_until;     /* loop time; after it a failed attempt is told */
    char label[160];          /* the socket's path as UTF-8 */
    char why[1024];           /* what is not running, how to start it; or "" */
    char shutdown_reason[256]; /* a runner's reason to end, or "" */

    tg_catalog_t *tools;       /* what the agent sees */
    uint64_t sent_list_digest; /* digest of what it was given last, 0: none */

    size_t request_bytes; /* bytes of all requests */
    uint64_t seq;

    tg_bridge_server_request_t *server_requests;
    /* what the parent was told that the agent can be asked */
    unsigned client_caps;
    unsigned sent_nmet; /* the peer's nmet when the parent was told who it is */
};

/* Runs until the end; returns the exit status. */
int tg_bridge_run(const tg_bridge_options_t *options);

/* --- tg_bridge.c --- */

/* The end begins with this turn; what is written till then leaves. */
void tg_bridge_quit(tg_bridge_t *bridge, int exit_code);
void tg_bridge_quit_nomem(tg_bridge_t *bridge);

/* Starts a timer, anew when it runs. */
void tg_bridge_timer_start(tg_bridge_t *bridge, tg_bridge_timer_t timer,
                           uint64_t ms);
void tg_bridge_timer_stop(tg_bridge_t *bridge, tg_bridge_timer_t timer);
int tg_bridge_timer_is_active(const tg_bridge_t *bridge,
                              tg_bridge_timer_t timer);

/* Lets the agent's first words in. */
void tg_bridge_agent_release_input(tg_bridge_t *bridge);

/* For messages: "Toolgate", "the parent process", "the runner". */
const char *tg_bridge_parent_get_name(const tg_bridge_t *bridge);
/* Do calls pass? */
int tg_bridge_parent_is_open(const tg_bridge_t *bridge);
/* Fetches its list. */
void tg_bridge_parent_fetch_list(tg_bridge_t *bridge);

/* --- tg_bridge_agent.c --- */

void tg_bridge_agent_init(tg_bridge_t *bridge);
void tg_bridge_agent_start(tg_bridge_t *bridge);
/* May what the agent wrote be served now? */
int tg_bridge_agent_can_read(const tg_bridge_t *bridge);
/*
 * While the agent is not read from, or its input has ended, checks whether it
 * is gone.
 */
void tg_bridge_agent_check_hangup(tg_bridge_t *bridge);
/* Has every request been answered, and every answer been written? */
int tg_bridge_agent_is_drained(const tg_bridge_t *bridge);
/* Cancels what was not answered within TG_BRIDGE_DRAIN_TIMEOUT, and quits. */
void tg_bridge_agent_on_drain_timeout(tg_bridge_t *bridge);

/* --- tg_bridge_parent_mcp.c --- */

extern const tg_uv_client_ops_t tg_bridge_parent_ops;

/* ops->list of the agent's peer. */
int tg_bridge_list_handle_request(tg_bridge_t *bridge,
                                  const tg_request_t *request);

/* Lets the MCP client know of the time that it asked for. */
void tg_bridge_mcp_update_timer(tg_bridge_t *bridge);
void tg_bridge_mcp_on_timeout(tg_bridge_t *bridge);

/* --- tg_bridge_parent.c --- */

void tg_bridge_parent_init(tg_bridge_t *bridge, const tg_uv_client_ops_t *ops);
void tg_bridge_parent_start(tg_bridge_t *bridge);
/* May what it sent be read now? */
int tg_bridge_parent_can_read(void *host);
/* The rest of its client's ops. */
void tg_bridge_parent_on_connect_attempt(void *host);
int tg_bridge_parent_start_handshake(void *host);
void tg_bridge_parent_on_open(void *host);
void tg_bridge_parent_on_disconnect(void *host);
void tg_bridge_parent_on_conn_lost(void *host, int was_open);
void tg_bridge_parent_on_trace(void *host, int is_theirs, tg_str_t bytes);
/* Its first list on this connection is here. */
void tg_bridge_parent_on_list_ready(tg_bridge_t *bridge);
/* It is no use; text says why. */
void tg_bridge_parent_reject(tg_bridge_t *bridge, const char *text);
/* It did not come in time: whoever waits is told. */
void tg_bridge_parent_on_grace_timeout(tg_bridge_t *bridge);
/* It did not answer the handshake in time. */
void tg_bridge_parent_on_handshake_timeout(tg_bridge_t *bridge);
/* The bridge goes. */
void tg_bridge_parent_shutdown(tg_bridge_t *bridge);
/* Quits: the agent was told why the runner is gone, or did not ask. */
void tg_bridge_parent_on_refusal_timeout(tg_bridge_t *bridge);

/* --- tg_bridge_request.c --- */

/*
 * Takes a request of the agent; of a list round is the first fetch that may
 * answer it.  When it cannot be taken it is answered.
 */
void tg_bridge_request_accept(tg_bridge_t *bridge, const tg_request_t *asked,
                              int is_list, uint64_t fetch_number);
/* The parent's answer to a call, or how it was lost; and sends one. */
void tg_bridge_request_on_response(void *host, tg_uv_request_t *uv_request,
                                   const tg_response_t *answer);
int tg_bridge_request_send(void *host, tg_uv_request_t *uv_request);
/* The agent cancelled it, or goes. */
void tg_bridge_request_cancel(tg_bridge_request_t *request);
/* Answers all that wait with an MCP error: why there is no parent. */
void tg_bridge_requests_fail_unsent(tg_bridge_t *bridge);
/* Cancels every request, and answers it with an MCP error. */
void tg_bridge_requests_cancel(tg_bridge_t *bridge, const char *why);
/*
 * Answers the lists that wait: those for which the last fetch was new enough
 * from the catalogue, or all with the parent's own error.
 */
void tg_bridge_requests_respond_lists(tg_bridge_t *bridge,
                                      const tg_response_t *error);
/* Does any wait, or any for the list? */
int tg_bridge_requests_has_unsent(const tg_bridge_t *bridge, int is_list);
void tg_bridge_requests_forward_progress(tg_bridge_t *bridge,
                                         const tg_message_t *message);

/* --- tg_bridge_server_request.c --- */

/* ops->asked of the parent's caller, and ops->told of the agent's peer. */
void tg_bridge_on_server_request(void *host, const tg_message_t *message);
void tg_bridge_on_agent_response(void *host, uint64_t tag,
                                 const tg_message_t *message);

/* The parent does not want to know any more: one of its raw ids, or all. */
void tg_bridge_cancel_server_request(tg_bridge_t *bridge, tg_str_t id);
void tg_bridge_cancel_server_requests(tg_bridge_t *bridge);

/*
 * Tells the parent who the agent is and what it can be asked, and the second
 * one if that has changed.  TG_OK or TG_NOMEM.
 */
int tg_bridge_send_hello(tg_bridge_t *bridge, unsigned client_caps);
void tg_bridge_update_hello(tg_bridge_t *bridge);

/* --- tg_bridge_schema_file.c --- */

/* What agents could not read of a list is repaired, and logged. */
extern const tg_tool_list_check_t tg_bridge_list_check;

/*
 * Reads a schema file (docs/protocols.md, ipc).  NULL, with
 * what is wrong in why[size].
 */
tg_catalog_t *tg_bridge_schema_file_load(const char *path, char *why,
                                         size_t size);

/* --- tg_bridge_log.c --- */

/* One line, and not too many of them. */
__attribute__((format(printf, 1, 2))) void tg_bridge_log(const char *format,
                                                         ...);

/* One message a line, cut to a sane length. */
void tg_bridge_log_messages(const char *where, tg_frame_type_t kind,
                            tg_str_t bytes);

/* Decodes an escaped body as far as it fits, for people likewise. */
void tg_bridge_decode_visible(char *dst, size_t size, tg_str_t body);

/* Copies text as far as it fits, as tg_utf8_append_visible() on one line. */
void tg_bridge_copy_visible(char *dst, size_t size, tg_str_t text);

#endif
