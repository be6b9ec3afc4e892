/* Which sessions subscribed to which URI, and the delivery of updates. */
#include "nginx/subscription/ngx_tg_subscription.h"

/* Time until a client that does not read gets a delayed update, in ms. */
#define NGX_TG_SUBSCRIPTION_RETRY_DELAY 500
/* Cost of a step in a time slice. */
#define NGX_TG_SUBSCRIPTION_STEPS 256

static void ngx_tg_subscriptions_run(tg_sched_source_t *source);
static void ngx_tg_subscriptions_on_retry(ngx_event_t *ev);

static ngx_rbtree_node_t ngx_tg_watched_sentinel = {
    .parent = &ngx_tg_watched_sentinel,
};
static ngx_rbtree_t ngx_tg_watched_uris = {
    .root = &ngx_tg_watched_sentinel,
    .sentinel = &ngx_tg_watched_sentinel,
    .insert = ngx_str_rbtree_insert_value,
};
static ngx_queue_t ngx_tg_watched_all = { &ngx_tg_watched_all,
                                          &ngx_tg_watched_all };
static ngx_queue_t ngx_tg_watched_pending = { &ngx_tg_watched_pending,
                                              &ngx_tg_watched_pending };
static tg_sched_source_t ngx_tg_subscriptions_source = {
    .run = ngx_tg_subscriptions_run,
};
static ngx_event_t ngx_tg_subscriptions_retry = {
    .handler = ngx_tg_subscriptions_on_retry,
    .data = &ngx_tg_dummy_connection,
    .cancelable = 1,
};
static size_t ngx_tg_subscriptions_memory;

/* The next session to be sent the update of the first pending URI. */
static ngx_queue_t *ngx_tg_subscriptions_next;

static void
ngx_tg_subscriptions_add_memory(ssize_t bytes)
{
    ngx_tg_subscriptions_memory += (size_t) bytes;
    tg_sched_set_memory(&ngx_tg_sched, &ngx_tg_subscriptions_source,
                        ngx_tg_subscriptions_memory);
}

/* Queues the delivery for a URI, unless it is queued or running. */
static void
ngx_tg_watched_uri_enqueue(ngx_tg_watched_uri_t *watched)
{
    if (ngx_queue_empty(&watched->pending)) {
        ngx_queue_insert_tail(&ngx_tg_watched_pending, &watched->pending);
        tg_sched_enqueue(&ngx_tg_sched, &ngx_tg_subscriptions_source);
    }
}

/* Queues the delivery of an update; one that is running is repeated. */
static void
ngx_tg_watched_uri_set_updated(ngx_tg_watched_uri_t *watched)
{
    watched->must_repeat = !ngx_queue_empty(&watched->pending);
    ngx_tg_watched_uri_enqueue(watched);
}

static void
ngx_tg_watched_uri_clear_pending(ngx_tg_watched_uri_t *watched)
{
    if (ngx_queue_head(&ngx_tg_watched_pending) == &watched->pending) {
        ngx_tg_subscriptions_next = NULL;
    }

    ngx_queue_remove(&watched->pending);
    ngx_queue_init(&watched->pending);
}

/* --- URIs --- */

typedef struct {
    u_char bytes[sizeof(ngx_uint_t) + TG_URI_MAX];
    ngx_str_t text;
    uint32_t hash;
} ngx_tg_watched_key_t;

/* Makes the key of a URI, which has at most TG_URI_MAX bytes. */
static void
ngx_tg_watched_key_init(ngx_tg_watched_key_t *key, const ngx_tg_srv_conf_t *scf,
                        tg_str_t uri)
{
    uri.len = ngx_min(uri.len, TG_URI_MAX);
    ngx_memcpy(key->bytes, &scf->number, sizeof(ngx_uint_t));
    ngx_memcpy(key->bytes + sizeof(ngx_uint_t), uri.data, uri.len);
    key->text.data = key->bytes;
    key->text.len = sizeof(ngx_uint_t) + uri.len;
    key->hash = ngx_crc32_long(key->text.data, key->text.len);
}

static ngx_tg_watched_uri_t *
ngx_tg_watched_uri_find(ngx_tg_watched_key_t *key)
{
    return (ngx_tg_watched_uri_t *) (void *) ngx_str_rbtree_lookup(
        &ngx_tg_watched_uris, &key->text, key->hash);
}

/* Creates a URI without subscribers. Returns NULL if there is no memory. */
static ngx_tg_watched_uri_t *
ngx_tg_watched_uri_create(ngx_tg_srv_conf_t *scf,
                          const ngx_tg_watched_key_t *key)
{
    ngx_tg_watched_uri_t *watched;
    u_char *copy;

    watched = ngx_calloc(sizeof(ngx_tg_watched_uri_t) + key->text.len,
                         ngx_cycle->log);

    if (watched == NULL) {
        return NULL;
    }

    copy = (u_char *) (watched + 1);
    ngx_memcpy(copy, key->text.data, key->text.len);
    watched->node.str.data = copy;
    watched->node.str.len = key->text.len;
    watched->node.node.key = key->hash;
    watched->uri = tg_str((char *) copy + sizeof(ngx_uint_t),
                          key->text.len - sizeof(ngx_uint_t));
    watched->scf = scf;
    tg_buf_init(&watched->params, tg_alloc_libc());
    ngx_queue_init(&watched->subscribers);
    ngx_queue_init(&watched->pending);
    ngx_rbtree_insert(&ngx_tg_watched_uris, &watched->node.node);
    ngx_queue_insert_tail(&ngx_tg_watched_all, &watched->all);
    ngx_tg_subscriptions_add_memory(
        (ssize_t) (sizeof(ngx_tg_watched_uri_t) + key->text.len));

    return watched;
}

