#include "runner/exec/tg_exec_output.h"

#include <sys/wait.h>

void
tg_exec_output_init(tg_exec_output_t *output, tg_output_t form,
                    size_t max_output)
{
    tg_buf_init(&output->out, tg_alloc_libc());
    output->form = form;
    output->max_output = max_output;
    tg_tail_init(&output->err);
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

/*
 * How a program ended; text takes what has to be written.  Of one that failed,
 * stderr is what matters: "git_log exited with status 128: fatal: …".
 */
static tg_outcome_t
tg_exec_outcome(const tg_exec_output_t *output, const char *tool, int status,
                tg_buf_t *text)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        tg_buf_text(text, tool);
        tg_tail_put_status(text, status);
        tg_tail_put(text, &output->err);
        return tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(text));
    }

    return tg_answer_of(tg_buf_view(&output->out), output->form, tool, text);
}

void
tg_exec_answer(tg_buf_t *json, const tg_exec_output_t *output, const char *tool,
               int status, const tg_times_t *times)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_exec_outcome(output, tool, status, &text);
    tg_answer_put_output(json, &outcome, tool, times);
    json->failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
}
