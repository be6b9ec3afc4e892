/*
 * From a start to a stop.
 */
#include "library/tg_server.h"

#include <stdlib.h>
#include <unistd.h>

/* --- start --- */

static tg_run_t *
tg_run_new(toolgate_server_t *server, tg_catalogue_t *catalogue)
{
    tg_run_t *run;
    size_t name, version;

    run = calloc(1, sizeof(*run));

    if (run == NULL) {
        return NULL;
    }

    name = strlen(server->name);
    version = strlen(server->version);
    tg_buf_init(&run->texts, tg_alloc_libc());
    tg_buf_text(&run->texts, server->name);
    tg_buf_text(&run->texts, server->version);

    if (server->instructions != NULL) {
        tg_buf_text(&run->texts, server->instructions);
    }

    if (tg_buf_failed(&run->texts)) {
        tg_buf_deinit(&run->texts);
        free(run);
        return NULL;
    }

    run->kind = server->loop;
    run->loop = server->uv;
    run->conf = server->conf;
    run->catalogue = catalogue;
    run->ended = tg_run_is_over;
    run->info.name = tg_str(run->texts.data, name);
    run->info.version = tg_str(run->texts.data + name, version);
    run->info.has_list_changed = 1;
    run->info.has_broadcasts = 1;

    if (server->instructions != NULL) {
        run->info.instructions = tg_str(run->texts.data + name + version,
                                        run->texts.len - name - version);
    }

    return run;
}

/* The schema file and the socket: 0, and *fd, which may be -1. */
static int
tg_life_open_files(toolgate_server_t *server, const tg_catalogue_t *catalogue,
                   int *fd)
{
    int rc;

    *fd = -1;
    rc = tg_server_write(server, catalogue);

    return rc == 0 && server->transport != TG_TRANSPORT_SDK
               ? tg_files_listen(&server->files, fd)
               : rc;
}

static int
tg_life_start(toolgate_server_t *server)
{
    tg_catalogue_t *catalogue;
    tg_run_t *run;
    int fd, rc;

    catalogue = tg_offers_catalogue(&server->offers);

    if (catalogue == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    run = tg_run_new(server, catalogue);

    if (run == NULL) {
        tg_catalogue_release(catalogue);
        return tg_error_memory();
    }

    server->pid = getpid();
    tg_server_know(server);
    rc = tg_life_open_files(server, catalogue, &fd);

    if (rc != 0) {
        tg_run_free(run);
        return rc;
    }

    rc = tg_run_open(run, fd);

    if (rc == 0) {
        rc = tg_run_start(run);
    }

    if (rc != 0) {
        tg_run_undo(run);
        return rc;
    }

    server->run = run;
    server->state = TOOLGATE_STARTED;

    return 0;
}

int
toolgate_start(toolgate_server_t *server)
{
    tg_run_t *run;
    int rc;

    tg_server_end(server);
    tg_library_lock();

    if (server->run != NULL) {
        rc = tg_error(TOOLGATE_ERR_STATE, "the server is started already");

    } else if (server->ended != NULL) {
        rc = tg_error(TOOLGATE_ERR_STATE,
                      "the server is being stopped in the callback that runs; "
                      "start it when that has returned");

    } else {
        rc = tg_life_start(server);

        if (rc != 0) {
            tg_files_remove(&server->files);
            tg_server_forget(server);
        }
    }

    run = rc == 0 && server->loop == TG_LOOP_FD ? server->run : NULL;
    tg_library_unlock();

    /* From now on its descriptor tells. */
    if (run != NULL) {
        tg_run_process(run);
    }

    return rc;
}

/* --- stop --- */

void
tg_server_end(toolgate_server_t *server)
{
    tg_run_join(&server->ended);
}

/* Locked; what is left to do with a run when it is not: or NULL. */
static tg_run_t *
tg_life_stop(toolgate_server_t *server)
{
    tg_run_t *run;

    run = server->run;
    server->run = NULL;
    server->state = TOOLGATE_STOPPED;
    tg_files_remove(&server->files);
    tg_server_forget(server);

    return tg_run_leave(run, &server->ended);
}

int
toolgate_stop(toolgate_server_t *server)
{
    tg_run_t *run;
    int rc;

    run = NULL;
    tg_library_lock();
    rc = server->run != NULL ? tg_server_is_foreign(server) : 0;

    if (rc == 0 && server->run != NULL) {
        run = tg_life_stop(server);
    }

    tg_library_unlock();

    if (run != NULL) {
        tg_run_stop_here(run);
    }

    tg_server_end(server);

    return rc;
}

/*
 * In a child that was forked, the loop is what a thread that is not here was
 * in the midst of: its memory stays as it is.
 */
void
toolgate_server_free(toolgate_server_t *server)
{
    if (server != NULL && toolgate_stop(server) == 0) {
        tg_server_release(server);
    }
}

/* --- a loop of the caller's --- */

int
toolgate_fd(const toolgate_server_t *server)
{
    int fd;

    tg_library_lock();
    fd = server->run != NULL && server->run->kind == TG_LOOP_FD
             ? uv_backend_fd(server->run->loop)
             : -1;
    tg_library_unlock();

    return fd;
}

int
toolgate_process(toolgate_server_t *server)
{
    tg_run_t *run;
    int rc;

    tg_library_lock();
    run = server->run;
    rc = run == NULL ? tg_error(TOOLGATE_ERR_STATE, "the server is not started")
         : run->kind != TG_LOOP_FD
             ? tg_error(TOOLGATE_ERR_STATE, "the server has a loop of its own; "
                                            "set \"loop\" to \"fd\"")
         : run->is_running ? tg_error(
               TOOLGATE_ERR_STATE,
               "toolgate_process() was called by a callback of its own")
                           : tg_server_is_foreign(server);
    tg_library_unlock();

    if (rc == 0 && run != NULL) {
        tg_run_process(run);
    }

    return rc;
}
