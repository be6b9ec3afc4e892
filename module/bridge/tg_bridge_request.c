/* Requests of the agent that wait for the parent, of every kind. */
#include "bridge/tg_bridge.h"

#include "catalog/tg_tool_result_repair.h"

#include <stdio.h>

/*
 * Returns the request after `request`, or the oldest one for NULL. The peer's
 * calls, whose hosts they are, are sorted from the newest to the oldest.
 */
static tg_bridge_request_t *
tg_bridge_requests_find_next(const tg_bridge_t *bridge,
                             const tg_bridge_request_t *request)
{
    const tg_call_t *call;

    if (request != NULL) {
        call = request->call->prev;
    } else {
        for (call = bridge->peer.calls; call != NULL && call->next != NULL;
             call = call->next)
        { /* void */
        }
    }

    return call != NULL ? call->host : NULL;
}

int
tg_bridge_requests_has_unsent(const tg_bridge_t *bridge, int is_list)
{
    const tg_bridge_request_t *request;
    const tg_call_t *call;

    for (call = bridge->peer.calls; call != NULL; call = call->next) {
        request = call->host;

        if (!request->uv_request.is_sent
            && (!is_list || request->kind == TG_BRIDGE_LIST))
        {
            return 1;
        }
    }

    return 0;
}

void
tg_bridge_request_free(tg_bridge_request_t *request)
{
    request->bridge->request_bytes -= request->size;
    tg_free(tg_alloc_libc(), request);
}

/* Each function answers the agent and frees the request. */

static void
tg_bridge_request_complete(tg_bridge_request_t *request, tg_outcome_t outcome)
{
    tg_call_t *call;

    call = request->call;
    tg_bridge_request_free(request);
    tg_call_respond(call, &outcome);
}

/* Answers with an error of the bridge: JSON-RPC code -32603. */
static void
tg_bridge_request_fail(tg_bridge_request_t *request, const char *text)
{
    tg_bridge_request_complete(
        request, tg_outcome_make_failure(TG_FAILURE_INTERNAL, text));
}

/* Answers server/discover; result is absent if the parent has not answered. */
static void
tg_bridge_request_respond_discover(tg_bridge_request_t *request,
                                   tg_str_t result)
{
    tg_str_t capabilities;
    tg_call_t *call;

    /* A parent may have more than at the handshake, after a reload. */
    if (tg_json_has_member(result, TG_STR("capabilities"), TG_JSON_OBJECT,
                           &capabilities))
    {
        tg_bridge_parent_read_capabilities(request->bridge, capabilities);
    }

    call = request->call;
    tg_bridge_request_free(request);
    tg_call_respond_discover(call, result);
}

void
tg_bridge_requests_on_discover_timeout(tg_bridge_t *bridge)
{
    tg_bridge_request_t *request, *next;

    for (request = tg_bridge_requests_find_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_find_next(bridge, request);

        if (request->kind == TG_BRIDGE_DISCOVER) {
            tg_uv_client_cancel_request(&bridge->parent, &request->uv_request);
            tg_bridge_request_respond_discover(request, TG_STR_NONE);
        }
    }
}

static void
tg_bridge_request_forward_result(tg_bridge_request_t *request, tg_str_t result)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    if (request->kind == TG_BRIDGE_CALL
        && tg_json_type(result) != TG_JSON_OBJECT) {
        tg_bridge_request_fail(request,
                               "The tool's response is not a valid result: "
                               "MCP requires an object with \"content\".");
        return;
    }

    /* Only the form of a result is repaired, not its content. */
    tg_buf_init(&text, tg_alloc_libc());

    if (request->kind == TG_BRIDGE_CALL) {
        (void) tg_tool_result_repair(result, &text);
    } else {
        tg_bridge_forward_complete_result(request, result, &text);
    }

    if (tg_buf_has_failed(&text)) {
        tg_bridge_quit_nomem(request->bridge);

    } else {
        outcome = tg_outcome_make(request->kind == TG_BRIDGE_CALL
                                      ? TG_OUTCOME_RESULT
                                      : TG_OUTCOME_JSON,
                                  text.len != 0 ? tg_buf_view(&text) : result);
        tg_bridge_request_complete(request, outcome);
    }

    tg_buf_deinit(&text);
}

