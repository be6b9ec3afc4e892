/* Parsing and writing of client capabilities. */
#include "protocol/tg_client_caps.h"

/* Members of the capabilities object, and the members within them. */
static const struct {
    unsigned bit;
    unsigned parts; /* of a capability: bits of its members */
    const char *name;
    const char *part; /* member within the capability; NULL: the capability */
} tg_client_caps_table[] = {
    { TG_CLIENT_CAP_ELICITATION,
      TG_CLIENT_CAP_ELICITATION_FORM | TG_CLIENT_CAP_ELICITATION_URL,
      "elicitation", NULL },
    { TG_CLIENT_CAP_ELICITATION_FORM, 0, "elicitation", "form" },
    { TG_CLIENT_CAP_ELICITATION_URL, 0, "elicitation", "url" },
    { TG_CLIENT_CAP_SAMPLING,
      TG_CLIENT_CAP_SAMPLING_CONTEXT | TG_CLIENT_CAP_SAMPLING_TOOLS, "sampling",
      NULL },
    { TG_CLIENT_CAP_SAMPLING_CONTEXT, 0, "sampling", "context" },
    { TG_CLIENT_CAP_SAMPLING_TOOLS, 0, "sampling", "tools" },
    { TG_CLIENT_CAP_ROOTS, 0, "roots", NULL },
};

#define TG_CLIENT_CAPS_COUNT                                                   \
    (sizeof(tg_client_caps_table) / sizeof(tg_client_caps_table[0]))

/*
 * Returns the row of a key among those in `within`, or TG_CLIENT_CAPS_COUNT.
 * Compares first characters, because an object may have very many other keys.
 */
static size_t
tg_client_caps_find(tg_str_t key, unsigned within)
{
    const char *name;
    size_t i;

    for (i = 0; i < TG_CLIENT_CAPS_COUNT; i++) {
        name = tg_client_caps_table[i].part != NULL
                   ? tg_client_caps_table[i].part
                   : tg_client_caps_table[i].name;

        if ((tg_client_caps_table[i].bit & within) && key.len != 0
            && (*key.data == *name || *key.data == '\\')
            && tg_json_body_eq_text(key, tg_str_from_cstr(name)))
        {
            break;
        }
    }

    return i;
}

/* Parses an object in one pass, as it may have very many members. */
static unsigned
tg_client_caps_parse_object(tg_str_t object, unsigned within)
{
    tg_str_t key, value;
    tg_json_cursor_t json;
    unsigned client_caps;
    size_t i;

    client_caps = 0;
    tg_json_init(&json, object);

    if (within == 0 || tg_json_enter_object(&json) != TG_OK) {
        return 0;
    }

    while (tg_json_iter_next_member(&json, &key, &value)) {
        i = tg_client_caps_find(key, within);

        if (i == TG_CLIENT_CAPS_COUNT) {
            continue;
        }

        client_caps &= ~(tg_client_caps_table[i].bit
                         | tg_client_caps_table[i].parts);

        if (tg_json_type(value) == TG_JSON_OBJECT) {
            client_caps |= tg_client_caps_table[i].bit;
            client_caps |= tg_client_caps_parse_object(
                value, tg_client_caps_table[i].parts);
        }
    }

    return client_caps;
}

unsigned
tg_client_caps_parse(tg_str_t capabilities)
{
    return tg_client_caps_parse_object(capabilities,
                                       TG_CLIENT_CAP_ELICITATION
                                           | TG_CLIENT_CAP_SAMPLING
                                           | TG_CLIENT_CAP_ROOTS);
}

void
tg_client_caps_write_json(tg_buf_t *out, unsigned client_caps)
{
    const char *comma;
    size_t i;

    tg_buf_append_char(out, '{');
    comma = "";

    for (i = 0; i < TG_CLIENT_CAPS_COUNT; i++) {
        if (!(client_caps & tg_client_caps_table[i].bit)) {
            continue;
        }

        if (tg_client_caps_table[i].part == NULL) {
            tg_buf_printf(out, "%s\"%s\":{}", comma,
                          tg_client_caps_table[i].name);
            comma = ",";
            continue;
        }

        /* Reopen the object that was just closed. */
        tg_buf_truncate(out, out->len - 1);
        tg_buf_printf(out, "%s\"%s\":{}}",
                      out->data[out->len - 1] == '{' ? "" : ",",
                      tg_client_caps_table[i].part);
    }

    tg_buf_append_char(out, '}');
}

int
tg_client_caps_allow_request(unsigned client_caps, tg_str_t method,
                             tg_str_t params)
{
    tg_str_t mode;

    if (tg_str_eq(method, TG_STR("sampling/createMessage"))) {
        return (client_caps & TG_CLIENT_CAP_SAMPLING) != 0;
    }

    if (tg_str_eq(method, TG_STR("roots/list"))) {
        return (client_caps & TG_CLIENT_CAP_ROOTS) != 0;
    }

    if (!tg_str_eq(method, TG_STR("elicitation/create"))) {
        return 0;
    }

    if (tg_json_has_member(params, TG_STR("mode"), TG_JSON_STRING, &mode)
        && tg_json_string_eq(mode, TG_STR("url")))
    {
        return (client_caps & TG_CLIENT_CAP_ELICITATION_URL) != 0;
    }

    /* Older clients know only form mode and omit "mode". */
    client_caps &= TG_CLIENT_CAP_ELICITATION | TG_CLIENT_CAP_ELICITATION_FORM
                   | TG_CLIENT_CAP_ELICITATION_URL;

    return client_caps == TG_CLIENT_CAP_ELICITATION
           || (client_caps & TG_CLIENT_CAP_ELICITATION_FORM) != 0;
}
