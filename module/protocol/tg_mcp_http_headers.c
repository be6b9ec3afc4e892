/* HTTP headers of a modern MCP message. */
#include "protocol/tg_mcp_http_headers.h"

#include "base/tg_base64.h"
#include "base/tg_number.h"
#include "base/tg_utf8.h"

#define TG_MCP_HEADER_KEYWORD "x-mcp-header"
/* Around the value of a header in base64. */
#define TG_MCP_HEADER_OPEN "=?base64?"
#define TG_MCP_HEADER_CLOSE "?="
/* Largest integer that every JSON parser represents exactly. */
#define TG_MCP_INT_MAX INT64_C(9007199254740991)

/* Checks for text that needs no base64 and does not look like it. */
static int
tg_mcp_header_is_plain(tg_str_t text)
{
    static const size_t open = sizeof(TG_MCP_HEADER_OPEN) - 1;
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

    tg_buf_append_cstr(out, TG_MCP_HEADER_OPEN);
    tg_base64_encode(&base64, out, text.data, text.len);
    tg_base64_encode_end(&base64, out);
    tg_buf_append_cstr(out, TG_MCP_HEADER_CLOSE);
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
    tg_buf_t *out;                  /* NULL: nothing is written */
    const tg_http_fields_t *fields; /* NULL: no headers are checked */
    tg_str_t names[TG_MCP_HEADERS_MAX];
    size_t n;
    const char *why;
    int is_invalid; /* the schema is */
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

/* Decodes a header's value. Returns 0 for base64 that is not canonical. */
static int
tg_mcp_header_decode(tg_str_t value, tg_buf_t *text)
{
    static const size_t open = sizeof(TG_MCP_HEADER_OPEN) - 1;
    tg_base64_encoder_t base64 = { .n = 0 };
    tg_str_t encoded;
    tg_buf_t again;
    int is_valid;

    if (value.len < open + 2
        || memcmp(value.data, TG_MCP_HEADER_OPEN, open) != 0
        || memcmp(tg_str_end(value) - 2, TG_MCP_HEADER_CLOSE, 2) != 0)
    {
        tg_buf_append_str(text, value);
        return 1;
    }

    encoded = tg_str(value.data + open, value.len - open - 2);

    if (tg_base64_decode(text, encoded) != TG_OK
        || !tg_utf8_is_valid(tg_buf_view(text)))
    {
        return 0;
    }

    tg_buf_init(&again, text->alloc);
    tg_base64_encode(&base64, &again, text->data, text->len);
    tg_base64_encode_end(&base64, &again);
    is_valid = tg_str_eq(tg_buf_view(&again), encoded);
    tg_buf_deinit(&again);

    return is_valid;
}

/* Compares a decoded header with a raw string, number, true or false. */
static int
tg_mcp_header_equals(tg_str_t text, tg_str_t raw)
{
    tg_number_t a, b;

    switch (tg_json_type(raw)) {
    case TG_JSON_STRING:
        return tg_json_string_eq(raw, text);
    case TG_JSON_NUMBER:
        return tg_number_parse(text, &a) == TG_OK
               && tg_number_parse(raw, &b) == TG_OK
               && tg_number_compare(&a, &b) == 0;
    default:
        return tg_str_eq(text, raw);
    }
}

/* Checks that a header is there once and has a raw value. */
static int
tg_mcp_header_matches(const tg_http_fields_t *fields, tg_str_t prefix,
                      tg_str_t name, tg_str_t raw)
{
    tg_str_t value;
    tg_buf_t text;
    int is_equal;

    if (fields->find(fields->data, prefix, name, &value) != 1) {
        return 0;
    }

    tg_buf_init(&text, tg_alloc_libc());
    is_equal = tg_mcp_header_decode(value, &text)
               && tg_mcp_header_equals(tg_buf_view(&text), raw);
    tg_buf_deinit(&text);

    return is_equal;
}

/* Checks the header of an argument, which has none if its value is absent. */
static void
tg_mcp_param_headers_check_one(tg_mcp_param_headers_t *marks, tg_str_t name,
                               tg_str_t value)
{
    tg_json_type_t type;
    tg_str_t header;

    type = tg_json_type(value);

    /* The schema rejects these. */
    if (type == TG_JSON_OBJECT || type == TG_JSON_ARRAY) {
        return;
    }

    if (value.data == NULL || type == TG_JSON_NULL
            ? marks->fields->find(marks->fields->data, TG_STR("Mcp-Param-"),
                                  name, &header)
                  != 0
            : !tg_mcp_header_matches(marks->fields, TG_STR("Mcp-Param-"), name,
                                     value))
    {
        marks->why = "A header Mcp-Param-* does not repeat the argument that "
                     "the tool's schema marks with \"" TG_MCP_HEADER_KEYWORD
                     "\".";
    }
}

/* Handles a property with `x-mcp-header`; value may be absent. */
static void
tg_mcp_param_headers_visit_one(tg_mcp_param_headers_t *marks, tg_str_t mark,
                               tg_str_t schema, tg_str_t value)
{
    tg_str_t name;

    if (!tg_mcp_param_headers_add_name(marks, mark, &name)
        || !tg_mcp_schema_has_header_type(schema))
    {
        marks->is_invalid = 1;
        marks->why = "the schema of its tool has an \"" TG_MCP_HEADER_KEYWORD
                     "\" that is not a unique token, or is not on a string, "
                     "integer or boolean";
    } else if (marks->fields == NULL && marks->out == NULL) {
        /* NGINX drops headers with other characters. */
        marks->why = tg_str_is_word(name, "-") ? NULL : "";
    } else if (marks->fields != NULL) {
        tg_mcp_param_headers_check_one(marks, name, value);
    } else if (marks->out != NULL && tg_mcp_argument_has_header(value)) {
        tg_mcp_http_write_header(marks->out, "Mcp-Param-", name, value);
    }
}

/* Visits nested objects, too. object may be absent. */
static void
tg_mcp_param_headers_visit_all(tg_mcp_param_headers_t *marks, tg_str_t schema,
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

        tg_buf_init(&text, tg_alloc_libc());
        tg_json_append_unescaped(&text, key);
        value = TG_STR_NONE;

        if (tg_json_type(object) == TG_JSON_OBJECT) {
            (void) tg_json_get_member(object, tg_buf_view(&text), &value);
        }

        if (tg_buf_has_failed(&text)) {
            marks->why = "There is not enough memory.";
        }

        tg_buf_deinit(&text);

        if (tg_json_get_member(property, TG_STR(TG_MCP_HEADER_KEYWORD), &mark)
            == TG_OK) {
            tg_mcp_param_headers_visit_one(marks, mark, property, value);
        } else {
            tg_mcp_param_headers_visit_all(marks, property, value);
        }
    }
}

