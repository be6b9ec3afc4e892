#include "core/tg_dialect.h"

static const tg_dialect_row_t *const tg_dialects[TG_DIALECT_END] = {
    [TG_DIALECT_AUTO] = &tg_dialect_jsonrpc,
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

tg_dialect_t
tg_dialect_framed(tg_frame_kind_t framing)
{
    tg_dialect_t dialect;

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_END; dialect++) {
        if (tg_dialects[dialect]->framing == framing) {
            return dialect;
        }
    }

    return TG_DIALECT_AUTO;
}

tg_dialect_t
tg_dialect_spoken(const tg_message_t *line)
{
    tg_dialect_t dialect;

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_END; dialect++) {
        if (tg_dialects[dialect]->is_mine != NULL
            && tg_dialects[dialect]->is_mine(line))
        {
            return dialect;
        }
    }

    return TG_DIALECT_AUTO;
}
