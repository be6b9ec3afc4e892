/*
 * What a handler's output, and a backend's answer, is to a call.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "core/tg_result_repair.h"
#include "core/tg_rpc.h"

void
ngx_toolgate_call_output(ngx_toolgate_call_t *call, tg_str_t bytes)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    outcome = tg_outcome_output(call->entry, bytes);

    if (outcome.kind != TG_OUTCOME_FAILURE) {
        ngx_toolgate_call_end(call, &outcome);
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_outcome_explain(&outcome, call->entry->name, bytes, &text);
    ngx_toolgate_call_end(call, &outcome);
    tg_buf_deinit(&text);
}

/* As tg_outcome_output(); scratch takes what is wrong. */
static tg_outcome_t
ngx_toolgate_answer_output(const ngx_toolgate_call_t *call, tg_str_t bytes,
                           tg_buf_t *scratch)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    outcome = tg_outcome_output(call->entry, bytes);

    if (outcome.kind == TG_OUTCOME_FAILURE) {
        tg_buf_init(&text, tg_alloc_libc());
        tg_outcome_explain(&outcome, call->entry->name, bytes, &text);
        tg_buf_truncate(scratch, 0);
        tg_buf_str(scratch, outcome.value);
        tg_buf_deinit(&text);
        outcome.value = tg_buf_view(scratch);
    }

    return outcome;
}

/* The texts of a result; they are decoded. */
static void
ngx_toolgate_answer_texts(tg_str_t result, tg_buf_t *scratch)
{
    tg_buf_t texts;

    tg_buf_init(&texts, tg_alloc_libc());
    tg_result_texts(&texts, result);
    tg_json_put_decoded(scratch, tg_buf_view(&texts));
    scratch->failed |= texts.failed;
    tg_buf_deinit(&texts);
}

/*
 * What a reply of the call may have at most; 0: there is no bound, as it goes
 * to another worker or is stored.
 */
static size_t
ngx_toolgate_answer_max(const ngx_toolgate_call_t *call)
{
    return call->front == NULL || call->deferred == NULL
                   || call->storing.len != 0
               ? 0
               : tg_peer_reply_max(&call->front->peer);
}

/*
 * Are the texts of a result larger than any message of the client?  Then none
 * of them is written, and scratch says so.
 */
static ngx_uint_t
ngx_toolgate_answer_has_large_texts(const ngx_toolgate_call_t *call,
                                    tg_str_t result, tg_buf_t *scratch)
{
    size_t max, least;

    max = ngx_toolgate_answer_max(call);

    if (max == 0 || result.len <= max) {
        return 0;
    }

    least = tg_result_texts_least(result);

    if (least <= max) {
        return 0;
    }

    tg_outcome_put_too_large(scratch, least, max);

    return 1;
}

/* A tool's result, as `output` has it. */
static tg_outcome_t
ngx_toolgate_answer_result(const ngx_toolgate_call_t *call, tg_str_t result,
                           tg_buf_t *scratch)
{
    ngx_uint_t is_whole;
    tg_str_t value;

    if (tg_json_type(result) != TG_JSON_OBJECT) {
        return tg_outcome_failure(TG_FAILURE_OUTPUT,
                                  "The backend's answer is no tool's result.");
    }

    is_whole = call->entry->output == TG_OUTPUT_RESULT;

    /* A question is for the client, whatever `output` says of results. */
    if ((is_whole && tg_result_is_text(result)) || tg_result_is_asking(result))
    {
        return tg_outcome_of(TG_OUTCOME_RESULT, result);
    }

    if (is_whole) {
        (void) tg_result_repair(result, scratch);
        return tg_outcome_of(TG_OUTCOME_RESULT,
                             scratch->len != 0 ? tg_buf_view(scratch) : result);
    }

    if (call->entry->output == TG_OUTPUT_JSON
        && tg_json_get(result, TG_STR("structuredContent"), &value) == TG_OK)
    {
        return ngx_toolgate_answer_output(call, value, scratch);
    }

    if (ngx_toolgate_answer_has_large_texts(call, result, scratch)) {
        return tg_outcome_failed(TG_FAILURE_SIZE, tg_buf_view(scratch));
    }

    ngx_toolgate_answer_texts(result, scratch);

    return tg_result_is_error(result)
               ? tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(scratch))
               : ngx_toolgate_answer_output(call, tg_buf_view(scratch),
                                            scratch);
}

/* The result of a method of JSON-RPC, likewise. */
static tg_outcome_t
ngx_toolgate_answer_value(const ngx_toolgate_call_t *call, tg_str_t result,
                          tg_buf_t *scratch)
{
    if (call->entry->output != TG_OUTPUT_TEXT) {
        return ngx_toolgate_answer_output(call, result, scratch);
    }

    return tg_json_type(result) == TG_JSON_STRING
               ? tg_outcome_of(TG_OUTCOME_BODY, tg_json_body(result))
               : tg_outcome_text(result);
}

