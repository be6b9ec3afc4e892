/*
 * What all workers of one NGINX know of each other's clients: a page of
 * memory with a table of clients and the news, which are what all clients of
 * a server are to be told.
 *
 * The master makes it once.  Workers of all cycles inherit it, a new binary
 * too, so that nothing of it changes with a reload.
 *
 *   ngx_tg_shm.c    descriptors that are handed down, places of workers
 *   ngx_tg_shm_page.c     the page, its lock, and who is woken
 *   ngx_tg_client_table.c  the table
 *   ngx_tg_broadcast_log.c     what is told
 */
#ifndef _NGX_TG_SHM_H_INCLUDED_
#define _NGX_TG_SHM_H_INCLUDED_

#include "nginx/shm/ngx_tg_client_identity.h"

#include <pthread.h>

/* NGINX's own bound for a master is 1024, old workers included; two masters. */
#define NGX_TG_WORKERS_MAX 2048
/* Clients of servers whose clients are told something, all workers'. */
#define NGX_TG_CLIENTS_MAX 16384
/* Bytes of one broadcast, so that it fits a message of any dialect. */
#define NGX_TG_BROADCAST_MAX 1040384

/* --- handed down: ngx_tg_shm.c --- */

/* For the next object of this module, and for a new binary: NAME=value. */
ngx_int_t ngx_tg_export_to_new_binary(ngx_cycle_t *cycle, const char *name,
                                      const char *value);

/* Memory of this size and, if it is new, that begins with magic; -1: logged. */
ngx_fd_t ngx_tg_shm_create(const char *name, size_t size, uint64_t magic,
                           ngx_log_t *log);
/* NULL when fd is none such, which is logged where errors matter. */
void *ngx_tg_shm_map(ngx_fd_t fd, size_t size, uint64_t magic, ngx_log_t *log);

/* A lock in it, which nobody holds for ever: not who was killed. */
ngx_int_t ngx_tg_shm_mutex_init(pthread_mutex_t *lock);
void ngx_tg_shm_mutex_lock(pthread_mutex_t *lock);
void ngx_tg_shm_mutex_unlock(pthread_mutex_t *lock);

/*
 * A worker's place among those of a file: the kernel takes it back when the
 * worker dies.  -1: all are taken.  One's own place is not seen as taken.
 */
ngx_int_t ngx_tg_shm_worker_slot_lock(ngx_fd_t fd, ngx_uint_t n);
ngx_uint_t ngx_tg_shm_worker_slot_is_locked(ngx_fd_t fd, ngx_uint_t slot);

/* --- addresses, likewise --- */

/* An address of a listener; its server, or NULL where that has no tools. */
ngx_stream_addr_conf_t *ngx_tg_listener_get_addr_conf(const ngx_listening_t *ls,
                                                      ngx_uint_t i);
ngx_tg_srv_conf_t *ngx_tg_addr_conf_get_server(
    const ngx_stream_addr_conf_t *addr);

/*
 * A server is known by what it listens on, which is the same after a reload:
 * the address of a client, and those of a server, once the worker has begun.
 */
uint64_t ngx_tg_listener_get_address_hash(const ngx_listening_t *ls,
                                          const ngx_tg_srv_conf_t *scf);
/*
 * The text of it, in room for NGX_SOCKADDR_STRLEN; absent: the server does
 * not listen there.
 */
tg_str_t ngx_tg_listener_write_address(const ngx_listening_t *ls,
                                       const ngx_tg_srv_conf_t *scf,
                                       u_char *room);
ngx_uint_t ngx_tg_address_set_contains(const ngx_tg_address_set_t *addresses,
                                       uint64_t address);

/* --- the page: ngx_tg_shm_page.c --- */

/* In the master, once a cycle's config is settled: makes or finds it. */
void ngx_tg_shm_page_init(ngx_cycle_t *cycle);

/*
 * This worker uses it from now on; wake is called when there are news or
 * somebody is to go, and not from within anything else.  Listeners of tools
 * are known by their handler.
 */
void ngx_tg_shm_page_start_worker(ngx_cycle_t *cycle,
                                  ngx_connection_handler_pt listener_handler,
                                  void (*wake)(void));

/* The worker ends. */
void ngx_tg_shm_page_exit_worker(void);

/* --- the table: ngx_tg_client_table.c --- */

typedef enum {
    NGX_TG_BRIDGE_POLICY_SHARED = 0,
    NGX_TG_BRIDGE_POLICY_DISPLACE,
    NGX_TG_BRIDGE_POLICY_REJECT
} ngx_tg_bridge_policy_t;

/* A client's line in the table. */
typedef struct {
    uint64_t row;           /* and 1; 0: it has none */
    uint64_t number;        /* which no other client ever has */
    uint64_t read_position; /* of the news, to where */
} ngx_tg_client_slot_t;

