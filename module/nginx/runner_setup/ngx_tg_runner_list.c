/* The list of runners: one for each state directory. */
#include "nginx/upstream/ngx_tg_runner.h"

static ngx_tg_runner_t *
ngx_tg_runner_find_by_state_dir(ngx_tg_main_conf_t *mcf, tg_str_t dir)
{
    ngx_tg_runner_t **runners;
    ngx_uint_t i;

    runners = mcf->runners.elts;

    for (i = 0; i < mcf->runners.nelts; i++) {
        if (tg_str_eq(ngx_tg_str_from_ngx(&runners[i]->state_dir), dir)) {
            return runners[i];
        }
    }

    return NULL;
}

static ngx_tg_runner_t *
ngx_tg_runner_new(ngx_tg_main_conf_t *mcf, ngx_pool_t *pool)
{
    ngx_tg_runner_t **runners, *runner;

    runner = ngx_pcalloc(pool, sizeof(ngx_tg_runner_t));
    runners = runner != NULL ? ngx_array_push(&mcf->runners) : NULL;

    if (runners == NULL) {
        return NULL;
    }

    *runners = runner;
    ngx_tg_runner_init(runner);

    return runner;
}

ngx_tg_runner_t *
ngx_tg_runner_add(ngx_conf_t *cf, ngx_str_t *path, ngx_str_t *state_dir)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_runner_t *runner;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    runner = ngx_tg_runner_find_by_state_dir(mcf,
                                             ngx_tg_str_from_ngx(state_dir));

    if (runner == NULL) {
        runner = ngx_tg_runner_new(mcf, cf->pool);

        if (runner != NULL) {
            runner->path = *path;
            runner->state_dir = *state_dir;
        }

    } else if (!tg_str_eq(ngx_tg_str_from_ngx(&runner->path),
                          ngx_tg_str_from_ngx(path)))
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "servers with the same \"tool_state_dir\" need "
                           "the same \"tool_runner\"");
        return NULL;
    }

    return runner;
}

const ngx_str_t *
ngx_tg_runner_get_state_dir(const ngx_tg_runner_t *runner)
{
    return &runner->state_dir;
}

static void
ngx_tg_runner_set_address(ngx_tg_runner_t *runner)
{
    runner->sockaddr.sun_family = AF_UNIX;
    (void) ngx_sprintf((u_char *) runner->sockaddr.sun_path, "%V/%s%Z",
                       &runner->state_dir, NGX_TG_RUNNER_SOCKET_NAME);
}

ngx_tg_runner_t *
ngx_tg_runner_find_or_create(ngx_tg_main_conf_t *mcf, tg_str_t dir)
{
    ngx_tg_runner_t *runner;
    u_char *path;

    runner = ngx_tg_runner_find_by_state_dir(mcf, dir);

    if (runner != NULL || dir.len > NGX_TG_STATE_DIR_MAX) {
        return runner;
    }

    path = ngx_pnalloc(ngx_cycle->pool, NGX_TG_STATE_DIR_MAX);
    runner = path != NULL ? ngx_tg_runner_new(mcf, ngx_cycle->pool) : NULL;

    if (runner != NULL) {
        runner->is_of_other_config = 1;
        runner->path.data = (u_char *) "";
        runner->state_dir.data = path;
        runner->state_dir.len = dir.len;
        ngx_memcpy(path, dir.data, dir.len);
        ngx_tg_runner_set_address(runner);
    }

    return runner;
}

ngx_int_t
ngx_tg_runner_init_conf(ngx_cycle_t *cycle, ngx_tg_runner_t *runner)
{
    if (ngx_tg_runner_resolve_paths(cycle, &runner->path, &runner->state_dir)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    /* Only a default path can be too long here. */
    if (runner->state_dir.len > NGX_TG_STATE_DIR_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"%V\" is too long for a socket in it; choose a shorter "
                      "one with \"tool_state_dir\"",
                      &runner->state_dir);
        return NGX_ERROR;
    }

    if (ngx_tg_state_dir_test(cycle, &runner->state_dir) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_tg_runner_set_address(runner);

    return NGX_OK;
}

ngx_int_t
ngx_tg_runner_make_state_dir(ngx_cycle_t *cycle, ngx_tg_runner_t *runner)
{
    return ngx_tg_state_dir_make(cycle, &runner->state_dir);
}
