/*
 * Calls that move with their session to another worker: the runner holds their
 * jobs under a key, with which that worker attaches to them.
 */
#include "nginx/call/ngx_tg_call_impl.h"

#include "protocol/tg_peer_snapshot.h"

/* State of a call for its new worker, besides the peer's. */
typedef struct {
    uint64_t number;
    uint64_t start;
    int64_t queued;
    uint64_t size;
    uint64_t timeout;
    uint64_t left; /* ms until the watchdog fires */
    /*
     * Lengths of the strings that follow: directory of the runner, trace
     * context. The arguments are the rest of the bytes.
     */
    uint64_t dir_len;
    uint64_t parent_len;
    uint64_t state_len;
    char key[NGX_TG_TOKEN_LEN];
} ngx_tg_call_snapshot_t;

uint64_t
ngx_tg_timer_get_remaining_ms(const ngx_event_t *ev)
{
    ngx_msec_int_t left;

    if (!ev->timer_set) {
        return 0;
    }

    left = (ngx_msec_int_t) (ev->timer.key - ngx_current_msec);

    return left > 0 ? (uint64_t) left : 1;
}

/* --- the old worker --- */

ngx_int_t
ngx_tg_session_base_detach_calls(ngx_tg_session_base_t *base)
{
    ngx_tg_call_t *call;
    tg_call_t *deferred;
    ngx_int_t rc;

    rc = NGX_OK;

    for (deferred = base->peer.calls; deferred != NULL;
         deferred = deferred->next) {
        call = deferred->host;

        /* A call that this worker runs has no runner yet. */
        if (call->priv->job.runner == NULL) {
            ngx_tg_call_init_remote(call, base->conf->runner);
        }

        if (ngx_tg_remote_call_detach(&call->priv->job) != NGX_OK) {
            rc = NGX_AGAIN;
        }
    }

    return rc;
}

void
ngx_tg_session_base_reattach_calls(ngx_tg_session_base_t *base)
{
    ngx_tg_call_t *call;
    tg_call_t *deferred, *next;

    for (deferred = base->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;
        call->priv->is_handed_off |= call->priv->job.state
                                         == NGX_TG_REMOTE_CALL_DETACHED
                                     && !call->priv->job.is_local;

        if (ngx_tg_remote_call_reattach(&call->priv->job) != NGX_OK) {
            ngx_tg_call_fail(call, TG_FAILURE_LOST,
                             "NGINX was told to exit and lost track of the "
                             "program, which may have completed its work.");
        }
    }
}

void
ngx_tg_call_write_snapshot(void *host, const tg_call_t *deferred, tg_buf_t *out)
{
    ngx_tg_call_snapshot_t snapshot;
    ngx_tg_call_t *call;
    const ngx_str_t *dir;

    call = deferred->host;
    dir = ngx_tg_runner_get_state_dir(call->priv->job.runner);

    ngx_memzero(&snapshot, sizeof(snapshot));
    snapshot.number = call->priv->number;
    snapshot.start = call->start;
    snapshot.queued = call->priv->ran.queued_ms;
    snapshot.size = call->priv->size;
    snapshot.timeout = call->priv->timeout;
    snapshot.left = ngx_tg_timer_get_remaining_ms(&call->priv->timer);

    /* Wait longer: this worker enforces the deadline. */
    if (call->priv->job.is_local) {
        snapshot.left += NGX_TG_WATCHDOG_GRACE;
    }

    snapshot.dir_len = dir->len;
    snapshot.parent_len = call->trace.parent.len;
    snapshot.state_len = call->trace.state.len;
    ngx_memcpy(snapshot.key, call->priv->job.key, NGX_TG_TOKEN_LEN);

    tg_buf_append(out, (char *) &snapshot, sizeof(snapshot));
    tg_buf_append(out, (char *) dir->data, dir->len);
    tg_buf_append_str(out, call->trace.parent);
    tg_buf_append_str(out, call->trace.state);
    tg_buf_append_str(out, call->priv->arguments);
}

/* Detaches a call from a moved session, from which it copies what it needs. */
static ngx_int_t
ngx_tg_call_drop_session(ngx_tg_call_t *call)
{
    tg_catalog_entry_t *entry;
    tg_str_t mime;
    char *at;

    mime = call->priv->deferred->reply.mime;
    entry = ngx_palloc(call->pool, sizeof(tg_catalog_entry_t));
    at = ngx_pnalloc(call->pool, call->entry->name.len + mime.len);

    if (entry == NULL || at == NULL) {
        return NGX_ERROR;
    }

    *entry = *call->entry;
    entry->name = tg_str_copy_to(&at, call->entry->name);
    entry->mime = tg_str_copy_to(&at, mime);
    call->entry = entry;
    ngx_tg_call_count_moved_out(call);
    call->base = NULL;
    call->priv->deferred = NULL;
    call->priv->timer.log = ngx_cycle->log;
    call->pool->log = ngx_cycle->log;

    return NGX_OK;
}

