/*
 * Starts one program, isolated from the runner: its own session and process
 * group, default signals, the descriptors that it is given and no more, and
 * bound to the runner's life.
 */
#ifndef TG_SPAWN_H
#define TG_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

/* Standard input and outputs, and where it may report its progress. */
#define TG_SPAWN_FDS 4

typedef struct {
    char *const *argv; /* argv[0] is the path of the program */
    char *const *envp;
    const char *cwd;
    const int *fds; /* become 0, 1, 2 and so on; all above 2 */
    int nfds;
    uint64_t process_tag; /* tg_process_tag.h; 0: none */
    uint32_t serial;
    int cgroup; /* tg_cgroup.h; -1: the caller's */
} tg_spawn_params_t;

typedef enum {
    TG_SPAWN_FORK,   /* there was no process for it */
    TG_SPAWN_LIMITS, /* the caller's: its cgroup */
    TG_SPAWN_SETUP,
    TG_SPAWN_CWD,
    TG_SPAWN_EXEC
} tg_spawn_step_t;

/* What the runner ignores, and no program is to: before the first of them. */
void tg_spawn_ignore_signals(void);

/*
 * 0 and *pid when the program runs; else the errno of *step, and nothing is
 * left to wait for.  Must be called by the thread that lives as long as the
 * runner: the program is killed when it ends.
 */
int tg_spawn_program(const tg_spawn_params_t *spawn, pid_t *pid,
                     tg_spawn_step_t *step);

#endif
