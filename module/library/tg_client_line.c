/*
 * A client's connection, and what is asked on it, in the loop's thread.
 */
#include "library/tg_client.h"

#include "base/tg_json.h"
#include "base/tg_list.h"
#include "base/tg_utf8.h"
#include "core/tg_rpc.h"

#include <stdlib.h>

/* Of the text of an error, of what the server says. */
#define TG_LINE_TEXT 1024

/* --- ends of a question --- */

/* A copy with a zero behind it, until the next one; "": there is no memory. */
static const char *
tg_line_text(tg_line_t *line, tg_str_t text)
{
    tg_buf_t *scratch;

    scratch = &line->run.scratch;
    tg_buf_reset(scratch, TG_CLIENT_KEEP);
    tg_buf_str(scratch, text);
    tg_buf_char(scratch, '\0');

    return tg_buf_failed(scratch) ? NULL : scratch->data;
}

/* Whoever asked is told, with toolgate_error() of a code that is one. */
static void
tg_line_end(tg_line_t *line, tg_ask_t *ask, int code, tg_str_t result)
{
    const char *text;

    TG_LIST_REMOVE(line->first, line->last, ask);
    text = NULL;

    if (result.data != NULL) {
        text = tg_line_text(line, result);
        code = text != NULL ? code : tg_error_memory();
    }

    line->run.is_calling++;
    ask->answered(ask->call, code, text, text != NULL ? result.len : 0,
                  ask->data);
    line->run.is_calling--;
    tg_mcp_list_deinit(&ask->list);
    free(ask);
}

/* What the server says, as the error's text. */
static int
tg_line_error(int code, tg_str_t text)
{
    char visible[TG_LINE_TEXT];
    tg_buf_t buf;

    buf = tg_buf_fixed(visible, sizeof(visible) - 1);
    tg_utf8_put_visible(&buf, text, 1);

    return tg_error(code, "%.*s", (int) buf.len, buf.data);
}

static int
tg_line_error_body(int code, tg_str_t body)
{
    tg_buf_t plain;

    tg_buf_init(&plain, tg_alloc_libc());
    tg_json_put_decoded(&plain, body);
    code = tg_buf_failed(&plain) ? tg_error_memory()
                                 : tg_line_error(code, tg_buf_view(&plain));
    tg_buf_deinit(&plain);

    return code;
}

/* The first text of a result that is an error. */
static int
tg_line_failed(tg_str_t result)
{
    tg_str_t content, item, text;
    tg_json_t json;

    if (tg_json_has(result, TG_STR("content"), TG_JSON_ARRAY, &content)) {
        for (tg_json_each(&json, content); tg_json_item(&json, &item);) {
            if (tg_json_has(item, TG_STR("text"), TG_JSON_STRING, &text)) {
                return tg_line_error_body(TOOLGATE_ERR_TOOL_EXECUTION,
                                          tg_json_body(text));
            }
        }
    }

    return tg_error(TOOLGATE_ERR_TOOL_EXECUTION,
                    "the tool failed, and did not say why");
}

static void
tg_line_result(tg_line_t *line, tg_ask_t *ask, tg_str_t result)
{
    tg_str_t value;
    int code;

    code = ask->question.is_tool
                   && tg_json_has(result, TG_STR("isError"), TG_JSON_TRUE,
                                  &value)
               ? tg_line_failed(result)
               : 0;
    tg_line_end(line, ask, code, result);
}

/* What a JSON-RPC error is here: what was not read is no tool's fault. */
static int
tg_line_code(const tg_answer_t *answer)
{
    if (answer->code == TG_RPC_REQUEST
        && answer->message.len >= sizeof(TG_RPC_TOO_LARGE) - 1
        && memcmp(answer->message.data, TG_RPC_TOO_LARGE,
                  sizeof(TG_RPC_TOO_LARGE) - 1)
               == 0)
    {
        return TOOLGATE_ERR_MESSAGE_SIZE;
    }

    return answer->code == TG_RPC_PARSE || answer->code == TG_RPC_REQUEST
               ? TOOLGATE_ERR_IPC
               : TOOLGATE_ERR_TOOL_EXECUTION;
}

