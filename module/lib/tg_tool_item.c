/* What prompts, resources and templates have beyond tools. */
#include "lib/tg_tool.h"

#include "base/tg_utf8.h"
#include "catalog/tg_mime_type.h"
#include "lib/tg_option.h"

#include <stdlib.h>

/* Largest key of a completion in bytes; a template has up to TG_URI_MAX. */
#define TG_TOOL_KEY_MAX (2 * TG_URI_MAX)

/* --- arguments --- */

static int
tg_tool_set_arguments_error(const tg_tool_t *tool)
{
    return tg_tool_set_option_error(tool, TG_TOOL_OPTION_ARGUMENTS,
                                    "must be a JSON array of objects with a "
                                    "\"name\", each another one, and perhaps "
                                    "a \"description\" and \"required\"");
}

/* Checks whether an earlier element of the array has the name. */
static int
tg_tool_has_argument(tg_str_t arguments, tg_str_t end, tg_str_t name)
{
    tg_json_cursor_t json;
    tg_str_t argument, value;

    tg_json_iter_init(&json, arguments);

    while (tg_json_iter_next(&json, &argument) && argument.data != end.data) {
        if (tg_json_has_member(argument, TG_STR("name"), TG_JSON_STRING, &value)
            && tg_str_eq(value, name))
        {
            return 1;
        }
    }

    return 0;
}

static void
tg_tool_begin_schema(tg_tool_t *tool)
{
    tg_buf_append_cstr(&tool->schema,
                       "{\"type\":\"object\",\"additionalProperties\":false,"
                       "\"properties\":{");
}

/* Appends the property of an argument, whose raw name is a string. */
static void
tg_tool_append_property(tg_tool_t *tool, tg_str_t name)
{
    tg_json_begin_element(&tool->schema);
    tg_buf_append_str(&tool->schema, name);
    tg_buf_append_cstr(&tool->schema, ":{\"type\":\"string\"}");
}

static void
tg_tool_end_schema(tg_tool_t *tool)
{
    tg_buf_append_char(&tool->schema, '}');
    tool->entry.input_schema = tg_buf_view(&tool->schema);
}

static int
tg_tool_make_prompt_schema(tg_tool_t *tool)
{
    tg_json_cursor_t json;
    tg_str_t arguments, argument, name, value;

    arguments = tool->entry.arguments;

    if (arguments.data != NULL && tg_json_type(arguments) != TG_JSON_ARRAY) {
        return tg_tool_set_arguments_error(tool);
    }

    tg_tool_begin_schema(tool);
    tg_json_iter_init(&json, arguments);

    while (tg_json_iter_next(&json, &argument)) {
        if (tg_json_type(argument) != TG_JSON_OBJECT
            || !tg_json_has_member(argument, TG_STR("name"), TG_JSON_STRING,
                                   &name)
            || tg_tool_has_argument(arguments, argument, name))
        {
            return tg_tool_set_arguments_error(tool);
        }

        tg_tool_append_property(tool, name);
    }

    tg_buf_append_cstr(&tool->schema, "},\"required\":[");
    tg_json_iter_init(&json, arguments);

    while (tg_json_iter_next(&json, &argument)) {
        if (tg_json_has_member(argument, TG_STR("required"), TG_JSON_TRUE,
                               &value)) {
            (void) tg_json_get_member(argument, TG_STR("name"), &name);
            tg_json_begin_element(&tool->schema);
            tg_buf_append_str(&tool->schema, name);
        }
    }

    tg_buf_append_char(&tool->schema, ']');
    tg_tool_end_schema(tool);

    return 0;
}

static int
tg_tool_parse_template(tg_tool_t *tool)
{
    const char *why;
    tg_buf_t name;
    size_t i;
    int rc;

    rc = tg_uri_template_parse(tg_alloc_libc(), tool->entry.name,
                               &tool->uri_template, &why);

    if (rc != TG_OK) {
        return rc == TG_NOMEM ? tg_lib_set_nomem_error()
                              : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                                 "\"%s\": %s", tool->name, why);
    }

    tool->entry.uri_template = tool->uri_template;
    tg_tool_begin_schema(tool);
    tg_buf_init(&name, tg_alloc_libc());

    for (i = 0; i < tool->uri_template->nvariables; i++) {
        tg_buf_truncate(&name, 0);
        tg_json_write_string(&name, tool->uri_template->variables[i].name);
        tg_tool_append_property(tool, tg_buf_view(&name));
    }

    tg_buf_append_char(&tool->schema, '}');
    tg_tool_end_schema(tool);
    rc = tg_buf_has_failed(&name) ? tg_lib_set_nomem_error() : 0;
    tg_buf_deinit(&name);

    return rc;
}

/* --- resources --- */

/* Returns the last segment of a URI's path, or else the whole URI. */
static tg_str_t
tg_uri_get_last_segment(tg_str_t uri)
{
    size_t at;

    for (at = uri.len; at != 0 && uri.data[at - 1] != '/'; at--) { /* void */
    }

    return at == uri.len ? uri : tg_str_skip(uri, at);
}

