/* Shared texts of broadcasts, and the unsent texts of each session. */
#include "nginx/session/ngx_tg_session_impl.h"

/* Maximum bytes of all unsent texts of a worker. */
#define NGX_TG_BROADCAST_TEXTS_MAX 67108864
/* Maximum bytes of a text that is copied for a client that reads in time. */
#define NGX_TG_BROADCAST_TEXT_COPY_MAX 4096
/* Maximum unsent output of a client that reads in time, in bytes. */
#define NGX_TG_BROADCAST_TEXT_BACKLOG_MAX 16384
/* Bytes sent by one call of send(). */
#define NGX_TG_BROADCAST_TEXT_SEND_SIZE 131072

static ngx_queue_t ngx_tg_broadcast_texts = { &ngx_tg_broadcast_texts,
                                              &ngx_tg_broadcast_texts };
static tg_sched_source_t ngx_tg_broadcast_texts_source = {
    .memory_max = NGX_TG_BROADCAST_TEXTS_MAX
};
static ngx_uint_t ngx_tg_broadcast_texts_are_too_many;

/* --- texts --- */

static ngx_tg_broadcast_text_t *
ngx_tg_broadcast_text_find(uint64_t at, tg_dialect_t form)
{
    ngx_tg_broadcast_text_t *text;
    ngx_queue_t *q;

    for (q = ngx_queue_last(&ngx_tg_broadcast_texts);
         q != ngx_queue_sentinel(&ngx_tg_broadcast_texts);
         q = ngx_queue_prev(q))
    {
        text = ngx_queue_data(q, ngx_tg_broadcast_text_t, queue);

        if (text->at == at && text->form == form) {
            return text;
        }
    }

    return NULL;
}

static void
ngx_tg_broadcast_texts_set_memory(size_t bytes)
{
    ngx_tg_broadcast_texts_are_too_many =
        ngx_tg_sched_hold(&ngx_tg_broadcast_texts_source, bytes) != NGX_OK
        && bytes > NGX_TG_BROADCAST_TEXTS_MAX / 4;
}

ngx_tg_broadcast_text_t *
ngx_tg_broadcast_text_get(const ngx_tg_broadcast_message_t *broadcast,
                          tg_dialect_t form)
{
    ngx_tg_broadcast_text_t *text;

    text = ngx_tg_broadcast_text_find(broadcast->at, form);

    if (text != NULL) {
        text->nrefs++;
        return text;
    }

    text = tg_calloc(tg_alloc_libc(), sizeof(*text));

    if (text == NULL) {
        return NULL;
    }

    tg_buf_init(&text->bytes, tg_alloc_libc());

    if (tg_broadcast_write_json(form, broadcast->method, broadcast->params,
                                &text->bytes)
        != TG_OK)
    {
        tg_buf_deinit(&text->bytes);
        tg_free(tg_alloc_libc(), text);
        return NULL;
    }

    text->at = broadcast->at;
    text->form = form;
    text->nrefs = 1;
    ngx_queue_insert_tail(&ngx_tg_broadcast_texts, &text->queue);
    ngx_tg_broadcast_texts_set_memory(ngx_tg_broadcast_texts_source.memory
                                      + text->bytes.cap);

    return text;
}

void
ngx_tg_broadcast_text_release(ngx_tg_broadcast_text_t *text)
{
    if (--text->nrefs != 0) {
        return;
    }

    ngx_queue_remove(&text->queue);
    ngx_tg_broadcast_texts_set_memory(ngx_tg_broadcast_texts_source.memory
                                      - text->bytes.cap);
    tg_buf_deinit(&text->bytes);
    tg_free(tg_alloc_libc(), text);
}

ngx_tg_broadcast_text_t *
ngx_tg_broadcast_text_find_surplus(void)
{
    return ngx_tg_broadcast_texts_are_too_many
                   && !ngx_queue_empty(&ngx_tg_broadcast_texts)
               ? ngx_queue_data(ngx_queue_head(&ngx_tg_broadcast_texts),
                                ngx_tg_broadcast_text_t, queue)
               : NULL;
}

