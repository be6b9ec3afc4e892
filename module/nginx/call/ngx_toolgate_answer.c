/*
 * How a call ended, as the runner says it, and as it is said to the runner of
 * what another worker waits for.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include <signal.h>

const char *
ngx_toolgate_end_name(ngx_uint_t end)
{
    static const char *const names[] = { "ok",        "unknown", "arguments",
                                         "program",   "timeout", "lost",
                                         "busy",      "output",  "internal",
                                         "cancelled", "gone",    "moved" };

    return names[end];
}

typedef struct {
    tg_str_t status;
    tg_str_t code;
    tg_str_t signal;
    tg_str_t stdout_text;
    tg_str_t stderr_text;
    tg_str_t failure;
    tg_str_t message;
    tg_str_t queued;
    tg_str_t text; /* of what another worker ran, as is what follows */
    tg_str_t json;
    tg_str_t result;
} ngx_toolgate_exit_t;

static void
ngx_toolgate_exit_parse(ngx_toolgate_exit_t *ex, tg_str_t raw)
{
    tg_str_t key, value;
    tg_json_t json;
    ngx_uint_t i;

    const struct {
        const char *key;
        tg_str_t *field;
    } fields[] = {
        { "status", &ex->status },      { "code", &ex->code },
        { "signal", &ex->signal },      { "stdout", &ex->stdout_text },
        { "stderr", &ex->stderr_text }, { "failure", &ex->failure },
        { "message", &ex->message },    { "queued_ms", &ex->queued },
        { "text", &ex->text },          { "json", &ex->json },
        { "result", &ex->result },
    };

    ngx_memzero(ex, sizeof(ngx_toolgate_exit_t));
    tg_json_init(&json, raw);

    if (tg_json_object(&json) != TG_OK) {
        return;
    }

    while (tg_json_member(&json, &key) == TG_OK
           && tg_json_value(&json, &value) == TG_OK)
    {
        for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
            if (tg_json_body_is(key, tg_str_c(fields[i].key))) {
                *fields[i].field = value;
            }
        }
    }
}

static tg_str_t
ngx_toolgate_body(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING ? tg_json_body(raw) : TG_STR("");
}

static const char *
ngx_toolgate_signal_name(int64_t number)
{
    switch (number) {
    case SIGHUP:
        return " (SIGHUP)";
    case SIGINT:
        return " (SIGINT)";
    case SIGQUIT:
        return " (SIGQUIT)";
    case SIGILL:
        return " (SIGILL)";
    case SIGABRT:
        return " (SIGABRT)";
    case SIGBUS:
        return " (SIGBUS)";
    case SIGFPE:
        return " (SIGFPE)";
    case SIGKILL:
        return " (SIGKILL)";
    case SIGSEGV:
        return " (SIGSEGV)";
    case SIGPIPE:
        return " (SIGPIPE)";
    case SIGALRM:
        return " (SIGALRM)";
    case SIGTERM:
        return " (SIGTERM)";
    default:
        return "";
    }
}

/* "git_log exited with status 128: fatal: …" */
static void
ngx_toolgate_program_failed(ngx_toolgate_call_t *call,
                            const ngx_toolgate_exit_t *ex, tg_buf_t *text)
{
    tg_str_t tail;
    int64_t number;

    tg_buf_str(text, call->entry->name);
    number = 0;

    if (tg_json_is_text(ex->status, TG_STR("signalled"))) {
        (void) tg_json_int64(ex->signal, &number);
        tg_buf_text(text, " was ended by signal ");
        tg_buf_int(text, number);
        tg_buf_text(text, ngx_toolgate_signal_name(number));

    } else {
        (void) tg_json_int64(ex->code, &number);
        tg_buf_text(text, " exited with status ");
        tg_buf_int(text, number);
    }

    tail = ngx_toolgate_body(ex->stderr_text);

    if (tail.len == 0) {
        tg_buf_text(text, " and wrote nothing to stderr");
        return;
    }

    tg_buf_text(text, ": ");
    tg_json_put_decoded(text, tail);

    while (text->len != 0 && text->data[text->len - 1] == '\n') {
        text->len--;
    }
}

