/* A command's session with a server: connects, sends requests, waits. */
#include "cli/tg_cli_session.h"

#include "cli/tg_cli_output.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"

/* Space for the JSON-RPC envelope of a request in bytes. */
#define TG_CLI_ENVELOPE_MAX 256

static const int tg_cli_signals[TG_CLI_NSIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* --- waiting --- */

static void
tg_cli_session_on_timer(uv_timer_t *timer)
{
    ((tg_cli_session_t *) timer->data)->is_timed_out = 1;
}

static void
tg_cli_session_on_signal(uv_signal_t *handle, int signum)
{
    ((tg_cli_session_t *) handle->data)->signum = signum;
}

/* Returns the time until the deadline, or max_wait_ms; 0: no limit. */
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
        session->client->conn->client.was_open
            ? "no response from %s within %.12g s; the request was cancelled "
              "(--timeout SECONDS waits longer)"
            : "the server on %s did not answer within %.12g s (--timeout "
              "SECONDS waits longer)",
        session->address, (double) max_wait_ms / 1000);
}

/* Runs the loop until there is a response, a timeout, or a signal. */
static int
tg_cli_session_wait(tg_cli_session_t *session, uint64_t max_wait_ms)
{
    uint64_t time;

    /* The previous timer may have expired after the end of its wait. */
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

    if (session->call != 0) {
        (void) toolgate_client_cancel(session->client, session->call);
        session->call = 0;
    }

    tg_cli_progress_clear();

    return session->signum != 0 ? 128 + session->signum
                                : tg_cli_session_report_timeout(session, time);
}

/* --- callbacks of the client --- */

/* Shows every message if TOOLGATE_DEBUG is set. */
static void
tg_cli_session_on_trace(int is_theirs, tg_str_t bytes, void *data)
{
    tg_str_t message;
    tg_buf_t line;

    while (tg_cli_is_debug_enabled()
           && tg_frame_split(TG_FRAME_LINE, &bytes, &message) != TG_END)
    {
        tg_buf_init(&line, tg_alloc_libc());
        tg_buf_printf(&line, "toolgate: server %s ", is_theirs ? "->" : "<-");
        tg_utf8_append_visible(&line, message, 1);
        (void) tg_cli_print_and_free(stderr, &line, TG_CLI_EXIT_OK);
    }
}

void
tg_cli_response_init(tg_cli_response_t *response)
{
    memset(response, 0, sizeof(*response));
    tg_buf_init(&response->text, tg_alloc_libc());
    tg_buf_init(&response->message, tg_alloc_libc());
    tg_buf_init(&response->data, tg_alloc_libc());
    tg_buf_init(&response->absent_servers, tg_alloc_libc());
}

void
tg_cli_response_deinit(tg_cli_response_t *response)
{
    json_object_put(response->result);
    tg_buf_deinit(&response->text);
    tg_buf_deinit(&response->message);
    tg_buf_deinit(&response->data);
    tg_buf_deinit(&response->absent_servers);
    tg_cli_response_init(response);
}

static void
tg_cli_session_on_response(toolgate_call_t call, const tg_response_t *response,
                           const tg_mcp_list_t *list, void *data)
{
    tg_cli_session_t *session;
    tg_cli_response_t *copy;

    session = data;

    if (call != session->call) {
        return;
    }

    copy = &session->response;
    tg_cli_response_deinit(copy);
    copy->elapsed_ns = uv_hrtime() - session->sent_ns;
    copy->kind = response->kind;
    copy->code = response->code;
    copy->is_too_large = response->is_too_large;

    /* The text is not longer than it came: one allocation for all of it. */
    (void) tg_buf_reserve(&copy->text, response->result.len + 1);
    tg_json_write_compact(&copy->text, response->result);
    tg_json_write_compact(&copy->data, response->data);
    tg_buf_append_str(&copy->message, response->message);

    if (list != NULL) {
        tg_buf_append_str(&copy->absent_servers,
                          tg_buf_view(&list->absent_servers));
    }

    session->has_response = 1;
}

static void
tg_cli_session_on_request_end(toolgate_call_t call, int code,
                              const char *result, size_t len, void *data)
{
    tg_cli_session_t *session;

    session = data;

    if (call == session->call) {
        tg_cli_progress_clear();
        session->call = 0;
        session->is_done = 1;
    }
}

/* The first connection is open, or could not be opened. */
static void
tg_cli_session_on_connection(int is_connected, const char *why, void *data)
{
    tg_cli_session_t *session;

    session = data;
    session->is_done |= !session->is_open;
}

static void
tg_cli_session_on_notification(const char *method, const char *params,
                               size_t len, void *data)
{
    tg_cli_session_t *session;

    session = data;

    if (session->on_notification != NULL
        && session->notification_status == TG_CLI_EXIT_OK)
    {
        session->notification_status = session->on_notification(
            session, method, tg_str(params, len));
    }
}

