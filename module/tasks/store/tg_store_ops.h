/*
 * The table of store operations for all databases: SQL, parameters and result
 * columns.
 *
 *   tg_store_ops.c     SQL of each operation
 *   tg_store_param.c   parameters of the SQL
 *   tg_store_result.c  JSON of result rows
 */
#ifndef TG_STORE_OPS_H
#define TG_STORE_OPS_H

#include "tasks/store/tg_store.h"

/* Turns the value of a macro into a string literal. */
#define TG_STORE_STRINGIFY_TOKEN(text) #text
#define TG_STORE_STRINGIFY(name) TG_STORE_STRINGIFY_TOKEN(name)

/* Value of a parameter or of a result column; with neither, NULL. */
typedef struct {
    tg_str_t text;
    int64_t number;
    int is_number;
} tg_store_value_t;

/* --- parameters --- */

/* Type of a parameter, and the type of its member of tg_store_query_t. */
typedef enum {
    TG_STORE_PARAM_NUMBER, /* int64_t */
    TG_STORE_PARAM_ID,     /* int64_t: id of a task */
    TG_STORE_PARAM_STATE,  /* tg_task_state_t */
    TG_STORE_PARAM_IS_NEW, /* of the current record, as the next two */
    TG_STORE_PARAM_TEXT,   /* tg_str_t; the types above are numbers */
    TG_STORE_PARAM_KEY,
    TG_STORE_PARAM_VALUE,
    TG_STORE_PARAM_STRING,  /* tg_str_t; PostgreSQL stores a JSON string */
    TG_STORE_PARAM_BRIEF,   /* the beginning of such a string */
    TG_STORE_PARAM_BYTES,   /* tg_str_t; PostgreSQL: bytea */
    TG_STORE_PARAM_AGENTS,  /* names of the agents that take tasks */
    TG_STORE_PARAM_RETRIES, /* numbers of retries of these agents */
    TG_STORE_PARAM_ALL_AGENTS,
    TG_STORE_PARAM_TAKERS, /* SQLite only: both, as one text */
    TG_STORE_PARAM_TOKEN,  /* tg_str_t; PostgreSQL: or the serial number */
    TG_STORE_PARAM_RUNNER, /* PostgreSQL only: id of this runner */
    TG_STORE_PARAM_PLACE,  /* PostgreSQL only: name of this runner */
    TG_STORE_PARAM_RECORDS /* PostgreSQL only: JSON of all records */
} tg_store_param_type_t;

typedef struct {
    const char *name; /* SQL for PostgreSQL has $1 and so on instead of $name */
    tg_store_param_type_t type;
    size_t offset; /* of the member */
} tg_store_param_t;

/* Number of parameters. */
#define TG_STORE_PARAMS 30
extern const tg_store_param_t tg_store_params[TG_STORE_PARAMS];

/*
 * Returns the index of the parameter whose name `text` begins with, or -1; *len
 * is the length of the name.
 */
int tg_store_find_param(const char *text, size_t *len);

/*
 * Returns the value of a parameter, except for PostgreSQL's own. `record` is
 * the current record, or NULL. Arrays such as {a,b} are built in `room`.
 */
tg_store_value_t tg_store_get_param(const tg_store_query_t *query,
                                    const tg_store_param_t *param,
                                    const tg_store_record_t *record,
                                    tg_buf_t *room);

/* --- operations --- */

typedef enum {
    TG_STORE_COLUMN_NUMBER,
    TG_STORE_COLUMN_ID,     /* sets query->id */
    TG_STORE_COLUMN_STATE,  /* sets query->state */
    TG_STORE_COLUMN_FORM,   /* sets query->result_format; not written */
    TG_STORE_COLUMN_OFFSET, /* sets query->offset; not written */
    TG_STORE_COLUMN_SIZE,   /* sets query->size; not written */
    TG_STORE_COLUMN_GROUP,  /* index of the array that gets the row */
    TG_STORE_COLUMN_TIME,
    TG_STORE_COLUMN_PID,      /* of a running task; taken from the query */
    TG_STORE_COLUMN_TEXT,     /* the types above are numbers */
    TG_STORE_COLUMN_SHARED,   /* a text; only in shared stores */
    TG_STORE_COLUMN_STRING,   /* a text; PostgreSQL: a JSON string */
    TG_STORE_COLUMN_OPTIONAL, /* such a string; not written if NULL */
    TG_STORE_COLUMN_OUTPUT,   /* such a string; taken from the query of a */
                              /* running task */
    TG_STORE_COLUMN_JSON,     /* raw */
    TG_STORE_COLUMN_METADATA, /* raw; {} if NULL */
} tg_store_column_type_t;

typedef struct {
    const char *name; /* of the JSON member */
    tg_store_column_type_t type;
} tg_store_column_t;

/* JSON of the rows of an operation. */
typedef enum {
    TG_STORE_ROWS_NONE,    /* no JSON */
    TG_STORE_ROWS_OBJECT,  /* one row: an object */
    TG_STORE_ROWS_LIST,    /* an array of objects */
    TG_STORE_ROWS_IDS,     /* an array of ids */
    TG_STORE_ROWS_GROUPS,  /* {"queued":[…],"failed":[…]} */
    TG_STORE_ROWS_STATUS,  /* {"queued":0,"tasks":[…]} */
    TG_STORE_ROWS_RECORDS, /* {KEY:VALUE,…} */
    TG_STORE_ROWS_BYTES    /* the bytes of the last column */
} tg_store_rows_t;

/* Maximum number of result columns, with the code. */
#define TG_STORE_COLUMNS_MAX 20

/*
 * An operation. The first column of each row is the name of a TG_* code without
 * the prefix, or DONE, which is OK and ends the operation, as does every code
 * but OK. The other columns are `columns`, or only the first of them.
 */
typedef struct {
    tg_store_rows_t rows;
    int no_row; /* result code if there is no row */
    const tg_store_column_t *columns;

    /*
     * Statements that run in order; those with $key run for each record. NULL:
     * for shared stores only.
     */
    const char *sqlite;
    const char *pg; /* one statement */
} tg_store_operation_t;

extern const tg_store_operation_t tg_store_operations[TG_STORE_OPS];

/* SQLite's TG_STORE_LIST by filter, so that each statement uses its index. */
enum {
    TG_STORE_FILTER_AGENT = 1,
    TG_STORE_FILTER_STATE = 2,
    TG_STORE_FILTER_OWNER = 4,
    TG_STORE_FILTERS = 8
};
extern const char *const tg_store_sqlite_lists[TG_STORE_FILTERS];

/* --- results --- */

typedef struct {
    tg_store_query_t *query;
    const tg_store_operation_t *operation;
    int is_shared; /* of PostgreSQL */
    unsigned nrows;
    int64_t group;
} tg_store_result_t;

/* Begins the result of a query: clears query->json and sets query->rc. */
void tg_store_result_begin(tg_store_result_t *result, tg_store_query_t *query,
                           int is_shared);

/* Adds a row with its code. TG_END: the operation has ended. */
int tg_store_result_add_row(tg_store_result_t *result,
                            const tg_store_value_t *values, unsigned n);

void tg_store_result_end(tg_store_result_t *result);

#endif
