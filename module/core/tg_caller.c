/*
 * The caller's requests, in each dialect, and its end.
 */
#include "core/tg_caller.h"

#include "core/tg_peer_impl.h"
#include "core/tg_pending.h"

static void
tg_caller_reset(tg_caller_t *caller)
{
    int is_ipc;

    is_ipc = caller->dialect == TG_DIALECT_IPC;
    tg_frame_init(&caller->frame, is_ipc ? TG_FRAME_PREFIX : TG_FRAME_LINE,
                  caller->max_frame);
    tg_buf_reset(&caller->out, 0);
    caller->sent = 0;
    caller->written = 0;
    caller->is_drained = 0;
    caller->is_closed = 0;
}

void
tg_caller_init(tg_caller_t *caller, const tg_alloc_t *alloc,
               const tg_caller_ops_t *ops, void *host, tg_dialect_t dialect,
               size_t max_frame)
{
    memset(caller, 0, sizeof(*caller));
    caller->alloc = alloc;
    caller->ops = ops;
    caller->host = host;
    caller->dialect = dialect;
    caller->max_frame = max_frame;
    caller->next_id = 1;

    if (dialect == TG_DIALECT_IPC && max_frame > TG_FRAME_IPC_MAX) {
        caller->max_frame = TG_FRAME_IPC_MAX;
    }

    if (dialect == TG_DIALECT_RELAY && max_frame > TG_FRAME_RELAY_MAX - 1) {
        caller->max_frame = TG_FRAME_RELAY_MAX - 1;
    }

    tg_buf_init(&caller->out, alloc);
    tg_caller_reset(caller);
}

void
tg_caller_deinit(tg_caller_t *caller)
{
    while (caller->first != NULL) {
        tg_pending_remove(caller, caller->first);
    }

    tg_free(caller->alloc, caller->slots);
    caller->slots = NULL;
    caller->nslots = 0;
    tg_buf_deinit(&caller->out);
}

/* --- frames out --- */

/*
 * Ends the frame that started at start: newline or prefix, and the size.
 * TG_OK, TG_LIMIT (taken back), TG_NOMEM (taken back).
 */
static int
tg_caller_close(tg_caller_t *caller, size_t start)
{
    tg_buf_t *out;
    size_t size;

    out = &caller->out;

    if (tg_buf_failed(out)) {
        tg_buf_truncate(out, start);
        return TG_NOMEM;
    }

    size = out->len - start;

    if (caller->dialect == TG_DIALECT_IPC) {
        size -= TG_FRAME_PREFIX_SIZE;
    }

    if (size > caller->max_frame) {
        tg_buf_truncate(out, start);
        return TG_LIMIT;
    }

    if (caller->dialect == TG_DIALECT_IPC) {
        tg_frame_put_prefix(out->data + start, size);
        return TG_OK;
    }

    tg_buf_char(out, '\n');

    if (tg_buf_failed(out)) {
        tg_buf_truncate(out, start);
        return TG_NOMEM;
    }

    return TG_OK;
}

/* Opens a message of a line dialect up to its method, which follows. */
static void
tg_caller_open(tg_caller_t *caller, const tg_pending_t *pending)
{
    tg_buf_t *out;

    out = &caller->out;
    tg_buf_text(out, caller->dialect == TG_DIALECT_RELAY
                         ? "{\"kind\":\"mcp_request\","
                         : "{\"jsonrpc\":\"2.0\",");

    if (pending != NULL) {
        tg_buf_text(out, "\"id\":");
        tg_buf_uint(out, pending->id);
        tg_buf_char(out, ',');
    }

    tg_buf_text(out, "\"method\":");
}

/* A request whose frame is complete: registers it, or takes all back. */
static int
tg_caller_commit(tg_caller_t *caller, tg_pending_t *pending, size_t start,
                 uint64_t *id)
{
    int rc;

    rc = tg_caller_close(caller, start);

    if (rc != TG_OK) {
        tg_pending_remove(caller, pending);
        return rc;
    }

    pending->start = caller->sent;
    caller->sent += caller->out.len - start;

    if (id != NULL) {
        *id = pending->id;
    }

    return TG_OK;
}

