/*
 * Values and results of the statements of the PostgreSQL task store.
 */
#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "tasks/store/tg_store_pg.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Indexes of the values: $1 is TG_PG_VALUE_NOW, and so on; see
 * tg_store_pg_sql.c.
 */
enum {
    TG_PG_VALUE_NOW,
    TG_PG_VALUE_ID,
    TG_PG_VALUE_PRIORITY,
    TG_PG_VALUE_LIMIT,
    TG_PG_VALUE_PID,
    TG_PG_VALUE_STATE,
    TG_PG_VALUE_NUMBERS,
    TG_PG_VALUE_PROMPT = TG_PG_VALUE_NUMBERS,
    TG_PG_VALUE_AGENT,
    TG_PG_VALUE_CWD,
    TG_PG_VALUE_METADATA,
    TG_PG_VALUE_RESULT,
    TG_PG_VALUE_ERROR,
    TG_PG_VALUE_OUTPUT,
    TG_PG_VALUE_AGENTS,
    TG_PG_VALUE_RETRIES,
    TG_PG_VALUE_RUNNER_ID,
    TG_PG_VALUE_PLACE,
    TG_PG_VALUE_TOKEN,
    TG_PG_VALUE_BYTES,
    TG_PG_VALUE_OWNER,
    TG_PG_VALUE_JOB,
    TG_PG_VALUE_RESULT_FORMAT,
    TG_PG_VALUE_RECORDS,
    TG_PG_VALUES
};

/* Object ids of types in the table pg_type. */
#define TG_PG_OID_INT8 20
#define TG_PG_OID_TEXT 25
#define TG_PG_OID_BYTEA 17
#define TG_PG_OID_TEXT_ARRAY 1009
#define TG_PG_OID_INT8_ARRAY 1016

static const Oid tg_pg_value_types[TG_PG_VALUES] = {
    [TG_PG_VALUE_NOW] = TG_PG_OID_INT8,
    [TG_PG_VALUE_ID] = TG_PG_OID_INT8,
    [TG_PG_VALUE_PRIORITY] = TG_PG_OID_INT8,
    [TG_PG_VALUE_LIMIT] = TG_PG_OID_INT8,
    [TG_PG_VALUE_PID] = TG_PG_OID_INT8,
    [TG_PG_VALUE_STATE] = TG_PG_OID_INT8,
    [TG_PG_VALUE_PROMPT] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_AGENT] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_CWD] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_METADATA] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_RESULT] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_ERROR] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_OUTPUT] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_AGENTS] = TG_PG_OID_TEXT_ARRAY,
    [TG_PG_VALUE_RETRIES] = TG_PG_OID_INT8_ARRAY,
    [TG_PG_VALUE_RUNNER_ID] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_PLACE] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_TOKEN] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_BYTES] = TG_PG_OID_BYTEA,
    [TG_PG_VALUE_OWNER] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_JOB] = TG_PG_OID_TEXT,
    [TG_PG_VALUE_RESULT_FORMAT] = TG_PG_OID_INT8,
    [TG_PG_VALUE_RECORDS] = TG_PG_OID_TEXT,
};

#define TG_PG_STATEMENT_NAME_MAX 24

/* Text values of a query, each followed by a NUL. */
typedef struct {
    tg_buf_t buf;
    size_t at[TG_PG_VALUES];
    int is_present[TG_PG_VALUES];
} tg_pg_values_t;

/* --- values --- */

static void
tg_pg_values_begin_value(tg_pg_values_t *values, int value)
{
    values->at[value] = values->buf.len;
    values->is_present[value] = 1;
}

static void
tg_pg_values_append_number(tg_pg_values_t *values, int value, int64_t number)
{
    tg_pg_values_begin_value(values, value);
    tg_buf_append_int(&values->buf, number);
    tg_buf_append_char(&values->buf, '\0');
}

static void
tg_pg_values_append_text(tg_pg_values_t *values, int value, tg_str_t text)
{
    if (text.data != NULL) {
        tg_pg_values_begin_value(values, value);
        tg_buf_append_str(&values->buf, text);
        tg_buf_append_char(&values->buf, '\0');
    }
}

static void
tg_pg_values_append_json(tg_pg_values_t *values, int value, tg_str_t text)
{
    if (text.data != NULL) {
        tg_pg_values_begin_value(values, value);
        tg_json_write_string(&values->buf, text);
        tg_buf_append_char(&values->buf, '\0');
    }
}

/*
 * Appends the names and retries of the agents that take tasks, as two arrays
 * such as {a,b} and {0,2}. Agent names need no quotes.
 */
