/* Repairs tools in lists of MCP servers: their members and types. */
#include "catalog/tg_tool_repair_impl.h"

#include "catalog/tg_mcp_type.h"

/* Members of a tool whose types clients check. */
enum {
    TG_TOOL_NAME,
    TG_TOOL_TITLE,
    TG_TOOL_DESCRIPTION,
    TG_TOOL_ICONS,
    TG_TOOL_INPUT_SCHEMA,
    TG_TOOL_OUTPUT_SCHEMA,
    TG_TOOL_ANNOTATIONS,
    TG_TOOL_EXECUTION,
    TG_TOOL_META,
    TG_TOOL_MEMBERS
};

static const char *const tg_tool_members[] = {
    [TG_TOOL_NAME] = "name",
    [TG_TOOL_TITLE] = "title",
    [TG_TOOL_DESCRIPTION] = "description",
    [TG_TOOL_ICONS] = "icons",
    [TG_TOOL_INPUT_SCHEMA] = "inputSchema",
    [TG_TOOL_OUTPUT_SCHEMA] = "outputSchema",
    [TG_TOOL_ANNOTATIONS] = "annotations",
    [TG_TOOL_EXECUTION] = "execution",
    [TG_TOOL_META] = "_meta",
    [TG_TOOL_MEMBERS] = NULL,
};

static const char *const tg_tool_repair_descriptions[] = {
    [TG_REPAIR_NULL] = "null members are omitted",
    [TG_REPAIR_EMPTY] = "an empty array stands for an empty object",
    [TG_REPAIR_DUPLICATE] = "a member is duplicated; the last one counts",
    [TG_REPAIR_TITLE] = "its \"title\" is not a string and is omitted",
    [TG_REPAIR_DESCRIPTION] = "its \"description\" is not a string and is "
                              "omitted",
    [TG_REPAIR_ICONS] = "invalid parts of its \"icons\" are omitted",
    [TG_REPAIR_ANNOTATIONS] = "invalid parts of its \"annotations\" are "
                              "omitted",
    [TG_REPAIR_EXECUTION] = "invalid parts of its \"execution\" are omitted",
    [TG_REPAIR_META] = "its \"_meta\" is not an object and is omitted",
    [TG_REPAIR_INPUT] = "it has no \"inputSchema\" and gets one without "
                        "properties",
    [TG_REPAIR_TYPE] = "the \"type\" of its \"inputSchema\" becomes \"object\"",
    [TG_REPAIR_SCHEMA_URI] = "a \"$schema\" is not a string and is omitted",
    [TG_REPAIR_BOOLEAN] = "a schema that is true or false is written as an "
                          "object",
    [TG_REPAIR_PROPERTY] = "a property's schema is not a schema and becomes {}",
    [TG_REPAIR_PROPERTIES] = "the \"properties\" of its \"inputSchema\" are "
                             "not an object and are omitted",
    [TG_REPAIR_REQUIRED] = "invalid parts of a \"required\" are omitted",
    [TG_REPAIR_OUTPUT] = "its \"outputSchema\" is not a usable schema and is "
                         "omitted",
    [TG_REPAIR_MODERN] = "its \"outputSchema\" does not describe an object and "
                         "is omitted for clients before MCP 2026-07-28",
};

void
tg_tool_repairs_write(tg_buf_t *out, unsigned repairs)
{
    int i, n;

    for (i = 0, n = 0; i < TG_REPAIR_COUNT; i++) {
        if (repairs & 1u << i) {
            tg_buf_append_cstr(out, n++ != 0 ? "; " : "");
            tg_buf_append_cstr(out, tg_tool_repair_descriptions[i]);
        }
    }
}

static int
tg_tool_is_task_support(tg_str_t raw)
{
    static const char *const words[] = { "required", "optional", "forbidden",
                                         NULL };

    return tg_json_string_find(raw, words) >= 0;
}

static const tg_mcp_member_t tg_hint_members[] = {
    { "title", tg_mcp_is_string, NULL, 0 },
    { "readOnlyHint", tg_mcp_is_boolean, NULL, 0 },
    { "destructiveHint", tg_mcp_is_boolean, NULL, 0 },
    { "idempotentHint", tg_mcp_is_boolean, NULL, 0 },
    { "openWorldHint", tg_mcp_is_boolean, NULL, 0 },
    { NULL, NULL, NULL, 0 },
};

