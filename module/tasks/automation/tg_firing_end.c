/*
 * Notifications about a firing, and its end.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"

/* --- notifications --- */

void
tg_firing_begin_json(tg_buf_t *json, const tg_firing_t *firing)
{
    tg_buf_printf(json, "{\"executionId\":\"%s\",\"ruleId\":", firing->id);
    tg_json_write_string(json, tg_buf_view(&firing->rule));
    tg_json_add_string(json, "eventType", tg_buf_view(&firing->type));
}

void
tg_firing_append_status(tg_buf_t *json, const tg_firing_t *firing)
{
    tg_json_add_cstr(json, "status", tg_firing_get_state_name(firing->state));

    if (firing->task != -1) {
        tg_buf_append_cstr(json, ",\"taskId\":\"");
        tg_task_append_id(json, firing->task);
        tg_buf_append_char(json, '"');
    }

    if (firing->error.len != 0) {
        tg_json_add_string(json, "error", tg_buf_view(&firing->error));
    }
}

void
tg_firing_notify_message(const tg_firing_t *firing, tg_str_t message)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_firing_begin_json(&params, firing);
    tg_json_add_string(&params, "message", message);

    if (firing->state == TG_FIRING_PENDING_APPROVAL) {
        tg_json_add_bool(&params, "requiresApproval", 1);
    } else if (firing->channel.len != 0) {
        tg_json_add_string(&params, "channel", tg_buf_view(&firing->channel));
    }

    tg_engine_notify(firing->automation->engine,
                     firing->owner.len != 0
                             || firing->state == TG_FIRING_PENDING_APPROVAL
                         ? tg_buf_view(&firing->owner)
                         : TG_STR(TG_TASK_OWNER_ALL),
                     "automation.notify", &params);
}

void
tg_firing_notify_fired(const tg_firing_t *firing)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_firing_begin_json(&params, firing);
    tg_firing_append_status(&params, firing);
    tg_engine_stats_add(&firing->automation->engine->stats, "rule",
                        tg_buf_view(&firing->rule),
                        tg_firing_get_state_name(firing->state));
    tg_engine_notify(firing->automation->engine, tg_buf_view(&firing->owner),
                     "automation.fired", &params);
}

/* --- responses to automation.approve --- */

void
tg_firing_respond_approvals(tg_firing_t *firing, int rc)
{
    tg_task_call_t *call;

    if (rc != TG_OK && firing->error.len == 0) {
        tg_buf_append_cstr(
            &firing->error,
            "not stored because of a task store error, see the log; when the "
            "runner starts again, the old state is back");
    }

    while ((call = TAILQ_FIRST(&firing->approvals)) != NULL) {
        tg_task_call_dequeue(call);
        tg_buf_reset(&call->text, 0);
        tg_buf_printf(&call->text, "{\"success\":%s",
                      firing->error.len != 0 ? "false" : "true");
        tg_firing_append_status(&call->text, firing);
        tg_buf_append_char(&call->text, '}');
        tg_task_call_respond_text(call);
    }
}

/* --- end --- */

void
tg_firing_on_end_stored(tg_firing_t *firing, int rc)
{
    tg_firing_notify_fired(firing);
    tg_firing_respond_approvals(firing, rc);
}

void
tg_firing_end(tg_firing_t *firing, tg_firing_state_t state, const char *why)
{
    tg_buf_reset(&firing->error, 0);

    if (why != NULL) {
        tg_buf_append_cstr(&firing->error, why);
    }

    tg_firing_set_state(firing, state);
    tg_buf_reset(&firing->text, 0);
    tg_buf_reset(&firing->body, 0);
    tg_firing_store(firing, tg_firing_find_rule(firing), 0,
                    tg_firing_on_end_stored);
}

void
tg_firing_deny(tg_firing_t *firing)
{
    tg_firing_end(firing, TG_FIRING_DENIED, NULL);
}
