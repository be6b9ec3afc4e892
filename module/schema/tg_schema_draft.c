/*
 * Schemas of older drafts that mean the same in 2020-12.
 */
#include "schema/tg_schema.h"

/* What an older draft does not have, or has otherwise. */
static int
tg_schema_is_moved(tg_str_t key)
{
    static const char *const moved[] = {
        "$anchor",
        "$defs",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$ref",
        "$schema",
        "$vocabulary",
        "additionalItems",
        "contentSchema",
        "definitions",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "id",
        "maxContains",
        "minContains",
        "prefixItems",
        "unevaluatedItems",
        "unevaluatedProperties",
    };
    size_t i;

    for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
        if (tg_json_body_is(key, tg_str_c(moved[i]))) {
            return 1;
        }
    }

    return 0;
}

/*
 * Is there no such key in a valid text, be it a keyword or not, and no list
 * of schemas for the elements of an array?
 */
static int
tg_schema_is_timeless(tg_str_t text)
{
    tg_str_t key, value;
    tg_json_t json;
    int is_good;

    is_good = 1;

    if (tg_json_type(text) == TG_JSON_ARRAY) {
        for (tg_json_each(&json, text); is_good && tg_json_item(&json, &value);)
        {
            is_good = tg_schema_is_timeless(value);
        }
    }

    if (tg_json_type(text) != TG_JSON_OBJECT) {
        return is_good;
    }

    tg_json_init(&json, text);
    (void) tg_json_object(&json);

    while (is_good && tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, &value);
        is_good = !tg_schema_is_moved(key)
                  && (!tg_json_body_is(key, TG_STR("items"))
                      || tg_json_type(value) != TG_JSON_ARRAY)
                  && tg_schema_is_timeless(value);
    }

    return is_good;
}

/* Does `$schema` name draft 6 or 7? */
static int
tg_schema_is_older(tg_str_t schema)
{
    static const char *const names[] = {
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-06/schema",
    };
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (tg_json_is_text(schema, tg_str_c(names[i]))) {
            return 1;
        }
    }

    return 0;
}

int
tg_schema_renew(tg_str_t raw, tg_buf_t *out)
{
    tg_str_t key, value, schema;
    tg_json_t json;
    size_t start;
    int n;

    if (!tg_json_has(raw, TG_STR("$schema"), TG_JSON_STRING, &schema)
        || !tg_schema_is_older(schema))
    {
        return TG_MISSING;
    }

    start = out->len;
    tg_buf_char(out, '{');
    tg_json_init(&json, raw);
    (void) tg_json_object(&json);

    for (n = 0; tg_json_member(&json, &key) == TG_OK;) {
        (void) tg_json_value(&json, &value);

        if (!tg_json_body_is(key, TG_STR("$schema"))) {
            tg_buf_text(out, n++ != 0 ? ",\"" : "\"");
            tg_buf_str(out, key);
            tg_buf_text(out, "\":");
            tg_buf_str(out, value);
        }
    }

    tg_buf_char(out, '}');

    return tg_buf_failed(out) ? TG_NOMEM
           : tg_schema_is_timeless(tg_str(out->data + start, out->len - start))
               ? TG_OK
               : TG_BAD;
}
