/*
 * What the files of the NGINX module share.
 *
 *   conf/      directives and blocks
 *   call/      a call: access, limits, schemas, its end
 *   handlers/  what answers a call, a file each
 *   log/       logs of calls: their files, syslog, formats
 *   line/      kept connections to those who work for a worker
 *   native/    shared objects that answer calls, and their threads
 *   stream/    a client's session
 *   move/      sessions that change their worker
 *   listen/    the socket file
 */
#ifndef _NGX_TG_H_INCLUDED_
#define _NGX_TG_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_stream.h>

#include "protocol/tg_caller.h"
#include "protocol/tg_peer.h"
#include "catalog/tg_template.h"
#include "schema/tg_schema.h"

#define NGX_TG_VERSION TG_VERSION

/* The context of directives within a tool or method block. */
#define NGX_STREAM_TOOL_CONF 0x10000000
/* Within a block around tools that somebody else lists. */
#define NGX_STREAM_TOOL_GROUP_CONF 0x20000000

/*
 * The longest state directory: a Unix socket's path has 108 bytes with its
 * end, and the runner binds "/runner-3.sock" under a name one longer.
 */
#define NGX_TG_STATE_DIR_MAX 92

/* A file's mode for "%d%d%d%d": NGINX's formats know no octal numbers. */
#define NGX_TG_OCTAL_DIGITS(mode)                                              \
    (int) ((mode) >> 9 & 7), (int) ((mode) >> 6 & 7), (int) ((mode) >> 3 & 7), \
        (int) ((mode) % 8)

/* A call that makes progress is not hung, but it is no task either. */
#define NGX_TG_MAX_TIMEOUT 3600000

static inline tg_str_t
ngx_tg_str_from_ngx(const ngx_str_t *text)
{
    return tg_str((const char *) text->data, text->len);
}

/*
 * The data of a timer that has no other: NGINX's debug log takes that of any
 * timer for a connection.
 */
extern ngx_connection_t ngx_tg_dummy_connection;

typedef struct ngx_tg_tool_s ngx_tg_tool_t;
typedef struct ngx_tg_call_s ngx_tg_call_t;
typedef struct ngx_tg_runner_s ngx_tg_runner_t;
typedef struct ngx_tg_handler_s ngx_tg_handler_t;
typedef struct ngx_tg_session_base_s ngx_tg_session_base_t;
typedef struct ngx_tg_counters_s ngx_tg_counters_t;
typedef struct ngx_tg_trace_conf_s ngx_tg_trace_conf_t;

/* `concurrency` and `rate`, of a tool or of all tools of a server. */
typedef struct {
    ngx_uint_t concurrency; /* 0: no limit */
    ngx_uint_t queue;
    ngx_uint_t rate; /* thousandths of calls a minute; 0: no limit */
    ngx_uint_t burst;
    ngx_uint_t dry_run;   /* of rate: who is too early is only logged */
    ngx_uint_t log_level; /* of that, and of refusals */
    ngx_str_t rate_text;
    ngx_str_t key; /* the same after a reload */
    void *node;    /* of rate, in shared memory */
} ngx_tg_limit_t;

/* A property of the arguments, and its value where it is not given. */
typedef struct {
    tg_str_t name;
    /* raw: the schema's `default`; absent: there is none */
    tg_str_t default_value;
    unsigned is_integer:1;        /* numbers are whole ones, however written */
    unsigned has_integer_items:1; /* the numbers among its elements are */
} ngx_tg_arg_property_t;

/* An argument that a value names, or a member of one, by the way to it. */
typedef struct {
    tg_variable_type_t kind;
    ngx_uint_t n;
    ngx_tg_arg_property_t *steps;
    ngx_str_t text; /* as the config has it, and where */
    ngx_str_t file;
    ngx_uint_t line;
} ngx_tg_arg_path_t;

/*
 * A `tool` or `method` block; what a block around tools says of all of them;
 * or a tool that somebody else listed, as such blocks have it.
 */
