/* Directives within an automation block, except `trigger`. */
#include "nginx/handlers/ngx_tg_automation.h"

#include "schema/pcre2/tg_pcre2.h"

/* --- conditions: `when` --- */

static char *
ngx_tg_automation_check_when(ngx_conf_t *cf, const ngx_str_t *value,
                             tg_rule_op_t op)
{
    tg_rule_pattern_t pattern;
    const tg_schema_regex_engine_t *regex;
    u_char text[512];
    tg_buf_t why;
    int rc;

    if (op == TG_RULE_OPS) {
        return ngx_tg_conf_error(cf,
                                 "unknown operator \"%V\" in \"when\"; write "
                                 "eq, neq, contains, matches, gt, gte, lt, "
                                 "lte, exists or not_exists",
                                 &value[2]);
    }

    if ((op >= TG_RULE_OP_EXISTS) != (cf->args->nelts == 3)) {
        return ngx_tg_conf_error(cf, "\"when %V %V\" %s", &value[1], &value[2],
                                 op >= TG_RULE_OP_EXISTS ? "has no value"
                                                         : "needs a value");
    }

    if (op >= TG_RULE_OP_GT && op < TG_RULE_OP_EXISTS
        && !tg_rule_is_number(ngx_tg_str_from_ngx(&value[3])))
    {
        return ngx_tg_conf_error(cf, "\"%V\" of \"when %V %V\" is not a number",
                                 &value[3], &value[1], &value[2]);
    }

    if (op != TG_RULE_OP_MATCHES) {
        return NULL;
    }

    why = tg_buf_make_fixed((char *) text, sizeof(text));
    regex = tg_pcre2_get_engine();
    pattern.code = NULL;
    rc = tg_rule_pattern_compile(tg_alloc_libc(), regex,
                                 ngx_tg_str_from_ngx(&value[3]), &pattern,
                                 &why);
    regex->free(regex->ctx, pattern.code);

    return rc == TG_OK ? NULL
                       : ngx_tg_conf_error(cf, "pattern \"%V\": %*s", &value[3],
                                           why.len, text);
}

char *
ngx_tg_automation_set_when(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_automation_t *automation = conf;

    ngx_str_t *value;
    tg_rule_op_t op;
    ngx_uint_t i;
    tg_buf_t json;
    char *mistake;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[i]))) {
            return "is not valid UTF-8";
        }
    }

    op = tg_rule_find_operator(ngx_tg_str_from_ngx(&value[2]));
    mistake = ngx_tg_automation_check_when(cf, value, op);

    if (mistake != NULL) {
        return mistake;
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_str(&json, ngx_tg_str_from_ngx(&automation->conditions));
    tg_buf_append_cstr(&json, automation->conditions.len != 0 ? "," : "");
    tg_buf_append_char(&json, '{');
    tg_json_add_string(&json, "field", ngx_tg_str_from_ngx(&value[1]));
    tg_json_add_string(&json, "operator", ngx_tg_str_from_ngx(&value[2]));

    if (cf->args->nelts == 4) {
        tg_json_add_string(&json, "text", ngx_tg_str_from_ngx(&value[3]));
    }

    tg_buf_append_char(&json, '}');

    return ngx_tg_conf_result(
        ngx_tg_buf_move_to_pool(cf->pool, &json, &automation->conditions));
}

/* --- actions --- */

static void
ngx_tg_automation_write_member(tg_buf_t *json, const char *key, ngx_str_t text)
{
    tg_buf_append_cstr(json, key);
    tg_json_write_string(json, ngx_tg_str_from_ngx(&text));
}

/* Parses `channel=NAME` after a message; word becomes NAME. */
static char *
ngx_tg_automation_parse_channel(ngx_conf_t *cf, const ngx_command_t *cmd,
                                ngx_str_t *word)
{
    ngx_str_t name;

    if (!ngx_tg_arg_has_name(word, "channel=", &name) || name.len == 0) {
        return ngx_tg_conf_error(cf,
                                 "invalid parameter \"%V\" in \"%V\"; write "
                                 "one message in quotes, optionally followed "
                                 "by \"channel=NAME\"",
                                 word, &cmd->name);
    }

    *word = name;

    return NGX_CONF_OK;
}

/*
 * Parses the action of a rule: `agent NAME [PROMPT]`, `notify MESSAGE
 * [channel=NAME]` or `webhook URL [MESSAGE]`.
 */
char *
ngx_tg_automation_set_action(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_automation_t *automation = conf;

    ngx_str_t *value, second;
    tg_buf_t json;
    char *rv;

    value = cf->args->elts;
    second = value[cf->args->nelts - 1];

    if (automation->action.len != 0) {
        return "is a second action; write a separate rule for it";
    }

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[1]))
        || !tg_utf8_is_valid(ngx_tg_str_from_ngx(&second)))
    {
        return "is not valid UTF-8";
    }

    automation->is_agent = cmd->name.data[0] == 'a';
    automation->is_webhook = cmd->name.data[0] == 'w';

    if (!automation->is_agent && !automation->is_webhook
        && cf->args->nelts == 3) {
        rv = ngx_tg_automation_parse_channel(cf, cmd, &second);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    tg_buf_init(&json, tg_alloc_libc());
    ngx_tg_automation_write_member(&json, "{\"type\":", cmd->name);
    ngx_tg_automation_write_member(&json,
                                   automation->is_agent     ? ",\"agent\":"
                                   : automation->is_webhook ? ",\"url\":"
                                                            : ",\"message\":",
                                   value[1]);

    if (cf->args->nelts == 3) {
        ngx_tg_automation_write_member(&json,
                                       automation->is_agent ? ",\"prompt\":"
                                       : automation->is_webhook
                                           ? ",\"message\":"
                                           : ",\"channel\":",
                                       second);
    }

    return ngx_tg_conf_result(
        ngx_tg_buf_move_to_pool(cf->pool, &json, &automation->action));
}

/* --- other directives --- */

char *
ngx_tg_automation_set_secret(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_automation_t *automation = conf;

    ngx_str_t *value;
    ngx_int_t rc;

    value = cf->args->elts;

    if (automation->secret.len != 0) {
        return "is duplicate";
    }

    rc = ngx_tg_secret_arg_read(cf, &value[1], &automation->secret);

    return rc == NGX_OK ? NGX_CONF_OK
           : rc == NGX_ERROR
               ? NGX_CONF_ERROR
               : ngx_tg_conf_error(cf,
                                   "invalid value \"%V\" in \"%V\"; write "
                                   "\"file=PATH\" or \"credential=NAME\"",
                                   &value[1], &cmd->name);
}
