/* A client of the public API: its options, open and close. */
#include "lib/tg_client.h"

#include "base/tg_utf8.h"
#include "protocol/tg_peer.h"
#include "lib/tg_option.h"
#include "lib/tg_server.h"

#include <stdlib.h>
#include <unistd.h>

/* Sets the name or version for clientInfo, up to the length servers keep. */
static int
tg_client_set_identity(const tg_option_t *option, const char *value,
                       void *object)
{
    size_t len;

    len = strlen(value);

    if (len == 0 || len > option->max || !tg_utf8_is_valid(tg_str(value, len)))
    {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "\"%s\" must be 1 to %zu bytes of UTF-8",
                                option->name, (size_t) option->max);
    }

    return tg_option_set_string(option, value, object);
}

static int
tg_client_set_loop(const tg_option_t *option, const char *value, void *object)
{
    static const char *const loops[] = { "thread", "fd", NULL };
    toolgate_client_t *client;
    int rc, word;

    client = object;
    rc = tg_option_parse_word(option->name, value, loops, &word);

    if (rc == 0) {
        client->loop = word == 1 ? TG_LOOP_FD : TG_LOOP_THREAD;
        client->uv = NULL;
    }

    return rc;
}

#define TG_CLIENT_MEMBER(member) offsetof(toolgate_client_t, member), 0, 0
static const tg_option_t tg_client_options[] = {
    { "ca", tg_option_set_string, TG_CLIENT_MEMBER(ca) },
    { "certificate", tg_option_set_string, TG_CLIENT_MEMBER(certificate) },
    { "connect_timeout", tg_option_set_time,
      TG_CLIENT_MEMBER(conf.connect_timeout) },
    { "grace", tg_option_set_time, TG_CLIENT_MEMBER(conf.grace) },
    { "key", tg_option_set_string, TG_CLIENT_MEMBER(key) },
    { "loop", tg_client_set_loop, 0, 0, 0 },
    { "max_frame", tg_option_set_size,
      offsetof(toolgate_client_t, conf.max_frame), TG_MAX_FRAME_MIN,
      TG_MAX_FRAME_MAX },
    { "name", tg_client_set_identity, offsetof(toolgate_client_t, name), 1,
      TG_CLIENT_NAME_MAX },
    { "timeout", tg_option_set_time, TG_CLIENT_MEMBER(conf.timeout) },
    { "tls_name", tg_option_set_string, TG_CLIENT_MEMBER(tls_name) },
    { "version", tg_client_set_identity, offsetof(toolgate_client_t, version),
      1, TG_CLIENT_VERSION_MAX },
    { NULL, NULL, 0, 0, 0 },
};

_Static_assert(sizeof(tg_client_options) / sizeof(tg_client_options[0])
                   <= TG_OPTIONS_MAX + 1,
               "raise TG_OPTIONS_MAX");

/* Acquires the lock, or returns TOOLGATE_ERR_STATE if the client is open. */
static int
tg_client_lock_if_closed(const toolgate_client_t *client)
{
    tg_lib_lock();

    if (client->conn == NULL) {
        return 0;
    }

    tg_lib_unlock();

    return tg_lib_set_error(TOOLGATE_ERR_STATE,
                            "the client is open; set this option before "
                            "toolgate_client_open() or after "
                            "toolgate_client_close()");
}

int
toolgate_client_set(toolgate_client_t *client, const char *option,
                    const char *value)
{
    int i, rc;

    i = tg_option_find_in(tg_client_options, option, value);
    rc = i < 0 ? i : tg_client_lock_if_closed(client);

    if (rc == 0) {
        rc = tg_client_options[i].set(&tg_client_options[i], value, client);
        tg_lib_unlock();
    }

    return rc;
}

int
toolgate_client_use_uv(toolgate_client_t *client, struct uv_loop_s *loop)
{
    int rc;

    rc = tg_client_lock_if_closed(client);

    if (rc == 0) {
        client->loop = loop != NULL ? TG_LOOP_UV : TG_LOOP_THREAD;
        client->uv = loop;
        tg_lib_unlock();
    }

    return rc;
}

int
toolgate_client_on_notification(toolgate_client_t *client,
                                toolgate_notified_pt notified, void *data)
{
    int rc;

    rc = tg_client_lock_if_closed(client);

    if (rc == 0) {
        client->conf.notified = notified;
        client->conf.notified_data = data;
        tg_lib_unlock();
    }

    return rc;
}

int
toolgate_client_on_connection(toolgate_client_t *client,
                              toolgate_connected_pt connected, void *data)
{
    int rc;

    rc = tg_client_lock_if_closed(client);

    if (rc == 0) {
        client->conf.connected = connected;
        client->conf.connected_data = data;
        tg_lib_unlock();
    }

    return rc;
}

