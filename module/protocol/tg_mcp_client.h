/*
 * An MCP client without I/O and without a clock: the handshake with a server,
 * the server's lists of tools, prompts, resources and resource templates, and
 * fetching a list again when it changes.
 *
 *   DISCONNECTED ──start──▶ PROBING ──▶ INITIALIZING ──▶ OPEN
 *   any state ──disconnect──▶ DISCONNECTED
 *
 * The handshake mode decides which states are skipped, see tg_mcp_handshake_t.
 * The client sends requests through a caller of the host. The host passes each
 * response and notification to the client first and acts on the returned event.
 * Slices are valid until the host's callback returns.
 */
#ifndef TG_MCP_CLIENT_H
#define TG_MCP_CLIENT_H

#include "protocol/tg_caller.h"
#include "protocol/tg_client_caps.h"
#include "protocol/tg_mcp_log_level.h"
#include "protocol/tg_rpc.h"
#include "catalog/tg_tool_list.h"

/* Timeout of the handshake in ms. */
#define TG_MCP_HANDSHAKE_TIMEOUT 10000
/*
 * Time in ms that a server has to answer server/discover: older servers may
 * never answer an unknown first request. After it, `initialize` is sent.
 */
#define TG_MCP_PROBE_TIMEOUT 3000
/*
 * Minimum time in ms between two fetches: a server may send list_changed during
 * each fetch.
 */
#define TG_MCP_LIST_INTERVAL 100
/* Length of a protocol version, which is a date. */
#define TG_MCP_VERSION_LEN (sizeof("2025-11-25") - 1)
/*
 * Largest number of pages in one list. A server with more pages probably
 * repeats them.
 */
#define TG_MCP_PAGES_MAX 10000
/* Number of times that a list may change while it is fetched. */
#define TG_MCP_LIST_RESTARTS_MAX 3
/*
 * Largest cursor in bytes. The client sends a cursor back unchanged and
 * rejects longer ones.
 */
#define TG_MCP_CURSOR_MAX 65536u
/*
 * Largest "toolgate/servers" array of a list in bytes; a larger one is ignored.
 */
#define TG_MCP_ABSENT_SERVERS_MAX 1048576u

/* The clientInfo of this program's MCP clients, as JSON. */
#define TG_MCP_CLIENT_INFO(name)                                               \
    "{\"name\":\"" name "\",\"version\":\"" TG_VERSION "\"}"

/* The params of `initialize` for a client without capabilities. */
#define TG_MCP_INITIALIZE_PARAMS(name)                                         \
    TG_MCP_INITIALIZE_PARAMS_OPEN TG_MCP_CLIENT_INFO(name) "}"

/* Beginning of TG_MCP_INITIALIZE_PARAMS, up to the value of clientInfo. */
#define TG_MCP_INITIALIZE_PARAMS_OPEN                                          \
    "{\"protocolVersion\":\"" TG_MCP_VERSION_LEGACY "\","                      \
    "\"capabilities\":{},\"clientInfo\":"

/* --- kinds of lists --- */

typedef enum {
    TG_MCP_TOOLS,
    TG_MCP_PROMPTS,
    TG_MCP_RESOURCES,
    TG_MCP_TEMPLATES,
    TG_MCP_KINDS
} tg_mcp_kind_t;

/* A set of kinds has the bits of its members. */
#define TG_MCP_KIND_BIT(kind) (1u << (kind))
#define TG_MCP_ALL_KINDS (TG_MCP_KIND_BIT(TG_MCP_KINDS) - 1)

typedef struct {
    const char *method;     /* such as "tools/list" */
    const char *member;     /* member of the result */
    const char *noun;       /* plural, for messages */
    const char *capability; /* capability that the server must declare */
    const char *empty;      /* result of a server without this list */
} tg_mcp_kind_row_t;

extern const tg_mcp_kind_row_t tg_mcp_kinds[TG_MCP_KINDS];

/* --- a list, page by page --- */

typedef struct {
    tg_mcp_kind_t kind; /* TG_MCP_TOOLS unless the host sets another one */
    tg_buf_t text;      /* such as {"tools":[…]}, as far as received */
    tg_buf_t params;    /* of the next request; empty for the first page */
    /*
     * raw "toolgate/servers" array of the list's _meta: the MCP servers that
     * are unavailable
     */
    tg_buf_t absent_servers;
    tg_buf_t seen_hashes; /* hashes of the cursors and pages, 8 bytes each */
    int is_circular; /* a page or cursor was repeated: the list ends there */
    unsigned npages;
    unsigned max_pages;
    unsigned nrestarts;
    size_t nitems;
    size_t nleft_out; /* elements that are not objects */
    char why[64];     /* room for the message of an error */
} tg_mcp_list_t;

void tg_mcp_list_init(tg_mcp_list_t *list, const tg_alloc_t *alloc,
                      unsigned max_pages);
