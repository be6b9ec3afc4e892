/*
 * Watching resources that sessions subscribed to. `watch every=TIME`: the
 * runner repeats the job that reads the resource, and this worker compares the
 * results. `watch file`: the runner answers a request when the version of the
 * file is no longer the one that this worker knows.
 */
#include "nginx/subscription/ngx_tg_subscription.h"

#include "nginx/call/ngx_tg_call_capture.h"

/* Delay until a request that failed is sent again, in ms. */
#define NGX_TG_WATCH_RETRY_DELAY 5000
/* Maximum number of URIs for which this worker repeats jobs. */
#define NGX_TG_WATCHES_EVERY_MAX 64

static ngx_uint_t ngx_tg_nwatches_every;

static void
ngx_tg_watch_schedule(ngx_tg_watched_uri_t *watched, ngx_msec_t delay)
{
    if (!ngx_tg_worker_is_exiting() && !ngx_terminate) {
        ngx_add_timer(&watched->timer, delay);
    }
}

/* Returns the params of the next request. */
static tg_str_t
ngx_tg_watch_write_params(const ngx_tg_watched_uri_t *watched, tg_buf_t *params)
{
    tg_buf_append_str(params, tg_buf_view(&watched->params));

    if (watched->mode == NGX_TG_WATCH_FILE && watched->version != 0) {
        tg_buf_truncate(params, params->len - 1);
        tg_buf_printf(params, ",\"version\":\"%016llx\"}",
                      (unsigned long long) watched->version);
    }

    return tg_buf_view(params);
}

static void
ngx_tg_watch_send(ngx_tg_watched_uri_t *watched)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    rc = TG_NOMEM;
    (void) ngx_tg_watch_write_params(watched, &params);

    if (!tg_buf_has_failed(&params)) {
        rc = ngx_tg_runner_send_request(watched->scf->runner,
                                        watched->mode == NGX_TG_WATCH_FILE
                                            ? TG_STR("file_watch")
                                            : watched->method,
                                        tg_buf_view(&params),
                                        &watched->request);
    }

    tg_buf_deinit(&params);

    if (rc != TG_OK) {
        ngx_tg_watch_schedule(watched, NGX_TG_WATCH_RETRY_DELAY);
    }
}

static void
ngx_tg_watch_on_timer(ngx_event_t *ev)
{
    ngx_tg_watched_uri_t *watched = ev->data;

    if (watched->method.len != 0) {
        ngx_tg_watch_send(watched);
    } else {
        ngx_tg_watch_begin(watched);
    }
}

/* Returns the version of a job's result, or 0 if the job has failed. */
static uint64_t
ngx_tg_watch_get_result_version(tg_str_t result)
{
    tg_outcome_t outcome;
    tg_run_stats_t ran;
    tg_buf_t scratch;
    uint64_t version;

    tg_buf_init(&scratch, tg_alloc_libc());
    outcome = tg_outcome_parse_json(result, &scratch, &ran);
    version = 0;

    if (outcome.kind != TG_OUTCOME_FAILURE) {
        version = tg_hash_fast(TG_HASH_INIT + (uint64_t) outcome.kind,
                               outcome.value);
        version += version == 0;
    }

    tg_buf_deinit(&scratch);

    return version;
}

/* Returns a member of the runner's result for a file, or 0. */
static uint64_t
ngx_tg_watch_get_file_number(tg_str_t result, tg_str_t name)
{
    tg_str_t text;
    uint64_t number;
    size_t i;

    number = 0;

    if (!tg_json_has_member(result, name, TG_JSON_STRING, &text)) {
        return 0;
    }

    text = tg_json_string_body(text);

    for (i = 0; i < text.len && i < 16 && tg_hex_value(text.data[i]) >= 0; i++)
    {
        number = number << 4 | (uint64_t) tg_hex_value(text.data[i]);
    }

    return number;
}

