/*
 * An MCP client without I/O and without a clock: its handshake with a
 * server, the server's list of tools, and the list anew when the server says
 * that it changed.
 *
 *              start                                    lose
 *     AWAY ──────────▶ PROBING ──▶ GREETING ──▶ OPEN ──────────▶ AWAY
 *
 * It asks through a caller of the host's.  The host hands it each answer and
 * notification first, and does what the event says; slices live until the
 * host's callback returns.
 */
#ifndef TG_MCP_CLIENT_H
#define TG_MCP_CLIENT_H

#include "protocol/tg_caller.h"
#include "protocol/tg_client_caps.h"
#include "protocol/tg_rpc.h"
#include "catalog/tg_tool_list.h"

/* A server must have answered the handshake by then, in ms. */
#define TG_MCP_HANDSHAKE_TIMEOUT 10000
/* Of that: older servers may leave an unknown first request unanswered. */
#define TG_MCP_PROBE_TIMEOUT 3000
/* In ms, between two fetches: a server may say "changed" when asked. */
#define TG_MCP_LIST_INTERVAL 100
/* Of a version, which is a date. */
#define TG_MCP_VERSION_LEN (sizeof("2025-11-25") - 1)
/* Pages of one list; a server that goes on after it is going in circles. */
#define TG_MCP_PAGES_MAX 10000
/* Times that a list may change while it is read. */
#define TG_MCP_LIST_RESTARTS_MAX 3
/* A cursor goes back as it came; beyond this it is none. */
#define TG_MCP_CURSOR_MAX 65536u
/* Of what a list says of servers that are not there; more is passed over. */
#define TG_MCP_ABSENT_SERVERS_MAX 1048576u

/* Who a client of ours is, as JSON. */
#define TG_MCP_CLIENT_INFO(name)                                               \
    "{\"name\":\"" name "\",\"version\":\"" TG_VERSION "\"}"

/* The params of its `initialize`, where it can be asked nothing. */
#define TG_MCP_INITIALIZE_PARAMS(name)                                         \
    TG_MCP_INITIALIZE_PARAMS_OPEN TG_MCP_CLIENT_INFO(name) "}"

/* The beginning of those params, up to who the client is. */
#define TG_MCP_INITIALIZE_PARAMS_OPEN                                          \
    "{\"protocolVersion\":\"" TG_MCP_VERSION_LEGACY "\","                      \
    "\"capabilities\":{},\"clientInfo\":"

/* --- one list, page by page --- */

typedef struct {
    tg_buf_t text;   /* {"tools":[…]}, as far as it came */
    tg_buf_t params; /* of the next request; empty for the first page */
    /* what _meta said of servers that are not there, raw */
    tg_buf_t absent_servers;
    tg_buf_t seen_hashes; /* hashes of cursors and pages, of 8 bytes each */
    int is_circular;      /* it came back to one of them, where it ended */
    unsigned npages;
    unsigned max_pages;
    unsigned nrestarts;
    size_t ntools;
    size_t nleft_out; /* elements that are no objects */
} tg_mcp_list_t;

void tg_mcp_list_init(tg_mcp_list_t *list, const tg_alloc_t *alloc,
                      unsigned max_pages);
void tg_mcp_list_deinit(tg_mcp_list_t *list);

/* Back to the first page. */
void tg_mcp_list_reset(tg_mcp_list_t *list);

/*
 * The answer to the request for a page.  TG_OK: it was the last one, and
 * whole is a result {"tools":[…]}, in list->text.  A cursor or a page that
 * was there before ends the list, too.  TG_AGAIN: ask with
 * list->params, or without when they are empty.  TG_INVALID, TG_NOMEM: there is
 * none, and whole is the server's error, or one that says what is wrong.
 */
int tg_mcp_list_add_page(tg_mcp_list_t *list, const tg_response_t *answer,
                         tg_response_t *whole);

/* The raw array of tools of a list that is whole. */
tg_str_t tg_mcp_list_get_array(const tg_mcp_list_t *list);

/* --- the client --- */

typedef enum {
    /* no handshake, and listed only when the host says so */
    TG_MCP_NO_HANDSHAKE,
    TG_MCP_INITIALIZE_FIRST, /* initialize */
    /* server/discover; initialize where that is not known */
    TG_MCP_DISCOVER_FIRST
} tg_mcp_handshake_t;

typedef enum {
    TG_MCP_DISCONNECTED, /* no connection */
    TG_MCP_PROBING,
    TG_MCP_INITIALIZING,
    TG_MCP_OPEN /* calls pass */
} tg_mcp_state_t;

