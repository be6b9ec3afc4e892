/* Input that the user names: files, or - for standard input. */
#include "cli/tg_cli_input.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_json.h"
#include "cli/tg_cli_output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

const char *
tg_cli_input_get_label(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int
tg_cli_input_read_fd(int fd, size_t max, tg_buf_t *text)
{
    ssize_t n;

    for (;;) {
        if (tg_buf_reserve(text, 65536) != TG_OK) {
            return TG_NOMEM;
        }

        n = read(fd, text->data + text->len, text->cap - text->len);

        if (n < 0 && errno == EINTR) {
            continue;
        }

        if (n <= 0) {
            return n == 0 ? TG_OK : TG_INVALID;
        }

        text->len += (size_t) n;

        if (text->len > max) {
            return TG_LIMIT;
        }
    }
}

int
tg_cli_input_read_open_file(int fd, const char *name, size_t max,
                            tg_buf_t *text)
{
    switch (fd < 0 ? TG_INVALID : tg_cli_input_read_fd(fd, max, text)) {
    case TG_OK:
        return TG_CLI_EXIT_OK;
    case TG_NOMEM:
        return tg_cli_error_nomem();
    case TG_LIMIT:
        return tg_cli_error("%s is larger than %zu bytes", name, max);
    default:
        return tg_cli_error("cannot read %s: %s", name, strerror(errno));
    }
}

int
tg_cli_input_read(const char *path, tg_buf_t *text)
{
    int fd, rc;

    fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
                                : STDIN_FILENO;
    rc = tg_cli_input_read_open_file(fd, tg_cli_input_get_label(path),
                                     TG_CLI_INPUT_MAX, text);

    if (fd > STDIN_FILENO) {
        (void) close(fd);
    }

    return rc;
}

int
tg_cli_input_read_json(const char *path, tg_buf_t *text)
{
    tg_buf_t why;
    int rc;

    rc = tg_cli_input_read(path, text);
    tg_buf_init(&why, tg_alloc_libc());

    if (rc == TG_CLI_EXIT_OK
        && tg_cli_json_check(tg_buf_view(text), &why) != TG_OK) {
        rc = tg_cli_error("%s is not valid JSON: %.*s",
                          tg_cli_input_get_label(path), (int) why.len,
                          tg_buf_view(&why).data);
    }

    tg_buf_deinit(&why);

    return rc;
}