int
toolgate_client_on_progress(toolgate_client_t *client,
                            toolgate_call_pt progress, void *data)
{
    int rc;

    rc = tg_client_lock_if_closed(client);

    if (rc == 0) {
        client->conf.progress = progress;
        client->conf.progress_data = data;
        tg_lib_unlock();
    }

    return rc;
}

int
toolgate_client_on_update(toolgate_client_t *client,
                          toolgate_updated_pt updated, void *data)
{
    int rc;

    rc = tg_client_lock_if_closed(client);

    if (rc == 0) {
        client->conf.updated = updated;
        client->conf.updated_data = data;
        tg_lib_unlock();
    }

    return rc;
}

toolgate_client_t *
toolgate_client_new(const char *address)
{
    toolgate_client_t *client;

    if (address != NULL
        && (address[0] == '\0' || !tg_utf8_is_valid(tg_str_from_cstr(address))))
    {
        (void) tg_lib_set_error(
            TOOLGATE_ERR_ARGUMENT,
            "the address of a server must be the path of a socket, HOST:PORT "
            "or tls:HOST:PORT");
        return NULL;
    }

    tg_server_install_fork_handlers();
    client = calloc(1, sizeof(*client));

    if (client != NULL && address != NULL) {
        client->address = tg_str_dup(tg_str_from_cstr(address));
    }

    if (client == NULL || (address != NULL && client->address == NULL)) {
        free(client);
        (void) tg_lib_set_nomem_error();
        return NULL;
    }

    client->conf.timeout = TG_CLIENT_TIMEOUT_DEFAULT;
    client->conf.grace = TG_CLIENT_GRACE_DEFAULT;
    client->conf.connect_timeout = TG_CLIENT_CONNECT_TIMEOUT_DEFAULT;
    client->conf.max_frame = TG_CLIENT_MAX_FRAME_DEFAULT;

    return client;
}

/* Returns clientInfo as JSON, which the caller frees. NULL: no memory. */
static char *
tg_client_make_info(const toolgate_client_t *client)
{
    const char *version;
    tg_buf_t info;
    char *text;

    version = client->version;

    if (version == NULL) {
        version = client->name == NULL ? TG_VERSION : "";
    }

    tg_buf_init(&info, tg_alloc_libc());
    tg_buf_append_char(&info, '{');
    tg_json_add_string(&info, "name",
                       tg_str_from_cstr(client->name != NULL ? client->name
                                                             : "libtoolgate"));
    tg_json_add_string(&info, "version", tg_str_from_cstr(version));
    tg_buf_append_char(&info, '}');
    text = tg_buf_has_failed(&info) ? NULL : tg_str_dup(tg_buf_view(&info));
    tg_buf_deinit(&info);

    return text;
}

/* Creates a connection without opening it. Requires tg_lib_lock(). */
static int
tg_client_conn_new(const toolgate_client_t *client, tg_client_conn_t **result)
{
    tg_uv_tls_options_t tls;
    char why[TG_UV_ERROR_SIZE];
    const char *address;
    tg_client_conn_t *conn;
    int is_there;

    address = client->address != NULL ? client->address
                                      : tg_uv_endpoint_get_default(&is_there);
    conn = calloc(1, sizeof(*conn));

    if (conn == NULL) {
        return tg_lib_set_nomem_error();
    }

    conn->address = tg_str_dup(tg_str_from_cstr(address));
    conn->info = tg_client_make_info(client);

    if (conn->address == NULL || conn->info == NULL) {
        free(conn->address);
        free(conn->info);
        free(conn);
        return tg_lib_set_nomem_error();
    }

    tls.ca = client->ca;
    tls.certificate = client->certificate;
    tls.key = client->key;
    tls.name = client->tls_name;

    if (tg_uv_endpoint_parse(&conn->endpoint, conn->address, &tls, why)
        != TG_OK) {
        (void) tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "%s: %s", address, why);
        free(conn->address);
        free(conn->info);
        free(conn);
        return TOOLGATE_ERR_ARGUMENT;
    }

    conn->fd = -1;
    conn->conf = client->conf;
    conn->runtime.type = client->loop;
    conn->runtime.loop = client->uv;
    conn->runtime.ended = tg_runtime_on_ended;
    conn->runtime.release = tg_client_conn_free;
    tg_buf_init(&conn->runtime.texts, tg_alloc_libc());
    *result = conn;

    return 0;
}

