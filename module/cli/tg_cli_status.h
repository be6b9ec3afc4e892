/* Output of the result of `toolgate.status` (docs/protocols.md). */
#ifndef TG_CLI_STATUS_H
#define TG_CLI_STATUS_H

#include "cli/tg_cli_table.h"

/* Leaves out tools without calls, and internal methods. */
void tg_cli_status_append_summary(tg_buf_t *out, json_object *status);
void tg_cli_status_append_full(tg_buf_t *out, json_object *status);

/* Returns the number of tools, methods and MCP servers of this name. */
size_t tg_cli_status_append_details(tg_buf_t *out, json_object *status,
                                    const char *name);
void tg_cli_status_append_calls(tg_buf_t *out, json_object *status);
void tg_cli_status_append_prometheus(tg_buf_t *out, json_object *status);

/* Estimates the 95th percentile of a tool's durations in ms; < 0: no call. */
double tg_cli_status_estimate_p95(json_object *status, json_object *tool);

/* Returns the mean of a tool's durations in ms; < 0: no call. */
double tg_cli_status_compute_mean(json_object *tool);

#endif
