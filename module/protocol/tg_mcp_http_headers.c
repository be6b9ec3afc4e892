/* HTTP headers of a modern MCP message. */
#include "protocol/tg_mcp_http_headers.h"

#include "base/tg_base64.h"

#define TG_MCP_HEADER_KEYWORD "x-mcp-header"
/* Largest integer that every JSON parser represents exactly. */
#define TG_MCP_INT_MAX INT64_C(9007199254740991)

/* Checks for text that needs no base64 and does not look like it. */
static int
tg_mcp_header_is_plain(tg_str_t text)
{
    static const size_t open = sizeof("=?base64?") - 1;
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (text.data[i] < ' ' || text.data[i] > '~') {
            return 0;
        }
    }

    return text.len == 0
           || (text.data[0] != ' ' && text.data[text.len - 1] != ' '
               && (text.len < open + 2
                   || memcmp(text.data, "=?base64?", open) != 0
                   || memcmp(tg_str_end(text) - 2, "?=", 2) != 0));
}

void
tg_mcp_http_write_value(tg_buf_t *out, tg_str_t text)
{
    tg_base64_encoder_t base64 = { .n = 0 };

    if (tg_mcp_header_is_plain(text)) {
        tg_buf_append_str(out, text);
        return;
    }

    tg_buf_append_cstr(out, "=?base64?");
    tg_base64_encode(&base64, out, text.data, text.len);
    tg_base64_encode_end(&base64, out);
    tg_buf_append_cstr(out, "?=");
}

