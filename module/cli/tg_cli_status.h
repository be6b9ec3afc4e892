/*
 * What `toolgate.status` answered (docs/protocols.md), written for people and
 * for Prometheus.  raw is that answer; what is not in it is left out.
 */
#ifndef TG_CLI_STATUS_H
#define TG_CLI_STATUS_H

#include "base/tg_buf.h"

#include <json-c/json.h>

/* Tables, without tools that were not called and without internal methods. */
void tg_cli_status_append_summary(tg_buf_t *out, struct json_object *status);

/* Tables with a row for everything. */
void tg_cli_status_append_full(tg_buf_t *out, struct json_object *status);

/*
 * All that is known of each tool, method or MCP server of this name: how many
 * there are.
 */
size_t tg_cli_status_append_details(tg_buf_t *out, struct json_object *status,
                                    const char *name);

/* The calls that are under way. */
void tg_cli_status_append_calls(tg_buf_t *out, struct json_object *status);

/* The text format of Prometheus, version 0.0.4. */
void tg_cli_status_append_prometheus(tg_buf_t *out, struct json_object *status);

/*
 * The time in ms that no more than 5 of 100 calls of a tool took longer than,
 * estimated within a bucket of the histogram; negative: no call has ended.
 */
double tg_cli_status_estimate_p95(struct json_object *status,
                                  struct json_object *tool);

/* Appends the members of an object that are not 0, but "ok": `timeout 2`. */
void tg_cli_append_nonzero_counts(tg_buf_t *out, struct json_object *ends);

/* Appends a size: `1.2 kB`. */
void tg_cli_append_byte_size(tg_buf_t *out, uint64_t bytes);

/*
 * Appends cells, which end with a tab, and the last of a row with a newline,
 * in columns.  Those whose head begins with > are flush right; the last one may
 * begin with <, and is cut where a terminal ends.
 */
void tg_cli_append_table(tg_buf_t *out, tg_str_t cells);

/* A cell that somebody else has chosen, and its end; its first line alone. */
void tg_cli_cells_append_text(tg_buf_t *cells, const char *text, char end);
void tg_cli_cells_append_first_line(tg_buf_t *cells, const char *text,
                                    char end);

void tg_cli_append_duration(tg_buf_t *cells, double ms);

/* Valid JSON, for json_object_put(); NULL: no memory. */
struct json_object *tg_cli_json_parse(tg_str_t raw);

/* --- members; of NULL, or where there is none of the kind: 0, "", NULL --- */

uint64_t tg_cli_json_get_uint(struct json_object *object, const char *name);
const char *tg_cli_json_get_text(struct json_object *object, const char *name);
struct json_object *tg_cli_json_get_member(struct json_object *object,
                                           const char *name,
                                           enum json_type type);

/* Its elements: the i-th of a member that is an array; NULL: no more. */
struct json_object *tg_cli_json_get_element(struct json_object *object,
                                            const char *name, size_t i);

#endif
