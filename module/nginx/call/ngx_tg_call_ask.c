/*
 * Asking before a call runs. Nothing of a call is kept while its client
 * answers: a modern client gets `input_required` with the state of the call,
 * sealed, and calls again; for a legacy client the peer does so itself
 * (tg_peer_ask()). Each round is a call of its own here.
 */
#include "nginx/call/ngx_tg_call_ask_impl.h"

#include "nginx/shm/ngx_tg_state_key.h"

/* Rounds of one call: a client whose answers never fit is not asked forever. */
#define NGX_TG_ASK_ROUNDS_MAX 16
/* Default of ask_timeout in ms. */
#define NGX_TG_ASK_TIMEOUT 300000
/* Time after which a legacy round has surely been served again, in ms. */
#define NGX_TG_ASK_GRACE 60000

static uint64_t
ngx_tg_ask_now_ms(void)
{
    const ngx_time_t *tp;

    tp = ngx_timeofday();

    return (uint64_t) tp->sec * 1000 + tp->msec;
}

/* --- the sealed state --- */

/* Adds a part of what a state is bound to; the length separates the parts. */
static void
ngx_tg_ask_bind(tg_sha256_t *sha, tg_str_t part)
{
    uint64_t len;

    len = part.len;
    tg_sha256_update(sha, tg_str((const char *) &len, sizeof(len)));
    tg_sha256_update(sha, part);
}

/* Adds the client: its user id, its user's name over HTTP, or its address. */
static void
ngx_tg_ask_bind_client(tg_sha256_t *sha, ngx_tg_session_base_t *base)
{
    ngx_tg_client_t client;

    client = ngx_tg_session_base_get_client(base);

    if (client.cred != NULL) {
        ngx_tg_ask_bind(sha, TG_STR("uid"));
        ngx_tg_ask_bind(sha, tg_str((const char *) &client.cred->uid,
                                    sizeof(client.cred->uid)));
    } else if (client.http != NULL && client.http->user.len != 0) {
        ngx_tg_ask_bind(sha, TG_STR("user"));
        ngx_tg_ask_bind(sha, client.http->user);
    } else {
        ngx_tg_ask_bind(sha, TG_STR("address"));
        ngx_tg_ask_bind(sha, ngx_tg_str_from_ngx(&base->connection->addr_text));
    }
}

/*
 * Computes what the state of the call is bound to: server, block, arguments,
 * client, and the text of each `ask`. NGX_OK or NGX_ERROR.
 */
static ngx_int_t
ngx_tg_ask_compute_context(ngx_tg_call_t *call, unsigned char *digest)
{
    const ngx_tg_ask_t *ask;
    const ngx_array_t *asks;
    tg_buf_t arguments;
    tg_sha256_t sha;
    ngx_uint_t i;
    char kind;

    tg_buf_init(&arguments, tg_alloc_libc());
    tg_json_write_compact(&arguments, call->request->arguments);

    if (tg_buf_has_failed(&arguments)) {
        tg_buf_deinit(&arguments);
        return NGX_ERROR;
    }

    kind = (char) call->request->reply.kind;
    tg_sha256_init(&sha);
    ngx_tg_ask_bind(&sha, TG_STR("ask"));
    ngx_tg_ask_bind(&sha, call->base->conf->info.name);
    ngx_tg_ask_bind(&sha, tg_str(&kind, 1));
    ngx_tg_ask_bind(&sha, call->entry->name);
    ngx_tg_ask_bind(&sha, call->request->reply.subject);
    ngx_tg_ask_bind(&sha, tg_buf_view(&arguments));
    ngx_tg_ask_bind_client(&sha, call->base);
    tg_buf_deinit(&arguments);
    asks = call->tool->asks;
    ask = asks->elts;

    for (i = 0; i < asks->nelts; i++) {
        ngx_tg_ask_bind(&sha,
                        tg_str((const char *) ask[i].digest, TG_SHA256_SIZE));
    }

    tg_sha256_final(&sha, digest);

    return NGX_OK;
}

