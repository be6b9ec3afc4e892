/*
 * task.output, of a task that may still run.
 */
#include "runner/task/tg_task_call.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

void
tg_task_output(tg_task_call_t *call)
{
    if (call->follows_until == 0) {
        call->follows_until = uv_now(call->job->jobs->loop) + TG_TASK_FOLLOW_MS;
    }

    call->seen = call->engine->nended;
    tg_task_get(call);
}

/* A character at the end that is not whole yet: how many bytes of it. */
static size_t
tg_task_half(tg_str_t bytes)
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
tg_task_put_output(tg_task_call_t *call)
{
    const tg_output_ask_t *read;
    tg_str_t bytes, state;
    tg_buf_t text;

    read = &call->read;
    bytes = tg_buf_view(&read->bytes);

    if (bytes.len > 4) {
        bytes.len -= tg_task_half(bytes);
    }

    if (tg_json_get(tg_buf_view(&call->ask.json), TG_STR("state"), &state)
        != TG_OK) {
        state = TG_STR("null");
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_utf8_put_lossy(&text, bytes);
    tg_buf_reset(&call->text, 0);
    tg_buf_text(&call->text, "{\"taskId\":\"");
    tg_task_put_id(&call->text, call->ask.id);
    tg_buf_text(&call->text, "\",\"state\":");
    tg_buf_str(&call->text, state);
    tg_buf_text(&call->text, ",\"offset\":");
    tg_buf_uint(&call->text, read->offset);
    tg_buf_text(&call->text, ",\"output\":");
    tg_json_put_string(&call->text, tg_buf_view(&text));
    tg_buf_text(&call->text, ",\"next\":");
    tg_buf_uint(&call->text, read->offset + bytes.len);
    tg_buf_text(&call->text, ",\"size\":");
    tg_buf_uint(&call->text, read->size);
    tg_buf_char(&call->text, '}');
    call->text.failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
    tg_task_call_text(call);
}

/* Whoever read on from here would never come to an end. */
static void
tg_task_unread(tg_task_call_t *call)
{
    tg_outcome_t outcome;

    tg_buf_reset(&call->text, 0);
    tg_buf_text(&call->text, "The output of the task cannot be read: ");
    tg_buf_text(&call->text, strerror(call->read.err));
    outcome = tg_outcome_failed(TG_FAILURE_INTERNAL, tg_buf_view(&call->text));
    tg_task_call_answer(call, &outcome);
}

static int
tg_task_is_over(const tg_task_call_t *call)
{
    return call->ask.state != TG_TASK_RUNNING
           && call->ask.state != TG_TASK_QUEUED;
}

static void
tg_task_on_read(tg_output_ask_t *read)
{
    tg_task_call_t *call;
    tg_engine_t *engine;

    call = read->data;
    engine = call->engine;
    call->is_asking = 0;
    tg_engine_answered(engine);

    if (call->is_stopped) {
        tg_job_done(call->job);

    } else if (read->bytes.len == 0 && read->err != 0) {
        tg_task_unread(call);

    } else if (read->bytes.len == 0 && tg_task_flag(call, "follow")
               && !tg_task_is_over(call)
               && uv_now(call->job->jobs->loop) < call->follows_until)
    {
        /* It may have ended since the store was asked: nobody would say so. */
        if (call->seen != engine->nended) {
            tg_task_output(call);
        } else {
            tg_task_call_wait(call, &engine->following);
        }

    } else {
        tg_task_put_output(call);
    }

    tg_engine_go_on(engine);
}

void
tg_task_read(tg_task_call_t *call)
{
    tg_output_ask_t *read;

    if (call->ask.rc == TG_MISSING) {
        tg_task_call_missing(call);
        return;
    }

    read = &call->read;
    tg_buf_reset(&read->bytes, 0);
    read->op = TG_OUTPUT_READ_ON;
    read->done = tg_task_on_read;
    read->data = call;
    read->id = call->ask.id;
    read->offset = (uint64_t) tg_task_number(call, "offset", 0, INT64_MAX, 0);
    call->is_asking = 1;
    call->engine->nwork++;
    tg_outputs_ask(&call->engine->outputs, read);
}

static void
tg_task_follow_on(tg_task_call_t *call)
{
    tg_task_call_leave(call);
    call->method->begin(call);
}

/* There is more output, or an end, which is all that some wait for. */
void
tg_task_calls_follow(tg_engine_t *engine, int64_t id)
{
    tg_task_call_t *call, *next;

    for (call = TAILQ_FIRST(&engine->following); call != NULL; call = next) {
        next = TAILQ_NEXT(call, place);

        if (call->ask.id == id
            && (call->method->begin != tg_task_wait
                || tg_task_wait_is_due(call)))
        {
            tg_task_follow_on(call);
        }
    }
}

void
tg_task_calls_tick(tg_engine_t *engine)
{
    tg_task_call_t *call, *next;

    for (call = TAILQ_FIRST(&engine->following); call != NULL; call = next) {
        next = TAILQ_NEXT(call, place);

        if (call->method->begin == tg_task_wait) {
            tg_task_wait_tell(call);
        }

        if (call->method->begin != tg_task_wait
                ? uv_now(call->job->jobs->loop) >= call->follows_until
                : tg_task_wait_is_due(call))
        {
            tg_task_follow_on(call);
        }
    }
}
