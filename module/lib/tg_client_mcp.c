/* Requests for prompts and resources, and subscriptions to resources. */
#include "lib/tg_client.h"

#include "base/tg_json.h"
#include "base/tg_list.h"
#include "base/tg_utf8.h"

#include <stdlib.h>

#define TG_CLIENT_SUBSCRIBE_METHOD "resources/subscribe"

/* --- requests of the program's threads --- */

/* Sends a request, and waits unless the spec has a callback. */
static int
tg_client_request_send(const toolgate_client_t *client,
                       const tg_client_request_spec_t *spec, char **result,
                       toolgate_call_t *call)
{
    return spec->on_response != NULL
               ? tg_client_request_begin(client, spec, call)
               : tg_client_request_wait(client, spec, result);
}

static int
tg_client_list_all(const toolgate_client_t *client, const char *method,
                   tg_client_request_spec_t *spec, char **result,
                   toolgate_call_t *call)
{
    int kind;

    for (kind = 0; kind < TG_MCP_KINDS; kind++) {
        if (method != NULL && strcmp(method, tg_mcp_kinds[kind].method) == 0) {
            spec->type = TG_CLIENT_REQUEST_LIST;
            spec->kind = (tg_mcp_kind_t) kind;
            spec->name = method;
            return tg_client_request_send(client, spec, result, call);
        }
    }

    return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                            "\"%s\" lists nothing; the methods are %s, %s, %s "
                            "and %s",
                            method != NULL ? method : "",
                            tg_mcp_kinds[TG_MCP_TOOLS].method,
                            tg_mcp_kinds[TG_MCP_PROMPTS].method,
                            tg_mcp_kinds[TG_MCP_RESOURCES].method,
                            tg_mcp_kinds[TG_MCP_TEMPLATES].method);
}

/* Sends a request with the params {KEY:VALUE,"arguments":ARGUMENTS}. */
static int
tg_client_request_item(const toolgate_client_t *client, const char *key,
                       const char *value, const char *arguments,
                       tg_client_request_spec_t *spec, char **result,
                       toolgate_call_t *call)
{
    const char *why;
    tg_buf_t params;
    int rc;

    if (value == NULL || value[0] == '\0'
        || !tg_utf8_is_valid(tg_str_from_cstr(value)))
    {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "a %s must be UTF-8 and not empty", key);
    }

    if (arguments != NULL
        && tg_json_validate(tg_str_from_cstr(arguments), &why) != TG_OK)
    {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "arguments are no JSON: %s", why);
    }

    if (arguments != NULL && arguments[strspn(arguments, " \t\r\n")] != '{') {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "arguments are a JSON object");
    }

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, key, tg_str_from_cstr(value));

    if (arguments != NULL) {
        tg_json_add_raw(&params, "arguments", tg_str_from_cstr(arguments));
    }

    tg_buf_append(&params, "}", sizeof("}"));
    spec->type = TG_CLIENT_REQUEST_METHOD;
    spec->params = params.data;
    spec->is_read_only = 1;
    rc = tg_buf_has_failed(&params)
             ? tg_lib_set_nomem_error()
             : tg_client_request_send(client, spec, result, call);
    tg_buf_deinit(&params);

    return rc;
}

/* The callback of the program is required if the request is not waited for. */
static int
tg_client_check_callback(toolgate_answered_pt answered)
{
    return answered != NULL
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "a callback for the response is required");
}

int
toolgate_client_list_all(toolgate_client_t *client, const char *method,
                         int timeout, char **result)
{
    tg_client_request_spec_t spec = { .timeout = timeout };

    return tg_client_list_all(client, method, &spec, result, NULL);
}

int
toolgate_client_begin_list_all(toolgate_client_t *client, const char *method,
                               int timeout, toolgate_answered_pt answered,
                               void *data, toolgate_call_t *call)
{
    tg_client_request_spec_t spec = {
        .timeout = timeout,
        .on_response = answered,
        .data = data,
    };
    int rc;

    rc = tg_client_check_callback(answered);

    return rc == 0 ? tg_client_list_all(client, method, &spec, NULL, call) : rc;
}

int
toolgate_client_prompt(toolgate_client_t *client, const char *name,
                       const char *arguments, int timeout, char **result)
{
    tg_client_request_spec_t spec = {
        .name = "prompts/get",
        .timeout = timeout,
    };

    return tg_client_request_item(client, "name", name, arguments, &spec,
                                  result, NULL);
}

