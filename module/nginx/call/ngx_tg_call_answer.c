/* Requests to the client for each type of `ask`, and its responses. */
#include "nginx/call/ngx_tg_call_ask_impl.h"

static const char *const ngx_tg_action_names[] = { "", "accept", "decline",
                                                   "cancel", NULL };

tg_str_t
ngx_tg_action_get_name(ngx_tg_action_t action)
{
    return tg_str_from_cstr(ngx_tg_action_names[action]);
}

static const struct {
    const char *method;
    unsigned client_caps; /* to name to a client that lacks them */
    tg_str_t params;      /* to find out whether a client accepts them */
} ngx_tg_ask_types[] = {
    [NGX_TG_ASK_FORM] = { "elicitation/create", TG_CLIENT_CAP_ELICITATION,
                          TG_STR_INIT("{}") },
    [NGX_TG_ASK_URL] = { "elicitation/create",
                         TG_CLIENT_CAP_ELICITATION
                             | TG_CLIENT_CAP_ELICITATION_URL,
                         TG_STR_INIT("{\"mode\":\"url\"}") },
    [NGX_TG_ASK_ROOTS] = { "roots/list", TG_CLIENT_CAP_ROOTS,
                           TG_STR_INIT("{}") },
    [NGX_TG_ASK_SAMPLING] = { "sampling/createMessage", TG_CLIENT_CAP_SAMPLING,
                              TG_STR_INIT("{}") },
};

unsigned
ngx_tg_ask_get_caps(const ngx_tg_ask_t *ask)
{
    return ngx_tg_ask_types[ask->type].client_caps;
}

ngx_uint_t
ngx_tg_ask_is_supported(const ngx_tg_ask_t *ask, unsigned client_caps)
{
    return (ngx_uint_t) tg_client_caps_allow_request(
        client_caps, tg_str_from_cstr(ngx_tg_ask_types[ask->type].method),
        ngx_tg_ask_types[ask->type].params);
}

/* --- requests --- */

/* Appends a member with a value of the config. NGX_OK or NGX_ERROR. */
static ngx_int_t
ngx_tg_ask_add_value(ngx_tg_call_t *call, tg_buf_t *json, const char *key,
                     ngx_stream_complex_value_t *value)
{
    tg_json_begin_member(json, key);
    tg_buf_append_char(json, '"');

    return ngx_tg_call_append_value(call, json, value, "") == NULL ? NGX_OK
                                                                   : NGX_ERROR;
}

static ngx_int_t
ngx_tg_ask_write_url(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                     tg_buf_t *json)
{
    char token[NGX_TG_TOKEN_LEN + 1];

    tg_json_add_cstr(json, "mode", "url");

    /* The modern era has no such id. */
    if (!call->request->reply.is_modern) {
        if (ngx_tg_token_generate(token) != NGX_OK) {
            return NGX_ERROR;
        }

        tg_json_add_cstr(json, "elicitationId", token);
    }

    return ngx_tg_ask_add_value(call, json, "url", ask->url);
}

static ngx_int_t
ngx_tg_ask_write_sampling(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                          tg_buf_t *json)
{
    ngx_int_t rc;

    tg_json_begin_member(json, "messages");
    tg_buf_append_cstr(json, "[{\"role\":\"user\",\"content\":{"
                             "\"type\":\"text\"");
    rc = ngx_tg_ask_add_value(call, json, "text", ask->message);
    tg_buf_append_cstr(json, "}}]");
    tg_json_add_int(json, "maxTokens", ask->max_tokens);

    return rc;
}

ngx_int_t
ngx_tg_ask_write_request(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                         tg_buf_t *inputs)
{
    ngx_int_t rc;

    tg_json_begin_raw_member(inputs, ask->name);
    tg_buf_append_char(inputs, '{');
    tg_json_add_cstr(inputs, "method", ngx_tg_ask_types[ask->type].method);
    tg_json_begin_member(inputs, "params");
    tg_buf_append_char(inputs, '{');
    rc = NGX_OK;

    switch (ask->type) {
    case NGX_TG_ASK_FORM:
        rc = ngx_tg_ask_add_value(call, inputs, "message", ask->message);
        tg_json_add_raw(inputs, "requestedSchema", ask->schema);
        break;
    case NGX_TG_ASK_URL:
        rc = ngx_tg_ask_add_value(call, inputs, "message", ask->message);

        if (rc == NGX_OK) {
            rc = ngx_tg_ask_write_url(call, ask, inputs);
        }

        break;
    case NGX_TG_ASK_SAMPLING:
        rc = ngx_tg_ask_write_sampling(call, ask, inputs);
        break;
    case NGX_TG_ASK_ROOTS:
        break;
    }

    tg_buf_append_cstr(inputs, "}}");

    return rc;
}

