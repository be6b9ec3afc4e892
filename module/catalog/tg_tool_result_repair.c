/* Repairs tool results of other MCP servers. */
#include "catalog/tg_tool_result_repair.h"

#include "catalog/tg_tool_result_block.h"
#include "catalog/tg_mcp_type.h"

#define TG_TOOL_RESULT_NO_CONTENT                                              \
    "The result is not an object with an array \"content\"."

enum {
    TG_RESULT_CONTENT,
    TG_RESULT_STRUCTURED,
    TG_RESULT_IS_ERROR,
    TG_RESULT_META,
    TG_RESULT_TYPE,
    TG_RESULT_MEMBERS
};

static const char *const tg_result_members[] = {
    [TG_RESULT_CONTENT] = "content",
    [TG_RESULT_STRUCTURED] = "structuredContent",
    [TG_RESULT_IS_ERROR] = "isError",
    [TG_RESULT_META] = "_meta",
    [TG_RESULT_TYPE] = "resultType",
    [TG_RESULT_MEMBERS] = NULL,
};

static int
tg_tool_result_is_valid_member(tg_str_t raw, int (*is_valid)(tg_str_t raw))
{
    return raw.data == NULL || is_valid(raw);
}

static int
tg_tool_result_is_valid_content(tg_str_t content)
{
    tg_str_t block;
    tg_json_cursor_t json;

    if (tg_json_type(content) != TG_JSON_ARRAY) {
        return 0;
    }

    for (tg_json_iter_init(&json, content); tg_json_iter_next(&json, &block);) {
        if (!tg_content_block_is_valid(block)) {
            return 0;
        }
    }

    return 1;
}

static int
tg_tool_result_is_empty_content(tg_str_t content)
{
    tg_json_cursor_t json;

    tg_json_iter_init(&json, content);

    return !tg_json_iter_next(&json, NULL);
}

static int
tg_tool_result_is_null_member(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_NULL
           || tg_json_type(raw) == TG_JSON_NONE;
}

/*
 * Checks whether `content` is missing, or empty while structuredContent is not
 * an object. Clients can read an object without other content.
 */
static int
tg_tool_result_is_only_structured(const tg_str_t *values)
{
    tg_str_t content, structured;

    content = values[TG_RESULT_CONTENT];
    structured = values[TG_RESULT_STRUCTURED];

    return !tg_tool_result_is_null_member(structured)
           && (tg_tool_result_is_null_member(content)
               || (tg_json_type(content) == TG_JSON_ARRAY
                   && tg_tool_result_is_empty_content(content)
                   && !tg_mcp_is_object(structured)));
}

/* Checks for another type than "complete", such as a request for input. */
static int
tg_tool_result_is_other_type(const tg_str_t *values)
{
    return values[TG_RESULT_CONTENT].data == NULL
           && tg_mcp_is_string(values[TG_RESULT_TYPE])
           && !tg_json_string_eq(values[TG_RESULT_TYPE], TG_STR("complete"));
}

static int
tg_tool_result_is_valid(const tg_str_t *values)
{
    return tg_tool_result_is_valid_content(values[TG_RESULT_CONTENT])
           && !tg_tool_result_is_only_structured(values)
           && tg_json_type(values[TG_RESULT_STRUCTURED]) != TG_JSON_NULL
           && tg_tool_result_is_valid_member(values[TG_RESULT_IS_ERROR],
                                             tg_mcp_is_boolean)
           && tg_tool_result_is_valid_member(values[TG_RESULT_META],
                                             tg_mcp_is_object)
           && tg_tool_result_is_valid_member(values[TG_RESULT_TYPE],
                                             tg_mcp_is_string);
}

static const char *
tg_tool_result_find_error(const tg_str_t *values)
{
    tg_str_t content;

    content = values[TG_RESULT_CONTENT];

    return tg_json_type(content) == TG_JSON_ARRAY
                   || tg_json_type(content) == TG_JSON_NULL
                   || tg_mcp_is_string(content)
                   || tg_content_block_members(content) != NULL
                   || tg_tool_result_is_only_structured(values)
               ? NULL
               : TG_TOOL_RESULT_NO_CONTENT;
}

static void
tg_tool_result_write_content(tg_buf_t *out, const tg_str_t *values)
{
    tg_str_t content, block;
    tg_json_cursor_t json;
    size_t n;

    content = values[TG_RESULT_CONTENT];
    tg_buf_append_char(out, '[');

    if (tg_tool_result_is_only_structured(values)) {
        tg_content_block_write_text(out, values[TG_RESULT_STRUCTURED]);
    } else if (tg_json_type(content) != TG_JSON_ARRAY
               && !tg_tool_result_is_null_member(content))
    {
        tg_content_block_write_repaired(out, content);
    }

    n = 0;

    for (tg_json_iter_init(&json, content); tg_json_iter_next(&json, &block);) {
        if (tg_json_type(block) != TG_JSON_NULL) {
            tg_buf_append_cstr(out, n++ != 0 ? "," : "");
            tg_content_block_write_repaired(out, block);
        }
    }

    tg_buf_append_char(out, ']');
}

/* Returns what isError means, such as "true" or 1; absent if unclear. */
static tg_str_t
tg_tool_result_repair_is_error(tg_str_t raw)
{
    int64_t number;

    if (tg_mcp_is_boolean(raw)) {
        return raw;
    }

    return tg_json_string_eq(raw, TG_STR("true"))
                   || (tg_json_parse_int64(raw, &number) == TG_OK
                       && number == 1)
               ? TG_STR("true")
               : TG_STR_NONE;
}

