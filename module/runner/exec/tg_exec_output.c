#include "runner/exec/tg_exec_output.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/tg_job.h"

#include <sys/wait.h>

void
tg_exec_output_init(tg_exec_output_t *output, size_t max_output)
{
    tg_buf_init(&output->out, tg_alloc_libc());
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
tg_exec_put_lossy(tg_buf_t *json, const char *p, const char *end)
{
    size_t n;

    while (p < end) {
        n = tg_utf8_check(p, (size_t) (end - p));
        tg_json_put_escaped(json, tg_str(p, n));
        p += n;

        if (p < end) {
            tg_buf_put(json, "\xef\xbf\xbd", 3);
            p++;
        }
    }
}

static void
tg_exec_put_stderr(tg_buf_t *json, const tg_exec_output_t *output)
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

    tg_buf_text(json, ",\"stderr\":\"");

    if (cut) {
        tg_buf_text(json, "\xe2\x80\xa6 ");
    }

    tg_exec_put_lossy(json, p, end);
    tg_buf_char(json, '"');
}

/* Why stdout cannot be sent: nothing, or plain text in *text. */
static int
tg_exec_output_check(const tg_exec_output_t *output, const char *tool,
                     tg_buf_t *text)
{
    tg_str_t out;
    size_t at;

    out = tg_buf_view(&output->out);
    at = tg_utf8_check(out.data, out.len);

    if (at == out.len) {
        return TG_OK;
    }

    tg_buf_text(text, "The output of ");
    tg_buf_text(text, tool);
    tg_buf_text(text, " is not valid UTF-8 (first bad byte at offset ");
    tg_buf_uint(text, at);
    tg_buf_text(text, "); let the program print text, or pipe it through "
                      "base64.");

    return TG_BAD;
}

static void
tg_exec_put_number(tg_buf_t *json, const char *text, uint64_t number)
{
    tg_buf_text(json, text);
    tg_buf_uint(json, number);
}

static void
tg_exec_answer_success(tg_buf_t *json, const tg_exec_output_t *output,
                       const char *tool, const tg_times_t *times)
{
    tg_buf_t text;
    size_t start;

    start = json->len;
    tg_buf_init(&text, tg_alloc_libc());

    if (tg_exec_output_check(output, tool, &text) == TG_OK) {
        (void) tg_buf_reserve(json, output->out.len + 128);
        tg_buf_text(json, "{\"status\":\"exited\",\"code\":0");
        tg_answer_put_times(json, times);
        tg_buf_text(json, ",\"stdout\":");
        tg_json_put_string(json, tg_buf_view(&output->out));
        tg_buf_char(json, '}');

        if (json->len - start > TG_JOB_ANSWER_MAX) {
            tg_buf_truncate(json, start);
            tg_buf_text(&text, "The output of ");
            tg_buf_text(&text, tool);
            tg_buf_text(&text, " is larger than 64 MiB when written as JSON, "
                               "as control characters grow sixfold; let the "
                               "program print less, or text.");
        }
    }

    if (text.len != 0) {
        tg_answer_put_failed(json, "output", tg_buf_view(&text), times);
    }

    if (tg_buf_failed(&text)) {
        json->failed = 1;
    }

    tg_buf_deinit(&text);
}

void
tg_exec_answer_status(tg_buf_t *json, const tg_exec_output_t *output,
                      const char *tool, int status, const tg_times_t *times)
{
    tg_str_t out;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        tg_exec_answer_success(json, output, tool, times);
        return;
    }

    if (WIFEXITED(status)) {
        tg_exec_put_number(json, "{\"status\":\"exited\",\"code\":",
                           (uint64_t) WEXITSTATUS(status));
    } else {
        tg_exec_put_number(json, "{\"status\":\"signalled\",\"signal\":",
                           (uint64_t) WTERMSIG(status));
    }

    /* Of a program that failed, stderr is what matters. */
    out = tg_buf_view(&output->out);

    if (out.len > TG_EXEC_STDOUT_SMALL || !tg_utf8_is_valid(out)) {
        out.len = 0;
    }

    tg_answer_put_times(json, times);
    tg_buf_text(json, ",\"stdout\":");
    tg_json_put_string(json, out);
    tg_exec_put_stderr(json, output);
    tg_buf_char(json, '}');
}

void
tg_exec_text_overflow(tg_buf_t *text, const char *tool, size_t max_output)
{
    tg_buf_text(text, tool);
    tg_buf_text(text, " printed more than ");
    tg_buf_uint(text, max_output);
    tg_buf_text(text, " bytes (max_output) and was ended; raise max_output or "
                      "let the tool print less.");
}
