#include "runner/tg_answer.h"

#include "base/tg_json.h"

void
tg_answer_put(tg_buf_t *json, const tg_outcome_t *outcome,
              const tg_times_t *times)
{
    (void) tg_buf_reserve(json, outcome->value.len + 128);
    tg_outcome_put(json, outcome);
    tg_buf_text(json, ",\"queued_ms\":");
    tg_buf_uint(json, times->queued_ms);
    tg_buf_text(json, ",\"ran_ms\":");
    tg_buf_uint(json, times->ran_ms);
    tg_buf_char(json, '}');
}

void
tg_answer_put_failed(tg_buf_t *json, tg_failure_t failure, const tg_buf_t *text,
                     const tg_times_t *times)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_failed(failure, tg_buf_view(text));
    tg_answer_put(json, &outcome, times);
    json->failed |= tg_buf_failed(text);
}

void
tg_answer_put_time(tg_buf_t *text, uint64_t ms)
{
    uint64_t rest;

    if (ms < 1000) {
        tg_buf_uint(text, ms);
        tg_buf_text(text, " ms");
        return;
    }

    tg_buf_uint(text, ms / 1000);
    rest = ms % 1000;

    if (rest != 0) {
        tg_buf_char(text, '.');
    }

    for (/* void */; rest != 0; rest = rest % 100 * 10) {
        tg_buf_uint(text, rest / 100);
    }

    tg_buf_text(text, " s");
}

tg_outcome_t
tg_answer_outcome(const tg_buf_t *json)
{
    return tg_buf_failed(json)
               ? tg_outcome_failure(TG_FAILURE_INTERNAL, TG_ANSWER_NO_MEMORY)
               : tg_outcome_of(TG_OUTCOME_JSON, tg_buf_view(json));
}

void
tg_answer_json(tg_peer_t *peer, const tg_request_t *request,
               const tg_buf_t *json)
{
    tg_outcome_t outcome;

    outcome = tg_answer_outcome(json);
    tg_peer_answer(peer, &request->reply, &outcome);
}

void
tg_answer_failed(tg_peer_t *peer, const tg_request_t *request,
                 tg_failure_t failure, const tg_buf_t *text)
{
    static const tg_times_t none;
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_answer_put_failed(&json, failure, text, &none);
    tg_answer_json(peer, request, &json);
    tg_buf_deinit(&json);
}

void
tg_answer_wrong(tg_peer_t *peer, const tg_request_t *request, const char *why)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS, why);
    tg_peer_answer(peer, &request->reply, &outcome);
}

void
tg_answer_true(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_of(TG_OUTCOME_JSON, TG_STR("true"));
    tg_peer_answer(peer, &request->reply, &outcome);
}
