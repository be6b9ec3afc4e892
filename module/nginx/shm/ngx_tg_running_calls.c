/*
 * Running calls by number, in rows that all workers read. A process requests
 * the end of a call in its row, which the call's worker polls.
 */
#include "nginx/shm/ngx_tg_counters_shm.h"

/* Poll interval in ms, too short for a person to notice. */
#define NGX_TG_RUNNING_CALLS_POLL_INTERVAL 50

static void ngx_tg_running_calls_on_timer(ngx_event_t *ev);

/* Callbacks of this worker's rows, and its free rows. */
static struct {
    void *data;
    void (*end)(void *data);
    uint16_t free;
} ngx_tg_running_call_callbacks[NGX_TG_RUNNING_CALLS_MAX];

static ngx_uint_t ngx_tg_running_calls_nfree;
static ngx_uint_t ngx_tg_running_calls_n;

static ngx_event_t ngx_tg_running_calls_event = {
    .handler = ngx_tg_running_calls_on_timer,
    .data = &ngx_tg_dummy_connection,
};

uint64_t
ngx_tg_running_call_next_number(void)
{
    return ngx_tg_counters_shm != NULL
               ? __atomic_add_fetch(&ngx_tg_counters_shm->last_call_number, 1,
                                    __ATOMIC_RELAXED)
               : 0;
}

/* --- rows of this worker --- */

ngx_uint_t
ngx_tg_running_call_add(const ngx_tg_running_call_t *running, void *data,
                        void (*end)(void *data))
{
    ngx_tg_running_call_row_t *row;
    ngx_tg_worker_counters_t *own;
    ngx_uint_t i;

    if (ngx_tg_counters_shm == NULL || running->number == 0
        || running->counters == &ngx_tg_counters_dummy
        || ngx_tg_running_calls_n == NGX_TG_RUNNING_CALLS_MAX)
    {
        return 0;
    }

    own = ngx_tg_worker_counters_get();
    i = ngx_tg_running_calls_nfree != 0
            ? ngx_tg_running_call_callbacks[--ngx_tg_running_calls_nfree].free
            : ngx_tg_running_calls_n;
    ngx_tg_running_calls_n++;
    ngx_tg_running_call_callbacks[i].data = data;
    ngx_tg_running_call_callbacks[i].end = end;

    row = &own->running[i];
    row->start = running->start;
    row->pid = (int32_t) running->pid;
    row->uid = (uint32_t) running->uid;
    row->runs_in_worker = (uint32_t) running->runs_in_worker;
    ngx_tg_client_identity_set(&row->identity, running->peer);
    row->entry = (uint32_t) (running->counters - own->counters);
    __atomic_store_n(&row->number, running->number, __ATOMIC_RELEASE);

    if (own->nrunning <= i) {
        __atomic_store_n(&own->nrunning, (uint32_t) i + 1, __ATOMIC_RELEASE);
    }

    if (!ngx_tg_running_calls_event.timer_set) {
        ngx_tg_running_calls_event.log = ngx_cycle->log;
        ngx_tg_running_calls_event.cancelable = 1;
        ngx_add_timer(&ngx_tg_running_calls_event,
                      NGX_TG_RUNNING_CALLS_POLL_INTERVAL);
    }

    return i + 1;
}

void
ngx_tg_running_call_remove(ngx_uint_t slot)
{
    __atomic_store_n(&ngx_tg_worker_counters_get()->running[slot - 1].number, 0,
                     __ATOMIC_RELEASE);
    ngx_tg_running_call_callbacks[ngx_tg_running_calls_nfree++].free =
        (uint16_t) (slot - 1);
    ngx_tg_running_calls_n--;
}

static void
ngx_tg_running_calls_on_timer(ngx_event_t *ev)
{
    ngx_tg_running_call_row_t *row;
    ngx_tg_worker_counters_t *own;
    ngx_uint_t i;

    own = ngx_tg_worker_counters_get();

    for (i = 0; i < own->nrunning; i++) {
        row = &own->running[i];

        if (row->number != 0
            && __atomic_load_n(&row->end_requested, __ATOMIC_ACQUIRE)
                   == row->number)
        {
            ngx_tg_running_call_callbacks[i].end(
                ngx_tg_running_call_callbacks[i].data);
        }
    }

    if (ngx_tg_running_calls_n != 0) {
        ngx_add_timer(ev, NGX_TG_RUNNING_CALLS_POLL_INTERVAL);
    }
}

/* --- rows of all workers --- */

static ngx_tg_running_call_row_t *
ngx_tg_running_calls_next(ngx_uint_t *slot, ngx_uint_t *i,
                          ngx_tg_running_call_info_t *info)
{
    const ngx_tg_counted_entry_t *counted;
    ngx_tg_running_call_row_t *row;
    ngx_tg_worker_counters_t *counting;

    while (*slot < ngx_tg_counters_shm->nworkers) {
        counting = &ngx_tg_counters_shm->workers[*slot];

        if (*i == __atomic_load_n(&counting->nrunning, __ATOMIC_ACQUIRE)
            || (*i == 0 && !ngx_tg_worker_counters_is_alive(*slot)))
        {
            *i = 0;
            ++*slot;
            continue;
        }

        row = &counting->running[(*i)++];
        info->number = __atomic_load_n(&row->number, __ATOMIC_ACQUIRE);

        if (info->number == 0) {
            continue;
        }

        counted = &ngx_tg_counters_shm->entries[row->entry];
        info->age = ngx_max(
            (ngx_msec_int_t) (ngx_current_msec - (ngx_msec_t) row->start), 0);
        info->pid = row->pid;
        info->uid = row->uid;
        info->worker = counting->pid;
        info->runs_in_worker = row->runs_in_worker;
        info->identity = row->identity;
        info->kind = (tg_catalog_entry_type_t) counted->kind;
        info->server = tg_str(counted->server, counted->server_len);
        info->name = tg_str(counted->name, counted->name_len);

        /* Another call may use the row by now. */
        if (__atomic_load_n(&row->number, __ATOMIC_ACQUIRE) == info->number) {
            return row;
        }
    }

    return NULL;
}

void
ngx_tg_running_calls_visit(ngx_tg_running_call_visit_pt visit, void *data)
{
    ngx_tg_running_call_info_t info;
    ngx_uint_t slot, i;

    for (slot = 0, i = 0; ngx_tg_counters_shm != NULL
                          && ngx_tg_running_calls_next(&slot, &i, &info) != NULL
                          && !visit(data, &info);)
    {
    }
}

ngx_uint_t
ngx_tg_running_call_order_end(uint64_t number)
{
    ngx_tg_running_call_info_t info;
    ngx_tg_running_call_row_t *row;
    ngx_uint_t slot, i;

    for (slot = 0, i = 0;
         ngx_tg_counters_shm != NULL
         && (row = ngx_tg_running_calls_next(&slot, &i, &info)) != NULL;)
    {
        if (info.number == number) {
            __atomic_store_n(&row->end_requested, number, __ATOMIC_RELEASE);
            return 1;
        }
    }

    return 0;
}
