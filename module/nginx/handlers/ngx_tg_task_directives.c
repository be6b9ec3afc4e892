/* Directives about the tasks of a server. */
#include "nginx/handlers/ngx_tg_task.h"
#include "nginx/call/ngx_tg_call_checks.h"

/* Names of the values NGX_TG_TASK_VISIBILITY_…. */
static const char *const ngx_tg_task_visibilities[] = { "own", "all", NULL };

static void *
ngx_tg_task_create_main_conf(ngx_conf_t *cf)
{
    ngx_tg_tasks_main_conf_t *mmcf;

    mmcf = ngx_pcalloc(cf->pool, sizeof(ngx_tg_tasks_main_conf_t));

    return mmcf != NULL
                   && ngx_array_init(&mmcf->servers, cf->pool, 4,
                                     sizeof(ngx_tg_tasks_t *))
                          == NGX_OK
               ? mmcf
               : NULL;
}

static void *
ngx_tg_task_create_srv_conf(ngx_conf_t *cf)
{
    ngx_tg_tasks_t *tasks;

    tasks = ngx_pcalloc(cf->pool, sizeof(ngx_tg_tasks_t));

    if (tasks != NULL) {
        tg_spec_init(tg_task_fields, &tasks->options);
        tasks->options.lease_ms = TG_TASK_LEASE_DEFAULT_MS;
        tasks->methods = NGX_CONF_UNSET;
        tasks->tools = NGX_CONF_UNSET;
        tasks->visibility = NGX_CONF_UNSET_UINT;
    }

    return tasks;
}

/* --- directives --- */

/*
 * Parses `task_methods` and `task_tools`; the flag is at cmd->offset of conf.
 */
