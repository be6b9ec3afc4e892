/*
 * Responses that cannot be parsed or that name two requests: their requests
 * fail, so that they do not wait forever.
 */
#include "protocol/tg_caller_impl.h"

void
tg_caller_fail_malformed(tg_caller_t *caller, tg_pending_request_t *pending,
                         tg_str_t frame, const char *what)
{
    tg_buf_t text, escaped;

    tg_buf_init(&text, caller->alloc);
    tg_buf_init(&escaped, caller->alloc);
    tg_buf_append_cstr(&text, "The server's answer cannot be read: ");

    if (what != NULL) {
        tg_buf_append_cstr(&text, what);
    } else if (tg_json_validate_explain(frame, &text) == TG_OK) {
        tg_buf_append_cstr(&text, "it is not an object");
    }

    tg_buf_append_cstr(&text,
                       "; the call may have been executed. Check the log of "
                       "the server.");
    tg_json_write_escaped(&escaped, tg_buf_view(&text));
    caller->out.failed |= text.failed | escaped.failed;
    tg_caller_fail_request(caller, pending, tg_buf_view(&escaped), 0);
    tg_buf_deinit(&text);
    tg_buf_deinit(&escaped);
}

tg_pending_request_t *
tg_caller_find_malformed(const tg_caller_t *caller, tg_str_t frame)
{
    tg_message_head_t known;
    tg_pending_request_t *pending;
    uint64_t id;

    /* A sequential dialect has no ids: its call fails by closing. */
    if (caller->dialect->is_sequential) {
        return NULL;
    }

    if (tg_message_parse_head(frame, &known) != TG_OK || known.is_request) {
        return NULL;
    }

    pending = tg_caller_parse_id(known.id, &id) == TG_OK
                  ? tg_pending_find(caller, id)
                  : NULL;

    if (pending == NULL && tg_message_find_tail_id(frame, &known.id) == TG_OK
        && tg_caller_parse_id(known.id, &id) == TG_OK)
    {
        pending = tg_pending_find(caller, id);
    }

    return pending;
}

int
tg_caller_fail_duplicate_id(tg_caller_t *caller, tg_str_t frame)
{
    tg_pending_request_t *pending;
    tg_str_t key, value;
    tg_json_cursor_t json;
    unsigned nids;
    int has_failed;
    uint64_t id;

    nids = 0;
    has_failed = 0;
    tg_json_iter_init_members(&json, frame);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        nids += tg_json_body_eq_text(key, TG_STR("id"));
    }

    if (nids < 2) {
        return 0;
    }

    tg_json_iter_init_members(&json, frame);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        pending = tg_json_body_eq_text(key, TG_STR("id"))
                          && tg_caller_parse_id(value, &id) == TG_OK
                      ? tg_pending_find(caller, id)
                      : NULL;

        if (pending != NULL) {
            tg_caller_fail_malformed(caller, pending, frame,
                                     "it has the member \"id\" twice");
            has_failed = 1;
        }
    }

    return has_failed;
}
