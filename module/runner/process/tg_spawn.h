/*
 * Starts one program, isolated from the runner: own session and group, default
 * signals, only the given descriptors, killed when the runner dies.
 */
#ifndef TG_SPAWN_H
#define TG_SPAWN_H

#include "spec/tg_program_spec.h"

#include <stdint.h>
#include <sys/types.h>

/* Descriptors of a program: stdin, stdout, stderr and progress. */
#define TG_SPAWN_FDS 4

typedef struct {
    char *const *argv; /* argv[0] is the path of the program */
    char *const *envp;
    const char *cwd;
    const tg_program_options_t *options;
    const int *fds; /* descriptors, all above 2; become 0, 1, 2 and so on */
    int nfds;
    uint64_t process_tag; /* see tg_process_tag.h; 0: none */
    uint32_t serial;
    int cgroup; /* see tg_cgroup.h; -1: that of the caller */
} tg_spawn_params_t;

typedef enum {
    TG_SPAWN_FORK,   /* the process could not be created */
    TG_SPAWN_LIMITS, /* the cgroup could not be created or limited */
    TG_SPAWN_SETUP,
    TG_SPAWN_CWD,
    TG_SPAWN_EXEC
} tg_spawn_step_t;

/* Ignores signals in the runner, but not in programs started afterwards. */
void tg_spawn_ignore_signals(void);

/*
 * Starts the program. Returns 0 and *pid, or an errno of the step *step and no
 * process. Must be called by the main thread, with whose end the program is
 * killed.
 */
int tg_spawn_program(const tg_spawn_params_t *spawn, pid_t *pid,
                     tg_spawn_step_t *step);

#endif
