/*
 * `output`, `max_output`, `preview`, `tool_output_store`: type and size limits
 * of a handler's output.
 */
#include "nginx/config/ngx_tg_config.h"
#include "spec/tg_output_spec.h"

#include <ctype.h>

/* Minimum quota, in bytes; a smaller one could not hold a useful output. */
#define NGX_TG_SPILL_QUOTA_MIN 1048576
/*
 * Maximum lifetime of a stored output, in ms. Outputs are stored for reading
 * soon, not for days.
 */
#define NGX_TG_SPILL_TIME_MAX 86400000

/*
 * Output types; image, audio and file need a MIME type, for which MCP has a
 * content block.
 */
static const struct {
    const char *word;
    ngx_uint_t output;
    /* required prefix of the MIME type; NULL: takes no MIME type */
    const char *type;
} ngx_tg_output_types[] = {
    { "text", TG_OUTPUT_TEXT, NULL },
    { "json", TG_OUTPUT_JSON, NULL },
    { "result", TG_OUTPUT_RESULT, NULL },
    { "image", TG_OUTPUT_RESULT, "image/" },
    { "audio", TG_OUTPUT_RESULT, "audio/" },
    { "file", TG_OUTPUT_RESULT, "" },
};

#define NGX_TG_OUTPUT_TYPES_N                                                  \
    (sizeof(ngx_tg_output_types) / sizeof(ngx_tg_output_types[0]))

/*
 * Checks whether a text is a media type (RFC 6838: type/subtype) that begins
 * with the prefix.
 */
static ngx_uint_t
ngx_tg_is_media_type(const ngx_str_t *type, const char *prefix)
{
    ngx_uint_t i, nslashes;
    size_t len;

    len = ngx_strlen(prefix);

    if (type->len < len + 1 || ngx_strncmp(type->data, prefix, len) != 0) {
        return 0;
    }

    for (i = 0, nslashes = 0; i < type->len; i++) {
        if (type->data[i] == '/') {
            nslashes++;
        } else if (!isalnum(type->data[i])
                   && !tg_is_one_of((char) type->data[i], "!#&-^_.+"))
        {
            return 0;
        }
    }

    return nslashes == 1 && type->data[0] != '/'
           && type->data[type->len - 1] != '/';
}

/* output text|json|result; output image|audio|file TYPE */
char *
ngx_tg_conf_set_output(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value;
    const char *type;
    ngx_uint_t i;

    if (tool->output != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 0; i < NGX_TG_OUTPUT_TYPES_N; i++) {
        if (ngx_strcmp(value[1].data, ngx_tg_output_types[i].word) == 0) {
            break;
        }
    }

    if (i == NGX_TG_OUTPUT_TYPES_N) {
        return ngx_tg_conf_error(cf,
                                 "invalid value \"%V\" in \"%V\"; write one "
                                 "of text, json, result, or image, audio or "
                                 "file with a type",
                                 &value[1], &cmd->name);
    }

    type = ngx_tg_output_types[i].type;

    if (type == NULL && cf->args->nelts == 3) {
        return ngx_tg_conf_error(cf,
                                 "\"%V %V\" takes no type; only image, audio "
                                 "and file take one",
                                 &cmd->name, &value[1]);
    }

    if (type != NULL
        && (cf->args->nelts == 2 || !ngx_tg_is_media_type(&value[2], type)))
    {
        return ngx_tg_conf_error(cf, "\"%V %V\" needs a type, such as \"%s\"",
                                 &cmd->name, &value[1],
                                 *type == 'i'   ? "image/png"
                                 : *type == 'a' ? "audio/wav"
                                                : "application/pdf");
    }

    tool->output = ngx_tg_output_types[i].output;

    if (type != NULL) {
        tool->bytes = value[1];
        tool->mime = value[2];
    }

    return NGX_CONF_OK;
}

/* Parses a size between 1 and 32m. Returns 0 after logging if it is invalid. */
static size_t
ngx_tg_conf_parse_output_size(ngx_conf_t *cf, ngx_command_t *cmd,
                              ngx_str_t *value)
{
    ssize_t size;

    size = ngx_parse_size(value);

    if (size != NGX_ERROR && size != 0 && size <= TG_OUTPUT_MAX) {
        return (size_t) size;
    }

    (void) ngx_tg_conf_error(cf,
                             "invalid size \"%V\" in \"%V\"; write between "
                             "1 and 32m, such as \"64k\" or \"4m\"",
                             value, &cmd->name);

    return 0;
}

