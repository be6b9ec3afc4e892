/*
 * A client: its options, and from opening to closing.
 */
#include "library/tg_client.h"

#include "base/tg_utf8.h"
#include "core/tg_peer.h"
#include "library/tg_option.h"
#include "library/tg_server.h"

#include <stdlib.h>
#include <unistd.h>

/* --- options --- */

enum {
    TG_OPTION_CA,
    TG_OPTION_CERTIFICATE,
    TG_OPTION_CONNECT_TIMEOUT,
    TG_OPTION_GRACE,
    TG_OPTION_KEY,
    TG_OPTION_LOOP,
    TG_OPTION_MAX_FRAME,
    TG_OPTION_NAME,
    TG_OPTION_TIMEOUT,
    TG_OPTION_TLS_NAME,
    TG_OPTION_VERSION
};

static const char *const tg_client_options[] = {
    [TG_OPTION_CA] = "ca",
    [TG_OPTION_CERTIFICATE] = "certificate",
    [TG_OPTION_CONNECT_TIMEOUT] = "connect_timeout",
    [TG_OPTION_GRACE] = "grace",
    [TG_OPTION_KEY] = "key",
    [TG_OPTION_LOOP] = "loop",
    [TG_OPTION_MAX_FRAME] = "max_frame",
    [TG_OPTION_NAME] = "name",
    [TG_OPTION_TIMEOUT] = "timeout",
    [TG_OPTION_TLS_NAME] = "tls_name",
    [TG_OPTION_VERSION] = "version",
    [TG_OPTION_VERSION + 1] = NULL,
};

/* Sets what the client tells servers of itself, which they keep if it fits. */
static int
tg_client_set_about(const char *option, const char *value, size_t max,
                    char **text)
{
    size_t len;

    len = strlen(value);

    if (len == 0 || len > max || !tg_utf8_is_valid(tg_str(value, len))) {
        return tg_error(TOOLGATE_ERR_ARGUMENT,
                        "\"%s\" takes 1 to %zu bytes of UTF-8", option, max);
    }

    return tg_option_text(value, text);
}

static int
tg_client_set(toolgate_client_t *client, int option, const char *value)
{
    static const char *const loops[] = { "thread", "fd", NULL };
    tg_client_conf_t *conf;
    const char *name;
    int rc, word;

    name = tg_client_options[option];
    conf = &client->conf;

    switch (option) {
    case TG_OPTION_CA:
        return tg_option_text(value, &client->ca);
    case TG_OPTION_CERTIFICATE:
        return tg_option_text(value, &client->certificate);
    case TG_OPTION_CONNECT_TIMEOUT:
        return tg_option_time(name, value, &conf->connect_timeout);
    case TG_OPTION_GRACE:
        return tg_option_time(name, value, &conf->grace);
    case TG_OPTION_KEY:
        return tg_option_text(value, &client->key);
    case TG_OPTION_MAX_FRAME:
        return tg_option_size(name, value, TG_FRAME_LEAST, TG_FRAME_MOST,
                              &conf->max_frame);
    case TG_OPTION_NAME:
        return tg_client_set_about(name, value, TG_CLIENT_MAX, &client->name);
    case TG_OPTION_TIMEOUT:
        return tg_option_time(name, value, &conf->timeout);
    case TG_OPTION_TLS_NAME:
        return tg_option_text(value, &client->tls_name);
    case TG_OPTION_VERSION:
        return tg_client_set_about(name, value, TG_CLIENT_VERSION_MAX,
                                   &client->version);
    default:
        rc = tg_option_word(name, value, loops, &word);
    }

    if (rc == 0) {
        client->loop = word == 1 ? TG_LOOP_FD : TG_LOOP_THREAD;
        client->uv = NULL;
    }

    return rc;
}

/* Locks; 0, or an error and nothing is locked: what cannot change now. */
static int
tg_client_change(const toolgate_client_t *client)
{
    tg_library_lock();

    if (client->line == NULL) {
        return 0;
    }

    tg_library_unlock();

    return tg_error(TOOLGATE_ERR_STATE,
                    "the client is open; set that before, or after "
                    "toolgate_client_close()");
}

int
toolgate_client_set(toolgate_client_t *client, const char *option,
                    const char *value)
{
    int i, rc;

    if (option == NULL || value == NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "an option needs a value");
    }

    i = tg_option_find(option, tg_client_options);
    rc = i < 0 ? i : tg_client_change(client);

    if (rc == 0) {
        rc = tg_client_set(client, i, value);
        tg_library_unlock();
    }

    return rc;
}

