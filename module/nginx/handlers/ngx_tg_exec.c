/*
 * `exec PROGRAM …`: the worker evaluates the command line, toolgate-runner runs
 * the program.
 */
#include "nginx/handlers/ngx_tg_exec.h"

/* --- inheritance --- */

void *
ngx_tg_exec_create_conf(ngx_conf_t *cf)
{
    ngx_tg_exec_conf_t *exec;

    exec = ngx_pcalloc(cf->pool, sizeof(ngx_tg_exec_conf_t));

    if (exec != NULL) {
        tg_spec_init(tg_exec_fields, &exec->options);
    }

    return exec;
}

/* Checks whether stderr, a text, would be appended to an output of a type. */
static ngx_uint_t
ngx_tg_exec_appends_to_no_text(const ngx_tg_tool_t *tool,
                               const ngx_tg_exec_conf_t *exec)
{
    return exec->options.err == TG_EXEC_STDERR_APPEND
           && tool->entry.output != TG_OUTPUT_TEXT;
}

static void
ngx_tg_exec_inherit(const ngx_tg_tool_t *tool, void *own, const void *from)
{
    const ngx_tg_exec_conf_t *server = from;
    ngx_tg_exec_conf_t *exec = own;

    ngx_uint_t is_unset;

    if (exec->stdin_value == NULL) {
        exec->stdin_value = server->stdin_value;
    }

    if (exec->env == NULL) {
        exec->env = server->env;
    }

    if (exec->cwd == NULL) {
        exec->cwd = server->cwd;
    }

    is_unset = exec->options.err == TG_SPEC_UNSET;
    tg_spec_inherit(tg_exec_fields, &exec->options, &server->options);

    if (is_unset && tool != NULL && ngx_tg_exec_appends_to_no_text(tool, exec))
    {
        exec->options.err = TG_SPEC_UNSET;
    }
}

static char *
ngx_tg_exec_merge_conf(ngx_conf_t *cf, void *parent, void *child)
{
    static const ngx_tg_inheritance_t inheritance = {
        .inherit = ngx_tg_exec_inherit,
    };

    return ngx_tg_conf_inherit(cf, &ngx_tg_exec_handler, &inheritance, parent,
                               child);
}

/* --- directives --- */

static ngx_tg_exec_env_t *
ngx_tg_exec_find_env(const ngx_tg_exec_conf_t *exec, tg_str_t name)
{
    ngx_tg_exec_env_t *env;
    ngx_uint_t i;

    for (i = 0; exec->env != NULL && i < exec->env->nelts; i++) {
        env = exec->env->elts;

        if (tg_str_eq(ngx_tg_str_from_ngx(&env[i].name), name)) {
            return &env[i];
        }
    }

    return NULL;
}

/* Returns the name of a directive about programs that is set, or NULL. */
static const char *
ngx_tg_exec_find_directive(const ngx_tg_exec_conf_t *exec)
{
    const struct {
        const char *name;
        const void *value;
    } own[] = {
        { "stdin", exec->stdin_value },
        { "arg", exec->args },
        { "env", exec->env },
        { "cwd", exec->cwd },
    };
    ngx_uint_t i;

    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (own[i].value != NULL) {
            return own[i].name;
        }
    }

    return tg_spec_find_set(tg_exec_fields, &exec->options);
}

static const char *
ngx_tg_exec_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_exec_conf_t *exec = conf;

    static u_char text[128];
    const char *name;

    name = exec->argv == NULL ? ngx_tg_exec_find_directive(exec) : NULL;

    if (name != NULL) {
        (void) ngx_snprintf(text, sizeof(text),
                            "has no \"exec\", so \"%s\" has no effect; "
                            "remove it%Z",
                            name);
        return (const char *) text;
    }

    return ngx_tg_exec_appends_to_no_text(tool, exec)
               ? "appends stderr to an output that is not text; write \"output "
                 "text\", or \"stderr error\""
               : NULL;
}

static ngx_int_t
ngx_tg_exec_lint(ngx_conf_t *cf, ngx_tg_tool_t *tool, void *conf)
{
    return ngx_tg_command_line_check(cf, tool,
                                     &((ngx_tg_exec_conf_t *) conf)->command);
}