/* Parses `SIZE [spill]`. */
static char *
ngx_tg_conf_parse_max_output(ngx_conf_t *cf, ngx_command_t *cmd, size_t *size,
                             ngx_uint_t *stores_output)
{
    ngx_str_t *value;

    if (*size != NGX_CONF_UNSET_SIZE) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cf->args->nelts == 3) {
        if (ngx_strcmp(value[2].data, "spill") != 0) {
            return ngx_tg_conf_error(cf,
                                     "invalid value \"%V\" in \"%V\"; write "
                                     "\"spill\", or nothing",
                                     &value[2], &cmd->name);
        }

        *stores_output = 1;
    }

    *size = ngx_tg_conf_parse_output_size(cf, cmd, &value[1]);

    return *size != 0 ? NGX_CONF_OK : NGX_CONF_ERROR;
}

char *
ngx_tg_conf_set_max_output(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    return ngx_tg_conf_parse_max_output(cf, cmd, &tool->max_output,
                                        &tool->stores_output);
}

char *
ngx_tg_conf_set_server_max_output(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    return ngx_tg_conf_parse_max_output(cf, cmd, &scf->max_output,
                                        &scf->stores_output);
}

/* Parses `SIZE|off`; the size is 0 for `off`. */
static char *
ngx_tg_conf_parse_preview(ngx_conf_t *cf, ngx_command_t *cmd, size_t *size)
{
    ngx_str_t *value;

    value = cf->args->elts;
    *size = 0;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        return NGX_CONF_OK;
    }

    *size = ngx_tg_conf_parse_output_size(cf, cmd, &value[1]);

    return *size != 0 ? NGX_CONF_OK : NGX_CONF_ERROR;
}

char *
ngx_tg_conf_set_preview(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    if (tool->has_preview) {
        return "is duplicate";
    }

    tool->has_preview = 1;

    if (ngx_tg_conf_parse_preview(cf, cmd, &tool->preview) != NGX_CONF_OK) {
        return NGX_CONF_ERROR;
    }

    tool->stores_output |= tool->preview != 0;

    return NGX_CONF_OK;
}

char *
ngx_tg_conf_set_server_preview(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    return scf->preview == NGX_CONF_UNSET_SIZE
               ? ngx_tg_conf_parse_preview(cf, cmd, &scf->preview)
               : "is duplicate";
}

