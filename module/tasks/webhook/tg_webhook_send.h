/*
 * Webhooks of firings.
 */
#ifndef TG_WEBHOOK_SEND_H
#define TG_WEBHOOK_SEND_H

#include "tasks/automation/tg_firing.h"

void tg_webhook_write_body(tg_firing_t *firing, tg_str_t event);

/*
 * Sends a webhook, now or, if too many requests are pending, with a later tick.
 */
void tg_webhook_send(tg_firing_t *firing);

/* Sends the webhooks that wait and whose retry is due. */
void tg_webhook_on_tick(tg_automation_t *automation);

void tg_webhook_cancel(tg_firing_t *firing);

#endif
