/*
 * The kinds of stores there are.
 */
#include "runner/store/tg_store.h"

#define TG_STORE_SQLITE TG_STR("sqlite:")
#define TG_STORE_PQ TG_STR("postgresql:")

static int
tg_store_is(tg_str_t where, tg_str_t kind)
{
    return where.len > kind.len && memcmp(where.data, kind.data, kind.len) == 0;
}

static tg_str_t
tg_store_rest(tg_str_t where, tg_str_t kind)
{
    return tg_str(where.data + kind.len, where.len - kind.len);
}

tg_store_t *
tg_store_new(uv_loop_t *loop, tg_str_t where, const char *name)
{
    if (tg_store_is(where, TG_STORE_SQLITE)) {
        return tg_store_sqlite_new(loop, tg_store_rest(where, TG_STORE_SQLITE));
    }

    return tg_store_is(where, TG_STORE_PQ)
               ? tg_store_pq_new(loop, tg_store_rest(where, TG_STORE_PQ), name)
               : NULL;
}

int
tg_store_check(tg_str_t where, const char *password, tg_buf_t *why)
{
    if (tg_store_is(where, TG_STORE_SQLITE)) {
        return tg_store_sqlite_check(tg_store_rest(where, TG_STORE_SQLITE),
                                     why);
    }

    if (tg_store_is(where, TG_STORE_PQ)) {
        return tg_store_pq_check(tg_store_rest(where, TG_STORE_PQ), password,
                                 why);
    }

    tg_buf_text(why, "it is neither sqlite:/PATH nor postgresql:WHERE");

    return TG_BAD;
}
