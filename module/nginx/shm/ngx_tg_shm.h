/*
 * Shared memory in which all workers of one NGINX see each other's clients: a
 * table of clients, and a log of broadcasts, which are sent to all clients of a
 * server. The master creates it once; workers of all cycles and binaries
 * inherit it. Unless a comment says otherwise, ngx_int_t is NGX_OK or
 * NGX_ERROR.
 *
 *   ngx_tg_shm.c            inherited descriptors, worker slots, addresses
 *   ngx_tg_shm_page.c       the page: mapping, lock, wakeup of workers
 *   ngx_tg_client_table.c   table of clients
 *   ngx_tg_broadcast_log.c  log of broadcasts
 */
#ifndef _NGX_TG_SHM_H_INCLUDED_
#define _NGX_TG_SHM_H_INCLUDED_

#include "nginx/shm/ngx_tg_client_identity.h"

#include <pthread.h>

/* Maximum number of workers of two masters; NGINX limits each to 1024. */
#define NGX_TG_WORKERS_MAX 2048
/* Maximum number of clients that other workers can see. */
#define NGX_TG_CLIENTS_MAX 16384
/* Maximum size of a broadcast in bytes; fits a message of any dialect. */
#define NGX_TG_BROADCAST_MAX 1040384

/* --- inheritance: ngx_tg_shm.c --- */

/* Exports NAME=value to the module's next shared object and a new binary. */
ngx_int_t ngx_tg_export_to_new_binary(ngx_cycle_t *cycle, const char *name,
                                      const char *value);

/* Creates shared memory that begins with magic. Returns -1 after logging. */
ngx_fd_t ngx_tg_shm_create(const char *name, size_t size, uint64_t magic,
                           ngx_log_t *log);
/* Maps shared memory. Returns NULL; logs it unless size or magic differ. */
void *ngx_tg_shm_map(ngx_fd_t fd, size_t size, uint64_t magic, ngx_log_t *log);

/* Initializes a mutex that becomes free if its owner is killed. */
ngx_int_t ngx_tg_shm_mutex_init(pthread_mutex_t *lock);
void ngx_tg_shm_mutex_lock(pthread_mutex_t *lock);
void ngx_tg_shm_mutex_unlock(pthread_mutex_t *lock);

/* Locks one of n slots until the worker dies. Returns -1 if all are used. */
ngx_int_t ngx_tg_shm_worker_slot_lock(ngx_fd_t fd, ngx_uint_t n);
/* Checks whether another process has locked a worker slot. */
ngx_uint_t ngx_tg_shm_worker_slot_is_locked(ngx_fd_t fd, ngx_uint_t slot);

/* --- addresses: ngx_tg_shm.c --- */

ngx_stream_addr_conf_t *ngx_tg_listener_get_addr_conf(const ngx_listening_t *ls,
                                                      ngx_uint_t i);
/* Returns the context of an address's server. */
ngx_stream_conf_ctx_t *ngx_tg_addr_conf_get_ctx(
    const ngx_stream_addr_conf_t *addr);
/*
 * Writes a listener's i-th address, at most NGX_SOCKADDR_STRLEN bytes, and
 * returns the length. NGINX has one listener for all addresses of a port if
 * one is a wildcard.
 */
size_t ngx_tg_listener_write_addr(const ngx_listening_t *ls, ngx_uint_t i,
                                  u_char *room);
/* Returns the server of an address, or NULL if the server has no tools. */
ngx_tg_srv_conf_t *ngx_tg_addr_conf_get_server(
    const ngx_stream_addr_conf_t *addr);

/*
 * Returns the hash of a server's address, which identifies it across reloads,
 * or 0 if the server does not listen there.
 */
uint64_t ngx_tg_listener_get_address_hash(const ngx_listening_t *ls,
                                          const ngx_tg_srv_conf_t *scf);
/*
 * Writes the server's address to room, of NGX_SOCKADDR_STRLEN bytes. Absent if
 * the server does not listen there.
 */
tg_str_t ngx_tg_listener_write_address(const ngx_listening_t *ls,
                                       const ngx_tg_srv_conf_t *scf,
                                       u_char *room);
ngx_uint_t ngx_tg_address_set_contains(const ngx_tg_address_set_t *addresses,
                                       uint64_t address);

/* --- page: ngx_tg_shm_page.c --- */

/* Creates or finds the page in the master, once a config is valid. */
void ngx_tg_shm_page_init(ngx_cycle_t *cycle);

/*
 * Starts the use of the page in this worker. wake is called from the event loop
 * when there are broadcasts or displaced clients. listener_handler identifies
 * listeners with tools.
 */
void ngx_tg_shm_page_start_worker(ngx_cycle_t *cycle,
                                  ngx_connection_handler_pt listener_handler,
                                  void (*wake)(void));

void ngx_tg_shm_page_exit_worker(void);

/* --- table of clients: ngx_tg_client_table.c --- */

typedef enum {
    NGX_TG_BRIDGE_POLICY_SHARED = 0,
    NGX_TG_BRIDGE_POLICY_DISPLACE,
    NGX_TG_BRIDGE_POLICY_REJECT
} ngx_tg_bridge_policy_t;