struct ngx_tg_tool_s {
    tg_catalog_entry_t entry;
    const ngx_tg_handler_t *handler;
    void *conf;                 /* the handler's */
    const ngx_tg_tool_t *block; /* whose rules and limits it has */
    const ngx_tg_tool_t *group; /* of a block: the one around it */
    tg_schema_t *input;         /* NULL: any arguments */
    tg_schema_t *output_schema; /* NULL: any result */
    ngx_pool_t *pool;           /* of an imported tool */
    ngx_uint_t is_uncompiled;   /* its schemas are compiled when needed */
    tg_str_t unchecked;         /* why one is not checked; or empty */
    ngx_uint_t validate;        /* on, off, formats */
    ngx_uint_t is_group;        /* it is around others */
    ngx_array_t *rules;         /* allow, deny; NULL: the server's alone */
    ngx_array_t *logs;          /* likewise; empty: off */
    ngx_array_t *properties;    /* ngx_tg_arg_property_t: the schema's */
    ngx_array_t *paths;         /* ngx_tg_arg_path_t *: what its values name */
    ngx_uint_t output;
    ngx_str_t bytes;          /* image, audio or file; empty: it is none */
    ngx_str_t mime;           /* then its type */
    ngx_uint_t stores_output; /* what is too large is kept, and shown in part */
    ngx_uint_t has_preview;   /* it says so itself */
    size_t preview;           /* as much of it; 0: as usual */
    ngx_msec_t timeout;       /* without progress */
    ngx_msec_t max_timeout;   /* with it; right behind that */
    size_t max_output;
    ngx_tg_limit_t limit;
    ngx_uint_t task; /* NGX_TG_TASK_…: what becomes of its calls */
    ngx_int_t retry; /* of those tasks */
    ngx_str_t file;  /* where its block ends */
    ngx_uint_t line;
    ngx_uint_t needs_shm;   /* it tells or counts the server's clients */
    ngx_uint_t is_builtin;  /* every server has it: it is not counted */
    ngx_uint_t is_internal; /* a directive made it, no block of the config */
    ngx_tg_counters_t *counters; /* of a worker; NULL: to be found */
};

/* Where a value with variables stands, until it is known what there is. */
typedef struct {
    ngx_str_t text;        /* as NGINX takes it */
    ngx_str_t source_text; /* as the config has it */
    ngx_str_t file;
    ngx_uint_t line;
    unsigned is_word:1;        /* of a program */
    unsigned is_conditional:1; /* which is not always there */
} ngx_tg_value_source_t;

/* What a server listens on; as ngx_tg_shm.h has it. */
typedef struct {
    const uint64_t *hash;
    ngx_uint_t n;
} ngx_tg_address_set_t;

typedef enum {
    NGX_TG_ACCESS_READ,
    NGX_TG_ACCESS_EXECUTE,
    NGX_TG_ACCESS_TRAVERSE /* a folder */
} ngx_tg_access_mode_t;

/* What the workers' user must reach, and which directive says so. */
typedef struct {
    ngx_str_t path;
    ngx_str_t directive;
    ngx_tg_access_mode_t access_mode;
} ngx_tg_required_file_t;

typedef struct {
    ngx_array_t value_sources;  /* ngx_tg_value_source_t */
    ngx_array_t runners;        /* ngx_tg_runner_t *, one a state dir */
    ngx_array_t limits;         /* ngx_tg_limit_t *, those with a rate */
    ngx_array_t required_files; /* ngx_tg_required_file_t: what tools need */
    ngx_array_t
        *derived_names; /* tg_str_t: variables of callers' values, by maps */
    ngx_array_t *scanned_files; /* ngx_tg_scanned_file_t: files read for them */
    ngx_array_t log_sinks;      /* ngx_tg_log_sink_t *: where logs go */
    ngx_array_t formats;        /* ngx_tg_log_format_t *: what they hold */
    ngx_array_t tracers;        /* ngx_tg_tracer_t *: where traces go */
    ngx_shm_zone_t *zone;
    ngx_array_t servers; /* ngx_tg_srv_conf_t *, with tools */
    ngx_stream_content_handler_pt
        content_handler;             /* a client of such a server */
    ngx_stream_get_variable_pt path; /* ngx_tg_arg_path_t * is its data */
    ngx_uint_t npaths;
    const ngx_tg_handler_t *const *handlers; /* all, and NULL */
    ngx_uint_t has_tools;
    ngx_conf_t *hint_conf; /* of ngx_tg_start_error_hints() */
} ngx_tg_main_conf_t;

typedef struct ngx_tg_srv_conf_s ngx_tg_srv_conf_t;

struct ngx_tg_srv_conf_s {
    tg_catalog_t *catalog; /* NULL: no server of ours */

    /*
     * How long, in ms from its arrival, a list (without a name), or a call of
     * a name that is not known, waits for what starts; 0: it does not.  NULL:
     * nothing starts here.
     */
    ngx_msec_t (*get_wait_time)(const ngx_tg_srv_conf_t *scf, tg_str_t name);

    /* Appends why there is no tool of this name, if that is known. */
    void (*explain_unknown)(const ngx_tg_srv_conf_t *scf, tg_str_t name,
                            tg_buf_t *text);

