/*
 * What all workers of one NGINX know of each other's clients: a page of
 * memory with a table of clients and the news, which are what all clients of
 * a server are to be told.
 *
 * The master makes it once.  Workers of all cycles inherit it, a new binary
 * too, so that nothing of it changes with a reload.
 *
 *   …_share.c    descriptors that are handed down, places of workers
 *   …_page.c     the page, its lock, and who is woken
 *   …_clients.c  the table
 *   …_news.c     what is told
 */
#ifndef _NGX_TOOLGATE_SHARE_H_INCLUDED_
#define _NGX_TOOLGATE_SHARE_H_INCLUDED_

#include "nginx/share/ngx_toolgate_identity.h"

#include <pthread.h>

/* NGINX's own bound for a master is 1024, old workers included; two masters. */
#define NGX_TOOLGATE_WORKERS_MAX 2048
/* Clients of servers whose clients are told something, all workers'. */
#define NGX_TOOLGATE_CLIENTS_MAX 16384
/* Bytes of one broadcast, so that it fits a message of any dialect. */
#define NGX_TOOLGATE_NEWS_MAX 1040384

/* --- handed down: …_share.c --- */

/* For the next object of this module, and for a new binary: NAME=value. */
ngx_int_t ngx_toolgate_hand_down(ngx_cycle_t *cycle, const char *name,
                                 const char *value);

/* Memory of this size and, if it is new, that begins with magic; -1: logged. */
ngx_fd_t ngx_toolgate_memory_create(const char *name, size_t size,
                                    uint64_t magic, ngx_log_t *log);
/* NULL when fd is none such, which is logged where errors matter. */
void *ngx_toolgate_memory_map(ngx_fd_t fd, size_t size, uint64_t magic,
                              ngx_log_t *log);

/* A lock in it, which nobody holds for ever: not who was killed. */
ngx_int_t ngx_toolgate_lock_init(pthread_mutex_t *lock);
void ngx_toolgate_lock(pthread_mutex_t *lock);
void ngx_toolgate_unlock(pthread_mutex_t *lock);

/*
 * A worker's place among those of a file: the kernel takes it back when the
 * worker dies.  -1: all are taken.  One's own place is not seen as taken.
 */
ngx_int_t ngx_toolgate_place_take(ngx_fd_t fd, ngx_uint_t n);
ngx_uint_t ngx_toolgate_place_is_taken(ngx_fd_t fd, ngx_uint_t place);

/* --- addresses, likewise --- */

/* An address of a listener; its server, or NULL where that has no tools. */
ngx_stream_addr_conf_t *ngx_toolgate_addr(const ngx_listening_t *ls,
                                          ngx_uint_t i);
ngx_toolgate_srv_conf_t *ngx_toolgate_addr_server(
    const ngx_stream_addr_conf_t *addr);

/*
 * A server is known by what it listens on, which is the same after a reload:
 * the address of a client, and those of a server, once the worker has begun.
 */
uint64_t ngx_toolgate_address(const ngx_listening_t *ls,
                              const ngx_toolgate_srv_conf_t *scf);
/*
 * The text of it, in room for NGX_SOCKADDR_STRLEN; absent: the server does
 * not listen there.
 */
tg_str_t ngx_toolgate_address_text(const ngx_listening_t *ls,
                                   const ngx_toolgate_srv_conf_t *scf,
                                   u_char *room);
ngx_uint_t ngx_toolgate_has_address(const ngx_toolgate_addresses_t *addresses,
                                    uint64_t address);

/* --- the page: …_page.c --- */

/* In the master, once a cycle's config is settled: makes or finds it. */
void ngx_toolgate_share_init(ngx_cycle_t *cycle);

/*
 * This worker uses it from now on; wake is called when there are news or
 * somebody is to go, and not from within anything else.  Listeners of tools
 * are known by their handler.
 */
void ngx_toolgate_share_start(ngx_cycle_t *cycle,
                              ngx_connection_handler_pt ours,
                              void (*wake)(void));

/* The worker ends. */
void ngx_toolgate_share_exit(void);

/* --- the table: …_clients.c --- */

typedef enum {
    NGX_TOOLGATE_BRIDGES_SHARED = 0,
    NGX_TOOLGATE_BRIDGES_DISPLACE,
    NGX_TOOLGATE_BRIDGES_REJECT
} ngx_toolgate_bridges_t;

/* A client's line in the table. */
typedef struct {
    uint64_t line;   /* and 1; 0: it has none */
    uint64_t number; /* which no other client ever has */
    uint64_t heard;  /* of the news, to where */
} ngx_toolgate_seat_t;

