/*
 * The part of a session that its calls know, and what a session does with all
 * of its calls.
 */
#ifndef _NGX_TG_SESSION_BASE_H_INCLUDED_
#define _NGX_TG_SESSION_BASE_H_INCLUDED_

#include "base/tg_throttle.h"
#include "nginx/call/ngx_tg_call_record.h"
#include "protocol/tg_peer.h"

/* Length of a token: random hexadecimal digits. */
#define NGX_TG_TOKEN_LEN 32

/* The process at the other end of a Unix socket, as the kernel reports it. */
typedef struct {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    gid_t *groups;
    ngx_uint_t ngroups;
} ngx_tg_peer_cred_t;

/*
 * The client of a session that a location with mcp_pass serves, as NGINX's HTTP
 * modules have identified it.
 */
typedef struct {
    tg_str_t user;   /* value of mcp_user; empty: unknown */
    tg_str_t scopes; /* value of mcp_scopes: words with spaces between them */
} ngx_tg_http_client_t;

/* What access rules know of a client; not more than one member is set. */
typedef struct {
    const ngx_tg_peer_cred_t *cred;
    const ngx_tg_http_client_t *http;
} ngx_tg_client_t;

/* Size of a buffer for an owner, see ngx_tg_session_base_get_owner(). */
#define NGX_TG_OWNER_SIZE 32

/* The part of a session that its calls know. */
typedef struct ngx_tg_subscriber_s ngx_tg_subscriber_t;

struct ngx_tg_session_base_s {
    tg_peer_t peer;
    ngx_connection_t *connection;
    ngx_stream_session_t *stream;
    ngx_tg_srv_conf_t *conf;
    ngx_tg_call_t *current;    /* call whose values are being evaluated */
    ngx_tg_call_record_t last; /* record of the call that ended last */
    const ngx_tg_call_record_t
        *ended_record; /* record of `current` while it is logged, or NULL */
    ngx_tg_peer_cred_t client;
    /* set by the HTTP module for as long as the session lives, or NULL */
    const ngx_tg_http_client_t *http_client;
    /* scopes for lack of which the last call was refused, or empty */
    tg_str_t needed_scopes;
    /* catalog that view_hash is about, or NULL */
    const tg_catalog_t *view_catalog;
    /* hash of the entries that the client may see */
    uint64_t view_hash;
    /* calls of clients with this name; NULL: of no client yet */
    ngx_tg_counters_t *client_counters;
    /* value of peer.nclient_changes for client_counters */
    unsigned counted_client_changes;
    /* subscriptions to resources, see ngx_tg_subscription.h */
    ngx_tg_subscriber_t *subscribers;
    /* total steps of schema checks for this session */
    uint64_t steps;
    /* token of the session; empty: not created yet */
    char key[NGX_TG_TOKEN_LEN + 1];
    unsigned has_client:1;        /* `client` was read from the kernel */
    unsigned is_gone:1;           /* the client no longer reads responses */
    unsigned is_broken:1;         /* close the session at once */
    unsigned has_new_resources:1; /* notify the client of them */
    unsigned is_restoring:1;      /* the state of another worker is loaded */
    /* limit of log lines about the client's input */
    tg_throttle_t throttle;
};

/* Wakes the session for a call's output, as if the socket were writable. */
static ngx_inline void
ngx_tg_session_base_wake(ngx_tg_session_base_t *base)
{
    ngx_post_event(base->connection->write, &ngx_posted_events);
}

/* --- sessions of a server, in session/ngx_tg_session.c --- */

/*
 * Checks whether a session of this worker listens to lists of resources, and
 * notifies all that do if is_new is set.
 */
ngx_uint_t ngx_tg_server_find_listeners(const ngx_tg_srv_conf_t *scf,
                                        ngx_uint_t is_new);

/* --- callbacks of tg_peer_ops_t; host is the ngx_tg_session_base_t --- */

void ngx_tg_call_start(void *host, tg_peer_t *peer, tg_request_t *request);
void ngx_tg_call_reject_unknown(void *host, tg_peer_t *peer,
                                tg_request_t *request);
void ngx_tg_call_cancel(void *host, tg_call_t *deferred);
void ngx_tg_session_base_on_log(void *host, const char *text);
void ngx_tg_call_on_client_response(void *host, uint64_t tag,
                                    const tg_message_t *message);
int ngx_tg_session_base_can_see(void *host, const tg_catalog_entry_t *entry);

