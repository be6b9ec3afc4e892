/*
 * One call: validates the arguments, calls the program's handler, and sends the
 * answer, at once or later.
 */
#include "lib/tg_runtime.h"

#include "base/tg_base64.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "catalog/tg_mime_type.h"
#include "protocol/tg_rpc.h"
#include "protocol/tg_tool_validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* Largest buffer for arguments that is kept for the next call, in bytes. */
#define TG_ARGUMENTS_BUFFER_KEEP 65536
/* Size of a message with the name of a tool, which may be a URI, in bytes. */
#define TG_SERVER_CALL_TEXT_MAX (2 * TG_URI_MAX + 128)

typedef struct {
    tg_pending_call_t pending; /* first member */
    tg_session_t *session;
    tg_tool_t *tool;     /* a reference */
    tg_call_t *deferred; /* NULL: the handler runs */
    uint64_t deadline;   /* in ms of the loop's clock; 0: none */
    char inline_text[TG_PENDING_CALL_INLINE_MAX];
} tg_server_call_t;

static tg_schema_validator_t *
tg_runtime_get_schema_checker(tg_runtime_t *runtime)
{
    uint64_t seed;

    if (runtime->validator == NULL) {
        seed = 0;
        (void) !getrandom(&seed, sizeof(seed), 0);
        runtime->validator = tg_schema_validator_new(tg_alloc_libc(), seed);
    }

    return runtime->validator;
}

static int
tg_server_call_validate_args(tg_session_t *session, const tg_tool_t *tool,
                             tg_request_t *request, tg_buf_t *written)
{
    tg_schema_validator_t *validator;
    tg_outcome_t outcome;
    tg_buf_t text;
    int rc;

    if (tg_tool_has_valid_args(tool->input, request)) {
        return 1;
    }

    validator = tg_runtime_get_schema_checker(session->runtime);

    if (validator != NULL) {
        tg_schema_validator_set_frame(validator, session->peer.frame_size,
                                      &session->peer.work);
    }

    tg_buf_init(&text, tg_alloc_libc());
    rc = tg_tool_validate_request(tool->input, validator, request, written,
                                  &outcome, &text);

    if (rc != TG_OK) {
        tg_peer_respond(&session->peer, &request->reply, &outcome);
    }

    tg_buf_deinit(&text);

    return rc == TG_OK;
}

/* Checks whether the contents of a resource must be sent in base64. */
static int
tg_server_call_is_blob(const tg_tool_t *tool, tg_str_t bytes)
{
    return tg_tool_is_resource_kind(tool->entry.kind)
           && tool->entry.output == TG_OUTPUT_TEXT
           && ((tool->entry.mime.data != NULL
                && !tg_mime_type_is_text(tool->entry.mime))
               || !tg_utf8_is_valid(bytes));
}

static tg_outcome_t
tg_server_call_make_blob(tg_str_t bytes, tg_buf_t *text)
{
    tg_base64_encoder_t base64 = { .n = 0 };

    tg_base64_encode(&base64, text, bytes.data, bytes.len);
    tg_base64_encode_end(&base64, text);

    return tg_buf_has_failed(text)
               ? tg_outcome_make_no_memory()
               : tg_outcome_make(TG_OUTCOME_BLOB, tg_buf_view(text));
}

/*
 * Parses and validates the program's output. text stores an error's text, and
 * bytes in base64.
 */
static tg_outcome_t
tg_server_call_check_output(tg_runtime_t *runtime, const tg_tool_t *tool,
                            tg_str_t bytes, tg_buf_t *text)
{
    tg_schema_validator_t *validator;
    tg_outcome_t outcome;

    if (tg_server_call_is_blob(tool, bytes)) {
        return tg_server_call_make_blob(bytes, text);
    }

    outcome = tg_outcome_parse_output(&tool->entry, bytes);

    if (outcome.kind == TG_OUTCOME_FAILURE) {
        tg_outcome_explain(&outcome, tool->entry.name, bytes, text);
        return outcome;
    }

    if (tool->output != NULL) {
        validator = tg_runtime_get_schema_checker(runtime);

        if (validator != NULL) {
            tg_schema_validator_set_frame(validator, 0, NULL);
        }

        (void) tg_tool_validate_outcome(tool->output, validator, &tool->entry,
                                        &outcome, text);
    }

    return outcome;
}

