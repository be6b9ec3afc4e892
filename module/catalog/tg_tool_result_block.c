/* Repairs content blocks of tool results. */
#include "catalog/tg_tool_result_block.h"

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
    { "icons", tg_mcp_is_icon_array, NULL, 0 },
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

const tg_mcp_member_t *
tg_content_block_members(tg_str_t block)
{
    tg_str_t type;
    size_t i;

    if (!tg_json_has_member(block, TG_STR("type"), TG_JSON_STRING, &type)) {
        return NULL;
    }

    for (i = 0; i < sizeof(tg_block_types) / sizeof(tg_block_types[0]); i++) {
        if (tg_json_string_eq(type, tg_str_from_cstr(tg_block_types[i].type))) {
            return tg_block_types[i].members;
        }
    }

    return NULL;
}

static int
tg_content_block_has_string(tg_str_t block, const char *key)
{
    tg_str_t value;

    return tg_json_has_member(block, tg_str_from_cstr(key), TG_JSON_STRING,
                              &value);
}

/* Checks that a resource has a URI, and text or binary data. */
static int
tg_content_block_has_resource(tg_str_t block)
{
    tg_str_t resource;

    return tg_json_has_member(block, TG_STR("resource"), TG_JSON_OBJECT,
                              &resource)
           && tg_content_block_has_string(resource, "uri")
           && (tg_content_block_has_string(resource, "text")
               || tg_content_block_has_string(resource, "blob"));
}

static int
tg_content_block_check(tg_str_t block, const tg_mcp_member_t *members)
{
    if (members == tg_resource_members) {
        return tg_content_block_has_resource(block)
                   ? tg_mcp_members_check(block, members)
                         & ~TG_MCP_MEMBER_MISSING
                   : TG_MCP_MEMBER_MISSING;
    }

    return tg_mcp_members_check(block, members);
}

/* Splits `data:TYPE;base64,DATA`, an escaped body. */
static int
tg_data_url_parse(tg_str_t body, tg_str_t *type, tg_str_t *data)
{
    static const char middle[] = ";base64,";
    size_t i;

    if (!tg_str_has_prefix(body, "data:")) {
        return 0;
    }

    for (i = 5; i < body.len && body.data[i] != ','; i++) {
        *data = tg_str_skip(body, i);

        if (tg_str_has_prefix(*data, middle)) {
            *type = tg_str(body.data + 5, i - 5);
            *data = tg_str_skip(*data, sizeof(middle) - 1);
            return 1;
        }
    }

    return 0;
}

/* Guesses by the first bytes of an escaped body; absent if unknown. */
static tg_str_t
tg_base64_guess_mime_type(tg_str_t body)
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
        if (tg_str_has_prefix(body, types[i].begin)) {
            return tg_str_from_cstr(types[i].type);
        }
    }

    return TG_STR_NONE;
}

/* Stores escaped media of another form. Returns 0 if there is none. */
static int
tg_content_block_find_media(tg_str_t block, const tg_mcp_member_t *members,
                            tg_str_t *data, tg_str_t *mime)
{
    tg_str_t raw, url_type;

    if (members != tg_media_members
        || !tg_json_has_member(block, TG_STR("data"), TG_JSON_STRING, &raw))
    {
        return 0;
    }

    *data = tg_json_string_body(raw);
    url_type = TG_STR_NONE;

    if (!tg_data_url_parse(*data, &url_type, data)
        && tg_content_block_has_string(block, "mimeType"))
    {
        return 0;
    }

    *mime = tg_json_has_member(block, TG_STR("mimeType"), TG_JSON_STRING, &raw)
                    || tg_json_has_member(block, TG_STR("mime_type"),
                                          TG_JSON_STRING, &raw)
                ? tg_json_string_body(raw)
            : url_type.len != 0 ? url_type
                                : tg_base64_guess_mime_type(*data);

    return mime->len != 0;
}

/*
 * Checks for an unknown type that a later MCP may define: the client decides
 * then. Some common mistakes for "text" will never be defined.
 */
