#include "runner/exec/tg_exec_output.h"

#include "base/tg_utf8.h"
#include "core/tg_rpc.h"
#include "runner/exec/tg_exec_spill.h"
#include "runner/spill/tg_spill_outcome.h"

#include <sys/wait.h>

void
tg_exec_output_init(tg_exec_output_t *output, tg_output_t form,
                    size_t max_output)
{
    memset(output, 0, offsetof(tg_exec_output_t, err));
    tg_buf_init(&output->out, tg_alloc_libc());
    tg_buf_init(&output->all, tg_alloc_libc());
    output->how.form = form;
    output->how.max_output = max_output;
    output->size = 0;
    output->escaped = 0;
    output->base64.n = 0;
    output->spill.fd = -1;
    tg_tail_init(&output->err);
}

void
tg_exec_output_deinit(tg_exec_output_t *output)
{
    tg_spill_end(&output->spill);
    tg_buf_deinit(&output->out);
    tg_buf_deinit(&output->all);
}

/* --- what it prints --- */

/* What stands in front of the bytes, and behind them. */
static const struct {
    const char *head;
    const char *mime;
    const char *end;
} tg_exec_blocks[] = {
    [TG_EXEC_NO_BYTES] = { "", "", "" },
    [TG_EXEC_IMAGE] = { "{\"content\":[{\"type\":\"image\",\"data\":\"",
                        "\",\"mimeType\":", "}]" },
    [TG_EXEC_AUDIO] = { "{\"content\":[{\"type\":\"audio\",\"data\":\"",
                        "\",\"mimeType\":", "}]" },
    [TG_EXEC_FILE] = { "{\"content\":[{\"type\":\"resource\",\"resource\":{"
                       "\"uri\":\"" TG_EXEC_URI "\",\"blob\":\"",
                       "\",\"mimeType\":", "}}]" },
};

static int
tg_exec_output_count(tg_exec_output_t *output, size_t len)
{
    if (len > output->how.max_output - output->size) {
        return TG_LIMIT;
    }

    output->size += len;

    return TG_OK;
}

/* Text, of which it is known already that no frame carries it as JSON? */
static int
tg_exec_output_is_too_large(tg_exec_output_t *output, const char *data,
                            size_t len)
{
    if (output->how.form != TG_OUTPUT_TEXT
        || output->how.max_output <= TG_JOB_ANSWER_MAX / 6)
    {
        return 0;
    }

    output->escaped += tg_json_escaped_len(tg_str(data, len), SIZE_MAX);

    return output->escaped > TG_JOB_ANSWER_MAX;
}

int
tg_exec_output_out(tg_exec_output_t *output, const char *data, size_t len)
{
    if (tg_exec_is_spilled(output)
        || (tg_exec_is_large(output, len) && tg_exec_spill(output) == 0))
    {
        return tg_exec_spill_more(output, data, len);
    }

    if (tg_exec_output_count(output, len) != TG_OK) {
        return TG_LIMIT;
    }

    if (output->how.bytes == TG_EXEC_NO_BYTES) {
        tg_buf_put(&output->out, data, len);

        if (tg_exec_output_is_too_large(output, data, len)) {
            return TG_BAD;
        }

    } else {
        if (output->out.len == 0) {
            tg_buf_text(&output->out, tg_exec_blocks[output->how.bytes].head);
        }

        tg_base64_put(&output->base64, &output->out, data, len);
    }

    return tg_buf_failed(&output->out) ? TG_NOMEM : TG_OK;
}

int
tg_exec_output_err(tg_exec_output_t *output, const char *data, size_t len)
{
    switch (output->how.err) {
    case TG_EXEC_STDERR_ERROR:
        tg_tail_add(&output->err, data, len);
        return TG_OK;

    case TG_EXEC_STDERR_DROP:
        return TG_OK;

    default:
        /* It has the room that stdout has taken, if that can go to a file. */
        if (tg_exec_output_count(output, len) != TG_OK
            && (output->out.len == 0 || !tg_exec_is_large(output, len)
                || tg_exec_spill(output) == -1
                || tg_exec_output_count(output, len) != TG_OK))
        {
            return TG_LIMIT;
        }

        tg_buf_put(&output->all, data, len);
        return tg_buf_failed(&output->all) ? TG_NOMEM : TG_OK;
    }
}