static const tg_mcp_member_t tg_execution_members[] = {
    { "taskSupport", tg_tool_is_task_support, NULL, 0 },
    { NULL, NULL, NULL, 0 },
};

/* Accepts any members. */
static const tg_mcp_member_t tg_meta_members[] = {
    { NULL, NULL, NULL, 0 },
};

static void
tg_tool_repair_object(tg_tool_repair_t *repair, tg_str_t raw,
                      const tg_mcp_member_t *members,
                      tg_tool_repair_type_t what, tg_buf_t *out)
{
    int wrong;

    wrong = tg_mcp_members_write_valid(out, raw, members);

    if (wrong & TG_MCP_MEMBER_NULL) {
        tg_tool_repair_add(repair, TG_REPAIR_NULL);
    }

    if (wrong & TG_MCP_MEMBER_WRONG_TYPE) {
        tg_tool_repair_add(repair, what);
    }
}

/* Repairs a member that must be an object. Returns 0 if it must be left out. */
static int
tg_tool_repair_member(tg_tool_repair_t *repair, tg_str_t raw,
                      const tg_mcp_member_t *members,
                      tg_tool_repair_type_t what, tg_buf_t *out)
{
    if (tg_json_type(raw) == TG_JSON_OBJECT) {
        tg_tool_repair_object(repair, raw, members, what, out);
        return 1;
    }

    if (tg_is_empty_array(raw)) {
        tg_tool_repair_add(repair, TG_REPAIR_EMPTY);
        tg_buf_append_cstr(out, "{}");
        return 1;
    }

    tg_tool_repair_add(repair, what);

    return 0;
}

static int
tg_tool_repair_icons(tg_tool_repair_t *repair, tg_str_t raw, tg_buf_t *out)
{
    tg_str_t icon, src;
    tg_json_cursor_t json;

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        tg_tool_repair_add(repair, TG_REPAIR_ICONS);
        return 0;
    }

    tg_buf_append_char(out, '[');
    tg_json_iter_init(&json, raw);

    while (tg_json_iter_next(&json, &icon)) {
        if (!tg_json_has_member(icon, TG_STR("src"), TG_JSON_STRING, &src)) {
            tg_tool_repair_add(repair, TG_REPAIR_ICONS);
            continue;
        }

        tg_json_begin_element(out);
        tg_tool_repair_object(repair, icon, tg_mcp_icon_members,
                              TG_REPAIR_ICONS, out);
    }

    tg_buf_append_char(out, ']');

    return 1;
}

static int
tg_tool_repair_text(tg_tool_repair_t *repair, tg_str_t raw,
                    tg_tool_repair_type_t what, tg_buf_t *out)
{
    if (!tg_mcp_is_string(raw)) {
        tg_tool_repair_add(repair, what);
        return 0;
    }

    tg_buf_append_str(out, raw);

    return 1;
}

static int
tg_tool_repair_output_schema(tg_tool_repair_t *repair, tg_str_t raw,
                             tg_buf_t *out)
{
    unsigned before;

    before = repair->repairs;

    /* Earlier repairs do not matter if the whole schema is left out. */
    if (tg_tool_schema_write_repaired(repair, TG_TOOL_SCHEMA_OUTPUT, raw, out)
        != TG_OK)
    {
        repair->repairs = before;
        repair->is_modern = 0;
        tg_tool_repair_add(repair, TG_REPAIR_OUTPUT);
        return 0;
    }

    if (repair->is_modern) {
        tg_tool_repair_add(repair, TG_REPAIR_MODERN);
    }

    return 1;
}

/*
 * Appends the repaired value of member i, or -1 for a member that clients do
 * not check. Returns 0 if it must be left out.
 */
