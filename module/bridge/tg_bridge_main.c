/* toolgate-bridge: the command line and the environment. */
#include "bridge/tg_bridge.h"

#include "base/tg_utf8.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Exit status for an invalid command line or environment. */
#define TG_EXIT_USAGE 2

static const char tg_bridge_usage[] =
    "usage: toolgate-bridge [--dialect auto|ipc|jsonrpc|relay] "
    "[--grace SECONDS]\n"
    "                       [--name NAME] [--ca FILE] [--cert FILE "
    "[--key FILE]]\n"
    "                       [--tls-name NAME] [SOCKET [SCHEMA_FILE]]\n";

static const char tg_bridge_help[] =
    "\n"
    "An MCP server on stdin and stdout that offers the tools of a parent\n"
    "behind a Unix socket: NGINX with the Toolgate module, or another\n"
    "program. An agent starts it; `toolgate config` registers it.\n"
    "\n"
    "  SOCKET             path of the socket, HOST:PORT or tls:HOST:PORT;\n"
    "                     default: TOOLGATE_SOCKET, else AC7_RUNNER_SOCKET,\n"
    "                     else toolgate.sock in XDG_RUNTIME_DIR, else\n"
    "                     /run/toolgate/tools.sock; if none of them exists,\n"
    "                     the exit status is 2\n"
    "  SCHEMA_FILE        JSON array of tools, for a parent that speaks ipc;\n"
    "                     in other dialects the parent lists its tools\n"
    "  --dialect DIALECT  dialect of the parent; auto (the default) is ipc\n"
    "                     with a SCHEMA_FILE, relay with AC7_RUNNER_SOCKET,\n"
    "                     and jsonrpc otherwise\n"
    "  --grace SECONDS    how long requests wait for a parent that is not\n"
    "                     available: 1 to 3600; default: 3\n"
    "  --name NAME        name of the server for the agent (serverInfo.name);\n"
    "                     default: the parent's name\n"
    "  --ca FILE          trusted TLS certificates, as PEM; default: the\n"
    "                     system's\n"
    "  --cert FILE        the bridge's own TLS certificate, as PEM\n"
    "  --key FILE         key of that certificate, if in another file\n"
    "  --tls-name NAME    the name in the server's certificate, if it is not\n"
    "                     HOST\n"
    "  --version          print the version\n"
    "  --help             print this text\n"
    "\n"
    "Environment:\n"
    "  TOOLGATE_SOCKET    path of the socket\n"
    "  TOOLGATE_CA, TOOLGATE_CERT, TOOLGATE_KEY, TOOLGATE_TLS_NAME\n"
    "                     like the options\n"
    "  AC7_RUNNER_SOCKET  path of the socket of an ac7 runner (relay)\n"
    "  TOOLGATE_DEBUG=1   log every message to stderr\n";

static int
tg_bridge_usage_error(const char *text, const char *what)
{
    fprintf(stderr, "toolgate-bridge: %s%s\n%s", text, what, tg_bridge_usage);

    return TG_EXIT_USAGE;
}