/* --- unsent texts of a session --- */

int
ngx_tg_unsent_texts_add(ngx_tg_session_t *session,
                        ngx_tg_broadcast_text_t *text, tg_str_t head)
{
    ngx_tg_unsent_text_t *unsent;
    ngx_tg_unsent_texts_t *texts;
    tg_buf_t *out;

    texts = &session->priv->texts;
    out = &session->base.peer.out;

    if (texts->first == NULL
        && text->bytes.len <= NGX_TG_BROADCAST_TEXT_COPY_MAX
        && out->len - session->sent <= NGX_TG_BROADCAST_TEXT_BACKLOG_MAX)
    {
        tg_buf_append_str(out, head);
        tg_buf_append_str(out, tg_buf_view(&text->bytes));
        return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
    }

    unsent = tg_alloc(tg_alloc_libc(), sizeof(*unsent) + head.len);

    if (unsent == NULL) {
        return TG_NOMEM;
    }

    unsent->next = NULL;
    unsent->text = text;
    unsent->head = head.len;

    if (head.len != 0) {
        memcpy(unsent->data, head.data, head.len);
    }

    text->nrefs++;
    texts->bytes += head.len + text->bytes.len;
    texts->memory += sizeof(*unsent) + head.len;

    if (texts->first == NULL) {
        unsent->gap = 0;
        texts->first = unsent;
        texts->first_offset = out->len;
    } else {
        unsent->gap = out->len - texts->last_offset;
        texts->last->next = unsent;
    }

    texts->last = unsent;
    texts->last_offset = out->len;

    return TG_OK;
}

ngx_uint_t
ngx_tg_unsent_texts_contains(const ngx_tg_session_t *session,
                             const ngx_tg_broadcast_text_t *text)
{
    const ngx_tg_unsent_text_t *unsent;

    unsent = session->priv->texts.first;

    while (unsent != NULL && unsent->text != text) {
        unsent = unsent->next;
    }

    return unsent != NULL;
}

static void
ngx_tg_unsent_texts_remove_first(ngx_tg_session_t *session)
{
    ngx_tg_unsent_text_t *unsent;
    ngx_tg_unsent_texts_t *texts;
    size_t size;

    texts = &session->priv->texts;
    unsent = texts->first;
    size = unsent->head + unsent->text->bytes.len;
    texts->bytes -= size - texts->sent;
    texts->memory -= sizeof(*unsent) + unsent->head;
    texts->sent = 0;
    texts->first = unsent->next;

    if (texts->first != NULL) {
        texts->first_offset += texts->first->gap;
    }

    if (session->priv->shared_client != NULL) {
        session->priv->shared_client->backlog_bytes -= ngx_min(
            session->priv->shared_client->backlog_bytes, size);
    }

    ngx_tg_broadcast_text_release(unsent->text);
    tg_free(tg_alloc_libc(), unsent);
}

void
ngx_tg_unsent_texts_clear(ngx_tg_session_t *session)
{
    while (session->priv->texts.first != NULL) {
        ngx_tg_unsent_texts_remove_first(session);
    }
}

void
ngx_tg_unsent_texts_shift(ngx_tg_session_t *session, size_t bytes)
{
    session->priv->texts.first_offset -= ngx_min(
        session->priv->texts.first_offset, bytes);
    session->priv->texts.last_offset -= ngx_min(
        session->priv->texts.last_offset, bytes);
}

/* Returns the next bytes of the first unsent text. */
static tg_str_t
ngx_tg_unsent_texts_get_rest(const ngx_tg_unsent_texts_t *texts)
{
    const ngx_tg_unsent_text_t *unsent;
    const tg_buf_t *bytes;
    size_t at;

    unsent = texts->first;
    bytes = &unsent->text->bytes;

    if (texts->sent < unsent->head) {
        return tg_str(unsent->data + texts->sent, unsent->head - texts->sent);
    }

    at = texts->sent - unsent->head;

    return tg_str(bytes->data + at, bytes->len - at);
}

