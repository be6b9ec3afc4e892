/*
 * A worker's line to toolgate-runner: one connection, made when the first
 * call needs it, and made anew when it broke.  Nobody answers there: the
 * runner is started, as a process that outlives this worker.
 */
#include "nginx/line/ngx_toolgate_runner.h"

#include <sys/socket.h>

/* max_output of 32 MiB, escaped byte by byte at worst, is rare: a bound. */
#define NGX_TOOLGATE_RUNNER_FRAME 268435456
/* Calls and bytes that may wait for a runner that does not take them. */
#define NGX_TOOLGATE_RUNNER_CALLS 4096
#define NGX_TOOLGATE_RUNNER_BYTES 67108864
/* Of a request, around its params: the runner's frames are as large. */
#define NGX_TOOLGATE_RUNNER_ENVELOPE 1024
/* A runner is up in some milliseconds; a machine under load takes longer. */
#define NGX_TOOLGATE_RETRY_MIN 2
#define NGX_TOOLGATE_RETRY_MAX 200
#define NGX_TOOLGATE_START_TIME 10000
#define NGX_TOOLGATE_RUNNER_READ 65536

static void ngx_toolgate_runner_connect(ngx_toolgate_runner_t *runner);
static void ngx_toolgate_runner_read(ngx_event_t *rev);
static void ngx_toolgate_runner_retry(ngx_event_t *ev);
static void ngx_toolgate_runner_write(ngx_event_t *wev);

static u_char ngx_toolgate_runner_buffer[NGX_TOOLGATE_RUNNER_READ];

/* --- the caller's side --- */

static void
ngx_toolgate_runner_answer(void *host, void *tag, const tg_answer_t *answer)
{
    ngx_toolgate_ask_t *ask = tag;

    (void) host;
    ask->runner = NULL;
    ask->answer(ask->data, answer);
}

