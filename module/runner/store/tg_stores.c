/*
 * The kinds of stores there are.
 */
#include "runner/store/tg_store.h"

tg_store_t *
tg_store_new(uv_loop_t *loop, tg_str_t where)
{
    static const tg_str_t sqlite = TG_STR_OF("sqlite:/");

    return where.len >= sqlite.len
                   && memcmp(where.data, sqlite.data, sqlite.len) == 0
               ? tg_store_sqlite_new(loop, tg_str(where.data + sqlite.len - 1,
                                                  where.len - sqlite.len + 1))
               : NULL;
}
