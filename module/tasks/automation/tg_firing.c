/*
 * Life of a firing: creation, id, state, lookup.
 */
#include "tasks/automation/tg_firing.h"

#include "runner/logging/tg_log.h"

#include <stdlib.h>
#include <sys/random.h>

int
tg_firing_is_open(const tg_firing_t *firing)
{
    return firing->state == TG_FIRING_NEW
           || firing->state == TG_FIRING_PENDING_APPROVAL
           || firing->state == TG_FIRING_WEBHOOK_PENDING;
}

tg_firing_t *
tg_automation_find_firing(const tg_automation_t *automation, tg_str_t id)
{
    tg_firing_t *firing;

    TAILQ_FOREACH(firing, &automation->firings, link)
    {
        if (tg_str_eq(tg_str_from_cstr(firing->id), id)) {
            break;
        }
    }

    return firing;
}

tg_firing_t *
tg_firing_new(tg_automation_t *automation)
{
    tg_firing_t *firing;

    firing = calloc(1, sizeof(*firing));

    if (firing == NULL) {
        tg_log(TG_LOG_CRIT, "no memory to fire a rule");
        return NULL;
    }

    firing->automation = automation;
    firing->task = -1;
    firing->at = automation->now();
    tg_buf_init(&firing->rule, tg_alloc_libc());
    tg_buf_init(&firing->type, tg_alloc_libc());
    tg_buf_init(&firing->owner, tg_alloc_libc());
    tg_buf_init(&firing->error, tg_alloc_libc());
    tg_buf_init(&firing->agent, tg_alloc_libc());
    tg_buf_init(&firing->text, tg_alloc_libc());
    tg_buf_init(&firing->channel, tg_alloc_libc());
    tg_buf_init(&firing->body, tg_alloc_libc());
    tg_buf_init(&firing->record_text, tg_alloc_libc());
    tg_buf_init(&firing->metadata, tg_alloc_libc());
    TAILQ_INIT(&firing->approvals);
    TAILQ_INSERT_TAIL(&automation->firings, firing, link);
    automation->nopen++;

    return firing;
}

void
tg_firing_free(tg_firing_t *firing)
{
    tg_automation_t *automation;

    automation = firing->automation;
    tg_task_calls_dequeue_all(&firing->approvals);
    TAILQ_REMOVE(&automation->firings, firing, link);
    *(tg_firing_is_open(firing) ? &automation->nopen
                                : &automation->nended) -= 1;
    tg_buf_deinit(&firing->rule);
    tg_buf_deinit(&firing->type);
    tg_buf_deinit(&firing->owner);
    tg_buf_deinit(&firing->error);
    tg_buf_deinit(&firing->agent);
    tg_buf_deinit(&firing->text);
    tg_buf_deinit(&firing->channel);
    tg_buf_deinit(&firing->body);
    tg_buf_deinit(&firing->record_text);
    tg_buf_deinit(&firing->metadata);
    free(firing);
}

void
tg_firing_generate_id(tg_firing_t *firing)
{
    uint32_t bytes;
    tg_buf_t id;

    if (getrandom(&bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes)) {
        bytes = (uint32_t) uv_hrtime();
    }

    id = tg_buf_make_fixed(firing->id, sizeof(firing->id));
    tg_buf_printf(&id, "%012llx%08x", (unsigned long long) firing->at, bytes);
    tg_buf_append_char(&id, '\0');
}

void
tg_firing_set_state(tg_firing_t *firing, tg_firing_state_t state)
{
    tg_automation_t *automation;
    int was_open;

    automation = firing->automation;
    was_open = tg_firing_is_open(firing);
    firing->state = state;

    if (was_open && !tg_firing_is_open(firing)) {
        automation->nopen--;
        automation->nended++;
    }
}

tg_automation_rule_t *
tg_firing_find_rule(const tg_firing_t *firing)
{
    return tg_automation_find_rule(firing->automation,
                                   tg_buf_view(&firing->rule));
}
