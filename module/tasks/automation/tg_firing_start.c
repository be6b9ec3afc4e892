/*
 * Start of a firing, and its action.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"
#include "tasks/webhook/tg_webhook_send.h"

/*
 * Maximum size of a text in bytes: with its metadata it fits into task.submit.
 */
#define TG_FIRING_TEXT_MAX 1040000

/* --- submission of a task --- */

static void
tg_firing_on_submitted(tg_firing_t *firing, int rc)
{
    tg_automation_rule_t *rule;
    tg_engine_t *engine;
    tg_buf_t params;

    engine = firing->automation->engine;
    rule = tg_firing_find_rule(firing);
    tg_buf_reset(&firing->text, 0);

    if (rule != NULL) {
        rule->is_submitting = 0;
    }

    if (rc != TG_OK) {
        tg_firing_end(firing, TG_FIRING_FAILED,
                      rc == TG_LIMIT ? "Queue full: no more tasks may wait "
                                       "(task_queue)"
                                     : "task store error, see the log");
        return;
    }

    firing->task = firing->query.id;
    tg_firing_set_state(firing, TG_FIRING_SUBMITTED);

    if (rule != NULL) {
        rule->task = firing->task;
        rule->chain = firing->chain + 1;
        rule->is_queued = 1;
        rule->ended_at = 0;
    }

    tg_task_begin_params(&params, firing->task, tg_buf_view(&firing->agent));
    tg_json_add_int(&params, "priority", firing->priority);
    tg_engine_notify(engine, tg_buf_view(&firing->owner), "task.queued",
                     &params);
    engine->can_claim = 1;
    tg_firing_notify_fired(firing);
    tg_firing_respond_approvals(firing, TG_OK);

    /*
     * If this record is not stored, the task's metadata still name the firing.
     */
    tg_firing_store(firing, NULL, 0, NULL);
}

/* Writes the metadata of the task, which name the rule and the firing. */
static void
tg_firing_write_metadata(tg_firing_t *firing)
{
    tg_buf_t *json;

    json = &firing->metadata;
    tg_buf_reset(json, 0);
    tg_buf_append_cstr(json, "{\"source\":\"automation\",\"ruleId\":");
    tg_json_write_string(json, tg_buf_view(&firing->rule));
    tg_buf_printf(json, ",\"executionId\":\"%s\",\"eventType\":", firing->id);
    tg_json_write_string(json, tg_buf_view(&firing->type));
    tg_json_add_uint(json, "chain", firing->chain + 1);
    tg_buf_append_char(json, '}');
}

static void
tg_firing_submit_task(tg_firing_t *firing)
{
    const tg_task_config_t *config;
    tg_automation_rule_t *rule;

    config = &firing->automation->engine->config;

    if (firing->agent.len == 0) {
        tg_buf_append_str(&firing->agent, config->spec.default_agent);
    }

    if (tg_task_config_find_agent(config, tg_buf_view(&firing->agent)) == NULL)
    {
        tg_firing_end(firing, TG_FIRING_FAILED, tg_engine_orphan_error);
        return;
    }

    rule = tg_firing_find_rule(firing);

    if (rule != NULL) {
        rule->is_submitting = 1;
    }

    tg_firing_write_metadata(firing);
    tg_firing_store(firing, rule, 1, tg_firing_on_submitted);
}

/* --- other actions --- */

static void
tg_firing_on_notify_stored(tg_firing_t *firing, int rc)
{
    tg_firing_notify_message(firing, tg_buf_view(&firing->text));
    tg_buf_reset(&firing->text, 0);
    tg_firing_on_end_stored(firing, rc);
}

static void
tg_firing_on_send_stored(tg_firing_t *firing, int rc)
{
    tg_firing_respond_approvals(firing, rc);
    tg_webhook_send(firing);
}

void
tg_firing_run_action(tg_firing_t *firing)
{
    switch (firing->action) {
    case TG_ACTION_AGENT:
        tg_firing_submit_task(firing);
        break;

    case TG_ACTION_NOTIFY:
        tg_firing_set_state(firing, TG_FIRING_NOTIFIED);
        tg_firing_store(firing, tg_firing_find_rule(firing), 0,
                        tg_firing_on_notify_stored);
        break;

    case TG_ACTION_WEBHOOK:
        tg_firing_set_state(firing, TG_FIRING_WEBHOOK_PENDING);
        tg_firing_store(firing, tg_firing_find_rule(firing), 0,
                        tg_firing_on_send_stored);
    }
}

/* --- start --- */

static void
tg_firing_on_approval_stored(tg_firing_t *firing, int rc)
{
    tg_buf_t message;

    tg_buf_init(&message, tg_alloc_libc());
    tg_buf_append_cstr(&message, "Rule ");
    tg_buf_append_str(&message, tg_buf_view(&firing->rule));
    tg_buf_printf(&message,
                  " waits for approval (automation.approve, executionId %s): ",
                  firing->id);
    tg_buf_append_str(&message, tg_buf_view(&firing->text));
    tg_firing_notify_message(firing, tg_buf_view(&message));
    tg_buf_deinit(&message);
}

