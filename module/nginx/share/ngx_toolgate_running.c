/*
 * Calls in flight, by number: each worker keeps lines of its own, which all
 * read.  Who wants a call to end writes that into its line; its worker looks
 * now and then, while it has any.
 */
#include "nginx/share/ngx_toolgate_counting.h"

/* ms; a person does not notice. */
#define NGX_TOOLGATE_RUNNING_LOOK 50

static void ngx_toolgate_running_look(ngx_event_t *ev);

/* Of this worker: whose the lines are, and those that are free. */
static struct {
    void *data;
    void (*end)(void *data);
    uint16_t free;
} ngx_toolgate_runs[NGX_TOOLGATE_RUNNING_MAX];

static ngx_uint_t ngx_toolgate_nfree;
static ngx_uint_t ngx_toolgate_nruns;

static ngx_event_t ngx_toolgate_running_event = {
    .handler = ngx_toolgate_running_look,
    .data = &ngx_toolgate_no_connection,
};

uint64_t
ngx_toolgate_running_number(void)
{
    return ngx_toolgate_numbers != NULL
               ? __atomic_add_fetch(&ngx_toolgate_numbers->numbers, 1,
                                    __ATOMIC_RELAXED)
               : 0;
}

/* --- a worker's own --- */

ngx_uint_t
ngx_toolgate_running_add(const ngx_toolgate_running_t *running, void *data,
                         void (*end)(void *data))
{
    ngx_toolgate_running_line_t *line;
    ngx_toolgate_counting_t *own;
    ngx_uint_t i;

    if (ngx_toolgate_numbers == NULL || running->number == 0
        || running->counters == &ngx_toolgate_uncounted
        || ngx_toolgate_nruns == NGX_TOOLGATE_RUNNING_MAX)
    {
        return 0;
    }

    own = ngx_toolgate_counting();
    i = ngx_toolgate_nfree != 0 ? ngx_toolgate_runs[--ngx_toolgate_nfree].free
                                : ngx_toolgate_nruns;
    ngx_toolgate_nruns++;
    ngx_toolgate_runs[i].data = data;
    ngx_toolgate_runs[i].end = end;

    line = &own->running[i];
    line->start = running->start;
    line->pid = (int32_t) running->pid;
    line->uid = (uint32_t) running->uid;
    line->is_here = (uint32_t) running->is_here;
    ngx_toolgate_identity_write(&line->identity, running->peer);
    line->entry = (uint32_t) (running->counters - own->counters);
    __atomic_store_n(&line->number, running->number, __ATOMIC_RELEASE);

    if (own->nrunning <= i) {
        __atomic_store_n(&own->nrunning, (uint32_t) i + 1, __ATOMIC_RELEASE);
    }

    if (!ngx_toolgate_running_event.timer_set) {
        ngx_toolgate_running_event.log = ngx_cycle->log;
        ngx_toolgate_running_event.cancelable = 1;
        ngx_add_timer(&ngx_toolgate_running_event, NGX_TOOLGATE_RUNNING_LOOK);
    }

    return i + 1;
}

void
ngx_toolgate_running_remove(ngx_uint_t place)
{
    __atomic_store_n(&ngx_toolgate_counting()->running[place - 1].number, 0,
                     __ATOMIC_RELEASE);
    ngx_toolgate_runs[ngx_toolgate_nfree++].free = (uint16_t) (place - 1);
    ngx_toolgate_nruns--;
}

static void
ngx_toolgate_running_look(ngx_event_t *ev)
{
    ngx_toolgate_running_line_t *line;
    ngx_toolgate_counting_t *own;
    ngx_uint_t i;

    own = ngx_toolgate_counting();

    for (i = 0; i < own->nrunning; i++) {
        line = &own->running[i];

        if (line->number != 0
            && __atomic_load_n(&line->order, __ATOMIC_ACQUIRE) == line->number)
        {
            ngx_toolgate_runs[i].end(ngx_toolgate_runs[i].data);
        }
    }

    if (ngx_toolgate_nruns != 0) {
        ngx_add_timer(ev, NGX_TOOLGATE_RUNNING_LOOK);
    }
}

/* --- all workers' --- */

static ngx_toolgate_running_line_t *
ngx_toolgate_running_at(ngx_uint_t *place, ngx_uint_t *i,
                        ngx_toolgate_running_about_t *about)
{
    const ngx_toolgate_counted_t *counted;
    ngx_toolgate_running_line_t *line;
    ngx_toolgate_counting_t *counting;

    while (*place < ngx_toolgate_numbers->nplaces) {
        counting = &ngx_toolgate_numbers->places[*place];

        if (*i == __atomic_load_n(&counting->nrunning, __ATOMIC_ACQUIRE)
            || (*i == 0 && !ngx_toolgate_counting_is_alive(*place)))
        {
            *i = 0;
            ++*place;
            continue;
        }

        line = &counting->running[(*i)++];
        about->number = __atomic_load_n(&line->number, __ATOMIC_ACQUIRE);

        if (about->number == 0) {
            continue;
        }

        counted = &ngx_toolgate_numbers->entries[line->entry];
        about->age = ngx_max(
            (ngx_msec_int_t) (ngx_current_msec - (ngx_msec_t) line->start), 0);
        about->pid = line->pid;
        about->uid = line->uid;
        about->worker = counting->pid;
        about->is_here = line->is_here;
        about->identity = line->identity;
        about->kind = (tg_entry_kind_t) counted->kind;
        about->server = tg_str(counted->server, counted->server_len);
        about->name = tg_str(counted->name, counted->name_len);

        /* Another one may have the line since then. */
        if (__atomic_load_n(&line->number, __ATOMIC_ACQUIRE) == about->number) {
            return line;
        }
    }

    return NULL;
}

void
ngx_toolgate_running_see(ngx_toolgate_running_pt see, void *data)
{
    ngx_toolgate_running_about_t about;
    ngx_uint_t place, i;

    for (place = 0, i = 0;
         ngx_toolgate_numbers != NULL
         && ngx_toolgate_running_at(&place, &i, &about) != NULL
         && !see(data, &about);)
    {
    }
}

ngx_uint_t
ngx_toolgate_running_end(uint64_t number)
{
    ngx_toolgate_running_about_t about;
    ngx_toolgate_running_line_t *line;
    ngx_uint_t place, i;

    for (place = 0, i = 0;
         ngx_toolgate_numbers != NULL
         && (line = ngx_toolgate_running_at(&place, &i, &about)) != NULL;)
    {
        if (about.number == number) {
            __atomic_store_n(&line->order, number, __ATOMIC_RELEASE);
            return 1;
        }
    }

    return 0;
}
