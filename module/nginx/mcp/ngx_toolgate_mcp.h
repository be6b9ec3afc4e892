/*
 * `mcp_server NAME { }`: the tools of other MCP servers, which the runner
 * starts, keeps and asks.
 *
 *   …_mcp.c        a call, and a client that is gone
 *   …_mcp_module.c the block
 *   …_mcp_conf.c   what it says of its server
 *   …_mcp_url.c    the same of one that is reached over HTTP
 *   …_mcp_spec.c   all of that for the runner
 *   …_mcp_list.c   what a server lists: which of its tools are chosen
 *   …_mcp_tool.c   one of them, as a tool of ours
 *   …_mcp_remark.c what of that is left out or repaired
 *   …_mcp_kept.c   the list that the runner kept of an earlier time
 *   …_mcp_check.c  the schemas of tools that are listed
 *   …_mcp_take.c   a list that comes: read, composed and offered in slices
 *   …_mcp_offer.c  composes the catalogue of config and lists
 *   …_mcp_watch.c  a worker hears of lists from the runner
 *   …_mcp_wait.c   requests that wait for the first list
 */
#ifndef _NGX_TOOLGATE_MCP_H_INCLUDED_
#define _NGX_TOOLGATE_MCP_H_INCLUDED_

#include "core/tg_tool_repair.h"
#include "nginx/call/ngx_toolgate_call.h"
#include "nginx/sched/ngx_toolgate_sched.h"

/* Of a SHA-1, in hexadecimal. */
#define NGX_TOOLGATE_MCP_KEY 40

/* Whose process a server is; as `share` has them. */
typedef enum {
    NGX_TOOLGATE_MCP_ALL = 0,
    NGX_TOOLGATE_MCP_USER,
    NGX_TOOLGATE_MCP_CONNECTION
} ngx_toolgate_mcp_share_t;

typedef struct ngx_toolgate_mcp_s ngx_toolgate_mcp_t;

/* `header NAME VALUE` */
typedef struct {
    ngx_str_t name;
    ngx_str_t value;
    ngx_uint_t is_secret; /* it is from a file */
} ngx_toolgate_mcp_header_t;

/* A tool of one list or more. */
typedef struct {
    ngx_toolgate_tool_t tool; /* its conf is this */
    ngx_toolgate_mcp_t *server;
    size_t nholders;  /* lists */
    tg_str_t raw;     /* the element of the list, as it came */
    tg_str_t name;    /* the raw string that its server knows it by */
    unsigned repairs; /* see tg_tool_repair_t */
} ngx_toolgate_mcp_tool_t;

/* An element of a list that has a name. */
typedef struct {
    tg_str_t raw;
    tg_str_t raw_name; /* the string in raw */
    tg_str_t name;     /* plain text */
    tg_str_t here;     /* its name for clients */
} ngx_toolgate_mcp_element_t;

/* A tool of a list that is left out of what clients see, or repaired there. */
typedef struct {
    ngx_uint_t at;    /* the number of its element, from 1 on */
    tg_str_t name;    /* the raw string of its server, or absent */
    const char *why;  /* it is left out; NULL: it is not */
    unsigned repairs; /* see tg_tool_repair_t */
} ngx_toolgate_mcp_remark_t;

/* A server's list; there as long as somebody holds it. */
typedef struct {
    size_t nholders;
    ngx_pool_t *pool;  /* with all that is in it, and this */
    ngx_array_t tools; /* ngx_toolgate_mcp_tool_t *, held */

    tg_buf_t raw;   /* the array as it came, until it is read */
    tg_json_t rest; /* the elements that are not read yet */
    ngx_uint_t nread;
    u_char *used; /* which patterns of the block fit a tool; NULL if quiet */
    ngx_toolgate_mcp_remark_t *remarks; /* the first ones, or NULL */
    ngx_uint_t nremarks;                /* all that there were */
    ngx_uint_t is_quiet;                /* its remarks are not logged */
    ngx_uint_t is_guess; /* of another server, which the block had before */
} ngx_toolgate_mcp_list_t;

typedef struct ngx_toolgate_mcp_composition_s ngx_toolgate_mcp_composition_t;

/* What a server with such blocks offers. */
typedef struct {
    ngx_toolgate_srv_conf_t *scf;
    tg_catalogue_t *base; /* of the config alone, held */
    ngx_array_t servers;  /* ngx_toolgate_mcp_t *, as they stand there */

    /* of the worker */
    ngx_toolgate_mcp_composition_t *composition; /* NULL: none is under way */
    ngx_uint_t is_due;  /* a list has come since it began */
    tg_source_t source; /* composes the next catalogue */
} ngx_toolgate_mcp_offer_t;

