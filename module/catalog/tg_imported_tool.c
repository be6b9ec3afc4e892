/* Names, patterns and listings of imported tools. */
#include "catalog/tg_imported_tool.h"

/* Length of "_" and the 32-bit hash at the end of a long name. */
#define TG_IMPORTED_TOOL_HASH_LEN 9

const char *
tg_glob_check(tg_str_t pattern)
{
    if (pattern.len == 0 || pattern.len > TG_NAME_MAX) {
        return "a pattern has 1 to 128 characters, such as \"read_*\"";
    }

    return tg_str_is_word(pattern, "_-.:/*?")
               ? NULL
               : "a pattern is a tool's name, in which \"*\" stands for any "
                 "characters and \"?\" for one, such as \"read_*\"; it is "
                 "not a regular expression";
}

tg_str_t
tg_imported_tool_make_name(tg_str_t prefix, tg_str_t name, char *room)
{
    static const char digits[] = "0123456789abcdef";
    size_t i, n, len;
    uint64_t hash;
    char c;

    len = prefix.len + name.len;
    n = len <= TG_NAME_AGENT_MAX
            ? len
            : TG_NAME_AGENT_MAX - TG_IMPORTED_TOOL_HASH_LEN;

    for (i = 0; i < n; i++) {
        c = i < prefix.len ? prefix.data[i] : name.data[i - prefix.len];
        room[i] = tg_is_alpha(c) || tg_is_digit(c) || c == '-' ? c : '_';
    }

    if (n == len) {
        return tg_str(room, n);
    }

    hash = tg_hash_fnv1a(tg_hash_fnv1a(TG_HASH_INIT, prefix), name);
    room[n++] = '_';

    for (hash ^= hash >> 32; n < TG_NAME_AGENT_MAX; hash >>= 4) {
        room[n++] = digits[hash & 15];
    }

    return tg_str(room, n);
}

/* Checks whether an object has a key, both as escaped bodies. */
static int
tg_imported_tool_has_key(tg_str_t object, tg_str_t key)
{
    tg_json_cursor_t json;
    tg_str_t other;

    tg_json_iter_init_members(&json, object);

    while (tg_json_iter_next_member(&json, &other, NULL)) {
        if (tg_json_body_eq(other, key)) {
            return 1;
        }
    }

    return 0;
}

/* Adds `_meta`, in which our members replace those of the raw tool. */
static void
tg_imported_tool_add_meta(tg_buf_t *out, tg_str_t raw, tg_str_t meta)
{
    tg_json_cursor_t json;
    tg_str_t theirs, key, value;

    tg_json_begin_member(out, "_meta");
    tg_buf_append(out, meta.data, meta.len - 1);

    if (!tg_json_has_member(raw, TG_STR("_meta"), TG_JSON_OBJECT, &theirs)) {
        theirs = TG_STR("{}");
    }

    tg_json_iter_init_members(&json, theirs);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (!tg_imported_tool_has_key(meta, key)) {
            tg_json_begin_raw_member(out, key);
            tg_json_write_compact(out, value);
        }
    }

    tg_buf_append_char(out, '}');
}

void
tg_imported_tool_write_json(tg_buf_t *out, tg_str_t raw,
                            const tg_catalog_entry_t *instead)
{
    const struct {
        const char *key;
        tg_str_t value;
        int is_text;
    } ours[] = {
        { "name", instead->name, 1 },
        { "title", instead->title, 1 },
        { "description", instead->description, 1 },
        { "inputSchema", instead->input_schema, 0 },
        { "annotations", instead->annotations, 0 },
        { "icons", instead->icons, 0 },
    };
    const char *names[sizeof(ours) / sizeof(ours[0]) + 2];
    size_t i, n;

    tg_buf_append_char(out, '{');

    for (i = 0, n = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (ours[i].value.data == NULL) {
            continue;
        }

        names[n++] = ours[i].key;

        if (ours[i].is_text) {
            tg_json_add_string(out, ours[i].key, ours[i].value);
        } else {
            tg_json_add_compact(out, ours[i].key, ours[i].value);
        }
    }

    if (instead->meta.data != NULL) {
        names[n++] = "_meta";
        tg_imported_tool_add_meta(out, raw, instead->meta);
    }

    names[n] = NULL;
    (void) tg_json_write_members_except(out, raw, names, n);
    tg_buf_append_char(out, '}');
}