/* Parses `TIME` or `TIME public`. */
static int
tg_tool_parse_ttl(tg_tool_t *tool)
{
    const char *text;
    uint64_t ms;
    tg_str_t time;
    char *copy;
    int rc;

    text = tool->texts[TG_TOOL_OPTION_TTL];

    if (text == NULL) {
        return 0;
    }

    time = tg_str(text, strcspn(text, " "));
    tool->entry.is_public = strcmp(text + time.len, " public") == 0;

    if (text[time.len] != '\0' && !tool->entry.is_public) {
        return tg_tool_set_option_error(tool, TG_TOOL_OPTION_TTL,
                                        "must be a time, or a time and "
                                        "\"public\"");
    }

    copy = tg_str_dup(time);
    rc = copy != NULL ? tg_option_parse_time("ttl", copy, &ms)
                      : tg_lib_set_nomem_error();
    free(copy);

    if (rc == 0) {
        tool->entry.ttl_ms = (int64_t) ms;
    }

    return rc;
}

static int
tg_tool_parse_resource(tg_tool_t *tool)
{
    const char *mime;
    tg_str_t name;

    name = tool->texts[TG_TOOL_OPTION_NAME] != NULL
               ? tg_str_from_cstr(tool->texts[TG_TOOL_OPTION_NAME])
           : tool->entry.kind == TG_ENTRY_TEMPLATE
               ? tool->entry.name
               : tg_uri_get_last_segment(tool->entry.name);

    if (!tg_utf8_is_valid(name)) {
        return tg_tool_set_option_error(tool, TG_TOOL_OPTION_NAME,
                                        "must be UTF-8");
    }

    tool->entry.label = name;
    mime = tool->texts[TG_TOOL_OPTION_MIME];

    if (mime != NULL && !tg_mime_type_is_valid(tg_str_from_cstr(mime))) {
        return tg_tool_set_option_error(tool, TG_TOOL_OPTION_MIME,
                                        "must be a MIME type such as "
                                        "\"text/plain\"");
    }

    tool->entry.mime = mime != NULL ? tg_str_from_cstr(mime) : TG_STR_NONE;

    if (tool->entry.annotations.data != NULL
        && tg_json_type(tool->entry.annotations) != TG_JSON_OBJECT)
    {
        return tg_tool_set_option_error(tool, TG_TOOL_OPTION_ANNOTATIONS,
                                        "must be a JSON object, such as "
                                        "{\"priority\":0.5}");
    }

    return tg_tool_parse_ttl(tool);
}

int
tg_tool_parse_item(tg_tool_t *tool)
{
    int rc;

    rc = 0;

    if (tool->entry.icons.data != NULL
        && tg_json_type(tool->entry.icons) != TG_JSON_ARRAY)
    {
        return tg_tool_set_option_error(tool, TG_TOOL_OPTION_ICONS,
                                        "must be a JSON array, such as "
                                        "[{\"src\":\"https://...\"}]");
    }

    if (tool->entry.meta.data != NULL
        && tg_json_type(tool->entry.meta) != TG_JSON_OBJECT)
    {
        return tg_tool_set_option_error(tool, TG_TOOL_OPTION_META,
                                        "must be a JSON object");
    }

    if (tg_tool_is_resource_kind(tool->entry.kind)) {
        rc = tg_tool_parse_resource(tool);
    }

    if (rc == 0 && tool->entry.kind == TG_ENTRY_TEMPLATE) {
        rc = tg_tool_parse_template(tool);
    } else if (tool->entry.kind == TG_ENTRY_PROMPT) {
        rc = tg_tool_make_prompt_schema(tool);
    }

    return rc == 0 && tg_buf_has_failed(&tool->schema)
               ? tg_lib_set_nomem_error()
               : rc;
}

/* --- completions --- */

int
tg_tool_new_completion(const tg_tool_t *parent, const char *argument,
                       toolgate_call_pt handler, void *data, tg_tool_t **tool)
{
    const char *texts[TG_TOOL_OPTION_COUNT] = {
        [TG_TOOL_OPTION_NAME] = argument,
    };
    tg_str_t properties, value;
    tg_buf_t key;
    int rc;

    if (!tg_json_has_member(parent->entry.input_schema, TG_STR("properties"),
                            TG_JSON_OBJECT, &properties)
        || tg_json_get_member(properties, tg_str_from_cstr(argument), &value)
               != TG_OK)
    {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "%s \"%s\" has no argument \"%s\"",
                                tg_entry_type_name(parent->entry.kind),
                                parent->name, argument);
    }

    tg_buf_init(&key, tg_alloc_libc());
    tg_completion_write_key(&key, parent->entry.kind, parent->entry.name,
                            tg_str_from_cstr(argument));
    tg_buf_append_char(&key, '\0');
    rc = key.len > TG_TOOL_KEY_MAX
             ? tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "the name of an argument must be shorter")
         : tg_buf_has_failed(&key) ? tg_lib_set_nomem_error()
                                   : tg_tool_new(TG_ENTRY_COMPLETION, key.data,
                                                 texts, handler, data, tool);
    tg_buf_deinit(&key);

    return rc;
}

int
tg_tool_is_completion_of(const tg_tool_t *tool, const tg_tool_t *parent)
{
    char room[TG_TOOL_KEY_MAX];
    tg_buf_t key;

    if (tool->entry.kind != TG_ENTRY_COMPLETION
        || tool->entry.name.len > sizeof(room))
    {
        return 0;
    }

    key = tg_buf_make_fixed(room, sizeof(room));
    tg_completion_write_key(&key, parent->entry.kind, parent->entry.name,
                            tg_str_from_cstr(tool->texts[TG_TOOL_OPTION_NAME]));

    return !tg_buf_has_failed(&key)
           && tg_str_eq(tg_buf_view(&key), tool->entry.name);
}
