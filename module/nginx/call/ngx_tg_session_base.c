/* The client's token for the runner, and the notification of its end. */
#include "nginx/call/ngx_tg_call_impl.h"

const char *
ngx_tg_session_base_get_token(ngx_tg_session_base_t *base)
{
    if (base->key[0] == '\0') {
        if (ngx_tg_token_generate(base->key) != NGX_OK) {
            return NULL;
        }

        ngx_tg_session_base_hold_runner(base);
    }

    return base->key;
}

void
ngx_tg_session_base_hold_runner(ngx_tg_session_base_t *base)
{
    if (base->key[0] != '\0' && base->conf->runner != NULL) {
        ngx_tg_runner_hold_conn(base->conf->runner);
    }
}

void
ngx_tg_session_base_release_runner(ngx_tg_session_base_t *base)
{
    if (base->key[0] != '\0' && base->conf->runner != NULL) {
        ngx_tg_runner_release_conn(base->conf->runner);
    }

    base->key[0] = '\0';
}

void
ngx_tg_session_base_notify_gone(ngx_tg_session_base_t *base)
{
    const ngx_tg_handler_t *const *handler;
    ngx_tg_main_conf_t *mcf;

    if (base->key[0] == '\0') {
        return;
    }

    mcf = ngx_stream_get_module_main_conf(base->stream,
                                          ngx_stream_toolgate_module);

    for (handler = mcf->handlers; *handler != NULL; handler++) {
        if ((*handler)->on_client_gone != NULL) {
            (*handler)->on_client_gone(base);
        }
    }

    ngx_tg_session_base_release_runner(base);
}

void
ngx_tg_session_base_on_log(void *host, const char *text)
{
    ngx_tg_session_base_t *base = host;

    if (ngx_tg_log_throttle_take(&base->throttle, NGX_LOG_INFO,
                                 base->connection->log))
    {
        ngx_log_error(NGX_LOG_INFO, base->connection->log, 0, "%s", text);
    }
}