int
toolgate_client_use_uv(toolgate_client_t *client, struct uv_loop_s *loop)
{
    int rc;

    rc = tg_client_change(client);

    if (rc == 0) {
        client->loop = loop != NULL ? TG_LOOP_UV : TG_LOOP_THREAD;
        client->uv = loop;
        tg_library_unlock();
    }

    return rc;
}

int
toolgate_client_on_notification(toolgate_client_t *client,
                                toolgate_notified_pt notified, void *data)
{
    int rc;

    rc = tg_client_change(client);

    if (rc == 0) {
        client->conf.notified = notified;
        client->conf.notified_data = data;
        tg_library_unlock();
    }

    return rc;
}

int
toolgate_client_on_connection(toolgate_client_t *client,
                              toolgate_connected_pt connected, void *data)
{
    int rc;

    rc = tg_client_change(client);

    if (rc == 0) {
        client->conf.connected = connected;
        client->conf.connected_data = data;
        tg_library_unlock();
    }

    return rc;
}

int
toolgate_client_on_progress(toolgate_client_t *client,
                            toolgate_call_pt progress, void *data)
{
    int rc;

    rc = tg_client_change(client);

    if (rc == 0) {
        client->conf.progress = progress;
        client->conf.progress_data = data;
        tg_library_unlock();
    }

    return rc;
}

toolgate_client_t *
toolgate_client_new(const char *address)
{
    toolgate_client_t *client;

    if (address != NULL
        && (address[0] == '\0' || !tg_utf8_is_valid(tg_str_c(address))))
    {
        (void) tg_error(TOOLGATE_ERR_ARGUMENT,
                        "the address of a server is the path of a socket, "
                        "HOST:PORT or tls:HOST:PORT");
        return NULL;
    }

    tg_server_watch();
    client = calloc(1, sizeof(*client));

    if (client != NULL && address != NULL) {
        client->address = tg_text_copy(tg_str_c(address));
    }

    if (client == NULL || (address != NULL && client->address == NULL)) {
        free(client);
        (void) tg_error_memory();
        return NULL;
    }

    client->conf.timeout = TG_CLIENT_TIMEOUT;
    client->conf.grace = TG_CLIENT_GRACE;
    client->conf.connect_timeout = TG_CLIENT_CONNECT;
    client->conf.max_frame = TG_CLIENT_FRAME;

    return client;
}

/* --- opening --- */

/* Returns who the client is as a clientInfo; NULL: no memory. */
static char *
tg_client_info(const toolgate_client_t *client)
{
    const char *version;
    tg_buf_t info;
    char *text;

    version = client->version;

    if (version == NULL) {
        version = client->name == NULL ? TG_VERSION : "";
    }

    tg_buf_init(&info, tg_alloc_libc());
    tg_buf_text(&info, "{\"name\":");
    tg_json_put_string(&info, tg_str_c(client->name != NULL ? client->name
                                                            : "libtoolgate"));
    tg_buf_text(&info, ",\"version\":");
    tg_json_put_string(&info, tg_str_c(version));
    tg_buf_char(&info, '}');
    text = tg_buf_failed(&info) ? NULL : tg_text_copy(tg_buf_view(&info));
    tg_buf_deinit(&info);

    return text;
}

/* Locked: its line, but for what opens it. */
static int
tg_line_new(const toolgate_client_t *client, tg_line_t **result)
{
    tg_uv_tls_options_t tls;
    char why[TG_UV_WHY];
    const char *address;
    tg_line_t *line;
    int is_there;

    address = client->address != NULL ? client->address
                                      : tg_uv_place_default(&is_there);
    line = calloc(1, sizeof(*line));

    if (line == NULL) {
        return tg_error_memory();
    }

    line->address = tg_text_copy(tg_str_c(address));
    line->info = tg_client_info(client);

    if (line->address == NULL || line->info == NULL) {
        free(line->address);
        free(line->info);
        free(line);
        return tg_error_memory();
    }

    tls.ca = client->ca;
    tls.certificate = client->certificate;
    tls.key = client->key;
    tls.name = client->tls_name;

    if (tg_uv_place_find(&line->place, line->address, &tls, why) != TG_OK) {
        (void) tg_error(TOOLGATE_ERR_ARGUMENT, "%s: %s", address, why);
        free(line->address);
        free(line->info);
        free(line);
        return TOOLGATE_ERR_ARGUMENT;
    }

    line->fd = -1;
    line->conf = client->conf;
    line->run.kind = client->loop;
    line->run.loop = client->uv;
    line->run.ended = tg_run_is_over;
    line->run.release = tg_line_free;
    tg_buf_init(&line->run.texts, tg_alloc_libc());
    *result = line;

    return 0;
}

