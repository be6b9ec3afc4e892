/*
 * Webhooks of executions.
 */
#ifndef TG_WEBHOOK_H
#define TG_WEBHOOK_H

#include "tasks/automation/tg_firing.h"

/* Writes what is sent. */
void tg_webhook_write_body(tg_firing_t *firing, tg_str_t event);

/* Tries once, now or with a tick. */
void tg_webhook_send(tg_firing_t *firing);
void tg_webhook_on_tick(tg_automation_t *automation);
void tg_webhook_cancel(tg_firing_t *firing);

#endif