char *
ngx_tg_exec_read_command(ngx_conf_t *cf, ngx_tg_exec_conf_t *exec,
                         ngx_uint_t first)
{
    ngx_stream_complex_value_t *arg;
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    if (value[first].len == 0) {
        return "needs a program";
    }

    if (ngx_tg_conf_resolve_program(cf, &value[first], &exec->program)
        != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    arg = ngx_tg_conf_array_push(cf, &exec->argv,
                                 sizeof(ngx_stream_complex_value_t));

    if (arg == NULL) {
        return NGX_CONF_ERROR;
    }

    arg->value = exec->program;

    if (ngx_tg_command_word_push(cf, &exec->command.exec, &exec->program,
                                 NGX_TG_WORD_FIRST)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    for (i = first + 1; i < cf->args->nelts; i++) {
        arg = ngx_tg_conf_array_push(cf, &exec->argv,
                                     sizeof(ngx_stream_complex_value_t));

        if (arg == NULL || ngx_tg_value_compile(cf, &value[i], arg) != NGX_OK
            || ngx_tg_command_word_push(cf, &exec->command.exec, &value[i], 0)
                   != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }

        ngx_tg_value_mark_as_word(cf, arg, 0);
        ngx_tg_lint_program_word(cf, &value[i], &exec->program);
    }

    return NGX_CONF_OK;
}

static char *
ngx_tg_exec_set_program(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    char *rv;

    rv = ngx_tg_conf_set_handler(cf, &ngx_tg_exec_handler);

    return rv != NGX_CONF_OK ? rv : ngx_tg_exec_read_command(cf, conf, 1);
}

static char *
ngx_tg_exec_set_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_stream_complex_value_t **made;
    ngx_str_t *value;

    made = (ngx_stream_complex_value_t **) (void *) ((u_char *) conf
                                                     + cmd->offset);

    if (*made != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    *made = ngx_tg_value_compile_new(cf, &value[1]);

    return *made != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_tg_exec_set_stdin(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_exec_conf_t *exec = conf;

    ngx_tg_command_line_set_input(cf, &exec->command);

    return ngx_tg_exec_set_value(cf, cmd, conf);
}

/*
 * Logs a warning about other names: they can be set, but shells and most
 * programs do not see them.
 */
static void
ngx_tg_exec_lint_env_name(ngx_conf_t *cf, ngx_str_t *name)
{
    size_t i;
    char c;

    for (i = 0; i < name->len; i++) {
        c = (char) name->data[i];

        if (!tg_is_alpha(c) && c != '_' && (i == 0 || !tg_is_digit(c))) {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                               "\"%V\" in \"env\" is not a name that shells "
                               "accept; use letters, digits and \"_\", such as "
                               "\"MY_NAME\"",
                               name);
            return;
        }
    }
}

static char *
ngx_tg_exec_set_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_exec_conf_t *exec = conf;

    ngx_tg_exec_env_t *env;
    ngx_str_t *value;
    ngx_int_t rc;

    value = cf->args->elts;

    if (cf->args->nelts == 2) {
        return ngx_tg_conf_error(cf,
                                 "\"%V %V\" has no value; write "
                                 "\"%V NAME VALUE\", with a blank and not "
                                 "\"=\" between them",
                                 &cmd->name, &value[1], &cmd->name);
    }

    if (value[1].len == 0 || ngx_strchr(value[1].data, '=') != NULL) {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" in \"%V\"; write "
                                 "\"env NAME VALUE\"",
                                 &value[1], &cmd->name);
    }

    ngx_tg_exec_lint_env_name(cf, &value[1]);

    if (ngx_tg_exec_find_env(exec, ngx_tg_str_from_ngx(&value[1])) != NULL) {
        return "sets the same name twice";
    }

    env = ngx_tg_conf_array_push(cf, &exec->env, sizeof(ngx_tg_exec_env_t));
    if (env == NULL) {
        return NGX_CONF_ERROR;
    }

    env->name = value[1];

    /* A secret is used as it is, even if it contains a dollar sign. */
    rc = ngx_tg_secret_arg_read(cf, &value[2], &env->value.value);

    if (rc != NGX_DECLINED) {
        return ngx_tg_conf_result(rc);
    }

    return ngx_tg_conf_result(ngx_tg_value_compile(cf, &value[2], &env->value));
}

