/* Conversion of a handler's output or backend's response to an outcome. */
#include "nginx/call/ngx_tg_call_impl.h"

#include "base/tg_base64.h"
#include "base/tg_utf8.h"
#include "catalog/tg_mime_type.h"
#include "nginx/config/ngx_tg_listing.h"
#include "catalog/tg_tool_result_repair.h"
#include "protocol/tg_rpc.h"

void
ngx_tg_call_append_output_params(ngx_tg_call_t *call, tg_buf_t *params)
{
    const ngx_tg_tool_t *tool;
    tg_output_type_t output;

    tool = call->tool;
    tg_spec_write(tg_output_fields, &tool->output_spec, params);

    ngx_tg_call_append_stored_output(call, params);

    if (tool->bytes.len != 0) {
        tg_json_add_string(params, "bytes", ngx_tg_str_from_ngx(&tool->bytes));
        tg_json_add_string(params, "mime", ngx_tg_str_from_ngx(&tool->mime));
        return;
    }

    output = tool->entry.output;

    /* The runner checks the results of tools only. */
    if (output == TG_OUTPUT_RESULT && tool->entry.kind != TG_ENTRY_TOOL) {
        output = TG_OUTPUT_JSON;

    } else if (output == TG_OUTPUT_TEXT
               && (NGX_TG_KINDS_READ >> tool->entry.kind & 1))
    {
        output = tg_mime_type_is_text(tool->entry.mime) ? TG_OUTPUT_CONTENT
                                                        : TG_OUTPUT_BASE64;
    }

    if (output != TG_OUTPUT_TEXT) {
        tg_json_add_cstr(params, "output", tg_output_type_words[output]);
    }
}

/* Encodes the content of a resource; the outcome is in scratch. */
static tg_outcome_t
ngx_tg_call_make_blob(tg_str_t bytes, tg_buf_t *scratch)
{
    tg_base64_encoder_t base64 = { .n = 0 };
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_base64_encode(&base64, &text, bytes.data, bytes.len);
    tg_base64_encode_end(&base64, &text);

    /* The bytes may be in scratch. */
    tg_buf_truncate(scratch, 0);
    tg_buf_append_str(scratch, tg_buf_view(&text));
    scratch->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);

    return tg_outcome_make(TG_OUTCOME_BLOB, tg_buf_view(scratch));
}

/* Checks whether the content of a resource must be sent in base64. */
static ngx_uint_t
ngx_tg_call_has_binary_output(const ngx_tg_call_t *call, tg_str_t bytes)
{
    tg_str_t mime;

    /* A call without its session has a copy of the type in its entry. */
    mime = call->request != NULL          ? call->request->reply.mime
           : call->priv->deferred != NULL ? call->priv->deferred->reply.mime
                                          : call->entry->mime;

    return (NGX_TG_KINDS_READ >> call->entry->kind & 1)
           && call->entry->output == TG_OUTPUT_TEXT
           && (!tg_mime_type_is_text(mime) || !tg_utf8_is_valid(bytes));
}

/*
 * Converts output bytes; the text of a failure, and bytes in base64, are in
 * scratch.
 */
static tg_outcome_t
ngx_tg_call_make_output_outcome(const ngx_tg_call_t *call, tg_str_t bytes,
                                tg_buf_t *scratch)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    if (ngx_tg_call_has_binary_output(call, bytes)) {
        return ngx_tg_call_make_blob(bytes, scratch);
    }

    outcome = tg_outcome_parse_output(call->entry, bytes);

    if (outcome.kind == TG_OUTCOME_FAILURE) {
        tg_buf_init(&text, tg_alloc_libc());
        tg_outcome_explain(&outcome, call->entry->name, bytes, &text);
        tg_buf_truncate(scratch, 0);
        tg_buf_append_str(scratch, outcome.value);
        tg_buf_deinit(&text);
        outcome.value = tg_buf_view(scratch);
    }

    return outcome;
}

void
ngx_tg_call_end_with_output(ngx_tg_call_t *call, tg_str_t bytes)
{
    tg_outcome_t outcome;
    tg_buf_t scratch;

    tg_buf_init(&scratch, tg_alloc_libc());
    outcome = ngx_tg_call_make_output_outcome(call, bytes, &scratch);

    if (tg_buf_has_failed(&scratch)) {
        outcome = tg_outcome_make_no_memory();
    }

    ngx_tg_call_end(call, &outcome);
    tg_buf_deinit(&scratch);
}

