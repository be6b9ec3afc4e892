#include "transport/tg_uv_openssl.h"

#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <stddef.h>

/* Load the version of the headers: types may differ in other versions. */
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
#define TG_UV_OPENSSL_FILE "libssl.so.3"
#define TG_UV_OPENSSL_PACKAGE "libssl3"
#else
#define TG_UV_OPENSSL_FILE "libssl.so.1.1"
#define TG_UV_OPENSSL_PACKAGE "libssl1.1"
#endif

static tg_uv_openssl_t tg_uv_openssl_functions;
static int tg_uv_openssl_is_loaded;

const tg_uv_openssl_t *
tg_uv_openssl_load(const char **why)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_UV_OPENSSL_ROW(name) { #name, offsetof(tg_uv_openssl_t, name) },
        TG_UV_OPENSSL_FUNCTIONS(TG_UV_OPENSSL_ROW)
    };
    void *library;

    if (tg_uv_openssl_is_loaded) {
        return &tg_uv_openssl_functions;
    }

    library = dlopen(TG_UV_OPENSSL_FILE, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        *why = "TLS needs " TG_UV_OPENSSL_FILE
               ", which cannot be loaded; install the "
               "package " TG_UV_OPENSSL_PACKAGE;
        return NULL;
    }

    /* libcrypto's functions are found through libssl, which depends on it. */
    if (tg_shared_library_resolve(library, functions,
                                  sizeof(functions) / sizeof(functions[0]),
                                  &tg_uv_openssl_functions)
        != 0)
    {
        *why = TG_UV_OPENSSL_FILE " cannot be used; upgrade the "
                                  "package " TG_UV_OPENSSL_PACKAGE;
        (void) dlclose(library);
        return NULL;
    }

    tg_uv_openssl_is_loaded = 1;

    return &tg_uv_openssl_functions;
}