    /*
     * Appends those that list tools here, as JSON objects with a comma between
     * them, which are not there yet or have failed, as far as a session may
     * see them.  NULL: nobody does.
     */
    void (*write_absent_servers)(void *base, tg_buf_t *json);
    ngx_array_t *blocks; /* ngx_tg_tool_t *: about tools listed later */
    tg_server_info_t info;
    ngx_array_t *rules;         /* tool_allow and tool_deny */
    ngx_array_t *logs;          /* ngx_tg_call_log_t; NULL or empty: none */
    ngx_tg_trace_conf_t *trace; /* NULL: none */
    ngx_uint_t validate;        /* of tools that do not say */
    ngx_uint_t protocol;        /* tg_dialect_t */
    size_t max_frame;
    ngx_int_t max_inflight;
    ngx_msec_t idle_timeout;  /* before a frame; 0: none */
    ngx_msec_t frame_timeout; /* within one */
    ngx_msec_t send_timeout;
    ngx_msec_t timeout; /* of tools that do not say, as they have it */
    ngx_msec_t max_timeout;
    size_t max_output;
    ngx_uint_t stores_output; /* goes with max_output */
    size_t preview;           /* likewise; 0: as usual */
    ngx_uint_t socket_mode;
    uid_t socket_uid;
    gid_t socket_gid;
    ngx_uint_t has_owner;
    ngx_str_t schema_file;
    ngx_str_t runner_path;
    ngx_str_t state_dir;
    ngx_uint_t needs_runner;
    ngx_uint_t has_stored_output; /* some tool keeps what is too large */
    off_t spill_quota;            /* of all that is kept; 0: nothing is */
    ngx_msec_t spill_time;
    ngx_uint_t needs_shm; /* its clients are told something, or counted */
    ngx_uint_t bridges;   /* ngx_tg_bridge_policy_t */
    ngx_tg_address_set_t addresses; /* of a worker */
    ngx_uint_t number;              /* among the servers with tools */
    u_char *file;                   /* where it stands */
    ngx_uint_t line;
    ngx_tg_limit_t limit;
    ngx_tg_runner_t *runner;
    ngx_array_t *status_rules;  /* tool_status_allow */
    ngx_array_t *see_all_rules; /* who sees what is others'; NULL: everybody */
    ngx_str_t task_store;       /* where calls become tasks; or empty */
    ngx_uint_t has_task_tools;  /* agents have tools to look at them */
    tg_str_t label;             /* of a worker: as ngx_tg_counters.h names it */
    ngx_tg_counters_t *counters;
};

extern ngx_module_t ngx_stream_toolgate_module;
extern ngx_module_t ngx_tg_listener_module;

/* --- directives --- */

/* Logs what is wrong with the directive: NGX_CONF_ERROR. */
char *ngx_tg_conf_error(ngx_conf_t *cf, const char *format, ...);

/* A new element, zeroed, of an array that is made when it is NULL. */
void *ngx_tg_conf_array_push(ngx_conf_t *cf, ngx_array_t **array, size_t size);

