/*
 * `mcp_server NAME { }`: tools, prompts, resources and resource templates
 * imported from other MCP servers, which the runner starts, keeps running and
 * calls. Unless a comment says otherwise,
 * functions that return ngx_int_t return NGX_OK, or NGX_ERROR if there is no
 * memory.
 *
 *   ngx_tg_mcp_server_module.c           the block and its module
 *   ngx_tg_mcp_server_directives.c       directives of the block
 *   ngx_tg_mcp_server_http_directives.c  directives about HTTP
 *   ngx_tg_mcp_server_spec.c             the block as JSON for the runner
 *   ngx_tg_mcp_server_subscribe.c        a worker's subscription to lists
 *   ngx_tg_imported_list.c               a server's lists: selected items
 *   ngx_tg_imported_list_patterns.c      patterns that select items
 *   ngx_tg_imported_list_issues.c        omitted and repaired tools
 *   ngx_tg_imported_list_cache.c         the list that the runner stored
 *   ngx_tg_imported_list_update.c        update of a list, in time slices
 *   ngx_tg_imported_list_wait.c          requests that wait for the first list
 *   ngx_tg_imported_tool.c               an imported tool
 *   ngx_tg_imported_item.c               a prompt, resource or template
 *   ngx_tg_imported_tool_call.c          calls, clients that are gone, status
 *   ngx_tg_imported_item_call.c          requests about such an item
 *   ngx_tg_imported_watch.c              subscriptions to resources
 *   ngx_tg_imported_schemas.c            compilation of imported schemas
 *   ngx_tg_imported_catalog.c            catalog of the config and the lists
 *   ngx_tg_imported_conflict.c           items whose names are taken
 */
#ifndef _NGX_TG_IMPORTS_H_INCLUDED_
#define _NGX_TG_IMPORTS_H_INCLUDED_

#include "catalog/tg_tool_repair.h"
#include "catalog/tg_uri_template.h"
#include "protocol/tg_mcp_client.h"
#include "nginx/call/ngx_tg_call.h"
#include "nginx/config/ngx_tg_http_common_directives.h"
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/sched/ngx_tg_sched.h"
#include "spec/tg_mcp_server_spec.h"
#include "nginx/upstream/ngx_tg_runner.h"
#include "base/tg_throttle.h"

/* Length of a hexadecimal SHA-1. */
#define NGX_TG_MCP_SERVER_KEY_LEN 40

/* Clients that share one process or session of a server; values of `share`. */
typedef struct ngx_tg_mcp_server_s ngx_tg_mcp_server_t;

/* header NAME VALUE */
typedef struct {
    ngx_str_t name;
    ngx_str_t value;
    ngx_uint_t is_secret; /* the value is from a file */
} ngx_tg_mcp_server_header_t;

/* A tool, or an item of another kind, that one or more lists contain. */
typedef struct {
    ngx_tg_tool_t tool; /* its conf points to this struct */
    ngx_tg_mcp_server_t *server;
    size_t nrefs;     /* number of lists that contain the tool */
    uint64_t digest;  /* hash of the list's element, as received */
    tg_str_t name;    /* its server's name or URI for it, a raw JSON string */
    unsigned repairs; /* flags of tg_tool_repair_t */
    /*
     * A resource or template whose URI another one has: its URI and listing
     * for clients, or absent.
     */
    tg_str_t renamed;
    tg_str_t renamed_listing;
    tg_uri_template_t *renamed_template;
    /* a template for the URIs of a server that its lists do not contain */
    ngx_uint_t is_catch_all;
} ngx_tg_imported_tool_t;

/* An element of a list that has a name. */
typedef struct {
    tg_mcp_kind_t kind;
    tg_str_t raw;
    tg_str_t raw_name;    /* name or URI as a raw JSON string, within raw */
    tg_str_t name;        /* name as plain text */
    tg_str_t client_name; /* name of the tool for clients */
} ngx_tg_imported_list_item_t;

/* An item that is omitted from clients' lists, or a tool repaired there. */
typedef struct {
    tg_mcp_kind_t kind;
    ngx_uint_t at; /* position of its element, from 1 */
    /* server's name or URI for the item, a raw JSON string, or absent */
    tg_str_t name;
    const char *why;  /* reason of the omission; NULL: not omitted */
    unsigned repairs; /* flags of tg_tool_repair_t */
} ngx_tg_imported_list_issue_t;

