/*
 * `tool_schema_file`: the tools of a server as bridges in front of `ipc` read
 * them (docs/protocols.md): a JSON array of name, description and
 * input_schema, for the owner of the socket alone.
 */
#include "nginx/listen/ngx_toolgate_socket.h"

#include <grp.h>
#include <pwd.h>

#define NGX_TOOLGATE_WORKER_GROUPS 256

/* The owner of a socket, before its server's rules. */
typedef struct {
    ngx_toolgate_srv_conf_t *scf;
    ngx_toolgate_client_t client;
} ngx_toolgate_schema_owner_t;

static int
ngx_toolgate_schema_is_visible(void *ctx, const tg_entry_t *entry)
{
    const ngx_toolgate_schema_owner_t *owner = ctx;

    return ngx_toolgate_may(owner->scf, entry, &owner->client) ? 1 : 0;
}

/*
 * The owner as a client would be seen, with its groups: the socket's group
 * is none of them by itself.
 */
static void
ngx_toolgate_schema_owner(ngx_toolgate_socket_t *sock,
                          ngx_toolgate_client_t *owner, gid_t *groups)
{
    struct passwd *pwd;
    int n;

    ngx_memzero(owner, sizeof(ngx_toolgate_client_t));
    owner->uid = sock->uid;
    owner->gid = sock->gid;

    pwd = getpwuid(sock->uid);

    if (pwd == NULL) {
        return;
    }

    owner->gid = pwd->pw_gid;
    n = NGX_TOOLGATE_WORKER_GROUPS;

    if (getgrouplist(pwd->pw_name, pwd->pw_gid, groups, &n) != -1) {
        owner->groups = groups;
        owner->ngroups = (ngx_uint_t) n;
    }
}

static ngx_int_t
ngx_toolgate_schema_store(ngx_toolgate_socket_t *sock, u_char *temp,
                          tg_str_t text)
{
    ngx_int_t rc;
    ngx_fd_t fd;

    (void) unlink((char *) temp);
    fd = open((char *) temp,
              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd == -1) {
        return NGX_ERROR;
    }

    rc = write(fd, text.data, text.len) == (ssize_t) text.len
                 && (geteuid() != 0 || fchown(fd, sock->uid, sock->gid) != -1)
             ? NGX_OK
             : NGX_ERROR;

    return close(fd) != -1 && rc == NGX_OK
                   && ngx_rename_file(temp, sock->scf->schema_file.data)
                          != NGX_FILE_ERROR
               ? NGX_OK
               : NGX_ERROR;
}

/* For the socket's owner, atomically. */
static void
ngx_toolgate_schema_file_write(ngx_cycle_t *cycle, ngx_toolgate_socket_t *sock)
{
    ngx_toolgate_schema_owner_t owner;
    gid_t groups[NGX_TOOLGATE_WORKER_GROUPS];
    tg_buf_t buf;
    u_char *temp;

    temp = ngx_toolgate_name_beside(cycle, sock->scf->schema_file.data,
                                    NGX_TOOLGATE_SUFFIX);
    if (temp == NULL) {
        return;
    }

    owner.scf = sock->scf;
    ngx_toolgate_schema_owner(sock, &owner.client, groups);
    tg_buf_init(&buf, tg_alloc_libc());
    tg_catalogue_put_schemas(sock->scf->catalogue,
                             ngx_toolgate_schema_is_visible, &owner, &buf);

    if (tg_buf_failed(&buf)
        || ngx_toolgate_schema_store(sock, temp, tg_buf_view(&buf)) != NGX_OK)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "\"%V\" cannot be written (tool_schema_file)",
                      &sock->scf->schema_file);
        (void) unlink((char *) temp);
    }

    tg_buf_deinit(&buf);
}

void
ngx_toolgate_schema_file_remove(ngx_str_t *file)
{
    ngx_file_info_t fi;

    /* Only what we made: somebody may have put something else there. */
    if (ngx_link_info(file->data, &fi) != NGX_FILE_ERROR && ngx_is_file(&fi)) {
        (void) unlink((char *) file->data);
    }
}

static ngx_uint_t
ngx_toolgate_has_schema_file(const ngx_array_t *sockets, const ngx_str_t *file)
{
    const ngx_toolgate_socket_t *sock;
    ngx_uint_t i, n;

    sock = sockets->elts;

    for (i = 0, n = 0; i < sockets->nelts; i++) {
        n += sock[i].scf->schema_file.len == file->len
             && ngx_memcmp(sock[i].scf->schema_file.data, file->data, file->len)
                    == 0;
    }

    return n;
}

/* A schema file has one owner: that of its server's socket. */
ngx_int_t
ngx_toolgate_schema_files_check(ngx_cycle_t *cycle, const ngx_array_t *servers,
                                const ngx_array_t *sockets)
{
    ngx_toolgate_srv_conf_t **scf;
    ngx_uint_t i, n;

    scf = servers->elts;

    for (i = 0; i < servers->nelts; i++) {
        if (scf[i]->schema_file.len == 0) {
            continue;
        }

        n = ngx_toolgate_has_schema_file(sockets, &scf[i]->schema_file);

        if (n != 1) {
            ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                          "\"tool_schema_file %V\" needs exactly one \"listen "
                          "unix:\", whose owner it is for; this one has %ui",
                          &scf[i]->schema_file, n);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

void
ngx_toolgate_schema_files_write(ngx_cycle_t *cycle, const ngx_array_t *sockets,
                                const ngx_array_t *old)
{
    ngx_toolgate_socket_t *sock;
    ngx_uint_t i;

    sock = sockets->elts;

    for (i = 0; i < sockets->nelts; i++) {
        if (sock[i].scf->schema_file.len != 0) {
            ngx_toolgate_schema_file_write(cycle, &sock[i]);
        }
    }

    if (old == NULL) {
        return;
    }

    sock = old->elts;

    for (i = 0; i < old->nelts; i++) {
        if (sock[i].scf->schema_file.len != 0
            && !ngx_toolgate_has_schema_file(sockets,
                                             &sock[i].scf->schema_file))
        {
            ngx_toolgate_schema_file_remove(&sock[i].scf->schema_file);
        }
    }
}
