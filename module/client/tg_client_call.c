/*
 * Requests: they wait in a queue, are sent, and leave it with their answer.
 */
#include "client/tg_client_impl.h"

#include "base/tg_list.h"

/* Room for the envelope, whatever the id. */
#define TG_CLIENT_ENVELOPE 256

tg_client_call_t *
tg_client_call_new(tg_client_t *client, tg_client_kind_t kind,
                   tg_client_answer_pt answer, void *ctx)
{
    tg_client_call_t *call;

    call = tg_calloc(tg_alloc_libc(), sizeof(*call));

    if (call == NULL) {
        return NULL;
    }

    call->client = client;
    call->kind = kind;
    call->answer = answer;
    call->ctx = ctx;
    tg_buf_init(&call->name, tg_alloc_libc());
    tg_buf_init(&call->params, tg_alloc_libc());
    tg_mcp_list_init(&call->list, tg_alloc_libc(), TG_CLIENT_PAGES_MAX);

    TG_LIST_INSERT(client->first, client->last, client->last, call);

    return call;
}

void
tg_client_call_free(tg_client_call_t *call)
{
    tg_client_t *client;

    client = call->client;

    TG_LIST_REMOVE(client->first, client->last, call);
    tg_buf_deinit(&call->name);
    tg_buf_deinit(&call->params);
    tg_mcp_list_deinit(&call->list);
    tg_free(tg_alloc_libc(), call);
}

void
tg_client_call_end(tg_client_call_t *call, const tg_answer_t *answer)
{
    tg_client_answer_pt handler;
    void *ctx;

    handler = call->answer;
    ctx = call->ctx;
    tg_client_call_free(call);
    handler(ctx, answer);
}

void
tg_client_call_send(tg_client_call_t *call)
{
    tg_client_t *client;
    tg_buf_t *params;
    tg_str_t view;
    int rc;

    client = call->client;

    if (client->state != TG_CLIENT_OPEN || call->is_sent) {
        return;
    }

    params = call->kind == TG_CLIENT_LIST ? &call->list.params : &call->params;
    view = params->len != 0 ? tg_buf_view(params) : TG_STR_NONE;

    if (call->kind == TG_CLIENT_TOOL) {
        rc = tg_caller_call_tool(&client->caller, tg_buf_view(&call->name),
                                 view, TG_STR_NONE, call, &call->id);
    } else {
        rc = tg_caller_request(&client->caller, tg_buf_view(&call->name), view,
                               call, &call->id);
    }

    /* After a goodbye, the next connection takes it. */
    if (rc == TG_CLOSED) {
        return;
    }

    if (rc != TG_OK) {
        client->err = UV_ENOMEM;
        tg_uv_conn_close(&client->conn);
        return;
    }

    call->is_sent = 1;
    tg_uv_conn_flush(&client->conn);
}

int
tg_client_call_start(tg_client_call_t *call, tg_client_call_t **out)
{
    tg_client_t *client;
    int rc;

    client = call->client;
    rc = TG_OK;

    if (client->state == TG_CLIENT_CLOSING) {
        rc = TG_CLOSED;
    } else if (tg_buf_failed(&call->name) || tg_buf_failed(&call->params)) {
        rc = TG_NOMEM;
    } else if (call->name.len + call->params.len
               > TG_CLIENT_FRAME_MAX - TG_CLIENT_ENVELOPE)
    {
        rc = TG_LIMIT;
    }

    if (rc != TG_OK) {
        tg_client_call_free(call);
        return rc;
    }

    if (out != NULL) {
        *out = call;
    }

    tg_client_call_send(call);
    tg_client_connect(client);

    return TG_OK;
}

int
tg_client_request(tg_client_t *client, tg_str_t method, tg_str_t params,
                  tg_client_answer_pt answer, void *ctx, tg_client_call_t **out)
{
    tg_client_call_t *call;

    call = tg_client_call_new(client, TG_CLIENT_REQUEST, answer, ctx);

    if (call == NULL) {
        return TG_NOMEM;
    }

    tg_buf_str(&call->name, method);
    tg_buf_str(&call->params, params);

    return tg_client_call_start(call, out);
}

int
tg_client_call_tool(tg_client_t *client, tg_str_t name, tg_str_t arguments,
                    tg_client_answer_pt answer, void *ctx,
                    tg_client_call_t **out)
{
    tg_client_call_t *call;

    call = tg_client_call_new(client, TG_CLIENT_TOOL, answer, ctx);

    if (call == NULL) {
        return TG_NOMEM;
    }

    tg_json_put_escaped(&call->name, name);
    tg_buf_str(&call->params, arguments);

    return tg_client_call_start(call, out);
}

void
tg_client_cancel(tg_client_t *client, tg_client_call_t *call)
{
    if (call->is_sent) {
        (void) tg_caller_cancel(&client->caller, call->id,
                                call->kind != TG_CLIENT_REQUEST);
    }

    /* From an answer to a lost connection there is nobody left to tell. */
    if (client->state == TG_CLIENT_OPEN) {
        tg_uv_conn_flush(&client->conn);
    }

    tg_client_call_free(call);
}
