/*
 * Functions of libpq, PostgreSQL's client library. The library is loaded when
 * the first PostgreSQL store is opened, as most runners need none.
 */
#ifndef TG_LIBPQ_H
#define TG_LIBPQ_H

#include <postgresql/libpq-fe.h>

/* The functions; the struct and the loader are generated from this list. */
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
    X(nfields)                                                                 \
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

    /* Frees OpenSSL's data of a thread. NULL: libpq does not use OpenSSL. */
    void (*thread_stop)(void);
} tg_libpq_t;

/*
 * Loads libpq once. Thread-safe. NULL: *why, a static text, says what to
 * install; the next call tries again.
 */
const tg_libpq_t *tg_libpq_load(const char **why);

#endif
