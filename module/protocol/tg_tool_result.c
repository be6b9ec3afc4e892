/* MCP's CallToolResult: validation and access to its members. */
#include "protocol/tg_outcome.h"

#define TG_TOOL_RESULT_ERROR(text)                                             \
    "The output is not a tool result, as \"output result\" requires: " text "."

/* Members of a content block that are checked. */
enum {
    TG_BLOCK_TYPE,
    TG_BLOCK_TEXT,
    TG_BLOCK_DATA,
    TG_BLOCK_MIME_TYPE,
    TG_BLOCK_URI,
    TG_BLOCK_NAME,
    TG_BLOCK_RESOURCE,
    TG_BLOCK_MEMBERS
};

static const tg_str_t tg_block_keys[TG_BLOCK_MEMBERS] = {
    [TG_BLOCK_TYPE] = TG_STR_INIT("type"),
    [TG_BLOCK_TEXT] = TG_STR_INIT("text"),
    [TG_BLOCK_DATA] = TG_STR_INIT("data"),
    [TG_BLOCK_MIME_TYPE] = TG_STR_INIT("mimeType"),
    [TG_BLOCK_URI] = TG_STR_INIT("uri"),
    [TG_BLOCK_NAME] = TG_STR_INIT("name"),
    [TG_BLOCK_RESOURCE] = TG_STR_INIT("resource"),
};

static int
tg_content_block_find_key(tg_str_t key, int has_escapes)
{
    int i;

    for (i = 0; i < TG_BLOCK_MEMBERS; i++) {
        if (has_escapes ? tg_json_body_eq_text(key, tg_block_keys[i])
                        : tg_str_eq(key, tg_block_keys[i]))
        {
            break;
        }
    }

    return i;
}

/* Reads the members of a block in one pass: it may have very many members. */
static void
tg_content_block_parse(tg_str_t block, tg_str_t *values)
{
    tg_str_t key, value;
    tg_json_cursor_t json;
    int i;

    memset(values, 0, TG_BLOCK_MEMBERS * sizeof(*values));
    tg_json_init(&json, block);
    (void) tg_json_enter_object(&json);

    while (tg_json_next_member(&json, &key) == TG_OK) {
        i = tg_content_block_find_key(key, json.escapes != 0);

        if (tg_json_read_value(&json, &value) != TG_OK) {
            return;
        }

        if (i != TG_BLOCK_MEMBERS) {
            values[i] = value;
        }
    }
}

static int
tg_content_block_has_string_at(const tg_str_t *values, int member)
{
    return tg_json_type(values[member]) == TG_JSON_STRING;
}

/* Checks for the usual form of a text block without parsing it. */
static int
tg_content_block_is_plain_text(tg_str_t block)
{
    static const char head[] = "{\"type\":\"text\",\"text\":\"";
    const size_t len = sizeof(head) - 1;
    const char *end;

    if (block.len < len + 2 || memcmp(block.data, head, len) != 0) {
        return 0;
    }

    end = memchr(block.data + len, '"', block.len - len);

    return end == block.data + block.len - 2;
}

/* Returns the error of a content block (MCP "ContentBlock"), or NULL. */
static const char *
tg_tool_result_check_block(tg_str_t block)
{
    tg_str_t values[TG_BLOCK_MEMBERS], type, uri;

    if (tg_content_block_is_plain_text(block)) {
        return NULL;
    }

    if (tg_json_type(block) != TG_JSON_OBJECT) {
        memset(values, 0, sizeof(values));
    } else {
        tg_content_block_parse(block, values);
    }

    if (values[TG_BLOCK_TYPE].data == NULL) {
        return TG_TOOL_RESULT_ERROR(
            "an element of \"content\" is not an object with a \"type\"");
    }

    type = values[TG_BLOCK_TYPE];

    if (tg_json_string_eq(type, TG_STR("text"))) {
        return tg_content_block_has_string_at(values, TG_BLOCK_TEXT)
                   ? NULL
                   : TG_TOOL_RESULT_ERROR(
                       "a text block needs a string \"text\"");
    }

    if (tg_json_string_eq(type, TG_STR("image"))
        || tg_json_string_eq(type, TG_STR("audio")))
    {
        return tg_content_block_has_string_at(values, TG_BLOCK_DATA)
                       && tg_content_block_has_string_at(values,
                                                         TG_BLOCK_MIME_TYPE)
                   ? NULL
                   : TG_TOOL_RESULT_ERROR(
                       "an image or audio block needs the strings "
                       "\"data\" (base64) and \"mimeType\"");
    }

    if (tg_json_string_eq(type, TG_STR("resource_link"))) {
        return tg_content_block_has_string_at(values, TG_BLOCK_URI)
                       && tg_content_block_has_string_at(values, TG_BLOCK_NAME)
                   ? NULL
                   : TG_TOOL_RESULT_ERROR(
                       "a resource_link block needs the strings "
                       "\"uri\" and \"name\"");
    }

    if (tg_json_string_eq(type, TG_STR("resource"))) {
        return tg_json_type(values[TG_BLOCK_RESOURCE]) == TG_JSON_OBJECT
                       && tg_json_has_member(values[TG_BLOCK_RESOURCE],
                                             TG_STR("uri"), TG_JSON_STRING,
                                             &uri)
                   ? NULL
                   : TG_TOOL_RESULT_ERROR("a resource block needs an object "
                                          "\"resource\" with a string \"uri\"");
    }

    return TG_TOOL_RESULT_ERROR(
        "the \"type\" of an element of \"content\" is none "
        "of text, image, audio, resource_link and resource");
}

