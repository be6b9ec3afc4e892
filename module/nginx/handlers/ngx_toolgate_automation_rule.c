/*
 * Rules: what is checked of each, wherever it is from, and files of them.
 */
#include "nginx/handlers/ngx_toolgate_automation.h"

#include "nginx/conf/ngx_toolgate_http_values.h"
#include "regex/tg_regex.h"

#define NGX_TOOLGATE_ZONES "/usr/share/zoneinfo/"

/* --- where a mistake is --- */

/*
 * The member at the head of a message ("conditions[0].value: …"), or as much
 * of the way to it as there is.
 */
static const char *
ngx_toolgate_auto_member(tg_str_t rule, tg_str_t message)
{
    u_char path[128];
    tg_str_t value;
    size_t i, len;

    for (i = len = 0;
         i < message.len && message.data[i] != ':' && len < sizeof(path); i++)
    {
        if (message.data[i] != ']') {
            path[len++] = message.data[i] == '[' ? '.' : message.data[i];
        }
    }

    while (len != 0) {
        if (tg_event_get(rule, tg_str((char *) path, len), &value) == TG_OK) {
            return value.data;
        }

        while (--len != 0 && path[len] != '.') {
            /* void */
        }
    }

    return rule.data;
}

/* Logs a message about a rule, which begins with a member of the rule. */
static void
ngx_toolgate_auto_log(ngx_conf_t *cf, ngx_uint_t level,
                      const ngx_toolgate_auto_from_t *from, tg_str_t rule,
                      tg_str_t message)
{
    u_char text[64];
    tg_buf_t where;

    if (from->path == NULL) {
        ngx_conf_log_error(level, cf, 0, "%s: %*s", from->name, message.len,
                           message.data);
        return;
    }

    where = tg_buf_fixed((char *) text, sizeof(text));
    tg_json_put_place(&where, from->text,
                      ngx_toolgate_auto_member(rule, message));
    ngx_conf_log_error(level, cf, 0, "%s of \"%V\", %*s: %*s", from->name,
                       from->path, where.len, text, message.len, message.data);
}

/* Refuses a rule, by what is wrong with which of its members. */
static char *
ngx_toolgate_auto_refuse(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                         tg_str_t rule, const char *format, ...)
{
    u_char message[NGX_MAX_CONF_ERRSTR], *last;
    va_list args;

    va_start(args, format);
    last = ngx_vslprintf(message, message + sizeof(message), format, args);
    va_end(args);

    ngx_toolgate_auto_log(cf, NGX_LOG_EMERG, from, rule,
                          tg_str((char *) message, (size_t) (last - message)));

    return NGX_CONF_ERROR;
}

typedef struct {
    ngx_conf_t *cf;
    const ngx_toolgate_auto_from_t *from;
    tg_str_t rule;
} ngx_toolgate_auto_advice_t;

static void
ngx_toolgate_auto_warn(void *ctx, const char *message)
{
    ngx_toolgate_auto_advice_t *advice = ctx;

    ngx_toolgate_auto_log(advice->cf, NGX_LOG_WARN, advice->from, advice->rule,
                          tg_str_c(message));
}

/* --- what only this machine knows --- */