typedef enum {
    TG_MCP_EVENT_NONE,
    TG_MCP_EVENT_NOT_OWN, /* not the client's: for the host */
    TG_MCP_EVENT_OPEN,    /* calls pass: client->about */
    TG_MCP_EVENT_REFUSED, /* it is no server for us: client->error; hang up */
    TG_MCP_EVENT_TIMEOUT, /* it did not answer in time: hang up */
    TG_MCP_EVENT_LIST_CHANGED, /* it says that its list changed */
    /* client->tools; the same as before if nothing changed */
    TG_MCP_EVENT_LIST,
    /* a list has come: call tg_mcp_client_read_list() */
    TG_MCP_EVENT_LIST_PENDING,
    TG_MCP_EVENT_LIST_FAILED, /* its list cannot be had: client->error */
    TG_MCP_EVENT_NO_MEMORY    /* no memory */
} tg_mcp_event_t;

/* What a server says of itself; each may be absent. */
typedef struct {
    tg_str_t name; /* escaped bodies */
    tg_str_t version;
    tg_str_t instructions;
    tg_str_t experimental; /* a raw object */
    int has_list_changed;
} tg_mcp_server_info_t;

typedef struct {
    const tg_alloc_t *alloc;
    tg_caller_t *caller;
    tg_str_t info; /* see TG_MCP_CLIENT_INFO; outlives the client */
    /* for the legacy handshake; TG_MCP_HANDSHAKE_TIMEOUT */
    uint64_t handshake_timeout;
    tg_mcp_handshake_t handshake;
    unsigned client_caps; /* TG_CAN_…: what the host lets itself be asked */
    tg_mcp_state_t state;
    char version[TG_MCP_VERSION_LEN + 1]; /* that `initialize` asks for */
    unsigned is_modern:1;                 /* requests carry their version */
    unsigned is_listing:1;                /* a fetch is under way */
    unsigned is_dirty:1;                  /* the list changed meanwhile */
    unsigned is_list_unwanted:1; /* from the host, which wants no list */
    unsigned has_slices:1;  /* from the host, which reads lists in slices */
    uint64_t fetch_number;  /* number of the fetch under way, or the last one */
    uint64_t fetch_started; /* when it was */
    uint64_t due;           /* when tg_mcp_client_on_timer() is; 0: not */
    tg_mcp_list_t list;
    tg_tool_list_repair_t *repair; /* of that list, once it is whole; or NULL */
    tg_tool_list_reader_t reader;  /* after that */
    uint64_t seed; /* random, from the host: the server names tools */
    const tg_tool_list_check_t *check; /* of the host, which offers the tools to
                                      clients; NULL: they are as they came */
    tg_catalog_t *tools; /* the last whole list, held; NULL: none yet */
    size_t nleft_out;    /* elements of it that are no tools of their own */
    int is_circular;     /* see tg_mcp_list_t */
    tg_mcp_server_info_t server_info;
    tg_response_t error;
    char tags[4]; /* their addresses are the tags of its requests */
} tg_mcp_client_t;

void tg_mcp_client_init(tg_mcp_client_t *client, const tg_alloc_t *alloc,
                        tg_caller_t *caller, tg_mcp_handshake_t handshake,
                        tg_str_t info);
void tg_mcp_client_deinit(tg_mcp_client_t *client);

/* There is a connection: TG_OK or TG_NOMEM.  now is in ms, from anywhere. */
int tg_mcp_client_start(tg_mcp_client_t *client, uint64_t now);

/* It is gone.  The list stays. */
void tg_mcp_client_on_disconnect(tg_mcp_client_t *client);

/* What the caller's ops tell. */
tg_mcp_event_t tg_mcp_client_on_response(tg_mcp_client_t *client,
                                         const void *tag,
                                         const tg_response_t *answer,
                                         uint64_t now);
tg_mcp_event_t tg_mcp_client_on_notification(tg_mcp_client_t *client,
                                             tg_str_t method, uint64_t now);

/*
 * Reads a list that has come, up to so many bytes and one tool:
 * TG_MCP_EVENT_LIST_PENDING while there is more, else what became of it.  For
 * hosts that have slices; the others get that at once.
 */
tg_mcp_event_t tg_mcp_client_read_list(tg_mcp_client_t *client, size_t bytes,
                                       uint64_t now);

/* Time has passed; too early, nothing happens. */
tg_mcp_event_t tg_mcp_client_on_timer(tg_mcp_client_t *client, uint64_t now);

/*
 * Fetches the list, when the client is open; of one under way it notes that
 * it is not new enough.  TG_OK or TG_NOMEM.
 */
int tg_mcp_client_fetch_list(tg_mcp_client_t *client, uint64_t now);

/*
 * Listens to changes of a list, of which a modern server tells only who does:
 * after the handshake that is done by itself, and again by whose transport
 * has lost it.  TG_OK or TG_NOMEM.
 */
int tg_mcp_client_listen(tg_mcp_client_t *client);

/* The number of the first fetch that is new enough for who asks now. */
uint64_t tg_mcp_client_fresh_fetch_number(const tg_mcp_client_t *client);

/*
 * The newest version that an error names and that is older than ours; or
 * absent.  It lives as long as the error.
 */
tg_str_t tg_mcp_find_older_version(const tg_response_t *error);

/* Is a tag of its caller's one of its own requests? */
int tg_mcp_client_is_own_tag(const tg_mcp_client_t *client, const void *tag);

#endif
