/*
 * The broadcast log, a ring buffer in the page's memory. Each worker, and each
 * client in transit, stores the position (and number) of the next record to
 * read. If a record does not fit before the end of the memory, the rest is
 * skipped.
 *
 *   size of the record, or NGX_TG_BROADCAST_LOG_WRAP
 *   audience, naddresses, method_len, params_len, has_params
 *   addresses of the server
 *   method, params   bytes
 */
#include "nginx/shm/ngx_tg_shm_page.h"

/* Interval between checks for killed workers, in ms. */
#define NGX_TG_BROADCAST_SWEEP_INTERVAL 1000

/* Bytes of a record's copy that are kept for the next record. */
#define NGX_TG_BROADCAST_COPY_KEEP 65536

/* In place of a size: the next record is at the start of the memory. */
#define NGX_TG_BROADCAST_LOG_WRAP UINT64_MAX

typedef struct {
    uint64_t size;
    uint64_t audience;
    uint64_t naddresses;
    uint64_t method_len;
    uint64_t params_len;
    uint64_t has_params;
} ngx_tg_broadcast_record_t;

static char *
ngx_tg_broadcast_log_get_pointer(uint64_t at)
{
    return ngx_tg_shm_page->broadcast + at % NGX_TG_BROADCAST_LOG_SIZE;
}

static uint64_t
ngx_tg_broadcast_log_get_tail_room(uint64_t at)
{
    return NGX_TG_BROADCAST_LOG_SIZE - at % NGX_TG_BROADCAST_LOG_SIZE;
}

/* --- writing --- */

/* Checks whether a live, fast reader still needs records before a position. */
static ngx_uint_t
ngx_tg_broadcast_log_is_needed(uint64_t before)
{
    ngx_tg_broadcast_reader_t *reader;
    ngx_tg_shm_page_t *page;
    ngx_tg_client_row_t *row;
    ngx_uint_t i;

    page = ngx_tg_shm_page;

    for (i = 0; i < page->nreaders; i++) {
        reader = &page->readers[i];

        if (reader->pid != 0 && reader->read < before
            && ngx_tg_shm_page_get_age(reader->since)
                   < NGX_TG_BROADCAST_READER_TIMEOUT
            && ngx_tg_shm_page_is_worker_alive(i))
        {
            return 1;
        }
    }

    for (i = 0; i < page->nrows; i++) {
        row = &page->rows[i];

        if (row->state == NGX_TG_CLIENT_ROW_MOVING
            && row->read_position < before
            && ngx_tg_shm_page_get_age(row->moved_at)
                   < NGX_TG_BROADCAST_READER_TIMEOUT)
        {
            return 1;
        }
    }

    return 0;
}

/* Starts the time of readers that had read everything before this record. */
static void
ngx_tg_broadcast_log_mark_readers(void)
{
    ngx_tg_broadcast_reader_t *reader;
    ngx_tg_shm_page_t *page;
    ngx_uint_t i;

    page = ngx_tg_shm_page;

    for (i = 0; i < page->nreaders; i++) {
        reader = &page->readers[i];

        if (reader->read == page->head) {
            reader->since = ngx_current_msec;
        }
    }
}

/* Makes room in the locked page. NGX_BUSY: readers need the space. */
static ngx_int_t
ngx_tg_broadcast_log_make_room(uint64_t size, uint64_t *at)
{
    ngx_tg_shm_page_t *page;
    uint64_t rest, end;

    page = ngx_tg_shm_page;
    rest = ngx_tg_broadcast_log_get_tail_room(page->head);
    *at = rest < size ? page->head + rest : page->head;
    end = *at + size;

    if (end > NGX_TG_BROADCAST_LOG_SIZE
        && end - NGX_TG_BROADCAST_LOG_SIZE > page->tail)
    {
        if (ngx_tg_broadcast_log_is_needed(end - NGX_TG_BROADCAST_LOG_SIZE)) {
            return NGX_BUSY;
        }

        page->tail = end - NGX_TG_BROADCAST_LOG_SIZE;
    }

    return NGX_OK;
}

