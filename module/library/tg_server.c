/*
 * What a program says of a server: its options, its tools, its callbacks.
 */
#include "library/tg_server.h"

#include "base/tg_utf8.h"
#include "library/tg_option.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Calls at once of one client, and clients of one server. */
#define TG_INFLIGHT 1024
#define TG_INFLIGHT_MOST 65536
#define TG_CLIENTS 256
#define TG_CLIENTS_MOST 65536
#define TG_FRAME_TIME 60000
#define TG_SEND_TIME 60000

/* --- options --- */

enum {
    TG_OPTION_BRIDGE,
    TG_OPTION_DIRECTORY,
    TG_OPTION_FRAME_TIMEOUT,
    TG_OPTION_IDLE_TIMEOUT,
    TG_OPTION_INSTRUCTIONS,
    TG_OPTION_LOOP,
    TG_OPTION_MAX_CLIENTS,
    TG_OPTION_MAX_FRAME,
    TG_OPTION_MAX_INFLIGHT,
    TG_OPTION_PROTOCOL,
    TG_OPTION_SEND_TIMEOUT,
    TG_OPTION_TRANSPORT,
    TG_OPTION_VERSION
};

static const char *const tg_server_options[] = {
    [TG_OPTION_BRIDGE] = "bridge",
    [TG_OPTION_DIRECTORY] = "directory",
    [TG_OPTION_FRAME_TIMEOUT] = "frame_timeout",
    [TG_OPTION_IDLE_TIMEOUT] = "idle_timeout",
    [TG_OPTION_INSTRUCTIONS] = "instructions",
    [TG_OPTION_LOOP] = "loop",
    [TG_OPTION_MAX_CLIENTS] = "max_clients",
    [TG_OPTION_MAX_FRAME] = "max_frame",
    [TG_OPTION_MAX_INFLIGHT] = "max_inflight",
    [TG_OPTION_PROTOCOL] = "protocol",
    [TG_OPTION_SEND_TIMEOUT] = "send_timeout",
    [TG_OPTION_TRANSPORT] = "transport",
    [TG_OPTION_VERSION] = "version",
    [TG_OPTION_VERSION + 1] = NULL,
};

static int
tg_server_set_text(const char *option, const char *value, char **text)
{
    return tg_utf8_is_valid(tg_str_c(value))
               ? tg_option_text(value, text)
               : tg_error(TOOLGATE_ERR_ARGUMENT, "\"%s\" must be text in UTF-8",
                          option);
}

/* A path, which is used from wherever the program is by then. */
static int
tg_server_set_path(const char *option, const char *value, char **text)
{
    return value[0] == '/' ? tg_server_set_text(option, value, text)
                           : tg_error(TOOLGATE_ERR_ARGUMENT,
                                      "\"%s\" must be a path that begins with "
                                      "a slash; not \"%s\"",
                                      option, value);
}

static int
tg_server_set_transport(toolgate_server_t *server, const char *value)
{
    static const char *const words[] = { "auto", "stdio", "sdk", NULL };
    int rc, word;

    rc = tg_option_word("transport", value, words, &word);

    if (rc == 0) {
        server->transport = word == 2 ? TG_TRANSPORT_SDK : TG_TRANSPORT_STDIO;
    }

    return rc;
}

static int
tg_server_set_loop(toolgate_server_t *server, const char *value)
{
    static const char *const words[] = { "thread", "fd", NULL };
    int rc, word;

    rc = tg_option_word("loop", value, words, &word);

    if (rc == 0) {
        server->loop = word == 1 ? TG_LOOP_FD : TG_LOOP_THREAD;
        server->uv = NULL;
    }

    return rc;
}

static int
tg_server_set_dialect(toolgate_server_t *server, const char *value)
{
    const char *words[TG_DIALECT_END + 1];
    int i, rc, word;

    for (i = 0; i < TG_DIALECT_END; i++) {
        words[i] = tg_dialect_name((tg_dialect_t) i);
    }

    words[i] = NULL;
    rc = tg_option_word("protocol", value, words, &word);

    if (rc == 0) {
        server->conf.dialect = (tg_dialect_t) word;
    }

    return rc;
}

