/* Lookup of programs and files that directives name. */
#include "nginx/config/ngx_tg_config.h"

/* Search path for programs, equal to PATH in the runner's environment. */
#define NGX_TG_PROGRAM_SEARCH_PATH                                             \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Checks whether a path is an executable file. Returns 0 or an errno. */
static ngx_err_t
ngx_tg_program_check_executable(u_char *path)
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

/*
 * Searches the search path for a program; program becomes its path. Returns 0
 * or an errno.
 */
static ngx_err_t
ngx_tg_program_search_path(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *program)
{
    u_char *path, *dir, *end;
    ngx_err_t err, found;

    path = ngx_pnalloc(cf->pool,
                       sizeof(NGX_TG_PROGRAM_SEARCH_PATH) + name->len + 2);
    if (path == NULL) {
        return NGX_ENOMEM;
    }

    err = NGX_ENOENT;

    for (dir = (u_char *) NGX_TG_PROGRAM_SEARCH_PATH; *dir != '\0';
         dir = *end == ':' ? end + 1 : end)
    {
        end = dir + strcspn((char *) dir, ":");

        program->len = ngx_sprintf(path, "%*s/%V%Z", end - dir, dir, name)
                       - path - 1;
        program->data = path;
        found = ngx_tg_program_check_executable(path);

        if (found == 0) {
            return 0;
        }

        if (found != NGX_ENOENT) {
            err = found;
        }
    }

    return err;
}

/* Returns the remedy for a program that was not found. */
static const char *
ngx_tg_program_get_error_hint(const ngx_str_t *name)
{
    static const char *const builtins[] = {
        "cd",   "export", "source", ".",    "alias", "eval",
        "exec", "set",    "ulimit", "type", "unset", NULL
    };
    ngx_uint_t i;

    if (strpbrk((char *) name->data, " \t\n") != NULL) {
        return "write the program and its arguments as separate words, without "
               "quotes around all of them";
    }

    if (ngx_strchr(name->data, '=') != NULL) {
        return "write \"env NAME VALUE;\" on a separate line, and start "
               "\"exec\" with the program";
    }

    for (i = 0; builtins[i] != NULL; i++) {
        if (ngx_strcmp(name->data, builtins[i]) == 0) {
            return i == 0 ? "it is a shell command, not a program; write \"cwd "
                            "PATH;\" on a separate line"
                          : "it is a shell command, not a program; write "
                            "\"exec sh -c '...'\"";
        }
    }

    return "write the full path of an executable file, or install it "
           "(searched: " NGX_TG_PROGRAM_SEARCH_PATH ")";
}

/*
 * Determines the path of an executable program. Returns NGX_OK, or NGX_ERROR
 * after logging.
 */
static ngx_int_t
ngx_tg_program_find(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *path)
{
    ngx_str_t *value;
    ngx_err_t err;

    *path = *name;

    if (ngx_strchr(name->data, '/') == NULL) {
        err = ngx_tg_program_search_path(cf, name, path);

    } else {
        if (ngx_conf_full_name(cf->cycle, path, 1) != NGX_OK) {
            return NGX_ERROR;
        }

        err = ngx_tg_program_check_executable(path->data);
    }

    if (err == 0) {
        return NGX_OK;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, err,
                       "program \"%V\" of \"%V\" cannot be run; %s", name,
                       &value[0], ngx_tg_program_get_error_hint(name));

    return NGX_ERROR;
}

ngx_int_t
ngx_tg_conf_require_file(ngx_conf_t *cf, ngx_str_t *path,
                         ngx_tg_access_mode_t access_mode)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_required_file_t *program;
    ngx_str_t *value;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    program = ngx_array_push(&mcf->required_files);
    if (program == NULL) {
        return NGX_ERROR;
    }

    value = cf->args->elts;
    program->path = *path;
    program->directive = value[0];
    program->access_mode = access_mode;

    return NGX_OK;
}

ngx_int_t
ngx_tg_conf_resolve_program(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *path)
{
    ngx_str_t *value;

    value = cf->args->elts;

    if (ngx_tg_text_has_variables(name)) {
        (void) ngx_tg_conf_error(cf,
                                 "\"%V\" needs a program without variables; "
                                 "use variables in its arguments, and \"$$\" "
                                 "for a dollar",
                                 &value[0]);
        return NGX_ERROR;
    }

    return ngx_tg_unescape_dollars(cf, name) == NGX_OK
                   && ngx_tg_program_find(cf, name, path) == NGX_OK
               ? ngx_tg_conf_require_file(cf, path, NGX_TG_ACCESS_EXECUTE)
               : NGX_ERROR;
}
