/*
 * Watching the folders of `resource_files`: the runner answers a request when
 * other files are on offer. There is a request only while a client of this
 * worker is notified of changes of the list.
 */
#include "nginx/handlers/ngx_tg_file.h"

#include "nginx/call/ngx_tg_session_base.h"
#include "nginx/upstream/ngx_tg_runner.h"

/* Interval of checking whether somebody listens, in ms. */
#define NGX_TG_RESOURCE_WATCH_INTERVAL 1000

typedef struct {
    const ngx_tg_srv_conf_t *scf;
    ngx_tg_upstream_request_t request;
    ngx_uint_t is_sent; /* the request is in flight */
    u_char version[20]; /* last version, a JSON string, or empty */
} ngx_tg_resource_watch_t;

/* The servers with folders. */
static ngx_tg_resource_watch_t *ngx_tg_resource_watches;
static ngx_uint_t ngx_tg_resource_nwatches;

static void ngx_tg_resource_watch_on_timer(ngx_event_t *ev);

static ngx_event_t ngx_tg_resource_watch_timer = {
    .handler = ngx_tg_resource_watch_on_timer,
    .data = &ngx_tg_dummy_connection,
    .cancelable = 1,
};

/* Without memory, or a connection, the timer repeats it. */
static void
ngx_tg_resource_watch_send(ngx_tg_resource_watch_t *watch)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_cstr(&params, "tool", "resources/list");
    ngx_tg_resource_files_append_folders(NULL, watch->scf->catalog, &params);
    tg_json_add_raw(&params, "version",
                    watch->version[0] != '\0'
                        ? tg_str_from_cstr((char *) watch->version)
                        : TG_STR_NONE);
    tg_buf_append_char(&params, '}');

    watch->is_sent = !tg_buf_has_failed(&params)
                     && ngx_tg_runner_send_request(watch->scf->runner,
                                                   TG_STR("files_watch"),
                                                   tg_buf_view(&params),
                                                   &watch->request)
                            == TG_OK;
    tg_buf_deinit(&params);
}

static void
ngx_tg_resource_watch_check(ngx_tg_resource_watch_t *watch)
{
    ngx_uint_t is_wanted;

    is_wanted = !ngx_exiting && !ngx_terminate
                && ngx_tg_server_find_listeners(watch->scf, 0);

    if (is_wanted && !watch->is_sent) {
        ngx_tg_resource_watch_send(watch);

    } else if (!is_wanted) {
        watch->version[0] = '\0';

        if (watch->is_sent) {
            watch->is_sent = 0;
            ngx_tg_upstream_request_cancel(&watch->request, 0);
        }
    }
}

static void
ngx_tg_resource_watch_on_response(void *data, const tg_response_t *answer)
{
    ngx_tg_resource_watch_t *watch = data;

    tg_str_t version;
    ngx_uint_t is_first;

    watch->is_sent = 0;

    /* The timer repeats a request that has failed. */
    if (answer->kind != TG_RESPONSE_RESULT
        || !tg_json_has_member(answer->result, TG_STR("version"),
                               TG_JSON_STRING, &version)
        || version.len >= sizeof(watch->version))
    {
        return;
    }

    is_first = watch->version[0] == '\0';
    *ngx_cpymem(watch->version, version.data, version.len) = '\0';

    if (!is_first) {
        (void) ngx_tg_server_find_listeners(watch->scf, 1);
    }

    ngx_tg_resource_watch_check(watch);
}

void
ngx_tg_resource_watch_update(const ngx_tg_srv_conf_t *scf)
{
    ngx_uint_t i;

    for (i = 0; i < ngx_tg_resource_nwatches; i++) {
        if (ngx_tg_resource_watches[i].scf == scf) {
            ngx_tg_resource_watch_check(&ngx_tg_resource_watches[i]);
        }
    }
}

static void
ngx_tg_resource_watch_on_timer(ngx_event_t *ev)
{
    ngx_uint_t i;

    for (i = 0; i < ngx_tg_resource_nwatches; i++) {
        ngx_tg_resource_watch_check(&ngx_tg_resource_watches[i]);
    }

    if (!ngx_exiting && !ngx_terminate) {
        ngx_add_timer(ev, NGX_TG_RESOURCE_WATCH_INTERVAL);
    }
}

ngx_int_t
ngx_tg_resource_watch_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_resource_watch_t *watch;
    ngx_tg_main_conf_t *mcf;
    ngx_tg_srv_conf_t **scf;
    ngx_uint_t i;

    mcf = ngx_tg_cycle_get_main_conf(cycle);

    if (mcf == NULL || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    scf = mcf->servers.elts;
    ngx_tg_resource_watches = ngx_pcalloc(
        cycle->pool,
        (mcf->servers.nelts + 1) * sizeof(ngx_tg_resource_watch_t));

    if (ngx_tg_resource_watches == NULL) {
        return NGX_ERROR;
    }

    for (i = 0; i < mcf->servers.nelts; i++) {
        if (scf[i]->list_resources != NULL) {
            watch = &ngx_tg_resource_watches[ngx_tg_resource_nwatches++];
            watch->scf = scf[i];
            watch->request.data = watch;
            watch->request.answer = ngx_tg_resource_watch_on_response;
        }
    }

    if (ngx_tg_resource_nwatches != 0) {
        ngx_tg_resource_watch_timer.log = cycle->log;
        ngx_add_timer(&ngx_tg_resource_watch_timer,
                      NGX_TG_RESOURCE_WATCH_INTERVAL);
    }

    return NGX_OK;
}
