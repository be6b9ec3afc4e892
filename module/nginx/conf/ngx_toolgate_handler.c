/*
 * What handlers' directives say of the tool whose block is read.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

#include <dlfcn.h>
#include <sys/wait.h>

/* Where programs are looked for, as in the runner's environment. */
#define NGX_TOOLGATE_PATH                                                      \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Blocks of tools make what their directives need: see conf_size. */
ngx_stream_module_t ngx_toolgate_handler_ctx;

char *
ngx_toolgate_refuse(ngx_conf_t *cf, const char *format, ...)
{
    u_char text[NGX_MAX_CONF_ERRSTR], *p;
    va_list args;

    va_start(args, format);
    p = ngx_vslprintf(text, text + sizeof(text), format, args);
    va_end(args);

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%*s", (size_t) (p - text), text);

    return NGX_CONF_ERROR;
}

void *
ngx_toolgate_push(ngx_conf_t *cf, ngx_array_t **array, size_t size)
{
    void *element;

    if (*array == NULL) {
        *array = ngx_array_create(cf->pool, 4, size);
    }

    element = *array != NULL ? ngx_array_push(*array) : NULL;

    if (element != NULL) {
        ngx_memzero(element, size);
    }

    return element;
}

ngx_toolgate_tool_t *
ngx_toolgate_conf_tool(ngx_conf_t *cf)
{
    return ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
}

char *
ngx_toolgate_inherit(ngx_conf_t *cf, const ngx_toolgate_handler_t *handler,
                     const ngx_toolgate_heritage_t *heritage,
                     const void *parent, void *child)
{
    ngx_toolgate_srv_conf_t *scf;
    ngx_toolgate_tool_t *tool;
    const char *mistake;
    size_t i, n;

    heritage->inherit(NULL, child, parent);
    scf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
    n = scf->catalogue != NULL ? tg_catalogue_size(scf->catalogue) : 0;

    for (i = 0; i < n; i++) {
        tool = tg_catalogue_at(scf->catalogue, i)->host;

        if (tool->handler != handler) {
            continue;
        }

        heritage->inherit(tool, tool->conf, child);
        mistake = heritage->settled != NULL ? heritage->settled(tool->conf)
                                            : NULL;

        if (mistake != NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "%s \"%*s\" %s in %V:%ui",
                          tool->entry.kind == TG_ENTRY_TOOL ? "tool" : "method",
                          tool->entry.name.len, tool->entry.name.data, mistake,
                          &tool->file, tool->line);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

char *
ngx_toolgate_set_handler(ngx_conf_t *cf, const ngx_toolgate_handler_t *handler)
{
    ngx_toolgate_tool_t *tool;
    ngx_str_t *value;

    tool = ngx_toolgate_conf_tool(cf);

    if (tool->handler == NULL) {
        tool->handler = handler;
        return NGX_CONF_OK;
    }

    value = cf->args->elts;
    return ngx_toolgate_refuse(
        cf,
        "\"%V\" directive is a second handler; this tool has "
        "\"%V\" already: remove one of them",
        &value[0], &tool->handler->name);
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

/* Looks a bare name up. */
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
        end = dir + strcspn((char *) dir, ":");

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

/* The path of what can be run; NGX_ERROR: there is none, which is logged. */
static ngx_int_t
ngx_toolgate_find_program(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *path)
{
    ngx_str_t *value;
    ngx_err_t err;

    *path = *name;

    if (ngx_strchr(name->data, '/') == NULL) {
        err = ngx_toolgate_search(cf, name, path);

    } else {
        if (ngx_conf_full_name(cf->cycle, path, 1) != NGX_OK) {
            return NGX_ERROR;
        }

        err = ngx_toolgate_is_program(path->data);
    }

    if (err == 0) {
        return NGX_OK;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                       "program \"%V\" of \"%V\" cannot be run; write the "
                       "full path of an executable file, or install it "
                       "(looked in " NGX_TOOLGATE_PATH ")",
                       name, &value[0]);

    return NGX_ERROR;
}

ngx_int_t
ngx_toolgate_conf_reach(ngx_conf_t *cf, ngx_str_t *path, int mode)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_program_t *program;
    ngx_str_t *value;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    program = ngx_array_push(&mcf->programs);
    if (program == NULL) {
        return NGX_ERROR;
    }

    value = cf->args->elts;
    program->path = *path;
    program->directive = value[0];
    program->mode = mode;

    return NGX_OK;
}

ngx_int_t
ngx_toolgate_conf_program(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *path)
{
    ngx_str_t *value;

    value = cf->args->elts;

    if (ngx_toolgate_varies(name)) {
        (void) ngx_toolgate_refuse(cf,
                                   "\"%V\" needs a program that is known at "
                                   "load; variables are for its arguments, and "
                                   "\"$$\" is a dollar",
                                   &value[0]);
        return NGX_ERROR;
    }

    return ngx_toolgate_literal(cf, name) == NGX_OK
                   && ngx_toolgate_find_program(cf, name, path) == NGX_OK
               ? ngx_toolgate_conf_reach(cf, path, X_OK)
               : NGX_ERROR;
}

/* In a process of its own: this one would never be rid of it. */
ngx_int_t
ngx_toolgate_conf_library(ngx_conf_t *cf, const char *file, const char *package)
{
    ngx_str_t *value;
    ngx_pid_t pid;
    int status;

    if (ngx_process == NGX_PROCESS_SIGNALLER) {
        return NGX_OK;
    }

    pid = fork();

    if (pid == 0) {
        _exit(dlopen(file, RTLD_LAZY | RTLD_LOCAL) == NULL);
    }

    status = 0;

    /* A worker or a handler of signals may have been faster: not known. */
    while (pid != -1 && waitpid(pid, &status, 0) == -1) {
        if (ngx_errno != NGX_EINTR) {
            return NGX_OK;
        }
    }

    if (pid == -1 || status == 0) {
        return NGX_OK;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" needs %s, which cannot be loaded; install the "
                       "package %s",
                       &value[0], file, package);

    return NGX_ERROR;
}
