/*
 * Who calls: the key by which the runner knows a session, and its goodbye.
 */
#include "nginx/call/ngx_toolgate_call.h"

const char *
ngx_toolgate_front_key(ngx_toolgate_front_t *front)
{
    if (front->key[0] == '\0') {
        if (ngx_toolgate_make_key(front->key) != NGX_OK) {
            return NULL;
        }

        ngx_toolgate_front_keyed(front);
    }

    return front->key;
}

void
ngx_toolgate_front_keyed(ngx_toolgate_front_t *front)
{
    if (front->key[0] != '\0' && front->conf->runner != NULL) {
        ngx_toolgate_runner_hold(front->conf->runner);
    }
}

void
ngx_toolgate_front_forget(ngx_toolgate_front_t *front)
{
    if (front->key[0] != '\0' && front->conf->runner != NULL) {
        ngx_toolgate_runner_release(front->conf->runner);
    }

    front->key[0] = '\0';
}

void
ngx_toolgate_front_leave(ngx_toolgate_front_t *front)
{
    const ngx_toolgate_handler_t *const *handler;
    ngx_toolgate_main_conf_t *mcf;

    if (front->key[0] == '\0') {
        return;
    }

    mcf = ngx_stream_get_module_main_conf(front->stream,
                                          ngx_stream_toolgate_module);

    for (handler = mcf->handlers; *handler != NULL; handler++) {
        if ((*handler)->leave != NULL) {
            (*handler)->leave(front);
        }
    }

    ngx_toolgate_front_forget(front);
}

void
ngx_toolgate_call_log(void *host, const char *text)
{
    ngx_toolgate_front_t *front = host;

    if (ngx_toolgate_may_log(&front->pace, NGX_LOG_INFO,
                             front->connection->log)) {
        ngx_log_error(NGX_LOG_INFO, front->connection->log, 0, "%s", text);
    }
}
