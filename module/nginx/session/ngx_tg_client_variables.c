/* The variables about a connection's client, and how variables are set. */
#include "nginx/session/ngx_tg_variables.h"

#include "nginx/call/ngx_tg_call_checks.h"

ngx_tg_session_t *
ngx_tg_stream_get_session(ngx_stream_session_t *s)
{
    return ngx_stream_get_module_ctx(s, ngx_stream_toolgate_module);
}

ngx_int_t
ngx_tg_variable_set(ngx_tg_variable_value_t *v, const char *data, size_t len)
{
    if (data == NULL) {
        v->not_found = 1;
        return NGX_OK;
    }

    v->data = (u_char *) data;
    v->len = (unsigned) len;
    v->valid = 1;
    v->no_cacheable = 0;
    v->not_found = 0;

    return NGX_OK;
}

ngx_int_t
ngx_tg_variable_set_str(ngx_tg_variable_value_t *v, tg_str_t str)
{
    return ngx_tg_variable_set(v, str.data, str.len);
}

ngx_int_t
ngx_tg_variable_set_number(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                           uint64_t number)
{
    u_char *p;

    p = ngx_pnalloc(s->connection->pool, NGX_INT64_LEN);
    if (p == NULL) {
        return NGX_ERROR;
    }

    return ngx_tg_variable_set(v, (char *) p,
                               ngx_sprintf(p, "%uL", number) - p);
}

/*
 * $tool_client_pid, _uid and _gid, even before a session exists (for
 * `limit_conn`), and from memory for a closed connection.
 */
ngx_int_t
ngx_tg_client_variable(ngx_stream_session_t *s, ngx_tg_variable_value_t *v,
                       uintptr_t data)
{
    ngx_tg_session_t *session;
    ngx_tg_peer_cred_t client;

    session = ngx_tg_stream_get_session(s);

    if (session != NULL && session->base.http_client != NULL) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    if (session != NULL && session->base.has_client) {
        client = session->base.client;
    } else if (ngx_tg_connection_get_peer_cred(s->connection, &client)
               != NGX_OK) {
        return ngx_tg_variable_set(v, NULL, 0);
    }

    switch (data) {
    case 'p':
        return ngx_tg_variable_set_number(s, v, client.pid);
    case 'u':
        return ngx_tg_variable_set_number(s, v, client.uid);
    default:
        return ngx_tg_variable_set_number(s, v, client.gid);
    }
}

/* $tool_user and $tool_scopes, of a client of mcp_pass. */
ngx_int_t
ngx_tg_http_client_variable(ngx_stream_session_t *s,
                            ngx_tg_variable_value_t *v, uintptr_t data)
{
    const ngx_tg_http_client_t *client;
    ngx_tg_session_t *session;

    session = ngx_tg_stream_get_session(s);
    client = session != NULL ? session->base.http_client : NULL;

    return ngx_tg_variable_set_str(v, client == NULL ? TG_STR_NONE
                                      : data == 'u'  ? client->user
                                                     : client->scopes);
}