/* Another directory is another name for its files. */
static int
tg_server_set_directory(toolgate_server_t *server, const char *value)
{
    int rc;

    rc = tg_server_set_path("directory", value, &server->directory);
    server->has_files &= rc != 0;

    return rc;
}

static int
tg_server_set(toolgate_server_t *server, int option, const char *value)
{
    const char *name;
    tg_conf_t *conf;

    name = tg_server_options[option];
    conf = &server->conf;

    switch (option) {
    case TG_OPTION_BRIDGE:
        return tg_server_set_path(name, value, &server->bridge);
    case TG_OPTION_DIRECTORY:
        return tg_server_set_directory(server, value);
    case TG_OPTION_FRAME_TIMEOUT:
        return tg_option_time(name, value, &conf->frame_timeout);
    case TG_OPTION_IDLE_TIMEOUT:
        return tg_option_time(name, value, &conf->idle_timeout);
    case TG_OPTION_INSTRUCTIONS:
        return tg_server_set_text(name, value, &server->instructions);
    case TG_OPTION_LOOP:
        return tg_server_set_loop(server, value);
    case TG_OPTION_MAX_CLIENTS:
        return tg_option_size(name, value, 1, TG_CLIENTS_MOST,
                              &conf->max_clients);
    case TG_OPTION_MAX_FRAME:
        return tg_option_size(name, value, TG_FRAME_LEAST, TG_FRAME_MOST,
                              &conf->max_frame);
    case TG_OPTION_MAX_INFLIGHT:
        return tg_option_size(name, value, 1, TG_INFLIGHT_MOST,
                              &conf->max_inflight);
    case TG_OPTION_PROTOCOL:
        return tg_server_set_dialect(server, value);
    case TG_OPTION_SEND_TIMEOUT:
        return tg_option_time(name, value, &conf->send_timeout);
    case TG_OPTION_TRANSPORT:
        return tg_server_set_transport(server, value);
    default:
        return tg_server_set_text(name, value, &server->version);
    }
}

int
tg_server_is_foreign(const toolgate_server_t *server)
{
    return server->run == NULL || server->pid == getpid()
               ? 0
               : tg_error(TOOLGATE_ERR_STATE,
                          "the server was started by process %ld, of which "
                          "this one is a fork; make one of your own",
                          (long) server->pid);
}

/* What cannot change while clients are there. */
static int
tg_server_is_open(const toolgate_server_t *server)
{
    return server->run == NULL
               ? 0
               : tg_error(TOOLGATE_ERR_STATE,
                          "the server is started; set that before, or after "
                          "toolgate_stop()");
}

int
toolgate_set(toolgate_server_t *server, const char *option, const char *value)
{
    int i, rc;

    if (option == NULL || value == NULL) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "an option needs a value");
    }

    i = tg_option_find(option, tg_server_options);

    if (i < 0) {
        return i;
    }

    tg_library_lock();
    rc = tg_server_is_open(server);
    rc = rc == 0 ? tg_server_set(server, i, value) : rc;
    tg_library_unlock();

    return rc;
}

int
toolgate_use_uv(toolgate_server_t *server, struct uv_loop_s *loop)
{
    int rc;

    tg_library_lock();
    rc = tg_server_is_open(server);

    if (rc == 0) {
        server->loop = loop != NULL ? TG_LOOP_UV : TG_LOOP_THREAD;
        server->uv = loop;
    }

    tg_library_unlock();

    return rc;
}

int
toolgate_on_cancel(toolgate_server_t *server, toolgate_cancel_pt cancelled,
                   void *data)
{
    int rc;

    tg_library_lock();
    rc = tg_server_is_open(server);

    if (rc == 0) {
        server->conf.cancelled = cancelled;
        server->conf.cancelled_data = data;
    }

    tg_library_unlock();

    return rc;
}

int
toolgate_on_report(toolgate_server_t *server, toolgate_report_pt report,
                   void *data)
{
    int rc;

    tg_library_lock();
    rc = tg_server_is_open(server);

    if (rc == 0) {
        server->conf.report = report;
        server->conf.report_data = data;
    }

    tg_library_unlock();

    return rc;
}

