/*
 * `mcp_server NAME { }`: the tools of other MCP servers, which the runner
 * starts, keeps and asks.
 *
 *   ngx_tg_imported_tool_call.c        a call, and a client that is gone
 *   ngx_tg_mcp_server_module.c the block
 *   ngx_tg_mcp_server_directives.c   what it says of its server
 *   ngx_tg_mcp_server_http_directives.c   its directives about HTTP
 *   ngx_tg_mcp_server_spec.c   all of that for the runner
 *   ngx_tg_imported_list.c   what a server lists: which of its tools are chosen
 *   ngx_tg_imported_tool.c   one of them, as a tool of ours
 *   ngx_tg_imported_list_issues.c what of that is left out or repaired
 *   ngx_tg_imported_list_cache.c   the last list that the runner stored
 *   ngx_tg_imported_schemas.c  the schemas of tools that are listed
 *   ngx_tg_imported_list_update.c  takes a new list, in time slices
 *   ngx_tg_imported_catalog.c  composes the catalogue of config and lists
 *   ngx_tg_mcp_server_subscribe.c  a worker hears of lists from the runner
 *   ngx_tg_imported_list_wait.c   requests that wait for the first list
 */
#ifndef _NGX_TG_IMPORTS_H_INCLUDED_
#define _NGX_TG_IMPORTS_H_INCLUDED_

#include "catalog/tg_tool_repair.h"
#include "nginx/call/ngx_tg_call.h"
#include "nginx/sched/ngx_tg_sched.h"

/* Of a SHA-1, in hexadecimal. */
#define NGX_TG_MCP_SERVER_KEY_LEN 40

/* Whose process a server is; as `share` has them. */
typedef enum {
    NGX_TG_MCP_SHARE_ALL = 0,
    NGX_TG_MCP_SHARE_USER,
    NGX_TG_MCP_SHARE_CONNECTION
} ngx_tg_mcp_server_share_t;

typedef struct ngx_tg_mcp_server_s ngx_tg_mcp_server_t;

/* `header NAME VALUE` */
typedef struct {
    ngx_str_t name;
    ngx_str_t value;
    ngx_uint_t is_secret; /* it is from a file */
} ngx_tg_mcp_server_header_t;

/* A tool of one list or more. */
typedef struct {
    ngx_tg_tool_t tool; /* its conf is this */
    ngx_tg_mcp_server_t *server;
    size_t nrefs;     /* lists */
    tg_str_t raw;     /* the element of the list, as it came */
    tg_str_t name;    /* the raw string that its server knows it by */
    unsigned repairs; /* see tg_tool_repair_t */
} ngx_tg_imported_tool_t;

/* An element of a list that has a name. */
typedef struct {
    tg_str_t raw;
    tg_str_t raw_name;    /* the string in raw */
    tg_str_t name;        /* plain text */
    tg_str_t client_name; /* its name for clients */
} ngx_tg_imported_list_item_t;

/* A tool of a list that is left out of what clients see, or repaired there. */
typedef struct {
    ngx_uint_t at;    /* the number of its element, from 1 on */
    tg_str_t name;    /* the raw string of its server, or absent */
    const char *why;  /* it is left out; NULL: it is not */
    unsigned repairs; /* see tg_tool_repair_t */
} ngx_tg_imported_list_issue_t;

/* A server's list; there as long as somebody holds it. */
typedef struct {
    size_t nrefs;
    ngx_pool_t *pool;  /* with all that is in it, and this */
    ngx_array_t tools; /* ngx_tg_imported_tool_t *, held */

    tg_buf_t raw;          /* the array as it came, until it is read */
    tg_json_cursor_t rest; /* the elements that are not read yet */
    ngx_uint_t nread;
    /* which patterns of the block fit a tool; NULL if quiet */
    u_char *used_patterns;
    ngx_tg_imported_list_issue_t *issues; /* the first ones, or NULL */
    ngx_uint_t nissues;                   /* all that there were */
    ngx_uint_t is_quiet;                  /* its remarks are not logged */
    ngx_uint_t is_guessed; /* of another server, which the block had before */
} ngx_tg_imported_list_t;

