/*
 * What is known of a call at its end: what became of it, by which rule, how
 * long it waited and ran, how much came and went.
 */
#include "nginx/call/ngx_toolgate_call.h"

/* Of this worker: how many began, and how they ended. */
static ngx_uint_t ngx_toolgate_begun;
static ngx_uint_t ngx_toolgate_ended[NGX_TOOLGATE_ENDS];

/* As logs have them, and as limits and the runner call them. */
static const struct {
    const char *word;
    const char *name;
} ngx_toolgate_rules[NGX_TOOLGATE_RULES] = {
    [NGX_TOOLGATE_RULE_DENY] = { "deny", "deny" },
    [NGX_TOOLGATE_RULE_INPUT] = { "input_schema", "input_schema" },
    [NGX_TOOLGATE_RULE_OUTPUT] = { "output_schema", "output_schema" },
    [NGX_TOOLGATE_RULE_MAX_OUTPUT] = { "max_output", "max_output" },
    [NGX_TOOLGATE_RULE_TIMEOUT] = { "timeout", "timeout" },
    [NGX_TOOLGATE_RULE_INFLIGHT] = { "tool_max_inflight", "tool_max_inflight" },
    [NGX_TOOLGATE_RULE_RATE] = { "rate", "rate" },
    [NGX_TOOLGATE_RULE_GROUP_RATE] = { "mcp_server_rate", "rate of its block" },
    [NGX_TOOLGATE_RULE_SERVER_RATE] = { "tool_rate", "tool_rate" },
    [NGX_TOOLGATE_RULE_CONCURRENCY] = { "concurrency", "concurrency" },
    [NGX_TOOLGATE_RULE_GROUP_CONCURRENCY] = { "mcp_server_concurrency",
                                              "concurrency of its block" },
    [NGX_TOOLGATE_RULE_SERVER_CONCURRENCY] = { "tool_concurrency",
                                               "tool_concurrency" },
    [NGX_TOOLGATE_RULE_EXEC] = { "exec", "exec" },
    [NGX_TOOLGATE_RULE_RUNNER] = { "runner", "runner" },
};

const char *
ngx_toolgate_end_name(ngx_uint_t end)
{
    static const char *const others[] = { "cancelled", "gone", "moved",
                                          "killed" };

    return end > TG_FAILURE_SIZE ? others[end - NGX_TOOLGATE_END_CANCELLED]
                                 : tg_failure_name((tg_failure_t) end);
}

const char *
ngx_toolgate_rule_name(ngx_uint_t rule)
{
    return rule < NGX_TOOLGATE_RULES ? ngx_toolgate_rules[rule].word : NULL;
}

ngx_toolgate_rule_t
ngx_toolgate_rule_of(tg_str_t name)
{
    ngx_uint_t i;

    for (i = 1; i < NGX_TOOLGATE_RULES; i++) {
        if (tg_str_eq(name, tg_str_c(ngx_toolgate_rules[i].name))) {
            return (ngx_toolgate_rule_t) i;
        }
    }

    return NGX_TOOLGATE_RULE_NONE;
}

static ngx_uint_t
ngx_toolgate_end_of(const ngx_toolgate_call_t *call,
                    const tg_outcome_t *outcome)
{
    if (call->front == NULL) {
        return outcome != NULL ? outcome->failure : NGX_TOOLGATE_END_CANCELLED;
    }

    /* The peer knows best: no message may have carried the answer. */
    if (outcome != NULL || call->is_refused) {
        return call->front->peer.answered;
    }

    if (call->state == NGX_TOOLGATE_CALL_MOVING) {
        return NGX_TOOLGATE_END_MOVED;
    }

    return call->front->is_gone ? NGX_TOOLGATE_END_GONE
                                : NGX_TOOLGATE_END_CANCELLED;
}

