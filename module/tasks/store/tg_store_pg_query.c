/*
 * Sends the statements of the PostgreSQL task store and reads their results.
 */
#include "base/tg_json.h"
#include "tasks/store/tg_store_pg.h"

#include <stdio.h>
#include <stdlib.h>

/* Object ids of types in the table pg_type. */
#define TG_PG_OID_INT8 20
#define TG_PG_OID_TEXT 25
#define TG_PG_OID_BYTEA 17
#define TG_PG_OID_TEXT_ARRAY 1009
#define TG_PG_OID_INT8_ARRAY 1016

#define TG_PG_STATEMENT_NAME_MAX 24

/* Parameters as libpq takes them. */
typedef struct {
    /* Values that are not texts of the query, each followed by a NUL. */
    tg_buf_t buf;
    size_t at[TG_STORE_PARAMS];
    const char *values[TG_STORE_PARAMS];
    int lengths[TG_STORE_PARAMS];
    int formats[TG_STORE_PARAMS]; /* 1: binary, as are texts of the query */
} tg_pg_params_t;

/* --- SQL --- */

/* Appends the SQL of an operation, with a NUL: $name becomes $1 and so on. */
static void
tg_pg_append_sql(tg_buf_t *sql, int operation)
{
    const char *text;
    size_t len;
    int param;

    for (text = tg_store_operations[operation].pg; *text != '\0'; text += len) {
        len = strcspn(text, "$");
        tg_buf_append(sql, text, len);
        text += len;
        len = 0;

        if (*text == '$') {
            tg_buf_append_char(sql, *text++);
            param = tg_store_find_param(text, &len);

            if (param >= 0) {
                tg_buf_append_int(sql, param + 1);
            }
        }
    }

    tg_buf_append_char(sql, '\0');
}

static void
tg_pg_set_types(Oid types[TG_STORE_PARAMS])
{
    tg_store_param_type_t type;
    int i;

    for (i = 0; i < TG_STORE_PARAMS; i++) {
        type = tg_store_params[i].type;
        types[i] = type < TG_STORE_PARAM_TEXT       ? TG_PG_OID_INT8
                   : type == TG_STORE_PARAM_BYTES   ? TG_PG_OID_BYTEA
                   : type == TG_STORE_PARAM_RETRIES ? TG_PG_OID_INT8_ARRAY
                   : type == TG_STORE_PARAM_AGENTS
                           || type == TG_STORE_PARAM_ALL_AGENTS
                       ? TG_PG_OID_TEXT_ARRAY
                       : TG_PG_OID_TEXT;
    }
}

/* --- parameters --- */

static void
tg_pg_append_records(tg_buf_t *json, const tg_store_query_t *query)
{
    const tg_store_record_t *record;
    unsigned i;

    tg_buf_append_char(json, '[');

    for (i = 0; i < query->nrecords; i++) {
        record = &query->records[i];
        tg_buf_append_cstr(json, i == 0 ? "{" : ",{");
        tg_json_add_string(json, "key", record->key);
        tg_json_add_optional(json, "value", record->value);
        tg_json_add_bool(json, "is_new", record->is_new);
        tg_buf_append_char(json, '}');
    }

    tg_buf_append_char(json, ']');
}

static void
tg_pg_append_value(tg_pg_params_t *params, const tg_store_pg_t *db,
                   const tg_store_query_t *query, const tg_store_param_t *param,
                   const tg_store_value_t *value)
{
    switch (param->type) {
    case TG_STORE_PARAM_STRING:
    case TG_STORE_PARAM_BRIEF:
        tg_json_write_string(&params->buf, value->text);
        break;
    case TG_STORE_PARAM_RECORDS:
        tg_pg_append_records(&params->buf, query);
        break;
    case TG_STORE_PARAM_TOKEN:
        tg_buf_printf(&params->buf, "%s-%llu", db->runner,
                      (unsigned long long) query->serial);
        break;
    default:
        if (value->is_number) {
            tg_buf_append_int(&params->buf, value->number);
        } else {
            tg_buf_append_str(&params->buf, value->text);
        }

        break;
    }

    tg_buf_append_char(&params->buf, '\0');
}

static void
tg_pg_set_param(tg_pg_params_t *params, int i, const tg_store_pg_t *db,
                const tg_store_query_t *query, tg_buf_t *room)
{
    const tg_store_param_t *param = &tg_store_params[i];
    tg_store_value_t value;

    value = tg_store_get_param(query, param, NULL, room);

    if (param->type == TG_STORE_PARAM_RUNNER) {
        value.text = tg_str_from_cstr(db->runner);
    } else if (param->type == TG_STORE_PARAM_PLACE) {
        value.text = tg_str_from_cstr(db->name);
    }

    params->at[i] = params->buf.len;

    if (value.is_number || param->type == TG_STORE_PARAM_RECORDS
        || (param->type == TG_STORE_PARAM_TOKEN && value.text.data == NULL)
        || (value.text.data != NULL
            && (param->type == TG_STORE_PARAM_STRING
                || param->type == TG_STORE_PARAM_BRIEF
                || value.text.data == room->data)))
    {
        tg_pg_append_value(params, db, query, param, &value);
        return;
    }

    params->values[i] = value.text.data;
    params->lengths[i] = (int) value.text.len;
    params->formats[i] = 1;
}

