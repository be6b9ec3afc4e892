/* Collects stdout and stderr and makes the outcome of a program from them. */
#include "runner/exec/tg_exec_output.h"

#include "base/tg_utf8.h"
#include "protocol/tg_rpc.h"
#include "runner/exec/tg_exec_output_store.h"
#include "runner/output/tg_outcome_store.h"

#include <sys/wait.h>

void
tg_exec_output_init(tg_exec_output_t *output, tg_output_type_t type,
                    size_t max_output)
{
    memset(output, 0, offsetof(tg_exec_output_t, err));
    tg_buf_init(&output->out, tg_alloc_libc());
    tg_buf_init(&output->all, tg_alloc_libc());
    output->output_params.type = type;
    output->output_params.max_output = max_output;
    output->size = 0;
    output->escaped = 0;
    output->base64.n = 0;
    output->stored_output.fd = -1;
    tg_output_tail_init(&output->err);
}

void
tg_exec_output_deinit(tg_exec_output_t *output)
{
    tg_stored_output_close(&output->stored_output);
    tg_buf_deinit(&output->out);
    tg_buf_deinit(&output->all);
}

/* --- collecting output --- */

/* JSON before and after the base64 data of each type of binary output. */
static const struct {
    const char *head;
    const char *mime;
    const char *end;
} tg_exec_binary_blocks[] = {
    [TG_EXEC_BINARY_NONE] = { "", "", "" },
    [TG_EXEC_BINARY_IMAGE] = { "{\"content\":[{\"type\":\"image\",\"data\":\"",
                               "\",\"mimeType\":", "}]" },
    [TG_EXEC_BINARY_AUDIO] = { "{\"content\":[{\"type\":\"audio\",\"data\":\"",
                               "\",\"mimeType\":", "}]" },
    [TG_EXEC_BINARY_FILE] = { "{\"content\":[{\"type\":\"resource\","
                              "\"resource\":{"
                              "\"uri\":\"" TG_EXEC_URI "\",\"blob\":\"",
                              "\",\"mimeType\":", "}}]" },
};

static int
tg_exec_output_count_bytes(tg_exec_output_t *output, size_t len)
{
    if (len > output->output_params.max_output - output->size) {
        return TG_LIMIT;
    }

    output->size += len;

    return TG_OK;
}

/* Counts the JSON size of text and checks whether it exceeds a frame. */
static int
tg_exec_output_is_too_large(tg_exec_output_t *output, const char *data,
                            size_t len)
{
    if (output->output_params.type != TG_OUTPUT_TEXT
        || output->output_params.max_output <= TG_JOB_RESULT_MAX / 6)
    {
        return 0;
    }

    output->escaped += tg_json_escaped_len(tg_str(data, len), SIZE_MAX);

    return output->escaped > TG_JOB_RESULT_MAX;
}

int
tg_exec_output_add_stdout(tg_exec_output_t *output, const char *data,
                          size_t len)
{
    if (tg_exec_output_is_stored(output)
        || (tg_exec_output_is_large(output, len)
            && tg_exec_output_store(output) == 0))
    {
        return tg_exec_output_store_more(output, data, len);
    }

    if (tg_exec_output_count_bytes(output, len) != TG_OK) {
        return TG_LIMIT;
    }

    if (output->output_params.bytes == TG_EXEC_BINARY_NONE) {
        tg_buf_append(&output->out, data, len);

        if (tg_exec_output_is_too_large(output, data, len)) {
            return TG_INVALID;
        }

    } else {
        if (output->out.len == 0) {
            tg_buf_append_cstr(
                &output->out,
                tg_exec_binary_blocks[output->output_params.bytes].head);
        }

        tg_base64_encode(&output->base64, &output->out, data, len);
    }

    return tg_buf_has_failed(&output->out) ? TG_NOMEM : TG_OK;
}

int
tg_exec_output_add_stderr(tg_exec_output_t *output, const char *data,
                          size_t len)
{
    switch (output->output_params.err) {
    case TG_EXEC_STDERR_ERROR:
        tg_output_tail_append(&output->err, data, len);
        return TG_OK;

    case TG_EXEC_STDERR_DROP:
        return TG_OK;

    default:
        /* If stdout can move to a file, stderr may use all of max_output. */
        if (tg_exec_output_count_bytes(output, len) != TG_OK
            && (output->out.len == 0 || !tg_exec_output_is_large(output, len)
                || tg_exec_output_store(output) == -1
                || tg_exec_output_count_bytes(output, len) != TG_OK))
        {
            return TG_LIMIT;
        }

        tg_buf_append(&output->all, data, len);
        return tg_buf_has_failed(&output->all) ? TG_NOMEM : TG_OK;
    }
}

