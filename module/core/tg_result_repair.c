#include "core/tg_result_repair.h"

#include "core/tg_mcp_type.h"

/* --- the types of blocks --- */

#define TG_BLOCK_MEMBERS                                                       \
    { "annotations", NULL, tg_mcp_annotation_members, 0 },                     \
    {                                                                          \
        "_meta", tg_mcp_is_object, NULL, 0                                     \
    }

static const tg_mcp_member_t tg_text_members[] = {
    { "text", tg_mcp_is_string, NULL, 1 },
    TG_BLOCK_MEMBERS,
    { NULL, NULL, NULL, 0 },
};

static const tg_mcp_member_t tg_media_members[] = {
    { "data", tg_mcp_is_string, NULL, 1 },
    { "mimeType", tg_mcp_is_string, NULL, 1 },
    TG_BLOCK_MEMBERS,
    { NULL, NULL, NULL, 0 },
};

static const tg_mcp_member_t tg_link_members[] = {
    { "uri", tg_mcp_is_string, NULL, 1 },
    { "name", tg_mcp_is_string, NULL, 1 },
    { "title", tg_mcp_is_string, NULL, 0 },
    { "description", tg_mcp_is_string, NULL, 0 },
    { "mimeType", tg_mcp_is_string, NULL, 0 },
    { "size", tg_mcp_is_number, NULL, 0 },
    { "icons", tg_mcp_are_icons, NULL, 0 },
    TG_BLOCK_MEMBERS,
    { NULL, NULL, NULL, 0 },
};

static const tg_mcp_member_t tg_contents_members[] = {
    { "uri", tg_mcp_is_string, NULL, 1 },
    { "mimeType", tg_mcp_is_string, NULL, 0 },
    { "text", tg_mcp_is_string, NULL, 0 },
    { "blob", tg_mcp_is_string, NULL, 0 },
    { "_meta", tg_mcp_is_object, NULL, 0 },
    { NULL, NULL, NULL, 0 },
};

static const tg_mcp_member_t tg_resource_members[] = {
    { "resource", NULL, tg_contents_members, 1 },
    TG_BLOCK_MEMBERS,
    { NULL, NULL, NULL, 0 },
};

static const struct {
    const char *type;
    const tg_mcp_member_t *members;
} tg_block_types[] = {
    { "text", tg_text_members },          { "image", tg_media_members },
    { "audio", tg_media_members },        { "resource", tg_resource_members },
    { "resource_link", tg_link_members },
};

/* The members of a block's type; NULL: it has none that clients know. */
static const tg_mcp_member_t *
tg_block_members(tg_str_t block)
{
    tg_str_t type;
    size_t i;

    if (!tg_json_has(block, TG_STR("type"), TG_JSON_STRING, &type)) {
        return NULL;
    }

    for (i = 0; i < sizeof(tg_block_types) / sizeof(tg_block_types[0]); i++) {
        if (tg_json_is_text(type, tg_str_c(tg_block_types[i].type))) {
            return tg_block_types[i].members;
        }
    }

    return NULL;
}

static int
tg_block_has(tg_str_t block, const char *key)
{
    tg_str_t value;

    return tg_json_has(block, tg_str_c(key), TG_JSON_STRING, &value);
}

/* A resource is of a text or of bytes. */
static int
tg_block_is_contents(tg_str_t block)
{
    tg_str_t resource;

    return tg_json_has(block, TG_STR("resource"), TG_JSON_OBJECT, &resource)
           && tg_block_has(resource, "uri")
           && (tg_block_has(resource, "text")
               || tg_block_has(resource, "blob"));
}

/* What is wrong in a block of a type: TG_MCP_… */
static int
tg_block_check(tg_str_t block, const tg_mcp_member_t *members)
{
    if (members == tg_resource_members) {
        return tg_block_is_contents(block)
                   ? tg_mcp_members_check(block, members) & ~TG_MCP_MISSING
                   : TG_MCP_MISSING;
    }

    return tg_mcp_members_check(block, members);
}

/* --- images and sounds --- */

static int
tg_body_begins(tg_str_t body, const char *text)
{
    size_t len;

    len = strlen(text);

    return body.len >= len && memcmp(body.data, text, len) == 0;
}

