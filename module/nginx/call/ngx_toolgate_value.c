/*
 * Values with variables, and the arguments that variables name.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "base/tg_utf8.h"

/*
 * Variables and values allocate from the connection's pool and are cached in
 * the session; for the time of a call both are the call's own, or a
 * connection that lives for days would keep every argument it ever had.  What
 * the session has before its first call (`set`, a map of who the client is)
 * is seen by all calls.
 */
ngx_int_t
ngx_toolgate_lend(ngx_toolgate_call_t *call, ngx_toolgate_lent_t *lent)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_stream_session_t *s;
    ngx_log_t *log;
    size_t size;

    s = call->front->stream;

    cmcf = ngx_stream_get_module_main_conf(s, ngx_stream_core_module);
    size = cmcf->variables.nelts * sizeof(ngx_stream_variable_value_t);

    if (call->variables == NULL) {
        call->variables = ngx_palloc(call->pool, size);

        if (call->variables == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(call->variables, s->variables, size);

    } else if (call->front->ended != NULL) {
        /* What was known of it before its end counts no more. */
        ngx_memcpy(call->variables, s->variables, size);
    }

    /* At level debug NGINX's own code writes every variable into its log. */
    log = s->connection->log;
    lent->log_level = log->log_level;
    log->log_level = ngx_min(lent->log_level, NGX_LOG_DEBUG);

    lent->session = *s;
    lent->pool = s->connection->pool;
    s->connection->pool = call->pool;
    s->variables = call->variables;
#if (NGX_PCRE)
    s->ncaptures = 0;
    s->captures = NULL;
    s->captures_data = NULL;
#endif
    call->front->current = call;

    return NGX_OK;
}

void
ngx_toolgate_lend_back(ngx_toolgate_call_t *call,
                       const ngx_toolgate_lent_t *lent)
{
    ngx_stream_session_t *s;

    s = call->front->stream;
    call->front->current = NULL;
#if (NGX_PCRE)
    s->ncaptures = lent->session.ncaptures;
    s->captures = lent->session.captures;
    s->captures_data = lent->session.captures_data;
#endif
    s->variables = lent->session.variables;
    s->connection->pool = lent->pool;
    s->connection->log->log_level = lent->log_level;
}

ngx_int_t
ngx_toolgate_value(ngx_toolgate_call_t *call, ngx_stream_complex_value_t *value,
                   ngx_str_t *text)
{
    ngx_toolgate_lent_t lent;
    ngx_int_t rc;

    if (value->lengths == NULL) {
        *text = value->value;
        return NGX_OK;
    }

    if (ngx_toolgate_lend(call, &lent) != NGX_OK) {
        return NGX_ERROR;
    }

    rc = ngx_stream_complex_value(call->front->stream, value, text);
    ngx_toolgate_lend_back(call, &lent);

    return call->is_spent ? NGX_ERROR : rc;
}

const ngx_toolgate_property_t *
ngx_toolgate_property(const ngx_toolgate_tool_t *tool, tg_str_t name)
{
    const ngx_toolgate_property_t *property;
    ngx_uint_t i;

    if (tool != NULL && tool->properties != NULL) {
        property = tool->properties->elts;

        for (i = 0; i < tool->properties->nelts; i++) {
            if (tg_value_is_named(name, property[i].name)) {
                return &property[i];
            }
        }
    }

    return NULL;
}

int
ngx_toolgate_look(ngx_toolgate_call_t *call, const tg_json_notes_t *notes,
                  tg_str_t object, tg_str_t name, tg_json_note_t *note)
{
    uint64_t steps, left, *taken;
    ngx_uint_t is_ended, is_later;
    tg_peer_t *peer;
    int rc;

    /* Once deferred, or at its end, it is no part of the frame any more. */
    peer = &call->front->peer;
    is_ended = call->front->ended != NULL;
    is_later = is_ended || call->deferred != NULL;
    taken = is_later ? &call->looked : &peer->work;
    steps = tg_schema_steps(is_later ? call->size : peer->serving,
                            TG_SCHEMA_STEPS, *taken);
    left = steps;
    rc = tg_json_notes_look(notes, object, name, &left, note);
    *taken += steps - left;
    call->front->steps += steps - left;
    call->is_spent |= rc == TG_LIMIT && !is_ended;

    return rc;
}

void
ngx_toolgate_path_value(ngx_toolgate_call_t *call,
                        const ngx_toolgate_path_t *path, tg_json_note_t *note)
{
    const ngx_toolgate_property_t *step;
    tg_str_t object;
    ngx_uint_t i;
    int rc;

    object = call->request->arguments;
    note->value = TG_STR_NONE;

    for (i = 0; i < path->n; i++) {
        step = &path->steps[i];
        note->value = TG_STR_NONE;

        rc = i == 0 || tg_json_type(object) == TG_JSON_OBJECT
                 ? ngx_toolgate_look(call, i == 0 ? call->request->notes : NULL,
                                     object, step->name, note)
                 : TG_MISSING;

        if (rc == TG_OK
            && ngx_toolgate_is_absent(call, path->kind, note->value)) {
            rc = TG_MISSING;
            note->value = TG_STR_NONE;
        }

        if (rc != TG_OK && path->kind != TG_VALUE_HAS
            && (i == 0 || tg_json_type(object) == TG_JSON_OBJECT))
        {
            note->value = step->fallback;
            note->escapes = TG_JSON_ESCAPED | TG_JSON_HALVES;
        }

        if (ngx_toolgate_is_absent(call, path->kind, note->value)) {
            note->value = TG_STR_NONE;
        }

        object = note->value;
    }
}

void
ngx_toolgate_elements(ngx_toolgate_call_t *call,
                      const ngx_toolgate_path_t *path,
                      ngx_toolgate_elements_t *elements)
{
    const ngx_toolgate_property_t *step;
    tg_json_note_t note;

    step = &path->steps[path->n - 1];
    ngx_toolgate_path_value(call, path, &note);
    elements->single = TG_STR_NONE;

    if (tg_json_type(note.value) == TG_JSON_ARRAY) {
        tg_json_each(&elements->json, note.value);
        elements->is_integer = step->has_integers;
        return;
    }

    tg_json_init(&elements->json, TG_STR_NONE);
    elements->is_integer = step->is_integer;

    if (tg_json_type(note.value) != TG_JSON_NULL) {
        elements->single = note.value;
    }
}

ngx_uint_t
ngx_toolgate_elements_next(ngx_toolgate_call_t *call,
                           ngx_toolgate_elements_t *elements)
{
    call->is_integer = elements->is_integer;

    if (elements->single.data != NULL) {
        call->element = elements->single;
        elements->single = TG_STR_NONE;
        return 1;
    }

    if (elements->json.pos != NULL
        && tg_json_item(&elements->json, &call->element)) {
        return 1;
    }

    call->element = TG_STR_NONE;

    return 0;
}

const char *
ngx_toolgate_put(tg_buf_t *buf, tg_str_t text, const char *invalid)
{
    tg_json_put_escaped(buf, text);
    tg_buf_char(buf, '"');

    return tg_utf8_is_valid(text) ? NULL : invalid;
}

const char *
ngx_toolgate_put_value(ngx_toolgate_call_t *call, tg_buf_t *buf,
                       ngx_stream_complex_value_t *value, const char *invalid)
{
    ngx_str_t text;

    if (ngx_toolgate_value(call, value, &text) != NGX_OK) {
        return TG_NO_MEMORY;
    }

    return ngx_toolgate_put(buf, ngx_toolgate_str(&text), invalid);
}
