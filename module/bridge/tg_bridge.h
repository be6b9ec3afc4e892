/*
 * The bridge: MCP on stdio towards an agent, any dialect on a Unix socket
 * towards the parent (Toolgate, or another that speaks such a dialect).
 *
 * MCP ends here on both sides.  The agent's session lives in the bridge
 * alone, so after the parent was lost and found again nothing but its
 * catalogue must be fetched and compared.
 *
 *   tg_bridge_main.c    arguments, environment
 *   tg_bridge_run.c     the loop, its beginning and its end
 *   tg_bridge_agent.c   stdio and core's peer
 *   tg_bridge_mcp.c     core's MCP client: who the parent is, its list
 *   tg_bridge_parent.c  the socket's client: greet, lose, why, and until when
 *   tg_bridge_request.c requests on their way from one to the other
 *   tg_bridge_ask.c     what the parent asks of the agent, likewise
 *   tg_bridge_schema.c  the list from a file, where the parent has none
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

#include "core/tg_mcp_call.h"
#include "core/tg_peer.h"
#include "uv/tg_uv_client.h"

/*
 * The common SDK closes when its read buffer would pass 10 MiB; what it had
 * read of a next message, one chunk at most, counts too.
 */
#define TG_BRIDGE_FRAME_MAX (10485760u - 65536u - 1u)
/*
 * From the agent comes more: the largest message of ipc, in MCP's envelope
 * (its id and token may have a kilobyte each).
 */
#define TG_BRIDGE_AGENT_MAX (TG_FRAME_IPC_MAX + 8192u)
/*
 * What a jsonrpc parent may send.  Far above the agent's limit, so that a
 * result that is too large for the agent is answered as that.
 */
#define TG_BRIDGE_PARENT_FRAME_MAX 67108864u
/* Unwritten bytes towards the parent at which the agent is not read. */
#define TG_BRIDGE_BACKLOG 1048576u
/*
 * Unwritten bytes towards the agent at which the parent is not read.  What the
 * bridge answers itself, as `ping`, waits behind them.
 */
#define TG_BRIDGE_AGENT_BACKLOG 65536u
/* Bytes of the parent's list that are read in one step, and one tool. */
#define TG_BRIDGE_LIST_PART 16384
/* More calls than any agent makes at once; beyond it they are refused. */
#define TG_BRIDGE_CALLS_MAX 1024
/* Arguments kept for calls that wait or may have to be sent again. */
#define TG_BRIDGE_KEPT_MAX 67108864u

/* The agent's first words wait as long for the parent's, in ms. */
#define TG_BRIDGE_HOLD 1000
/* How long requests wait for the parent to come back, without --grace. */
#define TG_BRIDGE_GRACE 3000
/* Of --grace, in s: who waits for longer is not waiting for a restart. */
#define TG_BRIDGE_GRACE_MAX 3600
/* How long an address may take to answer, and to agree on TLS. */
#define TG_BRIDGE_CONNECT 10000
/* An agent that is not read from is looked after as often. */
#define TG_BRIDGE_WATCH 500
/* The last bytes may take so long to leave. */
#define TG_BRIDGE_QUIT 500
/* Requests before the end of stdin have this many ms to be answered. */
#define TG_BRIDGE_DRAIN 5000
/*
 * An agent that starts has this many ms for its first request after a runner
 * has gone or refused the bridge: the answer says why.  After each such answer,
 * and after its handshake, it has TG_BRIDGE_REFUSED ms for the next request, as
 * clients that were refused server/discover ask for initialize.
 */
#define TG_BRIDGE_REFUSE 5000
#define TG_BRIDGE_REFUSED 2000

typedef struct tg_bridge_s tg_bridge_t;

typedef struct {
    tg_dialect_t dialect; /* of the parent, never AUTO */
    const char *socket;   /* NULL: wherever one is */
    tg_uv_tls_options_t tls;
    tg_uv_place_t place;
    const char *schema_file; /* with ipc, else NULL */
    const char *name;        /* for the agent; NULL: the parent's */
    uint64_t grace;          /* in ms */
    int is_debug;
} tg_bridge_options_t;

typedef struct tg_bridge_request_s tg_bridge_request_t;
typedef struct tg_bridge_ask_s tg_bridge_ask_t;

/* A tools/call or a tools/list of the agent that cannot be answered yet. */
struct tg_bridge_request_s {
    tg_uv_question_t question; /* of a call */
    tg_bridge_t *bridge;
    tg_call_t *call; /* the peer's */
    uint64_t seq;    /* in the order of the agent's requests */
    uint64_t round;  /* of a list: the fetch that may answer it */
    size_t size;
    unsigned is_list:1;
    unsigned has_progress:1;
    tg_str_t cursor;    /* of a list, raw or absent, in data */
    tg_mcp_call_t said; /* of a call; its slices are in data */
    char data[];
};

