/*
 * The pair of sockets over which sessions move, and its life in master and
 * worker.
 */
#include "nginx/move/ngx_toolgate_handover.h"

/* "out;in;takers;master": descriptors, and this master's place in the page. */
#define NGX_TOOLGATE_HANDOVER_VAR "TOOLGATE_HANDOVER"

/* How long sessions wait for a master that may start workers again. */
#define NGX_TOOLGATE_HANDOVER_HOPE 1000

typedef struct {
    int out;
    int in;
    int takers;
    int master;
} ngx_toolgate_handover_t;

static ngx_toolgate_handover_t ngx_toolgate_handover = { -1, -1, -1, -1 };

/* Of the cycle that was read last; what a worker was started with. */
static uint64_t ngx_toolgate_generation;

/* of a worker */
static ngx_toolgate_takers_t *ngx_toolgate_takers;
static ngx_connection_t *ngx_toolgate_taking;
static ngx_event_t ngx_toolgate_resting;
static ngx_uint_t ngx_toolgate_is_leaving;
static ngx_uint_t ngx_toolgate_has_stopped;
static ngx_msec_t ngx_toolgate_leaving_since;

/* --- in a master --- */

static ngx_uint_t
ngx_toolgate_is_pair(int fd)
{
    socklen_t len;
    int type;

    len = sizeof(type);

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0
           && type == SOCK_SEQPACKET;
}

/* What this master, or the one that it follows, made. */
static ngx_toolgate_takers_t *
ngx_toolgate_handover_find(ngx_toolgate_handover_t *ho, ngx_log_t *log)
{
    const char *value;
    char end;

    value = getenv(NGX_TOOLGATE_HANDOVER_VAR);

    if (value == NULL
        || sscanf(value, "%d;%d;%d;%d%c", &ho->out, &ho->in, &ho->takers,
                  &ho->master, &end)
               != 4
        || ho->master < 0 || ho->master >= NGX_TOOLGATE_TAKERS_MASTERS
        || !ngx_toolgate_is_pair(ho->out) || !ngx_toolgate_is_pair(ho->in))
    {
        return NULL;
    }

    return ngx_toolgate_takers_map(ho->takers, log);
}

/* A new binary inherits all three: they stay open over exec() in a master. */
static ngx_toolgate_takers_t *
ngx_toolgate_handover_create(ngx_toolgate_handover_t *ho, ngx_log_t *log)
{
    ngx_toolgate_takers_t *takers;
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fds) == -1) {
        ngx_log_error(NGX_LOG_ERR, log, ngx_errno,
                      "socketpair() failed; sessions will not survive a "
                      "reload");
        return NULL;
    }

    ho->takers = ngx_toolgate_takers_create(log);
    takers = ho->takers != -1 ? ngx_toolgate_takers_map(ho->takers, log) : NULL;

    if (takers == NULL) {
        if (ho->takers != -1) {
            (void) close(ho->takers);
        }

        (void) close(fds[0]);
        (void) close(fds[1]);
        return NULL;
    }

    ho->out = fds[0];
    ho->in = fds[1];

    return takers;
}

/* For the next object of this module, and for a new binary. */
static ngx_int_t
ngx_toolgate_handover_note(ngx_cycle_t *cycle,
                           const ngx_toolgate_handover_t *ho)
{
    u_char value[4 * NGX_INT_T_LEN + 4];

    (void) ngx_sprintf(value, "%d;%d;%d;%d%Z", ho->out, ho->in, ho->takers,
                       ho->master);

    return ngx_toolgate_hand_down(cycle, NGX_TOOLGATE_HANDOVER_VAR,
                                  (char *) value);
}

