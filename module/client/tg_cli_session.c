#include "client/tg_cli_session.h"

#include "client/tg_cli_text.h"

#include <errno.h>
#include <sys/stat.h>

static const int tg_cli_signals[TG_CLI_NSIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* --- why there is no connection --- */

/* connect() says "refused" for a plain file as well. */
static int
tg_cli_session_is_no_socket(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISSOCK(st.st_mode);
}

static void
tg_cli_session_explain(const tg_cli_session_t *session, int err)
{
    const char *path;

    path = session->path;

    if (tg_cli_session_is_no_socket(path)) {
        tg_cli_error("%s is not a socket", path);
        return;
    }

    switch (err) {
    case UV_ENOENT:
    case UV_ENOTDIR:
    case UV_ECONNREFUSED:
        tg_cli_error("nothing listens on %s: is Toolgate running? Start it "
                     "with ./build.sh run, or start the NGINX whose "
                     "nginx.conf says `listen unix:` with this path",
                     path);
        break;

    case UV_EACCES:
    case UV_EPERM:
        tg_cli_error("you may not connect to %s: tool_socket_mode and "
                     "tool_socket_owner in nginx.conf, and the folders above "
                     "it, say who may",
                     path);
        break;

    case UV_ENAMETOOLONG:
        tg_cli_error("%s: the path of a socket has at most 107 bytes", path);
        break;

    case UV_EPROTOTYPE:
        tg_cli_error("%s is a socket of another kind (no stream)", path);
        break;

    case UV_EAGAIN:
        tg_cli_error("%s: the server does not take connections fast enough; "
                     "try again",
                     path);
        break;

    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        tg_cli_error("what listens on %s ends every connection: is it a "
                     "Toolgate socket?",
                     path);
        break;

    case UV_EMSGSIZE:
        tg_cli_error("%s: the server sent more than %u bytes at once", path,
                     TG_CLIENT_FRAME_MAX);
        break;

    default:
        tg_cli_error("cannot connect to %s: %s", path, uv_strerror(err));
    }
}

/* --- waiting --- */

static void
tg_cli_session_on_connected(void *host, int err)
{
    tg_cli_session_t *session;

    session = host;

    if (session->is_connected) {
        return;
    }

    session->is_connected = err == 0;
    session->is_done = 1;
}

static void
tg_cli_session_on_client_closed(void *host)
{
    tg_cli_session_t *session;

    session = host;
    session->client = NULL;
}

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
        session->is_connected
            ? "no answer from %s within %.12g s; what was asked is "
              "cancelled (--timeout SECONDS waits longer)"
            : "what listens on %s does not answer within %.12g s "
              "(--timeout SECONDS waits longer)",
        session->path, (double) patience / 1000);
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

    if (session->call != NULL) {
        tg_client_cancel(session->client, session->call);
        session->call = NULL;
    }

    if (session->signum != 0) {
        return 128 + session->signum;
    }

    return tg_cli_session_late(session, time);
}

/* --- beginning and end --- */

static int
tg_cli_session_init(tg_cli_session_t *session)
{
    static const tg_client_ops_t ops = {
        .connected = tg_cli_session_on_connected,
        .closed = tg_cli_session_on_client_closed,
    };
    int i, rc;

    tg_buf_init(&session->answer.result, tg_alloc_libc());
    tg_buf_init(&session->answer.message, tg_alloc_libc());
    tg_buf_init(&session->answer.data, tg_alloc_libc());
    rc = uv_loop_init(&session->loop);

    if (rc != 0) {
        return rc;
    }

    uv_timer_init(&session->loop, &session->timer);
    session->timer.data = session;

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_signal_init(&session->loop, &session->signals[i]);
        session->signals[i].data = session;

        if (rc == 0) {
            rc = uv_signal_start(&session->signals[i], tg_cli_session_on_signal,
                                 tg_cli_signals[i]);
        }
    }

    session->client = tg_client_new(&session->loop, session->path, &ops,
                                    session);

    if (rc == 0 && session->client == NULL) {
        rc = UV_ENOMEM;
    }

    if (rc != 0) {
        tg_cli_session_close(session);
    }

    return rc;
}

void
tg_cli_session_close(tg_cli_session_t *session)
{
    int i;

    if (session->client != NULL) {
        tg_client_close(session->client);
    }

    uv_close((uv_handle_t *) &session->timer, NULL);

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_close((uv_handle_t *) &session->signals[i], NULL);
    }

    uv_run(&session->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&session->loop);
    tg_buf_deinit(&session->answer.result);
    tg_buf_deinit(&session->answer.message);
    tg_buf_deinit(&session->answer.data);
}

int
tg_cli_session_open(tg_cli_session_t *session, const tg_cli_options_t *options)
{
    int rc;

    memset(session, 0, sizeof(*session));
    session->path = tg_cli_options_socket(options);

    if (session->path == NULL) {
        return TG_CLI_FAILED;
    }

    rc = tg_cli_session_init(session);

    if (rc != 0) {
        return tg_cli_error("cannot start: %s", uv_strerror(rc));
    }

    session->timeout_ms = options->timeout_ms;

    if (options->timeout_ms != 0) {
        session->deadline = uv_now(&session->loop) + options->timeout_ms;
    }

    tg_client_connect(session->client);
    rc = tg_cli_session_wait(session, TG_CLI_PATIENCE_MS);

    if (rc == TG_CLI_DONE && !session->is_connected) {
        tg_cli_session_explain(session, tg_client_error(session->client));
        rc = TG_CLI_FAILED;
    }

    if (rc != TG_CLI_DONE) {
        tg_cli_session_close(session);
    }

    return rc;
}

