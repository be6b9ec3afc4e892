/*
 * Requests that wait for input from a client of the legacy era. The peer sends
 * the client a request for each input, and serves the waiting request again
 * when all have been answered.
 */
#include "protocol/tg_peer_impl.h"

/* Response to an input that nobody gave in time. */
#define TG_INPUT_TIMEOUT                                                       \
    TG_STR("{\"error\":{\"code\":-1,\"message\":\"no answer in time\"}}")

static size_t
tg_input_round_size(const tg_input_round_t *round)
{
    return sizeof(*round) + round->id.len + round->text.len + round->inputs.len
           + round->state.len + round->responses.cap;
}

unsigned
tg_input_count_members(tg_str_t object)
{
    tg_json_cursor_t json;
    tg_str_t key, value;
    unsigned n;

    n = 0;
    tg_json_iter_init_members(&json, object);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        n++;
    }

    return n;
}

tg_input_round_t *
tg_input_round_add(tg_peer_t *peer, const tg_input_round_t *from)
{
    tg_input_round_t *round, **at;
    char *p;

    round = tg_alloc(peer->priv->alloc, sizeof(*round) + from->id.len
                                            + from->text.len + from->inputs.len
                                            + from->state.len);

    if (round == NULL) {
        return NULL;
    }

    *round = *from;
    p = (char *) (round + 1);
    round->next = NULL;
    round->id = tg_str_copy_to(&p, from->id);
    round->text = tg_str_copy_to(&p, from->text);
    round->inputs = tg_str_copy_to(&p, from->inputs);
    round->state = tg_str_copy_to(&p, from->state);
    tg_buf_init(&round->responses, peer->priv->alloc);

    for (at = &peer->priv->rounds; *at != NULL; at = &(*at)->next) { /* void */
    }

    *at = round;
    peer->nrounds++;
    peer->priv->memory_bytes += tg_input_round_size(round);

    return round;
}

int
tg_input_round_set_responses(tg_peer_t *peer, tg_input_round_t *round,
                             tg_str_t responses)
{
    tg_buf_append_str(&round->responses, responses);
    peer->priv->memory_bytes += round->responses.cap;

    return tg_buf_has_failed(&round->responses) ? TG_NOMEM : TG_OK;
}

static void
tg_input_round_free(tg_peer_t *peer, tg_input_round_t *round)
{
    tg_buf_deinit(&round->responses);
    tg_free(peer->priv->alloc, round);
}

/* Removes a round from the list. The caller frees it. */
static tg_input_round_t *
tg_input_round_take(tg_peer_t *peer, tg_input_round_t **at)
{
    tg_input_round_t *round;

    round = *at;
    *at = round->next;
    peer->nrounds--;
    peer->priv->memory_bytes -= tg_input_round_size(round);

    return round;
}

void
tg_peer_drop_rounds(tg_peer_t *peer)
{
    while (peer->priv->rounds != NULL) {
        tg_input_round_free(peer,
                            tg_input_round_take(peer, &peer->priv->rounds));
    }
}

/* Returns the link to the round of a request, or the end of the list. */
static tg_input_round_t **
tg_input_round_find(tg_peer_t *peer, tg_str_t id)
{
    tg_input_round_t **at;

    for (at = &peer->priv->rounds; *at != NULL; at = &(*at)->next) {
        if (tg_request_id_is_equal((*at)->id, id)) {
            break;
        }
    }

    return at;
}

int
tg_peer_has_round(tg_peer_t *peer, tg_str_t id)
{
    return *tg_input_round_find(peer, id) != NULL;
}

unsigned
tg_peer_count_inputs(const tg_peer_t *peer)
{
    const tg_input_round_t *round;
    unsigned n;

    n = 0;

    for (round = peer->priv->rounds; round != NULL; round = round->next) {
        n += round->n;
    }

    return n;
}

