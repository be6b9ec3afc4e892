/*
 * Check under `nginx -t` whether the task store can be opened: runs
 * toolgate-runner as the workers' user. The check does not change the store.
 */
#include "nginx/handlers/ngx_tg_task.h"
#include "nginx/upstream/ngx_tg_runner.h"

#include <grp.h>
#include <sys/wait.h>

/* Timeout of the check in ms; connecting to a database is faster. */
#define NGX_TG_STORE_CHECK_TIMEOUT 10000
#define NGX_TG_STORE_CHECK_TEXT_MAX 1024
/* Exit status for a store that cannot be reached, which may be temporary. */
#define NGX_TG_STORE_CHECK_UNREACHABLE 3

static void
ngx_tg_task_store_exec_check(ngx_cycle_t *cycle, const ngx_tg_tasks_t *tasks,
                             int in, int out)
{
    char *argv[] = { (char *) tasks->scf->runner->path.data, "--check-store",
                     (char *) tasks->store.data, NULL };
    char *envp[] = { NULL };
    ngx_core_conf_t *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cycle->conf_ctx, ngx_core_module);

    if (geteuid() == 0 && ccf->master && ccf->user != 0
        && (setgid(ccf->group) == -1
            || initgroups(ccf->username, ccf->group) == -1
            || setuid(ccf->user) == -1))
    {
        _exit(127);
    }

    if (dup2(in, 0) != -1 && dup2(out, 1) != -1 && dup2(out, 2) != -1
        && close_range(3, ~0U, 0) == 0)
    {
        (void) execve(argv[0], argv, envp);
    }

    _exit(127);
}

/*
 * Runs the check. Returns its exit status (0: also if it could not be run);
 * text gets its output.
 */
static int
ngx_tg_task_store_run_check(ngx_cycle_t *cycle, const ngx_tg_tasks_t *tasks,
                            u_char *text, size_t *len)
{
    int in[2], out[2], status;
    ngx_pid_t pid;

    if (pipe(in) == -1) {
        return 0;
    }

    if (pipe(out) == -1) {
        (void) close(in[0]);
        (void) close(in[1]);
        return 0;
    }

    /*
     * A secret always fits into the pipe's buffer, so write() does not block.
     */
    if (write(in[1], tasks->password.data, tasks->password.len) == -1) {
        *len = 0;
    }

    pid = fork();

    if (pid == 0) {
        ngx_tg_task_store_exec_check(cycle, tasks, in[0], out[1]);
    }

    (void) close(in[0]);
    (void) close(in[1]);
    (void) close(out[1]);
    status = 0;

    if (pid != -1) {
        *len = ngx_tg_child_read_output(pid, out[0], text,
                                        NGX_TG_STORE_CHECK_TEXT_MAX,
                                        NGX_TG_STORE_CHECK_TIMEOUT, &status);
    }

    (void) close(out[0]);

    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

ngx_int_t
ngx_tg_task_store_check(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks)
{
    u_char text[NGX_TG_STORE_CHECK_TEXT_MAX];
    size_t len;

    len = 0;

    switch (ngx_tg_task_store_run_check(cycle, tasks, text, &len)) {
    case 1:
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "the task store cannot be opened: %*s, in %V", len, text,
                      &tasks->where);
        return NGX_ERROR;

    case NGX_TG_STORE_CHECK_UNREACHABLE:
        ngx_log_error(
            NGX_LOG_WARN, cycle->log, 0,
            "the task store cannot be reached now; toolgate-runner will keep "
            "trying: %*s, in %V",
            len, text, &tasks->where);
        return NGX_OK;

    default:
        return NGX_OK;
    }
}