/* The lists of an MCP server, reference-counted. */
typedef struct {
    size_t nrefs;
    ngx_pool_t *pool; /* pool of all contents and of this struct */
    /*
     * ngx_tg_imported_tool_t * of all kinds, the tools first, each with a
     * reference
     */
    ngx_array_t tools;
    ngx_uint_t ntools;
    /* template for unlisted URIs of the server, not in `tools`; or NULL */
    ngx_tg_imported_tool_t *catch_all;

    /* the lists as received, until all of them are read */
    tg_buf_t raw;
    tg_str_t arrays[TG_MCP_KINDS]; /* of raw */
    tg_mcp_kind_t kind;            /* list that is being read */
    tg_json_cursor_t rest;         /* elements of it that are not read yet */
    ngx_uint_t nread;              /* elements of it that are read */
    /* which patterns of the block matched a tool; NULL if quiet */
    u_char *used_patterns;
    ngx_tg_imported_list_issue_t *issues; /* the first issues, or NULL */
    ngx_uint_t nissues;                   /* number of all issues */
    ngx_uint_t is_quiet;                  /* issues are not logged */
    /* list of the server that this block described before a config change */
    ngx_uint_t is_guessed;
} ngx_tg_imported_list_t;

typedef struct ngx_tg_catalog_builder_s ngx_tg_catalog_builder_t;

typedef struct {
    ngx_tg_srv_conf_t *scf;
    tg_catalog_t *config_catalog; /* entries of the config, with a reference */
    ngx_array_t servers; /* ngx_tg_mcp_server_t *, in the order of the config */

    /* state in a worker */
    ngx_tg_catalog_builder_t *builder; /* NULL: no build is running */
    ngx_uint_t is_rebuild_due; /* a list was accepted since the build began */
    tg_sched_source_t source;  /* builds the next catalog */
} ngx_tg_imported_catalog_t;

struct ngx_tg_mcp_server_s {
    ngx_tg_tool_t *block; /* settings for all its tools */
    ngx_tg_imported_catalog_t *imports;
    ngx_str_t name;
    size_t at;         /* number of catalog entries before the block */
    ngx_array_t *argv; /* ngx_str_t, like the arrays that follow */
    ngx_array_t *env;
    ngx_array_t *roots;
    ngx_array_t *include_patterns; /* `tools`; NULL: all tools */
    ngx_array_t *exclude_patterns; /* `hide` */
    ngx_array_t *prompt_patterns;  /* `prompts`; NULL: all prompts */
    ngx_array_t *uri_patterns;     /* `resources`; NULL: all resources */
    ngx_uint_t has_no_prompts;     /* prompts off */
    ngx_uint_t has_no_resources;   /* resources off */
    ngx_array_t *tools;   /* ngx_tg_tool_t *: the `tool` blocks in it */
    ngx_array_t *headers; /* ngx_tg_mcp_server_header_t */
    ngx_str_t pass;
    ngx_str_t url;
    ngx_str_t ca_file;
    ngx_str_t proxy;
    ngx_str_t cwd;
    ngx_str_t prefix;
    ngx_uint_t has_client_cwd;
    ngx_uint_t starts_at_boot;
    tg_mcp_server_spec_t options; /* the members that directives set */

    tg_str_t spec; /* the block for the runner, raw JSON */
    char key[NGX_TG_MCP_SERVER_KEY_LEN];
    /* digest of only the program or address */
    char endpoint_digest[NGX_TG_MCP_SERVER_KEY_LEN];
    ngx_tg_imported_list_t *list; /* with a reference; NULL: unknown */

    /* state in a worker */
    ngx_tg_runner_subscriber_t subscriber;
    ngx_tg_upstream_request_t subscribe_request;
    ngx_event_t retry_event;
    ngx_msec_t retry_delay;
    tg_buf_t state; /* last state from the runner, as JSON members */
    ngx_uint_t has_completions; /* the server declares them */
    ngx_uint_t has_apps;        /* it declares TG_MCP_EXTENSION_APPS */
    ngx_uint_t has_subscribe;   /* it reports changes of resources */
    ngx_uint_t is_known;        /* the runner knows the server */
    ngx_queue_t watches;        /* ngx_tg_imported_watch_t */
    tg_throttle_t pace;         /* throttle for log lines about its tools */
    /* a list that was read but is not in the catalog yet; or NULL */
    ngx_tg_imported_list_t *pending_list;
    /* a list that is being read; NULL: none */
    ngx_tg_imported_list_t *reading_list;
    /* the newest list received meanwhile, or NULL */
    ngx_tg_imported_list_t *queued_list;
    tg_sched_source_t reading_source; /* time slices for reading a list */
    ngx_uint_t has_failed;    /* last start failed, as far as is known */
    tg_sched_source_t source; /* time slices for compiling the list's schemas */
    ngx_uint_t ncompiled;     /* number of its tools that were compiled */
    uint64_t unchecked; /* hash of the last log line about unchecked schemas */
};

