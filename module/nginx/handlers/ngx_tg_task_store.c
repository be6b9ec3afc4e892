/* The directive `task_store`: the database of a server's tasks. */
#include "nginx/handlers/ngx_tg_task.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#define NGX_TG_TASK_STORE_SQLITE "sqlite:"
#define NGX_TG_TASK_STORE_POSTGRESQL "postgresql:"
#define NGX_TG_TASK_LEASE_MIN 5000
#define NGX_TG_TASK_LEASE_MAX 3600000
#define NGX_TG_TASK_STORE_FILE "tasks.db"

static ngx_uint_t
ngx_tg_task_store_is_postgresql(const ngx_str_t *store)
{
    return store->len >= sizeof(NGX_TG_TASK_STORE_POSTGRESQL)
           && tg_str_has_prefix(ngx_tg_str_from_ngx(store),
                                NGX_TG_TASK_STORE_POSTGRESQL);
}

/*
 * Checks that the store is a regular file: SQLite would block on a FIFO for
 * ever. NGX_OK, or NGX_ERROR: logged.
 */
static ngx_int_t
ngx_tg_task_store_check_regular(ngx_cycle_t *cycle, const ngx_tg_tasks_t *tasks)
{
    ngx_file_info_t fi;
    const u_char *path;

    path = tasks->store.data + sizeof(NGX_TG_TASK_STORE_SQLITE) - 1;

    if (ngx_link_info(path, &fi) == NGX_FILE_ERROR || ngx_is_file(&fi)) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                  "\"%s\" of \"task_store\" is %s; a task store must be a "
                  "regular file: remove it, or name another file, in %V",
                  path,
                  S_ISFIFO(fi.st_mode)   ? "a FIFO"
                  : S_ISSOCK(fi.st_mode) ? "a socket"
                  : ngx_is_dir(&fi)      ? "a directory"
                  : ngx_is_link(&fi)     ? "a symbolic link"
                                         : "a device",
                  &tasks->where);

    return NGX_ERROR;
}

/*
 * Sets the path of a SQLite store, and checks whether the file can exist there.
 * NGX_OK, or NGX_ERROR: logged.
 */
static ngx_int_t
ngx_tg_task_store_set_file(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks)
{
    const ngx_str_t *dir;
    ngx_file_info_t fi;
    u_char *p, *slash;

    if (tasks->store.len != 0) {
        slash = (u_char *) strrchr((char *) tasks->store.data, '/');
        *slash = '\0';

        if (slash != tasks->store.data
            && (ngx_file_info(tasks->store.data, &fi) == NGX_FILE_ERROR
                || !ngx_is_dir(&fi)))
        {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "the directory \"%s\" of \"task_store\" does not "
                          "exist; create it, for the workers' user, in %V",
                          tasks->store.data, &tasks->where);
            *slash = '/';
            return NGX_ERROR;
        }

        *slash = '/';

        if (slash[1] == '\0'
            || (ngx_file_info(tasks->store.data, &fi) != NGX_FILE_ERROR
                && ngx_is_dir(&fi)))
        {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "\"%V\" of \"task_store\" is a directory; name a "
                          "file in it, in %V",
                          &tasks->store, &tasks->where);
            return NGX_ERROR;
        }
    }

    dir = ngx_tg_runner_get_state_dir(tasks->scf->runner);
    p = ngx_pnalloc(cycle->pool, sizeof("sqlite:/" NGX_TG_TASK_STORE_FILE)
                                     + dir->len + tasks->store.len);

    if (p == NULL) {
        return NGX_ERROR;
    }

    tasks->store.len =
        (tasks->store.len != 0
             ? ngx_sprintf(p, "sqlite:%V%Z", &tasks->store)
             : ngx_sprintf(p, "sqlite:%V/" NGX_TG_TASK_STORE_FILE "%Z", dir))
        - p - 1;
    tasks->store.data = p;

    return ngx_tg_task_store_check_regular(cycle, tasks);
}

/*
 * Checks whether a path is in a directory that is emptied at boot: by its name,
 * or because its nearest existing parent is on such a file system.
 */