static char *
ngx_toolgate_auto_zone(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                       tg_str_t json, tg_str_t name)
{
    u_char path[sizeof(NGX_TOOLGATE_ZONES) + TG_ZONE_NAME_MAX];
    ngx_file_info_t fi;
    ngx_str_t file, text;
    tg_zone_t *zone;

    file.data = path;
    file.len = ngx_sprintf(path, NGX_TOOLGATE_ZONES "%*s%Z", name.len,
                           name.data)
               - path - 1;

    if (ngx_file_info(path, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        return ngx_toolgate_auto_refuse(cf, from, json,
                                        "trigger.zone: there is no time zone "
                                        "\"%*s\" in \"" NGX_TOOLGATE_ZONES
                                        "\"; write one such as Europe/Berlin, "
                                        "or install the package tzdata",
                                        name.len, name.data);
    }

    zone = NULL;

    if (ngx_toolgate_read_file(cf, &file, &text, &fi) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (tg_zone_read(tg_alloc_libc(), ngx_toolgate_str(&text), &zone) != TG_OK)
    {
        return ngx_toolgate_auto_refuse(cf, from, json,
                                        "trigger.zone: \"%V\" is no file of a "
                                        "time zone without leap seconds",
                                        &file);
    }

    tg_zone_free(zone);

    return NGX_CONF_OK;
}

static char *
ngx_toolgate_auto_path(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                       tg_str_t json, tg_str_t text)
{
    ngx_file_info_t fi;
    ngx_str_t path;
    u_char *p;

    p = ngx_pnalloc(cf->pool, text.len + 1);

    if (p == NULL) {
        return NGX_CONF_ERROR;
    }

    path.data = p;
    path.len = text.len;
    *ngx_cpymem(p, text.data, text.len) = '\0';

    if (ngx_file_info(p, &fi) == NGX_FILE_ERROR
        || (!ngx_is_dir(&fi) && !ngx_is_file(&fi)))
    {
        return ngx_toolgate_auto_refuse(cf, from, json,
                                        "trigger.path: there is no folder or "
                                        "file \"%V\" to watch; make it, or "
                                        "write another one",
                                        &path);
    }

    return ngx_toolgate_conf_reach(cf, &path, NGX_TOOLGATE_TO_READ) == NGX_OK
               ? NGX_CONF_OK
               : NGX_CONF_ERROR;
}

static char *
ngx_toolgate_auto_needs(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                        tg_str_t json, const tg_rule_t *rule)
{
    if (rule->action == TG_ACTION_WEBHOOK
        && ngx_toolgate_has_curl(cf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (rule->trigger == TG_TRIGGER_FILE) {
        return ngx_toolgate_auto_path(cf, from, json, rule->path);
    }

    return rule->trigger == TG_TRIGGER_CRON && rule->zone.len != 0
               ? ngx_toolgate_auto_zone(cf, from, json, rule->zone)
               : NGX_CONF_OK;
}

/* --- a rule --- */

static ngx_int_t
ngx_toolgate_auto_text(ngx_conf_t *cf, tg_str_t text, ngx_str_t *copy)
{
    tg_buf_t buf;

    tg_buf_init(&buf, tg_alloc_libc());
    tg_buf_str(&buf, text);

    return ngx_toolgate_task_keep(cf->pool, &buf, copy);
}

/* As the runner gets it: with what it signs with. */
static ngx_int_t
ngx_toolgate_auto_json(ngx_conf_t *cf, tg_str_t json, const ngx_str_t *secret,
                       ngx_str_t *copy)
{
    tg_buf_t buf;

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_put_compact(&buf, json);

    if (secret->len != 0 && !tg_buf_failed(&buf)) {
        tg_buf_truncate(&buf, buf.len - 1);
        tg_buf_text(&buf, ",\"secret\":");
        tg_json_put_string(&buf, ngx_toolgate_str(secret));
        tg_buf_char(&buf, '}');
    }

    return ngx_toolgate_task_keep(cf->pool, &buf, copy);
}

/* File and line, behind messages about all rules of a server. */
static ngx_int_t
ngx_toolgate_auto_where(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                        tg_str_t json, ngx_str_t *where)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (from->path != NULL) {
        tg_buf_str(&text, ngx_toolgate_str(from->path));
        tg_buf_text(&text, ", ");
        tg_json_put_place(&text, from->text,
                          ngx_toolgate_auto_member(json,
                                                   TG_STR("action.agent")));
    } else {
        tg_buf_str(&text, ngx_toolgate_str(&cf->conf_file->file.name));
        tg_buf_printf(&text, ":%lu", (unsigned long) cf->conf_file->line);
    }

    return ngx_toolgate_task_keep(cf->pool, &text, where);
}

static char *
ngx_toolgate_auto_push(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                       tg_str_t json, const ngx_str_t *secret,
                       const tg_rule_t *read)
{
    ngx_toolgate_auto_t *rule, *rules;
    ngx_toolgate_tasks_t *tasks;
    ngx_uint_t i;

    tasks = ngx_toolgate_task_use(cf);
    rule = tasks != NULL ? ngx_toolgate_push(cf, &tasks->rules,
                                             sizeof(ngx_toolgate_auto_t))
                         : NULL;

    if (rule == NULL
        || ngx_toolgate_auto_where(cf, from, json, &rule->where) != NGX_OK
        || ngx_toolgate_auto_text(cf, read->id, &rule->id) != NGX_OK
        || ngx_toolgate_auto_text(cf, read->agent, &rule->agent) != NGX_OK
        || ngx_toolgate_auto_json(cf, json, secret, &rule->json) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    rule->is_agent = read->action == TG_ACTION_AGENT;
    rules = tasks->rules->elts;

    for (i = 0; i + 1 < tasks->rules->nelts; i++) {
        if (tg_str_eq(ngx_toolgate_str(&rules[i].id), read->id)) {
            return ngx_toolgate_auto_refuse(cf, from, json,
                                            "id: there is a rule \"%V\" "
                                            "already; give it another name",
                                            &rules[i].id);
        }
    }

    return i < TG_RULES_MAX
               ? NGX_CONF_OK
               : ngx_toolgate_auto_refuse(cf, from, json, "more than %d rules",
                                          TG_RULES_MAX);
}

char *
ngx_toolgate_auto_add(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                      tg_str_t json, const ngx_str_t *secret)
{
    u_char text[512];
    ngx_toolgate_auto_advice_t advice = { cf, from, json };
    tg_rule_t *rule;
    tg_buf_t why;
    char *rv;
    int rc;

    why = tg_buf_fixed((char *) text, sizeof(text));
    rc = tg_rule_read(tg_alloc_libc(), json, tg_regex_pcre2(), &rule, &why);

    if (rc != TG_OK) {
        return rc == TG_NOMEM ? NGX_CONF_ERROR
                              : ngx_toolgate_auto_refuse(cf, from, json, "%*s",
                                                         why.len, text);
    }

    rv = ngx_toolgate_auto_needs(cf, from, json, rule);

    if (rv == NGX_CONF_OK) {
        rv = ngx_toolgate_auto_push(cf, from, json, secret, rule);
    }

    if (rv == NGX_CONF_OK) {
        tg_rule_advise(rule, ngx_toolgate_auto_warn, &advice);
    }

    tg_rule_free(rule);

    return rv;
}

/* --- all of a server --- */

/* Returns whether a rule's tasks are this agent's. */
static ngx_uint_t
ngx_toolgate_auto_starts(const ngx_toolgate_auto_t *rule,
                         const ngx_toolgate_agent_t *agent)
{
    return rule->agent.len == 0 ? agent->is_default
                                : ngx_toolgate_agent_has(agent, &rule->agent);
}

/* The agent that runs a rule's tasks: the one of that name, or one for all. */
static const ngx_toolgate_agent_t *
ngx_toolgate_auto_agent(const ngx_toolgate_tasks_t *tasks,
                        const ngx_toolgate_auto_t *rule)
{
    const ngx_toolgate_agent_t *found;
    ngx_toolgate_agent_t **agent;
    ngx_uint_t i;

    agent = tasks->agents->elts;
    found = NULL;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (ngx_toolgate_auto_starts(rule, agent[i])
            && (found == NULL || !ngx_toolgate_agent_is_any(agent[i])))
        {
            found = agent[i];
        }
    }

    return found;
}

/* Warns of a prompt that is code, and has values of events in it. */
static void
ngx_toolgate_auto_advise(ngx_conf_t *cf, const ngx_toolgate_tasks_t *tasks,
                         const ngx_toolgate_auto_t *rule)
{
    const ngx_toolgate_agent_t *agent;

    agent = ngx_toolgate_auto_agent(tasks, rule);

    if (agent->command.is_code
        && ngx_strlcasestrn(rule->json.data, rule->json.data + rule->json.len,
                            (u_char *) "{{", 1)
               != NULL)
    {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "rule \"%V\" puts values of its event into the prompt of "
                      "task_agent \"%V\", which runs a prompt as code, so that "
                      "whoever causes the event can have it run anything; "
                      "write an agent with \"exec sh -c '... \"$$1\"' sh "
                      "$task_prompt\", and a value alone as the prompt, in %V",
                      &rule->id, &agent->name, &rule->where);
    }
}

ngx_int_t
ngx_toolgate_autos_check(ngx_conf_t *cf, const ngx_toolgate_tasks_t *tasks)
{
    ngx_toolgate_auto_t *rules;
    ngx_uint_t i;

    if (tasks->rules == NULL) {
        return NGX_OK;
    }

    rules = tasks->rules->elts;

    for (i = 0; i < tasks->rules->nelts; i++) {
        if (rules[i].is_agent
            && ngx_toolgate_auto_agent(tasks, &rules[i]) == NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          rules[i].agent.len != 0
                              ? "rule \"%V\" is for the task_agent \"%V\", "
                                "which there is not; correct one of them in %V"
                              : "rule \"%V\" names no task_agent, and none is "
                                "the default%V; name one in %V",
                          &rules[i].id, &rules[i].agent, &rules[i].where);
            return NGX_ERROR;
        }

        if (rules[i].is_agent) {
            ngx_toolgate_auto_advise(cf, tasks, &rules[i]);
        }
    }

    return NGX_OK;
}

static ngx_uint_t
ngx_toolgate_agent_is_started(const ngx_toolgate_tasks_t *tasks,
                              const ngx_toolgate_agent_t *agent)
{
    ngx_toolgate_auto_t *rules;
    ngx_uint_t i;

    if (tasks->rules == NULL) {
        return 0;
    }

    rules = tasks->rules->elts;

    for (i = 0; i < tasks->rules->nelts; i++) {
        if (rules[i].is_agent && ngx_toolgate_auto_starts(&rules[i], agent)) {
            return 1;
        }
    }

    return 0;
}

void
ngx_toolgate_agents_advise(ngx_conf_t *cf, const ngx_toolgate_tasks_t *tasks)
{
    ngx_toolgate_agent_t **agent;
    ngx_uint_t i;

    /* Other machines may submit tasks to a store that they share. */
    if (tasks->methods == 1 || tasks->tools == 1
        || (tasks->store.len > 11
            && ngx_strncmp(tasks->store.data, "postgresql:", 11) == 0))
    {
        return;
    }

    agent = tasks->agents->elts;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (!ngx_toolgate_agent_is_started(tasks, agent[i])) {
            ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                          "task_agent \"%V\" gets no tasks: its server has "
                          "neither \"task_methods\" nor \"task_tools\", and no "
                          "rule names it as \"agent\"; add \"task_methods on\" "
                          "for programs, \"task_tools on\" for agents, or an "
                          "\"automation\", in %V:%ui",
                          &agent[i]->name, &agent[i]->file, agent[i]->line);
        }
    }
}

