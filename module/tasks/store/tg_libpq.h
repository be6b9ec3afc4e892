/*
 * PostgreSQL's client library, loaded when the first store in a database is
 * opened: most runners have none.
 */
#ifndef TG_LIBPQ_H
#define TG_LIBPQ_H

#include <postgresql/libpq-fe.h>

/* What is used of it; a function is named once. */
#define TG_LIBPQ_FUNCTIONS(X)                                                  \
    X(pingParams)                                                              \
    X(connectdbParams)                                                         \
    X(status)                                                                  \
    X(errorMessage)                                                            \
    X(serverVersion)                                                           \
    X(backendPID)                                                              \
    X(socket)                                                                  \
    X(setnonblocking)                                                          \
    X(setNoticeProcessor)                                                      \
    X(exec)                                                                    \
    X(execParams)                                                              \
    X(prepare)                                                                 \
    X(enterPipelineMode)                                                       \
    X(pipelineSync)                                                            \
    X(sendQueryParams)                                                         \
    X(sendQueryPrepared)                                                       \
    X(flush)                                                                   \
    X(consumeInput)                                                            \
    X(isBusy)                                                                  \
    X(getResult)                                                               \
    X(resultStatus)                                                            \
    X(resultErrorField)                                                        \
    X(ntuples)                                                                 \
    X(getisnull)                                                               \
    X(getvalue)                                                                \
    X(getlength)                                                               \
    X(clear)                                                                   \
    X(notifies)                                                                \
    X(freemem)                                                                 \
    X(finish)

#define TG_LIBPQ_MEMBER(name) __typeof__(PQ##name) *name;

typedef struct {
    TG_LIBPQ_FUNCTIONS(TG_LIBPQ_MEMBER)

    /* What OpenSSL, where it is used, keeps for a thread is given back. */
    void (*thread_stop)(void);
} tg_libpq_t;

/*
 * Loads it, once.  NULL: it cannot be had, and *why says what to install; it
 * is tried again next time.  Several threads may ask.
 */
const tg_libpq_t *tg_libpq_load(const char **why);

#endif
