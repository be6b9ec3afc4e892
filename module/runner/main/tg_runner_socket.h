/*
 * The lock and the socket of the runner in the state directory.
 *
 *   runner-3.lock   flock()ed as long as the runner lives; has its pid
 *   runner-3.sock   mode 0600, exists while the runner listens
 *
 * The number 3 is the version of the protocol. Each version has its own files,
 * so that two runners can serve side by side while NGINX is being upgraded. The
 * lock file is never removed; otherwise two runners could hold it.
 */
#ifndef TG_RUNNER_SOCKET_H
#define TG_RUNNER_SOCKET_H

#include <stdint.h>
#include <sys/types.h>

#define TG_RUNNER_VERSION 3
#define TG_RUNNER_LOCK "runner-3.lock"
#define TG_RUNNER_SOCKET "runner-3.sock"

/*
 * Backlog of the socket: workers that connect at the same moment, after a
 * reload.
 */
#define TG_RUNNER_SOCKET_BACKLOG 128

typedef struct {
    char path[108]; /* path of the socket, as long as its address allows */
    char temp[108];
    int dir; /* descriptors `dir` and `lock`; -1 when closed */
    int lock;
    uint64_t process_tag; /* tag of programs started under this lock */
    dev_t dev;            /* device and inode of the socket's file */
    ino_t ino;
} tg_runner_socket_t;

/*
 * Opens the directory and takes the lock. Returns TG_OK; TG_EXISTS when another
 * runner has the lock; or TG_INVALID, with the reason in *why (static) and
 * errno. Nothing is open after an error.
 */
int tg_runner_socket_lock(tg_runner_socket_t *socket, const char *state_dir,
                          const char **why);

/*
 * Listens on the socket; the caller must hold the lock. Returns a descriptor,
 * or -1 with the reason in *why (static) and errno.
 */
int tg_runner_socket_listen(tg_runner_socket_t *socket, const char **why);

/* Renames the socket, so that no new worker can connect. Returns 0 or -1. */
int tg_runner_socket_hide(tg_runner_socket_t *socket);

/* Gives the socket its usual name. Returns 0 or -1. */
int tg_runner_socket_show(tg_runner_socket_t *socket);

/* Checks whether the socket's path still leads to the runner's own socket. */
int tg_runner_socket_exists(const tg_runner_socket_t *socket);

/* Removes the socket, if it is the runner's own, and releases the lock. */
void tg_runner_socket_close(tg_runner_socket_t *socket);

#endif