/* --- responses --- */

/* Copies content to the call's pool. NGX_OK or NGX_ERROR. */
static ngx_int_t
ngx_tg_answer_set_content(ngx_tg_call_t *call, ngx_tg_answer_t *answer,
                          tg_str_t content)
{
    char *p;

    p = ngx_pnalloc(call->pool, content.len + 1);

    if (p == NULL) {
        return NGX_ERROR;
    }

    answer->content = tg_str_copy_to(&p, content);

    return NGX_OK;
}

/*
 * Accepts content that was written to json, which must begin with "{" and is
 * freed.
 */
static ngx_int_t
ngx_tg_answer_accept(ngx_tg_call_t *call, ngx_tg_answer_t *answer,
                     tg_buf_t *json)
{
    ngx_int_t rc;

    tg_buf_append_char(json, '}');
    rc = tg_buf_has_failed(json)
             ? NGX_ERROR
             : ngx_tg_answer_set_content(call, answer, tg_buf_view(json));
    tg_buf_deinit(json);

    if (rc == NGX_OK) {
        answer->action = NGX_TG_ACTION_ACCEPT;
    }

    return rc;
}

/* Accepts the members of a valid form that its schema has. */
static ngx_int_t
ngx_tg_answer_parse_form(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                         tg_str_t content, ngx_tg_answer_t *answer)
{
    tg_str_t properties, key, value, ignored;
    char text[TG_NAME_MAX];
    tg_json_cursor_t json;
    tg_buf_t kept;

    if (tg_json_type(content) != TG_JSON_OBJECT
        || ngx_tg_call_validate_answer(call, ask->compiled, content) != TG_OK
        || !tg_json_has_member(ask->schema, TG_STR("properties"),
                               TG_JSON_OBJECT, &properties))
    {
        return NGX_DECLINED;
    }

    tg_buf_init(&kept, tg_alloc_libc());
    tg_buf_append_char(&kept, '{');
    tg_json_iter_init_members(&json, properties);

    while (tg_json_iter_next_member(&json, &key, &ignored)) {
        if (key.len <= sizeof(text)
            && tg_json_get_member(
                   content, tg_str(text, tg_json_unescape(text, key)), &value)
                   == TG_OK)
        {
            tg_json_begin_raw_member(&kept, key);
            tg_json_write_compact(&kept, value);
        }
    }

    return ngx_tg_answer_accept(call, answer, &kept);
}

/* Accepts the roots that have a URI. */
static ngx_int_t
ngx_tg_answer_parse_roots(ngx_tg_call_t *call, tg_str_t raw,
                          ngx_tg_answer_t *answer)
{
    tg_str_t roots, root, uri;
    tg_json_cursor_t json;
    tg_buf_t kept;

    if (!tg_json_has_member(raw, TG_STR("roots"), TG_JSON_ARRAY, &roots)) {
        return NGX_DECLINED;
    }

    tg_json_iter_init(&json, roots);

    while (tg_json_iter_next(&json, &root)) {
        if (!tg_json_has_member(root, TG_STR("uri"), TG_JSON_STRING, &uri)) {
            return NGX_DECLINED;
        }
    }

    tg_buf_init(&kept, tg_alloc_libc());
    tg_buf_append_char(&kept, '{');
    tg_json_add_compact(&kept, "roots", roots);

    return ngx_tg_answer_accept(call, answer, &kept);
}

/* Accepts the texts of a model's message, whose content may be one block. */
static ngx_int_t
ngx_tg_answer_parse_sampling(ngx_tg_call_t *call, tg_str_t raw,
                             ngx_tg_answer_t *answer)
{
    tg_str_t content, model;
    tg_buf_t result, kept;
    int is_block;

    if (tg_json_get_member(raw, TG_STR("content"), &content) != TG_OK
        || (tg_json_type(content) != TG_JSON_OBJECT
            && tg_json_type(content) != TG_JSON_ARRAY))
    {
        return NGX_DECLINED;
    }

    is_block = tg_json_type(content) == TG_JSON_OBJECT;
    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_append_cstr(&result, is_block ? "{\"content\":[" : "{\"content\":");
    tg_buf_append_str(&result, content);
    tg_buf_append_cstr(&result, is_block ? "]}" : "}");
    tg_buf_init(&kept, tg_alloc_libc());
    tg_buf_append_cstr(&kept, "{\"text\":\"");

    if (!tg_buf_has_failed(&result)) {
        tg_tool_result_write_texts(&kept, tg_buf_view(&result));
    }

    tg_buf_append_char(&kept, '"');
    kept.failed |= tg_buf_has_failed(&result);
    tg_buf_deinit(&result);

    if (tg_json_has_member(raw, TG_STR("model"), TG_JSON_STRING, &model)) {
        tg_json_add_raw(&kept, "model", model);
    }

    return ngx_tg_answer_accept(call, answer, &kept);
}

