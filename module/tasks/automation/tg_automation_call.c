/*
 * The methods automation.status, automation.enable, automation.disable and
 * automation.approve.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"

int
tg_task_call_check_rules(tg_task_call_t *call)
{
    tg_automation_t *automation;

    automation = call->engine->automation;

    if ((call->method->flags & TG_TASK_METHOD_IS_ADMIN)
        && call->visible_owner.data != NULL)
    {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_UNKNOWN_METHOD,
            "Method not found: only clients that see all tasks may call it "
            "(task_visibility, task_admin).");
        return 0;
    }

    if (automation == NULL || automation->nrules == 0) {
        tg_task_call_respond_error(
            call, TG_TASK_ERROR_UNAVAILABLE,
            "Subsystem unavailable: the config has no rules (automation, "
            "automation_file).");
        return 0;
    }

    if (!automation->is_loaded) {
        tg_task_call_enqueue(call, &automation->waiting);
        return 0;
    }

    return 1;
}

void
tg_task_call_begin_rules_status(tg_task_call_t *call)
{
    tg_buf_reset(&call->text, 0);
    tg_automation_append_status(&call->text, call->engine->automation,
                                call->visible_owner);
    tg_task_call_respond_text(call);
}

/* --- automation.enable, automation.disable --- */

static int
tg_task_call_is_enable(const tg_task_call_t *call)
{
    return strcmp(call->method->name, "automation.enable") == 0;
}

/*
 * Stores an override before applying it, so that a response is durable.
 * call->text has key and value of the record.
 */
void
tg_task_call_begin_rules_override(tg_task_call_t *call)
{
    tg_automation_rule_t rule, *found;
    tg_automation_t *automation;
    tg_str_t id;
    size_t len;

    automation = call->engine->automation;

    id = tg_task_call_get_text(call, "ruleId", &call->prompt);
    found = id.data != NULL ? tg_automation_find_rule(automation, id) : NULL;

    if (id.data != NULL && found == NULL) {
        tg_task_call_respond_json(call, TG_STR("{\"success\":false}"));
        return;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_append_cstr(&call->text, found != NULL ? "rule/" : "automation");

    if (found != NULL) {
        tg_buf_append_str(&call->text, id);
    }

    len = call->text.len;

    if (found != NULL) {
        rule = *found;
        rule.override = tg_task_call_is_enable(call) ? TG_RULE_OVERRIDE_ON
                                                     : TG_RULE_OVERRIDE_OFF;
        tg_automation_rule_write_record(&call->text, &rule);
    } else {
        tg_buf_append_char(&call->text, '{');
        tg_json_add_bool(&call->text, "enabled", tg_task_call_is_enable(call));
        tg_buf_append_char(&call->text, '}');
    }

    if (tg_buf_has_failed(&call->text)) {
        tg_task_call_respond_text(call);
        return;
    }

    call->record.key = tg_str(call->text.data, len);
    call->record.value = tg_str(call->text.data + len, call->text.len - len);
    call->query.records = &call->record;
    call->query.nrecords = 1;
    call->seen_count = automation->nrecords_stored;
    tg_task_call_query_store(call);
}

void
tg_task_call_on_rules_override(tg_task_call_t *call)
{
    tg_automation_rule_t *rule;
    tg_automation_t *automation;
    tg_rule_override_t override;
    int is_on;

    automation = call->engine->automation;
    is_on = tg_task_call_is_enable(call);
    override = is_on ? TG_RULE_OVERRIDE_ON : TG_RULE_OVERRIDE_OFF;

    if (call->record.key.data[0] == 'a') {
        automation->is_enabled = is_on;
        tg_task_call_respond_json(call, is_on ? TG_STR("{\"enabled\":true}")
                                              : TG_STR("{\"enabled\":false}"));
        return;
    }

    rule = tg_automation_find_rule(automation, tg_buf_view(&call->prompt));

    if (rule != NULL && rule->override != override) {
        rule->override = override;

        /*
         * A record of the rule that was written meanwhile lacks the override.
         */
        if (call->seen_count != automation->nrecords_stored
            && !call->engine->is_shutting_down)
        {
            tg_task_call_begin(call);
            return;
        }
    }

    tg_task_call_respond_json(call, TG_STR("{\"success\":true}"));
}

/* --- automation.approve --- */

void
tg_task_call_begin_rules_approve(tg_task_call_t *call)
{
    tg_automation_t *automation;
    tg_firing_t *firing;

    automation = call->engine->automation;

    if (tg_task_call_reject_if_stopping(call)) {
        return;
    }

    firing = tg_automation_find_firing(
        automation, tg_task_call_get_text(call, "executionId", &call->prompt));

    if (firing == NULL || firing->state != TG_FIRING_PENDING_APPROVAL
        || firing->is_querying)
    {
        tg_task_call_respond_error(call, TG_TASK_ERROR_INVALID_PARAMS,
                                   "executionId: no execution with this id "
                                   "waits for approval; see "
                                   "automation.status.");
        return;
    }

    tg_task_call_enqueue(call, &firing->approvals);

    if (tg_task_call_get_bool(call, "approve")) {
        tg_firing_run_action(firing);
    } else {
        tg_firing_deny(firing);
    }
}
