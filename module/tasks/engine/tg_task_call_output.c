/*
 * The method task.output, also for a task that is still running.
 */
#include "tasks/engine/tg_task_call.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "tasks/engine/tg_engine_impl.h"

void
tg_task_call_begin_output(tg_task_call_t *call)
{
    if (call->wait_until == 0) {
        call->wait_until = uv_now(call->job->jobs->loop)
                           + TG_TASK_FOLLOW_TIMEOUT_MS;
    }

    call->seen_count = call->engine->priv->nended;
    tg_task_call_begin_get(call);
}

/* Returns the number of bytes of an incomplete UTF-8 character at the end. */
static size_t
tg_task_count_partial_utf8(tg_str_t bytes)
{
    size_t i, need;
    unsigned char c;

    for (i = 1; i <= 3 && i <= bytes.len; i++) {
        c = (unsigned char) bytes.data[bytes.len - i];
        need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

        if ((c & 0xc0) != 0x80) {
            return need > i ? i : 0;
        }
    }

    return 0;
}

static void
tg_task_call_respond_output(tg_task_call_t *call)
{
    const tg_task_output_request_t *read;
    tg_str_t bytes, state;
    tg_buf_t text;

    read = &call->read;
    bytes = tg_buf_view(&read->bytes);

    if (bytes.len > 4) {
        bytes.len -= tg_task_count_partial_utf8(bytes);
    }

    if (tg_json_get_member(tg_buf_view(&call->query.json), TG_STR("state"),
                           &state)
        != TG_OK)
    {
        state = TG_STR("null");
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_utf8_append_lossy(&text, bytes);
    tg_buf_reset(&call->text, 0);
    tg_buf_append_cstr(&call->text, "{\"taskId\":\"");
    tg_task_append_id(&call->text, call->query.id);
    tg_buf_append_char(&call->text, '"');
    tg_json_add_raw(&call->text, "state", state);
    tg_json_add_uint(&call->text, "offset", read->offset);
    tg_json_add_string(&call->text, "output", tg_buf_view(&text));
    tg_json_add_uint(&call->text, "next", read->offset + bytes.len);
    tg_json_add_uint(&call->text, "size", read->size);
    tg_buf_append_char(&call->text, '}');
    call->text.failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
    tg_task_call_respond_text(call);
}

/*
 * Responds with a read error, as callers would repeat the call after an empty
 * output.
 */
static void
tg_task_call_respond_read_error(tg_task_call_t *call)
{
    tg_outcome_t outcome;

    tg_buf_reset(&call->text, 0);
    tg_buf_append_cstr(&call->text, "The output of the task cannot be read: ");
    tg_buf_append_cstr(&call->text, strerror(call->read.err));
    outcome = tg_outcome_make_failure_str(TG_FAILURE_INTERNAL,
                                          tg_buf_view(&call->text));
    tg_task_call_respond(call, &outcome);
}

static int
tg_task_call_is_task_over(const tg_task_call_t *call)
{
    return call->query.state != TG_TASK_RUNNING
           && call->query.state != TG_TASK_QUEUED;
}

static void
tg_task_call_on_output_read(tg_task_output_request_t *read)
{
    tg_task_call_t *call;
    tg_engine_t *engine;

    call = read->data;
    engine = call->engine;
    call->is_querying = 0;
    tg_engine_end_work(engine);

    if (call->is_abandoned) {
        tg_job_set_done(call->job);

    } else if (read->bytes.len == 0 && read->err != 0) {
        tg_task_call_respond_read_error(call);

    } else if (read->bytes.len == 0 && tg_task_call_get_bool(call, "follow")
               && !tg_task_call_is_task_over(call)
               && uv_now(call->job->jobs->loop) < call->wait_until)
    {
        /*
         * No event would continue the call if the task ended after the query.
         */
        if (call->seen_count != engine->priv->nended) {
            tg_task_call_begin(call);
        } else {
            tg_task_call_enqueue(call, &engine->priv->following);
        }

    } else {
        tg_task_call_respond_output(call);
    }

    tg_engine_advance(engine);
}

void
tg_task_call_on_output(tg_task_call_t *call)
{
    tg_task_output_request_t *read;

    if (call->query.rc == TG_MISSING) {
        tg_task_call_respond_not_found(call);
        return;
    }

    read = &call->read;
    tg_buf_reset(&read->bytes, 0);
    read->op = TG_TASK_OUTPUT_READ;
    read->done = tg_task_call_on_output_read;
    read->data = call;
    read->id = call->query.id;
    read->offset = (uint64_t) tg_task_call_get_int(call, "offset", 0, INT64_MAX,
                                                   0);
    call->is_querying = 1;
    call->engine->nwork_pending++;
    tg_task_outputs_submit(&call->engine->priv->outputs, read);
}

static void
tg_task_call_repeat_method(tg_task_call_t *call)
{
    tg_task_call_dequeue(call);
    tg_task_call_begin(call);
}

/*
 * Continues the calls that follow a task with more output or an end; task.wait
 * waits for the end only.
 */
void
tg_engine_resume_following_calls(tg_engine_t *engine, int64_t id)
{
    tg_task_call_t *call, *next;

    TG_TAILQ_FOREACH_SAFE(call, &engine->priv->following, link, next)
    {
        if (call->query.id == id
            && (call->method->begin != tg_task_call_begin_wait
                || tg_task_call_is_wait_over(call)))
        {
            tg_task_call_repeat_method(call);
        }
    }
}

void
tg_engine_tick_following_calls(tg_engine_t *engine)
{
    tg_task_call_t *call, *next;

    TG_TAILQ_FOREACH_SAFE(call, &engine->priv->following, link, next)
    {
        if (call->method->begin == tg_task_call_begin_wait) {
            tg_task_call_send_wait_progress(call);
        }

        if (call->method->begin != tg_task_call_begin_wait
                ? uv_now(call->job->jobs->loop) >= call->wait_until
                : tg_task_call_is_wait_over(call))
        {
            tg_task_call_repeat_method(call);
        }
    }
}
