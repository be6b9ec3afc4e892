/*
 * Counters of all workers: their memory, entries, places and sums.
 */
#include "nginx/share/ngx_toolgate_counting.h"
#include "nginx/share/ngx_toolgate_share.h"

#include <sys/mman.h>

/* "numbers": a descriptor. */
#define NGX_TOOLGATE_NUMBERS_VAR "TOOLGATE_NUMBERS"

ngx_toolgate_numbers_t *ngx_toolgate_numbers;
ngx_toolgate_counters_t ngx_toolgate_uncounted;

static int ngx_toolgate_numbers_fd = -1;

/* of a worker */
static ngx_uint_t ngx_toolgate_counting_own;
static ngx_connection_handler_pt ngx_toolgate_numbers_ours;

/* --- in a master --- */

static ngx_toolgate_numbers_t *
ngx_toolgate_numbers_map(int fd, ngx_log_t *log)
{
    return ngx_toolgate_memory_map(fd, sizeof(ngx_toolgate_numbers_t),
                                   NGX_TOOLGATE_NUMBERS_MAGIC, log);
}

/* What this master, or the one that it follows, made. */
static ngx_int_t
ngx_toolgate_numbers_find(ngx_log_t *log)
{
    ngx_toolgate_numbers_t *numbers;
    const char *value;
    char end;
    int fd;

    value = getenv(NGX_TOOLGATE_NUMBERS_VAR);

    if (ngx_toolgate_numbers_fd != -1) {
        return NGX_OK;
    }

    if (value == NULL || sscanf(value, "%d%c", &fd, &end) != 1) {
        return NGX_DECLINED;
    }

    numbers = ngx_toolgate_numbers_map(fd, log);

    if (numbers == NULL) {
        return NGX_DECLINED;
    }

    (void) munmap(numbers, sizeof(ngx_toolgate_numbers_t));
    ngx_toolgate_numbers_fd = fd;

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_numbers_create(ngx_log_t *log)
{
    ngx_toolgate_numbers_t *numbers;
    int fd, rc;

    fd = ngx_toolgate_memory_create("toolgate-numbers",
                                    sizeof(ngx_toolgate_numbers_t),
                                    NGX_TOOLGATE_NUMBERS_MAGIC, log);
    numbers = fd != -1 ? ngx_toolgate_numbers_map(fd, log) : NULL;
    rc = numbers != NULL ? ngx_toolgate_lock_init(&numbers->lock) : NGX_ERROR;

    if (numbers != NULL) {
        /* The first one is for all that have no room. */
        numbers->nentries = 1;
        (void) munmap(numbers, sizeof(ngx_toolgate_numbers_t));
    }

    if (rc == NGX_OK) {
        ngx_toolgate_numbers_fd = fd;
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ERR, log, 0, "workers cannot count their calls");

    if (fd != -1) {
        (void) close(fd);
    }

    return NGX_ERROR;
}

void
ngx_toolgate_numbers_init(ngx_cycle_t *cycle)
{
    ngx_toolgate_main_conf_t *mcf;
    u_char value[NGX_INT_T_LEN + 1];
    ngx_uint_t is_needed;

    mcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                ngx_stream_toolgate_module);
    is_needed = mcf != NULL && mcf->has_tools;

    if (ngx_toolgate_numbers_find(cycle->log) != NGX_OK
        && (!is_needed || ngx_toolgate_numbers_create(cycle->log) != NGX_OK))
    {
        return;
    }

    (void) ngx_sprintf(value, "%d%Z", ngx_toolgate_numbers_fd);

    if (ngx_toolgate_hand_down(cycle, NGX_TOOLGATE_NUMBERS_VAR, (char *) value)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0, TG_NO_MEMORY);
    }
}

/* --- a worker's place --- */

static uint64_t
ngx_toolgate_counters_ended(const uint64_t *n)
{
    uint64_t ended;
    ngx_uint_t i;

    ended = n[NGX_TOOLGATE_N_MOVED] + n[NGX_TOOLGATE_N_KILLED];

    for (i = NGX_TOOLGATE_N_TIME; i < NGX_TOOLGATE_N_END; i++) {
        ended += n[i];
    }

    return ended;
}