static void
tg_line_refused(tg_line_t *line, tg_ask_t *ask, const tg_answer_t *answer)
{
    tg_buf_t error;
    int code;

    if (answer->is_too_large) {
        tg_line_end(line, ask,
                    tg_error(TOOLGATE_ERR_MESSAGE_SIZE,
                             "the answer is larger than %llu bytes; ask for "
                             "less, or set \"max_frame\"",
                             (unsigned long long) line->conf.max_frame),
                    TG_STR_NONE);
        return;
    }

    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_printf(&error, "{\"code\":%lld,\"message\":\"",
                  (long long) answer->code);
    tg_buf_str(&error, answer->message);
    tg_buf_char(&error, '"');

    if (answer->data.data != NULL) {
        tg_buf_text(&error, ",\"data\":");
        tg_buf_str(&error, answer->data);
    }

    tg_buf_char(&error, '}');
    code = tg_line_error_body(tg_line_code(answer), answer->message);
    code = tg_buf_failed(&error) ? tg_error_memory() : code;
    tg_line_end(line, ask, code,
                code == TOOLGATE_ERR_TOOL_EXECUTION ? tg_buf_view(&error)
                                                    : TG_STR_NONE);
    tg_buf_deinit(&error);
}

static void
tg_line_answered(void *host, tg_uv_question_t *question,
                 const tg_answer_t *answer)
{
    tg_line_t *line;
    tg_ask_t *ask;

    line = host;
    ask = (tg_ask_t *) question;

    switch (answer->kind) {
    case TG_ANSWER_RESULT:
        tg_line_result(line, ask, answer->result);
        break;
    case TG_ANSWER_ERROR:
        tg_line_refused(line, ask, answer);
        break;
    case TG_ANSWER_LOST:
        tg_line_end(line, ask,
                    tg_error(TOOLGATE_ERR_CONNECTION,
                             "the connection to %s was lost before the answer "
                             "came; what was asked may have been executed",
                             line->place.text),
                    TG_STR_NONE);
        break;
    default:
        tg_line_end(line, ask,
                    tg_error(TOOLGATE_ERR_CONNECTION,
                             "%s What was asked was not executed.", line->why),
                    TG_STR_NONE);
    }
}

/* --- the connection --- */

static void
tg_line_tell(tg_line_t *line, int is_connected)
{
    if (line->conf.connected != NULL) {
        line->run.is_calling++;
        line->conf.connected(is_connected, is_connected ? NULL : line->why,
                             line->conf.connected_data);
        line->run.is_calling--;
    }
}

/* Is that for who opens it, and for nobody else? */
static int
tg_line_know(tg_line_t *line, int is_connected)
{
    struct stat st;
    uv_os_fd_t fd;
    int is_opening;

    fd = -1;

    if (is_connected
        && (uv_fileno(&line->client.conn.ends[0].as.handle, &fd) != 0
            || fstat(fd, &st) != 0))
    {
        fd = -1;
    }

    if (fd != -1) {
        line->id = tg_file_id(&st);
    }

    tg_library_lock();
    line->fd = fd;
    line->is_connected = is_connected;
    is_opening = line->opener != NULL;

    if (is_opening) {
        tg_waiter_end(line->opener,
                      is_connected
                          ? 0
                          : tg_error(TOOLGATE_ERR_CONNECTION, "%s", line->why),
                      NULL);
        line->opener = NULL;
    }

    tg_library_unlock();

    return is_opening;
}

static void
tg_line_opened(void *host)
{
    (void) tg_line_know(host, 1);
    tg_line_tell(host, 1);
}

static void
tg_line_lost(void *host, int was_open)
{
    tg_uv_client_t *client;
    tg_line_t *line;
    uint64_t now;

    line = host;
    client = &line->client;
    now = uv_now(line->run.loop);

    /* What an attempt that is not the last came to is nobody's business. */
    if (was_open) {
        line->grace_until = now + line->conf.grace;
    }

    if (was_open || client->state == TG_UV_CLIENT_IDLE) {
        if (!tg_line_know(line, 0)) {
            tg_line_tell(line, 0);
        }

    } else if (client->was_open && now >= line->grace_until) {
        tg_uv_client_fail(client);
    }
}

