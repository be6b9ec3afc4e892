/*
 * Prompts, resources and templates: their arguments, and checks of a block that
 * was read.
 */
#include "nginx/config/ngx_tg_listing.h"

#include "base/tg_utf8.h"
#include "nginx/config/ngx_tg_spec.h"

/*
 * Agents cut what a user types after a slash command at blanks, one word for
 * each argument; nobody types more words in the right order.
 */
#define NGX_TG_TYPED_ARGUMENTS_MAX 3
/* Maximum number of arguments of a prompt or template. */
#define NGX_TG_ARGUMENTS_MAX 32

/* One `argument` directive. */
typedef struct {
    tg_str_t name;
    tg_str_t title;         /* plain text or absent */
    tg_str_t description;   /* plain text or absent */
    tg_str_t default_value; /* plain text or absent */
    tg_str_t pattern;       /* regular expression or absent */
    ngx_uint_t is_required;
} ngx_tg_argument_t;

/* --- kinds --- */

ngx_int_t
ngx_tg_conf_check_kind(ngx_conf_t *cf, const ngx_command_t *cmd,
                       const ngx_tg_tool_t *tool, ngx_uint_t kinds)
{
    if (kinds >> tool->entry.kind & 1) {
        return NGX_OK;
    }

    (void) ngx_tg_conf_error(
        cf, "\"%V\" has no effect in a %s; %s", &cmd->name,
        tg_entry_type_name(tool->entry.kind),
        kinds == NGX_TG_KINDS_WITH_SCHEMA
                && (NGX_TG_KINDS_WITH_ARGUMENTS >> tool->entry.kind & 1)
            ? "declare its arguments by \"argument\""
        : kinds == NGX_TG_KINDS_WITH_ARGUMENTS
                && (NGX_TG_KINDS_WITH_SCHEMA >> tool->entry.kind & 1)
            ? "declare its arguments by \"input_schema\""
        : kinds == NGX_TG_KINDS_WITH_ARGUMENTS
            ? "write a \"resource_template\", whose variables are arguments"
            : "remove it");

    return NGX_ERROR;
}

/* --- arguments --- */

static ngx_tg_argument_t *
ngx_tg_tool_find_argument(const ngx_tg_tool_t *tool, tg_str_t name)
{
    ngx_tg_argument_t *argument;
    ngx_uint_t i;

    if (tool->arguments == NULL) {
        return NULL;
    }

    argument = tool->arguments->elts;

    for (i = 0; i < tool->arguments->nelts; i++) {
        if (tg_str_eq(argument[i].name, name)) {
            return &argument[i];
        }
    }

    return NULL;
}

/* NGINX takes a quote within a word as part of it, and ends it at a blank. */
static int
ngx_tg_argument_has_quote(tg_str_t text)
{
    return text.len != 0 && (text.data[0] == '"' || text.data[0] == '\'');
}

/* Reads the words after an argument's name. NGX_OK or NGX_DECLINED. */
static ngx_int_t
ngx_tg_argument_read_words(ngx_conf_t *cf, ngx_tg_argument_t *argument)
{
    ngx_str_t *value, text;
    ngx_uint_t i;

    value = cf->args->elts;

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_strcmp(value[i].data, "required") == 0
            && !argument->is_required) {
            argument->is_required = 1;

        } else if (ngx_tg_arg_has_name(&value[i], "title=", &text)
                   && argument->title.data == NULL)
        {
            argument->title = ngx_tg_str_from_ngx(&text);

        } else if (ngx_tg_arg_has_name(&value[i], "default=", &text)
                   && argument->default_value.data == NULL)
        {
            argument->default_value = ngx_tg_str_from_ngx(&text);

        } else if (ngx_tg_arg_has_name(&value[i], "pattern=", &text)
                   && argument->pattern.data == NULL)
        {
            argument->pattern = ngx_tg_str_from_ngx(&text);

        } else if (i + 1 == cf->args->nelts) {
            argument->description = ngx_tg_str_from_ngx(&value[i]);

        } else {
            return NGX_DECLINED;
        }
    }

    return NGX_OK;
}

