/*
 * What clients are told: a log in the page's memory, which is written in a
 * circle.  Where a piece stands is its number, too: each worker, and each
 * client that moves, knows up to where it has read.
 *
 *     size             of the whole, or NGX_TOOLGATE_NEWS_SKIP
 *     whom, naddresses, method_len, params_len
 *     addresses        of the server
 *     method, params   bytes
 *
 * A piece is never cut: where it does not fit before the end of the memory,
 * that is skipped.
 */
#include "nginx/share/ngx_toolgate_page.h"

/* ms between two looks who was killed. */
#define NGX_TOOLGATE_NEWS_SWEEP 1000

/* Of the copy of a piece that is kept for the next one. */
#define NGX_TOOLGATE_NEWS_KEPT 65536

/* In place of a size: go on at the beginning of the memory. */
#define NGX_TOOLGATE_NEWS_SKIP UINT64_MAX

typedef struct {
    uint64_t size;
    uint64_t whom;
    uint64_t naddresses;
    uint64_t method_len;
    uint64_t params_len;
    uint64_t has_params;
} ngx_toolgate_piece_t;

static char *
ngx_toolgate_news_at(uint64_t at)
{
    return ngx_toolgate_page->news + at % NGX_TOOLGATE_NEWS_ROOM;
}

static uint64_t
ngx_toolgate_news_rest(uint64_t at)
{
    return NGX_TOOLGATE_NEWS_ROOM - at % NGX_TOOLGATE_NEWS_ROOM;
}

/* --- writing --- */

/* Does somebody who is not late have to read what stands before this? */
static ngx_uint_t
ngx_toolgate_news_is_needed(uint64_t before)
{
    ngx_toolgate_reader_t *reader;
    ngx_toolgate_page_t *page;
    ngx_toolgate_client_line_t *line;
    ngx_uint_t i;

    page = ngx_toolgate_page;

    for (i = 0; i < page->nreaders; i++) {
        reader = &page->readers[i];

        if (reader->pid != 0 && reader->read < before
            && ngx_toolgate_page_age(reader->since) < NGX_TOOLGATE_NEWS_LATE
            && ngx_toolgate_page_is_alive(i))
        {
            return 1;
        }
    }

    for (i = 0; i < page->nlines; i++) {
        line = &page->lines[i];

        if (line->state == NGX_TOOLGATE_CLIENT_LINE_MOVING
            && line->heard < before
            && ngx_toolgate_page_age(line->moved) < NGX_TOOLGATE_NEWS_LATE)
        {
            return 1;
        }
    }

    return 0;
}

/* Whoever has read all has something to read from now on. */
static void
ngx_toolgate_news_announce(void)
{
    ngx_toolgate_reader_t *reader;
    ngx_toolgate_page_t *page;
    ngx_uint_t i;

    page = ngx_toolgate_page;

    for (i = 0; i < page->nreaders; i++) {
        reader = &page->readers[i];

        if (reader->read == page->head) {
            reader->since = ngx_current_msec;
        }
    }
}

/* Room for a piece: NGX_OK, or NGX_BUSY.  The page is locked. */
static ngx_int_t
ngx_toolgate_news_room(uint64_t size, uint64_t *at)
{
    ngx_toolgate_page_t *page;
    uint64_t rest, end;

    page = ngx_toolgate_page;
    rest = ngx_toolgate_news_rest(page->head);
    *at = rest < size ? page->head + rest : page->head;
    end = *at + size;

    if (end > NGX_TOOLGATE_NEWS_ROOM
        && end - NGX_TOOLGATE_NEWS_ROOM > page->tail) {
        if (ngx_toolgate_news_is_needed(end - NGX_TOOLGATE_NEWS_ROOM)) {
            return NGX_BUSY;
        }

        page->tail = end - NGX_TOOLGATE_NEWS_ROOM;
    }

    return NGX_OK;
}

