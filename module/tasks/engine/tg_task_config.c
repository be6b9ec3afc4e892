/*
 * Parses the config of a task engine, and writes the program of a task.
 */
#include "tasks/engine/tg_engine_impl.h"

#include "base/tg_json_fields.h"

#include <stdlib.h>

/*
 * Returns the text of a JSON string, which the worker writes without escapes;
 * "" if it is not a string.
 */
static tg_str_t
tg_task_config_get_text(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING ? tg_json_string_body(raw)
                                               : TG_STR("");
}

static int
tg_agent_parse(tg_agent_t *agent, tg_str_t raw, const char **why)
{
    if (tg_json_read_fields(tg_agent_fields, raw, agent, why) != TG_OK) {
        return TG_INVALID;
    }

    agent->name = tg_json_string_body(agent->name);

    return agent->name.len != 0 && agent->name.len <= TG_STORE_AGENT_NAME_MAX
                   && (tg_agent_is_tool(agent)
                       || (tg_json_type(agent->argv) == TG_JSON_ARRAY
                           && agent->timeout_ms != 0))
               ? TG_OK
               : TG_INVALID;
}

static int
tg_task_config_parse_members(tg_task_config_t *config, tg_str_t raw,
                             const char **why)
{
    tg_task_spec_t *spec = &config->spec;
    tg_json_cursor_t json;
    tg_str_t agent;

    if (tg_json_read_fields(tg_task_fields, raw, spec, why) != TG_OK) {
        return TG_INVALID;
    }

    spec->store = tg_task_config_get_text(spec->store);
    spec->generation = tg_task_config_get_text(spec->generation);
    spec->default_agent = tg_task_config_get_text(spec->default_agent);

    if (spec->store.len == 0) {
        return TG_INVALID;
    }

    for (tg_json_iter_init(&json, spec->agents);
         tg_json_iter_next(&json, &agent);) {
        if (config->nagents == TG_STORE_AGENTS_MAX
            || tg_agent_parse(&config->agents[config->nagents++], agent, why)
                   != TG_OK)
        {
            return TG_INVALID;
        }
    }

    return TG_OK;
}

int
tg_task_config_parse(tg_task_config_t *config, tg_str_t raw, const char **why)
{
    memset(config, 0, sizeof(*config));
    config->text = malloc(raw.len + 1);

    if (config->text == NULL) {
        return TG_NOMEM;
    }

    memcpy(config->text, raw.data, raw.len);

    *why = "store, concurrency, queue, keep_ms and agents must have the form "
           "that a worker of this version writes";

    if (tg_task_config_parse_members(config, tg_str(config->text, raw.len), why)
        != TG_OK)
    {
        tg_task_config_free(config);
        return TG_INVALID;
    }

    return TG_OK;
}

void
tg_task_config_free(tg_task_config_t *config)
{
    free(config->text);
    memset(config, 0, sizeof(*config));
}

const tg_agent_t *
tg_task_config_find_agent(const tg_task_config_t *config, tg_str_t name)
{
    const tg_agent_t *agent, *any;
    unsigned i;

    any = NULL;

    for (i = 0; i < config->nagents; i++) {
        agent = &config->agents[i];

        if (tg_agent_is_catch_all(agent)) {
            any = agent;
        } else if (tg_str_eq(agent->name, name)) {
            return agent;
        }
    }

    return tg_store_is_agent_name(name) ? any : NULL;
}

/* --- program of a task --- */

/* Appends the value of a member of the task, escaped for a JSON string. */
static void
tg_agent_append_variable(tg_buf_t *json, tg_str_t name, tg_str_t task)
{
    tg_str_t value;

    if (tg_json_get_member(task, name, &value) != TG_OK
        || tg_json_type(value) == TG_JSON_NULL)
    {
        return;
    }

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_buf_append_str(json, tg_json_string_body(value));
    } else {
        tg_json_write_escaped(json, value);
    }
}

/*
 * Appends a template as a JSON string. It is an array: a text, the name of a
 * member of the task, a text, and so on.
 */
static void
tg_agent_append_template(tg_buf_t *json, tg_str_t value, tg_str_t task)
{
    tg_json_cursor_t parts;
    tg_str_t part;
    int is_name;

    is_name = 0;
    tg_buf_append_char(json, '"');

    for (tg_json_iter_init(&parts, value); tg_json_iter_next(&parts, &part);) {
        if (is_name) {
            tg_agent_append_variable(json, tg_task_config_get_text(part), task);
        } else {
            tg_buf_append_str(json, tg_task_config_get_text(part));
        }

        is_name = !is_name;
    }

    tg_buf_append_char(json, '"');
}

static void
tg_agent_append_templates(tg_buf_t *json, const char *key, tg_str_t values,
                          tg_str_t task)
{
    tg_json_cursor_t each;
    tg_str_t value;

    tg_json_begin_member(json, key);
    tg_buf_append_char(json, '[');

    for (tg_json_iter_init(&each, values); tg_json_iter_next(&each, &value);) {
        tg_json_begin_element(json);
        tg_agent_append_template(json, value, task);
    }

    tg_buf_append_char(json, ']');
}

/* Appends the working directory of the agent, or else that of the task. */
static void
tg_agent_append_cwd(tg_buf_t *json, const tg_agent_t *agent, tg_str_t task)
{
    tg_str_t cwd;

    if (agent->cwd.data != NULL) {
        tg_json_begin_member(json, "cwd");
        tg_agent_append_template(json, agent->cwd, task);

    } else if (tg_json_has_member(task, TG_STR("cwd"), TG_JSON_STRING, &cwd)) {
        tg_json_add_compact(json, "cwd", cwd);
    }
}

void
tg_agent_write_exec_params(tg_buf_t *json, const tg_agent_t *agent,
                           tg_str_t task)
{
    tg_str_t name;

    tg_buf_append_cstr(json, "{\"tool\":");

    if (tg_agent_is_catch_all(agent)
        && tg_json_has_member(task, TG_STR("agent"), TG_JSON_STRING, &name))
    {
        tg_buf_append_str(json, name);
    } else {
        tg_json_write_string(json, agent->name);
    }

    tg_json_add_int(json, "timeout_ms", agent->timeout_ms);
    tg_json_add_int(json, "max_timeout_ms", agent->timeout_ms);
    tg_agent_append_templates(json, "argv", agent->argv, task);
    tg_agent_append_templates(json, "env", agent->env, task);
    tg_agent_append_cwd(json, agent, task);

    if (agent->input.data != NULL) {
        tg_json_begin_member(json, "stdin");
        tg_agent_append_template(json, agent->input, task);
    }

    tg_json_add_compact(json, "success", agent->success);

    if (agent->memory != TG_SPEC_UNSET) {
        tg_json_add_int(json, "memory", agent->memory);
    }

    if (agent->pids != TG_SPEC_UNSET) {
        tg_json_add_int(json, "pids", agent->pids);
    }

    tg_buf_append_char(json, '}');
}
