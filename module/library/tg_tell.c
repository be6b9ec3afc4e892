/*
 * What a program tells all its clients, and clients that it brings itself.
 */
#include "library/tg_server.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <fcntl.h>
#include <unistd.h>

/* Gives an order to a server that is started: else it is freed.  Told. */
static int
tg_tell_order(toolgate_server_t *server, tg_order_t *order)
{
    int rc;

    tg_library_lock();
    rc = server->run == NULL
             ? tg_error(TOOLGATE_ERR_STATE, "the server is not started")
             : tg_server_is_foreign(server);
    rc = rc == 0 ? tg_run_order(server->run, order) : rc;
    tg_library_unlock();

    if (rc != 0) {
        tg_order_free(order);
    }

    return rc;
}

/* --- notifications --- */

static void
tg_tell_session(tg_session_t *session, tg_str_t method, tg_str_t params)
{
    size_t before;

    if (session->is_closed || !tg_peer_is_told(&session->peer)) {
        return;
    }

    if (session->told + method.len + params.len > TG_TOLD_MAX) {
        tg_report(session->run, TOOLGATE_ERR_CONNECTION,
                  "client closed: it does not take what clients are told");
        tg_session_close(session);
        return;
    }

    before = session->peer.out.len;
    tg_peer_broadcast(&session->peer, method, params);
    session->told += session->peer.out.len - before;
    tg_session_mark(session);
}

static void
tg_tell_execute(tg_run_t *run, tg_order_t *order)
{
    tg_session_t *session, *next;
    tg_str_t method, params;

    method = tg_str(order->text, order->at);
    params = order->len != order->at
                 ? tg_str(order->text + order->at, order->len - order->at)
                 : TG_STR_NONE;

    for (session = run != NULL ? run->first : NULL; session != NULL;
         session = next) {
        next = session->next;
        tg_tell_session(session, method, params);
    }

    tg_order_free(order);
}

static int
tg_tell_check(tg_str_t method, const char *params)
{
    const char *mistake, *why;

    mistake = tg_utf8_is_valid(method)
                  ? tg_notification_name_check(method)
                  : "the name of a notification is text in UTF-8";

    if (mistake != NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "\"%s\": %s", method.data,
                        mistake);
    }

    if (params == NULL) {
        return 0;
    }

    if (tg_json_check(tg_str_c(params), &why) != TG_OK) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "params are no JSON: %s", why);
    }

    return params[strspn(params, " \t\r\n")] == '{'
               ? 0
               : tg_error(TOOLGATE_ERR_ARGUMENT,
                          "params must be a JSON object");
}

int
toolgate_notify(toolgate_server_t *server, const char *method,
                const char *params)
{
    tg_order_t *order;
    tg_buf_t compact;
    int rc;

    if (method == NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "a notification has a name");
    }

    rc = tg_tell_check(tg_str_c(method), params);

    if (rc != 0) {
        return rc;
    }

    tg_buf_init(&compact, tg_alloc_libc());

    if (params != NULL) {
        tg_json_put_compact(&compact, tg_str_c(params));
    }

    order = tg_buf_failed(&compact)
                ? NULL
                : tg_order_new(tg_str_c(method), tg_buf_view(&compact));
    tg_buf_deinit(&compact);

    if (order == NULL) {
        return tg_error_memory();
    }

    order->execute = tg_tell_execute;

    return tg_tell_order(server, order);
}

/* --- descriptors --- */

static void
tg_serve_execute(tg_run_t *run, tg_order_t *order)
{
    if (run != NULL) {
        tg_session_serve(run, order->fds[0], order->fds[1]);
    } else {
        (void) close(order->fds[0]);

        if (order->fds[1] != order->fds[0]) {
            (void) close(order->fds[1]);
        }
    }

    tg_order_free(order);
}

int
toolgate_serve(toolgate_server_t *server, int in, int out)
{
    tg_order_t *order;

    if (fcntl(in, F_GETFD) == -1 || fcntl(out, F_GETFD) == -1) {
        return tg_error_system("descriptors %d and %d cannot be served", in,
                               out);
    }

    order = tg_order_new(TG_STR_NONE, TG_STR_NONE);

    if (order == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    order->execute = tg_serve_execute;
    order->fds[0] = in;
    order->fds[1] = out;

    return tg_tell_order(server, order);
}
