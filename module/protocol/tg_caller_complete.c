/* Completion of a caller's requests, and the server's notifications. */
#include "protocol/tg_caller_impl.h"
#include "protocol/tg_rpc.h"

void
tg_caller_complete_request(tg_caller_t *caller, tg_pending_request_t *pending,
                           const tg_response_t *answer)
{
    void *tag;

    tag = pending->tag;
    tg_pending_remove(caller, pending);

    /* Without a tag the sequential call was cancelled: drop its response. */
    if (tag != NULL || !caller->dialect->is_sequential) {
        caller->ops->answer(caller->host, tag, answer);
    }
}

void
tg_caller_fail_request(tg_caller_t *caller, tg_pending_request_t *pending,
                       tg_str_t message, int is_too_large)
{
    tg_response_t answer;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_RESPONSE_ERROR;
    answer.has_code = 1;
    answer.code = TG_RPC_INTERNAL_ERROR;
    answer.message = message.len != 0 ? message : TG_CALLER_NO_REASON;
    answer.is_too_large = is_too_large;
    tg_caller_complete_request(caller, pending, &answer);
}

int
tg_caller_parse_id(tg_str_t raw, uint64_t *id)
{
    int64_t number;
    size_t i;

    if (raw.data == NULL) {
        return TG_INVALID;
    }

    if (tg_json_type(raw) == TG_JSON_STRING) {
        raw = tg_json_string_body(raw);

        for (i = 0; i < raw.len && tg_is_digit(raw.data[i]); i++) {
            /* void */
        }

        if (i == 0 || i != raw.len) {
            return TG_INVALID;
        }
    }

    if (tg_json_parse_int64(raw, &number) != TG_OK || number < 0) {
        return TG_INVALID;
    }

    *id = (uint64_t) number;

    return TG_OK;
}

int
tg_caller_on_shutdown_notice(tg_caller_t *caller, tg_str_t reason)
{
    caller->is_closed = 1;

    if (caller->ops->on_shutdown_notice != NULL) {
        caller->ops->on_shutdown_notice(caller->host,
                                        tg_raw_string_body(reason),
                                        caller->is_drained);
    }

    return TG_CLOSED;
}

int
tg_caller_on_notification(tg_caller_t *caller, const tg_message_t *message)
{
    tg_str_t reason;

    if (tg_json_string_eq(message->method, TG_STR(TG_METHOD_TOOLGATE_CLOSING)))
    {
        caller->is_drained = 1;

        if (tg_json_get_member(message->params, TG_STR("reason"), &reason)
            != TG_OK) {
            reason = TG_STR_NONE;
        }

        return tg_caller_on_shutdown_notice(caller, reason);
    }

    if (caller->ops->notification != NULL) {
        caller->ops->notification(caller->host,
                                  tg_json_string_body(message->method),
                                  message);
    }

    return TG_OK;
}
