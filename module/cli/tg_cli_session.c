/*
 * A command's session with a server: connects, sends requests, waits.
 */
#include "cli/tg_cli_session.h"

#include "cli/tg_cli_progress.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <sys/stat.h>

/*
 * Space for the JSON-RPC envelope of a request, with the longest id, in bytes.
 */
#define TG_CLI_ENVELOPE_MAX 256

static const int tg_cli_signals[TG_CLI_NSIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* --- connection errors --- */

static int
tg_cli_session_report_connect_error(const tg_cli_session_t *session)
{
    char why[TG_UV_EXPLAIN_SIZE];

    tg_uv_endpoint_explain_error(&session->endpoint, session->client.err, why);

    return tg_cli_error("%s", why);
}

/* --- waiting --- */

static void
tg_cli_session_on_timer(uv_timer_t *timer)
{
    tg_cli_session_t *session;

    session = timer->data;
    session->is_timed_out = 1;
}

static void
tg_cli_session_on_signal(uv_signal_t *handle, int signum)
{
    tg_cli_session_t *session;

    session = handle->data;
    session->signum = signum;
}

/*
 * Returns the time in ms until the session's deadline; without a deadline,
 * returns max_wait_ms.  0: no limit.
 */
static uint64_t
tg_cli_session_get_wait_time(tg_cli_session_t *session, uint64_t max_wait_ms)
{
    uint64_t now;

    if (session->deadline == 0) {
        return max_wait_ms;
    }

    uv_update_time(&session->loop);
    now = uv_now(&session->loop);

    return session->deadline > now ? session->deadline - now : 1;
}

static int
tg_cli_session_report_timeout(tg_cli_session_t *session, uint64_t max_wait_ms)
{
    if (session->timeout_ms != 0) {
        max_wait_ms = session->timeout_ms;
    }

    return tg_cli_error(
        session->client.was_open
            ? "no response from %s within %.12g s; the request was cancelled "
              "(--timeout SECONDS waits longer)"
            : "the server on %s did not answer within %.12g s (--timeout "
              "SECONDS waits longer)",
        session->endpoint.text, (double) max_wait_ms / 1000);
}

/*
 * Runs the loop until there is a response.  Returns TG_CLI_EXIT_OK, or the
 * exit status after a timeout (max_wait_ms, 0: no limit) or a signal; then the
 * request is cancelled.
 */
static int
tg_cli_session_wait(tg_cli_session_t *session, uint64_t max_wait_ms)
{
    uint64_t time;

    /*
     * The previous timer may have expired in the loop iteration that ended its
     * wait.
     */
    session->is_timed_out = 0;
    time = tg_cli_session_get_wait_time(session, max_wait_ms);

    if (time != 0) {
        uv_timer_start(&session->timer, tg_cli_session_on_timer, time, 0);
    }

    while (!session->is_done && !session->is_timed_out && session->signum == 0)
    {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    uv_timer_stop(&session->timer);

    if (session->is_done) {
        return TG_CLI_EXIT_OK;
    }

    tg_cli_progress_clear();
    tg_uv_client_cancel_request(&session->client, &session->request);
    tg_uv_client_flush(&session->client);

    return session->signum != 0 ? 128 + session->signum
                                : tg_cli_session_report_timeout(session, time);
}

/* --- callbacks of the client --- */

/* Shows every message if TOOLGATE_DEBUG is set. */
static void
tg_cli_session_on_trace(void *host, int is_theirs, tg_str_t bytes)
{
    tg_cli_session_t *session;
    tg_str_t message;
    tg_buf_t line;

    session = host;

    while (session->is_debug
           && tg_frame_split(TG_FRAME_LINE, &bytes, &message) != TG_END)
    {
        tg_buf_init(&line, tg_alloc_libc());
        tg_buf_printf(&line, "toolgate: server %s ", is_theirs ? "->" : "<-");
        tg_utf8_append_visible(&line, message, 1);
        (void) tg_cli_print_and_free(stderr, &line, TG_CLI_EXIT_OK);
    }
}

/* Parses a part of a response, which may be absent. */
static int
tg_cli_response_parse(tg_str_t text, json_object **value)
{
    return text.len != 0 ? tg_cli_json_parse(text, value) : TG_OK;
}

void
tg_cli_response_deinit(tg_cli_response_t *response)
{
    json_object_put(response->result);
    json_object_put(response->message);
    json_object_put(response->data);
    memset(response, 0, sizeof(*response));
}

static void
tg_cli_session_on_response(void *host, tg_uv_request_t *request,
                           const tg_response_t *response)
{
    tg_cli_session_t *session;
    tg_cli_response_t *copy;

    session = host;
    tg_cli_progress_clear();
    copy = &session->response;
    copy->elapsed_ns = uv_hrtime() - session->sent_ns;
    copy->kind = response->kind;
    copy->code = response->code;
    copy->is_too_large = response->is_too_large;
    copy->has_data = response->data.len != 0;
    copy->is_nomem = tg_cli_response_parse(response->result, &copy->result)
                         != TG_OK
                     || tg_cli_response_parse(response->data, &copy->data)
                            != TG_OK;
    copy->is_nomem |= tg_cli_json_parse_body(response->message, &copy->message)
                      != TG_OK;
    session->is_done = 1;
}

static void
tg_cli_session_on_open(void *host)
{
    tg_cli_session_t *session;

    session = host;
    session->is_done |= !session->request.is_queued;
}

static void
tg_cli_session_on_disconnect(void *host, int was_open)
{
    tg_cli_session_t *session;

    session = host;
    session->is_done |= session->client.state == TG_UV_CLIENT_IDLE;
}

static void
tg_cli_session_on_notification(void *host, tg_str_t method,
                               const tg_message_t *message)
{
    json_object *name, *params;
    tg_cli_session_t *session;
    int has_progress;

    session = host;
    has_progress = session->request.is_tool_call && session->request.is_sent;

    if (session->on_notification == NULL && !has_progress) {
        return;
    }

    name = params = NULL;

    if (tg_cli_json_parse_body(method, &name) == TG_OK
        && (message->params.data == NULL
            || tg_cli_json_parse(message->params, &params) == TG_OK))
    {
        method = tg_cli_json_to_text(name);

        if (has_progress) {
            tg_cli_progress_on_notification(method, params);
        }

        if (session->on_notification != NULL
            && session->notification_status == TG_CLI_EXIT_OK)
        {
            session->notification_status = session->on_notification(session,
                                                                    method,
                                                                    params);
        }
    }

    json_object_put(name);
    json_object_put(params);
}

/* Closes the session's timer last, so that the loop ends. */
static void
tg_cli_session_on_close(void *host)
{
    tg_cli_session_t *session;

    session = host;
    uv_close((uv_handle_t *) &session->timer, NULL);
}

/* --- open and close --- */

static int
tg_cli_session_init(tg_cli_session_t *session)
{
    static const tg_uv_client_ops_t ops = {
        .on_response = tg_cli_session_on_response,
        .opened = tg_cli_session_on_open,
        .on_conn_lost = tg_cli_session_on_disconnect,
        .notification = tg_cli_session_on_notification,
        .trace = tg_cli_session_on_trace,
        .closed = tg_cli_session_on_close,
    };
    int i, rc;

    rc = uv_loop_init(&session->loop);

    if (rc != 0) {
        return rc;
    }

    tg_uv_sched_init(&session->sched, &session->loop);
    uv_timer_init(&session->loop, &session->timer);
    session->timer.data = session;
    session->client.endpoint = &session->endpoint;
    session->client.info = TG_MCP_CLIENT_INFO("toolgate");
    tg_mcp_list_init(&session->list, tg_alloc_libc(),
                     TG_UV_CLIENT_LIST_PAGES_MAX);
    tg_uv_client_init(&session->client, &session->sched, &ops, session,
                      TG_DIALECT_JSONRPC, TG_CLI_FRAME_MAX);

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_signal_init(&session->loop, &session->signals[i]);
        session->signals[i].data = session;

        if (rc == 0) {
            rc = uv_signal_start(&session->signals[i], tg_cli_session_on_signal,
                                 tg_cli_signals[i]);
        }
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

    tg_uv_client_close(&session->client);

    tg_uv_sched_close(&session->sched, NULL);

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_close((uv_handle_t *) &session->signals[i], NULL);
    }

    uv_run(&session->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&session->loop);
    tg_uv_client_deinit(&session->client);
    tg_mcp_list_deinit(&session->list);
    tg_cli_response_deinit(&session->response);
    tg_uv_endpoint_free(&session->endpoint);
}

int
tg_cli_session_open(tg_cli_session_t *session, const tg_cli_options_t *options)
{
    char why[TG_UV_ERROR_SIZE];
    const char *text;
    int rc;

    memset(session, 0, sizeof(*session));
    session->options = options;
    text = tg_cli_options_get_socket(options);
    session->is_debug = tg_cli_is_debug_enabled();

    if (text == NULL) {
        return TG_CLI_EXIT_FAILED;
    }

    if (tg_uv_endpoint_parse(&session->endpoint, text, &options->tls, why)
        != TG_OK) {
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
    rc = tg_cli_session_wait(session, TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc == TG_CLI_EXIT_OK && !session->client.was_open) {
        rc = tg_cli_session_report_connect_error(session);
    }

    if (rc != TG_CLI_EXIT_OK) {
        tg_cli_session_close(session);
    }

    return rc;
}

int
tg_cli_session_run(const tg_cli_options_t *options,
                   int (*on_connect)(tg_cli_session_t *session, void *ctx),
                   void *ctx)
{
    tg_cli_session_t session;
    int rc;

    rc = tg_cli_session_open(&session, options);

    if (rc == TG_CLI_EXIT_OK) {
        rc = on_connect(&session, ctx);
        tg_cli_session_close(&session);
    }

    return rc;
}

/* --- requests --- */

/* Reports that the connection was lost before the response. */
static int
tg_cli_session_report_disconnect(const tg_cli_session_t *session)
{
    if (session->response.kind == TG_RESPONSE_NOT_STARTED) {
        return tg_cli_session_report_connect_error(session);
    }

    return tg_cli_error("the connection to %s was lost before the response; "
                        "the request may have been executed",
                        session->endpoint.text);
}

static int
tg_cli_session_exchange(tg_cli_session_t *session,
                        const tg_uv_request_t *request, uint64_t max_wait_ms)
{
    tg_cli_response_t *response;
    int rc;

    response = &session->response;
    tg_cli_response_deinit(response);

    if (request->name.len + request->params.len
        > TG_CLI_FRAME_MAX - TG_CLI_ENVELOPE_MAX)
    {
        return tg_cli_error("the arguments are larger than %u bytes",
                            TG_CLI_FRAME_MAX);
    }

    session->request = *request;
    session->sent_ns = uv_hrtime();
    session->is_done = 0;
    tg_mcp_list_reset(&session->list);
    tg_uv_client_send_request(&session->client, &session->request);
    tg_uv_client_flush(&session->client);
    rc = tg_cli_session_wait(session, max_wait_ms);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (response->is_nomem) {
        return tg_cli_error_nomem();
    }

    if (response->is_too_large) {
        return tg_cli_error("the response is larger than %u bytes; request "
                            "less",
                            TG_CLI_FRAME_MAX);
    }

    return response->kind == TG_RESPONSE_RESULT
                   || response->kind == TG_RESPONSE_ERROR
               ? TG_CLI_EXIT_OK
               : tg_cli_session_report_disconnect(session);
}

int
tg_cli_session_list_tools(tg_cli_session_t *session)
{
    const tg_uv_request_t request = {
        .name = TG_STR("tools/list"),
        .list = &session->list,
    };

    return tg_cli_session_exchange(session, &request, TG_CLI_LIST_TIMEOUT_MS);
}

int
tg_cli_session_call_tool(tg_cli_session_t *session, tg_str_t name,
                         tg_str_t arguments)
{
    tg_uv_request_t request = {
        .params = arguments,
        .extra_members = tg_cli_progress_get_meta(),
        .is_tool_call = 1,
    };
    json_object *text;
    int rc;

    text = json_object_new_string_len(name.data, (int) name.len);
    name = tg_cli_json_write(text);

    /* The escaped name without its quotes. */
    request.name = tg_str(name.data + 1, name.len - 2);
    rc = text != NULL ? tg_cli_session_exchange(session, &request, 0)
                      : tg_cli_error_nomem();
    json_object_put(text);

    return rc;
}

int
tg_cli_session_request(tg_cli_session_t *session, tg_str_t method,
                       tg_str_t params, uint64_t max_wait_ms)
{
    const tg_uv_request_t request = { .name = method, .params = params };

    return tg_cli_session_exchange(session, &request, max_wait_ms);
}

int
tg_cli_session_listen(tg_cli_session_t *session)
{
    while (session->client.state == TG_UV_CLIENT_OPEN
           && session->notification_status == TG_CLI_EXIT_OK
           && session->signum == 0)
    {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    return session->signum != 0 ? 128 + session->signum
                                : session->notification_status;
}

int
tg_cli_session_request_read_only(tg_cli_session_t *session, tg_str_t method,
                                 tg_str_t params, uint64_t max_wait_ms)
{
    const tg_uv_request_t request = {
        .name = method,
        .params = params,
        .is_read_only = 1,
    };

    return tg_cli_session_exchange(session, &request, max_wait_ms);
}

int
tg_cli_session_sleep(tg_cli_session_t *session, uint64_t ms)
{
    session->is_timed_out = 0;
    uv_timer_start(&session->timer, tg_cli_session_on_timer, ms, 0);

    while (!session->is_timed_out && session->signum == 0) {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    uv_timer_stop(&session->timer);

    return session->signum != 0 ? 128 + session->signum : TG_CLI_EXIT_OK;
}
