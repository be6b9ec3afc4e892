/*
 * The table of clients.  A client keeps its line while it moves, so that
 * whoever counts finds each of them once, and one that is to go is told so
 * wherever it is by then.
 */
#include "nginx/share/ngx_toolgate_page.h"

static ngx_toolgate_client_line_t *
ngx_toolgate_client_line(const ngx_toolgate_seat_t *seat)
{
    return ngx_toolgate_page != NULL && seat->line != 0
                   && seat->line <= NGX_TOOLGATE_CLIENTS_MAX
               ? &ngx_toolgate_page->lines[seat->line - 1]
               : NULL;
}

static void
ngx_toolgate_client_line_put(ngx_toolgate_client_line_t *line,
                             const ngx_toolgate_about_t *about)
{
    line->calls = (uint32_t) about->calls;
    line->dialect = (uint8_t) about->dialect;
    line->is_told = about->is_told != 0;
}

/* One that nobody uses, looked for from where the last one was found. */
static ngx_toolgate_client_line_t *
ngx_toolgate_client_line_find(void)
{
    static ngx_uint_t last;

    ngx_toolgate_page_t *page;
    ngx_uint_t i, at;

    page = ngx_toolgate_page;

    for (i = 0; i < NGX_TOOLGATE_CLIENTS_MAX; i++) {
        at = (last + i) % (page->nlines + 1) % NGX_TOOLGATE_CLIENTS_MAX;

        if (page->lines[at].state == NGX_TOOLGATE_CLIENT_LINE_FREE) {
            last = at;
            page->nlines = (uint32_t) ngx_max(page->nlines, at + 1);
            return &page->lines[at];
        }
    }

    return NULL;
}

ngx_int_t
ngx_toolgate_seat_take(ngx_toolgate_seat_t *seat, uint64_t address,
                       const ngx_toolgate_about_t *about)
{
    ngx_toolgate_page_t *page;
    ngx_toolgate_client_line_t *line;

    page = ngx_toolgate_page;

    if (page == NULL) {
        return NGX_DECLINED;
    }

    ngx_toolgate_page_lock();
    line = ngx_toolgate_client_line_find();

    if (line != NULL) {
        ngx_memzero(line, sizeof(ngx_toolgate_client_line_t));
        line->number = ++page->numbers;
        line->address = address;
        line->since = about->since;
        line->worker = (uint32_t) ngx_toolgate_page_place();
        line->pid = (int32_t) about->pid;
        line->uid = (uint32_t) about->uid;
        ngx_toolgate_client_line_put(line, about);
        line->state = NGX_TOOLGATE_CLIENT_LINE_HERE;
        seat->line = (uint64_t) (line - page->lines) + 1;
        seat->number = line->number;
        seat->heard = page->head;
    }

    ngx_toolgate_page_unlock();

    return line != NULL ? NGX_OK : NGX_BUSY;
}

void
ngx_toolgate_seat_update(const ngx_toolgate_seat_t *seat,
                         const ngx_toolgate_about_t *about)
{
    ngx_toolgate_client_line_t *line;

    line = ngx_toolgate_client_line(seat);

    if (line == NULL) {
        return;
    }

    ngx_toolgate_client_line_put(line, about);
}

void
ngx_toolgate_seat_identify(const ngx_toolgate_seat_t *seat,
                           const tg_peer_t *peer)
{
    ngx_toolgate_client_line_t *line;

    line = ngx_toolgate_client_line(seat);

    if (line != NULL) {
        ngx_toolgate_page_lock();
        ngx_toolgate_identity_write(&line->identity, peer);
        ngx_toolgate_page_unlock();
    }
}

void
ngx_toolgate_seat_leave(ngx_toolgate_seat_t *seat)
{
    ngx_toolgate_client_line_t *line;

    line = ngx_toolgate_client_line(seat);

    if (line == NULL) {
        return;
    }

    ngx_toolgate_page_lock();

    if (line->number == seat->number) {
        line->state = NGX_TOOLGATE_CLIENT_LINE_FREE;
    }

    ngx_toolgate_page_unlock();
    seat->line = 0;
}

void
ngx_toolgate_seat_send(ngx_toolgate_seat_t *seat)
{
    ngx_toolgate_client_line_t *line;

    line = ngx_toolgate_client_line(seat);

    if (line == NULL) {
        return;
    }

    ngx_toolgate_page_lock();
    line->heard = seat->heard;
    line->moved = ngx_current_msec;
    line->state = NGX_TOOLGATE_CLIENT_LINE_MOVING;
    ngx_toolgate_page_unlock();
}