char *ngx_tg_conf_set_choice(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_idle_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_conf_set_socket_mode(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_conf_set_socket_owner(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/* Whose the sockets of a server are. */
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
char *ngx_tg_conf_set_max_output(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_conf_set_server_max_output(ngx_conf_t *cf, ngx_command_t *cmd,
                                        void *conf);
char *ngx_tg_conf_set_preview(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_set_server_preview(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_conf_set_spill(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
ngx_int_t ngx_tg_add_variables(ngx_conf_t *cf);
ngx_int_t ngx_tg_path_variable(ngx_stream_session_t *s,
                               ngx_stream_variable_value_t *v, uintptr_t data);

/* Finds variables that nobody defines, and says in which line they stand. */
ngx_int_t ngx_tg_check_unknown_variables(ngx_conf_t *cf);

/* What is wrong with an absolute path: NULL, or what to write. */
typedef const char *(*ngx_tg_path_check_pt)(ngx_str_t *path);

const char *ngx_tg_runner_path_check(ngx_str_t *path);
const char *ngx_tg_state_dir_check(ngx_str_t *path);
const char *ngx_tg_schema_file_path_check(ngx_str_t *path);

/* Of cmd->post, where one function serves two directives. */
#define NGX_TG_CONF_DENY 1
#define NGX_TG_SCHEMA_FROM_FILE 1

/* Of `task`: no call becomes one, those that ask for it do, all do. */
#define NGX_TG_TASK_NEVER 0
#define NGX_TG_TASK_OPTIONAL 1
#define NGX_TG_TASK_REQUIRED 2

/* Of `validate` and `tool_validate`. */
#define NGX_TG_VALIDATE_ON 0
#define NGX_TG_VALIDATE_OFF 1
#define NGX_TG_VALIDATE_FORMATS 2

/* What tools of a server that is read whole do not say of time and size. */
void ngx_tg_server_init_timeouts(ngx_tg_srv_conf_t *scf);
ngx_int_t ngx_tg_server_init_outputs(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

/* Of a server: each `tool` and `method`, then scf->blocks; NULL: no more. */
ngx_tg_tool_t *ngx_tg_server_get_block(ngx_tg_srv_conf_t *scf, size_t i);

/*
 * Where a list is one message, it may be too long for one: warns of that,
 * unless the one before (NULL: there was none) was, too.
 */
void ngx_tg_server_check_list_size(const ngx_tg_srv_conf_t *scf,
                                   const tg_catalog_t *before, ngx_log_t *log);

/* --- schemas --- */

/*
 * NULL, logged, when text is no schema; the cycle's pool frees it.  Whether
 * formats are asserted is settled by ngx_tg_server_compile_schemas().
 */
tg_schema_t *ngx_tg_schema_compile(ngx_conf_t *cf, ngx_str_t *directive,
                                   tg_str_t text, ngx_uint_t has_formats);

/*
 * Compiles the schemas of an imported tool, within the bounds of this worker
 * for imported schemas.  A schema that is invalid or exceeds them is not
 * checked, and tool->unchecked says why.  Returns the steps that it took.
 */
uint64_t ngx_tg_tool_compile_imported(ngx_tg_tool_t *tool);

/*
 * For all tools of a server, once `validate` of each is known: drops what is
 * not to be checked, compiles anew what asserts formats.
 */
ngx_int_t ngx_tg_server_compile_schemas(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

/* --- access --- */

char *ngx_tg_conf_add_access_rules(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/* What there is among rules, or NULL. */
ngx_uint_t ngx_tg_access_rules_get_flags(const ngx_array_t *rules);
#define NGX_TG_RULES_ALLOW 1
#define NGX_TG_RULES_ALLOW_SOME 2 /* and not all */
#define NGX_TG_RULES_DENY 4
#define NGX_TG_RULES_NAME_USERS 8

/* A number, or the name of a user or group: NGX_OK or NGX_DECLINED. */
ngx_int_t ngx_tg_parse_user_or_group(const u_char *text, ngx_uint_t is_group,
                                     uint32_t *id);

/* --- limits --- */

char *ngx_tg_conf_set_concurrency(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_conf_set_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Names the limits of a server that is read whole, and orders their memory. */
ngx_int_t ngx_tg_server_init_limits(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

/* --- logs of calls --- */

char *ngx_tg_conf_add_log(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_add_log_format(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);

/* --- traces --- */

char *ngx_tg_conf_set_trace(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* --- runner --- */

/*
 * The runner of a state directory, made known at config load: one a
 * directory, whatever servers share it.  NULL: no memory.
 */
ngx_tg_runner_t *ngx_tg_runner_add(ngx_conf_t *cf, ngx_str_t *path,
                                   ngx_str_t *state_dir);

/*
 * Directives of all servers are known: settles the default directory, checks
 * lengths.  NGX_OK or NGX_ERROR, logged.
 */
ngx_int_t ngx_tg_runner_init_conf(ngx_cycle_t *cycle, ngx_tg_runner_t *runner);

/* Makes the state directory for the workers' user.  In the master. */
ngx_int_t ngx_tg_runner_make_state_dir(ngx_cycle_t *cycle,
                                       ngx_tg_runner_t *runner);

/* May the workers run all that they are to?  NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_check_required_files(ngx_cycle_t *cycle,
                                      ngx_tg_main_conf_t *mcf);

/* Both are settled where they are empty; NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_runner_resolve_paths(ngx_cycle_t *cycle, ngx_str_t *path,
                                      ngx_str_t *state_dir);
ngx_int_t ngx_tg_state_dir_make(ngx_cycle_t *cycle, ngx_str_t *dir);

/* Would that succeed?  Touches nothing. */
ngx_int_t ngx_tg_state_dir_test(ngx_cycle_t *cycle, ngx_str_t *dir);

/*
 * Folders by descriptors, O_PATH; -1 and errno.  What an absolute path is in,
 * and its last name; what is there of a name, no link; is it ours, and nobody
 * else may write there?
 */
int ngx_tg_dir_open_parent(const u_char *path, const char **name);
int ngx_tg_dir_open_child(int at, const char *name);
ngx_uint_t ngx_tg_dir_is_private(int fd);

/* Makes one, and gives it to a user. */
int ngx_tg_dir_make_owned(int at, const char *name, uid_t uid, gid_t gid);

#endif
