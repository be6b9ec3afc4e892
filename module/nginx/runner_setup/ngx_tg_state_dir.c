/* The paths of the runner's program and of its state directory. */
#include "nginx/ngx_tg.h"

#include <dlfcn.h>

static ngx_int_t
ngx_tg_path_is_executable(const u_char *path)
{
    return access((const char *) path, X_OK) == 0;
}

const char *
ngx_tg_runner_path_check(ngx_str_t *path)
{
    ngx_file_info_t fi;

    return ngx_file_info(path->data, &fi) != NGX_FILE_ERROR && ngx_is_file(&fi)
                   && ngx_tg_path_is_executable(path->data)
               ? NULL
               : "cannot be run; name the file toolgate-runner that was "
                 "installed with this module";
}

const char *
ngx_tg_state_dir_check(ngx_str_t *path)
{
    ngx_file_info_t fi;

    if (path->len > NGX_TG_STATE_DIR_MAX) {
        return "is too long for a socket in it; choose a path of at most 92 "
               "bytes";
    }

    if (ngx_link_info(path->data, &fi) != NGX_FILE_ERROR && !ngx_is_dir(&fi)) {
        return "exists and is not a directory; choose a path where Toolgate "
               "may create one";
    }

    return NULL;
}

static ngx_uint_t
ngx_tg_path_has_parent_dir(ngx_str_t *path)
{
    ngx_file_info_t fi;
    char *folder, *slash;
    ngx_int_t rc;

    folder = (char *) path->data;
    slash = strrchr(folder, '/');
    *slash = '\0';
    rc = stat(slash == folder ? "/" : folder, &fi);
    *slash = '/';

    return rc != NGX_FILE_ERROR && ngx_is_dir(&fi);
}

const char *
ngx_tg_schema_file_path_check(ngx_str_t *path)
{
    ngx_file_info_t fi;

    if (ngx_link_info(path->data, &fi) != NGX_FILE_ERROR && !ngx_is_file(&fi)) {
        return "exists and is not a regular file; choose another path";
    }

    return ngx_tg_path_has_parent_dir(path)
               ? NULL
               : "is in a directory that does not exist; create it, or choose "
                 "another path";
}

/* Finds toolgate-runner beside this module. NGX_DECLINED: it is not there. */
static ngx_int_t
ngx_tg_runner_find_beside_module(ngx_cycle_t *cycle, ngx_str_t *path)
{
    const char *slash;
    Dl_info info;
    u_char *p;

    if (dladdr(&ngx_stream_toolgate_module, &info) == 0
        || info.dli_fname == NULL) {
        return NGX_DECLINED;
    }

    slash = strrchr(info.dli_fname, '/');
    if (slash == NULL) {
        return NGX_DECLINED;
    }

    p = ngx_pnalloc(cycle->pool, (size_t) (slash - info.dli_fname)
                                     + sizeof("/toolgate-runner"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    path->data = p;
    path->len = ngx_sprintf(p, "%*s/toolgate-runner%Z",
                            (size_t) (slash - info.dli_fname), info.dli_fname)
                - p - 1;

    return ngx_tg_path_is_executable(p) ? NGX_OK : NGX_DECLINED;
}

static ngx_int_t
ngx_tg_runner_find_program(ngx_cycle_t *cycle, ngx_str_t *path)
{
    static ngx_str_t usual[] = {
        ngx_string("/usr/local/bin/toolgate-runner"),
        ngx_string("/usr/bin/toolgate-runner"),
        ngx_string("/usr/libexec/toolgate-runner"),
    };
    ngx_uint_t i;

    if (path->len != 0) {
        return NGX_OK; /* checked with its directive */
    }

    if (ngx_tg_runner_find_beside_module(cycle, path) == NGX_OK) {
        return NGX_OK;
    }

    for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (ngx_tg_path_is_executable(usual[i].data)) {
            *path = usual[i];
            return NGX_OK;
        }
    }

    ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                  "toolgate-runner, which \"exec\" needs, is neither beside "
                  "the module nor in /usr/local/bin, /usr/bin or "
                  "/usr/libexec; say where it is with \"tool_runner PATH\"");

    return NGX_ERROR;
}