/* --- its beginning and its end --- */

/* A key in an agent's config, and what agents put before tools' names. */
static int
tg_server_name(const char *name)
{
    size_t i;

    for (i = 0; name != NULL && name[i] != '\0' && i <= TG_NAME_AGENT_MAX; i++)
    {
        if (!tg_is_alpha(name[i]) && !tg_is_digit(name[i])
            && !tg_is_one_of(name[i], "-_."))
        {
            break;
        }
    }

    return name != NULL && i != 0 && i <= TG_NAME_AGENT_MAX && name[i] == '\0'
               ? 0
               : tg_error(TOOLGATE_ERR_ARGUMENT,
                          "the name of a server has 1 to %d letters, digits, "
                          "\"-\", \"_\" and \".\"; not \"%s\"",
                          TG_NAME_AGENT_MAX, name != NULL ? name : "");
}

void
tg_server_release(toolgate_server_t *server)
{
    tg_offers_deinit(&server->offers);
    free(server->name);
    free(server->version);
    free(server->instructions);
    free(server->directory);
    free(server->bridge);
    free(server);
}

toolgate_server_t *
toolgate_server_new(const char *name)
{
    toolgate_server_t *server;

    if (tg_server_name(name) != 0) {
        return NULL;
    }

    tg_server_watch();
    server = calloc(1, sizeof(*server));

    if (server != NULL) {
        server->name = tg_text_copy(tg_str_c(name));
        server->version = tg_text_copy(TG_STR(TG_VERSION));
    }

    if (server == NULL || server->name == NULL || server->version == NULL) {
        if (server != NULL) {
            tg_server_release(server);
        }

        (void) tg_error_memory();
        return NULL;
    }

    server->conf.dialect = TG_DIALECT_AUTO;
    server->conf.max_frame = TG_FRAME_IPC_MAX;
    server->conf.max_inflight = TG_INFLIGHT;
    server->conf.max_clients = TG_CLIENTS;
    server->conf.frame_timeout = TG_FRAME_TIME;
    server->conf.send_timeout = TG_SEND_TIME;

    return server;
}

int
toolgate_state(const toolgate_server_t *server)
{
    int state;

    tg_library_lock();
    state = server->state;
    tg_library_unlock();

    return state;
}

int
toolgate_clients(const toolgate_server_t *server)
{
    int n;

    tg_library_lock();
    n = server->run != NULL ? (int) server->run->nsessions : 0;
    tg_library_unlock();

    return n;
}

/* --- files --- */

int
tg_server_names(toolgate_server_t *server)
{
    int rc;

    if (server->has_files) {
        return 0;
    }

    rc = tg_files_choose(&server->files, server->directory);
    server->has_files = rc == 0;

    return rc;
}

int
tg_server_write(toolgate_server_t *server, const tg_catalogue_t *catalogue)
{
    tg_buf_t schemas;
    int rc;

    if (server->transport == TG_TRANSPORT_SDK) {
        return 0;
    }

    rc = tg_server_names(server);
    tg_buf_init(&schemas, tg_alloc_libc());
    tg_catalogue_put_schemas(catalogue, NULL, NULL, &schemas);

    if (rc == 0) {
        rc = tg_buf_failed(&schemas)
                 ? tg_error_memory()
                 : tg_files_write(&server->files, tg_buf_view(&schemas));
    }

    tg_buf_deinit(&schemas);

    return rc;
}

static const char *
tg_server_file(toolgate_server_t *server, const char *file)
{
    int rc;

    tg_library_lock();
    rc = server->transport == TG_TRANSPORT_SDK
             ? tg_error(TOOLGATE_ERR_STATE,
                        "with the transport \"sdk\" there are no files")
             : tg_server_names(server);
    tg_library_unlock();

    return rc == 0 ? file : NULL;
}

const char *
toolgate_socket(toolgate_server_t *server)
{
    return tg_server_file(server, server->files.socket);
}

const char *
toolgate_schema_file(toolgate_server_t *server)
{
    return tg_server_file(server, server->files.schema);
}
