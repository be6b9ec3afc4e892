#include "core/tg_can.h"

/* The members of a client's capabilities, and of those. */
static const struct {
    unsigned bit;
    unsigned parts; /* of the capability itself: their bits */
    const char *name;
    const char *part; /* NULL: the capability itself */
} tg_can[] = {
    { TG_CAN_ELICIT, TG_CAN_ELICIT_FORM | TG_CAN_ELICIT_URL, "elicitation",
      NULL },
    { TG_CAN_ELICIT_FORM, 0, "elicitation", "form" },
    { TG_CAN_ELICIT_URL, 0, "elicitation", "url" },
    { TG_CAN_SAMPLE, TG_CAN_SAMPLE_CONTEXT | TG_CAN_SAMPLE_TOOLS, "sampling",
      NULL },
    { TG_CAN_SAMPLE_CONTEXT, 0, "sampling", "context" },
    { TG_CAN_SAMPLE_TOOLS, 0, "sampling", "tools" },
    { TG_CAN_ROOTS, 0, "roots", NULL },
};

#define TG_CANS (sizeof(tg_can) / sizeof(tg_can[0]))

/*
 * The row of a key among those of `within`, or TG_CANS.  Most of many keys
 * begin otherwise.
 */
static size_t
tg_can_find(tg_str_t key, unsigned within)
{
    const char *name;
    size_t i;

    for (i = 0; i < TG_CANS; i++) {
        name = tg_can[i].part != NULL ? tg_can[i].part : tg_can[i].name;

        if ((tg_can[i].bit & within) && key.len != 0
            && (*key.data == *name || *key.data == '\\')
            && tg_json_body_is(key, tg_str_c(name)))
        {
            break;
        }
    }

    return i;
}

/*
 * One pass: there may be as many members as a message holds.  Of those with
 * one name the last one counts.
 */
static unsigned
tg_can_pass(tg_str_t object, unsigned within)
{
    tg_str_t key, value;
    tg_json_t json;
    unsigned can;
    size_t i;

    can = 0;
    tg_json_init(&json, object);

    if (within == 0 || tg_json_object(&json) != TG_OK) {
        return 0;
    }

    while (tg_json_member(&json, &key) == TG_OK
           && tg_json_value(&json, &value) == TG_OK)
    {
        i = tg_can_find(key, within);

        if (i == TG_CANS) {
            continue;
        }

        can &= ~(tg_can[i].bit | tg_can[i].parts);

        if (tg_json_type(value) == TG_JSON_OBJECT) {
            can |= tg_can[i].bit;
            can |= tg_can_pass(value, tg_can[i].parts);
        }
    }

    return can;
}

unsigned
tg_can_read(tg_str_t capabilities)
{
    return tg_can_pass(capabilities,
                       TG_CAN_ELICIT | TG_CAN_SAMPLE | TG_CAN_ROOTS);
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