/* Renders the action's texts. TG_OK; TG_LIMIT: too long; TG_NOMEM. */
static int
tg_firing_render_texts(tg_firing_t *firing, const tg_rule_t *rule,
                       tg_str_t event)
{
    tg_str_t text;
    int rc;

    text = rule->action == TG_ACTION_AGENT ? rule->prompt : rule->message;
    firing->action = rule->action;
    firing->priority = rule->priority;
    tg_buf_append_str(&firing->agent, rule->agent);
    tg_buf_append_str(&firing->channel, rule->channel);
    rc = tg_event_render_template(&firing->text,
                                  text.data != NULL ? text : TG_STR(""), event,
                                  TG_FIRING_TEXT_MAX);

    if (rc == TG_OK && rule->action == TG_ACTION_WEBHOOK) {
        tg_webhook_write_body(firing, event);
    }

    return tg_buf_has_failed(&firing->text) || tg_buf_has_failed(&firing->body)
               ? TG_NOMEM
               : rc;
}

/*
 * Returns whether open firings are too many or too large, so that clients that
 * cause events cannot fill the memory.
 */
static int
tg_automation_has_too_many_firings(const tg_automation_t *automation)
{
    const tg_firing_t *firing;
    size_t bytes;

    bytes = 0;

    TAILQ_FOREACH(firing, &automation->firings, link)
    {
        bytes += firing->text.len + firing->body.len;
    }

    return automation->nopen > TG_FIRINGS_OPEN_MAX
           || bytes > TG_FIRINGS_BYTES_MAX;
}

/*
 * Prepares the action; `result` is that of the conditions. Returns NULL, or a
 * static error text.
 */
static const char *
tg_firing_prepare(tg_firing_t *firing, const tg_automation_rule_t *rule,
                  tg_str_t event, int result)
{
    if (result == TG_LIMIT) {
        return "a pattern takes too many steps on this event; simplify it";
    }

    if (result == TG_OK) {
        result = tg_firing_render_texts(firing, rule->rule, event);
    }

    if (result == TG_LIMIT) {
        return "the text with its placeholders filled in is longer than "
               "1,040,000 bytes; use less of the event";
    }

    if (tg_automation_has_too_many_firings(firing->automation)) {
        return "too many executions wait for approval or for a webhook";
    }

    return result != TG_OK ? TG_RUNNER_NO_MEMORY : NULL;
}

static void
tg_firing_start(tg_firing_t *firing, tg_automation_rule_t *rule, tg_str_t event,
                int result)
{
    const char *error;

    if (firing->chain >= TG_AUTOMATION_CHAIN_MAX) {
        tg_firing_end(firing, TG_FIRING_STOPPED,
                      "the rule has triggered itself too often in a chain of "
                      "tasks; the chain is stopped");
        return;
    }

    rule->fired_at = firing->at;
    error = tg_firing_prepare(firing, rule, event, result);

    if (error != NULL) {
        tg_firing_end(firing, TG_FIRING_FAILED, error);

    } else if (rule->rule->needs_approval) {
        tg_firing_set_state(firing, TG_FIRING_PENDING_APPROVAL);
        tg_firing_store(firing, rule, 0, tg_firing_on_approval_stored);

    } else {
        tg_firing_run_action(firing);
    }
}

void
tg_automation_fire_rule(tg_automation_t *automation, tg_automation_rule_t *rule,
                        int matched, tg_str_t event, unsigned chain)
{
    tg_firing_t *firing;
    tg_str_t value;
    int64_t age;
    int result;

    age = automation->now() - rule->fired_at;

    if (rule->fired_at != 0 && age >= 0 && age < rule->rule->cooldown_ms) {
        return;
    }

    result = matched == TG_OK ? tg_rule_check_conditions(rule->rule, event)
                              : matched;
    firing = result != TG_MISSING ? tg_firing_new(automation) : NULL;

    if (firing == NULL) {
        return;
    }

    firing->chain = chain;
    tg_firing_generate_id(firing);
    tg_buf_append_str(&firing->rule, rule->rule->id);

    if (tg_json_has_member(event, TG_STR("type"), TG_JSON_STRING, &value)) {
        tg_buf_append_str(&firing->type, tg_json_string_body(value));
    }

    if (tg_event_get_field(event, TG_STR("payload.owner"), &value) == TG_OK
        && tg_json_type(value) == TG_JSON_STRING)
    {
        tg_buf_append_str(&firing->owner, tg_json_string_body(value));
    }

    tg_firing_start(firing, rule, event, result);
}

void
tg_automation_resume_webhooks(tg_automation_t *automation)
{
    tg_firing_t *firing, *next;

    TG_TAILQ_FOREACH_SAFE(firing, &automation->firings, link, next)
    {
        if (firing->state == TG_FIRING_WEBHOOK_PENDING) {
            tg_webhook_send(firing);
        }
    }
}