/* Checks that the default of an argument matches its pattern. */
static ngx_int_t
ngx_tg_argument_check_default(ngx_conf_t *cf, ngx_command_t *cmd,
                              const ngx_tg_argument_t *argument)
{
    tg_schema_validator_t *validator;
    tg_buf_t schema, text;
    tg_schema_t *compiled;
    int rc;

    tg_buf_init(&schema, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_char(&schema, '{');
    tg_json_add_string(&schema, "pattern", argument->pattern);
    tg_buf_append_char(&schema, '}');
    tg_json_write_string(&text, argument->default_value);
    validator = tg_schema_validator_new(tg_alloc_libc(), 0);
    compiled = NULL;
    rc = TG_NOMEM;

    if (validator != NULL && !tg_buf_has_failed(&schema)
        && !tg_buf_has_failed(&text))
    {
        compiled = ngx_tg_schema_compile(cf, &cmd->name, tg_buf_view(&schema),
                                         0);
    }

    if (compiled != NULL) {
        rc = tg_schema_validate(compiled, validator, tg_buf_view(&text), NULL);
    }

    if (rc == TG_INVALID) {
        (void) ngx_tg_conf_error(cf,
                                 "the default of \"%V %*s\" does not match its "
                                 "pattern; correct one of them",
                                 &cmd->name, argument->name.len,
                                 argument->name.data);
    }

    tg_schema_validator_free(validator);
    tg_buf_deinit(&schema);
    tg_buf_deinit(&text);

    return rc == TG_OK ? NGX_OK : NGX_ERROR;
}

static ngx_int_t
ngx_tg_argument_check_values(ngx_conf_t *cf, ngx_command_t *cmd,
                             const ngx_tg_argument_t *argument)
{
    const char *mistake;

    mistake = NULL;

    if (ngx_tg_argument_has_quote(argument->title)
        || ngx_tg_argument_has_quote(argument->default_value)
        || ngx_tg_argument_has_quote(argument->pattern))
    {
        mistake = "has a value that begins with a quote; put the whole "
                  "parameter between quotes: \"default=a b\"";

    } else if (argument->is_required && argument->default_value.data != NULL) {
        mistake = "is required, so its default has no effect; remove one of "
                  "them";

    } else if (!tg_utf8_is_valid(argument->title)
               || !tg_utf8_is_valid(argument->description)
               || !tg_utf8_is_valid(argument->default_value)
               || !tg_utf8_is_valid(argument->pattern))
    {
        mistake = "is not valid UTF-8";
    }

    if (mistake != NULL) {
        (void) ngx_tg_conf_error(cf, "\"%V %*s\" %s", &cmd->name,
                                 argument->name.len, argument->name.data,
                                 mistake);
        return NGX_ERROR;
    }

    return argument->default_value.data != NULL
                   && argument->pattern.data != NULL
               ? ngx_tg_argument_check_default(cf, cmd, argument)
               : NGX_OK;
}

/*
 * argument NAME [required] [title=TEXT] [default=TEXT] [pattern=REGEX]
 * [DESCRIPTION]
 */
char *
ngx_tg_conf_add_argument(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_tg_argument_t *argument;
    ngx_str_t *value;
    tg_str_t name;

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_WITH_ARGUMENTS)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;
    name = ngx_tg_str_from_ngx(&value[1]);

    if (name.len == 0 || name.len > TG_NAME_AGENT_MAX
        || !tg_str_is_word(name, "_-."))
    {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" in \"%V\"; write 1 to %d "
                                 "letters, digits, \"_\", \"-\" and \".\"",
                                 &value[1], &cmd->name, TG_NAME_AGENT_MAX);
    }

    if (ngx_tg_tool_find_argument(tool, name) != NULL) {
        return ngx_tg_conf_error(cf, "duplicate \"%V %V\"; declare it once",
                                 &cmd->name, &value[1]);
    }

    argument = ngx_tg_conf_array_push(cf, &tool->arguments,
                                      sizeof(ngx_tg_argument_t));
    if (argument == NULL) {
        return NGX_CONF_ERROR;
    }

    argument->name = name;

    if (ngx_tg_argument_read_words(cf, argument) != NGX_OK) {
        return ngx_tg_conf_error(cf,
                                 "invalid \"%V %V\"; write \"required\", "
                                 "\"title=TEXT\", \"default=TEXT\" or "
                                 "\"pattern=REGEX\" after the name, then a "
                                 "description between quotes",
                                 &cmd->name, &value[1]);
    }

    if (ngx_tg_argument_check_values(cf, cmd, argument) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return tool->arguments->nelts <= NGX_TG_ARGUMENTS_MAX
               ? NGX_CONF_OK
               : "has too many arguments for one block";
}

