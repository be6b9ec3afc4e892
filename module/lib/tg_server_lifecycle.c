/* Start and stop of a server. */
#include "lib/tg_server.h"

#include <stdlib.h>
#include <unistd.h>

static tg_runtime_t *
tg_server_new_runtime(toolgate_server_t *server, tg_catalog_t *catalog)
{
    tg_runtime_t *runtime;
    size_t name, version;

    runtime = calloc(1, sizeof(*runtime));

    if (runtime == NULL) {
        return NULL;
    }

    name = strlen(server->name);
    version = strlen(server->version);
    tg_buf_init(&runtime->texts, tg_alloc_libc());
    tg_buf_append_cstr(&runtime->texts, server->name);
    tg_buf_append_cstr(&runtime->texts, server->version);

    if (server->instructions != NULL) {
        tg_buf_append_cstr(&runtime->texts, server->instructions);
    }

    if (tg_buf_has_failed(&runtime->texts)) {
        tg_buf_deinit(&runtime->texts);
        free(runtime);
        return NULL;
    }

    runtime->type = server->loop;
    runtime->loop = server->uv;
    runtime->conf = server->conf;
    runtime->catalog = catalog;
    runtime->ended = tg_runtime_on_ended;
    runtime->info.name = tg_str(runtime->texts.data, name);
    runtime->info.version = tg_str(runtime->texts.data + name, version);
    runtime->info.has_list_changed = 1;
    runtime->info.has_broadcasts = 1;
    tg_runtime_declare_capabilities(runtime);

    if (server->instructions != NULL) {
        runtime->info.instructions = tg_str(
            runtime->texts.data + name + version,
            runtime->texts.len - name - version);
    }

    return runtime;
}

/* Opens the files and the socket; *fd is -1 with the transport "sdk". */
static int
tg_server_open_files(toolgate_server_t *server, const tg_catalog_t *catalog,
                     int *fd)
{
    int rc;

    *fd = -1;
    rc = tg_server_write_schema_file(server, catalog);

    return rc == 0 && server->transport != TG_SERVER_TRANSPORT_SDK
               ? tg_server_files_listen(&server->files, fd)
               : rc;
}

static int
tg_server_start_runtime(toolgate_server_t *server)
{
    tg_catalog_t *catalog;
    tg_runtime_t *runtime;
    int fd, rc;

    catalog = tg_server_tools_create_catalog(&server->tools);

    if (catalog == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    runtime = tg_server_new_runtime(server, catalog);

    if (runtime == NULL) {
        tg_catalog_unref(catalog);
        return tg_lib_set_nomem_error();
    }

    server->pid = getpid();
    tg_server_register(server);
    rc = tg_server_open_files(server, catalog, &fd);

    if (rc != 0) {
        tg_runtime_free(runtime);
        return rc;
    }

    rc = tg_runtime_open(runtime, fd);

    if (rc == 0) {
        rc = tg_runtime_start_thread(runtime);
    }

    if (rc != 0) {
        tg_runtime_abort_start(runtime);
        return rc;
    }

    server->runtime = runtime;
    server->state = TOOLGATE_STARTED;

    return 0;
}

int
toolgate_start(toolgate_server_t *server)
{
    tg_runtime_t *runtime;
    int rc;

    tg_runtime_join(&server->ended);
    tg_lib_lock();

    if (server->runtime != NULL) {
        rc = tg_lib_set_error(TOOLGATE_ERR_STATE,
                              "the server is already started");

    } else if (server->ended != NULL) {
        rc = tg_lib_set_error(
            TOOLGATE_ERR_STATE,
            "the server is being stopped by the current callback; start it "
            "after the callback has returned");

    } else {
        rc = tg_server_start_runtime(server);

        if (rc != 0) {
            tg_server_files_remove(&server->files);
            tg_server_unregister(server);
        }
    }

    runtime = rc == 0 && server->loop == TG_LOOP_FD ? server->runtime : NULL;
    tg_lib_unlock();

    /* The program polls the loop's descriptor from now on. */
    if (runtime != NULL) {
        tg_runtime_process(runtime);
    }

    return rc;
}

/*
 * Requires tg_lib_lock(). Returns a runtime that the caller must stop after
 * releasing the lock, or NULL.
 */
static tg_runtime_t *
tg_server_stop_runtime(toolgate_server_t *server)
{
    tg_runtime_t *runtime;

    runtime = server->runtime;
    server->runtime = NULL;
    server->state = TOOLGATE_STOPPED;
    tg_server_files_remove(&server->files);
    tg_server_unregister(server);

    return tg_runtime_request_stop(runtime, &server->ended);
}

int
toolgate_stop(toolgate_server_t *server)
{
    tg_runtime_t *runtime;
    int rc;

    runtime = NULL;
    tg_lib_lock();
    rc = server->runtime != NULL ? tg_server_check_process(server) : 0;

    if (rc == 0 && server->runtime != NULL) {
        runtime = tg_server_stop_runtime(server);
    }

    tg_lib_unlock();

    if (runtime != NULL) {
        tg_runtime_stop_in_caller(runtime);
    }

    tg_runtime_join(&server->ended);

    return rc;
}

/*
 * In a forked child, toolgate_stop() fails and nothing is freed: the parent's
 * thread was changing the loop's state at the fork.
 */
void
toolgate_server_free(toolgate_server_t *server)
{
    if (server != NULL && toolgate_stop(server) == 0) {
        tg_server_free_stopped(server);
    }
}

int
toolgate_fd(const toolgate_server_t *server)
{
    int fd;

    tg_lib_lock();
    fd = server->runtime != NULL && server->runtime->type == TG_LOOP_FD
             ? uv_backend_fd(server->runtime->loop)
             : -1;
    tg_lib_unlock();

    return fd;
}

int
toolgate_process(toolgate_server_t *server)
{
    tg_runtime_t *runtime;
    int rc;

    tg_lib_lock();
    runtime = server->runtime;
    rc = runtime == NULL
             ? tg_lib_set_error(TOOLGATE_ERR_STATE, "the server is not started")
         : runtime->type != TG_LOOP_FD
             ? tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "the server runs its own loop; set \"loop\" "
                                "to \"fd\"")
         : runtime->is_processing ? tg_lib_set_error(
               TOOLGATE_ERR_STATE,
               "toolgate_process() was called by its own callback")
                                  : tg_server_check_process(server);
    tg_lib_unlock();

    if (rc == 0 && runtime != NULL) {
        tg_runtime_process(runtime);
    }

    return rc;
}
