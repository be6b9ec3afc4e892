#include "client/tg_cli_input.h"

#include "client/tg_cli.h"
#include "client/tg_cli_text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

const char *
tg_cli_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int
tg_cli_input_drain(int fd, size_t max, tg_buf_t *text)
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
            return n == 0 ? TG_OK : TG_BAD;
        }

        text->len += (size_t) n;

        if (text->len > max) {
            return TG_LIMIT;
        }
    }
}

static int
tg_cli_input_fail(const char *path)
{
    tg_cli_error("cannot read %s: %s", tg_cli_input_name(path),
                 strerror(errno));

    return TG_CLI_FAILED;
}

int
tg_cli_input_read(const char *path, tg_buf_t *text)
{
    int fd, rc;

    fd = STDIN_FILENO;

    if (strcmp(path, "-") != 0) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    }

    if (fd < 0) {
        return tg_cli_input_fail(path);
    }

    rc = tg_cli_input_drain(fd, TG_CLI_INPUT_MAX, text);

    if (rc == TG_OK) {
        rc = TG_CLI_DONE;

    } else if (rc == TG_NOMEM) {
        rc = tg_cli_nomem();

    } else if (rc == TG_LIMIT) {
        tg_cli_error("%s is larger than %u bytes", tg_cli_input_name(path),
                     TG_CLI_INPUT_MAX);
        rc = TG_CLI_FAILED;

    } else {
        rc = tg_cli_input_fail(path);
    }

    if (fd != STDIN_FILENO) {
        (void) close(fd);
    }

    return rc;
}

/* Where an editor shows it: characters, both from 1. */
static void
tg_cli_input_place(tg_str_t text, const char *at, unsigned *line,
                   unsigned *column)
{
    const char *p;

    *line = 1;
    *column = 1;

    for (p = text.data; p < at; p++) {
        if (*p == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += ((unsigned char) *p & 0xc0) != 0x80;
        }
    }
}

int
tg_cli_input_json(const char *path, tg_buf_t *text)
{
    unsigned line, column;
    tg_json_t json;
    int rc;

    rc = tg_cli_input_read(path, text);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    tg_json_init(&json, tg_buf_view(text));

    if (tg_json_value(&json, NULL) == TG_OK && tg_json_end(&json) == TG_OK) {
        return TG_CLI_DONE;
    }

    tg_cli_input_place(tg_buf_view(text), json.pos, &line, &column);
    tg_cli_error("%s is no JSON: %s (line %u, column %u)",
                 tg_cli_input_name(path), json.why, line, column);

    return TG_CLI_FAILED;
}
