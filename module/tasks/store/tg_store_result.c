/*
 * JSON of the rows that a store operation returns.
 */
#include "tasks/store/tg_store_ops.h"

#include "base/tg_json.h"

static int
tg_store_parse_code(tg_str_t word)
{
    static const struct {
        tg_str_t word;
        int rc;
    } words[] = {
        { TG_STR_INIT("OK"), TG_OK },
        { TG_STR_INIT("DONE"), TG_OK },
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

static int
tg_store_value_is_null(const tg_store_value_t *value)
{
    return !value->is_number && value->text.data == NULL;
}

static void
tg_store_add_id(tg_buf_t *json, int64_t id)
{
    tg_buf_append_char(json, '"');
    tg_task_append_id(json, id);
    tg_buf_append_char(json, '"');
}

/* --- members of a row --- */

/* Stores in the query what its operation sets. */
static void
tg_store_set_member(tg_store_query_t *query, tg_store_column_type_t type,
                    int64_t number)
{
    switch (type) {
    case TG_STORE_COLUMN_ID:
        query->id = number;
        break;
    case TG_STORE_COLUMN_STATE:
        query->state = (tg_task_state_t) number;
        break;
    case TG_STORE_COLUMN_FORM:
        query->result_format = number;
        break;
    case TG_STORE_COLUMN_OFFSET:
        query->offset = number;
        break;
    case TG_STORE_COLUMN_SIZE:
        query->size = number;
        break;
    default:
        break;
    }
}

/* Appends a value that is not NULL. */
static void
tg_store_write_value(tg_buf_t *json, tg_store_column_type_t type,
                     const tg_store_value_t *value, int is_json)
{
    if (type == TG_STORE_COLUMN_ID) {
        tg_store_add_id(json, value->number);
    } else if (type == TG_STORE_COLUMN_STATE) {
        tg_buf_printf(json, "\"%s\"",
                      tg_task_state_name((tg_task_state_t) value->number));
    } else if (type == TG_STORE_COLUMN_TIME) {
        tg_buf_append_char(json, '"');
        tg_buf_append_time(json, (uint64_t) value->number);
        tg_buf_append_char(json, '"');
    } else if (value->is_number) {
        tg_buf_append_int(json, value->number);
    } else if (is_json) {
        tg_buf_append_str(json, value->text);
    } else {
        tg_json_write_string(json, value->text);
    }
}

static void
tg_store_add_column(const tg_store_result_t *result,
                    const tg_store_column_t *column, tg_store_value_t value,
                    int is_running)
{
    tg_store_query_t *query = result->query;
    int is_json;

    is_json = column->type >= TG_STORE_COLUMN_JSON
              || (column->type >= TG_STORE_COLUMN_STRING && result->is_shared);

    if (column->type == TG_STORE_COLUMN_FORM
        || (column->type == TG_STORE_COLUMN_SHARED && !result->is_shared)
        || (column->type == TG_STORE_COLUMN_OPTIONAL
            && value.text.data == NULL))
    {
        return;
    }

    if (column->type == TG_STORE_COLUMN_PID) {
        value.number = query->pid;
        value.is_number = is_running && query->pid != 0;
    } else if (column->type == TG_STORE_COLUMN_OUTPUT && is_running) {
        value.text = query->output;
        is_json = 0;
    }

    tg_json_begin_member(&query->json, column->name);

    if (tg_store_value_is_null(&value)) {
        tg_buf_append_cstr(&query->json,
                           column->type == TG_STORE_COLUMN_METADATA ? "{}"
                                                                    : "null");
    } else {
        tg_store_write_value(&query->json, column->type, &value, is_json);
    }
}

static void
tg_store_add_object(tg_store_result_t *result, const tg_store_column_t *columns,
                    const tg_store_value_t *values, unsigned n)
{
    unsigned i;
    int is_running;

    tg_json_begin_object(&result->query->json);
    is_running = 0;

    for (i = 0; i < n; i++) {
        if (columns[i].type == TG_STORE_COLUMN_STATE) {
            is_running = values[i].number == TG_TASK_RUNNING;
        }

        tg_store_add_column(result, &columns[i], values[i], is_running);
    }

    tg_buf_append_char(&result->query->json, '}');
}

/* --- rows --- */

/* Group of the tasks to cancel, of which only the ids are written. */
#define TG_STORE_GROUP_CANCEL 2

/* Closes the current array and opens the next ones up to `group`. */
static void
tg_store_open_group(tg_store_result_t *result, int64_t group)
{
    static const char *const names[] = { "queued", "failed", "cancel" };
    tg_buf_t *json = &result->query->json;

    while (result->group < group) {
        tg_buf_append_cstr(json, result->group >= 0 ? "]" : "");
        tg_json_begin_member(json, names[++result->group]);
        tg_buf_append_char(json, '[');
    }
}

/* Adds a row of an array; a row without an id stands for no rows. */
static void
tg_store_add_element(tg_store_result_t *result,
                     const tg_store_column_t *columns,
                     const tg_store_value_t *values, unsigned n)
{
    tg_store_query_t *query = result->query;

    if (tg_store_value_is_null(&values[0])) {
        return;
    }

    if (result->operation->rows == TG_STORE_ROWS_IDS
        || (result->operation->rows == TG_STORE_ROWS_GROUPS
            && result->group == TG_STORE_GROUP_CANCEL))
    {
        tg_json_begin_element(&query->json);
        tg_store_add_id(&query->json, values[0].number);
    } else {
        tg_store_add_object(result, columns, values, n);
    }

    if (query->op == TG_STORE_LIST && ++result->nrows > 1
        && query->json.len > TG_STORE_LIST_BYTES_MAX)
    {
        query->rc = TG_LIMIT;
    }
}

static void
tg_store_add_row(tg_store_result_t *result, const tg_store_value_t *values,
                 unsigned n)
{
    const tg_store_column_t *columns = result->operation->columns;
    tg_buf_t *json = &result->query->json;

    switch (result->operation->rows) {
    case TG_STORE_ROWS_OBJECT:
        tg_store_add_object(result, columns, values, n);
        break;

    case TG_STORE_ROWS_LIST:
    case TG_STORE_ROWS_IDS:
        tg_store_add_element(result, columns, values, n);
        break;

    case TG_STORE_ROWS_GROUPS:
        tg_store_open_group(result, values[0].number);
        tg_store_add_element(result, columns + 1, values + 1, n - 1);
        break;

    case TG_STORE_ROWS_STATUS:
        if (result->group < 0) {
            tg_json_add_int(json, columns[0].name, values[0].number);
            tg_json_begin_member(json, "tasks");
            tg_buf_append_char(json, '[');
            result->group = 0;
        }

        tg_store_add_element(result, columns + 1, values + 1, n - 1);
        break;

    case TG_STORE_ROWS_RECORDS:
        tg_json_begin_element(json);
        tg_json_write_string(json, values[0].text);
        tg_buf_append_char(json, ':');
        tg_buf_append_str(json, values[1].text);
        break;

    case TG_STORE_ROWS_BYTES:
        tg_buf_append_str(json, values[n - 1].text);
        break;

    default:
        break;
    }
}

/* --- results --- */

/* Brackets around all rows. */
static const char *const tg_store_brackets[] = {
    [TG_STORE_ROWS_NONE] = "",      [TG_STORE_ROWS_OBJECT] = "",
    [TG_STORE_ROWS_LIST] = "[]",    [TG_STORE_ROWS_IDS] = "[]",
    [TG_STORE_ROWS_GROUPS] = "{}",  [TG_STORE_ROWS_STATUS] = "{}",
    [TG_STORE_ROWS_RECORDS] = "{}", [TG_STORE_ROWS_BYTES] = "",
};

void
tg_store_result_begin(tg_store_result_t *result, tg_store_query_t *query,
                      int is_shared)
{
    const char *brackets;

    result->query = query;
    result->operation = &tg_store_operations[query->op];
    result->is_shared = is_shared;
    result->nrows = 0;
    result->group = -1;
    query->rc = result->operation->no_row;
    brackets = tg_store_brackets[result->operation->rows];
    tg_buf_reset(&query->json, 0);
    tg_buf_append(&query->json, brackets, brackets[0] != '\0');
}

int
tg_store_result_add_row(tg_store_result_t *result,
                        const tg_store_value_t *values, unsigned n)
{
    const tg_store_column_t *columns = result->operation->columns;
    tg_store_query_t *query = result->query;
    unsigned i;

    query->rc = tg_store_parse_code(values[0].text);

    if (query->rc == TG_INVALID) {
        tg_buf_reset(&query->json, 0);
        tg_buf_append_str(&query->json, values[n - 1].text);
        return TG_END;
    }

    if (tg_store_brackets[result->operation->rows][0] == '\0') {
        for (i = 1; i < n; i++) {
            tg_store_set_member(query, columns[i - 1].type, values[i].number);
        }
    }

    if (n > 1 && !tg_store_value_is_null(&values[1])) {
        tg_store_add_row(result, values + 1, n - 1);
    }

    return query->rc == TG_OK && !tg_str_eq(values[0].text, TG_STR("DONE"))
               ? TG_OK
               : TG_END;
}

void
tg_store_result_end(tg_store_result_t *result)
{
    const char *brackets = tg_store_brackets[result->operation->rows];
    tg_store_query_t *query = result->query;

    if (brackets[0] == '\0' || query->rc == TG_INVALID) {
        return;
    }

    if (query->rc != TG_OK) {
        tg_buf_reset(&query->json, 0);
        return;
    }

    if (result->operation->rows == TG_STORE_ROWS_GROUPS) {
        tg_store_open_group(result, query->op == TG_STORE_OPEN
                                        ? TG_STORE_GROUP_CANCEL - 1
                                        : TG_STORE_GROUP_CANCEL);
    }

    tg_buf_append_cstr(&query->json, result->group >= 0 ? "]" : "");
    tg_buf_append_cstr(&query->json, brackets + 1);
}
