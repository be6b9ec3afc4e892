/* Output of the command line: errors, JSON, wrapped text, terminals. */
#include "cli/tg_cli_output.h"

#include "cli/tg_cli.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Widest lines in characters: longer lines are hard to read. */
#define TG_CLI_COLUMNS_MAX 100
#define TG_CLI_COLUMNS_MIN 40
/* Width if the terminal does not know it, as on some serial lines. */
#define TG_CLI_COLUMNS_DEFAULT 80

void
tg_cli_print(FILE *file, tg_str_t text)
{
    tg_buf_t buf;

    if (text.len == 0) {
        return;
    }

    if (!isatty(fileno(file))) {
        (void) fwrite(text.data, 1, text.len, file);
        return;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_utf8_append_visible(&buf, text, 0);
    text = tg_buf_view(&buf);
    (void) fwrite(text.data, 1, text.len, file);
    tg_buf_deinit(&buf);
}

int
tg_cli_error(const char *format, ...)
{
    va_list args;
    char *text;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);

    if (len < 0) {
        return tg_cli_error_nomem();
    }

    (void) fputs("toolgate: ", stderr);
    tg_cli_print(stderr, tg_str(text, (size_t) len));
    (void) fputc('\n', stderr);
    free(text);

    return TG_CLI_EXIT_FAILED;
}

int
tg_cli_error_nomem(void)
{
    (void) fputs("toolgate: no memory\n", stderr);

    return TG_CLI_EXIT_FAILED;
}

/* Returns the number of characters, which is close to the number of columns. */
static size_t
tg_cli_text_count_chars(const char *p, const char *end)
{
    size_t n;

    for (n = 0; p < end; p++) {
        n += ((unsigned char) *p & 0xc0) != 0x80;
    }

    return n;
}

static void
tg_cli_append_wrapped_line(tg_buf_t *buf, const char *p, const char *end,
                           unsigned indent, unsigned width)
{
    const char *word;
    size_t at, n;

    for (at = 0; p < end; at += n) {
        word = p;

        while (p < end && *p != ' ') {
            p++;
        }

        n = tg_cli_text_count_chars(word, p);

        if (at == 0) {
            tg_buf_printf(buf, "%*s", (int) indent, "");
        } else if (indent + at + 1 + n > width) {
            tg_buf_printf(buf, "\n%*s", (int) indent, "");
            at = 0;
        } else {
            tg_buf_append_char(buf, ' ');
            at++;
        }

        tg_buf_append(buf, word, (size_t) (p - word));

        while (p < end && *p == ' ') {
            p++;
        }
    }
}

void
tg_cli_append_wrapped_text(tg_buf_t *buf, tg_str_t text, unsigned indent,
                           unsigned width)
{
    const char *p, *end, *newline;

    end = tg_str_end(text);

    while (end > text.data && (end[-1] == '\n' || end[-1] == ' ')) {
        end--;
    }

    for (p = text.data; p < end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t) (end - p));
        newline = newline != NULL ? newline : end;

        /* A line that starts with a blank is preformatted. */
        if (width != 0 && *p != ' ') {
            tg_cli_append_wrapped_line(buf, p, newline, indent, width);
        } else if (newline != p) {
            tg_buf_printf(buf, "%*s", (int) indent, "");
            tg_buf_append(buf, p, (size_t) (newline - p));
        }

        tg_buf_append_char(buf, '\n');
    }
}

unsigned
tg_cli_terminal_get_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO)) {
        return 0;
    }

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return TG_CLI_COLUMNS_DEFAULT;
    }

    if (size.ws_col > TG_CLI_COLUMNS_MAX) {
        return TG_CLI_COLUMNS_MAX;
    }

    return size.ws_col < TG_CLI_COLUMNS_MIN ? TG_CLI_COLUMNS_MIN : size.ws_col;
}

int
tg_cli_terminal_has_cursor(FILE *file)
{
    const char *term;

    term = getenv("TERM");

    return isatty(fileno(file)) && (term == NULL || strcmp(term, "dumb") != 0);
}

void
tg_cli_terminal_clear(void)
{
    static int was_shown;

    if (tg_cli_terminal_has_cursor(stdout)) {
        (void) fputs("\033[H\033[2J", stdout);
    } else if (was_shown && isatty(STDOUT_FILENO)) {
        (void) fputc('\n', stdout);
    }

    was_shown = 1;
}

void
tg_cli_append_missing_newline(tg_buf_t *buf)
{
    if (buf->len != 0 && buf->data[buf->len - 1] != '\n') {
        tg_buf_append_char(buf, '\n');
    }
}

int
tg_cli_print_and_free(FILE *file, tg_buf_t *out, int status)
{
    if (isatty(fileno(file)) || file == stderr) {
        tg_cli_append_missing_newline(out);
    }

    if (tg_buf_has_failed(out)) {
        status = tg_cli_error_nomem();
    } else {
        tg_cli_print(file, tg_buf_view(out));
        status = file == stdout ? tg_cli_flush_stdout(status) : status;
    }

    tg_buf_deinit(out);

    return status;
}

int
tg_cli_flush_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return status;
    }

    /* The reader has closed the pipe, as in `toolgate list | head`. */
    if (errno == EPIPE) {
        return 128 + SIGPIPE;
    }

    return tg_cli_error("cannot write to standard output: %s", strerror(errno));
}