static const char *
tg_bridge_getenv(const char *name)
{
    const char *value;

    value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Functions that parse the value of an option return 0 or the exit status. */

static int
tg_bridge_parse_grace(tg_bridge_options_t *options, const char *text)
{
    unsigned long seconds;
    char *end;

    seconds = strtoul(text, &end, 10);
    options->grace = (uint64_t) seconds * 1000;

    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && seconds >= 1
                   && seconds <= TG_BRIDGE_GRACE_MAX
               ? 0
               : tg_bridge_usage_error("--grace must be 1 to 3600 seconds, "
                                       "not ",
                                       text);
}

static int
tg_bridge_parse_name(tg_bridge_options_t *options, const char *text)
{
    options->name = text;

    return text[0] != '\0' && strlen(text) <= TG_NAME_MAX
                   && tg_utf8_is_valid(tg_str_from_cstr(text))
               ? 0
               : tg_bridge_usage_error(
                   "--name must be 1 to 128 bytes of UTF-8, not ", text);
}

static int
tg_bridge_parse_dialect(tg_bridge_options_t *options, const char *text)
{
    int i;

    for (i = TG_DIALECT_AUTO; i < TG_DIALECT_COUNT; i++) {
        if (strcmp(text, tg_dialect_name((tg_dialect_t) i)) == 0) {
            options->dialect = (tg_dialect_t) i;
            return 0;
        }
    }

    return tg_bridge_usage_error("unknown dialect: ", text);
}

/* Reports that no socket is named, and returns the exit status. */
static int
tg_bridge_report_no_socket(const char *last)
{
    fprintf(stderr,
            "toolgate-bridge: no socket given. Give its path as the "
            "argument, or set TOOLGATE_SOCKET to the path after `listen "
            "unix:` in nginx.conf; neither toolgate.sock in XDG_RUNTIME_DIR "
            "nor %s exists\n%s",
            last, tg_bridge_usage);

    return TG_EXIT_USAGE;
}

/* Finds the socket and its dialect. Returns 0 or the exit status. */
static int
tg_bridge_find_socket(tg_bridge_options_t *options)
{
    char why[TG_UV_ERROR_SIZE];
    tg_dialect_t dialect;
    const char *text;
    int is_there;

    dialect = options->schema_file != NULL ? TG_DIALECT_IPC
                                           : TG_DIALECT_JSONRPC;

    if (options->socket == NULL) {
        options->socket = tg_bridge_getenv("TOOLGATE_SOCKET");
    }

    if (options->socket == NULL) {
        options->socket = tg_bridge_getenv("AC7_RUNNER_SOCKET");
        dialect = options->socket != NULL ? TG_DIALECT_RELAY : dialect;
    }

    is_there = 1;
    text = options->socket != NULL ? options->socket
                                   : tg_uv_endpoint_get_default(&is_there);

    if (!is_there) {
        return tg_bridge_report_no_socket(text);
    }

    if (tg_uv_endpoint_parse(&options->endpoint, text, &options->tls, why)
        != TG_OK) {
        fprintf(stderr, "toolgate-bridge: %s: %s\n%s", text, why,
                tg_bridge_usage);
        return TG_EXIT_USAGE;
    }

    if (options->dialect == TG_DIALECT_AUTO) {
        options->dialect = dialect;
    }

    return 0;
}

static int
tg_bridge_check_schema_file(const tg_bridge_options_t *options)
{
    if (tg_dialect_get(options->dialect)->is_sequential
        && options->schema_file == NULL)
    {
        return tg_bridge_usage_error(
            "the ipc dialect cannot list tools: give a SCHEMA_FILE after the "
            "SOCKET",
            "");
    }

    return 0;
}

/* Parses the arguments after the options.  Returns 0 or the exit status. */
static int
tg_bridge_parse_operands(int argc, char **argv, tg_bridge_options_t *options)
{
    int status;

    if (argc > 2) {
        return tg_bridge_usage_error("too many arguments: ", argv[2]);
    }

    if (argc > 0 && argv[0][0] != '\0') {
        options->socket = argv[0];
    }

    if (argc > 1) {
        options->schema_file = argv[1];
    }

    status = tg_bridge_find_socket(options);

    return status != 0 ? status : tg_bridge_check_schema_file(options);
}

static const struct option tg_bridge_known_options[] = {
    { "ca", required_argument, NULL, 'a' },
    { "cert", required_argument, NULL, 'c' },
    { "dialect", required_argument, NULL, 'd' },
    { "grace", required_argument, NULL, 'g' },
    { "help", no_argument, NULL, 'h' },
    { "key", required_argument, NULL, 'k' },
    { "name", required_argument, NULL, 'n' },
    { "tls-name", required_argument, NULL, 't' },
    { "version", no_argument, NULL, 'v' },
    { NULL, 0, NULL, 0 }
};

/* Returns 0 to run the bridge, or 1 to exit with *status. */
static int
tg_bridge_parse_options(int argc, char **argv, tg_bridge_options_t *options,
                        int *status)
{
    int c;

    *status = 0;

    while (
        (c = getopt_long(argc, argv, "d:g:hn:v", tg_bridge_known_options, NULL))
        != -1)
    {
        switch (c) {
        case 'd':
            *status = tg_bridge_parse_dialect(options, optarg);
            break;
        case 'g':
            *status = tg_bridge_parse_grace(options, optarg);
            break;
        case 'n':
            *status = tg_bridge_parse_name(options, optarg);
            break;
        case 'a':
            options->tls.ca = optarg;
            break;
        case 'c':
            options->tls.certificate = optarg;
            break;
        case 'k':
            options->tls.key = optarg;
            break;
        case 't':
            options->tls.name = optarg;
            break;
        case 'h':
            printf("%s%s", tg_bridge_usage, tg_bridge_help);
            return 1;
        case 'v':
            printf("toolgate-bridge %s\n", TG_VERSION);
            return 1;
        default:
            *status = TG_EXIT_USAGE;
            fputs(tg_bridge_usage, stderr);
        }

        if (*status != 0) {
            return 1;
        }
    }

    *status = tg_bridge_parse_operands(argc - optind, argv + optind, options);

    return *status != 0;
}

/*
 * Opens /dev/null for closed standard descriptors, whose numbers another file,
 * such as the event loop's, would get. Returns 0 or -1.
 */
static int
tg_bridge_open_stdio_fds(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR | O_NOCTTY);
    } while (fd >= 0 && fd <= STDERR_FILENO);

    return fd < 0 ? fd : close(fd);
}

int
main(int argc, char **argv)
{
    tg_bridge_options_t options;
    const char *debug;
    int status;

    if (tg_bridge_open_stdio_fds() != 0) {
        return 1;
    }

    memset(&options, 0, sizeof(options));
    options.dialect = TG_DIALECT_AUTO;
    options.grace = TG_BRIDGE_GRACE_DEFAULT;
    debug = tg_bridge_getenv("TOOLGATE_DEBUG");
    options.is_debug = debug != NULL && strcmp(debug, "0") != 0;

    if (tg_bridge_parse_options(argc, argv, &options, &status)) {
        return status;
    }

    status = tg_bridge_run(&options);
    tg_uv_endpoint_free(&options.endpoint);

    return status;
}