typedef struct {
    ngx_array_t servers;           /* ngx_tg_mcp_server_t * */
    ngx_array_t imported_catalogs; /* ngx_tg_imported_catalog_t * */
} ngx_tg_imports_main_conf_t;

extern ngx_module_t ngx_tg_imports_module;
extern const ngx_tg_handler_t ngx_tg_imported_tool_handler;

/* --- directives --- */

/*
 * Checks that a text is constant: one process or session serves many calls.
 * Returns NULL, or the text that follows the value in the error message.
 */
const char *ngx_tg_mcp_server_text_check(const ngx_str_t *text);

/* Checks that a text has at most max letters, digits, `_` or `-`. */
ngx_uint_t ngx_tg_mcp_server_is_word(const ngx_str_t *text, size_t max);

char *ngx_tg_mcp_server_set_exec(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_mcp_server_set_pass(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_mcp_server_set_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_mcp_server_add_header(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_mcp_server_add_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_mcp_server_set_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_mcp_server_set_prefix(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_mcp_server_add_patterns(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_mcp_server_add_item_patterns(ngx_conf_t *cf, ngx_command_t *cmd,
                                          void *conf);
char *ngx_tg_mcp_server_add_roots(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);

/* Writes the spec and its key, after the block is read. Logs errors. */
ngx_int_t ngx_tg_mcp_server_init_spec(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp);

/* --- lists --- */

/*
 * Finds a tool's two names from either one: name becomes the server's. Returns
 * the clients' name, maybe in room, which has TG_NAME_AGENT_MAX bytes.
 */
tg_str_t ngx_tg_imported_tool_get_names(const ngx_tg_mcp_server_t *mcp,
                                        tg_str_t *name, char *room);

/* Checks whether the block selects an item of this kind by either name. */
ngx_uint_t ngx_tg_imported_item_is_selected(const ngx_tg_mcp_server_t *mcp,
                                            tg_mcp_kind_t kind, tg_str_t name,
                                            tg_str_t client_name);

/*
 * Checks whether the block selects a URI that its list may lack. Equivalent
 * URIs of a hidden one are hidden, too.
 */
ngx_uint_t ngx_tg_imported_uri_is_selected(const ngx_tg_mcp_server_t *mcp,
                                           tg_str_t uri);

/* Returns the number of patterns in the block. */
ngx_uint_t ngx_tg_mcp_server_count_patterns(const ngx_tg_mcp_server_t *mcp);

/* Marks the patterns that match an item; none if the list is quiet. */
void ngx_tg_imported_list_mark_patterns(
    const ngx_tg_mcp_server_t *mcp, ngx_tg_imported_list_t *list,
    const ngx_tg_imported_list_item_t *element);

/* Warns about patterns that match no item. */
void ngx_tg_imported_list_warn_unused(ngx_tg_mcp_server_t *mcp,
                                      const ngx_tg_imported_list_t *list,
                                      ngx_log_t *log);

/*
 * Creates a list from a copy of a JSON object that has lists of all kinds; no
 * item is read yet. Logs omitted, repaired and unused parts unless is_quiet.
 * log is the log of its pools. Returns NULL if there is no memory.
 */
ngx_tg_imported_list_t *ngx_tg_imported_list_create(
    const ngx_tg_mcp_server_t *mcp, tg_str_t object, ngx_uint_t is_quiet,
    ngx_log_t *log);

/* Reads about `bytes` bytes, at least one item. NGX_AGAIN: there are more. */
ngx_int_t ngx_tg_imported_list_read(ngx_tg_mcp_server_t *mcp,
                                    ngx_tg_imported_list_t *list, size_t bytes,
                                    ngx_log_t *log);

ngx_uint_t ngx_tg_imported_list_is_equal(const ngx_tg_imported_list_t *list,
                                         const ngx_tg_imported_list_t *other);

static ngx_inline ngx_tg_imported_tool_t *
ngx_tg_imported_list_get_tool(const ngx_tg_imported_list_t *list, ngx_uint_t i)
{
    return ((ngx_tg_imported_tool_t **) list->tools.elts)[i];
}

/* Releases a reference to a list, which may be NULL. */
void ngx_tg_imported_list_release(ngx_tg_imported_list_t *list);

/* --- ngx_tg_imported_tool.c --- */

/*
 * Creates a tool with one reference from an element. NGX_DECLINED: it cannot be
 * listed; repair has the reason.
 */
ngx_int_t ngx_tg_imported_tool_create(
    ngx_tg_mcp_server_t *mcp, const ngx_tg_imported_list_item_t *element,
    tg_tool_repair_t *repair, ngx_log_t *log, ngx_tg_imported_tool_t **made);

/* Returns a new reference to the current tool with identical bytes, or NULL. */
ngx_tg_imported_tool_t *ngx_tg_imported_tool_find_unchanged(
    const ngx_tg_mcp_server_t *mcp, const ngx_tg_imported_list_item_t *element);

void ngx_tg_imported_tool_release(ngx_tg_imported_tool_t *listed);

/* Copies a text to a pool; decodes a raw JSON string if is_raw. */
ngx_int_t ngx_tg_imported_tool_copy_text(ngx_pool_t *pool, tg_str_t text,
                                         ngx_uint_t is_raw, tg_str_t *copy);

/* Hashes an element, so that its server cannot compose one of the same hash. */
uint64_t ngx_tg_imported_tool_hash(tg_str_t raw);

/* --- ngx_tg_imported_item.c --- */

/* Kinds of catalog entries for the kinds of lists. */
extern const tg_catalog_entry_type_t ngx_tg_imported_entry_kinds[TG_MCP_KINDS];

/*
 * Creates a prompt, resource or template with one reference from an element.
 * NGX_DECLINED: it cannot be listed; *why says why.
 */
ngx_int_t ngx_tg_imported_item_create(
    ngx_tg_mcp_server_t *mcp, const ngx_tg_imported_list_item_t *element,
    ngx_log_t *log, const char **why, ngx_tg_imported_tool_t **made);

/*
 * Creates a template for all URIs of a server, also those that begin with
 * NAME+. Returns NULL if there is no memory.
 */
ngx_tg_imported_tool_t *ngx_tg_imported_item_create_catch_all(
    ngx_tg_mcp_server_t *mcp, ngx_log_t *log);

/* Gives a resource or template its other URI, NAME+URI, if it has none yet. */
ngx_int_t ngx_tg_imported_item_rename(ngx_tg_imported_tool_t *listed);

/* --- ngx_tg_imported_item_call.c --- */

/* Returns the server's URI, a part of a client's URI that the entry matches. */
tg_str_t ngx_tg_imported_item_strip_name(const tg_catalog_entry_t *entry,
                                         tg_str_t uri);

/*
 * Starts a call of a prompt, resource or template. Returns 1 if the server must
 * answer it, 0 if it has ended.
 */
ngx_uint_t ngx_tg_imported_item_start(ngx_tg_call_t *call,
                                      const tg_request_t *request);

/* Appends the method and the params of such a call. */
void ngx_tg_imported_item_write_request(const ngx_tg_call_t *call,
                                        const tg_request_t *request,
                                        tg_buf_t *params);

/* --- ngx_tg_imported_list_issues.c --- */

void ngx_tg_imported_list_init_repair(tg_tool_repair_t *repair);

/* Stores an issue for the status, and logs it unless log is NULL. */
void ngx_tg_imported_list_add_issue(ngx_tg_mcp_server_t *mcp,
                                    ngx_tg_imported_list_t *list,
                                    const ngx_tg_imported_list_issue_t *issue,
                                    ngx_log_t *log);

/* Warns if some models' APIs reject a schema; name is a raw JSON string. */
void ngx_tg_imported_tool_warn_union(ngx_tg_mcp_server_t *mcp, tg_str_t name,
                                     tg_str_t word, ngx_log_t *log);

/* Appends members with the omitted and the repaired tools, if any. */
void ngx_tg_imported_list_write_issues(const ngx_tg_mcp_server_t *mcp,
                                       tg_buf_t *json);

/* Reads the stored list of a server, or of the block's former one, if any. */
ngx_int_t ngx_tg_imported_list_cache_read(ngx_cycle_t *cycle,
                                          ngx_tg_mcp_server_t *mcp);

/*
 * Compiles the schemas of the list in time slices, until another one replaces
 * it. The first worker logs schemas that are not checked.
 */
void ngx_tg_imported_list_compile_schemas(ngx_tg_mcp_server_t *mcp);

/* Appends a member with the tools whose schemas are not checked, if any. */
void ngx_tg_imported_list_write_unchecked(const ngx_tg_mcp_server_t *mcp,
                                          tg_buf_t *json);

/* --- catalog --- */

/*
 * Reads the lists of an object, builds the catalog and offers it to clients, in
 * time slices; the previous lists are used until then. Does nothing if the
 * lists are unchanged.
 */
ngx_int_t ngx_tg_imported_list_update(ngx_tg_mcp_server_t *mcp,
                                      tg_str_t object);

/* Checks whether a list is being read or built into the catalog. */
static ngx_inline ngx_uint_t
ngx_tg_imported_list_is_pending(const ngx_tg_mcp_server_t *mcp)
{
    return mcp->pending_list != NULL || mcp->reading_list != NULL;
}

typedef struct {
    ngx_log_t *log;
    ngx_uint_t level;
    ngx_uint_t is_quiet;
    ngx_uint_t nclashes;
} ngx_tg_name_conflict_log_t;

/*
 * Starts building the catalog of the config and lists; a pending list replaces
 * the current one. Returns NULL if there is no memory.
 */
ngx_tg_catalog_builder_t *ngx_tg_catalog_builder_create(
    const ngx_tg_imported_catalog_t *imports,
    const ngx_tg_name_conflict_log_t *clashes);

/* Adds up to n entries. NGX_AGAIN: there are more. */
ngx_int_t ngx_tg_catalog_builder_add_some(ngx_tg_catalog_builder_t *to,
                                          ngx_uint_t n);

/* Returns the complete catalog; the builder keeps its reference. */
tg_catalog_t *ngx_tg_catalog_builder_get_catalog(
    const ngx_tg_catalog_builder_t *builder);
/* Returns the list of the i-th MCP server, or NULL. */
ngx_tg_imported_list_t *ngx_tg_catalog_builder_get_list(
    const ngx_tg_catalog_builder_t *builder, ngx_uint_t server);

void ngx_tg_catalog_builder_free(ngx_tg_catalog_builder_t *builder);

/* --- ngx_tg_imported_conflict.c --- */

/*
 * Returns the MCP server of an entry, or NULL if the config defines it. listed
 * is any imported item.
 */
const ngx_tg_mcp_server_t *ngx_tg_entry_get_mcp_server(
    const tg_catalog_entry_t *entry, const ngx_tg_imported_tool_t *listed);

/* Returns how messages name an entry's kind. */
const char *ngx_tg_entry_get_noun(const tg_catalog_entry_t *entry);

/* Logs that an item has the name of its server before its URI. */
void ngx_tg_imported_item_log_renamed(const ngx_tg_name_conflict_log_t *clashes,
                                      const ngx_tg_imported_tool_t *listed,
                                      const tg_catalog_entry_t *first);

/* Appends a member with the items omitted for their names, if any. */
void ngx_tg_imported_list_write_conflicts(const ngx_tg_mcp_server_t *mcp,
                                          tg_buf_t *json);

/* --- ngx_tg_imported_catalog.c --- */

/* Builds the catalogs with the stored lists. Logs errors. */
ngx_int_t ngx_tg_imports_finalize_config(ngx_cycle_t *cycle);

/* --- ngx_tg_imported_watch.c --- */

typedef struct ngx_tg_imported_watch_s ngx_tg_imported_watch_t;

/* Begins or ends to watch a resource of a shared server (ngx_tg_handler_t). */
void ngx_tg_imported_resource_watch(const ngx_tg_srv_conf_t *scf, tg_str_t uri,
                                    ngx_uint_t is_on);

/* Checks whether such a server would report changes (ngx_tg_handler_t). */
ngx_uint_t ngx_tg_imported_resource_can_watch(const tg_catalog_entry_t *entry,
                                              tg_str_t uri);

/* Sends all subscriptions of a server to a runner that knows it now. */
void ngx_tg_imported_watches_send(ngx_tg_mcp_server_t *mcp);

/* Handles the runner's notification that a resource was updated. */
void ngx_tg_imported_watches_on_updated(ngx_tg_mcp_server_t *mcp,
                                        tg_str_t params);

void ngx_tg_imported_watches_free(ngx_tg_mcp_server_t *mcp);

/* --- worker --- */

void ngx_tg_imported_list_wait_init(ngx_tg_imported_catalog_t *imports);

/* Reads the member `capabilities` of an object with lists. */
void ngx_tg_mcp_server_set_capabilities(ngx_tg_mcp_server_t *mcp,
                                        tg_str_t object);

/* Subscribes at once: a new runner must know the server before a call. */
void ngx_tg_mcp_server_subscribe_now(ngx_tg_mcp_server_t *mcp);

ngx_int_t ngx_tg_imports_init_process(ngx_cycle_t *cycle);

#endif