/* What others may know of a client. */
typedef struct {
    uint64_t since; /* Unix time in ms */
    pid_t pid;      /* 0: it came over TCP */
    uid_t uid;
    ngx_uint_t calls;
    pid_t worker;
    tg_dialect_t dialect;
    const ngx_toolgate_identity_t *identity; /* of see_all */
    ngx_uint_t is_told;
} ngx_toolgate_about_t;

/* A new client: NGX_OK; NGX_BUSY: too many; NGX_DECLINED: there is no page. */
ngx_int_t ngx_toolgate_seat_take(ngx_toolgate_seat_t *seat, uint64_t address,
                                 const ngx_toolgate_about_t *about);
void ngx_toolgate_seat_update(const ngx_toolgate_seat_t *seat,
                              const ngx_toolgate_about_t *about);
/* Writes who the client says that it is, after that has changed. */
void ngx_toolgate_seat_identify(const ngx_toolgate_seat_t *seat,
                                const tg_peer_t *peer);
void ngx_toolgate_seat_leave(ngx_toolgate_seat_t *seat);

/* It goes to another worker; and it came: NGX_OK, or NGX_DECLINED. */
void ngx_toolgate_seat_send(ngx_toolgate_seat_t *seat);
ngx_int_t ngx_toolgate_seat_arrive(ngx_toolgate_seat_t *seat, uint64_t address);

/*
 * It is a bridge's: NGX_OK, or NGX_BUSY, as there is one.  With DISPLACE
 * those that are there are to go.
 */
ngx_int_t ngx_toolgate_seat_bridge(const ngx_toolgate_seat_t *seat,
                                   const ngx_toolgate_addresses_t *addresses,
                                   ngx_toolgate_bridges_t policy);

/* Is it to go, as another bridge came? */
ngx_uint_t ngx_toolgate_seat_is_displaced(const ngx_toolgate_seat_t *seat);

/* Were any told to go since this was asked last? */
ngx_uint_t ngx_toolgate_clients_have_orders(void);

/* Calls see for each client of a server; about lives until it returns. */
typedef void (*ngx_toolgate_see_pt)(void *data,
                                    const ngx_toolgate_about_t *about);
void ngx_toolgate_clients_see_all(const ngx_toolgate_addresses_t *addresses,
                                  ngx_toolgate_see_pt see, void *data);

/* --- the news: …_news.c --- */

/*
 * Tells all clients of a server, of all workers, the same: a method (plain
 * text), and params (a JSON object, or absent).  Each client gets them in the
 * order of these calls, once.  How many are told is in n.
 *
 * NGX_OK; NGX_DECLINED: there is no page, or the name has another meaning
 * (tg_notification_name_check()); NGX_ABORT: it is larger than
 * NGX_TOOLGATE_NEWS_MAX; NGX_BUSY: workers have not read what was told before;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_broadcast(const ngx_toolgate_srv_conf_t *scf,
                                 tg_str_t method, tg_str_t params,
                                 ngx_uint_t *n);

/*
 * Whom something is told: a user, by uid; all clients; those who came over
 * TCP; or only those who see what is others' (ngx_toolgate_sees_all()), who
 * are always told.
 */
#define NGX_TOOLGATE_TO_ALL UINT64_MAX
#define NGX_TOOLGATE_TO_NOBODY (UINT64_MAX - 1)
#define NGX_TOOLGATE_TO_SEERS (UINT64_MAX - 2)

/* Tells those of a server's clients: as ngx_toolgate_broadcast(). */
ngx_int_t ngx_toolgate_tell(const ngx_toolgate_srv_conf_t *scf, uint64_t whom,
                            tg_str_t method, tg_str_t params);

/* One of the news; its slices are in the copy that it was read with. */
typedef struct {
    uint64_t at; /* where it stands, and the one behind it */
    uint64_t next;
    uint64_t whom;
    ngx_toolgate_addresses_t addresses;
    tg_str_t method;
    tg_str_t params;
} ngx_toolgate_news_t;

/* Up to where this worker has read. */
uint64_t ngx_toolgate_news_read(void);

/*
 * Reads the next one that this worker has not read into a copy, which is
 * zeroed or was used before.  NGX_OK; NGX_AGAIN: there is none; NGX_ABORT: this
 * worker came so late that some are lost; NGX_ERROR: no memory.
 */
ngx_int_t ngx_toolgate_news_next(tg_buf_t *copy, ngx_toolgate_news_t *news);

/* The same from a place on, of those that this worker has read. */
ngx_int_t ngx_toolgate_news_from(uint64_t at, tg_buf_t *copy,
                                 ngx_toolgate_news_t *news);

/* Can one at a place still be read? */
ngx_uint_t ngx_toolgate_news_is_there(uint64_t at);

#endif
