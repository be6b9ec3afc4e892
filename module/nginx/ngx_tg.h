/*
 * Types and functions shared by the files of the NGINX module.
 *
 *   config/        directives and configuration blocks
 *   call/          life of a call: access, limits, schemas, response
 *   handlers/      handlers that answer calls, one file each
 *   imports/       tools imported from other MCP servers
 *   session/       client sessions and broadcasts
 *   handoff/       handoff of sessions between worker processes
 *   shm/           shared memory: clients, counters, broadcasts
 *   upstream/      connections to runners and other backends
 *   runner_setup/  runner program and state directory at config load
 *   native/        handlers in shared objects, and their threads
 *   logging/       call logs and traces
 *   listener/      socket files and listening addresses
 *   http/          locations of the http block
 *   sched/         time slices and log throttling
 */
#ifndef _NGX_TG_H_INCLUDED_
#define _NGX_TG_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_stream.h>

#include "protocol/tg_caller.h"
#include "protocol/tg_request.h"
#include "protocol/tg_seal.h"
#include "catalog/tg_template.h"
#include "schema/tg_schema.h"
#include "spec/tg_job_spec.h"
#include "spec/tg_output_spec.h"

#define NGX_TG_VERSION TG_VERSION

/* Context of the directives within a `tool` or `method` block. */
#define NGX_STREAM_TOOL_CONF 0x10000000
/* Context of the directives within a block whose tools another server lists. */
#define NGX_STREAM_TOOL_GROUP_CONF 0x20000000

/*
 * Maximum length of a state directory. The path of a Unix socket has at most
 * 108 bytes, including its NUL, and the runner binds "/runner-3.sock" under a
 * temporary name that is one byte longer.
 */
#define NGX_TG_STATE_DIR_MAX 92

/*
 * Arguments that print a file mode in octal with "%d%d%d%d": NGINX's formats
 * have no octal conversion.
 */
#define NGX_TG_OCTAL_DIGITS(mode)                                              \
    (int) ((mode) >> 9 & 7), (int) ((mode) >> 6 & 7), (int) ((mode) >> 3 & 7), \
        (int) ((mode) % 8)


static inline tg_str_t
ngx_tg_str_from_ngx(const ngx_str_t *text)
{
    return tg_str((const char *) text->data, text->len);
}

