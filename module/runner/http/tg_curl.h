/*
 * Loads libcurl when a call needs it: loading takes longer than the start of
 * the runner, and most runners never need it.
 */
#ifndef TG_CURL_H
#define TG_CURL_H

/* The type-checking macros refer to functions that are not linked. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed (libcurl4-openssl-dev)"
#endif

/* The libcurl functions that are used. This is the only list of their names. */
#define TG_CURL_FUNCTIONS(X)                                                   \
    X(version_info)                                                            \
    X(global_init)                                                             \
    X(easy_init)                                                               \
    X(easy_setopt)                                                             \
    X(easy_pause)                                                              \
    X(easy_getinfo)                                                            \
    X(easy_cleanup)                                                            \
    X(easy_strerror)                                                           \
    X(multi_init)                                                              \
    X(multi_setopt)                                                            \
    X(multi_assign)                                                            \
    X(multi_add_handle)                                                        \
    X(multi_remove_handle)                                                     \
    X(multi_socket_action)                                                     \
    X(multi_info_read)                                                         \
    X(multi_cleanup)                                                           \
    X(slist_append)                                                            \
    X(slist_free_all)

#define TG_CURL_MEMBER(name) __typeof__(curl_##name) *name;

typedef struct {
    TG_CURL_FUNCTIONS(TG_CURL_MEMBER)
} tg_curl_t;

/* Loads libcurl once. Returns NULL and *why; the next call tries again. */
const tg_curl_t *tg_curl_load(const char **why);

#endif