/* Ends a call here, or continues it here without its session. */
static void
ngx_tg_call_hand_off(ngx_tg_call_t *call)
{
    /* Without memory the job is cancelled; the attached worker is notified. */
    if (ngx_tg_remote_call_relay(&call->priv->job)
        && ngx_tg_call_drop_session(call) == NGX_OK)
    {
        return;
    }

    if (!call->priv->job.is_local) {
        ngx_tg_call_set_state(call, NGX_TG_CALL_MOVING);
    }

    ngx_tg_call_end(call, NULL);
}

void
ngx_tg_session_base_hand_off_calls(ngx_tg_session_base_t *base)
{
    tg_call_t *deferred;

    for (deferred = base->peer.calls; deferred != NULL;
         deferred = deferred->next) {
        ngx_tg_call_hand_off(deferred->host);
    }

    tg_peer_forget_calls(&base->peer);
}

/* --- the new worker --- */

/* Returns the next `len` bytes, or fewer at the end. */
static tg_str_t
ngx_tg_call_snapshot_read_str(tg_str_t *bytes, uint64_t len)
{
    tg_str_t taken;

    taken = tg_str(bytes->data, ngx_min(bytes->len, len));
    *bytes = tg_str(bytes->data + taken.len, bytes->len - taken.len);

    return taken;
}

/*
 * Applies a snapshot to a call and attaches it to its job. This config's schema
 * validates the result, if the tool still has one.
 */
static ngx_int_t
ngx_tg_call_apply_snapshot(ngx_tg_call_t *call, const tg_catalog_entry_t *now,
                           const ngx_tg_call_snapshot_t *snapshot,
                           tg_str_t bytes)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_runner_t *runner;
    ngx_tg_tool_t *tool;
    tg_schema_t *schema;
    tg_str_t dir, parent, state;

    dir = ngx_tg_call_snapshot_read_str(&bytes, snapshot->dir_len);
    parent = ngx_tg_call_snapshot_read_str(&bytes, snapshot->parent_len);
    state = ngx_tg_call_snapshot_read_str(&bytes, snapshot->state_len);

    if (ngx_tg_call_restore_trace_context(call, parent, state) != NGX_OK
        || ngx_tg_call_save_for_log(call, now != NULL ? now->host : NULL,
                                    bytes.len != 0 ? bytes : TG_STR_NONE)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    call->priv->is_handed_off = 1;
    call->priv->ran.queued_ms = snapshot->queued;
    call->priv->size = (size_t) snapshot->size;
    call->priv->timeout = (ngx_msec_t) snapshot->timeout;

    schema = NULL;

    if (now != NULL && call->entry->output_schema.data != NULL) {
        tool = now->host;
        call->base->steps += ngx_tg_tool_compile_imported(tool);
        schema = tool->output_schema;
    }

    call->priv->output_schema = schema != NULL ? tg_schema_retain(schema)
                                               : NULL;

    mcf = ngx_stream_get_module_main_conf(call->base->stream,
                                          ngx_stream_toolgate_module);
    runner = snapshot->dir_len == dir.len
                 ? ngx_tg_runner_find_or_create(mcf, dir)
                 : NULL;

    return runner != NULL
                   && ngx_tg_call_attach_remote(call, runner, snapshot->key)
                          == TG_OK
               ? NGX_OK
               : NGX_ERROR;
}

void
ngx_tg_call_restore(void *host, tg_call_t *deferred,
                    const tg_catalog_entry_t *now, tg_str_t bytes)
{
    ngx_tg_call_snapshot_t snapshot;
    ngx_tg_call_t *call;
    tg_outcome_t outcome;

    call = bytes.len >= sizeof(snapshot) ? ngx_tg_call_new(host) : NULL;

    if (call == NULL) {
        outcome = tg_outcome_make_failure(
            TG_FAILURE_INTERNAL, "NGINX was reloaded and lost track of the "
                                 "call; its program may have completed its "
                                 "work.");
        tg_call_respond(deferred, &outcome);
        return;
    }

    ngx_memcpy(&snapshot, bytes.data, sizeof(snapshot));
    bytes = tg_str(bytes.data + sizeof(snapshot), bytes.len - sizeof(snapshot));
    call->start = (ngx_msec_t) snapshot.start;
    call->priv->number = snapshot.number;
    ngx_tg_call_count_moved_in(call, deferred->entry, now);
    ngx_tg_call_set_deferred(call, deferred, (ngx_msec_t) snapshot.left);

    if (ngx_tg_call_apply_snapshot(call, now, &snapshot, bytes) != NGX_OK) {
        ngx_tg_call_fail(call, TG_FAILURE_LOST,
                         "NGINX was reloaded and lost track of the program, "
                         "which may have completed its work.");
    }
}
