/* The `task` directive of a tool, which turns the tool's calls into tasks. */
#include "nginx/config/ngx_tg_listing.h"
#include "nginx/config/ngx_tg_spec.h"

#include "protocol/tg_rpc.h"

/*
 * Maximum retries. A task that is interrupted this often will never complete.
 */
#define NGX_TG_TOOL_TASK_RETRY_MAX 100
/*
 * Maximum length of a tool name in a task: "tool:" and the name have at most 64
 * characters.
 */
#define NGX_TG_TASK_NAME_MAX 59

/* task [optional|required] [retry=N] */
char *
ngx_tg_conf_set_task(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value, retry;
    ngx_uint_t i;

    if (tool->task != NGX_TG_TASK_NEVER) {
        return "is duplicate";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_WITH_SCHEMA)
        != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    tool->task = NGX_TG_TASK_OPTIONAL;
    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        if (i == 1 && ngx_strcmp(value[i].data, "optional") == 0) {
            continue;
        }

        if (i == 1 && ngx_strcmp(value[i].data, "required") == 0) {
            tool->task = NGX_TG_TASK_REQUIRED;
            continue;
        }

        if (i + 1 != cf->args->nelts
            || !ngx_tg_arg_has_name(&value[i], "retry=", &retry)
            || ngx_tg_arg_parse(TG_SPEC_NUMBER, &retry, 0,
                                NGX_TG_TOOL_TASK_RETRY_MAX, &tool->retry)
                   != NGX_OK)
        {
            return ngx_tg_conf_error(cf,
                                     "invalid parameter \"%V\" in \"%V\"; "
                                     "write \"task optional\" or \"task "
                                     "required\", optionally followed by "
                                     "\"retry=0\" to \"retry=%d\"",
                                     &value[i], &cmd->name,
                                     NGX_TG_TOOL_TASK_RETRY_MAX);
        }
    }

    return ngx_tg_conf_add_json_member(cf, cmd, &tool->entry.meta,
                                       TG_STR(TG_META_TASK),
                                       tool->task == NGX_TG_TASK_REQUIRED
                                           ? TG_STR("\"required\"")
                                           : TG_STR("\"optional\""));
}

const char *
ngx_tg_tool_task_check(const ngx_tg_tool_t *tool)
{
    if (tool->task == NGX_TG_TASK_NEVER) {
        return NULL;
    }

    if (!(tool->handler->flags & NGX_TG_HANDLER_ALLOWS_TASK)) {
        return "has \"task\" but no \"exec\": only programs can run as tasks; "
               "remove it, or run a program with \"exec\"";
    }

    if (tool->entry.kind != TG_ENTRY_TOOL) {
        return "is a method, but \"task\" is for tools only; remove it";
    }

    if (tool->entry.output_schema.data != NULL) {
        return "has \"task\" and an \"output_schema\", which the answer to a "
               "call that becomes a task does not match; remove one of them";
    }

    return tool->entry.name.len <= NGX_TG_TASK_NAME_MAX
               ? NULL
               : "has \"task\", so its name may have at most 59 characters; "
                 "shorten it";
}