/* --- failed programs --- */

static void
tg_exec_append_tail(tg_buf_t *text, const char *name, tg_str_t end, int is_cut)
{
    tg_buf_printf(text, is_cut ? "\n[end of %s]\n" : "\n[%s]\n", name);
    tg_utf8_append_lossy(text, is_cut ? tg_output_trim_to_lines(end, 0) : end);
}

/* Returns the end of stderr. *is_cut is 1 if earlier output is missing. */
static tg_str_t
tg_exec_get_stderr_tail(const tg_exec_output_t *output, int *is_cut)
{
    tg_str_t err;

    err = tg_output_tail_get(&output->err, is_cut);

    return err.len != 0 ? err
                        : tg_output_tail_cut(tg_buf_view(&output->all),
                                             TG_EXEC_TAILS_MAX, is_cut);
}

/*
 * Appends the ends of stdout and stderr: "git_log exited with status 128:
 * fatal: …". Linters and compilers report on stdout; if there is any, each has
 * a heading.
 */
static void
tg_exec_append_tails(tg_buf_t *text, tg_exec_output_t *output)
{
    int is_err_cut, is_out_cut;
    tg_str_t err, out;
    size_t room;

    room = output->output_params.max_output < TG_EXEC_TAILS_MAX
               ? output->output_params.max_output
               : TG_EXEC_TAILS_MAX;
    is_out_cut = tg_exec_output_is_stored(output);

    if (is_out_cut) {
        room = output->output_params.store_params.preview != 0
                       && output->output_params.store_params.preview < room
                   ? output->output_params.store_params.preview
                   : room;
        tg_stored_output_read_tail(&output->stored_output, room, &output->out);
    }

    out = output->output_params.bytes == TG_EXEC_BINARY_NONE
              ? tg_buf_view(&output->out)
              : TG_STR("");
    err = tg_exec_get_stderr_tail(output, &is_err_cut);
    err = tg_output_tail_cut(err,
                             out.len < room / 2 ? room - out.len : room / 2,
                             &is_err_cut);
    out = tg_output_tail_cut(out, room - err.len, &is_out_cut);

    if (output->err.len == 0 && output->all.len == 0) {
        if (output->output_params.err != TG_EXEC_STDERR_DROP) {
            tg_buf_append_cstr(text, " and wrote nothing to stderr");
        }

    } else if (out.len == 0) {
        tg_buf_append_cstr(text, is_err_cut ? ": \xe2\x80\xa6 " : ": ");
        tg_utf8_append_lossy(text, err);

    } else {
        tg_exec_append_tail(text, "stderr", err, is_err_cut);
    }

    if (out.len != 0) {
        tg_exec_append_tail(text, "stdout", out, is_out_cut);
    }

    if (tg_exec_output_is_stored(output)) {
        tg_buf_printf(text, "\n[stdout has %llu bytes in %llu %s; ",
                      (unsigned long long) output->stored_output.size,
                      (unsigned long long) output->stored_output.lines,
                      tg_pick_plural(output->stored_output.lines, "line",
                                     "lines"));
        tg_stored_output_append_usage(&output->stored_output,
                                      &output->output_params.store_params,
                                      text);
        tg_buf_append_char(text, ']');
    }
}

/* --- successful programs --- */

/* Completes the binary output to an MCP result and returns the outcome. */
static tg_outcome_t
tg_exec_make_binary_outcome(tg_exec_output_t *output, const char *tool,
                            tg_buf_t *text)
{
    static const char *const names[] = {
        [TG_EXEC_BINARY_NONE] = "",
        [TG_EXEC_BINARY_IMAGE] = "image",
        [TG_EXEC_BINARY_AUDIO] = "audio",
        [TG_EXEC_BINARY_FILE] = "file",
    };
    tg_exec_binary_t bytes;

    bytes = output->output_params.bytes;

    if (output->size == 0) {
        tg_buf_printf(text, "%s printed nothing, but %s (%s) was expected.",
                      tool, names[bytes], output->output_params.mime);
        return tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                           tg_buf_view(text));
    }

    tg_base64_encode_end(&output->base64, &output->out);
    tg_buf_append_cstr(&output->out, tg_exec_binary_blocks[bytes].mime);
    tg_json_write_string(&output->out,
                         tg_str_from_cstr(output->output_params.mime));
    tg_buf_append_cstr(&output->out, tg_exec_binary_blocks[bytes].end);
    tg_json_add_bool(&output->out, "isError", 0);
    tg_buf_append_char(&output->out, '}');

    return tg_buf_has_failed(&output->out)
               ? tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                         TG_RUNNER_NO_MEMORY)
               : tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(&output->out));
}