/* Notifies the client that the inputs of a round are not needed any more. */
static void
tg_input_round_cancel_inputs(tg_peer_t *peer, const tg_input_round_t *round)
{
    unsigned i;

    for (i = 0; i < round->n; i++) {
        if (!(round->answered & 1u << i)) {
            tg_server_request_notify_cancelled(peer, round->first + i);
        }
    }
}

void
tg_peer_cancel_round(tg_peer_t *peer, tg_str_t id)
{
    tg_input_round_t **at, *round;

    at = tg_input_round_find(peer, id);

    if (*at != NULL) {
        round = tg_input_round_take(peer, at);
        tg_input_round_cancel_inputs(peer, round);
        tg_input_round_free(peer, round);
    }
}

/* Appends the response to the i-th input. */
static void
tg_input_round_add_response(tg_input_round_t *round, unsigned i, tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t key, value;

    tg_json_iter_init_members(&json, round->inputs);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (i-- == 0) {
            tg_json_begin_raw_member(&round->responses, key);
            tg_json_write_compact(&round->responses, raw);
            break;
        }
    }
}

/*
 * Serves the request of a round again, within the frame of the response or
 * outside any. Frees the round.
 */
static void
tg_input_round_serve(tg_peer_t *peer, tg_input_round_t *round)
{
    tg_batch_t *batch;
    size_t frame_size;

    tg_buf_append_char(&round->responses, '}');

    if (tg_buf_has_failed(&round->responses)) {
        peer->out.failed = 1;
        tg_input_round_free(peer, round);
        return;
    }

    /* The response may be an element of a batch that is being served. */
    batch = peer->priv->batch;
    frame_size = peer->frame_size;
    peer->priv->batch = NULL;
    peer->priv->resumed = round;
    tg_peer_serve_again(peer, round->text);
    peer->priv->resumed = NULL;
    peer->priv->batch = batch;
    peer->frame_size = frame_size;
    tg_input_round_free(peer, round);
}

void
tg_peer_resume_input(const tg_peer_t *peer, tg_request_t *request)
{
    const tg_input_round_t *round;

    round = peer->priv->resumed;
    request->input_responses = tg_buf_view(&round->responses);
    request->request_state = round->state;
}

int
tg_peer_on_input(tg_peer_t *peer, int64_t id, const tg_message_t *message)
{
    tg_input_round_t **at, *round;
    size_t before;
    tg_buf_t error;
    unsigned i;

    for (at = &peer->priv->rounds; *at != NULL; at = &(*at)->next) {
        if (id >= (*at)->first && id - (*at)->first < (*at)->n) {
            break;
        }
    }

    round = *at;

    if (round == NULL) {
        return TG_MISSING;
    }

    i = (unsigned) (id - round->first);

    if (round->answered & 1u << i) {
        return TG_OK;
    }

    round->answered |= 1u << i;
    before = round->responses.cap;

    if (tg_json_type(message->result) == TG_JSON_OBJECT) {
        tg_input_round_add_response(round, i, message->result);
    } else {
        tg_buf_init(&error, peer->priv->alloc);
        tg_buf_append_char(&error, '{');
        tg_json_add_compact(&error, "error",
                            message->error.data != NULL ? message->error
                                                        : TG_STR("{}"));
        tg_buf_append_char(&error, '}');
        round->responses.failed |= tg_buf_has_failed(&error);
        tg_input_round_add_response(round, i, tg_buf_view(&error));
        tg_buf_deinit(&error);
    }

    peer->priv->memory_bytes += round->responses.cap - before;

    if (round->answered == (1u << round->n) - 1) {
        tg_input_round_serve(peer, tg_input_round_take(peer, at));
    }

    return TG_OK;
}

uint64_t
tg_peer_get_input_deadline(const tg_peer_t *peer)
{
    const tg_input_round_t *round;
    uint64_t earliest;

    earliest = 0;

    for (round = peer->priv->rounds; round != NULL; round = round->next) {
        if (earliest == 0 || round->deadline_ms < earliest) {
            earliest = round->deadline_ms;
        }
    }

    return earliest;
}