/* Returns what a directive's function returns for NGX_OK or NGX_ERROR. */
static inline char *
ngx_tg_conf_result(ngx_int_t rc)
{
    return rc == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* Checks whether this process serves clients. */
static inline ngx_uint_t
ngx_tg_is_worker(void)
{
    return ngx_process == NGX_PROCESS_WORKER
           || ngx_process == NGX_PROCESS_SINGLE;
}

/*
 * Dummy connection for the `data` of a timer without a connection: NGINX's
 * debug log reads the data of every timer as a connection.
 */
extern ngx_connection_t ngx_tg_dummy_connection;

typedef struct ngx_tg_tool_s ngx_tg_tool_t;
typedef struct ngx_tg_call_s ngx_tg_call_t;
typedef struct ngx_tg_runner_s ngx_tg_runner_t;
typedef struct ngx_tg_handler_s ngx_tg_handler_t;
typedef struct ngx_tg_session_base_s ngx_tg_session_base_t;
typedef struct ngx_tg_counters_s ngx_tg_counters_t;
typedef struct ngx_tg_trace_conf_s ngx_tg_trace_conf_t;

/*
 * `concurrency` and `rate` of one tool or of a whole server; values below 1 are
 * no limits.
 */
typedef struct {
    tg_job_limit_t calls;
    tg_rate_t rate;
    ngx_str_t rate_text;
    ngx_str_t key; /* identifies the limit across reloads */
    void *node;    /* the rate's account, in shared memory */
} ngx_tg_limit_t;

/* A property of the arguments and its default value. */
typedef struct {
    tg_str_t name;
    /* JSON text of the schema's `default`; data is NULL if there is none */
    tg_str_t default_value;
    /* its numbers are integers, even if written like 1.0 */
    unsigned is_integer:1;
    unsigned has_integer_items:1; /* numbers in its array are integers */
} ngx_tg_arg_property_t;

/* Path to an argument, or to a member of one, that a variable names. */
typedef struct {
    tg_variable_type_t kind;
    ngx_uint_t n;
    ngx_tg_arg_property_t *steps;
    /* path as written in the config; file and line of the variable */
    ngx_str_t text;
    ngx_str_t file;
    ngx_uint_t line;
} ngx_tg_arg_path_t;

/* What makes a server notify those who subscribed to a resource (`watch`). */
typedef enum {
    NGX_TG_WATCH_UNSET = 0,
    NGX_TG_WATCH_OFF,
    NGX_TG_WATCH_FILE,
    NGX_TG_WATCH_EVERY
} ngx_tg_watch_t;

/*
 * A `tool` or `method` block, a block around tools of another server
 * (is_group), or a tool imported from another server.
 */
struct ngx_tg_tool_s {
    tg_catalog_entry_t entry;
    const ngx_tg_handler_t *handler;
    void *conf; /* configuration of the handler */
    /* block whose rules and limits apply to the tool */
    const ngx_tg_tool_t *block;
    const ngx_tg_tool_t *group; /* group around this block, or NULL */
    tg_schema_t *input;         /* NULL: any arguments are valid */
    tg_schema_t *output_schema; /* NULL: any result is valid */
    ngx_pool_t *pool;           /* pool of an imported tool */
    ngx_uint_t is_uncompiled;   /* schemas are compiled at their first use */
    tg_str_t unchecked;  /* reason why a schema is not checked, or empty */
    ngx_uint_t validate; /* NGX_TG_VALIDATE_* */
    ngx_uint_t is_group; /* block around other tools */
    /* allow and deny rules; NULL: only the server's apply */
    ngx_array_t *rules;
    ngx_array_t *logs;       /* NULL: the server's logs apply; empty: no logs */
    ngx_array_t *properties; /* ngx_tg_arg_property_t, from the input schema */
    ngx_array_t *paths; /* ngx_tg_arg_path_t *, arguments its values name */
    /* ngx_tg_argument_t, of a prompt or template; NULL while there is none */
    ngx_array_t *arguments;
    ngx_uint_t has_ttl;
    ngx_uint_t output;
    ngx_str_t bytes; /* "image", "audio" or "file"; empty: not bytes */
    ngx_str_t mime;  /* MIME type of the bytes */
    tg_output_spec_t output_spec;
    tg_job_spec_t job_spec; /* only the timeouts */
    ngx_tg_limit_t limit;
    ngx_array_t *asks;   /* ngx_tg_ask_t; NULL: none */
    int64_t ask_timeout; /* in ms; 0: default */
    ngx_tg_watch_t watch;
    ngx_msec_t watch_every;   /* interval in ms */
    ngx_array_t *completions; /* ngx_tg_tool_t *, of `complete`; NULL: none */
    ngx_tg_limit_t complete_limit; /* their rate */
    ngx_uint_t task; /* NGX_TG_TASK_*: whether its calls become tasks */
    int64_t retry;   /* maximum retries of the tool's tasks */
    ngx_str_t file;  /* file and line of the block's end */
    ngx_uint_t line;
    ngx_uint_t needs_shm;  /* uses the server's clients in shared memory */
    ngx_uint_t is_builtin; /* every server has it; its calls are not counted */
    /* added by a directive, not by a block of its own */
    ngx_uint_t is_internal;
    /* counters of this worker; NULL: not looked up yet */
    ngx_tg_counters_t *counters;
};

/* Place of a value with variables, kept until all variables are known. */
typedef struct {
    ngx_str_t text;        /* value in NGINX's syntax */
    ngx_str_t source_text; /* value as written in the config */
    ngx_str_t file;
    ngx_uint_t line;
    unsigned is_word:1;        /* word of a program's command line */
    unsigned is_conditional:1; /* word that may be left out */
} ngx_tg_value_source_t;

/* Hashes of a server's listening addresses, see ngx_tg_shm.h. */
typedef struct {
    const uint64_t *hash;
    ngx_uint_t n;
} ngx_tg_address_set_t;

typedef enum {
    NGX_TG_ACCESS_READ,
    NGX_TG_ACCESS_EXECUTE,
    NGX_TG_ACCESS_TRAVERSE /* search a directory */
} ngx_tg_access_mode_t;

/*
 * Path that the workers' user must be able to access, and the directive that
 * requires it.
 */
typedef struct {
    ngx_str_t path;
    ngx_str_t directive;
    ngx_tg_access_mode_t access_mode;
} ngx_tg_required_file_t;

typedef struct {
    ngx_array_t value_sources;  /* ngx_tg_value_source_t */
    ngx_array_t runners;        /* ngx_tg_runner_t *, one per state directory */
    ngx_array_t limits;         /* ngx_tg_limit_t *, limits with a rate */
    ngx_array_t required_files; /* ngx_tg_required_file_t */
    /* tg_str_t, variables that a `map` derives from callers' values */
    ngx_array_t *derived_names;
    /* ngx_tg_scanned_file_t, config files scanned for such maps */
    ngx_array_t *scanned_files;
    ngx_array_t log_sinks; /* ngx_tg_log_sink_t *, destinations of call logs */
    ngx_array_t formats;   /* ngx_tg_log_format_t *, formats of call logs */
    ngx_array_t tracers;   /* ngx_tg_tracer_t *, destinations of traces */
    ngx_shm_zone_t *zone;
    ngx_array_t servers; /* ngx_tg_srv_conf_t *, servers with tools */
    ngx_stream_content_handler_pt
        content_handler; /* stream handler of the servers with tools */
    /* get_handler of path variables; its data is an ngx_tg_arg_path_t * */
    ngx_stream_get_variable_pt path;
    ngx_uint_t npaths;
    const ngx_tg_handler_t *const *handlers; /* all handlers, NULL-terminated */
    ngx_uint_t has_tools;
    ngx_uint_t needs_state_key; /* clients keep state for a server */
    ngx_conf_t *hint_conf;      /* result of ngx_tg_start_error_hints() */
} ngx_tg_main_conf_t;

typedef struct ngx_tg_srv_conf_s ngx_tg_srv_conf_t;

struct ngx_tg_srv_conf_s {
    tg_catalog_t *catalog; /* NULL: the server has no tools */

    /*
     * Returns the maximum wait of a request for MCP servers that are starting,
     * in ms since its arrival; 0: no wait. name is the unknown tool of a call,
     * or absent for a request of the tool list. NULL: the server imports no
     * tools.
     */
    ngx_msec_t (*get_wait_time)(const ngx_tg_srv_conf_t *scf, tg_str_t name);

    /*
     * Answers resources/list with resources that are not in the catalog, now or
     * later. Returns NGX_OK, or NGX_DECLINED: there are none. NULL: the server
     * has none.
     */
    ngx_int_t (*list_resources)(ngx_tg_session_base_t *base, tg_peer_t *peer,
                                tg_request_t *request);

    /* Appends the reason why no tool has this name, if it is known. */
    void (*explain_unknown)(const ngx_tg_srv_conf_t *scf, tg_str_t name,
                            tg_buf_t *text);

    /*
     * Appends the MCP servers that are starting or have failed, as JSON objects
     * separated by commas. Servers that the session may not see are omitted.
     * NULL: the server imports no tools.
     */
    void (*write_absent_servers)(void *base, tg_buf_t *json);
    ngx_array_t *blocks; /* ngx_tg_tool_t *, blocks about imported tools */
    tg_server_info_t info;
    ngx_array_t *rules;         /* tool_allow and tool_deny */
    ngx_array_t *logs;          /* ngx_tg_call_log_t; NULL or empty: no logs */
    ngx_tg_trace_conf_t *trace; /* NULL: no trace */
    ngx_uint_t validate;        /* NGX_TG_VALIDATE_*, default of its tools */
    ngx_uint_t protocol;        /* tg_dialect_t */
    size_t max_frame;
    ngx_int_t max_inflight;
    ngx_msec_t idle_timeout;  /* ms without a frame; 0: no timeout */
    ngx_msec_t frame_timeout; /* ms to receive the rest of a frame */
    ngx_msec_t send_timeout;
    /* defaults of its tools */
    tg_output_spec_t output_spec;
    tg_job_spec_t job_spec; /* only the timeouts */
    ngx_uint_t socket_mode;
    uid_t socket_uid;
    gid_t socket_gid;
    ngx_uint_t has_owner;
    ngx_str_t schema_file;
    ngx_str_t runner_path;
    ngx_str_t state_dir;
    ngx_uint_t needs_runner;
    ngx_uint_t has_stored_output; /* a tool stores too large output */
    tg_spill_spec_t spill;
    ngx_uint_t needs_shm;           /* uses broadcasts or counts its clients */
    ngx_uint_t bridges;             /* ngx_tg_bridge_policy_t */
    ngx_tg_address_set_t addresses; /* set in the worker */
    ngx_uint_t number;              /* index among the servers with tools */
    u_char *file;                   /* file and line of the `server` block */
    ngx_uint_t line;
    ngx_tg_limit_t limit;
    ngx_tg_runner_t *runner;
    ngx_array_t *status_rules; /* tool_status_allow */
    /* rules for clients that see other users' tasks; NULL: all clients */
    ngx_array_t *see_all_rules;
    ngx_str_t task_store;      /* name of the task store, or empty */
    ngx_uint_t has_task_tools; /* agents have tools to manage tasks */
    tg_seal_keys_t state_keys; /* of tool_state_key; empty: not set */
    ngx_uint_t has_list_ttl;   /* tool_list_ttl is set */
    tg_str_t label;            /* set in the worker; see ngx_tg_counters.h */
    ngx_tg_counters_t *counters;
};

extern ngx_module_t ngx_stream_toolgate_module;
extern ngx_module_t ngx_tg_listener_module;

/* Returns NULL without a stream block. */
#define ngx_tg_cycle_get_main_conf(cycle)                                      \
    ((ngx_tg_main_conf_t *) ngx_stream_cycle_get_module_main_conf(             \
        cycle, ngx_stream_toolgate_module))

/* --- directives --- */

/* Logs an error at the current directive. Returns NGX_CONF_ERROR. */
char *ngx_tg_conf_error(ngx_conf_t *cf, const char *format, ...);

/*
 * Appends a zeroed element, creating the array if it is NULL. Returns NULL if
 * there is no memory.
 */
void *ngx_tg_conf_array_push(ngx_conf_t *cf, ngx_array_t **array, size_t size);

char *ngx_tg_conf_set_choice(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_idle_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_conf_set_socket_mode(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_conf_set_socket_owner(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/* Determines the owner and group of a server's socket files. */
void ngx_tg_server_get_socket_owner(const ngx_cycle_t *cycle,
                                    const ngx_tg_srv_conf_t *scf, uid_t *uid,
                                    gid_t *gid);
char *ngx_tg_conf_set_path(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_runner_path(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_conf_read_tool_block(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_conf_set_text(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_task(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_annotations(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_conf_add_capability(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_conf_set_schema(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_output(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
ngx_int_t ngx_tg_add_variables(ngx_conf_t *cf);
ngx_int_t ngx_tg_path_variable(ngx_stream_session_t *s,
                               ngx_stream_variable_value_t *v, uintptr_t data);

/*
 * Logs the first variable that is not defined, with its file and line. Returns
 * NGX_ERROR if there is one, else NGX_OK.
 */
ngx_int_t ngx_tg_check_unknown_variables(ngx_conf_t *cf);

/*
 * Checks an absolute path. Returns NULL if it is valid, else the text that
 * follows the path in the error message.
 */
typedef const char *(*ngx_tg_path_check_pt)(ngx_str_t *path);

const char *ngx_tg_runner_path_check(ngx_str_t *path);
const char *ngx_tg_state_dir_check(ngx_str_t *path);
const char *ngx_tg_schema_file_path_check(ngx_str_t *path);

/* Values of cmd->post for a setter that serves two directives. */
#define NGX_TG_CONF_DENY 1
#define NGX_TG_SCHEMA_FROM_FILE 1

/*
 * Values of `task`: calls never become tasks, only if the client requests it,
 * or always.
 */
#define NGX_TG_TASK_NEVER 0
#define NGX_TG_TASK_OPTIONAL 1
#define NGX_TG_TASK_REQUIRED 2

/* Values of `validate` and `tool_validate`. */
#define NGX_TG_VALIDATE_ON 0
#define NGX_TG_VALIDATE_OFF 1
#define NGX_TG_VALIDATE_FORMATS 2

/*
 * Sets the timeouts that the server and its tools leave unset. Call it after
 * the whole server is read.
 */
void ngx_tg_server_init_timeouts(ngx_tg_srv_conf_t *scf);
/*
 * Sets the output limits that the server's tools leave unset. Returns NGX_OK,
 * or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_server_init_outputs(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

/*
 * Returns block i of a server: each `tool` and `method`, then scf->blocks.
 * Returns NULL after the last one.
 */
ngx_tg_tool_t *ngx_tg_server_get_block(ngx_tg_srv_conf_t *scf, size_t i);

/*
 * Warns if the list of tools exceeds the message size of a dialect that sends
 * the list in one message. Does not repeat the warning if the previous catalog
 * (or NULL) was too large as well.
 */
void ngx_tg_server_check_list_size(const ngx_tg_srv_conf_t *scf,
                                   const tg_catalog_t *before, ngx_log_t *log);

/* --- schemas --- */

/*
 * Compiles a schema; the cycle's pool frees it. ngx_tg_server_compile_schemas()
 * decides later whether formats are asserted. Returns NULL, after logging, if
 * text is not a valid schema or there is no memory.
 */
tg_schema_t *ngx_tg_schema_compile(ngx_conf_t *cf, ngx_str_t *directive,
                                   tg_str_t text, ngx_uint_t has_formats);

/*
 * Compiles the schemas of an imported tool, within this worker's bounds for
 * imported schemas. A schema that is invalid or exceeds the bounds is not
 * checked, and tool->unchecked states the reason. Returns the number of steps
 * used.
 */
uint64_t ngx_tg_tool_compile_imported(ngx_tg_tool_t *tool);

/*
 * Applies `validate` to all tools of a server: frees schemas that are not
 * checked, and compiles schemas that assert formats again.
 */
ngx_int_t ngx_tg_server_compile_schemas(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

/* --- access --- */

char *ngx_tg_conf_add_access_rules(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/* Returns the NGX_TG_RULES_* flags of the rules, which may be NULL. */
ngx_uint_t ngx_tg_access_rules_get_flags(const ngx_array_t *rules);
#define NGX_TG_RULES_ALLOW 1
#define NGX_TG_RULES_ALLOW_SOME 2 /* an allow rule that is not "allow all" */
#define NGX_TG_RULES_DENY 4
#define NGX_TG_RULES_NAME_USERS 8 /* a rule with uid or gid */

/*
 * Parses the number or name of a user or group. Returns NGX_OK, or NGX_DECLINED
 * if there is none of this name.
 */
ngx_int_t ngx_tg_parse_user_or_group(const u_char *text, ngx_uint_t is_group,
                                     uint32_t *id);

/* --- limits --- */

char *ngx_tg_conf_set_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Names the limits of a server that is read completely, and requests shared
 * memory for their rates.
 */
ngx_int_t ngx_tg_server_init_limits(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

/* --- call logs --- */

char *ngx_tg_conf_add_log(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_add_log_format(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);

/* --- traces --- */

char *ngx_tg_conf_set_trace(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* --- runner --- */

/*
 * Returns the runner of a state directory, registering it at its first use:
 * servers with one directory share its runner. Returns NULL if there is no
 * memory.
 */
ngx_tg_runner_t *ngx_tg_runner_add(ngx_conf_t *cf, ngx_str_t *path,
                                   ngx_str_t *state_dir);

/*
 * Sets the default state directory and checks path lengths, after all servers
 * are read. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_runner_init_conf(ngx_cycle_t *cycle, ngx_tg_runner_t *runner);

/* Creates the state directory for the workers' user. Runs in the master. */
ngx_int_t ngx_tg_runner_make_state_dir(ngx_cycle_t *cycle,
                                       ngx_tg_runner_t *runner);

/*
 * Checks that the workers can access all required files. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_check_required_files(ngx_cycle_t *cycle,
                                      ngx_tg_main_conf_t *mcf);

/*
 * Replaces an empty program path and an empty state directory with their
 * defaults. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_runner_resolve_paths(ngx_cycle_t *cycle, ngx_str_t *path,
                                      ngx_str_t *state_dir);
/*
 * Creates the state directory for the workers' user, or checks an existing one.
 * Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_state_dir_make(ngx_cycle_t *cycle, ngx_str_t *dir);

/*
 * Checks whether ngx_tg_state_dir_make() would succeed, without changing
 * anything. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_state_dir_test(ngx_cycle_t *cycle, ngx_str_t *dir);

/*
 * Opens the parent directory of an absolute path (O_PATH) and sets name to the
 * last component. Returns -1 and sets errno on failure.
 */
int ngx_tg_dir_open_parent(const u_char *path, const char **name);
/*
 * Opens the subdirectory name of directory at (O_PATH), without following a
 * symbolic link. Returns -1 and sets errno on failure.
 */
int ngx_tg_dir_open_child(int at, const char *name);
/*
 * Checks whether this user owns the directory and nobody else may write to it.
 */
ngx_uint_t ngx_tg_dir_is_private(int fd);

/*
 * Creates a directory and changes its owner. Returns an open descriptor, or -1
 * with errno.
 */
int ngx_tg_dir_make_owned(int at, const char *name, uid_t uid, gid_t gid);

#endif
