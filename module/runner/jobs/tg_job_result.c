/* Checks the output of a job and writes its result, in steps if it is large. */
#include "runner/jobs/tg_job_result.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "protocol/tg_peer.h"

void
tg_job_result_write(tg_buf_t *json, const tg_outcome_t *outcome,
                    const tg_run_stats_t *times)
{
    (void) tg_buf_reserve(json, outcome->value.len + 128);
    tg_outcome_write_json(json, outcome);
    tg_run_stats_write_json(json, times);
    tg_buf_append_char(json, '}');
}

int
tg_job_result_is_too_large(tg_str_t out, tg_output_type_t form,
                           const tg_job_params_t *params)
{
    return params->max_answer != 0 && out.len > params->max_answer
           && (form == TG_OUTPUT_JSON
               || (form == TG_OUTPUT_RESULT && !params->is_text_only))
           && tg_outcome_min_size(TG_OUTCOME_JSON, out) > params->max_answer;
}

int
tg_job_result_check_utf8(tg_str_t out, const tg_job_params_t *params,
                         tg_buf_t *text)
{
    size_t at;

    at = tg_utf8_find_invalid(out.data, out.len);

    if (at != out.len) {
        tg_buf_printf(
            text,
            "The output of %s is not UTF-8 text (first invalid byte at "
            "offset %zu of %zu); for binary output the tool needs \"output "
            "image TYPE\", \"output audio TYPE\" or \"output file TYPE\".",
            params->tool, at, out.len);
    }

    return at == out.len;
}

tg_outcome_t
tg_job_result_check_output(tg_str_t out, tg_output_type_t form,
                           const tg_job_params_t *params, int is_stored,
                           tg_buf_t *text)
{
    tg_outcome_t outcome;
    tg_catalog_entry_t entry;

    if (!is_stored && tg_job_result_is_too_large(out, form, params)) {
        return tg_outcome_make(form == TG_OUTPUT_JSON ? TG_OUTCOME_JSON
                                                      : TG_OUTCOME_RESULT,
                               out);
    }

    if (!tg_job_result_check_utf8(out, params, text)) {
        return tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                           tg_buf_view(text));
    }

    if (form == TG_OUTPUT_TEXT) {
        return tg_outcome_make_text(out);
    }

    memset(&entry, 0, sizeof(entry));
    entry.kind = TG_ENTRY_TOOL;
    entry.output = form;

    outcome = tg_outcome_parse_output(&entry, out);
    tg_outcome_explain(&outcome, tg_str_from_cstr(params->tool), out, text);

    return outcome;
}

void
tg_job_result_append_too_large(tg_buf_t *text, const char *tool)
{
    tg_buf_printf(text,
                  "The output of %s is larger than 64 MiB when written as "
                  "JSON, where a control character takes six bytes; ask for "
                  "less.",
                  tool);
}

/* Starts the result again with a failure, whose message is in writer->text. */
static void
tg_job_result_writer_fail(tg_job_result_writer_t *writer, tg_failure_t failure)
{
    tg_buf_reset(&writer->json, 0);
    writer->outcome = tg_outcome_make_failure_str(failure,
                                                  tg_buf_view(&writer->text));
    writer->at = 0;
    writer->is_size_counted = 0;
    tg_outcome_write_begin(&writer->json, &writer->outcome);
}

/* Replaces an output that exceeds a frame by a failure. */
static void
tg_job_result_writer_fail_frame(tg_job_result_writer_t *writer)
{
    tg_job_result_append_too_large(&writer->text, writer->params->tool);
    tg_job_result_writer_fail(writer, TG_FAILURE_OUTPUT);
}

/* Replaces an output that exceeds the client's maximum size by a failure. */
static void
tg_job_result_writer_fail_size(tg_job_result_writer_t *writer)
{
    tg_outcome_write_too_large(&writer->text, writer->min_reply_size,
                               writer->params->max_answer);
    tg_job_result_writer_fail(writer, TG_FAILURE_SIZE);
}

/* Checks whether the response may exceed the client's maximum size. */
static int
tg_job_result_may_be_too_large(const tg_outcome_t *outcome, size_t max_answer)
{
    return max_answer != 0 && outcome->kind != TG_OUTCOME_FAILURE
           && outcome->value.len > (outcome->kind == TG_OUTCOME_TEXT
                                        ? max_answer / 6
                                        : max_answer);
}

void
tg_job_result_writer_begin(tg_job_result_writer_t *writer,
                           const tg_outcome_t *outcome,
                           const tg_job_params_t *params,
                           const tg_run_stats_t *stats)
{
    writer->outcome = *outcome;
    writer->stats = *stats;
    writer->params = params;
    writer->at = 0;
    writer->min_reply_size = 0;
    writer->is_size_counted = tg_job_result_may_be_too_large(
        outcome, params->max_answer);
    tg_buf_init(&writer->json, tg_alloc_libc());
    tg_buf_init(&writer->text, tg_alloc_libc());

    if (outcome->value.len > TG_JOB_RESULT_MAX) {
        tg_job_result_writer_fail_frame(writer);
        return;
    }

    if (writer->is_size_counted && outcome->kind == TG_OUTCOME_RESULT
        && params->is_text_only)
    {
        writer->is_size_counted = 0;
        writer->min_reply_size = tg_tool_result_texts_size(outcome->value);

        if (writer->min_reply_size > params->max_answer) {
            tg_job_result_writer_fail_size(writer);
            return;
        }
    }

    if (!writer->is_size_counted) {
        (void) tg_buf_reserve(&writer->json, outcome->value.len + 128);
    }

    tg_outcome_write_begin(&writer->json, outcome);
}

