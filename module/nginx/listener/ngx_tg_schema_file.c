/*
 * `tool_schema_file`: the tools of a server for bridges in front of `ipc`
 * (docs/protocols.md). Only the socket's owner may read the file.
 */
#include "nginx/listener/ngx_tg_listener.h"
#include "nginx/call/ngx_tg_call_checks.h"

#include <grp.h>
#include <pwd.h>

#define NGX_TG_OWNER_GROUPS_MAX 256

/* The owner of a socket, for whom the server's rules are evaluated. */
typedef struct {
    ngx_tg_srv_conf_t *scf;
    ngx_tg_peer_cred_t cred;
} ngx_tg_schema_owner_t;

static int
ngx_tg_schema_file_is_entry_visible(void *ctx, const tg_catalog_entry_t *entry)
{
    const ngx_tg_schema_owner_t *owner = ctx;
    const ngx_tg_client_t client = { .cred = &owner->cred };

    return ngx_tg_entry_is_allowed(owner->scf, entry, &client) ? 1 : 0;
}

/* Determines the owner's groups; the socket's group does not count. */
static void
ngx_tg_schema_owner_init(ngx_tg_socket_file_t *sock, ngx_tg_peer_cred_t *owner,
                         gid_t *groups)
{
    struct passwd *pwd;
    int n;

    ngx_memzero(owner, sizeof(ngx_tg_peer_cred_t));
    owner->uid = sock->uid;
    owner->gid = sock->gid;

    pwd = getpwuid(sock->uid);

    if (pwd == NULL) {
        return;
    }

    owner->gid = pwd->pw_gid;
    n = NGX_TG_OWNER_GROUPS_MAX;

    if (getgrouplist(pwd->pw_name, pwd->pw_gid, groups, &n) != -1) {
        owner->groups = groups;
        owner->ngroups = (ngx_uint_t) n;
    }
}

static ngx_int_t
ngx_tg_schema_file_store(ngx_tg_socket_file_t *sock, u_char *temp_path,
                         tg_str_t text)
{
    ngx_int_t rc;
    ngx_fd_t fd;

    (void) unlink((char *) temp_path);
    fd = open((char *) temp_path,
              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd == -1) {
        return NGX_ERROR;
    }

    rc = write(fd, text.data, text.len) == (ssize_t) text.len
                 && (geteuid() != 0 || fchown(fd, sock->uid, sock->gid) != -1)
             ? NGX_OK
             : NGX_ERROR;

    return close(fd) != -1 && rc == NGX_OK
                   && ngx_rename_file(temp_path, sock->scf->schema_file.data)
                          != NGX_FILE_ERROR
               ? NGX_OK
               : NGX_ERROR;
}

/* Writes a schema file atomically, for the socket's owner. */
static void
ngx_tg_schema_file_write(ngx_cycle_t *cycle, ngx_tg_socket_file_t *sock)
{
    ngx_tg_schema_owner_t owner;
    gid_t groups[NGX_TG_OWNER_GROUPS_MAX];
    tg_buf_t buf;
    u_char *temp_path;

    temp_path = ngx_tg_path_append_suffix(cycle, sock->scf->schema_file.data,
                                          NGX_TG_TEMP_SUFFIX);
    if (temp_path == NULL) {
        return;
    }

    owner.scf = sock->scf;
    ngx_tg_schema_owner_init(sock, &owner.cred, groups);
    tg_buf_init(&buf, tg_alloc_libc());
    tg_catalog_write_ipc_schemas(sock->scf->catalog,
                                 ngx_tg_schema_file_is_entry_visible, &owner,
                                 &buf);

    if (tg_buf_has_failed(&buf)
        || ngx_tg_schema_file_store(sock, temp_path, tg_buf_view(&buf))
               != NGX_OK)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "\"%V\" cannot be written (tool_schema_file)",
                      &sock->scf->schema_file);
        (void) unlink((char *) temp_path);
    }

    tg_buf_deinit(&buf);
}

void
ngx_tg_schema_file_remove(ngx_str_t *file)
{
    ngx_file_info_t fi;

    /* Another user may have replaced the file. */
    if (ngx_link_info(file->data, &fi) != NGX_FILE_ERROR && ngx_is_file(&fi)) {
        (void) unlink((char *) file->data);
    }
}

static ngx_uint_t
ngx_tg_schema_file_count_sockets(const ngx_array_t *sockets,
                                 const ngx_str_t *file)
{
    const ngx_tg_socket_file_t *sock;
    ngx_uint_t i, n;

    sock = sockets->elts;

    for (i = 0, n = 0; i < sockets->nelts; i++) {
        n += sock[i].scf->schema_file.len == file->len
             && ngx_memcmp(sock[i].scf->schema_file.data, file->data, file->len)
                    == 0;
    }

    return n;
}

/* Rejects a file of several sockets, because it has only one owner. */
ngx_int_t
ngx_tg_schema_files_check(ngx_cycle_t *cycle, const ngx_array_t *servers,
                          const ngx_array_t *sockets)
{
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i, n;

    scf = servers->elts;

    for (i = 0; i < servers->nelts; i++) {
        if (scf[i]->schema_file.len == 0) {
            continue;
        }

        n = ngx_tg_schema_file_count_sockets(sockets, &scf[i]->schema_file);

        if (n != 1) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "\"tool_schema_file %V\" needs exactly one \"listen "
                          "unix:\", as the file is for that socket's owner; "
                          "this server has %ui",
                          &scf[i]->schema_file, n);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

void
ngx_tg_schema_files_write(ngx_cycle_t *cycle, const ngx_array_t *sockets,
                          const ngx_array_t *old)
{
    ngx_tg_socket_file_t *sock;
    ngx_uint_t i;

    sock = sockets->elts;

    for (i = 0; i < sockets->nelts; i++) {
        if (sock[i].scf->schema_file.len != 0) {
            ngx_tg_schema_file_write(cycle, &sock[i]);
        }
    }

    if (old == NULL) {
        return;
    }

    sock = old->elts;

    for (i = 0; i < old->nelts; i++) {
        if (sock[i].scf->schema_file.len != 0
            && !ngx_tg_schema_file_count_sockets(sockets,
                                                 &sock[i].scf->schema_file))
        {
            ngx_tg_schema_file_remove(&sock[i].scf->schema_file);
        }
    }
}
