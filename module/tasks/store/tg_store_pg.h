/*
 * Internal header of the PostgreSQL task store.
 *
 *   tg_store_pg.c           queue of queries, results, states of the store
 *   tg_store_pg_conn.c      connection: opened in a thread, used in the loop
 *   tg_store_pg_conninfo.c  connection parameters, check of the database
 *   tg_store_pg_query.c     parameters and results of statements
 *   tg_store_pg_schema.c    SQL that creates and checks the tables
 *
 *   CLOSED ──▶ CONNECTING ──▶ READY ◀──▶ BUSY
 *     ▲  ▲          │           │          │
 *     │  └──────────┘           │          │
 *     └─────────────────────────┴──────────┘
 *
 * When the connection is lost, the pending queries are sent again. Each query
 * has a serial number, by which the database recognizes a query that it has
 * executed but whose result was lost.
 */
#ifndef TG_STORE_PG_H
#define TG_STORE_PG_H

#include "tasks/store/tg_libpq.h"
#include "tasks/store/tg_store_ops.h"

/* Version of the tables. */
#define TG_PG_VERSION 1
/* Time for which queries wait for a lost connection, in ms. */
#define TG_PG_RECONNECT_WAIT_MS 10000
/* Time without a response after which the connection is closed, in ms. */
#define TG_PG_ANSWER_TIMEOUT_MS 30000
/* Timeout of a response while the runner exits, in ms. */
#define TG_PG_EXIT_TIMEOUT_MS 2000
/* Interval of the timer that checks timeouts and reconnects, in ms. */
#define TG_PG_TICK_MS 500
/* Minimum version of the server, as PQserverVersion() returns it. */
#define TG_PG_SERVER_VERSION_MIN 110000
/* Timeout of a connection attempt in seconds, for libpq. */
#define TG_PG_CONNECT_TIMEOUT_S 5
/* Hexadecimal digits of a runner's id, which is new for each store. */
#define TG_PG_RUNNER_ID_LEN 32

typedef enum {
    TG_PG_CLOSED,
    TG_PG_CONNECTING,
    TG_PG_READY,
    TG_PG_BUSY
} tg_pg_state_t;

typedef struct tg_store_pg_s tg_store_pg_t;

struct tg_store_pg_s {
    tg_store_t store;
    tg_pg_state_t state;
    char *location; /* a service or a URI, owned */
    char *name;     /* name of this runner, owned */
    char *password; /* owned, or NULL */
    char runner[TG_PG_RUNNER_ID_LEN + 1];
    uint64_t serial; /* serial number of the last query */

    tg_work_list_t waiting;
    tg_work_list_t sent; /* queries of the current transaction */
    unsigned nsent;      /* length of `sent` */
    unsigned nsingle;    /* waiting queries that need their own transaction */
    uint64_t sent_at;    /* loop time of the last transaction, in ms */
    uint64_t lost_at;    /* loop time of the connection's loss, in ms */
    tg_buf_t why;        /* reason why there is no connection */

    uv_loop_t *loop;
    uv_timer_t timer;
    uv_work_t connect;
    uv_poll_t *poll; /* READY, BUSY; else NULL */
    PGconn *conn;
    const tg_libpq_t *pq;

    /* For BUSY. */
    tg_work_item_t *current; /* query of the next result; NULL: the commit */
    int has_failed;

    /* For CONNECTING: results of the thread. */
    PGconn *new_conn;
    tg_buf_t connect_error;
    char *connect_password;

    void (*closed)(void *host);
    void *host;
    unsigned is_closing:1;
    unsigned is_exiting:1; /* queries fail instead of waiting */
};

static inline tg_store_query_t *
tg_pg_get_query(const tg_work_item_t *work)
{
    return (tg_store_query_t *) (uintptr_t) work;
}

/* --- tg_store_pg.c: called by the connection --- */

/* Sends the waiting queries, as the connection is open. */
void tg_pg_on_connected(tg_store_pg_t *db);

/* Handles that there is no connection; db->why has the reason. */
void tg_pg_on_lost(tg_store_pg_t *db);

/* Handles the end of a transaction; db->has_failed: it was rolled back. */
void tg_pg_on_answered(tg_store_pg_t *db);

/* --- tg_store_pg_conn.c --- */

/* Connects in a thread; tg_pg_on_connected() or tg_pg_on_lost() follows. */
void tg_pg_connect(tg_store_pg_t *db);

/*
 * Sends all queries of db->sent in one transaction. tg_pg_on_answered()
 * follows, or tg_pg_on_lost(), maybe before this function returns.
 */
void tg_pg_send_batch(tg_store_pg_t *db);

/* Closes the connection without a callback. */
void tg_pg_close_conn(tg_store_pg_t *db);

/* --- tg_store_pg_conninfo.c --- */

#define TG_PG_CONNINFO_PARAMS 9
#define TG_PG_CONNINFO_DBNAME 6

typedef struct {
    const char *names[TG_PG_CONNINFO_PARAMS + 1];
    const char *values[TG_PG_CONNINFO_PARAMS + 1];
    tg_buf_t location;
} tg_pg_conninfo_t;

/*
 * Sets the parameters, which refer to the texts. TG_OK or TG_NOMEM;
 * tg_pg_conninfo_deinit() is needed after both.
 */
int tg_pg_conninfo_init(tg_pg_conninfo_t *info, const char *location,
                        const char *password);
void tg_pg_conninfo_deinit(tg_pg_conninfo_t *info);

/* Checks whether the database can be used. TG_OK, or TG_INVALID and why. */
int tg_pg_check_database(const tg_libpq_t *pq, PGconn *conn, tg_buf_t *why);

/* Appends a message of libpq as one line. */
void tg_pg_append_message(tg_buf_t *why, const char *message);

/* --- tg_store_pg_query.c --- */

/*
 * Returns whether a statement is prepared once for each connection. Others are
 * planned for each query, as the best plan depends on the values.
 */
int tg_pg_is_prepared(int operation);

/* Prepares a statement. The caller frees the result; NULL: no memory. */
PGresult *tg_pg_prepare_statement(const tg_store_pg_t *db, int operation);

/* Sends the statement of a query. Returns 1, or 0 after a failure. */
int tg_pg_send_query(tg_store_pg_t *db, tg_store_query_t *query);

/* Copies a result into the query. The caller keeps the PGresult. */
void tg_pg_read_result(const tg_store_pg_t *db, const PGresult *rows,
                       tg_store_query_t *query);

/* --- tg_store_pg_schema.c --- */

/* Creates or migrates the tables and listens to broadcasts. */
extern const char tg_pg_setup_sql[];

/* Selects the reason why the database cannot be used, or NULL. */
extern const char tg_pg_check_access_sql[];

/* Selects the reason why existing tables cannot be used, or NULL. */
extern const char tg_pg_check_version_sql[];

/* Locks the id of a runner ($1), which marks it as alive. */
extern const char tg_pg_lock_runner_sql[];

#endif