static int
tg_tool_repair_value(tg_tool_repair_t *repair, int i, tg_str_t raw,
                     tg_buf_t *out)
{
    if (i >= 0 && i != TG_TOOL_INPUT_SCHEMA
        && tg_json_type(raw) == TG_JSON_NULL) {
        tg_tool_repair_add(repair, TG_REPAIR_NULL);
        return 0;
    }

    switch (i) {
    case TG_TOOL_TITLE:
        return tg_tool_repair_text(repair, raw, TG_REPAIR_TITLE, out);
    case TG_TOOL_DESCRIPTION:
        return tg_tool_repair_text(repair, raw, TG_REPAIR_DESCRIPTION, out);
    case TG_TOOL_ICONS:
        return tg_tool_repair_icons(repair, raw, out);
    case TG_TOOL_INPUT_SCHEMA:
        if (repair->has_input) {
            tg_buf_append_str(out, raw);
        } else if (tg_tool_schema_write_repaired(repair, TG_TOOL_SCHEMA_INPUT,
                                                 raw, out)
                   != TG_OK)
        {
            repair->why = "its \"inputSchema\" does not describe an object";
        }

        return 1;
    case TG_TOOL_OUTPUT_SCHEMA:
        return tg_tool_repair_output_schema(repair, raw, out);
    case TG_TOOL_ANNOTATIONS:
        return tg_tool_repair_member(repair, raw, tg_hint_members,
                                     TG_REPAIR_ANNOTATIONS, out);
    case TG_TOOL_EXECUTION:
        return tg_tool_repair_member(repair, raw, tg_execution_members,
                                     TG_REPAIR_EXECUTION, out);
    case TG_TOOL_META:
        return tg_tool_repair_member(repair, raw, tg_meta_members,
                                     TG_REPAIR_META, out);
    default:
        tg_buf_append_str(out, raw);
        return 1;
    }
}

static void
tg_tool_repair_members(tg_tool_repair_t *repair, tg_str_t raw,
                       const tg_str_t *values, tg_buf_t *out)
{
    tg_str_t key, value;
    tg_json_cursor_t json;
    size_t start;
    int i;

    tg_buf_append_char(out, '{');
    tg_json_iter_init_members(&json, raw);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        i = tg_json_body_find(key, tg_tool_members);

        if (i >= 0 && value.data != values[i].data) {
            tg_tool_repair_add(repair, TG_REPAIR_DUPLICATE);
            continue;
        }

        start = out->len;
        tg_json_begin_raw_member(out, key);

        if (!tg_tool_repair_value(repair, i, value, out)
            && !tg_buf_has_failed(out)) {
            tg_buf_truncate(out, start);
        }
    }

    if (values[TG_TOOL_INPUT_SCHEMA].data == NULL && !repair->has_input) {
        tg_tool_repair_add(repair, TG_REPAIR_INPUT);
        tg_json_add_raw(out, "inputSchema", TG_STR(TG_TOOL_NO_ARGUMENTS));
    }

    tg_buf_append_char(out, '}');
}

static const char *
tg_tool_find_error(const tg_str_t *values)
{
    tg_str_t support;

    if (!tg_mcp_is_string(values[TG_TOOL_NAME])
        || values[TG_TOOL_NAME].len == 2) {
        return "it has no name";
    }

    if (tg_json_has_member(values[TG_TOOL_EXECUTION], TG_STR("taskSupport"),
                           TG_JSON_STRING, &support)
        && tg_json_string_eq(support, TG_STR("required")))
    {
        return "it can only be called as an MCP task (taskSupport "
               "\"required\"), which Toolgate does not support";
    }

    return NULL;
}

const char *
tg_tool_repair(tg_tool_repair_t *repair, tg_str_t raw, tg_buf_t *out)
{
    tg_str_t values[TG_TOOL_MEMBERS];
    size_t start;

    repair->repairs = 0;
    repair->is_modern = 0;
    repair->root_union = TG_STR_NONE;
    repair->why = NULL;

    repair->why = tg_json_get_members(raw, tg_tool_members, values) == TG_OK
                      ? tg_tool_find_error(values)
                      : "it is not an object";

    if (repair->why != NULL) {
        return repair->why;
    }

    start = out->len;
    tg_tool_repair_members(repair, raw, values, out);

    /* With TG_REPAIR_MODERN alone only the legacy list changes. */
    if (!tg_buf_has_failed(out)
        && (repair->why != NULL
            || (repair->repairs & ~(1u << TG_REPAIR_MODERN)) == 0))
    {
        tg_buf_truncate(out, start);
    }

    return repair->why;
}
