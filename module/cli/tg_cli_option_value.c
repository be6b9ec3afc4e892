/* Values of options: numbers, and what the environment has instead. */
#include "cli/tg_cli.h"

#include "cli/tg_cli_output.h"

#include <errno.h>
#include <stdlib.h>

/* Largest timeout in s: a year.  A larger value is probably meant in ms. */
#define TG_CLI_TIMEOUT_MAX 31536000.0

int
tg_cli_option_parse_integer(const char *option, const char *text, int64_t min,
                            int64_t *number)
{
    char *end;

    if (text == NULL) {
        return TG_CLI_EXIT_OK;
    }

    errno = 0;
    *number = strtoll(text, &end, 10);

    /* strtoll() accepts a sign and white space before the digits. */
    return tg_is_digit(text[text[0] == '-']) && *end == '\0' && errno == 0
                   && *number >= min
               ? TG_CLI_EXIT_OK
               : tg_cli_error("%s must be %s integer, not \"%s\"", option,
                              min > 0 ? "a positive" : "an", text);
}

int
tg_cli_options_set_timeout(tg_cli_options_t *options, const char *value)
{
    double seconds;
    char *end;

    seconds = strtod(value, &end);

    /* The comparison is negated so that NaN fails, too. */
    if (end == value || *end != '\0'
        || !(seconds >= 0.001 && seconds <= TG_CLI_TIMEOUT_MAX))
    {
        return tg_cli_error("--timeout must be in seconds, such as 30 or 0.5, "
                            "not \"%s\"",
                            value);
    }

    options->timeout = value;
    options->timeout_ms = (uint64_t) (seconds * 1000);

    return TG_CLI_EXIT_OK;
}

const char *
tg_cli_options_get_socket(const tg_cli_options_t *options)
{
    const char *path;
    int is_there;

    path = options->socket != NULL ? options->socket
                                   : getenv("TOOLGATE_SOCKET");

    if (path != NULL && path[0] != '\0') {
        return path;
    }

    path = tg_uv_endpoint_get_default(&is_there);

    if (!is_there) {
        tg_cli_error("no socket given. Use --socket PATH, or set "
                     "TOOLGATE_SOCKET to the path after `listen unix:` in "
                     "nginx.conf; neither toolgate.sock in XDG_RUNTIME_DIR "
                     "nor %s exists",
                     path);
        return NULL;
    }

    return path;
}

int
tg_cli_is_debug_enabled(void)
{
    const char *debug;

    debug = getenv("TOOLGATE_DEBUG");

    return debug != NULL && debug[0] != '\0' && strcmp(debug, "0") != 0;
}