static char *
ngx_tg_exec_set_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_stream_complex_value_t *cwd;
    ngx_file_info_t fi;
    char *rv;

    rv = ngx_tg_exec_set_value(cf, cmd, conf);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    cwd = ((ngx_tg_exec_conf_t *) conf)->cwd;

    if (cwd->value.len != 0 && cwd->value.data[0] == '~') {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"%V\" begins with \"~\", which "
                                 "only a shell expands; write the full path, "
                                 "such as \"/home/NAME\"",
                                 &cwd->value, &cmd->name);
    }

    if (cwd->lengths != NULL) {
        return NGX_CONF_OK;
    }

    if (ngx_conf_full_name(cf->cycle, &cwd->value, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_file_info(cwd->value.data, &fi) == NGX_FILE_ERROR
        || !ngx_is_dir(&fi)) {
        return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" is not a directory",
                                 &cwd->value, &cmd->name);
    }

    return ngx_tg_conf_result(
        ngx_tg_conf_require_file(cf, &cwd->value, NGX_TG_ACCESS_TRAVERSE));
}

/* --- execution of a call --- */

/* Begins a variable of the environment, after n others. */
static void
ngx_tg_exec_write_env_name(tg_buf_t *buf, tg_str_t name, ngx_uint_t n)
{
    tg_buf_append_cstr(buf, n == 0 ? ",\"env\":[\"" : ",\"");
    tg_json_write_escaped(buf, name);
    tg_buf_append_char(buf, '=');
}

/*
 * Appends the call's trace context as environment variables, unless the config
 * sets them. Returns the new number of variables.
 */
static ngx_uint_t
ngx_tg_exec_write_trace_context(const ngx_tg_call_t *call,
                                const ngx_tg_exec_conf_t *exec, tg_buf_t *buf,
                                ngx_uint_t n)
{
    const struct {
        tg_str_t name;
        tg_str_t value;
    } rows[] = {
        { TG_STR("TRACEPARENT"), call->trace.parent },
        { TG_STR("TRACESTATE"), call->trace.state },
    };
    ngx_uint_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value.data != NULL
            && ngx_tg_exec_find_env(exec, rows[i].name) == NULL)
        {
            ngx_tg_exec_write_env_name(buf, rows[i].name, n++);
            (void) ngx_tg_append_json_string_end(buf, rows[i].value, NULL);
        }
    }

    return n;
}

static const char *
ngx_tg_exec_write_env(ngx_tg_call_t *call, ngx_tg_exec_conf_t *exec,
                      tg_buf_t *buf)
{
    ngx_tg_exec_env_t *env;
    const char *mistake;
    ngx_uint_t i, n;

    n = exec->env != NULL ? exec->env->nelts : 0;
    env = n != 0 ? exec->env->elts : NULL;
    mistake = NULL;

    for (i = 0; mistake == NULL && i < n; i++) {
        ngx_tg_exec_write_env_name(buf, ngx_tg_str_from_ngx(&env[i].name), i);
        mistake = ngx_tg_exec_write_word(call, buf, &env[i].value,
                                         "A value of the program's "
                                         "environment is not valid "
                                         "UTF-8.");
    }

    if (ngx_tg_exec_write_trace_context(call, exec, buf, n) != 0) {
        tg_buf_append_char(buf, ']');
    }

    return mistake;
}

static const char *
ngx_tg_exec_write_input(ngx_tg_call_t *call, ngx_tg_exec_conf_t *exec,
                        tg_request_t *request, tg_buf_t *buf)
{
    static const char invalid[] = "The program's input is not valid UTF-8.";
    const char *mistake;

    if (exec->cwd != NULL) {
        tg_buf_append_cstr(buf, ",\"cwd\":\"");
        mistake = ngx_tg_call_append_value(call, buf, exec->cwd,
                                           "The program's directory is not "
                                           "valid UTF-8.");

        if (mistake != NULL) {
            return mistake;
        }
    }

    tg_buf_append_cstr(buf, ",\"stdin\":\"");

    return exec->stdin_value != NULL
               ? ngx_tg_call_append_value(call, buf, exec->stdin_value, invalid)
               : ngx_tg_append_json_string_end(buf, request->arguments,
                                               invalid);
}