/* A class of an error is what clients of ipc know. */
static tg_outcome_t
ngx_toolgate_answer_exception(const ngx_toolgate_call_t *call,
                              const tg_answer_t *answer, tg_buf_t *scratch)
{
    if (call->entry->output != TG_OUTPUT_RESULT) {
        tg_json_put_decoded(scratch, answer->type);
        tg_buf_text(scratch, ": ");
        tg_json_put_decoded(scratch, answer->message);
        return tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(scratch));
    }

    tg_buf_text(scratch, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    tg_buf_str(scratch, answer->message);
    tg_buf_text(scratch, "\"}],\"isError\":true,\"_meta\":"
                         "{\"" TG_META_ERROR_TYPE "\":\"");
    tg_buf_str(scratch, answer->type);
    tg_buf_text(scratch, "\"}}");

    return tg_outcome_of(TG_OUTCOME_RESULT, tg_buf_view(scratch));
}

static tg_outcome_t
ngx_toolgate_answer_error(const ngx_toolgate_call_t *call,
                          const tg_answer_t *answer, tg_buf_t *scratch)
{
    tg_outcome_t outcome;

    if (answer->type.data != NULL) {
        return ngx_toolgate_answer_exception(call, answer, scratch);
    }

    tg_json_put_decoded(scratch, answer->message);
    outcome = tg_outcome_failed(answer->code == TG_RPC_METHOD
                                    ? TG_FAILURE_UNKNOWN
                                : answer->code == TG_RPC_PARAMS
                                    ? TG_FAILURE_ARGUMENTS
                                    : TG_FAILURE_PROGRAM,
                                tg_buf_view(scratch));
    outcome.has_code = answer->has_code;
    outcome.code = answer->code;
    outcome.data = answer->data;

    return outcome;
}

/*
 * Is JSON, or a whole result, larger than any message of the client?  Then it
 * need not be looked at, unless it is to be stored.
 */
static ngx_uint_t
ngx_toolgate_answer_is_too_large(const ngx_toolgate_call_t *call,
                                 ngx_uint_t is_method, tg_str_t result,
                                 tg_outcome_t *outcome)
{
    if (ngx_toolgate_answer_max(call) == 0
        || call->entry->output == TG_OUTPUT_TEXT
        || (call->entry->output == TG_OUTPUT_JSON && !is_method))
    {
        return 0;
    }

    *outcome = tg_outcome_of(call->entry->output == TG_OUTPUT_JSON
                                 ? TG_OUTCOME_JSON
                                 : TG_OUTCOME_RESULT,
                             result);

    return tg_peer_oversize(&call->front->peer, &call->deferred->reply, outcome)
           != 0;
}

tg_outcome_t
ngx_toolgate_answer(ngx_toolgate_call_t *call, ngx_uint_t is_method,
                    size_t max_output, const tg_answer_t *answer,
                    tg_buf_t *scratch)
{
    tg_outcome_t outcome;

    if (answer->result.len > max_output) {
        tg_buf_printf(scratch,
                      "%.*s: the backend's answer has %zu bytes, more than "
                      "the %zu that it may have (max_output); ask for less.",
                      (int) call->entry->name.len, call->entry->name.data,
                      answer->result.len, max_output);
        outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(scratch));
        call->rule = NGX_TOOLGATE_RULE_MAX_OUTPUT;

    } else if (answer->is_too_large) {
        tg_buf_printf(scratch,
                      "%.*s: the backend's answer has more than the %zu bytes "
                      "that it may have (max_output); ask for less.",
                      (int) call->entry->name.len, call->entry->name.data,
                      max_output);
        outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(scratch));
        call->rule = NGX_TOOLGATE_RULE_MAX_OUTPUT;

    } else if (answer->kind == TG_ANSWER_RESULT
               && ngx_toolgate_answer_is_too_large(call, is_method,
                                                   answer->result, &outcome))
    {
        return outcome;

    } else if (answer->kind == TG_ANSWER_ERROR) {
        outcome = ngx_toolgate_answer_error(call, answer, scratch);
    } else if (is_method) {
        outcome = ngx_toolgate_answer_value(call, answer->result, scratch);
    } else {
        outcome = ngx_toolgate_answer_result(call, answer->result, scratch);
    }

    /* In a batch, or told to another worker, it stands deeper than it did. */
    if (outcome.kind == TG_OUTCOME_RESULT
        && (call->front == NULL || call->deferred->reply.batch != NULL)
        && tg_outcome_is_deep(outcome.value))
    {
        return tg_outcome_too_deep();
    }

    return tg_buf_failed(scratch) ? tg_outcome_no_memory() : outcome;
}
