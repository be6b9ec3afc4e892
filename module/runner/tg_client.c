/*
 * A worker's connection, and the methods it can call.
 */
#include "runner/tg_exec_output.h"
#include "runner/tg_runner_impl.h"

#include <stdlib.h>
#include <unistd.h>

static void
tg_client_status(tg_runner_t *runner, tg_peer_t *peer, tg_request_t *request)
{
    const struct {
        const char *key;
        uint64_t value;
    } members[] = {
        { "{\"pid\":", (uint64_t) getpid() },
        { ",\"version\":", TG_RUNNER_VERSION },
        { ",\"running\":", runner->execs.nrunning },
        { ",\"queued\":", runner->execs.nqueued },
        { ",\"connections\":", runner->nclients },
        { ",\"started\":", runner->execs.nstarted },
        { ",\"held\":", runner->execs.nheld },
    };
    tg_outcome_t outcome;
    tg_buf_t json;
    size_t i;

    tg_buf_init(&json, tg_alloc_libc());

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        tg_buf_text(&json, members[i].key);
        tg_buf_uint(&json, members[i].value);
    }

    tg_buf_char(&json, '}');
    outcome.kind = TG_OUTCOME_JSON;
    outcome.failure = TG_FAILURE_NONE;
    outcome.value = tg_buf_view(&json);

    if (tg_buf_failed(&json)) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL,
                                     "toolgate-runner has no memory left");
    }

    tg_peer_answer(peer, &request->reply, &outcome);
    tg_buf_deinit(&json);
}

static void
tg_client_on_call(void *host, tg_peer_t *peer, tg_request_t *request)
{
    tg_client_t *client;
    tg_runner_t *runner;

    client = host;
    runner = client->runner;

    switch (request->entry - runner->entries) {
    case TG_RUNNER_EXEC:
        tg_execs_call(&runner->execs, peer, request);
        break;
    case TG_RUNNER_RELEASE:
        tg_held_release(&runner->execs, peer, request);
        break;
    case TG_RUNNER_ADOPT:
        tg_held_adopt(&runner->execs, peer, request);
        break;
    default:
        tg_client_status(runner, peer, request);
    }
}

static void
tg_client_on_cancel(void *host, tg_call_t *call)
{
    tg_execs_cancel(call);
}

static const tg_peer_ops_t tg_client_peer_ops = {
    .call = tg_client_on_call,
    .cancel = tg_client_on_cancel,
};

static int
tg_client_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    tg_client_t *client;
    uv_timeval64_t now;

    client = host;

    if (uv_gettimeofday(&now) == 0) {
        client->peer.now_ms = (uint64_t) now.tv_sec * 1000
                              + (uint64_t) now.tv_usec / 1000;
    }

    return tg_peer_input(&client->peer, data, len, consumed);
}

static void
tg_client_on_closed(void *host, int err)
{
    tg_client_t *client;
    tg_runner_t *runner;

    client = host;
    runner = client->runner;

    if (client->prev != NULL) {
        client->prev->next = client->next;
    } else {
        runner->clients = client->next;
    }

    if (client->next != NULL) {
        client->next->prev = client->prev;
    }

    runner->nclients--;
    tg_peer_deinit(&client->peer);
    free(client);
    tg_runner_check(runner);
}

static const tg_uv_conn_ops_t tg_client_conn_ops = {
    .input = tg_client_on_input,
    .closed = tg_client_on_closed,
};

static void
tg_client_add(tg_runner_t *runner, tg_client_t *client)
{
    client->runner = runner;
    client->next = runner->clients;

    if (client->next != NULL) {
        client->next->prev = client;
    }

    runner->clients = client;
    runner->nclients++;
    tg_peer_init(&client->peer, tg_alloc_libc(), &tg_client_peer_ops, client,
                 TG_DIALECT_JSONRPC, runner->catalogue, &runner->info,
                 TG_EXEC_FRAME_MAX, TG_RUNNER_CALLS_MAX);
    tg_uv_conn_init(&client->conn, &runner->loop, &tg_client_conn_ops, client,
                    &client->peer.out);
}

void
tg_client_on_connection(uv_stream_t *listener, int status)
{
    tg_client_t *client;
    tg_runner_t *runner;
    pid_t pid;
    uid_t uid;

    runner = listener->data;

    if (status != 0) {
        tg_runner_log("cannot accept a connection: %s", uv_strerror(status));
        tg_runner_check(runner);
        return;
    }

    client = calloc(1, sizeof(*client));

    if (client == NULL) {
        /* The listener stands still until the connection is taken. */
        tg_runner_log("no memory left, leaving");
        tg_runner_stop(runner);
        return;
    }

    tg_client_add(runner, client);

    if (tg_uv_conn_accept(&client->conn, listener) != 0) {
        return;
    }

    if (tg_uv_conn_peer(&client->conn, &pid, &uid) != 0
        || (uid != geteuid() && uid != 0))
    {
        tg_runner_log("a connection of another user was refused");
        tg_uv_conn_close(&client->conn);
        return;
    }

    if (runner->nclients > TG_RUNNER_CLIENTS_MAX) {
        tg_runner_log("more than %d connections, one was refused",
                      TG_RUNNER_CLIENTS_MAX);
        tg_uv_conn_close(&client->conn);
        return;
    }

    runner->has_served = 1;
    uv_timer_stop(&runner->linger);
}

int
tg_client_may_start(void *host, tg_peer_t *peer)
{
    tg_client_t *client;

    client = peer->host;

    return tg_uv_conn_backlog(&client->conn) < TG_RUNNER_BACKLOG;
}

int
tg_client_may_tell(void *host, tg_peer_t *peer)
{
    tg_client_t *client;

    client = peer->host;

    return tg_uv_conn_backlog(&client->conn) < TG_RUNNER_TELL_BACKLOG;
}

void
tg_client_told(void *host, tg_peer_t *peer)
{
    tg_client_t *client;

    client = peer->host;
    tg_uv_conn_flush(&client->conn);
}