void tg_mcp_list_deinit(tg_mcp_list_t *list);

/* Resets the list to its first page; it keeps its kind. */
void tg_mcp_list_reset(tg_mcp_list_t *list);

/*
 * Adds the response to the request for a page.
 *
 *   TG_OK       this was the last page; *whole is a result with all elements,
 *               in list->text. A repeated cursor or page also ends the list.
 *   TG_AGAIN    request the next page with list->params, or the first page
 *               again if the params are empty
 *   TG_INVALID  the response is an error or malformed; *whole is the error
 *   TG_NOMEM    out of memory; *whole is an error
 */
int tg_mcp_list_add_page(tg_mcp_list_t *list, const tg_response_t *answer,
                         tg_response_t *whole);

/* Makes *whole the error of a list with elements that are not objects. */
void tg_mcp_list_reject(tg_mcp_list_t *list, tg_response_t *whole);

/* Returns the raw array of elements. The list must be complete. */
tg_str_t tg_mcp_list_get_array(const tg_mcp_list_t *list);

/* --- client --- */

typedef enum {
    /* no handshake; the list is fetched only on the host's request */
    TG_MCP_NO_HANDSHAKE,
    TG_MCP_INITIALIZE_FIRST, /* sends initialize */
    /* sends server/discover, then initialize if the server does not know it */
    TG_MCP_DISCOVER_FIRST
} tg_mcp_handshake_t;

typedef enum {
    TG_MCP_DISCONNECTED, /* no connection */
    TG_MCP_PROBING,
    TG_MCP_INITIALIZING,
    TG_MCP_OPEN /* handshake done: calls may be sent */
} tg_mcp_state_t;

typedef enum {
    TG_MCP_EVENT_NONE,
    TG_MCP_EVENT_NOT_OWN, /* not for the client; the host handles it */
    TG_MCP_EVENT_OPEN,    /* connection open; see client->server_info */
    TG_MCP_EVENT_REFUSED, /* handshake failed; see client->error; disconnect */
    TG_MCP_EVENT_TIMEOUT, /* no response in time; disconnect */
    TG_MCP_EVENT_LIST_CHANGED, /* the server reported a change of its list */
    /*
     * the list client->listed is new, or unchanged: client->tools, or an
     * element of client->items
     */
    TG_MCP_EVENT_LIST,
    /* a list was received: call tg_mcp_client_read_list() */
    TG_MCP_EVENT_LIST_PENDING,
    /* the list client->listed could not be fetched; see client->error */
    TG_MCP_EVENT_LIST_FAILED,
    TG_MCP_EVENT_NO_MEMORY /* out of memory */
} tg_mcp_event_t;

/*
 * The server's description of itself. Each slice may be absent; the other
 * members are valid until the next handshake.
 */
typedef struct {
    tg_str_t name; /* name, version and instructions are escaped bodies */
    tg_str_t version;
    tg_str_t instructions;
    tg_str_t info;         /* raw serverInfo, an object */
    tg_str_t experimental; /* raw object */
    tg_str_t capabilities; /* raw object */
    unsigned kinds;        /* kinds whose capability is declared */
    unsigned changes;      /* kinds for which it reports changes */
    int has_subscribe;     /* it reports changes of single resources */
    int has_logging;       /* it sends log messages */
} tg_mcp_server_info_t;

/* The last complete list of a kind other than tools. */
typedef struct {
    tg_buf_t text; /* the result, such as {"prompts":[…]}; empty: no list yet */
} tg_mcp_items_t;

