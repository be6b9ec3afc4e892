/*
 * Which backends there are.
 */
#include "nginx/line/ngx_toolgate_backend_impl.h"

/* Lines to one that takes a call a line. */
#define NGX_TOOLGATE_BACKEND_LINES 8
/* To others one, and another when that one no longer says anything. */
#define NGX_TOOLGATE_BACKEND_SPARE 2
/* As NGINX keeps its own connections to upstreams. */
#define NGX_TOOLGATE_BACKEND_IDLE 60000

static ngx_queue_t ngx_toolgate_backends = { &ngx_toolgate_backends,
                                             &ngx_toolgate_backends };

static void
ngx_toolgate_backend_free(ngx_toolgate_backend_t *backend)
{
    ngx_uint_t i;

    for (i = 0; i < backend->nchannels; i++) {
        ngx_toolgate_channel_deinit(&backend->channels[i]);
    }

    ngx_toolgate_tls_free(backend->session);

    if (backend->idle.timer_set) {
        ngx_del_timer(&backend->idle);
    }

    ngx_queue_remove(&backend->queue);
    ngx_free(backend);
}

static void
ngx_toolgate_backend_look(ngx_event_t *ev)
{
    ngx_toolgate_backend_t *backend = ev->data;

    if (!backend->is_kept && !backend->is_used && backend->nqueries == 0) {
        ngx_toolgate_backend_free(backend);
        return;
    }

    backend->is_used = 0;
    ngx_add_timer(ev, NGX_TOOLGATE_BACKEND_IDLE);
}

static ngx_toolgate_backend_t *
ngx_toolgate_backend_new(const ngx_toolgate_speech_t *speech,
                         struct sockaddr *sockaddr, socklen_t socklen,
                         const ngx_str_t *name)
{
    ngx_toolgate_backend_t *backend;
    ngx_uint_t i, n;
    size_t size;

    n = speech->dialect == TG_DIALECT_IPC ? NGX_TOOLGATE_BACKEND_LINES
                                          : NGX_TOOLGATE_BACKEND_SPARE;
    size = sizeof(*backend) + n * sizeof(backend->channels[0]);
    backend = ngx_calloc(size + name->len, ngx_cycle->log);

    if (backend == NULL) {
        return NULL;
    }

    backend->speech = *speech;
    backend->nchannels = n;
    backend->socklen = socklen;
    ngx_memcpy(&backend->sockaddr, sockaddr, socklen);
    backend->name.len = name->len;
    backend->name.data = (u_char *) backend + size;
    ngx_memcpy(backend->name.data, name->data, name->len);
    ngx_queue_init(&backend->waiting);
    ngx_queue_insert_head(&ngx_toolgate_backends, &backend->queue);

    for (i = 0; i < n; i++) {
        ngx_toolgate_channel_init(&backend->channels[i], backend);
    }

    backend->idle.handler = ngx_toolgate_backend_look;
    backend->idle.data = backend;
    backend->idle.log = ngx_cycle->log;
    backend->idle.cancelable = 1;
    ngx_add_timer(&backend->idle, NGX_TOOLGATE_BACKEND_IDLE);

    return backend;
}

static ngx_uint_t
ngx_toolgate_speech_eq(const ngx_toolgate_speech_t *a,
                       const ngx_toolgate_speech_t *b)
{
    return a->dialect == b->dialect && a->is_mcp == b->is_mcp
           && a->notify == b->notify && a->data == b->data && a->tls == b->tls
           && (a->tls == NULL
               || tg_str_eq(ngx_toolgate_str(&a->tls_name),
                            ngx_toolgate_str(&b->tls_name)));
}

ngx_toolgate_backend_t *
ngx_toolgate_backend_get(const ngx_toolgate_speech_t *speech,
                         struct sockaddr *sockaddr, socklen_t socklen,
                         const ngx_str_t *name)
{
    ngx_toolgate_backend_t *backend;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_toolgate_backends);
         q != ngx_queue_sentinel(&ngx_toolgate_backends); q = ngx_queue_next(q))
    {
        backend = ngx_queue_data(q, ngx_toolgate_backend_t, queue);

        if (ngx_toolgate_speech_eq(&backend->speech, speech)
            && ngx_cmp_sockaddr(&backend->sockaddr.sockaddr, backend->socklen,
                                sockaddr, socklen, 1)
                   == NGX_OK)
        {
            return backend;
        }
    }

    return ngx_toolgate_backend_new(speech, sockaddr, socklen, name);
}

void
ngx_toolgate_backend_keep(ngx_toolgate_backend_t *backend)
{
    backend->is_kept = 1;
    ngx_toolgate_line_begin(&backend->channels[0].line);
}

ngx_uint_t
ngx_toolgate_backend_rests(ngx_toolgate_backend_t *backend)
{
    ngx_toolgate_channel_t *channel;

    channel = ngx_toolgate_backend_choose(backend);

    return channel != NULL && ngx_toolgate_line_rests(&channel->line);
}

const char *
ngx_toolgate_backend_why(ngx_toolgate_backend_t *backend)
{
    return backend->why[0] != '\0' ? backend->why : "it ends its connections";
}

void
ngx_toolgate_backend_exit(void)
{
    while (!ngx_queue_empty(&ngx_toolgate_backends)) {
        ngx_toolgate_backend_free(
            ngx_queue_data(ngx_queue_head(&ngx_toolgate_backends),
                           ngx_toolgate_backend_t, queue));
    }
}
