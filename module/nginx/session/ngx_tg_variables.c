/* The variables $tool_…, of the call being evaluated or the connection. */
#include "nginx/session/ngx_tg_variables.h"

#include "base/tg_number.h"
#include "nginx/call/ngx_tg_call_checks.h"

ngx_tg_call_t *
ngx_tg_stream_get_current_call(ngx_stream_session_t *s)
{
    ngx_tg_session_t *session;

    session = ngx_tg_stream_get_session(s);

    return session != NULL ? session->base.current : NULL;
}

/* Decodes an escaped body, which may be absent. */
static ngx_int_t
ngx_tg_variable_set_body(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                         tg_str_t body)
{
    char *p;

    if (body.data == NULL || body.len == 0
        || memchr(body.data, '\\', body.len) == NULL)
    {
        return ngx_tg_variable_set_str(v, body);
    }

    p = ngx_pnalloc(s->connection->pool, body.len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_tg_variable_set(v, p, tg_json_unescape(p, body));
}

ngx_int_t
ngx_tg_variable_set_decoded(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                            tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING
               ? ngx_tg_variable_set_body(s, v, tg_json_string_body(raw))
               : ngx_tg_variable_set_str(v, raw);
}

/*
 * Sets a variable to an integer as programs expect it: `3` for `3.0`.
 * NGX_DECLINED: not an integer by schema or value, or too long.
 */
static ngx_int_t
ngx_tg_variable_set_integer(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                            tg_str_t value)
{
    char plain[TG_NUMBER_INTEGER_SIZE], *p;
    size_t len;

    len = tg_number_write_integer(value, plain);

    if (len == 0) {
        return NGX_DECLINED;
    }

    /* Nearly all integers have this form. */
    if (tg_str_eq(value, tg_str(plain, len))) {
        return ngx_tg_variable_set_str(v, value);
    }

    p = ngx_pnalloc(s->connection->pool, len);
    if (p == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, plain, len);

    return ngx_tg_variable_set(v, p, len);
}

/*
 * Finds the argument of a prefix variable, its default value, or an absent one.
 * Returns NULL if the schema does not declare it.
 */
static const ngx_tg_arg_property_t *
ngx_tg_variable_find_argument(ngx_stream_session_t *s, uintptr_t data,
                              tg_variable_type_t kind, tg_json_member_t *note)
{
    static const size_t prefix[] = {
        [TG_VARIABLE_ARG] = sizeof("tool_arg_") - 1,
        [TG_VARIABLE_JSON] = sizeof("tool_json_") - 1,
        [TG_VARIABLE_HAS] = sizeof("tool_has_") - 1,
    };
    const ngx_tg_arg_property_t *property;
    ngx_tg_call_t *call;
    tg_str_t name;
    int rc;

    call = ngx_tg_stream_get_current_call(s);
    note->value = TG_STR_NONE;
    note->escapes = 0;

    if (call == NULL || call->request == NULL) {
        return NULL;
    }

    name = ngx_tg_str_from_ngx((const ngx_str_t *) data);
    name = tg_str_skip(name, prefix[kind]);
    property = ngx_tg_tool_find_property(call->tool, name);

    rc = ngx_tg_call_lookup_arg(call, call->request->notes,
                                call->request->arguments,
                                property != NULL ? property->name : name, note);

    if (rc == TG_OK && ngx_tg_call_is_arg_absent(call, kind, note->value)) {
        rc = TG_MISSING;
        note->value = TG_STR_NONE;
    }

    if (rc != TG_OK && property != NULL && kind != TG_VARIABLE_HAS) {
        note->value = property->default_value;
        note->escapes = TG_JSON_HAS_ESCAPES;
    }

    if (ngx_tg_call_is_arg_absent(call, kind, note->value)) {
        note->value = TG_STR_NONE;
    }

    return property;
}

/* Sets a variable of this kind to an argument's value. */
static ngx_int_t
ngx_tg_variable_set_argument(ngx_stream_session_t *s,
                             ngx_tg_variable_value_t *v,
                             tg_variable_type_t kind,
                             const tg_json_member_t *note,
                             ngx_uint_t is_integer)
{
    ngx_int_t rc;

    switch (kind) {
    case TG_VARIABLE_HAS:
        return ngx_tg_variable_set_str(v, note->value.data != NULL
                                              ? TG_STR("1")
                                              : TG_STR_NONE);

    /* null if absent, so that the result is always valid JSON */
    case TG_VARIABLE_JSON:
        return ngx_tg_variable_set_str(v, note->value.data != NULL
                                              ? note->value
                                              : TG_STR("null"));
    default:
        break;
    }

    if (tg_json_type(note->value) == TG_JSON_STRING && note->escapes == 0) {
        return ngx_tg_variable_set_str(v, tg_json_string_body(note->value));
    }

    if (is_integer) {
        rc = ngx_tg_variable_set_integer(s, v, note->value);

        if (rc != NGX_DECLINED) {
            return rc;
        }
    }

    return ngx_tg_variable_set_decoded(s, v, note->value);
}

static ngx_int_t
ngx_tg_variable_set_prefixed(ngx_stream_session_t *s,
                             ngx_tg_variable_value_t *v, uintptr_t data,
                             tg_variable_type_t kind)
{
    const ngx_tg_arg_property_t *property;
    tg_json_member_t note;

    property = ngx_tg_variable_find_argument(s, data, kind, &note);

    return ngx_tg_variable_set_argument(
        s, v, kind, &note, property != NULL && property->is_integer);
}

static ngx_int_t
ngx_tg_arg_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                    uintptr_t data)
{
    return ngx_tg_variable_set_prefixed(s, v, data, TG_VARIABLE_ARG);
}