static int
tg_content_block_is_newer_type(tg_str_t block, const tg_mcp_member_t *members)
{
    static const char *const mistakes[] = { "data",   "error",    "html",
                                            "json",   "markdown", "object",
                                            "string", NULL };
    tg_str_t type;

    return members == NULL
           && tg_json_has_member(block, TG_STR("type"), TG_JSON_STRING, &type)
           && tg_json_string_find(type, mistakes) < 0;
}

int
tg_content_block_is_valid(tg_str_t block)
{
    const tg_mcp_member_t *members;
    tg_str_t data, mime;

    members = tg_content_block_members(block);

    if (tg_content_block_is_newer_type(block, members)) {
        return 1;
    }

    return members != NULL && tg_content_block_check(block, members) == 0
           && !tg_content_block_find_media(block, members, &data, &mime);
}

void
tg_content_block_write_text(tg_buf_t *out, tg_str_t value)
{
    tg_buf_append_cstr(out, "{\"type\":\"text\",\"text\":");

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_buf_append_str(out, value);
    } else {
        tg_json_write_string(out, value);
    }

    tg_buf_append_char(out, '}');
}

static void
tg_content_block_write_as_text(tg_buf_t *out, tg_str_t block)
{
    tg_str_t text;

    if (tg_json_type(block) != TG_JSON_OBJECT
        || tg_json_get_member(block, TG_STR("text"), &text) != TG_OK)
    {
        text = block;
    }

    if (tg_json_type(text) == TG_JSON_NULL) {
        text = tg_content_block_members(block) == tg_text_members
                   ? TG_STR("\"\"")
                   : block;
    }

    tg_content_block_write_text(out, text);
}

/* Replaces the members in names by those of begin, an unfinished object. */
static void
tg_content_block_write_replaced(tg_buf_t *out, tg_str_t block, tg_buf_t *begin,
                                const char *const *names,
                                const tg_mcp_member_t *members)
{
    (void) tg_json_write_members_except(begin, block, names, 1);
    tg_buf_append_char(begin, '}');
    out->failed |= tg_buf_has_failed(begin);

    if (!tg_buf_has_failed(begin)) {
        (void) tg_mcp_members_write_valid(out, tg_buf_view(begin), members);
    }
}

static void
tg_content_block_write_media(tg_buf_t *out, tg_str_t block, tg_str_t data,
                             tg_str_t mime)
{
    static const char *const names[] = { "data", "mimeType", NULL };
    tg_buf_t begin;

    tg_buf_init(&begin, out->alloc);
    tg_buf_append_cstr(&begin, "{\"data\":\"");
    tg_buf_append_str(&begin, data);
    tg_buf_append_cstr(&begin, "\",\"mimeType\":\"");
    tg_buf_append_str(&begin, mime);
    tg_buf_append_char(&begin, '"');
    tg_content_block_write_replaced(out, block, &begin, names,
                                    tg_media_members);
    tg_buf_deinit(&begin);
}

/* Appends a link without a name, which gets its URI as the name. */
static void
tg_content_block_write_link(tg_buf_t *out, tg_str_t block, tg_str_t uri)
{
    static const char *const names[] = { "name", NULL };
    tg_buf_t begin;

    tg_buf_init(&begin, out->alloc);
    tg_buf_append_char(&begin, '{');
    tg_json_add_raw(&begin, "name", uri);
    tg_content_block_write_replaced(out, block, &begin, names, tg_link_members);
    tg_buf_deinit(&begin);
}

void
tg_content_block_write_repaired(tg_buf_t *out, tg_str_t block)
{
    const tg_mcp_member_t *members;
    tg_str_t data, mime;

    members = tg_content_block_members(block);

    if (tg_content_block_is_newer_type(block, members)) {
        tg_buf_append_str(out, block);

    } else if (tg_content_block_find_media(block, members, &data, &mime)) {
        tg_content_block_write_media(out, block, data, mime);

    } else if (members != NULL
               && !(tg_content_block_check(block, members)
                    & TG_MCP_MEMBER_MISSING))
    {
        (void) tg_mcp_members_write_valid(out, block, members);

    } else if (members == tg_link_members
               && tg_json_has_member(block, TG_STR("uri"), TG_JSON_STRING,
                                     &data))
    {
        tg_content_block_write_link(out, block, data);

    } else {
        tg_content_block_write_as_text(out, block);
    }
}