static void
tg_bridge_request_forward_error(tg_bridge_request_t *request,
                                const tg_response_t *answer)
{
    tg_call_t *call;
    tg_str_t empty;

    empty = request->kind == TG_BRIDGE_METHOD
                    && answer->code == TG_RPC_METHOD_NOT_FOUND
                ? tg_bridge_forward_get_empty_result(request)
                : TG_STR_NONE;

    if (empty.data != NULL) {
        tg_bridge_request_complete(request,
                                   tg_outcome_make(TG_OUTCOME_JSON, empty));
        return;
    }

    call = request->call;
    tg_bridge_request_free(request);
    tg_call_respond_error(call, answer->code, answer->message, answer->data);
}

/* Answers with an error text of the bridge, and frees the text. */
static void
tg_bridge_request_fail_with_text(tg_bridge_request_t *request,
                                 tg_failure_t failure, tg_buf_t *text)
{
    tg_outcome_t outcome;

    if (tg_buf_has_failed(text)) {
        tg_bridge_quit_nomem(request->bridge);

    } else {
        outcome = tg_outcome_make_failure(failure, "");
        outcome.value = tg_buf_view(text);
        tg_bridge_request_complete(request, outcome);
    }

    tg_buf_deinit(text);
}

/* Answers an exception (ipc) by a failed result that names its class. */
static void
tg_bridge_request_fail_exception(tg_bridge_request_t *request,
                                 const tg_response_t *answer)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, answer->type);

    if (answer->type.len != 0 && answer->message.len != 0) {
        tg_buf_append_cstr(&text, ": ");
    }

    tg_json_append_unescaped(&text, answer->message);
    tg_bridge_request_fail_with_text(request, TG_FAILURE_PROGRAM, &text);
}

/* Fails a lost call: only the agent may retry it, as it may have run. */
static void
tg_bridge_request_fail_lost(tg_bridge_request_t *request)
{
    tg_bridge_t *bridge;
    tg_buf_t text;

    bridge = request->bridge;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_printf(&text, "The connection to %s (%s) was lost while ",
                  tg_bridge_parent_get_name(bridge), bridge->label);
    tg_json_append_unescaped(&text, request->call_params.name);
    tg_buf_append_cstr(&text, " was running");

    if (bridge->shutdown_reason[0] != '\0') {
        tg_buf_printf(&text, " (its reason: %s)", bridge->shutdown_reason);
    }

    tg_buf_append_cstr(&text,
                       ". It may or may not have been executed; retry it "
                       "only if running it twice is harmless.");
    tg_bridge_request_fail_with_text(
        request,
        bridge->parent.caller.dialect->has_handshake ? TG_FAILURE_LOST
                                                     : TG_FAILURE_INTERNAL,
        &text);
}

static void
tg_bridge_request_fail_unsent(tg_bridge_request_t *request)
{
    const char *why;

    why = request->uv_request.tries < TG_UV_CLIENT_REQUEST_TRIES_MAX
                  && request->bridge->why[0] != '\0'
              ? request->bridge->why
              : "The call could not be delivered: every connection was "
                "closed before the call was accepted. It was not executed; "
                "call again.";
    tg_bridge_request_fail(request, why);
}

void
tg_bridge_request_on_response(void *host, tg_uv_request_t *uv_request,
                              const tg_response_t *answer)
{
    tg_bridge_request_t *request;

    request = (tg_bridge_request_t *) uv_request;

    if (request->kind == TG_BRIDGE_DISCOVER) {
        tg_bridge_request_respond_discover(request,
                                           answer->kind == TG_RESPONSE_RESULT
                                               ? answer->result
                                               : TG_STR_NONE);
        return;
    }

    if (request->kind == TG_BRIDGE_METHOD) {
        tg_bridge_forward_on_response(request, answer);
    }

    switch (answer->kind) {
    case TG_RESPONSE_RESULT:
        tg_bridge_request_forward_result(request, answer->result);
        break;
    case TG_RESPONSE_ERROR:
        if (request->bridge->parent.caller.dialect->is_sequential) {
            tg_bridge_request_fail_exception(request, answer);
        } else {
            tg_bridge_request_forward_error(request, answer);
        }

        break;
    case TG_RESPONSE_NOT_STARTED:
        tg_bridge_request_fail_unsent(request);
        break;
    default:
        tg_bridge_request_fail_lost(request);
    }
}