int
toolgate_client_begin_prompt(toolgate_client_t *client, const char *name,
                             const char *arguments, int timeout,
                             toolgate_answered_pt answered, void *data,
                             toolgate_call_t *call)
{
    tg_client_request_spec_t spec = {
        .name = "prompts/get",
        .timeout = timeout,
        .on_response = answered,
        .data = data,
    };
    int rc;

    rc = tg_client_check_callback(answered);

    return rc == 0 ? tg_client_request_item(client, "name", name, arguments,
                                            &spec, NULL, call)
                   : rc;
}

/* Sends a request about a resource, and waits for the response. */
static int
tg_client_resource_wait(const toolgate_client_t *client, const char *method,
                        tg_client_subscription_type_t subscription,
                        const char *uri, int timeout, char **result)
{
    tg_client_request_spec_t spec = {
        .name = method,
        .timeout = timeout,
        .subscription = subscription,
    };

    return tg_client_request_item(client, "uri", uri, NULL, &spec, result,
                                  NULL);
}

/* Sends a request about a resource; answered receives the response. */
static int
tg_client_resource_begin(const toolgate_client_t *client, const char *method,
                         tg_client_subscription_type_t subscription,
                         const char *uri, int timeout,
                         toolgate_answered_pt answered, void *data,
                         toolgate_call_t *call)
{
    tg_client_request_spec_t spec = {
        .name = method,
        .timeout = timeout,
        .on_response = answered,
        .data = data,
        .subscription = subscription,
    };
    int rc;

    rc = tg_client_check_callback(answered);

    return rc == 0 ? tg_client_request_item(client, "uri", uri, NULL, &spec,
                                            NULL, call)
                   : rc;
}

int
toolgate_client_read(toolgate_client_t *client, const char *uri, int timeout,
                     char **result)
{
    return tg_client_resource_wait(client, "resources/read",
                                   TG_CLIENT_NO_SUBSCRIPTION, uri, timeout,
                                   result);
}

int
toolgate_client_begin_read(toolgate_client_t *client, const char *uri,
                           int timeout, toolgate_answered_pt answered,
                           void *data, toolgate_call_t *call)
{
    return tg_client_resource_begin(client, "resources/read",
                                    TG_CLIENT_NO_SUBSCRIPTION, uri, timeout,
                                    answered, data, call);
}

/* Only with a callback does the client initialize as an MCP client. */
static int
tg_client_check_updates(const toolgate_client_t *client)
{
    int has_callback;

    tg_lib_lock();
    has_callback = client->conf.updated != NULL
                   || client->conf.notified != NULL;
    tg_lib_unlock();

    return has_callback
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_STATE,
                                  "nothing would receive the changes; call "
                                  "toolgate_client_on_update() before "
                                  "toolgate_client_open()");
}

int
toolgate_client_subscribe(toolgate_client_t *client, const char *uri,
                          int timeout)
{
    int rc;

    rc = tg_client_check_updates(client);

    return rc == 0 ? tg_client_resource_wait(client, TG_CLIENT_SUBSCRIBE_METHOD,
                                             TG_CLIENT_SUBSCRIBE, uri, timeout,
                                             NULL)
                   : rc;
}

int
toolgate_client_begin_subscribe(toolgate_client_t *client, const char *uri,
                                int timeout, toolgate_answered_pt answered,
                                void *data, toolgate_call_t *call)
{
    int rc;

    rc = tg_client_check_updates(client);

    return rc == 0
               ? tg_client_resource_begin(client, TG_CLIENT_SUBSCRIBE_METHOD,
                                          TG_CLIENT_SUBSCRIBE, uri, timeout,
                                          answered, data, call)
               : rc;
}

int
toolgate_client_unsubscribe(toolgate_client_t *client, const char *uri,
                            int timeout)
{
    return tg_client_resource_wait(client, "resources/unsubscribe",
                                   TG_CLIENT_UNSUBSCRIBE, uri, timeout, NULL);
}

int
toolgate_client_begin_unsubscribe(toolgate_client_t *client, const char *uri,
                                  int timeout, toolgate_answered_pt answered,
                                  void *data, toolgate_call_t *call)
{
    return tg_client_resource_begin(client, "resources/unsubscribe",
                                    TG_CLIENT_UNSUBSCRIBE, uri, timeout,
                                    answered, data, call);
}

/* --- subscriptions, in the loop's thread --- */