static ngx_uint_t
ngx_tg_task_store_is_volatile_path(const u_char *path)
{
    static const char *const folders[] = { "/run/", "/var/run/", "/tmp/",
                                           "/dev/shm/" };
    u_char dir[NGX_MAX_PATH];
    struct statfs fs;
    ngx_uint_t i;
    u_char *slash;

    for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (ngx_strncmp(path, folders[i], ngx_strlen(folders[i])) == 0) {
            return 1;
        }
    }

    (void) ngx_cpystrn(dir, (u_char *) path, sizeof(dir));

    while ((slash = (u_char *) strrchr((char *) dir, '/')) != NULL) {
        slash[slash == dir ? 1 : 0] = '\0';

        if (statfs((char *) dir, &fs) == 0) {
            return fs.f_type == TMPFS_MAGIC
                   || (unsigned long) fs.f_type == RAMFS_MAGIC;
        }

        if (slash == dir) {
            break;
        }
    }

    return 0;
}

/*
 * Logs a warning about such a directory: tasks should survive a restart of
 * NGINX and of the machine.
 */
static void
ngx_tg_task_store_lint_volatile(ngx_cycle_t *cycle, const ngx_tg_tasks_t *tasks)
{
    const u_char *path;

    path = tasks->store.data + sizeof(NGX_TG_TASK_STORE_SQLITE) - 1;

    if (ngx_tg_task_store_is_volatile_path(path)) {
        ngx_log_error(NGX_LOG_WARN, cycle->log, 0,
                      "the task store \"%s\" is in a folder that is emptied at "
                      "boot, or by systemd when the service stops, which "
                      "deletes all tasks; set \"task_store\" or "
                      "\"tool_state_dir\" to a folder such as "
                      "/var/lib/toolgate, in %V",
                      path, &tasks->where);
    }
}

ngx_int_t
ngx_tg_task_store_finalize(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks)
{
    if (!ngx_tg_task_store_is_postgresql(&tasks->store)
        && ngx_tg_task_store_set_file(cycle, tasks) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (!ngx_test_config) {
        return NGX_OK;
    }

    if (!ngx_tg_task_store_is_postgresql(&tasks->store)) {
        ngx_tg_task_store_lint_volatile(cycle, tasks);
    }

    return ngx_tg_task_store_check(cycle, tasks);
}

ngx_int_t
ngx_tg_task_store_check_library(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks)
{
    ngx_str_t word = ngx_string("task_store");
    ngx_array_t args, *saved;
    ngx_int_t rc;

    if (ngx_tg_task_store_is_postgresql(&tasks->store)
        && tasks->options.output_quota != TG_SPEC_UNSET)
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"task_output_quota\" limits files, but this "
                      "\"task_store\" keeps outputs in the database; remove "
                      "it, and use \"max_output\" and \"task_keep\", in %V",
                      &tasks->where);
        return NGX_ERROR;
    }

    ngx_memzero(&args, sizeof(ngx_array_t));
    args.elts = &word;
    args.nelts = 1;
    saved = cf->args;
    cf->args = &args;
    rc = ngx_tg_task_store_is_postgresql(&tasks->store)
             ? ngx_tg_conf_check_library(cf, "libpq.so.5", "libpq5")
             : ngx_tg_conf_check_library(cf, "libsqlite3.so.0", "libsqlite3-0");
    cf->args = saved;

    return rc;
}

/* --- directive --- */

