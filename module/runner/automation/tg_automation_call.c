/*
 * The methods: automation.status, .enable, .disable and .approve.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"

/* NULL: there is none, which was answered; or the call waits for it. */
static tg_automation_t *
tg_automation_of(tg_task_call_t *call)
{
    tg_automation_t *automation;

    automation = call->engine->automation;

    if (automation == NULL || automation->nrules == 0) {
        tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                           "Subsystem unavailable: the config has no rules "
                           "(automation, automation_file).");
        return NULL;
    }

    if (!automation->is_loaded) {
        tg_task_call_wait(call, &automation->waiting);
        return NULL;
    }

    return automation;
}

/* The same for who changes something: those alone who see all tasks. */
static tg_automation_t *
tg_automation_of_all(tg_task_call_t *call)
{
    if (call->seen_of.data == NULL) {
        return tg_automation_of(call);
    }

    tg_task_call_error(call, TG_TASK_UNKNOWN,
                       "Method not found: it is for those who see all tasks "
                       "(task_visibility, task_admin).");

    return NULL;
}

void
tg_automation_status(tg_task_call_t *call)
{
    const tg_automation_t *automation;

    automation = tg_automation_of(call);

    if (automation != NULL) {
        tg_buf_reset(&call->text, 0);
        tg_automation_put(&call->text, automation, call->seen_of);
        tg_task_call_text(call);
    }
}

/* --- enable, disable --- */

static int
tg_automation_says_on(const tg_task_call_t *call)
{
    return strcmp(call->method->name, "automation.enable") == 0;
}

/*
 * Written down first, as what was answered holds: key and value stand in
 * call->text.
 */
static void
tg_automation_choose(tg_task_call_t *call)
{
    tg_automation_rule_t rule, *found;
    tg_automation_t *automation;
    tg_str_t id;
    size_t len;

    automation = tg_automation_of_all(call);

    if (automation == NULL) {
        return;
    }

    id = tg_task_text(call, "ruleId", &call->prompt);
    found = id.data != NULL ? tg_automation_rule(automation, id) : NULL;

    if (id.data != NULL && found == NULL) {
        tg_task_call_json(call, TG_STR("{\"success\":false}"));
        return;
    }

    tg_buf_reset(&call->text, 0);
    tg_buf_text(&call->text, found != NULL ? "rule/" : "automation");

    if (found != NULL) {
        tg_buf_str(&call->text, id);
    }

    len = call->text.len;

    if (found != NULL) {
        rule = *found;
        rule.choice = tg_automation_says_on(call) ? TG_CHOICE_ON
                                                  : TG_CHOICE_OFF;
        tg_automation_put_rule_note(&call->text, &rule);
    } else {
        tg_buf_printf(&call->text, "{\"enabled\":%s}",
                      tg_automation_says_on(call) ? "true" : "false");
    }

    if (tg_buf_failed(&call->text)) {
        tg_task_call_text(call);
        return;
    }

    tg_task_call_init(call, TG_STORE_NOTE);
    call->note.key = tg_str(call->text.data, len);
    call->note.value = tg_str(call->text.data + len, call->text.len - len);
    call->ask.notes = &call->note;
    call->ask.nnotes = 1;
    call->seen = automation->nnoted;
    tg_task_call_ask(call);
}

void
tg_automation_enable(tg_task_call_t *call)
{
    tg_automation_choose(call);
}

void
tg_automation_disable(tg_task_call_t *call)
{
    tg_automation_choose(call);
}

void
tg_automation_chosen(tg_task_call_t *call)
{
    tg_automation_rule_t *rule;
    tg_automation_t *automation;
    tg_choice_t choice;
    int is_on;

    automation = call->engine->automation;
    is_on = tg_automation_says_on(call);
    choice = is_on ? TG_CHOICE_ON : TG_CHOICE_OFF;

    if (call->note.key.data[0] == 'a') {
        automation->is_enabled = is_on;
        tg_task_call_json(call, is_on ? TG_STR("{\"enabled\":true}")
                                      : TG_STR("{\"enabled\":false}"));
        return;
    }

    rule = tg_automation_rule(automation, tg_buf_view(&call->prompt));

    if (rule != NULL && rule->choice != choice) {
        rule->choice = choice;

        /* What was written of it meanwhile did not know. */
        if (call->seen != automation->nnoted && !call->engine->is_dropped) {
            tg_automation_choose(call);
            return;
        }
    }

    tg_task_call_json(call, TG_STR("{\"success\":true}"));
}

/* --- approve --- */

void
tg_automation_approve(tg_task_call_t *call)
{
    tg_automation_t *automation;
    tg_execution_t *execution;

    automation = tg_automation_of_all(call);

    if (automation == NULL) {
        return;
    }

    if (call->engine->state != TG_ENGINE_OPEN) {
        tg_task_call_error(call, TG_TASK_UNAVAILABLE,
                           "Subsystem unavailable: the tasks were told to "
                           "stop; reload or start NGINX to go on.");
        return;
    }

    execution = tg_execution_find(automation, tg_task_text(call, "executionId",
                                                           &call->prompt));

    if (execution == NULL || execution->state != TG_EXECUTION_APPROVAL
        || execution->is_asking)
    {
        tg_task_call_error(call, TG_TASK_PARAMS,
                           "executionId: none of this name waits for "
                           "approval; see automation.status.");
        return;
    }

    tg_task_call_wait(call, &execution->approvals);

    if (tg_task_flag(call, "approve")) {
        tg_execution_perform(execution);
    } else {
        tg_execution_deny(execution);
    }
}