const char *
tg_mcp_http_check_schema(tg_str_t schema)
{
    tg_mcp_param_headers_t marks;

    marks.out = NULL;
    marks.fields = NULL;
    marks.n = 0;
    marks.why = NULL;
    tg_mcp_param_headers_visit_all(&marks, schema, TG_STR_NONE);

    return marks.why != NULL
               ? "\"" TG_MCP_HEADER_KEYWORD
                 "\" must be the name of a header of letters, digits and "
                 "hyphens, unique in the tool, on a property of type string, "
                 "integer or boolean"
               : NULL;
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
    marks.fields = NULL;
    marks.n = 0;
    marks.why = NULL;
    tg_mcp_param_headers_visit_all(&marks, schema, message->p.arguments);

    return marks.why;
}

const char *
tg_mcp_http_check_arguments(const tg_http_fields_t *fields,
                            const tg_message_t *message,
                            const tg_catalog_entry_t *entry)
{
    tg_mcp_param_headers_t marks;
    tg_str_t schema;

    if (!tg_mcp_tool_has_param_headers(entry->listing)
        || tg_json_get_member(entry->listing, TG_STR("inputSchema"), &schema)
               != TG_OK)
    {
        return NULL;
    }

    marks.out = NULL;
    marks.fields = fields;
    marks.n = 0;
    marks.why = NULL;
    marks.is_invalid = 0;
    tg_mcp_param_headers_visit_all(&marks, schema, message->p.arguments);

    /* Clients ignore a tool with an invalid schema, and what it marks. */
    return marks.is_invalid ? NULL : marks.why;
}

tg_str_t
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

const char *
tg_mcp_http_check_fields(const tg_http_fields_t *fields,
                         const tg_message_t *message)
{
    tg_str_t subject, method;

    if (fields->find(fields->data, TG_STR("Mcp-"), TG_STR("Method"), &method)
            != 1
        || !tg_json_string_eq(message->method, method))
    {
        return "The header Mcp-Method must repeat the method of the message.";
    }

    subject = tg_mcp_find_subject(message);

    return subject.data != NULL
                   && !tg_mcp_header_matches(fields, TG_STR("Mcp-"),
                                             TG_STR("Name"), subject)
               ? "The header Mcp-Name must repeat the name, URI or task id "
                 "that the message has in its params."
               : NULL;
}