/* --- one that failed --- */

static void
tg_exec_put_end(tg_buf_t *text, const char *name, tg_str_t end, int is_cut)
{
    tg_buf_printf(text, is_cut ? "\n[end of %s]\n" : "\n[%s]\n", name);
    tg_utf8_put_lossy(text, is_cut ? tg_spill_lines(end, 0) : end);
}

/* What is told of stderr, which is not all of it with *is_cut. */
static tg_str_t
tg_exec_err_view(const tg_exec_output_t *output, int *is_cut)
{
    tg_str_t err;

    err = tg_tail_view(&output->err, is_cut);

    return err.len != 0 ? err
                        : tg_tail_of(tg_buf_view(&output->all),
                                     TG_EXEC_ENDS_MAX, is_cut);
}

/*
 * The ends of both outputs, of max_output bytes at most: "git_log exited with
 * status 128: fatal: …".  Linters, compilers and runs of tests report on
 * stdout; then each has a line of its own in front that says which it is.
 */
static void
tg_exec_put_ends(tg_buf_t *text, tg_exec_output_t *output)
{
    int is_err_cut, is_out_cut;
    tg_str_t err, out;
    size_t room;

    room = output->how.max_output < TG_EXEC_ENDS_MAX ? output->how.max_output
                                                     : TG_EXEC_ENDS_MAX;
    is_out_cut = tg_exec_is_spilled(output);

    if (is_out_cut) {
        room = output->how.keep.preview != 0 && output->how.keep.preview < room
                   ? output->how.keep.preview
                   : room;
        tg_spill_tail(&output->spill, room, &output->out);
    }

    out = output->how.bytes == TG_EXEC_NO_BYTES ? tg_buf_view(&output->out)
                                                : TG_STR("");
    err = tg_exec_err_view(output, &is_err_cut);
    err = tg_tail_of(err, out.len < room / 2 ? room - out.len : room / 2,
                     &is_err_cut);
    out = tg_tail_of(out, room - err.len, &is_out_cut);

    if (output->err.len == 0 && output->all.len == 0) {
        if (output->how.err != TG_EXEC_STDERR_DROP) {
            tg_buf_text(text, " and wrote nothing to stderr");
        }

    } else if (out.len == 0) {
        tg_buf_text(text, is_err_cut ? ": \xe2\x80\xa6 " : ": ");
        tg_utf8_put_lossy(text, err);

    } else {
        tg_exec_put_end(text, "stderr", err, is_err_cut);
    }

    if (out.len != 0) {
        tg_exec_put_end(text, "stdout", out, is_out_cut);
    }

    if (tg_exec_is_spilled(output)) {
        tg_buf_printf(text, "\n[stdout has %llu bytes in %llu %s; ",
                      (unsigned long long) output->spill.size,
                      (unsigned long long) output->spill.lines,
                      tg_plural(output->spill.lines, "line", "lines"));
        tg_spill_put_where(&output->spill, &output->how.keep, text);
        tg_buf_char(text, ']');
    }
}

/* --- one that went well --- */

/* The bytes are a whole result of MCP from here on. */
static tg_outcome_t
tg_exec_bytes_outcome(tg_exec_output_t *output, const char *tool,
                      tg_buf_t *text)
{
    static const char *const names[] = {
        [TG_EXEC_NO_BYTES] = "",
        [TG_EXEC_IMAGE] = "image",
        [TG_EXEC_AUDIO] = "audio",
        [TG_EXEC_FILE] = "file",
    };
    tg_exec_bytes_t bytes;

    bytes = output->how.bytes;

    if (output->size == 0) {
        tg_buf_printf(text, "%s printed nothing, where %s (%s) was expected.",
                      tool, names[bytes], output->how.mime);
        return tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(text));
    }

    tg_base64_end(&output->base64, &output->out);
    tg_buf_text(&output->out, tg_exec_blocks[bytes].mime);
    tg_json_put_string(&output->out, tg_str_c(output->how.mime));
    tg_buf_text(&output->out, tg_exec_blocks[bytes].end);
    tg_buf_text(&output->out, ",\"isError\":false}");

    return tg_buf_failed(&output->out)
               ? tg_outcome_failure(TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY)
               : tg_outcome_of(TG_OUTCOME_RESULT, tg_buf_view(&output->out));
}