static void
ngx_toolgate_news_write(char *p, const ngx_toolgate_piece_t *piece,
                        const ngx_toolgate_srv_conf_t *scf, tg_str_t method,
                        tg_str_t params)
{
    p = (char *) ngx_cpymem(p, piece, sizeof(ngx_toolgate_piece_t));
    p = (char *) ngx_cpymem(p, scf->addresses.hash,
                            scf->addresses.n * sizeof(uint64_t));
    p = (char *) ngx_cpymem(p, method.data, method.len);

    if (params.data != NULL) {
        ngx_memcpy(p, params.data, params.len);
    }
}

static ngx_uint_t
ngx_toolgate_news_count(const ngx_toolgate_srv_conf_t *scf)
{
    ngx_toolgate_page_t *page;
    ngx_toolgate_client_line_t *line;
    ngx_uint_t i, n;

    page = ngx_toolgate_page;

    for (i = 0, n = 0; i < page->nlines; i++) {
        line = &page->lines[i];
        n += line->state != NGX_TOOLGATE_CLIENT_LINE_FREE && line->is_told
             && !line->is_displaced
             && ngx_toolgate_has_address(&scf->addresses, line->address);
    }

    return n;
}

/* So that those of a worker that was killed are not counted for long. */
static void
ngx_toolgate_news_sweep(void)
{
    static ngx_msec_t last;

    if (ngx_current_msec - last >= NGX_TOOLGATE_NEWS_SWEEP) {
        last = ngx_current_msec;
        ngx_toolgate_page_sweep();
    }
}

static ngx_int_t
ngx_toolgate_news_add(const ngx_toolgate_srv_conf_t *scf, uint64_t whom,
                      tg_str_t method, tg_str_t params, ngx_uint_t *n)
{
    ngx_toolgate_piece_t piece;
    ngx_toolgate_page_t *page;
    uint64_t at;
    ngx_int_t rc;

    if (method.len + params.len > NGX_TOOLGATE_NEWS_MAX) {
        return NGX_ABORT;
    }

    page = ngx_toolgate_page;
    piece.whom = whom;
    piece.naddresses = scf->addresses.n;
    piece.method_len = method.len;
    piece.params_len = params.len;
    piece.has_params = params.data != NULL;
    piece.size = ngx_align(sizeof(piece) + method.len + params.len
                               + scf->addresses.n * sizeof(uint64_t),
                           sizeof(uint64_t));

    ngx_toolgate_page_lock();
    ngx_toolgate_news_sweep();
    rc = ngx_toolgate_news_room(piece.size, &at);

    if (rc == NGX_OK) {
        *n = ngx_toolgate_news_count(scf);
        ngx_toolgate_news_announce();

        if (at != page->head) {
            *(uint64_t *) (void *) ngx_toolgate_news_at(
                page->head) = NGX_TOOLGATE_NEWS_SKIP;
        }

        ngx_toolgate_news_write(ngx_toolgate_news_at(at), &piece, scf, method,
                                params);
        __atomic_store_n(&page->head, at + piece.size, __ATOMIC_SEQ_CST);
    }

    ngx_toolgate_page_unlock();

    if (rc == NGX_OK) {
        ngx_toolgate_page_wake();
    }

    return rc;
}

static ngx_int_t
ngx_toolgate_news_put(const ngx_toolgate_srv_conf_t *scf, uint64_t whom,
                      tg_str_t method, tg_str_t params, ngx_uint_t *n)
{
    tg_buf_t compact;
    ngx_int_t rc;

    *n = 0;

    if (ngx_toolgate_page == NULL || tg_notification_name_check(method) != NULL)
    {
        return NGX_DECLINED;
    }

    /* Dialects of lines must not see where it was broken. */
    tg_buf_init(&compact, tg_alloc_libc());

    if (params.data != NULL) {
        tg_json_put_compact(&compact, params);
        params = tg_buf_view(&compact);
    }

    rc = tg_buf_failed(&compact)
             ? NGX_ERROR
             : ngx_toolgate_news_add(scf, whom, method, params, n);
    tg_buf_deinit(&compact);

    return rc;
}

ngx_int_t
ngx_toolgate_broadcast(const ngx_toolgate_srv_conf_t *scf, tg_str_t method,
                       tg_str_t params, ngx_uint_t *n)
{
    return ngx_toolgate_news_put(scf, NGX_TOOLGATE_TO_ALL, method, params, n);
}