/* tool_output_store SIZE|off [time=TIME] */
char *
ngx_tg_conf_set_spill(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_str_t *value, time;
    ngx_msec_t msec;

    if (scf->spill_quota != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;
    scf->spill_quota = ngx_strcmp(value[1].data, "off") == 0
                           ? 0
                           : ngx_parse_offset(&value[1]);

    if (scf->spill_quota < NGX_TG_SPILL_QUOTA_MIN && value[1].data[0] != 'o') {
        return ngx_tg_conf_error(
            cf,
            "invalid size \"%V\" in \"%V\"; write a size of at least 1m, such "
            "as \"256m\" or \"2g\", or \"off\"",
            &value[1], &cmd->name);
    }

    if (cf->args->nelts == 2) {
        return NGX_CONF_OK;
    }

    msec = 0;

    if (value[2].len > 5 && ngx_strncmp(value[2].data, "time=", 5) == 0) {
        time.data = value[2].data + 5;
        time.len = value[2].len - 5;
        msec = ngx_parse_time(&time, 0);
    }

    if (msec == 0 || msec == (ngx_msec_t) NGX_ERROR
        || msec > NGX_TG_SPILL_TIME_MAX) {
        return ngx_tg_conf_error(cf,
                                 "invalid time \"%V\" in \"%V\"; write "
                                 "between 1ms and 24h, such as \"time=1h\"",
                                 &value[2], &cmd->name);
    }

    scf->spill_time = msec;

    return NGX_CONF_OK;
}

static const char *
ngx_tg_tool_spill_check(const ngx_tg_tool_t *tool)
{
    if (!(tool->handler->flags & NGX_TG_HANDLER_ALLOWS_SPILL)) {
        return "has no \"exec\", \"http\", \"pass\" or \"library\", so "
               "\"preview\" and \"spill\" have no effect; remove them";
    }

    if (tool->entry.kind == TG_ENTRY_METHOD) {
        return "stores large results, but clients of methods have no tool to "
               "read them; make it a tool, or remove \"preview\" and \"spill\"";
    }

    if (tool->bytes.len != 0) {
        return "outputs binary data, of which no preview can be shown; write "
               "\"output "
               "text\", or remove \"preview\" and \"spill\"";
    }

    return tool->entry.output_schema.data != NULL
               ? "has an \"output_schema\", which a preview cannot match; "
                 "remove it, or \"preview\" and \"spill\""
               : NULL;
}

const char *
ngx_tg_tool_output_check(const ngx_tg_tool_t *tool)
{
    if (tool->stores_output) {
        return ngx_tg_tool_spill_check(tool);
    }

    if (tool->bytes.len == 0) {
        return NULL;
    }

    if (tool->entry.kind == TG_ENTRY_METHOD) {
        return "outputs binary data, which only the result of a tool can "
               "contain; make it a tool, or let the program print JSON";
    }

    if (!(tool->handler->flags & NGX_TG_HANDLER_OUTPUTS_BYTES)) {
        return "outputs binary data, but has no \"exec\"; only a program can "
               "do that";
    }

    return tool->entry.output_schema.data != NULL
               ? "has an \"output_schema\" but outputs binary data; remove one "
                 "of them"
               : NULL;
}

/* --- inheritance from the server --- */

/*
 * Inherits `preview` from the nearest enclosing block that has one, else from
 * the server.
 */
static void
ngx_tg_tool_inherit_preview(const ngx_tg_srv_conf_t *scf, ngx_tg_tool_t *tool)
{
    const ngx_tg_tool_t *from;
    size_t preview;

    for (from = tool->group; from != NULL && !from->has_preview;
         from = from->group) {
        /* void */
    }

    preview = from != NULL ? from->preview : scf->preview;

    if (!tool->has_preview && preview != 0) {
        tool->stores_output = 1;
        tool->preview = ngx_min(preview, tool->max_output);
    }
}

/*
 * Sets the stored-output options of a tool whose handler allows them. Returns
 * NGX_OK, or NGX_ERROR after logging a preview that exceeds max_output.
 */
static ngx_int_t
ngx_tg_tool_init_spill(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                       ngx_tg_tool_t *tool, ngx_uint_t has_size)
{
    if (tool->stores_output && scf->spill_quota == 0) {
        ngx_log_error(
            NGX_LOG_WARN, cf->log, 0,
            "tool \"%*s\" stores large results, but \"tool_output_store "
            "off\" stores none; remove one of them in %V:%ui",
            tool->entry.name.len, tool->entry.name.data, &tool->file,
            tool->line);
    }

    if (!has_size) {
        tool->stores_output |= scf->stores_output;
    }

    ngx_tg_tool_inherit_preview(scf, tool);

    if (tool->preview <= tool->max_output) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "tool \"%*s\" has a \"preview\" that is larger than its "
                  "\"max_output\", %uz %s; write less, or raise "
                  "\"max_output\" in %V:%ui",
                  tool->entry.name.len, tool->entry.name.data, tool->max_output,
                  tg_pick_plural(tool->max_output, "byte", "bytes"),
                  &tool->file, tool->line);

    return NGX_ERROR;
}

ngx_int_t
ngx_tg_tool_init_output(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                        ngx_tg_tool_t *tool)
{
    const ngx_tg_tool_t *from;
    ngx_uint_t is_said;

    from = tool;

    while (from->max_output == NGX_CONF_UNSET_SIZE && from->group != NULL) {
        from = from->group;
    }

    is_said = from->max_output != NGX_CONF_UNSET_SIZE;
    tool->max_output = is_said ? from->max_output : scf->max_output;
    tool->stores_output |= from->stores_output && is_said;

    return tool->handler == NULL || ngx_tg_tool_spill_check(tool) != NULL
               ? NGX_OK
               : ngx_tg_tool_init_spill(cf, scf, tool, is_said);
}
