#include "core/tg_block_repair.h"

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

const tg_mcp_member_t *
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

int
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

void
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

void
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