static ngx_int_t
ngx_tg_json_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                     uintptr_t data)
{
    return ngx_tg_variable_set_prefixed(s, v, data, TG_VARIABLE_JSON);
}

static ngx_int_t
ngx_tg_has_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                    uintptr_t data)
{
    return ngx_tg_variable_set_prefixed(s, v, data, TG_VARIABLE_HAS);
}

ngx_int_t
ngx_tg_path_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                     uintptr_t data)
{
    const ngx_tg_arg_path_t *path = (const ngx_tg_arg_path_t *) data;
    ngx_tg_call_t *call;
    tg_json_member_t note;

    call = ngx_tg_stream_get_current_call(s);
    note.value = TG_STR_NONE;

    if (call != NULL && call->request != NULL) {
        ngx_tg_call_get_path_value(call, path, &note);
    }

    return ngx_tg_variable_set_argument(s, v, path->kind, &note,
                                        path->steps[path->n - 1].is_integer);
}

/* $tool_element and $tool_element_json, in `arg ... each`. */
static ngx_int_t
ngx_tg_element_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                        uintptr_t data)
{
    ngx_tg_call_t *call;
    tg_json_member_t note;

    call = ngx_tg_stream_get_current_call(s);
    note.value = call != NULL ? call->element : TG_STR_NONE;
    note.escapes = TG_JSON_HAS_ESCAPES;

    return ngx_tg_variable_set_argument(s, v, (tg_variable_type_t) data, &note,
                                        call != NULL && call->is_integer);
}

/* $tool_dollar: `$$` in a value that also contains variables. */
static ngx_int_t
ngx_tg_dollar_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                       uintptr_t data)
{
    return ngx_tg_variable_set_str(v, TG_STR("$"));
}

/* Sets seconds with milliseconds, like $session_time. */
static ngx_int_t
ngx_tg_variable_set_msec(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                         ngx_msec_t msec)
{
    u_char *p;

    p = ngx_pnalloc(s->connection->pool, NGX_TIME_T_LEN + 4);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_tg_variable_set(
        v, (char *) p,
        ngx_sprintf(p, "%T.%03M", (time_t) msec / 1000, msec % 1000) - p);
}

/* $tool_arguments, $tool_request_id, $tool_uri, $tool_value: of the call. */
static ngx_int_t
ngx_tg_call_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                     uintptr_t data)
{
    const ngx_tg_call_t *call;
    const tg_request_t *request;

    call = ngx_tg_stream_get_current_call(s);
    request = call != NULL ? call->request : NULL;

    if (request == NULL) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    if (data == 'a') {
        return ngx_tg_variable_set_str(v, request->arguments);
    }

    if (data == 'i') {
        return ngx_tg_variable_set_decoded(s, v, request->reply.id);
    }

    return ngx_tg_variable_set_body(
        s, v,
        (data == 'v') == (request->reply.kind == TG_ENTRY_COMPLETION)
            ? request->reply.subject
            : TG_STR_NONE);
}