/* Before anybody is told. */
static void
tg_line_explain(void *host)
{
    tg_line_t *line;

    line = host;
    tg_uv_place_explain(&line->place, line->client.err, line->why);
}

/* --- what it says unasked --- */

/* The token of its call is the call's number. */
static void
tg_line_progress(tg_line_t *line, const tg_message_t *message)
{
    const char *params;
    uint64_t token;
    tg_ask_t *ask;

    if (line->conf.progress == NULL
        || tg_caller_id(message->p.progress_token, &token) != TG_OK)
    {
        return;
    }

    for (ask = line->first; ask != NULL && ask->call != TG_CLIENT_CALL(token);
         ask = ask->next)
    { /* void */
    }

    params = ask != NULL ? tg_line_text(line, message->params) : NULL;

    if (params == NULL) {
        return;
    }

    if (ask->timeout != 0) {
        ask->deadline = uv_now(line->run.loop) + ask->timeout;
    }

    line->run.is_calling++;
    line->conf.progress(ask->call, params, message->params.len,
                        line->conf.progress_data);
    line->run.is_calling--;
}

static void
tg_line_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    const char *params;
    tg_line_t *line;
    tg_buf_t name;

    line = host;

    if (tg_json_body_is(method, TG_STR("notifications/progress"))) {
        tg_line_progress(line, message);
        return;
    }

    if (line->conf.notified == NULL) {
        return;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_put_decoded(&name, method);
    tg_buf_char(&name, '\0');
    params = message->params.data != NULL ? tg_line_text(line, message->params)
                                          : NULL;

    /* Without memory it is lost, as if there were no connection. */
    if (!tg_buf_failed(&name)
        && (params != NULL || message->params.data == NULL)) {
        line->run.is_calling++;
        line->conf.notified(name.data, params, message->params.len,
                            line->conf.notified_data);
        line->run.is_calling--;
    }

    tg_buf_deinit(&name);
}

/* --- orders, and time --- */

/* What nobody waits for any more is to be sent still. */
static int
tg_line_is_deaf(const tg_line_t *line)
{
    return line->client.has_conn
           && tg_uv_conn_backlog(&line->client.conn) > TG_ORDERS_MAX;
}

void
tg_line_ask(tg_run_t *run, tg_order_t *order)
{
    tg_uv_client_t *client;
    tg_line_t *line;
    tg_ask_t *ask;

    ask = order->ask;
    tg_order_free(order);

    if (run == NULL) {
        ask->answered(ask->call,
                      tg_error(TOOLGATE_ERR_CONNECTION,
                               "the client was closed; what was asked was not "
                               "executed"),
                      NULL, 0, ask->data);
        free(ask);
        return;
    }

    line = (tg_line_t *) run;
    client = &line->client;
    TG_LIST_INSERT(line->first, line->last, line->last, ask);

    if (tg_line_is_deaf(line)) {
        tg_line_end(line, ask,
                    tg_error(TOOLGATE_ERR_BUSY,
                             "%s does not read what it is asked; what was "
                             "asked was not executed",
                             line->place.text),
                    TG_STR_NONE);
        return;
    }

    if (ask->timeout != 0) {
        uv_update_time(run->loop);
        ask->deadline = uv_now(run->loop) + ask->timeout;
        tg_run_due(run, ask->deadline);
    }

    if (ask->question.list != NULL) {
        tg_mcp_list_init(&ask->list, tg_alloc_libc(), TG_UV_CLIENT_PAGES);
    }

    /* Who waited long enough asks whether it is there now. */
    if (client->state == TG_UV_CLIENT_WAITING
        && uv_now(run->loop) >= line->grace_until)
    {
        tg_uv_client_connect(client);
    }

    tg_uv_client_ask(client, &ask->question);
}

