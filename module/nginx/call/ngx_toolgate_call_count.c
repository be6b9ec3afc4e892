/*
 * What is counted of calls, in memory that all workers share
 * (share/ngx_toolgate_numbers.h).
 */
#include "nginx/call/ngx_toolgate_call.h"

_Static_assert((int) NGX_TOOLGATE_END_MOVED == (int) NGX_TOOLGATE_ENDS - 1
                   && (int) NGX_TOOLGATE_N_END + (int) NGX_TOOLGATE_END_MOVED
                          <= (int) NGX_TOOLGATE_N_MOVED + 1,
               "a counter for each end but the first");

void
ngx_toolgate_call_counts(ngx_toolgate_call_t *call, ngx_toolgate_tool_t *tool)
{
    if (tool->counters == NULL) {
        tool->counters = tool->is_own ? &ngx_toolgate_uncounted
                                      : ngx_toolgate_counters(call->front->conf,
                                                              &tool->entry);
    }

    call->counters = tool->counters;
    ngx_toolgate_count(call->counters, NGX_TOOLGATE_N_BEGUN, 1);
}

void
ngx_toolgate_call_counts_moved(ngx_toolgate_call_t *call,
                               const tg_entry_t *entry, const tg_entry_t *now)
{
    if (now != NULL) {
        ngx_toolgate_call_counts(call, now->host);
        return;
    }

    /* The config has it no more. */
    call->counters = ngx_toolgate_counters(call->front->conf, entry);
    ngx_toolgate_count(call->counters, NGX_TOOLGATE_N_BEGUN, 1);
}

/* In which of the classes of times; most are in the first. */
static ngx_uint_t
ngx_toolgate_call_class(ngx_msec_t time)
{
    static const ngx_msec_t times[] = NGX_TOOLGATE_TIMES;

    ngx_uint_t i;

    for (i = 0; i < sizeof(times) / sizeof(times[0]) && time > times[i]; i++) {
    }

    return i;
}

/* Once: nothing of it is counted from here on. */
static ngx_toolgate_counters_t *
ngx_toolgate_call_leaves(ngx_toolgate_call_t *call)
{
    ngx_toolgate_counters_t *counters;

    counters = call->counters;
    call->counters = &ngx_toolgate_uncounted;

    if (call->running != 0) {
        ngx_toolgate_running_remove(call->running);
        call->running = 0;
    }

    return counters;
}

void
ngx_toolgate_call_parted(ngx_toolgate_call_t *call)
{
    ngx_toolgate_count(ngx_toolgate_call_leaves(call), NGX_TOOLGATE_N_MOVED, 1);
}

void
ngx_toolgate_call_counted(ngx_toolgate_call_t *call,
                          const ngx_toolgate_record_t *record)
{
    ngx_toolgate_counters_t *counters;

    if (record->end == NGX_TOOLGATE_END_MOVED) {
        ngx_toolgate_call_parted(call);
        return;
    }

    /* Of what there is not, no more is known. */
    if (call->entry == NULL) {
        ngx_toolgate_count(call->front->conf->counters, NGX_TOOLGATE_N_UNKNOWN,
                           1);
        return;
    }

    counters = ngx_toolgate_call_leaves(call);
    ngx_toolgate_count(counters, NGX_TOOLGATE_N_BYTES_IN, record->bytes_in);
    ngx_toolgate_count(counters, NGX_TOOLGATE_N_BYTES_OUT, record->bytes_out);
    ngx_toolgate_count(counters, NGX_TOOLGATE_N_MS, record->time);

    if (record->end != TG_FAILURE_NONE) {
        ngx_toolgate_count(counters, NGX_TOOLGATE_N_END + record->end - 1, 1);
    }

    /* Last: from here on it is not in flight. */
    ngx_toolgate_count(counters,
                       NGX_TOOLGATE_N_TIME
                           + ngx_toolgate_call_class(record->time),
                       1);
}

/* --- by number --- */

uint64_t
ngx_toolgate_call_number(ngx_toolgate_call_t *call)
{
    if (call->number == 0 && call->counters != &ngx_toolgate_uncounted) {
        call->number = ngx_toolgate_running_number();
    }

    return call->number;
}

void
ngx_toolgate_call_runs(ngx_toolgate_call_t *call, void (*unwanted)(void *call))
{
    const ngx_toolgate_client_t *client;
    ngx_toolgate_running_t running;

    if (call->counters == &ngx_toolgate_uncounted) {
        return;
    }

    client = ngx_toolgate_client(call->front);
    running.number = ngx_toolgate_call_number(call);
    running.start = call->start;
    running.pid = client != NULL ? client->pid : 0;
    running.uid = client != NULL ? client->uid : 0;
    running.is_here = call->handler != NULL && call->handler->run != NULL;
    running.peer = &call->front->peer;
    running.counters = call->counters;
    call->running = ngx_toolgate_running_add(&running, call, unwanted);
}
