/*
 * What the files of the NGINX module share.
 *
 *   conf/      directives and blocks
 *   call/      a call: access, limits, schemas, its end
 *   handlers/  what answers a call, a file each
 *   line/      connections to those who work for a worker: the runner
 *   stream/    a client's session
 *   move/      sessions that change their worker
 *   listen/    the socket file
 */
#ifndef _NGX_TOOLGATE_H_INCLUDED_
#define _NGX_TOOLGATE_H_INCLUDED_

#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_event.h>
#include <ngx_stream.h>

#include "core/tg_caller.h"
#include "core/tg_peer.h"
#include "schema/tg_schema.h"

#define NGX_TOOLGATE_VERSION TG_VERSION

/* The context of directives within a tool or method block. */
#define NGX_STREAM_TOOL_CONF 0x10000000

/*
 * The longest state directory: a Unix socket's path has 108 bytes with its
 * end, and the runner binds "/runner-1.sock" under a name one longer.
 */
#define NGX_TOOLGATE_STATE_DIR_MAX 92

/* A file's mode for "%d%d%d%d": NGINX's formats know no octal numbers. */
#define NGX_TOOLGATE_DIGITS(mode)                                              \
    (int) ((mode) >> 9 & 7), (int) ((mode) >> 6 & 7), (int) ((mode) >> 3 & 7), \
        (int) ((mode) % 8)

/* A call that makes progress is not hung, but it is no task either. */
#define NGX_TOOLGATE_MAX_TIMEOUT 3600000

typedef struct ngx_toolgate_tool_s ngx_toolgate_tool_t;
typedef struct ngx_toolgate_call_s ngx_toolgate_call_t;
typedef struct ngx_toolgate_session_s ngx_toolgate_session_t;
typedef struct ngx_toolgate_runner_s ngx_toolgate_runner_t;
typedef struct ngx_toolgate_ask_s ngx_toolgate_ask_t;

/*
 * Starts a call: answers it (ngx_toolgate_answer()) or keeps it
 * (ngx_toolgate_defer()).  The slices of request live until it
 * returns; what it allocates from call->pool, until the call ends.
 */
typedef void (*ngx_toolgate_handler_pt)(ngx_toolgate_call_t *call,
                                        tg_request_t *request);

/* `env NAME VALUE` */
typedef struct {
    ngx_str_t name;
    ngx_stream_complex_value_t value;
} ngx_toolgate_env_t;

/* `concurrency` and `rate`, of a tool or of all tools of a server. */
typedef struct {
    ngx_uint_t concurrency; /* 0: no limit */
    ngx_uint_t queue;
    ngx_uint_t rate; /* thousandths of calls a minute; 0: no limit */
    ngx_uint_t burst;
    ngx_str_t rate_text;
    ngx_str_t key; /* the same after a reload */
    void *node;    /* of rate, in shared memory */
} ngx_toolgate_limit_t;

/* A `tool` or `method` block. */
struct ngx_toolgate_tool_s {
    tg_entry_t entry;
    ngx_toolgate_handler_pt handler;
    tg_schema_t *input;         /* NULL: any arguments */
    tg_schema_t *output_schema; /* NULL: any result */
    ngx_uint_t validate;        /* on, off, formats */
    ngx_array_t *rules;         /* allow, deny; NULL: the server's alone */
    ngx_stream_complex_value_t *value; /* return */
    ngx_str_t argument;                /* return: all of it is this one */
    ngx_array_t *argv;                 /* exec: ngx_stream_complex_value_t */
    ngx_str_t program;                 /* exec: absolute, terminated */
    ngx_array_t *env;                  /* ngx_toolgate_env_t */
    ngx_stream_complex_value_t *stdin_value;
    ngx_stream_complex_value_t *cwd;
    ngx_array_t *properties; /* ngx_str_t: names that the schema declares */
    ngx_uint_t output;
    ngx_msec_t timeout;     /* without progress */
    ngx_msec_t max_timeout; /* with it */
    size_t max_output;
    ngx_toolgate_limit_t limit;
};