/* --- questions --- */

static void
tg_cli_session_on_answer(void *ctx, const tg_answer_t *answer)
{
    tg_cli_session_t *session;
    tg_cli_answer_t *copy;

    session = ctx;
    copy = &session->answer;
    copy->took_ns = uv_hrtime() - session->asked_ns;
    copy->kind = answer->kind;
    copy->code = answer->code;
    tg_buf_str(&copy->result, answer->result);
    tg_json_put_decoded(&copy->message, answer->message);
    tg_buf_str(&copy->data, answer->data);
    session->call = NULL;
    session->is_done = 1;
}

static void
tg_cli_session_begin(tg_cli_session_t *session)
{
    tg_buf_reset(&session->answer.result, 0);
    tg_buf_reset(&session->answer.message, 0);
    tg_buf_reset(&session->answer.data, 0);
    session->is_done = 0;
    session->asked_ns = uv_hrtime();
}

/* The connection went with the answer. */
static int
tg_cli_session_broken(const tg_cli_session_t *session)
{
    int err;

    err = tg_client_error(session->client);

    if (session->answer.kind == TG_ANSWER_NOT_STARTED) {
        tg_cli_session_explain(session, err);

    } else if (err == UV_EMSGSIZE) {
        tg_cli_error("the answer is larger than %u bytes; ask for less",
                     TG_CLIENT_FRAME_MAX);

    } else {
        tg_cli_error("the connection to %s broke before the answer came; what "
                     "was asked may have been done",
                     session->path);
    }

    return TG_CLI_FAILED;
}

static int
tg_cli_session_ask(tg_cli_session_t *session, int rc, uint64_t patience)
{
    if (rc == TG_LIMIT) {
        return tg_cli_error("the arguments are larger than %u bytes",
                            TG_CLIENT_FRAME_MAX);
    }

    if (rc != TG_OK) {
        return tg_cli_nomem();
    }

    rc = tg_cli_session_wait(session, patience);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    if (tg_buf_failed(&session->answer.result)
        || tg_buf_failed(&session->answer.message)
        || tg_buf_failed(&session->answer.data))
    {
        return tg_cli_nomem();
    }

    if (session->answer.kind == TG_ANSWER_RESULT
        || session->answer.kind == TG_ANSWER_ERROR)
    {
        return TG_CLI_DONE;
    }

    return tg_cli_session_broken(session);
}

int
tg_cli_session_list(tg_cli_session_t *session)
{
    int rc;

    tg_cli_session_begin(session);
    rc = tg_client_list(session->client, tg_cli_session_on_answer, session,
                        &session->call);

    return tg_cli_session_ask(session, rc, TG_CLI_PATIENCE_MS);
}

int
tg_cli_session_call(tg_cli_session_t *session, tg_str_t name,
                    tg_str_t arguments)
{
    int rc;

    tg_cli_session_begin(session);
    rc = tg_client_call_tool(session->client, name, arguments,
                             tg_cli_session_on_answer, session, &session->call);

    return tg_cli_session_ask(session, rc, 0);
}

int
tg_cli_session_request(tg_cli_session_t *session, tg_str_t method,
                       tg_str_t params, int has_patience)
{
    int rc;

    tg_cli_session_begin(session);
    rc = tg_client_request(session->client, method, params,
                           tg_cli_session_on_answer, session, &session->call);

    return tg_cli_session_ask(session, rc,
                              has_patience ? TG_CLI_PATIENCE_MS : 0);
}

int
tg_cli_refused(int64_t code, tg_str_t message)
{
    tg_cli_error("the server answered with error %lld: %.*s", (long long) code,
                 (int) message.len, message.data);

    return TG_CLI_REFUSED;
}

int
tg_cli_session_refused(const tg_cli_session_t *session,
                       const tg_cli_options_t *options)
{
    tg_buf_t out;

    if (!(options->given & TG_CLI_JSON)) {
        return tg_cli_refused(session->answer.code,
                              tg_buf_view(&session->answer.message));
    }

    tg_buf_init(&out, tg_alloc_libc());
    tg_buf_text(&out, "{\"error\":{\"code\":");
    tg_buf_int(&out, session->answer.code);
    tg_buf_text(&out, ",\"message\":");
    tg_json_put_string(&out, tg_buf_view(&session->answer.message));

    if (session->answer.data.len != 0) {
        tg_buf_text(&out, ",\"data\":");
        tg_json_put_compact(&out, tg_buf_view(&session->answer.data));
    }

    tg_buf_text(&out, "}}\n");

    if (tg_buf_failed(&out)) {
        tg_buf_deinit(&out);
        return tg_cli_nomem();
    }

    tg_cli_print(stdout, tg_buf_view(&out));
    tg_buf_deinit(&out);

    return tg_cli_finish(TG_CLI_REFUSED);
}
