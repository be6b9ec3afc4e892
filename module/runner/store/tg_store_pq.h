/*
 * What the files of the store in PostgreSQL share.
 *
 *   …_pq.c      from the loop: what waits, what was answered, its states
 *   …_pq_line.c the connection: made in a thread, then asked in the loop
 *   …_pq_info.c what libpq is told, and may a store be opened
 *   …_pq_ask.c  a question's values, and its answer
 *   …_pq_sql.c  SQL
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
#ifndef TG_STORE_PQ_H
#define TG_STORE_PQ_H

#include "runner/store/tg_pq.h"
#include "runner/store/tg_store.h"

/* The version of the tables. */
#define TG_PQ_VERSION 1
/* Without a database: questions wait so long for it to come back. */
#define TG_PQ_WAIT_MS 10000
/* For an answer, before the connection is given up. */
#define TG_PQ_ANSWER_MS 30000
/* The same, when nobody waits for it any more. */
#define TG_PQ_LEAVE_MS 2000
/* How often that is looked at, and a connection is tried. */
#define TG_PQ_TICK_MS 500
/* Of the server. */
#define TG_PQ_LEAST 110000
/* For a connection, as libpq takes it. */
#define TG_PQ_CONNECT_S 5
/* Hexadecimal: one that had the store open at some time. */
#define TG_PQ_RUNNER 32

/* A number's name, in a text. */
#define TG_PQ_QUOTE(text) #text
#define TG_PQ_NUMBER(name) TG_PQ_QUOTE(name)

typedef enum {
    TG_PQ_CLOSED,
    TG_PQ_CONNECTING,
    TG_PQ_READY,
    TG_PQ_BUSY
} tg_pq_state_t;

typedef struct tg_store_pq_s tg_store_pq_t;

/* What the line tells. */
typedef struct {
    void (*connected)(tg_store_pq_t *db);

    /* There is no connection; db->why says why. */
    void (*lost)(tg_store_pq_t *db);

    /* All that was sent, or with db->has_failed nothing of it, is done. */
    void (*answered)(tg_store_pq_t *db);
} tg_pq_ops_t;

struct tg_store_pq_s {
    tg_store_t store;
    const tg_pq_ops_t *ops;
    tg_pq_state_t state;
    char *where;    /* a service or a URI */
    char *name;     /* of the place where this runner is */
    char *password; /* or NULL */
    char runner[TG_PQ_RUNNER + 1];
    uint64_t serial;

    tg_works_t waiting;
    tg_works_t sent; /* one transaction */
    unsigned nsent;
    unsigned nalone; /* so many of those that wait have one of their own */
    uint64_t sent_at;
    uint64_t lost_at; /* CLOSED, CONNECTING: since then */
    tg_buf_t why;

    uv_loop_t *loop;
    uv_timer_t timer;
    uv_work_t connect;
    uv_poll_t *poll; /* READY, BUSY */
    PGconn *conn;
    const tg_pq_t *pq;

    /* BUSY */
    tg_work_t *at; /* whose answer is next; NULL: that of all */
    int has_failed;

    /* CONNECTING: what the thread has found. */
    PGconn *made;
    tg_buf_t why_not;
    char *secret;

    void (*closed)(void *host);
    void *host;
    unsigned is_closing:1;
    unsigned is_left:1; /* nobody waits any more */
};

static inline tg_store_ask_t *
tg_pq_asked(const tg_work_t *work)
{
    return (tg_store_ask_t *) (uintptr_t) work;
}

/* --- …_pq_line.c --- */

/* Begins to connect; ops->connected or ops->lost follows. */
void tg_pq_connect(tg_store_pq_t *db);

/* Sends all of db->sent; ops->answered follows, or ops->lost. */
void tg_pq_send(tg_store_pq_t *db);

/* Closes the connection. */
void tg_pq_shut(tg_store_pq_t *db);

/* --- …_pq_info.c --- */

#define TG_PQ_INFO 9
#define TG_PQ_INFO_WHERE 6

typedef struct {
    const char *names[TG_PQ_INFO + 1];
    const char *values[TG_PQ_INFO + 1];
    tg_buf_t where;
} tg_pq_info_t;

/* Both texts are needed as long as it; TG_OK or TG_NOMEM. */
int tg_pq_info_init(tg_pq_info_t *info, const char *where,
                    const char *password);
void tg_pq_info_deinit(tg_pq_info_t *info);

/* TG_OK, or TG_BAD: it cannot be opened, and why says why. */
int tg_pq_look(const tg_pq_t *pq, PGconn *conn, tg_buf_t *why);

/* Appends what libpq says, as one line. */
void tg_pq_say(tg_buf_t *why, const char *message);

/* --- …_pq_ask.c --- */

/* Has the new connection know a statement. */
PGresult *tg_pq_ready(const tg_store_pq_t *db, int statement);

/* 1, or 0 as libpq has it. */
int tg_pq_send_ask(tg_store_pq_t *db, tg_store_ask_t *ask);

/* The answer to ask; its memory stays the library's. */
void tg_pq_read(const tg_store_pq_t *db, const PGresult *result,
                tg_store_ask_t *ask);

/* --- …_pq_sql.c --- */

/* A tg_store_op_t, or one more: the end of a task that was interrupted. */
#define TG_PQ_INTERRUPTED (TG_STORE_READ + 1)
#define TG_PQ_STATEMENTS (TG_PQ_INTERRUPTED + 1)

/* Which statement it is, whose values are those of tg_pq_send_ask(). */
int tg_pq_statement(const tg_store_ask_t *ask);

/* Is it always done in the same way, and so planned once? */
int tg_pq_is_ready(int statement);
const char *tg_pq_text(int statement);

/* Makes or migrates the tables, and listens to what others tell. */
extern const char tg_pq_setup[];

/* Why it cannot be opened, or NULL; the second is of tables that there are. */
extern const char tg_pq_is_open[];
extern const char tg_pq_is_newer[];

/* $1: a lock that says who has this connection. */
extern const char tg_pq_sign[];

#endif
