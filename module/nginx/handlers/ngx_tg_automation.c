/*
 * Automation rules in the config: the module and the block `automation NAME {
 * }`.
 */
#include "nginx/handlers/ngx_tg_automation.h"

/* --- end of the block: JSON of the rule --- */

static const char *
ngx_tg_automation_check(const ngx_tg_automation_t *automation)
{
    if (automation->trigger.len == 0) {
        return "has no \"trigger\"; write \"trigger cron ...\", \"trigger "
               "event ...\" or \"trigger file ...\"";
    }

    if (automation->action.len == 0) {
        return "has no action; write \"agent\", \"notify\" or \"webhook\"";
    }

    if (tg_spec_find_set(tg_rule_action_fields, &automation->options) != NULL
        && !automation->is_agent)
    {
        return "has a \"priority\", which only an \"agent\" has; remove it";
    }

    return automation->secret.len != 0 && !automation->is_webhook
               ? "has a \"secret\", which only a \"webhook\" has; remove it"
               : NULL;
}

static void
ngx_tg_automation_write_json(const ngx_tg_automation_t *automation,
                             tg_buf_t *json)
{
    tg_buf_append_char(json, '{');
    tg_json_add_string(json, "id", ngx_tg_str_from_ngx(&automation->name));
    tg_json_add_string(json, "description",
                       ngx_tg_str_from_ngx(&automation->description));
    tg_spec_write(tg_rule_fields, &automation->rule, json);
    tg_json_add_raw(json, "trigger", ngx_tg_str_from_ngx(&automation->trigger));
    tg_buf_append_cstr(json, ",\"conditions\":[");
    tg_buf_append_str(json, ngx_tg_str_from_ngx(&automation->conditions));
    tg_buf_append_char(json, ']');
    tg_json_add_raw(json, "action", ngx_tg_str_from_ngx(&automation->action));
    tg_spec_write(tg_rule_action_fields, &automation->options, json);
    tg_buf_append_cstr(json, "}}");
}

static char *
ngx_tg_automation_finish_block(ngx_conf_t *cf, ngx_command_t *cmd,
                               ngx_tg_automation_t *automation)
{
    const char *mistake;
    ngx_tg_automation_rule_source_t source;
    u_char place[NGX_MAX_CONF_ERRSTR];
    tg_buf_t json;
    char *rv;

    mistake = ngx_tg_automation_check(automation);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "%V \"%V\" %s", &cmd->name,
                                 &automation->name, mistake);
    }

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&automation->name))
        || !tg_utf8_is_valid(ngx_tg_str_from_ngx(&automation->description)))
    {
        return "has a name or a description that is not valid UTF-8";
    }

    (void) ngx_snprintf(place, sizeof(place), "%V \"%V\"%Z", &cmd->name,
                        &automation->name);
    place[sizeof(place) - 1] = '\0';
    ngx_memzero(&source, sizeof(source));
    source.name = (char *) place;
    tg_buf_init(&json, tg_alloc_libc());
    ngx_tg_automation_write_json(automation, &json);
    rv = tg_buf_has_failed(&json)
             ? NGX_CONF_ERROR
             : ngx_tg_automation_rule_add(cf, &source, tg_buf_view(&json),
                                          &automation->secret);
    tg_buf_deinit(&json);

    return rv;
}

static char *
ngx_tg_automation_read_block(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_automation_t *automation;
    ngx_str_t *value;
    void **confs;
    char *rv;

    value = cf->args->elts;
    automation = ngx_pcalloc(cf->pool, sizeof(ngx_tg_automation_t));
    confs = ngx_tg_conf_create_array(cf, &ngx_tg_automation_module, automation);

    if (automation == NULL || confs == NULL
        || ngx_tg_conf_enable_tasks(cf) == NULL) {
        return NGX_CONF_ERROR;
    }

    automation->name = value[1];
    tg_spec_init(tg_rule_fields, &automation->rule);
    tg_spec_init(tg_rule_action_fields, &automation->options);
    rv = ngx_tg_conf_read_block(cf, NGX_STREAM_AUTOMATION_CONF, confs);

    return rv == NGX_CONF_OK
               ? ngx_tg_automation_finish_block(cf, cmd, automation)
               : rv;
}

/* --- module --- */

#define ngx_tg_automation_offset(field)                                        \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_automation_t, field)

/* Space for the directives of the options. */
static ngx_command_t ngx_tg_automation_commands[24] = {

    { ngx_string("automation"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_automation_read_block, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("automation_file"), NGX_STREAM_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_automation_read_file, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    /* directives in an automation block */

    { ngx_string("trigger"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_2MORE,
      ngx_tg_automation_set_trigger, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("when"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE23,
      ngx_tg_automation_set_when, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("agent"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE12,
      ngx_tg_automation_set_action, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("notify"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE12,
      ngx_tg_automation_set_action, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("webhook"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE12,
      ngx_tg_automation_set_action, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("secret"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_tg_automation_set_secret, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("description"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_conf_set_str_slot, ngx_tg_automation_offset(description), NULL },

    ngx_null_command
};

__attribute__((constructor)) static void
ngx_tg_automation_init_commands(void)
{
    ngx_tg_spec_add_commands(ngx_tg_automation_commands, tg_rule_fields,
                             NGX_STREAM_AUTOMATION_CONF,
                             offsetof(ngx_tg_automation_t, rule), NULL);
    ngx_tg_spec_add_commands(ngx_tg_automation_commands, tg_rule_action_fields,
                             NGX_STREAM_AUTOMATION_CONF,
                             offsetof(ngx_tg_automation_t, options), NULL);
}

ngx_module_t ngx_tg_automation_module = NGX_TG_HANDLER_MODULE(
    ngx_tg_automation_commands);