typedef enum {
    TG_TIMER_HOLD,
    TG_TIMER_MCP,
    TG_TIMER_GRACE,
    TG_TIMER_WATCH,
    TG_TIMER_QUIT,
    TG_TIMER_DRAIN,
    TG_TIMER_REFUSE,
    TG_TIMERS
} tg_bridge_timer_t;

typedef void (*tg_bridge_action_pt)(tg_bridge_t *bridge);

struct tg_bridge_s {
    const tg_bridge_options_t *options;
    const tg_bridge_action_pt *actions; /* of the timers */
    uv_loop_t loop;
    tg_uv_sched_t sched;
    uv_prepare_t turn;
    uv_signal_t signals[2];
    uv_timer_t timers[TG_TIMERS];
    int code; /* the exit status */
    unsigned is_quitting:1;
    unsigned is_leaving:1;  /* both sides were told */
    unsigned is_over:1;     /* everything is closed or being closed */
    unsigned is_held:1;     /* the agent's first words wait */
    unsigned has_agent:1;   /* its connection is not closed yet */
    unsigned is_draining:1; /* the agent's input ends: answer, then quit */
    unsigned is_stopped:1;  /* the agent is not read from, see is_welcome */
    unsigned has_listed:1;  /* the agent asked for the list */
    unsigned is_listed:1;   /* its list is here, or it has none */
    unsigned is_ended:1;    /* the runner sent shutdown (relay) */
    unsigned is_settled:1;  /* the agent has asked for the list, or called */

    tg_uv_conn_t agent;
    tg_peer_t peer;
    tg_info_t info;
    tg_buf_t info_text; /* what info points to */

    tg_uv_client_t parent;
    tg_uv_place_t place;
    tg_mcp_client_t mcp;
    tg_source_t reader;   /* waits while a list of the parent is read */
    uint64_t mcp_due;     /* what its timer was started for */
    uint64_t grace_until; /* loop time; after it a failed attempt is told */
    char label[160];      /* the socket's path as UTF-8 */
    char why[1024];       /* what is not running, how to start it; or "" */
    char goodbye[256];    /* a runner's reason to end, or "" */

    tg_catalogue_t *tools; /* what the agent sees */
    uint64_t told;         /* digest of what it was given last, 0: none */

    size_t kept; /* bytes of all requests */
    uint64_t seq;

    tg_bridge_ask_t *asks;
    unsigned can; /* what the parent was told that the agent can be asked */
    unsigned met; /* the peer's nmet when the parent was told who it is */
};

/* Runs until the end; returns the exit status. */
int tg_bridge_run(const tg_bridge_options_t *options);

/* --- tg_bridge.c --- */

/* The end begins with this turn; what is written till then leaves. */
void tg_bridge_quit(tg_bridge_t *bridge, int code);
void tg_bridge_no_memory(tg_bridge_t *bridge);

/* Starts a timer, anew when it runs. */
void tg_bridge_timer_start(tg_bridge_t *bridge, tg_bridge_timer_t timer,
                           uint64_t ms);
void tg_bridge_timer_stop(tg_bridge_t *bridge, tg_bridge_timer_t timer);
int tg_bridge_timer_runs(const tg_bridge_t *bridge, tg_bridge_timer_t timer);

/* Lets the agent's first words in. */
void tg_agent_release(tg_bridge_t *bridge);

/* For messages: "Toolgate", "the parent process", "the runner". */
const char *tg_parent_name(const tg_bridge_t *bridge);
/* Do calls pass? */
int tg_parent_is_open(const tg_bridge_t *bridge);
/* Fetches its list. */
void tg_parent_list(tg_bridge_t *bridge);

/* --- tg_bridge_agent.c --- */

void tg_agent_init(tg_bridge_t *bridge);
void tg_agent_start(tg_bridge_t *bridge);
/* May what the agent wrote be served now? */
int tg_agent_is_welcome(const tg_bridge_t *bridge);
/*
 * While the agent is not read from, or its input has ended, checks whether it
 * is gone.
 */
void tg_agent_watch(tg_bridge_t *bridge);
/* Has every request been answered, and every answer been written? */
int tg_agent_is_drained(const tg_bridge_t *bridge);
/* Cancels what was not answered within TG_BRIDGE_DRAIN, and quits. */
void tg_agent_on_drain_timeout(tg_bridge_t *bridge);

/* --- tg_bridge_mcp.c --- */

extern const tg_uv_client_ops_t tg_parent_ops;

/* ops->list of the agent's peer. */
int tg_list_asked(tg_bridge_t *bridge, const tg_request_t *request);