/* Locked. */
static int
tg_client_open(toolgate_client_t *client)
{
    tg_line_t *line;
    int rc;

    line = NULL;
    rc = client->line != NULL
             ? tg_error(TOOLGATE_ERR_STATE, "the client is open already")
         : client->ended != NULL
             ? tg_error(TOOLGATE_ERR_STATE,
                        "the client is being closed in the callback that "
                        "runs; open it when that has returned")
             : tg_line_new(client, &line);

    if (rc != 0) {
        return rc;
    }

    rc = tg_run_open(&line->run, -1);

    if (rc == 0) {
        tg_line_open(line);
        rc = tg_run_start(&line->run);
    }

    if (rc != 0) {
        tg_run_undo(&line->run);
        return rc;
    }

    client->pid = getpid();
    client->line = line;
    tg_client_know(client);

    return 0;
}

int
toolgate_client_open(toolgate_client_t *client)
{
    tg_waiter_t opener;
    int rc;

    tg_run_join(&client->ended);
    tg_waiter_init(&opener);
    tg_library_lock();
    rc = tg_client_open(client);

    if (rc == 0 && client->line->run.kind != TG_LOOP_UV) {
        if (client->line->is_connected) {
            opener.is_done = 1;
        } else {
            client->line->opener = &opener;
        }

        rc = tg_client_wait(client->line, &opener);
        tg_library_unlock();

        if (rc != 0) {
            (void) toolgate_client_close(client);
            rc = tg_error(rc, "%s",
                          opener.why != NULL ? opener.why : "no connection");
        }
    } else {
        tg_library_unlock();
    }

    tg_waiter_deinit(&opener);

    return rc;
}

/* --- closing --- */

static int
tg_client_is_foreign(const toolgate_client_t *client)
{
    return client->line == NULL || client->pid == getpid()
               ? 0
               : tg_error(TOOLGATE_ERR_STATE,
                          "the client was opened by process %ld, of which "
                          "this one is a fork; make one of your own",
                          (long) client->pid);
}

int
toolgate_client_close(toolgate_client_t *client)
{
    tg_run_t *run;
    int rc;

    run = NULL;
    tg_library_lock();
    rc = tg_client_is_foreign(client);

    if (rc == 0 && client->line != NULL) {
        run = tg_run_leave(&client->line->run, &client->ended);
        tg_client_forget(client);
        client->line = NULL;
    }

    tg_library_unlock();

    if (run != NULL) {
        tg_run_stop_here(run);
    }

    tg_run_join(&client->ended);

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

/* --- in between --- */

tg_line_t *
tg_client_line(const toolgate_client_t *client, int *rc)
{
    *rc = client->line == NULL
              ? tg_error(TOOLGATE_ERR_STATE,
                         "the client is not open; toolgate_client_open()")
              : tg_client_is_foreign(client);

    return *rc == 0 ? client->line : NULL;
}

int
toolgate_client_is_connected(const toolgate_client_t *client)
{
    int is_connected;

    tg_library_lock();
    is_connected = client->line != NULL && client->line->is_connected;
    tg_library_unlock();

    return is_connected;
}

int
toolgate_client_fd(const toolgate_client_t *client)
{
    int fd;

    tg_library_lock();
    fd = client->line != NULL && client->line->run.kind == TG_LOOP_FD
             ? uv_backend_fd(client->line->run.loop)
             : -1;
    tg_library_unlock();

    return fd;
}

int
toolgate_client_process(toolgate_client_t *client)
{
    tg_line_t *line;
    int rc;

    tg_library_lock();
    line = tg_client_line(client, &rc);

    if (line != NULL && line->run.kind != TG_LOOP_FD) {
        rc = tg_error(TOOLGATE_ERR_STATE, "the client has a loop of its own; "
                                          "set \"loop\" to \"fd\"");
    } else if (line != NULL && line->run.is_running) {
        rc = tg_error(TOOLGATE_ERR_STATE, "toolgate_client_process() was "
                                          "called by a callback of its own");
    }

    tg_library_unlock();

    if (rc == 0) {
        tg_run_process(&line->run);
    }

    return rc;
}