int
tg_caller_request(tg_caller_t *caller, tg_str_t method, tg_str_t params,
                  void *tag, uint64_t *id)
{
    tg_pending_t *pending;
    size_t start;

    if (caller->dialect == TG_DIALECT_IPC) {
        return TG_MISSING;
    }

    if (caller->is_drained || caller->is_closed) {
        return TG_CLOSED;
    }

    pending = tg_pending_add(caller, tag);

    if (pending == NULL) {
        return TG_NOMEM;
    }

    start = caller->out.len;
    tg_caller_open(caller, pending);
    tg_json_put_string(&caller->out, method);

    if (params.data != NULL) {
        tg_buf_text(&caller->out, ",\"params\":");
        tg_json_put_compact(&caller->out, params);
    }

    tg_buf_char(&caller->out, '}');

    return tg_caller_commit(caller, pending, start, id);
}

static void
tg_caller_put_call(tg_buf_t *out, tg_str_t name, tg_str_t arguments,
                   tg_str_t meta)
{
    tg_buf_text(out, ",\"params\":{\"name\":\"");
    tg_buf_str(out, name);
    tg_buf_text(out, "\",\"arguments\":");
    tg_json_put_compact(out, arguments);

    if (meta.data != NULL) {
        tg_buf_text(out, ",\"_meta\":");
        tg_json_put_compact(out, meta);
    }

    tg_buf_text(out, "}}");
}

/* ipc: strictly sequential, so all but the first wait outside of out. */
static int
tg_caller_enqueue(tg_caller_t *caller, tg_pending_t *pending, size_t start)
{
    size_t len;
    char *copy;

    if (pending == caller->first) {
        return TG_OK;
    }

    len = caller->out.len - start;
    copy = tg_alloc(caller->alloc, len);

    if (copy == NULL) {
        return TG_NOMEM;
    }

    memcpy(copy, caller->out.data + start, len);
    pending->queued = tg_str(copy, len);
    tg_buf_truncate(&caller->out, start);

    return TG_OK;
}

static int
tg_caller_call_ipc(tg_caller_t *caller, tg_pending_t *pending, tg_str_t name,
                   tg_str_t arguments, uint64_t *id)
{
    size_t start;
    int rc;

    start = caller->out.len;
    tg_buf_put(&caller->out, "\0\0\0\0", TG_FRAME_PREFIX_SIZE);
    tg_buf_text(&caller->out, "{\"method\":\"call_tool\"");
    tg_caller_put_call(&caller->out, name, arguments, TG_STR_NONE);
    rc = tg_caller_close(caller, start);

    if (rc == TG_OK) {
        rc = tg_caller_enqueue(caller, pending, start);
    }

    if (rc != TG_OK) {
        tg_buf_truncate(&caller->out, start);
        tg_pending_remove(caller, pending);
        return rc;
    }

    pending->start = caller->sent;
    caller->sent += caller->out.len - start;

    if (id != NULL) {
        *id = pending->id;
    }

    return TG_OK;
}

int
tg_caller_call_tool(tg_caller_t *caller, tg_str_t name, tg_str_t arguments,
                    tg_str_t meta, void *tag, uint64_t *id)
{
    tg_pending_t *pending;
    size_t start;

    if (caller->is_drained || caller->is_closed) {
        return TG_CLOSED;
    }

    pending = tg_pending_add(caller, tag);

    if (pending == NULL) {
        return TG_NOMEM;
    }

    if (caller->dialect == TG_DIALECT_IPC) {
        return tg_caller_call_ipc(caller, pending, name, arguments, id);
    }

    start = caller->out.len;
    tg_caller_open(caller, pending);
    tg_buf_text(&caller->out, "\"tools/call\"");
    tg_caller_put_call(&caller->out, name, arguments, meta);

    return tg_caller_commit(caller, pending, start, id);
}

