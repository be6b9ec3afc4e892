/*
 * Notifications to all clients of a server, and clients at descriptors of the
 * program.
 */
#include "lib/tg_server.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <fcntl.h>
#include <unistd.h>

int
tg_server_post_command(toolgate_server_t *server, tg_runtime_command_t *command)
{
    int rc;

    tg_lib_lock();
    rc = server->runtime == NULL
             ? tg_lib_set_error(TOOLGATE_ERR_STATE, "the server is not started")
             : tg_server_check_process(server);
    rc = rc == 0 ? tg_runtime_post_command(server->runtime, command) : rc;
    tg_lib_unlock();

    if (rc != 0) {
        tg_runtime_command_free(command);
    }

    return rc;
}

int
tg_session_begin_notification(tg_session_t *session, size_t bytes)
{
    if (session->notified_bytes + bytes <= TG_SESSION_NOTIFIED_MAX) {
        return 1;
    }

    tg_runtime_report(session->runtime, TOOLGATE_ERR_CONNECTION,
                      "client closed: it does not read its notifications");
    tg_session_close(session);

    return 0;
}

void
tg_session_end_notification(tg_session_t *session, size_t before)
{
    session->notified_bytes += session->peer.out.len - before;
    tg_session_mark_dirty(session);
}

static void
tg_session_notify(tg_session_t *session, tg_str_t method, tg_str_t params)
{
    size_t before;

    if (session->is_closed || !tg_peer_has_broadcasts(&session->peer)
        || !tg_session_begin_notification(session, method.len + params.len))
    {
        return;
    }

    before = session->peer.out.len;
    tg_peer_send_broadcast(&session->peer, method, params);
    tg_session_end_notification(session, before);
}

static void
tg_runtime_notify_sessions(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    tg_session_t *session, *next;
    tg_str_t method, params;

    method = tg_str(command->text, command->at);
    params = command->len != command->at ? tg_str(command->text + command->at,
                                                  command->len - command->at)
                                         : TG_STR_NONE;

    for (session = runtime != NULL ? runtime->first : NULL; session != NULL;
         session = next)
    {
        next = session->next;
        tg_session_notify(session, method, params);
    }

    tg_runtime_command_free(command);
}

static int
tg_notification_check_args(tg_str_t method, const char *params)
{
    const char *mistake, *why;

    mistake = tg_utf8_is_valid(method)
                  ? tg_notification_check_name(method)
                  : "the name of a notification must be UTF-8";

    if (mistake != NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "\"%s\": %s",
                                method.data, mistake);
    }

    if (params == NULL) {
        return 0;
    }

    if (tg_json_validate(tg_str_from_cstr(params), &why) != TG_OK) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "params are no JSON: %s",
                                why);
    }

    return params[strspn(params, " \t\r\n")] == '{'
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "params must be a JSON object");
}

int
toolgate_notify(toolgate_server_t *server, const char *method,
                const char *params)
{
    tg_runtime_command_t *command;
    tg_buf_t compact;
    int rc;

    if (method == NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "a notification has a name");
    }

    rc = tg_notification_check_args(tg_str_from_cstr(method), params);

    if (rc != 0) {
        return rc;
    }

    tg_buf_init(&compact, tg_alloc_libc());

    if (params != NULL) {
        tg_json_write_compact(&compact, tg_str_from_cstr(params));
    }

    command = tg_buf_has_failed(&compact)
                  ? NULL
                  : tg_runtime_command_new(tg_str_from_cstr(method),
                                           tg_buf_view(&compact));
    tg_buf_deinit(&compact);

    if (command == NULL) {
        return tg_lib_set_nomem_error();
    }

    command->execute = tg_runtime_notify_sessions;

    return tg_server_post_command(server, command);
}

static void
tg_runtime_serve_fds(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    if (runtime != NULL) {
        tg_session_open_fds(runtime, command->fds[0], command->fds[1]);
    } else {
        (void) close(command->fds[0]);

        if (command->fds[1] != command->fds[0]) {
            (void) close(command->fds[1]);
        }
    }

    tg_runtime_command_free(command);
}

int
toolgate_serve(toolgate_server_t *server, int in, int out)
{
    tg_runtime_command_t *command;

    if (fcntl(in, F_GETFD) == -1 || fcntl(out, F_GETFD) == -1) {
        return tg_lib_set_errno_error("cannot serve descriptors %d and %d", in,
                                      out);
    }

    command = tg_runtime_command_new(TG_STR_NONE, TG_STR_NONE);

    if (command == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    command->execute = tg_runtime_serve_fds;
    command->fds[0] = in;
    command->fds[1] = out;

    return tg_server_post_command(server, command);
}
