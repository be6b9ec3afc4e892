/*
 * What is asked on a line, and what comes of it.
 */
#include "nginx/line/ngx_toolgate_line_impl.h"

/* Of a request, around its params. */
#define NGX_TOOLGATE_LINE_ENVELOPE 1024

static void
ngx_toolgate_line_answer(void *host, void *tag, const tg_answer_t *answer)
{
    ngx_toolgate_line_t *line = host;
    ngx_toolgate_ask_t *ask = tag;

    if (line->ops->answer != NULL && line->ops->answer(line, tag, answer)) {
        return;
    }

    line->nasks--;
    ask->line = NULL;
    ask->is_drained = line->is_drained || line->caller.is_leaving;
    ask->has_broken = line->is_losing;
    ask->answer(ask->data, answer);
}

static void
ngx_toolgate_line_notification(void *host, tg_str_t method,
                               const tg_message_t *message)
{
    ngx_toolgate_line_t *line = host;

    line->ops->notification(line, method, message);
}

static void
ngx_toolgate_line_farewell(void *host, tg_str_t reason, int is_drained)
{
    ngx_toolgate_line_t *line = host;

    line->is_drained = is_drained != 0;
    ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0, "%V says goodbye: %*s",
                  &line->name, reason.len, reason.data);
}

static void
ngx_toolgate_line_log(void *host, const char *text)
{
    ngx_toolgate_line_t *line = host;

    if (ngx_toolgate_may_log(&line->pace, NGX_LOG_INFO, ngx_cycle->log)) {
        ngx_log_error(NGX_LOG_INFO, ngx_cycle->log, 0, "%V: %s", &line->name,
                      text);
    }
}

static const tg_caller_ops_t ngx_toolgate_line_caller_ops = {
    .answer = ngx_toolgate_line_answer,
    .notification = ngx_toolgate_line_notification,
    .farewell = ngx_toolgate_line_farewell,
    .log = ngx_toolgate_line_log,
    .is_slice_over = ngx_toolgate_line_slice_is_over,
};

void
ngx_toolgate_line_init(ngx_toolgate_line_t *line, tg_dialect_t dialect,
                       size_t max_frame)
{
    tg_caller_init(&line->caller, tg_alloc_libc(),
                   &ngx_toolgate_line_caller_ops, line, dialect, max_frame);
    tg_buf_init(&line->in, tg_alloc_libc());
    line->source.run = ngx_toolgate_line_run;
    line->delay = line->min_delay;
    line->timer.handler = ngx_toolgate_line_tick;
    line->timer.data = line;
    /* Who waits for an answer has a timer of its own. */
    line->timer.cancelable = 1;
}

void
ngx_toolgate_line_deinit(ngx_toolgate_line_t *line)
{
    ngx_toolgate_line_close(line);
    tg_caller_deinit(&line->caller);
    tg_buf_deinit(&line->in);
}

/* --- requests --- */

/* Is there room for a request with so many bytes? */
static ngx_uint_t
ngx_toolgate_line_has_room(ngx_toolgate_line_t *line, size_t len)
{
    if (line->nasks >= line->max_asks
        || line->caller.out.len + len
               > line->max_bytes - NGX_TOOLGATE_LINE_ENVELOPE)
    {
        return 0;
    }

    /* The first words on its next connection. */
    if (line->says_hello && line->caller.sent == 0) {
        (void) tg_caller_hello_resends(&line->caller);
    }

    return 1;
}

/* A request went to the caller, with rc. */
static int
ngx_toolgate_line_asked(ngx_toolgate_line_t *line, ngx_toolgate_ask_t *ask,
                        int rc)
{
    if (rc != TG_OK) {
        return rc;
    }

    ask->line = line;
    line->nasks++;

    if (line->connection != NULL) {
        line->connection->idle = 0;
    }

    ngx_toolgate_line_begin(line);
    ngx_toolgate_line_wake(line);

    return TG_OK;
}

int
ngx_toolgate_line_ask(ngx_toolgate_line_t *line, tg_str_t method,
                      tg_str_t params, ngx_toolgate_ask_t *ask)
{
    if (!ngx_toolgate_line_has_room(line, params.len)) {
        return TG_LIMIT;
    }

    return ngx_toolgate_line_asked(line, ask,
                                   tg_caller_request(&line->caller, method,
                                                     params, ask, &ask->id));
}

int
ngx_toolgate_line_call(ngx_toolgate_line_t *line, tg_str_t name,
                       tg_str_t arguments, tg_str_t more,
                       ngx_toolgate_ask_t *ask)
{
    if (!ngx_toolgate_line_has_room(line, arguments.len + more.len)) {
        return TG_LIMIT;
    }

    return ngx_toolgate_line_asked(line, ask,
                                   tg_caller_call_tool(&line->caller, name,
                                                       arguments, more, ask,
                                                       &ask->id));
}

/* Nobody waits for its answer any more. */
static ngx_toolgate_line_t *
ngx_toolgate_line_part(ngx_toolgate_ask_t *ask)
{
    ngx_toolgate_line_t *line;

    line = ask->line;
    ask->line = NULL;

    if (line != NULL) {
        line->nasks--;
    }

    return line;
}

void
ngx_toolgate_line_cancel(ngx_toolgate_ask_t *ask, ngx_uint_t method_is_mcp)
{
    ngx_toolgate_line_t *line;

    line = ngx_toolgate_line_part(ask);

    if (line != NULL
        && tg_caller_cancel(&line->caller, ask->id, (int) method_is_mcp)
               == TG_OK)
    {
        ngx_toolgate_line_wake(line);
    }
}

void
ngx_toolgate_line_forget(ngx_toolgate_ask_t *ask)
{
    ngx_toolgate_line_t *line;

    line = ngx_toolgate_line_part(ask);

    if (line != NULL) {
        (void) tg_caller_forget(&line->caller, ask->id);
    }
}

ngx_toolgate_ask_t *
ngx_toolgate_line_find(ngx_toolgate_line_t *line, tg_str_t raw)
{
    uint64_t id;

    return tg_caller_id(raw, &id) == TG_OK ? tg_caller_tag(&line->caller, id)
                                           : NULL;
}