static void
ngx_tg_broadcast_log_write(char *p, const ngx_tg_broadcast_record_t *piece,
                           const ngx_tg_srv_conf_t *scf, tg_str_t method,
                           tg_str_t params)
{
    p = (char *) ngx_cpymem(p, piece, sizeof(ngx_tg_broadcast_record_t));
    p = (char *) ngx_cpymem(p, scf->addresses.hash,
                            scf->addresses.n * sizeof(uint64_t));
    p = (char *) ngx_cpymem(p, method.data, method.len);

    if (params.data != NULL) {
        ngx_memcpy(p, params.data, params.len);
    }
}

static ngx_uint_t
ngx_tg_broadcast_count_clients(const ngx_tg_srv_conf_t *scf)
{
    ngx_tg_shm_page_t *page;
    ngx_tg_client_row_t *row;
    ngx_uint_t i, n;

    page = ngx_tg_shm_page;

    for (i = 0, n = 0; i < page->nrows; i++) {
        row = &page->rows[i];
        n += row->state != NGX_TG_CLIENT_ROW_FREE && row->receives_broadcasts
             && !row->is_displaced
             && ngx_tg_address_set_contains(&scf->addresses, row->address);
    }

    return n;
}

/* Frees rows of killed workers at intervals, so that none is counted. */
static void
ngx_tg_broadcast_log_sweep(void)
{
    static ngx_msec_t last;

    if (ngx_current_msec - last >= NGX_TG_BROADCAST_SWEEP_INTERVAL) {
        last = ngx_current_msec;
        ngx_tg_shm_page_sweep();
    }
}

static ngx_int_t
ngx_tg_broadcast_log_append(const ngx_tg_srv_conf_t *scf, uint64_t audience,
                            tg_str_t method, tg_str_t params, ngx_uint_t *n)
{
    ngx_tg_broadcast_record_t piece;
    ngx_tg_shm_page_t *page;
    uint64_t at;
    ngx_int_t rc;

    if (method.len + params.len > NGX_TG_BROADCAST_MAX) {
        return NGX_ABORT;
    }

    page = ngx_tg_shm_page;
    piece.audience = audience;
    piece.naddresses = scf->addresses.n;
    piece.method_len = method.len;
    piece.params_len = params.len;
    piece.has_params = params.data != NULL;
    piece.size = ngx_align(sizeof(piece) + method.len + params.len
                               + scf->addresses.n * sizeof(uint64_t),
                           sizeof(uint64_t));

    ngx_tg_shm_page_lock();
    ngx_tg_broadcast_log_sweep();
    rc = ngx_tg_broadcast_log_make_room(piece.size, &at);

    if (rc == NGX_OK) {
        *n = ngx_tg_broadcast_count_clients(scf);
        ngx_tg_broadcast_log_mark_readers();

        if (at != page->head) {
            *(uint64_t *) (void *) ngx_tg_broadcast_log_get_pointer(
                page->head) = NGX_TG_BROADCAST_LOG_WRAP;
        }

        ngx_tg_broadcast_log_write(ngx_tg_broadcast_log_get_pointer(at), &piece,
                                   scf, method, params);
        __atomic_store_n(&page->head, at + piece.size, __ATOMIC_SEQ_CST);
    }

    ngx_tg_shm_page_unlock();

    if (rc == NGX_OK) {
        ngx_tg_shm_page_wake_workers();
    }

    return rc;
}

static ngx_int_t
ngx_tg_broadcast_log_append_compact(const ngx_tg_srv_conf_t *scf,
                                    uint64_t audience, tg_str_t method,
                                    tg_str_t params, ngx_uint_t *n)
{
    tg_buf_t compact;
    ngx_int_t rc;

    *n = 0;

    if (ngx_tg_shm_page == NULL || tg_notification_check_name(method) != NULL) {
        return NGX_DECLINED;
    }

    /* Line-based dialects cannot send params with line breaks. */
    tg_buf_init(&compact, tg_alloc_libc());

    if (params.data != NULL) {
        tg_json_write_compact(&compact, params);
        params = tg_buf_view(&compact);
    }

    rc = tg_buf_has_failed(&compact)
             ? NGX_ERROR
             : ngx_tg_broadcast_log_append(scf, audience, method, params, n);
    tg_buf_deinit(&compact);

    return rc;
}

ngx_int_t
ngx_tg_server_broadcast(const ngx_tg_srv_conf_t *scf, tg_str_t method,
                        tg_str_t params, ngx_uint_t *n)
{
    return ngx_tg_broadcast_log_append_compact(scf, NGX_TG_AUDIENCE_ALL, method,
                                               params, n);
}