static void
tg_pg_values_append_agents(tg_pg_values_t *values,
                           const tg_store_agents_t *agents)
{
    const char *before;
    unsigned i;

    if (agents == NULL) {
        return;
    }

    tg_pg_values_begin_value(values, TG_PG_VALUE_AGENTS);
    tg_buf_append_char(&values->buf, '{');

    for (i = 0, before = ""; i < agents->n; i++) {
        if (!agents->is_full[i]) {
            tg_buf_append_cstr(&values->buf, before);
            tg_buf_append_cstr(&values->buf, agents->names[i]);
            before = ",";
        }
    }

    tg_buf_append_cstr(&values->buf, "}");
    tg_buf_append_char(&values->buf, '\0');
    tg_pg_values_begin_value(values, TG_PG_VALUE_RETRIES);
    tg_buf_append_char(&values->buf, '{');

    for (i = 0, before = ""; i < agents->n; i++) {
        if (!agents->is_full[i]) {
            tg_buf_append_cstr(&values->buf, before);
            tg_buf_append_int(&values->buf, agents->retries[i]);
            before = ",";
        }
    }

    tg_buf_append_cstr(&values->buf, "}");
    tg_buf_append_char(&values->buf, '\0');
}

static void
tg_pg_values_append_records(tg_pg_values_t *values,
                            const tg_store_query_t *query)
{
    const tg_store_record_t *record;
    unsigned i;

    tg_pg_values_begin_value(values, TG_PG_VALUE_RECORDS);

    for (i = 0; i < query->nrecords; i++) {
        record = &query->records[i];
        tg_buf_append_cstr(&values->buf, i == 0 ? "[{\"key\":" : ",{\"key\":");
        tg_json_write_string(&values->buf, record->key);

        if (record->value.data != NULL) {
            tg_json_add_string(&values->buf, "value", record->value);
        }

        tg_buf_append_cstr(&values->buf,
                           record->is_new ? ",\"is_new\":true}" : "}");
    }

    tg_buf_append_cstr(&values->buf, query->nrecords == 0 ? "[]" : "]");
    tg_buf_append_char(&values->buf, '\0');
}

static void
tg_pg_values_append_query(tg_pg_values_t *values, const tg_store_pg_t *db,
                          const tg_store_query_t *query)
{
    int64_t numbers[TG_PG_VALUE_NUMBERS];
    tg_str_t brief;
    int i;

    numbers[TG_PG_VALUE_NOW] = query->now;
    numbers[TG_PG_VALUE_ID] = query->id;
    numbers[TG_PG_VALUE_PRIORITY] = query->op == TG_STORE_WRITE_OUTPUT
                                            || query->op == TG_STORE_READ_OUTPUT
                                        ? query->offset
                                        : query->priority;
    numbers[TG_PG_VALUE_LIMIT] = query->limit;
    numbers[TG_PG_VALUE_PID] = query->pid;
    numbers[TG_PG_VALUE_STATE] = query->state;

    for (i = 0; i < TG_PG_VALUE_NUMBERS; i++) {
        tg_pg_values_append_number(values, i, numbers[i]);
    }

    brief = tg_str(query->prompt.data,
                   tg_utf8_prefix_len(query->prompt,
                                      TG_STORE_PROMPT_PREVIEW_MAX));
    tg_pg_values_append_json(values, TG_PG_VALUE_PROMPT, query->prompt);
    tg_pg_values_append_text(values, TG_PG_VALUE_AGENT, query->agent);
    tg_pg_values_append_json(values, TG_PG_VALUE_CWD, query->cwd);
    tg_pg_values_append_text(values, TG_PG_VALUE_METADATA, query->metadata);
    tg_pg_values_append_json(values, TG_PG_VALUE_RESULT,
                             query->op == TG_STORE_SUBMIT ? brief
                                                          : query->result);
    tg_pg_values_append_json(values, TG_PG_VALUE_ERROR, query->error);
    tg_pg_values_append_json(values, TG_PG_VALUE_OUTPUT, query->output);
    tg_pg_values_append_agents(values, query->agents);
    tg_pg_values_append_text(values, TG_PG_VALUE_OWNER, query->owner);
    tg_pg_values_append_text(values, TG_PG_VALUE_JOB, query->job);
    tg_pg_values_append_number(values, TG_PG_VALUE_RESULT_FORMAT,
                               query->result_format);
    tg_pg_values_append_records(values, query);
    tg_pg_values_append_text(values, TG_PG_VALUE_RUNNER_ID,
                             tg_str_from_cstr(db->runner));
    tg_pg_values_append_text(values, TG_PG_VALUE_PLACE,
                             tg_str_from_cstr(db->name));
    tg_pg_values_begin_value(values, TG_PG_VALUE_TOKEN);

    if (query->token.data != NULL) {
        tg_buf_append_str(&values->buf, query->token);
    } else {
        tg_buf_printf(&values->buf, "%s-%llu", db->runner,
                      (unsigned long long) query->serial);
    }

    tg_buf_append_char(&values->buf, '\0');
}