typedef struct {
    uint64_t row;    /* index of its row plus 1; 0: no row */
    uint64_t number; /* number of the client, never reused */
    /* position in the broadcast log up to which it was read */
    uint64_t read_position;
} ngx_tg_client_slot_t;

/* Information about a client for other workers. */
typedef struct {
    uint64_t since; /* Unix time of its connection, in ms */
    pid_t pid;      /* 0: a TCP client */
    uid_t uid;
    ngx_uint_t calls;
    pid_t worker;
    tg_dialect_t dialect;
    /* set only by ngx_tg_client_table_visit() */
    const ngx_tg_client_identity_t *identity;
    ngx_uint_t receives_broadcasts;
} ngx_tg_client_info_t;

/* Allocates a slot. NGX_BUSY: too many clients; NGX_DECLINED: no page. */
ngx_int_t ngx_tg_client_slot_allocate(ngx_tg_client_slot_t *client_slot,
                                      uint64_t address,
                                      const ngx_tg_client_info_t *info);
/* Writes the current information about a client to its row. */
void ngx_tg_client_slot_update(const ngx_tg_client_slot_t *client_slot,
                               const ngx_tg_client_info_t *info);
/* Writes the identity that the client has sent, after it has changed. */
void ngx_tg_client_slot_set_identity(const ngx_tg_client_slot_t *client_slot,
                                     const tg_peer_t *peer);
void ngx_tg_client_slot_free(ngx_tg_client_slot_t *client_slot);

/* Detaches a slot whose client moves to another worker. */
void ngx_tg_client_slot_detach(ngx_tg_client_slot_t *client_slot);
/* Attaches a slot from another worker. NGX_DECLINED: its row is gone. */
ngx_int_t ngx_tg_client_slot_attach(ngx_tg_client_slot_t *client_slot,
                                    uint64_t address);

/*
 * Registers a client as a bridge. DISPLACE marks other bridges as displaced;
 * REJECT returns NGX_BUSY if there is one.
 */
ngx_int_t ngx_tg_client_slot_register_bridge(
    const ngx_tg_client_slot_t *client_slot,
    const ngx_tg_address_set_t *addresses, ngx_tg_bridge_policy_t policy);

/* Checks whether another bridge has displaced this client. */
ngx_uint_t ngx_tg_client_slot_is_displaced(
    const ngx_tg_client_slot_t *client_slot);

/* Checks whether any client was displaced since the last call. */
ngx_uint_t ngx_tg_client_table_has_displaced(void);

/* Callback for one client; info is valid until it returns. */
typedef void (*ngx_tg_client_visit_pt)(void *data,
                                       const ngx_tg_client_info_t *info);
/* Calls visit for each client of a server, while the page is locked. */
void ngx_tg_client_table_visit(const ngx_tg_address_set_t *addresses,
                               ngx_tg_client_visit_pt visit, void *data);

/* --- broadcasts: ngx_tg_broadcast_log.c --- */

/*
 * Sends a notification to all clients of a server in all workers, each once and
 * in order: method is plain text, params a JSON object or absent. n becomes the
 * number of receiving clients. Returns NGX_OK; NGX_DECLINED: no shared memory,
 * or a reserved name (tg_notification_check_name()); NGX_ABORT: larger than
 * NGX_TG_BROADCAST_MAX; NGX_BUSY: workers lag behind; NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_server_broadcast(const ngx_tg_srv_conf_t *scf, tg_str_t method,
                                  tg_str_t params, ngx_uint_t *n);

/*
 * Audience of a broadcast: a uid, all clients, all TCP clients, or only clients
 * that see other users' tasks, which receive every broadcast.
 */
#define NGX_TG_AUDIENCE_ALL UINT64_MAX
#define NGX_TG_AUDIENCE_TCP_CLIENTS (UINT64_MAX - 1)
#define NGX_TG_AUDIENCE_SEE_ALL (UINT64_MAX - 2)

/* Sends a notification to an audience. Returns as ngx_tg_server_broadcast(). */
ngx_int_t ngx_tg_server_broadcast_to_audience(const ngx_tg_srv_conf_t *scf,
                                              uint64_t audience,
                                              tg_str_t method, tg_str_t params);

/* A broadcast; its slices point into the copy. */
typedef struct {
    /* positions in the log of this broadcast and of the next one */
    uint64_t at;
    uint64_t next;
    uint64_t audience;
    ngx_tg_address_set_t addresses;
    tg_str_t method;
    tg_str_t params;
} ngx_tg_broadcast_message_t;

uint64_t ngx_tg_broadcast_log_get_position(void);

/*
 * Reads the next broadcast into copy, which is zeroed or was used before.
 * Returns NGX_OK; NGX_AGAIN: none; NGX_ABORT: this worker was too slow and lost
 * some; NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_broadcast_log_read_next(tg_buf_t *copy,
                                         ngx_tg_broadcast_message_t *broadcast);

/* Reads again at a position; returns as ngx_tg_broadcast_log_read_next(). */
ngx_int_t ngx_tg_broadcast_log_read_at(uint64_t at, tg_buf_t *copy,
                                       ngx_tg_broadcast_message_t *broadcast);

ngx_uint_t ngx_tg_broadcast_log_has(uint64_t at);

#endif
