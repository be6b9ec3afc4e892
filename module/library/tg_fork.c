/*
 * All servers that are started, and clients that are open: for when the
 * process ends, or has a child.
 */
#include "library/tg_client.h"
#include "library/tg_server.h"

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
tg_fork_exit(void)
{
    toolgate_server_t *server;

    tg_library_lock();

    for (server = tg_servers; server != NULL; server = server->next) {
        if (server->pid == getpid()) {
            tg_files_remove(&server->files);
        }
    }

    tg_library_unlock();
}

static void
tg_fork_prepare(void)
{
    tg_library_lock();
    tg_mail_lock();
}

static void
tg_fork_parent(void)
{
    tg_mail_unlock();
    tg_library_unlock();
}

/*
 * What a descriptor leads to is closed, but its number stays taken, unless
 * there is none to take its place: the loop whose it was is in this child's
 * memory still.  A number that has become something else's meanwhile is left
 * alone.
 */
static void
tg_fork_cut(int fd, const tg_file_id_t *id, int dead)
{
    struct stat st;
    int is_standard;

    if (fd == -1 || fstat(fd, &st) != 0 || !tg_file_is(id, &st)) {
        return;
    }

    /* What this child starts expects something at these numbers. */
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

/*
 * A child has none of the parent's connections: when the parent goes, the
 * other ends are to notice.
 */
static void
tg_fork_child(void)
{
    toolgate_client_t *client;
    toolgate_server_t *server;
    tg_session_t *session;
    int dead;

    dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    for (server = tg_servers; server != NULL; server = server->next) {
        if (server->run == NULL) {
            continue;
        }

        tg_fork_cut(server->run->listen_fd, &server->run->listen_id, dead);

        for (session = server->run->first; session != NULL;
             session = session->next) {
            tg_fork_cut(session->in.fd, &session->in.id, dead);
            tg_fork_cut(session->out.fd, &session->out.id, dead);
        }
    }

    for (client = tg_clients; client != NULL; client = client->next) {
        tg_fork_cut(client->line->fd, &client->line->id, dead);
    }

    if (dead != -1) {
        (void) close(dead);
    }

    tg_mail_forked();
    tg_library_unlock();
}

static void
tg_fork_begin(void)
{
    (void) pthread_atfork(tg_fork_prepare, tg_fork_parent, tg_fork_child);
    (void) atexit(tg_fork_exit);
}

void
tg_server_watch(void)
{
    (void) pthread_once(&tg_fork_once, tg_fork_begin);
}

void
tg_server_know(toolgate_server_t *server)
{
    if (!server->is_known) {
        TG_LIST_INSERT(tg_servers, tg_servers_last, tg_servers_last, server);
        server->is_known = 1;
    }
}

void
tg_server_forget(toolgate_server_t *server)
{
    if (server->is_known) {
        TG_LIST_REMOVE(tg_servers, tg_servers_last, server);
        server->is_known = 0;
    }
}

void
tg_client_know(toolgate_client_t *client)
{
    TG_LIST_INSERT(tg_clients, tg_clients_last, tg_clients_last, client);
}

void
tg_client_forget(toolgate_client_t *client)
{
    TG_LIST_REMOVE(tg_clients, tg_clients_last, client);
}