static void
tg_cli_session_on_progress(toolgate_call_t call, const char *params, size_t len,
                           void *data)
{
    json_object *value;

    if (tg_cli_json_parse(tg_str(params, len), &value) == TG_OK) {
        tg_cli_progress_show(value);
        json_object_put(value);
    }
}

/* --- open and close --- */

static toolgate_client_t *
tg_cli_session_new_client(tg_cli_session_t *session)
{
    const tg_uv_tls_options_t *tls;
    toolgate_client_t *client;
    size_t i;

    tls = &session->options->tls;

    const struct {
        const char *name;
        const char *value;
    } options[] = {
        { "name", "toolgate" }, { "version", TG_VERSION },
        { "timeout", "off" },   { "connect_timeout", "off" },
        { "ca", tls->ca },      { "certificate", tls->certificate },
        { "key", tls->key },    { "tls_name", tls->name },
    };

    client = toolgate_client_new(NULL);

    /* The public API requires UTF-8, but a path may have any bytes. */
    if (client == NULL) {
        return NULL;
    }

    client->address = tg_str_dup(tg_str_from_cstr(session->address));

    if (client->address == NULL) {
        (void) tg_lib_set_nomem_error();
        toolgate_client_free(client);
        return NULL;
    }

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (options[i].value != NULL
            && toolgate_client_set(client, options[i].name, options[i].value)
                   != 0)
        {
            toolgate_client_free(client);
            return NULL;
        }
    }

    return client;
}

static int
tg_cli_session_init(tg_cli_session_t *session)
{
    toolgate_client_t *client;
    int i, rc;

    rc = 0;
    uv_timer_init(&session->loop, &session->timer);
    session->timer.data = session;

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_signal_init(&session->loop, &session->signals[i]);
        session->signals[i].data = session;
        rc = rc != 0
                 ? rc
                 : uv_signal_start(&session->signals[i],
                                   tg_cli_session_on_signal, tg_cli_signals[i]);
    }

    if (rc != 0) {
        return tg_cli_error("cannot start: %s", uv_strerror(rc));
    }

    client = session->client = tg_cli_session_new_client(session);

    if (client == NULL) {
        return tg_cli_error("%s", toolgate_error());
    }

    session->hooks.on_response = tg_cli_session_on_response;
    session->hooks.on_trace = tg_cli_session_on_trace;
    session->hooks.data = session;
    client->conf.hooks = &session->hooks;
    (void) toolgate_client_use_uv(client, &session->loop);
    (void) toolgate_client_on_connection(client, tg_cli_session_on_connection,
                                         session);
    (void) toolgate_client_on_notification(client,
                                           tg_cli_session_on_notification,
                                           session);

    /* The client requests progress only if it can be shown. */
    if (tg_cli_terminal_has_cursor(stderr)) {
        (void) toolgate_client_on_progress(client, tg_cli_session_on_progress,
                                           session);
    }

    return toolgate_client_open(client) == 0
               ? TG_CLI_EXIT_OK
               : tg_cli_error("%s", toolgate_error());
}

void
tg_cli_session_close(tg_cli_session_t *session)
{
    int i;

    if (session->client != NULL) {
        (void) toolgate_client_close(session->client);
    }

    uv_close((uv_handle_t *) &session->timer, NULL);

    for (i = 0; i < TG_CLI_NSIGNALS; i++) {
        uv_close((uv_handle_t *) &session->signals[i], NULL);
    }

    uv_run(&session->loop, UV_RUN_DEFAULT);
    (void) uv_loop_close(&session->loop);
    toolgate_client_free(session->client);
    tg_cli_response_deinit(&session->response);
}

