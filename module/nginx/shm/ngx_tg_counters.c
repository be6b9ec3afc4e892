/* Counters of all workers: shared memory, entries, worker slots and sums. */
#include "nginx/shm/ngx_tg_counters_shm.h"
#include "nginx/shm/ngx_tg_shm.h"

#include <sys/mman.h>

/* Value: the descriptor of the shared memory. */
#define NGX_TG_COUNTERS_ENV_VAR "TOOLGATE_NUMBERS"

ngx_tg_counters_shm_t *ngx_tg_counters_shm;
ngx_tg_counters_t ngx_tg_counters_dummy;

static int ngx_tg_counters_shm_fd = -1;

/* state of a worker */
static ngx_uint_t ngx_tg_worker_counters_slot;
static ngx_connection_handler_pt ngx_tg_counters_listener_handler;

/* --- master --- */

static ngx_tg_counters_shm_t *
ngx_tg_counters_shm_map(int fd, ngx_log_t *log)
{
    return ngx_tg_shm_map(fd, sizeof(ngx_tg_counters_shm_t),
                          NGX_TG_COUNTERS_SHM_MAGIC, log);
}

/* Finds the memory that this master or its predecessor created. */
static ngx_int_t
ngx_tg_counters_shm_find(ngx_log_t *log)
{
    ngx_tg_counters_shm_t *counters_shm;
    const char *value;
    char end;
    int fd;

    value = getenv(NGX_TG_COUNTERS_ENV_VAR);

    if (ngx_tg_counters_shm_fd != -1) {
        return NGX_OK;
    }

    if (value == NULL || sscanf(value, "%d%c", &fd, &end) != 1) {
        return NGX_DECLINED;
    }

    counters_shm = ngx_tg_counters_shm_map(fd, log);

    if (counters_shm == NULL) {
        return NGX_DECLINED;
    }

    (void) munmap(counters_shm, sizeof(ngx_tg_counters_shm_t));
    ngx_tg_counters_shm_fd = fd;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_counters_shm_create(ngx_log_t *log)
{
    ngx_tg_counters_shm_t *counters_shm;
    int fd, rc;

    fd = ngx_tg_shm_create("toolgate-numbers", sizeof(ngx_tg_counters_shm_t),
                           NGX_TG_COUNTERS_SHM_MAGIC, log);
    counters_shm = fd != -1 ? ngx_tg_counters_shm_map(fd, log) : NULL;
    rc = counters_shm != NULL ? ngx_tg_shm_mutex_init(&counters_shm->lock)
                              : NGX_ERROR;

    if (counters_shm != NULL) {
        /* Entry 0 counts everything that has no entry of its own. */
        counters_shm->nentries = 1;
        (void) munmap(counters_shm, sizeof(ngx_tg_counters_shm_t));
    }

    if (rc == NGX_OK) {
        ngx_tg_counters_shm_fd = fd;
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ERR, log, 0, "workers cannot count their calls");

    if (fd != -1) {
        (void) close(fd);
    }

    return NGX_ERROR;
}

void
ngx_tg_counters_init(ngx_cycle_t *cycle)
{
    ngx_tg_main_conf_t *mcf;
    u_char value[NGX_INT_T_LEN + 1];
    ngx_uint_t is_needed;

    mcf = ngx_tg_cycle_get_main_conf(cycle);
    is_needed = mcf != NULL && mcf->has_tools;

    if (ngx_tg_counters_shm_find(cycle->log) != NGX_OK
        && (!is_needed || ngx_tg_counters_shm_create(cycle->log) != NGX_OK))
    {
        return;
    }

    (void) ngx_sprintf(value, "%d%Z", ngx_tg_counters_shm_fd);

    if (ngx_tg_export_to_new_binary(cycle, NGX_TG_COUNTERS_ENV_VAR,
                                    (char *) value)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0, TG_TEXT_NO_MEMORY);
    }
}

/* --- worker slot --- */

static uint64_t
ngx_tg_counters_get_ended(const uint64_t *n)
{
    uint64_t ended;
    ngx_uint_t i;

    ended = n[NGX_TG_COUNTER_MOVED] + n[NGX_TG_COUNTER_KILLED];

    for (i = NGX_TG_COUNTER_DURATION_BUCKET; i < NGX_TG_COUNTER_END_STATUS; i++)
    {
        ended += n[i];
    }

    return ended;
}