void
ngx_toolgate_handover_init(ngx_cycle_t *cycle, const uint64_t *listeners,
                           ngx_uint_t n)
{
    ngx_toolgate_handover_t ho;
    ngx_toolgate_takers_t *takers;
    ngx_uint_t is_new;

    is_new = ngx_is_init_cycle(cycle->old_cycle);
    takers = ngx_toolgate_handover_find(&ho, cycle->log);

    if (takers == NULL) {
        is_new = 1;
        takers = n != 0 ? ngx_toolgate_handover_create(&ho, cycle->log) : NULL;
    }

    if (takers == NULL) {
        return;
    }

    if (is_new) {
        ho.master = (int) ngx_toolgate_takers_enrol(takers);
    }

    if (ho.master != -1 && ngx_toolgate_handover_note(cycle, &ho) == NGX_OK) {
        ngx_toolgate_handover = ho;
        ngx_toolgate_generation = ngx_toolgate_takers_offer(takers, ho.master,
                                                            listeners, n);
    }

    ngx_toolgate_takers_unmap(takers);
}

/* --- in a worker --- */

/* Reads no more of the pair. */
static void
ngx_toolgate_handover_deafen(void)
{
    ngx_event_t *rev;

    if (ngx_toolgate_taking == NULL) {
        return;
    }

    rev = ngx_toolgate_taking->read;

    if (rev->active) {
        (void) ngx_del_event(rev, NGX_READ_EVENT, 0);
    }

    if (rev->posted) {
        ngx_delete_posted_event(rev);
    }

    if (ngx_toolgate_resting.timer_set) {
        ngx_del_timer(&ngx_toolgate_resting);
    }
}

/* Drops the interest, not the descriptor: others use it. */
static void
ngx_toolgate_handover_ignore(void)
{
    ngx_connection_t *c;

    c = ngx_toolgate_taking;

    if (c == NULL) {
        return;
    }

    ngx_toolgate_handover_deafen();
    ngx_toolgate_taking = NULL;
    c->read->closed = 1;
    c->write->closed = 1;
    ngx_free_connection(c);
    c->fd = (ngx_socket_t) -1;
}

static void
ngx_toolgate_handover_look(ngx_event_t *ev)
{
    ngx_connection_t *c;

    (void) ev;
    c = ngx_toolgate_taking;

    if (c != NULL && !c->read->active
        && ngx_add_event(c->read, NGX_READ_EVENT, NGX_LEVEL_EVENT) != NGX_OK)
    {
        ngx_toolgate_handover_rest(1000);
    }
}

void
ngx_toolgate_handover_rest(ngx_msec_t time)
{
    if (ngx_toolgate_taking == NULL) {
        return;
    }

    if (ngx_toolgate_taking->read->active) {
        (void) ngx_del_event(ngx_toolgate_taking->read, NGX_READ_EVENT, 0);
    }

    ngx_add_timer(&ngx_toolgate_resting, time);
}

/* The pair as a connection, which is watched later. */
static ngx_int_t
ngx_toolgate_handover_connect(ngx_event_handler_pt handler)
{
    ngx_connection_t *c;

    c = ngx_get_connection(ngx_toolgate_handover.in, ngx_cycle->log);

    if (c == NULL) {
        return NGX_ERROR;
    }

    c->log = ngx_cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = handler;
    c->idle = 1;          /* told, before others, when the worker shall exit */
    c->read->channel = 1; /* none that is left open by mistake */
    ngx_toolgate_taking = c;
    ngx_toolgate_resting.handler = ngx_toolgate_handover_look;
    ngx_toolgate_resting.data = &ngx_toolgate_no_connection;
    ngx_toolgate_resting.log = c->log;
    ngx_toolgate_resting.cancelable = 1;

    return NGX_OK;
}