/* Where a value with variables stands, until it is known what there is. */
typedef struct {
    ngx_str_t text;
    ngx_str_t file;
    ngx_uint_t line;
} ngx_toolgate_use_t;

typedef struct {
    ngx_array_t uses;    /* ngx_toolgate_use_t */
    ngx_array_t runners; /* ngx_toolgate_runner_t *, one a state dir */
    ngx_array_t limits;  /* ngx_toolgate_limit_t *, those with a rate */
    ngx_shm_zone_t *zone;
    ngx_array_t servers; /* ngx_toolgate_srv_conf_t *, with tools */
    ngx_uint_t has_tools;
} ngx_toolgate_main_conf_t;

typedef struct {
    tg_catalogue_t *catalogue; /* NULL: no server of ours */
    tg_info_t info;
    ngx_str_t server_name;
    ngx_str_t instructions;
    ngx_array_t *rules;  /* tool_allow and tool_deny */
    ngx_uint_t validate; /* of tools that do not say */
    ngx_uint_t protocol; /* tg_dialect_t */
    size_t max_frame;
    ngx_int_t max_inflight;
    ngx_msec_t idle_timeout;  /* before a frame; 0: none */
    ngx_msec_t frame_timeout; /* within one */
    ngx_msec_t send_timeout;
    ngx_uint_t socket_mode;
    uid_t socket_uid;
    gid_t socket_gid;
    ngx_uint_t has_owner;
    ngx_str_t schema_file;
    ngx_str_t runner_path;
    ngx_str_t state_dir;
    ngx_uint_t has_exec;
    ngx_uint_t number; /* among the servers with tools */
    ngx_toolgate_limit_t limit;
    ngx_toolgate_runner_t *runner;
} ngx_toolgate_srv_conf_t;

/* The process at the other end of a Unix socket, as the kernel knows it. */
typedef struct {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    ngx_uint_t ngroups;
} ngx_toolgate_client_t;

/* What a client is expected to do next; each has its timer. */
typedef enum {
    NGX_TOOLGATE_WAIT_NOTHING = 0, /* its calls run */
    NGX_TOOLGATE_WAIT_FRAME,       /* to end a frame */
    NGX_TOOLGATE_WAIT_IDLE,        /* to begin one */
    NGX_TOOLGATE_WAIT_SENT         /* to read its answers */
} ngx_toolgate_wait_t;

/* One client's connection. */
struct ngx_toolgate_session_s {
    ngx_stream_session_t *stream;
    ngx_connection_t *connection;
    ngx_toolgate_srv_conf_t *conf;
    tg_peer_t peer;
    tg_buf_t in; /* bytes that the peer did not consume */
    size_t sent; /* bytes of peer.out that were sent */
    uint64_t bytes_in;
    uint64_t bytes_out;
    ngx_toolgate_wait_t wait; /* what its timers are set for */

    ngx_toolgate_call_t *current; /* while its values are evaluated */
    const tg_entry_t *last_entry; /* of the call that ended last */
    const char *last_status;
    ngx_msec_t leaving_since;
    ngx_msec_t packed_since; /* when nothing kept it here any more */
    ngx_msec_t last_time;
    ngx_msec_t last_queued;

    ngx_toolgate_client_t client;

    ngx_queue_t turn;      /* in the row of those who wait for theirs */
    ngx_queue_t silent;    /* among those who have not spoken */
    ngx_queue_t memory;    /* among those who keep much */
    ngx_event_t leaving;   /* looks again whether it can go */
    size_t held;           /* bytes that it keeps, when they are many */
    ngx_msec_t held_since; /* when it began to */