/* Answers the missing inputs of a round and serves its request. */
static void
tg_input_round_expire(tg_peer_t *peer, tg_input_round_t **at)
{
    tg_input_round_t *round;
    unsigned i;

    round = tg_input_round_take(peer, at);
    tg_input_round_cancel_inputs(peer, round);

    for (i = 0; i < round->n; i++) {
        if (!(round->answered & 1u << i)) {
            tg_input_round_add_response(round, i, TG_INPUT_TIMEOUT);
        }
    }

    tg_input_round_serve(peer, round);
}

int
tg_peer_expire_inputs(tg_peer_t *peer, uint64_t now_ms)
{
    tg_input_round_t **at;

    at = &peer->priv->rounds;

    while (*at != NULL) {
        if ((*at)->deadline_ms > now_ms) {
            at = &(*at)->next;
            continue;
        }

        /* Serving a request may change the list. */
        tg_input_round_expire(peer, at);
        at = &peer->priv->rounds;
    }

    return tg_buf_has_failed(&peer->out) ? TG_NOMEM : TG_OK;
}

/* Sends the requests for the inputs. TG_OK or TG_LIMIT. */
static int
tg_input_round_send(tg_peer_t *peer, const tg_input_round_t *round)
{
    static const char *const names[] = { "method", "params", NULL };
    tg_json_cursor_t json;
    tg_str_t key, input, values[2];
    uint64_t id;
    int rc;

    rc = TG_OK;
    id = round->first;
    tg_json_iter_init_members(&json, round->inputs);

    while (rc == TG_OK && tg_json_iter_next_member(&json, &key, &input)) {
        (void) tg_json_get_members(input, names, values);
        rc = tg_server_request_write(peer, id++, tg_json_string_body(values[0]),
                                     values[1]);
    }

    return rc;
}

int
tg_peer_ask(tg_peer_t *peer, const tg_request_t *request, tg_str_t inputs,
            tg_str_t state, uint64_t deadline_ms)
{
    tg_input_round_t from, *round, **at;
    size_t start;

    memset(&from, 0, sizeof(from));
    from.n = tg_input_count_members(inputs);

    if (peer->is_closing || request->reply.is_modern
        || request->text.data == NULL || request->reply.batch != NULL
        || request->reply.is_silent || from.n == 0 || from.n > TG_INPUTS_MAX)
    {
        return TG_MISSING;
    }

    if (tg_peer_count_server_requests(peer) + tg_peer_count_inputs(peer)
                + from.n
            > TG_SERVER_REQUESTS_MAX
        || peer->nrounds + peer->nparked + peer->ncalls >= peer->max_calls)
    {
        return TG_LIMIT;
    }

    from.deadline_ms = deadline_ms;
    from.first = peer->priv->asked;
    from.id = request->reply.id;
    from.text = request->text;
    from.inputs = inputs;
    from.state = state;
    round = tg_input_round_add(peer, &from);

    if (round == NULL) {
        peer->out.failed = 1;
        return TG_NOMEM;
    }

    if (tg_input_round_set_responses(peer, round, TG_STR("{")) != TG_OK) {
        at = tg_input_round_find(peer, round->id);
        tg_input_round_free(peer, tg_input_round_take(peer, at));
        peer->out.failed = 1;
        return TG_NOMEM;
    }

    start = peer->out.len;

    if (tg_input_round_send(peer, round) != TG_OK) {
        tg_buf_truncate(&peer->out, start);
        at = tg_input_round_find(peer, round->id);
        tg_input_round_free(peer, tg_input_round_take(peer, at));
        return TG_LIMIT;
    }

    peer->priv->asked += round->n;
    peer->last_failure = TG_FAILURE_NONE;
    peer->last_reply_size = 0;

    return tg_buf_has_failed(&peer->out) ? TG_NOMEM : TG_OK;
}