/* Appends stderr to stdout, after a separator. TG_LIMIT: no space left. */
static int
tg_exec_append_stderr(tg_exec_output_t *output)
{
    static const char mark[] = "\n[stderr]\n";
    tg_buf_t *out;
    size_t from;
    char last;
    int rc;

    out = &output->out;

    if (tg_exec_output_is_stored(output) && output->all.len != 0) {
        from = tg_stored_output_read(&output->stored_output,
                                     output->stored_output.size - 1, &last, 1)
                   == 1
               && last == '\n';
        rc = tg_exec_output_store_more(output, mark + from,
                                       sizeof(mark) - 1 - from);
        return rc != TG_OK ? rc
                           : tg_exec_output_store_more(output, output->all.data,
                                                       output->all.len);
    }

    if (out->len != 0 && output->all.len != 0) {
        tg_buf_append_cstr(out, mark + (out->data[out->len - 1] == '\n'));
    }

    tg_buf_append_str(out, tg_buf_view(&output->all));
    tg_buf_truncate(&output->all, 0);

    if (!tg_exec_output_is_stored(output) && tg_exec_output_is_large(output, 0))
    {
        (void) tg_exec_output_store(output);
    }

    return TG_OK;
}

static int
tg_exec_is_success(const tg_exec_output_params_t *output_params, int status)
{
    int code;

    if (!WIFEXITED(status)) {
        return 0;
    }

    code = WEXITSTATUS(status);

    return output_params->success.is_set
               ? (int) (output_params->success.bits[code / 32] >> code % 32 & 1)
               : code == 0;
}

/*
 * Determines the outcome; `text` gets messages and previews. Returns 1 without
 * an outcome if a successful program's output must be checked.
 */
static int
tg_exec_make_outcome(tg_exec_output_t *output, const tg_job_params_t *params,
                     int status, tg_buf_t *text, tg_outcome_t *outcome)
{
    const char *tool;

    tool = params->tool;

    if (!tg_exec_is_success(&output->output_params, status)) {
        tg_buf_append_cstr(text, tool);
        tg_exit_status_append_text(text, status);
        tg_exec_append_tails(text, output);
        *outcome = tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                               tg_buf_view(text));

    } else if (output->output_params.bytes != TG_EXEC_BINARY_NONE) {
        *outcome = tg_exec_make_binary_outcome(output, tool, text);

    } else if (tg_exec_append_stderr(output) != TG_OK
               || (tg_exec_output_is_stored(output)
                   && tg_exec_output_append_preview(output, text) == -1))
    {
        tg_buf_truncate(text, 0);
        tg_buf_printf(text,
                      "%s printed more than can be stored; ask for "
                      "less.",
                      tool);
        *outcome = tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                               tg_buf_view(text));

    } else if (tg_buf_has_failed(&output->out)) {
        *outcome = tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                           TG_RUNNER_NO_MEMORY);

    } else if (tg_exec_output_is_stored(output)) {
        *outcome = tg_outcome_make_text(tg_buf_view(text));

    } else {
        return 1;
    }

    return 0;
}

void
tg_exec_response_begin(tg_exec_response_t *answer, tg_exec_output_t *output,
                       const tg_job_params_t *params, int status,
                       const tg_run_stats_t *times)
{
    const tg_exec_output_params_t *output_params;
    tg_output_response_t *response;
    tg_outcome_t outcome;
    tg_buf_t meta;
    tg_run_stats_t stats;

    stats = *times;
    stats.has_exited = WIFEXITED(status);
    stats.exit = stats.has_exited ? WEXITSTATUS(status) : 0;
    stats.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    /* Output of other types was stored while it arrived. */
    output_params = &output->output_params;
    response = &answer->answer;
    tg_output_response_begin(response, params,
                             output_params->type == TG_OUTPUT_RESULT
                                 ? &output_params->store_params
                                 : NULL,
                             output_params->max_output, &stats);

    if (tg_exec_make_outcome(output, params, status, &response->text, &outcome))
    {
        tg_output_response_set_output(response, tg_buf_view(&output->out),
                                      output_params->type,
                                      output_params->store_params.output_store
                                          != NULL);
    } else {
        tg_output_response_set_outcome(response, &outcome);
    }

    /* Without `success`, the status is 0 or in the message. */
    if (stats.has_exited && output_params->success.is_set) {
        meta = tg_buf_make_fixed(answer->meta, sizeof(answer->meta));
        tg_buf_printf(&meta, "{\"" TG_META_EXIT_STATUS "\":%d}",
                      (int) stats.exit);
        response->meta = tg_buf_view(&meta);
    }
}
