/* Checks of tool and method names, schema roots and annotations in a config. */
#include "catalog/tg_catalog.h"

static const char *
tg_tool_check_name(tg_str_t name, int *is_warning)
{
    if (name.len == 0 || name.len > TG_NAME_MAX) {
        return "a tool's name must have 1 to 128 characters";
    }

    if (!tg_str_is_word(name, "_-.")) {
        return "a tool's name consists of letters, digits, \"_\", \"-\" "
               "and \".\"; use \"_\" instead of other characters";
    }

    if (!tg_str_is_word(name, "_-") || name.len > TG_NAME_AGENT_MAX) {
        *is_warning = 1;
        return "many agents accept only 1 to 64 letters, digits, \"_\" and "
               "\"-\" in a tool's name";
    }

    return NULL;
}

static const char *
tg_rpc_check_name(tg_str_t name)
{
    size_t i;

    if (name.len == 0 || name.len > TG_NAME_MAX) {
        return "a method's name must have 1 to 128 characters";
    }

    for (i = 0; i < name.len; i++) {
        if ((signed char) name.data[i] <= ' ' || name.data[i] == 0x7f
            || name.data[i] == '"' || name.data[i] == '\\')
        {
            return "a method's name must not contain blanks, quotes, "
                   "backslashes, "
                   "control characters or bytes beyond ASCII";
        }
    }

    return NULL;
}

/* The names of MCP and Toolgate that a config cannot use. */
typedef struct {
    const char *const *names; /* NULL-terminated */
    const char *name_error;
    const char *const *prefixes; /* NULL-terminated */
    const char *prefix_error;
} tg_reserved_names_t;

static const char *
tg_rpc_check_name_with(tg_str_t name, const tg_reserved_names_t *reserved)
{
    const char *why;
    size_t i;

    why = tg_rpc_check_name(name);

    if (why == NULL && tg_str_find(name, reserved->names) >= 0) {
        why = reserved->name_error;
    }

    for (i = 0; why == NULL && reserved->prefixes[i] != NULL; i++) {
        if (tg_str_has_prefix(name, reserved->prefixes[i])) {
            why = reserved->prefix_error;
        }
    }

    return why;
}

const char *
tg_notification_check_name(tg_str_t name)
{
    static const char *const names[] = {
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        NULL
    };
    static const char *const prefixes[] = { "rpc.", "$/",
                                            "notifications/toolgate/", NULL };
    static const tg_reserved_names_t reserved = {
        names, "MCP defines this notification itself; choose another name",
        prefixes,
        "names that start with \"rpc.\", \"$/\" or "
        "\"notifications/toolgate/\" are reserved by the protocols; choose "
        "another name"
    };

    return tg_rpc_check_name_with(name, &reserved);
}

static const char *
tg_method_check_name(tg_str_t name)
{
    static const char *const names[] = { "ping",
                                         "initialize",
                                         "tools/list",
                                         "tools/call",
                                         "server/discover",
                                         "subscriptions/listen",
                                         "prompts/list",
                                         "prompts/get",
                                         "resources/list",
                                         "resources/templates/list",
                                         "resources/read",
                                         "resources/subscribe",
                                         "resources/unsubscribe",
                                         "completion/complete",
                                         "skills/list",
                                         "skills/get",
                                         "resources/directory/read",
                                         "toolgate.status",
                                         "toolgate.cancel",
                                         NULL };
    static const char *const prefixes[] = { "rpc.", "$/", "notifications/",
                                            NULL };
    static const tg_reserved_names_t reserved = {
        names, "Toolgate answers this method itself; choose another name",
        prefixes,
        "names that start with \"rpc.\", \"$/\" or \"notifications/\" are "
        "reserved by the protocols; choose another name"
    };

    return tg_rpc_check_name_with(name, &reserved);
}

static const char *
tg_prompt_check_name(tg_str_t name, int *is_warning)
{
    const char *why;

    why = tg_rpc_check_name(name);

    if (why != NULL) {
        return "a prompt's name must have 1 to 128 characters of ASCII without "
               "blanks, quotes and backslashes, as users type it as a command";
    }

    if (!tg_str_is_word(name, "_-") || name.len > TG_NAME_AGENT_MAX) {
        *is_warning = 1;
        return "users type it as a command, for which many agents accept only "
               "1 to 64 letters, digits, \"_\" and \"-\"";
    }

    return NULL;
}

