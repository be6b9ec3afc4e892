/*
 * Subscriptions of this worker's sessions to resources. The first session that
 * subscribes to a URI makes this worker watch it, the last one that leaves ends
 * that. Updates are delivered in time slices, one session per step; updates
 * that follow each other before a session gets one become one.
 *
 *   ngx_tg_subscription.c   who subscribed to what, and the delivery
 *   ngx_tg_watch.c          what watches a URI: the runner, or a timer
 */
#ifndef _NGX_TG_SUBSCRIPTION_H_INCLUDED_
#define _NGX_TG_SUBSCRIPTION_H_INCLUDED_

#include "nginx/call/ngx_tg_session_base.h"
#include "nginx/config/ngx_tg_config.h"
#include "nginx/upstream/ngx_tg_runner.h"

typedef struct ngx_tg_watched_uri_s ngx_tg_watched_uri_t;

struct ngx_tg_subscriber_s {
    ngx_tg_subscriber_t *next; /* the session's next subscription */
    ngx_queue_t queue;         /* all sessions with this URI */
    ngx_tg_watched_uri_t *watched;
    ngx_tg_session_base_t *base;
    uint64_t nupdates; /* value of watched->nupdates that it was sent */
    uint64_t since;    /* time of its subscription in this worker, in ns */
    /* From another worker: changes from a version not known may be lost. */
    unsigned is_restored:1;
};

/* A URI of a server to which at least one session has subscribed. */
struct ngx_tg_watched_uri_s {
    ngx_str_node_t node; /* its key: the server's number and the URI */
    ngx_tg_srv_conf_t *scf;
    tg_str_t uri;            /* plain text */
    ngx_queue_t subscribers; /* ngx_tg_subscriber_t */
    ngx_queue_t pending;     /* in the queue of deliveries, or empty */
    ngx_queue_t all;

    /* Version of the content; 0: not known. A client has one of its own. */
    uint64_t version;
    uint64_t changed; /* time of the last change, in ns; 0: not known */
    /* updates without a version, such as those of another MCP server */
    uint64_t nupdates;

    const ngx_tg_handler_t *handler; /* it watches the URI, or NULL */
    ngx_tg_watch_t mode;             /* without handler */
    ngx_msec_t every;                /* interval in ms */
    ngx_event_t timer;
    ngx_tg_upstream_request_t request;
    /* the runner's job that reads the resource */
    tg_str_t method;
    tg_buf_t params;
    unsigned is_counted:1;  /* among those for which jobs are repeated */
    unsigned has_begun:1;   /* something watches it, or nothing can */
    unsigned is_delayed:1;  /* a session could not be sent an update */
    unsigned must_repeat:1; /* an update has come during its delivery */
};

/* Handles the beginning or end of a subscription (tg_peer_ops_t). */
void ngx_tg_subscription_on_change(void *host, tg_str_t uri, int is_on);

/*
 * Checks whether a change of a resource can ever be reported (tg_peer_ops_t).
 */
int ngx_tg_subscription_can_report(void *host, const tg_catalog_entry_t *entry,
                                   tg_str_t uri);

/*
 * Notifies all sessions of this worker that subscribed to a URI of the server.
 */
void ngx_tg_resource_notify_updated(const ngx_tg_srv_conf_t *scf, tg_str_t uri);

/*
 * Sets the version of the content, which depends on nothing but the content,
 * and the time since which it is the content. Notifies the sessions that know
 * another version, or none and subscribed before that time.
 */
void ngx_tg_watched_uri_set_version(ngx_tg_watched_uri_t *watched,
                                    uint64_t version, uint64_t changed);

/* Looks again for what can watch URIs, after a server's catalog has changed. */
void ngx_tg_subscriptions_update(const ngx_tg_srv_conf_t *scf);

/* --- ngx_tg_watch.c --- */

/* Begins to watch a URI that at least one session has subscribed to. */
void ngx_tg_watch_begin(ngx_tg_watched_uri_t *watched);
void ngx_tg_watch_end(ngx_tg_watched_uri_t *watched);

#endif
