/* The handoff channel in master and worker: creation, inheritance, stop. */
#include "nginx/handoff/ngx_tg_handoff_channel.h"

/* "send;receive;registry;master": three descriptors, and the master's index. */
#define NGX_TG_HANDOFF_ENV_VAR "TOOLGATE_HANDOVER"

/* Time that sessions wait for a master that may start workers again, in ms. */
#define NGX_TG_HANDOFF_MASTER_GRACE 1000

typedef struct {
    int send_fd;
    int receive_fd;
    int registry;
    int master;
} ngx_tg_handoff_channel_t;

static ngx_tg_handoff_channel_t ngx_tg_handoff_channel = { -1, -1, -1, -1 };

/* Generation of the newest config in the master; of its own in a worker. */
static uint64_t ngx_tg_config_generation;

/* state of a worker */
static ngx_tg_handoff_registry_t *ngx_tg_handoff_registry;
static ngx_connection_t *ngx_tg_handoff_connection;
static ngx_event_t ngx_tg_handoff_pause_event;
static ngx_uint_t ngx_tg_handoff_is_leaving;
static ngx_uint_t ngx_tg_handoff_has_stopped;
static ngx_msec_t ngx_tg_handoff_leaving_since;

/* --- master --- */

static ngx_uint_t
ngx_tg_is_socket_pair(int fd)
{
    socklen_t len;
    int type;

    len = sizeof(type);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET;
}

/* Finds the channel that this master or its predecessor created, or NULL. */
static ngx_tg_handoff_registry_t *
ngx_tg_handoff_channel_find(ngx_tg_handoff_channel_t *ho, ngx_log_t *log)
{
    const char *value;
    char end;

    value = getenv(NGX_TG_HANDOFF_ENV_VAR);

    if (value == NULL
        || sscanf(value, "%d;%d;%d;%d%c", &ho->send_fd, &ho->receive_fd,
                  &ho->registry, &ho->master, &end)
               != 4
        || ho->master < 0 || ho->master >= NGX_TG_HANDOFF_MASTERS_MAX
        || !ngx_tg_is_socket_pair(ho->send_fd)
        || !ngx_tg_is_socket_pair(ho->receive_fd))
    {
        return NULL;
    }

    return ngx_tg_handoff_registry_map(ho->registry, log);
}

/* Creates the channel. A new binary inherits its descriptors over exec(). */
static ngx_tg_handoff_registry_t *
ngx_tg_handoff_channel_create(ngx_tg_handoff_channel_t *ho, ngx_log_t *log)
{
    ngx_tg_handoff_registry_t *registry;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds) == -1) {
        ngx_log_error(NGX_LOG_ERR, log, ngx_errno,
                      "socketpair() failed; sessions will not survive a "
                      "reload");
        return NULL;
    }

    ho->registry = ngx_tg_handoff_registry_create(log);
    registry = ho->registry != -1
                   ? ngx_tg_handoff_registry_map(ho->registry, log)
                   : NULL;

    if (registry == NULL) {
        if (ho->registry != -1) {
            (void) close(ho->registry);
        }

        (void) close(fds[0]);
        (void) close(fds[1]);
        return NULL;
    }

    ho->send_fd = fds[0];
    ho->receive_fd = fds[1];

    return registry;
}

/* Exports the channel to the module's next shared object and a new binary. */
static ngx_int_t
ngx_tg_handoff_channel_export(ngx_cycle_t *cycle,
                              const ngx_tg_handoff_channel_t *ho)
{
    u_char value[4 * NGX_INT_T_LEN + 4];

    (void) ngx_sprintf(value, "%d;%d;%d;%d%Z", ho->send_fd, ho->receive_fd,
                       ho->registry, ho->master);

    return ngx_tg_export_to_new_binary(cycle, NGX_TG_HANDOFF_ENV_VAR,
                                       (char *) value);
}

