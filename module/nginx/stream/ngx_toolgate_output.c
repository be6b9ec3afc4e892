/*
 * What a client is told, on its way to the socket.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* An output buffer that whoever has something to say borrows. */
static char *ngx_toolgate_spare;
static size_t ngx_toolgate_spare_cap;

void
ngx_toolgate_borrow(tg_buf_t *out)
{
    if (out->data == NULL) {
        out->data = ngx_toolgate_spare;
        out->cap = ngx_toolgate_spare_cap;
        ngx_toolgate_spare = NULL;
        ngx_toolgate_spare_cap = 0;
    }
}

void
ngx_toolgate_give_back(tg_buf_t *out)
{
    if (ngx_toolgate_spare == NULL && out->cap < NGX_TOOLGATE_LARGE) {
        ngx_toolgate_spare = out->data;
        ngx_toolgate_spare_cap = out->cap;
        out->data = NULL;
        out->cap = 0;
        out->len = 0;
        return;
    }

    ngx_toolgate_block_put(out);
}

ngx_int_t
ngx_toolgate_flush(ngx_toolgate_session_t *session)
{
    ngx_connection_t *c;
    tg_buf_t *out;
    ssize_t n;

    c = session->connection;
    out = &session->peer.out;

    while (session->sent < out->len) {

        /* After a short write NGINX knows that there is no more room. */
        n = c->write->ready ? c->send(c, (u_char *) out->data + session->sent,
                                      out->len - session->sent)
                            : NGX_AGAIN;

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN || n == 0) {

            /*
             * The peer measures what is unsent: it goes on when that is
             * little, and then, with half gone, it is worth a move.
             */
            if (session->sent > out->len / 2
                && out->len - session->sent <= TG_PEER_BACKLOG) {
                tg_buf_drop(out, session->sent);
                session->sent = 0;
            }

            return NGX_AGAIN;
        }

        session->sent += (size_t) n;
        session->bytes_out += (uint64_t) n;
        session->has_sent = 1;
    }

    session->sent = 0;
    out->len = 0;

    return NGX_OK;
}

/*
 * The kernel would tell of room with each reply that a client takes: an
 * event that nobody waits for, as often as calls.
 */
ngx_int_t
ngx_toolgate_watch(ngx_toolgate_session_t *session)
{
    ngx_event_t *wev;

    wev = session->connection->write;

#if (NGX_STREAM_SSL)
    if (session->connection->ssl != NULL) {
        return ngx_handle_write_event(wev, 0);
    }
#endif

    if (session->sent < session->peer.out.len) {
        return ngx_handle_write_event(wev, 0);
    }

    return wev->active && (ngx_event_flags & NGX_USE_CLEAR_EVENT)
               ? ngx_del_event(wev, NGX_WRITE_EVENT, 0)
               : NGX_OK;
}

void
ngx_toolgate_session_exit(void)
{
    tg_free(tg_alloc_libc(), ngx_toolgate_spare);
    ngx_toolgate_spare = NULL;
    ngx_toolgate_spare_cap = 0;
    ngx_toolgate_blocks_exit();
}
