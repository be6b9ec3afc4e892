/* All sessions of the worker, and the catalogs of these. */
#include "nginx/session/ngx_tg_session_impl.h"
#include "nginx/call/ngx_tg_call_checks.h"
#include "nginx/subscription/ngx_tg_subscription.h"

static ngx_queue_t ngx_tg_sessions = { &ngx_tg_sessions, &ngx_tg_sessions };

/* Next session to receive a new catalog; NULL: no update is running. */
static ngx_queue_t *ngx_tg_catalog_update_next;

void
ngx_tg_session_list_add(ngx_tg_session_t *session)
{
    ngx_queue_insert_tail(&ngx_tg_sessions, &session->priv->all);
}

void
ngx_tg_session_list_remove(ngx_tg_session_t *session)
{
    if (ngx_tg_catalog_update_next == &session->priv->all) {
        ngx_tg_catalog_update_next = ngx_queue_next(&session->priv->all);
    }

    ngx_queue_remove(&session->priv->all);
}

ngx_uint_t
ngx_tg_has_sessions(void)
{
    return !ngx_queue_empty(&ngx_tg_sessions);
}

void
ngx_tg_sessions_stop(void)
{
    ngx_tg_session_t *session;
    tg_call_t *call;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_sessions);
         q != ngx_queue_sentinel(&ngx_tg_sessions); q = ngx_queue_next(q))
    {
        session = ngx_tg_session_of(q, all);

        for (call = session->base.peer.oldest; call != NULL; call = call->prev)
        {
            ngx_tg_call_log_killed(call->host);
        }

        if (!session->priv->is_embedded) {
            ngx_tg_session_send_shutdown_notice(session);
        }
    }
}

/* --- catalogs --- */

/* Returns what the client sees of a catalog. */
static tg_catalog_view_t
ngx_tg_session_base_get_view(ngx_tg_session_base_t *base,
                             const tg_catalog_t *catalog)
{
    return tg_catalog_get_view(catalog, ngx_tg_session_base_can_see, base);
}

static uint64_t
ngx_tg_catalog_view_hash(const tg_catalog_view_t *view)
{
    return tg_hash_fast(TG_HASH_INIT, tg_str((const char *) view->kinds,
                                             sizeof(view->kinds)));
}

static void
ngx_tg_session_base_set_catalog(ngx_tg_session_base_t *base,
                                tg_catalog_t *catalog)
{
    tg_catalog_view_t before, after;
    ngx_tg_call_record_t *last;
    unsigned changes;
    uint64_t hash;

    after = ngx_tg_session_base_get_view(base, catalog);
    hash = ngx_tg_catalog_view_hash(&after);
    changes = 0;

    if (base->view_catalog != base->peer.catalog || base->view_hash != hash) {
        before = ngx_tg_session_base_get_view(base, base->peer.catalog);
        changes = tg_catalog_view_compare(&before, &after);
    }

    last = &base->last;

    if (last->entry != NULL) {
        last->entry = tg_catalog_find(catalog, last->entry->kind,
                                      last->entry->name);
    }

    tg_peer_set_catalog(&base->peer, catalog);
    base->view_catalog = catalog;
    base->view_hash = hash;

    if (changes != 0) {
        tg_peer_notify_list_changes(&base->peer, changes);
        ngx_tg_session_base_wake(base);
    }
}

void
ngx_tg_session_update_catalog(ngx_tg_session_t *session)
{
    ngx_tg_session_base_t *base;

    base = &session->base;

    if (base->peer.catalog != base->conf->catalog) {
        ngx_tg_session_base_set_catalog(base, base->conf->catalog);
    }
}

/* Updates the catalogs of sessions for a time slice. */
static void
ngx_tg_catalog_update_run(tg_sched_source_t *source)
{
    ngx_tg_session_t *session;
    ngx_uint_t is_new;

    while (ngx_tg_catalog_update_next != NULL
           && ngx_tg_catalog_update_next
                  != ngx_queue_sentinel(&ngx_tg_sessions))
    {
        session = ngx_tg_session_of(ngx_tg_catalog_update_next, all);
        ngx_tg_catalog_update_next = ngx_queue_next(ngx_tg_catalog_update_next);
        is_new = session->base.peer.catalog != session->base.conf->catalog;
        ngx_tg_session_update_catalog(session);

        if (tg_sched_is_slice_over(&ngx_tg_sched, source,
                                   is_new ? NGX_TG_SESSION_STEPS_PER_SLICE
                                          : 64))
        {
            return;
        }
    }

    ngx_tg_catalog_update_next = NULL;
}

void
ngx_tg_server_set_catalog(ngx_tg_srv_conf_t *scf, tg_catalog_t *catalog)
{
    static tg_sched_source_t source = { .run = ngx_tg_catalog_update_run };

    (void) tg_catalog_ref(catalog);
    tg_catalog_unref(scf->catalog);
    scf->catalog = catalog;
    ngx_tg_catalog_update_next = ngx_queue_head(&ngx_tg_sessions);
    tg_sched_enqueue(&ngx_tg_sched, &source);
    ngx_tg_subscriptions_update(scf);
}

void
ngx_tg_server_unpark_sessions(ngx_tg_srv_conf_t *scf)
{
    ngx_tg_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_sessions);
         q != ngx_queue_sentinel(&ngx_tg_sessions); q = ngx_queue_next(q))
    {
        session = ngx_tg_session_of(q, all);

        if (session->base.conf == scf && session->base.peer.nparked != 0) {
            session->priv->must_serve_parked = 1;
            ngx_tg_session_base_wake(&session->base);
        }
    }
}

ngx_uint_t
ngx_tg_server_find_listeners(const ngx_tg_srv_conf_t *scf, ngx_uint_t is_new)
{
    ngx_tg_session_base_t *base;
    ngx_uint_t n;
    ngx_queue_t *q;

    n = 0;

    for (q = ngx_queue_head(&ngx_tg_sessions);
         (n == 0 || is_new) && q != ngx_queue_sentinel(&ngx_tg_sessions);
         q = ngx_queue_next(q))
    {
        base = &ngx_tg_session_of(q, all)->base;

        if (base->conf == scf && tg_peer_listens_to_resources(&base->peer)) {
            n++;

            if (is_new) {
                base->has_new_resources = 1;
                ngx_tg_session_base_wake(base);
            }
        }
    }

    return n != 0;
}

void
ngx_tg_embedded_sessions_wake(void)
{
    ngx_tg_session_t *session;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&ngx_tg_sessions);
         q != ngx_queue_sentinel(&ngx_tg_sessions); q = ngx_queue_next(q))
    {
        session = ngx_tg_session_of(q, all);

        if (session->priv->is_embedded) {
            ngx_tg_session_base_wake(&session->base);
        }
    }
}
