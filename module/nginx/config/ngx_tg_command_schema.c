/* What the schema of a tool's arguments says about the value of a variable. */
#include "nginx/config/ngx_tg_command_schema.h"

#include "schema/pcre2/tg_pcre2.h"
#include "schema/tg_schema_query.h"

/* Returns the input schema; absent for a task_agent, which has no tool. */
static tg_str_t
ngx_tg_command_get_input_schema(const ngx_tg_tool_t *tool)
{
    return tool != NULL ? tool->entry.input_schema : TG_STR_NONE;
}

tg_str_t
ngx_tg_command_get_value_schema(const ngx_tg_tool_t *tool, tg_str_t variable,
                                ngx_uint_t is_element)
{
    tg_str_t root, schema, key, path, name, items;
    tg_template_token_t token;

    root = ngx_tg_command_get_input_schema(tool);

    if (tool == NULL || root.data == NULL
        || tool->validate == NGX_TG_VALIDATE_OFF
        || tg_template_next(&variable, &token) != TG_OK
        || tg_variable_get_type(token.name, &path) == TG_VARIABLE_OTHER)
    {
        return TG_STR_NONE;
    }

    for (schema = root; tg_variable_next_member(&path, &name) == TG_OK;
         /* void */)
    {
        if (tg_schema_query_property(root, schema, name, tg_variable_is_named,
                                     &key, &schema)
            != TG_OK)
        {
            return TG_STR_NONE;
        }
    }

    if (is_element
        && tg_schema_query_keyword(root, schema, "items", &items) == TG_OK)
    {
        return items;
    }

    return schema;
}

/* Checks whether the schema's `type` excludes strings, arrays and objects. */
static ngx_uint_t
ngx_tg_command_value_is_number(const ngx_tg_tool_t *tool, tg_str_t schema)
{
    static const char *const others[] = { "string", "array", "object" };
    tg_str_t root;
    ngx_uint_t i;

    root = ngx_tg_command_get_input_schema(tool);

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (schema.data == NULL
            || tg_schema_query_allows_type(root, schema, others[i])) {
            return 0;
        }
    }

    return 1;
}

ngx_uint_t
ngx_tg_command_value_is_bounded(const ngx_tg_tool_t *tool, tg_str_t schema)
{
    static const char *const bounds[] = { "pattern", "enum", "const" };
    tg_str_t root, value;
    ngx_uint_t i;

    root = ngx_tg_command_get_input_schema(tool);

    for (i = 0; schema.data != NULL && i < sizeof(bounds) / sizeof(bounds[0]);
         i++) {
        if (tg_schema_query_keyword(root, schema, bounds[i], &value) == TG_OK) {
            return 1;
        }
    }

    return ngx_tg_command_value_is_number(tool, schema);
}

/*
 * Checks whether a value of `enum` or `const` contains a string that begins
 * with a dash.
 */
static ngx_uint_t
ngx_tg_command_has_dash_choice(tg_str_t value)
{
    tg_json_cursor_t json;
    tg_str_t item;

    if (tg_json_type(value) == TG_JSON_STRING) {
        return value.len > 2 && value.data[1] == '-';
    }

    for (tg_json_iter_init(&json, value); tg_json_iter_next(&json, &item);) {
        if (tg_json_type(item) == TG_JSON_STRING && item.len > 2
            && item.data[1] == '-') {
            return 1;
        }
    }

    return 0;
}

static ngx_uint_t
ngx_tg_command_pattern_allows_dash(tg_str_t pattern)
{
    ngx_uint_t is_matched;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_json_append_unescaped(&text, tg_json_string_body(pattern));
    is_matched = tg_buf_has_failed(&text)
                 || tg_pcre2_can_match_prefix(tg_buf_view(&text), TG_STR("-"));
    tg_buf_deinit(&text);

    return is_matched;
}

/*
 * Checks whether the schema, without `anyOf` and `oneOf`, allows a string that
 * begins with a dash.
 */
static ngx_uint_t
ngx_tg_command_schema_allows_dash(tg_str_t root, tg_str_t schema)
{
    tg_str_t value;

    if (!tg_schema_query_allows_type(root, schema, "string")) {
        return 0;
    }

    if (tg_schema_query_keyword(root, schema, "enum", &value) == TG_OK
        || tg_schema_query_keyword(root, schema, "const", &value) == TG_OK)
    {
        return ngx_tg_command_has_dash_choice(value);
    }

    return tg_schema_query_keyword(root, schema, "pattern", &value) != TG_OK
           || ngx_tg_command_pattern_allows_dash(value);
}

ngx_uint_t
ngx_tg_command_value_allows_dash(const ngx_tg_tool_t *tool, tg_str_t schema)
{
    static const char *const words[] = { "anyOf", "oneOf" };
    tg_str_t root, value, item;
    ngx_uint_t i, may_begin;
    tg_json_cursor_t json;

    if (schema.data == NULL) {
        return 1;
    }

    root = ngx_tg_command_get_input_schema(tool);
    may_begin = ngx_tg_command_schema_allows_dash(root, schema);

    for (i = 0; may_begin && i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_schema_query_keyword(root, schema, words[i], &value) != TG_OK) {
            continue;
        }

        may_begin = 0;

        for (tg_json_iter_init(&json, value); tg_json_iter_next(&json, &item);)
        {
            may_begin |= ngx_tg_command_schema_allows_dash(root, item);
        }
    }

    return may_begin;
}