void
ngx_tg_handoff_channel_init(ngx_cycle_t *cycle, const uint64_t *listeners,
                            ngx_uint_t n)
{
    ngx_tg_handoff_channel_t ho;
    ngx_tg_handoff_registry_t *registry;
    ngx_uint_t is_new;

    is_new = ngx_is_init_cycle(cycle->old_cycle);
    registry = ngx_tg_handoff_channel_find(&ho, cycle->log);

    if (registry == NULL) {
        is_new = 1;
        registry = n != 0 ? ngx_tg_handoff_channel_create(&ho, cycle->log)
                          : NULL;
    }

    if (registry == NULL) {
        return;
    }

    if (is_new) {
        ho.master = (int) ngx_tg_handoff_registry_add_master(registry);
    }

    if (ho.master != -1 && ngx_tg_handoff_channel_export(cycle, &ho) == NGX_OK)
    {
        ngx_tg_handoff_channel = ho;
        ngx_tg_config_generation = ngx_tg_handoff_registry_set_config(
            registry, ho.master, listeners, n);
    }

    ngx_tg_handoff_registry_unmap(registry);
}

/* --- worker --- */

static void
ngx_tg_handoff_channel_stop_reading(void)
{
    ngx_event_t *rev;

    if (ngx_tg_handoff_connection == NULL) {
        return;
    }

    rev = ngx_tg_handoff_connection->read;

    if (rev->active) {
        (void) ngx_del_event(rev, NGX_READ_EVENT, 0);
    }

    if (rev->posted) {
        ngx_delete_posted_event(rev);
    }

    if (ngx_tg_handoff_pause_event.timer_set) {
        ngx_del_timer(&ngx_tg_handoff_pause_event);
    }
}

/* Frees the connection, but leaves its descriptor to other processes. */
static void
ngx_tg_handoff_channel_close(void)
{
    ngx_connection_t *c;

    c = ngx_tg_handoff_connection;

    if (c == NULL) {
        return;
    }

    ngx_tg_handoff_channel_stop_reading();
    ngx_tg_handoff_connection = NULL;
    c->read->closed = 1;
    c->write->closed = 1;
    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
}

static void
ngx_tg_handoff_channel_on_pause_end(ngx_event_t *ev)
{
    ngx_connection_t *c;

    c = ngx_tg_handoff_connection;

    if (c != NULL && !c->read->active
        && ngx_add_event(c->read, NGX_READ_EVENT, NGX_LEVEL_EVENT) != NGX_OK)
    {
        ngx_tg_handoff_channel_pause(1000);
    }
}

void
ngx_tg_handoff_channel_pause(ngx_msec_t time)
{
    if (ngx_tg_handoff_connection == NULL) {
        return;
    }

    if (ngx_tg_handoff_connection->read->active) {
        (void) ngx_del_event(ngx_tg_handoff_connection->read, NGX_READ_EVENT,
                             0);
    }

    ngx_add_timer(&ngx_tg_handoff_pause_event, time);
}

/* Creates an NGINX connection for the receive end; reading starts later. */
static ngx_int_t
ngx_tg_handoff_channel_open(ngx_event_handler_pt handler)
{
    ngx_connection_t *c;

    c = ngx_get_connection(ngx_tg_handoff_channel.receive_fd, ngx_cycle->log);

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->log = ngx_cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = handler;
    /* NGINX notifies idle connections first when the worker must exit */
    c->idle = 1;
    c->read->channel = 1; /* not reported as an open socket left at exit */
    ngx_tg_handoff_connection = c;
    ngx_tg_handoff_pause_event.handler = ngx_tg_handoff_channel_on_pause_end;
    ngx_tg_handoff_pause_event.data = &ngx_tg_dummy_connection;
    ngx_tg_handoff_pause_event.log = c->log;
    ngx_tg_handoff_pause_event.cancelable = 1;

    return NGX_OK;
}

void
ngx_tg_handoff_channel_start(ngx_cycle_t *cycle, ngx_event_handler_pt handler)
{
    ngx_tg_handoff_channel_t *ho;

    ho = &ngx_tg_handoff_channel;
    /* Child processes of this worker must not inherit the variable. */
    (void) unsetenv(NGX_TG_HANDOFF_ENV_VAR);

    if (ho->send_fd == -1) {
        return;
    }

    (void) fcntl(ho->send_fd, F_SETFD, FD_CLOEXEC);
    (void) fcntl(ho->receive_fd, F_SETFD, FD_CLOEXEC);
    (void) fcntl(ho->registry, F_SETFD, FD_CLOEXEC);

    ngx_tg_handoff_registry = ngx_tg_handoff_registry_map(ho->registry,
                                                          cycle->log);

    if (ngx_tg_handoff_registry == NULL) {
        return;
    }

    if (ngx_tg_handoff_channel_open(handler) != NGX_OK
        || ngx_tg_handoff_registry_add_worker(ngx_tg_handoff_registry,
                                              ho->registry, ho->master,
                                              ngx_tg_config_generation)
               != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0,
                      "this worker cannot take over sessions from other "
                      "workers");
        ngx_tg_handoff_channel_close();
    }
}

