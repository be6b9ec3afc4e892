/* The worker's list of backends. */
#include "nginx/upstream/ngx_tg_backend_impl.h"

/* Connections to a backend whose dialect carries one call per connection. */
#define NGX_TG_BACKEND_CONNS_WITHOUT_IDS 8
/* Connections to any other backend; the second is for when the first hangs. */
#define NGX_TG_BACKEND_CONNS_WITH_IDS 2
/* Time without use after which a backend is freed, in ms. */
#define NGX_TG_BACKEND_IDLE_TIMEOUT 60000

static ngx_queue_t ngx_tg_backends = { &ngx_tg_backends, &ngx_tg_backends };

static void
ngx_tg_backend_free(ngx_tg_backend_t *backend)
{
    ngx_uint_t i;

    for (i = 0; i < backend->nconns; i++) {
        ngx_tg_backend_conn_deinit(&backend->conns[i]);
    }

    ngx_tg_tls_session_free(backend->session);

    if (backend->idle.timer_set) {
        ngx_del_timer(&backend->idle);
    }

    ngx_queue_remove(&backend->queue);
    ngx_free(backend);
}

static void
ngx_tg_backend_on_idle_timer(ngx_event_t *ev)
{
    ngx_tg_backend_t *backend = ev->data;

    if (!backend->is_kept && !backend->is_used && backend->ncalls == 0) {
        ngx_tg_backend_free(backend);
        return;
    }

    backend->is_used = 0;
    ngx_add_timer(ev, NGX_TG_BACKEND_IDLE_TIMEOUT);
}

static ngx_tg_backend_t *
ngx_tg_backend_new(const ngx_tg_backend_protocol_t *protocol,
                   struct sockaddr *sockaddr, socklen_t socklen,
                   const ngx_str_t *name)
{
    ngx_tg_backend_t *backend;
    ngx_uint_t i, n;
    size_t size;

    n = protocol->dialect == TG_DIALECT_IPC ? NGX_TG_BACKEND_CONNS_WITHOUT_IDS
                                            : NGX_TG_BACKEND_CONNS_WITH_IDS;
    size = sizeof(*backend) + n * sizeof(backend->conns[0]);
    backend = ngx_calloc(size + name->len, ngx_cycle->log);

    if (backend == NULL) {
        return NULL;
    }

    backend->protocol = *protocol;
    backend->nconns = n;
    backend->socklen = socklen;
    ngx_memcpy(&backend->sockaddr, sockaddr, socklen);
    backend->name.len = name->len;
    backend->name.data = (u_char *) backend + size;
    ngx_memcpy(backend->name.data, name->data, name->len);
    ngx_queue_init(&backend->waiting);
    ngx_queue_insert_head(&ngx_tg_backends, &backend->queue);

    for (i = 0; i < n; i++) {
        ngx_tg_backend_conn_init(&backend->conns[i], backend);
    }

    backend->idle.handler = ngx_tg_backend_on_idle_timer;
    backend->idle.data = backend;
    backend->idle.log = ngx_cycle->log;
    backend->idle.cancelable = 1;
    ngx_add_timer(&backend->idle, NGX_TG_BACKEND_IDLE_TIMEOUT);

    return backend;
}

static ngx_uint_t
ngx_tg_backend_protocol_is_equal(const ngx_tg_backend_protocol_t *a,
                                 const ngx_tg_backend_protocol_t *b)
{
    return a->dialect == b->dialect && a->is_mcp == b->is_mcp
           && a->notify == b->notify && a->data == b->data && a->tls == b->tls
           && (a->tls == NULL
               || tg_str_eq(ngx_tg_str_from_ngx(&a->tls_name),
                            ngx_tg_str_from_ngx(&b->tls_name)));
}

ngx_tg_backend_t *
ngx_tg_backend_find_or_create(const ngx_tg_backend_protocol_t *protocol,
                              struct sockaddr *sockaddr, socklen_t socklen,
                              const ngx_str_t *name)
{
    ngx_tg_backend_t *backend;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_backends);
         q != ngx_queue_sentinel(&ngx_tg_backends); q = ngx_queue_next(q))
    {
        backend = ngx_queue_data(q, ngx_tg_backend_t, queue);

        if (ngx_tg_backend_protocol_is_equal(&backend->protocol, protocol)
            && ngx_cmp_sockaddr(&backend->sockaddr.sockaddr, backend->socklen,
                                sockaddr, socklen, 1)
                   == NGX_OK)
        {
            return backend;
        }
    }

    return ngx_tg_backend_new(protocol, sockaddr, socklen, name);
}

void
ngx_tg_backend_keep_open(ngx_tg_backend_t *backend)
{
    backend->is_kept = 1;
    ngx_tg_upstream_conn_connect(&backend->conns[0].conn);
}

ngx_uint_t
ngx_tg_backend_is_backing_off(ngx_tg_backend_t *backend)
{
    ngx_tg_backend_conn_t *backend_conn;

    backend_conn = ngx_tg_backend_select_conn(backend);

    return backend_conn != NULL
           && ngx_tg_upstream_conn_is_backing_off(&backend_conn->conn);
}

const char *
ngx_tg_backend_get_error(ngx_tg_backend_t *backend)
{
    return backend->error[0] != '\0' ? backend->error
                                     : "it closes its connections";
}

void
ngx_tg_backends_exit_process(void)
{
    while (!ngx_queue_empty(&ngx_tg_backends)) {
        ngx_tg_backend_free(ngx_queue_data(ngx_queue_head(&ngx_tg_backends),
                                           ngx_tg_backend_t, queue));
    }
}