/* Behind stdout, with a line in between; TG_OK, or TG_LIMIT: it is lost. */
static int
tg_exec_append(tg_exec_output_t *output)
{
    static const char mark[] = "\n[stderr]\n";
    tg_buf_t *out;
    size_t from;
    char last;
    int rc;

    out = &output->out;

    if (tg_exec_is_spilled(output) && output->all.len != 0) {
        from = tg_spill_read(&output->spill, output->spill.size - 1, &last, 1)
                   == 1
               && last == '\n';
        rc = tg_exec_spill_more(output, mark + from, sizeof(mark) - 1 - from);
        return rc != TG_OK ? rc
                           : tg_exec_spill_more(output, output->all.data,
                                                output->all.len);
    }

    if (out->len != 0 && output->all.len != 0) {
        tg_buf_text(out, mark + (out->data[out->len - 1] == '\n'));
    }

    tg_buf_str(out, tg_buf_view(&output->all));
    tg_buf_truncate(&output->all, 0);

    if (!tg_exec_is_spilled(output) && tg_exec_is_large(output, 0)) {
        (void) tg_exec_spill(output);
    }

    return TG_OK;
}

static int
tg_exec_is_success(const tg_exec_how_t *how, int status)
{
    int code;

    if (!WIFEXITED(status)) {
        return 0;
    }

    code = WEXITSTATUS(status);

    return how->has_success ? (int) (how->success[code / 32] >> code % 32 & 1)
                            : code == 0;
}

/*
 * How a program ended; text takes what has to be written.  1: well, and its
 * output has yet to be checked.
 */
static int
tg_exec_outcome(tg_exec_output_t *output, const tg_job_params_t *params,
                int status, tg_buf_t *text, tg_outcome_t *outcome)
{
    const char *tool;

    tool = params->tool;

    if (!tg_exec_is_success(&output->how, status)) {
        tg_buf_text(text, tool);
        tg_tail_put_status(text, status);
        tg_exec_put_ends(text, output);
        *outcome = tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(text));

    } else if (output->how.bytes != TG_EXEC_NO_BYTES) {
        *outcome = tg_exec_bytes_outcome(output, tool, text);

    } else if (tg_exec_append(output) != TG_OK
               || (tg_exec_is_spilled(output)
                   && tg_exec_spill_text(output, text) == -1))
    {
        tg_buf_truncate(text, 0);
        tg_buf_printf(text, "%s printed more than can be kept; ask for less.",
                      tool);
        *outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(text));

    } else if (tg_buf_failed(&output->out)) {
        *outcome = tg_outcome_failure(TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);

    } else if (tg_exec_is_spilled(output)) {
        *outcome = tg_outcome_text(tg_buf_view(text));

    } else {
        return 1;
    }

    return 0;
}

void
tg_exec_answer_begin(tg_exec_answer_t *answer, tg_exec_output_t *output,
                     const tg_job_params_t *params, int status,
                     const tg_ran_t *times)
{
    const tg_exec_how_t *how;
    tg_spill_answer_t *whole;
    tg_outcome_t outcome;
    tg_buf_t meta;
    tg_ran_t ran;

    ran = *times;
    ran.has_exited = WIFEXITED(status);
    ran.exit = ran.has_exited ? WEXITSTATUS(status) : 0;
    ran.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    /* What is no result was stored while it came. */
    how = &output->how;
    whole = &answer->answer;
    tg_spill_answer_begin(whole, params,
                          how->form == TG_OUTPUT_RESULT ? &how->keep : NULL,
                          how->max_output, &ran);

    if (tg_exec_outcome(output, params, status, &whole->text, &outcome)) {
        tg_spill_answer_output(whole, tg_buf_view(&output->out), how->form,
                               how->keep.spills != NULL);
    } else {
        tg_spill_answer_outcome(whole, &outcome);
    }

    /* Where it may mean something; elsewhere a failure's message has it. */
    if (ran.has_exited && how->has_success) {
        meta = tg_buf_fixed(answer->meta, sizeof(answer->meta));
        tg_buf_printf(&meta, "{\"" TG_META_EXIT_STATUS "\":%d}",
                      (int) ran.exit);
        whole->meta = tg_buf_view(&meta);
    }
}
