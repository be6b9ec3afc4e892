/* Keeps the last bytes of a program's output and formats an exit status. */
#include "runner/process/tg_output_tail.h"

#include <signal.h>
#include <sys/wait.h>

void
tg_output_tail_init(tg_output_tail_t *tail)
{
    tail->len = 0;
    tail->is_cut = 0;
}

/* The buffer has twice the size of the tail, so that memmove() is rare. */
void
tg_output_tail_append(tg_output_tail_t *tail, const char *data, size_t len)
{
    size_t keep;

    if (len > sizeof(tail->text)) {
        data += len - sizeof(tail->text);
        len = sizeof(tail->text);
        tail->is_cut = 1;
    }

    if (len > sizeof(tail->text) - tail->len) {
        keep = sizeof(tail->text) - len;
        keep = keep < TG_OUTPUT_TAIL_MAX ? keep : TG_OUTPUT_TAIL_MAX;
        memmove(tail->text, tail->text + tail->len - keep, keep);
        tail->len = keep;
        tail->is_cut = 1;
    }

    memcpy(tail->text + tail->len, data, len);
    tail->len += len;
}

tg_str_t
tg_output_tail_cut(tg_str_t bytes, size_t most, int *is_cut)
{
    const char *p, *end;
    int i;

    p = bytes.data;
    end = tg_str_end(bytes);

    if (bytes.len > most) {
        p = end - most;
        *is_cut = 1;
    }

    /* Skip the rest of a character that the cut divided. */
    for (i = 0; *is_cut && i < 3 && p < end && (*p & 0xc0) == 0x80; i++) {
        p++;
    }

    while (p < end && end[-1] == '\n') {
        end--;
    }

    return tg_str(p, (size_t) (end - p));
}

tg_str_t
tg_output_tail_get(const tg_output_tail_t *tail, int *is_cut)
{
    *is_cut = tail->is_cut;

    return tg_output_tail_cut(tg_str(tail->text, tail->len), TG_OUTPUT_TAIL_MAX,
                              is_cut);
}

/* Appends the signal's number, and its name if it is a usual one. */
static void
tg_exit_signal_append_text(tg_buf_t *text, int number)
{
    static const struct {
        int number;
        const char *name;
    } signals[] = {
        { SIGHUP, " (SIGHUP)" },   { SIGINT, " (SIGINT)" },
        { SIGQUIT, " (SIGQUIT)" }, { SIGILL, " (SIGILL)" },
        { SIGABRT, " (SIGABRT)" }, { SIGBUS, " (SIGBUS)" },
        { SIGFPE, " (SIGFPE)" },   { SIGKILL, " (SIGKILL)" },
        { SIGSEGV, " (SIGSEGV)" }, { SIGPIPE, " (SIGPIPE)" },
        { SIGALRM, " (SIGALRM)" }, { SIGTERM, " (SIGTERM)" },
    };
    size_t i;

    tg_buf_printf(text, " was killed by signal %d", number);

    for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (signals[i].number == number) {
            tg_buf_append_cstr(text, signals[i].name);
        }
    }
}

void
tg_exit_status_append_text(tg_buf_t *text, int status)
{
    if (WIFEXITED(status)) {
        tg_buf_printf(text, " exited with status %d", WEXITSTATUS(status));
    } else {
        tg_exit_signal_append_text(text, WTERMSIG(status));
    }
}
