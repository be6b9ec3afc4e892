/*
 * toolgate, the command line: its commands, options and exit statuses.
 *
 * One file a group of commands; tg_cli_main.c has the table of them.
 * Results go to standard output, everything else to standard error.
 */
#ifndef TG_CLI_H
#define TG_CLI_H

#include "transport/tg_uv_endpoint.h"

/*
 * Exit statuses; 128 + N after signal N, as the shell has it.  `validate` has
 * its own.
 */
enum {
    TG_CLI_EXIT_OK = 0,
    TG_CLI_EXIT_REFUSED = 1, /* the tool, or the server, said no */
    TG_CLI_EXIT_FAILED =
        2 /* it could not be asked, or asked for nothing sane */
};

/* What a command may be given. */
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
    TG_CLI_NO_ARGS = 1024, /* no arguments at all */
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
    TG_CLI_OPT_TRACE_FILTER =
        33554432, /* what chooses among the frames of a trace */
    TG_CLI_OPT_AGENT = 67108864,
    TG_CLI_OPT_TASK_SUBMIT = 134217728, /* what else is said of a task */
    TG_CLI_OPT_TASK_FILTER = 268435456, /* what chooses among tasks */
    TG_CLI_OPT_FORCE = 536870912,
    TG_CLI_OPT_DENY = 1073741824
};

#define TG_CLI_OPT_ALL UINT64_C(0x80000000)

/* An option as it was written on the command line, and its bit. */
typedef struct {
    uint64_t flag;
    const char *name;    /* the long name */
    const char *written; /* argv's own text, with "=VALUE" if that was there */
    const char *value;   /* NULL: it takes none */
} tg_cli_given_option_t;

/* Options on one command line; validate may have as many schemas. */
#define TG_CLI_OPTIONS_MAX 128

/* Further schemas of `validate`: as many as a schema's own files. */
#define TG_CLI_SCHEMAS_MAX 64

typedef struct {
    uint64_t given; /* TG_CLI_… */
    /* in their order */
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
    const char *schema; /* the last of schemas */
    const char *schemas[TG_CLI_SCHEMAS_MAX];
    size_t nschemas;
    const char *connection;
    const char *client;
    const char *dialect;
    const char *match;
    uint64_t timeout_ms; /* 0: none was given */
    char **args;         /* what is no option; the command is the first */
    int nargs;
} tg_cli_options_t;

typedef struct {
    const char *name;
    const char *synopsis;
    const char *summary;
    const char *help;
    const char
        *extra_arg_hint; /* what is meant by an argument that it does not take;
                            NULL: nobody knows */
    uint64_t options;    /* TG_CLI_… */

    /* args are those behind the command's name; returns the exit status. */
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
 * Sorts argv; args gets the rest, which is argv's own memory.  TG_CLI_EXIT_OK,
 * or TG_CLI_EXIT_FAILED when it has said what is wrong.
 */
int tg_cli_options_parse(tg_cli_options_t *options, int argc, char **argv);

/* TG_CLI_EXIT_OK when the command takes all options that were given. */
int tg_cli_options_check(const tg_cli_options_t *options,
                         const tg_cli_command_t *command);

/*
 * The socket by option or environment, NULL when it has said that there is
 * none.
 */
const char *tg_cli_options_get_socket(const tg_cli_options_t *options);

/* Does TOOLGATE_DEBUG ask for every message? */
int tg_cli_is_debug_enabled(void);

#endif
