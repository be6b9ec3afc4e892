/*
 * `automation NAME { }`.
 */
#include "nginx/handlers/ngx_toolgate_automation.h"

static char *ngx_toolgate_automation(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);

#define ngx_toolgate_of_automation(field)                                      \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_toolgate_automation_t, field)

static ngx_command_t ngx_toolgate_automation_commands[] = {

    { ngx_string("automation"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_toolgate_automation, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("automation_file"), NGX_STREAM_SRV_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_automation_file, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    /* in an automation */

    { ngx_string("trigger"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_2MORE,
      ngx_toolgate_automation_trigger, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("when"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE23,
      ngx_toolgate_automation_when, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("agent"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_automation_action, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("notify"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_automation_action, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("webhook"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_automation_action, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("secret"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_automation_secret, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("priority"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_automation_priority, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("cooldown"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_automation_cooldown, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("approval"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_automation_approval, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("enabled"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_FLAG,
      ngx_conf_set_flag_slot, ngx_toolgate_of_automation(enabled), NULL },

    { ngx_string("description"), NGX_STREAM_AUTOMATION_CONF | NGX_CONF_TAKE1,
      ngx_conf_set_str_slot, ngx_toolgate_of_automation(description), NULL },

    ngx_null_command
};

ngx_module_t ngx_toolgate_automation_module = NGX_TOOLGATE_HANDLER_MODULE(
    ngx_toolgate_automation_commands);

/* --- its end: the JSON of the rule --- */

static const char *
ngx_toolgate_automation_mistake(const ngx_toolgate_automation_t *automation)
{
    if (automation->trigger.len == 0) {
        return "has no \"trigger\"; write what it is about";
    }

    if (automation->action.len == 0) {
        return "has no action; write \"agent\", \"notify\" or \"webhook\"";
    }

    if (automation->has_priority && !automation->is_agent) {
        return "has a \"priority\", which only an \"agent\" has; remove it";
    }

    return automation->secret.len != 0 && !automation->is_webhook
               ? "has a \"secret\", which only a \"webhook\" has; remove it"
               : NULL;
}

static void
ngx_toolgate_automation_put(const ngx_toolgate_automation_t *automation,
                            tg_buf_t *json)
{
    tg_buf_text(json, "{\"id\":");
    tg_json_put_string(json, ngx_toolgate_str(&automation->name));
    tg_buf_text(json, ",\"description\":");
    tg_json_put_string(json, ngx_toolgate_str(&automation->description));
    tg_buf_text(json, automation->enabled == 0 ? ",\"enabled\":false" : "");
    tg_buf_text(json,
                automation->needs_approval ? ",\"requiresApproval\":true" : "");
    tg_buf_text(json, ",\"cooldownMs\":");
    tg_buf_int(json, (int64_t) automation->cooldown * 1000);
    tg_buf_text(json, ",\"trigger\":");
    tg_buf_str(json, ngx_toolgate_str(&automation->trigger));
    tg_buf_text(json, ",\"conditions\":[");
    tg_buf_str(json, ngx_toolgate_str(&automation->conditions));
    tg_buf_text(json, "],\"action\":");
    tg_buf_str(json, ngx_toolgate_str(&automation->action));

    if (automation->is_agent) {
        tg_buf_text(json, ",\"priority\":");
        tg_buf_int(json, automation->priority);
    }

    tg_buf_text(json, "}}");
}

static char *
ngx_toolgate_automation_end(ngx_conf_t *cf, ngx_command_t *cmd,
                            ngx_toolgate_automation_t *automation)
{
    const char *mistake;
    ngx_toolgate_auto_from_t from;
    u_char place[NGX_MAX_CONF_ERRSTR];
    tg_buf_t json;
    char *rv;

    mistake = ngx_toolgate_automation_mistake(automation);

    if (mistake != NULL) {
        return ngx_toolgate_refuse(cf, "%V \"%V\" %s", &cmd->name,
                                   &automation->name, mistake);
    }

    if (!tg_utf8_is_valid(ngx_toolgate_str(&automation->name))
        || !tg_utf8_is_valid(ngx_toolgate_str(&automation->description)))
    {
        return "has a name or a description that is not valid UTF-8";
    }

    (void) ngx_snprintf(place, sizeof(place), "%V \"%V\"%Z", &cmd->name,
                        &automation->name);
    place[sizeof(place) - 1] = '\0';
    ngx_memzero(&from, sizeof(from));
    from.name = (char *) place;
    tg_buf_init(&json, tg_alloc_libc());
    ngx_toolgate_automation_put(automation, &json);
    rv = tg_buf_failed(&json)
             ? NGX_CONF_ERROR
             : ngx_toolgate_auto_add(cf, &from, tg_buf_view(&json),
                                     &automation->secret);
    tg_buf_deinit(&json);

    return rv;
}

static char *
ngx_toolgate_automation(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_automation_t *automation;
    ngx_str_t *value;
    void **confs;
    char *rv;

    (void) conf;
    value = cf->args->elts;
    automation = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_automation_t));
    confs = ngx_palloc(cf->pool, sizeof(void *) * ngx_stream_max_module);

    if (automation == NULL || confs == NULL
        || ngx_toolgate_task_use(cf) == NULL) {
        return NGX_CONF_ERROR;
    }

    automation->name = value[1];
    automation->enabled = NGX_CONF_UNSET;
    automation->cooldown = 0;
    ngx_memcpy(confs, ((ngx_stream_conf_ctx_t *) cf->ctx)->srv_conf,
               sizeof(void *) * ngx_stream_max_module);
    confs[ngx_toolgate_automation_module.ctx_index] = automation;
    rv = ngx_toolgate_read_block(cf, NGX_STREAM_AUTOMATION_CONF, confs);

    return rv == NGX_CONF_OK ? ngx_toolgate_automation_end(cf, cmd, automation)
                             : rv;
}
