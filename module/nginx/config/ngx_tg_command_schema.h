/*
 * What the schema of a tool's arguments says about the value of a variable in a
 * command line. tool is NULL for a task_agent, which has no schema.
 */
#ifndef _NGX_TG_COMMAND_SCHEMA_H_INCLUDED_
#define _NGX_TG_COMMAND_SCHEMA_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"

/* Returns the schema of a variable's value; absent if there is none. */
tg_str_t ngx_tg_command_get_value_schema(const ngx_tg_tool_t *tool,
                                         tg_str_t variable,
                                         ngx_uint_t is_element);

/*
 * Checks whether the schema restricts a value to numbers, to a list of values
 * or to a pattern.
 */
ngx_uint_t ngx_tg_command_value_is_bounded(const ngx_tg_tool_t *tool,
                                           tg_str_t schema);

/*
 * Checks whether the schema, including `anyOf` and `oneOf`, allows a string
 * that begins with a dash. Returns 1 if there is no schema.
 */
ngx_uint_t ngx_tg_command_value_allows_dash(const ngx_tg_tool_t *tool,
                                            tg_str_t schema);

#endif