/* Returns the record of the call being logged or the last one, or NULL. */
static const ngx_tg_call_record_t *
ngx_tg_stream_get_last_call_record(ngx_stream_session_t *s)
{
    const ngx_tg_session_base_t *base;

    if (ngx_tg_stream_get_session(s) == NULL) {
        return NULL;
    }

    base = &ngx_tg_stream_get_session(s)->base;

    return base->ended_record != NULL ? base->ended_record
           : base->last.is_known      ? &base->last
                                      : NULL;
}

static ngx_int_t
ngx_tg_name_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                     uintptr_t data)
{
    const ngx_tg_call_record_t *ended_record;
    const ngx_tg_call_t *call;
    const tg_catalog_entry_t *entry;

    call = ngx_tg_stream_get_current_call(s);
    ended_record = ngx_tg_stream_get_last_call_record(s);
    entry = call != NULL           ? call->entry
            : ended_record != NULL ? ended_record->entry
                                   : NULL;

    return ngx_tg_variable_set_str(v, entry != NULL  ? entry->name
                                      : call != NULL ? call->name
                                                     : TG_STR_NONE);
}

/* $tool_queue_time, $tool_run_time and $tool_call_time, of the last call. */
static ngx_int_t
ngx_tg_time_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                     uintptr_t data)
{
    const ngx_tg_call_record_t *ended_record;
    const ngx_tg_call_t *call;
    int64_t time;

    call = ngx_tg_stream_get_current_call(s);
    ended_record = ngx_tg_stream_get_last_call_record(s);

    if (call != NULL && call->base->ended_record == NULL) {
        return ngx_tg_variable_set_msec(
            s, v, data == 't' ? ngx_current_msec - call->start : 0);
    }

    time = ended_record == NULL ? -1
           : data == 't'        ? (int64_t) ended_record->time
           : data == 'q'        ? ended_record->queued
                                : ended_record->ran;

    return time >= 0 ? ngx_tg_variable_set_msec(s, v, (ngx_msec_t) time)
                     : ngx_tg_variable_set(v, NULL, 0);
}

static ngx_int_t
ngx_tg_variable_set_word(ngx_tg_variable_value_t *v, const char *word)
{
    return ngx_tg_variable_set_str(v, word != NULL ? tg_str_from_cstr(word)
                                                   : TG_STR_NONE);
}

/* $tool_status, $tool_rule and $tool_exit_status, of the last ended call. */
static ngx_int_t
ngx_tg_end_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                    uintptr_t data)
{
    const ngx_tg_call_record_t *ended_record;
    u_char *p;

    ended_record = ngx_tg_stream_get_last_call_record(s);

    if (ended_record == NULL) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    switch (data) {
    case 's':
        return ngx_tg_variable_set_word(v, ngx_tg_end_reason_get_name(
                                               ended_record->end));
    case 'r':
        return ngx_tg_variable_set_word(v, ngx_tg_call_rule_get_name(
                                               ended_record->rule));
    default:
        break;
    }

    if (ended_record->signal == 0) {
        return ended_record->exit >= 0
                   ? ngx_tg_variable_set_number(s, v,
                                                (uint64_t) ended_record->exit)
                   : ngx_tg_variable_set(v, NULL, 0);
    }

    p = ngx_pnalloc(s->connection->pool, sizeof("signal ") + NGX_INT64_LEN);

    return p == NULL ? NGX_ERROR
                     : ngx_tg_variable_set(
                         v, (char *) p,
                         ngx_sprintf(p, "signal %L", ended_record->signal) - p);
}

static ngx_int_t
ngx_tg_session_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                        uintptr_t data)
{
    const ngx_tg_call_record_t *ended_record;
    ngx_tg_session_t *session;

    session = ngx_tg_stream_get_session(s);

    if (session == NULL) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    if (data == 'p') {
        return ngx_tg_variable_set_str(v, tg_str_from_cstr(tg_dialect_name(
                                              session->base.peer.dialect)));
    }

    switch (data) {
    case 'n':
        return ngx_tg_variable_set_str(v, session->base.peer.client);
    case 'e':
        return ngx_tg_variable_set_str(v, session->base.peer.client_version);
    case 'v':
        return ngx_tg_variable_set_str(v, session->base.peer.client_via);
    default:
        break;
    }

    ended_record = session->base.ended_record;

    if (ended_record != NULL) {
        return ngx_tg_variable_set_number(s, v,
                                          data == 'i'
                                              ? ended_record->bytes_in
                                              : ended_record->bytes_out);
    }

    return ngx_tg_variable_set_number(s, v,
                                      data == 'i' ? session->bytes_in
                                                  : session->bytes_out);
}

