/*
 * One call: its arguments are checked, the program is asked, and its answer,
 * now or later, goes to the client.
 */
#include "library/tg_run.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "core/tg_rpc.h"
#include "tool/tg_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* A buffer for arguments from this size on is not kept. */
#define TG_SCRATCH_KEEP 65536

typedef struct {
    tg_mail_t mail; /* first */
    tg_session_t *session;
    tg_tool_t *tool;     /* held */
    tg_call_t *deferred; /* NULL: it is being asked for */
    uint64_t deadline;   /* 0: none */
    char room[TG_MAIL_ROOM];
} tg_answer_call_t;

/* --- schemas --- */

static tg_schema_checker_t *
tg_answer_checker(tg_run_t *run)
{
    uint64_t seed;

    if (run->checker == NULL) {
        seed = 0;
        (void) !getrandom(&seed, sizeof(seed), 0);
        run->checker = tg_schema_checker_new(tg_alloc_libc(), seed);
    }

    return run->checker;
}

static int
tg_answer_is_fit(tg_session_t *session, const tg_tool_t *tool,
                 tg_request_t *request, tg_buf_t *written)
{
    tg_schema_checker_t *checker;
    tg_outcome_t outcome;
    tg_buf_t text;
    int rc;

    if (tg_fit_is_sure(tool->input, request)) {
        return 1;
    }

    checker = tg_answer_checker(session->run);

    if (checker != NULL) {
        tg_schema_checker_frame(checker, session->peer.serving,
                                &session->peer.work);
    }

    tg_buf_init(&text, tg_alloc_libc());
    rc = tg_fit_request(tool->input, checker, request, written, &outcome,
                        &text);

    if (rc != TG_OK) {
        tg_peer_answer(&session->peer, &request->reply, &outcome);
    }

    tg_buf_deinit(&text);

    return rc == TG_OK;
}

/* --- outcomes --- */

/* What the program has put out; text takes what is wrong with it. */
static tg_outcome_t
tg_answer_output(tg_run_t *run, const tg_tool_t *tool, tg_str_t bytes,
                 tg_buf_t *text)
{
    tg_schema_checker_t *checker;
    tg_outcome_t outcome;

    outcome = tg_outcome_output(&tool->entry, bytes);

    if (outcome.kind == TG_OUTCOME_FAILURE) {
        tg_outcome_explain(&outcome, tool->entry.name, bytes, text);
        return outcome;
    }

    if (tool->output != NULL) {
        checker = tg_answer_checker(run);

        if (checker != NULL) {
            tg_schema_checker_frame(checker, 0, NULL);
        }

        (void) tg_fit_outcome(tool->output, checker, &tool->entry, &outcome,
                              text);
    }

    return outcome;
}