/* Appends the state of the call: rounds so far, and the answers so far. */
static void
ngx_tg_asking_write_state(const ngx_tg_asking_t *asking, tg_buf_t *json)
{
    const ngx_tg_answer_t *answer;
    ngx_uint_t i;

    tg_buf_append_char(json, '{');
    tg_json_add_uint(json, "round", (uint64_t) asking->round + 1);
    tg_json_begin_member(json, "answers");
    tg_buf_append_char(json, '{');

    for (i = 0; i < asking->n; i++) {
        answer = &asking->answers[i];

        if (answer->action != NGX_TG_ACTION_NONE) {
            tg_json_begin_raw_member(json, asking->asks[i].name);
            tg_buf_append_char(json, '{');
            tg_json_add_string(json, "action",
                               ngx_tg_action_get_name(answer->action));
            tg_json_add_compact(json, "content", answer->content);
            tg_buf_append_char(json, '}');
        }
    }

    tg_buf_append_cstr(json, "}}");
}

/* Reads the answers of a state, which is this server's own. */
static ngx_int_t
ngx_tg_asking_read_state(ngx_tg_asking_t *asking, tg_str_t state)
{
    tg_str_t answers, raw;
    ngx_uint_t i;

    if (!tg_json_has_member(state, TG_STR("round"), TG_JSON_NUMBER, &raw)
        || tg_json_parse_int64(raw, &asking->round) != TG_OK
        || !tg_json_has_member(state, TG_STR("answers"), TG_JSON_OBJECT,
                               &answers))
    {
        return NGX_ERROR;
    }

    for (i = 0; i < asking->n; i++) {
        if (tg_json_has_member(answers, asking->asks[i].name, TG_JSON_OBJECT,
                               &raw)
            && ngx_tg_answer_restore(asking->call, raw, &asking->answers[i])
                   != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Opens the request's state, if it has one. Returns NULL or the error. */
static const char *
ngx_tg_asking_open_state(ngx_tg_asking_t *asking)
{
    tg_buf_t state;
    const char *why;
    tg_str_t raw;
    int rc;

    raw = asking->call->request->request_state;

    if (raw.data == NULL) {
        return NULL;
    }

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return "params.requestState must be a string.";
    }

    tg_buf_init(&state, tg_alloc_libc());
    rc = tg_seal_open(asking->keys,
                      tg_str((const char *) asking->context,
                             sizeof(asking->context)),
                      ngx_tg_ask_now_ms(), tg_json_string_body(raw), &state);
    why = rc == TG_END ? "params.requestState has expired; call without it."
          : rc != TG_OK
                  || ngx_tg_asking_read_state(asking, tg_buf_view(&state))
                         != NGX_OK
              ? "params.requestState is not of this call: it was changed, or "
                "made for other arguments, another user, or another version of "
                "the config; call without it."
              : NULL;
    tg_buf_deinit(&state);

    return why;
}

/* --- end of a round --- */

/* Ends the call with a JSON-RPC error. data is raw or absent. */
static void
ngx_tg_asking_end_error(ngx_tg_asking_t *asking, int64_t code, tg_str_t text,
                        tg_str_t data)
{
    tg_outcome_t outcome;

    asking->call->rule = NGX_TG_RULE_ASK;
    outcome = tg_outcome_make_failure_str(TG_FAILURE_ARGUMENTS, text);
    outcome.has_code = 1;
    outcome.code = code;
    outcome.data = data;
    ngx_tg_call_end(asking->call, &outcome);
}

static void
ngx_tg_asking_end_invalid(ngx_tg_asking_t *asking, const char *why)
{
    ngx_tg_asking_end_error(asking, TG_RPC_INVALID_PARAMS,
                            tg_str_from_cstr(why), TG_STR_NONE);
}

/* Ends a call that its user did not allow, or whose client cannot be asked. */
static void
ngx_tg_asking_end_refused(ngx_tg_asking_t *asking)
{
    char room[512];
    tg_buf_t text;
    const char *why;

    why = asking->refused_by != NGX_TG_ACTION_NONE
              ? asking->refused_by == NGX_TG_ACTION_DECLINE ? "its user said no"
                                                            : "nobody answered"
              : "its user must be asked first, which this client does not "
                "support";
    text = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_append_str(&text, asking->call->entry->name);
    tg_buf_printf(&text, " was not done: %s (ask \"%.*s\").", why,
                  (int) asking->refused->name.len, asking->refused->name.data);
    asking->call->rule = NGX_TG_RULE_ASK;

    ngx_tg_call_end_with_failure(asking->call, TG_FAILURE_PROGRAM,
                                 tg_buf_has_failed(&text)
                                     ? TG_STR("The call was not done: its user "
                                              "must be asked first.")
                                     : tg_buf_view(&text));
}

/* Ends a modern call whose client does not declare what is needed. */
static void
ngx_tg_asking_end_incapable(ngx_tg_asking_t *asking)
{
    char room[256];
    tg_buf_t data;

    data = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_append_char(&data, '{');
    tg_json_begin_member(&data, "requiredCapabilities");
    tg_client_caps_write_json(&data, asking->missing_caps);
    tg_buf_append_char(&data, '}');
    ngx_tg_asking_end_error(asking, TG_RPC_MISSING_CAPABILITY,
                            TG_STR("The call must ask its user first, which "
                                   "the client does not support."),
                            tg_buf_view(&data));
}

static int
ngx_tg_asking_seal(ngx_tg_asking_t *asking, uint64_t expires_ms,
                   tg_buf_t *sealed)
{
    tg_buf_t state;
    int rc;

    tg_buf_init(&state, tg_alloc_libc());
    ngx_tg_asking_write_state(asking, &state);
    rc = tg_buf_has_failed(&state)
             ? TG_NOMEM
             : tg_seal_write(asking->keys,
                             tg_str((const char *) asking->context,
                                    sizeof(asking->context)),
                             expires_ms, tg_buf_view(&state), sealed);
    tg_buf_deinit(&state);

    return rc;
}

/* Has the peer ask a legacy client. */
static void
ngx_tg_asking_ask_legacy(ngx_tg_asking_t *asking, uint64_t deadline_ms)
{
    ngx_tg_session_base_t *base;
    ngx_tg_call_t *call;
    tg_buf_t state;
    int rc;

    call = asking->call;
    base = call->base;
    tg_buf_init(&state, tg_alloc_libc());
    tg_buf_append_char(&state, '"');
    rc = ngx_tg_asking_seal(asking, deadline_ms + NGX_TG_ASK_GRACE, &state);
    tg_buf_append_char(&state, '"');

    if (rc == TG_OK && !tg_buf_has_failed(&state)) {
        rc = tg_peer_ask(&base->peer, call->request,
                         tg_buf_view(&asking->inputs), tg_buf_view(&state),
                         deadline_ms);
    }

    tg_buf_deinit(&state);
    call->rule = NGX_TG_RULE_ASK;

    if (rc == TG_OK) {
        /* The peer serves the request again. */
        call->priv->is_refused = 1;
        ngx_tg_session_base_wake(base);
        ngx_tg_call_end(call, NULL);

    } else if (rc == TG_LIMIT) {
        ngx_tg_call_fail(call, TG_FAILURE_BUSY,
                         "Too many calls wait for an answer of this client; "
                         "answer one of them first.");
    } else {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    }
}

static void
ngx_tg_asking_ask_modern(ngx_tg_asking_t *asking, uint64_t expires_ms)
{
    tg_outcome_t outcome;
    tg_buf_t result;
    int rc;

    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_append_char(&result, '{');
    tg_json_add_cstr(&result, "resultType", "input_required");
    tg_json_add_raw(&result, "inputRequests", tg_buf_view(&asking->inputs));
    tg_json_begin_member(&result, "requestState");
    tg_buf_append_char(&result, '"');
    rc = ngx_tg_asking_seal(asking, expires_ms, &result);
    tg_buf_append_cstr(&result, "\"}");
    asking->call->rule = NGX_TG_RULE_ASK;

    if (rc != TG_OK || tg_buf_has_failed(&result)) {
        ngx_tg_call_fail(asking->call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    } else {
        outcome = tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(&result));
        ngx_tg_call_end(asking->call, &outcome);
    }

    tg_buf_deinit(&result);
}

/* Sends the questions that were collected. */
static void
ngx_tg_asking_send(ngx_tg_asking_t *asking)
{
    const ngx_tg_call_t *call;
    uint64_t until;

    call = asking->call;
    until = ngx_tg_ask_now_ms()
            + (uint64_t) (call->tool->ask_timeout != 0 ? call->tool->ask_timeout
                                                       : NGX_TG_ASK_TIMEOUT);
    tg_buf_append_char(&asking->inputs, '}');

    if (asking->round >= NGX_TG_ASK_ROUNDS_MAX) {
        ngx_tg_asking_end_invalid(asking,
                                  "The answers do not fit what was asked.");
    } else if (tg_buf_has_failed(&asking->inputs)) {
        ngx_tg_call_fail(asking->call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    } else if (call->request->reply.is_modern) {
        ngx_tg_asking_ask_modern(asking, until);
    } else {
        ngx_tg_asking_ask_legacy(asking, until);
    }
}

/* --- the questions of a round --- */

/* Returns the capabilities of the client that this request may use. */
static unsigned
ngx_tg_asking_get_caps(const ngx_tg_call_t *call)
{
    const tg_request_t *request;
    tg_str_t client_caps;

    request = call->request;

    if (request->reply.is_silent || request->text.data == NULL) {
        return 0;
    }

    if (!request->reply.is_modern) {
        return request->reply.batch == NULL ? call->base->peer.client_caps : 0;
    }

    return tg_json_has_member(request->meta,
                              TG_STR(
                                  "io.modelcontextprotocol/clientCapabilities"),
                              TG_JSON_OBJECT, &client_caps)
               ? tg_client_caps_parse(client_caps)
               : 0;
}

/*
 * Takes the client's response to an ask. NGX_OK; NGX_DECLINED: it is missing or
 * does not fit; NGX_ERROR: it is invalid or there is no memory.
 */
static ngx_int_t
ngx_tg_asking_take_response(ngx_tg_asking_t *asking, ngx_uint_t i)
{
    tg_str_t raw;

    if (asking->call->request->input_responses.data == NULL
        || tg_json_get_member(asking->call->request->input_responses,
                              asking->asks[i].name, &raw)
               != TG_OK)
    {
        return NGX_DECLINED;
    }

    return ngx_tg_answer_parse(asking->call, &asking->asks[i], raw,
                               &asking->answers[i]);
}

/* Handles an ask without an answer. NGX_DONE: no further one can be asked. */
static ngx_int_t
ngx_tg_asking_serve_open(ngx_tg_asking_t *asking, ngx_uint_t i)
{
    const ngx_tg_ask_t *ask;
    ngx_str_t text;
    ngx_int_t rc;

    ask = &asking->asks[i];

    /* It may need the answers that are still missing. */
    if (asking->inputs.len > 1 && ask->is_dependent) {
        return NGX_DONE;
    }

    if (ask->condition != NULL) {
        if (ngx_tg_call_eval_value(asking->call, ask->condition, &text)
            != NGX_OK) {
            return NGX_ERROR;
        }

        if (text.len == 0 || (text.len == 1 && text.data[0] == '0')) {
            return NGX_OK;
        }
    }

    rc = ngx_tg_asking_take_response(asking, i);

    if (rc != NGX_DECLINED) {
        return rc;
    }

    if (!ngx_tg_ask_is_supported(ask, asking->client_caps)) {
        if (!ask->runs_anyway) {
            asking->missing_caps |= ngx_tg_ask_get_caps(ask);
            asking->refused = ask;
        }

        return NGX_OK;
    }

    return ngx_tg_ask_write_request(asking->call, ask, &asking->inputs);
}

/* Serves all asks in order. NGX_OK or NGX_ERROR. */
static ngx_int_t
ngx_tg_asking_serve(ngx_tg_asking_t *asking)
{
    const ngx_tg_answer_t *answer;
    ngx_uint_t i;
    ngx_int_t rc;

    for (i = 0; i < asking->n; i++) {
        answer = &asking->answers[i];

        if (answer->action == NGX_TG_ACTION_NONE) {
            rc = ngx_tg_asking_serve_open(asking, i);

            if (rc != NGX_OK) {
                return rc == NGX_DONE ? NGX_OK : NGX_ERROR;
            }
        }

        if (answer->action > NGX_TG_ACTION_ACCEPT
            && !asking->asks[i].runs_anyway) {
            asking->refused = &asking->asks[i];
            asking->refused_by = answer->action;
            return NGX_OK;
        }
    }

    return NGX_OK;
}

/* Ends the round. Returns 1 if nothing is left to ask. */
static ngx_uint_t
ngx_tg_asking_finish(ngx_tg_asking_t *asking)
{
    tg_request_t *request;

    request = asking->call->request;

    if (asking->refused != NULL) {
        if (asking->refused_by == NGX_TG_ACTION_NONE
            && request->reply.is_modern) {
            ngx_tg_asking_end_incapable(asking);
        } else {
            ngx_tg_asking_end_refused(asking);
        }

        return 0;
    }

    if (asking->inputs.len > 1) {
        ngx_tg_asking_send(asking);
        return 0;
    }

    /* They are not for the handler. */
    request->input_responses = TG_STR_NONE;
    request->request_state = TG_STR_NONE;

    return 1;
}

ngx_uint_t
ngx_tg_call_ask(ngx_tg_call_t *call)
{
    ngx_tg_asking_t asking;
    ngx_uint_t is_done;
    const char *why;

    if (call->tool->asks == NULL) {
        return 1;
    }

    ngx_memzero(&asking, sizeof(ngx_tg_asking_t));
    asking.call = call;
    asking.asks = call->tool->asks->elts;
    asking.n = call->tool->asks->nelts;
    asking.keys = ngx_tg_state_key_get(call->base->conf);
    asking.client_caps = ngx_tg_asking_get_caps(call);
    asking.answers = ngx_pcalloc(call->pool,
                                 asking.n * sizeof(ngx_tg_answer_t));

    if (asking.keys == NULL || asking.answers == NULL
        || ngx_tg_ask_compute_context(call, asking.context) != NGX_OK)
    {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
        return 0;
    }

    call->asks = call->tool->asks;
    call->answers = asking.answers;
    why = ngx_tg_asking_open_state(&asking);

    if (why != NULL) {
        ngx_tg_asking_end_invalid(&asking, why);
        return 0;
    }

    tg_buf_init(&asking.inputs, tg_alloc_libc());
    tg_buf_append_char(&asking.inputs, '{');

    if (ngx_tg_asking_serve(&asking) == NGX_OK) {
        is_done = ngx_tg_asking_finish(&asking);
    } else {
        is_done = 0;
        ngx_tg_asking_end_invalid(&asking,
                                  "params.inputResponses has an answer that is "
                                  "not an object, or an answer or a value of "
                                  "\"ask\" is not valid.");
    }

    tg_buf_deinit(&asking.inputs);

    return is_done;
}
