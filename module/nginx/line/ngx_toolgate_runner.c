/*
 * A worker's line to toolgate-runner.  Nobody answers there: the runner is
 * started, as a process that outlives this worker.
 */
#include "nginx/line/ngx_toolgate_runner.h"

/* max_output of 32 MiB, escaped byte by byte at worst, is rare: a bound. */
#define NGX_TOOLGATE_RUNNER_FRAME 268435456
/* Calls and bytes that may wait for a runner that does not take them. */
#define NGX_TOOLGATE_RUNNER_CALLS 4096
#define NGX_TOOLGATE_RUNNER_BYTES 67108864
/* A runner is up in some milliseconds; a machine under load takes longer. */
#define NGX_TOOLGATE_RETRY_MIN 2
#define NGX_TOOLGATE_RETRY_MAX 200
#define NGX_TOOLGATE_START_TIME 10000
/* --- what the runner says by itself --- */

/* How far a call is, or what its client is asked. */
static void
ngx_toolgate_runner_about(ngx_toolgate_line_t *line,
                          const tg_message_t *message)
{
    ngx_toolgate_ask_t *ask;

    ask = ngx_toolgate_line_find(line, message->p.id);

    if (ask != NULL && ask->progress != NULL) {
        ask->progress(ask->data, message);
    }
}

static void
ngx_toolgate_runner_gone(ngx_toolgate_left_t *left)
{
    ngx_toolgate_runner_unkeep(left);
    left->gone(left->data);
}

/* Nobody wants what this worker runs. */
static void
ngx_toolgate_runner_unwanted(ngx_toolgate_runner_t *runner, tg_str_t params)
{
    ngx_toolgate_left_t *left;
    ngx_queue_t *q;
    tg_str_t key;

    if (tg_json_get(params, TG_STR("key"), &key) != TG_OK) {
        return;
    }

    for (q = ngx_queue_head(&runner->left);
         q != ngx_queue_sentinel(&runner->left); q = ngx_queue_next(q))
    {
        left = ngx_queue_data(q, ngx_toolgate_left_t, queue);

        if (tg_json_is_text(key, tg_str_c(left->key))) {
            ngx_toolgate_runner_gone(left);
            return;
        }
    }
}

