#include "client/tg_cli_progress.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "client/tg_cli_text.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Back to the beginning of the line, and wipe it. */
#define TG_CLI_WIPE "\r\033[K"
/* Where the terminal does not say how wide it is. */
#define TG_CLI_WIDTH 80

static int tg_cli_progress_is_shown;

tg_str_t
tg_cli_progress_asked(void)
{
    return tg_cli_has_cursor(stderr)
               ? TG_STR(",\"_meta\":{\"progressToken\":1}")
               : TG_STR_NONE;
}

/* Up to the last column, or the line would wrap and stay. */
static void
tg_cli_progress_show(const tg_buf_t *line)
{
    struct winsize size;
    size_t i, room;

    room = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1
               ? (size_t) size.ws_col - 1
               : TG_CLI_WIDTH - 1;

    for (i = 0; i < line->len && room > 0; room--) {
        do {
            i++;
        } while (i < line->len && (line->data[i] & 0xc0) == 0x80);
    }

    (void) fprintf(stderr, TG_CLI_WIPE "%.*s", (int) i, tg_buf_view(line).data);
    (void) fflush(stderr);
    tg_cli_progress_is_shown = 1;
}

void
tg_cli_progress_line(tg_str_t text)
{
    tg_buf_t line;

    if (!tg_cli_has_cursor(stderr)) {
        return;
    }

    tg_buf_init(&line, tg_alloc_libc());
    tg_utf8_put_visible(&line, text, 1);

    if (!tg_buf_failed(&line)) {
        tg_cli_progress_show(&line);
    }

    tg_buf_deinit(&line);
}

void
tg_cli_progress_told(tg_str_t method, const tg_message_t *message)
{
    tg_buf_t text;

    if (!tg_json_body_is(method, TG_STR("notifications/progress"))
        || tg_json_type(message->p.progress) != TG_JSON_NUMBER
        || !tg_cli_has_cursor(stderr))
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_str(&text, message->p.progress);

    if (tg_json_type(message->p.total) == TG_JSON_NUMBER) {
        tg_buf_char(&text, '/');
        tg_buf_str(&text, message->p.total);
    }

    if (tg_json_type(message->p.message) == TG_JSON_STRING) {
        tg_buf_char(&text, ' ');
        tg_json_put_decoded(&text, tg_json_body(message->p.message));
    }

    tg_cli_progress_line(tg_buf_view(&text));
    tg_buf_deinit(&text);
}

void
tg_cli_progress_end(void)
{
    if (tg_cli_progress_is_shown) {
        (void) fputs(TG_CLI_WIPE, stderr);
        (void) fflush(stderr);
        tg_cli_progress_is_shown = 0;
    }
}
