/*
 * The table of clients. A client keeps its row while it moves between workers:
 * it is counted once, and notified wherever it is if it is displaced.
 */
#include "nginx/shm/ngx_tg_shm_page.h"

static ngx_tg_client_row_t *
ngx_tg_client_slot_get_row(const ngx_tg_client_slot_t *client_slot)
{
    return ngx_tg_shm_page != NULL && client_slot->row != 0
                   && client_slot->row <= NGX_TG_CLIENTS_MAX
               ? &ngx_tg_shm_page->rows[client_slot->row - 1]
               : NULL;
}

static void
ngx_tg_client_row_write(ngx_tg_client_row_t *row,
                        const ngx_tg_client_info_t *info)
{
    row->calls = (uint32_t) info->calls;
    row->dialect = (uint8_t) info->dialect;
    row->receives_broadcasts = info->receives_broadcasts != 0;
}

/* Finds a free row, starting after the last one found, or NULL. */
static ngx_tg_client_row_t *
ngx_tg_client_row_find_free(void)
{
    static ngx_uint_t last;

    ngx_tg_shm_page_t *page;
    ngx_uint_t i, at;

    page = ngx_tg_shm_page;

    for (i = 0; i < NGX_TG_CLIENTS_MAX; i++) {
        at = (last + i) % (page->nrows + 1) % NGX_TG_CLIENTS_MAX;

        if (page->rows[at].state == NGX_TG_CLIENT_ROW_FREE) {
            last = at;
            page->nrows = (uint32_t) ngx_max(page->nrows, at + 1);
            return &page->rows[at];
        }
    }

    return NULL;
}

ngx_int_t
ngx_tg_client_slot_allocate(ngx_tg_client_slot_t *client_slot, uint64_t address,
                            const ngx_tg_client_info_t *info)
{
    ngx_tg_shm_page_t *page;
    ngx_tg_client_row_t *row;

    page = ngx_tg_shm_page;

    if (page == NULL) {
        return NGX_DECLINED;
    }

    ngx_tg_shm_page_lock();
    row = ngx_tg_client_row_find_free();

    if (row != NULL) {
        ngx_memzero(row, sizeof(ngx_tg_client_row_t));
        row->number = ++page->last_client_number;
        row->address = address;
        row->since = info->since;
        row->worker = (uint32_t) ngx_tg_shm_page_get_worker_slot();
        row->pid = (int32_t) info->pid;
        row->uid = (uint32_t) info->uid;
        ngx_tg_client_row_write(row, info);
        row->state = NGX_TG_CLIENT_ROW_IN_USE;
        client_slot->row = (uint64_t) (row - page->rows) + 1;
        client_slot->number = row->number;
        client_slot->read_position = page->head;
    }

    ngx_tg_shm_page_unlock();

    return row != NULL ? NGX_OK : NGX_BUSY;
}

void
ngx_tg_client_slot_update(const ngx_tg_client_slot_t *client_slot,
                          const ngx_tg_client_info_t *info)
{
    ngx_tg_client_row_t *row;

    row = ngx_tg_client_slot_get_row(client_slot);

    if (row == NULL) {
        return;
    }

    ngx_tg_client_row_write(row, info);
}

void
ngx_tg_client_slot_set_identity(const ngx_tg_client_slot_t *client_slot,
                                const tg_peer_t *peer)
{
    ngx_tg_client_row_t *row;

    row = ngx_tg_client_slot_get_row(client_slot);

    if (row != NULL) {
        ngx_tg_shm_page_lock();
        ngx_tg_client_identity_set(&row->identity, peer);
        ngx_tg_shm_page_unlock();
    }
}

void
ngx_tg_client_slot_free(ngx_tg_client_slot_t *client_slot)
{
    ngx_tg_client_row_t *row;

    row = ngx_tg_client_slot_get_row(client_slot);

    if (row == NULL) {
        return;
    }

    ngx_tg_shm_page_lock();

    if (row->number == client_slot->number) {
        row->state = NGX_TG_CLIENT_ROW_FREE;
    }

    ngx_tg_shm_page_unlock();
    client_slot->row = 0;
}

void
ngx_tg_client_slot_detach(ngx_tg_client_slot_t *client_slot)
{
    ngx_tg_client_row_t *row;

    row = ngx_tg_client_slot_get_row(client_slot);

    if (row == NULL) {
        return;
    }

    ngx_tg_shm_page_lock();
    row->read_position = client_slot->read_position;
    row->moved_at = ngx_current_msec;
    row->state = NGX_TG_CLIENT_ROW_MOVING;
    ngx_tg_shm_page_unlock();
}

