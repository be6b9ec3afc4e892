/*
 * toolgate, the command line: its commands, options and exit statuses. An int
 * function without a description of its result returns TG_CLI_EXIT_OK, or an
 * exit status after reporting the error.
 */
#ifndef TG_CLI_H
#define TG_CLI_H

#include "base/tg_buf.h"
#include "transport/tg_uv_endpoint.h"

/* 128 + N after signal N; `validate` has further ones. */
enum {
    TG_CLI_EXIT_OK = 0,
    TG_CLI_EXIT_REFUSED = 1, /* the tool or the server returned an error */
    /* No answer, or an invalid command line. */
    TG_CLI_EXIT_FAILED = 2
};

/* Largest number of schemas that --schema adds. */
#define TG_CLI_SCHEMAS_MAX 64

/* Width of the help in columns. */
#define TG_CLI_HELP_WIDTH 79

/* Largest number of options on a command line. */
#define TG_CLI_OPTIONS_MAX 128

typedef struct tg_cli_command_s tg_cli_command_t;
typedef struct tg_cli_session_s tg_cli_session_t;

/* An option that was given on the command line. */
typedef struct {
    const char *written; /* text of argv, with "=VALUE" if it was given so */
    const char *value;   /* NULL: the option takes no value */
} tg_cli_given_option_t;

/* The command line.  Options that were not given are 0 or NULL. */
typedef struct {
    tg_cli_given_option_t given[TG_CLI_OPTIONS_MAX]; /* in their order */
    size_t ngiven;
    const tg_cli_command_t *command; /* NULL: none, or unknown */
    int is_help;
    int is_version;
    int is_json;
    int is_watch;
    int is_prometheus;
    int is_all;
    int is_write;
    int is_remove;
    int is_format_asserted;
    int is_follow;
    int is_in;
    int is_out;
    int is_force;
    int is_deny;
    const char *socket;
    tg_uv_tls_options_t tls;
    const char *method;
    const char *name;
    const char *file;
    const char *output;
    const char *scope;
    const char *timeout;
    uint64_t timeout_ms;
    const char *agent;
    const char *priority;
    const char *cwd;
    const char *metadata;
    const char *state;
    const char *limit;
    const char *schemas[TG_CLI_SCHEMAS_MAX];
    size_t nschemas;
    const char *connection;
    const char *client;
    const char *dialect;
    const char *match;
    char **args; /* arguments that are not options; args[0] is the command */
    int nargs;
} tg_cli_options_t;

/* An option that a command accepts. */
typedef struct {
    const char *name; /* with its dashes */
    char letter;      /* short form; '\0': none */
    const char *arg;  /* name of the value in the help; NULL: no value */
    size_t offset;    /* member of tg_cli_options_t: an int or a text */
    const char *help; /* NULL: only the general help shows the option */
    /* Stores the value; NULL: set the member. */
    int (*set)(tg_cli_options_t *options, const char *value);
} tg_cli_option_t;

#define TG_CLI_FLAG(name, letter, member, help)                                \
    {                                                                          \
        name, letter, NULL, offsetof(tg_cli_options_t, member), help, NULL     \
    }
#define TG_CLI_VALUE(name, letter, arg, member, help)                          \
    {                                                                          \
        name, letter, arg, offsetof(tg_cli_options_t, member), help, NULL      \
    }

/* Ends a table of options. */
#define TG_CLI_OPTIONS_END                                                     \
    {                                                                          \
        NULL, '\0', NULL, 0, NULL, NULL                                        \
    }

#define TG_CLI_OPTION_JSON(help) TG_CLI_FLAG("--json", 'j', is_json, help)
#define TG_CLI_OPTION_RAW_JSON                                                 \
    TG_CLI_OPTION_JSON("print the server's response as JSON")
#define TG_CLI_OPTION_WATCH                                                    \
    TG_CLI_FLAG("--watch", 'w', is_watch, "repeat every second until Ctrl-C")
#define TG_CLI_OPTION_TIMEOUT(help)                                            \
    {                                                                          \
        "--timeout", 't', "SECONDS", offsetof(tg_cli_options_t, timeout),      \
            help, tg_cli_options_set_timeout                                   \
    }
/* The options of all commands that connect to a server. */
#define TG_CLI_OPTIONS_CONNECT                                                 \
    TG_CLI_VALUE("--socket", 's', "PATH", socket,                              \
                 "the server's socket (default: TOOLGATE_SOCKET)"),            \
        TG_CLI_VALUE("--ca", '\0', "FILE", tls.ca, NULL),                      \
        TG_CLI_VALUE("--cert", '\0', "FILE", tls.certificate, NULL),           \
        TG_CLI_VALUE("--key", '\0', "FILE", tls.key, NULL),                    \
        TG_CLI_VALUE("--tls-name", '\0', "NAME", tls.name, NULL)

struct tg_cli_command_s {
    const char *name; /* "task list" for a subcommand */
    const char *synopsis;
    const char *summary;
    const char *help; /* text before the list of options */
    const char *note; /* text after the list of options; NULL: none */
    const tg_cli_option_t *options;
    /* The subcommands, terminated by NULL; or NULL: run the command itself. */
    const tg_cli_command_t *const *subcommands;
    int takes_no_args;
    int max_args;        /* 0: no limit */
    int ignores_options; /* options that the command does not accept */
    /* Text after the error for an unexpected argument; NULL: none */
    const char *extra_arg_hint;
    /* Error if there are no arguments; NULL: the command checks that. */
    const char *missing_arg;

    /* options->args begins after the command's name. */
    int (*run)(const tg_cli_options_t *options);

    /* Runs the command in a session with the server, if run is NULL. */
    int (*on_connect)(tg_cli_session_t *session, void *ctx);

    /* Runs once for each argument, or with NULL; without run and on_connect. */
    int (*on_each_arg)(tg_cli_session_t *session, const char *arg);
};

/* All commands, terminated by NULL. */
extern const tg_cli_command_t *const tg_cli_commands[];

extern const tg_cli_command_t tg_cli_cmd_list;
extern const tg_cli_command_t tg_cli_cmd_call;
extern const tg_cli_command_t tg_cli_cmd_prompts;
extern const tg_cli_command_t tg_cli_cmd_prompt;
extern const tg_cli_command_t tg_cli_cmd_resources;
extern const tg_cli_command_t tg_cli_cmd_read;
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

/* Returns a command by its name, or NULL. */
const tg_cli_command_t *tg_cli_command_find(
    const tg_cli_command_t *const *commands, const char *name);

/* Returns the most similar name of a command, or NULL. */
const char *tg_cli_command_suggest(const tg_cli_command_t *const *commands,
                                   const char *name);

/* Parses the command line, but not the values of options. */
int tg_cli_options_parse(tg_cli_options_t *options, int argc, char **argv);

/* Checks all options and arguments, and sets the values of options. */
int tg_cli_options_set(tg_cli_options_t *options,
                       const tg_cli_command_t *command);
void tg_cli_options_append_help(tg_buf_t *out, const tg_cli_command_t *command);

/* --- tg_cli_option_value.c --- */

/* Parses the value of an option, at least min, unless text is NULL. */
int tg_cli_option_parse_integer(const char *option, const char *text,
                                int64_t min, int64_t *number);
int tg_cli_options_set_timeout(tg_cli_options_t *options, const char *value);

/* Returns the server's socket, or NULL after reporting the error. */
const char *tg_cli_options_get_socket(const tg_cli_options_t *options);

/* Checks whether TOOLGATE_DEBUG is set, which shows every message. */
int tg_cli_is_debug_enabled(void);

#endif
