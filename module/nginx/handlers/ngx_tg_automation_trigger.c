/* The directive `trigger` of an automation block: which events start a rule. */
#include "nginx/handlers/ngx_tg_automation.h"

#include "base/tg_utf8.h"

typedef union {
    tg_cron_trigger_t cron;
    tg_event_trigger_t event;
    tg_file_trigger_t file;
} ngx_tg_trigger_t;

/* The fields describe the parameters, and the argument before them. */
static const struct {
    ngx_str_t name;
    const tg_json_field_t *fields;
} ngx_tg_triggers[] = {
    { ngx_string("cron"), tg_cron_trigger_fields },
    { ngx_string("event"), tg_event_trigger_fields },
    { ngx_string("file"), tg_file_trigger_fields },
    { ngx_null_string, NULL },
};

static char *
ngx_tg_trigger_write_json(ngx_conf_t *cf, ngx_command_t *cmd, tg_buf_t *json)
{
    const tg_json_field_t *fields;
    ngx_tg_trigger_t trigger;
    ngx_str_t *value;
    ngx_uint_t i;
    char *rv;

    value = cf->args->elts;

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[2]))) {
        return "is not valid UTF-8";
    }

    for (i = 0; ngx_tg_triggers[i].fields != NULL
                && ngx_strcmp(value[1].data, ngx_tg_triggers[i].name.data) != 0;
         i++)
    {
        /* void */
    }

    fields = ngx_tg_triggers[i].fields;

    if (fields == NULL) {
        return ngx_tg_conf_error(cf,
                                 "unknown trigger \"%V\"; write \"cron\", "
                                 "\"event\" or \"file\"",
                                 &value[1]);
    }

    if (fields == tg_file_trigger_fields
        && ngx_conf_full_name(cf->cycle, &value[2], 1) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    tg_spec_init(fields, &trigger);
    rv = ngx_tg_spec_set_words(cf, cmd, 2, fields, &trigger);
    tg_json_begin_object(json);

    if (fields != tg_event_trigger_fields) {
        tg_json_add_string(json, "type", ngx_tg_str_from_ngx(&value[1]));
    }

    tg_spec_write(fields, &trigger, json);
    tg_buf_append_char(json, '}');

    return rv;
}

char *
ngx_tg_automation_set_trigger(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_automation_t *automation = conf;

    tg_buf_t json;
    char *rv;

    if (automation->trigger.len != 0) {
        return "is duplicate; write a separate rule for each trigger";
    }

    tg_buf_init(&json, tg_alloc_libc());
    rv = ngx_tg_trigger_write_json(cf, cmd, &json);

    if (rv != NGX_CONF_OK) {
        tg_buf_deinit(&json);
        return rv;
    }

    return ngx_tg_conf_result(
        ngx_tg_buf_move_to_pool(cf->pool, &json, &automation->trigger));
}
