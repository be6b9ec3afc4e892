/* A request to a server, the form of its reply, and a deferred call. */
#ifndef TG_REQUEST_H
#define TG_REQUEST_H

#include "catalog/tg_catalog.h"
#include "protocol/tg_dialect.h"

/* Largest client name in bytes; a longer name is ignored. */
#define TG_CLIENT_NAME_MAX 128
/* Largest client version in bytes; a longer version is ignored. */
#define TG_CLIENT_VERSION_MAX 64
/* Largest name/version of the bridge between, in bytes; ignored if longer. */
#define TG_CLIENT_VIA_MAX 64
/* Largest progress value in digits; longer values are not forwarded. */
#define TG_PROGRESS_VALUE_MAX 32

/*
 * The server's description of itself. Shared by its peers, which it must
 * outlive.
 */
typedef struct {
    tg_str_t name;         /* plain text */
    tg_str_t version;      /* plain text */
    tg_str_t title;        /* plain text or absent */
    tg_str_t description;  /* plain text or absent */
    tg_str_t website;      /* URL or absent */
    tg_str_t icons;        /* raw array or absent */
    tg_str_t instructions; /* plain text or absent */
    tg_str_t experimental; /* raw JSON object for capabilities, or absent */
    /*
     * raw capabilities of the server behind a proxy, which are declared as they
     * are instead of the members here; or absent
     */
    tg_str_t proxied_capabilities;
    /* raw JSON object of MCP extensions for modern clients, or absent */
    tg_str_t extensions;
    int has_list_changed; /* the host calls tg_peer_notify_list_changed() */
    int has_broadcasts;   /* the host may call tg_peer_send_broadcast() */
    /* capabilities; without one its methods are unknown */
    int has_prompts;
    int has_resources;
    int has_subscribe; /* clients can subscribe to resources */
    int has_completions;
    int has_logging; /* calls may send log messages */
    int has_apps;    /* an MCP server behind has TG_MCP_EXTENSION_APPS */
    int has_skills;  /* the extension io.modelcontextprotocol/skills */
    /* "ttlMs" of lists, and whether users may share them ("cacheScope") */
    int64_t list_ttl_ms;
    int is_list_public;
    /* notifies also clients that have sent nothing yet */
    int notifies_pre_request;
} tg_server_info_t;

typedef struct tg_call_s tg_call_t;
typedef struct tg_batch_s tg_batch_t;

/* Destination and form of the reply to one request. */
struct tg_reply_s {
    tg_str_t id; /* raw, as received */
    /*
     * Escaped body of the URI that is read, of the text that is to be
     * completed, or of the cursor of a list.
     */
    tg_str_t subject;
    tg_str_t mime;  /* of the resource that is read: plain text or absent */
    int64_t ttl_ms; /* "ttlMs" of what is read */
    tg_batch_t *batch;
    tg_catalog_entry_type_t kind;
    unsigned is_modern:1;
    unsigned is_mcp:1;
    unsigned is_silent:1; /* a notification: no reply is sent */
    unsigned is_list:1;   /* resources/list, see tg_peer_respond_list_more() */
    unsigned is_public:1; /* "cacheScope" of what is read is "public" */
    /* tg_mcp_log_level_t that a modern request asks for, or NONE */
    unsigned log_level:4;
};

/* Methods of the skills extension, which an entry with has_skills serves. */
typedef enum {
    TG_SKILL_NONE, /* another method */
    TG_SKILL_LIST,
    TG_SKILL_GET,
    TG_SKILL_DIRECTORY
} tg_skill_method_t;

/*
 * A request that a handler must answer. All slices are valid until ops->call
 * returns.
 */
typedef struct {
    const tg_catalog_entry_t *entry; /* NULL only with ops->is_proxy */
    tg_str_t name; /* escaped body of the entry's name, or of the URI */
    tg_str_t text; /* whole message of an MCP request, or absent */
    /* kind of the entries to list; for ops->list */
    tg_catalog_entry_type_t list_kind;
    tg_skill_method_t skill_method;
    size_t size;                  /* size of the message in bytes */
    tg_str_t arguments;           /* raw JSON; `{}` if the request has none */
    const tg_json_index_t *notes; /* index of the arguments' members, or NULL */

    /* The remaining slices are raw or absent. */
    tg_str_t meta; /* _meta */
    /* responses to what an earlier result requested */
    tg_str_t input_responses;
    tg_str_t request_state;
    tg_str_t cursor; /* for ops->list, and of the skills extension */
    tg_str_t progress_token;
    tg_str_t traceparent; /* as received; see tg_trace_context.h */
    tg_str_t tracestate;
    tg_reply_t reply;
} tg_request_t;

/* A call that waits for its handler. */
struct tg_call_s {
    tg_peer_t *peer;
    tg_call_t *next;
    tg_call_t *prev;
    const tg_catalog_entry_t *entry; /* &own_entry, or NULL */
    /* copy of name, kind, output and its digest */
    tg_catalog_entry_t own_entry;
    tg_str_t progress_token; /* owned by the call */
    tg_reply_t reply;        /* id, subject and mime are owned by the call */
    void *host;              /* for use by the host */
    size_t host_bytes; /* memory that the host uses for the call, in bytes */
    char progress[TG_PROGRESS_VALUE_MAX]; /* last progress that was sent, raw */
    size_t progress_len;
};

#endif