/* Writes the name of a statement into `name` and returns it. */
static const char *
tg_pg_format_statement_name(int statement, char name[TG_PG_STATEMENT_NAME_MAX])
{
    (void) snprintf(name, TG_PG_STATEMENT_NAME_MAX, "toolgate_%d", statement);

    return name;
}

PGresult *
tg_pg_prepare_statement(const tg_store_pg_t *db, int statement)
{
    char name[TG_PG_STATEMENT_NAME_MAX];

    return db->pq->prepare(db->new_conn,
                           tg_pg_format_statement_name(statement, name),
                           tg_pg_get_sql(statement), TG_PG_VALUES,
                           tg_pg_value_types);
}

int
tg_pg_send_query(tg_store_pg_t *db, tg_store_query_t *query)
{
    const char *texts[TG_PG_VALUES];
    char name[TG_PG_STATEMENT_NAME_MAX];
    int lengths[TG_PG_VALUES], formats[TG_PG_VALUES];
    tg_pg_values_t values;
    int i, rc, statement;

    statement = tg_pg_find_statement(query);
    memset(&values, 0, sizeof(values));
    memset(lengths, 0, sizeof(lengths));
    memset(formats, 0, sizeof(formats));
    tg_buf_init(&values.buf, tg_alloc_libc());
    tg_pg_values_append_query(&values, db, query);

    for (i = 0; i < TG_PG_VALUES; i++) {
        texts[i] = values.is_present[i] ? values.buf.data + values.at[i] : NULL;
    }

    texts[TG_PG_VALUE_BYTES] = query->bytes.data;
    lengths[TG_PG_VALUE_BYTES] = (int) query->bytes.len;
    formats[TG_PG_VALUE_BYTES] = 1;
    rc = !tg_buf_has_failed(&values.buf)
         && (tg_pg_is_prepared(statement)
                 ? db->pq->sendQueryPrepared(
                     db->conn, tg_pg_format_statement_name(statement, name),
                     TG_PG_VALUES, texts, lengths, formats, 1)
                 : db->pq->sendQueryParams(db->conn, tg_pg_get_sql(statement),
                                           TG_PG_VALUES, tg_pg_value_types,
                                           texts, lengths, formats, 1));
    tg_buf_deinit(&values.buf);

    return rc;
}

/* --- results --- */

static tg_str_t
tg_pg_get_column(const tg_store_pg_t *db, const PGresult *result, int column)
{
    return tg_str(db->pq->getvalue(result, 0, column),
                  (size_t) db->pq->getlength(result, 0, column));
}

/* Returns the result code of a query whose result has no row. */
static int
tg_pg_get_no_row_rc(tg_store_op_t op)
{
    return op == TG_STORE_GET || op == TG_STORE_CANCEL || op == TG_STORE_SUBMIT
               ? TG_MISSING
               : TG_END;
}

static int
tg_pg_parse_rc(tg_str_t word)
{
    static const struct {
        tg_str_t word;
        int rc;
    } words[] = {
        { TG_STR_INIT("OK"), TG_OK },
        { TG_STR_INIT("BAD"), TG_INVALID },
        { TG_STR_INIT("END"), TG_END },
        { TG_STR_INIT("AGAIN"), TG_AGAIN },
        { TG_STR_INIT("LIMIT"), TG_LIMIT },
        { TG_STR_INIT("EXISTS"), TG_EXISTS },
    };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_str_eq(words[i].word, word)) {
            return words[i].rc;
        }
    }

    return TG_INVALID;
}

void
tg_pg_read_result(const tg_store_pg_t *db, const PGresult *result,
                  tg_store_query_t *query)
{
    int64_t id, state;

    tg_buf_reset(&query->json, 0);

    if (db->pq->ntuples(result) == 0) {
        query->rc = tg_pg_get_no_row_rc(query->op);
        return;
    }

    query->rc = tg_pg_parse_rc(tg_pg_get_column(db, result, 0));
    (void) tg_json_parse_int64(tg_pg_get_column(db, result, 1), &id);
    (void) tg_json_parse_int64(tg_pg_get_column(db, result, 2), &state);
    tg_buf_append_str(&query->json, tg_pg_get_column(db, result, 3));

    switch (query->op) {
    case TG_STORE_SUBMIT:
    case TG_STORE_CLAIM:
        query->id = id;
        break;
    case TG_STORE_READ_OUTPUT:
        query->offset = id;
        query->size = state;
        break;
    case TG_STORE_CANCEL:
    case TG_STORE_GET:
        (void) tg_json_parse_int64(tg_pg_get_column(db, result, 4),
                                   &query->result_format);
        query->state = (tg_task_state_t) state;
        break;
    case TG_STORE_FINISH:
        query->state = (tg_task_state_t) state;
        break;
    default:
        break;
    }
}
