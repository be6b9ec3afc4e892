/* Wakeup of the worker by an eventfd, which is written once until handled. */
#include "nginx/native/ngx_tg_worker_wakeup.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/eventfd.h>

static pthread_mutex_t ngx_tg_worker_wakeup_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Descriptor for threads, or -1. The mutex guards it and is_pending. */
static int ngx_tg_worker_wakeup_fd = -1;
static ngx_uint_t ngx_tg_worker_wakeup_is_pending;

static ngx_connection_t *ngx_tg_worker_wakeup_connection;
static void (*ngx_tg_worker_wakeup_handler)(void);

void
ngx_tg_worker_wakeup_send(void)
{
    uint64_t one;

    one = 1;
    (void) pthread_mutex_lock(&ngx_tg_worker_wakeup_mutex);

    if (!ngx_tg_worker_wakeup_is_pending && ngx_tg_worker_wakeup_fd != -1) {
        ngx_tg_worker_wakeup_is_pending = write(ngx_tg_worker_wakeup_fd, &one,
                                                sizeof(one))
                                          == (ssize_t) sizeof(one);
    }

    (void) pthread_mutex_unlock(&ngx_tg_worker_wakeup_mutex);
}

static void
ngx_tg_worker_wakeup_on_readable(ngx_event_t *rev)
{
    ngx_connection_t *c;
    uint64_t n;

    c = rev->data;

    if (read(c->fd, &n, sizeof(n)) == -1 && ngx_errno != NGX_EAGAIN) {
        ngx_log_error(NGX_LOG_ALERT, rev->log, ngx_errno,
                      "read() of an eventfd failed");
    }

    (void) pthread_mutex_lock(&ngx_tg_worker_wakeup_mutex);
    ngx_tg_worker_wakeup_is_pending = 0;
    (void) pthread_mutex_unlock(&ngx_tg_worker_wakeup_mutex);

    ngx_tg_worker_wakeup_handler();
    rev->ready = 0;

    if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, rev->log, 0,
                      "threads of libraries can no longer wake this worker");
    }
}

/* Keeps this module loaded: threads may call it after the cycle has ended. */
static ngx_int_t
ngx_tg_worker_wakeup_pin_module(void)
{
    Dl_info info;

    return dladdr(&ngx_tg_worker_wakeup_mutex, &info) != 0
                   && dlopen(info.dli_fname,
                             RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)
                          != NULL
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_tg_worker_wakeup_init(ngx_cycle_t *cycle, void (*on_wakeup)(void))
{
    ngx_connection_t *c;
    int fd;

    if (ngx_tg_worker_wakeup_connection != NULL) {
        return NGX_OK;
    }

    if (ngx_tg_worker_wakeup_pin_module() != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0, "dlopen() failed: %s",
                      dlerror());
        return NGX_ERROR;
    }

    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno, "eventfd() failed");
        return NGX_ERROR;
    }

    c = ngx_get_connection(fd, cycle->log);

    if (c == NULL) {
        (void) close(fd);
        return NGX_ERROR;
    }

    c->log = cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_tg_worker_wakeup_on_readable;
    /* not reported as a leaked socket at exit */
    c->read->channel = 1;

    if (ngx_handle_read_event(c->read, 0) != NGX_OK) {
        ngx_close_connection(c);
        return NGX_ERROR;
    }

    ngx_tg_worker_wakeup_connection = c;
    ngx_tg_worker_wakeup_handler = on_wakeup;
    (void) pthread_mutex_lock(&ngx_tg_worker_wakeup_mutex);
    ngx_tg_worker_wakeup_fd = fd;
    (void) pthread_mutex_unlock(&ngx_tg_worker_wakeup_mutex);

    return NGX_OK;
}

void
ngx_tg_worker_wakeup_exit(void)
{
    (void) pthread_mutex_lock(&ngx_tg_worker_wakeup_mutex);
    ngx_tg_worker_wakeup_fd = -1;
    (void) pthread_mutex_unlock(&ngx_tg_worker_wakeup_mutex);

    if (ngx_tg_worker_wakeup_connection != NULL) {
        ngx_close_connection(ngx_tg_worker_wakeup_connection);
        ngx_tg_worker_wakeup_connection = NULL;
    }
}