/* It says something: where error_log leads, nobody but NGINX knows. */
static void
ngx_toolgate_runner_log(tg_str_t params)
{
    tg_str_t level, text;
    tg_buf_t buf;
    int64_t n;

    if (tg_json_get(params, TG_STR("level"), &level) != TG_OK
        || tg_json_int64(level, &n) != TG_OK || n < NGX_LOG_EMERG
        || n > NGX_LOG_DEBUG
        || !tg_json_has(params, TG_STR("text"), TG_JSON_STRING, &text))
    {
        return;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_put_decoded(&buf, tg_json_body(text));
    ngx_log_error((ngx_uint_t) n, ngx_cycle->log, 0, "toolgate-runner: %*s",
                  buf.len, buf.data);
    tg_buf_deinit(&buf);
}

static void
ngx_toolgate_runner_tell(ngx_toolgate_runner_t *runner, tg_str_t method,
                         tg_str_t params)
{
    ngx_toolgate_watch_t *watch;
    ngx_queue_t *q;

    for (q = ngx_queue_head(&runner->watches);
         q != ngx_queue_sentinel(&runner->watches); q = ngx_queue_next(q))
    {
        watch = ngx_queue_data(q, ngx_toolgate_watch_t, queue);
        watch->told(watch->data, method, params);
    }
}

static void
ngx_toolgate_runner_notification(ngx_toolgate_line_t *line, tg_str_t method,
                                 const tg_message_t *message)
{
    if (tg_json_body_is(method, TG_STR("progress"))
        || tg_json_body_is(method, TG_STR("ask"))
        || tg_json_body_is(method, TG_STR("unask")))
    {
        ngx_toolgate_runner_about(line, message);
    } else if (tg_json_body_is(method, TG_STR("cancel"))) {
        ngx_toolgate_runner_unwanted(line->data, message->params);
    } else if (tg_json_body_is(method, TG_STR("log"))) {
        ngx_toolgate_runner_log(message->params);
    } else {
        ngx_toolgate_runner_tell(line->data, method, message->params);
    }
}

/* --- its beginning and its end --- */

/* From now on this worker logs what it says. */
static ngx_int_t
ngx_toolgate_runner_connected(ngx_toolgate_line_t *line)
{
    ngx_toolgate_runner_t *runner = line->data;

    return runner->is_foreign
                   || tg_caller_request(&line->caller, TG_STR("log"),
                                        TG_STR("{}"), runner, NULL)
                          == TG_OK
               ? NGX_OK
               : NGX_ERROR;
}

/* To that, which nobody waits for: it serves. */
static ngx_uint_t
ngx_toolgate_runner_answer(ngx_toolgate_line_t *line, void *tag,
                           const tg_answer_t *answer)
{
    if (tag != line->data) {
        return 0;
    }

    if (answer->kind == TG_ANSWER_RESULT) {
        ngx_toolgate_runner_serves(line->data);
    }

    return 1;
}

/* Starts it, unless it is on its way. */
static ngx_int_t
ngx_toolgate_runner_absent(ngx_toolgate_line_t *line, ngx_err_t err)
{
    ngx_toolgate_runner_t *runner = line->data;

    if (ngx_current_msec - line->since > NGX_TOOLGATE_START_TIME) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, err,
                      "toolgate-runner does not answer at \"%s\"; run \"%V "
                      "--state-dir %V --foreground\" to see why",
                      runner->sockaddr.sun_path, &runner->path,
                      &runner->state_dir);
        return NGX_ERROR;
    }

    return err == NGX_ENOENT || err == NGX_ECONNREFUSED
                   || (err == NGX_EACCES && runner->is_foreign)
               ? ngx_toolgate_runner_spawn(runner)
               : NGX_OK;
}

/*
 * What it ran may be left, if its guardian was killed as well: the next
 * runner ends that, and must not wait for a call.
 */
static void
ngx_toolgate_runner_lost(ngx_toolgate_line_t *line, ngx_uint_t nasks,
                         ngx_uint_t has_ended)
{
    ngx_toolgate_runner_t *runner = line->data;

    ngx_toolgate_watch_t *watch;
    ngx_queue_t *q;

    while (!ngx_queue_empty(&runner->left)) {
        ngx_toolgate_runner_gone(ngx_queue_data(ngx_queue_head(&runner->left),
                                                ngx_toolgate_left_t, queue));
    }

    for (q = ngx_queue_head(&runner->watches);
         q != ngx_queue_sentinel(&runner->watches); q = ngx_queue_next(q))
    {
        watch = ngx_queue_data(q, ngx_toolgate_watch_t, queue);
        watch->lost(watch->data);
    }

    if (!has_ended || runner->is_foreign) {
        return;
    }

    if (nasks != 0) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner ended with %ui %s in flight; starting "
                      "it anew",
                      nasks, tg_plural(nasks, "call", "calls"));
        ngx_toolgate_line_begin(line);

    } else if (!line->is_heard && !ngx_toolgate_exits()
               && line->state == NGX_TOOLGATE_LINE_AWAY)
    {
        /* One on its way out still took the connection: so it is not there. */
        ngx_toolgate_line_fail(line, NGX_ECONNREFUSED);
    }
}

static const ngx_toolgate_line_ops_t ngx_toolgate_runner_ops = {
    .absent = ngx_toolgate_runner_absent,
    .connected = ngx_toolgate_runner_connected,
    .answer = ngx_toolgate_runner_answer,
    .lost = ngx_toolgate_runner_lost,
    .notification = ngx_toolgate_runner_notification,
};