/* Lets the MCP client know of the time that it asked for. */
void tg_mcp_turn(tg_bridge_t *bridge);
void tg_mcp_timeout(tg_bridge_t *bridge);

/* --- tg_bridge_parent.c --- */

void tg_parent_init(tg_bridge_t *bridge, const tg_uv_client_ops_t *ops);
void tg_parent_start(tg_bridge_t *bridge);
/* May what it sent be read now? */
int tg_parent_is_welcome(void *host);
/* The rest of its client's ops. */
void tg_parent_on_attempt(void *host);
int tg_parent_on_greet(void *host);
void tg_parent_on_open(void *host);
void tg_parent_on_end(void *host);
void tg_parent_on_lost(void *host, int was_open);
void tg_parent_trace(void *host, int is_theirs, tg_str_t bytes);
/* Its first list on this connection is here. */
void tg_parent_listed(tg_bridge_t *bridge);
/* It is no use; text says why. */
void tg_parent_give_up(tg_bridge_t *bridge, const char *text);
/* It did not come in time: whoever waits is told. */
void tg_parent_missing(tg_bridge_t *bridge);
/* It did not answer the handshake in time. */
void tg_parent_silent(tg_bridge_t *bridge);
/* The bridge goes. */
void tg_parent_leave(tg_bridge_t *bridge);
/* Quits: the agent was told why the runner is gone, or did not ask. */
void tg_parent_on_refuse_timeout(tg_bridge_t *bridge);

/* --- tg_bridge_request.c --- */

/*
 * Takes a request of the agent; of a list round is the first fetch that may
 * answer it.  When it cannot be taken it is answered.
 */
void tg_bridge_request_take(tg_bridge_t *bridge, const tg_request_t *asked,
                            int is_list, uint64_t round);
/* The parent's answer to a call, or how it was lost; and sends one. */
void tg_bridge_request_answered(void *host, tg_uv_question_t *question,
                                const tg_answer_t *answer);
int tg_bridge_request_send(void *host, tg_uv_question_t *question);
/* The agent cancelled it, or goes. */
void tg_bridge_request_cancel(tg_bridge_request_t *request);
/* Answers all that wait with an MCP error: why there is no parent. */
void tg_bridge_requests_fail(tg_bridge_t *bridge);
/* Cancels every request, and answers it with an MCP error. */
void tg_bridge_requests_cancel(tg_bridge_t *bridge, const char *why);
/*
 * Answers the lists that wait: those for which the last fetch was new enough
 * from the catalogue, or all with the parent's own error.
 */
void tg_bridge_requests_list(tg_bridge_t *bridge, const tg_answer_t *error);
/* Does any wait, or any for the list? */
int tg_bridge_requests_wait(const tg_bridge_t *bridge, int is_list);
void tg_bridge_requests_progress(tg_bridge_t *bridge,
                                 const tg_message_t *message);

/* --- tg_bridge_ask.c --- */

/* ops->asked of the parent's caller, and ops->told of the agent's peer. */
void tg_bridge_asked(void *host, const tg_message_t *message);
void tg_bridge_told(void *host, uint64_t tag, const tg_message_t *message);

/* The parent does not want to know any more: one of its raw ids, or all. */
void tg_bridge_unasked(tg_bridge_t *bridge, tg_str_t id);
void tg_bridge_unask_all(tg_bridge_t *bridge);

/*
 * Tells the parent who the agent is and what it can be asked, and the second
 * one if that has changed.  TG_OK or TG_NOMEM.
 */
int tg_bridge_hello(tg_bridge_t *bridge, unsigned can);
void tg_bridge_introduce(tg_bridge_t *bridge);

/* --- tg_bridge_schema.c --- */

/* What agents could not read of a list is repaired, and logged. */
extern const tg_tools_check_t tg_list_check;

/*
 * Reads a schema file (docs/protocols.md, ipc).  NULL, with
 * what is wrong in why[size].
 */
tg_catalogue_t *tg_schema_load(const char *path, char *why, size_t size);

/* --- tg_bridge_log.c --- */

/* One line, and not too many of them. */
__attribute__((format(printf, 1, 2))) void tg_bridge_log(const char *format,
                                                         ...);

/* One message a line, cut to a sane length. */
void tg_bridge_trace(const char *where, tg_frame_kind_t kind, tg_str_t bytes);

/* Decodes an escaped body as far as it fits, for people likewise. */
void tg_bridge_decode(char *dst, size_t size, tg_str_t body);

/* Copies text as far as it fits, as tg_utf8_put_visible() on one line. */
void tg_bridge_printable(char *dst, size_t size, tg_str_t text);

#endif