void
tg_line_cancel(tg_run_t *run, tg_order_t *order)
{
    toolgate_call_t call;
    tg_line_t *line;
    tg_ask_t *ask;

    memcpy(&call, order->text, sizeof(call));
    tg_order_free(order);
    line = (tg_line_t *) run;

    for (ask = line != NULL ? line->first : NULL; ask != NULL; ask = ask->next)
    {
        if (ask->call == call) {
            tg_uv_client_cancel(&line->client, &ask->question);
            tg_line_end(line, ask,
                        tg_error(TOOLGATE_ERR_GONE, "the call was cancelled"),
                        TG_STR_NONE);
            return;
        }
    }
}

static void
tg_line_late(tg_line_t *line, tg_ask_t *ask)
{
    int was_sent;

    was_sent = ask->question.is_sent;
    tg_uv_client_cancel(&line->client, &ask->question);
    tg_line_end(line, ask,
                tg_error(TOOLGATE_ERR_TIMEOUT,
                         "there was no answer from %s within %llu ms; %s",
                         line->place.text, (unsigned long long) ask->timeout,
                         was_sent ? "what was asked is cancelled"
                                  : "what was asked was not executed"),
                TG_STR_NONE);
}

static void
tg_line_tick(tg_run_t *run)
{
    tg_line_t *line;
    tg_ask_t *ask, *next;
    uint64_t due, now;

    line = (tg_line_t *) run;
    now = uv_now(run->loop);
    due = UINT64_MAX;

    for (ask = line->first; ask != NULL; ask = next) {
        next = ask->next;

        if (ask->deadline != 0 && ask->deadline <= now) {
            tg_line_late(line, ask);
        } else if (ask->deadline != 0 && ask->deadline < due) {
            due = ask->deadline;
        }
    }

    tg_run_due(run, due);
}

static void
tg_line_flush(tg_run_t *run)
{
    tg_uv_client_flush(&((tg_line_t *) run)->client);
}

/* --- its beginning and its end --- */

static void
tg_line_stop(tg_run_t *run)
{
    tg_line_t *line;
    tg_ask_t *ask;

    line = (tg_line_t *) run;

    while ((ask = line->first) != NULL) {
        tg_uv_client_cancel(&line->client, &ask->question);
        tg_line_end(line, ask,
                    tg_error(TOOLGATE_ERR_CONNECTION,
                             "the client was closed; what was asked may have "
                             "been executed"),
                    TG_STR_NONE);
    }

    tg_library_lock();
    line->fd = -1;
    line->is_connected = 0;

    if (line->opener != NULL) {
        tg_waiter_end(
            line->opener,
            tg_error(TOOLGATE_ERR_CONNECTION, "the client was closed"), NULL);
        line->opener = NULL;
    }

    tg_library_unlock();
    tg_uv_client_close(&line->client);
}

static void
tg_line_closed(void *host)
{
    tg_run_gone(host);
}

void
tg_line_free(tg_run_t *run)
{
    tg_line_t *line;

    line = (tg_line_t *) run;

    /* One that did not open has none. */
    if (line->client.loop != NULL) {
        tg_uv_client_deinit(&line->client);
    }

    tg_uv_place_free(&line->place);
    free(line->address);
    free(line->info);
}

void
tg_line_open(tg_line_t *line)
{
    static const tg_uv_client_ops_t ops = {
        .answered = tg_line_answered,
        .opened = tg_line_opened,
        .ended = tg_line_explain,
        .lost = tg_line_lost,
        .notification = tg_line_notification,
        .closed = tg_line_closed,
    };
    tg_uv_client_t *client;

    client = &line->client;
    client->place = &line->place;
    client->patience = line->conf.connect_timeout;
    client->is_patient = 1;
    client->is_kept = 1;

    client->info = line->info;
    client->greets_mcp = line->conf.notified != NULL;
    line->run.tick = tg_line_tick;
    line->run.flush = tg_line_flush;
    line->run.stop = tg_line_stop;
    line->run.nopen++;
    tg_uv_client_init(client, &line->run.sched, &ops, line, TG_DIALECT_JSONRPC,
                      (size_t) line->conf.max_frame);
    tg_uv_client_connect(client);
}