void
ngx_tg_call_check_remote_result(const ngx_tg_call_t *call,
                                tg_outcome_t *outcome, tg_buf_t *scratch)
{
    if (outcome->kind == TG_OUTCOME_JSON
        && call->entry->output == TG_OUTPUT_RESULT
        && (NGX_TG_KINDS_WITH_RESULT >> call->entry->kind & 1))
    {
        *outcome = ngx_tg_call_make_output_outcome(call, outcome->value,
                                                   scratch);
    }
}

/* Appends the decoded texts of a raw result to scratch. */
static void
ngx_tg_result_append_texts(tg_str_t result, tg_buf_t *scratch)
{
    tg_buf_t texts;

    tg_buf_init(&texts, tg_alloc_libc());
    tg_tool_result_write_texts(&texts, result);
    tg_json_append_unescaped(scratch, tg_buf_view(&texts));
    scratch->failed |= texts.failed;
    tg_buf_deinit(&texts);
}

/* Returns the maximum response in bytes; 0: no limit (relayed or stored). */
static size_t
ngx_tg_call_get_max_response(const ngx_tg_call_t *call)
{
    return call->base == NULL || call->priv->deferred == NULL
                   || call->priv->store_params.len != 0
               ? 0
               : tg_peer_max_reply_size(&call->base->peer);
}

/*
 * Checks whether the texts of a result exceed any message to the client. If so,
 * scratch gets the error and the texts are not decoded.
 */
static ngx_uint_t
ngx_tg_call_has_large_texts(const ngx_tg_call_t *call, tg_str_t result,
                            tg_buf_t *scratch)
{
    size_t max, least;

    max = ngx_tg_call_get_max_response(call);

    if (max == 0 || result.len <= max) {
        return 0;
    }

    least = tg_tool_result_texts_min_size(result);

    if (least <= max) {
        return 0;
    }

    tg_outcome_write_too_large(scratch, least, max);

    return 1;
}

/* Converts a tool's raw result, as the `output` directive says. */
static tg_outcome_t
ngx_tg_call_convert_tool_result(const ngx_tg_call_t *call, tg_str_t result,
                                tg_buf_t *scratch)
{
    ngx_uint_t is_whole;
    tg_str_t value;

    if (tg_json_type(result) != TG_JSON_OBJECT) {
        return tg_outcome_make_failure(
            TG_FAILURE_OUTPUT, "The backend's answer is not a tool result.");
    }

    is_whole = call->entry->output == TG_OUTPUT_RESULT;

    /* A result that requests input is for the client in any case. */
    if ((is_whole && tg_tool_result_has_texts_only(result))
        || tg_tool_result_is_input_required(result))
    {
        return tg_outcome_make(TG_OUTCOME_RESULT, result);
    }

    if (is_whole) {
        (void) tg_tool_result_repair(result, scratch);
        return tg_outcome_make(TG_OUTCOME_RESULT, scratch->len != 0
                                                      ? tg_buf_view(scratch)
                                                      : result);
    }

    if (call->entry->output == TG_OUTPUT_JSON
        && tg_json_get_member(result, TG_STR("structuredContent"), &value)
               == TG_OK)
    {
        return ngx_tg_call_make_output_outcome(call, value, scratch);
    }

    if (ngx_tg_call_has_large_texts(call, result, scratch)) {
        return tg_outcome_make_failure_str(TG_FAILURE_SIZE,
                                           tg_buf_view(scratch));
    }

    ngx_tg_result_append_texts(result, scratch);

    return tg_tool_result_is_error(result)
               ? tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                             tg_buf_view(scratch))
               : ngx_tg_call_make_output_outcome(call, tg_buf_view(scratch),
                                                 scratch);
}

/* Converts a method's raw result, as the `output` directive says. */
static tg_outcome_t
ngx_tg_call_convert_method_result(const ngx_tg_call_t *call, tg_str_t result,
                                  tg_buf_t *scratch)
{
    if (call->entry->output != TG_OUTPUT_TEXT) {
        return ngx_tg_call_make_output_outcome(call, result, scratch);
    }

    return tg_json_type(result) == TG_JSON_STRING
               ? tg_outcome_make(TG_OUTCOME_BODY, tg_json_string_body(result))
               : tg_outcome_make_text(result);
}