void
ngx_toolgate_handover_start(ngx_cycle_t *cycle, ngx_event_handler_pt handler)
{
    ngx_toolgate_handover_t *ho;

    ho = &ngx_toolgate_handover;
    /* Nothing that this worker starts is to know. */
    (void) unsetenv(NGX_TOOLGATE_HANDOVER_VAR);

    if (ho->out == -1) {
        return;
    }

    (void) fcntl(ho->out, F_SETFD, FD_CLOEXEC);
    (void) fcntl(ho->in, F_SETFD, FD_CLOEXEC);
    (void) fcntl(ho->takers, F_SETFD, FD_CLOEXEC);

    ngx_toolgate_takers = ngx_toolgate_takers_map(ho->takers, cycle->log);

    if (ngx_toolgate_takers == NULL) {
        return;
    }

    if (ngx_toolgate_handover_connect(handler) != NGX_OK
        || ngx_toolgate_takers_join(ngx_toolgate_takers, ho->takers, ho->master,
                                    ngx_toolgate_generation)
               != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0,
                      "this worker can take no sessions of other workers");
        ngx_toolgate_handover_ignore();
    }
}

ngx_uint_t
ngx_toolgate_handover_announce(void)
{
    ngx_event_t *rev;

    if (ngx_toolgate_taking == NULL || ngx_toolgate_handover_is_stale()) {
        return 0;
    }

    rev = ngx_toolgate_taking->read;

    if (ngx_add_event(rev, NGX_READ_EVENT, NGX_LEVEL_EVENT) != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "this worker can take no sessions of other workers");
        ngx_toolgate_handover_ignore();
        return 0;
    }

    ngx_toolgate_takers_serve(ngx_toolgate_takers);

    return 1;
}

ngx_uint_t
ngx_toolgate_handover_is_stale(void)
{
    return ngx_toolgate_takers != NULL
           && !ngx_toolgate_takers_is_newest(ngx_toolgate_takers);
}

ngx_uint_t
ngx_toolgate_handover_leave(void)
{
    if (ngx_toolgate_takers == NULL || ngx_toolgate_is_leaving) {
        return 0;
    }

    ngx_toolgate_is_leaving = 1;
    ngx_toolgate_leaving_since = ngx_current_msec;
    ngx_toolgate_takers_leave(ngx_toolgate_takers);

    return 1;
}

ngx_uint_t
ngx_toolgate_handover_stop(void)
{
    ngx_toolgate_handover_deafen();

    if (ngx_toolgate_takers != NULL) {
        ngx_toolgate_takers_stop(ngx_toolgate_takers);
    }

    /* Until then it is told of the exit by the pair's connection. */
    if (!ngx_toolgate_is_leaving || ngx_toolgate_has_stopped) {
        return 0;
    }

    ngx_toolgate_handover_ignore();
    ngx_toolgate_has_stopped = 1;

    return 1;
}

ngx_toolgate_taker_t
ngx_toolgate_handover_taker(uint64_t listener)
{
    ngx_uint_t is_hoping;

    if (ngx_toolgate_takers == NULL) {
        return NGX_TOOLGATE_TAKER_NONE;
    }

    is_hoping = ngx_toolgate_is_leaving
                && ngx_current_msec - ngx_toolgate_leaving_since
                       < NGX_TOOLGATE_HANDOVER_HOPE;

    return ngx_toolgate_takers_taker(ngx_toolgate_takers, listener, is_hoping);
}

ngx_uint_t
ngx_toolgate_handover_is_last(void)
{
    return ngx_toolgate_takers == NULL
           || ngx_toolgate_takers_taker(ngx_toolgate_takers, 0, 0)
                  == NGX_TOOLGATE_TAKER_NONE;
}

ngx_uint_t
ngx_toolgate_handover_has_less(uint64_t load)
{
    return ngx_toolgate_takers != NULL
           && ngx_toolgate_takers_has_less(ngx_toolgate_takers, load);
}

ngx_uint_t
ngx_toolgate_handover_is_starting(void)
{
    return ngx_toolgate_takers != NULL
           && ngx_toolgate_takers_is_starting(ngx_toolgate_takers);
}

ngx_socket_t
ngx_toolgate_handover_out(void)
{
    return ngx_toolgate_takers != NULL ? ngx_toolgate_handover.out : -1;
}

ngx_socket_t
ngx_toolgate_handover_in(void)
{
    return ngx_toolgate_takers != NULL ? ngx_toolgate_handover.in : -1;
}
