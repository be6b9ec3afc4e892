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

const char *
tg_catalog_check_name(tg_catalog_entry_type_t kind, tg_str_t name,
                      int *is_warning)
{
    *is_warning = 0;

    return kind == TG_ENTRY_TOOL ? tg_tool_check_name(name, is_warning)
                                 : tg_method_check_name(name);
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
