#include "client/tg_cli_session.h"

#include "client/tg_cli_progress.h"
#include "client/tg_cli_text.h"

#include <sys/stat.h>

/* Room for the envelope, whatever the id. */
#define TG_CLI_ENVELOPE 256

static const int tg_cli_signals[TG_CLI_NSIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* --- why there is no connection --- */

static int
tg_cli_session_explain(const tg_cli_session_t *session)
{
    char why[TG_UV_EXPLAIN];

    tg_uv_place_explain(&session->place, session->client.err, why);

    return tg_cli_error("%s", why);
}

/* --- waiting --- */

static void
tg_cli_session_on_timer(uv_timer_t *timer)
{
    tg_cli_session_t *session;

    session = timer->data;
    session->is_late = 1;
}

static void
tg_cli_session_on_signal(uv_signal_t *handle, int signum)
{
    tg_cli_session_t *session;

    session = handle->data;
    session->signum = signum;
}

/* What is left of the deadline, bounded by patience; 0: no bound. */
static uint64_t
tg_cli_session_time(tg_cli_session_t *session, uint64_t patience)
{
    uint64_t now;

    if (session->deadline == 0) {
        return patience;
    }

    uv_update_time(&session->loop);
    now = uv_now(&session->loop);

    return session->deadline > now ? session->deadline - now : 1;
}

static int
tg_cli_session_late(tg_cli_session_t *session, uint64_t patience)
{
    if (session->timeout_ms != 0) {
        patience = session->timeout_ms;
    }

    return tg_cli_error(
        session->client.was_open
            ? "no answer from %s within %.12g s; what was asked is cancelled "
              "(--timeout SECONDS waits longer)"
            : "what listens on %s does not answer within %.12g s (--timeout "
              "SECONDS waits longer)",
        session->place.text, (double) patience / 1000);
}

/*
 * Runs the loop until there is an answer.  TG_CLI_DONE, or the exit status
 * when it takes longer than patience (0: no bound) or a signal came.
 */
static int
tg_cli_session_wait(tg_cli_session_t *session, uint64_t patience)
{
    uint64_t time;

    /* The hello may have come in the same turn as the end of its time. */
    session->is_late = 0;
    time = tg_cli_session_time(session, patience);

    if (time != 0) {
        uv_timer_start(&session->timer, tg_cli_session_on_timer, time, 0);
    }

    while (!session->is_done && !session->is_late && session->signum == 0) {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    uv_timer_stop(&session->timer);

    if (session->is_done) {
        return TG_CLI_DONE;
    }

    tg_cli_progress_end();
    tg_uv_client_cancel(&session->client, &session->question);
    tg_uv_client_flush(&session->client);

    return session->signum != 0 ? 128 + session->signum
                                : tg_cli_session_late(session, time);
}

/* --- beginning and end --- */

static int
tg_cli_session_init(tg_cli_session_t *session)
{
    int i, rc;

    rc = uv_loop_init(&session->loop);

    if (rc != 0) {
        return rc;
    }

    tg_uv_sched_init(&session->sched, &session->loop);
    uv_timer_init(&session->loop, &session->timer);
    session->timer.data = session;
    tg_cli_connect_init(session);

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_signal_init(&session->loop, &session->signals[i]);
        session->signals[i].data = session;

        if (rc == 0) {
            rc = uv_signal_start(&session->signals[i], tg_cli_session_on_signal,
                                 tg_cli_signals[i]);
        }
    }

    tg_buf_init(&session->answer.result, tg_alloc_libc());
    tg_buf_init(&session->answer.message, tg_alloc_libc());
    tg_buf_init(&session->answer.data, tg_alloc_libc());

    if (rc != 0) {
        tg_cli_session_close(session);
    }

    return rc;
}

void
tg_cli_session_close(tg_cli_session_t *session)
{
    int i;

    tg_uv_client_close(&session->client);

    tg_uv_sched_close(&session->sched, NULL);

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_close((uv_handle_t *) &session->signals[i], NULL);
    }

    uv_run(&session->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&session->loop);
    tg_cli_connect_deinit(session);
    tg_buf_deinit(&session->answer.result);
    tg_buf_deinit(&session->answer.message);
    tg_buf_deinit(&session->answer.data);
    tg_uv_place_free(&session->place);
}

