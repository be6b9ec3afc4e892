/*
 * Shared memory in which all workers of one NGINX see each other's clients: a
 * table of clients, and a log of broadcasts, which are sent to all clients of a
 * server. The master creates it once. Workers of all cycles inherit it,
 * including those of a new binary, so that a reload does not change its
 * contents.
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

/*
 * Maximum number of workers; NGINX limits a master to 1024, including old
 * workers, and there may be two masters.
 */
#define NGX_TG_WORKERS_MAX 2048
/*
 * Maximum number of clients of all workers, for servers whose clients are
 * visible to other workers.
 */
#define NGX_TG_CLIENTS_MAX 16384
/*
 * Maximum size of one broadcast, in bytes, so that it fits a message of any
 * dialect.
 */
#define NGX_TG_BROADCAST_MAX 1040384

/* --- inheritance: ngx_tg_shm.c --- */

/*
 * Exports NAME=value to the module's next shared object and to a new binary.
 * Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_export_to_new_binary(ngx_cycle_t *cycle, const char *name,
                                      const char *value);

/*
 * Creates shared memory of this size that begins with magic. Returns its
 * descriptor, or -1 after logging.
 */
ngx_fd_t ngx_tg_shm_create(const char *name, size_t size, uint64_t magic,
                           ngx_log_t *log);
/*
 * Maps shared memory. Returns NULL if fd is not memory of this size and magic,
 * after logging unexpected errors.
 */
void *ngx_tg_shm_map(ngx_fd_t fd, size_t size, uint64_t magic, ngx_log_t *log);

/*
 * Initializes a mutex in shared memory, which becomes free if its owner is
 * killed. Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_shm_mutex_init(pthread_mutex_t *lock);
void ngx_tg_shm_mutex_lock(pthread_mutex_t *lock);
void ngx_tg_shm_mutex_unlock(pthread_mutex_t *lock);

/*
 * Locks a free worker slot of a file with n slots; the kernel releases it when
 * the worker dies. Returns the slot, or -1 if all are locked.
 */
ngx_int_t ngx_tg_shm_worker_slot_lock(ngx_fd_t fd, ngx_uint_t n);
/*
 * Checks whether another process has locked a worker slot; the slot of this
 * process does not count.
 */
ngx_uint_t ngx_tg_shm_worker_slot_is_locked(ngx_fd_t fd, ngx_uint_t slot);

/* --- addresses: ngx_tg_shm.c --- */

/* Returns the configuration of a listener's i-th address. */
ngx_stream_addr_conf_t *ngx_tg_listener_get_addr_conf(const ngx_listening_t *ls,
                                                      ngx_uint_t i);
/* Returns the server of an address, or NULL if the server has no tools. */
ngx_tg_srv_conf_t *ngx_tg_addr_conf_get_server(
    const ngx_stream_addr_conf_t *addr);

/*
 * Returns the hash of the address at which a server listens, or 0 if the server
 * does not listen there. The hash identifies the server across reloads.
 */
uint64_t ngx_tg_listener_get_address_hash(const ngx_listening_t *ls,
                                          const ngx_tg_srv_conf_t *scf);
/*
 * Writes the text of the server's address to room, which has
 * NGX_SOCKADDR_STRLEN bytes. The result is absent if the server does not listen
 * there.
 */
tg_str_t ngx_tg_listener_write_address(const ngx_listening_t *ls,
                                       const ngx_tg_srv_conf_t *scf,
                                       u_char *room);
/* Checks whether a set contains an address hash. */
ngx_uint_t ngx_tg_address_set_contains(const ngx_tg_address_set_t *addresses,
                                       uint64_t address);

/* --- page: ngx_tg_shm_page.c --- */

/* Creates or finds the page in the master, once a cycle's config is valid. */
void ngx_tg_shm_page_init(ngx_cycle_t *cycle);

/*
 * Starts the use of the page in this worker. wake is called from the event
 * loop, never recursively, when there are new broadcasts or displaced clients.
 * listener_handler identifies listeners with tools.
 */
void ngx_tg_shm_page_start_worker(ngx_cycle_t *cycle,
                                  ngx_connection_handler_pt listener_handler,
                                  void (*wake)(void));

/* Ends the use of the page at process exit. */
void ngx_tg_shm_page_exit_worker(void);

/* --- table of clients: ngx_tg_client_table.c --- */

typedef enum {
    NGX_TG_BRIDGE_POLICY_SHARED = 0,
    NGX_TG_BRIDGE_POLICY_DISPLACE,
    NGX_TG_BRIDGE_POLICY_REJECT
} ngx_tg_bridge_policy_t;

/* A client's slot in the table. */
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

/*
 * Allocates a slot for a new client. Returns NGX_OK; NGX_BUSY if there are too
 * many clients; NGX_DECLINED if there is no shared memory.
 */
