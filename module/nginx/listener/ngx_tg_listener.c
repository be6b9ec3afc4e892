/*
 * The socket files of our servers. A core module, because NGINX itself binds
 * Unix sockets with mode 0666 and never replaces a file left by a crash.
 *
 * init_conf binds and listens under a temporary name and passes the descriptor
 * to NGINX, which then skips its own bind. init_module renames the file when
 * nothing can fail any more; if the config fails, the cycle's pool removes it.
 * An inherited address may change only mode and owner, but a missing file is
 * created again. `nginx -t` and `nginx -s` change nothing. At exit, only our
 * own files are removed.
 */
#include "nginx/logging/ngx_tg_tracer.h"
#include "nginx/handoff/ngx_tg_handoff.h"
#include "nginx/listener/ngx_tg_listener.h"

#include <sys/prctl.h>
#include <sys/un.h>

typedef struct ngx_tg_listener_conf_s ngx_tg_listener_conf_t;

struct ngx_tg_listener_conf_s {
    ngx_array_t sockets; /* ngx_tg_socket_file_t */
    ngx_uint_t is_initial;
    /* NULL: none, or from another build of the module */
    ngx_tg_listener_conf_t *old;
    /* struct sockaddr *, addresses of the old cycle */
    ngx_array_t shown_addresses;
};

static void *
ngx_tg_listener_create_conf(ngx_cycle_t *cycle)
{
    ngx_tg_listener_conf_t *lcf;

    lcf = ngx_pcalloc(cycle->pool, sizeof(ngx_tg_listener_conf_t));
    if (lcf == NULL) {
        return NULL;
    }

    if (ngx_array_init(&lcf->sockets, cycle->pool, 4,
                       sizeof(ngx_tg_socket_file_t))
        != NGX_OK)
    {
        return NULL;
    }

    return lcf;
}

static ngx_tg_listener_conf_t *
ngx_tg_cycle_get_listener_conf(ngx_cycle_t *cycle)
{
    if (cycle->conf_ctx == NULL) {
        return NULL; /* the initial cycle before the first config */
    }

    return (ngx_tg_listener_conf_t *) ngx_get_conf(cycle->conf_ctx,
                                                   ngx_tg_listener_module);
}

/*
 * Shows or hides the addresses of Unix sockets. When NGINX closes a Unix
 * socket, it removes the file at its path, even another process's. It checks
 * the address family, so the master keeps AF_UNSPEC except while NGINX compares
 * the addresses of two cycles. The rest of the address stays for another build
 * of this module.
 */
static void
ngx_tg_listener_show_addresses(ngx_tg_listener_conf_t *lcf, ngx_uint_t is_shown)
{
    ngx_tg_socket_file_t *sock;
    ngx_uint_t i;

    sock = lcf->sockets.elts;

    for (i = 0; i < lcf->sockets.nelts; i++) {
        sock[i].ls->sockaddr->sa_family = is_shown ? AF_UNIX : AF_UNSPEC;
    }
}

/* Hides them again after the new cycle has failed or is complete. */
static void
ngx_tg_listener_hide_old_addresses(void *data)
{
    ngx_tg_listener_conf_t *lcf = data;

    struct sockaddr **shown_addresses;
    ngx_uint_t i;

    shown_addresses = lcf->shown_addresses.elts;

    for (i = 0; i < lcf->shown_addresses.nelts; i++) {
        shown_addresses[i]->sa_family = AF_UNSPEC;
    }

    lcf->shown_addresses.nelts = 0;
}