ngx_uint_t
ngx_tg_handoff_channel_announce(void)
{
    ngx_event_t *rev;

    if (ngx_tg_handoff_connection == NULL || ngx_tg_handoff_is_config_stale()) {
        return 0;
    }

    rev = ngx_tg_handoff_connection->read;

    if (ngx_add_event(rev, NGX_READ_EVENT, NGX_LEVEL_EVENT) != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "this worker cannot take over sessions from other "
                      "workers");
        ngx_tg_handoff_channel_close();
        return 0;
    }

    ngx_tg_handoff_registry_set_serving(ngx_tg_handoff_registry);

    return 1;
}

ngx_uint_t
ngx_tg_handoff_is_config_stale(void)
{
    return ngx_tg_handoff_registry != NULL
           && !ngx_tg_handoff_registry_is_newest(ngx_tg_handoff_registry);
}

ngx_uint_t
ngx_tg_handoff_set_leaving(void)
{
    if (ngx_tg_handoff_registry == NULL || ngx_tg_handoff_is_leaving) {
        return 0;
    }

    ngx_tg_handoff_is_leaving = 1;
    ngx_tg_handoff_leaving_since = ngx_current_msec;
    ngx_tg_handoff_registry_set_leaving(ngx_tg_handoff_registry);

    return 1;
}

ngx_uint_t
ngx_tg_handoff_channel_stop(void)
{
    ngx_tg_handoff_channel_stop_reading();

    if (ngx_tg_handoff_registry != NULL) {
        ngx_tg_handoff_registry_set_stopped(ngx_tg_handoff_registry);
    }

    /* Keep the connection until then: NGINX reports the exit through it. */
    if (!ngx_tg_handoff_is_leaving || ngx_tg_handoff_has_stopped) {
        return 0;
    }

    ngx_tg_handoff_channel_close();
    ngx_tg_handoff_has_stopped = 1;

    return 1;
}

ngx_tg_receiver_state_t
ngx_tg_handoff_get_receiver_state(uint64_t listener)
{
    ngx_uint_t count_idle_masters;

    if (ngx_tg_handoff_registry == NULL) {
        return NGX_TG_RECEIVER_NONE;
    }

    count_idle_masters = ngx_tg_handoff_is_leaving
                         && ngx_current_msec - ngx_tg_handoff_leaving_since
                                < NGX_TG_HANDOFF_MASTER_GRACE;

    return ngx_tg_handoff_registry_find_receiver(ngx_tg_handoff_registry,
                                                 listener, count_idle_masters);
}

ngx_uint_t
ngx_tg_handoff_is_last_receiver(void)
{
    return ngx_tg_handoff_registry == NULL
           || ngx_tg_handoff_registry_find_receiver(ngx_tg_handoff_registry, 0,
                                                    0)
                  == NGX_TG_RECEIVER_NONE;
}

ngx_uint_t
ngx_tg_handoff_has_less_loaded_worker(uint64_t load)
{
    return ngx_tg_handoff_registry != NULL
           && ngx_tg_handoff_registry_has_less_load(ngx_tg_handoff_registry,
                                                    load);
}

ngx_uint_t
ngx_tg_handoff_has_starting_worker(void)
{
    return ngx_tg_handoff_registry != NULL
           && ngx_tg_handoff_registry_has_starting(ngx_tg_handoff_registry);
}

ngx_socket_t
ngx_tg_handoff_get_send_fd(void)
{
    return ngx_tg_handoff_registry != NULL ? ngx_tg_handoff_channel.send_fd
                                           : -1;
}

ngx_socket_t
ngx_tg_handoff_get_receive_fd(void)
{
    return ngx_tg_handoff_registry != NULL ? ngx_tg_handoff_channel.receive_fd
                                           : -1;
}
