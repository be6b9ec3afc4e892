/* The supported drafts: their URIs and names. */
#include "schema/tg_schema_draft.h"

static const struct {
    const char *uri; /* URI after the scheme */
    const char *name;
    tg_schema_draft_t draft;
} tg_schema_drafts[] = {
    { "//json-schema.org/draft-04/schema", "draft 4", TG_SCHEMA_DRAFT_4 },
    { "//json-schema.org/draft-06/schema", "draft 6", TG_SCHEMA_DRAFT_6 },
    { "//json-schema.org/draft-07/schema", "draft 7", TG_SCHEMA_DRAFT_7 },
    { "//json-schema.org/draft/2019-09/schema", "2019-09",
      TG_SCHEMA_DRAFT_2019 },
    { "//json-schema.org/draft/2020-12/schema", "2020-12",
      TG_SCHEMA_DRAFT_2020 },
};

#define TG_SCHEMA_N_DRAFTS                                                     \
    (sizeof(tg_schema_drafts) / sizeof(tg_schema_drafts[0]))

/* Maximum length of an escaped `$schema` string: no known URI is longer. */
#define TG_SCHEMA_DRAFT_URI_MAX 320

unsigned
tg_schema_draft_from_uri(tg_str_t uri)
{
    static const tg_str_t schemes[] = { TG_STR_INIT("https:"),
                                        TG_STR_INIT("http:") };
    size_t i;

    if (uri.len != 0 && uri.data[uri.len - 1] == '#') {
        uri.len--;
    }

    /* Both schemes are in use for all drafts. */
    for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (uri.len > schemes[i].len
            && memcmp(uri.data, schemes[i].data, schemes[i].len) == 0)
        {
            uri = tg_str_skip(uri, schemes[i].len);
            break;
        }
    }

    for (i = 0; i < TG_SCHEMA_N_DRAFTS; i++) {
        if (tg_str_eq(uri, tg_str_from_cstr(tg_schema_drafts[i].uri))) {
            return tg_schema_drafts[i].draft;
        }
    }

    return 0;
}

unsigned
tg_schema_draft_detect(tg_str_t schema)
{
    char text[TG_SCHEMA_DRAFT_URI_MAX];
    tg_str_t value;

    if (tg_json_type(schema) != TG_JSON_OBJECT
        || tg_json_get_member(schema, TG_STR("$schema"), &value) != TG_OK)
    {
        return TG_SCHEMA_DRAFT_2020;
    }

    if (tg_json_type(value) != TG_JSON_STRING || value.len > sizeof(text)) {
        return 0;
    }

    return tg_schema_draft_from_uri(
        tg_str(text, tg_json_unescape(text, tg_json_string_body(value))));
}

const char *
tg_schema_draft_get_name(unsigned draft)
{
    size_t i;

    for (i = 0; i < TG_SCHEMA_N_DRAFTS; i++) {
        if (tg_schema_drafts[i].draft == draft) {
            return tg_schema_drafts[i].name;
        }
    }

    return "its dialect";
}
