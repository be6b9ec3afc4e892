/* The block `task_agent NAME { }`, and its JSON for the runner. */
#include "nginx/handlers/ngx_tg_task.h"

#define NGX_TG_TASK_AGENT_NAME_MAX 64

/*
 * Checks whether the agent is `*`, which runs the tasks of all names that no
 * other agent has.
 */
ngx_uint_t
ngx_tg_task_agent_is_wildcard(const ngx_tg_task_agent_t *agent)
{
    return agent->name.len == 1 && agent->name.data[0] == '*';
}

static const char *
ngx_tg_task_agent_check(const ngx_tg_task_agent_t *agent)
{
    if (agent->argv.len == 0) {
        return "has no program; write \"exec PROGRAM ...\"";
    }

    return agent->is_default && ngx_tg_task_agent_is_wildcard(agent)
               ? "cannot be the \"default\", as it has no name of its own; "
                 "give the default agent a name"
               : NULL;
}

/* Checks that no two agents have the same name, or are both the default. */
static char *
ngx_tg_task_agent_check_unique(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                               ngx_tg_task_agent_t *agent)
{
    ngx_tg_task_agent_t **other;
    ngx_uint_t i;

    other = tasks->agents->elts;

    for (i = 0; other[i] != agent; i++) {
        if (tg_str_eq(ngx_tg_str_from_ngx(&other[i]->name),
                      ngx_tg_str_from_ngx(&agent->name)))
        {
            return ngx_tg_conf_error(cf,
                                     "duplicate task_agent \"%V\"; give it "
                                     "another name",
                                     &agent->name);
        }

        if (agent->is_default && other[i]->is_default) {
            return ngx_tg_conf_error(cf,
                                     "task_agent \"%V\" and \"%V\" are both "
                                     "\"default\"; remove it from one",
                                     &other[i]->name, &agent->name);
        }
    }

    return i < NGX_TG_TASK_AGENTS_MAX
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf, "more than %d task_agent blocks",
                                   NGX_TG_TASK_AGENTS_MAX);
}

static ngx_uint_t
ngx_tg_task_agent_is_valid_name(const ngx_str_t *name)
{
    if (name->len == 1 && name->data[0] == '*') {
        return 1;
    }

    return name->len > 0 && name->len <= NGX_TG_TASK_AGENT_NAME_MAX
           && tg_str_is_word(ngx_tg_str_from_ngx(name), "_-");
}

ngx_uint_t
ngx_tg_task_agent_has_name(const ngx_tg_task_agent_t *agent,
                           const ngx_str_t *name)
{
    return ngx_tg_task_agent_is_wildcard(agent)
               ? ngx_tg_task_agent_is_valid_name(name)
               : (ngx_uint_t) tg_str_eq(ngx_tg_str_from_ngx(&agent->name),
                                        ngx_tg_str_from_ngx(name));
}

static ngx_tg_task_agent_t *
ngx_tg_task_agent_new(ngx_conf_t *cf, ngx_tg_tasks_t *tasks, ngx_str_t *name)
{
    ngx_tg_task_agent_t *agent, **slot;

    agent = ngx_pcalloc(cf->pool, sizeof(ngx_tg_task_agent_t));
    slot = ngx_tg_conf_array_push(cf, &tasks->agents,
                                  sizeof(ngx_tg_task_agent_t *));

    if (agent == NULL || slot == NULL) {
        return NULL;
    }

    *slot = agent;
    tg_spec_init(tg_agent_fields, &agent->options);
    agent->name = *name;
    agent->file = cf->conf_file->file.name;
    agent->line = cf->conf_file->line;

    return agent;
}

char *
ngx_tg_task_agent_read_block(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tasks_t *tasks;
    ngx_tg_task_agent_t *agent;
    const char *mistake;
    ngx_str_t *value, name;
    void **confs;
    char *rv;

    value = cf->args->elts;
    name = value[1];

    if (!ngx_tg_task_agent_is_valid_name(&name)) {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" of a \"%V\"; write 1 "
                                 "to %d letters, digits, \"_\" and \"-\", or "
                                 "\"*\" for all other names",
                                 &name, &cmd->name, NGX_TG_TASK_AGENT_NAME_MAX);
    }

    tasks = ngx_tg_conf_enable_tasks(cf);

    agent = tasks != NULL ? ngx_tg_task_agent_new(cf, tasks, &name) : NULL;
    confs = agent != NULL
                ? ngx_tg_conf_create_array(cf, &ngx_tg_task_module, agent)
                : NULL;

    if (confs == NULL) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_tg_conf_read_block(cf, NGX_STREAM_TASK_CONF, confs);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    tg_spec_set_defaults(tg_agent_fields, &agent->options);
    mistake = ngx_tg_task_agent_check(agent);

    agent->command.is_any = ngx_tg_task_agent_is_wildcard(agent);

    if (mistake == NULL
        && ngx_tg_command_line_check(cf, NULL, &agent->command) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return mistake != NULL ? ngx_tg_conf_error(cf, "%V \"%V\" %s", &cmd->name,
                                               &name, mistake)
                           : ngx_tg_task_agent_check_unique(cf, tasks, agent);
}

void
ngx_tg_task_agent_write_json(const ngx_tg_task_agent_t *agent, tg_buf_t *json)
{
    const struct {
        const char *before;
        ngx_str_t text;
        const char *after;
    } texts[] = {
        { ",\"argv\":[", agent->argv, "]" },
        { ",\"env\":[", agent->env, "]" },
        { ",\"cwd\":", agent->cwd, "" },
        { ",\"stdin\":", agent->input, "" },
        { ",\"success\":[", agent->success, "]" },
    };
    ngx_uint_t i;

    tg_buf_append_char(json, '{');
    tg_json_add_string(json, "name", ngx_tg_str_from_ngx(&agent->name));

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].text.len != 0) {
            tg_buf_append_cstr(json, texts[i].before);
            tg_buf_append_str(json, ngx_tg_str_from_ngx(&texts[i].text));
            tg_buf_append_cstr(json, texts[i].after);
        }
    }

    tg_spec_write(tg_agent_fields, &agent->options, json);
    tg_buf_append_char(json, '}');
}