/* Opens a client without waiting for it. Requires tg_lib_lock(). */
static int
tg_client_open(toolgate_client_t *client)
{
    tg_client_conn_t *conn;
    int rc;

    conn = NULL;

    if (client->conn != NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "the client is already open");
    }

    if (client->ended != NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "the client is being closed by the current "
                                "callback; open it after the callback has "
                                "returned");
    }

    rc = tg_client_conn_new(client, &conn);

    if (rc != 0) {
        return rc;
    }

    rc = tg_runtime_open(&conn->runtime, -1);

    if (rc == 0) {
        tg_client_conn_open(conn);
        rc = tg_runtime_start_thread(&conn->runtime);
    }

    if (rc != 0) {
        tg_runtime_abort_start(&conn->runtime);
        return rc;
    }

    client->pid = getpid();
    client->conn = conn;
    tg_client_register(client);

    return 0;
}

int
toolgate_client_open(toolgate_client_t *client)
{
    tg_waiter_t opener;
    int rc;

    tg_runtime_join(&client->ended);
    tg_waiter_init(&opener);
    tg_lib_lock();
    rc = tg_client_open(client);

    if (rc == 0 && client->conn->runtime.type != TG_LOOP_UV) {
        if (client->conn->is_connected) {
            opener.is_done = 1;
        } else {
            client->conn->opener = &opener;
        }

        rc = tg_client_conn_wait(client->conn, &opener);
        tg_lib_unlock();

        if (rc != 0) {
            (void) toolgate_client_close(client);
            rc = tg_lib_set_error(rc, "%s",
                                  opener.why != NULL ? opener.why
                                                     : "no connection");
        }
    } else {
        tg_lib_unlock();
    }

    tg_waiter_deinit(&opener);

    return rc;
}

static int
tg_client_check_process(const toolgate_client_t *client)
{
    return client->conn == NULL || client->pid == getpid()
               ? 0
               : tg_lib_set_error(
                   TOOLGATE_ERR_STATE,
                   "the client was opened by process %ld, and this process "
                   "is a fork of it; create a client of its own",
                   (long) client->pid);
}

int
toolgate_client_close(toolgate_client_t *client)
{
    tg_runtime_t *runtime;
    int rc;

    runtime = NULL;
    tg_lib_lock();
    rc = tg_client_check_process(client);

    if (rc == 0 && client->conn != NULL) {
        runtime = tg_runtime_request_stop(&client->conn->runtime,
                                          &client->ended);
        tg_client_unregister(client);
        client->conn = NULL;
    }

    tg_lib_unlock();

    if (runtime != NULL) {
        tg_runtime_stop_in_caller(runtime);
    }

    tg_runtime_join(&client->ended);

    return rc;
}

void
toolgate_client_free(toolgate_client_t *client)
{
    if (client == NULL || toolgate_client_close(client) != 0) {
        return;
    }

    free(client->address);
    free(client->ca);
    free(client->certificate);
    free(client->key);
    free(client->tls_name);
    free(client->name);
    free(client->version);
    free(client);
}

tg_client_conn_t *
tg_client_get_conn(const toolgate_client_t *client, int *rc)
{
    *rc = client->conn == NULL ? tg_lib_set_error(
              TOOLGATE_ERR_STATE,
              "the client is not open; call toolgate_client_open() first")
                               : tg_client_check_process(client);

    return *rc == 0 ? client->conn : NULL;
}

int
toolgate_client_is_connected(const toolgate_client_t *client)
{
    int is_connected;

    tg_lib_lock();
    is_connected = client->conn != NULL && client->conn->is_connected;
    tg_lib_unlock();

    return is_connected;
}

int
toolgate_client_fd(const toolgate_client_t *client)
{
    int fd;

    tg_lib_lock();
    fd = client->conn != NULL && client->conn->runtime.type == TG_LOOP_FD
             ? uv_backend_fd(client->conn->runtime.loop)
             : -1;
    tg_lib_unlock();

    return fd;
}

int
toolgate_client_process(toolgate_client_t *client)
{
    tg_client_conn_t *conn;
    int rc;

    tg_lib_lock();
    conn = tg_client_get_conn(client, &rc);

    if (conn != NULL && conn->runtime.type != TG_LOOP_FD) {
        rc = tg_lib_set_error(TOOLGATE_ERR_STATE,
                              "the client runs its own loop; set \"loop\" to "
                              "\"fd\"");
    } else if (conn != NULL && conn->runtime.is_processing) {
        rc = tg_lib_set_error(TOOLGATE_ERR_STATE,
                              "toolgate_client_process() was called by its "
                              "own callback");
    }

    tg_lib_unlock();

    if (rc == 0) {
        tg_runtime_process(&conn->runtime);
    }

    return rc;
}