/* Variables that only the translated text of a value contains. */
#define NGX_TG_INTERNAL_VARIABLE(name, handler, data)                          \
    NGX_TG_VARIABLE(name, handler, data, NGX_STREAM_VAR_NOHASH)
#define NGX_TG_VARIABLE(name, handler, data, flags)                            \
    {                                                                          \
        ngx_string(name), NULL, ngx_tg_##handler##_variable, data,             \
            NGX_STREAM_VAR_NOCACHEABLE | (flags), 0                            \
    }

static ngx_stream_variable_t ngx_tg_variables[] = {
    NGX_TG_VARIABLE("tool_name", name, 'n', 0),
    NGX_TG_VARIABLE("tool_arguments", call, 'a', 0),
    NGX_TG_VARIABLE("tool_arg_", arg, 0, NGX_STREAM_VAR_PREFIX),
    NGX_TG_VARIABLE("tool_json_", json, 0, NGX_STREAM_VAR_PREFIX),
    NGX_TG_VARIABLE("tool_has_", has, 0, NGX_STREAM_VAR_PREFIX),
    NGX_TG_VARIABLE("tool_answer_", ask, 0, NGX_STREAM_VAR_PREFIX),
    NGX_TG_VARIABLE("tool_action_", ask, 0, NGX_STREAM_VAR_PREFIX),
    NGX_TG_INTERNAL_VARIABLE("tool_element", element, TG_VARIABLE_ARG),
    NGX_TG_INTERNAL_VARIABLE("tool_element_json", element, TG_VARIABLE_JSON),
    NGX_TG_INTERNAL_VARIABLE("tool_dollar", dollar, 0),
    NGX_TG_VARIABLE("tool_request_id", call, 'i', 0),
    NGX_TG_VARIABLE("tool_uri", call, 'u', 0),
    NGX_TG_VARIABLE("tool_value", call, 'v', 0),
    NGX_TG_VARIABLE("tool_protocol", session, 'p', 0),
    NGX_TG_VARIABLE("tool_client_pid", client, 'p', 0),
    NGX_TG_VARIABLE("tool_client_uid", client, 'u', 0),
    NGX_TG_VARIABLE("tool_client_gid", client, 'g', 0),
    NGX_TG_VARIABLE("tool_user", http_client, 'u', 0),
    NGX_TG_VARIABLE("tool_scopes", http_client, 's', 0),
    NGX_TG_VARIABLE("tool_client_name", session, 'n', 0),
    NGX_TG_VARIABLE("tool_client_version", session, 'e', 0),
    NGX_TG_VARIABLE("tool_client_via", session, 'v', 0),
    NGX_TG_VARIABLE("tool_status", end, 's', 0),
    NGX_TG_VARIABLE("tool_rule", end, 'r', 0),
    NGX_TG_VARIABLE("tool_exit_status", end, 'e', 0),
    NGX_TG_VARIABLE("tool_queue_time", time, 'q', 0),
    NGX_TG_VARIABLE("tool_run_time", time, 'r', 0),
    NGX_TG_VARIABLE("tool_call_time", time, 't', 0),
    NGX_TG_VARIABLE("tool_traceparent", trace, 'p', 0),
    NGX_TG_VARIABLE("tool_tracestate", trace, 's', 0),
    NGX_TG_VARIABLE("tool_bytes_in", session, 'i', 0),
    NGX_TG_VARIABLE("tool_bytes_out", session, 'o', 0),
    ngx_stream_null_variable
};

ngx_int_t
ngx_tg_add_variables(ngx_conf_t *cf)
{
    ngx_stream_variable_t *var, *v;

    for (v = ngx_tg_variables; v->name.len != 0; v++) {
        var = ngx_stream_add_variable(cf, &v->name, v->flags);
        if (var == NULL) {
            return NGX_ERROR;
        }

        var->get_handler = v->get_handler;
        var->data = v->data;
    }

    return NGX_OK;
}
