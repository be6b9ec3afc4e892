/*
 * The connection: how it comes, goes and comes back.
 */
#include "client/tg_client_impl.h"

static void tg_client_begin(tg_client_t *client);

/* --- the end --- */

static void
tg_client_on_timer_closed(uv_handle_t *handle)
{
    tg_client_t *client;

    client = handle->data;

    while (client->first != NULL) {
        tg_client_call_free(client->first);
    }

    client->ops->closed(client->host);
    tg_caller_deinit(&client->caller);
    tg_free(tg_alloc_libc(), client->path);
    tg_free(tg_alloc_libc(), client);
}

static void
tg_client_gone(tg_client_t *client)
{
    if (!client->has_conn && !uv_is_closing((uv_handle_t *) &client->timer)) {
        uv_close((uv_handle_t *) &client->timer, tg_client_on_timer_closed);
    }
}

static void
tg_client_on_slow_close(uv_timer_t *timer)
{
    tg_client_t *client;

    client = timer->data;
    tg_uv_conn_close(&client->conn);
}

void
tg_client_close(tg_client_t *client)
{
    if (client->state == TG_CLIENT_CLOSING) {
        return;
    }

    client->state = TG_CLIENT_CLOSING;

    if (client->has_conn) {
        uv_timer_start(&client->timer, tg_client_on_slow_close,
                       TG_CLIENT_CLOSE_MS, 0);
        tg_uv_conn_finish(&client->conn);
    }

    tg_client_gone(client);
}

/* --- no connection --- */

/* Nobody is there: everyone who waits is told. */
static void
tg_client_give_up(tg_client_t *client)
{
    tg_client_call_t *call;
    tg_answer_t answer;
    size_t n;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_NOT_STARTED;
    client->tries = 0;
    n = 0;

    for (call = client->first; call != NULL; call = call->next) {
        n++;
    }

    /* What the answers ask anew waits for the end of this. */
    client->state = TG_CLIENT_WAITING;

    while (n-- != 0 && client->first != NULL
           && client->state == TG_CLIENT_WAITING) {
        tg_client_call_end(client->first, &answer);
    }

    if (client->state != TG_CLIENT_WAITING) {
        return;
    }

    client->state = TG_CLIENT_IDLE;

    if (client->ops->connected != NULL) {
        client->ops->connected(client->host, client->err);
    }

    if (client->state == TG_CLIENT_IDLE && client->first != NULL) {
        tg_client_begin(client);
    }
}

static void
tg_client_on_wait(uv_timer_t *timer)
{
    tg_client_begin(timer->data);
}

/* How many connections in a row may end like this one. */
static unsigned
tg_client_tries(const tg_client_t *client)
{
    switch (client->err) {
    case UV_EAGAIN: /* the queue of the listener is full */
        return TG_CLIENT_TRIES;

    case UV_ENOENT:
    case UV_ECONNREFUSED:
        return client->was_open ? TG_CLIENT_TRIES : 0;

    case UV_EOF:
    case UV_EPIPE:
    case UV_ECONNRESET:
        return client->was_open ? TG_CLIENT_TRIES : TG_CLIENT_MUTE_TRIES;

    default:
        return 0;
    }
}

static void
tg_client_retry(tg_client_t *client)
{
    if (client->tries >= tg_client_tries(client)) {
        tg_client_give_up(client);
        return;
    }

    client->state = TG_CLIENT_WAITING;
    uv_timer_start(&client->timer, tg_client_on_wait,
                   (uint64_t) TG_CLIENT_FIRST_WAIT_MS << client->tries, 0);
    client->tries++;
}

/*
 * An open connection ended.  That alone is no reason for a new one; requests
 * that wait are.
 */
static void
tg_client_lost(tg_client_t *client)
{
    client->state = TG_CLIENT_WAITING;
    tg_caller_lose(&client->caller);

    if (client->state != TG_CLIENT_WAITING) {
        return;
    }

    client->state = TG_CLIENT_IDLE;

    if (client->first == NULL) {
        return;
    }

    if (client->err == UV_ENOMEM || client->err == UV_EMSGSIZE) {
        tg_client_give_up(client);
        return;
    }

    tg_client_begin(client);
}

static void
tg_client_on_closed(void *host, int err)
{
    tg_client_t *client;

    client = host;
    client->has_conn = 0;

    if (client->state == TG_CLIENT_CLOSING) {
        tg_client_gone(client);
        return;
    }

    if (client->err == 0) {
        client->err = err != 0 ? err : UV_EOF;
    }

    if (client->state == TG_CLIENT_OPEN) {
        tg_client_lost(client);
        return;
    }

    /* Only the ping was sent; the requests still wait in the queue. */
    tg_caller_lose(&client->caller);
    tg_client_retry(client);
}

/* --- a connection --- */

/* The answer to the ping says more than this, and closed says the rest. */
static void
tg_client_on_connected(void *host, int err)
{
}

