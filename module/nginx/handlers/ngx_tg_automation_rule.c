/* Rules of automation: the checks of a rule from any source. */
#include "nginx/handlers/ngx_tg_automation.h"

#include "nginx/config/ngx_tg_http_common_directives.h"
#include "schema/pcre2/tg_pcre2.h"

#define NGX_TG_ZONEINFO_DIR "/usr/share/zoneinfo/"

/* --- position of an error --- */

/*
 * Returns the position of the member that a message begins with
 * ("conditions[0].value: …"), or of its nearest parent that exists.
 */
static const char *
ngx_tg_automation_rule_find_member(tg_str_t rule, tg_str_t message)
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
        if (tg_event_get_field(rule, tg_str((char *) path, len), &value)
            == TG_OK) {
            return value.data;
        }

        while (--len != 0 && path[len] != '.') {
            /* void */
        }
    }

    return rule.data;
}

/*
 * Logs a message about a rule, which begins with a member of the rule, with the
 * member's position.
 */
static void
ngx_tg_automation_rule_log(ngx_conf_t *cf, ngx_uint_t level,
                           const ngx_tg_automation_rule_source_t *source,
                           tg_str_t rule, tg_str_t message)
{
    u_char text[64];
    tg_buf_t where;

    if (source->path == NULL) {
        ngx_conf_log_error(level, cf, 0, "%s: %*s", source->name, message.len,
                           message.data);
        return;
    }

    where = tg_buf_make_fixed((char *) text, sizeof(text));
    tg_json_append_position(&where, source->text,
                            ngx_tg_automation_rule_find_member(rule, message));
    ngx_conf_log_error(level, cf, 0, "%s of \"%V\", %*s: %*s", source->name,
                       source->path, where.len, text, message.len,
                       message.data);
}

char *
ngx_tg_automation_rule_conf_error(ngx_conf_t *cf,
                                  const ngx_tg_automation_rule_source_t *source,
                                  tg_str_t rule, const char *format, ...)
{
    u_char message[NGX_MAX_CONF_ERRSTR], *last;
    va_list args;

    va_start(args, format);
    last = ngx_vslprintf(message, message + sizeof(message), format, args);
    va_end(args);

    ngx_tg_automation_rule_log(cf, NGX_LOG_EMERG, source, rule,
                               tg_str((char *) message,
                                      (size_t) (last - message)));

    return NGX_CONF_ERROR;
}

typedef struct {
    ngx_conf_t *cf;
    const ngx_tg_automation_rule_source_t *source;
    tg_str_t rule;
} ngx_tg_automation_rule_lint_t;

static void
ngx_tg_automation_rule_on_lint(void *ctx, const char *message)
{
    ngx_tg_automation_rule_lint_t *advice = ctx;

    ngx_tg_automation_rule_log(advice->cf, NGX_LOG_WARN, advice->source,
                               advice->rule, tg_str_from_cstr(message));
}

/* --- checks that depend on this machine --- */