/* What the one before left open ended with it. */
static void
ngx_toolgate_counting_take_over(ngx_toolgate_counting_t *counting)
{
    ngx_toolgate_counters_t *counters;
    uint64_t ended;
    ngx_uint_t i;

    for (i = 0; i < ngx_toolgate_numbers->nentries; i++) {
        counters = &counting->counters[i];

        if (i != 0 && ngx_toolgate_numbers->entries[i].name_len == 0) {
            ngx_memzero(&counters->n[NGX_TOOLGATE_N_OPEN],
                        TG_DIALECT_END * sizeof(uint64_t));
            continue;
        }

        ended = ngx_toolgate_counters_ended(counters->n);

        if (counters->n[NGX_TOOLGATE_N_BEGUN] > ended) {
            ngx_toolgate_count(counters, NGX_TOOLGATE_N_KILLED,
                               counters->n[NGX_TOOLGATE_N_BEGUN] - ended);
        }
    }

    ngx_memzero(counting->running,
                counting->nrunning * sizeof(ngx_toolgate_running_line_t));
    counting->pid = (int32_t) ngx_pid;
}

void
ngx_toolgate_numbers_start(ngx_cycle_t *cycle, ngx_connection_handler_pt ours)
{
    ngx_toolgate_numbers_t *numbers;
    ngx_int_t place;

    /* Nothing that this worker starts is to know. */
    (void) unsetenv(NGX_TOOLGATE_NUMBERS_VAR);
    ngx_toolgate_numbers_ours = ours;

    if (ngx_toolgate_numbers_fd == -1) {
        return;
    }

    (void) fcntl(ngx_toolgate_numbers_fd, F_SETFD, FD_CLOEXEC);
    numbers = ngx_toolgate_numbers_map(ngx_toolgate_numbers_fd, cycle->log);
    place = numbers != NULL ? ngx_toolgate_place_take(ngx_toolgate_numbers_fd,
                                                      NGX_TOOLGATE_COUNTING_MAX)
                            : -1;

    if (place == -1) {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0,
                      "this worker's calls are not counted");
        return;
    }

    ngx_toolgate_numbers = numbers;
    ngx_toolgate_counting_own = (ngx_uint_t) place;
    ngx_toolgate_lock(&numbers->lock);

    if (numbers->nplaces <= (uint32_t) place) {
        numbers->nplaces = (uint32_t) place + 1;
    }

    ngx_toolgate_counting_take_over(&numbers->places[place]);
    ngx_toolgate_unlock(&numbers->lock);
}

ngx_toolgate_counting_t *
ngx_toolgate_counting(void)
{
    return &ngx_toolgate_numbers->places[ngx_toolgate_counting_own];
}

ngx_uint_t
ngx_toolgate_counting_is_alive(ngx_uint_t place)
{
    return place == ngx_toolgate_counting_own
           || ngx_toolgate_place_is_taken(ngx_toolgate_numbers_fd, place);
}

/* --- entries --- */

tg_str_t
ngx_toolgate_server_name(ngx_toolgate_srv_conf_t *scf)
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
        if (ls[i].handler == ngx_toolgate_numbers_ours) {
            scf->label = ngx_toolgate_address_text(&ls[i], scf, room);
        }
    }

    if (scf->label.data == NULL) {
        scf->label = scf->info.name;
    }

    scf->label.len = ngx_min(scf->label.len, NGX_TOOLGATE_SERVER_MAX);

    return scf->label;
}

static tg_str_t
ngx_toolgate_counted_name(const ngx_toolgate_counted_t *counted)
{
    return tg_str(counted->name, counted->name_len);
}

static tg_str_t
ngx_toolgate_counted_server(const ngx_toolgate_counted_t *counted)
{
    return tg_str(counted->server, counted->server_len);
}

/* Under the lock: the entry of this name, which may be new, or the first. */
static ngx_uint_t
ngx_toolgate_counted_find(tg_str_t server, tg_entry_kind_t kind, tg_str_t name)
{
    ngx_toolgate_counted_t *counted;
    ngx_uint_t i;

    for (i = 1; i < ngx_toolgate_numbers->nentries; i++) {
        counted = &ngx_toolgate_numbers->entries[i];

        if (counted->kind == (uint8_t) kind
            && tg_str_eq(ngx_toolgate_counted_name(counted), name)
            && tg_str_eq(ngx_toolgate_counted_server(counted), server))
        {
            return i;
        }
    }

    if (i == NGX_TOOLGATE_ENTRIES_MAX || name.len > TG_NAME_MAX) {
        return 0;
    }

    counted = &ngx_toolgate_numbers->entries[i];
    counted->kind = (uint8_t) kind;
    counted->server_len = (uint8_t) server.len;
    counted->name_len = (uint8_t) name.len;
    ngx_memcpy(counted->server, server.data, server.len);
    ngx_memcpy(counted->name, name.data, name.len);
    __atomic_store_n(&ngx_toolgate_numbers->nentries, (uint32_t) i + 1,
                     __ATOMIC_RELEASE);

    return i;
}

