/* Requests that the program's threads send with a client. */
#include "lib/tg_client.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <stdlib.h>

/* Bytes of a request's JSON-RPC envelope, with the longest id. */
#define TG_CLIENT_REQUEST_ENVELOPE_MAX 256

static uint64_t tg_client_request_count; /* guarded by the lock */

static int
tg_client_request_check(const tg_client_request_spec_t *spec)
{
    const char *why;
    char first;

    if (spec->name == NULL || !tg_utf8_is_valid(tg_str_from_cstr(spec->name))) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "the name of a tool or method must be UTF-8");
    }

    if (spec->timeout < 0) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "a timeout must be in milliseconds, or 0, "
                                "not %d",
                                spec->timeout);
    }

    if (spec->params == NULL) {
        return 0;
    }

    if (tg_json_validate(tg_str_from_cstr(spec->params), &why) != TG_OK) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "arguments are no JSON: %s", why);
    }

    first = spec->params[strspn(spec->params, " \t\r\n")];

    return first == '{'
                   || (first == '[' && spec->type == TG_CLIENT_REQUEST_METHOD)
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "arguments are a JSON object");
}

/* Appends name, params and progress token; ends receives their end offsets. */
static void
tg_client_request_append(const tg_client_request_spec_t *spec,
                         const char *token, tg_buf_t *text, size_t ends[3])
{
    if (spec->type == TG_CLIENT_REQUEST_CALL) {
        tg_json_write_escaped(text, tg_str_from_cstr(spec->name));
    } else {
        tg_buf_append_cstr(text, spec->name);
    }

    ends[0] = text->len;

    /* Frames end with a line feed, so that params must not contain one. */
    if (spec->params != NULL) {
        tg_json_write_compact(text, tg_str_from_cstr(spec->params));
    } else if (spec->type == TG_CLIENT_REQUEST_CALL) {
        tg_buf_append_cstr(text, "{}");
    }

    ends[1] = text->len;
    tg_buf_append_cstr(text, token);
    ends[2] = text->len;
}

static tg_str_t
tg_client_request_slice(const char *text, size_t from, size_t to)
{
    return from != to ? tg_str(text + from, to - from) : TG_STR_NONE;
}

tg_client_request_t *
tg_client_request_new(const tg_client_request_spec_t *spec,
                      const tg_buf_t *text, const size_t ends[3])
{
    tg_uv_request_t *uv_request;
    tg_client_request_t *request;

    request = tg_buf_has_failed(text) ? NULL
                                      : malloc(sizeof(*request) + text->len);

    if (request == NULL) {
        return NULL;
    }

    memset(request, 0, sizeof(*request));

    if (text->len != 0) {
        memcpy(request->text, text->data, text->len);
    }

    request->on_response = spec->on_response;
    request->data = spec->data;
    request->kind = spec->kind;
    request->subscription = spec->subscription;
    uv_request = &request->uv_request;
    uv_request->name = tg_client_request_slice(request->text, 0, ends[0]);
    uv_request->params = tg_client_request_slice(request->text, ends[0],
                                                 ends[1]);
    uv_request->extra_members = tg_client_request_slice(request->text, ends[1],
                                                        ends[2]);
    uv_request->is_tool_call = spec->type == TG_CLIENT_REQUEST_CALL;
    uv_request->is_read_only = spec->is_read_only != 0;
    uv_request->list = spec->type == TG_CLIENT_REQUEST_LIST ? &request->list
                                                            : NULL;

    return request;
}

/* Settings of a connection, copied while the lock was held. */
typedef struct {
    uint64_t count;
    uint64_t max_frame;
    uint64_t timeout;
    int has_progress;
} tg_client_request_terms_t;

/* Counts a request and returns its settings. Requires tg_lib_lock(). */
static tg_client_request_terms_t
tg_client_request_get_terms(const tg_client_conn_t *conn)
{
    return (tg_client_request_terms_t){ .count = ++tg_client_request_count,
                                        .max_frame = conn->conf.max_frame,
                                        .timeout = conn->conf.timeout,
                                        .has_progress = conn->conf.progress
                                                        != NULL };
}