static char *
ngx_tg_automation_rule_check_zone(ngx_conf_t *cf,
                                  const ngx_tg_automation_rule_source_t *source,
                                  tg_str_t json, tg_str_t name)
{
    u_char path[sizeof(NGX_TG_ZONEINFO_DIR) + TG_ZONE_NAME_MAX];
    ngx_file_info_t fi;
    ngx_str_t file, text;
    tg_zone_t *zone;

    file.data = path;
    file.len = ngx_sprintf(path, NGX_TG_ZONEINFO_DIR "%*s%Z", name.len,
                           name.data)
               - path - 1;

    if (ngx_file_info(path, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        return ngx_tg_automation_rule_conf_error(
            cf, source, json,
            "trigger.zone: unknown time zone \"%*s\", not in "
            "\"" NGX_TG_ZONEINFO_DIR "\"; write one such as Europe/Berlin, "
            "or install the package tzdata",
            name.len, name.data);
    }

    zone = NULL;

    if (ngx_tg_conf_read_file(cf, &file, &text, &fi) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (tg_zone_parse(tg_alloc_libc(), ngx_tg_str_from_ngx(&text), &zone)
        != TG_OK) {
        return ngx_tg_automation_rule_conf_error(
            cf, source, json,
            "trigger.zone: \"%V\" is not a time zone file without leap seconds",
            &file);
    }

    tg_zone_free(zone);

    return NGX_CONF_OK;
}

static char *
ngx_tg_automation_rule_check_path(ngx_conf_t *cf,
                                  const ngx_tg_automation_rule_source_t *source,
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
        return ngx_tg_automation_rule_conf_error(
            cf, source, json,
            "trigger.path: the folder or file \"%V\" does not exist; create "
            "it, or write another path",
            &path);
    }

    return ngx_tg_conf_result(
        ngx_tg_conf_require_file(cf, &path, NGX_TG_ACCESS_READ));
}

static char *
ngx_tg_automation_rule_check_system(
    ngx_conf_t *cf, const ngx_tg_automation_rule_source_t *source,
    tg_str_t json, const tg_rule_t *rule)
{
    if (rule->action == TG_ACTION_WEBHOOK
        && ngx_tg_conf_check_libcurl(cf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (rule->trigger == TG_TRIGGER_FILE) {
        return ngx_tg_automation_rule_check_path(cf, source, json, rule->path);
    }

    return rule->trigger == TG_TRIGGER_CRON && rule->zone.len != 0
               ? ngx_tg_automation_rule_check_zone(cf, source, json, rule->zone)
               : NGX_CONF_OK;
}

/* --- one rule --- */

static ngx_int_t
ngx_tg_automation_rule_copy_text(ngx_conf_t *cf, tg_str_t text, ngx_str_t *copy)
{
    tg_buf_t buf;

    tg_buf_init(&buf, tg_alloc_libc());
    tg_buf_append_str(&buf, text);

    return ngx_tg_buf_move_to_pool(cf->pool, &buf, copy);
}

/*
 * Copies a rule's JSON for the runner, with the secret that signs its requests.
 */
static ngx_int_t
ngx_tg_automation_rule_copy_json(ngx_conf_t *cf, tg_str_t json,
                                 const ngx_str_t *secret, ngx_str_t *copy)
{
    tg_buf_t buf;

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_write_compact(&buf, json);

    if (secret->len != 0 && !tg_buf_has_failed(&buf)) {
        tg_buf_truncate(&buf, buf.len - 1);
        tg_json_add_string(&buf, "secret", ngx_tg_str_from_ngx(secret));
        tg_buf_append_char(&buf, '}');
    }

    return ngx_tg_buf_move_to_pool(cf->pool, &buf, copy);
}

/* Makes the text "file, line", for messages about all rules of a server. */
static ngx_int_t
ngx_tg_automation_rule_set_position(
    ngx_conf_t *cf, const ngx_tg_automation_rule_source_t *source,
    tg_str_t json, ngx_str_t *where)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (source->path != NULL) {
        tg_buf_append_str(&text, ngx_tg_str_from_ngx(source->path));
        tg_buf_append_cstr(&text, ", ");
        tg_json_append_position(
            &text, source->text,
            ngx_tg_automation_rule_find_member(json, TG_STR("action.agent")));
    } else {
        tg_buf_append_str(&text,
                          ngx_tg_str_from_ngx(&cf->conf_file->file.name));
        tg_buf_printf(&text, ":%lu", (unsigned long) cf->conf_file->line);
    }

    return ngx_tg_buf_move_to_pool(cf->pool, &text, where);
}

static char *
ngx_tg_automation_rule_push(ngx_conf_t *cf,
                            const ngx_tg_automation_rule_source_t *source,
                            tg_str_t json, const ngx_str_t *secret,
                            const tg_rule_t *read)
{
    ngx_tg_automation_rule_t *rule, *rules;
    ngx_tg_tasks_t *tasks;
    ngx_uint_t i;

    tasks = ngx_tg_conf_enable_tasks(cf);
    rule = tasks != NULL
               ? ngx_tg_conf_array_push(cf, &tasks->rules,
                                        sizeof(ngx_tg_automation_rule_t))
               : NULL;

    if (rule == NULL
        || ngx_tg_automation_rule_set_position(cf, source, json, &rule->where)
               != NGX_OK
        || ngx_tg_automation_rule_copy_text(cf, read->id, &rule->id) != NGX_OK
        || ngx_tg_automation_rule_copy_text(cf, read->agent, &rule->agent)
               != NGX_OK
        || ngx_tg_automation_rule_copy_json(cf, json, secret, &rule->json)
               != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    rule->is_agent = read->action == TG_ACTION_AGENT;
    rules = tasks->rules->elts;

    for (i = 0; i + 1 < tasks->rules->nelts; i++) {
        if (tg_str_eq(ngx_tg_str_from_ngx(&rules[i].id), read->id)) {
            return ngx_tg_automation_rule_conf_error(
                cf, source, json,
                "id: duplicate rule \"%V\"; give it another name",
                &rules[i].id);
        }
    }

    return i < TG_RULES_MAX
               ? NGX_CONF_OK
               : ngx_tg_automation_rule_conf_error(cf, source, json,
                                                   "more than %d rules",
                                                   TG_RULES_MAX);
}

char *
ngx_tg_automation_rule_add(ngx_conf_t *cf,
                           const ngx_tg_automation_rule_source_t *source,
                           tg_str_t json, const ngx_str_t *secret)
{
    u_char text[512];
    ngx_tg_automation_rule_lint_t advice = { cf, source, json };
    tg_rule_t *rule;
    tg_buf_t why;
    char *rv;
    int rc;

    why = tg_buf_make_fixed((char *) text, sizeof(text));
    rc = tg_rule_parse(tg_alloc_libc(), json, tg_pcre2_get_engine(), &rule,
                       &why);

    if (rc != TG_OK) {
        return rc == TG_NOMEM
                   ? NGX_CONF_ERROR
                   : ngx_tg_automation_rule_conf_error(cf, source, json, "%*s",
                                                       why.len, text);
    }

    rv = ngx_tg_automation_rule_check_system(cf, source, json, rule);

    if (rv == NGX_CONF_OK) {
        rv = ngx_tg_automation_rule_push(cf, source, json, secret, rule);
    }

    if (rv == NGX_CONF_OK) {
        tg_rule_lint(rule, ngx_tg_automation_rule_on_lint, &advice);
    }

    tg_rule_free(rule);

    return rv;
}

/* --- all rules of a server --- */

/* Checks whether an agent can run the tasks of a rule. */
static ngx_uint_t
ngx_tg_automation_rule_starts_agent(const ngx_tg_automation_rule_t *rule,
                                    const ngx_tg_task_agent_t *agent)
{
    return rule->agent.len == 0
               ? agent->is_default
               : ngx_tg_task_agent_has_name(agent, &rule->agent);
}

/*
 * Returns the agent that runs the tasks of a rule: the agent of that name (or
 * the default agent if the rule names none), else the one named `*`.
 */
static const ngx_tg_task_agent_t *
ngx_tg_automation_rule_find_agent(const ngx_tg_tasks_t *tasks,
                                  const ngx_tg_automation_rule_t *rule)
{
    const ngx_tg_task_agent_t *found;
    ngx_tg_task_agent_t **agent;
    ngx_uint_t i;

    agent = tasks->agents->elts;
    found = NULL;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (ngx_tg_automation_rule_starts_agent(rule, agent[i])
            && (found == NULL || !ngx_tg_task_agent_is_wildcard(agent[i])))
        {
            found = agent[i];
        }
    }

    return found;
}

/*
 * Logs a warning if the agent runs its prompt as code and the rule's prompt
 * contains values of events.
 */
static void
ngx_tg_automation_rule_lint_prompt(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                                   const ngx_tg_automation_rule_t *rule)
{
    const ngx_tg_task_agent_t *agent;

    agent = ngx_tg_automation_rule_find_agent(tasks, rule);

    if (agent->command.is_code
        && ngx_strlcasestrn(rule->json.data, rule->json.data + rule->json.len,
                            (u_char *) "{{", 1)
               != NULL)
    {
        ngx_log_error(NGX_LOG_WARN, cf->log, 0,
                      "rule \"%V\" puts values of its event into the prompt of "
                      "task_agent \"%V\", which runs the prompt as code, so "
                      "anyone who can cause the event can run any code; use an "
                      "agent with \"exec sh -c '... \"$$1\"' sh "
                      "$task_prompt\", and a single value as the prompt, in %V",
                      &rule->id, &agent->name, &rule->where);
    }
}

ngx_int_t
ngx_tg_automation_rules_check(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks)
{
    ngx_tg_automation_rule_t *rules;
    ngx_uint_t i;

    if (tasks->rules == NULL) {
        return NGX_OK;
    }

    rules = tasks->rules->elts;

    for (i = 0; i < tasks->rules->nelts; i++) {
        if (rules[i].is_agent
            && ngx_tg_automation_rule_find_agent(tasks, &rules[i]) == NULL)
        {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          rules[i].agent.len != 0
                              ? "rule \"%V\" refers to task_agent \"%V\", "
                                "which is not defined; correct one of them in "
                                "%V"
                              : "rule \"%V\" names no task_agent, and no "
                                "task_agent is the default%V; name one in %V",
                          &rules[i].id, &rules[i].agent, &rules[i].where);
            return NGX_ERROR;
        }

        if (rules[i].is_agent) {
            ngx_tg_automation_rule_lint_prompt(cf, tasks, &rules[i]);
        }
    }

    return NGX_OK;
}

static ngx_uint_t
ngx_tg_task_agent_is_started(const ngx_tg_tasks_t *tasks,
                             const ngx_tg_task_agent_t *agent)
{
    ngx_tg_automation_rule_t *rules;
    ngx_uint_t i;

    if (tasks->rules == NULL) {
        return 0;
    }

    rules = tasks->rules->elts;

    for (i = 0; i < tasks->rules->nelts; i++) {
        if (rules[i].is_agent
            && ngx_tg_automation_rule_starts_agent(&rules[i], agent)) {
            return 1;
        }
    }

    return 0;
}

void
ngx_tg_task_agents_lint(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks)
{
    ngx_tg_task_agent_t **agent;
    ngx_uint_t i;

    /* Other machines may submit tasks to a shared store. */
    if (tasks->methods == 1 || tasks->tools == 1
        || (tasks->store.len > 11
            && ngx_strncmp(tasks->store.data, "postgresql:", 11) == 0))
    {
        return;
    }

    agent = tasks->agents->elts;

    for (i = 0; i < tasks->agents->nelts; i++) {
        if (!ngx_tg_task_agent_is_started(tasks, agent[i])) {
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
ngx_tg_automation_rules_write_json(const ngx_tg_tasks_t *tasks, tg_buf_t *json)
{
    ngx_tg_automation_rule_t *rules;
    ngx_uint_t i;

    if (tasks->rules == NULL) {
        return;
    }

    rules = tasks->rules->elts;
    tg_json_begin_member(json, "rules");

    for (i = 0; i < tasks->rules->nelts; i++) {
        tg_buf_append_char(json, i == 0 ? '[' : ',');
        tg_buf_append_str(json, ngx_tg_str_from_ngx(&rules[i].json));
    }

    tg_buf_append_char(json, ']');
}