/* Counts calls and connections that the slot's previous owner left as ended. */
static void
ngx_tg_worker_counters_take_over(ngx_tg_worker_counters_t *counting)
{
    ngx_tg_counters_t *counters;
    uint64_t ended;
    ngx_uint_t i;

    for (i = 0; i < ngx_tg_counters_shm->nentries; i++) {
        counters = &counting->counters[i];

        if (i != 0 && ngx_tg_counters_shm->entries[i].name_len == 0) {
            ngx_memzero(&counters->n[NGX_TG_COUNTER_OPEN_CONNECTIONS],
                        TG_DIALECT_COUNT * sizeof(uint64_t));
            continue;
        }

        ended = ngx_tg_counters_get_ended(counters->n);

        if (counters->n[NGX_TG_COUNTER_STARTED] > ended) {
            ngx_tg_counters_add(counters, NGX_TG_COUNTER_KILLED,
                                counters->n[NGX_TG_COUNTER_STARTED] - ended);
        }
    }

    ngx_memzero(counting->running,
                counting->nrunning * sizeof(ngx_tg_running_call_row_t));
    counting->pid = (int32_t) ngx_pid;
}

void
ngx_tg_counters_start_worker(ngx_cycle_t *cycle,
                             ngx_connection_handler_pt listener_handler)
{
    ngx_tg_counters_shm_t *counters_shm;
    ngx_int_t slot;

    /* Child processes of this worker must not inherit the variable. */
    (void) unsetenv(NGX_TG_COUNTERS_ENV_VAR);
    ngx_tg_counters_listener_handler = listener_handler;

    if (ngx_tg_counters_shm_fd == -1) {
        return;
    }

    (void) fcntl(ngx_tg_counters_shm_fd, F_SETFD, FD_CLOEXEC);
    counters_shm = ngx_tg_counters_shm_map(ngx_tg_counters_shm_fd, cycle->log);
    slot = counters_shm != NULL
               ? ngx_tg_shm_worker_slot_lock(ngx_tg_counters_shm_fd,
                                             NGX_TG_COUNTED_WORKERS_MAX)
               : -1;

    if (slot == -1) {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0,
                      "this worker's calls are not counted");
        return;
    }

    ngx_tg_counters_shm = counters_shm;
    ngx_tg_worker_counters_slot = (ngx_uint_t) slot;
    ngx_tg_shm_mutex_lock(&counters_shm->lock);

    if (counters_shm->nworkers <= (uint32_t) slot) {
        counters_shm->nworkers = (uint32_t) slot + 1;
    }

    ngx_tg_worker_counters_take_over(&counters_shm->workers[slot]);
    ngx_tg_shm_mutex_unlock(&counters_shm->lock);
}

ngx_tg_worker_counters_t *
ngx_tg_worker_counters_get(void)
{
    return &ngx_tg_counters_shm->workers[ngx_tg_worker_counters_slot];
}

ngx_uint_t
ngx_tg_worker_counters_is_alive(ngx_uint_t slot)
{
    return slot == ngx_tg_worker_counters_slot
           || ngx_tg_shm_worker_slot_is_locked(ngx_tg_counters_shm_fd, slot);
}

/* --- entries --- */

tg_str_t
ngx_tg_server_get_label(ngx_tg_srv_conf_t *scf)
{
    ngx_listening_t *ls;
    ngx_uint_t i;
    u_char *room;

    if (scf->label.data != NULL) {
        return scf->label;
    }

    ls = ngx_cycle->listening.elts;
    room = ngx_pnalloc(ngx_cycle->pool, NGX_SOCKADDR_STRLEN);

    for (i = 0; room != NULL && scf->label.data == NULL
                && i < ngx_cycle->listening.nelts;
         i++)
    {
        if (ls[i].handler == ngx_tg_counters_listener_handler) {
            scf->label = ngx_tg_listener_write_address(&ls[i], scf, room);
        }
    }

    if (scf->label.data == NULL) {
        scf->label = scf->info.name;
    }

    scf->label.len = ngx_min(scf->label.len, NGX_TG_SERVER_LABEL_MAX);

    return scf->label;
}

