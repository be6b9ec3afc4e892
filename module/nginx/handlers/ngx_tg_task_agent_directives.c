/*
 * Directives in the block `task_agent NAME { }`, which defines a program that
 * runs tasks.
 */
#include "nginx/handlers/ngx_tg_task.h"

#include "base/tg_utf8.h"

/* --- functions for all files of tasks --- */

ngx_int_t
ngx_tg_buf_move_to_pool(ngx_pool_t *pool, tg_buf_t *buf, ngx_str_t *text)
{
    u_char *p;

    p = tg_buf_has_failed(buf) ? NULL : ngx_pnalloc(pool, buf->len + 1);

    if (p != NULL) {
        ngx_memcpy(p, tg_buf_view(buf).data, buf->len);
        p[buf->len] = '\0';
        text->data = p;
        text->len = buf->len;
    }

    tg_buf_deinit(buf);

    return p != NULL ? NGX_OK : NGX_ERROR;
}

ngx_tg_tasks_t *
ngx_tg_conf_enable_tasks(ngx_conf_t *cf)
{
    ngx_tg_tasks_main_conf_t *mmcf;
    ngx_tg_tasks_t *tasks, **slot;
    ngx_tg_srv_conf_t *scf;
    u_char *p;

    tasks = ngx_stream_conf_get_module_srv_conf(cf, ngx_tg_task_module);

    if (tasks->scf != NULL) {
        return tasks;
    }

    scf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
    mmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_tg_task_module);
    slot = ngx_array_push(&mmcf->servers);
    p = ngx_pnalloc(cf->pool, cf->conf_file->file.name.len + NGX_INT_T_LEN + 1);

    if (slot == NULL || p == NULL
        || ngx_tg_server_ensure_catalog(cf, scf) == NULL) {
        return NULL;
    }

    *slot = tasks;
    tasks->where.data = p;
    tasks->where.len = ngx_sprintf(p, "%V:%ui", &cf->conf_file->file.name,
                                   cf->conf_file->line)
                       - p;
    tasks->scf = scf;
    scf->needs_runner = 1;
    scf->needs_shm = 1;

    return tasks;
}

/* --- values with variables --- */

/* Names of a task's variables, without the prefix "task_". */
static const char *const ngx_tg_task_variables[] = {
    "prompt", "cwd", "id", "agent", "priority", "metadata", NULL
};

/*
 * Parses a variable after its `$`. Returns its length and its name; 0: not a
 * variable of a task.
 */
static size_t
ngx_tg_task_parse_variable(const u_char *text, tg_str_t *name)
{
    ngx_uint_t i, has_brace;
    const char *p;
    size_t n;

    has_brace = *text == '{';
    p = (const char *) text + has_brace;

    for (n = 0; tg_is_alpha(p[n]) || tg_is_digit(p[n]) || p[n] == '_'; n++) {
        /* void */
    }

    if ((has_brace && p[n] != '}') || ngx_strncmp(p, "task_", 5) != 0) {
        return 0;
    }

    for (i = 0; ngx_tg_task_variables[i] != NULL; i++) {
        *name = tg_str_from_cstr(ngx_tg_task_variables[i]);

        if (tg_str_eq(tg_str(p + 5, n - 5), *name)) {
            return n + 2 * has_brace;
        }
    }

    return 0;
}

/*
 * Writes a value as a JSON array that alternates text and the name of the
 * variable after it. Returns NULL, or an error text.
 */
static char *
ngx_tg_task_write_value(ngx_conf_t *cf, const ngx_str_t *value, tg_buf_t *json)
{
    tg_str_t name;
    u_char *p, *start;
    size_t n;

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(value))) {
        return "is not valid UTF-8";
    }

    start = value->data;
    tg_buf_append_char(json, '[');

    for (p = start; *p != '\0'; p++) {
        if (*p != '$') {
            continue;
        }

        /* `$$` is a dollar sign. */
        if (p[1] == '$') {
            tg_json_write_string(json, tg_str((char *) start, p + 1 - start));
            tg_buf_append_cstr(json, ",\"\",");
            start = ++p + 1;
            continue;
        }

        n = ngx_tg_task_parse_variable(p + 1, &name);

        if (n == 0) {
            return ngx_tg_conf_error(
                cf,
                "unknown variable in \"%V\"; a task has $task_prompt, "
                "$task_cwd, $task_id, $task_agent, $task_priority and "
                "$task_metadata",
                value);
        }

        tg_json_write_string(json, tg_str((char *) start, p - start));
        tg_buf_append_char(json, ',');
        tg_json_write_string(json, name);
        tg_buf_append_char(json, ',');
        start = p + 1 + n;
        p = start - 1;
    }

    tg_json_write_string(json, tg_str((char *) start, p - start));
    tg_buf_append_char(json, ']');

    return NULL;
}

static void
ngx_tg_task_agent_begin_list(tg_buf_t *json, const ngx_str_t *list)
{
    tg_buf_init(json, tg_alloc_libc());
    tg_buf_append_str(json, ngx_tg_str_from_ngx(list));

    if (list->len != 0) {
        tg_buf_append_char(json, ',');
    }
}

/*
 * Adds a constant text to a list of values; a dollar sign in it has no meaning.
 */
