/*
 * toolgate, the command line: its commands, options and exit statuses.
 *
 * Each file contains a group of commands; tg_cli_main.c has the table of
 * commands.  Results go to standard output, everything else to standard error.
 */
#ifndef TG_CLI_H
#define TG_CLI_H

#include "transport/tg_uv_endpoint.h"

/*
 * Exit statuses; 128 + N after signal N, as in the shell.  `validate` has
 * further ones.
 */
enum {
    TG_CLI_EXIT_OK = 0,
    TG_CLI_EXIT_REFUSED = 1, /* the tool or the server returned an error */
    /* No answer, or an invalid command line. */
    TG_CLI_EXIT_FAILED = 2
};

/*
 * Options, as a bit mask: options that a command accepts, or options that were
 * given.
 */
enum {
    TG_CLI_OPT_SOCKET = 1,
    TG_CLI_OPT_JSON = 2,
    TG_CLI_OPT_WATCH = 65536,
    TG_CLI_OPT_PROMETHEUS = 131072,
    TG_CLI_OPT_TIMEOUT = 4,
    TG_CLI_OPT_METHOD = 8,
    TG_CLI_OPT_WRITE = 16,
    TG_CLI_OPT_NAME = 32,
    TG_CLI_OPT_FILE = 64,
    TG_CLI_OPT_HELP = 128,
    TG_CLI_OPT_VERSION = 256,
    TG_CLI_OPT_FORMATS = 512,
    TG_CLI_NO_ARGS = 1024, /* the command takes no arguments */
    TG_CLI_OPT_OUTPUT = 2048,
    TG_CLI_OPT_SCOPE = 4096,
    TG_CLI_OPT_REMOVE = 8192,
    TG_CLI_OPT_SCHEMA = 16384,
    TG_CLI_OPT_CA = 262144,
    TG_CLI_OPT_CERT = 524288,
    TG_CLI_OPT_KEY = 1048576,
    TG_CLI_OPT_TLS_NAME = 2097152,
    TG_CLI_OPT_FOLLOW = 4194304,
    TG_CLI_OPT_IN = 8388608,
    TG_CLI_OPT_OUT = 16777216,
    /*
     * Options that select frames of a trace: --connection, --client,
     * --dialect, --match.
     */
    TG_CLI_OPT_TRACE_FILTER = 33554432,
    TG_CLI_OPT_AGENT = 67108864,
    /* Further options of task submit: --priority, --cwd, --metadata. */
    TG_CLI_OPT_TASK_SUBMIT = 134217728,
    /* Options that select tasks: --state, --limit. */
    TG_CLI_OPT_TASK_FILTER = 268435456,
    TG_CLI_OPT_FORCE = 536870912,
    TG_CLI_OPT_DENY = 1073741824
};

#define TG_CLI_OPT_ALL UINT64_C(0x80000000)

/* An option that was given on the command line. */
typedef struct {
    uint64_t flag;
    const char *name;    /* long name */
    const char *written; /* text of argv, with "=VALUE" if it was given so */
    const char *value;   /* NULL: the option takes no value */
} tg_cli_given_option_t;

/*
 * Largest number of options on a command line, further schemas of `validate`
 * included.
 */
#define TG_CLI_OPTIONS_MAX 128

/*
 * Largest number of further schemas of `validate`, as of the files that a
 * schema refers to.
 */
#define TG_CLI_SCHEMAS_MAX 64

typedef struct {
    uint64_t given; /* mask of the options above */
    /* The options that were given, in their order. */
    tg_cli_given_option_t given_options[TG_CLI_OPTIONS_MAX];
    size_t ngiven_options;
    const char *socket;
    tg_uv_tls_options_t tls;
    const char *method;
    const char *name;
    const char *file;
    const char *output;
    const char *scope;
    const char *timeout;
    const char *agent;
    const char *priority;
    const char *cwd;
    const char *metadata;
    const char *state;
    const char *limit;
    const char *schema; /* last element of schemas */
    const char *schemas[TG_CLI_SCHEMAS_MAX];
    size_t nschemas;
    const char *connection;
    const char *client;
    const char *dialect;
    const char *match;
    uint64_t timeout_ms; /* 0: not given */
    char **args; /* arguments that are not options; args[0] is the command */
    int nargs;
} tg_cli_options_t;

typedef struct {
    const char *name;
    const char *synopsis;
    const char *summary;
    const char *help;
    /*
     * Text that is appended to the error for an unexpected argument; NULL:
     * none.
     */
    const char *extra_arg_hint;
    uint64_t options; /* mask of the accepted options */

    /*
     * Runs the command and returns the exit status.  options->args begins with
     * the first argument after the command's name.
     */
    int (*run)(const tg_cli_options_t *options);
} tg_cli_command_t;

extern const tg_cli_command_t tg_cli_cmd_list;
extern const tg_cli_command_t tg_cli_cmd_call;
extern const tg_cli_command_t tg_cli_cmd_ping;
extern const tg_cli_command_t tg_cli_cmd_status;
extern const tg_cli_command_t tg_cli_cmd_ps;
extern const tg_cli_command_t tg_cli_cmd_cancel;
extern const tg_cli_command_t tg_cli_cmd_watch;
extern const tg_cli_command_t tg_cli_cmd_trace;
extern const tg_cli_command_t tg_cli_cmd_task;
extern const tg_cli_command_t tg_cli_cmd_automation;
extern const tg_cli_command_t tg_cli_cmd_daemon;
extern const tg_cli_command_t tg_cli_cmd_config;
extern const tg_cli_command_t tg_cli_cmd_validate;

/*
 * Parses the command line.  options->args shares the memory of argv.  Returns
 * TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED after reporting the error.
 */
int tg_cli_options_parse(tg_cli_options_t *options, int argc, char **argv);

/*
 * Checks that the command accepts all given options and arguments.  Returns
 * TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED after reporting the error.
 */
int tg_cli_options_check(const tg_cli_options_t *options,
                         const tg_cli_command_t *command);

/*
 * Returns the socket of --socket, of TOOLGATE_SOCKET, or the default socket.
 * Returns NULL after reporting that there is none.
 */
const char *tg_cli_options_get_socket(const tg_cli_options_t *options);

/* Checks whether TOOLGATE_DEBUG is set, which shows every message. */
int tg_cli_is_debug_enabled(void);

#endif
