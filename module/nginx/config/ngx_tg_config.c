/*
 * Helpers for directives: errors, arrays, inheritance, and the handler of the
 * tool whose block is being read.
 */
#include "nginx/config/ngx_tg_config.h"

#include <dlfcn.h>
#include <sys/wait.h>

/*
 * Empty context of handler modules: ngx_tg_tool_create_handler_confs()
 * allocates their configuration, see conf_size.
 */
ngx_stream_module_t ngx_tg_handler_module_ctx;

char *
ngx_tg_conf_error(ngx_conf_t *cf, const char *format, ...)
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
ngx_tg_conf_array_push(ngx_conf_t *cf, ngx_array_t **array, size_t size)
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

ngx_tg_tool_t *
ngx_tg_conf_get_tool(ngx_conf_t *cf)
{
    return ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
}

char *
ngx_tg_conf_inherit(ngx_conf_t *cf, const ngx_tg_handler_t *handler,
                    const ngx_tg_inheritance_t *inheritance, const void *parent,
                    void *child)
{
    ngx_tg_srv_conf_t *scf;
    ngx_tg_tool_t *tool;
    const char *mistake;
    size_t i, n;

    inheritance->inherit(NULL, child, parent);
    scf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
    n = scf->catalog != NULL ? tg_catalog_size(scf->catalog) : 0;

    for (i = 0; i < n; i++) {
        tool = tg_catalog_get_entry(scf->catalog, i)->host;

        if (tool->handler != handler) {
            continue;
        }

        inheritance->inherit(tool, tool->conf, child);
        mistake = inheritance->check_inherited != NULL
                      ? inheritance->check_inherited(tool->conf)
                      : NULL;

        if (mistake != NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "%s \"%*s\" %s in %V:%ui",
                          tg_entry_type_name(tool->entry.kind),
                          tool->entry.name.len, tool->entry.name.data, mistake,
                          &tool->file, tool->line);
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

char *
ngx_tg_conf_set_handler(ngx_conf_t *cf, const ngx_tg_handler_t *handler)
{
    ngx_tg_tool_t *tool;
    ngx_str_t *value;

    tool = ngx_tg_conf_get_tool(cf);
    ngx_tg_lint_missing_semicolon(cf);

    if (tool->handler == NULL) {
        tool->handler = handler;
        return NGX_CONF_OK;
    }

    value = cf->args->elts;
    return ngx_tg_conf_error(
        cf,
        "\"%V\" directive is a second handler; this %s has \"%V\" "
        "already: remove one of them",
        &value[0], tg_entry_type_name(tool->entry.kind), &tool->handler->name);
}

/*
 * Loads the library in a child process: a library that is loaded once would
 * stay in this process.
 */
ngx_int_t
ngx_tg_conf_check_library(ngx_conf_t *cf, const char *file, const char *package)
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

    /*
     * ECHILD: a signal handler may have reaped the child, so that its status is
     * unknown.
     */
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
