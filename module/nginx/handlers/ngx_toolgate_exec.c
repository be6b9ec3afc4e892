/*
 * `exec PROGRAM …`: evaluated here, run by toolgate-runner.
 */
#include "nginx/ngx_toolgate.h"

#include "base/tg_utf8.h"

#include <signal.h>

/* The runner keeps the deadline; this much later it is taken for hung. */
#define NGX_TOOLGATE_GRACE 5000

/* Appends `"key":"text"`; 0 when text is not valid UTF-8. */
static ngx_uint_t
ngx_toolgate_put(tg_buf_t *buf, const char *key, const u_char *text, size_t len)
{
    tg_str_t str;

    str = tg_str((const char *) text, len);
    tg_buf_text(buf, key);
    tg_json_put_string(buf, str);

    return tg_utf8_is_valid(str);
}

static const char *
ngx_toolgate_put_argv(ngx_toolgate_call_t *call, tg_buf_t *buf)
{
    ngx_stream_complex_value_t *arg;
    ngx_str_t text;
    ngx_uint_t i;

    arg = call->tool->argv->elts;

    for (i = 0; i < call->tool->argv->nelts; i++) {
        if (ngx_toolgate_value(call, &arg[i], &text) != NGX_OK) {
            return "Toolgate has no memory left; try again.";
        }

        if (!ngx_toolgate_put(buf, i == 0 ? ",\"argv\":[" : ",", text.data,
                              text.len)) {
            return "An argument of the program is not valid UTF-8.";
        }
    }

    tg_buf_char(buf, ']');

    return NULL;
}

static const char *
ngx_toolgate_put_env(ngx_toolgate_call_t *call, tg_buf_t *buf)
{
    ngx_toolgate_env_t *env;
    ngx_str_t text;
    ngx_uint_t i;

    if (call->tool->env == NULL) {
        return NULL;
    }

    env = call->tool->env->elts;

    for (i = 0; i < call->tool->env->nelts; i++) {
        if (ngx_toolgate_value(call, &env[i].value, &text) != NGX_OK) {
            return "Toolgate has no memory left; try again.";
        }

        tg_buf_text(buf, i == 0 ? ",\"env\":[\"" : ",\"");
        tg_json_put_escaped(buf, tg_str((const char *) env[i].name.data,
                                        env[i].name.len));
        tg_buf_char(buf, '=');
        tg_json_put_escaped(buf, tg_str((const char *) text.data, text.len));
        tg_buf_char(buf, '"');

        if (!tg_utf8_is_valid(tg_str((const char *) text.data, text.len))) {
            return "A value of the program's environment is not valid UTF-8.";
        }
    }

    tg_buf_char(buf, ']');

    return NULL;
}

static const char *
ngx_toolgate_put_input(ngx_toolgate_call_t *call, tg_request_t *request,
                       tg_buf_t *buf)
{
    ngx_str_t text;

    if (call->tool->cwd != NULL) {
        if (ngx_toolgate_value(call, call->tool->cwd, &text) != NGX_OK) {
            return "Toolgate has no memory left; try again.";
        }

        if (!ngx_toolgate_put(buf, ",\"cwd\":", text.data, text.len)) {
            return "The program's directory is not valid UTF-8.";
        }
    }

    text.data = (u_char *) request->arguments.data;
    text.len = request->arguments.len;

    if (call->tool->stdin_value != NULL
        && ngx_toolgate_value(call, call->tool->stdin_value, &text) != NGX_OK)
    {
        return "Toolgate has no memory left; try again.";
    }

    if (!ngx_toolgate_put(buf, ",\"stdin\":", text.data, text.len)) {
        return "The program's input is not valid UTF-8.";
    }

    return NULL;
}

