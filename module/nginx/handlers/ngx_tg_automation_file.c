/* Rules of automation from files. */
#include "nginx/handlers/ngx_tg_automation.h"

/* Reads the secret that the action of a rule names. */
static char *
ngx_tg_automation_rule_read_secret(
    ngx_conf_t *cf, const ngx_tg_automation_rule_source_t *source,
    tg_str_t rule, ngx_str_t *secret)
{
    tg_str_t action, value;
    ngx_str_t word;
    tg_buf_t buf;
    ngx_int_t rc;

    secret->len = 0;

    if (tg_json_get_member(rule, TG_STR("action"), &action) != TG_OK
        || !tg_json_has_member(action, TG_STR("secret"), TG_JSON_STRING,
                               &value))
    {
        return NGX_CONF_OK;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_append_unescaped(&buf, tg_json_string_body(value));

    if (ngx_tg_buf_move_to_pool(cf->pool, &buf, &word) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    rc = ngx_tg_secret_arg_read(cf, &word, secret);

    return rc == NGX_DECLINED ? ngx_tg_automation_rule_conf_error(
               cf, source, rule,
               "action.secret: write \"file=PATH\" "
               "or \"credential=NAME\"")
           : rc == NGX_OK ? NGX_CONF_OK
                          : NGX_CONF_ERROR;
}

static char *
ngx_tg_automation_rules_add(ngx_conf_t *cf, const ngx_str_t *path,
                            const ngx_str_t *text, tg_str_t rules)
{
    u_char name[NGX_INT_T_LEN + sizeof("rule ")];
    ngx_tg_automation_rule_source_t source;
    ngx_str_t secret;
    tg_json_cursor_t each;
    tg_str_t rule;
    ngx_uint_t n;
    char *rv;

    rv = NGX_CONF_OK;
    source.name = (char *) name;
    source.path = path;
    source.text = ngx_tg_str_from_ngx(text);

    for (tg_json_iter_init(&each, rules), n = 0;
         rv == NGX_CONF_OK && tg_json_iter_next(&each, &rule); n++)
    {
        (void) ngx_sprintf(name, "rule %ui%Z", n);
        rv = ngx_tg_automation_rule_read_secret(cf, &source, rule, &secret);

        if (rv == NGX_CONF_OK) {
            rv = ngx_tg_automation_rule_add(cf, &source, rule, &secret);
        }
    }

    return rv;
}

/*
 * Parses `automation_file PATH`: an array of rules, or an object with the array
 * as its member `rules`.
 */
char *
ngx_tg_automation_read_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value, path, text;
    ngx_file_info_t fi;
    tg_str_t rules;

    value = cf->args->elts;
    path = value[1];

    if (ngx_tg_conf_enable_tasks(cf) == NULL
        || ngx_tg_conf_read_file(cf, &path, &text, &fi) != NGX_OK
        || ngx_tg_conf_check_json(cf, &cmd->name, &path, &text) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    rules = tg_str_skip_blanks(ngx_tg_str_from_ngx(&text));

    if (tg_json_type(rules) == TG_JSON_OBJECT
        && tg_json_get_member(rules, TG_STR("rules"), &rules) != TG_OK)
    {
        rules = TG_STR_NONE;
    }

    if (tg_json_type(rules) != TG_JSON_ARRAY) {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"%V\" contains no rules; write an "
                                 "array of rules, or an object with such an "
                                 "array as \"rules\"",
                                 &path, &cmd->name);
    }

    return ngx_tg_automation_rules_add(cf, &path, &text, rules);
}
