/*
 * Warnings about probable mistakes in a valid schema: unknown keywords,
 * required names that are not declared, defaults of the wrong type.
 */
#ifndef TG_SCHEMA_LINT_H
#define TG_SCHEMA_LINT_H

#include "base/tg_json.h"

/* Maximum number of warnings: more are hard to read. */
#define TG_SCHEMA_LINT_MAX_WARNINGS 8

/*
 * Receives a warning: one line of UTF-8 that starts with a position, a JSON
 * pointer. The text is valid during the call.
 */
typedef void (*tg_schema_lint_warning_pt)(void *ctx, tg_str_t warning);

/*
 * Reports the first warnings about a valid schema. Returns TG_OK or TG_NOMEM.
 */
int tg_schema_lint(tg_str_t schema, tg_schema_lint_warning_pt on_warning,
                   void *ctx);

#endif
