/* Loads libcurl and resolves its functions. */
#include "runner/http/tg_curl.h"

#include "transport/tg_shared_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define TG_CURL_FILE "libcurl.so.4"

static tg_curl_t tg_curl_loaded;
static int tg_curl_is_loaded;

static int
tg_curl_load_functions(void *library)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_CURL_ROW(name) { "curl_" #name, offsetof(tg_curl_t, name) },
        TG_CURL_FUNCTIONS(TG_CURL_ROW)
    };

    return tg_shared_library_resolve(library, functions,
                                     sizeof(functions) / sizeof(functions[0]),
                                     &tg_curl_loaded);
}

static int
tg_curl_is_new_enough(void *library)
{
    curl_version_info_data *(*version_info)(CURLversion now);
    void *symbol;

    symbol = dlsym(library, "curl_version_info");

    if (symbol == NULL) {
        return 0;
    }

    memcpy(&version_info, &symbol, sizeof(symbol));

    return version_info(CURLVERSION_NOW)->version_num >= 0x075700;
}

const tg_curl_t *
tg_curl_load(const char **why)
{
    void *library;

    if (tg_curl_is_loaded) {
        return &tg_curl_loaded;
    }

    library = dlopen(TG_CURL_FILE, RTLD_LAZY | RTLD_LOCAL);

    if (library == NULL) {
        *why = TG_CURL_FILE " cannot be loaded";
        return NULL;
    }

    if (!tg_curl_is_new_enough(library) || tg_curl_load_functions(library) != 0
        || tg_curl_loaded.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    {
        *why = TG_CURL_FILE " is older than 7.87 or cannot be used";
        (void) dlclose(library);
        return NULL;
    }

    tg_curl_is_loaded = 1;

    return &tg_curl_loaded;
}
