#include "nginx_side.h"

#include <stdarg.h>
#include <sys/socket.h>

/* The first file descriptor of connections. */
#define SIDE_FD 100000

/* NGINX's global variables. */
volatile ngx_cycle_t *ngx_cycle;
volatile ngx_msec_t ngx_current_msec;
ngx_queue_t ngx_posted_events;
ngx_queue_t ngx_posted_next_events;
ngx_rbtree_t ngx_event_timer_rbtree;
ngx_event_actions_t ngx_event_actions;
ngx_os_io_t ngx_io;
ngx_uint_t ngx_exiting;
static ngx_atomic_t side_counter;
ngx_atomic_t *ngx_connection_counter = &side_counter;

side_world_t side_world;
static ngx_cycle_t side_cycle;
static ngx_log_t side_log;

/* Set timers, unsorted, as there are few. */
static ngx_rbtree_node_t *side_timers[4 * SIDE_MAX];

/* --- timers and events --- */

void
ngx_rbtree_insert(ngx_rbtree_t *tree, ngx_rbtree_node_t *node)
{
    FUZZ(side_world.ntimers < 4 * SIDE_MAX);
    side_timers[side_world.ntimers++] = node;
}

void
ngx_rbtree_delete(ngx_rbtree_t *tree, ngx_rbtree_node_t *node)
{
    unsigned i;

    for (i = 0; i < side_world.ntimers && side_timers[i] != node; i++) {
        /* void */
    }

    FUZZ(i < side_world.ntimers);
    side_timers[i] = side_timers[--side_world.ntimers];
}

void
side_run(void)
{
    ngx_event_t *ev;
    ngx_queue_t *q;

    while (!ngx_queue_empty(&ngx_posted_events)
           || !ngx_queue_empty(&ngx_posted_next_events))
    {
        q = ngx_queue_empty(&ngx_posted_events) ? &ngx_posted_next_events
                                                : &ngx_posted_events;
        q = ngx_queue_head(q);
        ev = ngx_queue_data(q, ngx_event_t, queue);
        ngx_delete_posted_event(ev);
        ev->handler(ev);
    }
}

int
side_tick(void)
{
    ngx_event_t *ev;
    unsigned i, next;

    if (side_world.ntimers == 0) {
        return 0;
    }

    for (i = 1, next = 0; i < side_world.ntimers; i++) {
        if (side_timers[i]->key < side_timers[next]->key) {
            next = i;
        }
    }

    ev = ngx_rbtree_data(side_timers[next], ngx_event_t, timer);

    if (ev->timer.key > ngx_current_msec) {
        ngx_current_msec = ev->timer.key;
    }

    ngx_rbtree_delete(&ngx_event_timer_rbtree, &ev->timer);
    ev->timer_set = 0;
    ev->timedout = 1;
    ev->handler(ev);
    side_run();

    return 1;
}

ngx_int_t
ngx_handle_read_event(ngx_event_t *rev, ngx_uint_t flags)
{
    return NGX_OK;
}

ngx_int_t
ngx_handle_write_event(ngx_event_t *wev, size_t lowat)
{
    return NGX_OK;
}

static ngx_int_t
side_add_conn(ngx_connection_t *c)
{
    return NGX_OK;
}

/* --- connections --- */

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_close(int fd);
int __real_close(int fd);

int
__wrap_socket(int domain, int type, int protocol)
{
    side_t *side;

    if (side_world.nsides == SIDE_MAX) {
        ngx_set_errno(NGX_EMFILE);
        return -1;
    }

    side = calloc(1, sizeof(*side));
    FUZZ(side != NULL);
    tg_buf_init(&side->in, tg_alloc_libc());
    tg_buf_init(&side->sent, tg_alloc_libc());
    side_world.sides[side_world.nsides] = side;

    return SIDE_FD + (int) side_world.nsides++;
}

int
__wrap_connect(int fd, const struct sockaddr *address, socklen_t len)
{
    static const int errors[] = { 0, EINPROGRESS, ECONNREFUSED };

    side_world.sides[fd - SIDE_FD]->is_pending = side_world.how == SIDE_PENDS;
    ngx_set_errno(errors[side_world.how]);

    return side_world.how == SIDE_CONNECTS ? 0 : -1;
}

