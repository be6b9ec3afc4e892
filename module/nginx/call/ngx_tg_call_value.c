/* Evaluation of values with variables, and of arguments. */
#include "nginx/call/ngx_tg_call_impl.h"

#include "base/tg_utf8.h"

/*
 * Variables and values are cached in the session, which may live for days.
 * Those of a call belong to the call; those that the session has before its
 * first call (`set`, a map of the client's user) are visible to all calls.
 */
ngx_int_t
ngx_tg_call_borrow_session(ngx_tg_call_t *call,
                           ngx_tg_borrowed_session_t *borrowed)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_stream_session_t *s;
    ngx_log_t *log;
    size_t size;

    s = call->base->stream;

    cmcf = ngx_stream_get_module_main_conf(s, ngx_stream_core_module);
    size = cmcf->variables.nelts * sizeof(ngx_stream_variable_value_t);

    if (call->priv->variables == NULL) {
        call->priv->variables = ngx_palloc(call->pool, size);

        if (call->priv->variables == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(call->priv->variables, s->variables, size);

    } else if (call->base->ended_record != NULL) {
        /* Values evaluated before the call ended are not valid any more. */
        ngx_memcpy(call->priv->variables, s->variables, size);
    }

    /* At level debug, NGINX logs every variable. */
    log = s->connection->log;
    borrowed->log_level = log->log_level;
    log->log_level = ngx_min(borrowed->log_level, NGX_LOG_DEBUG);

    borrowed->session = *s;
    borrowed->pool = s->connection->pool;
    s->connection->pool = call->pool;
    s->variables = call->priv->variables;
#if (NGX_PCRE)
    s->ncaptures = 0;
    s->captures = NULL;
    s->captures_data = NULL;
#endif
    call->base->current = call;

    return NGX_OK;
}

void
ngx_tg_call_return_session(ngx_tg_call_t *call,
                           const ngx_tg_borrowed_session_t *borrowed)
{
    ngx_stream_session_t *s;

    s = call->base->stream;
    call->base->current = NULL;
#if (NGX_PCRE)
    s->ncaptures = borrowed->session.ncaptures;
    s->captures = borrowed->session.captures;
    s->captures_data = borrowed->session.captures_data;
#endif
    s->variables = borrowed->session.variables;
    s->connection->pool = borrowed->pool;
    s->connection->log->log_level = borrowed->log_level;
}

