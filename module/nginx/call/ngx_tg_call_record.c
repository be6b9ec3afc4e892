/* Records of ended calls: reason, rule, times and sizes. */
#include "nginx/call/ngx_tg_call_impl.h"

/* Calls that began in this worker, and that ended, by end reason. */
static ngx_uint_t ngx_tg_calls_begun;
static ngx_uint_t ngx_tg_calls_ended[NGX_TG_END_COUNT];

/* Names of the rules: `word` in logs, `name` in limits and for the runner. */
static const struct {
    const char *word;
    const char *name;
} ngx_tg_call_rule_names[NGX_TG_RULE_COUNT] = {
    [NGX_TG_RULE_DENY] = { "deny", "deny" },
    [NGX_TG_RULE_INPUT] = { "input_schema", "input_schema" },
    [NGX_TG_RULE_OUTPUT] = { "output_schema", "output_schema" },
    [NGX_TG_RULE_MAX_OUTPUT] = { "max_output", "max_output" },
    [NGX_TG_RULE_TIMEOUT] = { "timeout", "timeout" },
    [NGX_TG_RULE_INFLIGHT] = { "tool_max_inflight", "tool_max_inflight" },
    [NGX_TG_RULE_RATE] = { "rate", "rate" },
    [NGX_TG_RULE_COMPLETE_RATE] = { "complete_rate", "complete_rate" },
    [NGX_TG_RULE_GROUP_RATE] = { "mcp_server_rate", "rate of its mcp_server" },
    [NGX_TG_RULE_SERVER_RATE] = { "tool_rate", "tool_rate" },
    [NGX_TG_RULE_CONCURRENCY] = { "concurrency", "concurrency" },
    [NGX_TG_RULE_GROUP_CONCURRENCY] = { "mcp_server_concurrency",
                                        "concurrency of its mcp_server" },
    [NGX_TG_RULE_SERVER_CONCURRENCY] = { "tool_concurrency",
                                         "tool_concurrency" },
    [NGX_TG_RULE_EXEC] = { "exec", "exec" },
    [NGX_TG_RULE_RUNNER] = { "runner", "runner" },
    [NGX_TG_RULE_ASK] = { "ask", "ask" },
};

const char *
ngx_tg_end_reason_get_name(ngx_uint_t end)
{
    static const char *const others[] = { "cancelled", "gone", "moved",
                                          "killed" };

    return end > TG_FAILURE_SIZE ? others[end - NGX_TG_END_CANCELLED]
                                 : tg_failure_name((tg_failure_t) end);
}

const char *
ngx_tg_call_rule_get_name(ngx_uint_t rule)
{
    return rule < NGX_TG_RULE_COUNT ? ngx_tg_call_rule_names[rule].word : NULL;
}

ngx_tg_call_rule_t
ngx_tg_call_rule_find(tg_str_t name)
{
    ngx_uint_t i;

    for (i = 1; i < NGX_TG_RULE_COUNT; i++) {
        if (tg_str_eq(name, tg_str_from_cstr(ngx_tg_call_rule_names[i].name))) {
            return (ngx_tg_call_rule_t) i;
        }
    }

    return NGX_TG_RULE_NONE;
}

static ngx_uint_t
ngx_tg_call_get_end_reason(const ngx_tg_call_t *call,
                           const tg_outcome_t *outcome)
{
    if (call->base == NULL) {
        return outcome != NULL ? outcome->failure : NGX_TG_END_CANCELLED;
    }

    /* The peer's result counts, even if the response was not sent. */
    if (outcome != NULL || call->priv->is_refused) {
        return call->base->peer.last_failure;
    }

    if (call->state == NGX_TG_CALL_MOVING) {
        return NGX_TG_END_MOVED;
    }

    return call->base->is_gone ? NGX_TG_END_CLIENT_GONE : NGX_TG_END_CANCELLED;
}