/* A program reports how far it is. */
static void
ngx_toolgate_runner_progress(ngx_toolgate_runner_t *runner,
                             const tg_message_t *message)
{
    ngx_toolgate_ask_t *ask;
    int64_t id;

    if (tg_json_int64(message->p.id, &id) != TG_OK || id < 0) {
        return;
    }

    ask = tg_caller_tag(&runner->caller, (uint64_t) id);

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

static void
ngx_toolgate_runner_notification(void *host, tg_str_t method,
                                 const tg_message_t *message)
{
    if (tg_json_body_is(method, TG_STR("progress"))) {
        ngx_toolgate_runner_progress(host, message);
    } else if (tg_json_body_is(method, TG_STR("cancel"))) {
        ngx_toolgate_runner_unwanted(host, message->params);
    }
}

static const tg_caller_ops_t ngx_toolgate_runner_ops = {
    ngx_toolgate_runner_answer, ngx_toolgate_runner_notification, NULL, NULL
};

static void
ngx_toolgate_runner_close(ngx_toolgate_runner_t *runner)
{
    if (runner->connection != NULL) {
        ngx_close_connection(runner->connection);
        runner->connection = NULL;
    }

    tg_buf_reset(&runner->in, 0);
    runner->sent = 0;
}

/* The connection broke, or there will be none: every call learns it. */
static void
ngx_toolgate_runner_lose(ngx_toolgate_runner_t *runner)
{
    ngx_toolgate_runner_close(runner);
    runner->is_trying = 0;

    if (runner->retry.timer_set) {
        ngx_del_timer(&runner->retry);
    }

    tg_caller_lose(&runner->caller);

    while (!ngx_queue_empty(&runner->left)) {
        ngx_toolgate_runner_gone(ngx_queue_data(ngx_queue_head(&runner->left),
                                                ngx_toolgate_left_t, queue));
    }
}

/* What an exiting worker no longer needs must not stay open in it. */
static void
ngx_toolgate_runner_rest(ngx_toolgate_runner_t *runner)
{
    ngx_connection_t *c;

    c = runner->connection;

    if (c == NULL) {
        return;
    }

    c->idle = runner->caller.npending == 0 && runner->caller.out.len == 0
              && ngx_queue_empty(&runner->left);

    if (c->idle && (ngx_exiting || c->close)) {
        ngx_toolgate_runner_close(runner);
    }
}

/* There is something to write, or nothing any more. */
static void
ngx_toolgate_runner_wake(ngx_toolgate_runner_t *runner)
{
    if (runner->connection != NULL) {
        ngx_post_event(runner->connection->write, &ngx_posted_events);
    }
}

static void
ngx_toolgate_runner_begin(ngx_toolgate_runner_t *runner)
{
    if (runner->is_trying) {
        return;
    }

    runner->is_trying = 1;
    runner->has_started = 0;
    runner->delay = NGX_TOOLGATE_RETRY_MIN;
    runner->since = ngx_current_msec;

    /* Not from here: a failure would answer within the caller's very call. */
    runner->retry.cancelable = 1;
    ngx_post_event(&runner->retry, &ngx_posted_events);
}

int
ngx_toolgate_runner_ask(ngx_toolgate_runner_t *runner, tg_str_t method,
                        tg_str_t params, ngx_toolgate_ask_t *ask)
{
    int rc;

    if (!runner->is_ready) {
        tg_caller_init(&runner->caller, tg_alloc_libc(),
                       &ngx_toolgate_runner_ops, runner, TG_DIALECT_JSONRPC,
                       NGX_TOOLGATE_RUNNER_FRAME);
        tg_buf_init(&runner->in, tg_alloc_libc());
        runner->retry.handler = ngx_toolgate_runner_retry;
        runner->is_ready = 1;
    }

    if (runner->caller.npending >= NGX_TOOLGATE_RUNNER_CALLS
        || runner->caller.out.len + params.len
               > NGX_TOOLGATE_RUNNER_BYTES - NGX_TOOLGATE_RUNNER_ENVELOPE)
    {
        return TG_LIMIT;
    }

    rc = tg_caller_request(&runner->caller, method, params, ask, &ask->id);

    if (rc != TG_OK) {
        return rc;
    }

    ask->runner = runner;

    if (runner->connection == NULL) {
        ngx_toolgate_runner_begin(runner);
    } else {
        runner->connection->idle = 0;
        ngx_toolgate_runner_wake(runner);
    }

    return TG_OK;
}

void
ngx_toolgate_runner_keep(ngx_toolgate_runner_t *runner,
                         ngx_toolgate_left_t *left)
{
    left->runner = runner;
    ngx_queue_insert_tail(&runner->left, &left->queue);
    runner->connection->idle = 0;
}

void
ngx_toolgate_runner_unkeep(ngx_toolgate_left_t *left)
{
    if (left->runner == NULL) {
        return;
    }

    ngx_queue_remove(&left->queue);

    /* Where nothing is left to write, it is looked at whether it may go. */
    ngx_toolgate_runner_wake(left->runner);

    left->runner = NULL;
}

void
ngx_toolgate_runner_notify(ngx_toolgate_runner_t *runner, tg_str_t method,
                           tg_str_t params)
{
    if (tg_caller_notify(&runner->caller, method, params) == TG_OK) {
        ngx_toolgate_runner_wake(runner);
    }
}

void
ngx_toolgate_runner_cancel(ngx_toolgate_ask_t *ask)
{
    ngx_toolgate_runner_t *runner;

    runner = ask->runner;
    ask->runner = NULL;

    if (runner != NULL
        && tg_caller_cancel(&runner->caller, ask->id, 0) == TG_OK) {
        ngx_toolgate_runner_wake(runner);
    }
}

void
ngx_toolgate_runner_forget(ngx_toolgate_ask_t *ask)
{
    if (ask->runner != NULL) {
        (void) tg_caller_forget(&ask->runner->caller, ask->id);
        ask->runner = NULL;
    }
}

/* --- events --- */

static ngx_int_t
ngx_toolgate_runner_flush(ngx_toolgate_runner_t *runner)
{
    ngx_connection_t *c;
    tg_buf_t *out;
    ssize_t n;

    c = runner->connection;
    out = &runner->caller.out;

    while (runner->sent < out->len && c->write->ready) {
        n = c->send(c, (u_char *) out->data + runner->sent,
                    out->len - runner->sent);

        if (n == NGX_ERROR) {
            return NGX_ERROR;
        }

        if (n == NGX_AGAIN) {
            break;
        }

        runner->sent += (size_t) n;
        tg_caller_written(&runner->caller, (size_t) n);
    }

    if (runner->sent == out->len) {
        tg_buf_reset(out, NGX_TOOLGATE_RUNNER_READ);
        runner->sent = 0;

    } else if (runner->sent > out->len / 2) {
        tg_buf_drop(out, runner->sent);
        runner->sent = 0;
    }

    return ngx_handle_write_event(c->write, 0);
}

/*
 * What it ran may be left, if its guardian was killed as well: the next
 * runner ends that, and must not wait for a call.
 */
static void
ngx_toolgate_runner_ended(ngx_toolgate_runner_t *runner)
{
    ngx_uint_t n;

    n = runner->caller.npending;
    ngx_toolgate_runner_lose(runner);

    if (n != 0 && !runner->is_foreign) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0,
                      "toolgate-runner ended with %ui calls in flight; "
                      "starting it anew",
                      n);
        ngx_toolgate_runner_begin(runner);
    }
}

static void
ngx_toolgate_runner_write(ngx_event_t *wev)
{
    ngx_toolgate_runner_t *runner;
    ngx_connection_t *c;

    c = wev->data;
    runner = c->data;

    if (ngx_toolgate_runner_flush(runner) != NGX_OK) {
        ngx_toolgate_runner_ended(runner);
        return;
    }

    ngx_toolgate_runner_rest(runner);
}

