/*
 * Output of the result of `toolgate.status` (docs/protocols.md), for people
 * and for Prometheus.  status is that result; members that it does not have
 * are left out.
 */
#ifndef TG_CLI_STATUS_H
#define TG_CLI_STATUS_H

#include "base/tg_buf.h"

#include <json-c/json.h>

/*
 * Appends tables without tools that were not called and without internal
 * methods.
 */
void tg_cli_status_append_summary(tg_buf_t *out, struct json_object *status);

/* Appends tables of all tools and methods. */
void tg_cli_status_append_full(tg_buf_t *out, struct json_object *status);

/*
 * Appends all information about each tool, method or MCP server of this name.
 * Returns their number.
 */
size_t tg_cli_status_append_details(tg_buf_t *out, struct json_object *status,
                                    const char *name);

/* Appends a table of the calls in flight. */
void tg_cli_status_append_calls(tg_buf_t *out, struct json_object *status);

/* Appends the metrics in Prometheus' text format, version 0.0.4. */
void tg_cli_status_append_prometheus(tg_buf_t *out, struct json_object *status);

/*
 * Returns the estimated 95th percentile of a tool's call durations in ms, or a
 * negative number if no call has ended.  The estimate is interpolated within a
 * bucket of the histogram.
 */
double tg_cli_status_estimate_p95(struct json_object *status,
                                  struct json_object *tool);

/*
 * Appends the members of an object that are not 0, except "ok": `timeout 2`.
 */
void tg_cli_append_nonzero_counts(tg_buf_t *out, struct json_object *ends);

/* Appends a size in bytes: `1.2 kB`. */
void tg_cli_append_byte_size(tg_buf_t *out, uint64_t bytes);

/*
 * Appends a table.  Each cell ends with a tab, and the last cell of a row with
 * a newline.  The first row is the head.  A head cell that begins with > makes
 * its column flush right; a head cell that begins with < makes its column, the
 * last one, end at the width of the terminal.
 */
void tg_cli_append_table(tg_buf_t *out, tg_str_t cells);

/* Appends a cell of untrusted text, and the character end. */
void tg_cli_cells_append_text(tg_buf_t *cells, const char *text, char end);

/*
 * Appends a cell of the first line of untrusted text, and the character end.
 */
void tg_cli_cells_append_first_line(tg_buf_t *cells, const char *text,
                                    char end);

void tg_cli_append_duration(tg_buf_t *cells, double ms);

/*
 * Parses valid JSON.  The caller calls json_object_put() on the value.
 * Returns NULL if there is no memory.
 */
struct json_object *tg_cli_json_parse(tg_str_t raw);

/*
 * --- members; 0, "" or NULL if the object is NULL or has no such member ---
 */

uint64_t tg_cli_json_get_uint(struct json_object *object, const char *name);
const char *tg_cli_json_get_text(struct json_object *object, const char *name);
struct json_object *tg_cli_json_get_member(struct json_object *object,
                                           const char *name,
                                           enum json_type type);

/*
 * Returns element i of a member that is an array, or NULL after the last one.
 */
struct json_object *tg_cli_json_get_element(struct json_object *object,
                                            const char *name, size_t i);

#endif