void
tg_tool_result_check_begin(tg_tool_result_check_t *check, tg_str_t bytes,
                           int is_lenient)
{
    memset(check, 0, sizeof(*check));
    check->is_lenient = is_lenient;
    check->raw = tg_outcome_trim(bytes);
    tg_json_walk_init(&check->walk, check->raw, TG_REPLY_DEPTH);
}

/* Records a member; of equal names the last one counts. */
static void
tg_tool_result_check_member(tg_tool_result_check_t *check)
{
    const tg_json_walk_t *walk;

    walk = &check->walk;
    check->is_content = 0;

    if (tg_json_body_eq_text(walk->key, TG_STR("content"))) {
        check->has_content = walk->type == TG_JSON_ARRAY;
        check->is_content = check->has_content && !check->is_lenient;
        check->why_content = NULL;

    } else if (tg_json_body_eq_text(walk->key, TG_STR("isError"))) {
        check->why_error = walk->type == TG_JSON_TRUE
                                   || walk->type == TG_JSON_FALSE
                               ? NULL
                               : TG_TOOL_RESULT_ERROR(
                                   "\"isError\" is neither true "
                                   "nor false");

    } else if (tg_json_body_eq_text(walk->key, TG_STR("structuredContent"))) {
        check->why_structured = walk->type == TG_JSON_OBJECT
                                    ? NULL
                                    : TG_TOOL_RESULT_ERROR(
                                        "\"structuredContent\" is not an "
                                        "object");

    } else if (tg_json_body_eq_text(walk->key, TG_STR("resultType"))) {
        check->is_input_required = walk->type == TG_JSON_STRING
                                   && !tg_json_string_eq(walk->value,
                                                         TG_STR("complete"));
    }
}

static void
tg_tool_result_check_event(tg_tool_result_check_t *check)
{
    const tg_json_walk_t *walk;

    walk = &check->walk;

    if (walk->event == TG_JSON_WALK_ROOT) {
        check->is_object = walk->type == TG_JSON_OBJECT;

    } else if (walk->event == TG_JSON_WALK_ITEM) {
        if (check->is_content && check->why_content == NULL) {
            check->why_content = tg_tool_result_check_block(walk->value);
        }

    } else if (check->is_object
               && (walk->event == TG_JSON_WALK_BEGIN
                   || (walk->type != TG_JSON_OBJECT
                       && walk->type != TG_JSON_ARRAY)))
    {
        tg_tool_result_check_member(check);
    }
}

static const char *
tg_tool_result_check_get_error(const tg_tool_result_check_t *check)
{
    if (check->is_lenient) {
        return check->has_content || check->is_input_required
                   ? NULL
                   : "The MCP server's result is not an object with an array "
                     "\"content\".";
    }

    return !check->has_content ? TG_TOOL_RESULT_ERROR(
               "it is not an object with an array \"content\"")
           : check->why_content != NULL ? check->why_content
           : check->why_error != NULL   ? check->why_error
                                        : check->why_structured;
}

int
tg_tool_result_check_step(tg_tool_result_check_t *check, size_t bytes,
                          tg_outcome_t *outcome)
{
    const char *why;
    size_t from;
    int rc;

    from = tg_json_walk_get_offset(&check->walk);

    while ((rc = tg_json_walk(&check->walk)) == TG_OK) {
        tg_tool_result_check_event(check);

        if (tg_json_walk_get_offset(&check->walk) - from >= bytes) {
            return TG_AGAIN;
        }
    }

    why = rc == TG_END ? tg_tool_result_check_get_error(check) : NULL;
    *outcome = rc != TG_END  ? tg_outcome_make_not_json(rc)
               : why != NULL ? tg_outcome_make_failure(TG_FAILURE_OUTPUT, why)
                             : tg_outcome_make(TG_OUTCOME_RESULT, check->raw);

    return TG_OK;
}

int
tg_tool_result_is_input_required(tg_str_t raw)
{
    tg_str_t type;

    return tg_json_get_member(raw, TG_STR("resultType"), &type) == TG_OK
           && tg_json_string_eq(type, TG_STR("input_required"));
}

void
tg_tool_result_read_view(tg_str_t raw, tg_tool_result_view_t *view)
{
    static const char *const names[] = { "resultType", "isError",
                                         "structuredContent", NULL };
    tg_str_t values[3];

    (void) tg_json_get_members(raw, names, values);
    view->is_input_required = tg_json_string_eq(values[0],
                                                TG_STR("input_required"));
    view->is_error = tg_json_type(values[1]) == TG_JSON_TRUE;
    view->structured = tg_json_type(values[2]);
}

int
tg_tool_result_is_error(tg_str_t raw)
{
    tg_str_t value;

    return tg_json_has_member(raw, TG_STR("isError"), TG_JSON_TRUE, &value);
}

void
tg_tool_result_write_texts(tg_buf_t *out, tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t content, block, text;
    int n;

    if (tg_json_get_member(raw, TG_STR("content"), &content) != TG_OK) {
        return;
    }

    n = 0;

    for (tg_json_iter_init(&json, content); tg_json_iter_next(&json, &block);) {
        if (tg_json_has_member(block, TG_STR("text"), TG_JSON_STRING, &text)) {
            tg_buf_append_cstr(out, n++ != 0 ? "\\n" : "");
            tg_buf_append_str(out, tg_json_string_body(text));
        }
    }
}
