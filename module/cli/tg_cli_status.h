/*
 * Output of the result of `toolgate.status` (docs/protocols.md), for people
 * and for Prometheus.  status is that result; members that it does not have
 * are left out.
 */
#ifndef TG_CLI_STATUS_H
#define TG_CLI_STATUS_H

#include "cli/tg_cli_table.h"

/*
 * Appends tables without tools that were not called and without internal
 * methods.
 */
void tg_cli_status_append_summary(tg_buf_t *out, json_object *status);

/* Appends tables of all tools and methods. */
void tg_cli_status_append_full(tg_buf_t *out, json_object *status);

/*
 * Appends all information about each tool, method or MCP server of this name.
 * Returns their number.
 */
size_t tg_cli_status_append_details(tg_buf_t *out, json_object *status,
                                    const char *name);

/* Appends a table of the calls in flight. */
void tg_cli_status_append_calls(tg_buf_t *out, json_object *status);

/* Appends the metrics in Prometheus' text format, version 0.0.4. */
void tg_cli_status_append_prometheus(tg_buf_t *out, json_object *status);

/*
 * Returns the estimated 95th percentile of a tool's call durations in ms, or a
 * negative number if no call has ended.  The estimate is interpolated within a
 * bucket of the histogram.
 */
double tg_cli_status_estimate_p95(json_object *status, json_object *tool);

/*
 * Returns the mean of a tool's call durations in ms, or a negative number if
 * no call has ended.
 */
double tg_cli_status_compute_mean(json_object *tool);

#endif