/* A block. */
struct ngx_toolgate_mcp_s {
    ngx_toolgate_tool_t *block; /* what it says of all its tools */
    ngx_toolgate_mcp_offer_t *offer;
    ngx_str_t name;
    size_t at;         /* so many tools and methods stand before it */
    ngx_array_t *argv; /* ngx_str_t, as are the others */
    ngx_array_t *env;
    ngx_array_t *roots;
    ngx_array_t *shown;   /* `tools`; NULL: all of them */
    ngx_array_t *hidden;  /* `hide` */
    ngx_array_t *tools;   /* ngx_toolgate_tool_t *: the blocks in it */
    ngx_array_t *headers; /* ngx_toolgate_mcp_header_t */
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
    char key[NGX_TOOLGATE_MCP_KEY];
    char place[NGX_TOOLGATE_MCP_KEY]; /* of whom or what is called, alone */
    ngx_toolgate_mcp_list_t *list;    /* held; NULL: not known */

    /* of the worker */
    ngx_toolgate_watch_t watch;
    ngx_toolgate_ask_t ask;
    ngx_event_t retry;
    ngx_msec_t delay;
    tg_buf_t state; /* what the runner said last of it, as members */
    tg_pace_t pace; /* of lines about its tools */
    ngx_toolgate_mcp_list_t *coming;  /* is read, and not offered; or NULL */
    ngx_toolgate_mcp_list_t *reading; /* the next list; NULL: none comes */
    ngx_toolgate_mcp_list_t *unread;  /* the newest, if it is another one */
    tg_source_t reader;               /* reads it */
    ngx_uint_t has_failed;            /* its last start, as far as is known */
    tg_source_t source;   /* compiles the list's schemas, one after the other */
    ngx_uint_t ncompiled; /* so many of its tools */
    uint64_t unchecked;   /* what the log said last of that, as a hash */
};

typedef struct {
    ngx_array_t servers; /* ngx_toolgate_mcp_t * */
    ngx_array_t offers;  /* ngx_toolgate_mcp_offer_t * */
} ngx_toolgate_mcp_main_conf_t;

extern ngx_module_t ngx_toolgate_mcp_module;
extern const ngx_toolgate_handler_t ngx_toolgate_mcp_handler;

/* --- conf --- */

/*
 * One process or session serves many calls: NULL, or what is wrong with a
 * text for it as for its start.
 */
const char *ngx_toolgate_mcp_text_mistake(const ngx_str_t *text);

/* At most so many letters, digits, `_` and `-`? */
ngx_uint_t ngx_toolgate_mcp_is_word(const ngx_str_t *text, size_t max);