ngx_int_t ngx_tg_client_slot_allocate(ngx_tg_client_slot_t *client_slot,
                                      uint64_t address,
                                      const ngx_tg_client_info_t *info);
/* Writes the current information about a client to its row. */
void ngx_tg_client_slot_update(const ngx_tg_client_slot_t *client_slot,
                               const ngx_tg_client_info_t *info);
/* Writes the identity that the client has sent, after it has changed. */
void ngx_tg_client_slot_set_identity(const ngx_tg_client_slot_t *client_slot,
                                     const tg_peer_t *peer);
/* Frees a client's row. */
void ngx_tg_client_slot_free(ngx_tg_client_slot_t *client_slot);

/* Detaches a slot whose client moves to another worker. */
void ngx_tg_client_slot_detach(ngx_tg_client_slot_t *client_slot);
/*
 * Attaches a slot whose client came from another worker. Returns NGX_OK, or
 * NGX_DECLINED if its row is gone.
 */
ngx_int_t ngx_tg_client_slot_attach(ngx_tg_client_slot_t *client_slot,
                                    uint64_t address);

/*
 * Registers a client as a bridge. Returns NGX_OK, or NGX_BUSY if the policy is
 * REJECT and another bridge is connected. With DISPLACE, the other bridges are
 * marked as displaced.
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
/*
 * Calls visit for each client of a server, identified by its addresses. The
 * page is locked meanwhile.
 */
void ngx_tg_client_table_visit(const ngx_tg_address_set_t *addresses,
                               ngx_tg_client_visit_pt visit, void *data);

/* --- broadcasts: ngx_tg_broadcast_log.c --- */

/*
 * Sends a notification to all clients of a server, in all workers: method is
 * plain text, params a JSON object or absent. Each client receives broadcasts
 * once and in the order of these calls. n becomes the number of receiving
 * clients. Returns NGX_OK; NGX_DECLINED if there is no shared memory or the
 * name is reserved (tg_notification_check_name()); NGX_ABORT if the message
 * exceeds NGX_TG_BROADCAST_MAX; NGX_BUSY if workers have not read earlier
 * broadcasts; NGX_ERROR if there is no memory.
 */
ngx_int_t ngx_tg_server_broadcast(const ngx_tg_srv_conf_t *scf, tg_str_t method,
                                  tg_str_t params, ngx_uint_t *n);

/*
 * Audience of a broadcast: the uid of a user; all clients; all TCP clients; or
 * only clients that see other users' tasks (ngx_tg_session_base_can_see_all()).
 * The last group receives every broadcast.
 */
#define NGX_TG_AUDIENCE_ALL UINT64_MAX
#define NGX_TG_AUDIENCE_TCP_CLIENTS (UINT64_MAX - 1)
#define NGX_TG_AUDIENCE_SEE_ALL (UINT64_MAX - 2)

/*
 * Sends a notification to an audience among a server's clients. Returns NGX_OK,
 * NGX_DECLINED, NGX_ABORT, NGX_BUSY or NGX_ERROR, see
 * ngx_tg_server_broadcast().
 */
ngx_int_t ngx_tg_server_broadcast_to_audience(const ngx_tg_srv_conf_t *scf,
                                              uint64_t audience,
                                              tg_str_t method, tg_str_t params);

/* A broadcast; its slices point into the copy that it was read to. */
typedef struct {
    /* positions in the log of this broadcast and of the next one */
    uint64_t at;
    uint64_t next;
    uint64_t audience;
    ngx_tg_address_set_t addresses;
    tg_str_t method;
    tg_str_t params;
} ngx_tg_broadcast_message_t;

/* Returns the position up to which this worker has read the log. */
uint64_t ngx_tg_broadcast_log_get_position(void);

/*
 * Reads the next broadcast into copy, which is zeroed or was used before.
 * Returns NGX_OK; NGX_AGAIN if there is none; NGX_ABORT if this worker was too
 * slow and some are lost; NGX_ERROR if there is no memory.
 */
ngx_int_t ngx_tg_broadcast_log_read_next(tg_buf_t *copy,
                                         ngx_tg_broadcast_message_t *broadcast);

/*
 * Reads the broadcast at a position, among those that this worker has read.
 * Returns NGX_OK; NGX_AGAIN if there is none; NGX_ABORT if some are lost;
 * NGX_ERROR if there is no memory.
 */
ngx_int_t ngx_tg_broadcast_log_read_at(uint64_t at, tg_buf_t *copy,
                                       ngx_tg_broadcast_message_t *broadcast);

/* Checks whether the broadcast at a position can still be read. */
ngx_uint_t ngx_tg_broadcast_log_has(uint64_t at);

#endif
