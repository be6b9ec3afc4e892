/*
 * A rule that fires, and what it does.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"
#include "runner/automation/tg_hook.h"

/* Bytes of a text: with its metadata it is no longer than task.submit's. */
#define TG_EXECUTION_TEXT_MAX 1040000

/* --- a task --- */

static void
tg_execution_on_submitted(tg_execution_t *execution, int rc)
{
    tg_automation_rule_t *rule;
    tg_engine_t *engine;
    tg_buf_t params;

    engine = execution->automation->engine;
    rule = tg_automation_rule_of(execution);
    tg_buf_reset(&execution->text, 0);

    if (rule != NULL) {
        rule->is_submitting = 0;
    }

    if (rc != TG_OK) {
        tg_execution_end(execution, TG_EXECUTION_FAILED,
                         rc == TG_LIMIT
                             ? "Queue full: as many tasks wait as may "
                               "(task_queue)"
                             : "the tasks' store says no, see the log");
        return;
    }

    execution->task = execution->ask.id;
    tg_execution_to(execution, TG_EXECUTION_SUBMITTED);

    if (rule != NULL) {
        rule->task = execution->task;
        rule->chain = execution->chain + 1;
        rule->is_queued = 1;
        rule->ended_at = 0;
    }

    tg_task_tell_begin(&params, execution->task,
                       tg_buf_view(&execution->agent));
    tg_buf_text(&params, ",\"priority\":");
    tg_buf_int(&params, execution->priority);
    tg_task_tell(engine, tg_buf_view(&execution->owner), "task.queued",
                 &params);
    engine->wants = 1;
    tg_execution_tell_fired(execution);
    tg_execution_answer(execution, TG_OK);

    /* Which task it was is told by the task, if this is not kept. */
    tg_execution_write(execution, NULL, 0, NULL);
}

/* What its task knows of it. */
static void
tg_execution_put_metadata(tg_execution_t *execution)
{
    tg_buf_t *json;

    json = &execution->metadata;
    tg_buf_reset(json, 0);
    tg_buf_text(json, "{\"source\":\"automation\",\"ruleId\":");
    tg_json_put_string(json, tg_buf_view(&execution->rule));
    tg_buf_printf(json,
                  ",\"executionId\":\"%s\",\"eventType\":", execution->id);
    tg_json_put_string(json, tg_buf_view(&execution->type));
    tg_buf_printf(json, ",\"chain\":%u}", execution->chain + 1);
}

static void
tg_execution_submit(tg_execution_t *execution)
{
    const tg_task_config_t *config;
    tg_automation_rule_t *rule;

    config = &execution->automation->engine->config;

    if (execution->agent.len == 0) {
        tg_buf_str(&execution->agent, config->fallback);
    }

    if (tg_task_agent(config, tg_buf_view(&execution->agent)) == NULL) {
        tg_execution_end(execution, TG_EXECUTION_FAILED, tg_engine_orphaned);
        return;
    }

    rule = tg_automation_rule_of(execution);

    if (rule != NULL) {
        rule->is_submitting = 1;
    }

    tg_execution_put_metadata(execution);
    tg_execution_write(execution, rule, 1, tg_execution_on_submitted);
}

/* --- the others --- */

static void
tg_execution_on_notified(tg_execution_t *execution, int rc)
{
    tg_execution_tell_notify(execution, tg_buf_view(&execution->text));
    tg_buf_reset(&execution->text, 0);
    tg_execution_on_end(execution, rc);
}

static void
tg_execution_on_sending(tg_execution_t *execution, int rc)
{
    tg_execution_answer(execution, rc);
    tg_hook_send(execution);
}

void
tg_execution_perform(tg_execution_t *execution)
{
    switch (execution->action) {
    case TG_ACTION_AGENT:
        tg_execution_submit(execution);
        break;

    case TG_ACTION_NOTIFY:
        tg_execution_to(execution, TG_EXECUTION_NOTIFIED);
        tg_execution_write(execution, tg_automation_rule_of(execution), 0,
                           tg_execution_on_notified);
        break;

    case TG_ACTION_WEBHOOK:
        tg_execution_to(execution, TG_EXECUTION_SENDING);
        tg_execution_write(execution, tg_automation_rule_of(execution), 0,
                           tg_execution_on_sending);
    }
}

/* --- its beginning --- */

static void
tg_execution_on_asked(tg_execution_t *execution, int rc)
{
    tg_buf_t message;

    tg_buf_init(&message, tg_alloc_libc());
    tg_buf_text(&message, "Rule ");
    tg_buf_str(&message, tg_buf_view(&execution->rule));
    tg_buf_printf(&message,
                  " waits for approval (automation.approve, executionId %s): ",
                  execution->id);
    tg_buf_str(&message, tg_buf_view(&execution->text));
    tg_execution_tell_notify(execution, tg_buf_view(&message));
    tg_buf_deinit(&message);
}