static void
ngx_tg_watch_on_response(void *data, const tg_response_t *answer)
{
    ngx_tg_watched_uri_t *watched = data;

    uint64_t version, changed;
    ngx_msec_t delay;

    version = 0;
    changed = 0;

    if (answer->kind != TG_RESPONSE_RESULT) {
        /* void */
    } else if (watched->mode == NGX_TG_WATCH_FILE) {
        version = ngx_tg_watch_get_file_number(answer->result,
                                               TG_STR("version"));
        changed = ngx_tg_watch_get_file_number(answer->result,
                                               TG_STR("changed"));
    } else {
        version = ngx_tg_watch_get_result_version(answer->result);
    }

    if (version != 0) {
        ngx_tg_watched_uri_set_version(watched, version, changed);
    }

    delay = watched->mode == NGX_TG_WATCH_EVERY ? watched->every
            : version != 0                      ? 1
                                                : NGX_TG_WATCH_RETRY_DELAY;
    ngx_tg_watch_schedule(watched, delay);
}

/* Checks whether this worker may repeat one more job. */
static ngx_uint_t
ngx_tg_watch_has_room(ngx_tg_watched_uri_t *watched)
{
    if (watched->mode != NGX_TG_WATCH_EVERY || watched->is_counted) {
        return 1;
    }

    if (ngx_tg_nwatches_every == NGX_TG_WATCHES_EVERY_MAX) {
        return 0;
    }

    ngx_tg_nwatches_every++;
    watched->is_counted = 1;

    return 1;
}

static void
ngx_tg_watch_release_room(ngx_tg_watched_uri_t *watched)
{
    ngx_tg_nwatches_every -= watched->is_counted;
    watched->is_counted = 0;
}

/* Begins with the job that reads the resource for one of its sessions. */
static void
ngx_tg_watch_capture(ngx_tg_watched_uri_t *watched,
                     const tg_catalog_entry_t *entry, tg_str_t arguments)
{
    ngx_tg_subscriber_t *subscriber;
    ngx_int_t rc;

    watched->timer.handler = ngx_tg_watch_on_timer;
    watched->timer.data = watched;
    watched->timer.log = ngx_cycle->log;
    watched->timer.cancelable = 1;
    watched->request.data = watched;
    watched->request.answer = ngx_tg_watch_on_response;

    if (ngx_queue_empty(&watched->subscribers)) {
        return;
    }

    subscriber = ngx_queue_data(ngx_queue_head(&watched->subscribers),
                                ngx_tg_subscriber_t, queue);
    rc = ngx_tg_watch_has_room(watched)
             ? ngx_tg_call_capture_job(subscriber->base, entry, watched->uri,
                                       arguments, &watched->method,
                                       &watched->params)
             : NGX_BUSY;

    if (rc == NGX_OK) {
        ngx_tg_watch_send(watched);
        return;
    }

    ngx_tg_watch_release_room(watched);

    if (rc == NGX_BUSY) {
        ngx_tg_watch_schedule(watched, NGX_TG_WATCH_RETRY_DELAY);
    } else {
        watched->mode = NGX_TG_WATCH_UNSET;
    }
}

void
ngx_tg_watch_begin(ngx_tg_watched_uri_t *watched)
{
    const tg_catalog_entry_t *entry;
    const ngx_tg_tool_t *tool;
    tg_buf_t arguments;

    watched->mode = NGX_TG_WATCH_UNSET;
    tg_buf_init(&arguments, tg_alloc_libc());
    entry = tg_catalog_find_uri(watched->scf->catalog, watched->uri,
                                &arguments);

    if (entry != NULL) {
        tool = entry->host;

        if (!ngx_tg_subscription_can_report(NULL, entry, watched->uri)) {
            watched->handler = NULL;

        } else if (tool->handler->watch != NULL) {
            watched->handler = tool->handler;
            watched->handler->watch(watched->scf, watched->uri, 1);

        } else {
            watched->mode = tool->watch;
            watched->every = tool->watch_every;
            ngx_tg_watch_capture(watched, entry, tg_buf_view(&arguments));
        }
    }

    tg_buf_deinit(&arguments);
}

void
ngx_tg_watch_end(ngx_tg_watched_uri_t *watched)
{
    if (watched->handler != NULL) {
        watched->handler->watch(watched->scf, watched->uri, 0);
    }

    if (watched->timer.timer_set) {
        ngx_del_timer(&watched->timer);
    }

    ngx_tg_watch_release_room(watched);
    ngx_tg_upstream_request_cancel(&watched->request, 0);
}