char *ngx_toolgate_mcp_exec(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_pass(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_ca(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_proxy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_connect(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_idle(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_start_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_toolgate_mcp_prefix(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_patterns(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_mcp_roots(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* The block is read: writes its spec, and the key of it.  NGX_ERROR: logged. */
ngx_int_t ngx_toolgate_mcp_spec(ngx_conf_t *cf, ngx_toolgate_mcp_t *mcp);

/* --- lists --- */

/*
 * The names of a tool that a block means by one of them: its server's, and
 * that of clients, in room of TG_NAME_AGENT_MAX bytes, which it returns.
 */
tg_str_t ngx_toolgate_mcp_names(const ngx_toolgate_mcp_t *mcp, tg_str_t *name,
                                char *room);

/* Do `tools` and `hide` let a tool be offered, by either of its names? */
ngx_uint_t ngx_toolgate_mcp_is_chosen(const ngx_toolgate_mcp_t *mcp,
                                      tg_str_t name, tg_str_t here);

/*
 * A list of which nothing is read yet: a copy of a valid array.  What is left
 * out, repaired or useless goes to the log unless it is quiet; log is that of
 * its pools.  NULL: no memory.
 */
ngx_toolgate_mcp_list_t *ngx_toolgate_mcp_list_begin(
    const ngx_toolgate_mcp_t *mcp, tg_str_t array, ngx_uint_t is_quiet,
    ngx_log_t *log);

/*
 * Reads the next tools of a list, up to so many bytes and one tool.  NGX_OK: it
 * is read; NGX_AGAIN: there are more; NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_mcp_list_read(ngx_toolgate_mcp_t *mcp,
                                     ngx_toolgate_mcp_list_t *list,
                                     size_t bytes, ngx_log_t *log);

/* Is a list that is read the same as another one? */
ngx_uint_t ngx_toolgate_mcp_list_is_same(const ngx_toolgate_mcp_list_t *list,
                                         const ngx_toolgate_mcp_list_t *other);

static ngx_inline ngx_toolgate_mcp_tool_t *
ngx_toolgate_mcp_list_tool(const ngx_toolgate_mcp_list_t *list, ngx_uint_t i)
{
    return ((ngx_toolgate_mcp_tool_t **) list->tools.elts)[i];
}

void ngx_toolgate_mcp_list_release(ngx_toolgate_mcp_list_t *list);

/* --- …_mcp_tool.c --- */

/*
 * Makes a tool, held once, of an element that is chosen.  NGX_OK; NGX_DECLINED:
 * it cannot be listed, and repair says why; NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_mcp_tool_new(ngx_toolgate_mcp_t *mcp,
                                    const ngx_toolgate_mcp_element_t *element,
                                    tg_tool_repair_t *repair, ngx_log_t *log,
                                    ngx_toolgate_mcp_tool_t **made);

/* The server's tool of the same bytes that is offered now, held; or NULL. */
ngx_toolgate_mcp_tool_t *ngx_toolgate_mcp_tool_known(
    const ngx_toolgate_mcp_t *mcp, const ngx_toolgate_mcp_element_t *element);

void ngx_toolgate_mcp_tool_release(ngx_toolgate_mcp_tool_t *listed);

/* --- …_mcp_remark.c --- */

/* Before the first tool of a list. */
void ngx_toolgate_mcp_repair_init(tg_tool_repair_t *repair);

/* Notes it for the status, and logs it where log is not NULL. */
void ngx_toolgate_mcp_remark(ngx_toolgate_mcp_t *mcp,
                             ngx_toolgate_mcp_list_t *list,
                             const ngx_toolgate_mcp_remark_t *remark,
                             ngx_log_t *log);

/* Warns of a schema that some models' APIs refuse; name is a raw string. */
void ngx_toolgate_mcp_log_union(ngx_toolgate_mcp_t *mcp, tg_str_t name,
                                tg_str_t word, ngx_log_t *log);

/* Appends members with the tools that are left out or repaired, if any. */
void ngx_toolgate_mcp_put_remarks(const ngx_toolgate_mcp_t *mcp,
                                  tg_buf_t *json);

/*
 * The list that the runner kept of a server, or of the one that the block of
 * this name had before.  NGX_OK, also where there is none that can be read;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_mcp_read_kept(ngx_cycle_t *cycle,
                                     ngx_toolgate_mcp_t *mcp);

/*
 * Compiles the schemas of the server's list in time slices, until another list
 * comes.  The first worker logs which are not checked.
 */
void ngx_toolgate_mcp_compile_list(ngx_toolgate_mcp_t *mcp);

/* Appends a member with its tools that are not checked, if any. */
void ngx_toolgate_mcp_put_unchecked(const ngx_toolgate_mcp_t *mcp,
                                    tg_buf_t *json);

/* --- the catalogue --- */

/*
 * Takes a list that came: it is read, composed and offered to clients in time
 * slices, and the list before serves until then.  Nothing changes where it is
 * the list that is known.  NGX_OK; NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_mcp_take(ngx_toolgate_mcp_t *mcp, tg_str_t array);

/* Is a list of the server about to be offered? */
static ngx_inline ngx_uint_t
ngx_toolgate_mcp_is_coming(const ngx_toolgate_mcp_t *mcp)
{
    return mcp->coming != NULL || mcp->reading != NULL;
}

/* What clashes of names are logged with. */
typedef struct {
    ngx_log_t *log;
    ngx_uint_t level;
    ngx_uint_t is_quiet;
    ngx_uint_t nclashes;
} ngx_toolgate_mcp_clashes_t;

/*
 * Begins the catalogue of a server's config and lists, of those that are coming
 * where there are any.  NULL: no memory.
 */
ngx_toolgate_mcp_composition_t *ngx_toolgate_mcp_compose_begin(
    const ngx_toolgate_mcp_offer_t *offer,
    const ngx_toolgate_mcp_clashes_t *clashes);

/*
 * Adds up to n entries.  NGX_OK: it is complete; NGX_AGAIN: there are more;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_mcp_compose_some(ngx_toolgate_mcp_composition_t *to,
                                        ngx_uint_t n);

/* The complete catalogue, held by the composition; and the list in it. */
tg_catalogue_t *ngx_toolgate_mcp_composed(
    const ngx_toolgate_mcp_composition_t *composition);
ngx_toolgate_mcp_list_t *ngx_toolgate_mcp_composed_list(
    const ngx_toolgate_mcp_composition_t *composition, ngx_uint_t server);

void ngx_toolgate_mcp_compose_end(ngx_toolgate_mcp_composition_t *composition);

/* Appends a member with those of its tools whose names others have, if any. */
void ngx_toolgate_mcp_put_clashes(const ngx_toolgate_mcp_t *mcp,
                                  tg_buf_t *json);

/* As ngx_toolgate_handler_t has it. */
ngx_int_t ngx_toolgate_mcp_settle(ngx_cycle_t *cycle);

/* --- the worker --- */

/* Requests of a server's clients wait for first lists from now on. */
void ngx_toolgate_mcp_wait_init(ngx_toolgate_mcp_offer_t *offer);

/* A new runner must know the server before it is asked for a call. */
void ngx_toolgate_mcp_ask_now(ngx_toolgate_mcp_t *mcp);

ngx_int_t ngx_toolgate_mcp_init_process(ngx_cycle_t *cycle);

#endif