/* Stores a copy of a call at `at`. */
static void
tg_bridge_request_copy_call(tg_mcp_call_t *call, const tg_request_t *asked,
                            char *at)
{
    call->name = tg_str_copy_to(&at, asked->name);
    call->arguments = tg_str_copy_to(&at, asked->arguments);
    call->meta = tg_str_copy_to(&at, asked->meta);
    call->input_responses = tg_str_copy_to(&at, asked->input_responses);
    call->request_state = tg_str_copy_to(&at, asked->request_state);
}

/* Stores a copy of a method and its params at `at`. */
static void
tg_bridge_request_copy_method(tg_mcp_call_t *call, const tg_request_t *asked,
                              char *at)
{
    static const char *const names[] = { "_meta", "inputResponses",
                                         "requestState", NULL };
    tg_str_t values[3];

    call->name = tg_str_copy_to(&at, asked->name);
    call->method = tg_str(at, tg_json_unescape(at, asked->name));
    at += asked->name.len;
    call->arguments = tg_str_copy_to(&at, asked->arguments);

    if (call->arguments.data != NULL
        && tg_json_get_members(call->arguments, names, values) == TG_OK)
    {
        call->meta = tg_json_type(values[0]) == TG_JSON_OBJECT ? values[0]
                                                               : TG_STR_NONE;
        call->input_responses = values[1];
        call->request_state = values[2];
    }
}

static tg_bridge_request_t *
tg_bridge_request_new(tg_bridge_t *bridge, const tg_request_t *asked,
                      tg_bridge_request_type_t kind)
{
    tg_bridge_request_t *request;
    tg_mcp_call_t *call_params;
    size_t size;
    char *at;

    /* The name of a method is stored twice, as it is and decoded. */
    size = sizeof(*request) + asked->cursor.len + 2 * asked->name.len
           + asked->arguments.len + asked->meta.len + asked->input_responses.len
           + asked->request_state.len;
    request = tg_alloc(tg_alloc_libc(), size);

    if (request == NULL) {
        return NULL;
    }

    memset(request, 0, sizeof(*request));
    request->bridge = bridge;
    request->size = size;
    request->seq = ++bridge->seq;
    request->uv_request.is_tool_call = 1;
    request->kind = kind;
    request->has_progress = asked->progress_token.data != NULL;
    at = request->data;
    call_params = &request->call_params;
    request->cursor = tg_str_copy_to(&at, asked->cursor);

    if (kind == TG_BRIDGE_METHOD || kind == TG_BRIDGE_DISCOVER
        || kind == TG_BRIDGE_LISTEN)
    {
        tg_bridge_request_copy_method(call_params, asked, at);
    } else {
        tg_bridge_request_copy_call(call_params, asked, at);
    }

    call_params->is_modern = asked->reply.is_modern
                             && bridge->parent.caller.dialect->has_handshake;

    return request;
}

/* Starts the grace period, after which waiting requests are failed. */
static void
tg_bridge_wait_for_parent(tg_bridge_t *bridge)
{
    if (bridge->has_list) {
        return;
    }

    if (!tg_bridge_timer_is_active(bridge, TG_BRIDGE_TIMER_GRACE)) {
        tg_bridge_timer_start(bridge, TG_BRIDGE_TIMER_GRACE,
                              bridge->options->grace);
    }

    /* A request connects at once, without waiting for the next attempt. */
    if (bridge->parent.state == TG_UV_CLIENT_WAITING) {
        tg_uv_client_connect(&bridge->parent);
    }
}

static void
tg_bridge_request_fail_too_large(tg_bridge_request_t *request)
{
    char text[160];

    tg_uv_client_cancel_request(&request->bridge->parent, &request->uv_request);

    if (request->kind == TG_BRIDGE_DISCOVER) {
        tg_bridge_request_respond_discover(request, TG_STR_NONE);
        return;
    }

    (void) snprintf(text, sizeof(text),
                    "The arguments are too large for a message to %s: %zu "
                    "bytes; the limit is %zu with the envelope. Send less.",
                    tg_bridge_parent_get_name(request->bridge),
                    request->call_params.arguments.len,
                    request->bridge->parent.caller.max_frame);
    tg_bridge_request_fail(request, text);
}

int
tg_bridge_request_send(void *host, tg_uv_request_t *uv_request)
{
    tg_bridge_request_t *request;
    tg_bridge_t *bridge;
    uint64_t token;
    int rc;

    bridge = host;
    request = (tg_bridge_request_t *) uv_request;
    tg_bridge_update_hello(bridge);

    /* The progress token of the agent may be any value: use a number. */
    token = request->has_progress ? request->seq : 0;
    rc = request->kind == TG_BRIDGE_CALL
             ? tg_mcp_client_call_tool(&bridge->mcp, &request->call_params,
                                       token, uv_request, &uv_request->id)
             : tg_mcp_client_call_method(&bridge->mcp, &request->call_params,
                                         token, uv_request, &uv_request->id);

    if (rc == TG_LIMIT) {
        tg_bridge_request_fail_too_large(request);
        rc = TG_CLOSED;
    }

    return rc;
}