static void
ngx_tg_watched_uri_free(ngx_tg_watched_uri_t *watched)
{
    ngx_tg_watch_end(watched);
    ngx_tg_watched_uri_clear_pending(watched);
    ngx_queue_remove(&watched->all);
    ngx_rbtree_delete(&ngx_tg_watched_uris, &watched->node.node);
    ngx_tg_subscriptions_add_memory(
        -(ssize_t) (sizeof(ngx_tg_watched_uri_t) + watched->node.str.len));
    tg_buf_deinit(&watched->params);
    ngx_free(watched);
}

/* --- sessions --- */

/* Returns the time by the clock that the kernel uses for files, in ns. */
static uint64_t
ngx_tg_subscription_get_time(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) {
        return 0;
    }

    return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static void
ngx_tg_subscriber_add(ngx_tg_session_base_t *base, tg_str_t uri)
{
    ngx_tg_watched_key_t key;
    ngx_tg_watched_uri_t *watched;
    ngx_tg_subscriber_t *subscriber;

    ngx_tg_watched_key_init(&key, base->conf, uri);
    watched = ngx_tg_watched_uri_find(&key);

    if (watched == NULL) {
        watched = ngx_tg_watched_uri_create(base->conf, &key);
    }

    subscriber = watched != NULL
                     ? ngx_calloc(sizeof(ngx_tg_subscriber_t), ngx_cycle->log)
                     : NULL;

    /* Frees the URI if nobody subscribed. */
    if (watched != NULL) {
        ngx_tg_watched_uri_enqueue(watched);
    }

    if (subscriber == NULL) {
        base->is_broken = 1;
        return;
    }

    subscriber->watched = watched;
    subscriber->base = base;
    subscriber->nupdates = watched->nupdates;
    subscriber->is_restored = base->is_restoring;
    subscriber->since = ngx_tg_subscription_get_time();
    subscriber->next = base->subscribers;
    base->subscribers = subscriber;
    ngx_queue_insert_tail(&watched->subscribers, &subscriber->queue);
    ngx_tg_subscriptions_add_memory(sizeof(ngx_tg_subscriber_t));
    /* A change from here on must be reported, whenever it is delivered. */
    tg_peer_set_resource_version(&base->peer, uri, watched->version);
}

static void
ngx_tg_subscriber_remove(ngx_tg_session_base_t *base, tg_str_t uri)
{
    ngx_tg_subscriber_t **at, *subscriber;

    at = &base->subscribers;

    while (*at != NULL && !tg_str_eq((*at)->watched->uri, uri)) {
        at = &(*at)->next;
    }

    if (*at == NULL) {
        return;
    }

    subscriber = *at;
    *at = subscriber->next;

    if (ngx_tg_subscriptions_next == &subscriber->queue) {
        ngx_tg_subscriptions_next = ngx_queue_next(&subscriber->queue);
    }

    ngx_queue_remove(&subscriber->queue);
    ngx_tg_watched_uri_enqueue(subscriber->watched);
    ngx_tg_subscriptions_add_memory(-(ssize_t) sizeof(ngx_tg_subscriber_t));
    ngx_free(subscriber);
}

void
ngx_tg_subscription_on_change(void *host, tg_str_t uri, int is_on)
{
    if (is_on) {
        ngx_tg_subscriber_add(host, uri);
    } else {
        ngx_tg_subscriber_remove(host, uri);
    }
}

int
ngx_tg_subscription_can_report(void *host, const tg_catalog_entry_t *entry,
                               tg_str_t uri)
{
    const ngx_tg_tool_t *tool;

    tool = entry->host;

    return (int) (tool->handler->watch != NULL
                      ? tool->handler->can_watch(entry, uri)
                      : tool->watch != NGX_TG_WATCH_OFF);
}

/* --- updates --- */

void
ngx_tg_resource_notify_updated(const ngx_tg_srv_conf_t *scf, tg_str_t uri)
{
    ngx_tg_watched_key_t key;
    ngx_tg_watched_uri_t *watched;

    ngx_tg_watched_key_init(&key, scf, uri);
    watched = ngx_tg_watched_uri_find(&key);

    if (watched != NULL) {
        watched->nupdates++;
        ngx_tg_watched_uri_set_updated(watched);
    }
}

