/*
 * What a session knows of its way to another worker.
 */
#include "nginx/move/ngx_toolgate_move.h"

static const ngx_toolgate_mover_t ngx_toolgate_the_mover = {
    ngx_toolgate_arrival,
    ngx_toolgate_resume,
    ngx_toolgate_arrive_stop,
    ngx_toolgate_go,
};

void
ngx_toolgate_move_start(ngx_cycle_t *cycle)
{
    ngx_toolgate_session_init(&ngx_toolgate_the_mover);

    /* One process alone has nobody to give to or take from. */
    if (ngx_process == NGX_PROCESS_WORKER) {
        ngx_toolgate_arrive_start(cycle);
    }
}
