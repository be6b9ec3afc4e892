#include "core/tg_dialect.h"

static const tg_dialect_row_t *const tg_dialects[TG_DIALECT_END] = {
#define TG_DIALECT_ROW(NUMBER, name) [TG_DIALECT_##NUMBER] = &tg_dialect_##name,
    TG_DIALECTS(TG_DIALECT_ROW)
};

const tg_dialect_row_t *
tg_dialect(tg_dialect_t dialect)
{
    return tg_dialects[dialect];
}

const char *
tg_dialect_name(tg_dialect_t dialect)
{
    return dialect == TG_DIALECT_AUTO ? "auto" : tg_dialects[dialect]->name;
}
