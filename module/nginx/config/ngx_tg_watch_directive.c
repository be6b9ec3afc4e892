/* `watch`: how a resource's changes are noticed. */
#include "nginx/config/ngx_tg_listing.h"
#include "nginx/config/ngx_tg_spec.h"

/* Bounds of `watch every=`, in ms. */
#define NGX_TG_WATCH_EVERY_MIN 1000
#define NGX_TG_WATCH_EVERY_MAX 86400000

/* watch file|every=TIME|off */
char *
ngx_tg_conf_set_watch(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value, text;
    int64_t every;

    if (tool->watch != NGX_TG_WATCH_UNSET) {
        return "is duplicate";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "off") == 0) {
        tool->watch = NGX_TG_WATCH_OFF;

    } else if (ngx_strcmp(value[1].data, "file") == 0) {
        tool->watch = NGX_TG_WATCH_FILE;

    } else if (ngx_tg_arg_has_name(&value[1], "every=", &text)
               && ngx_tg_arg_parse(TG_SPEC_TIME, &text, NGX_TG_WATCH_EVERY_MIN,
                                   NGX_TG_WATCH_EVERY_MAX, &every)
                      == NGX_OK)
    {
        tool->watch = NGX_TG_WATCH_EVERY;
        tool->watch_every = (ngx_msec_t) every;

    } else {
        return ngx_tg_conf_error(cf,
                                 "invalid \"%V\" in \"%V\"; write \"file\", "
                                 "\"every=TIME\" with a time from 1s to 1d, or "
                                 "\"off\"",
                                 &value[1], &cmd->name);
    }

    return NGX_CONF_OK;
}

const char *
ngx_tg_tool_init_watch(ngx_tg_tool_t *tool)
{
    ngx_uint_t watches_files;

    watches_files = (tool->handler->flags & NGX_TG_HANDLER_READS_FILES) != 0;

    if (tool->watch == NGX_TG_WATCH_UNSET) {
        tool->watch = watches_files
                              && (NGX_TG_KINDS_READ >> tool->entry.kind & 1)
                          ? NGX_TG_WATCH_FILE
                          : NGX_TG_WATCH_OFF;
    }

    if (tool->watch == NGX_TG_WATCH_FILE && !watches_files) {
        return "has \"watch file\", but no \"file\"; write \"watch "
               "every=TIME\"";
    }

    return tool->watch == NGX_TG_WATCH_EVERY
                   && (!(tool->handler->flags & NGX_TG_HANDLER_IS_ASYNC)
                       || tool->handler->run != NULL)
               ? "has \"watch every=\", for which toolgate-runner must answer; "
                 "use a handler such as \"exec\", \"http\" or \"file\", or "
                 "remove it"
               : NULL;
}
