/* The supervisor, the runner's parent: no descendant survives the runner. */
#ifndef TG_SUPERVISOR_H
#define TG_SUPERVISOR_H

/*
 * Forks. The child, the runner, returns the result of body(ctx). The parent
 * waits for it, forwards SIGTERM and SIGINT, kills all orphans, and returns the
 * exit status, or 1 after a signal. Returns -1 if fork() failed. *fd, unless
 * -1, belongs to the child: the parent closes it, so that the reader of the
 * pipe sees the child's end. If the parent is killed, the child gets SIGTERM.
 * At SIGHUP the parent reopens a rotated log (tg_log.h).
 */
int tg_supervisor_run(int *fd, int (*body)(void *ctx), void *ctx);

#endif