ngx_toolgate_counters_t *
ngx_toolgate_counters(ngx_toolgate_srv_conf_t *scf, const tg_entry_t *entry)
{
    tg_str_t server;
    ngx_uint_t i;

    if (ngx_toolgate_numbers == NULL) {
        return &ngx_toolgate_uncounted;
    }

    server = ngx_toolgate_server_name(scf);
    ngx_toolgate_lock(&ngx_toolgate_numbers->lock);
    i = ngx_toolgate_counted_find(server,
                                  entry != NULL ? entry->kind : TG_ENTRY_TOOL,
                                  entry != NULL ? entry->name : TG_STR(""));
    ngx_toolgate_unlock(&ngx_toolgate_numbers->lock);

    return entry == NULL && i == 0 ? &ngx_toolgate_uncounted
                                   : &ngx_toolgate_counting()->counters[i];
}

/* --- sums --- */

/*
 * A call that ends meanwhile is in flight still, or is ended; what ended is
 * read before what began, so that it is never less than none.
 */
static void
ngx_toolgate_sum_add(ngx_toolgate_sum_t *sum,
                     const ngx_toolgate_counters_t *counters,
                     ngx_uint_t is_alive)
{
    uint64_t n[NGX_TOOLGATE_N_ALL], open, ended;
    ngx_uint_t i;

    for (i = NGX_TOOLGATE_N_ALL; i-- > 0;) {
        n[i] = __atomic_load_n(&counters->n[i], __ATOMIC_ACQUIRE);
    }

    if (sum->name.len == 0 && sum->server.len != 0) {
        /* Connections end with their worker. */
        for (i = NGX_TOOLGATE_N_OPEN; i < NGX_TOOLGATE_N_ALL && !is_alive; i++)
        {
            n[i] = 0;
        }

    } else {
        ended = ngx_toolgate_counters_ended(n);
        open = n[NGX_TOOLGATE_N_BEGUN] > ended ? n[NGX_TOOLGATE_N_BEGUN] - ended
                                               : 0;
        sum->in_flight += is_alive ? open : 0;
        n[NGX_TOOLGATE_N_KILLED] += is_alive ? 0 : open;
    }

    for (i = 0; i < NGX_TOOLGATE_N_ALL; i++) {
        sum->n[i] += n[i];
    }
}

void
ngx_toolgate_numbers_see(tg_str_t server, ngx_toolgate_sum_pt see, void *data)
{
    ngx_toolgate_numbers_t *numbers;
    uint8_t alive[NGX_TOOLGATE_COUNTING_MAX];
    ngx_toolgate_sum_t sum;
    ngx_uint_t i, place, n, nplaces;

    numbers = ngx_toolgate_numbers;

    if (numbers == NULL) {
        return;
    }

    /* A worker that starts meanwhile has another one; it is seen next time. */
    nplaces = __atomic_load_n(&numbers->nplaces, __ATOMIC_ACQUIRE);

    for (place = 0; place < nplaces; place++) {
        alive[place] = (uint8_t) ngx_toolgate_counting_is_alive(place);
    }

    n = __atomic_load_n(&numbers->nentries, __ATOMIC_ACQUIRE);

    for (i = 0; i < n; i++) {
        ngx_memzero(&sum, sizeof(sum));
        sum.server = ngx_toolgate_counted_server(&numbers->entries[i]);
        sum.name = ngx_toolgate_counted_name(&numbers->entries[i]);
        sum.kind = (tg_entry_kind_t) numbers->entries[i].kind;

        if (!tg_str_eq(sum.server, server)) {
            continue;
        }

        for (place = 0; place < nplaces; place++) {
            ngx_toolgate_sum_add(&sum, &numbers->places[place].counters[i],
                                 alive[place]);
        }

        see(data, &sum);
    }
}

ngx_uint_t
ngx_toolgate_numbers_workers(void)
{
    ngx_uint_t place, n;

    if (ngx_toolgate_numbers == NULL) {
        return 0;
    }

    for (place = 0, n = 0; place < ngx_toolgate_numbers->nplaces; place++) {
        n += ngx_toolgate_counting_is_alive(place);
    }

    return n;
}