/* The catalogue's entry, of the one that is offered now, or NULL. */
static const tg_entry_t *
ngx_toolgate_listed(const ngx_toolgate_call_t *call)
{
    const tg_catalogue_t *catalogue;
    const tg_entry_t *entry;

    entry = call->entry;

    if (entry == NULL || call->front == NULL) {
        return NULL;
    }

    catalogue = call->front->peer.catalogue;

    return tg_catalogue_has(catalogue, entry)
               ? entry
               : tg_catalogue_get(catalogue, entry->kind, entry->name);
}

tg_ran_t
ngx_toolgate_ran(const ngx_toolgate_call_t *call)
{
    tg_ran_t ran;
    int64_t age;

    ran = call->ran;

    /* What the runner has, and nobody has told of, is not known. */
    if (ran.ran_ms >= 0 || (call->job.runner != NULL && !call->job.is_here)) {
        return ran;
    }

    age = (int64_t) (ngx_current_msec - call->start);

    if (ran.queued_ms < 0) {
        ran.queued_ms = call->limits.len != 0 && !call->has_run ? age : 0;
    }

    ran.ran_ms = age - ran.queued_ms;
    ran.rule = call->rule != NGX_TOOLGATE_RULE_NONE
                   ? tg_str_c(ngx_toolgate_rules[call->rule].name)
                   : TG_STR_NONE;

    return ran;
}

void
ngx_toolgate_record_begun(void)
{
    ngx_toolgate_begun++;
}

static void
ngx_toolgate_record_make(const ngx_toolgate_call_t *call, ngx_uint_t end,
                         ngx_toolgate_record_t *record)
{
    tg_ran_t ran;

    record->entry = ngx_toolgate_listed(call);
    record->end = end;
    record->rule = call->rule;
    record->bytes_in = call->size;
    record->bytes_out = 0;
    record->is_known = 1;
    record->time = ngx_current_msec - call->start;

    /* One that was answered at once had no turn to wait for. */
    if (call->request != NULL) {
        record->queued = 0;
        record->ran = (int64_t) record->time;
        record->exit = -1;
        record->signal = 0;
        return;
    }

    ran = ngx_toolgate_ran(call);
    record->queued = ran.queued_ms;
    record->ran = ran.ran_ms;
    record->exit = ran.has_exited ? ran.exit : -1;
    record->signal = ran.signal;
}

void
ngx_toolgate_record(ngx_toolgate_call_t *call, const tg_outcome_t *outcome,
                    ngx_toolgate_record_t *record)
{
    ngx_toolgate_record_make(call, ngx_toolgate_end_of(call, outcome), record);
    ngx_toolgate_ended[record->end]++;

    if (call->front != NULL && (outcome != NULL || call->is_refused)) {
        record->bytes_out = call->front->peer.answer_size;
        call->front->last = *record;
    }

    ngx_toolgate_call_counted(call, record);
}

void
ngx_toolgate_record_killed(const ngx_toolgate_call_t *call,
                           ngx_toolgate_record_t *record)
{
    ngx_toolgate_record_make(call, NGX_TOOLGATE_END_KILLED, record);
}

void
ngx_toolgate_record_exit(ngx_cycle_t *cycle)
{
    u_char text[512], *p;
    ngx_uint_t i, n, level;

    p = text;

    for (i = 0, n = 0; i < NGX_TOOLGATE_ENDS; i++) {
        n += ngx_toolgate_ended[i];

        if (ngx_toolgate_ended[i] != 0) {
            p = ngx_slprintf(p, text + sizeof(text), ", %s %ui",
                             ngx_toolgate_end_name(i), ngx_toolgate_ended[i]);
        }
    }

    if (ngx_toolgate_begun == 0) {
        return;
    }

    /* Who is told to stop at once leaves calls without an end. */
    level = n == ngx_toolgate_begun || ngx_terminate ? NGX_LOG_INFO
                                                     : NGX_LOG_ALERT;
    ngx_log_error(level, cycle->log, 0, "calls %ui, ended %ui%*s",
                  ngx_toolgate_begun, n, (size_t) (p - text), text);
}
