/*
 * Answers to what the other side asked.
 */
#include "core/tg_caller.h"
#include "core/tg_rpc.h"

/* An answer to what the server asked; the members stand behind the id. */
static int
tg_caller_say(tg_caller_t *caller, tg_str_t id, const char *member,
              tg_str_t value)
{
    size_t start, len;
    tg_buf_t *out;

    out = &caller->out;
    start = out->len;
    tg_buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    tg_buf_str(out, id);
    tg_json_put_member(out, member, value);
    tg_buf_put(out, "}\n", 2);
    len = out->len - start;

    if (tg_buf_failed(out)) {
        return TG_NOMEM;
    }

    if (len - 1 > caller->max_frame) {
        tg_buf_truncate(out, start);
        return TG_LIMIT;
    }

    caller->sent += len;

    return TG_OK;
}

int
tg_caller_refuse(tg_caller_t *caller, tg_str_t id, int code, const char *text)
{
    char room[512];
    tg_buf_t error;

    error = tg_buf_fixed(room, sizeof(room));
    tg_buf_printf(&error, "{\"code\":%d,\"message\":", code);
    tg_json_put_string(&error, tg_str_c(text));
    tg_buf_char(&error, '}');

    return tg_caller_say(caller, id, ",\"error\":", tg_buf_view(&error));
}

int
tg_caller_reply(tg_caller_t *caller, tg_str_t id, tg_str_t result,
                tg_str_t error)
{
    int rc;

    rc = result.data != NULL ? tg_caller_say(caller, id, ",\"result\":", result)
                             : tg_caller_say(caller, id, ",\"error\":", error);

    if (rc == TG_LIMIT) {
        (void) tg_caller_refuse(caller, id, TG_RPC_INTERNAL,
                                "The answer is larger than a message may "
                                "be.");
    }

    return rc;
}