/* What others may know of a client. */
typedef struct {
    uint64_t since; /* Unix time in ms */
    pid_t pid;      /* 0: it came over TCP */
    uid_t uid;
    ngx_uint_t calls;
    pid_t worker;
    tg_dialect_t dialect;
    const ngx_tg_client_identity_t *identity; /* of see_all */
    ngx_uint_t receives_broadcasts;
} ngx_tg_client_info_t;

/* A new client: NGX_OK; NGX_BUSY: too many; NGX_DECLINED: there is no page. */
ngx_int_t ngx_tg_client_slot_allocate(ngx_tg_client_slot_t *client_slot,
                                      uint64_t address,
                                      const ngx_tg_client_info_t *info);
void ngx_tg_client_slot_update(const ngx_tg_client_slot_t *client_slot,
                               const ngx_tg_client_info_t *info);
/* Writes who the client says that it is, after that has changed. */
void ngx_tg_client_slot_set_identity(const ngx_tg_client_slot_t *client_slot,
                                     const tg_peer_t *peer);
void ngx_tg_client_slot_free(ngx_tg_client_slot_t *client_slot);

/* It goes to another worker; and it came: NGX_OK, or NGX_DECLINED. */
void ngx_tg_client_slot_detach(ngx_tg_client_slot_t *client_slot);
ngx_int_t ngx_tg_client_slot_attach(ngx_tg_client_slot_t *client_slot,
                                    uint64_t address);

/*
 * It is a bridge's: NGX_OK, or NGX_BUSY, as there is one.  With DISPLACE
 * those that are there are to go.
 */
ngx_int_t ngx_tg_client_slot_register_bridge(
    const ngx_tg_client_slot_t *client_slot,
    const ngx_tg_address_set_t *addresses, ngx_tg_bridge_policy_t policy);

/* Is it to go, as another bridge came? */
ngx_uint_t ngx_tg_client_slot_is_displaced(
    const ngx_tg_client_slot_t *client_slot);

/* Were any told to go since this was asked last? */
ngx_uint_t ngx_tg_client_table_has_displaced(void);

/* Calls see for each client of a server; about lives until it returns. */
typedef void (*ngx_tg_client_visit_pt)(void *data,
                                       const ngx_tg_client_info_t *info);
void ngx_tg_client_table_visit(const ngx_tg_address_set_t *addresses,
                               ngx_tg_client_visit_pt visit, void *data);

/* --- the news: ngx_tg_broadcast_log.c --- */

/*
 * Tells all clients of a server, of all workers, the same: a method (plain
 * text), and params (a JSON object, or absent).  Each client gets them in the
 * order of these calls, once.  How many are told is in n.
 *
 * NGX_OK; NGX_DECLINED: there is no page, or the name has another meaning
 * (tg_notification_check_name()); NGX_ABORT: it is larger than
 * NGX_TG_BROADCAST_MAX; NGX_BUSY: workers have not read what was told before;
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_server_broadcast(const ngx_tg_srv_conf_t *scf, tg_str_t method,
                                  tg_str_t params, ngx_uint_t *n);

/*
 * Whom something is told: a user, by uid; all clients; those who came over TCP;
 * or only those who see what is others' (ngx_tg_session_base_can_see_all()),
 * who are always told.
 */
#define NGX_TG_AUDIENCE_ALL UINT64_MAX
#define NGX_TG_AUDIENCE_TCP_CLIENTS (UINT64_MAX - 1)
#define NGX_TG_AUDIENCE_SEE_ALL (UINT64_MAX - 2)

/* Tells those of a server's clients: as ngx_tg_server_broadcast(). */
ngx_int_t ngx_tg_server_broadcast_to_audience(const ngx_tg_srv_conf_t *scf,
                                              uint64_t audience,
                                              tg_str_t method, tg_str_t params);

/* One of the news; its slices are in the copy that it was read with. */
typedef struct {
    uint64_t at; /* where it stands, and the one behind it */
    uint64_t next;
    uint64_t audience;
    ngx_tg_address_set_t addresses;
    tg_str_t method;
    tg_str_t params;
} ngx_tg_broadcast_message_t;

/* Up to where this worker has read. */
uint64_t ngx_tg_broadcast_log_get_position(void);

/*
 * Reads the next one that this worker has not read into a copy, which is
 * zeroed or was used before.  NGX_OK; NGX_AGAIN: there is none; NGX_ABORT: this
 * worker came so late that some are lost; NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_broadcast_log_read_next(tg_buf_t *copy,
                                         ngx_tg_broadcast_message_t *broadcast);

/* The same from a place on, of those that this worker has read. */
ngx_int_t ngx_tg_broadcast_log_read_at(uint64_t at, tg_buf_t *copy,
                                       ngx_tg_broadcast_message_t *broadcast);

/* Can one at a place still be read? */
ngx_uint_t ngx_tg_broadcast_log_has(uint64_t at);

#endif