/* TG_OK or TG_NOMEM; tg_buf_deinit(&params->buf) is needed after both. */
static int
tg_pg_set_params(tg_pg_params_t *params, const tg_store_pg_t *db,
                 const tg_store_query_t *query)
{
    tg_buf_t room;
    int i, has_failed;

    memset(params, 0, sizeof(*params));
    tg_buf_init(&params->buf, tg_alloc_libc());
    tg_buf_init(&room, tg_alloc_libc());

    for (i = 0; i < TG_STORE_PARAMS; i++) {
        tg_pg_set_param(params, i, db, query, &room);
    }

    for (i = 0; i < TG_STORE_PARAMS; i++) {
        if (params->formats[i] == 0) {
            params->values[i] = params->buf.data + params->at[i];
        }
    }

    has_failed = tg_buf_has_failed(&room) || tg_buf_has_failed(&params->buf);
    tg_buf_deinit(&room);

    return has_failed ? TG_NOMEM : TG_OK;
}

/* --- sending --- */

/* Writes the name of a statement into `name` and returns it. */
static const char *
tg_pg_format_statement_name(int operation, char name[TG_PG_STATEMENT_NAME_MAX])
{
    (void) snprintf(name, TG_PG_STATEMENT_NAME_MAX, "toolgate_%d", operation);

    return name;
}

int
tg_pg_is_prepared(int operation)
{
    return operation != TG_STORE_LIST && operation != TG_STORE_STATS
           && operation != TG_STORE_STATUS;
}

PGresult *
tg_pg_prepare_statement(const tg_store_pg_t *db, int operation)
{
    char name[TG_PG_STATEMENT_NAME_MAX];
    Oid types[TG_STORE_PARAMS];
    PGresult *result;
    tg_buf_t sql;

    tg_pg_set_types(types);
    tg_buf_init(&sql, tg_alloc_libc());
    tg_pg_append_sql(&sql, operation);
    result = tg_buf_has_failed(&sql)
                 ? NULL
                 : db->pq->prepare(db->new_conn,
                                   tg_pg_format_statement_name(operation, name),
                                   sql.data, TG_STORE_PARAMS, types);
    tg_buf_deinit(&sql);

    return result;
}

int
tg_pg_send_query(tg_store_pg_t *db, tg_store_query_t *query)
{
    char name[TG_PG_STATEMENT_NAME_MAX];
    Oid types[TG_STORE_PARAMS];
    tg_pg_params_t params;
    int operation, rc;
    tg_buf_t sql;

    operation = (int) query->op;
    tg_buf_init(&sql, tg_alloc_libc());
    rc = tg_pg_set_params(&params, db, query) == TG_OK;

    if (rc && tg_pg_is_prepared(operation)) {
        rc = db->pq->sendQueryPrepared(
            db->conn, tg_pg_format_statement_name(operation, name),
            TG_STORE_PARAMS, params.values, params.lengths, params.formats, 1);
    } else if (rc) {
        tg_pg_set_types(types);
        tg_pg_append_sql(&sql, operation);
        rc = !tg_buf_has_failed(&sql)
             && db->pq->sendQueryParams(db->conn, sql.data, TG_STORE_PARAMS,
                                        types, params.values, params.lengths,
                                        params.formats, 1);
    }

    tg_buf_deinit(&sql);
    tg_buf_deinit(&params.buf);

    return rc;
}

/* --- results --- */

/* Returns a number of 1 to 8 bytes in network order. */
static int64_t
tg_pg_parse_number(tg_str_t bytes)
{
    uint64_t value;
    size_t i;

    value = bytes.len != 0 && (bytes.data[0] & 0x80) ? UINT64_MAX : 0;

    for (i = 0; i < bytes.len; i++) {
        value = value << 8 | (unsigned char) bytes.data[i];
    }

    return (int64_t) value;
}

static void
tg_pg_get_value(const tg_store_pg_t *db, const PGresult *rows, int row,
                int column, const tg_store_column_t *columns,
                tg_store_value_t *value)
{
    tg_str_t text;

    memset(value, 0, sizeof(*value));

    if (db->pq->getisnull(rows, row, column)) {
        return;
    }

    text = tg_str(db->pq->getvalue(rows, row, column),
                  (size_t) db->pq->getlength(rows, row, column));

    if (column > 0 && columns[column - 1].type < TG_STORE_COLUMN_TEXT) {
        value->is_number = 1;
        value->number = tg_pg_parse_number(text);
    } else {
        value->text = text;
    }
}

void
tg_pg_read_result(const tg_store_pg_t *db, const PGresult *rows,
                  tg_store_query_t *query)
{
    tg_store_value_t values[TG_STORE_COLUMNS_MAX];
    tg_store_result_t result;
    int row, column, n, rc;

    tg_store_result_begin(&result, query, 1);
    n = db->pq->nfields(rows);

    for (row = 0, rc = TG_OK; rc == TG_OK && row < db->pq->ntuples(rows); row++)
    {
        for (column = 0; column < n; column++) {
            tg_pg_get_value(db, rows, row, column, result.operation->columns,
                            &values[column]);
        }

        rc = tg_store_result_add_row(&result, values, (unsigned) n);
    }

    tg_store_result_end(&result);
}
