/* Responses to the requests of a server. */
#include "protocol/tg_caller_impl.h"
#include "protocol/tg_rpc.h"

/* Appends a response. TG_LIMIT: it is too large and was not appended. */
static int
tg_caller_write_response(tg_caller_t *caller, tg_str_t id, const char *member,
                         tg_str_t value)
{
    size_t start, len;
    tg_buf_t *out;

    out = &caller->out;
    start = out->len;
    tg_buf_append_cstr(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_append_str(out, id);
    tg_json_add_compact(out, member, value);
    tg_buf_append(out, "}\n", 2);
    len = out->len - start;

    if (tg_buf_has_failed(out)) {
        return TG_NOMEM;
    }

    if (len - 1 > caller->max_frame) {
        tg_buf_truncate(out, start);
        return TG_LIMIT;
    }

    caller->sent += len;

    return TG_OK;
}

/*
 * Responds without the host. Closes the connection if more than
 * TG_CALLER_REFUSALS_MAX bytes wait: a server that does not read the replies
 * must not exhaust memory.
 */
static int
tg_caller_write_auto_response(tg_caller_t *caller, tg_str_t id,
                              const char *member, tg_str_t value)
{
    size_t start;
    int rc;

    start = caller->out.len;
    rc = tg_caller_write_response(caller, id, member, value);
    caller->refused_bytes += caller->out.len - start;

    if (caller->refused_bytes > TG_CALLER_REFUSALS_MAX && !caller->is_closed) {
        caller->is_closed = 1;
        tg_caller_log(caller, "closed: the server sends requests and does not "
                              "read the replies");
    }

    return rc;
}

int
tg_caller_respond_ping(tg_caller_t *caller, tg_str_t id)
{
    return tg_caller_write_auto_response(caller, id, "result", TG_STR("{}"));
}

int
tg_caller_respond_error(tg_caller_t *caller, tg_str_t id, int code,
                        const char *text)
{
    char room[512];
    tg_buf_t error;

    error = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&error, "{\"code\":%d,\"message\":", code);
    tg_json_write_string(&error, tg_str_from_cstr(text));
    tg_buf_append_char(&error, '}');

    return tg_caller_write_auto_response(caller, id, "error",
                                         tg_buf_view(&error));
}

int
tg_caller_respond(tg_caller_t *caller, tg_str_t id, tg_str_t result,
                  tg_str_t error)
{
    int rc;

    rc = result.data != NULL
             ? tg_caller_write_response(caller, id, "result", result)
             : tg_caller_write_response(caller, id, "error", error);

    if (rc == TG_LIMIT) {
        (void) tg_caller_respond_error(
            caller, id, TG_RPC_INTERNAL_ERROR,
            "The answer is larger than a message may "
            "be.");
    }

    return rc;
}