/* Makes a command without the lock: copying a large request takes time. */
static int
tg_client_request_make_command(const tg_client_request_terms_t *terms,
                               const tg_client_request_spec_t *spec,
                               tg_runtime_command_t **result)
{
    tg_runtime_command_t *command;
    tg_client_request_t *request;
    tg_buf_t text;
    char token[64];
    size_t ends[3], size;

    token[0] = '\0';

    if (spec->type == TG_CLIENT_REQUEST_CALL && terms->has_progress) {
        (void) snprintf(token, sizeof(token),
                        ",\"_meta\":{\"progressToken\":%llu}",
                        (unsigned long long) terms->count);
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_client_request_append(spec, token, &text, ends);

    if (text.len + TG_CLIENT_REQUEST_ENVELOPE_MAX > terms->max_frame) {
        tg_buf_deinit(&text);
        return tg_lib_set_error(
            TOOLGATE_ERR_MESSAGE_SIZE,
            "the arguments are too large for a message of %llu bytes; send "
            "less, or raise \"max_frame\"",
            (unsigned long long) terms->max_frame);
    }

    request = tg_client_request_new(spec, &text, ends);
    size = sizeof(*request) + text.len;
    tg_buf_deinit(&text);
    command = request != NULL ? tg_runtime_command_new(TG_STR_NONE, TG_STR_NONE)
                              : NULL;

    if (command == NULL) {
        free(request);
        return tg_lib_set_nomem_error();
    }

    request->call = TG_CLIENT_CALL_NUMBER(terms->count);
    request->timeout = spec->timeout != 0 ? (uint64_t) spec->timeout
                                          : terms->timeout;
    command->request = request;
    command->size = size;
    command->execute = tg_client_conn_run_request;
    *result = command;

    return 0;
}

/*
 * Posts the command to the current connection, which may have changed
 * meanwhile. Requires tg_lib_lock(). Frees the command on failure, with *rc
 * set.
 */
static tg_client_conn_t *
tg_client_request_post_command(const toolgate_client_t *client,
                               tg_runtime_command_t *command, int *rc)
{
    tg_client_conn_t *conn;

    conn = tg_client_get_conn(client, rc);

    if (conn != NULL) {
        *rc = tg_runtime_post_command(&conn->runtime, command);
    }

    if (*rc == 0) {
        return conn;
    }

    free(command->request);
    tg_runtime_command_free(command);

    return NULL;
}

int
tg_client_request_begin(const toolgate_client_t *client,
                        const tg_client_request_spec_t *spec,
                        toolgate_call_t *call)
{
    tg_client_request_terms_t terms;
    tg_runtime_command_t *command = NULL;
    tg_client_conn_t *conn;
    int rc;

    rc = spec->on_response != NULL
             ? tg_client_request_check(spec)
             : tg_lib_set_error(
                 TOOLGATE_ERR_ARGUMENT,
                 "a callback for the response is required; "
                 "toolgate_client_call() and similar functions wait for it "
                 "instead");

    if (rc != 0) {
        return rc;
    }

    tg_lib_lock();
    conn = tg_client_get_conn(client, &rc);
    terms = conn != NULL ? tg_client_request_get_terms(conn)
                         : (tg_client_request_terms_t){ 0 };
    tg_lib_unlock();
    rc = rc == 0 ? tg_client_request_make_command(&terms, spec, &command) : rc;

    if (command == NULL) {
        return rc;
    }

    tg_lib_lock();

    if (tg_client_request_post_command(client, command, &rc) != NULL
        && call != NULL)
    {
        *call = TG_CLIENT_CALL_NUMBER(terms.count);
    }

    tg_lib_unlock();

    return rc;
}

int
toolgate_client_begin_call(toolgate_client_t *client, const char *tool,
                           const char *arguments, int timeout,
                           toolgate_answered_pt on_response, void *data,
                           toolgate_call_t *call)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_CALL,
        .name = tool,
        .params = arguments,
        .timeout = timeout,
        .on_response = on_response,
        .data = data,
    };

    return tg_client_request_begin(client, &spec, call);
}

int
toolgate_client_begin_request(toolgate_client_t *client, const char *method,
                              const char *params, int timeout,
                              toolgate_answered_pt on_response, void *data,
                              toolgate_call_t *call)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_METHOD,
        .name = method,
        .params = params,
        .timeout = timeout,
        .on_response = on_response,
        .data = data,
    };

    return tg_client_request_begin(client, &spec, call);
}

int
toolgate_client_begin_list(toolgate_client_t *client, int timeout,
                           toolgate_answered_pt on_response, void *data,
                           toolgate_call_t *call)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_LIST,
        .name = "tools/list",
        .params = NULL,
        .timeout = timeout,
        .on_response = on_response,
        .data = data,
    };

    return tg_client_request_begin(client, &spec, call);
}

