#include "core/tg_can.h"

/* The members of a client's capabilities, and of those. */
static const struct {
    unsigned bit;
    const char *name;
    const char *part; /* NULL: the capability itself */
} tg_can[] = {
    { TG_CAN_ELICIT, "elicitation", NULL },
    { TG_CAN_ELICIT_FORM, "elicitation", "form" },
    { TG_CAN_ELICIT_URL, "elicitation", "url" },
    { TG_CAN_SAMPLE, "sampling", NULL },
    { TG_CAN_SAMPLE_CONTEXT, "sampling", "context" },
    { TG_CAN_SAMPLE_TOOLS, "sampling", "tools" },
    { TG_CAN_ROOTS, "roots", NULL },
};

#define TG_CANS (sizeof(tg_can) / sizeof(tg_can[0]))

unsigned
tg_can_read(tg_str_t capabilities)
{
    tg_str_t whole, part;
    unsigned can;
    size_t i;

    can = 0;
    whole = TG_STR_NONE;

    for (i = 0; i < TG_CANS; i++) {
        if (tg_can[i].part == NULL) {
            if (!tg_json_has(capabilities, tg_str_c(tg_can[i].name),
                             TG_JSON_OBJECT, &whole))
            {
                whole = TG_STR("{}");
                continue;
            }

        } else if (!tg_json_has(whole, tg_str_c(tg_can[i].part), TG_JSON_OBJECT,
                                &part)) {
            continue;
        }

        can |= tg_can[i].bit;
    }

    return can;
}

void
tg_can_put(tg_buf_t *out, unsigned can)
{
    const char *comma;
    size_t i;

    tg_buf_char(out, '{');
    comma = "";

    for (i = 0; i < TG_CANS; i++) {
        if (!(can & tg_can[i].bit)) {
            continue;
        }

        if (tg_can[i].part == NULL) {
            tg_buf_printf(out, "%s\"%s\":{}", comma, tg_can[i].name);
            comma = ",";
            continue;
        }

        /* Into the object that was just closed. */
        tg_buf_truncate(out, out->len - 1);
        tg_buf_printf(out, "%s\"%s\":{}}",
                      out->data[out->len - 1] == '{' ? "" : ",",
                      tg_can[i].part);
    }

    tg_buf_char(out, '}');
}

int
tg_can_be_asked(unsigned can, tg_str_t method, tg_str_t params)
{
    tg_str_t mode;

    if (tg_str_eq(method, TG_STR("sampling/createMessage"))) {
        return (can & TG_CAN_SAMPLE) != 0;
    }

    if (tg_str_eq(method, TG_STR("roots/list"))) {
        return (can & TG_CAN_ROOTS) != 0;
    }

    if (!tg_str_eq(method, TG_STR("elicitation/create"))) {
        return 0;
    }

    if (tg_json_has(params, TG_STR("mode"), TG_JSON_STRING, &mode)
        && tg_json_is_text(mode, TG_STR("url")))
    {
        return (can & TG_CAN_ELICIT_URL) != 0;
    }

    /* Who names no way knows the one that there was first. */
    can &= TG_CAN_ELICIT | TG_CAN_ELICIT_FORM | TG_CAN_ELICIT_URL;

    return can == TG_CAN_ELICIT || (can & TG_CAN_ELICIT_FORM) != 0;
}