int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    *(int *) value = side_world.sides[fd - SIDE_FD]->err;

    return 0;
}

int
__wrap_close(int fd)
{
    side_t **side;

    if (fd < SIDE_FD) {
        return __real_close(fd);
    }

    side = &side_world.sides[fd - SIDE_FD];
    FUZZ(*side != NULL);
    tg_buf_deinit(&(*side)->in);
    tg_buf_deinit(&(*side)->sent);
    free(*side);
    *side = NULL;

    return 0;
}

ngx_connection_t *
ngx_get_connection(ngx_socket_t s, ngx_log_t *log)
{
    ngx_connection_t *c;
    side_t *side;

    if (side_world.fail_at != 0 && ++side_world.nallocs == side_world.fail_at) {
        return NULL;
    }

    side = side_world.sides[s - SIDE_FD];
    c = &side->connection;
    c->fd = s;
    c->log = log;
    c->read = &side->read;
    c->write = &side->write;
    side->read.data = c;
    side->write.data = c;
    side->write.write = 1;

    return c;
}

void
ngx_close_connection(ngx_connection_t *c)
{
    ngx_event_t *events[] = { c->read, c->write };
    unsigned i;

    for (i = 0; i < 2; i++) {
        if (events[i]->timer_set) {
            ngx_del_timer(events[i]);
        }

        if (events[i]->posted) {
            ngx_delete_posted_event(events[i]);
        }
    }

    (void) __wrap_close(c->fd);
}

static ssize_t
side_recv(ngx_connection_t *c, u_char *buf, size_t size)
{
    side_t *side;
    size_t n;

    side = side_world.sides[c->fd - SIDE_FD];

    if (side->in.len == 0) {
        c->read->ready = side->is_ended;
        return side->is_ended ? 0 : NGX_AGAIN;
    }

    n = side->in.len < size ? side->in.len : size;
    n = fuzz_piece(&side_world.seed, n);
    ngx_memcpy(buf, side->in.data, n);
    tg_buf_consume(&side->in, n);

    return (ssize_t) n;
}

static ssize_t
side_write(ngx_connection_t *c, u_char *buf, size_t size)
{
    side_t *side;
    size_t n;

    side = side_world.sides[c->fd - SIDE_FD];

    if (side->is_full) {
        c->write->ready = 0;
        return NGX_AGAIN;
    }

    n = fuzz_piece(&side_world.seed, size);
    tg_buf_append(&side->sent, (char *) buf, n);

    return (ssize_t) n;
}

side_t *
side_newest(unsigned n)
{
    unsigned i;

    for (i = side_world.nsides; i != 0; i--) {
        if (side_world.sides[i - 1] != NULL && n-- == 0) {
            return side_world.sides[i - 1];
        }
    }

    return NULL;
}

/* The connection may be closed when this returns. */
static void
side_is_ready(side_t *side, ngx_event_t *ev)
{
    if (side->is_pending) {
        return;
    }

    ev->ready = 1;
    ev->handler(ev);
    side_run();
}

void
side_send(side_t *side, tg_str_t bytes)
{
    tg_buf_append_str(&side->in, bytes);
    side_is_ready(side, &side->read);
}

void
side_end(side_t *side)
{
    side->is_ended = 1;
    side_is_ready(side, &side->read);
}

void
side_take(side_t *side)
{
    side->is_full = 0;
    side_is_ready(side, &side->write);
}

void
side_connected(side_t *side, int err)
{
    if (side->is_pending) {
        side->is_pending = 0;
        side->err = err;
        side_is_ready(side, &side->write);
    }
}

/* --- memory, texts, the rest --- */

void *
ngx_calloc(size_t size, ngx_log_t *log)
{
    return side_world.fail_at != 0 && ++side_world.nallocs == side_world.fail_at
               ? NULL
               : calloc(1, size);
}

