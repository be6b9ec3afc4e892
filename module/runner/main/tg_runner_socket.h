/*
 * The lock and the socket of the runner in the state directory.
 *
 *   runner-3.lock   flock()ed as long as the runner lives; has its pid
 *   runner-3.sock   mode 0600, exists while the runner listens
 *
 * 3 is the version of the protocol. Each has its own files, so that two runners
 * can serve during an upgrade. The lock file is never removed; otherwise two
 * runners could hold it.
 */
#ifndef TG_RUNNER_SOCKET_H
#define TG_RUNNER_SOCKET_H

#include <stdint.h>
#include <sys/types.h>

#define TG_RUNNER_VERSION 3
#define TG_RUNNER_LOCK "runner-3.lock"
#define TG_RUNNER_SOCKET "runner-3.sock"

/* Backlog of the socket: workers that connect at once after a reload. */
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
 * Takes the lock. TG_EXISTS: another runner has it; TG_INVALID: *why (static)
 * and errno. Nothing is open after an error.
 */
int tg_runner_socket_lock(tg_runner_socket_t *socket, const char *state_dir,
                          const char **why);

/* Listens, under the lock. Returns -1 with *why (static) and errno. */
int tg_runner_socket_listen(tg_runner_socket_t *socket, const char **why);

/* Hides the socket from new workers. Returns 0 or -1. */
int tg_runner_socket_hide(tg_runner_socket_t *socket);

/* Gives the socket its usual name. Returns 0 or -1. */
int tg_runner_socket_show(tg_runner_socket_t *socket);

/* Checks whether the socket's path still leads to the runner's own socket. */
int tg_runner_socket_exists(const tg_runner_socket_t *socket);

/* Removes the runner's own socket, and releases the lock. */
void tg_runner_socket_close(tg_runner_socket_t *socket);

#endif
