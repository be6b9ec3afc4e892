/* Counters of calls, in shared memory (shm/ngx_tg_counters.h). */
#include "nginx/call/ngx_tg_call_impl.h"

_Static_assert((int) NGX_TG_END_MOVED == (int) NGX_TG_END_COUNT - 1
                   && (int) NGX_TG_COUNTER_END_STATUS + (int) NGX_TG_END_MOVED
                          <= (int) NGX_TG_COUNTER_MOVED + 1,
               "a counter for each end but the first");

void
ngx_tg_call_count_begin(ngx_tg_call_t *call, ngx_tg_tool_t *tool)
{
    if (tool->counters == NULL) {
        tool->counters = tool->is_builtin
                             ? &ngx_tg_counters_dummy
                             : ngx_tg_counters_find(call->base->conf,
                                                    &tool->entry);
    }

    call->priv->counters = tool->counters;
    ngx_tg_counters_add(call->priv->counters, NGX_TG_COUNTER_STARTED, 1);
}

void
ngx_tg_session_base_count_call(ngx_tg_session_base_t *base)
{
    tg_str_t name;

    if (base->client_counters == NULL
        || base->counted_client_changes != base->peer.nclient_changes)
    {
        name = base->peer.client;
        base->counted_client_changes = base->peer.nclient_changes;
        base->client_counters = ngx_tg_counters_find_named(
            ngx_tg_server_get_label(base->conf), NGX_TG_COUNTED_CLIENT,
            name.len != 0 ? name : TG_STR("unknown"));
    }

    ngx_tg_counters_add(base->client_counters, NGX_TG_COUNTER_COUNT, 1);
}

void
ngx_tg_call_count_moved_in(ngx_tg_call_t *call, const tg_catalog_entry_t *entry,
                           const tg_catalog_entry_t *now)
{
    if (now != NULL) {
        ngx_tg_call_count_begin(call, now->host);
        return;
    }

    /* The tool was removed from the config. */
    call->priv->counters = ngx_tg_counters_find(call->base->conf, entry);
    ngx_tg_counters_add(call->priv->counters, NGX_TG_COUNTER_STARTED, 1);
}

/* Returns the histogram bucket of a duration. */
static ngx_uint_t
ngx_tg_call_get_time_bucket(ngx_msec_t time)
{
    static const ngx_msec_t times[] = NGX_TG_DURATION_BUCKETS;

    ngx_uint_t i;

    for (i = 0; i < sizeof(times) / sizeof(times[0]) && time > times[i]; i++) {
    }

    return i;
}

/* Returns the counters and detaches them: nothing is counted twice. */
static ngx_tg_counters_t *
ngx_tg_call_take_counters(ngx_tg_call_t *call)
{
    ngx_tg_counters_t *counters;

    counters = call->priv->counters;
    call->priv->counters = &ngx_tg_counters_dummy;

    if (call->priv->running != 0) {
        ngx_tg_running_call_remove(call->priv->running);
        call->priv->running = 0;
    }

    return counters;
}

void
ngx_tg_call_count_moved_out(ngx_tg_call_t *call)
{
    ngx_tg_counters_add(ngx_tg_call_take_counters(call), NGX_TG_COUNTER_MOVED,
                        1);
}

void
ngx_tg_call_count_end(ngx_tg_call_t *call, const ngx_tg_call_record_t *record)
{
    ngx_tg_counters_t *counters;

    if (record->end == NGX_TG_END_MOVED) {
        ngx_tg_call_count_moved_out(call);
        return;
    }

    /* An unknown tool has no counters of its own. */
    if (call->entry == NULL) {
        ngx_tg_counters_add(call->base->conf->counters,
                            NGX_TG_COUNTER_UNKNOWN_CALLS, 1);
        return;
    }

    counters = ngx_tg_call_take_counters(call);
    ngx_tg_counters_add(counters, NGX_TG_COUNTER_BYTES_IN, record->bytes_in);
    ngx_tg_counters_add(counters, NGX_TG_COUNTER_BYTES_OUT, record->bytes_out);
    ngx_tg_counters_add(counters, NGX_TG_COUNTER_DURATION_MS, record->time);

    if (record->end != TG_FAILURE_NONE) {
        ngx_tg_counters_add(counters,
                            NGX_TG_COUNTER_END_STATUS + record->end - 1, 1);
    }

    /* The last counter: now the call is not in flight any more. */
    ngx_tg_counters_add(counters,
                        NGX_TG_COUNTER_DURATION_BUCKET
                            + ngx_tg_call_get_time_bucket(record->time),
                        1);
}

/* --- numbers of calls --- */

uint64_t
ngx_tg_call_get_number(ngx_tg_call_t *call)
{
    if (call->priv->number == 0
        && call->priv->counters != &ngx_tg_counters_dummy) {
        call->priv->number = ngx_tg_running_call_next_number();
    }

    return call->priv->number;
}

void
ngx_tg_call_publish_running(ngx_tg_call_t *call, void (*unwanted)(void *call))
{
    const ngx_tg_peer_cred_t *client;
    ngx_tg_running_call_t running;

    if (call->priv->counters == &ngx_tg_counters_dummy) {
        return;
    }

    client = ngx_tg_session_base_get_peer_cred(call->base);
    running.number = ngx_tg_call_get_number(call);
    running.start = call->start;
    running.pid = client != NULL ? client->pid : 0;
    running.uid = client != NULL ? client->uid : 0;
    running.runs_in_worker = call->priv->handler != NULL
                             && call->priv->handler->run != NULL;
    running.peer = &call->base->peer;
    running.counters = call->priv->counters;
    call->priv->running = ngx_tg_running_call_add(&running, call, unwanted);
}