ngx_int_t
ngx_tg_call_eval_value(ngx_tg_call_t *call, ngx_stream_complex_value_t *value,
                       ngx_str_t *text)
{
    ngx_tg_borrowed_session_t borrowed;
    ngx_int_t rc;

    if (value->lengths == NULL) {
        *text = value->value;
        return NGX_OK;
    }

    if (ngx_tg_call_borrow_session(call, &borrowed) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_stream_complex_value(call->base->stream, value, text);
    ngx_tg_call_return_session(call, &borrowed);

    return call->is_out_of_steps ? NGX_ERROR : rc;
}

const ngx_tg_arg_property_t *
ngx_tg_tool_find_property(const ngx_tg_tool_t *tool, tg_str_t name)
{
    const ngx_tg_arg_property_t *property;
    ngx_uint_t i;

    if (tool != NULL && tool->properties != NULL) {
        property = tool->properties->elts;

        for (i = 0; i < tool->properties->nelts; i++) {
            if (tg_variable_is_named(name, property[i].name)) {
                return &property[i];
            }
        }
    }

    return NULL;
}

int
ngx_tg_call_lookup_arg(ngx_tg_call_t *call, const tg_json_index_t *notes,
                       tg_str_t object, tg_str_t name, tg_json_member_t *note)
{
    uint64_t steps, left, *taken;
    ngx_uint_t is_ended, is_later;
    tg_peer_t *peer;
    int rc;

    /* The arguments of a deferred or ended call are not in the frame. */
    peer = &call->base->peer;
    is_ended = call->base->ended_record != NULL;
    is_later = is_ended || call->priv->deferred != NULL;
    taken = is_later ? &call->priv->lookup_steps : &peer->work;
    steps = tg_schema_get_step_budget(is_later ? call->priv->size
                                               : peer->frame_size,
                                      TG_SCHEMA_MAX_STEPS, *taken);
    left = steps;
    rc = tg_json_index_get_bounded(notes, object, name, &left, note);
    *taken += steps - left;
    call->base->steps += steps - left;
    call->is_out_of_steps |= rc == TG_LIMIT && !is_ended;

    return rc;
}

void
ngx_tg_call_get_path_value(ngx_tg_call_t *call, const ngx_tg_arg_path_t *path,
                           tg_json_member_t *note)
{
    const ngx_tg_arg_property_t *step;
    tg_str_t object;
    ngx_uint_t i;
    int rc;

    object = call->request->arguments;
    note->value = TG_STR_NONE;

    for (i = 0; i < path->n; i++) {
        step = &path->steps[i];
        note->value = TG_STR_NONE;

        rc = i == 0 || tg_json_type(object) == TG_JSON_OBJECT
                 ? ngx_tg_call_lookup_arg(call,
                                          i == 0 ? call->request->notes : NULL,
                                          object, step->name, note)
                 : TG_MISSING;

        if (rc == TG_OK
            && ngx_tg_call_is_arg_absent(call, path->kind, note->value)) {
            rc = TG_MISSING;
            note->value = TG_STR_NONE;
        }

        if (rc != TG_OK && path->kind != TG_VARIABLE_HAS
            && (i == 0 || tg_json_type(object) == TG_JSON_OBJECT))
        {
            note->value = step->default_value;
            note->escapes = TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES;
        }

        if (ngx_tg_call_is_arg_absent(call, path->kind, note->value)) {
            note->value = TG_STR_NONE;
        }

        object = note->value;
    }
}

void
ngx_tg_call_begin_elements(ngx_tg_call_t *call, const ngx_tg_arg_path_t *path,
                           ngx_tg_arg_elements_t *elements)
{
    const ngx_tg_arg_property_t *step;
    tg_json_member_t note;

    step = &path->steps[path->n - 1];
    ngx_tg_call_get_path_value(call, path, &note);
    elements->single = TG_STR_NONE;

    if (tg_json_type(note.value) == TG_JSON_ARRAY) {
        tg_json_iter_init(&elements->json, note.value);
        elements->is_integer = step->has_integer_items;
        return;
    }

    tg_json_init(&elements->json, TG_STR_NONE);
    elements->is_integer = step->is_integer;

    if (tg_json_type(note.value) != TG_JSON_NULL) {
        elements->single = note.value;
    }
}

ngx_uint_t
ngx_tg_call_next_element(ngx_tg_call_t *call, ngx_tg_arg_elements_t *elements)
{
    call->is_integer = elements->is_integer;

    if (elements->single.data != NULL) {
        call->element = elements->single;
        elements->single = TG_STR_NONE;
        return 1;
    }

    if (elements->json.pos != NULL
        && tg_json_iter_next(&elements->json, &call->element))
    {
        return 1;
    }

    call->element = TG_STR_NONE;

    return 0;
}

const char *
ngx_tg_append_json_string_end(tg_buf_t *buf, tg_str_t text, const char *invalid)
{
    tg_json_write_escaped(buf, text);
    tg_buf_append_char(buf, '"');

    return tg_utf8_is_valid(text) ? NULL : invalid;
}

const char *
ngx_tg_call_append_value(ngx_tg_call_t *call, tg_buf_t *buf,
                         ngx_stream_complex_value_t *value, const char *invalid)
{
    ngx_str_t text;

    if (ngx_tg_call_eval_value(call, value, &text) != NGX_OK) {
        return TG_TEXT_NO_MEMORY;
    }

    return ngx_tg_append_json_string_end(buf, ngx_tg_str_from_ngx(&text),
                                         invalid);
}