/* --- the client, its rights and its token --- */

/*
 * Reads the credentials of a connection's client, without groups. NGX_OK, or
 * NGX_DECLINED: not a Unix socket, or the kernel does not report them.
 */
ngx_int_t ngx_tg_connection_get_peer_cred(ngx_connection_t *c,
                                          ngx_tg_peer_cred_t *client);

/*
 * Returns the credentials of the session's client; NULL: unknown, as over TCP
 * and over HTTP.
 */
const ngx_tg_peer_cred_t *ngx_tg_session_base_get_peer_cred(
    ngx_tg_session_base_t *base);

/* Returns the session's client for access rules. */
ngx_tg_client_t ngx_tg_session_base_get_client(ngx_tg_session_base_t *base);

/*
 * Returns the key of the session's client as the owner of tasks and outputs:
 * the uid, `u` and a part of the SHA-256 of the name of an HTTP user, in
 * hexadecimal digits, or `nobody`. room has NGX_TG_OWNER_SIZE bytes.
 */
tg_str_t ngx_tg_session_base_get_owner(ngx_tg_session_base_t *base, char *room);

/* Returns the audience of an owner's broadcasts, see ngx_tg_shm.h. */
uint64_t ngx_tg_owner_get_audience(tg_str_t owner);

/*
 * Returns the scopes that would allow the session's client to see an entry
 * which its rules hide; empty if the entry is visible, or scopes do not help.
 */
tg_str_t ngx_tg_session_base_get_needed_scopes(ngx_tg_session_base_t *base,
                                               const tg_catalog_entry_t *entry);

/*
 * Checks whether the server's rules allow broadcasts to the session's client.
 */
ngx_uint_t ngx_tg_session_base_can_be_notified(ngx_tg_session_base_t *base);

/*
 * Checks whether the session's client may see what belongs to other clients, by
 * scf->see_all_rules.
 */
ngx_uint_t ngx_tg_session_base_can_see_all(ngx_tg_session_base_t *base);

/* Writes a new random token, NUL-terminated. NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_token_generate(char *key);

/*
 * Returns the random token that identifies the session's client in every
 * worker; creates it at the first use. NULL: no random bytes. The token is
 * valid until the session ends.
 */
const char *ngx_tg_session_base_get_token(ngx_tg_session_base_t *base);

/* Notifies the handlers that the client is gone, if the session has a token. */
void ngx_tg_session_base_notify_gone(ngx_tg_session_base_t *base);

/* Keeps the runner's connection open for a session that has a token. */
void ngx_tg_session_base_hold_runner(ngx_tg_session_base_t *base);

/* Stops keeping the runner's connection open and clears the session's token. */
void ngx_tg_session_base_release_runner(ngx_tg_session_base_t *base);

/*
 * Detaches all calls of a session from this worker. NGX_OK: all are detached;
 * NGX_AGAIN: not yet, and the session is woken when a call changes.
 */
ngx_int_t ngx_tg_session_base_detach_calls(ngx_tg_session_base_t *base);

/* Takes back all detached calls, because the session stays in this worker. */
void ngx_tg_session_base_reattach_calls(ngx_tg_session_base_t *base);

/*
 * Hands off all calls of a session that has moved to another worker: each call
 * ends here, or continues here without its session.
 */
void ngx_tg_session_base_hand_off_calls(ngx_tg_session_base_t *base);

/* Logs a call that is killed with its worker, which stops at once. */
void ngx_tg_call_log_killed(ngx_tg_call_t *call);

/* Cancels a call and ends it as failed: worker_shutdown_timeout has passed. */
void ngx_tg_call_fail_shutdown_timeout(ngx_tg_call_t *call);

/*
 * Appends the state of a call for its new worker: a callback of tg_peer_save(),
 * whose host is the ngx_tg_session_base_t.
 */
void ngx_tg_call_write_snapshot(void *host, const tg_call_t *deferred,
                                tg_buf_t *out);

/*
 * Restores a call from the state that its old worker wrote: a callback of
 * tg_peer_load(). now: the tool's entry in this worker's catalog, or NULL.
 */
void ngx_tg_call_restore(void *host, tg_call_t *deferred,
                         const tg_catalog_entry_t *now, tg_str_t bytes);

/*
 * Returns the time until the timer fires, in ms, at least 1; 0: the timer is
 * not set.
 */
uint64_t ngx_tg_timer_get_remaining_ms(const ngx_event_t *ev);

#endif