    unsigned has_client:1; /* client was asked for, and is known */
    unsigned is_running:1; /* within ngx_toolgate_session_run() */
    unsigned has_read:1;   /* a whole frame came since the timers were set */
    unsigned has_sent:1;   /* it took bytes since then */
    unsigned is_waiting:1; /* for its turn */
    unsigned is_eof:1;     /* it will send no more */
    unsigned is_leaving:1; /* its worker exits */
    unsigned is_packed:1;  /* only a taker is missing */
    unsigned is_drained:1; /* the last look before goodbye was taken */
    unsigned is_ending:1;  /* what is in peer.out, then close */
    unsigned is_broken:1;  /* close at once */
};

/* A request to the runner.  Memory of whoever asks, for as long. */
struct ngx_toolgate_ask_s {
    ngx_toolgate_runner_t *runner; /* NULL: nothing is under way */
    uint64_t id;
    void *data; /* of whoever asks */

    /* Nothing is under way any more. */
    void (*answer)(void *data, const tg_answer_t *answer);

    /* The runner's notification `progress` for it; or NULL. */
    void (*progress)(void *data, const tg_message_t *message);
};

/* Of a program that changes its worker: hexadecimal, hard to guess. */
#define NGX_TOOLGATE_KEY 32

/* One call of a tool or method. */
struct ngx_toolgate_call_s {
    ngx_toolgate_session_t *session;
    ngx_toolgate_tool_t *tool;
    ngx_pool_t *pool;
    ngx_stream_variable_value_t *variables; /* of this call, when it has any */
    tg_request_t *request;                  /* NULL once deferred */
    tg_call_t *deferred;                    /* NULL until then */
    ngx_msec_t start;
    ngx_msec_t queued;             /* of it, waiting in the runner */
    ngx_event_t timer;             /* deferred: the last resort */
    ngx_toolgate_ask_t program;    /* exec, or adopt */
    ngx_toolgate_ask_t release;    /* of the program */
    ngx_toolgate_runner_t *holder; /* holds it; NULL: it is not held */
    char key[NGX_TOOLGATE_KEY + 1];
    const tg_entry_t *now; /* carried: what the catalogue has, or NULL */
    unsigned is_carried:1; /* it began in another worker */
    unsigned is_kept:1;    /* its program cannot be held: it ends here */
};

extern ngx_module_t ngx_stream_toolgate_module;
extern ngx_module_t ngx_toolgate_listener_module;

/* --- directives --- */