/* One element of `limits`: how many of its key may run and wait. */
static void
ngx_toolgate_put_limit(tg_buf_t *buf, const char *directive,
                       const ngx_toolgate_limit_t *limit, ngx_uint_t *n)
{
    if (limit->concurrency == 0) {
        return;
    }

    tg_buf_text(buf,
                (*n)++ == 0 ? ",\"limits\":[{\"name\":\"" : ",{\"name\":\"");
    tg_buf_text(buf, directive);
    tg_buf_text(buf, "\",\"key\":");
    tg_json_put_string(buf,
                       tg_str((const char *) limit->key.data, limit->key.len));
    tg_buf_text(buf, ",\"concurrency\":");
    tg_buf_uint(buf, limit->concurrency);
    tg_buf_text(buf, ",\"queue\":");
    tg_buf_uint(buf, limit->queue);
    tg_buf_char(buf, '}');
}

static void
ngx_toolgate_put_limits(ngx_toolgate_call_t *call, tg_buf_t *buf)
{
    ngx_uint_t n;

    n = 0;
    ngx_toolgate_put_limit(buf, "concurrency", &call->tool->limit, &n);
    ngx_toolgate_put_limit(buf, "tool_concurrency", &call->session->conf->limit,
                           &n);

    if (n != 0) {
        tg_buf_char(buf, ']');
    }
}

/* The params of the runner's method `exec`; NULL, or what is wrong. */
static const char *
ngx_toolgate_exec_params(ngx_toolgate_call_t *call, tg_request_t *request,
                         tg_buf_t *buf)
{
    ngx_toolgate_tool_t *tool;
    const char *mistake;

    tool = call->tool;
    tg_buf_text(buf, "{\"tool\":");
    tg_json_put_string(buf, tool->entry.name);
    tg_buf_text(buf, ",\"timeout_ms\":");
    tg_buf_uint(buf, tool->timeout);
    tg_buf_text(buf, ",\"max_timeout_ms\":");
    tg_buf_uint(buf, tool->max_timeout);
    tg_buf_text(buf, ",\"max_output\":");
    tg_buf_uint(buf, tool->max_output);

    ngx_toolgate_put_limits(call, buf);

    mistake = ngx_toolgate_put_argv(call, buf);

    if (mistake == NULL) {
        mistake = ngx_toolgate_put_env(call, buf);
    }

    if (mistake == NULL) {
        mistake = ngx_toolgate_put_input(call, request, buf);
    }

    tg_buf_char(buf, '}');

    if (mistake == NULL && tg_buf_failed(buf)) {
        mistake = "Toolgate has no memory left; try again.";
    }

    return mistake;
}

void
ngx_toolgate_exec_handler(ngx_toolgate_call_t *call, tg_request_t *request)
{
    const char *mistake;
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    mistake = ngx_toolgate_exec_params(call, request, &params);

    if (mistake != NULL) {
        ngx_toolgate_fail(call, TG_FAILURE_ARGUMENTS, mistake);
        goto done;
    }

    if (ngx_toolgate_defer(call, call->tool->timeout + NGX_TOOLGATE_GRACE)
        != NGX_OK)
    {
        goto done;
    }

    ngx_toolgate_exec_ask(call);
    rc = ngx_toolgate_runner_ask(call->session->conf->runner, TG_STR("exec"),
                                 tg_buf_view(&params), &call->program);

    if (rc == TG_LIMIT) {
        ngx_toolgate_fail(call, TG_FAILURE_BUSY,
                          "Too much is waiting for toolgate-runner, or "
                          "this call is too large for it; call again "
                          "later, or with less.");
    } else if (rc != TG_OK) {
        ngx_toolgate_fail(call, TG_FAILURE_INTERNAL,
                          "Toolgate has no memory left; try again.");
    }

done:

    tg_buf_deinit(&params);
}

static void
ngx_toolgate_exec_progress(void *data, const tg_message_t *message)
{
    ngx_toolgate_call_t *call = data;

    /* It is alive, and so is the runner. */
    ngx_add_timer(&call->timer, call->tool->timeout + NGX_TOOLGATE_GRACE);

    tg_call_progress(call->deferred, message->p.progress, message->p.total,
                     message->p.message);
    ngx_toolgate_session_run(call->session);
}