static tg_client_subscription_t *
tg_client_conn_find_subscription(const tg_client_conn_t *conn, tg_str_t params)
{
    tg_client_subscription_t *subscription;

    for (subscription = conn->first_subscription;
         subscription != NULL
         && !tg_str_eq(tg_str(subscription->params, subscription->len), params);
         subscription = subscription->next)
    { /* void */
    }

    return subscription;
}

int
tg_client_conn_add_subscription(tg_client_conn_t *conn, tg_str_t params)
{
    tg_client_subscription_t *subscription;

    if (tg_client_conn_find_subscription(conn, params) != NULL) {
        return 0;
    }

    if (conn->nsubscriptions == TG_CLIENT_SUBSCRIPTIONS_MAX) {
        return tg_lib_set_error(TOOLGATE_ERR_BUSY,
                                "a client can subscribe to at most %d "
                                "resources",
                                TG_CLIENT_SUBSCRIPTIONS_MAX);
    }

    subscription = calloc(1, sizeof(*subscription) + params.len + 1);

    if (subscription == NULL) {
        return tg_lib_set_nomem_error();
    }

    subscription->len = params.len;
    memcpy(subscription->params, params.data, params.len);
    TG_LIST_INSERT(conn->first_subscription, conn->last_subscription,
                   conn->last_subscription, subscription);
    conn->nsubscriptions++;

    return 0;
}

void
tg_client_conn_remove_subscription(tg_client_conn_t *conn, tg_str_t params)
{
    tg_client_subscription_t *subscription;

    subscription = tg_client_conn_find_subscription(conn, params);

    if (subscription != NULL) {
        TG_LIST_REMOVE(conn->first_subscription, conn->last_subscription,
                       subscription);
        conn->nsubscriptions--;
        free(subscription);
    }
}

void
tg_client_conn_free_subscriptions(tg_client_conn_t *conn)
{
    tg_client_subscription_t *subscription, *next;

    for (subscription = conn->first_subscription; subscription != NULL;
         subscription = next)
    {
        next = subscription->next;
        free(subscription);
    }
}

void
tg_client_conn_report_update(tg_client_conn_t *conn, tg_str_t params)
{
    tg_str_t uri;
    tg_buf_t text;

    if (conn->conf.updated == NULL || params.data == NULL
        || tg_json_type(params) != TG_JSON_OBJECT
        || !tg_json_has_member(params, TG_STR("uri"), TG_JSON_STRING, &uri))
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, tg_json_string_body(uri));
    tg_buf_append_char(&text, '\0');

    /* Without memory the report is lost, as other notifications are. */
    if (!tg_buf_has_failed(&text)) {
        conn->runtime.ncallbacks++;
        conn->conf.updated(text.data, conn->conf.updated_data);
        conn->runtime.ncallbacks--;
    }

    tg_buf_deinit(&text);
}

/* A resource may have vanished: the program reads it and gets the error. */
static void
tg_client_conn_on_renewed(toolgate_call_t call, int code, const char *result,
                          size_t len, void *data)
{
}

/* Returns a copy of a subscription as a request of the loop, or NULL. */
static tg_client_request_t *
tg_client_subscription_make_request(
    const tg_client_subscription_t *subscription)
{
    const tg_client_request_spec_t spec = {
        .type = TG_CLIENT_REQUEST_METHOD,
        .on_response = tg_client_conn_on_renewed,
    };
    tg_client_request_t *request;
    tg_buf_t text;
    size_t ends[3];

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_cstr(&text, TG_CLIENT_SUBSCRIBE_METHOD);
    ends[0] = text.len;
    tg_buf_append(&text, subscription->params, subscription->len);
    ends[1] = ends[2] = text.len;
    request = tg_client_request_new(&spec, &text, ends);
    tg_buf_deinit(&text);

    return request;
}

void
tg_client_conn_renew_subscriptions(tg_client_conn_t *conn)
{
    tg_client_subscription_t *subscription;
    tg_client_request_t *request;

    for (subscription = conn->first_subscription; subscription != NULL;
         subscription = subscription->next)
    {
        request = tg_client_subscription_make_request(subscription);

        /* The next connection tries again. */
        if (request == NULL) {
            tg_uv_client_drop_conn(&conn->client);
            return;
        }

        tg_client_conn_send_request(conn, request);
    }

    for (subscription = conn->first_subscription; subscription != NULL;
         subscription = subscription->next)
    {
        tg_client_conn_report_update(conn, tg_str(subscription->params,
                                                  subscription->len));
    }
}
