/*
 * Webhooks of executions.
 */
#ifndef TG_HOOK_H
#define TG_HOOK_H

#include "runner/automation/tg_execution.h"

/* Writes what is sent. */
void tg_hook_body(tg_execution_t *execution, tg_str_t event);

/* Tries once, now or with a tick. */
void tg_hook_send(tg_execution_t *execution);
void tg_hook_tick(tg_automation_t *automation);
void tg_hook_cancel(tg_execution_t *execution);

#endif
