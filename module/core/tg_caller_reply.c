/*
 * Answers to what the other side asked.
 */
#include "core/tg_pending.h"
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

/*
 * Replies without asking the host.  A server that sends requests and reads no
 * replies must not make us keep them all.
 */
static int
tg_caller_say_at_once(tg_caller_t *caller, tg_str_t id, const char *member,
                      tg_str_t value)
{
    size_t start;
    int rc;

    start = caller->out.len;
    rc = tg_caller_say(caller, id, member, value);
    caller->refused += caller->out.len - start;

    if (caller->refused > TG_CALLER_REFUSALS && !caller->is_closed) {
        caller->is_closed = 1;
        tg_caller_log(caller, "closed: the server sends requests and does not "
                              "read the replies");
    }

    return rc;
}

int
tg_caller_pong(tg_caller_t *caller, tg_str_t id)
{
    return tg_caller_say_at_once(caller, id, ",\"result\":", TG_STR("{}"));
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

    return tg_caller_say_at_once(caller, id,
                                 ",\"error\":", tg_buf_view(&error));
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