/* A data URL `data:TYPE;base64,DATA`, an escaped body, in its two parts. */
static int
tg_data_url(tg_str_t body, tg_str_t *type, tg_str_t *data)
{
    static const char middle[] = ";base64,";
    size_t i;

    if (!tg_body_begins(body, "data:")) {
        return 0;
    }

    for (i = 5; i < body.len && body.data[i] != ','; i++) {
        *data = tg_str(body.data + i, body.len - i);

        if (tg_body_begins(*data, middle)) {
            *type = tg_str(body.data + 5, i - 5);
            data->data += sizeof(middle) - 1;
            data->len -= sizeof(middle) - 1;
            return 1;
        }
    }

    return 0;
}

/* The type of what base64, an escaped body, begins like; absent: not known. */
static tg_str_t
tg_data_type(tg_str_t body)
{
    static const struct {
        const char *begin;
        const char *type;
    } types[] = {
        { "iVBORw0KGgo", "image/png" }, { "R0lGOD", "image/gif" },
        { "/9j/", "image/jpeg" },       { "\\/9j", "image/jpeg" },
        { "SUQz", "audio/mpeg" },       { "T2dnUw", "audio/ogg" },
    };
    size_t i;

    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (tg_body_begins(body, types[i].begin)) {
            return tg_str_c(types[i].type);
        }
    }

    return TG_STR_NONE;
}

/*
 * The data of an image or a sound and its type, escaped bodies, where a block
 * says them in another way than MCP.
 */
static int
tg_block_media(tg_str_t block, const tg_mcp_member_t *members, tg_str_t *data,
               tg_str_t *mime)
{
    tg_str_t raw, url_type;

    if (members != tg_media_members
        || !tg_json_has(block, TG_STR("data"), TG_JSON_STRING, &raw))
    {
        return 0;
    }

    *data = tg_json_body(raw);
    url_type = TG_STR_NONE;

    if (!tg_data_url(*data, &url_type, data) && tg_block_has(block, "mimeType"))
    {
        return 0;
    }

    *mime = tg_json_has(block, TG_STR("mimeType"), TG_JSON_STRING, &raw)
                    || tg_json_has(block, TG_STR("mime_type"), TG_JSON_STRING,
                                   &raw)
                ? tg_json_body(raw)
            : url_type.len != 0 ? url_type
                                : tg_data_type(*data);

    return mime->len != 0;
}

/* --- blocks --- */

/*
 * Is it of a type that a later version of MCP may have, so that its client
 * knows best?  Some are mistakes for a text, and will never be one.
 */
static int
tg_block_is_new(tg_str_t block, const tg_mcp_member_t *members)
{
    static const char *const mistakes[] = { "data",  "error",    "html",
                                            "json",  "markdown", "object",
                                            "string" };
    tg_str_t type;
    size_t i;

    if (members != NULL
        || !tg_json_has(block, TG_STR("type"), TG_JSON_STRING, &type))
    {
        return 0;
    }

    for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        if (tg_json_is_text(type, tg_str_c(mistakes[i]))) {
            return 0;
        }
    }

    return 1;
}

static int
tg_block_is_right(tg_str_t block)
{
    const tg_mcp_member_t *members;
    tg_str_t data, mime;

    members = tg_block_members(block);

    if (tg_block_is_new(block, members)) {
        return 1;
    }

    return members != NULL && tg_block_check(block, members) == 0
           && !tg_block_media(block, members, &data, &mime);
}

/* Appends a block of the text that a value is, or of its JSON. */
static void
tg_block_put_text(tg_buf_t *out, tg_str_t value)
{
    tg_buf_text(out, "{\"type\":\"text\",\"text\":");

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_buf_str(out, value);
    } else {
        tg_json_put_string(out, value);
    }

    tg_buf_char(out, '}');
}

/* Appends what a block says that no client can read. */
static void
tg_block_put_unknown(tg_buf_t *out, tg_str_t block)
{
    tg_str_t text;

    if (tg_json_type(block) != TG_JSON_OBJECT
        || tg_json_get(block, TG_STR("text"), &text) != TG_OK)
    {
        text = block;
    }

    if (tg_json_type(text) == TG_JSON_NULL) {
        text = tg_block_members(block) == tg_text_members ? TG_STR("\"\"")
                                                          : block;
    }

    tg_block_put_text(out, text);
}

/* Appends a block with other members, of these names, at its beginning. */
static void
tg_block_put_instead(tg_buf_t *out, tg_str_t block, tg_buf_t *begin,
                     const char *const *names, const tg_mcp_member_t *members)
{
    (void) tg_json_put_others(begin, block, names, 1);
    tg_buf_char(begin, '}');
    out->failed |= tg_buf_failed(begin);

    if (!tg_buf_failed(begin)) {
        (void) tg_mcp_members_put(out, tg_buf_view(begin), members);
    }
}