static char *
ngx_tg_task_agent_add_constant(ngx_conf_t *cf, ngx_str_t *list,
                               const ngx_str_t *text)
{
    tg_buf_t json;

    ngx_tg_task_agent_begin_list(&json, list);
    tg_buf_append_char(&json, '[');
    tg_json_write_string(&json, ngx_tg_str_from_ngx(text));
    tg_buf_append_char(&json, ']');

    return ngx_tg_conf_result(ngx_tg_buf_move_to_pool(cf->pool, &json, list));
}

/* Adds a value with variables to a list of values. */
static char *
ngx_tg_task_agent_add_value(ngx_conf_t *cf, ngx_str_t *list,
                            const ngx_str_t *value)
{
    tg_buf_t json;
    char *mistake;

    ngx_tg_task_agent_begin_list(&json, list);
    mistake = ngx_tg_task_write_value(cf, value, &json);

    if (mistake != NULL) {
        tg_buf_deinit(&json);
        return mistake;
    }

    return ngx_tg_conf_result(ngx_tg_buf_move_to_pool(cf->pool, &json, list));
}

/* --- directives --- */

char *
ngx_tg_task_agent_set_exec(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_task_agent_t *agent = conf;

    ngx_str_t *value, program;
    ngx_uint_t i;
    char *rv;

    if (agent->argv.len != 0) {
        return "is duplicate; an agent runs one program";
    }

    ngx_tg_lint_missing_semicolon(cf);
    value = cf->args->elts;

    if (value[1].len == 0) {
        return "needs a program";
    }

    if (ngx_tg_conf_resolve_program(cf, &value[1], &program) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_tg_task_agent_add_constant(cf, &agent->argv, &program);

    for (i = 2; rv == NGX_CONF_OK && i < cf->args->nelts; i++) {
        rv = ngx_tg_task_agent_add_value(cf, &agent->argv, &value[i]);
    }

    if (rv == NGX_CONF_OK
        && ngx_tg_command_line_add_exec(cf, &agent->command, &program)
               != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return rv;
}

char *
ngx_tg_task_agent_set_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_task_agent_t *agent = conf;

    ngx_str_t *value, pair, secret;
    ngx_int_t rc;

    value = cf->args->elts;

    if (value[1].len == 0 || strpbrk((char *) value[1].data, "=$") != NULL) {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" in \"%V\"; write "
                                 "\"env NAME VALUE\"",
                                 &value[1], &cmd->name);
    }

    rc = ngx_tg_secret_arg_read(cf, &value[2], &secret);

    if (rc == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }

    if (rc == NGX_DECLINED) {
        secret = value[2];
    }

    pair.data = ngx_pnalloc(cf->pool, value[1].len + secret.len + 2);

    if (pair.data == NULL) {
        return NGX_CONF_ERROR;
    }

    pair.len = ngx_sprintf(pair.data, "%V=%V%Z", &value[1], &secret) - pair.data
               - 1;

    /* A secret is used as it is, even if it contains a dollar sign. */
    return rc == NGX_OK ? ngx_tg_task_agent_add_constant(cf, &agent->env, &pair)
                        : ngx_tg_task_agent_add_value(cf, &agent->env, &pair);
}

/* Parses `cwd` and `stdin`; the text is at cmd->offset of conf. */
char *
ngx_tg_task_agent_set_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_task_agent_t *agent = conf;

    ngx_file_info_t fi;
    ngx_str_t *field, *value;

    field = (ngx_str_t *) (void *) ((char *) conf + cmd->offset);

    if (field->len != 0) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (cmd->post != NULL
        && (value[1].data[0] != '$' || value[1].data[1] == '$')
        && ngx_conf_full_name(cf->cycle, &value[1], 1) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (cmd->post != NULL && ngx_strchr(value[1].data, '$') == NULL) {
        if (ngx_file_info(value[1].data, &fi) == NGX_FILE_ERROR
            || !ngx_is_dir(&fi)) {
            return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" is not a directory",
                                     &value[1], &cmd->name);
        }

        if (ngx_tg_conf_require_file(cf, &value[1], NGX_TG_ACCESS_TRAVERSE)
            != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    if (cmd->post == NULL) {
        ngx_tg_command_line_set_input(cf, &agent->command);
    }

    return ngx_tg_task_agent_add_value(cf, field, &value[1]);
}

char *
ngx_tg_task_agent_set_success(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_task_agent_t *agent = conf;

    ngx_str_t *value;
    ngx_uint_t i;
    int64_t n;
    tg_buf_t json;

    value = cf->args->elts;
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_str(&json, ngx_tg_str_from_ngx(&agent->success));

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_tg_arg_parse(TG_SPEC_NUMBER, &value[i], 0, 255, &n) != NGX_OK) {
            tg_buf_deinit(&json);
            return ngx_tg_conf_error(cf,
                                     "invalid status \"%V\" in \"%V\"; write "
                                     "the exit statuses that mean success, "
                                     "from 0 to 255, such as \"success 0 2\"",
                                     &value[i], &cmd->name);
        }

        tg_buf_append_cstr(&json, json.len != 0 ? "," : "");
        tg_buf_append_int(&json, n);
    }

    return ngx_tg_conf_result(
        ngx_tg_buf_move_to_pool(cf->pool, &json, &agent->success));
}

char *
ngx_tg_task_agent_set_default(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_task_agent_t *agent = conf;

    agent->is_default = 1;

    return NGX_CONF_OK;
}