static ngx_int_t
ngx_tg_listener_show_old_addresses(ngx_cycle_t *cycle,
                                   ngx_tg_listener_conf_t *lcf)
{
    struct sockaddr **shown_addresses;
    ngx_pool_cleanup_t *cln;
    ngx_listening_t *ls;
    ngx_uint_t i;

    lcf->old = ngx_tg_cycle_get_listener_conf(cycle->old_cycle);
    cln = ngx_pool_cleanup_add(cycle->pool, 0);

    if (cln == NULL
        || ngx_array_init(&lcf->shown_addresses, cycle->pool, 4,
                          sizeof(struct sockaddr *))
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    cln->handler = ngx_tg_listener_hide_old_addresses;
    cln->data = lcf;
    ls = cycle->old_cycle->listening.elts;

    for (i = 0; i < cycle->old_cycle->listening.nelts; i++) {
        if (ls[i].sockaddr->sa_family != AF_UNSPEC) {
            continue;
        }

        shown_addresses = ngx_array_push(&lcf->shown_addresses);

        if (shown_addresses == NULL) {
            return NGX_ERROR;
        }

        *shown_addresses = ls[i].sockaddr;
        ls[i].sockaddr->sa_family = AF_UNIX;
    }

    return NGX_OK;
}

/* --- init_conf --- */

/* Finds the file's identity in the old cycle; unknown after an upgrade. */
static void
ngx_tg_listener_find_old_socket(ngx_tg_listener_conf_t *lcf,
                                ngx_tg_socket_file_t *sock)
{
    ngx_tg_socket_file_t *old;
    ngx_uint_t i;

    if (lcf->old == NULL) {
        return;
    }

    old = lcf->old->sockets.elts;

    for (i = 0; i < lcf->old->sockets.nelts; i++) {
        if (ngx_strcmp(old[i].path, sock->path) == 0) {
            sock->id = old[i].id;
        }
    }
}

static ngx_int_t
ngx_tg_listener_add_socket(ngx_cycle_t *cycle, ngx_tg_listener_conf_t *lcf,
                           ngx_listening_t *ls, ngx_tg_srv_conf_t *scf)
{
    ngx_tg_socket_file_t *sock;

    sock = ngx_array_push(&lcf->sockets);
    if (sock == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(sock, sizeof(ngx_tg_socket_file_t));
    sock->ls = ls;
    sock->scf = scf;

    if (ngx_tg_socket_file_init(cycle, sock) != NGX_OK) {
        return NGX_ERROR;
    }

    if (ngx_test_config) {
        return ngx_tg_socket_file_test(cycle, sock);
    }

    sock->is_inherited = ngx_tg_socket_file_is_inherited(cycle, sock) ? 1 : 0;

    if (!sock->is_inherited) {
        return ngx_tg_socket_file_open(cycle, sock);
    }

    ngx_tg_listener_find_old_socket(lcf, sock);

    if (!ngx_tg_socket_file_is_ours(sock)) {
        ngx_tg_socket_file_replace(cycle, sock);
    }

    return NGX_OK;
}

/* Sets the handler and creates the socket file, if the listener has tools. */
static ngx_int_t
ngx_tg_listener_add_listening(ngx_cycle_t *cycle, ngx_tg_listener_conf_t *lcf,
                              ngx_listening_t *ls)
{
    ngx_tg_srv_conf_t *scf;
    ngx_uint_t i;

    scf = NULL;

    for (i = 0; scf == NULL && i < ((ngx_stream_port_t *) ls->servers)->naddrs;
         i++) {
        scf = ngx_tg_addr_conf_get_server(ngx_tg_listener_get_addr_conf(ls, i));
    }

    if (scf == NULL || ls->type != SOCK_STREAM) {
        return NGX_OK;
    }

    ls->handler = ngx_tg_init_client_connection;

    return ls->sockaddr->sa_family == AF_UNIX
                   && ((struct sockaddr_un *) ls->sockaddr)->sun_path[0] != '\0'
               ? ngx_tg_listener_add_socket(cycle, lcf, ls, scf)
               : NGX_OK;
}

/* Runs the checks that need the complete config. Logs errors. */
static ngx_int_t
ngx_tg_listener_finalize_config(ngx_cycle_t *cycle, ngx_tg_main_conf_t *mcf)
{
    const ngx_tg_handler_t *const *handler;
    ngx_tg_runner_t **runners;
    ngx_uint_t i;

    runners = mcf->runners.elts;

    for (i = 0; i < mcf->runners.nelts; i++) {
        if (ngx_tg_runner_init_conf(cycle, runners[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    for (handler = mcf->handlers; *handler != NULL; handler++) {
        if ((*handler)->finalize_config != NULL
            && (*handler)->finalize_config(cycle) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return ngx_tg_check_required_files(cycle, mcf);
}

static char *
ngx_tg_listener_init_conf(ngx_cycle_t *cycle, void *conf)
{
    ngx_tg_listener_conf_t *lcf = conf;

    ngx_tg_main_conf_t *mcf;
    ngx_listening_t *ls;
    ngx_uint_t i;

    if (ngx_tg_listener_show_old_addresses(cycle, lcf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    mcf = ngx_tg_cycle_get_main_conf(cycle);

    if (mcf == NULL || !mcf->has_tools || ngx_process == NGX_PROCESS_SIGNALLER)
    {
        return NGX_CONF_OK;
    }

    if (ngx_tg_listener_finalize_config(cycle, mcf) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    lcf->is_initial = ngx_is_init_cycle(cycle->old_cycle);
    ls = cycle->listening.elts;

    /* The array must not be reallocated: cleanups point into it. */
    if (ngx_array_init(&lcf->sockets, cycle->pool, cycle->listening.nelts + 1,
                       sizeof(ngx_tg_socket_file_t))
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    for (i = 0; i < cycle->listening.nelts; i++) {
        if (ls[i].handler == ngx_stream_init_connection
            && ngx_tg_listener_add_listening(cycle, lcf, &ls[i]) != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    ngx_tg_lint_exposure(cycle);

    if (ngx_tg_schema_files_check(cycle, &mcf->servers, &lcf->sockets)
        != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    ngx_tg_tracer_create_files(cycle);

    return NGX_CONF_OK;
}

/* --- init_module --- */

/*
 * Renames bound sockets to their final names. NGINX exits at an error, which is
 * right at a start but not at a reload, where NGX_OK is returned.
 */
static ngx_int_t
ngx_tg_listener_rename_sockets(ngx_cycle_t *cycle, ngx_tg_listener_conf_t *lcf,
                               ngx_int_t rc)
{
    ngx_tg_socket_file_t *sock;
    ngx_uint_t i, n;

    sock = lcf->sockets.elts;

    for (i = 0; i < lcf->sockets.nelts; i++) {
        if ((rc == NGX_OK || !lcf->is_initial)
            && ngx_tg_socket_file_rename(cycle, &sock[i]) != NGX_OK)
        {
            rc = NGX_ERROR;
        }
    }

    for (i = 0; i < lcf->sockets.nelts; i++) {
        if (sock[i].is_bound && !sock[i].is_renamed) {
            (void) unlink((char *) sock[i].temp_path);
        } else if (rc != NGX_OK && lcf->is_initial && sock[i].is_renamed) {
            (void) unlink((char *) sock[i].path);
        }
    }

    for (i = 0, n = 0; i < lcf->sockets.nelts; i++) {
        ngx_tg_socket_file_unlock(&sock[i]);
        n += sock[i].is_inherited && sock[i].is_renamed;
    }

    /* Configure sockets that replaced inherited ones. */
    if (n != 0) {
        ngx_configure_listening_sockets(cycle);
    }

    return lcf->is_initial ? rc : NGX_OK;
}

static void
ngx_tg_listener_remove_socket(ngx_tg_socket_file_t *sock)
{
    if (ngx_tg_socket_file_is_ours(sock)) {
        (void) unlink((char *) sock->path);
    }
}

/* Removes the socket files when the last process of this NGINX exits. */
static void
ngx_tg_listener_exit(ngx_cycle_t *cycle)
{
    ngx_tg_listener_conf_t *lcf;
    ngx_tg_socket_file_t *sock;
    ngx_uint_t i;

    lcf = ngx_tg_cycle_get_listener_conf(cycle);

    if (lcf == NULL || ngx_new_binary != 0 || ngx_process > NGX_PROCESS_MASTER)
    {
        return;
    }

    sock = lcf->sockets.elts;

    for (i = 0; i < lcf->sockets.nelts; i++) {
        /*
         * A new binary that is stopped leaves inherited sockets to the old one.
         */
        if (sock[i].ls->inherited && getppid() == ngx_parent) {
            continue;
        }

        ngx_tg_listener_remove_socket(&sock[i]);

        if (sock[i].scf->schema_file.len != 0) {
            ngx_tg_schema_file_remove(&sock[i].scf->schema_file);
        }
    }

    ngx_tg_listener_show_addresses(lcf, 0);
}

/*
 * Removes socket files that only the old cycle uses, and hides their addresses.
 * NGINX removes those of another build of the module.
 */
static void
ngx_tg_listener_remove_old_sockets(ngx_cycle_t *cycle,
                                   ngx_tg_listener_conf_t *lcf)
{
    ngx_tg_socket_file_t *sock;
    ngx_core_conf_t *ccf;
    ngx_uint_t i;

    if (lcf->old != NULL) {
        sock = lcf->old->sockets.elts;

        for (i = 0; i < lcf->old->sockets.nelts; i++) {
            if (!sock[i].ls->remain) {
                ngx_tg_listener_remove_socket(&sock[i]);
            }
        }

        ngx_tg_listener_hide_old_addresses(lcf);
    }

    /* NGINX is about to free the old cycle. */
    lcf->old = NULL;
    lcf->shown_addresses.nelts = 0;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (ccf->master) {
        ngx_tg_listener_show_addresses(lcf, 0);
    }
}

static ngx_int_t
ngx_tg_listener_init_module(ngx_cycle_t *cycle)
{
    ngx_tg_runner_t **runners;
    ngx_tg_main_conf_t *mcf;
    ngx_tg_listener_conf_t *lcf;
    ngx_uint_t i;
    ngx_int_t rc;

    if (ngx_test_config) {
        return NGX_OK;
    }

    mcf = ngx_tg_cycle_get_main_conf(cycle);
    lcf = ngx_tg_cycle_get_listener_conf(cycle);
    rc = NGX_OK;

    if (mcf != NULL && mcf->has_tools) {
        runners = mcf->runners.elts;

        for (i = 0; i < mcf->runners.nelts; i++) {
            if (ngx_tg_runner_make_state_dir(cycle, runners[i]) != NGX_OK) {
                rc = NGX_ERROR;
            }
        }

        rc = ngx_tg_listener_rename_sockets(cycle, lcf, rc);
    }

    /* Even if no server has tools, to remove the files of the last cycle. */
    if (rc == NGX_OK) {
        ngx_tg_schema_files_write(cycle, &lcf->sockets,
                                  lcf->old != NULL ? &lcf->old->sockets : NULL);
        ngx_tg_handoff_publish_listeners(cycle);
        ngx_tg_listener_remove_old_sockets(cycle, lcf);
    }

    return rc;
}

/*
 * Makes a worker exit, after its calls, when its master is killed: it would
 * keep the socket and accept calls for ever.
 */
static void
ngx_tg_exit_with_master(ngx_cycle_t *cycle)
{
    if (prctl(PR_SET_PDEATHSIG, ngx_signal_value(NGX_SHUTDOWN_SIGNAL)) == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno,
                      "prctl(PR_SET_PDEATHSIG) failed");
        return;
    }

    /* The master may have died before prctl(). */
    if (getppid() != ngx_parent) {
        (void) raise(ngx_signal_value(NGX_SHUTDOWN_SIGNAL));
    }
}

static ngx_int_t
ngx_tg_listener_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_listener_conf_t *lcf;
    ngx_tg_socket_file_t *sock;
    ngx_uint_t i;

    mcf = ngx_tg_cycle_get_main_conf(cycle);
    lcf = ngx_tg_cycle_get_listener_conf(cycle);
    ngx_tg_listener_show_addresses(lcf, 1);

    if (mcf == NULL || !mcf->has_tools || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    sock = lcf->sockets.elts;

    /*
     * SO_PEERCRED reports the process that called listen(), which is gone since
     * NGINX became a daemon. A second listen() changes that.
     */
    for (i = 0; i < lcf->sockets.nelts; i++) {
        (void) listen(sock[i].ls->fd, sock[i].ls->backlog);
    }

    ngx_tg_handoff_start(cycle);

    if (ngx_process == NGX_PROCESS_WORKER) {
        ngx_tg_exit_with_master(cycle);
    }

    return NGX_OK;
}

/* --- module --- */

static ngx_core_module_t ngx_tg_listener_module_ctx = {
    ngx_string("toolgate_listener"), ngx_tg_listener_create_conf,
    ngx_tg_listener_init_conf
};

ngx_module_t ngx_tg_listener_module = NGX_TG_MODULE_OF(
    NGX_CORE_MODULE, ngx_tg_listener_module_ctx, NULL,
    .init_module = ngx_tg_listener_init_module,
    .init_process = ngx_tg_listener_init_process,
    .exit_process = ngx_tg_listener_exit, .exit_master = ngx_tg_listener_exit);