ngx_int_t
ngx_tg_server_broadcast_to_audience(const ngx_tg_srv_conf_t *scf,
                                    uint64_t audience, tg_str_t method,
                                    tg_str_t params)
{
    ngx_uint_t n;

    return ngx_tg_broadcast_log_append_compact(scf, audience, method, params,
                                               &n);
}

/* --- reading --- */

/* Copies the record at a position, which must exist, from the locked page. */
static ngx_int_t
ngx_tg_broadcast_log_copy(uint64_t at, tg_buf_t *copy,
                          ngx_tg_broadcast_message_t *broadcast)
{
    ngx_tg_broadcast_record_t *piece;
    char *p;

    piece = (ngx_tg_broadcast_record_t *) (void *)
        ngx_tg_broadcast_log_get_pointer(at);

    if (piece->size == NGX_TG_BROADCAST_LOG_WRAP) {
        at += ngx_tg_broadcast_log_get_tail_room(at);
        piece = (ngx_tg_broadcast_record_t *) (void *)
            ngx_tg_broadcast_log_get_pointer(at);
    }

    if (copy->alloc == NULL) {
        tg_buf_init(copy, tg_alloc_libc());
    }

    tg_buf_reset(copy, NGX_TG_BROADCAST_COPY_KEEP);
    tg_buf_append(copy, (char *) piece, (size_t) piece->size);

    if (tg_buf_has_failed(copy)) {
        tg_buf_reset(copy, 0);
        return NGX_ERROR;
    }

    piece = (ngx_tg_broadcast_record_t *) (void *) copy->data;
    p = copy->data + sizeof(ngx_tg_broadcast_record_t);
    broadcast->at = at;
    broadcast->next = at + piece->size;
    broadcast->audience = piece->audience;
    broadcast->addresses.hash = (uint64_t *) (void *) p;
    broadcast->addresses.n = (ngx_uint_t) piece->naddresses;
    p += piece->naddresses * sizeof(uint64_t);
    broadcast->method = tg_str(p, (size_t) piece->method_len);
    broadcast->params = piece->has_params ? tg_str(p + piece->method_len,
                                                   (size_t) piece->params_len)
                                          : TG_STR_NONE;

    return NGX_OK;
}

uint64_t
ngx_tg_broadcast_log_get_position(void)
{
    return ngx_tg_shm_page_get_reader()->read;
}

ngx_int_t
ngx_tg_broadcast_log_read_next(tg_buf_t *copy,
                               ngx_tg_broadcast_message_t *broadcast)
{
    ngx_tg_broadcast_reader_t *reader;
    ngx_tg_shm_page_t *page;
    ngx_int_t rc;

    page = ngx_tg_shm_page;

    if (page == NULL) {
        return NGX_AGAIN;
    }

    reader = ngx_tg_shm_page_get_reader();

    if (__atomic_load_n(&page->head, __ATOMIC_SEQ_CST) == reader->read) {
        return NGX_AGAIN;
    }

    ngx_tg_shm_page_lock();

    if (reader->read < page->tail) {
        reader->read = page->head;
        rc = NGX_ABORT;

    } else {
        rc = ngx_tg_broadcast_log_copy(reader->read, copy, broadcast);
        reader->read = rc == NGX_OK ? broadcast->next : reader->read;
        reader->since = ngx_current_msec;
    }

    ngx_tg_shm_page_unlock();

    return rc;
}

ngx_int_t
ngx_tg_broadcast_log_read_at(uint64_t at, tg_buf_t *copy,
                             ngx_tg_broadcast_message_t *broadcast)
{
    ngx_int_t rc;

    if (ngx_tg_shm_page == NULL || at >= ngx_tg_broadcast_log_get_position()) {
        return NGX_AGAIN;
    }

    ngx_tg_shm_page_lock();
    rc = at < ngx_tg_shm_page->tail
             ? NGX_ABORT
             : ngx_tg_broadcast_log_copy(at, copy, broadcast);
    ngx_tg_shm_page_unlock();

    return rc;
}

ngx_uint_t
ngx_tg_broadcast_log_has(uint64_t at)
{
    ngx_uint_t is_there;

    if (ngx_tg_shm_page == NULL) {
        return 0;
    }

    ngx_tg_shm_page_lock();
    is_there = at >= ngx_tg_shm_page->tail;
    ngx_tg_shm_page_unlock();

    return is_there;
}