/* What it does, with all of the event put in. */
static int
tg_execution_render(tg_execution_t *execution, const tg_rule_t *rule,
                    tg_str_t event)
{
    tg_str_t text;
    int rc;

    text = rule->action == TG_ACTION_AGENT ? rule->prompt : rule->message;
    execution->action = rule->action;
    execution->priority = rule->priority;
    tg_buf_str(&execution->agent, rule->agent);
    tg_buf_str(&execution->channel, rule->channel);
    rc = tg_event_put(&execution->text, text.data != NULL ? text : TG_STR(""),
                      event, TG_EXECUTION_TEXT_MAX);

    if (rc == TG_OK && rule->action == TG_ACTION_WEBHOOK) {
        tg_hook_body(execution, event);
    }

    return tg_buf_failed(&execution->text) || tg_buf_failed(&execution->body)
               ? TG_NOMEM
               : rc;
}

/* Who makes events must not fill the memory by what rules say of them. */
static int
tg_executions_are_many(const tg_automation_t *automation)
{
    const tg_execution_t *execution;
    size_t bytes;

    bytes = 0;

    TAILQ_FOREACH(execution, &automation->executions, place)
    {
        bytes += execution->text.len + execution->body.len;
    }

    return automation->nopen > TG_EXECUTIONS_OPEN_MAX
           || bytes > TG_EXECUTIONS_BYTES_MAX;
}

/* NULL, or why nothing is done. */
static const char *
tg_execution_mistake(tg_execution_t *execution,
                     const tg_automation_rule_t *rule, tg_str_t event,
                     int holds)
{
    if (holds == TG_LIMIT) {
        return "a pattern takes too many steps on this event; make it simpler";
    }

    if (holds == TG_OK) {
        holds = tg_execution_render(execution, rule->rule, event);
    }

    if (holds == TG_LIMIT) {
        return "the text, with all put in, is longer than 1,040,000 bytes; "
               "put less of the event into it";
    }

    if (tg_executions_are_many(execution->automation)) {
        return "too many executions wait for approval or their webhook";
    }

    return holds != TG_OK ? TG_RUNNER_NO_MEMORY : NULL;
}

static void
tg_execution_begin(tg_execution_t *execution, tg_automation_rule_t *rule,
                   tg_str_t event, int holds)
{
    const char *mistake;

    if (execution->chain >= TG_AUTOMATION_CHAIN_MAX) {
        tg_execution_end(execution, TG_EXECUTION_STOPPED,
                         "the rule has made itself fire too often, one task "
                         "by the other; it is stopped here");
        return;
    }

    rule->fired_at = execution->at;
    mistake = tg_execution_mistake(execution, rule, event, holds);

    if (mistake != NULL) {
        tg_execution_end(execution, TG_EXECUTION_FAILED, mistake);

    } else if (rule->rule->needs_approval) {
        tg_execution_to(execution, TG_EXECUTION_APPROVAL);
        tg_execution_write(execution, rule, 0, tg_execution_on_asked);

    } else {
        tg_execution_perform(execution);
    }
}

void
tg_automation_fire(tg_automation_t *automation, tg_automation_rule_t *rule,
                   tg_str_t event, unsigned chain)
{
    tg_execution_t *execution;
    tg_str_t value;
    int64_t age;
    int holds;

    age = automation->now() - rule->fired_at;

    if (rule->fired_at != 0 && age >= 0 && age < rule->rule->cooldown_ms) {
        return;
    }

    holds = tg_rule_holds(rule->rule, event);
    execution = holds != TG_MISSING ? tg_execution_new(automation) : NULL;

    if (execution == NULL) {
        return;
    }

    execution->chain = chain;
    tg_execution_name(execution);
    tg_buf_str(&execution->rule, rule->rule->id);

    if (tg_json_has(event, TG_STR("type"), TG_JSON_STRING, &value)) {
        tg_buf_str(&execution->type, tg_json_body(value));
    }

    if (tg_event_get(event, TG_STR("payload.owner"), &value) == TG_OK
        && tg_json_type(value) == TG_JSON_STRING)
    {
        tg_buf_str(&execution->owner, tg_json_body(value));
    }

    tg_execution_begin(execution, rule, event, holds);
}

/* What waited for its action when the runner ended: its webhook. */
void
tg_executions_resume(tg_automation_t *automation)
{
    tg_execution_t *execution, *next;

    for (execution = TAILQ_FIRST(&automation->executions); execution != NULL;
         execution = next)
    {
        next = TAILQ_NEXT(execution, place);

        if (execution->state == TG_EXECUTION_SENDING) {
            tg_hook_send(execution);
        }
    }
}