/* Returns a result with "isError" and, in _meta, the class of the error. */
static tg_outcome_t
tg_server_call_make_error_result(const tg_pending_call_reply_t *reply,
                                 tg_buf_t *text)
{
    tg_buf_t visible;

    tg_buf_init(&visible, tg_alloc_libc());
    tg_utf8_append_visible(&visible, reply->text, 0);
    tg_buf_append_cstr(text, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_write_string(text, tg_buf_view(&visible));
    tg_buf_append_cstr(text,
                       "}],\"isError\":true,\"_meta\":{\"" TG_META_ERROR_TYPE
                       "\":");
    tg_json_write_string(text, reply->type);
    tg_buf_append_cstr(text, "}}");
    text->failed |= visible.failed;
    tg_buf_deinit(&visible);

    return tg_buf_has_failed(text)
               ? tg_outcome_make_no_memory()
               : tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(text));
}

static tg_outcome_t
tg_server_call_make_failure(const tg_pending_call_reply_t *reply,
                            tg_buf_t *text)
{
    tg_outcome_t outcome;

    tg_utf8_append_visible(text, reply->text, 0);
    outcome = tg_buf_has_failed(text)
                  ? tg_outcome_make_no_memory()
                  : tg_outcome_make_failure_str(reply->failure,
                                                tg_buf_view(text));
    outcome.has_code = reply->code != 0;
    outcome.code = reply->code;
    outcome.data = reply->data;

    return outcome;
}

static tg_outcome_t
tg_server_call_make_outcome(tg_runtime_t *runtime, const tg_tool_t *tool,
                            const tg_pending_call_reply_t *reply,
                            tg_buf_t *text)
{
    return reply->failure == TG_FAILURE_NONE
               ? tg_server_call_check_output(runtime, tool, reply->text, text)
           : tool->entry.kind == TG_ENTRY_TOOL && reply->type.data != NULL
               ? tg_server_call_make_error_result(reply, text)
               : tg_server_call_make_failure(reply, text);
}

/* Reports every error of a tool to the program, whatever its cause. */
static void
tg_server_call_report_failure(tg_runtime_t *runtime, const tg_tool_t *tool,
                              const tg_outcome_t *outcome,
                              const tg_pending_call_reply_t *reply)
{
    /* An unknown resource is the client's mistake. */
    if (reply != NULL && reply->failure == TG_FAILURE_UNKNOWN) {
        return;
    }

    if (reply != NULL && reply->failure != TG_FAILURE_NONE) {
        tg_runtime_report(runtime, TOOLGATE_ERR_TOOL_EXECUTION, "%s: %.*s",
                          tool->name, (int) reply->text.len, reply->text.data);

    } else if (outcome->kind == TG_OUTCOME_FAILURE) {
        tg_runtime_report(runtime, TOOLGATE_ERR_TOOL_EXECUTION, "%.*s",
                          (int) outcome->value.len, outcome->value.data);
    }
}

static void
tg_session_send_outcome(tg_session_t *session, const tg_tool_t *tool,
                        const tg_reply_t *reply, const tg_outcome_t *outcome)
{
    tg_peer_respond(&session->peer, reply, outcome);
    tg_session_mark_dirty(session);

    if (session->peer.last_failure == TG_FAILURE_SIZE) {
        tg_runtime_report(
            session->runtime, TOOLGATE_ERR_MESSAGE_SIZE,
            "%s: the response is larger than a message may be, so the caller "
            "received an error; make it shorter",
            tool->name);
    }
}

static void
tg_server_call_recycle(tg_server_call_t *call)
{
    tg_runtime_t *runtime;

    runtime = call->session->runtime;
    tg_tool_unref(call->tool);

    if (runtime->recycled_call == NULL) {
        runtime->recycled_call = call;
    } else {
        free(call);
    }
}

static void
tg_server_call_finish(tg_server_call_t *call, const tg_outcome_t *outcome)
{
    tg_session_send_outcome(call->session, call->tool, &call->deferred->reply,
                            outcome);
    tg_call_forget(call->deferred);
    tg_server_call_recycle(call);
}

