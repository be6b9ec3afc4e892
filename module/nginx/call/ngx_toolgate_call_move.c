/*
 * Calls that go along when their session changes its worker: their jobs are
 * held by the runner under a key, and adopted by whoever has it.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include "core/tg_peer_state.h"

/* What the new worker has to know of a call, beside what the peer knows. */
typedef struct {
    uint64_t number;
    uint64_t start;
    int64_t queued;
    uint64_t size;
    uint64_t timeout;
    uint64_t left; /* until the last resort */
    /* What stands behind: a directory, and what a log may ask for. */
    uint64_t dir_len;
    uint64_t parent_len;
    uint64_t state_len;
    char key[NGX_TOOLGATE_KEY];
} ngx_toolgate_packed_call_t;

uint64_t
ngx_toolgate_time_left(const ngx_event_t *ev)
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
ngx_toolgate_calls_release(ngx_toolgate_front_t *front)
{
    ngx_toolgate_call_t *call;
    tg_call_t *deferred;
    ngx_int_t rc;

    rc = NGX_OK;

    for (deferred = front->peer.calls; deferred != NULL;
         deferred = deferred->next) {
        call = deferred->host;

        /* One that this worker runs has met no runner yet. */
        if (call->job.runner == NULL) {
            ngx_toolgate_call_job_init(call, front->conf->runner);
        }

        if (ngx_toolgate_job_release(&call->job) != NGX_OK) {
            rc = NGX_AGAIN;
        }
    }

    return rc;
}

void
ngx_toolgate_calls_reclaim(ngx_toolgate_front_t *front)
{
    ngx_toolgate_call_t *call;
    tg_call_t *deferred, *next;

    for (deferred = front->peer.calls; deferred != NULL; deferred = next) {
        next = deferred->next;
        call = deferred->host;
        call->is_carried |= call->job.state == NGX_TOOLGATE_JOB_HELD
                            && !call->job.is_here;

        if (ngx_toolgate_job_reclaim(&call->job) != NGX_OK) {
            ngx_toolgate_call_fail(call, TG_FAILURE_LOST,
                                   "NGINX was told to exit and lost the "
                                   "program; it may have done its work.");
        }
    }
}

void
ngx_toolgate_call_pack(void *host, const tg_call_t *deferred, tg_buf_t *out)
{
    ngx_toolgate_packed_call_t packed;
    ngx_toolgate_call_t *call;
    const ngx_str_t *dir;

    (void) host;
    call = deferred->host;
    dir = ngx_toolgate_runner_dir(call->job.runner);

    ngx_memzero(&packed, sizeof(packed));
    packed.number = call->number;
    packed.start = call->start;
    packed.queued = call->ran.queued_ms;
    packed.size = call->size;
    packed.timeout = call->timeout;
    packed.left = ngx_toolgate_time_left(&call->timer);

    /* Who runs it keeps the deadline. */
    if (call->job.is_here) {
        packed.left += NGX_TOOLGATE_GRACE;
    }

    packed.dir_len = dir->len;
    packed.parent_len = call->trace.parent.len;
    packed.state_len = call->trace.state.len;
    ngx_memcpy(packed.key, call->job.key, NGX_TOOLGATE_KEY);

    tg_buf_put(out, (char *) &packed, sizeof(packed));
    tg_buf_put(out, (char *) dir->data, dir->len);
    tg_buf_str(out, call->trace.parent);
    tg_buf_str(out, call->trace.state);
    tg_buf_str(out, call->arguments);
}

void
ngx_toolgate_calls_leave(ngx_toolgate_front_t *front)
{
    tg_call_t *deferred;

    for (deferred = front->peer.calls; deferred != NULL;
         deferred = deferred->next) {
        ngx_toolgate_call_leave(deferred->host);
    }

    tg_peer_forget(&front->peer);
}

/* --- the new worker --- */

/* The next so many bytes, of those that there are. */
static tg_str_t
ngx_toolgate_packed_take_str(tg_str_t *bytes, uint64_t len)
{
    tg_str_t taken;

    taken = tg_str(bytes->data, ngx_min(bytes->len, len));
    *bytes = tg_str(bytes->data + taken.len, bytes->len - taken.len);

    return taken;
}

/* Its result is checked where the schema is the same. */
static ngx_int_t
ngx_toolgate_call_resume(ngx_toolgate_call_t *call, const tg_entry_t *now,
                         const ngx_toolgate_packed_call_t *packed,
                         tg_str_t bytes)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_runner_t *runner;
    ngx_toolgate_tool_t *tool;
    tg_schema_t *schema;
    tg_str_t dir, parent, state;

    dir = ngx_toolgate_packed_take_str(&bytes, packed->dir_len);
    parent = ngx_toolgate_packed_take_str(&bytes, packed->parent_len);
    state = ngx_toolgate_packed_take_str(&bytes, packed->state_len);

    /* What is left are the arguments. */
    if (ngx_toolgate_trace_resume(call, parent, state) != NGX_OK
        || ngx_toolgate_call_keep_for_log(call, now != NULL ? now->host : NULL,
                                          bytes.len != 0 ? bytes : TG_STR_NONE)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    call->is_carried = 1;
    call->ran.queued_ms = packed->queued;
    call->size = (size_t) packed->size;
    call->timeout = (ngx_msec_t) packed->timeout;

    schema = NULL;

    if (now != NULL && call->entry->output_schema.data != NULL) {
        tool = now->host;
        call->front->steps += ngx_toolgate_compile_imported(tool);
        schema = tool->output_schema;
    }

    call->output_schema = schema != NULL ? tg_schema_hold(schema) : NULL;

    mcf = ngx_stream_get_module_main_conf(call->front->stream,
                                          ngx_stream_toolgate_module);
    runner = packed->dir_len == dir.len ? ngx_toolgate_runner_of(mcf, dir)
                                        : NULL;

    return runner != NULL
                   && ngx_toolgate_call_adopt(call, runner, packed->key)
                          == TG_OK
               ? NGX_OK
               : NGX_ERROR;
}

void
ngx_toolgate_call_unpack(void *host, tg_call_t *deferred, const tg_entry_t *now,
                         tg_str_t bytes)
{
    ngx_toolgate_packed_call_t packed;
    ngx_toolgate_call_t *call;
    tg_outcome_t outcome;

    call = bytes.len >= sizeof(packed) ? ngx_toolgate_call_new(host) : NULL;

    if (call == NULL) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "NGINX was reloaded and lost the call; "
                                     "its program may have done its work.");
        tg_call_answer(deferred, &outcome);
        return;
    }

    ngx_memcpy(&packed, bytes.data, sizeof(packed));
    bytes = tg_str(bytes.data + sizeof(packed), bytes.len - sizeof(packed));
    call->start = (ngx_msec_t) packed.start;
    call->number = packed.number;
    ngx_toolgate_call_counts_moved(call, deferred->entry, now);
    ngx_toolgate_call_keep(call, deferred, (ngx_msec_t) packed.left);

    if (ngx_toolgate_call_resume(call, now, &packed, bytes) != NGX_OK) {
        ngx_toolgate_call_fail(call, TG_FAILURE_LOST,
                               "NGINX was reloaded and lost the program; it "
                               "may have done its work.");
    }
}
