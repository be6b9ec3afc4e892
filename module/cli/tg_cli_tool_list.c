/*
 * Reads lists of tools and their schemas, and suggests similar names.
 */
#include "cli/tg_cli_tool_list.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_output.h"
#include "base/tg_suggest.h"
#include "schema/tg_schema_query.h"

/* Largest rank of a similar name. */
#define TG_CLI_SUGGEST_RANK_MAX 18
/* Largest number of suggested names. */
#define TG_CLI_SUGGESTIONS_MAX 3

int
tg_cli_json_has_string(tg_str_t raw, tg_str_t body)
{
    tg_json_cursor_t json;
    tg_str_t one;
    int is_there;

    if (tg_json_type(raw) == TG_JSON_STRING) {
        return tg_json_body_eq(tg_json_string_body(raw), body);
    }

    is_there = 0;

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &one);) {
        is_there |= tg_json_type(one) == TG_JSON_STRING
                    && tg_json_body_eq(tg_json_string_body(one), body);
    }

    return is_there;
}

tg_str_t
tg_cli_tool_list_get_tools(tg_str_t list)
{
    tg_str_t tools;

    return tg_json_get_member(list, TG_STR("tools"), &tools) == TG_OK
               ? tools
               : TG_STR_NONE;
}

int
tg_cli_tool_get_text(tg_str_t tool, tg_str_t key, tg_str_t *body)
{
    tg_str_t raw;

    if (!tg_json_has_member(tool, key, TG_JSON_STRING, &raw)) {
        return TG_MISSING;
    }

    *body = tg_json_string_body(raw);

    return TG_OK;
}

int
tg_cli_tool_list_find(tg_str_t list, tg_str_t name, tg_str_t *tool)
{
    tg_json_cursor_t json;
    tg_str_t one, body;

    for (tg_json_iter_init(&json, tg_cli_tool_list_get_tools(list));
         tg_json_iter_next(&json, &one);)
    {
        if (tg_cli_tool_get_text(one, TG_STR("name"), &body) == TG_OK
            && tg_json_body_eq_text(body, name))
        {
            *tool = one;
            return TG_OK;
        }
    }

    return TG_MISSING;
}

void
tg_cli_append_json_value(tg_buf_t *out, tg_str_t raw)
{
    if (tg_json_type(raw) == TG_JSON_STRING) {
        tg_json_append_unescaped(out, tg_json_string_body(raw));
    } else {
        tg_json_write_compact(out, raw);
    }
}

/* --- schemas --- */

tg_str_t
tg_cli_schema_get_keyword(tg_str_t root, tg_str_t schema, const char *keyword)
{
    tg_str_t value;

    return tg_schema_query_keyword(root, schema, keyword, &value) == TG_OK
               ? value
               : TG_STR_NONE;
}

tg_str_t
tg_cli_schema_pick_alternative(tg_str_t root, tg_str_t schema)
{
    static const char *const choices[] = { "anyOf", "oneOf" };
    tg_str_t one, found;
    tg_json_cursor_t json;
    size_t i;

    found = schema;

    if (tg_cli_schema_get_keyword(root, schema, "type").data != NULL) {
        return schema;
    }

    for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        tg_json_iter_init(&json,
                          tg_cli_schema_get_keyword(root, schema, choices[i]));

        while (tg_json_iter_next(&json, &one)) {
            if (tg_schema_query_allows_type(root, one, "string")) {
                return one;
            }

            if (found.data == schema.data
                && !tg_json_string_eq(tg_cli_schema_get_keyword(root, one,
                                                                "type"),
                                      TG_STR("null")))
            {
                found = one;
            }
        }
    }

    return found;
}

/* --- similar names --- */

/*
 * Returns 0 if the names are not similar, else a rank: 1 for the most similar.
 */
static size_t
tg_cli_name_rank_similarity(tg_str_t name, tg_str_t other)
{
    size_t distance;

    /* The name is a part of the other one: `count` of word_count. */
    if (name.len >= 3
        && memmem(other.data, other.len, name.data, name.len) != NULL) {
        return 1;
    }

    distance = tg_suggest_distance(name, other);

    /* At least one character must be the same. */
    return distance <= 1 + name.len / 4 && distance < name.len ? 1 + distance
                                                               : 0;
}

int
tg_cli_tool_list_report_unknown(tg_str_t list, tg_str_t name)
{
    tg_str_t tool, body;
    tg_json_cursor_t json;
    tg_buf_t text;
    size_t near;
    int n;

    n = 0;
    tg_buf_init(&text, tg_alloc_libc());

    /*
     * The most similar names come first.  Names with escapes, which are rare,
     * are not found.
     */
    for (near = 1; near <= TG_CLI_SUGGEST_RANK_MAX; near++) {
        tg_json_iter_init(&json, tg_cli_tool_list_get_tools(list));

        while (n < TG_CLI_SUGGESTIONS_MAX && tg_json_iter_next(&json, &tool)) {
            if (tg_cli_tool_get_text(tool, TG_STR("name"), &body) == TG_OK
                && tg_cli_name_rank_similarity(name, body) == near)
            {
                tg_buf_append_cstr(&text,
                                   n++ == 0 ? "; did you mean " : " or ");
                tg_buf_append_str(&text, body);
            }
        }
    }

    tg_buf_append_cstr(&text, n != 0 ? "?" : "");
    (void) tg_cli_error(
        "unknown tool \"%.*s\"%.*s (toolgate list shows all tools)",
        (int) name.len, name.data, (int) text.len, tg_buf_view(&text).data);
    tg_buf_deinit(&text);

    return TG_CLI_EXIT_REFUSED;
}

void
tg_cli_append_name_key(tg_buf_t *names, tg_str_t object, const char *member)
{
    tg_str_t name;

    if (tg_cli_tool_get_text(object, tg_str_from_cstr(member), &name) == TG_OK)
    {
        tg_buf_append_cstr(names, names->len > 1 ? ",\"" : "\"");
        tg_buf_append_str(names, name);
        tg_buf_append_cstr(names, "\":0");
    }
}

void
tg_cli_append_key_suggestion(tg_buf_t *text, tg_str_t key, tg_str_t properties)
{
    size_t nearness, best;
    tg_str_t name, found;
    tg_json_cursor_t json;

    best = 0;
    found = TG_STR_NONE;
    tg_json_iter_init_members(&json, properties);

    while (tg_json_iter_next_member(&json, &name, NULL)) {
        nearness = tg_cli_name_rank_similarity(key, name);

        if (nearness != 0 && (best == 0 || nearness < best)) {
            best = nearness;
            found = name;
        }
    }

    if (best != 0) {
        tg_buf_append_cstr(text, "; did you mean ");
        tg_buf_append_str(text, found);
        tg_buf_append_char(text, '?');
    }
}