int
tg_cli_session_open(tg_cli_session_t *session, const tg_cli_options_t *options)
{
    char why[TG_UV_WHY];
    const char *text;
    int rc;

    memset(session, 0, sizeof(*session));
    session->options = options;
    text = tg_cli_options_socket(options);
    session->is_debug = tg_cli_options_debug();

    if (text == NULL) {
        return TG_CLI_FAILED;
    }

    if (tg_uv_place_find(&session->place, text, &options->tls, why) != TG_OK) {
        return tg_cli_error("%s: %s", text, why);
    }

    rc = tg_cli_session_init(session);

    if (rc != 0) {
        return tg_cli_error("cannot start: %s", uv_strerror(rc));
    }

    session->timeout_ms = options->timeout_ms;

    if (options->timeout_ms != 0) {
        session->deadline = uv_now(&session->loop) + options->timeout_ms;
    }

    tg_uv_client_connect(&session->client);
    rc = tg_cli_session_wait(session, TG_CLI_PATIENCE_MS);

    if (rc == TG_CLI_DONE && !session->client.was_open) {
        rc = tg_cli_session_explain(session);
    }

    if (rc != TG_CLI_DONE) {
        tg_cli_session_close(session);
    }

    return rc;
}

int
tg_cli_session_run(const tg_cli_options_t *options,
                   int (*ask)(tg_cli_session_t *session, void *ctx), void *ctx)
{
    tg_cli_session_t session;
    int rc;

    rc = tg_cli_session_open(&session, options);

    if (rc == TG_CLI_DONE) {
        rc = ask(&session, ctx);
        tg_cli_session_close(&session);
    }

    return rc;
}

/* --- questions --- */

/* The connection went with the answer. */
static int
tg_cli_session_broken(const tg_cli_session_t *session)
{
    if (session->answer.kind == TG_ANSWER_NOT_STARTED) {
        return tg_cli_session_explain(session);
    }

    return tg_cli_error("the connection to %s broke before the answer came; "
                        "what was asked may have been done",
                        session->place.text);
}

static int
tg_cli_session_ask(tg_cli_session_t *session, const tg_uv_question_t *question,
                   uint64_t patience)
{
    tg_cli_answer_t *answer;
    int rc;

    answer = &session->answer;
    tg_buf_reset(&answer->result, 0);
    tg_buf_reset(&answer->message, 0);
    tg_buf_reset(&answer->data, 0);

    if (question->name.len + question->params.len
        > TG_CLI_FRAME_MAX - TG_CLI_ENVELOPE)
    {
        return tg_cli_error("the arguments are larger than %u bytes",
                            TG_CLI_FRAME_MAX);
    }

    session->question = *question;
    session->asked_ns = uv_hrtime();
    tg_cli_connect_ask(session);
    rc = tg_cli_session_wait(session, patience);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    if (tg_buf_failed(&answer->result) || tg_buf_failed(&answer->message)
        || tg_buf_failed(&answer->data))
    {
        return tg_cli_nomem();
    }

    if (answer->is_too_large) {
        return tg_cli_error("the answer is larger than %u bytes; ask for less",
                            TG_CLI_FRAME_MAX);
    }

    return answer->kind == TG_ANSWER_RESULT || answer->kind == TG_ANSWER_ERROR
               ? TG_CLI_DONE
               : tg_cli_session_broken(session);
}

int
tg_cli_session_list(tg_cli_session_t *session)
{
    const tg_uv_question_t question = {
        .name = TG_STR("tools/list"),
        .list = &session->list,
    };

    return tg_cli_session_ask(session, &question, TG_CLI_LIST_MS);
}

int
tg_cli_session_call(tg_cli_session_t *session, tg_str_t name,
                    tg_str_t arguments)
{
    tg_uv_question_t question = {
        .params = arguments,
        .more = tg_cli_progress_asked(),
        .is_tool = 1,
    };
    tg_buf_t escaped;
    int rc;

    tg_buf_init(&escaped, tg_alloc_libc());
    tg_json_put_escaped(&escaped, name);
    question.name = tg_buf_view(&escaped);
    rc = tg_buf_failed(&escaped) ? tg_cli_nomem()
                                 : tg_cli_session_ask(session, &question, 0);
    tg_buf_deinit(&escaped);

    return rc;
}

int
tg_cli_session_request(tg_cli_session_t *session, tg_str_t method,
                       tg_str_t params, uint64_t patience)
{
    const tg_uv_question_t question = { .name = method, .params = params };

    return tg_cli_session_ask(session, &question, patience);
}

int
tg_cli_session_listen(tg_cli_session_t *session)
{
    while (session->client.state == TG_UV_CLIENT_OPEN
           && session->told_status == TG_CLI_DONE && session->signum == 0)
    {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    return session->signum != 0 ? 128 + session->signum : session->told_status;
}

int
tg_cli_session_look(tg_cli_session_t *session, tg_str_t method, tg_str_t params,
                    uint64_t patience)
{
    const tg_uv_question_t question = {
        .name = method,
        .params = params,
        .is_look = 1,
    };

    return tg_cli_session_ask(session, &question, patience);
}

int
tg_cli_session_pause(tg_cli_session_t *session, uint64_t ms)
{
    session->is_late = 0;
    uv_timer_start(&session->timer, tg_cli_session_on_timer, ms, 0);

    while (!session->is_late && session->signum == 0) {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    uv_timer_stop(&session->timer);

    return session->signum != 0 ? 128 + session->signum : TG_CLI_DONE;
}