/* Converts an error with a class name, for clients of the dialect ipc. */
static tg_outcome_t
ngx_tg_call_convert_exception(const ngx_tg_call_t *call,
                              const tg_response_t *answer, tg_buf_t *scratch)
{
    if (call->entry->output != TG_OUTPUT_RESULT) {
        tg_json_append_unescaped(scratch, answer->type);
        tg_buf_append_cstr(scratch, ": ");
        tg_json_append_unescaped(scratch, answer->message);
        return tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                           tg_buf_view(scratch));
    }

    tg_buf_append_cstr(scratch, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    tg_buf_append_str(scratch, answer->message);
    tg_buf_append_cstr(scratch, "\"}],\"isError\":true,\"_meta\":"
                                "{\"" TG_META_ERROR_TYPE "\":\"");
    tg_buf_append_str(scratch, answer->type);
    tg_buf_append_cstr(scratch, "\"}}");

    return tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(scratch));
}

static tg_outcome_t
ngx_tg_call_convert_error(const ngx_tg_call_t *call,
                          const tg_response_t *answer, tg_buf_t *scratch)
{
    tg_outcome_t outcome;

    if (answer->type.data != NULL) {
        return ngx_tg_call_convert_exception(call, answer, scratch);
    }

    tg_json_append_unescaped(scratch, answer->message);
    outcome = tg_outcome_make_failure_str(
        answer->code == TG_RPC_METHOD_NOT_FOUND ? TG_FAILURE_UNKNOWN
        : answer->code == TG_RPC_INVALID_PARAMS ? TG_FAILURE_ARGUMENTS
                                                : TG_FAILURE_PROGRAM,
        tg_buf_view(scratch));
    outcome.has_code = answer->has_code;
    outcome.code = answer->code;
    outcome.data = answer->data;

    return outcome;
}

/* Checks whether a result exceeds any message and is not to be stored. */
static ngx_uint_t
ngx_tg_call_is_response_too_large(const ngx_tg_call_t *call,
                                  ngx_uint_t is_method, tg_str_t result,
                                  tg_outcome_t *outcome)
{
    if (ngx_tg_call_get_max_response(call) == 0
        || call->entry->output == TG_OUTPUT_TEXT
        || (call->entry->output == TG_OUTPUT_JSON && !is_method))
    {
        return 0;
    }

    *outcome = tg_outcome_make(call->entry->output == TG_OUTPUT_JSON
                                   ? TG_OUTCOME_JSON
                                   : TG_OUTCOME_RESULT,
                               result);

    return tg_peer_check_reply_size(&call->base->peer,
                                    &call->priv->deferred->reply, outcome)
           != 0;
}

tg_outcome_t
ngx_tg_call_convert_response(ngx_tg_call_t *call, ngx_uint_t is_method,
                             size_t max_output, const tg_response_t *answer,
                             tg_buf_t *scratch)
{
    tg_outcome_t outcome;

    if (answer->result.len > max_output) {
        tg_buf_printf(scratch,
                      "%.*s: the backend's answer has %zu bytes, more than the "
                      "maximum of %zu (max_output); ask for less.",
                      (int) call->entry->name.len, call->entry->name.data,
                      answer->result.len, max_output);
        outcome = tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                              tg_buf_view(scratch));
        call->rule = NGX_TG_RULE_MAX_OUTPUT;

    } else if (answer->is_too_large) {
        tg_buf_printf(scratch,
                      "%.*s: the backend's answer has more than the maximum of "
                      "%zu bytes (max_output); ask for less.",
                      (int) call->entry->name.len, call->entry->name.data,
                      max_output);
        outcome = tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                              tg_buf_view(scratch));
        call->rule = NGX_TG_RULE_MAX_OUTPUT;

    } else if (answer->kind == TG_RESPONSE_RESULT
               && ngx_tg_call_is_response_too_large(call, is_method,
                                                    answer->result, &outcome))
    {
        return outcome;

    } else if (answer->kind == TG_RESPONSE_ERROR) {
        outcome = ngx_tg_call_convert_error(call, answer, scratch);
    } else if (is_method) {
        outcome = ngx_tg_call_convert_method_result(call, answer->result,
                                                    scratch);
    } else {
        outcome = ngx_tg_call_convert_tool_result(call, answer->result,
                                                  scratch);
    }

    /* In a batch or relayed, the result is nested deeper than here. */
    if (outcome.kind == TG_OUTCOME_RESULT
        && (call->base == NULL || call->priv->deferred->reply.batch != NULL)
        && tg_outcome_is_too_deep(outcome.value))
    {
        return tg_outcome_make_too_deep();
    }

    return tg_buf_has_failed(scratch) ? tg_outcome_make_no_memory() : outcome;
}