static int
tg_client_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    tg_client_t *client;
    int rc;

    client = host;
    rc = tg_caller_input(&client->caller, data, len, consumed);

    if (rc == TG_OK && len - *consumed > TG_CLIENT_FRAME_MAX) {
        client->err = UV_EMSGSIZE;
        rc = TG_CLOSED;
    }

    /* Nothing that is left to write is of use to who said goodbye. */
    if (rc != TG_OK && client->state != TG_CLIENT_CLOSING) {
        client->err = rc == TG_NOMEM ? UV_ENOMEM : client->err;
        tg_uv_conn_close(&client->conn);
    }

    return rc;
}

static void
tg_client_on_written(void *host, size_t len)
{
    tg_client_t *client;

    client = host;
    tg_caller_written(&client->caller, len);
    tg_buf_drop(&client->caller.out, len);
}

static void
tg_client_begin(tg_client_t *client)
{
    static const tg_uv_conn_ops_t ops = {
        .connected = tg_client_on_connected,
        .input = tg_client_on_input,
        .written = tg_client_on_written,
        .closed = tg_client_on_closed,
    };
    int rc;

    client->state = TG_CLIENT_CONNECTING;
    client->err = 0;
    client->has_conn = 1;
    tg_uv_conn_init(&client->conn, client->loop, &ops, client,
                    &client->caller.out);

    rc = tg_caller_hello(&client->caller);

    if (rc == TG_OK) {
        rc = tg_caller_request(&client->caller, TG_STR("ping"), TG_STR_NONE,
                               client, NULL);
    }

    if (rc != TG_OK) {
        client->err = UV_ENOMEM;
        tg_uv_conn_close(&client->conn);
        return;
    }

    /* When it fails at once, closed tells. */
    (void) tg_uv_conn_connect(&client->conn, client->path);
}

/* The ping was answered, be it with an error: somebody is there. */
static void
tg_client_greeted(tg_client_t *client, const tg_answer_t *answer)
{
    tg_client_call_t *call, *next;

    if (answer->kind != TG_ANSWER_RESULT && answer->kind != TG_ANSWER_ERROR) {
        return;
    }

    client->state = TG_CLIENT_OPEN;
    client->was_open = 1;
    client->tries = 0;

    for (call = client->first; call != NULL; call = next) {
        next = call->next;
        tg_client_call_send(call);
    }

    if (client->ops->connected != NULL) {
        client->ops->connected(client->host, 0);
    }
}

/* --- answers --- */

static void
tg_client_on_answer(void *host, void *tag, const tg_answer_t *answer)
{
    tg_client_t *client;
    tg_client_call_t *call;
    int is_again;

    client = host;

    if (client->state == TG_CLIENT_CLOSING) {
        return;
    }

    if (tag == client) {
        tg_client_greeted(client, answer);
        return;
    }

    call = tag;
    is_again = answer->kind == TG_ANSWER_NOT_STARTED
               || (answer->kind == TG_ANSWER_LOST
                   && call->kind == TG_CLIENT_LIST);

    if (is_again && ++call->tries < TG_CLIENT_TRIES) {
        call->is_sent = 0;

        /* A cursor need not mean anything to the server's successor. */
        if (call->kind == TG_CLIENT_LIST) {
            tg_mcp_list_reset(&call->list);
        }

        return;
    }

    if (call->kind == TG_CLIENT_LIST && !is_again) {
        tg_client_list_page(call, answer);
        return;
    }

    tg_client_call_end(call, answer);
}

static void
tg_client_on_notification(void *host, tg_str_t method,
                          const tg_message_t *message)
{
    tg_client_t *client;

    client = host;

    if (client->ops->notification != NULL && client->state != TG_CLIENT_CLOSING)
    {
        client->ops->notification(client->host, method, message);
    }
}

/* --- the client --- */

tg_client_t *
tg_client_new(uv_loop_t *loop, const char *path, const tg_client_ops_t *ops,
              void *host)
{
    static const tg_caller_ops_t caller_ops = {
        .answer = tg_client_on_answer,
        .notification = tg_client_on_notification,
    };
    const tg_alloc_t *alloc;
    tg_client_t *client;
    size_t size;

    alloc = tg_alloc_libc();
    client = tg_calloc(alloc, sizeof(*client));

    if (client == NULL) {
        return NULL;
    }

    size = strlen(path) + 1;
    client->path = tg_alloc(alloc, size);

    if (client->path == NULL) {
        tg_free(alloc, client);
        return NULL;
    }

    memcpy(client->path, path, size);
    client->loop = loop;
    client->ops = ops;
    client->host = host;
    uv_timer_init(loop, &client->timer);
    client->timer.data = client;

    /* Twice: what is too large is noticed by us, while it comes in. */
    tg_caller_init(&client->caller, alloc, &caller_ops, client,
                   TG_DIALECT_JSONRPC, (size_t) 2 * TG_CLIENT_FRAME_MAX);

    return client;
}

void
tg_client_connect(tg_client_t *client)
{
    if (client->state == TG_CLIENT_IDLE) {
        tg_client_begin(client);
    }
}

int
tg_client_error(const tg_client_t *client)
{
    return client->err;
}