static tg_failure_t
ngx_toolgate_failure_of(tg_str_t name)
{
    ngx_uint_t i;

    for (i = TG_FAILURE_UNKNOWN; i < TG_FAILURE_INTERNAL; i++) {
        if (tg_json_is_text(name, tg_str_c(ngx_toolgate_end_name(i)))) {
            break;
        }
    }

    return (tg_failure_t) i;
}

/* How the program ended, as an outcome; text holds what had to be written. */
static tg_outcome_t
ngx_toolgate_exit_outcome(ngx_toolgate_call_t *call,
                          const ngx_toolgate_exit_t *ex, tg_buf_t *text)
{
    tg_outcome_t outcome;
    int64_t code;

    if (ex->text.data != NULL) {
        return (tg_outcome_t){ TG_OUTCOME_BODY, TG_FAILURE_NONE,
                               ngx_toolgate_body(ex->text) };
    }

    if (ex->json.data != NULL) {
        return (tg_outcome_t){ TG_OUTCOME_JSON, TG_FAILURE_NONE, ex->json };
    }

    if (ex->result.data != NULL) {
        return (tg_outcome_t){ TG_OUTCOME_RESULT, TG_FAILURE_NONE, ex->result };
    }

    outcome.kind = TG_OUTCOME_FAILURE;
    outcome.failure = TG_FAILURE_PROGRAM;

    if (tg_json_is_text(ex->status, TG_STR("exited"))
        && tg_json_int64(ex->code, &code) == TG_OK && code == 0)
    {
        return tg_outcome_body(call->entry, ngx_toolgate_body(ex->stdout_text),
                               text);
    }

    if (ex->failure.data != NULL) {
        outcome.failure = ngx_toolgate_failure_of(ex->failure);
        tg_json_put_decoded(text, ngx_toolgate_body(ex->message));
    } else {
        ngx_toolgate_program_failed(call, ex, text);
    }

    if (tg_buf_failed(text)) {
        return tg_outcome_failure(TG_FAILURE_INTERNAL,
                                  "Toolgate has no memory left; try again.");
    }

    outcome.value = tg_buf_view(text);

    return outcome;
}

tg_outcome_t
ngx_toolgate_answer_read(ngx_toolgate_call_t *call, tg_str_t answer,
                         tg_buf_t *text)
{
    ngx_toolgate_exit_t ex;
    int64_t queued;

    ngx_toolgate_exit_parse(&ex, answer);

    if (tg_json_int64(ex.queued, &queued) == TG_OK) {
        call->queued = (ngx_msec_t) queued;
    }

    return ngx_toolgate_exit_outcome(call, &ex, text);
}

void
ngx_toolgate_answer_write(const tg_outcome_t *outcome, tg_buf_t *answer)
{
    static const char *const members[] = { "{\"text\":", "{\"text\":\"",
                                           "{\"json\":", "{\"result\":",
                                           "{\"failure\":\"" };

    tg_buf_text(answer, members[outcome->kind]);

    switch (outcome->kind) {
    case TG_OUTCOME_TEXT:
        tg_json_put_string(answer, outcome->value);
        break;
    case TG_OUTCOME_BODY:
        tg_buf_str(answer, outcome->value);
        tg_buf_char(answer, '"');
        break;
    case TG_OUTCOME_FAILURE:
        tg_buf_text(answer, ngx_toolgate_end_name(outcome->failure));
        tg_buf_text(answer, "\",\"message\":");
        tg_json_put_string(answer, outcome->value);
        break;
    default:
        tg_buf_str(answer, outcome->value);
    }

    tg_buf_char(answer, '}');
}
