/*
 * The socket file of our servers: a core module, because NGINX's own code
 * binds Unix sockets with mode 0666 and never replaces a file that is left
 * from a crash.
 *
 * init_conf binds and listens under a temporary name and hands NGINX the
 * descriptor, so that it skips its own bind; init_module, when nothing can
 * fail any more, renames the file into place.  A config that fails leaves
 * nothing behind: the cycle's pool runs the cleanup.  An address that the
 * old cycle has is inherited: only mode and owner may change.  Nothing is
 * touched under `nginx -t`, nor in the process that only signals.
 */
#include "nginx/move/ngx_toolgate_move.h"
#include "nginx/listen/ngx_toolgate_socket.h"

#include <sys/prctl.h>
#include <sys/un.h>

typedef struct {
    ngx_array_t sockets; /* ngx_toolgate_socket_t */
    ngx_uint_t is_initial;
} ngx_toolgate_listener_conf_t;

static void *ngx_toolgate_listener_create_conf(ngx_cycle_t *cycle);
static char *ngx_toolgate_listener_init_conf(ngx_cycle_t *cycle, void *conf);
static ngx_int_t ngx_toolgate_listener_init_module(ngx_cycle_t *cycle);
static ngx_int_t ngx_toolgate_listener_init_process(ngx_cycle_t *cycle);
static void ngx_toolgate_listener_exit(ngx_cycle_t *cycle);

static ngx_core_module_t ngx_toolgate_listener_module_ctx = {
    ngx_string("toolgate_listener"), ngx_toolgate_listener_create_conf,
    ngx_toolgate_listener_init_conf
};

ngx_module_t ngx_toolgate_listener_module = {
    NGX_MODULE_V1,
    &ngx_toolgate_listener_module_ctx,  /* module context */
    NULL,                               /* module directives */
    NGX_CORE_MODULE,                    /* module type */
    NULL,                               /* init master */
    ngx_toolgate_listener_init_module,  /* init module */
    ngx_toolgate_listener_init_process, /* init process */
    NULL,                               /* init thread */
    NULL,                               /* exit thread */
    ngx_toolgate_listener_exit,         /* exit process */
    ngx_toolgate_listener_exit,         /* exit master */
    NGX_MODULE_V1_PADDING
};

static void *
ngx_toolgate_listener_create_conf(ngx_cycle_t *cycle)
{
    ngx_toolgate_listener_conf_t *lcf;

    lcf = ngx_pcalloc(cycle->pool, sizeof(ngx_toolgate_listener_conf_t));
    if (lcf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&lcf->sockets, cycle->pool, 4,
                       sizeof(ngx_toolgate_socket_t))
        != NGX_OK)
    {
        return NULL;
    }

    return lcf;
}

static ngx_toolgate_main_conf_t *
ngx_toolgate_main_conf(ngx_cycle_t *cycle)
{
    if (cycle->conf_ctx[ngx_stream_module.index] == NULL) {
        return NULL;
    }

    return ngx_stream_cycle_get_module_main_conf(cycle,
                                                 ngx_stream_toolgate_module);
}

/* The server of a listener's address, if it has tools. */
static ngx_toolgate_srv_conf_t *
ngx_toolgate_listener_server(ngx_listening_t *ls, ngx_uint_t i)
{
    ngx_toolgate_srv_conf_t *scf;
    ngx_stream_addr_conf_t *addr;
    ngx_stream_conf_ctx_t *ctx;
    ngx_stream_port_t *port;

    port = ls->servers;
    addr = &((ngx_stream_in_addr_t *) port->addrs)[i].conf;

#if (NGX_HAVE_INET6)
    if (ls->sockaddr->sa_family == AF_INET6) {
        addr = &((ngx_stream_in6_addr_t *) port->addrs)[i].conf;
    }
#endif

#if (nginx_version >= 1025005)
    ctx = addr->default_server->ctx;
#else
    ctx = addr->ctx;
#endif

    scf = ctx->srv_conf[ngx_stream_toolgate_module.ctx_index];

    return scf->catalogue != NULL ? scf : NULL;
}

static ngx_uint_t
ngx_toolgate_listener_has_path(const ngx_listening_t *ls)
{
    return ls->sockaddr->sa_family == AF_UNIX
           && ((struct sockaddr_un *) ls->sockaddr)->sun_path[0] != '\0';
}