static void
tg_block_put_media(tg_buf_t *out, tg_str_t block, tg_str_t data, tg_str_t mime)
{
    static const char *const names[] = { "data", "mimeType", NULL };
    tg_buf_t begin;

    tg_buf_init(&begin, out->alloc);
    tg_buf_text(&begin, "{\"data\":\"");
    tg_buf_str(&begin, data);
    tg_buf_text(&begin, "\",\"mimeType\":\"");
    tg_buf_str(&begin, mime);
    tg_buf_char(&begin, '"');
    tg_block_put_instead(out, block, &begin, names, tg_media_members);
    tg_buf_deinit(&begin);
}

/* A link without a name is known by its URI. */
static void
tg_block_put_link(tg_buf_t *out, tg_str_t block, tg_str_t uri)
{
    static const char *const names[] = { "name", NULL };
    tg_buf_t begin;

    tg_buf_init(&begin, out->alloc);
    tg_buf_text(&begin, "{\"name\":");
    tg_buf_str(&begin, uri);
    tg_block_put_instead(out, block, &begin, names, tg_link_members);
    tg_buf_deinit(&begin);
}

static void
tg_block_put(tg_buf_t *out, tg_str_t block)
{
    const tg_mcp_member_t *members;
    tg_str_t data, mime;

    members = tg_block_members(block);

    if (tg_block_is_new(block, members)) {
        tg_buf_str(out, block);

    } else if (tg_block_media(block, members, &data, &mime)) {
        tg_block_put_media(out, block, data, mime);

    } else if (members != NULL
               && !(tg_block_check(block, members) & TG_MCP_MISSING))
    {
        (void) tg_mcp_members_put(out, block, members);

    } else if (members == tg_link_members
               && tg_json_has(block, TG_STR("uri"), TG_JSON_STRING, &data))
    {
        tg_block_put_link(out, block, data);

    } else {
        tg_block_put_unknown(out, block);
    }
}

/* --- a result --- */

#define TG_RESULT_NONE "The result is no object with an array \"content\"."

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

/* Is a member as clients want it, if it is there? */
static int
tg_result_is(tg_str_t raw, int (*is_right)(tg_str_t raw))
{
    return raw.data == NULL || is_right(raw);
}

static int
tg_result_are_blocks(tg_str_t content)
{
    tg_str_t block;
    tg_json_t json;

    if (tg_json_type(content) != TG_JSON_ARRAY) {
        return 0;
    }

    for (tg_json_each(&json, content); tg_json_item(&json, &block);) {
        if (!tg_block_is_right(block)) {
            return 0;
        }
    }

    return 1;
}

static int
tg_result_is_empty(tg_str_t content)
{
    tg_json_t json;

    tg_json_each(&json, content);

    return !tg_json_item(&json, NULL);
}

static int
tg_result_is_null(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_NULL
           || tg_json_type(raw) == TG_JSON_NONE;
}

/*
 * Is the JSON of what is structured all that a result says?  Of an object that
 * is known where the content is none.
 */
static int
tg_result_is_unsaid(const tg_str_t *values)
{
    tg_str_t content, structured;

    content = values[TG_RESULT_CONTENT];
    structured = values[TG_RESULT_STRUCTURED];

    return !tg_result_is_null(structured)
           && (tg_result_is_null(content)
               || (tg_json_type(content) == TG_JSON_ARRAY
                   && tg_result_is_empty(content)
                   && !tg_mcp_is_object(structured)));
}

/* Is a raw result asking for something, or another than MCP's usual one? */
static int
tg_result_is_other(const tg_str_t *values)
{
    return values[TG_RESULT_CONTENT].data == NULL
           && tg_mcp_is_string(values[TG_RESULT_TYPE])
           && !tg_json_is_text(values[TG_RESULT_TYPE], TG_STR("complete"));
}

static int
tg_result_is_right(const tg_str_t *values)
{
    return tg_result_are_blocks(values[TG_RESULT_CONTENT])
           && !tg_result_is_unsaid(values)
           && tg_json_type(values[TG_RESULT_STRUCTURED]) != TG_JSON_NULL
           && tg_result_is(values[TG_RESULT_IS_ERROR], tg_mcp_is_boolean)
           && tg_result_is(values[TG_RESULT_META], tg_mcp_is_object)
           && tg_result_is(values[TG_RESULT_TYPE], tg_mcp_is_string);
}