ngx_int_t
ngx_tg_unsent_texts_flush(ngx_tg_session_t *session)
{
    ngx_tg_unsent_texts_t *texts;
    ngx_connection_t *c;
    tg_str_t rest;
    ssize_t n;

    c = session->base.connection;
    texts = &session->priv->texts;

    if (!session->priv->has_slice) {
        tg_sched_enqueue(&ngx_tg_sched, &session->priv->source);
        return NGX_AGAIN;
    }

    if (texts->sent == 0 && session->base.conf->trace != NULL) {
        ngx_tg_session_trace_broadcast_text(session);
    }

    for (;;) {
        rest = ngx_tg_unsent_texts_get_rest(texts);

        if (rest.len == 0) {
            break;
        }

        if (!session->priv->has_slice) {
            return NGX_AGAIN;
        }

        n = c->write->ready
                ? c->send(c, (u_char *) (uintptr_t) rest.data,
                          ngx_min(rest.len, NGX_TG_BROADCAST_TEXT_SEND_SIZE))
                : NGX_AGAIN;

        if (n <= 0) {
            return n == NGX_ERROR ? NGX_ERROR : NGX_AGAIN;
        }

        texts->sent += (size_t) n;
        texts->bytes -= (size_t) n;
        session->bytes_out += (uint64_t) n;
        session->priv->has_sent = 1;

        if (tg_sched_is_slice_over(&ngx_tg_sched, &session->priv->source,
                                   (size_t) n)) {
            session->priv->has_slice = 0;
        }
    }

    ngx_tg_unsent_texts_remove_first(session);

    return NGX_OK;
}

/* --- handoff --- */

static void
ngx_tg_unsent_texts_append_range(tg_buf_t *to, const tg_buf_t *from, size_t at,
                                 size_t end)
{
    if (at != end) {
        tg_buf_append(to, from->data + at, end - at);
    }
}

/* Inserts the rest of the first text into peer.out, without sent bytes. */
static void
ngx_tg_unsent_texts_copy_first(ngx_tg_session_t *session)
{
    ngx_tg_unsent_texts_t *texts;
    tg_buf_t whole, *out;
    tg_str_t rest;
    size_t at, size;

    texts = &session->priv->texts;
    out = &session->base.peer.out;
    at = texts->first_offset;
    size = texts->first->head + texts->first->text->bytes.len - texts->sent;
    session->traced = texts->sent != 0
                          ? size
                          : session->traced
                                - ngx_min(session->traced, session->sent);
    tg_buf_init(&whole, out->alloc);
    ngx_tg_unsent_texts_append_range(&whole, out, session->sent, at);

    while ((rest = ngx_tg_unsent_texts_get_rest(texts)).len != 0) {
        tg_buf_append_str(&whole, rest);
        texts->sent += rest.len;
        texts->bytes -= rest.len;
    }

    ngx_tg_unsent_texts_append_range(&whole, out, at, out->len);
    whole.failed |= out->failed;
    tg_buf_deinit(out);
    *out = whole;
    texts->first_offset += size - session->sent;
    texts->last_offset += size - session->sent;
    session->sent = 0;
    ngx_tg_unsent_texts_remove_first(session);
}

uint64_t
ngx_tg_unsent_texts_copy_to_output(ngx_tg_session_t *session, uint64_t at)
{
    ngx_tg_unsent_texts_t *texts;

    texts = &session->priv->texts;

    /* The other worker cannot read a part of a text, or one that is lost. */
    while (texts->first != NULL
           && (texts->sent != 0
               || !ngx_tg_broadcast_log_has(texts->first->text->at)))
    {
        ngx_tg_unsent_texts_copy_first(session);
    }

    if (texts->first != NULL) {
        at = texts->first->text->at;
    }

    ngx_tg_unsent_texts_clear(session);

    return at;
}
