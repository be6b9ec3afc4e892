#include "transport/tg_uv_openssl.h"

#include "transport/tg_shared_library.h"

/* Load the version of the headers: types may differ in other versions. */
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define TG_UV_OPENSSL_FILE "libssl.so.3"
#define TG_UV_OPENSSL_PACKAGE "libssl3"
#else
#define TG_UV_OPENSSL_FILE "libssl.so.1.1"
#define TG_UV_OPENSSL_PACKAGE "libssl1.1"
#endif

const tg_uv_openssl_t *
tg_uv_openssl_load(const char **why)
{
    static tg_uv_openssl_t table;
    /* libcrypto's functions are found through libssl, which depends on it. */
    static const tg_shared_library_symbol_t functions[] = {
#define TG_UV_OPENSSL_ROW(name) { #name, offsetof(tg_uv_openssl_t, name) },
        TG_UV_OPENSSL_FUNCTIONS(TG_UV_OPENSSL_ROW)
    };
    static tg_shared_library_t library = {
        .file = TG_UV_OPENSSL_FILE,
        .missing = "TLS needs " TG_UV_OPENSSL_FILE
                   ", which cannot be loaded; install the "
                   "package " TG_UV_OPENSSL_PACKAGE,
        .unusable = TG_UV_OPENSSL_FILE " cannot be used; upgrade the "
                                       "package " TG_UV_OPENSSL_PACKAGE,
        .functions = functions,
        .n = sizeof(functions) / sizeof(functions[0]),
        .table = &table,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };

    return tg_shared_library_load(&library, why);
}
