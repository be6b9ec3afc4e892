#include "runner/exec/tg_exec_output.h"

#include "base/tg_utf8.h"

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

static void
tg_exec_put_end(tg_buf_t *text, const char *name, tg_str_t end, int is_cut)
{
    tg_buf_printf(text, is_cut ? "\n[end of %s]\n" : "\n[%s]\n", name);
    tg_utf8_put_lossy(text, end);
}

/*
 * The ends of both outputs, of max_output bytes at most: "git_log exited with
 * status 128: fatal: …".  Linters, compilers and runs of tests report on
 * stdout; then each has a line of its own in front that says which it is.
 */
static void
tg_exec_put_ends(tg_buf_t *text, const tg_exec_output_t *output)
{
    int is_err_cut, is_out_cut;
    tg_str_t err, out;
    size_t room;

    room = output->max_output < TG_EXEC_ENDS_MAX ? output->max_output
                                                 : TG_EXEC_ENDS_MAX;
    out = tg_buf_view(&output->out);
    err = tg_tail_view(&output->err, &is_err_cut);
    err = tg_tail_of(err, out.len < room / 2 ? room - out.len : room / 2,
                     &is_err_cut);
    is_out_cut = 0;
    out = tg_tail_of(out, room - err.len, &is_out_cut);

    if (output->err.len == 0) {
        tg_buf_text(text, " and wrote nothing to stderr");

    } else if (out.len == 0) {
        tg_buf_text(text, is_err_cut ? ": \xe2\x80\xa6 " : ": ");
        tg_utf8_put_lossy(text, err);

    } else {
        tg_exec_put_end(text, "stderr", err, is_err_cut);
    }

    if (out.len != 0) {
        tg_exec_put_end(text, "stdout", out, is_out_cut);
    }
}

/* How a program ended; text takes what has to be written. */
static tg_outcome_t
tg_exec_outcome(const tg_exec_output_t *output, const char *tool, int status,
                tg_buf_t *text)
{
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        tg_buf_text(text, tool);
        tg_tail_put_status(text, status);
        tg_exec_put_ends(text, output);
        return tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(text));
    }

    return tg_answer_of(tg_buf_view(&output->out), output->form, tool, text);
}

void
tg_exec_answer(tg_buf_t *json, const tg_exec_output_t *output, const char *tool,
               int status, const tg_ran_t *times)
{
    tg_outcome_t outcome;
    tg_buf_t text;
    tg_ran_t ran;

    ran = *times;
    ran.has_exited = WIFEXITED(status);
    ran.exit = ran.has_exited ? WEXITSTATUS(status) : 0;
    ran.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_exec_outcome(output, tool, status, &text);
    tg_answer_put_output(json, &outcome, tool, &ran);
    json->failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
}