void
ngx_toolgate_runner_init(ngx_toolgate_runner_t *runner)
{
    ngx_toolgate_line_t *line;

    ngx_queue_init(&runner->left);
    ngx_queue_init(&runner->watches);

    line = &runner->line;
    line->ops = &ngx_toolgate_runner_ops;
    line->data = runner;
    ngx_str_set(&line->name, "toolgate-runner");
    line->sockaddr = (struct sockaddr *) &runner->sockaddr;
    line->socklen = sizeof(runner->sockaddr);
    line->max_asks = NGX_TOOLGATE_RUNNER_CALLS;
    line->max_bytes = NGX_TOOLGATE_RUNNER_BYTES;
    line->min_delay = NGX_TOOLGATE_RETRY_MIN;
    line->max_delay = NGX_TOOLGATE_RETRY_MAX;
    line->connect_time = NGX_TOOLGATE_START_TIME;
    line->is_ours = 1;
    ngx_toolgate_runner_serves(runner);
    ngx_toolgate_line_init(line, TG_DIALECT_JSONRPC, NGX_TOOLGATE_RUNNER_FRAME);
}

int
ngx_toolgate_runner_ask(ngx_toolgate_runner_t *runner, tg_str_t method,
                        tg_str_t params, ngx_toolgate_ask_t *ask)
{
    return ngx_toolgate_line_ask(&runner->line, method, params, ask);
}

ngx_uint_t
ngx_toolgate_runner_is_there(const ngx_toolgate_runner_t *runner)
{
    ngx_uint_t is_there;
    int fd;

    if (runner->line.state == NGX_TOOLGATE_LINE_OPEN) {
        return 1;
    }

    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    is_there = fd != -1
               && connect(fd, (const struct sockaddr *) &runner->sockaddr,
                          sizeof(runner->sockaddr))
                      == 0;

    if (fd != -1) {
        (void) close(fd);
    }

    return is_there;
}

void
ngx_toolgate_runner_hold(ngx_toolgate_runner_t *runner)
{
    runner->line.nkeeps++;

    if (runner->line.connection != NULL) {
        runner->line.connection->idle = 0;
    }
}

/* Where nothing is left to write, it is looked at whether it may go. */
void
ngx_toolgate_runner_release(ngx_toolgate_runner_t *runner)
{
    runner->line.nkeeps--;
    ngx_toolgate_line_wake(&runner->line);
}

void
ngx_toolgate_runner_keep(ngx_toolgate_runner_t *runner,
                         ngx_toolgate_left_t *left)
{
    left->runner = runner;
    ngx_queue_insert_tail(&runner->left, &left->queue);
    ngx_toolgate_runner_hold(runner);
}

void
ngx_toolgate_runner_watch(ngx_toolgate_runner_t *runner,
                          ngx_toolgate_watch_t *watch)
{
    ngx_queue_insert_tail(&runner->watches, &watch->queue);
}

void
ngx_toolgate_runner_unkeep(ngx_toolgate_left_t *left)
{
    if (left->runner == NULL) {
        return;
    }

    ngx_queue_remove(&left->queue);
    ngx_toolgate_runner_release(left->runner);
    left->runner = NULL;
}

void
ngx_toolgate_runner_notify(ngx_toolgate_runner_t *runner, tg_str_t method,
                           tg_str_t params)
{
    if (runner->line.state == NGX_TOOLGATE_LINE_OPEN
        && tg_caller_notify(&runner->line.caller, method, params) == TG_OK)
    {
        ngx_toolgate_line_wake(&runner->line);
    }
}

void
ngx_toolgate_runner_exit(ngx_cycle_t *cycle)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_runner_t **runners;
    ngx_uint_t i;

    mcf = ngx_stream_cycle_get_module_main_conf(cycle,
                                                ngx_stream_toolgate_module);

    if (mcf == NULL) {
        return;
    }

    runners = mcf->runners.elts;

    for (i = 0; i < mcf->runners.nelts; i++) {
        ngx_toolgate_line_deinit(&runners[i]->line);
        ngx_toolgate_runner_unreport(runners[i]);
    }
}