/* Parses {"action":…,"content":{…}}. */
static ngx_int_t
ngx_tg_answer_parse_elicitation(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                                tg_str_t raw, ngx_tg_answer_t *answer)
{
    tg_str_t action, content;
    int i;

    if (!tg_json_has_member(raw, TG_STR("action"), TG_JSON_STRING, &action)) {
        return NGX_DECLINED;
    }

    i = tg_json_string_find(action, ngx_tg_action_names);

    if (i == NGX_TG_ACTION_ACCEPT && ask->type == NGX_TG_ASK_FORM) {
        if (tg_json_get_member(raw, TG_STR("content"), &content) != TG_OK) {
            content = TG_STR("{}");
        }

        return ngx_tg_answer_parse_form(call, ask, content, answer);
    }

    if (i <= NGX_TG_ACTION_NONE) {
        return NGX_DECLINED;
    }

    answer->action = (ngx_tg_action_t) i;

    return NGX_OK;
}

ngx_int_t
ngx_tg_answer_parse(ngx_tg_call_t *call, const ngx_tg_ask_t *ask, tg_str_t raw,
                    ngx_tg_answer_t *answer)
{
    tg_str_t error;

    if (tg_json_type(raw) != TG_JSON_OBJECT) {
        return NGX_ERROR;
    }

    /* The client sent an error, or nothing in time (tg_peer_ask()). */
    if (tg_json_has_member(raw, TG_STR("error"), TG_JSON_OBJECT, &error)) {
        answer->action = NGX_TG_ACTION_CANCEL;
        return NGX_OK;
    }

    switch (ask->type) {
    case NGX_TG_ASK_ROOTS:
        return ngx_tg_answer_parse_roots(call, raw, answer);
    case NGX_TG_ASK_SAMPLING:
        return ngx_tg_answer_parse_sampling(call, raw, answer);
    default:
        return ngx_tg_answer_parse_elicitation(call, ask, raw, answer);
    }
}

ngx_int_t
ngx_tg_answer_restore(ngx_tg_call_t *call, tg_str_t raw,
                      ngx_tg_answer_t *answer)
{
    tg_str_t action, content;
    int i;

    i = tg_json_has_member(raw, TG_STR("action"), TG_JSON_STRING, &action)
            ? tg_json_string_find(action, ngx_tg_action_names)
            : -1;

    if (i <= NGX_TG_ACTION_NONE) {
        return NGX_ERROR;
    }

    answer->action = (ngx_tg_action_t) i;

    return tg_json_has_member(raw, TG_STR("content"), TG_JSON_OBJECT, &content)
               ? ngx_tg_answer_set_content(call, answer, content)
               : NGX_OK;
}

/* --- variables --- */

/* Returns the answer that a variable is about; *field is the rest. */
static const ngx_tg_answer_t *
ngx_tg_call_find_answer(const ngx_tg_call_t *call, tg_str_t name,
                        tg_str_t *field)
{
    const ngx_tg_ask_t *ask;

    ask = ngx_tg_ask_find(call->asks, name, field);

    return ask != NULL
               ? &call->answers[ask - (const ngx_tg_ask_t *) call->asks->elts]
               : NULL;
}

tg_str_t
ngx_tg_call_get_answer(const ngx_tg_call_t *call, tg_str_t name)
{
    const ngx_tg_answer_t *answer;
    tg_str_t field, key, value;
    tg_json_cursor_t json;
    char text[TG_NAME_MAX];

    answer = ngx_tg_call_find_answer(call, name, &field);

    if (answer == NULL || answer->content.data == NULL || field.len == 0) {
        return answer != NULL ? answer->content : TG_STR_NONE;
    }

    tg_json_iter_init_members(&json, answer->content);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (key.len <= sizeof(text)
            && tg_variable_is_named(field,
                                    tg_str(text, tg_json_unescape(text, key))))
        {
            return value;
        }
    }

    return TG_STR_NONE;
}

tg_str_t
ngx_tg_call_get_action(const ngx_tg_call_t *call, tg_str_t name)
{
    const ngx_tg_answer_t *answer;
    tg_str_t field;

    answer = ngx_tg_call_find_answer(call, name, &field);

    return answer != NULL && field.len == 0
                   && answer->action != NGX_TG_ACTION_NONE
               ? ngx_tg_action_get_name(answer->action)
               : TG_STR_NONE;
}