int
tg_caller_notify(tg_caller_t *caller, tg_str_t method, tg_str_t params)
{
    size_t start;
    int rc;

    if (caller->dialect != TG_DIALECT_JSONRPC) {
        return TG_OK;
    }

    start = caller->out.len;
    tg_caller_open(caller, NULL);
    tg_json_put_string(&caller->out, method);

    if (params.data != NULL) {
        tg_buf_text(&caller->out, ",\"params\":");
        tg_json_put_compact(&caller->out, params);
    }

    tg_buf_char(&caller->out, '}');
    rc = tg_caller_close(caller, start);

    if (rc == TG_OK) {
        caller->sent += caller->out.len - start;
    }

    return rc;
}

int
tg_caller_hello(tg_caller_t *caller)
{
    return tg_caller_notify(caller, TG_STR(TG_HELLO), TG_STR_NONE);
}

int
tg_caller_cancel(tg_caller_t *caller, uint64_t id, int method_is_mcp)
{
    tg_pending_t *pending;
    tg_buf_t params;
    int rc;

    pending = tg_pending_find(caller, id);

    if (pending == NULL) {
        return TG_MISSING;
    }

    if (caller->dialect == TG_DIALECT_IPC && pending == caller->first) {
        /* The answer will come and must be passed over: forget the tag. */
        pending->tag = NULL;
        return TG_OK;
    }

    tg_pending_remove(caller, pending);
    tg_buf_init(&params, caller->alloc);
    tg_buf_text(&params, method_is_mcp ? "{\"requestId\":" : "{\"id\":");
    tg_buf_uint(&params, id);
    tg_buf_char(&params, '}');

    rc = tg_buf_failed(&params)
             ? TG_NOMEM
             : tg_caller_notify(caller,
                                method_is_mcp
                                    ? TG_STR("notifications/cancelled")
                                    : TG_STR("$/cancelRequest"),
                                tg_buf_view(&params));
    tg_buf_deinit(&params);

    return rc;
}

int
tg_caller_forget(tg_caller_t *caller, uint64_t id)
{
    tg_pending_t *pending;

    pending = tg_pending_find(caller, id);

    if (pending == NULL) {
        return TG_MISSING;
    }

    tg_pending_remove(caller, pending);

    return TG_OK;
}

void *
tg_caller_tag(const tg_caller_t *caller, uint64_t id)
{
    const tg_pending_t *pending;

    pending = tg_pending_find(caller, id);

    return pending != NULL ? pending->tag : NULL;
}

int
tg_caller_shutdown(tg_caller_t *caller, tg_str_t reason)
{
    size_t start;
    int rc;

    if (caller->dialect != TG_DIALECT_RELAY) {
        return TG_OK;
    }

    start = caller->out.len;
    tg_buf_text(&caller->out, "{\"kind\":\"shutdown\",\"reason\":");
    tg_json_put_string(&caller->out, reason);
    tg_buf_char(&caller->out, '}');
    rc = tg_caller_close(caller, start);

    if (rc == TG_OK) {
        caller->sent += caller->out.len - start;
    }

    return rc;
}

void
tg_caller_written(tg_caller_t *caller, size_t len)
{
    caller->written += len;
}

void
tg_caller_lose(tg_caller_t *caller)
{
    tg_pending_t *pending;
    tg_answer_t answer;
    uint64_t written, end;
    int is_drained;
    void *tag;

    written = caller->written;
    is_drained = caller->is_drained;
    end = caller->next_id;
    tg_caller_reset(caller);

    /* Answers may send anew or cancel: only what was there before is lost. */
    while ((pending = caller->first) != NULL && pending->id < end) {
        memset(&answer, 0, sizeof(answer));
        answer.kind = is_drained || pending->queued.data != NULL
                              || pending->start >= written
                          ? TG_ANSWER_NOT_STARTED
                          : TG_ANSWER_LOST;
        tag = pending->tag;
        tg_pending_remove(caller, pending);

        if (tag != NULL || caller->dialect != TG_DIALECT_IPC) {
            caller->ops->answer(caller->host, tag, &answer);
        }
    }

    /* What an answer sent anew waited for those before it. */
    tg_caller_next(caller);
}