/* Appends the property of an argument to a schema. */
static void
ngx_tg_argument_write_property(tg_buf_t *json, tg_str_t name,
                               const ngx_tg_argument_t *argument)
{
    tg_json_begin_element(json);
    tg_json_write_string(json, name);
    tg_buf_append_cstr(json, ":{");
    tg_json_add_cstr(json, "type", "string");

    if (argument != NULL) {
        tg_json_add_optional(json, "description", argument->description);
        tg_json_add_optional(json, "default", argument->default_value);
        tg_json_add_optional(json, "pattern", argument->pattern);
    }

    tg_buf_append_char(json, '}');
}

/* Appends the schema of an object of strings that allows no other members. */
static void
ngx_tg_tool_write_argument_schema(const ngx_tg_tool_t *tool, tg_buf_t *json)
{
    const tg_uri_template_t *template;
    const ngx_tg_argument_t *argument;
    ngx_uint_t i, n;
    tg_str_t name;

    template = tool->entry.uri_template;
    n = tool->arguments != NULL ? tool->arguments->nelts : 0;
    argument = n != 0 ? tool->arguments->elts : NULL;
    tg_buf_append_cstr(json, "{\"type\":\"object\",\"properties\":{");

    for (i = 0; i < n; i++) {
        ngx_tg_argument_write_property(json, argument[i].name, &argument[i]);
    }

    for (i = 0; template != NULL && i < template->nvariables; i++) {
        name = template->variables[i].name;

        if (ngx_tg_tool_find_argument(tool, name) == NULL) {
            ngx_tg_argument_write_property(json, name, NULL);
        }
    }

    tg_buf_append_cstr(json, "},\"required\":[");

    for (i = 0; i < n; i++) {
        if (argument[i].is_required) {
            tg_json_begin_element(json);
            tg_json_write_string(json, argument[i].name);
        }
    }

    /* A URI that matches has all variables of the path. */
    for (i = 0; template != NULL && i < template->npath; i++) {
        argument = ngx_tg_tool_find_argument(tool, template->variables[i].name);

        if (argument == NULL || !argument->is_required) {
            tg_json_begin_element(json);
            tg_json_write_string(json, template->variables[i].name);
        }
    }

    tg_buf_append_cstr(json, "],\"additionalProperties\":false}");
}

/* Appends the array of MCP's PromptArgument. */
static void
ngx_tg_tool_write_arguments(const ngx_tg_tool_t *tool, tg_buf_t *json)
{
    const ngx_tg_argument_t *argument;
    ngx_uint_t i;

    argument = tool->arguments->elts;
    tg_buf_append_char(json, '[');

    for (i = 0; i < tool->arguments->nelts; i++) {
        tg_json_begin_element(json);
        tg_buf_append_char(json, '{');
        tg_json_add_string(json, "name", argument[i].name);
        tg_json_add_optional(json, "title", argument[i].title);
        tg_json_add_optional(json, "description", argument[i].description);
        tg_json_add_bool(json, "required", (int) argument[i].is_required);
        tg_buf_append_char(json, '}');
    }

    tg_buf_append_char(json, ']');
}

/* Copies JSON that `write` appends to the config's pool. */
static ngx_int_t
ngx_tg_tool_make_json(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                      void (*write)(const ngx_tg_tool_t *tool, tg_buf_t *json),
                      tg_str_t *json)
{
    ngx_str_t text;
    tg_buf_t buf;
    ngx_int_t rc;

    tg_buf_init(&buf, tg_alloc_libc());
    write(tool, &buf);
    rc = ngx_tg_conf_copy_buf(cf, &buf, &text);
    tg_buf_deinit(&buf);

    if (rc == NGX_OK) {
        *json = ngx_tg_str_from_ngx(&text);
    }

    return rc;
}