ngx_int_t
ngx_toolgate_seat_arrive(ngx_toolgate_seat_t *seat, uint64_t address)
{
    ngx_toolgate_client_line_t *line;
    ngx_int_t rc;

    line = ngx_toolgate_client_line(seat);

    if (line == NULL) {
        return NGX_DECLINED;
    }

    ngx_toolgate_page_lock();
    rc = line->state == NGX_TOOLGATE_CLIENT_LINE_MOVING
                 && line->number == seat->number
             ? NGX_OK
             : NGX_DECLINED;

    if (rc == NGX_OK) {
        line->address = address;
        line->worker = (uint32_t) ngx_toolgate_page_place();
        line->state = NGX_TOOLGATE_CLIENT_LINE_HERE;
    }

    ngx_toolgate_page_unlock();

    return rc;
}

/* --- bridges --- */

/*
 * Has the process gone that connected?  Its worker will notice, but one that
 * is started again may be faster.
 */
static ngx_uint_t
ngx_toolgate_client_line_is_orphan(const ngx_toolgate_client_line_t *line)
{
    return line->pid != 0 && kill(line->pid, 0) == -1 && ngx_errno == ESRCH;
}

ngx_int_t
ngx_toolgate_seat_bridge(const ngx_toolgate_seat_t *seat,
                         const ngx_toolgate_addresses_t *addresses,
                         ngx_toolgate_bridges_t policy)
{
    ngx_toolgate_page_t *page;
    ngx_toolgate_client_line_t *own, *line;
    ngx_uint_t i, n;

    own = ngx_toolgate_client_line(seat);

    if (own == NULL) {
        return NGX_OK;
    }

    page = ngx_toolgate_page;
    ngx_toolgate_page_lock();
    ngx_toolgate_page_sweep();

    for (i = 0, n = 0; i < page->nlines; i++) {
        line = &page->lines[i];

        if (line == own || line->state == NGX_TOOLGATE_CLIENT_LINE_FREE
            || !line->is_bridge || line->is_displaced
            || ngx_toolgate_client_line_is_orphan(line)
            || !ngx_toolgate_has_address(addresses, line->address))
        {
            continue;
        }

        n++;
        line->is_displaced = policy == NGX_TOOLGATE_BRIDGES_DISPLACE;
    }

    own->is_bridge = n == 0 || policy != NGX_TOOLGATE_BRIDGES_REJECT;

    if (n != 0 && policy == NGX_TOOLGATE_BRIDGES_DISPLACE) {
        page->orders++;
    }

    ngx_toolgate_page_unlock();

    if (n != 0 && policy == NGX_TOOLGATE_BRIDGES_DISPLACE) {
        ngx_toolgate_page_wake();
    }

    return own->is_bridge ? NGX_OK : NGX_BUSY;
}

ngx_uint_t
ngx_toolgate_seat_is_displaced(const ngx_toolgate_seat_t *seat)
{
    ngx_toolgate_client_line_t *line;

    line = ngx_toolgate_client_line(seat);

    return line != NULL && line->is_displaced;
}

ngx_uint_t
ngx_toolgate_clients_have_orders(void)
{
    static uint64_t seen;

    uint64_t orders;

    if (ngx_toolgate_page == NULL) {
        return 0;
    }

    orders = __atomic_load_n(&ngx_toolgate_page->orders, __ATOMIC_SEQ_CST);

    if (orders == seen) {
        return 0;
    }

    seen = orders;

    return 1;
}

/* --- looking --- */

void
ngx_toolgate_clients_see_all(const ngx_toolgate_addresses_t *addresses,
                             ngx_toolgate_see_pt see, void *data)
{
    ngx_toolgate_page_t *page;
    ngx_toolgate_about_t about;
    ngx_toolgate_client_line_t *line;
    ngx_uint_t i;

    page = ngx_toolgate_page;

    if (page == NULL) {
        return;
    }

    ngx_toolgate_page_lock();
    ngx_toolgate_page_sweep();

    for (i = 0; i < page->nlines; i++) {
        line = &page->lines[i];

        if (line->state == NGX_TOOLGATE_CLIENT_LINE_FREE
            || !ngx_toolgate_has_address(addresses, line->address))
        {
            continue;
        }

        about.since = line->since;
        about.pid = line->pid;
        about.uid = line->uid;
        about.calls = line->calls;
        about.worker = line->state == NGX_TOOLGATE_CLIENT_LINE_HERE
                           ? page->readers[line->worker].pid
                           : 0;
        about.dialect = (tg_dialect_t) line->dialect;
        about.identity = &line->identity;
        about.is_told = line->is_told;
        see(data, &about);
    }

    ngx_toolgate_page_unlock();
}