/* Under `nginx -t`: a socket of no name, or NGINX would bind for a trial. */
static ngx_int_t
ngx_toolgate_listener_test(ngx_cycle_t *cycle, ngx_toolgate_socket_t *sock)
{
    ngx_file_info_t fi;

    if (ngx_toolgate_socket_dir(cycle, sock->path) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_link_info(sock->path, &fi) != NGX_FILE_ERROR
        && !S_ISSOCK(fi.st_mode)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%s\" exists and is no socket; move it away, or "
                      "choose another path",
                      sock->path);
        return NGX_ERROR;
    }

    sock->ls->fd = socket(AF_UNIX, sock->ls->type, 0);

    return sock->ls->fd != (ngx_socket_t) -1 ? NGX_OK : NGX_ERROR;
}

/* --- init_conf --- */

/*
 * Does the old cycle have this address?  A new binary finds the sockets that
 * it inherits by the name they were bound under, the temporary one: they are
 * given their real name here, before NGINX compares.
 */
static ngx_uint_t
ngx_toolgate_is_inherited(ngx_cycle_t *cycle, ngx_toolgate_socket_t *sock)
{
    struct sockaddr_un *saun;
    ngx_listening_t *ls;
    ngx_uint_t i;

    ls = cycle->old_cycle->listening.elts;

    for (i = 0; i < cycle->old_cycle->listening.nelts; i++) {
        if (ls[i].ignore || ls[i].sockaddr->sa_family != AF_UNIX) {
            continue;
        }

        saun = (struct sockaddr_un *) ls[i].sockaddr;

        if (ngx_strcmp(saun->sun_path, sock->temp) == 0) {
            ls[i].sockaddr = sock->ls->sockaddr;
            ls[i].socklen = sock->ls->socklen;
            ls[i].addr_text = sock->ls->addr_text;
            return 1;
        }

        if (ngx_strcmp(saun->sun_path, sock->path) == 0) {
            return 1;
        }
    }

    return 0;
}

static u_char *
ngx_toolgate_name_beside(ngx_cycle_t *cycle, u_char *path, const char *suffix)
{
    u_char *name;

    name = ngx_pnalloc(cycle->pool, ngx_strlen(path) + ngx_strlen(suffix) + 1);

    if (name != NULL) {
        (void) ngx_sprintf(name, "%s%s%Z", path, suffix);
    }

    return name;
}