/* A list of blocks; the first one is the pool. */
ngx_pool_t *
side_pool(void)
{
    ngx_pool_t *pool;

    pool = calloc(1, sizeof(*pool));
    FUZZ(pool != NULL);

    return pool;
}

void
side_pool_free(ngx_pool_t *pool)
{
    ngx_pool_large_t *large, *next;

    for (large = pool->large; large != NULL; large = next) {
        next = large->next;
        free(large->alloc);
        free(large);
    }

    free(pool);
}

void *
ngx_pcalloc(ngx_pool_t *pool, size_t size)
{
    ngx_pool_large_t *large;
    void *block;

    block = ngx_calloc(size, NULL);

    if (block == NULL) {
        return NULL;
    }

    large = calloc(1, sizeof(*large));
    FUZZ(large != NULL);
    large->alloc = block;
    large->next = pool->large;
    pool->large = large;

    return block;
}

void *
ngx_pnalloc(ngx_pool_t *pool, size_t size)
{
    return ngx_pcalloc(pool, size);
}

void
ngx_destroy_pool(ngx_pool_t *pool)
{
    side_pool_free(pool);
}

ngx_int_t
ngx_cmp_sockaddr(struct sockaddr *a, socklen_t alen, struct sockaddr *b,
                 socklen_t blen, ngx_uint_t cmp_port)
{
    return alen == blen && memcmp(a, b, alen) == 0 ? NGX_OK : NGX_DECLINED;
}

u_char *
ngx_cpystrn(u_char *dst, u_char *src, size_t n)
{
    if (n != 0) {
        (void) snprintf((char *) dst, n, "%s", (char *) src);
        dst += strlen((char *) dst);
    }

    return dst;
}

u_char *
ngx_strerror(ngx_err_t err, u_char *text, size_t size)
{
    return ngx_cpystrn(text, (u_char *) "an error", size);
}

/* Supports only the formats that the linked files use. */
u_char *ngx_cdecl
ngx_snprintf(u_char *buf, size_t max, const char *format, ...)
{
    const ngx_str_t *str;
    HELP_BUFFER(text);
    va_list args;
    size_t len;

    va_start(args, format);

    for (/* void */; *format != '\0'; format++) {
        if (*format != '%') {
            tg_buf_append_char(&text, *format);
            continue;
        }

        switch (*++format) {
        case '*':
            FUZZ(*++format == 's');
            len = va_arg(args, size_t);
            tg_buf_append(&text, va_arg(args, const char *), len);
            break;
        case 's':
            tg_buf_append_cstr(&text, va_arg(args, const char *));
            break;
        case 'V':
            str = va_arg(args, const ngx_str_t *);
            tg_buf_append(&text, (const char *) str->data, str->len);
            break;
        case 'Z':
            tg_buf_append_char(&text, '\0');
            break;
        default:
            FUZZ(!"a format");
        }
    }

    va_end(args);
    len = text.len < max ? text.len : max;
    ngx_memcpy(buf, text.data, len);

    return buf + len;
}

#if (NGX_HAVE_VARIADIC_MACROS)
void
ngx_log_error_core(ngx_uint_t level, ngx_log_t *log, ngx_err_t err,
                   const char *format, ...)
{
}
#endif

#if (NGX_STREAM_SSL)
ngx_int_t
ngx_ssl_shutdown(ngx_connection_t *c)
{
    return NGX_OK;
}
#endif

/* --- start and end --- */

void
side_init(uint32_t seed)
{
    memset(&side_world, 0, sizeof(side_world));
    side_world.seed = seed;
    side_cycle.log = &side_log;
    ngx_cycle = &side_cycle;
    ngx_current_msec = 1000000;
    ngx_exiting = 0;
    ngx_queue_init(&ngx_posted_events);
    ngx_queue_init(&ngx_posted_next_events);
    ngx_event_actions.add_conn = side_add_conn;
    ngx_io.recv = side_recv;
    ngx_io.send = side_write;
}

void
side_deinit(void)
{
    FUZZ(side_newest(0) == NULL);
    FUZZ(side_world.ntimers == 0);
    FUZZ(ngx_queue_empty(&ngx_posted_events));
}
