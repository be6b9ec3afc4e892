#include "runner/exec/tg_exec_output.h"

#include "base/tg_utf8.h"
#include "runner/tg_job.h"

#include <signal.h>
#include <sys/wait.h>

void
tg_exec_output_init(tg_exec_output_t *output, tg_output_t form,
                    size_t max_output)
{
    tg_buf_init(&output->out, tg_alloc_libc());
    output->form = form;
    output->max_output = max_output;
    output->err_len = 0;
    output->err_cut = 0;
}

void
tg_exec_output_deinit(tg_exec_output_t *output)
{
    tg_buf_deinit(&output->out);
}

int
tg_exec_output_out(tg_exec_output_t *output, const char *data, size_t len)
{
    if (len > output->max_output - output->out.len) {
        return TG_LIMIT;
    }

    tg_buf_put(&output->out, data, len);

    return tg_buf_failed(&output->out) ? TG_NOMEM : TG_OK;
}

/* Room for twice of what is kept, so that little is moved. */
void
tg_exec_output_err(tg_exec_output_t *output, const char *data, size_t len)
{
    size_t keep;

    if (len > sizeof(output->err)) {
        data += len - sizeof(output->err);
        len = sizeof(output->err);
        output->err_cut = 1;
    }

    if (len > sizeof(output->err) - output->err_len) {
        keep = sizeof(output->err) - len;
        keep = keep < TG_EXEC_STDERR_MAX ? keep : TG_EXEC_STDERR_MAX;
        memmove(output->err, output->err + output->err_len - keep, keep);
        output->err_len = keep;
        output->err_cut = 1;
    }

    memcpy(output->err + output->err_len, data, len);
    output->err_len += len;
}

/* Valid text as it is, and U+FFFD for each byte that belongs to none. */
static void
tg_exec_put_lossy(tg_buf_t *text, const char *p, const char *end)
{
    size_t n;

    while (p < end) {
        n = tg_utf8_check(p, (size_t) (end - p));
        tg_buf_put(text, p, n);
        p += n;

        if (p < end) {
            tg_buf_put(text, "\xef\xbf\xbd", 3);
            p++;
        }
    }
}

static void
tg_exec_put_stderr(tg_buf_t *text, const tg_exec_output_t *output)
{
    const char *p, *end;
    int cut, i;

    p = output->err;
    end = output->err + output->err_len;
    cut = output->err_cut;

    if (end - p > TG_EXEC_STDERR_MAX) {
        p = end - TG_EXEC_STDERR_MAX;
        cut = 1;
    }

    /* The rest of a character that the cut went through. */
    for (i = 0; cut && i < 3 && p < end && (*p & 0xc0) == 0x80; i++) {
        p++;
    }

    if (p == end) {
        tg_buf_text(text, " and wrote nothing to stderr");
        return;
    }

    tg_buf_text(text, cut ? ": \xe2\x80\xa6 " : ": ");
    tg_exec_put_lossy(text, p, end);

    while (text->len != 0 && text->data[text->len - 1] == '\n') {
        text->len--;
    }
}

/* Those that are sent to programs, or that programs end themselves with. */
static void
tg_exec_put_signal(tg_buf_t *text, int number)
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

    tg_buf_printf(text, " was ended by signal %d", number);

    for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (signals[i].number == number) {
            tg_buf_text(text, signals[i].name);
        }
    }
}

/*
 * How a program ended; text takes what has to be written.  Of one that failed,
 * stderr is what matters: "git_log exited with status 128: fatal: …".
 */
static tg_outcome_t
tg_exec_outcome(const tg_exec_output_t *output, const char *tool, int status,
                tg_buf_t *text)
{
    tg_entry_t entry;
    tg_str_t out;
    size_t at;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        tg_buf_text(text, tool);

        if (WIFEXITED(status)) {
            tg_buf_printf(text, " exited with status %d", WEXITSTATUS(status));
        } else {
            tg_exec_put_signal(text, WTERMSIG(status));
        }

        tg_exec_put_stderr(text, output);
        return tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(text));
    }

    out = tg_buf_view(&output->out);
    at = tg_utf8_check(out.data, out.len);

    if (at != out.len) {
        tg_buf_printf(text,
                      "The output of %s is not valid UTF-8 (first bad byte at "
                      "offset %zu); let the program print text, or pipe it "
                      "through base64.",
                      tool, at);
        return tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(text));
    }

    if (output->form == TG_OUTPUT_TEXT) {
        return tg_outcome_text(out);
    }

    memset(&entry, 0, sizeof(entry));
    entry.kind = TG_ENTRY_TOOL;
    entry.output = output->form;

    return tg_outcome_output(&entry, out);
}

void
tg_exec_answer(tg_buf_t *json, const tg_exec_output_t *output, const char *tool,
               int status, const tg_times_t *times)
{
    tg_outcome_t outcome;
    tg_buf_t text;
    size_t start;

    start = json->len;
    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_exec_outcome(output, tool, status, &text);
    tg_answer_put(json, &outcome, times);

    if (json->len - start > TG_JOB_ANSWER_MAX) {
        tg_buf_truncate(json, start);
        tg_buf_printf(&text,
                      "The output of %s is larger than 64 MiB when written as "
                      "JSON, as control characters grow sixfold; let the "
                      "program print less, or text.",
                      tool);
        outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(&text));
        tg_answer_put(json, &outcome, times);
    }

    json->failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
}