typedef struct {
    const tg_alloc_t *alloc;
    tg_caller_t *caller;
    tg_str_t info; /* see TG_MCP_CLIENT_INFO; must outlive the client */
    /* timeout of `initialize` in ms, TG_MCP_HANDSHAKE_TIMEOUT by default */
    uint64_t handshake_timeout;
    tg_mcp_handshake_t handshake;
    /* set by the host: TG_CLIENT_CAP_… of the requests that it answers */
    unsigned client_caps;
    tg_mcp_state_t state;
    /* version requested by `initialize` */
    char version[TG_MCP_VERSION_LEN + 1];
    unsigned is_modern:1;   /* modern era: each request carries its version */
    unsigned is_listing:1;  /* a fetch of one or more lists is in progress */
    unsigned is_complete:1; /* the last list event ended a fetch */
    /*
     * set by the host: forward all extensions that the client declares, not
     * only TG_MCP_EXTENSION_APPS
     */
    unsigned has_extensions:1;
    unsigned has_slices:1; /* set by the host: it reads lists in time slices */
    /*
     * set by the host: the lists to fetch, TG_MCP_TOOLS by default. Lists other
     * than tools are fetched only if the server declares their capability.
     */
    unsigned kinds;
    unsigned pending; /* lists that the current fetch has still to request */
    unsigned dirty;   /* lists that changed since their last fetch began */
    tg_mcp_kind_t listed;   /* list of the last list event */
    uint64_t fetch_number;  /* number of the current or last fetch */
    uint64_t fetch_started; /* start time of that fetch, in ms */
    /* time of the next tg_mcp_client_on_timer(), in ms; 0: none */
    uint64_t due;
    tg_mcp_list_t list;
    tg_tool_list_repair_t *repair; /* repair of the complete list, or NULL */
    tg_tool_list_reader_t reader;  /* reads the list after the repair */
    /*
     * Random hash seed, set by the host: the server chooses the names of tools.
     */
    uint64_t seed;
    /*
     * Set by the host if it offers the tools to clients: how to check and
     * repair them. NULL: the tools stay as received.
     */
    const tg_tool_list_check_t *check;
    tg_catalog_t *tools; /* last complete list, referenced; NULL: none yet */
    tg_mcp_items_t items[TG_MCP_KINDS]; /* the other lists */
    size_t nleft_out; /* elements omitted from the last list */
    int is_circular;  /* see tg_mcp_list_t */
    /*
     * set by the host: URIs of resources whose changes it wants to know, raw
     * JSON strings with commas. Must stay valid.
     */
    tg_str_t uris;
    uint64_t listen_id; /* id of the last subscriptions/listen */
    /* level of the last logging/setLevel, or TG_MCP_LOG_NONE */
    tg_mcp_log_level_t log_level;
    tg_mcp_server_info_t server_info;
    tg_response_t error;
    /* their addresses are the tags of the client's own requests */
    char tags[6];
} tg_mcp_client_t;

void tg_mcp_client_init(tg_mcp_client_t *client, const tg_alloc_t *alloc,
                        tg_caller_t *caller, tg_mcp_handshake_t handshake,
                        tg_str_t info);
void tg_mcp_client_deinit(tg_mcp_client_t *client);

/*
 * Starts the handshake on a new connection. now: time in ms of any monotonic
 * clock. TG_OK or TG_NOMEM.
 */
int tg_mcp_client_start(tg_mcp_client_t *client, uint64_t now);

/* Resets the client after the connection ended. Keeps client->tools. */
void tg_mcp_client_on_disconnect(tg_mcp_client_t *client);

/* Handles a response that the host's caller delivered. */
tg_mcp_event_t tg_mcp_client_on_response(tg_mcp_client_t *client,
                                         const void *tag,
                                         const tg_response_t *answer,
                                         uint64_t now);

/* Handles a notification that the host's caller delivered. */
tg_mcp_event_t tg_mcp_client_on_notification(tg_mcp_client_t *client,
                                             tg_str_t method, uint64_t now);

/*
 * Reads a received list, at most `bytes` bytes plus one tool. Returns
 * TG_MCP_EVENT_LIST_PENDING while more is left, otherwise the result of the
 * fetch. Only for hosts that set has_slices.
 */
tg_mcp_event_t tg_mcp_client_read_list(tg_mcp_client_t *client, size_t bytes,
                                       uint64_t now);

/* Handles the timer. Does nothing before client->due. */
tg_mcp_event_t tg_mcp_client_on_timer(tg_mcp_client_t *client, uint64_t now);

/*
 * Fetches all lists if the client is open. During a fetch, only notes that
 * another one must follow. TG_OK or TG_NOMEM.
 */
int tg_mcp_client_fetch_list(tg_mcp_client_t *client, uint64_t now);

/*
 * Subscribes to changes of the lists and of client->uris, which a modern server
 * sends only to subscribers. The client subscribes by itself after the
 * handshake. A host whose transport lost the subscription, or that has changed
 * the URIs, calls this again; the former subscription ends. TG_OK or TG_NOMEM.
 */
int tg_mcp_client_listen(tg_mcp_client_t *client);

/*
 * Subscribes to changes of one resource or unsubscribes, in the legacy era; uri
 * is a raw JSON string. TG_OK or TG_NOMEM.
 */
int tg_mcp_client_subscribe(tg_mcp_client_t *client, tg_str_t uri, int is_on);

/*
 * Sets the lowest level of the log messages that a legacy server sends. Does
 * nothing if the server has it already or sends none. TG_OK or TG_NOMEM.
 */
int tg_mcp_client_set_log_level(tg_mcp_client_t *client,
                                tg_mcp_log_level_t level);

/*
 * Returns the number of the first fetch that includes every change up to now.
 */
uint64_t tg_mcp_client_fresh_fetch_number(const tg_mcp_client_t *client);

/*
 * Returns the newest protocol version that an error names and that is older
 * than TG_MCP_VERSION_LEGACY, or absent. Valid as long as the error.
 */
tg_str_t tg_mcp_find_older_version(const tg_response_t *error);

/*
 * Checks whether a tag of the caller belongs to a request of the client itself.
 */
int tg_mcp_client_is_own_tag(const tg_mcp_client_t *client, const void *tag);

#endif