/* Returns the call's entry, or that of its name in the catalog, or NULL. */
static const tg_catalog_entry_t *
ngx_tg_call_find_listed_entry(const ngx_tg_call_t *call)
{
    const tg_catalog_t *catalog;
    const tg_catalog_entry_t *entry;

    entry = call->entry;

    if (entry == NULL || call->base == NULL) {
        return NULL;
    }

    catalog = call->base->peer.catalog;

    return tg_catalog_has_entry(catalog, entry)
               ? entry
               : tg_catalog_find(catalog, entry->kind, entry->name);
}

tg_run_stats_t
ngx_tg_call_get_run_stats(const ngx_tg_call_t *call)
{
    tg_run_stats_t ran;
    int64_t age;

    ran = call->priv->ran;

    /* Only the runner knows its job's times, which it has not reported. */
    if (ran.ran_ms >= 0
        || (call->priv->job.runner != NULL && !call->priv->job.is_local))
    {
        return ran;
    }

    age = (int64_t) (ngx_current_msec - call->start);

    if (ran.queued_ms < 0) {
        ran.queued_ms = call->priv->limits.len != 0 && !call->has_run ? age : 0;
    }

    ran.ran_ms = age - ran.queued_ms;
    ran.rule = call->rule != NGX_TG_RULE_NONE
                   ? tg_str_from_cstr(ngx_tg_call_rule_names[call->rule].name)
                   : TG_STR_NONE;

    return ran;
}

void
ngx_tg_calls_count_begun(void)
{
    ngx_tg_calls_begun++;
}

static void
ngx_tg_call_fill_record(const ngx_tg_call_t *call, ngx_uint_t end,
                        ngx_tg_call_record_t *record)
{
    tg_run_stats_t ran;

    record->entry = ngx_tg_call_find_listed_entry(call);
    record->end = end;
    record->rule = call->rule;
    record->bytes_in = call->priv->size;
    record->bytes_out = 0;
    record->is_known = 1;
    record->time = ngx_current_msec - call->start;

    /* A call that was answered at once did not wait. */
    if (call->request != NULL) {
        record->queued = 0;
        record->ran = (int64_t) record->time;
        record->exit = -1;
        record->signal = 0;
        return;
    }

    ran = ngx_tg_call_get_run_stats(call);
    record->queued = ran.queued_ms;
    record->ran = ran.ran_ms;
    record->exit = ran.has_exited ? ran.exit : -1;
    record->signal = ran.signal;
}

void
ngx_tg_call_make_record(ngx_tg_call_t *call, const tg_outcome_t *outcome,
                        ngx_tg_call_record_t *record)
{
    ngx_tg_call_fill_record(call, ngx_tg_call_get_end_reason(call, outcome),
                            record);
    ngx_tg_calls_ended[record->end]++;

    if (call->base != NULL && (outcome != NULL || call->priv->is_refused)) {
        record->bytes_out = call->base->peer.last_reply_size;
        call->base->last = *record;
    }

    ngx_tg_call_count_end(call, record);
}

void
ngx_tg_call_make_killed_record(const ngx_tg_call_t *call,
                               ngx_tg_call_record_t *record)
{
    ngx_tg_call_fill_record(call, NGX_TG_END_KILLED, record);
}

void
ngx_tg_calls_log_totals(ngx_cycle_t *cycle)
{
    u_char text[512], *p;
    ngx_uint_t i, n, level;

    p = text;

    for (i = 0, n = 0; i < NGX_TG_END_COUNT; i++) {
        n += ngx_tg_calls_ended[i];

        if (ngx_tg_calls_ended[i] != 0) {
            p = ngx_slprintf(p, text + sizeof(text), ", %s %ui",
                             ngx_tg_end_reason_get_name(i),
                             ngx_tg_calls_ended[i]);
        }
    }

    if (ngx_tg_calls_begun == 0) {
        return;
    }

    /* A worker that stops at once leaves calls without an end. */
    level = n == ngx_tg_calls_begun || ngx_terminate ? NGX_LOG_INFO
                                                     : NGX_LOG_ALERT;
    ngx_log_error(level, cycle->log, 0, "calls %ui, ended %ui%*s",
                  ngx_tg_calls_begun, n, (size_t) (p - text), text);
}
