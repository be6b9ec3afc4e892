/* Loads libcurl and resolves its functions. */
#include "runner/http/tg_curl.h"

#include "transport/tg_shared_library.h"

#define TG_CURL_FILE "libcurl.so.4"
#define TG_CURL_VERSION_MIN 0x075700

static tg_curl_t tg_curl_functions;

static int
tg_curl_is_usable(void *library)
{
    return tg_curl_functions.version_info(CURLVERSION_NOW)->version_num
               >= TG_CURL_VERSION_MIN
           && tg_curl_functions.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const tg_curl_t *
tg_curl_load(const char **why)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_CURL_ROW(name) { "curl_" #name, offsetof(tg_curl_t, name) },
        TG_CURL_FUNCTIONS(TG_CURL_ROW)
    };
    static tg_shared_library_t library = {
        .file = TG_CURL_FILE,
        .missing = TG_CURL_FILE " cannot be loaded",
        .unusable = TG_CURL_FILE " is older than 7.87 or cannot be used",
        .functions = functions,
        .n = sizeof(functions) / sizeof(functions[0]),
        .table = &tg_curl_functions,
        .is_usable = tg_curl_is_usable,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };

    return tg_shared_library_load(&library, why);
}
