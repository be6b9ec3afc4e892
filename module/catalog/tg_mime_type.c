#include "catalog/tg_mime_type.h"

/* Longest MIME type in bytes, with its parameters. */

/* Returns the type without parameters and the blanks before them. */
static tg_str_t
tg_mime_type_get_essence(tg_str_t type)
{
    type.len = tg_str_find_char(type, ";");

    while (type.len != 0 && type.data[type.len - 1] == ' ') {
        type.len--;
    }

    return type;
}

static int
tg_mime_type_has_suffix(tg_str_t type, tg_str_t suffix)
{
    return type.len > suffix.len
           && tg_str_eq_nocase(tg_str_skip(type, type.len - suffix.len),
                               suffix);
}

int
tg_mime_type_is_valid(tg_str_t type)
{
    tg_str_t essence, parts[2];
    size_t i, slash;

    for (i = 0; i < type.len; i++) {
        if (type.data[i] < ' ' || type.data[i] > '~') {
            return 0;
        }
    }

    essence = tg_mime_type_get_essence(type);
    slash = tg_str_find_char(essence, "/");

    if (type.len > TG_MIME_TYPE_MAX || slash == essence.len) {
        return 0;
    }

    parts[0] = tg_str(essence.data, slash);
    parts[1] = tg_str_skip(essence, slash + 1);

    for (i = 0; i < 2; i++) {
        if (parts[i].len == 0 || !tg_str_is_word(parts[i], "!#$&-^_.+")) {
            return 0;
        }
    }

    return 1;
}

int
tg_mime_type_is_text(tg_str_t type)
{
    static const char *const names[] = {
        "json",       "jsonl",      "ndjson",        "x-ndjson",
        "xml",        "yaml",       "x-yaml",        "toml",
        "javascript", "ecmascript", "typescript",    "sql",
        "graphql",    "x-sh",       "x-shellscript", "x-www-form-urlencoded",
        NULL
    };
    static const char *const suffixes[] = { "+json", "+xml", "+yaml",
                                            "+json-seq", NULL };
    tg_str_t essence, subtype;
    size_t i;

    essence = tg_mime_type_get_essence(type);

    if (essence.len == 0 || tg_str_has_prefix_nocase(essence, TG_STR("text/"))
        || tg_str_eq_nocase(essence, TG_STR("message/rfc822")))
    {
        return 1;
    }

    for (i = 0; suffixes[i] != NULL; i++) {
        if (tg_mime_type_has_suffix(essence, tg_str_from_cstr(suffixes[i]))) {
            return 1;
        }
    }

    if (!tg_str_has_prefix_nocase(essence, TG_STR("application/"))) {
        return 0;
    }

    subtype = tg_str_skip(essence, sizeof("application/") - 1);

    for (i = 0; names[i] != NULL; i++) {
        if (tg_str_eq_nocase(subtype, tg_str_from_cstr(names[i]))) {
            return 1;
        }
    }

    return 0;
}