/* Writes a part of the value, or only counts it if it is too large already. */
static void
tg_job_result_writer_write_part(tg_job_result_writer_t *writer, size_t len)
{
    tg_str_t part;

    if (writer->is_size_counted) {
        part = tg_str(writer->outcome.value.data + writer->at, len);
        writer->min_reply_size += tg_outcome_min_size(writer->outcome.kind,
                                                      part);
    }

    if (!writer->is_size_counted
        || writer->min_reply_size <= writer->params->max_answer)
    {
        tg_outcome_write_part(&writer->json, &writer->outcome, writer->at, len);
    } else {
        tg_buf_reset(&writer->json, 0);
    }

    writer->at += len;
}

int
tg_job_result_writer_step(tg_job_result_writer_t *writer)
{
    size_t len;

    len = writer->outcome.value.len - writer->at;
    tg_job_result_writer_write_part(writer, len < TG_JOB_RESULT_STEP
                                                ? len
                                                : TG_JOB_RESULT_STEP);

    if (writer->at != writer->outcome.value.len
        && writer->json.len <= TG_JOB_RESULT_MAX
        && !tg_buf_has_failed(&writer->json))
    {
        return TG_AGAIN;
    }

    if (writer->is_size_counted
        && writer->min_reply_size > writer->params->max_answer)
    {
        tg_job_result_writer_fail_size(writer);
        return TG_AGAIN;
    }

    tg_outcome_write_end(&writer->json, &writer->outcome);
    tg_run_stats_write_json(&writer->json, &writer->stats);
    tg_buf_append_char(&writer->json, '}');

    if (writer->json.len > TG_JOB_RESULT_MAX && writer->text.len == 0) {
        tg_job_result_writer_fail_frame(writer);
        return TG_AGAIN;
    }

    writer->json.failed |= tg_buf_has_failed(&writer->text);

    return TG_OK;
}

void
tg_job_result_writer_end(tg_job_result_writer_t *writer)
{
    tg_buf_deinit(&writer->json);
    tg_buf_deinit(&writer->text);
}

void
tg_job_result_write_output(tg_buf_t *json, const tg_outcome_t *outcome,
                           const tg_job_params_t *params,
                           const tg_run_stats_t *times)
{
    tg_job_result_writer_t writer;

    tg_job_result_writer_begin(&writer, outcome, params, times);

    while (tg_job_result_writer_step(&writer) == TG_AGAIN) {
        /* void */
    }

    if (json->len == 0) {
        tg_buf_deinit(json);
        *json = writer.json;
        tg_buf_init(&writer.json, tg_alloc_libc());
    } else {
        tg_buf_append_str(json, tg_buf_view(&writer.json));
        json->failed |= tg_buf_has_failed(&writer.json);
    }

    tg_job_result_writer_end(&writer);
}

void
tg_job_result_write_failure(tg_buf_t *json, tg_failure_t failure,
                            const tg_run_stats_t *times, const char *format,
                            va_list args)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_vprintf(&text, format, args);
    outcome = tg_outcome_make_failure_str(failure, tg_buf_view(&text));
    tg_job_result_write(json, &outcome, times);
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

void
tg_buf_append_duration(tg_buf_t *text, uint64_t ms)
{
    if (ms < 1000) {
        tg_buf_printf(text, "%u ms", (unsigned) ms);
    } else {
        tg_buf_printf(text, "%.10g s", (double) ms / 1000);
    }
}

tg_outcome_t
tg_job_result_to_outcome(const tg_buf_t *json)
{
    return tg_buf_has_failed(json)
               ? tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                         TG_JOB_RESULT_NO_MEMORY)
               : tg_outcome_make(TG_OUTCOME_JSON, tg_buf_view(json));
}

void
tg_peer_respond_json(tg_peer_t *peer, const tg_request_t *request,
                     const tg_buf_t *json)
{
    tg_outcome_t outcome;

    outcome = tg_job_result_to_outcome(json);
    tg_peer_respond(peer, &request->reply, &outcome);
}

void
tg_peer_respond_failure(tg_peer_t *peer, const tg_request_t *request,
                        tg_failure_t failure, const char *rule,
                        const char *format, ...)
{
    tg_run_stats_t stats;
    tg_buf_t json;
    va_list args;

    memset(&stats, 0, sizeof(stats));
    stats.rule = rule != NULL ? tg_str_from_cstr(rule) : TG_STR_NONE;
    tg_buf_init(&json, tg_alloc_libc());
    va_start(args, format);
    tg_job_result_write_failure(&json, failure, &stats, format, args);
    va_end(args);
    tg_peer_respond_json(peer, request, &json);
    tg_buf_deinit(&json);
}

void
tg_peer_respond_invalid_params(tg_peer_t *peer, const tg_request_t *request,
                               const char *why)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make_failure(TG_FAILURE_ARGUMENTS, why);
    tg_peer_respond(peer, &request->reply, &outcome);
}

void
tg_peer_respond_true(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_make(TG_OUTCOME_JSON, TG_STR("true"));
    tg_peer_respond(peer, &request->reply, &outcome);
}