/* Checks that each argument is a variable of the template. */
static ngx_int_t
ngx_tg_template_check_arguments(ngx_conf_t *cf, const ngx_tg_tool_t *tool)
{
    const ngx_tg_argument_t *argument;
    const tg_uri_template_t *template;
    ngx_uint_t i, n, k;

    template = tool->entry.uri_template;
    n = tool->arguments != NULL ? tool->arguments->nelts : 0;
    argument = n != 0 ? tool->arguments->elts : NULL;

    for (i = 0; i < n; i++) {
        for (k = 0; k < template->nvariables; k++) {
            if (tg_str_eq(template->variables[k].name, argument[i].name)) {
                break;
            }
        }

        if (k == template->nvariables) {
            (void) ngx_tg_conf_error(cf,
                                     "resource_template \"%*s\" has no "
                                     "variable \"%*s\"; correct the name of "
                                     "the \"argument\", or remove it",
                                     tool->entry.name.len,
                                     tool->entry.name.data,
                                     argument[i].name.len,
                                     argument[i].name.data);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Returns the last segment of a URI's path, or the whole URI. */
static tg_str_t
ngx_tg_uri_get_last_segment(tg_str_t uri)
{
    tg_str_t path, segment;

    path = tg_str(uri.data, tg_str_find_char(uri, "?#"));

    while (path.len != 0 && path.data[path.len - 1] == '/') {
        path.len--;
    }

    segment = tg_path_get_base_name(path);

    return segment.len == 0 || segment.data[segment.len - 1] == ':' ? uri
                                                                    : segment;
}

ngx_int_t
ngx_tg_tool_init_listing(ngx_conf_t *cf, ngx_tg_tool_t *tool)
{
    static ngx_str_t directive = ngx_string("argument");
    tg_str_t schema;

    if (NGX_TG_KINDS_WITH_SCHEMA >> tool->entry.kind & 1) {
        return NGX_OK;
    }

    if (tool->entry.kind == TG_ENTRY_TEMPLATE
        && ngx_tg_template_check_arguments(cf, tool) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (tool->entry.kind == TG_ENTRY_PROMPT && tool->arguments != NULL
        && ngx_tg_tool_make_json(cf, tool, ngx_tg_tool_write_arguments,
                                 &tool->entry.arguments)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (tool->entry.label.data == NULL
        && (NGX_TG_KINDS_READ >> tool->entry.kind & 1))
    {
        tool->entry.label = tool->entry.kind == TG_ENTRY_TEMPLATE
                                ? tool->entry.name
                                : ngx_tg_uri_get_last_segment(tool->entry.name);
    }

    if (ngx_tg_tool_make_json(cf, tool, ngx_tg_tool_write_argument_schema,
                              &schema)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    return ngx_tg_tool_set_input_schema(cf, tool, &directive, schema);
}

/* --- lint --- */

static void
ngx_tg_lint_prompt(ngx_conf_t *cf, const ngx_tg_tool_t *tool)
{
    if (tool->arguments != NULL
        && tool->arguments->nelts > NGX_TG_TYPED_ARGUMENTS_MAX)
    {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "prompt \"%*s\" has %ui arguments; agents such as "
                           "Claude Code cut what the user types at blanks, one "
                           "word for each argument, so keep at most %d",
                           tool->entry.name.len, tool->entry.name.data,
                           tool->arguments->nelts, NGX_TG_TYPED_ARGUMENTS_MAX);
    }

    if (tg_str_find_char(tool->entry.title, " \t") < tool->entry.title.len) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "the \"title\" of prompt \"%*s\" has blanks; some "
                           "agents use it as the slash command, which then "
                           "cannot be typed: write it without blanks, or put "
                           "the text into the \"description\"",
                           tool->entry.name.len, tool->entry.name.data);
    }
}

void
ngx_tg_lint_listing(ngx_conf_t *cf, const ngx_tg_tool_t *tool)
{
    if (tool->entry.kind == TG_ENTRY_PROMPT) {
        ngx_tg_lint_prompt(cf, tool);
    }
}
