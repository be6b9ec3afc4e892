/*
 * What a schema that is valid most probably does not mean: keywords that do
 * not exist, names that are required and not declared, defaults that do not
 * fit.
 */
#ifndef TG_SCHEMA_LINT_H
#define TG_SCHEMA_LINT_H

#include "base/tg_json.h"

/* More than that nobody reads at once. */
#define TG_SCHEMA_LINT_MAX_WARNINGS 8

/* remark is UTF-8 of one line, and begins with a place, a JSON pointer. */
typedef void (*tg_schema_lint_warning_pt)(void *ctx, tg_str_t warning);

/* Says them of a valid schema, the first ones: TG_OK or TG_NOMEM. */
int tg_schema_lint(tg_str_t schema, tg_schema_lint_warning_pt on_warning,
                   void *ctx);

#endif
