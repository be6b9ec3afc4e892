/*
 * `exec PROGRAM …`: evaluated here, run by toolgate-runner.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "base/tg_utf8.h"

/* Where programs are looked for, as in the runner's environment. */
#define NGX_TOOLGATE_PATH                                                      \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* `env NAME VALUE` */
typedef struct {
    ngx_str_t name;
    ngx_stream_complex_value_t value;
} ngx_toolgate_env_t;

typedef struct {
    ngx_array_t *argv; /* ngx_stream_complex_value_t; NULL: no `exec` */
    ngx_str_t program; /* absolute, terminated */
    ngx_array_t *env;  /* ngx_toolgate_env_t */
    ngx_stream_complex_value_t *stdin_value;
    ngx_stream_complex_value_t *cwd;
} ngx_toolgate_exec_t;

static void *ngx_toolgate_exec_create(ngx_conf_t *cf);
static char *ngx_toolgate_exec_program(ngx_conf_t *cf, ngx_command_t *cmd,
                                       void *conf);
static char *ngx_toolgate_exec_stdin(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
static char *ngx_toolgate_exec_env(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
static char *ngx_toolgate_exec_cwd(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
static const char *ngx_toolgate_exec_check(ngx_toolgate_tool_t *tool,
                                           void *conf);
static void ngx_toolgate_exec_start(ngx_toolgate_call_t *call,
                                    tg_request_t *request);

static ngx_command_t ngx_toolgate_exec_commands[] = {

    { ngx_string("exec"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_toolgate_exec_program, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("stdin"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_exec_stdin, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("env"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE2,
      ngx_toolgate_exec_env, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("cwd"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_exec_cwd, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

static ngx_stream_module_t ngx_toolgate_exec_ctx = {
    NULL,                     /* preconfiguration */
    NULL,                     /* postconfiguration */
    NULL,                     /* create main configuration */
    NULL,                     /* init main configuration */
    ngx_toolgate_exec_create, /* create server configuration */
    NULL                      /* merge server configuration */
};

ngx_module_t ngx_toolgate_exec_module = {
    NGX_MODULE_V1,
    &ngx_toolgate_exec_ctx,     /* module context */
    ngx_toolgate_exec_commands, /* module directives */
    NGX_STREAM_MODULE,          /* module type */
    NULL,                       /* init master */
    NULL,                       /* init module */
    NULL,                       /* init process */
    NULL,                       /* init thread */
    NULL,                       /* exit thread */
    NULL,                       /* exit process */
    NULL,                       /* exit master */
    NGX_MODULE_V1_PADDING
};

const ngx_toolgate_handler_t ngx_toolgate_exec_handler = {
    ngx_string("exec"),        /* name */
    &ngx_toolgate_exec_module, /* module */
    NGX_TOOLGATE_TAKES_TIME,   /* flags */
    ngx_toolgate_exec_check,   /* check */
    ngx_toolgate_exec_start,   /* start */
    NULL,                      /* run */
    NULL                       /* cancel */
};

/* --- directives --- */

static void *
ngx_toolgate_exec_create(ngx_conf_t *cf)
{
    return ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_exec_t));
}

static const char *
ngx_toolgate_exec_check(ngx_toolgate_tool_t *tool, void *conf)
{
    ngx_toolgate_exec_t *exec = conf;

    (void) tool;

    return exec->argv == NULL
                   && (exec->stdin_value != NULL || exec->env != NULL
                       || exec->cwd != NULL)
               ? "has no \"exec\", so \"stdin\", \"env\" and \"cwd\" mean "
                 "nothing in it; remove them"
               : NULL;
}

/* Is it a file that can be run?  0, or the errno that says why not. */
static ngx_err_t
ngx_toolgate_is_program(u_char *path)
{
    ngx_file_info_t fi;

    if (ngx_file_info(path, &fi) == NGX_FILE_ERROR) {
        return ngx_errno;
    }

    if (!ngx_is_file(&fi)) {
        return NGX_EACCES;
    }

    return access((const char *) path, X_OK) == -1 ? ngx_errno : 0;
}

/* Looks a bare name up; *program stays untouched when it is nowhere. */
static ngx_err_t
ngx_toolgate_search(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *program)
{
    u_char *path, *dir, *end;
    ngx_err_t err, found;

    path = ngx_pnalloc(cf->pool, sizeof(NGX_TOOLGATE_PATH) + name->len + 2);
    if (path == NULL) {
        return NGX_ENOMEM;
    }

    err = NGX_ENOENT;

    for (dir = (u_char *) NGX_TOOLGATE_PATH; *dir != '\0';
         dir = *end == ':' ? end + 1 : end)
    {
        end = dir;

        while (*end != ':' && *end != '\0') {
            end++;
        }

        program->len = ngx_sprintf(path, "%*s/%V%Z", end - dir, dir, name)
                       - path - 1;
        program->data = path;
        found = ngx_toolgate_is_program(path);

        if (found == 0) {
            return 0;
        }

        if (found != NGX_ENOENT) {
            err = found;
        }
    }

    return err;
}

static char *
ngx_toolgate_exec_program(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_exec_t *exec = conf;

    ngx_stream_complex_value_t *arg;
    ngx_str_t *value;
    ngx_uint_t i;
    ngx_err_t err;
    char *rv;

    rv = ngx_toolgate_set_handler(cf, &ngx_toolgate_exec_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;
    exec->program = value[1];

    if (ngx_strlchr(value[1].data, value[1].data + value[1].len, '$') != NULL) {
        return "needs a program that is known at load; variables are for its "
               "arguments";
    }

    if (value[1].len == 0) {
        return "needs a program";
    }

    if (ngx_strlchr(value[1].data, value[1].data + value[1].len, '/') == NULL) {
        err = ngx_toolgate_search(cf, &value[1], &exec->program);

    } else {
        if (ngx_conf_full_name(cf->cycle, &exec->program, 1) != NGX_OK) {
            return NGX_CONF_ERROR;
        }

        err = ngx_toolgate_is_program(exec->program.data);
    }

    if (err != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                           "program \"%V\" of \"%V\" cannot be run; write the "
                           "full path of an executable file, or install it "
                           "(looked in " NGX_TOOLGATE_PATH ")",
                           &value[1], &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (ngx_toolgate_conf_program(cf, &exec->program) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    exec->argv = ngx_array_create(cf->pool, cf->args->nelts - 1,
                                  sizeof(ngx_stream_complex_value_t));
    if (exec->argv == NULL) {
        return NGX_CONF_ERROR;
    }

    for (i = 1; i < cf->args->nelts; i++) {
        arg = ngx_array_push(exec->argv);
        if (arg == NULL) {
            return NGX_CONF_ERROR;
        }

        ngx_memzero(arg, sizeof(ngx_stream_complex_value_t));

        if (ngx_toolgate_compile(cf, i == 1 ? &exec->program : &value[i], arg)
            != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

static char *
ngx_toolgate_exec_stdin(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_exec_t *exec = conf;

    ngx_str_t *value;

    (void) cmd;

    if (exec->stdin_value != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    exec->stdin_value = ngx_toolgate_compile_new(cf, &value[1]);

    return exec->stdin_value != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_toolgate_exec_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_exec_t *exec = conf;

    ngx_toolgate_env_t *env;
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    if (value[1].len == 0
        || ngx_strlchr(value[1].data, value[1].data + value[1].len, '=')
               != NULL)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "invalid name \"%V\" in \"%V\"; write "
                           "\"env NAME VALUE\"",
                           &value[1], &cmd->name);
        return NGX_CONF_ERROR;
    }

    if (exec->env == NULL) {
        exec->env = ngx_array_create(cf->pool, 2, sizeof(ngx_toolgate_env_t));
        if (exec->env == NULL) {
            return NGX_CONF_ERROR;
        }
    }

    env = exec->env->elts;

    for (i = 0; i < exec->env->nelts; i++) {
        if (env[i].name.len == value[1].len
            && ngx_memcmp(env[i].name.data, value[1].data, value[1].len) == 0)
        {
            return "sets the same name twice";
        }
    }

    env = ngx_array_push(exec->env);
    if (env == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(env, sizeof(ngx_toolgate_env_t));
    env->name = value[1];

    return ngx_toolgate_compile(cf, &value[2], &env->value) == NGX_OK
               ? NGX_CONF_OK
               : NGX_CONF_ERROR;
}

static char *
ngx_toolgate_exec_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_exec_t *exec = conf;

    ngx_file_info_t fi;
    ngx_str_t *value;

    if (exec->cwd != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_strlchr(value[1].data, value[1].data + value[1].len, '$') == NULL) {
        if (ngx_conf_full_name(cf->cycle, &value[1], 1) != NGX_OK) {
            return NGX_CONF_ERROR;
        }

        if (ngx_file_info(value[1].data, &fi) == NGX_FILE_ERROR
            || !ngx_is_dir(&fi)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" of \"%V\" is no directory", &value[1],
                               &cmd->name);
            return NGX_CONF_ERROR;
        }
    }

    exec->cwd = ngx_toolgate_compile_new(cf, &value[1]);

    return exec->cwd != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

/* --- a call --- */

/* Appends `"key":"text"`; 0 when text is not valid UTF-8. */
static ngx_uint_t
ngx_toolgate_put(tg_buf_t *buf, const char *key, const u_char *text, size_t len)
{
    tg_str_t str;

    str = tg_str((const char *) text, len);
    tg_buf_text(buf, key);
    tg_json_put_string(buf, str);

    return tg_utf8_is_valid(str);
}

static const char *
ngx_toolgate_put_argv(ngx_toolgate_call_t *call, ngx_toolgate_exec_t *exec,
                      tg_buf_t *buf)
{
    ngx_stream_complex_value_t *arg;
    ngx_str_t text;
    ngx_uint_t i;

    arg = exec->argv->elts;

    for (i = 0; i < exec->argv->nelts; i++) {
        if (ngx_toolgate_value(call, &arg[i], &text) != NGX_OK) {
            return TG_NO_MEMORY;
        }

        if (!ngx_toolgate_put(buf, i == 0 ? ",\"argv\":[" : ",", text.data,
                              text.len)) {
            return "An argument of the program is not valid UTF-8.";
        }
    }

    tg_buf_char(buf, ']');

    return NULL;
}

static const char *
ngx_toolgate_put_env(ngx_toolgate_call_t *call, ngx_toolgate_exec_t *exec,
                     tg_buf_t *buf)
{
    ngx_toolgate_env_t *env;
    ngx_str_t text;
    ngx_uint_t i;

    if (exec->env == NULL) {
        return NULL;
    }

    env = exec->env->elts;

    for (i = 0; i < exec->env->nelts; i++) {
        if (ngx_toolgate_value(call, &env[i].value, &text) != NGX_OK) {
            return TG_NO_MEMORY;
        }

        tg_buf_text(buf, i == 0 ? ",\"env\":[\"" : ",\"");
        tg_json_put_escaped(buf, tg_str((const char *) env[i].name.data,
                                        env[i].name.len));
        tg_buf_char(buf, '=');
        tg_json_put_escaped(buf, tg_str((const char *) text.data, text.len));
        tg_buf_char(buf, '"');

        if (!tg_utf8_is_valid(tg_str((const char *) text.data, text.len))) {
            return "A value of the program's environment is not valid UTF-8.";
        }
    }

    tg_buf_char(buf, ']');

    return NULL;
}

static const char *
ngx_toolgate_put_input(ngx_toolgate_call_t *call, ngx_toolgate_exec_t *exec,
                       tg_request_t *request, tg_buf_t *buf)
{
    ngx_str_t text;

    if (exec->cwd != NULL) {
        if (ngx_toolgate_value(call, exec->cwd, &text) != NGX_OK) {
            return TG_NO_MEMORY;
        }

        if (!ngx_toolgate_put(buf, ",\"cwd\":", text.data, text.len)) {
            return "The program's directory is not valid UTF-8.";
        }
    }

    text.data = (u_char *) request->arguments.data;
    text.len = request->arguments.len;

    if (exec->stdin_value != NULL
        && ngx_toolgate_value(call, exec->stdin_value, &text) != NGX_OK)
    {
        return TG_NO_MEMORY;
    }

    if (!ngx_toolgate_put(buf, ",\"stdin\":", text.data, text.len)) {
        return "The program's input is not valid UTF-8.";
    }

    return NULL;
}

/* The params of the runner's method `exec`; NULL, or what is wrong. */
static const char *
ngx_toolgate_exec_params(ngx_toolgate_call_t *call, tg_request_t *request,
                         tg_buf_t *buf)
{
    ngx_toolgate_tool_t *tool;
    const char *mistake;

    tool = call->tool;
    ngx_toolgate_job_params(call, buf);
    tg_buf_text(buf, ",\"max_output\":");
    tg_buf_uint(buf, tool->max_output);

    /* What a method's result is to be is its own business. */
    if (tool->entry.output != TG_OUTPUT_TEXT) {
        tg_buf_text(buf, tool->entry.output == TG_OUTPUT_RESULT
                                 && tool->entry.kind == TG_ENTRY_TOOL
                             ? ",\"output\":\"result\""
                             : ",\"output\":\"json\"");
    }

    mistake = ngx_toolgate_put_argv(call, tool->conf, buf);

    if (mistake == NULL) {
        mistake = ngx_toolgate_put_env(call, tool->conf, buf);
    }

    if (mistake == NULL) {
        mistake = ngx_toolgate_put_input(call, tool->conf, request, buf);
    }

    tg_buf_char(buf, '}');

    if (mistake == NULL && tg_buf_failed(buf)) {
        mistake = TG_NO_MEMORY;
    }

    return mistake;
}

static void
ngx_toolgate_exec_start(ngx_toolgate_call_t *call, tg_request_t *request)
{
    const char *mistake;
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    mistake = ngx_toolgate_exec_params(call, request, &params);

    if (mistake != NULL) {
        ngx_toolgate_call_fail(call, TG_FAILURE_ARGUMENTS, mistake);
    } else if (ngx_toolgate_call_defer(call) == NGX_OK) {
        ngx_toolgate_call_job(call, TG_STR("exec"), tg_buf_view(&params));
    }

    tg_buf_deinit(&params);
}