ngx_int_t
ngx_tg_client_slot_attach(ngx_tg_client_slot_t *client_slot, uint64_t address)
{
    ngx_tg_client_row_t *row;
    ngx_int_t rc;

    row = ngx_tg_client_slot_get_row(client_slot);

    if (row == NULL) {
        return NGX_DECLINED;
    }

    ngx_tg_shm_page_lock();
    rc = row->state == NGX_TG_CLIENT_ROW_MOVING
                 && row->number == client_slot->number
             ? NGX_OK
             : NGX_DECLINED;

    if (rc == NGX_OK) {
        row->address = address;
        row->worker = (uint32_t) ngx_tg_shm_page_get_worker_slot();
        row->state = NGX_TG_CLIENT_ROW_IN_USE;
    }

    ngx_tg_shm_page_unlock();

    return rc;
}

/* --- bridges --- */

/*
 * Checks whether the client's process is gone: a restarted bridge may connect
 * before the worker notices it.
 */
static ngx_uint_t
ngx_tg_client_row_is_orphaned(const ngx_tg_client_row_t *row)
{
    return row->pid != 0 && kill(row->pid, 0) == -1 && ngx_errno == ESRCH;
}

ngx_int_t
ngx_tg_client_slot_register_bridge(const ngx_tg_client_slot_t *client_slot,
                                   const ngx_tg_address_set_t *addresses,
                                   ngx_tg_bridge_policy_t policy)
{
    ngx_tg_shm_page_t *page;
    ngx_tg_client_row_t *own, *row;
    ngx_uint_t i, n;

    own = ngx_tg_client_slot_get_row(client_slot);

    if (own == NULL) {
        return NGX_OK;
    }

    page = ngx_tg_shm_page;
    ngx_tg_shm_page_lock();
    ngx_tg_shm_page_sweep();

    for (i = 0, n = 0; i < page->nrows; i++) {
        row = &page->rows[i];

        if (row == own || row->state == NGX_TG_CLIENT_ROW_FREE
            || !row->is_bridge || row->is_displaced
            || ngx_tg_client_row_is_orphaned(row)
            || !ngx_tg_address_set_contains(addresses, row->address))
        {
            continue;
        }

        n++;
        row->is_displaced = policy == NGX_TG_BRIDGE_POLICY_DISPLACE;
    }

    own->is_bridge = n == 0 || policy != NGX_TG_BRIDGE_POLICY_REJECT;

    if (n != 0 && policy == NGX_TG_BRIDGE_POLICY_DISPLACE) {
        page->displacements++;
    }

    ngx_tg_shm_page_unlock();

    if (n != 0 && policy == NGX_TG_BRIDGE_POLICY_DISPLACE) {
        ngx_tg_shm_page_wake_workers();
    }

    return own->is_bridge ? NGX_OK : NGX_BUSY;
}

ngx_uint_t
ngx_tg_client_slot_is_displaced(const ngx_tg_client_slot_t *client_slot)
{
    ngx_tg_client_row_t *row;

    row = ngx_tg_client_slot_get_row(client_slot);

    return row != NULL && row->is_displaced;
}

ngx_uint_t
ngx_tg_client_table_has_displaced(void)
{
    static uint64_t seen;

    uint64_t displacements;

    if (ngx_tg_shm_page == NULL) {
        return 0;
    }

    displacements = __atomic_load_n(&ngx_tg_shm_page->displacements,
                                    __ATOMIC_SEQ_CST);

    if (displacements == seen) {
        return 0;
    }

    seen = displacements;

    return 1;
}

/* --- listing --- */

void
ngx_tg_client_table_visit(const ngx_tg_address_set_t *addresses,
                          ngx_tg_client_visit_pt visit, void *data)
{
    ngx_tg_shm_page_t *page;
    ngx_tg_client_info_t info;
    ngx_tg_client_row_t *row;
    ngx_uint_t i;

    page = ngx_tg_shm_page;

    if (page == NULL) {
        return;
    }

    ngx_tg_shm_page_lock();
    ngx_tg_shm_page_sweep();

    for (i = 0; i < page->nrows; i++) {
        row = &page->rows[i];

        if (row->state == NGX_TG_CLIENT_ROW_FREE
            || !ngx_tg_address_set_contains(addresses, row->address))
        {
            continue;
        }

        info.since = row->since;
        info.pid = row->pid;
        info.uid = row->uid;
        info.calls = row->calls;
        info.worker = row->state == NGX_TG_CLIENT_ROW_IN_USE
                          ? page->readers[row->worker].pid
                          : 0;
        info.dialect = (tg_dialect_t) row->dialect;
        info.identity = &row->identity;
        info.receives_broadcasts = row->receives_broadcasts;
        visit(data, &info);
    }

    ngx_tg_shm_page_unlock();
}