static tg_str_t
ngx_tg_counted_entry_get_name(const ngx_tg_counted_entry_t *counted)
{
    return tg_str(counted->name, counted->name_len);
}

static tg_str_t
ngx_tg_counted_entry_get_server(const ngx_tg_counted_entry_t *counted)
{
    return tg_str(counted->server, counted->server_len);
}

/* Finds or adds an entry under the lock. Returns its index, or 0 if full. */
static ngx_uint_t
ngx_tg_counted_entry_find(tg_str_t server, ngx_uint_t kind, tg_str_t name)
{
    ngx_tg_counted_entry_t *counted;
    ngx_uint_t i;

    for (i = 1; i < ngx_tg_counters_shm->nentries; i++) {
        counted = &ngx_tg_counters_shm->entries[i];

        if (counted->kind == (uint8_t) kind
            && tg_str_eq(ngx_tg_counted_entry_get_name(counted), name)
            && tg_str_eq(ngx_tg_counted_entry_get_server(counted), server))
        {
            return i;
        }
    }

    if (i == NGX_TG_COUNTED_ENTRIES_MAX || name.len > NGX_TG_COUNTED_NAME_MAX) {
        return 0;
    }

    counted = &ngx_tg_counters_shm->entries[i];
    counted->kind = (uint8_t) kind;
    counted->server_len = (uint8_t) server.len;
    counted->name_len = (uint8_t) name.len;
    ngx_memcpy(counted->server, server.data, server.len);
    ngx_memcpy(counted->name, name.data, name.len);
    __atomic_store_n(&ngx_tg_counters_shm->nentries, (uint32_t) i + 1,
                     __ATOMIC_RELEASE);

    return i;
}

ngx_tg_counters_t *
ngx_tg_counters_find(ngx_tg_srv_conf_t *scf, const tg_catalog_entry_t *entry)
{
    tg_str_t server;
    ngx_uint_t i;

    if (ngx_tg_counters_shm == NULL) {
        return &ngx_tg_counters_dummy;
    }

    server = ngx_tg_server_get_label(scf);
    ngx_tg_shm_mutex_lock(&ngx_tg_counters_shm->lock);
    i = ngx_tg_counted_entry_find(server,
                                  entry != NULL ? entry->kind : TG_ENTRY_TOOL,
                                  entry != NULL ? entry->name : TG_STR(""));
    ngx_tg_shm_mutex_unlock(&ngx_tg_counters_shm->lock);

    return entry == NULL && i == 0 ? &ngx_tg_counters_dummy
                                   : &ngx_tg_worker_counters_get()->counters[i];
}

/* Returns the name under which a client is counted. */
static tg_str_t
ngx_tg_counted_client_name(tg_str_t server, tg_str_t name)
{
    const ngx_tg_counted_entry_t *counted;
    ngx_uint_t i, n;

    for (i = 1, n = 0; i < ngx_tg_counters_shm->nentries; i++) {
        counted = &ngx_tg_counters_shm->entries[i];

        if (counted->kind != NGX_TG_COUNTED_CLIENT
            || !tg_str_eq(ngx_tg_counted_entry_get_server(counted), server))
        {
            continue;
        }

        if (tg_str_eq(ngx_tg_counted_entry_get_name(counted), name)) {
            return name;
        }

        n++;
    }

    return n < NGX_TG_COUNTED_CLIENTS_MAX ? name : TG_STR("other");
}

ngx_tg_counters_t *
ngx_tg_counters_find_named(tg_str_t server, ngx_tg_counted_type_t type,
                           tg_str_t name)
{
    ngx_uint_t i;

    if (ngx_tg_counters_shm == NULL) {
        return &ngx_tg_counters_dummy;
    }

    ngx_tg_shm_mutex_lock(&ngx_tg_counters_shm->lock);

    if (type == NGX_TG_COUNTED_CLIENT) {
        name = ngx_tg_counted_client_name(server, name);
    }

    i = ngx_tg_counted_entry_find(server, type, name);
    ngx_tg_shm_mutex_unlock(&ngx_tg_counters_shm->lock);

    return i == 0 ? &ngx_tg_counters_dummy
                  : &ngx_tg_worker_counters_get()->counters[i];
}

