/*
 * `output`, and the checks and inheritance of `max_output`, `preview` and
 * `tool_output_store`.
 */
#include "nginx/config/ngx_tg_listing.h"
#include "catalog/tg_mime_type.h"
#include "spec/tg_output_spec.h"

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
        && (cf->args->nelts == 2
            || !tg_mime_type_is_valid(ngx_tg_str_from_ngx(&value[2]))
            || !tg_str_has_prefix(ngx_tg_str_from_ngx(&value[2]), type)))
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

    if (tool->entry.kind != TG_ENTRY_TOOL) {
        return "has \"preview\" or \"spill\", but only large results of tools "
               "are stored; remove them";
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
    if (tool->output_spec.is_stored > 0 || tool->output_spec.preview > 0) {
        return ngx_tg_tool_spill_check(tool);
    }

    if (tool->bytes.len == 0) {
        return NULL;
    }

    if (NGX_TG_KINDS_READ >> tool->entry.kind & 1) {
        return "outputs binary data; write \"mime TYPE\" instead of "
               "\"output\", such as \"mime image/png\"";
    }

    if (tool->entry.kind != TG_ENTRY_TOOL) {
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

ngx_int_t
ngx_tg_tool_init_output(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                        ngx_tg_tool_t *tool)
{
    const ngx_tg_tool_t *from;
    tg_output_spec_t *spec;
    ngx_uint_t has_preview, is_stored;

    spec = &tool->output_spec;
    has_preview = spec->preview != TG_SPEC_UNSET;
    is_stored = spec->preview > 0;

    for (from = tool->group; from != NULL; from = from->group) {
        tg_spec_inherit(tg_output_fields, spec, &from->output_spec);
    }

    is_stored |= spec->is_stored > 0;

    if (tool->handler == NULL || ngx_tg_tool_spill_check(tool) != NULL) {
        spec->preview = has_preview ? spec->preview : 0;
        spec->is_stored = (int64_t) is_stored;

    } else if (is_stored && scf->spill.quota == 0) {
        ngx_log_error(
            NGX_LOG_WARN, cf->log, 0,
            "tool \"%*s\" stores large results, but \"tool_output_store "
            "off\" stores none; remove one of them in %V:%ui",
            tool->entry.name.len, tool->entry.name.data, &tool->file,
            tool->line);
    }

    tg_spec_inherit(tg_output_fields, spec, &scf->output_spec);
    spec->is_stored |= spec->preview > 0;

    if (!has_preview) {
        spec->preview = ngx_min(spec->preview, spec->max_output);
    }

    if (spec->preview <= spec->max_output) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "tool \"%*s\" has a \"preview\" that is larger than its "
                  "\"max_output\", %L %s; write less, or raise "
                  "\"max_output\" in %V:%ui",
                  tool->entry.name.len, tool->entry.name.data, spec->max_output,
                  tg_pick_plural((size_t) spec->max_output, "byte", "bytes"),
                  &tool->file, tool->line);

    return NGX_ERROR;
}