void
ngx_toolgate_autos_put(const ngx_toolgate_tasks_t *tasks, tg_buf_t *json)
{
    ngx_toolgate_auto_t *rules;
    ngx_uint_t i;

    if (tasks->rules == NULL) {
        return;
    }

    rules = tasks->rules->elts;
    tg_buf_text(json, ",\"rules\":");

    for (i = 0; i < tasks->rules->nelts; i++) {
        tg_buf_char(json, i == 0 ? '[' : ',');
        tg_buf_str(json, ngx_toolgate_str(&rules[i].json));
    }

    tg_buf_char(json, ']');
}

/* --- files --- */

/* The text that the action of a rule says it is signed with. */
static char *
ngx_toolgate_auto_secret(ngx_conf_t *cf, const ngx_toolgate_auto_from_t *from,
                         tg_str_t rule, ngx_str_t *secret)
{
    tg_str_t action, value;
    ngx_str_t word;
    tg_buf_t buf;
    ngx_int_t rc;

    secret->len = 0;

    if (tg_json_get(rule, TG_STR("action"), &action) != TG_OK
        || !tg_json_has(action, TG_STR("secret"), TG_JSON_STRING, &value))
    {
        return NGX_CONF_OK;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_put_decoded(&buf, tg_json_body(value));

    if (ngx_toolgate_task_keep(cf->pool, &buf, &word) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    rc = ngx_toolgate_secret(cf, &word, secret);

    return rc == NGX_DECLINED
               ? ngx_toolgate_auto_refuse(cf, from, rule,
                                          "action.secret: write \"file=PATH\" "
                                          "or \"credential=NAME\"")
           : rc == NGX_OK ? NGX_CONF_OK
                          : NGX_CONF_ERROR;
}

static char *
ngx_toolgate_autos_add(ngx_conf_t *cf, const ngx_str_t *path,
                       const ngx_str_t *text, tg_str_t rules)
{
    u_char name[NGX_INT_T_LEN + sizeof("rule ")];
    ngx_toolgate_auto_from_t from;
    ngx_str_t secret;
    tg_json_t each;
    tg_str_t rule;
    ngx_uint_t n;
    char *rv;

    rv = NGX_CONF_OK;
    from.name = (char *) name;
    from.path = path;
    from.text = ngx_toolgate_str(text);

    for (tg_json_each(&each, rules), n = 0;
         rv == NGX_CONF_OK && tg_json_item(&each, &rule); n++)
    {
        (void) ngx_sprintf(name, "rule %ui%Z", n);
        rv = ngx_toolgate_auto_secret(cf, &from, rule, &secret);

        if (rv == NGX_CONF_OK) {
            rv = ngx_toolgate_auto_add(cf, &from, rule, &secret);
        }
    }

    return rv;
}

/* An array of rules, or an object that has one as its `rules`. */
char *
ngx_toolgate_automation_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value, path, text;
    ngx_file_info_t fi;
    tg_str_t rules;

    (void) conf;
    value = cf->args->elts;
    path = value[1];

    if (ngx_toolgate_task_use(cf) == NULL
        || ngx_toolgate_read_file(cf, &path, &text, &fi) != NGX_OK
        || ngx_toolgate_json_check(cf, &cmd->name, &path, &text) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    rules = ngx_toolgate_str(&text);

    while (rules.len != 0 && tg_is_one_of(rules.data[0], " \t\r\n")) {
        rules.data++;
        rules.len--;
    }

    if (tg_json_type(rules) == TG_JSON_OBJECT
        && tg_json_get(rules, TG_STR("rules"), &rules) != TG_OK)
    {
        rules = TG_STR_NONE;
    }

    if (tg_json_type(rules) != TG_JSON_ARRAY) {
        return ngx_toolgate_refuse(cf,
                                   "\"%V\" of \"%V\" has no rules; write an "
                                   "array of them, or an object that has one "
                                   "as \"rules\"",
                                   &path, &cmd->name);
    }

    return ngx_toolgate_autos_add(cf, &path, &text, rules);
}
