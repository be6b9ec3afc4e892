/* The progress line of a call on standard error. */
#include "cli/tg_cli_output.h"

#include "base/tg_utf8.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Moves the cursor to the start of the line, and clears the line. */
#define TG_CLI_CLEAR_LINE "\r\033[K"
/* Width if the terminal does not know it. */
#define TG_CLI_PROGRESS_COLUMNS_DEFAULT 80

static int tg_cli_progress_is_shown;

/* A longer line would wrap and could not be cleared. */
static void
tg_cli_progress_draw_line(const tg_buf_t *line)
{
    struct winsize size;
    size_t i, room;

    room = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
               ? (size_t) size.ws_col - 1
               : TG_CLI_PROGRESS_COLUMNS_DEFAULT - 1;

    for (i = 0; i < line->len && room > 0; room--) {
        do {
            i++;
        } while (i < line->len && (line->data[i] & 0xc0) == 0x80);
    }

    (void) fprintf(stderr, TG_CLI_CLEAR_LINE "%.*s", (int) i,
                   tg_buf_view(line).data);
    (void) fflush(stderr);
    tg_cli_progress_is_shown = 1;
}

void
tg_cli_progress_show_text(tg_str_t text)
{
    tg_buf_t line;

    if (!tg_cli_terminal_has_cursor(stderr)) {
        return;
    }

    tg_buf_init(&line, tg_alloc_libc());
    tg_utf8_append_visible(&line, text, 1);

    if (!tg_buf_has_failed(&line)) {
        tg_cli_progress_draw_line(&line);
    }

    tg_buf_deinit(&line);
}

void
tg_cli_progress_show(json_object *params)
{
    json_object *progress, *total;
    tg_str_t message;
    tg_buf_t text;

    progress = tg_cli_json_get(params, "progress");
    total = tg_cli_json_get(params, "total");
    message = tg_cli_json_get_text(params, "message");

    if (!tg_cli_json_is_number(progress)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_cli_json_append_value(&text, progress);

    if (tg_cli_json_is_number(total)) {
        tg_buf_append_char(&text, '/');
        tg_cli_json_append_value(&text, total);
    }

    if (message.data != NULL) {
        tg_buf_append_char(&text, ' ');
        tg_buf_append_str(&text, message);
    }

    tg_cli_progress_show_text(tg_buf_view(&text));
    tg_buf_deinit(&text);
}

void
tg_cli_progress_clear(void)
{
    if (tg_cli_progress_is_shown) {
        (void) fputs(TG_CLI_CLEAR_LINE, stderr);
        (void) fflush(stderr);
        tg_cli_progress_is_shown = 0;
    }
}
