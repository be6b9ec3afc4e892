/*
 * `output`: what becomes of what a handler puts out.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

#include <ctype.h>

/* Those of bytes have a type, which MCP has a kind of block for. */
static const struct {
    const char *word;
    ngx_uint_t output;
    const char *type; /* what it must begin with; NULL: it has none */
} ngx_toolgate_outputs[] = {
    { "text", TG_OUTPUT_TEXT, NULL },
    { "json", TG_OUTPUT_JSON, NULL },
    { "result", TG_OUTPUT_RESULT, NULL },
    { "image", TG_OUTPUT_RESULT, "image/" },
    { "audio", TG_OUTPUT_RESULT, "audio/" },
    { "file", TG_OUTPUT_RESULT, "" },
};

#define NGX_TOOLGATE_OUTPUTS                                                   \
    (sizeof(ngx_toolgate_outputs) / sizeof(ngx_toolgate_outputs[0]))

/* RFC 6838: type/subtype. */
static ngx_uint_t
ngx_toolgate_is_type(const ngx_str_t *type, const char *prefix)
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
ngx_toolgate_output(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_tool_t *tool = conf;

    ngx_str_t *value;
    const char *type;
    ngx_uint_t i;

    if (tool->output != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 0; i < NGX_TOOLGATE_OUTPUTS; i++) {
        if (ngx_strcmp(value[1].data, ngx_toolgate_outputs[i].word) == 0) {
            break;
        }
    }

    if (i == NGX_TOOLGATE_OUTPUTS) {
        return ngx_toolgate_refuse(cf,
                                   "invalid value \"%V\" in \"%V\"; write one "
                                   "of text, json, result, or image, audio or "
                                   "file with a type",
                                   &value[1], &cmd->name);
    }

    type = ngx_toolgate_outputs[i].type;

    if (type == NULL && cf->args->nelts == 3) {
        return ngx_toolgate_refuse(cf,
                                   "\"%V %V\" has no type; only image, audio "
                                   "and file have one",
                                   &cmd->name, &value[1]);
    }

    if (type != NULL
        && (cf->args->nelts == 2 || !ngx_toolgate_is_type(&value[2], type)))
    {
        return ngx_toolgate_refuse(cf, "\"%V %V\" needs a type, such as \"%s\"",
                                   &cmd->name, &value[1],
                                   *type == 'i'   ? "image/png"
                                   : *type == 'a' ? "audio/wav"
                                                  : "application/pdf");
    }

    tool->output = ngx_toolgate_outputs[i].output;

    if (type != NULL) {
        tool->bytes = value[1];
        tool->mime = value[2];
    }

    return NGX_CONF_OK;
}

const char *
ngx_toolgate_output_mistake(const ngx_toolgate_tool_t *tool)
{
    if (tool->bytes.len == 0) {
        return NULL;
    }

    if (tool->entry.kind == TG_ENTRY_METHOD) {
        return "puts out bytes, which only a tool's result has a place for; "
               "make it a tool, or let the program print JSON";
    }

    if (!(tool->handler->flags & NGX_TOOLGATE_PUTS_BYTES)) {
        return "puts out bytes, but has no \"exec\"; only a program's are "
               "taken";
    }

    return tool->entry.output_schema.data != NULL
               ? "has an \"output_schema\" but puts out bytes; remove one of "
                 "them"
               : NULL;
}
