/*
 * The supervisor: the runner's parent process. It ensures that no descendant
 * survives the runner, however the runner ends.
 */
#ifndef TG_SUPERVISOR_H
#define TG_SUPERVISOR_H

/*
 * Forks. The child, the runner, runs body(ctx), and the function returns its
 * result. The parent waits for the child, forwards SIGTERM and SIGINT, then
 * kills all orphans, and returns the runner's exit status, or 1 if a signal
 * ended the runner. Returns -1 if fork() failed.
 *
 * *fd, unless -1, belongs to the child: the parent closes it, so that the
 * reader of the pipe sees the end of the child.
 *
 * When the parent is killed, the child gets SIGTERM. When the parent gets
 * SIGHUP, it reopens a rotated log (tg_log.h).
 */
int tg_supervisor_run(int *fd, int (*body)(void *ctx), void *ctx);

#endif