void
tg_bridge_request_accept(tg_bridge_t *bridge, const tg_request_t *asked,
                         tg_bridge_request_type_t kind, uint64_t fetch_number)
{
    tg_bridge_request_t *request;
    tg_outcome_t outcome;

    if (bridge->request_bytes > TG_BRIDGE_ARGUMENTS_MAX) {
        outcome = tg_outcome_make_failure(
            TG_FAILURE_BUSY,
            "The calls in progress hold more than 64 MiB of arguments; call "
            "again when one of them has completed.");
        tg_peer_respond(&bridge->peer, &asked->reply, &outcome);
        return;
    }

    request = tg_bridge_request_new(bridge, asked, kind);

    if (request == NULL) {
        tg_bridge_quit_nomem(bridge);
        return;
    }

    request->fetch_number = fetch_number;
    request->call = tg_peer_defer_request(&bridge->peer, asked);

    if (request->call == NULL) {
        tg_free(tg_alloc_libc(), request);
        return;
    }

    request->call->host = request;
    bridge->request_bytes += request->size;

    if (kind == TG_BRIDGE_LIST || !tg_bridge_parent_is_open(bridge)) {
        tg_bridge_wait_for_parent(bridge);
    }

    if (kind != TG_BRIDGE_LIST && kind != TG_BRIDGE_LISTEN) {
        tg_uv_client_send_request(&bridge->parent, &request->uv_request);
    }
}

void
tg_bridge_request_cancel(tg_bridge_request_t *request)
{
    const tg_bridge_request_t *other;
    tg_bridge_t *bridge;

    bridge = request->bridge;
    other = NULL;

    /*
     * ipc has no cancellation and executes one call at a time: closing the
     * connection cancels the call.
     */
    if (request->uv_request.is_sent
        && bridge->parent.caller.dialect->is_sequential) {
        other = tg_bridge_requests_find_next(bridge, NULL);

        if (other == NULL || other->seq > request->seq) {
            tg_uv_client_drop_conn(&bridge->parent);
        }
    }

    tg_uv_client_cancel_request(&bridge->parent, &request->uv_request);
    tg_bridge_request_free(request);
}

void
tg_bridge_requests_fail_unsent(tg_bridge_t *bridge)
{
    tg_bridge_request_t *request, *next;

    tg_bridge_listens_respond(bridge);

    for (request = tg_bridge_requests_find_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_find_next(bridge, request);

        /* Notify the agent of the next list: it may show no tools now. */
        if (request->kind == TG_BRIDGE_LIST) {
            bridge->sent_list_digest = 0;
            tg_bridge_request_fail(request, bridge->why);
        }
    }

    tg_uv_client_fail_unsent(&bridge->parent);
}

void
tg_bridge_requests_cancel(tg_bridge_t *bridge, const char *why)
{
    tg_bridge_request_t *request, *next;

    for (request = tg_bridge_requests_find_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_find_next(bridge, request);

        tg_uv_client_cancel_request(&bridge->parent, &request->uv_request);
        tg_bridge_request_fail(request, why);
    }
}

void
tg_bridge_requests_respond_lists(tg_bridge_t *bridge,
                                 const tg_response_t *error)
{
    tg_bridge_request_t *request, *next;

    for (request = tg_bridge_requests_find_next(bridge, NULL); request != NULL;
         request = next)
    {
        next = tg_bridge_requests_find_next(bridge, request);

        if (request->kind != TG_BRIDGE_LIST) {
            continue;
        }

        if (error != NULL) {
            tg_bridge_request_forward_error(request, error);

        } else if (request->fetch_number <= bridge->mcp.fetch_number) {
            if (request->cursor.data == NULL) {
                bridge->sent_list_digest = tg_catalog_digest(bridge->tools,
                                                             TG_ENTRY_TOOL);
            }

            /* The response uses the cursor: free it afterwards. */
            tg_call_respond_list(
                request->call, &(tg_list_page_t){ .cursor = request->cursor });
            tg_bridge_request_free(request);
        }
    }
}