typedef struct ngx_tg_catalog_builder_s ngx_tg_catalog_builder_t;

/* What a server with such blocks offers. */
typedef struct {
    ngx_tg_srv_conf_t *scf;
    tg_catalog_t *config_catalog; /* of the config alone, held */
    ngx_array_t servers; /* ngx_tg_mcp_server_t *, as they stand there */

    /* of the worker */
    ngx_tg_catalog_builder_t *builder; /* NULL: none is under way */
    ngx_uint_t is_rebuild_due;         /* a list has come since it began */
    tg_sched_source_t source;          /* composes the next catalogue */
} ngx_tg_imported_catalog_t;

/* A block. */
struct ngx_tg_mcp_server_s {
    ngx_tg_tool_t *block; /* what it says of all its tools */
    ngx_tg_imported_catalog_t *imports;
    ngx_str_t name;
    size_t at;         /* so many tools and methods stand before it */
    ngx_array_t *argv; /* ngx_str_t, as are the others */
    ngx_array_t *env;
    ngx_array_t *roots;
    ngx_array_t *include_patterns; /* `tools`; NULL: all of them */
    ngx_array_t *exclude_patterns; /* `hide` */
    ngx_array_t *tools;            /* ngx_tg_tool_t *: the blocks in it */
    ngx_array_t *headers;          /* ngx_tg_mcp_server_header_t */
    ngx_str_t pass;
    ngx_str_t url;
    ngx_str_t ca_file;
    ngx_str_t proxy;
    ngx_msec_t connect_timeout; /* 0: the default */
    ngx_str_t cwd;
    ngx_str_t prefix;
    ngx_uint_t has_client_cwd;
    ngx_uint_t share;
    ngx_uint_t starts_at_boot;
    ngx_msec_t idle;
    ngx_msec_t start_timeout;
    off_t memory; /* 0: no limit */
    off_t pids;

    tg_str_t spec; /* of all that, for the runner: raw JSON */
    char key[NGX_TG_MCP_SERVER_KEY_LEN];
    /* of whom or what is called, alone */
    char endpoint_digest[NGX_TG_MCP_SERVER_KEY_LEN];
    ngx_tg_imported_list_t *list; /* held; NULL: not known */

    /* of the worker */
    ngx_tg_runner_subscriber_t subscriber;
    ngx_tg_upstream_request_t subscribe_request;
    ngx_event_t retry_event;
    ngx_msec_t retry_delay;
    tg_buf_t state;     /* what the runner said last of it, as members */
    tg_throttle_t pace; /* of lines about its tools */
    ngx_tg_imported_list_t
        *pending_list; /* is read, and not offered; or NULL */
    ngx_tg_imported_list_t *reading_list; /* the next list; NULL: none comes */
    ngx_tg_imported_list_t *queued_list;  /* the newest, if it is another one */
    tg_sched_source_t reading_source;     /* reads it */
    ngx_uint_t has_failed; /* its last start, as far as is known */
    tg_sched_source_t
        source;           /* compiles the list's schemas, one after the other */
    ngx_uint_t ncompiled; /* so many of its tools */
    uint64_t unchecked;   /* what the log said last of that, as a hash */
};

typedef struct {
    ngx_array_t servers;           /* ngx_tg_mcp_server_t * */
    ngx_array_t imported_catalogs; /* ngx_tg_imported_catalog_t * */
} ngx_tg_imports_main_conf_t;

extern ngx_module_t ngx_tg_imports_module;
extern const ngx_tg_handler_t ngx_tg_imported_tool_handler;

/* --- conf --- */

/*
 * One process or session serves many calls: NULL, or what is wrong with a
 * text for it as for its start.
 */
const char *ngx_tg_mcp_server_text_check(const ngx_str_t *text);

