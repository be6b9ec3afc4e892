/*
 * Reads lists of tools, prompts or resources, and schemas of tools, and
 * suggests similar names.
 */
#include "cli/tg_cli_tool.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_output.h"
#include "base/tg_suggest.h"
#include "protocol/tg_rpc.h"

#include <json-c/json_pointer.h>

/* Largest rank of a similar name. */
#define TG_CLI_SUGGEST_RANK_MAX 18
/* Largest number of suggested names. */
#define TG_CLI_SUGGESTIONS_MAX 3
/* Limits of a search for a keyword: nested schemas, and visited schemas. */
#define TG_CLI_SCHEMA_DEPTH_MAX 32
#define TG_CLI_SCHEMA_VISITS_MAX 2000

static const struct {
    const char *member;
    const char *noun;
    const char *command; /* shows the list */
    const char *key;     /* what the next command takes */
    const char *use;     /* command for one entry */
} tg_cli_lists[] = {
    [TG_MCP_TOOLS] = { "tools", "tool", "list", "name", "call" },
    [TG_MCP_PROMPTS] = { "prompts", "prompt", "prompts", "name", "prompt" },
    [TG_MCP_RESOURCES] = { "resources", "resource", "resources", "uri",
                           "read" },
};

json_object *
tg_cli_list_find(json_object *list, tg_mcp_kind_t kind, tg_str_t name)
{
    tg_cli_json_iter_t iter;
    json_object *item;

    tg_cli_json_iter_init(&iter,
                          tg_cli_json_get(list, tg_cli_lists[kind].member));

    while (tg_cli_json_iter_next(&iter, &item)) {
        if (tg_str_eq(tg_cli_json_get_text(item, "name"), name)
            || tg_str_eq(tg_cli_json_get_text(item, tg_cli_lists[kind].key),
                         name))
        {
            return item;
        }
    }

    return NULL;
}

/* Checks one list, and reports the name's entry. Returns 1 if there is one. */
static int
tg_cli_list_report_entry(tg_cli_session_t *session, tg_mcp_kind_t kind,
                         tg_str_t name)
{
    json_object *entry;
    tg_str_t key;

    entry = NULL;

    if (tg_cli_session_fetch_list(session, kind) == TG_CLI_EXIT_OK
        && session->response.kind == TG_RESPONSE_RESULT
        && tg_cli_session_parse_result(session) == TG_CLI_EXIT_OK)
    {
        entry = tg_cli_list_find(session->response.result, kind, name);
    }

    if (entry == NULL) {
        return 0;
    }

    key = tg_cli_json_get_text(entry, tg_cli_lists[kind].key);
    (void) tg_cli_error("\"%.*s\" is a %s; use toolgate %s %.*s",
                        (int) name.len, name.data, tg_cli_lists[kind].noun,
                        tg_cli_lists[kind].use, (int) key.len, key.data);

    return 1;
}

int
tg_cli_list_report_other_kind(tg_cli_session_t *session, tg_mcp_kind_t kind,
                              tg_str_t name)
{
    static const tg_mcp_kind_t kinds[] = { TG_MCP_TOOLS, TG_MCP_PROMPTS,
                                           TG_MCP_RESOURCES };
    tg_cli_response_t response;
    int is_found;
    size_t i;

    is_found = 0;
    response = session->response;
    tg_cli_response_init(&session->response);

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !is_found; i++) {
        is_found = kinds[i] != kind
                   && tg_cli_list_report_entry(session, kinds[i], name);
    }

    tg_cli_response_deinit(&session->response);
    session->response = response;

    return is_found;
}

tg_str_t
tg_cli_tool_get_description(json_object *tool)
{
    tg_str_t text;

    text = tg_cli_json_get_text(tool, "description");

    return text.data != NULL ? text : tg_cli_json_get_text(tool, "title");
}

/* --- schemas --- */

int
tg_cli_json_has_string(json_object *value, const char *text)
{
    tg_cli_json_iter_t iter;
    json_object *one;

    if (tg_str_eq(tg_cli_json_to_text(value), tg_str_from_cstr(text))) {
        return 1;
    }

    tg_cli_json_iter_init(&iter, value);

    while (tg_cli_json_iter_next(&iter, &one)) {
        if (tg_str_eq(tg_cli_json_to_text(one), tg_str_from_cstr(text))) {
            return 1;
        }
    }

    return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
static int
tg_cli_schema_visit(json_object *root, json_object *schema, const char *keyword,
                    unsigned depth, unsigned *visits, json_object **value)
{
    tg_cli_json_iter_t iter;
    json_object *other;
    tg_str_t pointer;

    if (depth == 0 || *visits == 0) {
        return 0;
    }

    --*visits;

    if (json_object_object_get_ex(schema, keyword, value)) {
        return 1;
    }

    pointer = tg_cli_json_get_text(schema, "$ref");

    if (pointer.len != 0 && pointer.data[0] == '#'
        && json_pointer_get(root, pointer.data + 1, &other) == 0
        && tg_cli_schema_visit(root, other, keyword, depth - 1, visits, value))
    {
        return 1;
    }

    tg_cli_json_iter_init(&iter, tg_cli_json_get(schema, "allOf"));

    while (tg_cli_json_iter_next(&iter, &other)) {
        if (tg_cli_schema_visit(root, other, keyword, depth - 1, visits, value))
        {
            return 1;
        }
    }

    return 0;
}

int
tg_cli_schema_find_keyword(json_object *root, json_object *schema,
                           const char *keyword, json_object **value)
{
    unsigned visits;

    visits = TG_CLI_SCHEMA_VISITS_MAX;
    *value = NULL;

    return tg_cli_schema_visit(root, schema, keyword, TG_CLI_SCHEMA_DEPTH_MAX,
                               &visits, value);
}

json_object *
tg_cli_schema_get_keyword(json_object *root, json_object *schema,
                          const char *keyword)
{
    json_object *value;

    (void) tg_cli_schema_find_keyword(root, schema, keyword, &value);

    return value;
}

json_object *
tg_cli_schema_pick_alternative(json_object *root, json_object *schema)
{
    static const char *const choices[] = { "anyOf", "oneOf" };
    json_object *one, *found, *type;
    tg_cli_json_iter_t iter;
    size_t i;

    found = schema;

    if (tg_cli_schema_find_keyword(root, schema, "type", &type)) {
        return schema;
    }

    for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        tg_cli_json_iter_init(&iter, tg_cli_schema_get_keyword(root, schema,
                                                               choices[i]));

        while (tg_cli_json_iter_next(&iter, &one)) {
            if (!tg_cli_schema_find_keyword(root, one, "type", &type)
                || tg_cli_json_has_string(type, "string"))
            {
                return one;
            }

            if (found == schema
                && !tg_str_eq(tg_cli_json_to_text(type), TG_STR("null"))) {
                found = one;
            }
        }
    }

    return found;
}

