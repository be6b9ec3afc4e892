/* State shared by all programs: SIGCHLD, environment and descriptors. */
#include "runner/process/tg_programs.h"

#include "runner/process/tg_program.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tg_programs_on_rescan_timer(uv_timer_t *timer);

static void
tg_programs_check_ended(tg_programs_t *programs)
{
    tg_program_t *program, *next;

    tg_reaper_scan(programs);

    /* The next scan is later, so that other events are not delayed. */
    if (programs->has_more_orphans) {
        uv_timer_start(&programs->rescan_timer, tg_programs_on_rescan_timer,
                       TG_PROGRAM_KILL_TICK_MS, 0);
    }

    for (program = programs->first; program != NULL; program = next) {
        next = program->next;

        if (program->is_exit_unreported) {
            tg_program_on_exited(program);
        } else {
            tg_program_check_ended(program);
        }
    }

    tg_cgroups_remove_empty(&programs->cgroups);
}

static void
tg_programs_on_sigchld(uv_signal_t *handle, int signum)
{
    tg_programs_check_ended(handle->data);
}

static void
tg_programs_on_rescan_timer(uv_timer_t *timer)
{
    tg_programs_check_ended(timer->data);
}

static char *
tg_programs_make_home_env(void)
{
    struct passwd *user;
    const char *home;
    size_t size;
    char *text;

    user = getpwuid(geteuid());
    home = user != NULL && user->pw_dir != NULL && user->pw_dir[0] == '/'
               ? user->pw_dir
               : "/";
    size = sizeof("HOME=") + strlen(home);
    text = malloc(size);

    if (text != NULL) {
        snprintf(text, size, "HOME=%s", home);
    }

    return text;
}

int
tg_programs_init(tg_programs_t *programs, uv_loop_t *loop)
{
    memset(programs, 0, sizeof(*programs));

    programs->cgroups.why = "toolgate-runner has not looked for a cgroup";
    programs->env.path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                         "/usr/bin:/sbin:/bin";
    programs->env.lang = "LANG=C.UTF-8";
    programs->env.progress = "TOOL_PROGRESS_FD=3";
    programs->env.home = tg_programs_make_home_env();

    if (programs->env.home == NULL) {
        return UV_ENOMEM;
    }

    programs->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (programs->null_fd == -1) {
        free((void *) (uintptr_t) programs->env.home);
        return uv_translate_sys_error(errno);
    }

    /* The children of this thread, the only one that forks. */
    programs->children_fd = open("/proc/thread-self/children",
                                 O_RDONLY | O_CLOEXEC);
    uv_signal_init(loop, &programs->sigchld);
    programs->sigchld.data = programs;
    uv_signal_start(&programs->sigchld, tg_programs_on_sigchld, SIGCHLD);
    uv_timer_init(loop, &programs->rescan_timer);
    programs->rescan_timer.data = programs;

    return 0;
}

void
tg_programs_close(tg_programs_t *programs)
{
    uv_close((uv_handle_t *) &programs->sigchld, NULL);
    uv_close((uv_handle_t *) &programs->rescan_timer, NULL);
}

void
tg_programs_deinit(tg_programs_t *programs)
{
    free((void *) (uintptr_t) programs->env.home);
    (void) close(programs->null_fd);
    free(programs->orphans);

    if (programs->children_fd != -1) {
        (void) close(programs->children_fd);
    }
}