/* Calls the program's cancel callback, unless the program has answered. */
static void
tg_server_call_abandon(tg_server_call_t *call)
{
    tg_runtime_t *runtime;
    uint64_t number;

    runtime = call->session->runtime;
    number = call->pending.number;

    if (tg_pending_call_close(&call->pending)
        && runtime->conf.cancelled != NULL) {
        runtime->ncallbacks++;
        runtime->conf.cancelled(number, runtime->conf.cancelled_data);
        runtime->ncallbacks--;
    }
}

/* Sends an error to the client and reports it to the program. */
static void
tg_server_call_fail(tg_server_call_t *call, tg_failure_t failure,
                    const char *text)
{
    tg_outcome_t outcome;

    tg_server_call_abandon(call);
    outcome = tg_outcome_make_failure(failure, text);
    tg_server_call_report_failure(call->session->runtime, call->tool, &outcome,
                                  NULL);
    tg_server_call_finish(call, &outcome);
}

static void
tg_server_call_extend_deadline(tg_server_call_t *call)
{
    tg_runtime_t *runtime;

    runtime = call->session->runtime;

    if (call->tool->timeout != 0) {
        call->deadline = uv_now(runtime->loop) + call->tool->timeout;
        tg_runtime_schedule(runtime, call->deadline);
    }
}

static void
tg_server_call_on_reply(tg_pending_call_t *pending,
                        const tg_pending_call_reply_t *reply,
                        const tg_pending_call_progress_t *progress)
{
    tg_progress_values_t values;
    tg_server_call_t *call;
    tg_outcome_t outcome;
    tg_buf_t text;

    call = (tg_server_call_t *) pending;
    tg_buf_init(&text, tg_alloc_libc());

    if (reply != NULL) {
        outcome = tg_server_call_make_outcome(call->session->runtime,
                                              call->tool, reply, &text);
        tg_server_call_report_failure(call->session->runtime, call->tool,
                                      &outcome, reply);
        tg_server_call_finish(call, &outcome);

    } else {
        tg_progress_values_write_json(progress, &text, &values);
        tg_server_call_extend_deadline(call);

        if (values.progress.data != NULL) {
            tg_call_notify_progress(call->deferred, values.progress,
                                    values.total, values.message);
            tg_session_mark_dirty(call->session);
        }
    }

    tg_buf_deinit(&text);
}

/* Copies the arguments with a zero byte, until the next call. */
static const char *
tg_runtime_copy_arguments(tg_runtime_t *runtime, tg_str_t arguments)
{
    tg_buf_truncate(&runtime->scratch, 0);
    tg_buf_append_str(&runtime->scratch, arguments);
    tg_buf_append_char(&runtime->scratch, '\0');

    return tg_buf_has_failed(&runtime->scratch) ? NULL : runtime->scratch.data;
}

static tg_server_call_t *
tg_server_call_new(tg_session_t *session, tg_tool_t *tool)
{
    tg_server_call_t *call;
    tg_runtime_t *runtime;

    runtime = session->runtime;
    call = runtime->recycled_call != NULL ? runtime->recycled_call
                                          : malloc(sizeof(*call));
    runtime->recycled_call = NULL;

    if (call != NULL) {
        memset(call, 0, offsetof(tg_server_call_t, inline_text));
        call->session = session;
        call->tool = tg_tool_ref(tool);
        call->pending.on_arrival = tg_server_call_on_reply;
        call->pending.inline_text = call->inline_text;
    }

    return call;
}

/* Defers a call that the handler has not answered yet. */
static void
tg_server_call_defer(tg_server_call_t *call, tg_peer_t *peer,
                     const tg_request_t *request)
{
    call->deferred = tg_peer_defer_request(peer, request);

    if (call->deferred == NULL) {
        tg_server_call_abandon(call);
        tg_server_call_recycle(call);
        return;
    }

    call->deferred->host = call;
    tg_call_set_host_bytes(call->deferred, sizeof(*call));
    tg_server_call_extend_deadline(call);
    tg_pending_call_enable_delivery(&call->pending);
}

