/* Directives with JSON values: schemas, annotations, capabilities. */
#include "nginx/config/ngx_tg_listing.h"

#include "base/tg_utf8.h"
#include "protocol/tg_mcp_http_headers.h"
#include "schema/tg_schema_query.h"

char *
ngx_tg_conf_set_annotations(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    const char *mistake;
    ngx_str_t *value;

    if (tool->entry.annotations.data != NULL) {
        return "is duplicate";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_WITH_SCHEMA)
        != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    if (ngx_tg_conf_parse_json(cf, &cmd->name, &value[1],
                               &tool->entry.annotations)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    mistake = tg_tool_check_annotations(tool->entry.annotations);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "\"%V\" %s", &cmd->name, mistake);
    }

    ngx_tg_lint_annotations(cf, tool->entry.annotations);

    return NGX_CONF_OK;
}

/*
 * tool_capability NAME [JSON]: adds a member to the declared experimental
 * capabilities.
 */
char *
ngx_tg_conf_add_capability(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_str_t *value;
    tg_str_t json;

    value = cf->args->elts;
    json = TG_STR("{}");

    if (value[1].len == 0 || !tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[1])))
    {
        return "needs a name in UTF-8";
    }

    if (cf->args->nelts == 3
        && ngx_tg_conf_parse_json(cf, &cmd->name, &value[2], &json) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (tg_json_type(json) != TG_JSON_OBJECT) {
        return ngx_tg_conf_error(cf,
                                 "the \"%V\" of \"%V\" must be a JSON object, "
                                 "such as '{}'",
                                 &cmd->name, &value[1]);
    }

    return ngx_tg_conf_add_json_member(cf, cmd, &scf->info.experimental,
                                       ngx_tg_str_from_ngx(&value[1]), json);
}

/*
 * Reads the schema's `properties`, whose defaults and types $tool_arg_NAME
 * uses. Returns NGX_OK, or NGX_ERROR if there is no memory.
 */
static ngx_int_t
ngx_tg_tool_read_properties(ngx_conf_t *cf, ngx_tg_tool_t *tool)
{
    ngx_tg_arg_property_t *property;
    tg_str_t root, properties, key, value;
    tg_json_cursor_t json;
    u_char *name;

    root = tool->entry.input_schema;

    if (tg_json_get_member(root, TG_STR("properties"), &properties) != TG_OK
        || tg_json_type(properties) != TG_JSON_OBJECT)
    {
        return NGX_OK;
    }

    tg_json_init(&json, properties);
    (void) tg_json_enter_object(&json);

    while (tg_json_next_member(&json, &key) == TG_OK) {
        property = ngx_tg_conf_array_push(cf, &tool->properties,
                                          sizeof(ngx_tg_arg_property_t));
        name = ngx_pnalloc(cf->pool, key.len + 1);

        if (property == NULL || name == NULL) {
            return NGX_ERROR;
        }

        property->name = tg_str((char *) name,
                                tg_json_unescape((char *) name, key));
        (void) tg_json_read_value(&json, &value);
        ngx_tg_arg_property_init(property, root, value);
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_tool_set_input_schema(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                             ngx_str_t *directive, tg_str_t schema)
{
    tool->entry.input_schema = schema;
    tool->input = ngx_tg_schema_compile(cf, directive, schema, 0);

    return tool->input != NULL ? ngx_tg_tool_read_properties(cf, tool)
                               : NGX_ERROR;
}

/*
 * input_schema JSON, output_schema JSON, and their variants with a file. The
 * slice is at cmd->offset; cmd->post is not NULL for a file.
 */
char *
ngx_tg_conf_set_schema(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value;
    tg_schema_t *schema;
    const char *mistake;
    tg_str_t *field;

    field = (tg_str_t *) (void *) ((char *) conf + cmd->offset);

    if (field->data != NULL) {
        return "is duplicate; a tool has one schema of each kind";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_WITH_SCHEMA)
        != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    if ((cmd->post != NULL
             ? ngx_tg_conf_read_json_file(cf, &cmd->name, &value[1], field)
             : ngx_tg_conf_parse_json(cf, &cmd->name, &value[1], field))
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    /* A method's schemas need no check: clients do not list methods. */
    mistake = tool->entry.kind == TG_ENTRY_TOOL ? tg_tool_check_schema(*field)
                                                : NULL;

    if (mistake == NULL && field == &tool->entry.input_schema) {
        mistake = tg_mcp_http_check_schema(*field);
    }

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "invalid \"%V\": %s", &cmd->name, mistake);
    }

    schema = ngx_tg_schema_compile(cf, &cmd->name, *field, 0);

    if (schema == NULL || ngx_tg_lint_schema(cf, &cmd->name, *field) != NGX_OK
        || (tool->entry.kind == TG_ENTRY_TOOL
            && ngx_tg_lint_listed_schema(
                   cf, &cmd->name, field == &tool->entry.input_schema, *field)
                   != NGX_OK))
    {
        return NGX_CONF_ERROR;
    }

    if (field == &tool->entry.output_schema) {
        tool->output_schema = schema;
        return NGX_CONF_OK;
    }

    tool->input = schema;

    return ngx_tg_conf_result(ngx_tg_tool_read_properties(cf, tool));
}