void
ngx_tg_watched_uri_set_version(ngx_tg_watched_uri_t *watched, uint64_t version,
                               uint64_t changed)
{
    if (watched->version != version) {
        watched->version = version;
        watched->changed = changed;
        ngx_tg_watched_uri_set_updated(watched);
    }
}

void
ngx_tg_subscriptions_update(const ngx_tg_srv_conf_t *scf)
{
    ngx_tg_watched_uri_t *watched;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_watched_all);
         q != ngx_queue_sentinel(&ngx_tg_watched_all); q = ngx_queue_next(q))
    {
        watched = ngx_queue_data(q, ngx_tg_watched_uri_t, all);

        if (watched->scf == scf && watched->mode == NGX_TG_WATCH_UNSET
            && watched->handler == NULL)
        {
            watched->has_begun = 0;
            ngx_tg_watched_uri_set_updated(watched);
        }
    }
}

/* Checks whether a session must be sent an update, and notes that it is. */
static ngx_uint_t
ngx_tg_subscriber_take_update(ngx_tg_subscriber_t *subscriber)
{
    const ngx_tg_watched_uri_t *watched;
    uint64_t known;
    tg_peer_t *peer;
    ngx_uint_t is_updated;

    peer = &subscriber->base->peer;
    watched = subscriber->watched;
    is_updated = subscriber->nupdates != watched->nupdates;
    subscriber->nupdates = watched->nupdates;

    if (watched->handler != NULL) {
        is_updated |= subscriber->is_restored;
        subscriber->is_restored = 0;
    }

    if (watched->version != 0) {
        known = tg_peer_get_resource_version(peer, watched->uri);
        is_updated |= known != 0 ? known != watched->version
                                 : subscriber->is_restored
                                       || watched->changed >= subscriber->since;
        tg_peer_set_resource_version(peer, watched->uri, watched->version);
    }

    return is_updated;
}

static void
ngx_tg_subscriber_send(ngx_tg_subscriber_t *subscriber)
{
    ngx_tg_session_base_t *base;

    base = subscriber->base;

    if (base->peer.out.len > TG_PEER_OUTPUT_MAX) {
        subscriber->watched->is_delayed = 1;

    } else if (ngx_tg_subscriber_take_update(subscriber)) {
        tg_peer_notify_resource_updated(&base->peer, subscriber->watched->uri);
        ngx_tg_session_base_wake(base);
    }
}

/* Ends the delivery of the first pending URI. */
static void
ngx_tg_watched_uri_end_delivery(ngx_tg_watched_uri_t *watched)
{
    ngx_tg_watched_uri_clear_pending(watched);

    if (ngx_queue_empty(&watched->subscribers)) {
        ngx_tg_watched_uri_free(watched);
        return;
    }

    if (watched->must_repeat) {
        watched->must_repeat = 0;
        ngx_tg_watched_uri_enqueue(watched);
    }

    if (watched->is_delayed && !ngx_tg_subscriptions_retry.timer_set) {
        ngx_tg_subscriptions_retry.log = ngx_cycle->log;
        ngx_add_timer(&ngx_tg_subscriptions_retry,
                      NGX_TG_SUBSCRIPTION_RETRY_DELAY);
    }
}

/* Delivers to one session, or begins or ends to watch a URI. */
static void
ngx_tg_watched_uri_deliver(ngx_tg_watched_uri_t *watched)
{
    ngx_queue_t *q;

    if (ngx_tg_subscriptions_next == NULL) {
        ngx_tg_subscriptions_next = ngx_queue_head(&watched->subscribers);
        watched->is_delayed = 0;

        if (!watched->has_begun && !ngx_queue_empty(&watched->subscribers)) {
            watched->has_begun = 1;
            ngx_tg_watch_begin(watched);
        }

        return;
    }

    q = ngx_tg_subscriptions_next;

    if (q == ngx_queue_sentinel(&watched->subscribers)) {
        ngx_tg_watched_uri_end_delivery(watched);
        return;
    }

    ngx_tg_subscriptions_next = ngx_queue_next(q);
    ngx_tg_subscriber_send(ngx_queue_data(q, ngx_tg_subscriber_t, queue));
}

static void
ngx_tg_subscriptions_run(tg_sched_source_t *source)
{
    while (!ngx_queue_empty(&ngx_tg_watched_pending)) {
        ngx_tg_watched_uri_deliver(
            ngx_queue_data(ngx_queue_head(&ngx_tg_watched_pending),
                           ngx_tg_watched_uri_t, pending));

        if (tg_sched_is_slice_over(&ngx_tg_sched, source,
                                   NGX_TG_SUBSCRIPTION_STEPS)) {
            return;
        }
    }
}

static void
ngx_tg_subscriptions_on_retry(ngx_event_t *ev)
{
    ngx_tg_watched_uri_t *watched;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_watched_all);
         q != ngx_queue_sentinel(&ngx_tg_watched_all); q = ngx_queue_next(q))
    {
        watched = ngx_queue_data(q, ngx_tg_watched_uri_t, all);

        if (watched->is_delayed) {
            ngx_tg_watched_uri_set_updated(watched);
        }
    }
}
