/*
 * Connection parameters for libpq, its messages, and checks of the database.
 */
#include "base/tg_utf8.h"
#include "tasks/store/tg_store_pg.h"

#include <stdlib.h>

int
tg_pg_conninfo_init(tg_pg_conninfo_t *info, const char *location,
                    const char *password)
{
    /*
     * libpq uses the last value that is not NULL: the location overrides the
     * values above it and is overridden by those below it.
     */
    const char *const pairs[TG_PG_CONNINFO_PARAMS + 1][2] = {
        { "connect_timeout", TG_STORE_STRINGIFY(TG_PG_CONNECT_TIMEOUT_S) },
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

    tg_buf_init(&info->location, tg_alloc_libc());

    /* The name of a service has no quotes; a URI begins with two slashes. */
    tg_buf_printf(&info->location,
                  location[0] == '/' ? "postgresql:%s" : "service='%s'",
                  location);
    tg_buf_append_char(&info->location, '\0');

    for (i = 0; i <= TG_PG_CONNINFO_PARAMS; i++) {
        info->names[i] = pairs[i][0];
        info->values[i] = pairs[i][1];
    }

    info->values[TG_PG_CONNINFO_DBNAME] = info->location.data;

    return tg_buf_has_failed(&info->location) ? TG_NOMEM : TG_OK;
}

void
tg_pg_conninfo_deinit(tg_pg_conninfo_t *info)
{
    tg_buf_deinit(&info->location);
}

void
tg_pg_append_message(tg_buf_t *why, const char *message)
{
    const char *between;
    size_t len;

    /* Makes one line of a message, whose lines may be indented by tabs. */
    for (between = ""; *message != '\0'; message += len) {
        message += strspn(message, "\n\t ");
        len = strcspn(message, "\n");
        tg_buf_append_cstr(why, len != 0 ? between : "");
        tg_utf8_append_visible(why, tg_str(message, len), 1);
        between = "; ";
    }
}

/* --- checks of the database --- */

static int
tg_pg_check_query(const tg_libpq_t *pq, PGconn *conn, const char *text,
                  tg_buf_t *why)
{
    PGresult *result;
    int rc;

    result = pq->exec(conn, text);
    rc = TG_INVALID;

    if (pq->resultStatus(result) != PGRES_TUPLES_OK) {
        /* If the table is missing, there is no version to check. */
        rc = text == tg_pg_check_version_sql ? TG_OK : TG_INVALID;
    } else if (pq->ntuples(result) == 0 || pq->getisnull(result, 0, 0)) {
        rc = TG_OK;
    } else {
        tg_pg_append_message(why, pq->getvalue(result, 0, 0));
    }

    if (rc == TG_INVALID && why->len == 0) {
        tg_pg_append_message(why, pq->errorMessage(conn));
    }

    pq->clear(result);

    return rc;
}

int
tg_pg_check_database(const tg_libpq_t *pq, PGconn *conn, tg_buf_t *why)
{
    if (pq->serverVersion(conn) < TG_PG_SERVER_VERSION_MIN) {
        tg_buf_append_cstr(why,
                           "the server is older than version 11; upgrade it");
        return TG_INVALID;
    }

    return tg_pg_check_query(pq, conn, tg_pg_check_access_sql, why) == TG_OK
               ? tg_pg_check_query(pq, conn, tg_pg_check_version_sql, why)
               : TG_INVALID;
}

int
tg_store_pg_check(tg_str_t location, const char *password, tg_buf_t *why)
{
    tg_pg_conninfo_t info;
    const tg_libpq_t *pq;
    const char *text;
    PGconn *conn;
    PGPing ping;
    int rc;

    pq = tg_libpq_load(&text);

    if (pq == NULL) {
        tg_buf_append_cstr(why, text);
        return TG_INVALID;
    }

    if (tg_pg_conninfo_init(&info, location.data, password) != TG_OK) {
        tg_pg_conninfo_deinit(&info);
        return TG_NOMEM;
    }

    conn = pq->connectdbParams(info.names, info.values, 1);

    if (pq->status(conn) == CONNECTION_OK) {
        rc = tg_pg_check_database(pq, conn, why);
    } else {
        ping = pq->pingParams(info.names, info.values, 1);
        rc = ping == PQPING_NO_RESPONSE || ping == PQPING_REJECT ? TG_AGAIN
                                                                 : TG_INVALID;
        tg_pg_append_message(why, pq->errorMessage(conn));
    }

    pq->finish(conn);
    tg_pg_conninfo_deinit(&info);

    return rc;
}
