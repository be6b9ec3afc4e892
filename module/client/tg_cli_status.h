/*
 * What `toolgate.status` answered (docs/protocols.md), written for people and
 * for Prometheus.  raw is that answer; what is not in it is left out.
 */
#ifndef TG_CLI_STATUS_H
#define TG_CLI_STATUS_H

#include "base/tg_buf.h"

#include <json-c/json.h>

/* All there is, in tables. */
void tg_cli_status_put_tables(tg_buf_t *out, struct json_object *status);

/* The calls that are under way. */
void tg_cli_status_put_calls(tg_buf_t *out, struct json_object *status);

/* The text format of Prometheus, version 0.0.4. */
void tg_cli_status_put_metrics(tg_buf_t *out, struct json_object *status);

/*
 * Appends cells, which end with a tab, and the last of a row with a newline,
 * in columns; those whose head begins with > are flush right.
 */
void tg_cli_put_table(tg_buf_t *out, tg_str_t cells);

/* A cell that somebody else has chosen, and its end; and a time. */
void tg_cli_cell_text(tg_buf_t *cells, const char *text, char end);
void tg_cli_put_time(tg_buf_t *cells, double ms);

/* Valid JSON, for json_object_put(); NULL: no memory. */
struct json_object *tg_cli_parse(tg_str_t raw);

/* --- members; of NULL, or where there is none of the kind: 0, "", NULL --- */

uint64_t tg_cli_member_uint(struct json_object *object, const char *name);
const char *tg_cli_member_text(struct json_object *object, const char *name);
struct json_object *tg_cli_member(struct json_object *object, const char *name,
                                  enum json_type type);

/* Its elements: the i-th of a member that is an array; NULL: no more. */
struct json_object *tg_cli_member_at(struct json_object *object,
                                     const char *name, size_t i);

#endif
