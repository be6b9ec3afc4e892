/*
 * The runner's place: one lock and one socket in the state directory.
 *
 *   runner-3.lock   flock()ed for as long as the runner lives; its pid
 *   runner-3.sock   0600, there whenever somebody listens
 *
 * 1 is the version of the protocol: another one has its own files, so that
 * two can serve side by side while NGINX is being upgraded.  The lock file
 * stays behind; to remove it would let two hold it.
 */
#ifndef TG_RUNNER_SOCKET_H
#define TG_RUNNER_SOCKET_H

#include <stdint.h>
#include <sys/types.h>

#define TG_RUNNER_VERSION 3
#define TG_RUNNER_LOCK "runner-3.lock"
#define TG_RUNNER_SOCKET "runner-3.sock"
/* Workers that connect at the same moment, after a reload. */
#define TG_RUNNER_SOCKET_BACKLOG 128

typedef struct {
    char path[108]; /* of the socket: what fits into its address */
    char temp[108];
    int dir; /* descriptors, -1 when closed */
    int lock;
    uint64_t process_tag; /* of programs that are started under the lock */
    dev_t dev;            /* which file the socket is */
    ino_t ino;
} tg_runner_socket_t;

/*
 * Opens the directory and takes the lock.  TG_OK; TG_EXISTS when another
 * runner has it; TG_INVALID, and *why (static) and errno say what is wrong.
 * Anything but TG_OK leaves nothing open.
 */
int tg_runner_socket_lock(tg_runner_socket_t *socket, const char *state_dir,
                          const char **why);

/* Listens, under the lock: a descriptor, or -1 as above. */
int tg_runner_socket_listen(tg_runner_socket_t *socket, const char **why);

/*
 * Takes the socket out of sight, so that nobody new comes, and puts it back.
 * 0 or -1.
 */
int tg_runner_socket_hide(tg_runner_socket_t *socket);
int tg_runner_socket_show(tg_runner_socket_t *socket);

/* Is the socket that was opened still what its name leads to? */
int tg_runner_socket_exists(const tg_runner_socket_t *socket);

/* Removes the socket, if it is ours, and gives the lock back. */
void tg_runner_socket_close(tg_runner_socket_t *socket);

#endif