/* --- sums --- */

/*
 * Adds one worker's counters to a sum. Ended calls are read before started
 * ones, so that the number of running calls is never negative.
 */
static void
ngx_tg_counters_sum_add(ngx_tg_counters_sum_t *sum,
                        const ngx_tg_counters_t *counters, ngx_uint_t is_alive)
{
    uint64_t n[NGX_TG_COUNTERS_N], open, ended;
    ngx_uint_t i;

    for (i = NGX_TG_COUNTERS_N; i-- > 0;) {
        n[i] = __atomic_load_n(&counters->n[i], __ATOMIC_ACQUIRE);
    }

    if (sum->name.len == 0 && sum->server.len != 0) {
        /* Connections end with their worker. */
        for (i = NGX_TG_COUNTER_OPEN_CONNECTIONS;
             i < NGX_TG_COUNTERS_N && !is_alive; i++)
        {
            n[i] = 0;
        }

    } else {
        ended = ngx_tg_counters_get_ended(n);
        open = n[NGX_TG_COUNTER_STARTED] > ended
                   ? n[NGX_TG_COUNTER_STARTED] - ended
                   : 0;
        sum->in_flight += is_alive ? open : 0;
        n[NGX_TG_COUNTER_KILLED] += is_alive ? 0 : open;
    }

    for (i = 0; i < NGX_TG_COUNTERS_N; i++) {
        sum->n[i] += n[i];
    }
}

/* Visits the entries with a kind from first to last. */
static void
ngx_tg_counters_visit_kinds(tg_str_t server, ngx_uint_t first, ngx_uint_t last,
                            ngx_tg_counters_visit_pt visit, void *data)
{
    ngx_tg_counters_shm_t *counters_shm;
    uint8_t alive[NGX_TG_COUNTED_WORKERS_MAX];
    ngx_tg_counters_sum_t sum;
    ngx_uint_t i, slot, n, nworkers;

    counters_shm = ngx_tg_counters_shm;

    if (counters_shm == NULL) {
        return;
    }

    /* A worker that starts meanwhile is not counted this time. */
    nworkers = __atomic_load_n(&counters_shm->nworkers, __ATOMIC_ACQUIRE);

    for (slot = 0; slot < nworkers; slot++) {
        alive[slot] = (uint8_t) ngx_tg_worker_counters_is_alive(slot);
    }

    n = __atomic_load_n(&counters_shm->nentries, __ATOMIC_ACQUIRE);

    for (i = 0; i < n; i++) {
        ngx_memzero(&sum, sizeof(sum));
        sum.server = ngx_tg_counted_entry_get_server(&counters_shm->entries[i]);
        sum.name = ngx_tg_counted_entry_get_name(&counters_shm->entries[i]);
        sum.kind = (tg_catalog_entry_type_t) counters_shm->entries[i].kind;

        if (sum.kind < first || sum.kind > last
            || !tg_str_eq(sum.server, server)) {
            continue;
        }

        for (slot = 0; slot < nworkers; slot++) {
            ngx_tg_counters_sum_add(&sum,
                                    &counters_shm->workers[slot].counters[i],
                                    alive[slot]);
        }

        visit(data, &sum);
    }
}

void
ngx_tg_counters_visit(tg_str_t server, ngx_tg_counters_visit_pt visit,
                      void *data)
{
    ngx_tg_counters_visit_kinds(server, 0, NGX_TG_COUNTED_CLIENT - 1, visit,
                                data);
}

void
ngx_tg_counters_visit_named(tg_str_t server, ngx_tg_counted_type_t type,
                            ngx_tg_counters_visit_pt visit, void *data)
{
    ngx_tg_counters_visit_kinds(server, type, type, visit, data);
}

ngx_uint_t
ngx_tg_counters_count_workers(void)
{
    ngx_uint_t slot, n;

    if (ngx_tg_counters_shm == NULL) {
        return 0;
    }

    for (slot = 0, n = 0; slot < ngx_tg_counters_shm->nworkers; slot++) {
        n += ngx_tg_worker_counters_is_alive(slot);
    }

    return n;
}
