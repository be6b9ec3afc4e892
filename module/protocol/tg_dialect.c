#include "protocol/tg_dialect.h"

static const tg_dialect_row_t *const tg_dialects[TG_DIALECT_COUNT] = {
    [TG_DIALECT_AUTO] = &tg_dialect_jsonrpc,
#define TG_DIALECT_ROW(NUMBER, name) [TG_DIALECT_##NUMBER] = &tg_dialect_##name,
    TG_DIALECTS(TG_DIALECT_ROW)
};

const tg_dialect_row_t *
tg_dialect_get(tg_dialect_t dialect)
{
    return tg_dialects[dialect];
}

const char *
tg_dialect_name(tg_dialect_t dialect)
{
    return dialect == TG_DIALECT_AUTO ? "auto" : tg_dialects[dialect]->name;
}

tg_dialect_t
tg_dialect_find_framing(tg_frame_type_t framing)
{
    tg_dialect_t dialect;

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_COUNT; dialect++) {
        if (tg_dialects[dialect]->framing == framing) {
            return dialect;
        }
    }

    return TG_DIALECT_AUTO;
}

tg_dialect_t
tg_dialect_detect(const tg_message_t *line)
{
    tg_dialect_t dialect;

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_COUNT; dialect++) {
        if (tg_dialects[dialect]->is_first_message != NULL
            && tg_dialects[dialect]->is_first_message(line))
        {
            return dialect;
        }
    }

    return TG_DIALECT_AUTO;
}