ngx_int_t
ngx_toolgate_tell(const ngx_toolgate_srv_conf_t *scf, uint64_t whom,
                  tg_str_t method, tg_str_t params)
{
    ngx_uint_t n;

    return ngx_toolgate_news_put(scf, whom, method, params, &n);
}

/* --- reading --- */

/* Copies the piece at a place; the page is locked, and it is there. */
static ngx_int_t
ngx_toolgate_news_take(uint64_t at, tg_buf_t *copy, ngx_toolgate_news_t *news)
{
    ngx_toolgate_piece_t *piece;
    char *p;

    piece = (ngx_toolgate_piece_t *) (void *) ngx_toolgate_news_at(at);

    if (piece->size == NGX_TOOLGATE_NEWS_SKIP) {
        at += ngx_toolgate_news_rest(at);
        piece = (ngx_toolgate_piece_t *) (void *) ngx_toolgate_news_at(at);
    }

    if (copy->alloc == NULL) {
        tg_buf_init(copy, tg_alloc_libc());
    }

    tg_buf_reset(copy, NGX_TOOLGATE_NEWS_KEPT);
    tg_buf_put(copy, (char *) piece, (size_t) piece->size);

    if (tg_buf_failed(copy)) {
        tg_buf_reset(copy, 0);
        return NGX_ERROR;
    }

    piece = (ngx_toolgate_piece_t *) (void *) copy->data;
    p = copy->data + sizeof(ngx_toolgate_piece_t);
    news->at = at;
    news->next = at + piece->size;
    news->whom = piece->whom;
    news->addresses.hash = (uint64_t *) (void *) p;
    news->addresses.n = (ngx_uint_t) piece->naddresses;
    p += piece->naddresses * sizeof(uint64_t);
    news->method = tg_str(p, (size_t) piece->method_len);
    news->params = piece->has_params ? tg_str(p + piece->method_len,
                                              (size_t) piece->params_len)
                                     : TG_STR_NONE;

    return NGX_OK;
}

uint64_t
ngx_toolgate_news_read(void)
{
    return ngx_toolgate_page_reader()->read;
}

ngx_int_t
ngx_toolgate_news_next(tg_buf_t *copy, ngx_toolgate_news_t *news)
{
    ngx_toolgate_reader_t *reader;
    ngx_toolgate_page_t *page;
    ngx_int_t rc;

    page = ngx_toolgate_page;

    if (page == NULL) {
        return NGX_AGAIN;
    }

    reader = ngx_toolgate_page_reader();

    if (__atomic_load_n(&page->head, __ATOMIC_SEQ_CST) == reader->read) {
        return NGX_AGAIN;
    }

    ngx_toolgate_page_lock();

    if (reader->read < page->tail) {
        reader->read = page->head;
        rc = NGX_ABORT;

    } else {
        rc = ngx_toolgate_news_take(reader->read, copy, news);
        reader->read = rc == NGX_OK ? news->next : reader->read;
        reader->since = ngx_current_msec;
    }

    ngx_toolgate_page_unlock();

    return rc;
}

ngx_int_t
ngx_toolgate_news_from(uint64_t at, tg_buf_t *copy, ngx_toolgate_news_t *news)
{
    ngx_int_t rc;

    if (ngx_toolgate_page == NULL || at >= ngx_toolgate_news_read()) {
        return NGX_AGAIN;
    }

    ngx_toolgate_page_lock();
    rc = at < ngx_toolgate_page->tail ? NGX_ABORT
                                      : ngx_toolgate_news_take(at, copy, news);
    ngx_toolgate_page_unlock();

    return rc;
}

ngx_uint_t
ngx_toolgate_news_is_there(uint64_t at)
{
    ngx_uint_t is_there;

    if (ngx_toolgate_page == NULL) {
        return 0;
    }

    ngx_toolgate_page_lock();
    is_there = at >= ngx_toolgate_page->tail;
    ngx_toolgate_page_unlock();

    return is_there;
}