int
tg_cli_session_open(tg_cli_session_t *session, const tg_cli_options_t *options)
{
    int rc;

    memset(session, 0, sizeof(*session));
    session->options = options;
    session->address = tg_cli_options_get_socket(options);
    tg_cli_response_init(&session->response);

    if (session->address == NULL) {
        return TG_CLI_EXIT_FAILED;
    }

    rc = uv_loop_init(&session->loop);

    if (rc != 0) {
        return tg_cli_error("cannot start: %s", uv_strerror(rc));
    }

    session->timeout_ms = options->timeout_ms;
    rc = tg_cli_session_init(session);

    if (rc == TG_CLI_EXIT_OK) {
        session->address = session->client->conn->endpoint.text;
        uv_update_time(&session->loop);
        session->deadline = options->timeout_ms != 0
                                ? uv_now(&session->loop) + options->timeout_ms
                                : 0;
        rc = tg_cli_session_wait(session, TG_CLI_REQUEST_TIMEOUT_MS);
    }

    /* A connection that was open and is lost is opened again for a request. */
    if (rc == TG_CLI_EXIT_OK && !session->client->conn->client.was_open) {
        rc = tg_cli_error("%s", session->client->conn->why);
    }

    session->is_open = 1;

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

static int
tg_cli_session_check_response(const tg_cli_session_t *session)
{
    const tg_cli_response_t *response;

    response = &session->response;

    if (!session->has_response || tg_buf_has_failed(&response->text)
        || tg_buf_has_failed(&response->message)
        || tg_buf_has_failed(&response->data)
        || tg_buf_has_failed(&response->absent_servers))
    {
        return tg_cli_error_nomem();
    }

    if (response->is_too_large) {
        return tg_cli_error("the response is larger than %u bytes; request "
                            "less",
                            TG_CLI_FRAME_MAX);
    }

    switch (response->kind) {
    case TG_RESPONSE_RESULT:
    case TG_RESPONSE_ERROR:
        return TG_CLI_EXIT_OK;
    case TG_RESPONSE_NOT_STARTED:
        return tg_cli_error("%s", session->client->conn->why);
    default:
        return tg_cli_error("the connection to %s was lost before the "
                            "response; the request may have been executed",
                            session->address);
    }
}

static int
tg_cli_session_send_and_wait(tg_cli_session_t *session,
                             const tg_client_request_spec_t *request,
                             uint64_t max_wait_ms)
{
    int rc;

    tg_cli_response_deinit(&session->response);
    session->has_response = 0;
    session->is_done = 0;

    if (request->params != NULL
        && strlen(request->name) + strlen(request->params)
               > TG_CLI_FRAME_MAX - TG_CLI_ENVELOPE_MAX)
    {
        return tg_cli_error("the arguments are larger than %u bytes",
                            TG_CLI_FRAME_MAX);
    }

    session->sent_ns = uv_hrtime();

    if (tg_client_request_begin(session->client, request, &session->call) != 0)
    {
        return tg_cli_error("%s", toolgate_error());
    }

    rc = tg_cli_session_wait(session, max_wait_ms);

    return rc == TG_CLI_EXIT_OK ? tg_cli_session_check_response(session) : rc;
}

static int
tg_cli_session_exchange(tg_cli_session_t *session,
                        tg_client_request_type_t type, const char *name,
                        const char *params, int is_read_only,
                        uint64_t max_wait_ms)
{
    const tg_client_request_spec_t request = {
        .type = type,
        .name = name,
        .params = params,
        .on_response = tg_cli_session_on_request_end,
        .data = session,
        .is_read_only = is_read_only,
    };

    return tg_cli_session_send_and_wait(session, &request, max_wait_ms);
}

int
tg_cli_session_fetch_list(tg_cli_session_t *session, tg_mcp_kind_t kind)
{
    const tg_client_request_spec_t request = {
        .type = TG_CLIENT_REQUEST_LIST,
        .kind = kind,
        .name = tg_mcp_kinds[kind].method,
        .on_response = tg_cli_session_on_request_end,
        .data = session,
    };

    return tg_cli_session_send_and_wait(session, &request,
                                        TG_CLI_LIST_TIMEOUT_MS);
}

int
tg_cli_session_call_tool(tg_cli_session_t *session, const char *name,
                         const char *arguments)
{
    return tg_cli_session_exchange(session, TG_CLIENT_REQUEST_CALL, name,
                                   arguments, 0, 0);
}

int
tg_cli_session_request(tg_cli_session_t *session, const char *method,
                       const char *params, uint64_t max_wait_ms)
{
    return tg_cli_session_exchange(session, TG_CLIENT_REQUEST_METHOD, method,
                                   params, 0, max_wait_ms);
}

int
tg_cli_session_request_read_only(tg_cli_session_t *session, const char *method,
                                 const char *params, uint64_t max_wait_ms)
{
    return tg_cli_session_exchange(session, TG_CLIENT_REQUEST_METHOD, method,
                                   params, 1, max_wait_ms);
}

int
tg_cli_session_parse_result(tg_cli_session_t *session)
{
    tg_cli_response_t *response;

    response = &session->response;

    if (response->result != NULL) {
        return TG_CLI_EXIT_OK;
    }

    switch (tg_cli_json_parse(tg_buf_view(&response->text), &response->result))
    {
    case TG_OK:
        return TG_CLI_EXIT_OK;
    case TG_NOMEM:
        return tg_cli_error_nomem();
    default:
        return tg_cli_error("the response of %s cannot be read; --json shows "
                            "it",
                            session->address);
    }
}

void
tg_cli_session_notify(tg_cli_session_t *session, const char *method)
{
    tg_uv_client_t *client;

    client = &session->client->conn->client;
    tg_uv_client_notify(client, tg_str_from_cstr(method), TG_STR_NONE);
    tg_uv_client_flush(client);
}

int
tg_cli_session_listen(tg_cli_session_t *session)
{
    while (toolgate_client_is_connected(session->client)
           && session->notification_status == TG_CLI_EXIT_OK
           && session->signum == 0)
    {
        uv_run(&session->loop, UV_RUN_ONCE);
    }

    return session->signum != 0 ? 128 + session->signum
                                : session->notification_status;
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