char *ngx_toolgate_choice(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_idle_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_socket_mode(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_socket_owner(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_path(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_tool(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_text(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_annotations(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_schema(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_return(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_exec(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_stdin(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_max_output(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
ngx_int_t ngx_toolgate_add_variables(ngx_conf_t *cf);

/*
 * An argument, by the name that a variable has of it; its value is absent
 * when the call has none.
 */
void ngx_toolgate_argument(ngx_toolgate_tool_t *tool,
                           const tg_request_t *request, ngx_str_t *name,
                           tg_json_note_t *note);

/* Is a value `$tool_arg_NAME` and nothing else?  The name, or empty. */
ngx_str_t ngx_toolgate_plain_argument(const ngx_str_t *text);

/* Finds variables that nobody defines, and says in which line they stand. */
ngx_int_t ngx_toolgate_check_variables(ngx_conf_t *cf);

/* What is wrong with an absolute path: NULL, or what to write. */
typedef const char *(*ngx_toolgate_mistake_pt)(ngx_str_t *path);

const char *ngx_toolgate_runner_mistake(ngx_str_t *path);
const char *ngx_toolgate_state_dir_mistake(ngx_str_t *path);
const char *ngx_toolgate_schema_file_mistake(ngx_str_t *path);

/* Of cmd->post, where one function serves two directives. */
#define NGX_TOOLGATE_DENY 1
#define NGX_TOOLGATE_FILE 1

/* Of `validate` and `tool_validate`. */
#define NGX_TOOLGATE_ON 0
#define NGX_TOOLGATE_OFF 1
#define NGX_TOOLGATE_FORMATS 2

/* --- schemas --- */

/*
 * NULL, logged, when text is no schema; the cycle's pool frees it.  Whether
 * formats are asserted is settled by ngx_toolgate_compile_schemas().
 */
tg_schema_t *ngx_toolgate_schema_compile(ngx_conf_t *cf, ngx_str_t *directive,
                                         tg_str_t text, ngx_uint_t has_formats);

/*
 * For all tools of a server, once `validate` of each is known: drops what is
 * not to be checked, compiles anew what asserts formats.
 */
ngx_int_t ngx_toolgate_compile_schemas(ngx_conf_t *cf,
                                       ngx_toolgate_srv_conf_t *scf);

/* As tg_schema_check_notes(), with the worker's checker. */
int ngx_toolgate_schema_check(const tg_schema_t *schema, tg_str_t raw,
                              const tg_json_notes_t *notes, tg_buf_t *error);

/*
 * Does an outcome fit the tool's output schema?  If not, it becomes a
 * failure whose text is in scratch.
 */
void ngx_toolgate_check_outcome(ngx_toolgate_tool_t *tool,
                                tg_outcome_t *outcome, tg_buf_t *scratch);
void ngx_toolgate_schema_exit(void);

/* --- session --- */

/* As ngx_stream_init_connection(), where the worker has room for a client. */
void ngx_toolgate_init_connection(ngx_connection_t *c);

void ngx_toolgate_handler(ngx_stream_session_t *s);

/*
 * Reads, serves and writes as far as it goes now, then sets timers or closes
 * the session.  For every event, and after every late answer.
 */
void ngx_toolgate_session_run(ngx_toolgate_session_t *session);

/* Frees what the worker keeps for the next session. */
void ngx_toolgate_session_exit(void);

/* --- access --- */

char *ngx_toolgate_access(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* A number, or the name of a user or group: NGX_OK or NGX_DECLINED. */
ngx_int_t ngx_toolgate_id(const u_char *text, ngx_uint_t is_group,
                          uint32_t *id);

/* A connection's client, without groups; NGX_DECLINED: it came over TCP. */
ngx_int_t ngx_toolgate_who(ngx_connection_t *c, ngx_toolgate_client_t *client);

/* The session's client; NULL when it came over TCP. */
const ngx_toolgate_client_t *ngx_toolgate_client(
    ngx_toolgate_session_t *session);

/*
 * May client (NULL: unknown) see and call this entry?  The first rule that
 * matches decides, the tool's before the server's; without one it may.
 */
ngx_uint_t ngx_toolgate_may(const ngx_toolgate_srv_conf_t *scf,
                            const tg_entry_t *entry,
                            const ngx_toolgate_client_t *client);

/* The same for a session, as tg_peer_ops_t has it. */
int ngx_toolgate_is_visible(void *host, const tg_entry_t *entry);

/* --- limits --- */

char *ngx_toolgate_concurrency(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Names the limits of a server that is read whole, and orders their memory. */
ngx_int_t ngx_toolgate_limits(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf);

/* Counts a call; 0: it was one too many, and was answered. */
ngx_uint_t ngx_toolgate_is_within_rate(ngx_toolgate_call_t *call);

/* --- dispatch --- */

/*
 * Is the turn over that began last?  Then the session is put into the row,
 * and ngx_toolgate_session_run() is called when its next turn comes.  As
 * tg_peer_ops_t has it: host is the session.
 */
int ngx_toolgate_turn_is_over(void *host);

extern const tg_peer_ops_t ngx_toolgate_peer_ops;

/* Evaluates a value of the tool for this call: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_toolgate_value(ngx_toolgate_call_t *call,
                             ngx_stream_complex_value_t *value,
                             ngx_str_t *text);

/* The end of a call: answers, counts, frees it. */
void ngx_toolgate_answer(ngx_toolgate_call_t *call,
                         const tg_outcome_t *outcome);
void ngx_toolgate_fail(ngx_toolgate_call_t *call, tg_failure_t failure,
                       const char *text);

/*
 * Keeps the call beyond its handler and arms its last resort, after
 * timeout.  NGX_ERROR: it was answered and freed.
 */
ngx_int_t ngx_toolgate_defer(ngx_toolgate_call_t *call, ngx_msec_t timeout);

const char *ngx_toolgate_failure_name(tg_failure_t failure);

/* A call that began elsewhere: its pool and what is the same for all. */
ngx_toolgate_call_t *ngx_toolgate_call_carried(ngx_toolgate_session_t *session,
                                               tg_call_t *deferred,
                                               ngx_msec_t timeout);

/* A call goes on elsewhere: it is freed, and cancelled nowhere. */
void ngx_toolgate_call_drop(ngx_toolgate_call_t *call);

/* Frees what the worker keeps for the next call. */
void ngx_toolgate_dispatch_exit(void);

/* --- handlers --- */

void ngx_toolgate_return_handler(ngx_toolgate_call_t *call,
                                 tg_request_t *request);
void ngx_toolgate_exec_handler(ngx_toolgate_call_t *call,
                               tg_request_t *request);

/* Makes the call's program known as that which will be asked for. */
void ngx_toolgate_exec_ask(ngx_toolgate_call_t *call);

/* --- calls that change their worker --- */

/* Asks for a program that is held under call->key; as runner_ask(). */
int ngx_toolgate_adopt(ngx_toolgate_runner_t *runner,
                       ngx_toolgate_call_t *call);

/* --- runner --- */

/*
 * The runner of a state directory, made known at config load: one a
 * directory, whatever servers share it.  NULL: no memory.
 */
ngx_toolgate_runner_t *ngx_toolgate_runner_add(ngx_conf_t *cf, ngx_str_t *path,
                                               ngx_str_t *state_dir);

/*
 * Directives of all servers are known: settles the default directory, checks
 * lengths.  NGX_OK or NGX_ERROR, logged.
 */
ngx_int_t ngx_toolgate_runner_init_conf(ngx_cycle_t *cycle,
                                        ngx_toolgate_runner_t *runner);

/* Makes the state directory for the workers' user.  In the master. */
ngx_int_t ngx_toolgate_runner_prepare(ngx_cycle_t *cycle,
                                      ngx_toolgate_runner_t *runner);

/* May the workers run all that they are to?  NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_reach(ngx_cycle_t *cycle, ngx_toolgate_main_conf_t *mcf);

/* Both are settled where they are empty; NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_runner_paths(ngx_cycle_t *cycle, ngx_str_t *path,
                                    ngx_str_t *state_dir);
ngx_int_t ngx_toolgate_make_dir(ngx_cycle_t *cycle, ngx_str_t *dir);

/* Would that succeed?  Touches nothing. */
ngx_int_t ngx_toolgate_test_dir(ngx_cycle_t *cycle, ngx_str_t *dir);

/*
 * Sends a request with params, raw JSON.  TG_OK, and the ask's answer comes
 * later, or, when nothing was sent, TG_NOMEM, TG_LIMIT (too large, or too
 * much is waiting).
 */
int ngx_toolgate_runner_ask(ngx_toolgate_runner_t *runner, tg_str_t method,
                            tg_str_t params, ngx_toolgate_ask_t *ask);

/* The runner of a directory, of this config or another one; NULL: no memory. */
ngx_toolgate_runner_t *ngx_toolgate_runner_of(ngx_toolgate_main_conf_t *mcf,
                                              tg_str_t dir);
const ngx_str_t *ngx_toolgate_runner_dir(const ngx_toolgate_runner_t *runner);

/* Ends what is under way: its answer is not wanted, or comes elsewhere. */
void ngx_toolgate_runner_cancel(ngx_toolgate_ask_t *ask);
void ngx_toolgate_runner_forget(ngx_toolgate_ask_t *ask);

#endif
