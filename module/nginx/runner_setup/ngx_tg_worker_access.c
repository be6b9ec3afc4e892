/*
 * Check that the workers may access the config's files: root, which may access
 * more, takes on their identity at `nginx -t` and at a start.
 */
#include "nginx/upstream/ngx_tg_runner.h"

#include <grp.h>
#include <sys/prctl.h>

/* Root's identity, to restore it. */
typedef struct {
    gid_t gid;
    int ngroups;
    gid_t *groups;
    int dumpable;
} ngx_tg_root_identity_t;

static ngx_int_t
ngx_tg_root_identity_restore(ngx_cycle_t *cycle,
                             const ngx_tg_root_identity_t *root)
{
    if (seteuid(0) == -1 || setegid(root->gid) == -1
        || setgroups((size_t) root->ngroups, root->groups) == -1)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "the rights of root cannot be restored");
        return NGX_ERROR;
    }

    /* The change of the user id has cleared this flag. */
    if (root->dumpable == 1) {
        (void) prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    }

    return NGX_OK;
}

/* Acts as the workers' user. NGX_DECLINED: no need; NGX_ERROR: no way back. */
static ngx_int_t
ngx_tg_root_identity_drop(ngx_cycle_t *cycle, ngx_tg_root_identity_t *root)
{
    ngx_core_conf_t *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (geteuid() != 0 || !ccf->master || ccf->user == 0) {
        return NGX_DECLINED;
    }

    root->gid = getegid();
    root->dumpable = prctl(PR_GET_DUMPABLE);
    root->ngroups = getgroups(0, NULL);

    if (root->ngroups == -1) {
        return NGX_DECLINED;
    }

    root->groups = ngx_palloc(cycle->pool,
                              ((size_t) root->ngroups + 1) * sizeof(gid_t));

    if (root->groups == NULL
        || getgroups(root->ngroups, root->groups) != root->ngroups
        || initgroups(ccf->username, ccf->group) == -1)
    {
        return NGX_DECLINED;
    }

    if (setegid(ccf->group) == -1 || seteuid(ccf->user) == -1) {
        return ngx_tg_root_identity_restore(cycle, root) == NGX_OK
                   ? NGX_DECLINED
                   : NGX_ERROR;
    }

    return NGX_OK;
}

static ngx_int_t
ngx_tg_worker_check_path_access(ngx_cycle_t *cycle, const ngx_str_t *path,
                                const char *directive,
                                ngx_tg_access_mode_t access_mode)
{
    static const struct {
        int mode;
        const char *done;
        const char *needs;
    } as[] = {
        { R_OK, "read", "read that file and search the folders above" },
        { X_OK, "run", "execute that file and search the folders above" },
        { X_OK, "entered", "search that folder and those above" },
    };

    ngx_core_conf_t *ccf;

    if (path->len == 0
        || faccessat(AT_FDCWD, (char *) path->data, as[access_mode].mode,
                     AT_EACCESS)
               == 0)
    {
        return NGX_OK;
    }

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);
    ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                  "\"%V\" of \"%s\" cannot be %s by \"%s\", the workers' "
                  "user; let it %s, or choose another \"user\"",
                  path, directive, as[access_mode].done, ccf->username,
                  as[access_mode].needs);

    return NGX_ERROR;
}

/* Checks the parent's access rights: workers own the state directory itself. */
static ngx_int_t
ngx_tg_worker_check_parent_access(ngx_cycle_t *cycle,
                                  const ngx_str_t *state_dir)
{
    ngx_str_t folder;
    u_char *slash;

    folder.data = ngx_pnalloc(cycle->pool, state_dir->len + 1);

    if (folder.data == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_cpystrn(folder.data, state_dir->data, state_dir->len + 1);
    slash = (u_char *) strrchr((char *) folder.data, '/');
    slash[slash == folder.data] = '\0';
    folder.len = ngx_strlen(folder.data);

    return ngx_tg_worker_check_path_access(cycle, &folder, "tool_state_dir",
                                           NGX_TG_ACCESS_TRAVERSE);
}

static ngx_int_t
ngx_tg_worker_check_all_paths(ngx_cycle_t *cycle, ngx_tg_main_conf_t *mcf)
{
    ngx_tg_required_file_t *required_files;
    ngx_tg_runner_t **runners;
    ngx_uint_t i;

    runners = mcf->runners.elts;

    for (i = 0; i < mcf->runners.nelts; i++) {
        if (ngx_tg_worker_check_path_access(
                cycle, &runners[i]->path, "tool_runner", NGX_TG_ACCESS_EXECUTE)
                != NGX_OK
            || ngx_tg_worker_check_parent_access(cycle, &runners[i]->state_dir)
                   != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    required_files = mcf->required_files.elts;

    for (i = 0; i < mcf->required_files.nelts; i++) {
        if (ngx_tg_worker_check_path_access(
                cycle, &required_files[i].path,
                (const char *) required_files[i].directive.data,
                required_files[i].access_mode)
            != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_check_required_files(ngx_cycle_t *cycle, ngx_tg_main_conf_t *mcf)
{
    ngx_tg_root_identity_t root;
    ngx_int_t rc;

    rc = ngx_tg_root_identity_drop(cycle, &root);

    if (rc != NGX_OK) {
        return rc == NGX_DECLINED ? NGX_OK : rc;
    }

    rc = ngx_tg_worker_check_all_paths(cycle, mcf);

    return ngx_tg_root_identity_restore(cycle, &root) == NGX_OK ? rc
                                                                : NGX_ERROR;
}