static char *
ngx_tg_tasks_set_flag(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_flag_t *field;
    ngx_str_t *value;

    field = (ngx_flag_t *) (void *) ((char *) conf + cmd->offset);

    if (*field != NGX_CONF_UNSET) {
        return "is duplicate";
    }

    value = cf->args->elts;
    *field = ngx_strcasecmp(value[1].data, (u_char *) "on") == 0;

    if (!*field && ngx_strcasecmp(value[1].data, (u_char *) "off") != 0) {
        return ngx_tg_conf_error(cf,
                                 "invalid value \"%V\" in \"%V\"; write "
                                 "\"on\" or \"off\"",
                                 &value[1], &cmd->name);
    }

    return ngx_tg_conf_enable_tasks(cf) != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* Parses a directive of tg_task_fields. */
static char *
ngx_tg_tasks_set_option(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_tg_conf_enable_tasks(cf) != NULL ? ngx_tg_spec_set(cf, cmd, conf)
                                                : NGX_CONF_ERROR;
}

static char *
ngx_tg_tasks_set_visibility(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_tg_conf_enable_tasks(cf) != NULL
               ? ngx_tg_conf_set_choice(cf, cmd, conf)
               : NGX_CONF_ERROR;
}

static char *
ngx_tg_tasks_set_admin(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_tg_conf_enable_tasks(cf) != NULL
               ? ngx_tg_conf_add_access_rules(cf, cmd, conf)
               : NGX_CONF_ERROR;
}

/* --- end of the server block --- */

/*
 * Adds `deny all` to the rules of daemon.stop, so that only administrators may
 * call it.
 */
static char *
ngx_tg_tasks_deny_stop_to_others(ngx_conf_t *cf, ngx_tg_tasks_t *tasks)
{
    ngx_str_t words[] = { ngx_string("task_admin"), ngx_string("all") };
    ngx_command_t cmd;
    ngx_array_t args, *saved;
    char *rv;

    ngx_memzero(&cmd, sizeof(ngx_command_t));
    cmd.offset = offsetof(ngx_tg_tasks_t, admins);
    cmd.post = (void *) NGX_TG_CONF_DENY;
    ngx_memzero(&args, sizeof(ngx_array_t));
    args.elts = words;
    args.nelts = 2;
    saved = cf->args;
    cf->args = &args;
    rv = ngx_tg_conf_add_access_rules(cf, &cmd, tasks);
    cf->args = saved;
    tasks->stop->rules = tasks->admins;

    return rv;
}

static char *
ngx_tg_task_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_tg_tasks_t *tasks = child;

    if (tasks->scf == NULL) {
        return NGX_CONF_OK;
    }

    if (tasks->agents == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "a server with tasks has no \"task_agent\"; add one, or "
                      "add \"task\" to a tool, in %V",
                      &tasks->where);
        return NGX_CONF_ERROR;
    }

    if (ngx_tg_automation_rules_check(cf, tasks) != NGX_OK
        || ngx_tg_task_store_check_library(cf, tasks) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_tg_task_agents_lint(cf, tasks);
    tg_spec_set_defaults(tg_task_fields, &tasks->options);

    ngx_conf_init_uint_value(tasks->visibility, NGX_TG_TASK_VISIBILITY_OWN);

    if (tasks->visibility == NGX_TG_TASK_VISIBILITY_OWN) {
        tasks->scf->see_all_rules = ngx_tg_conf_make_status_rules(
            cf, tasks->scf, tasks->admins);

        if (tasks->scf->see_all_rules == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    return tasks->stop != NULL ? ngx_tg_tasks_deny_stop_to_others(cf, tasks)
                               : NGX_CONF_OK;
}

/* --- module --- */

#define ngx_tg_tasks_offset(field)                                             \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_tasks_t, field)
#define ngx_tg_task_agent_offset(field)                                        \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_task_agent_t, field)

/* Space for the directives of the options (tg_task_fields, tg_agent_fields). */
static ngx_command_t ngx_tg_task_commands[40] = {

    { ngx_string("task_store"), NGX_STREAM_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_tasks_set_store, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("task_agent"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_task_agent_read_block, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("task_methods"), NGX_STREAM_SRV_CONF | NGX_CONF_FLAG,
      ngx_tg_tasks_set_flag, ngx_tg_tasks_offset(methods), NULL },

    { ngx_string("task_tools"), NGX_STREAM_SRV_CONF | NGX_CONF_FLAG,
      ngx_tg_tasks_set_flag, ngx_tg_tasks_offset(tools), NULL },

    { ngx_string("task_visibility"), NGX_STREAM_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_tasks_set_visibility, ngx_tg_tasks_offset(visibility),
      (void *) ngx_tg_task_visibilities },

    { ngx_string("task_admin"), NGX_STREAM_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_tasks_set_admin, ngx_tg_tasks_offset(admins), NULL },

    /* directives in a task_agent block */

    { ngx_string("exec"), NGX_STREAM_TASK_CONF | NGX_CONF_1MORE,
      ngx_tg_task_agent_set_exec, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("env"), NGX_STREAM_TASK_CONF | NGX_CONF_TAKE2,
      ngx_tg_task_agent_set_env, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("cwd"), NGX_STREAM_TASK_CONF | NGX_CONF_TAKE1,
      ngx_tg_task_agent_set_value, ngx_tg_task_agent_offset(cwd),
      (void *) NGX_TG_SCHEMA_FROM_FILE },

    { ngx_string("stdin"), NGX_STREAM_TASK_CONF | NGX_CONF_TAKE1,
      ngx_tg_task_agent_set_value, ngx_tg_task_agent_offset(input), NULL },

    { ngx_string("success"), NGX_STREAM_TASK_CONF | NGX_CONF_1MORE,
      ngx_tg_task_agent_set_success, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("default"), NGX_STREAM_TASK_CONF | NGX_CONF_NOARGS,
      ngx_tg_task_agent_set_default, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

__attribute__((constructor)) static void
ngx_tg_task_init_commands(void)
{
    ngx_tg_spec_add_commands(ngx_tg_task_commands, tg_task_fields,
                             NGX_STREAM_SRV_CONF,
                             offsetof(ngx_tg_tasks_t, options),
                             ngx_tg_tasks_set_option);
    ngx_tg_spec_add_commands(ngx_tg_task_commands, tg_agent_fields,
                             NGX_STREAM_TASK_CONF,
                             offsetof(ngx_tg_task_agent_t, options), NULL);
}

static ngx_stream_module_t ngx_tg_task_module_ctx = {
    .create_main_conf = ngx_tg_task_create_main_conf,
    .create_srv_conf = ngx_tg_task_create_srv_conf,
    .merge_srv_conf = ngx_tg_task_merge_srv_conf,
};

ngx_module_t ngx_tg_task_module = NGX_TG_MODULE(
    ngx_tg_task_module_ctx, ngx_tg_task_commands,
    .init_process = ngx_tg_tasks_init_process,
    .exit_master = ngx_tg_tasks_exit_master);