static void
tg_tool_result_write_repaired(tg_buf_t *out, tg_str_t raw,
                              const tg_str_t *values)
{
    tg_buf_append_cstr(out, "{\"content\":");
    tg_tool_result_write_content(out, values);
    (void) tg_json_write_members_except(out, raw, tg_result_members, 1);

    if (!tg_tool_result_is_null_member(values[TG_RESULT_STRUCTURED])) {
        tg_json_add_compact(out, "structuredContent",
                            values[TG_RESULT_STRUCTURED]);
    }

    tg_json_add_compact(out, "isError",
                        tg_tool_result_repair_is_error(
                            values[TG_RESULT_IS_ERROR]));

    if (tg_mcp_is_object(values[TG_RESULT_META])) {
        tg_json_add_compact(out, "_meta", values[TG_RESULT_META]);
    }

    if (tg_mcp_is_string(values[TG_RESULT_TYPE])) {
        tg_json_add_compact(out, "resultType", values[TG_RESULT_TYPE]);
    }

    tg_buf_append_char(out, '}');
}

/* Skips a block. Returns 1 if it has exactly one type and one text. */
static int
tg_tool_result_skip_text_block(tg_json_cursor_t *json)
{
    int ntypes, ntexts;
    tg_str_t key, value;

    ntypes = 0;
    ntexts = 0;

    if (tg_json_enter_object(json) != TG_OK) {
        return 0;
    }

    while (tg_json_next_member(json, &key) == TG_OK) {
        if (tg_json_read_value(json, &value) != TG_OK) {
            return 0;
        }

        if (tg_str_eq(key, TG_STR("type"))
            && tg_str_eq(value, TG_STR("\"text\""))) {
            ntypes++;
        } else if (tg_str_eq(key, TG_STR("text"))
                   && tg_json_type(value) == TG_JSON_STRING)
        {
            ntexts++;
        } else {
            return 0;
        }
    }

    return ntypes == 1 && ntexts == 1;
}

int
tg_tool_result_has_texts_only(tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t key;
    int rc, n;

    tg_json_init(&json, raw);

    if (tg_json_enter_object(&json) != TG_OK
        || tg_json_next_member(&json, &key) != TG_OK
        || !tg_str_eq(key, TG_STR("content"))
        || tg_json_enter_array(&json) != TG_OK)
    {
        return 0;
    }

    for (n = 0; (rc = tg_json_next_element(&json)) == TG_OK; n++) {
        if (!tg_tool_result_skip_text_block(&json)) {
            return 0;
        }
    }

    if (rc != TG_END || n == 0) {
        return 0;
    }

    rc = tg_json_next_member(&json, &key);

    if (rc == TG_OK) {
        if (!tg_str_eq(key, TG_STR("isError"))
            || (tg_json_peek_type(&json) != TG_JSON_TRUE
                && tg_json_peek_type(&json) != TG_JSON_FALSE)
            || tg_json_read_value(&json, NULL) != TG_OK)
        {
            return 0;
        }

        rc = tg_json_next_member(&json, &key);
    }

    return rc == TG_END && tg_json_expect_end(&json) == TG_OK;
}

const char *
tg_tool_result_repair(tg_str_t raw, tg_buf_t *out)
{
    tg_str_t values[TG_RESULT_MEMBERS];
    const char *why;

    if (raw.len > TG_TOOL_RESULT_REPAIR_MAX
        || tg_tool_result_has_texts_only(raw)) {
        return NULL;
    }

    if (tg_json_get_members(raw, tg_result_members, values) != TG_OK) {
        return TG_TOOL_RESULT_NO_CONTENT;
    }

    if (tg_tool_result_is_valid(values) || tg_tool_result_is_other_type(values))
    {
        return NULL;
    }

    why = tg_tool_result_find_error(values);

    if (why == NULL) {
        tg_tool_result_write_repaired(out, raw, values);
    }

    return why;
}

void
tg_tool_result_write_unstructured(tg_buf_t *out, tg_str_t raw)
{
    static const char *const replaced[] = { "content", "structuredContent",
                                            NULL };
    tg_str_t values[TG_RESULT_MEMBERS], content;

    (void) tg_json_get_members(raw, tg_result_members, values);
    content = values[TG_RESULT_CONTENT];
    tg_buf_append_cstr(out, "{\"content\":");

    if (tg_tool_result_is_empty_content(content)
        && !tg_tool_result_is_null_member(values[TG_RESULT_STRUCTURED]))
    {
        tg_buf_append_char(out, '[');
        tg_content_block_write_text(out, values[TG_RESULT_STRUCTURED]);
        tg_buf_append_char(out, ']');
    } else {
        tg_buf_append_str(out, content);
    }

    (void) tg_json_write_members_except(out, raw, replaced, 1);
    tg_buf_append_char(out, '}');
}

void
tg_tool_result_write_structured(tg_buf_t *out, tg_str_t raw, tg_str_t value)
{
    static const char *const replaced[] = { "structuredContent", NULL };

    tg_buf_append_char(out, '{');
    tg_json_add_raw(out, "structuredContent", value);
    (void) tg_json_write_members_except(out, raw, replaced, 1);
    tg_buf_append_char(out, '}');
}
