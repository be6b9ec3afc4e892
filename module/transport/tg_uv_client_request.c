/* Requests of a client: sending, resending, responses. */
#include "transport/tg_uv_client_request.h"

#include "base/tg_list.h"

static void
tg_uv_request_complete(tg_uv_client_t *client, tg_uv_request_t *request,
                       const tg_response_t *answer)
{
    TG_LIST_REMOVE(client->first, client->last, request);
    request->is_queued = 0;
    request->is_sent = 0;
    client->ops->on_response(client->host, request, answer);
}

void
tg_uv_client_drop_conn_nomem(tg_uv_client_t *client)
{
    client->err = UV_ENOMEM;
    tg_uv_conn_close(&client->conn);
}

void
tg_uv_request_send(tg_uv_client_t *client, tg_uv_request_t *request)
{
    tg_str_t params;
    int rc;

    if (request->is_sent || client->state != TG_UV_CLIENT_OPEN) {
        return;
    }

    params = request->params;

    if (request->list != NULL && request->list->params.len != 0) {
        params = tg_buf_view(&request->list->params);
    }

    if (client->ops->send_request != NULL) {
        rc = client->ops->send_request(client->host, request);
    } else if (request->is_tool_call) {
        rc = tg_caller_call_tool(&client->caller, request->name, params,
                                 request->extra_members, request, &request->id);
    } else {
        rc = tg_caller_send_request(&client->caller, request->name, params,
                                    request, &request->id);
    }

    if (rc == TG_OK) {
        request->is_sent = 1;
    } else if (rc != TG_CLOSED) {
        tg_uv_client_drop_conn_nomem(client);
    }

    /* TG_CLOSED: the next connection sends the request. */
}

static void
tg_uv_request_handle_page(tg_uv_client_t *client, tg_uv_request_t *request,
                          const tg_response_t *answer)
{
    tg_response_t whole;

    if (tg_mcp_list_add_page(request->list, answer, &whole) == TG_AGAIN) {
        request->is_sent = 0;
        tg_uv_request_send(client, request);
        return;
    }

    /* The list may lack an element that is needed: fail it. */
    if (request->list->nleft_out != 0 && whole.kind == TG_RESPONSE_RESULT) {
        tg_mcp_list_reject(request->list, &whole);
    }

    tg_uv_request_complete(client, request, &whole);
}

void
tg_uv_request_handle_response(tg_uv_client_t *client, tg_uv_request_t *request,
                              const tg_response_t *answer)
{
    unsigned tries;
    int is_again;

    tries = client->has_endless_connect ? TG_UV_CLIENT_REQUEST_TRIES_MAX
                                        : TG_UV_CLIENT_TRIES_MAX;
    is_again = answer->kind == TG_RESPONSE_NOT_STARTED
               || (answer->kind == TG_RESPONSE_LOST
                   && (request->list != NULL || request->is_read_only));

    if (is_again && client->state != TG_UV_CLIENT_CLOSING
        && ++request->tries < tries)
    {
        request->is_sent = 0;

        /* The next server process may not know the cursor. */
        if (request->list != NULL) {
            tg_mcp_list_reset(request->list);
        }

    } else if (request->list != NULL && !is_again) {
        tg_uv_request_handle_page(client, request, answer);

    } else {
        tg_uv_request_complete(client, request, answer);
    }
}

/*
 * Returns the first unsent request with a number up to seq, or NULL. Requests
 * that callbacks add have higher numbers.
 */
static tg_uv_request_t *
tg_uv_client_find_unsent(const tg_uv_client_t *client, uint64_t seq)
{
    tg_uv_request_t *request;

    request = client->first;

    while (request != NULL && request->is_sent) {
        request = request->next;
    }

    return request != NULL && request->seq <= seq ? request : NULL;
}

void
tg_uv_client_fail_unsent(tg_uv_client_t *client)
{
    tg_uv_request_t *request;
    tg_response_t answer;
    uint64_t seq;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_RESPONSE_NOT_STARTED;
    seq = client->seq;

    while ((request = tg_uv_client_find_unsent(client, seq)) != NULL) {
        tg_uv_request_complete(client, request, &answer);
    }

    if (client->state == TG_UV_CLIENT_WAITING && !client->is_persistent) {
        client->state = TG_UV_CLIENT_IDLE;
        (void) uv_timer_stop(&client->timer);
    }
}

/* Without an open connection the server cannot be notified. */
void
tg_uv_client_cancel_request(tg_uv_client_t *client, tg_uv_request_t *request)
{
    if (!request->is_queued) {
        return;
    }

    TG_LIST_REMOVE(client->first, client->last, request);
    request->is_queued = 0;

    if (request->is_sent && client->state == TG_UV_CLIENT_OPEN) {
        (void) tg_caller_cancel_request(&client->caller, request->id,
                                        request->is_tool_call
                                            || request->is_read_only
                                            || request->list != NULL);

    } else if (request->is_sent) {
        (void) tg_caller_forget_request(&client->caller, request->id);
    }

    request->is_sent = 0;
}