static char *
ngx_tg_task_store_set_sqlite(ngx_conf_t *cf, ngx_tg_tasks_t *tasks,
                             const ngx_str_t *value)
{
    ngx_str_t path;

    if (cf->args->nelts != 2) {
        return "takes nothing after \"sqlite:PATH\"";
    }

    path.data = value->data + sizeof(NGX_TG_TASK_STORE_SQLITE) - 1;
    path.len = value->len - sizeof(NGX_TG_TASK_STORE_SQLITE) + 1;

    if (ngx_conf_full_name(cf->cycle, &path, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    tasks->store = path;

    return NGX_CONF_OK;
}

/*
 * Checks whether a URI contains a password: it would be visible in the config
 * and in every message that names the store.
 */
static ngx_uint_t
ngx_tg_task_store_has_password(const u_char *uri)
{
    const u_char *p;
    size_t len;

    len = strcspn((const char *) uri + 2, "/?");

    for (p = uri + 2; p < uri + 2 + len; p++) {
        if (*p == ':' && memchr(p, '@', (size_t) (uri + 2 + len - p)) != NULL) {
            return 1;
        }
    }

    return strstr((const char *) p, "?password=") != NULL
           || strstr((const char *) p, "&password=") != NULL;
}

static const char *
ngx_tg_task_store_check_uri(const u_char *where)
{
    const u_char *p;
    ngx_uint_t is_uri;

    is_uri = where[0] == '/' && where[1] == '/';

    for (p = where; *p != '\0'; p++) {
        if (is_uri ? *p <= ' ' || *p == 0x7f || *p == '"' || *p == '\\'
                   : !tg_is_alpha((char) *p) && !tg_is_digit((char) *p)
                         && ngx_strchr("_.-", *p) == NULL)
        {
            return "contains a character that a URI or a service name cannot "
                   "contain; write for instance "
                   "\"postgresql://user@host/database\"";
        }
    }

    return is_uri && ngx_tg_task_store_has_password(where)
               ? "contains a password; put it into a file, and add "
                 "\"password_file=PATH\""
               : NULL;
}

/* Parses `password_file=PATH`, `password_credential=NAME` and `lease=TIME`. */
static char *
ngx_tg_task_store_set_option(ngx_conf_t *cf, ngx_tg_tasks_t *tasks,
                             ngx_str_t *value)
{
    ngx_str_t word;

    if (ngx_tg_arg_has_name(value, "lease=", &word)) {
        if (ngx_tg_arg_parse(TG_SPEC_TIME, &word, NGX_TG_TASK_LEASE_MIN,
                             NGX_TG_TASK_LEASE_MAX, &tasks->options.lease_ms)
            == NGX_OK)
        {
            return NGX_CONF_OK;
        }

        return ngx_tg_conf_error(cf, "invalid time in \"%V\"; write 5s to 1h",
                                 value);
    }

    if (ngx_tg_arg_has_name(value, "password_", &word)) {
        switch (ngx_tg_secret_arg_read(cf, &word, &tasks->password)) {
        case NGX_OK:
            return NGX_CONF_OK;
        case NGX_ERROR:
            return NGX_CONF_ERROR;
        default:
            break;
        }
    }

    return ngx_tg_conf_error(cf,
                             "invalid parameter \"%V\"; a PostgreSQL store "
                             "takes \"password_file=PATH\", "
                             "\"password_credential=NAME\" and "
                             "\"lease=TIME\"",
                             value);
}

static char *
ngx_tg_task_store_set_postgresql(ngx_conf_t *cf, ngx_tg_tasks_t *tasks,
                                 ngx_str_t *value)
{
    const char *mistake;
    ngx_uint_t i;
    char *rv;

    mistake = ngx_tg_task_store_check_uri(
        value[1].data + sizeof(NGX_TG_TASK_STORE_POSTGRESQL) - 1);

    if (mistake != NULL) {
        return (char *) mistake;
    }

    tasks->store = value[1];
    rv = NGX_CONF_OK;

    for (i = 2; rv == NGX_CONF_OK && i < cf->args->nelts; i++) {
        rv = ngx_tg_task_store_set_option(cf, tasks, &value[i]);
    }

    return rv;
}

char *
ngx_tg_tasks_set_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tasks_t *tasks = conf;

    ngx_str_t *value;

    if (tasks->store.len != 0) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_tg_conf_enable_tasks(cf) == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_tg_task_store_is_postgresql(&value[1])) {
        return ngx_tg_task_store_set_postgresql(cf, tasks, value);
    }

    if (value[1].len >= sizeof(NGX_TG_TASK_STORE_SQLITE)
        && tg_str_has_prefix(ngx_tg_str_from_ngx(&value[1]),
                             NGX_TG_TASK_STORE_SQLITE))
    {
        return ngx_tg_task_store_set_sqlite(cf, tasks, &value[1]);
    }

    return ngx_tg_conf_error(cf,
                             "invalid store \"%V\" in \"%V\"; write "
                             "\"sqlite:PATH\" or "
                             "\"postgresql:SERVICE-or-URI\"",
                             &value[1], &cmd->name);
}