int
toolgate_client_cancel(toolgate_client_t *client, toolgate_call_t call)
{
    tg_runtime_command_t *command;
    tg_client_conn_t *conn;
    int rc;

    command = tg_runtime_command_new(tg_str((const char *) &call, sizeof(call)),
                                     TG_STR_NONE);

    if (command == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    command->execute = tg_client_conn_run_cancel;
    tg_lib_lock();
    conn = tg_client_get_conn(client, &rc);
    rc = conn != NULL ? tg_runtime_post_command(&conn->runtime, command) : rc;
    tg_lib_unlock();

    if (rc != 0) {
        tg_runtime_command_free(command);
    }

    return rc;
}

static void
tg_client_request_on_response(toolgate_call_t call, int code,
                              const char *result, size_t len, void *data)
{
    char *copy;

    copy = result != NULL ? tg_str_dup(tg_str(result, len)) : NULL;

    if (result != NULL && copy == NULL) {
        code = tg_lib_set_nomem_error();
    }

    tg_lib_lock();
    tg_waiter_complete(data, code, copy);
    tg_lib_unlock();
}

/*
 * Rejects a wait that would block the loop that sends the answer. Requires
 * tg_lib_lock().
 */
static int
tg_client_request_check_wait(const tg_client_conn_t *conn)
{
    if (conn->runtime.type == TG_LOOP_UV) {
        return tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "a client on a libuv loop cannot wait; use "
                                "toolgate_client_begin_...()");
    }

    return tg_runtime_is_in_callback(&conn->runtime)
                   || conn->runtime.is_processing
               ? tg_lib_set_error(TOOLGATE_ERR_STATE,
                                  "a callback cannot wait; use "
                                  "toolgate_client_begin_...()")
               : 0;
}

static int
tg_client_request_send_and_wait(const toolgate_client_t *client,
                                const tg_client_request_spec_t *spec,
                                tg_waiter_t *waiter)
{
    tg_client_request_terms_t terms;
    tg_runtime_command_t *command = NULL;
    tg_client_conn_t *conn;
    int rc;

    tg_lib_lock();
    conn = tg_client_get_conn(client, &rc);
    terms = conn != NULL ? tg_client_request_get_terms(conn)
                         : (tg_client_request_terms_t){ 0 };
    rc = conn != NULL ? tg_client_request_check_wait(conn) : rc;
    tg_lib_unlock();
    rc = rc == 0 ? tg_client_request_make_command(&terms, spec, &command) : rc;

    if (command == NULL) {
        return rc;
    }

    /* The number of threads bounds these commands, not the byte limit. */
    command->size = 0;
    tg_lib_lock();
    conn = tg_client_request_post_command(client, command, &rc);
    rc = conn != NULL ? tg_client_conn_wait(conn, waiter) : rc;
    tg_lib_unlock();

    return rc;
}

int
tg_client_request_wait(const toolgate_client_t *client,
                       const tg_client_request_spec_t *asked, char **result)
{
    tg_client_request_spec_t spec;
    tg_waiter_t waiter;
    int rc;

    if (result != NULL) {
        *result = NULL;
    }

    rc = tg_client_request_check(asked);

    if (rc != 0) {
        return rc;
    }

    spec = *asked;
    spec.on_response = tg_client_request_on_response;
    spec.data = &waiter;
    tg_waiter_init(&waiter);
    rc = tg_client_request_send_and_wait(client, &spec, &waiter);

    if (result != NULL) {
        *result = waiter.result;
        waiter.result = NULL;
    }

    tg_waiter_deinit(&waiter);

    return rc;
}

int
toolgate_client_call(toolgate_client_t *client, const char *tool,
                     const char *arguments, int timeout, char **result)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_CALL,
        .name = tool,
        .params = arguments,
        .timeout = timeout,
    };

    return tg_client_request_wait(client, &spec, result);
}

int
toolgate_client_request(toolgate_client_t *client, const char *method,
                        const char *params, int timeout, char **result)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_METHOD,
        .name = method,
        .params = params,
        .timeout = timeout,
    };

    return tg_client_request_wait(client, &spec, result);
}

int
toolgate_client_list(toolgate_client_t *client, int timeout, char **result)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_LIST,
        .name = "tools/list",
        .timeout = timeout,
    };

    return tg_client_request_wait(client, &spec, result);
}
