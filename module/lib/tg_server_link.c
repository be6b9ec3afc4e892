/* Links: clients whose messages the program passes itself (transport "sdk"). */
#include "lib/tg_server.h"

#include <stdlib.h>
#include <unistd.h>

/* Requires tg_lib_lock(). */
static void
tg_link_unref(toolgate_link_t *link)
{
    if (--link->refs == 0) {
        tg_runtime_command_free(link->close_command);
        free(link);
    }
}

/* Wakes toolgate_link_close(), and drops the session's reference. */
static void
tg_link_drop_session(toolgate_link_t *link)
{
    tg_lib_lock();
    link->runtime = NULL;
    link->has_session = 0;
    tg_lib_cond_broadcast();
    tg_link_unref(link);
    tg_lib_unlock();
}

static void
tg_link_run_open(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    if (runtime == NULL || tg_session_open_link(runtime, command->link) == NULL)
    {
        tg_link_drop_session(command->link);
    }

    tg_runtime_command_free(command);
}

static void
tg_link_run_message(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    toolgate_link_t *link;

    link = command->link;

    if (runtime != NULL && link->session != NULL) {
        tg_session_handle_message(link->session,
                                  tg_str(command->text, command->len));
    }

    tg_lib_lock();
    tg_link_unref(link);
    tg_lib_unlock();
    tg_runtime_command_free(command);
}

static void
tg_link_run_close(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    toolgate_link_t *link;

    link = command->link;

    if (runtime != NULL && link->session != NULL) {
        tg_session_close(link->session);
    }

    tg_lib_lock();
    tg_link_unref(link);
    tg_lib_unlock();
    tg_runtime_command_free(command);
}

/* Posts a command with a reference to the link.  Requires tg_lib_lock(). */
static int
tg_link_post_command(toolgate_link_t *link, tg_runtime_command_t *command,
                     void (*execute)(tg_runtime_t *runtime,
                                     tg_runtime_command_t *command))
{
    int rc;

    command->execute = execute;
    command->link = link;
    rc = tg_runtime_post_command(link->runtime, command);
    link->refs += rc == 0;

    return rc;
}

static int
tg_link_is_inherited(const toolgate_link_t *link)
{
    return link->pid != getpid();
}

static toolgate_link_t *
tg_link_new(toolgate_message_pt message, void *data)
{
    toolgate_link_t *link;

    link = calloc(1, sizeof(*link));

    if (link == NULL) {
        (void) tg_lib_set_nomem_error();
        return NULL;
    }

    link->close_command = tg_runtime_command_new(TG_STR_NONE, TG_STR_NONE);

    if (link->close_command == NULL) {
        free(link);
        return NULL;
    }

    link->refs = 1;
    link->pid = getpid();
    link->has_session = 1;
    link->message = message;
    link->data = data;

    return link;
}

toolgate_link_t *
toolgate_link_open(toolgate_server_t *server, toolgate_message_pt message,
                   void *data)
{
    toolgate_link_t *link;
    tg_runtime_command_t *command;
    int rc;

    if (message == NULL) {
        (void) tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "a link needs a callback for its messages");
        return NULL;
    }

    command = tg_runtime_command_new(TG_STR_NONE, TG_STR_NONE);
    link = command != NULL ? tg_link_new(message, data) : NULL;

    if (link == NULL) {
        tg_runtime_command_free(command);
        return NULL;
    }

    tg_lib_lock();
    link->runtime = server->runtime;
    rc = link->runtime == NULL
             ? tg_lib_set_error(TOOLGATE_ERR_STATE, "the server is not started")
             : tg_server_check_process(server);
    rc = rc == 0 ? tg_link_post_command(link, command, tg_link_run_open) : rc;

    if (rc != 0) {
        tg_runtime_command_free(command);
        tg_link_unref(link);
        link = NULL;
    }

    tg_lib_unlock();

    return link;
}

int
toolgate_link_send(toolgate_link_t *link, const char *message, size_t len)
{
    tg_runtime_command_t *command;
    int rc;

    command = tg_runtime_command_new(tg_str(message, len), TG_STR_NONE);

    if (command == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    tg_lib_lock();
    rc = tg_link_is_inherited(link)
             ? tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "the link was opened by process %ld, and "
                                "this process is a fork of it",
                                (long) link->pid)
         : link->runtime != NULL
             ? tg_link_post_command(link, command, tg_link_run_message)
             : tg_lib_set_error(
                 TOOLGATE_ERR_CONNECTION,
                 "the server has closed this link, or was stopped");
    tg_lib_unlock();

    if (rc != 0) {
        tg_runtime_command_free(command);
    }

    return rc;
}

void
toolgate_link_close(toolgate_link_t *link)
{
    if (link == NULL) {
        return;
    }

    tg_lib_lock();
    atomic_store(&link->is_closed, 1);

    /* In a forked child no thread of the server could close the session. */
    if (link->runtime != NULL && !tg_link_is_inherited(link)
        && tg_link_post_command(link, link->close_command, tg_link_run_close)
               == 0)
    {
        link->close_command = NULL;

        /* The server's thread may be delivering a message. */
        while (link->has_session && link->runtime->type == TG_LOOP_THREAD
               && !tg_runtime_is_in_callback(link->runtime))
        {
            tg_lib_cond_wait();
        }
    }

    tg_link_unref(link);
    tg_lib_unlock();
}