/* A tool's error with a class is a result that has it. */
static tg_outcome_t
tg_answer_error(const tg_mail_reply_t *reply, tg_buf_t *text)
{
    tg_buf_t visible;

    tg_buf_init(&visible, tg_alloc_libc());
    tg_utf8_put_visible(&visible, reply->text, 0);
    tg_buf_text(text, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_put_string(text, tg_buf_view(&visible));
    tg_buf_text(text,
                "}],\"isError\":true,\"_meta\":{\"" TG_META_ERROR_TYPE "\":");
    tg_json_put_string(text, reply->type);
    tg_buf_text(text, "}}");
    text->failed |= visible.failed;
    tg_buf_deinit(&visible);

    return tg_buf_failed(text)
               ? tg_outcome_no_memory()
               : tg_outcome_of(TG_OUTCOME_RESULT, tg_buf_view(text));
}

static tg_outcome_t
tg_answer_failure(const tg_mail_reply_t *reply, tg_buf_t *text)
{
    tg_outcome_t outcome;

    tg_utf8_put_visible(text, reply->text, 0);
    outcome = tg_buf_failed(text)
                  ? tg_outcome_no_memory()
                  : tg_outcome_failed(TG_FAILURE_PROGRAM, tg_buf_view(text));
    outcome.has_code = reply->code != 0;
    outcome.code = reply->code;
    outcome.data = reply->data;

    return outcome;
}

static tg_outcome_t
tg_answer_outcome(tg_run_t *run, const tg_tool_t *tool,
                  const tg_mail_reply_t *reply, tg_buf_t *text)
{
    return reply->failure == TG_FAILURE_NONE
               ? tg_answer_output(run, tool, reply->text, text)
           : tool->entry.kind == TG_ENTRY_TOOL && reply->type.data != NULL
               ? tg_answer_error(reply, text)
               : tg_answer_failure(reply, text);
}

/* No error of a tool is swallowed, whoever made it. */
static void
tg_answer_report(tg_run_t *run, const tg_tool_t *tool,
                 const tg_outcome_t *outcome, const tg_mail_reply_t *reply)
{
    if (reply != NULL && reply->failure != TG_FAILURE_NONE) {
        tg_report(run, TOOLGATE_ERR_TOOL_EXECUTION, "%s: %.*s", tool->name,
                  (int) reply->text.len, reply->text.data);

    } else if (outcome->kind == TG_OUTCOME_FAILURE) {
        tg_report(run, TOOLGATE_ERR_TOOL_EXECUTION, "%.*s",
                  (int) outcome->value.len, outcome->value.data);
    }
}

static void
tg_answer_put(tg_session_t *session, const tg_tool_t *tool,
              const tg_reply_t *reply, const tg_outcome_t *outcome)
{
    tg_peer_answer(&session->peer, reply, outcome);
    tg_session_mark(session);

    if (session->peer.answered == TG_FAILURE_SIZE) {
        tg_report(session->run, TOOLGATE_ERR_MESSAGE_SIZE,
                  "%s: the answer is larger than a message may be, so that "
                  "its caller has got an error; have it say less",
                  tool->name);
    }
}

/* --- calls --- */

static void
tg_answer_free(tg_answer_call_t *call)
{
    tg_run_t *run;

    run = call->session->run;
    tg_tool_release(call->tool);

    if (run->spare_call == NULL) {
        run->spare_call = call;
    } else {
        free(call);
    }
}

/* A deferred call ends with this outcome. */
static void
tg_answer_end(tg_answer_call_t *call, const tg_outcome_t *outcome)
{
    tg_answer_put(call->session, call->tool, &call->deferred->reply, outcome);
    tg_call_forget(call->deferred);
    tg_answer_free(call);
}

/* Nobody waits for the program's answer, unless it has come by now. */
static void
tg_answer_unwanted(tg_answer_call_t *call)
{
    tg_run_t *run;
    uint64_t number;

    run = call->session->run;
    number = call->mail.number;

    if (tg_mail_close(&call->mail) && run->conf.cancelled != NULL) {
        run->is_calling++;
        run->conf.cancelled(number, run->conf.cancelled_data);
        run->is_calling--;
    }
}

/* The same, and its client is told why. */
static void
tg_answer_fail(tg_answer_call_t *call, tg_failure_t failure, const char *text)
{
    tg_outcome_t outcome;

    tg_answer_unwanted(call);
    outcome = tg_outcome_failure(failure, text);
    tg_answer_report(call->session->run, call->tool, &outcome, NULL);
    tg_answer_end(call, &outcome);
}

static void
tg_answer_alive(tg_answer_call_t *call)
{
    tg_run_t *run;

    run = call->session->run;

    if (call->tool->timeout != 0) {
        call->deadline = uv_now(run->loop) + call->tool->timeout;
        tg_run_due(run, call->deadline);
    }
}

static void
tg_answer_arrived(tg_mail_t *mail, const tg_mail_reply_t *reply,
                  const tg_mail_progress_t *progress)
{
    tg_mail_values_t values;
    tg_answer_call_t *call;
    tg_outcome_t outcome;
    tg_buf_t text;

    call = (tg_answer_call_t *) mail;
    tg_buf_init(&text, tg_alloc_libc());

    if (reply != NULL) {
        outcome = tg_answer_outcome(call->session->run, call->tool, reply,
                                    &text);
        tg_answer_report(call->session->run, call->tool, &outcome, reply);
        tg_answer_end(call, &outcome);

    } else {
        tg_mail_values(progress, &text, &values);
        tg_answer_alive(call);

        if (values.progress.data != NULL) {
            tg_call_progress(call->deferred, values.progress, values.total,
                             values.message);
            tg_session_mark(call->session);
        }
    }

    tg_buf_deinit(&text);
}

/* With a zero behind them, for programs in C; NULL: no memory. */
static const char *
tg_answer_arguments(tg_run_t *run, tg_str_t arguments)
{
    tg_buf_truncate(&run->scratch, 0);
    tg_buf_str(&run->scratch, arguments);
    tg_buf_char(&run->scratch, '\0');

    return tg_buf_failed(&run->scratch) ? NULL : run->scratch.data;
}

static tg_answer_call_t *
tg_answer_new(tg_session_t *session, tg_tool_t *tool)
{
    tg_answer_call_t *call;
    tg_run_t *run;

    run = session->run;
    call = run->spare_call != NULL ? run->spare_call : malloc(sizeof(*call));
    run->spare_call = NULL;

    if (call != NULL) {
        memset(call, 0, offsetof(tg_answer_call_t, room));
        call->session = session;
        call->tool = tg_tool_hold(tool);
        call->mail.arrived = tg_answer_arrived;
        call->mail.room = call->room;
    }

    return call;
}

/* The program was asked, and has not answered yet. */
static void
tg_answer_keep(tg_answer_call_t *call, tg_peer_t *peer,
               const tg_request_t *request)
{
    call->deferred = tg_peer_defer(peer, request);

    if (call->deferred == NULL) {
        tg_answer_unwanted(call);
        tg_answer_free(call);
        return;
    }

    call->deferred->host = call;
    tg_call_hold(call->deferred, sizeof(*call));
    tg_answer_alive(call);
    tg_mail_release(&call->mail);
}

static void
tg_answer_ask(tg_answer_call_t *call, tg_peer_t *peer,
              const tg_request_t *request, const char *arguments)
{
    tg_mail_reply_t reply;
    tg_outcome_t outcome;
    tg_asked_t asked;
    tg_buf_t text;
    tg_run_t *run;
    uint64_t number;

    run = call->session->run;
    number = tg_mail_open(&call->mail, &run->post);
    run->is_calling++;
    tg_asked_enter(&asked, arguments, request);
    call->tool->called(number, arguments, request->arguments.len,
                       call->tool->data);
    tg_asked_leave(&asked);
    run->is_calling--;

    if (!tg_mail_take(&call->mail, &reply)) {
        tg_answer_keep(call, peer, request);
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_answer_outcome(run, call->tool, &reply, &text);
    tg_answer_report(run, call->tool, &outcome, &reply);
    tg_answer_put(call->session, call->tool, &request->reply, &outcome);
    tg_buf_deinit(&text);
    tg_letter_free(reply.letter);
    tg_answer_free(call);
}

static void
tg_answer_begin(tg_session_t *session, tg_peer_t *peer, tg_tool_t *tool,
                tg_request_t *request)
{
    tg_answer_call_t *call;
    const char *arguments;
    tg_outcome_t outcome;
    tg_run_t *run;

    run = session->run;

    /* One too many is answered by the peer, before it is begun. */
    if (peer->ncalls >= peer->max_calls) {
        (void) tg_peer_defer(peer, request);
        return;
    }

    arguments = tg_answer_arguments(run, request->arguments);
    call = arguments != NULL ? tg_answer_new(session, tool) : NULL;

    if (call == NULL) {
        outcome = tg_outcome_no_memory();
        tg_peer_answer(peer, &request->reply, &outcome);
        return;
    }

    tg_answer_ask(call, peer, request, arguments);
    tg_buf_reset(&run->scratch, TG_SCRATCH_KEEP);
}

void
tg_answer_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_buf_t written;
    tg_tool_t *tool;

    tool = request->entry->host;
    tg_buf_init(&written, tg_alloc_libc());

    if (tg_answer_is_fit(host, tool, request, &written)) {
        tg_answer_begin(host, peer, tool, request);
    }

    tg_buf_deinit(&written);
}

void
tg_answer_cancel(void *host, tg_call_t *deferred)
{
    (void) host;

    tg_answer_unwanted(deferred->host);
    tg_answer_free(deferred->host);
}

void
tg_answer_deliver(tg_run_t *run)
{
    if (tg_post_deliver(&run->post)) {
        run->pace_at = uv_now(run->loop) + TG_MAIL_PACE;
        tg_run_due(run, run->pace_at);
    }
}

uint64_t
tg_answer_due(tg_session_t *session, uint64_t now)
{
    tg_answer_call_t *call;
    tg_call_t *deferred, *next;
    uint64_t due;
    char text[TG_NAME_MAX + 128];

    due = UINT64_MAX;

    for (deferred = session->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;

        if (call->deadline != 0 && call->deadline <= now) {
            (void) snprintf(text, sizeof(text),
                            "%s: there was no answer within %llu ms (timeout).",
                            call->tool->name,
                            (unsigned long long) call->tool->timeout);
            tg_answer_fail(call, TG_FAILURE_TIMEOUT, text);

        } else if (call->deadline != 0 && call->deadline < due) {
            due = call->deadline;
        }
    }

    return due;
}

void
tg_answer_stop(tg_session_t *session)
{
    tg_call_t *deferred, *next;
    tg_answer_call_t *call;
    char text[TG_NAME_MAX + 128];

    for (deferred = session->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;
        (void) snprintf(text, sizeof(text),
                        "%s: the server was stopped before there was an "
                        "answer.",
                        call->tool->name);
        tg_answer_fail(call, TG_FAILURE_LOST, text);
    }
}
