/* The end of a client's request: its result or error, and its callback. */
#include "lib/tg_client.h"

#include "base/tg_json.h"
#include "base/tg_list.h"
#include "base/tg_utf8.h"
#include "protocol/tg_rpc.h"

#include <stdlib.h>

/* Longest error text that is copied from a message of the server, in bytes. */
#define TG_CLIENT_ERROR_TEXT_MAX 1024

const char *
tg_client_conn_copy_text(tg_client_conn_t *conn, tg_str_t text)
{
    tg_buf_t *scratch;

    scratch = &conn->runtime.scratch;
    tg_buf_reset(scratch, TG_CLIENT_BUFFER_KEEP);
    tg_buf_append_str(scratch, text);
    tg_buf_append_char(scratch, '\0');

    return tg_buf_has_failed(scratch) ? NULL : scratch->data;
}

void
tg_client_conn_finish_request(tg_client_conn_t *conn,
                              tg_client_request_t *request, int code,
                              tg_str_t result)
{
    const char *text;

    TG_LIST_REMOVE(conn->first, conn->last, request);
    text = NULL;

    if (result.data != NULL) {
        text = tg_client_conn_copy_text(conn, result);
        code = text != NULL ? code : tg_lib_set_nomem_error();
    }

    conn->runtime.ncallbacks++;
    request->on_response(request->call, code, text,
                         text != NULL ? result.len : 0, request->data);
    conn->runtime.ncallbacks--;
    tg_mcp_list_deinit(&request->list);
    free(request);
}

static int
tg_client_set_server_error(int code, tg_str_t text)
{
    char visible[TG_CLIENT_ERROR_TEXT_MAX];
    tg_buf_t buf;

    buf = tg_buf_make_fixed(visible, sizeof(visible) - 1);
    tg_utf8_append_visible(&buf, text, 1);

    return tg_lib_set_error(code, "%.*s", (int) buf.len, buf.data);
}

static int
tg_client_set_server_error_body(int code, tg_str_t body)
{
    tg_buf_t plain;

    tg_buf_init(&plain, tg_alloc_libc());
    tg_json_append_unescaped(&plain, body);
    code = tg_buf_has_failed(&plain)
               ? tg_lib_set_nomem_error()
               : tg_client_set_server_error(code, tg_buf_view(&plain));
    tg_buf_deinit(&plain);

    return code;
}

/* Sets toolgate_error() to the first text of a result with "isError". */
static int
tg_client_set_tool_error(tg_str_t result)
{
    tg_str_t content, item, text;
    tg_json_cursor_t json;

    if (tg_json_has_member(result, TG_STR("content"), TG_JSON_ARRAY, &content))
    {
        for (tg_json_iter_init(&json, content);
             tg_json_iter_next(&json, &item);) {
            if (tg_json_has_member(item, TG_STR("text"), TG_JSON_STRING, &text))
            {
                return tg_client_set_server_error_body(
                    TOOLGATE_ERR_TOOL_EXECUTION, tg_json_string_body(text));
            }
        }
    }

    return tg_lib_set_error(TOOLGATE_ERR_TOOL_EXECUTION,
                            "the tool failed without an error message");
}

void
tg_client_conn_finish_result(tg_client_conn_t *conn,
                             tg_client_request_t *request, tg_str_t result)
{
    tg_str_t value;
    int code;

    code = request->uv_request.is_tool_call
                   && tg_json_has_member(result, TG_STR("isError"),
                                         TG_JSON_TRUE, &value)
               ? tg_client_set_tool_error(result)
               : 0;

    if (request->subscription == TG_CLIENT_SUBSCRIBE) {
        code = tg_client_conn_add_subscription(conn,
                                               request->uv_request.params);
        result = code == 0 ? result : TG_STR_NONE;

    } else if (request->subscription == TG_CLIENT_UNSUBSCRIBE) {
        /* A subscription may have been accepted meanwhile. */
        tg_client_conn_remove_subscription(conn, request->uv_request.params);
    }

    tg_client_conn_finish_request(conn, request, code, result);
}

/* Maps an error; a message that the server could not read is no tool error. */
static int
tg_client_map_error_code(const tg_response_t *answer)
{
    if (answer->code == TG_RPC_INVALID_REQUEST
        && answer->message.len >= sizeof(TG_RPC_TOO_LARGE_TEXT) - 1
        && memcmp(answer->message.data, TG_RPC_TOO_LARGE_TEXT,
                  sizeof(TG_RPC_TOO_LARGE_TEXT) - 1)
               == 0)
    {
        return TOOLGATE_ERR_MESSAGE_SIZE;
    }

    return answer->code == TG_RPC_PARSE_ERROR
                   || answer->code == TG_RPC_INVALID_REQUEST
               ? TOOLGATE_ERR_IPC
               : TOOLGATE_ERR_TOOL_EXECUTION;
}

void
tg_client_conn_finish_error(tg_client_conn_t *conn,
                            tg_client_request_t *request,
                            const tg_response_t *answer)
{
    tg_buf_t error;
    int code;

    if (answer->is_too_large) {
        tg_client_conn_finish_request(
            conn, request,
            tg_lib_set_error(TOOLGATE_ERR_MESSAGE_SIZE,
                             "the response is larger than %llu bytes; "
                             "request less, or raise \"max_frame\"",
                             (unsigned long long) conn->conf.max_frame),
            TG_STR_NONE);
        return;
    }

    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_printf(&error, "{\"code\":%lld,\"message\":\"",
                  (long long) answer->code);
    tg_buf_append_str(&error, answer->message);
    tg_buf_append_char(&error, '"');

    if (answer->data.data != NULL) {
        tg_json_add_raw(&error, "data", answer->data);
    }

    tg_buf_append_char(&error, '}');
    code = tg_client_set_server_error_body(tg_client_map_error_code(answer),
                                           answer->message);
    code = tg_buf_has_failed(&error) ? tg_lib_set_nomem_error() : code;
    tg_client_conn_finish_request(conn, request, code,
                                  code == TOOLGATE_ERR_TOOL_EXECUTION
                                      ? tg_buf_view(&error)
                                      : TG_STR_NONE);
    tg_buf_deinit(&error);
}