/* Bytes behind those that are kept, if any; NGX_ERROR: give up on it. */
static ngx_int_t
ngx_toolgate_runner_input(ngx_toolgate_runner_t *runner, const char *data,
                          size_t len)
{
    size_t consumed;
    int rc;

    if (runner->in.len != 0) {
        tg_buf_put(&runner->in, data, len);
        rc = tg_caller_input(&runner->caller, runner->in.data, runner->in.len,
                             &consumed);
        tg_buf_drop(&runner->in, consumed);

        if (runner->in.len == 0) {
            tg_buf_reset(&runner->in, NGX_TOOLGATE_RUNNER_READ);
        }

    } else {
        rc = tg_caller_input(&runner->caller, data, len, &consumed);
        tg_buf_put(&runner->in, data + consumed, len - consumed);
    }

    return rc == TG_OK && !tg_buf_failed(&runner->in) ? NGX_OK : NGX_ERROR;
}

static void
ngx_toolgate_runner_read(ngx_event_t *rev)
{
    ngx_toolgate_runner_t *runner;
    ngx_connection_t *c;
    ssize_t n;

    c = rev->data;
    runner = c->data;

    while (rev->ready) {
        n = c->recv(c, ngx_toolgate_runner_buffer, NGX_TOOLGATE_RUNNER_READ);

        if (n == NGX_AGAIN) {
            break;
        }

        if (n == 0 || n == NGX_ERROR
            || ngx_toolgate_runner_input(
                   runner, (char *) ngx_toolgate_runner_buffer, (size_t) n)
                   != NGX_OK)
        {
            ngx_toolgate_runner_ended(runner);
            return;
        }
    }

    if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        ngx_toolgate_runner_lose(runner);
        return;
    }

    ngx_toolgate_runner_rest(runner);
}

/* --- connecting and starting --- */

/* Wraps a connected socket; it is closed when that fails. */
static ngx_int_t
ngx_toolgate_runner_attach(ngx_toolgate_runner_t *runner, ngx_socket_t fd)
{
    ngx_connection_t *c;

    c = ngx_get_connection(fd, ngx_cycle->log);

    if (c == NULL) {
        (void) ngx_close_socket(fd);
        return NGX_ERROR;
    }

    c->data = runner;
    c->type = SOCK_STREAM;
    c->recv = ngx_recv;
    c->send = ngx_send;
    c->log = ngx_cycle->log;
    c->log_error = NGX_ERROR_ERR;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_toolgate_runner_read;
    c->write->handler = ngx_toolgate_runner_write;
    c->write->ready = 1;
    c->number = ngx_atomic_fetch_add(ngx_connection_counter, 1);

    if ((ngx_add_conn != NULL
             ? ngx_add_conn(c)
             : ngx_add_event(c->read, NGX_READ_EVENT, NGX_LEVEL_EVENT))
        != NGX_OK)
    {
        ngx_close_connection(c);
        return NGX_ERROR;
    }

    runner->connection = c;

    return NGX_OK;
}

/* One try: 0, or why there is no connection. */
static ngx_err_t
ngx_toolgate_runner_try(ngx_toolgate_runner_t *runner)
{
    ngx_socket_t fd;
    ngx_err_t err;

    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd == (ngx_socket_t) -1) {
        return ngx_socket_errno;
    }

    if (connect(fd, (struct sockaddr *) &runner->sockaddr,
                sizeof(runner->sockaddr))
        == -1)
    {
        err = ngx_socket_errno;
        (void) ngx_close_socket(fd);
        return err;
    }

    return ngx_toolgate_runner_attach(runner, fd) == NGX_OK ? 0 : NGX_ENOMEM;
}

static void
ngx_toolgate_runner_connect(ngx_toolgate_runner_t *runner)
{
    ngx_err_t err;

    err = ngx_toolgate_runner_try(runner);

    if (err == 0) {
        runner->is_trying = 0;
        ngx_toolgate_runner_wake(runner);
        return;
    }

    if (ngx_current_msec - runner->since > NGX_TOOLGATE_START_TIME) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, err,
                      "toolgate-runner does not answer at \"%s\"; run \"%V "
                      "--state-dir %V --foreground\" to see why",
                      runner->sockaddr.sun_path, &runner->path,
                      &runner->state_dir);
        ngx_toolgate_runner_lose(runner);
        return;
    }

    if ((err == NGX_ENOENT || err == NGX_ECONNREFUSED
         || (err == NGX_EACCES && runner->is_foreign))
        && ngx_toolgate_runner_spawn(runner) != NGX_OK)
    {
        ngx_toolgate_runner_lose(runner);
        return;
    }

    ngx_add_timer(&runner->retry, runner->delay);
    runner->delay = ngx_min(runner->delay * 2, NGX_TOOLGATE_RETRY_MAX);
}

static void
ngx_toolgate_runner_retry(ngx_event_t *ev)
{
    ngx_toolgate_runner_t *runner;

    runner = ev->data;

    if (runner->is_trying) {
        ngx_toolgate_runner_connect(runner);
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
        if (runners[i]->connection != NULL) {
            ngx_toolgate_runner_close(runners[i]);
        }
    }
}
