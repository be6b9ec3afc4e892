/*
 * The guardian: the runner's parent, which sees to it that nothing survives
 * the runner, however that ends.
 */
#ifndef TG_SUPERVISOR_H
#define TG_SUPERVISOR_H

/*
 * Forks.  In the child, the runner, runs body(ctx) and returns what it
 * returns.  In the parent waits for it, passes SIGTERM and SIGINT on, then
 * kills whatever was orphaned to it, and returns the runner's exit status,
 * or 1 where it has none.  -1 when it could not fork.
 *
 * *fd, unless -1, is the child's alone: the parent closes it, so that the
 * other end of the pipe sees the child's end.
 *
 * When the parent is killed the child gets SIGTERM.  When it gets SIGHUP, it
 * follows a log that was rotated (tg_log.h).
 */
int tg_supervisor_run(int *fd, int (*body)(void *ctx), void *ctx);

#endif
