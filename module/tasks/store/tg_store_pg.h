/*
 * What the files of the store in PostgreSQL share.
 *
 *   …_pq.c      from the loop: what waits, what was answered, its states
 *   tg_store_pg_conn.c the connection: made in a thread, then asked in the loop
 *   tg_store_pg_conninfo.c what libpq is told, and may a store be opened
 *   tg_store_pg_query.c  a question's values, and its answer
 *   tg_store_pg_sql.c  SQL
 *
 *   CLOSED ──▶ CONNECTING ──▶ READY ◀──▶ BUSY
 *     ▲  ▲          │           │          │
 *     │  └──────────┘           │          │
 *     └─────────────────────────┴──────────┘
 *
 * What was asked while the connection is lost is asked again: each question
 * has a serial number, by which the database knows those that it has answered
 * in vain.
 */
#ifndef TG_STORE_PG_H
#define TG_STORE_PG_H

#include "tasks/store/tg_libpq.h"
#include "tasks/store/tg_store.h"

/* The version of the tables. */
#define TG_PG_VERSION 1
/* Without a database: questions wait so long for it to come back. */
#define TG_PG_RECONNECT_WAIT_MS 10000
/* For an answer, before the connection is given up. */
#define TG_PG_ANSWER_TIMEOUT_MS 30000
/* The same, when nobody waits for it any more. */
#define TG_PG_EXIT_TIMEOUT_MS 2000
/* How often that is looked at, and a connection is tried. */
#define TG_PG_TICK_MS 500
/* Of the server. */
#define TG_PG_SERVER_VERSION_MIN 110000
/* For a connection, as libpq takes it. */
#define TG_PG_CONNECT_TIMEOUT_S 5
/* Hexadecimal: one that had the store open at some time. */
#define TG_PG_RUNNER_ID_LEN 32

/* A number's name, in a text. */
#define TG_PG_STRINGIFY_TOKEN(text) #text
#define TG_PG_STRINGIFY(name) TG_PG_STRINGIFY_TOKEN(name)

typedef enum {
    TG_PG_CLOSED,
    TG_PG_CONNECTING,
    TG_PG_READY,
    TG_PG_BUSY
} tg_pg_state_t;

typedef struct tg_store_pg_s tg_store_pg_t;

/* What the line tells. */
typedef struct {
    void (*on_connected)(tg_store_pg_t *db);

    /* There is no connection; db->why says why. */
    void (*on_lost)(tg_store_pg_t *db);

    /* All that was sent, or with db->has_failed nothing of it, is done. */
    void (*on_answered)(tg_store_pg_t *db);
} tg_pg_conn_ops_t;

struct tg_store_pg_s {
    tg_store_t store;
    const tg_pg_conn_ops_t *ops;
    tg_pg_state_t state;
    char *location; /* a service or a URI */
    char *name;     /* of the place where this runner is */
    char *password; /* or NULL */
    char runner[TG_PG_RUNNER_ID_LEN + 1];
    uint64_t serial;

    tg_work_list_t waiting;
    tg_work_list_t sent; /* one transaction */
    unsigned nsent;
    unsigned nsingle; /* so many of those that wait have one of their own */
    uint64_t sent_at;
    uint64_t lost_at; /* CLOSED, CONNECTING: since then */
    tg_buf_t why;

    uv_loop_t *loop;
    uv_timer_t timer;
    uv_work_t connect;
    uv_poll_t *poll; /* READY, BUSY */
    PGconn *conn;
    const tg_libpq_t *pq;

    /* BUSY */
    tg_work_item_t *current; /* whose answer is next; NULL: that of all */
    int has_failed;

    /* CONNECTING: what the thread has found. */
    PGconn *new_conn;
    tg_buf_t connect_error;
    char *connect_password;

    void (*closed)(void *host);
    void *host;
    unsigned is_closing:1;
    unsigned is_exiting:1; /* nobody waits any more */
};

static inline tg_store_query_t *
tg_pg_get_query(const tg_work_item_t *work)
{
    return (tg_store_query_t *) (uintptr_t) work;
}

/* --- tg_store_pg_conn.c --- */

/* Begins to connect; ops->connected or ops->lost follows. */
void tg_pg_connect(tg_store_pg_t *db);

/* Sends all of db->sent; ops->answered follows, or ops->lost. */
void tg_pg_send_batch(tg_store_pg_t *db);

/* Closes the connection. */
void tg_pg_close_conn(tg_store_pg_t *db);

/* --- tg_store_pg_conninfo.c --- */

#define TG_PG_CONNINFO_PARAMS 9
#define TG_PG_CONNINFO_DBNAME 6

typedef struct {
    const char *names[TG_PG_CONNINFO_PARAMS + 1];
    const char *values[TG_PG_CONNINFO_PARAMS + 1];
    tg_buf_t location;
} tg_pg_conninfo_t;

/* Both texts are needed as long as it; TG_OK or TG_NOMEM. */
int tg_pg_conninfo_init(tg_pg_conninfo_t *info, const char *location,
                        const char *password);
void tg_pg_conninfo_deinit(tg_pg_conninfo_t *info);

/* TG_OK, or TG_INVALID: it cannot be opened, and why says why. */
int tg_pg_check_database(const tg_libpq_t *pq, PGconn *conn, tg_buf_t *why);

/* Appends what libpq says, as one line. */
void tg_pg_append_message(tg_buf_t *why, const char *message);

/* --- tg_store_pg_query.c --- */

/* Has the new connection know a statement. */
PGresult *tg_pg_prepare_statement(const tg_store_pg_t *db, int statement);

/* 1, or 0 as libpq has it. */
int tg_pg_send_query(tg_store_pg_t *db, tg_store_query_t *query);

/* The answer to ask; its memory stays the library's. */
void tg_pg_read_result(const tg_store_pg_t *db, const PGresult *result,
                       tg_store_query_t *query);

/* --- tg_store_pg_sql.c --- */

/* A tg_store_op_t, or one more: the end of a task that was interrupted. */
#define TG_PG_STATEMENT_INTERRUPT (TG_STORE_READ_OUTPUT + 1)
#define TG_PG_STATEMENTS (TG_PG_STATEMENT_INTERRUPT + 1)

/* Which statement it is, whose values are those of tg_pg_send_query(). */
int tg_pg_find_statement(const tg_store_query_t *query);

/* Is it always done in the same way, and so planned once? */
int tg_pg_is_prepared(int statement);
const char *tg_pg_get_sql(int statement);

/* Makes or migrates the tables, and listens to what others tell. */
extern const char tg_pg_setup_sql[];

/* Why it cannot be opened, or NULL; the second is of tables that there are. */
extern const char tg_pg_check_access_sql[];
extern const char tg_pg_check_version_sql[];

/* $1: a lock that says who has this connection. */
extern const char tg_pg_lock_runner_sql[];

#endif
