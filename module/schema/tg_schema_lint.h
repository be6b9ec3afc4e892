/*
 * Warnings about probable mistakes in a valid schema, such as unknown keywords,
 * undeclared required names, and defaults of the wrong type.
 */
#ifndef TG_SCHEMA_LINT_H
#define TG_SCHEMA_LINT_H

#include "base/tg_json.h"

/* Maximum number of warnings: more are hard to read. */
#define TG_SCHEMA_LINT_MAX_WARNINGS 8

/* Receives a warning: one line that starts with a JSON pointer. */
typedef void (*tg_schema_lint_warning_pt)(void *ctx, tg_str_t warning);

/* Reports the first warnings. TG_OK or TG_NOMEM. */
int tg_schema_lint(tg_str_t schema, tg_schema_lint_warning_pt on_warning,
                   void *ctx);

#endif