/*
 * Writes the params of the runner's method `exec`. Returns NULL, or an error
 * text.
 */
static const char *
ngx_tg_exec_write_params(ngx_tg_call_t *call, tg_request_t *request,
                         tg_buf_t *buf)
{
    ngx_tg_exec_conf_t *exec = call->tool->conf;

    const char *mistake;

    ngx_tg_call_begin_params(call, buf);
    ngx_tg_call_append_output_params(call, buf);
    tg_spec_write(tg_exec_fields, &exec->options, buf);
    mistake = ngx_tg_exec_write_argv(call, exec, buf);

    if (mistake == NULL) {
        mistake = ngx_tg_exec_write_env(call, exec, buf);
    }

    if (mistake == NULL) {
        mistake = ngx_tg_exec_write_input(call, exec, request, buf);
    }

    return mistake;
}

static void
ngx_tg_exec_start(ngx_tg_call_t *call, tg_request_t *request)
{
    const char *mistake;
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    mistake = ngx_tg_exec_write_params(call, request, &params);

    if (mistake == NULL && ngx_tg_call_is_task_submission(call, request)) {
        ngx_tg_call_start_task(call, request->arguments, &params);
    } else {
        ngx_tg_call_start_remote(call, TG_STR("exec"), &params,
                                 TG_FAILURE_ARGUMENTS, mistake);
    }
}

/* --- module --- */

#define NGX_TG_EXEC_SRV_CONF (NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF)

/* Space for the directives of the options (spec/tg_exec_spec.h). */
static ngx_command_t ngx_tg_exec_commands[32] = {

    { ngx_string("exec"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_exec_set_program, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("arg"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_exec_set_arg, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("stdin"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_exec_set_stdin, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_exec_conf_t, stdin_value), NULL },

    { ngx_string("env"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_exec_set_env, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("cwd"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_exec_set_cwd, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_exec_conf_t, cwd), NULL },

    /* defaults for all programs of a server */

    { ngx_string("tool_stdin"), NGX_TG_EXEC_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_exec_set_value, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_exec_conf_t, stdin_value), NULL },

    { ngx_string("tool_env"), NGX_TG_EXEC_SRV_CONF | NGX_CONF_TAKE12,
      ngx_tg_exec_set_env, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_cwd"), NGX_TG_EXEC_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_exec_set_cwd, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_exec_conf_t, cwd), NULL },

    ngx_null_command
};

__attribute__((constructor)) static void
ngx_tg_exec_init_commands(void)
{
    ngx_tg_spec_add_commands(ngx_tg_exec_commands, tg_exec_fields,
                             NGX_STREAM_TOOL_CONF,
                             offsetof(ngx_tg_exec_conf_t, options), NULL);
    ngx_tg_spec_add_commands(ngx_tg_exec_commands, tg_exec_fields,
                             NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF,
                             offsetof(ngx_tg_exec_conf_t, options), NULL);
}

static ngx_stream_module_t ngx_tg_exec_module_ctx = {
    .create_srv_conf = ngx_tg_exec_create_conf,
    .merge_srv_conf = ngx_tg_exec_merge_conf,
};

ngx_module_t ngx_tg_exec_module = NGX_TG_MODULE(ngx_tg_exec_module_ctx,
                                                ngx_tg_exec_commands);

const ngx_tg_handler_t ngx_tg_exec_handler = {
    .name = ngx_string("exec"),
    .module = &ngx_tg_exec_module,
    .conf_size = sizeof(ngx_tg_exec_conf_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_ALLOWS_SPILL
             | NGX_TG_HANDLER_OUTPUTS_BYTES | NGX_TG_HANDLER_ALLOWS_TASK,
    .check = ngx_tg_exec_check,
    .lint = ngx_tg_exec_lint,
    .start = ngx_tg_exec_start,
};