const char *
tg_uri_check(tg_str_t uri)
{
    size_t i, scheme;

    scheme = tg_str_find_char(uri, ":");

    if (scheme == 0 || scheme == uri.len || !tg_is_alpha(uri.data[0])
        || !tg_str_is_word(tg_str(uri.data, scheme), "+-."))
    {
        return "a URI begins with a scheme and a colon, such as "
               "\"notes:///today\"";
    }

    if (scheme + 1 == uri.len) {
        return "a URI has a path after the scheme, such as "
               "\"notes:///today\"";
    }

    for (i = 0; i < uri.len; i++) {
        if (uri.data[i] <= ' ' || uri.data[i] > '~'
            || tg_is_one_of(uri.data[i], "\"<>\\^`{|}"))
        {
            return tg_is_one_of(uri.data[i], "{}")
                       ? "a URI has no \"{\"; a \"resource_template\" has "
                         "variables"
                       : "a URI has no blanks, quotes, brackets and bytes "
                         "beyond ASCII; write such a byte as \"%\" and two "
                         "hexadecimal digits";
        }

        if (uri.data[i] == '%'
            && (uri.len - i < 3 || tg_hex_value(uri.data[i + 1]) < 0
                || tg_hex_value(uri.data[i + 2]) < 0))
        {
            return "in a URI, two hexadecimal digits follow a \"%\"; write "
                   "\"%25\" for the sign itself";
        }
    }

    return NULL;
}

/* Warns of a URI or template that agents may fetch from the web. */
static const char *
tg_uri_check_scheme(tg_str_t uri, int *is_warning)
{
    *is_warning = tg_str_has_prefix(uri, "https:")
                  || tg_str_has_prefix(uri, "http:");

    return *is_warning ? "agents may fetch it from the web instead of from "
                         "this server; use a scheme of your own, such as "
                         "\"notes:\""
                       : NULL;
}

static const char *
tg_resource_check_uri(tg_str_t uri, int *is_warning)
{
    const char *why;

    if (uri.len > TG_URI_MAX) {
        return "a URI must have at most 2048 bytes";
    }

    why = tg_uri_check(uri);

    return why != NULL ? why : tg_uri_check_scheme(uri, is_warning);
}

const char *
tg_entry_type_name(tg_catalog_entry_type_t kind)
{
    static const char *const names[] = {
        [TG_ENTRY_TOOL] = "tool",
        [TG_ENTRY_METHOD] = "method",
        [TG_ENTRY_PROMPT] = "prompt",
        [TG_ENTRY_RESOURCE] = "resource",
        [TG_ENTRY_TEMPLATE] = "resource_template",
        [TG_ENTRY_COMPLETION] = "completion",
    };

    return names[kind];
}

const char *
tg_catalog_check_name(tg_catalog_entry_type_t kind, tg_str_t name,
                      int *is_warning)
{
    *is_warning = 0;

    switch (kind) {
    case TG_ENTRY_TOOL:
        return tg_tool_check_name(name, is_warning);
    case TG_ENTRY_PROMPT:
        return tg_prompt_check_name(name, is_warning);
    case TG_ENTRY_RESOURCE:
        return tg_resource_check_uri(name, is_warning);
    case TG_ENTRY_TEMPLATE:
        return tg_uri_check_scheme(name, is_warning);
    default:
        return tg_method_check_name(name);
    }
}

const char *
tg_tool_check_schema(tg_str_t schema)
{
    tg_str_t value;

    if (tg_json_type(schema) != TG_JSON_OBJECT) {
        return "a tool's schema must be a JSON object, such as "
               "{\"type\":\"object\",\"properties\":{}}";
    }

    if (tg_json_get_member(schema, TG_STR("type"), &value) != TG_OK
        || !tg_json_string_eq(value, TG_STR("object")))
    {
        return "the root of a tool's schema must have \"type\":\"object\", as "
               "MCP requires";
    }

    return NULL;
}

const char *
tg_tool_check_annotations(tg_str_t annotations)
{
    static const char *const flags[] = { "readOnlyHint", "destructiveHint",
                                         "idempotentHint", "openWorldHint" };
    tg_json_type_t type;
    tg_str_t value;
    size_t i;

    if (tg_json_type(annotations) != TG_JSON_OBJECT) {
        return "must be a JSON object, such as '{\"readOnlyHint\":true}'";
    }

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (tg_json_get_member(annotations, tg_str_from_cstr(flags[i]), &value)
            != TG_OK)
        {
            continue;
        }

        type = tg_json_type(value);

        if (type != TG_JSON_TRUE && type != TG_JSON_FALSE) {
            return "must have true or false for readOnlyHint, "
                   "destructiveHint, idempotentHint and openWorldHint";
        }
    }

    if (tg_json_get_member(annotations, TG_STR("title"), &value) == TG_OK
        && tg_json_type(value) != TG_JSON_STRING)
    {
        return "must have a string for title";
    }

    return NULL;
}
