/*
 * What clients hear of an execution, and its end.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"

/* --- what clients hear --- */

void
tg_execution_put_begin(tg_buf_t *json, const tg_execution_t *execution)
{
    tg_buf_printf(json, "{\"executionId\":\"%s\",\"ruleId\":", execution->id);
    tg_json_put_string(json, tg_buf_view(&execution->rule));
    tg_buf_text(json, ",\"eventType\":");
    tg_json_put_string(json, tg_buf_view(&execution->type));
}

void
tg_execution_put_end(tg_buf_t *json, const tg_execution_t *execution)
{
    tg_buf_printf(json, ",\"status\":\"%s\"",
                  tg_execution_status(execution->state));

    if (execution->task != -1) {
        tg_buf_text(json, ",\"taskId\":\"");
        tg_task_put_id(json, execution->task);
        tg_buf_char(json, '"');
    }

    if (execution->error.len != 0) {
        tg_buf_text(json, ",\"error\":");
        tg_json_put_string(json, tg_buf_view(&execution->error));
    }
}

void
tg_execution_tell_notify(const tg_execution_t *execution, tg_str_t message)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_execution_put_begin(&params, execution);
    tg_buf_text(&params, ",\"message\":");
    tg_json_put_string(&params, message);

    if (execution->state == TG_EXECUTION_APPROVAL) {
        tg_buf_text(&params, ",\"requiresApproval\":true");
    } else if (execution->channel.len != 0) {
        tg_buf_text(&params, ",\"channel\":");
        tg_json_put_string(&params, tg_buf_view(&execution->channel));
    }

    tg_task_tell(execution->automation->engine,
                 execution->owner.len != 0
                         || execution->state == TG_EXECUTION_APPROVAL
                     ? tg_buf_view(&execution->owner)
                     : TG_STR(TG_TASK_EVERYBODY),
                 "automation.notify", &params);
}

void
tg_execution_tell_fired(const tg_execution_t *execution)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_execution_put_begin(&params, execution);
    tg_execution_put_end(&params, execution);
    tg_task_tell(execution->automation->engine, tg_buf_view(&execution->owner),
                 "automation.fired", &params);
}

/* --- calls that have said yes or no --- */

void
tg_execution_answer(tg_execution_t *execution, int rc)
{
    tg_task_call_t *call;

    if (rc != TG_OK && execution->error.len == 0) {
        tg_buf_text(&execution->error,
                    "not written down, as the tasks' store says no, see the "
                    "log: when the runner starts anew, this is as it was");
    }

    while ((call = TAILQ_FIRST(&execution->approvals)) != NULL) {
        tg_task_call_leave(call);
        tg_buf_reset(&call->text, 0);
        tg_buf_printf(&call->text, "{\"success\":%s",
                      execution->error.len != 0 ? "false" : "true");
        tg_execution_put_end(&call->text, execution);
        tg_buf_char(&call->text, '}');
        tg_task_call_text(call);
    }
}

/* --- its end --- */

void
tg_execution_on_end(tg_execution_t *execution, int rc)
{
    tg_execution_tell_fired(execution);
    tg_execution_answer(execution, rc);
}

void
tg_execution_end(tg_execution_t *execution, tg_execution_state_t state,
                 const char *why)
{
    tg_buf_reset(&execution->error, 0);

    if (why != NULL) {
        tg_buf_text(&execution->error, why);
    }

    tg_execution_to(execution, state);
    tg_buf_reset(&execution->text, 0);
    tg_buf_reset(&execution->body, 0);
    tg_execution_write(execution, tg_automation_rule_of(execution), 0,
                       tg_execution_on_end);
}

void
tg_execution_deny(tg_execution_t *execution)
{
    tg_execution_end(execution, TG_EXECUTION_DENIED, NULL);
}