/* --- similar names --- */

/* Returns 0 if the names are not similar, else a rank from 1 on. */
static size_t
tg_cli_name_rank_similarity(tg_str_t name, tg_str_t other)
{
    size_t distance;

    /* The name is a part of the other one: `count` of word_count. */
    if (name.len >= 3 && other.len >= name.len
        && memmem(other.data, other.len, name.data, name.len) != NULL)
    {
        return 1;
    }

    distance = tg_suggest_distance(name, other);

    /* At least one character must be the same. */
    return distance <= 1 + name.len / 4 && distance < name.len ? 1 + distance
                                                               : 0;
}

int
tg_cli_list_report_unknown(json_object *list, tg_mcp_kind_t kind, tg_str_t name)
{
    tg_cli_json_iter_t iter;
    json_object *item;
    tg_str_t known;
    tg_buf_t text;
    size_t near;
    int n;

    n = 0;
    tg_buf_init(&text, tg_alloc_libc());

    /* The most similar names come first. */
    for (near = 1; near <= TG_CLI_SUGGEST_RANK_MAX; near++) {
        tg_cli_json_iter_init(&iter,
                              tg_cli_json_get(list, tg_cli_lists[kind].member));

        while (n < TG_CLI_SUGGESTIONS_MAX
               && tg_cli_json_iter_next(&iter, &item)) {
            known = tg_cli_json_get_text(item, "name");

            if (known.data != NULL
                && tg_cli_name_rank_similarity(name, known) == near) {
                tg_buf_append_cstr(&text,
                                   n++ == 0 ? "; did you mean " : " or ");
                tg_buf_append_str(&text, known);
            }
        }
    }

    tg_buf_append_cstr(&text, n != 0 ? "?" : "");
    (void) tg_cli_error("unknown %s \"%.*s\"%.*s (toolgate %s shows all %ss)",
                        tg_cli_lists[kind].noun, (int) name.len, name.data,
                        (int) text.len, tg_buf_view(&text).data,
                        tg_cli_lists[kind].command, tg_cli_lists[kind].noun);
    tg_buf_deinit(&text);

    return TG_CLI_EXIT_REFUSED;
}

int
tg_cli_list_report_missing(tg_cli_session_t *session, tg_mcp_kind_t kind,
                           tg_str_t name)
{
    return tg_cli_list_report_other_kind(session, kind, name)
               ? TG_CLI_EXIT_REFUSED
               : tg_cli_list_report_unknown(session->response.result, kind,
                                            name);
}

int
tg_cli_list_report_error(tg_cli_session_t *session, tg_mcp_kind_t kind,
                         tg_str_t name)
{
    tg_cli_response_t response;

    response = session->response;

    if (session->options->is_json || response.code != TG_RPC_INVALID_PARAMS) {
        return tg_cli_response_print_error(&response, session->options);
    }

    /* The list replaces session->response, so that its error is kept here. */
    tg_cli_response_init(&session->response);

    if (tg_cli_session_fetch_list(session, kind) == TG_CLI_EXIT_OK
        && session->response.kind == TG_RESPONSE_RESULT
        && tg_cli_session_parse_result(session) == TG_CLI_EXIT_OK
        && tg_cli_list_find(session->response.result, kind, name) == NULL)
    {
        (void) tg_cli_list_report_missing(session, kind, name);
    } else {
        (void) tg_cli_response_print_error(&response, session->options);
    }

    tg_cli_response_deinit(&response);

    return TG_CLI_EXIT_REFUSED;
}

void
tg_cli_suggestion_init(tg_cli_suggestion_t *suggestion, tg_str_t name)
{
    suggestion->name = name;
    suggestion->found = TG_STR("");
    suggestion->rank = 0;
}

void
tg_cli_suggestion_add(tg_cli_suggestion_t *suggestion, tg_str_t known)
{
    size_t rank;

    rank = known.data != NULL
               ? tg_cli_name_rank_similarity(suggestion->name, known)
               : 0;

    if (rank != 0 && (suggestion->rank == 0 || rank < suggestion->rank)) {
        suggestion->rank = rank;
        suggestion->found = known;
    }
}
