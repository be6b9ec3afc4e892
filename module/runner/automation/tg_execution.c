#include "runner/automation/tg_execution.h"

#include "runner/tg_log.h"

#include <stdlib.h>
#include <sys/random.h>

int
tg_execution_is_open(const tg_execution_t *execution)
{
    return execution->state == TG_EXECUTION_NEW
           || execution->state == TG_EXECUTION_APPROVAL
           || execution->state == TG_EXECUTION_SENDING;
}

tg_execution_t *
tg_execution_find(const tg_automation_t *automation, tg_str_t id)
{
    tg_execution_t *execution;

    TAILQ_FOREACH(execution, &automation->executions, place)
    {
        if (tg_str_eq(tg_str_c(execution->id), id)) {
            break;
        }
    }

    return execution;
}

tg_execution_t *
tg_execution_new(tg_automation_t *automation)
{
    tg_execution_t *execution;

    execution = calloc(1, sizeof(*execution));

    if (execution == NULL) {
        tg_log(TG_LOG_CRIT, "no memory for a rule that fires");
        return NULL;
    }

    execution->automation = automation;
    execution->task = -1;
    execution->at = automation->now();
    tg_buf_init(&execution->rule, tg_alloc_libc());
    tg_buf_init(&execution->type, tg_alloc_libc());
    tg_buf_init(&execution->owner, tg_alloc_libc());
    tg_buf_init(&execution->error, tg_alloc_libc());
    tg_buf_init(&execution->agent, tg_alloc_libc());
    tg_buf_init(&execution->text, tg_alloc_libc());
    tg_buf_init(&execution->channel, tg_alloc_libc());
    tg_buf_init(&execution->body, tg_alloc_libc());
    tg_buf_init(&execution->keys, tg_alloc_libc());
    tg_buf_init(&execution->metadata, tg_alloc_libc());
    TAILQ_INIT(&execution->approvals);
    TAILQ_INSERT_TAIL(&automation->executions, execution, place);
    automation->nopen++;

    return execution;
}

void
tg_execution_free(tg_execution_t *execution)
{
    tg_automation_t *automation;

    automation = execution->automation;
    automation->engine->tasks->ops->leave(&execution->approvals);
    TAILQ_REMOVE(&automation->executions, execution, place);
    *(tg_execution_is_open(execution) ? &automation->nopen
                                      : &automation->nover) -= 1;
    tg_buf_deinit(&execution->rule);
    tg_buf_deinit(&execution->type);
    tg_buf_deinit(&execution->owner);
    tg_buf_deinit(&execution->error);
    tg_buf_deinit(&execution->agent);
    tg_buf_deinit(&execution->text);
    tg_buf_deinit(&execution->channel);
    tg_buf_deinit(&execution->body);
    tg_buf_deinit(&execution->keys);
    tg_buf_deinit(&execution->metadata);
    free(execution);
}

void
tg_execution_name(tg_execution_t *execution)
{
    uint32_t bytes;
    tg_buf_t id;

    if (getrandom(&bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        bytes = (uint32_t) uv_hrtime();
    }

    id = tg_buf_fixed(execution->id, sizeof(execution->id));
    tg_buf_printf(&id, "%012llx%08x", (unsigned long long) execution->at,
                  bytes);
    tg_buf_char(&id, '\0');
}

void
tg_execution_to(tg_execution_t *execution, tg_execution_state_t state)
{
    tg_automation_t *automation;
    int was_open;

    automation = execution->automation;
    was_open = tg_execution_is_open(execution);
    execution->state = state;

    if (was_open && !tg_execution_is_open(execution)) {
        automation->nopen--;
        automation->nover++;
    }
}

tg_automation_rule_t *
tg_automation_rule_of(const tg_execution_t *execution)
{
    return tg_automation_rule(execution->automation,
                              tg_buf_view(&execution->rule));
}
