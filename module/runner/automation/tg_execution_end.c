/*
 * What clients hear of an execution, and its end.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"

/* --- what clients hear --- */

static void
tg_execution_tell_begin(const tg_execution_t *execution, tg_buf_t *params)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_printf(params, "{\"executionId\":\"%s\",\"ruleId\":", execution->id);
    tg_json_put_string(params, tg_buf_view(&execution->rule));
    tg_buf_text(params, ",\"eventType\":");
    tg_json_put_string(params, tg_buf_view(&execution->type));
}

void
tg_execution_tell_notify(const tg_execution_t *execution, tg_str_t message)
{
    tg_buf_t params;

    tg_execution_tell_begin(execution, &params);
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

/* What has become of it: its status. */
void
tg_execution_tell_fired(const tg_execution_t *execution)
{
    tg_buf_t params;

    tg_execution_tell_begin(execution, &params);
    tg_buf_printf(&params, ",\"status\":\"%s\"",
                  tg_execution_status(execution->state));

    if (execution->task != -1) {
        tg_buf_text(&params, ",\"taskId\":\"");
        tg_task_put_id(&params, execution->task);
        tg_buf_char(&params, '"');
    }

    if (execution->error.len != 0) {
        tg_buf_text(&params, ",\"error\":");
        tg_json_put_string(&params, tg_buf_view(&execution->error));
    }

    tg_task_tell(execution->automation->engine, tg_buf_view(&execution->owner),
                 "automation.fired", &params);
}

/* --- calls that have said yes or no --- */

void
tg_execution_answer(tg_execution_t *execution)
{
    tg_task_call_t *call;

    while ((call = TAILQ_FIRST(&execution->approvals)) != NULL) {
        tg_task_call_leave(call);
        tg_buf_reset(&call->text, 0);
        tg_buf_printf(&call->text, "{\"success\":%s,\"status\":\"%s\"",
                      execution->state == TG_EXECUTION_FAILED ? "false"
                                                              : "true",
                      tg_execution_status(execution->state));

        if (execution->task != -1) {
            tg_buf_text(&call->text, ",\"taskId\":\"");
            tg_task_put_id(&call->text, execution->task);
            tg_buf_char(&call->text, '"');
        }

        if (execution->error.len != 0) {
            tg_buf_text(&call->text, ",\"error\":");
            tg_json_put_string(&call->text, tg_buf_view(&execution->error));
        }

        tg_buf_char(&call->text, '}');
        tg_task_call_text(call);
    }
}

/* --- its end --- */

void
tg_execution_on_end(tg_execution_t *execution, int rc)
{
    tg_execution_tell_fired(execution);
    tg_execution_answer(execution);
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
    tg_buf_reset(&execution->body, 0);
    tg_execution_write(execution, tg_automation_rule_of(execution), 0,
                       tg_execution_on_end);
}

void
tg_execution_deny(tg_execution_t *execution)
{
    tg_execution_end(execution, TG_EXECUTION_DENIED, NULL);
}