/* --- the runner's answer --- */

typedef struct {
    tg_str_t status;
    tg_str_t code;
    tg_str_t signal;
    tg_str_t stdout_text;
    tg_str_t stderr_text;
    tg_str_t failure;
    tg_str_t message;
    tg_str_t queued;
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

    tg_buf_str(text, call->tool->entry.name);
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
    static const tg_failure_t known[] = { TG_FAILURE_PROGRAM,
                                          TG_FAILURE_TIMEOUT, TG_FAILURE_BUSY,
                                          TG_FAILURE_OUTPUT,
                                          TG_FAILURE_ARGUMENTS };
    ngx_uint_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (tg_json_is_text(name,
                            tg_str_c(ngx_toolgate_failure_name(known[i])))) {
            return known[i];
        }
    }

    return TG_FAILURE_INTERNAL;
}

/* How the program ended, as an outcome; text holds what had to be written. */
static tg_outcome_t
ngx_toolgate_exec_outcome(ngx_toolgate_call_t *call,
                          const ngx_toolgate_exit_t *ex, tg_buf_t *text)
{
    tg_outcome_t outcome;
    int64_t code;

    outcome.kind = TG_OUTCOME_FAILURE;
    outcome.failure = TG_FAILURE_PROGRAM;

    if (tg_json_is_text(ex->status, TG_STR("exited"))
        && tg_json_int64(ex->code, &code) == TG_OK && code == 0)
    {
        return tg_outcome_body(&call->tool->entry,
                               ngx_toolgate_body(ex->stdout_text), text);
    }

    if (tg_json_is_text(ex->status, TG_STR("failed"))) {
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

static void
ngx_toolgate_exec_answer(void *data, const tg_answer_t *answer)
{
    ngx_toolgate_call_t *call = data;

    ngx_toolgate_exit_t ex;
    tg_outcome_t outcome;
    int64_t queued;
    tg_buf_t text;

    /* Nobody holds it any more: it was too long without a worker. */
    if (call->is_carried && answer->kind == TG_ANSWER_ERROR) {
        ngx_toolgate_fail(call, TG_FAILURE_LOST,
                          "The program was ended while NGINX was "
                          "reloaded; it may have done part of its "
                          "work. Try again.");
        return;
    }

    if (answer->kind == TG_ANSWER_LOST || answer->kind == TG_ANSWER_NOT_STARTED)
    {
        ngx_toolgate_fail(
            call, TG_FAILURE_LOST,
            answer->kind == TG_ANSWER_LOST
                ? "toolgate-runner ended while the program ran, and the "
                  "program with it; it may have done part of its work. Try "
                  "again: the next call starts the runner anew."
                : "toolgate-runner could not be reached, so the program was "
                  "not started; try again, and look into NGINX's error log.");
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());

    if (answer->kind == TG_ANSWER_ERROR) {
        tg_json_put_decoded(&text, answer->message);
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "toolgate-runner refused the call.");

        if (!tg_buf_failed(&text) && text.len != 0) {
            outcome.value = tg_buf_view(&text);
        }

    } else {
        ngx_toolgate_exit_parse(&ex, answer->result);

        if (tg_json_int64(ex.queued, &queued) == TG_OK) {
            call->queued = (ngx_msec_t) queued;
        }

        outcome = ngx_toolgate_exec_outcome(call, &ex, &text);
    }

    ngx_toolgate_answer(call, &outcome);
    tg_buf_deinit(&text);
}

void
ngx_toolgate_exec_ask(ngx_toolgate_call_t *call)
{
    call->program.data = call;
    call->program.answer = ngx_toolgate_exec_answer;
    call->program.progress = ngx_toolgate_exec_progress;
}
