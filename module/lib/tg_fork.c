/*
 * What exit() and fork() do with started servers and open clients: remove
 * files, close inherited connections.
 */
#include "lib/tg_client.h"
#include "lib/tg_server.h"

#include "base/tg_list.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static toolgate_server_t *tg_servers;
static toolgate_server_t *tg_servers_last;
static toolgate_client_t *tg_clients;
static toolgate_client_t *tg_clients_last;
static pthread_once_t tg_fork_once = PTHREAD_ONCE_INIT;

static void
tg_fork_on_exit(void)
{
    toolgate_server_t *server;

    tg_lib_lock();

    for (server = tg_servers; server != NULL; server = server->next) {
        if (server->pid == getpid()) {
            tg_server_files_remove(&server->files);
        }
    }

    tg_lib_unlock();
}

static void
tg_fork_on_prepare(void)
{
    tg_lib_lock();
    tg_pending_calls_lock();
}

static void
tg_fork_on_parent(void)
{
    tg_pending_calls_unlock();
    tg_lib_unlock();
}

/*
 * Closes an inherited connection but keeps its number in use, by duplicating
 * dead over it: the parent's loop in the child's memory refers to the number.
 * If dead is -1, closes fd. A number that now belongs to another file is left
 * alone.
 */
static void
tg_fork_replace_fd(int fd, const tg_file_id_t *id, int dead)
{
    struct stat st;
    int is_standard;

    if (fd == -1 || fstat(fd, &st) != 0 || !tg_file_id_is_same(id, &st)) {
        return;
    }

    /* Programs that the child starts expect these descriptors to be open. */
    is_standard = fd <= STDERR_FILENO;

    if (is_standard) {
        dead = open("/dev/null", O_RDWR | O_CLOEXEC);
    }

    if (dead != -1) {
        (void) dup3(dead, fd, is_standard ? 0 : O_CLOEXEC);
    } else {
        (void) close(fd);
    }

    if (is_standard && dead != -1) {
        (void) close(dead);
    }
}

/* Closes the parent's connections, so that the other ends notice its exit. */
static void
tg_fork_on_child(void)
{
    toolgate_client_t *client;
    toolgate_server_t *server;
    tg_session_t *session;
    int dead;

    dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    for (server = tg_servers; server != NULL; server = server->next) {
        if (server->runtime == NULL) {
            continue;
        }

        tg_fork_replace_fd(server->runtime->listen_fd,
                           &server->runtime->listen_id, dead);

        for (session = server->runtime->first; session != NULL;
             session = session->next) {
            tg_fork_replace_fd(session->in.fd, &session->in.id, dead);
            tg_fork_replace_fd(session->out.fd, &session->out.id, dead);
        }
    }

    for (client = tg_clients; client != NULL; client = client->next) {
        tg_fork_replace_fd(client->conn->fd, &client->conn->id, dead);
    }

    if (dead != -1) {
        (void) close(dead);
    }

    tg_pending_calls_on_fork_child();
    tg_lib_unlock();
}

static void
tg_fork_install_handlers(void)
{
    (void) pthread_atfork(tg_fork_on_prepare, tg_fork_on_parent,
                          tg_fork_on_child);
    (void) atexit(tg_fork_on_exit);
}

void
tg_server_install_fork_handlers(void)
{
    (void) pthread_once(&tg_fork_once, tg_fork_install_handlers);
}

void
tg_server_register(toolgate_server_t *server)
{
    if (!server->is_registered) {
        TG_LIST_INSERT(tg_servers, tg_servers_last, tg_servers_last, server);
        server->is_registered = 1;
    }
}

void
tg_server_unregister(toolgate_server_t *server)
{
    if (server->is_registered) {
        TG_LIST_REMOVE(tg_servers, tg_servers_last, server);
        server->is_registered = 0;
    }
}

void
tg_client_register(toolgate_client_t *client)
{
    TG_LIST_INSERT(tg_clients, tg_clients_last, tg_clients_last, client);
}

void
tg_client_unregister(toolgate_client_t *client)
{
    TG_LIST_REMOVE(tg_clients, tg_clients_last, client);
}

void
tg_session_register(tg_runtime_t *runtime, tg_session_t *session)
{
    tg_lib_lock();
    TG_LIST_INSERT(runtime->first, runtime->last, (tg_session_t *) NULL,
                   session);
    runtime->nsessions++;
    tg_lib_unlock();
    runtime->nopen++;
}

void
tg_session_unregister(tg_session_t *session)
{
    tg_runtime_t *runtime;

    runtime = session->runtime;
    tg_lib_lock();
    TG_LIST_REMOVE(runtime->first, runtime->last, session);
    runtime->nsessions--;
    tg_lib_unlock();
}