/* Sets the default directory, beside the pid file of this instance. */
static ngx_int_t
ngx_tg_state_dir_set_default(ngx_cycle_t *cycle, ngx_str_t *dir)
{
    ngx_core_conf_t *ccf;
    size_t len;
    u_char *p;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    len = ccf->pid.len;

    if (len > 4 && ngx_memcmp(ccf->pid.data + len - 4, ".pid", 4) == 0) {
        len -= 4;
    }

    p = ngx_pnalloc(cycle->pool, len + sizeof(".toolgate"));
    if (p == NULL) {
        return NGX_ERROR;
    }

    dir->data = p;
    dir->len = ngx_sprintf(p, "%*s.toolgate%Z", len, ccf->pid.data) - p - 1;

    return NGX_OK;
}

ngx_int_t
ngx_tg_runner_resolve_paths(ngx_cycle_t *cycle, ngx_str_t *path,
                            ngx_str_t *state_dir)
{
    if (ngx_tg_runner_find_program(cycle, path) != NGX_OK) {
        return NGX_ERROR;
    }

    if (state_dir->len == 0) {
        return ngx_tg_state_dir_set_default(cycle, state_dir);
    }

    while (state_dir->len > 1 && state_dir->data[state_dir->len - 1] == '/') {
        state_dir->data[--state_dir->len] = '\0';
    }

    return NGX_OK;
}

/* Returns the workers' user: `user` if the master is root, else its own. */
static uid_t
ngx_tg_get_worker_uid(ngx_cycle_t *cycle)
{
    ngx_core_conf_t *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    return geteuid() == 0 && ccf->master ? ccf->user : geteuid();
}

/*
 * Checks, in the open directory, that only the workers' user can write to it,
 * because its socket starts programs. Closes fd. NGX_ERROR: logged.
 */
static ngx_int_t
ngx_tg_state_dir_check_owner(ngx_cycle_t *cycle, ngx_str_t *dir, uid_t uid,
                             ngx_fd_t fd)
{
    ngx_file_info_t fi;
    ngx_int_t rc;

    rc = fd != -1 && ngx_fd_info(fd, &fi) != NGX_FILE_ERROR ? NGX_OK
                                                            : NGX_ERROR;

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "\"%V\" cannot be used as a directory (tool_state_dir)",
                      dir);

    } else if (fi.st_uid != uid || (fi.st_mode & 022) != 0) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%V\" (tool_state_dir) must belong to uid %d, as "
                      "which the workers run, with no write access for "
                      "others; it belongs to uid %d with mode %d%d%d%d: "
                      "choose a directory that does not exist, and it will be "
                      "created",
                      dir, (int) uid, (int) fi.st_uid,
                      NGX_TG_OCTAL_DIGITS(fi.st_mode));
        rc = NGX_ERROR;
    }

    if (fd != -1) {
        (void) close(fd);
    }

    return rc;
}

ngx_int_t
ngx_tg_state_dir_make(ngx_cycle_t *cycle, ngx_str_t *dir)
{
    const char *name;
    ngx_err_t err;
    ngx_fd_t fd;
    uid_t uid;
    int at;

    uid = ngx_tg_get_worker_uid(cycle);
    at = ngx_tg_dir_open_parent(dir->data, &name);
    fd = at != -1 ? ngx_tg_dir_make_owned(at, name, uid, (gid_t) -1) : -1;
    err = fd != -1 ? 0 : ngx_errno;

    if (err == NGX_EEXIST) {
        fd = ngx_tg_dir_open_child(at, name);
        err = 0;
    }

    if (err != 0) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, err,
                      ngx_create_dir_n " \"%V\" failed (tool_state_dir)", dir);
    }

    if (at != -1) {
        (void) close(at);
    }

    return err != 0 ? NGX_ERROR
                    : ngx_tg_state_dir_check_owner(cycle, dir, uid, fd);
}

ngx_int_t
ngx_tg_state_dir_test(ngx_cycle_t *cycle, ngx_str_t *dir)
{
    ngx_file_info_t fi;

    if (ngx_link_info(dir->data, &fi) != NGX_FILE_ERROR) {
        return ngx_tg_state_dir_check_owner(
            cycle, dir, ngx_tg_get_worker_uid(cycle),
            ngx_tg_dir_open_child(AT_FDCWD, (char *) dir->data));
    }

    if (!ngx_tg_path_has_parent_dir(dir)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%V\" (tool_state_dir) is in a directory that does not "
                      "exist; create that directory",
                      dir);
        return NGX_ERROR;
    }

    return NGX_OK;
}