static void
tg_server_call_run_handler(tg_server_call_t *call, tg_peer_t *peer,
                           const tg_request_t *request, const char *arguments)
{
    tg_pending_call_reply_t reply;
    tg_outcome_t outcome;
    tg_call_scope_t asked;
    tg_buf_t text;
    tg_runtime_t *runtime;
    uint64_t number;

    runtime = call->session->runtime;
    number = tg_pending_call_open(&call->pending, &runtime->mailbox);
    runtime->ncallbacks++;
    tg_call_scope_enter(&asked, arguments, request);
    call->tool->handler(number, arguments, request->arguments.len,
                        call->tool->data);
    tg_call_scope_leave(&asked);
    runtime->ncallbacks--;

    if (!tg_pending_call_take_reply(&call->pending, &reply)) {
        tg_server_call_defer(call, peer, request);
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_server_call_make_outcome(runtime, call->tool, &reply, &text);
    tg_server_call_report_failure(runtime, call->tool, &outcome, &reply);
    tg_session_send_outcome(call->session, call->tool, &request->reply,
                            &outcome);
    tg_buf_deinit(&text);
    tg_thread_message_free(reply.thread_message);
    tg_server_call_recycle(call);
}

static void
tg_server_call_begin(tg_session_t *session, tg_peer_t *peer, tg_tool_t *tool,
                     tg_request_t *request)
{
    tg_server_call_t *call;
    const char *arguments;
    tg_outcome_t outcome;
    tg_runtime_t *runtime;

    runtime = session->runtime;

    /* For a call above the limit, the peer sends the error. */
    if (peer->ncalls >= peer->max_calls) {
        (void) tg_peer_defer_request(peer, request);
        return;
    }

    arguments = tg_runtime_copy_arguments(runtime, request->arguments);
    call = arguments != NULL ? tg_server_call_new(session, tool) : NULL;

    if (call == NULL) {
        outcome = tg_outcome_make_no_memory();
        tg_peer_respond(peer, &request->reply, &outcome);
        return;
    }

    tg_server_call_run_handler(call, peer, request, arguments);
    tg_buf_reset(&runtime->scratch, TG_ARGUMENTS_BUFFER_KEEP);
}

void
tg_server_call_on_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_buf_t written;
    tg_tool_t *tool;

    tool = request->entry->host;
    tg_buf_init(&written, tg_alloc_libc());

    if (tg_server_call_validate_args(host, tool, request, &written)) {
        tg_server_call_begin(host, peer, tool, request);
    }

    tg_buf_deinit(&written);
}

void
tg_server_call_on_cancel(void *host, tg_call_t *deferred)
{
    tg_server_call_abandon(deferred->host);
    tg_server_call_recycle(deferred->host);
}

void
tg_runtime_deliver_mailbox(tg_runtime_t *runtime)
{
    if (tg_mailbox_deliver(&runtime->mailbox)) {
        runtime->progress_at = uv_now(runtime->loop) + TG_PROGRESS_INTERVAL_MS;
        tg_runtime_schedule(runtime, runtime->progress_at);
    }
}

uint64_t
tg_session_expire_calls(tg_session_t *session, uint64_t now)
{
    tg_server_call_t *call;
    tg_call_t *deferred, *next;
    uint64_t due;
    char text[TG_SERVER_CALL_TEXT_MAX];

    due = UINT64_MAX;

    for (deferred = session->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;

        if (call->deadline != 0 && call->deadline <= now) {
            (void) snprintf(text, sizeof(text),
                            "%s: no response within %llu ms (timeout).",
                            call->tool->name,
                            (unsigned long long) call->tool->timeout);
            tg_server_call_fail(call, TG_FAILURE_TIMEOUT, text);

        } else if (call->deadline != 0 && call->deadline < due) {
            due = call->deadline;
        }
    }

    return due;
}

void
tg_session_fail_calls(tg_session_t *session)
{
    tg_call_t *deferred, *next;
    tg_server_call_t *call;
    char text[TG_SERVER_CALL_TEXT_MAX];

    for (deferred = session->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;
        (void) snprintf(text, sizeof(text),
                        "%s: the server was stopped before the response.",
                        call->tool->name);
        tg_server_call_fail(call, TG_FAILURE_LOST, text);
    }
}