/* Appends a header. raw is a string, an integer, true or false. */
static void
tg_mcp_http_write_header(tg_buf_t *out, const char *prefix, tg_str_t name,
                         tg_str_t raw)
{
    tg_buf_t text;
    int64_t number;

    tg_buf_init(&text, out->alloc);

    if (tg_json_type(raw) == TG_JSON_STRING) {
        tg_json_append_unescaped(&text, tg_json_string_body(raw));
    } else if (tg_json_parse_int64(raw, &number) == TG_OK) {
        tg_buf_append_int(&text, number);
    } else {
        tg_buf_append_str(&text, raw);
    }

    tg_buf_append_cstr(out, prefix);
    tg_buf_append_str(out, name);
    tg_buf_append_cstr(out, text.len != 0 ? ": " : ":");
    tg_mcp_http_write_value(out, tg_buf_view(&text));
    tg_buf_append_char(out, '\0');
    out->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

typedef struct {
    tg_buf_t *out;
    tg_str_t names[TG_MCP_HEADERS_MAX];
    size_t n;
    const char *why;
} tg_mcp_param_headers_t;

/* Adds a header name that is a token and unique within the tool. */
static int
tg_mcp_param_headers_add_name(tg_mcp_param_headers_t *marks, tg_str_t raw,
                              tg_str_t *name)
{
    size_t i;

    if (tg_json_type(raw) != TG_JSON_STRING || raw.len == 2
        || marks->n == TG_MCP_HEADERS_MAX)
    {
        return 0;
    }

    *name = tg_json_string_body(raw);

    if (!tg_str_is_word(*name, "!#$%&'*+-.^_`|~")) {
        return 0;
    }

    for (i = 0; i < marks->n; i++) {
        if (tg_str_eq_nocase(marks->names[i], *name)) {
            return 0;
        }
    }

    marks->names[marks->n++] = *name;

    return 1;
}

/* Checks whether the schema's type has one defined text form in a header. */
static int
tg_mcp_schema_has_header_type(tg_str_t schema)
{
    static const char *const types[] = { "string", "integer", "boolean", NULL };
    tg_str_t raw;

    return tg_json_get_member(schema, TG_STR("type"), &raw) == TG_OK
           && tg_json_string_find(raw, types) >= 0;
}

/* Checks an argument: one that no valid schema accepts has no header. */
static int
tg_mcp_argument_has_header(tg_str_t raw)
{
    int64_t number;

    switch (tg_json_type(raw)) {
    case TG_JSON_STRING:
    case TG_JSON_TRUE:
    case TG_JSON_FALSE:
        return 1;
    case TG_JSON_NUMBER:
        return tg_json_parse_int64(raw, &number) == TG_OK
               && number <= TG_MCP_INT_MAX && number >= -TG_MCP_INT_MAX;
    default:
        return 0;
    }
}

/* Appends the header of a property with `x-mcp-header`; value may be absent. */
static void
tg_mcp_param_headers_write_one(tg_mcp_param_headers_t *marks, tg_str_t mark,
                               tg_str_t schema, tg_str_t value)
{
    tg_str_t name;

    if (!tg_mcp_param_headers_add_name(marks, mark, &name)
        || !tg_mcp_schema_has_header_type(schema))
    {
        marks->why = "the schema of its tool has an \"" TG_MCP_HEADER_KEYWORD
                     "\" that is not a unique token, or is not on a string, "
                     "integer or boolean";
    } else if (tg_mcp_argument_has_header(value)) {
        tg_mcp_http_write_header(marks->out, "Mcp-Param-", name, value);
    }
}

/* Appends headers of nested objects, too. object may be absent. */
static void
tg_mcp_param_headers_write_all(tg_mcp_param_headers_t *marks, tg_str_t schema,
                               tg_str_t object)
{
    tg_str_t properties, key, property, mark, value;
    tg_buf_t text;
    tg_json_cursor_t json;

    if (!tg_json_has_member(schema, TG_STR("properties"), TG_JSON_OBJECT,
                            &properties))
    {
        return;
    }

    tg_json_iter_init_members(&json, properties);

    while (marks->why == NULL
           && tg_json_iter_next_member(&json, &key, &property)) {
        if (tg_json_type(property) != TG_JSON_OBJECT) {
            continue;
        }

        tg_buf_init(&text, marks->out->alloc);
        tg_json_append_unescaped(&text, key);
        value = TG_STR_NONE;

        if (tg_json_type(object) == TG_JSON_OBJECT) {
            (void) tg_json_get_member(object, tg_buf_view(&text), &value);
        }

        marks->out->failed |= tg_buf_has_failed(&text);
        tg_buf_deinit(&text);

        if (tg_json_get_member(property, TG_STR(TG_MCP_HEADER_KEYWORD), &mark)
            == TG_OK) {
            tg_mcp_param_headers_write_one(marks, mark, property, value);
        } else {
            tg_mcp_param_headers_write_all(marks, property, value);
        }
    }
}

/* Checks quickly for any `x-mcp-header`, which most tools lack. */
static int
tg_mcp_tool_has_param_headers(tg_str_t listing)
{
    static const size_t len = sizeof(TG_MCP_HEADER_KEYWORD) - 1;
    const char *at, *end;

    for (at = listing.data, end = tg_str_end(listing);
         at != NULL && (size_t) (end - at) >= len; at++)
    {
        at = memchr(at, 'x', (size_t) (end - at) - len + 1);

        if (at == NULL || memcmp(at, TG_MCP_HEADER_KEYWORD, len) == 0) {
            break;
        }
    }

    return at != NULL && (size_t) (end - at) >= len;
}

static const char *
tg_mcp_http_write_arguments(tg_buf_t *out, const tg_message_t *message,
                            const tg_catalog_t *tools)
{
    const tg_catalog_entry_t *entry;
    tg_mcp_param_headers_t marks;
    tg_str_t schema;

    entry = tools != NULL
                ? tg_catalog_find_escaped(tools, TG_ENTRY_TOOL,
                                          tg_json_string_body(message->p.name))
                : NULL;

    if (entry == NULL || !tg_mcp_tool_has_param_headers(entry->listing)
        || tg_json_get_member(entry->listing, TG_STR("inputSchema"), &schema)
               != TG_OK)
    {
        return NULL;
    }

    marks.out = out;
    marks.n = 0;
    marks.why = NULL;
    tg_mcp_param_headers_write_all(&marks, schema, message->p.arguments);

    return marks.why;
}

/* Returns the raw name, URI or task id of a request, or absent. */
static tg_str_t
tg_mcp_find_subject(const tg_message_t *message)
{
    static const struct {
        const char *method;
        const char *member;
    } subjects[] = {
        { "tools/call", "name" },     { "prompts/get", "name" },
        { "resources/read", "uri" },  { "tasks/get", "taskId" },
        { "tasks/update", "taskId" }, { "tasks/cancel", "taskId" },
    };
    tg_str_t value;
    size_t i;

    for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        if (tg_json_string_eq(message->method,
                              tg_str_from_cstr(subjects[i].method))
            && tg_json_has_member(message->params,
                                  tg_str_from_cstr(subjects[i].member),
                                  TG_JSON_STRING, &value))
        {
            return value;
        }
    }

    return TG_STR_NONE;
}

const char *
tg_mcp_http_write_headers(tg_buf_t *out, const tg_message_t *message,
                          const tg_catalog_t *tools)
{
    tg_str_t subject;

    tg_mcp_http_write_header(out, "Mcp-", TG_STR("Method"), message->method);
    subject = tg_mcp_find_subject(message);

    if (subject.data == NULL) {
        return NULL;
    }

    tg_mcp_http_write_header(out, "Mcp-", TG_STR("Name"), subject);

    return tg_json_type(message->p.name) == TG_JSON_STRING
                   && tg_json_string_eq(message->method, TG_STR("tools/call"))
               ? tg_mcp_http_write_arguments(out, message, tools)
               : NULL;
}