static ngx_int_t
ngx_toolgate_socket_init(ngx_cycle_t *cycle, ngx_toolgate_socket_t *sock)
{
    struct sockaddr_un *saun;
    ngx_file_info_t fi;
    size_t len;

    saun = (struct sockaddr_un *) sock->ls->sockaddr;
    sock->path = (u_char *) saun->sun_path;
    len = ngx_strlen(saun->sun_path);

    /* It would be relative to wherever NGINX was started from. */
    if (sock->path[0] != '/') {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"listen unix:%s\" needs an absolute path", sock->path);
        return NGX_ERROR;
    }

    if (len + sizeof(NGX_TOOLGATE_SUFFIX) > sizeof(saun->sun_path)) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "the path of unix:%s is too long; use at most %uz bytes",
                      sock->path,
                      sizeof(saun->sun_path) - sizeof(NGX_TOOLGATE_SUFFIX));
        return NGX_ERROR;
    }

    sock->temp = ngx_toolgate_name_beside(cycle, sock->path,
                                          NGX_TOOLGATE_SUFFIX);
    sock->lock_path = ngx_toolgate_name_beside(cycle, sock->path,
                                               NGX_TOOLGATE_LOCK_SUFFIX);

    if (sock->temp == NULL || sock->lock_path == NULL) {
        return NGX_ERROR;
    }

    sock->uid = geteuid();
    sock->gid = getegid();

    if (sock->scf->has_owner) {
        sock->uid = sock->scf->socket_uid;
        sock->gid = sock->scf->socket_gid;

    } else if (geteuid() == 0
               && ngx_file_info(cycle->conf_file.data, &fi) != NGX_FILE_ERROR)
    {
        /* Whoever wrote the config is whom its tools are for. */
        sock->uid = fi.st_uid;
        sock->gid = fi.st_gid;
    }

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_listener_add(ngx_cycle_t *cycle, ngx_toolgate_listener_conf_t *lcf,
                          ngx_listening_t *ls, ngx_toolgate_srv_conf_t *scf)
{
    ngx_toolgate_socket_t *sock;

    sock = ngx_array_push(&lcf->sockets);
    if (sock == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(sock, sizeof(ngx_toolgate_socket_t));
    sock->ls = ls;
    sock->scf = scf;
    sock->lock = -1;

    if (ngx_toolgate_socket_init(cycle, sock) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_test_config) {
        return ngx_toolgate_listener_test(cycle, sock);
    }

    if (ngx_toolgate_is_inherited(cycle, sock)) {
        sock->is_inherited = 1;
        return NGX_OK;
    }

    return ngx_toolgate_socket_open(cycle, sock);
}

/* A listener of the stream block: guards it, and makes its socket file. */
static ngx_int_t
ngx_toolgate_listener_take(ngx_cycle_t *cycle,
                           ngx_toolgate_listener_conf_t *lcf,
                           ngx_listening_t *ls)
{
    ngx_toolgate_srv_conf_t *scf, *first;
    ngx_stream_port_t *port;
    ngx_uint_t i;

    port = ls->servers;
    first = NULL;

    for (i = 0; i < port->naddrs; i++) {
        scf = ngx_toolgate_listener_server(ls, i);
        first = first != NULL ? first : scf;
    }

    if (first == NULL || ls->type != SOCK_STREAM) {
        return NGX_OK;
    }

    ls->handler = ngx_toolgate_init_connection;

    return ngx_toolgate_listener_has_path(ls)
               ? ngx_toolgate_listener_add(cycle, lcf, ls, first)
               : NGX_OK;
}

static char *
ngx_toolgate_listener_init_conf(ngx_cycle_t *cycle, void *conf)
{
    ngx_toolgate_listener_conf_t *lcf = conf;

    ngx_toolgate_runner_t **runners;
    ngx_toolgate_main_conf_t *mcf;
    ngx_listening_t *ls;
    ngx_uint_t i;

    mcf = ngx_toolgate_main_conf(cycle);

    if (mcf == NULL || !mcf->has_tools || ngx_process == NGX_PROCESS_SIGNALLER)
    {
        return NGX_CONF_OK;
    }

    runners = mcf->runners.elts;

    for (i = 0; i < mcf->runners.nelts; i++) {
        if (ngx_toolgate_runner_init_conf(cycle, runners[i]) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    lcf->is_initial = ngx_is_init_cycle(cycle->old_cycle);
    ls = cycle->listening.elts;

    /* Cleanups point into it, so it must not move. */
    if (ngx_array_init(&lcf->sockets, cycle->pool, cycle->listening.nelts + 1,
                       sizeof(ngx_toolgate_socket_t))
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < cycle->listening.nelts; i++) {
        if (ls[i].handler == ngx_stream_init_connection
            && ngx_toolgate_listener_take(cycle, lcf, &ls[i]) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    if (ngx_toolgate_schema_files_check(cycle, &mcf->servers, &lcf->sockets)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}

/* --- init_module --- */

/*
 * Renames what was bound into place.  It is too late to refuse, NGINX would
 * exit: right at a start, where nobody else cleans up, but at a reload what
 * works must go on working.
 */
static ngx_int_t
ngx_toolgate_listener_place(ngx_cycle_t *cycle,
                            ngx_toolgate_listener_conf_t *lcf, ngx_int_t rc)
{
    ngx_toolgate_socket_t *sock;
    ngx_uint_t i;

    sock = lcf->sockets.elts;

    for (i = 0; i < lcf->sockets.nelts; i++) {
        if ((rc == NGX_OK || !lcf->is_initial)
            && ngx_toolgate_socket_place(cycle, &sock[i]) != NGX_OK)
        {
            rc = NGX_ERROR;
        }
    }

    for (i = 0; i < lcf->sockets.nelts; i++) {
        if (sock[i].is_bound && !sock[i].is_placed) {
            (void) unlink((char *) sock[i].temp);
        } else if (rc != NGX_OK && lcf->is_initial && sock[i].is_placed) {
            (void) unlink((char *) sock[i].path);
        }
    }

    for (i = 0; i < lcf->sockets.nelts; i++) {
        ngx_toolgate_socket_unlock(&sock[i]);
    }

    return lcf->is_initial ? rc : NGX_OK;
}

static ngx_toolgate_listener_conf_t *
ngx_toolgate_listener_conf(ngx_cycle_t *cycle)
{
    if (cycle->conf_ctx == NULL) {
        return NULL; /* the cycle before the first */
    }

    return (ngx_toolgate_listener_conf_t *) ngx_get_conf(
        cycle->conf_ctx, ngx_toolgate_listener_module);
}

/* The last of an NGINX: what it wrote goes with it, as its sockets do. */
static void
ngx_toolgate_listener_exit(ngx_cycle_t *cycle)
{
    ngx_toolgate_listener_conf_t *lcf;
    ngx_toolgate_socket_t *sock;
    ngx_uint_t i;

    lcf = ngx_toolgate_listener_conf(cycle);

    if (lcf == NULL || ngx_new_binary != 0 || ngx_process > NGX_PROCESS_MASTER)
    {
        return;
    }

    sock = lcf->sockets.elts;

    for (i = 0; i < lcf->sockets.nelts; i++) {
        /* A new binary that is sent away leaves it to the old one. */
        if (sock[i].scf->schema_file.len != 0
            && (!sock[i].ls->inherited || getppid() != ngx_parent))
        {
            ngx_toolgate_schema_file_remove(&sock[i].scf->schema_file);
        }
    }
}

static ngx_int_t
ngx_toolgate_listener_init_module(ngx_cycle_t *cycle)
{
    ngx_toolgate_runner_t **runners;
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_listener_conf_t *lcf, *old;
    ngx_uint_t i;
    ngx_int_t rc;

    if (ngx_test_config) {
        return NGX_OK;
    }

    mcf = ngx_toolgate_main_conf(cycle);
    lcf = ngx_toolgate_listener_conf(cycle);
    rc = NGX_OK;

    if (mcf != NULL && mcf->has_tools) {
        runners = mcf->runners.elts;

        for (i = 0; i < mcf->runners.nelts; i++) {
            if (ngx_toolgate_runner_prepare(cycle, runners[i]) != NGX_OK) {
                rc = NGX_ERROR;
            }
        }

        rc = ngx_toolgate_listener_place(cycle, lcf, rc);
    }

    /* Also when no tool is left: the files of the last cycle go. */
    if (rc == NGX_OK) {
        old = ngx_is_init_cycle(cycle->old_cycle)
                  ? NULL
                  : ngx_toolgate_listener_conf(cycle->old_cycle);
        ngx_toolgate_schema_files_write(cycle, &lcf->sockets,
                                        old != NULL ? &old->sockets : NULL);
        ngx_toolgate_arrive_offer(cycle);
    }

    return rc;
}

/*
 * A master that is killed leaves its workers behind with the socket, where
 * they would take calls for ever: they finish what they have, and exit.
 */
static void
ngx_toolgate_follow_master(ngx_cycle_t *cycle)
{
    if (prctl(PR_SET_PDEATHSIG, ngx_signal_value(NGX_SHUTDOWN_SIGNAL)) == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      "prctl(PR_SET_PDEATHSIG) failed");
        return;
    }

    /* It may have died before the signal was ordered. */
    if (getppid() != ngx_parent) {
        (void) raise(ngx_signal_value(NGX_SHUTDOWN_SIGNAL));
    }
}

static ngx_int_t
ngx_toolgate_listener_init_process(ngx_cycle_t *cycle)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_listener_conf_t *lcf;
    ngx_toolgate_socket_t *sock;
    ngx_uint_t i;

    mcf = ngx_toolgate_main_conf(cycle);

    if (mcf == NULL || !mcf->has_tools
        || (ngx_process != NGX_PROCESS_WORKER
            && ngx_process != NGX_PROCESS_SINGLE))
    {
        return NGX_OK;
    }

    lcf = (ngx_toolgate_listener_conf_t *) ngx_get_conf(
        cycle->conf_ctx, ngx_toolgate_listener_module);
    sock = lcf->sockets.elts;

    /*
     * Who asks for the owner is told who called listen(): that was a process
     * that is gone since NGINX became a daemon.  Again, it changes only that.
     */
    for (i = 0; i < lcf->sockets.nelts; i++) {
        (void) listen(sock[i].ls->fd, sock[i].ls->backlog);
    }

    if (ngx_process == NGX_PROCESS_WORKER) {
        ngx_toolgate_follow_master(cycle);
        ngx_toolgate_arrive_start(cycle);
    }

    return NGX_OK;
}