/* Why a result says nothing that can be read; or NULL. */
static const char *
tg_result_mistake(const tg_str_t *values)
{
    tg_str_t content;

    content = values[TG_RESULT_CONTENT];

    return tg_json_type(content) == TG_JSON_ARRAY
                   || tg_json_type(content) == TG_JSON_NULL
                   || tg_mcp_is_string(content)
                   || tg_block_members(content) != NULL
                   || tg_result_is_unsaid(values)
               ? NULL
               : TG_RESULT_NONE;
}

static void
tg_result_put_content(tg_buf_t *out, const tg_str_t *values)
{
    tg_str_t content, block;
    tg_json_t json;
    size_t n;

    content = values[TG_RESULT_CONTENT];
    tg_buf_char(out, '[');

    if (tg_result_is_unsaid(values)) {
        tg_block_put_text(out, values[TG_RESULT_STRUCTURED]);
    } else if (tg_json_type(content) != TG_JSON_ARRAY
               && !tg_result_is_null(content))
    {
        tg_block_put(out, content);
    }

    n = 0;

    for (tg_json_each(&json, content); tg_json_item(&json, &block);) {
        if (tg_json_type(block) != TG_JSON_NULL) {
            tg_buf_text(out, n++ != 0 ? "," : "");
            tg_block_put(out, block);
        }
    }

    tg_buf_char(out, ']');
}

/* What a result says in another way than true or false; absent: nothing. */
static tg_str_t
tg_result_is_error_instead(tg_str_t raw)
{
    int64_t number;

    if (tg_mcp_is_boolean(raw)) {
        return raw;
    }

    return tg_json_is_text(raw, TG_STR("true"))
                   || (tg_json_int64(raw, &number) == TG_OK && number == 1)
               ? TG_STR("true")
               : TG_STR_NONE;
}

static void
tg_result_put(tg_buf_t *out, tg_str_t raw, const tg_str_t *values)
{
    tg_buf_text(out, "{\"content\":");
    tg_result_put_content(out, values);
    (void) tg_json_put_others(out, raw, tg_result_members, 1);

    if (!tg_result_is_null(values[TG_RESULT_STRUCTURED])) {
        tg_json_put_member(out, ",\"structuredContent\":",
                           values[TG_RESULT_STRUCTURED]);
    }

    tg_json_put_member(out, ",\"isError\":",
                       tg_result_is_error_instead(values[TG_RESULT_IS_ERROR]));

    if (tg_mcp_is_object(values[TG_RESULT_META])) {
        tg_json_put_member(out, ",\"_meta\":", values[TG_RESULT_META]);
    }

    if (tg_mcp_is_string(values[TG_RESULT_TYPE])) {
        tg_json_put_member(out, ",\"resultType\":", values[TG_RESULT_TYPE]);
    }

    tg_buf_char(out, '}');
}

const char *
tg_result_repair(tg_str_t raw, tg_buf_t *out)
{
    tg_str_t values[TG_RESULT_MEMBERS];
    const char *why;

    if (raw.len > TG_RESULT_REPAIR_MAX) {
        return NULL;
    }

    if (tg_json_members(raw, tg_result_members, values) != TG_OK) {
        return TG_RESULT_NONE;
    }

    if (tg_result_is_right(values) || tg_result_is_other(values)) {
        return NULL;
    }

    why = tg_result_mistake(values);

    if (why == NULL) {
        tg_result_put(out, raw, values);
    }

    return why;
}

/* --- what is structured --- */

void
tg_result_put_unstructured(tg_buf_t *out, tg_str_t raw)
{
    static const char *const replaced[] = { "content", "structuredContent",
                                            NULL };
    tg_str_t values[TG_RESULT_MEMBERS], content;

    (void) tg_json_members(raw, tg_result_members, values);
    content = values[TG_RESULT_CONTENT];
    tg_buf_text(out, "{\"content\":");

    if (tg_result_is_empty(content)
        && !tg_result_is_null(values[TG_RESULT_STRUCTURED]))
    {
        tg_buf_char(out, '[');
        tg_block_put_text(out, values[TG_RESULT_STRUCTURED]);
        tg_buf_char(out, ']');
    } else {
        tg_buf_str(out, content);
    }

    (void) tg_json_put_others(out, raw, replaced, 1);
    tg_buf_char(out, '}');
}

void
tg_result_put_structured(tg_buf_t *out, tg_str_t raw, tg_str_t value)
{
    static const char *const replaced[] = { "structuredContent", NULL };

    tg_buf_text(out, "{\"structuredContent\":");
    tg_buf_str(out, value);
    (void) tg_json_put_others(out, raw, replaced, 1);
    tg_buf_char(out, '}');
}
