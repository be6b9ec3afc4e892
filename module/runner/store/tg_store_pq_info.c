/*
 * What libpq is told of a connection, and says of it.
 */
#include "base/tg_utf8.h"
#include "runner/store/tg_store_pq.h"

#include <stdlib.h>

int
tg_pq_info_init(tg_pq_info_t *info, const char *where, const char *password)
{
    /* What comes later, and is said, counts. */
    const char *const pairs[TG_PQ_INFO + 1][2] = {
        { "connect_timeout", TG_PQ_NUMBER(TG_PQ_CONNECT_S) },
        { "application_name", "toolgate-runner" },
        { "keepalives_idle", "15" },
        { "keepalives_interval", "5" },
        { "keepalives_count", "3" },
        { "tcp_user_timeout", "20000" },
        { "dbname", NULL },
        { "client_encoding", "UTF8" },
        { "password", password },
        { NULL, NULL },
    };
    int i;

    tg_buf_init(&info->where, tg_alloc_libc());

    /* A service has a name without quotes, a URI begins with two slashes. */
    tg_buf_printf(&info->where,
                  where[0] == '/' ? "postgresql:%s" : "service='%s'", where);
    tg_buf_char(&info->where, '\0');

    for (i = 0; i <= TG_PQ_INFO; i++) {
        info->names[i] = pairs[i][0];
        info->values[i] = pairs[i][1];
    }

    info->values[TG_PQ_INFO_WHERE] = info->where.data;

    return tg_buf_failed(&info->where) ? TG_NOMEM : TG_OK;
}

void
tg_pq_info_deinit(tg_pq_info_t *info)
{
    tg_buf_deinit(&info->where);
}

void
tg_pq_say(tg_buf_t *why, const char *message)
{
    const char *between;
    size_t len;

    /* libpq's messages have lines that begin with tabs; a log has one line. */
    for (between = ""; *message != '\0'; message += len) {
        message += strspn(message, "\n\t ");
        len = strcspn(message, "\n");
        tg_buf_text(why, len != 0 ? between : "");
        tg_utf8_put_visible(why, tg_str(message, len), 1);
        between = "; ";
    }
}

/* --- is it one that can be opened? --- */

static int
tg_pq_ask_why(const tg_pq_t *pq, PGconn *conn, const char *text, tg_buf_t *why)
{
    PGresult *result;
    int rc;

    result = pq->exec(conn, text);
    rc = TG_BAD;

    if (pq->resultStatus(result) != PGRES_TUPLES_OK) {
        /* No table: no version. */
        rc = text == tg_pq_is_newer ? TG_OK : TG_BAD;
    } else if (pq->ntuples(result) == 0 || pq->getisnull(result, 0, 0)) {
        rc = TG_OK;
    } else {
        tg_pq_say(why, pq->getvalue(result, 0, 0));
    }

    if (rc == TG_BAD && why->len == 0) {
        tg_pq_say(why, pq->errorMessage(conn));
    }

    pq->clear(result);

    return rc;
}

int
tg_pq_look(const tg_pq_t *pq, PGconn *conn, tg_buf_t *why)
{
    if (pq->serverVersion(conn) < TG_PQ_LEAST) {
        tg_buf_text(why, "the server is older than version 11; upgrade it");
        return TG_BAD;
    }

    return tg_pq_ask_why(pq, conn, tg_pq_is_open, why) == TG_OK
               ? tg_pq_ask_why(pq, conn, tg_pq_is_newer, why)
               : TG_BAD;
}

int
tg_store_pq_check(tg_str_t where, const char *password, tg_buf_t *why)
{
    tg_pq_info_t info;
    const tg_pq_t *pq;
    const char *text;
    PGconn *conn;
    PGPing ping;
    int rc;

    pq = tg_pq(&text);

    if (pq == NULL) {
        tg_buf_text(why, text);
        return TG_BAD;
    }

    if (tg_pq_info_init(&info, where.data, password) != TG_OK) {
        tg_pq_info_deinit(&info);
        return TG_NOMEM;
    }

    conn = pq->connectdbParams(info.names, info.values, 1);

    if (pq->status(conn) == CONNECTION_OK) {
        rc = tg_pq_look(pq, conn, why);
    } else {
        ping = pq->pingParams(info.names, info.values, 1);
        rc = ping == PQPING_NO_RESPONSE || ping == PQPING_REJECT ? TG_AGAIN
                                                                 : TG_BAD;
        tg_pq_say(why, pq->errorMessage(conn));
    }

    pq->finish(conn);
    tg_pq_info_deinit(&info);

    return rc;
}
