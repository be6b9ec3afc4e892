/*
 * Selection of the store backend by the scheme of the location.
 */
#include "tasks/store/tg_store.h"
#include "tasks/tg_tasks.h"

#define TG_STORE_SCHEME_SQLITE TG_STR("sqlite:")
#define TG_STORE_SCHEME_PG TG_STR("postgresql:")

static int
tg_store_has_scheme(tg_str_t location, tg_str_t scheme)
{
    return location.len > scheme.len
           && memcmp(location.data, scheme.data, scheme.len) == 0;
}

static tg_str_t
tg_store_skip_scheme(tg_str_t location, tg_str_t scheme)
{
    return tg_str(location.data + scheme.len, location.len - scheme.len);
}

tg_store_t *
tg_store_new(uv_loop_t *loop, tg_str_t location, const char *name)
{
    if (tg_store_has_scheme(location, TG_STORE_SCHEME_SQLITE)) {
        return tg_store_sqlite_new(
            loop, tg_store_skip_scheme(location, TG_STORE_SCHEME_SQLITE));
    }

    return tg_store_has_scheme(location, TG_STORE_SCHEME_PG) ? tg_store_pg_new(
               loop, tg_store_skip_scheme(location, TG_STORE_SCHEME_PG), name)
                                                             : NULL;
}

int
tg_store_check(tg_str_t location, const char *password, tg_buf_t *why)
{
    if (tg_store_has_scheme(location, TG_STORE_SCHEME_SQLITE)) {
        return tg_store_sqlite_check(
            tg_store_skip_scheme(location, TG_STORE_SCHEME_SQLITE), why);
    }

    if (tg_store_has_scheme(location, TG_STORE_SCHEME_PG)) {
        return tg_store_pg_check(
            tg_store_skip_scheme(location, TG_STORE_SCHEME_PG), password, why);
    }

    tg_buf_append_cstr(why, "it is neither sqlite:/PATH nor postgresql:WHERE");

    return TG_INVALID;
}