/* At most so many letters, digits, `_` and `-`? */
ngx_uint_t ngx_tg_mcp_server_is_word(const ngx_str_t *text, size_t max);

char *ngx_tg_mcp_server_set_exec(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_mcp_server_set_pass(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_mcp_server_set_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_mcp_server_add_header(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_mcp_server_set_ca_file(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
char *ngx_tg_mcp_server_set_proxy(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_mcp_server_set_connect_time(ngx_conf_t *cf, ngx_command_t *cmd,
                                         void *conf);
char *ngx_tg_mcp_server_add_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_mcp_server_set_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_mcp_server_set_idle_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                         void *conf);
char *ngx_tg_mcp_server_set_start_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                          void *conf);
char *ngx_tg_mcp_server_set_prefix(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_mcp_server_add_patterns(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_mcp_server_add_roots(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);

/* The block is read: writes its spec, and the key of it.  NGX_ERROR: logged. */
ngx_int_t ngx_tg_mcp_server_init_spec(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp);

/* --- lists --- */

/*
 * The names of a tool that a block means by one of them: its server's, and
 * that of clients, in room of TG_NAME_AGENT_MAX bytes, which it returns.
 */
tg_str_t ngx_tg_imported_tool_get_names(const ngx_tg_mcp_server_t *mcp,
                                        tg_str_t *name, char *room);

/* Do `tools` and `hide` let a tool be offered, by either of its names? */
ngx_uint_t ngx_tg_imported_tool_is_selected(const ngx_tg_mcp_server_t *mcp,
                                            tg_str_t name,
                                            tg_str_t client_name);

/*
 * A list of which nothing is read yet: a copy of a valid array.  What is left
 * out, repaired or useless goes to the log unless it is quiet; log is that of
 * its pools.  NULL: no memory.
 */
ngx_tg_imported_list_t *ngx_tg_imported_list_create(
    const ngx_tg_mcp_server_t *mcp, tg_str_t array, ngx_uint_t is_quiet,
    ngx_log_t *log);

/*
 * Reads the next tools of a list, up to so many bytes and one tool.  NGX_OK: it
 * is read; NGX_AGAIN: there are more; NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_imported_list_read(ngx_tg_mcp_server_t *mcp,
                                    ngx_tg_imported_list_t *list, size_t bytes,
                                    ngx_log_t *log);

/* Is a list that is read the same as another one? */
ngx_uint_t ngx_tg_imported_list_is_equal(const ngx_tg_imported_list_t *list,
                                         const ngx_tg_imported_list_t *other);

static ngx_inline ngx_tg_imported_tool_t *
ngx_tg_imported_list_get_tool(const ngx_tg_imported_list_t *list, ngx_uint_t i)
{
    return ((ngx_tg_imported_tool_t **) list->tools.elts)[i];
}

void ngx_tg_imported_list_release(ngx_tg_imported_list_t *list);

/* --- ngx_tg_imported_tool.c --- */

/*
 * Makes a tool, held once, of an element that is chosen.  NGX_OK; NGX_DECLINED:
 * it cannot be listed, and repair says why; NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_imported_tool_create(
    ngx_tg_mcp_server_t *mcp, const ngx_tg_imported_list_item_t *element,
    tg_tool_repair_t *repair, ngx_log_t *log, ngx_tg_imported_tool_t **made);

/* The server's tool of the same bytes that is offered now, held; or NULL. */
ngx_tg_imported_tool_t *ngx_tg_imported_tool_find_unchanged(
    const ngx_tg_mcp_server_t *mcp, const ngx_tg_imported_list_item_t *element);

void ngx_tg_imported_tool_release(ngx_tg_imported_tool_t *listed);

/* --- ngx_tg_imported_list_issues.c --- */

/* Before the first tool of a list. */
void ngx_tg_imported_list_init_repair(tg_tool_repair_t *repair);

/* Notes it for the status, and logs it where log is not NULL. */
void ngx_tg_imported_list_add_issue(ngx_tg_mcp_server_t *mcp,
                                    ngx_tg_imported_list_t *list,
                                    const ngx_tg_imported_list_issue_t *issue,
                                    ngx_log_t *log);

/* Warns of a schema that some models' APIs refuse; name is a raw string. */
void ngx_tg_imported_tool_warn_union(ngx_tg_mcp_server_t *mcp, tg_str_t name,
                                     tg_str_t word, ngx_log_t *log);

/* Appends members with the tools that are left out or repaired, if any. */
void ngx_tg_imported_list_write_issues(const ngx_tg_mcp_server_t *mcp,
                                       tg_buf_t *json);

/*
 * The list that the runner kept of a server, or of the one that the block of
 * this name had before.  NGX_OK, also where there is none that can be read;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_imported_list_cache_read(ngx_cycle_t *cycle,
                                          ngx_tg_mcp_server_t *mcp);

/*
 * Compiles the schemas of the server's list in time slices, until another list
 * comes.  The first worker logs which are not checked.
 */
void ngx_tg_imported_list_compile_schemas(ngx_tg_mcp_server_t *mcp);

/* Appends a member with its tools that are not checked, if any. */
void ngx_tg_imported_list_write_unchecked(const ngx_tg_mcp_server_t *mcp,
                                          tg_buf_t *json);

/* --- the catalogue --- */

/*
 * Takes a list that came: it is read, composed and offered to clients in time
 * slices, and the list before serves until then.  Nothing changes where it is
 * the list that is known.  NGX_OK; NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_imported_list_update(ngx_tg_mcp_server_t *mcp, tg_str_t array);

/* Is a list of the server about to be offered? */
static ngx_inline ngx_uint_t
ngx_tg_imported_list_is_pending(const ngx_tg_mcp_server_t *mcp)
{
    return mcp->pending_list != NULL || mcp->reading_list != NULL;
}

/* What clashes of names are logged with. */
typedef struct {
    ngx_log_t *log;
    ngx_uint_t level;
    ngx_uint_t is_quiet;
    ngx_uint_t nclashes;
} ngx_tg_name_conflict_log_t;

/*
 * Begins the catalogue of a server's config and lists, of those that are coming
 * where there are any.  NULL: no memory.
 */
ngx_tg_catalog_builder_t *ngx_tg_catalog_builder_create(
    const ngx_tg_imported_catalog_t *imports,
    const ngx_tg_name_conflict_log_t *clashes);

/*
 * Adds up to n entries.  NGX_OK: it is complete; NGX_AGAIN: there are more;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_catalog_builder_add_some(ngx_tg_catalog_builder_t *to,
                                          ngx_uint_t n);

/* The complete catalogue, held by the composition; and the list in it. */
tg_catalog_t *ngx_tg_catalog_builder_get_catalog(
    const ngx_tg_catalog_builder_t *builder);
ngx_tg_imported_list_t *ngx_tg_catalog_builder_get_list(
    const ngx_tg_catalog_builder_t *builder, ngx_uint_t server);

void ngx_tg_catalog_builder_free(ngx_tg_catalog_builder_t *builder);

/* Appends a member with those of its tools whose names others have, if any. */
void ngx_tg_imported_list_write_conflicts(const ngx_tg_mcp_server_t *mcp,
                                          tg_buf_t *json);

/* As ngx_tg_handler_t has it. */
ngx_int_t ngx_tg_imports_finalize_config(ngx_cycle_t *cycle);

/* --- the worker --- */

/* Requests of a server's clients wait for first lists from now on. */
void ngx_tg_imported_list_wait_init(ngx_tg_imported_catalog_t *imports);

/* A new runner must know the server before it is asked for a call. */
void ngx_tg_mcp_server_subscribe_now(ngx_tg_mcp_server_t *mcp);

ngx_int_t ngx_tg_imports_init_process(ngx_cycle_t *cycle);

#endif
