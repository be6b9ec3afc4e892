/* A server of the public API: its options, callbacks and file names. */
#include "lib/tg_server.h"

#include "base/tg_utf8.h"
#include "lib/tg_option.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Limits of calls per client and of clients; timeouts in ms. */
#define TG_MAX_INFLIGHT_DEFAULT 1024
#define TG_MAX_INFLIGHT_LIMIT 65536
#define TG_MAX_CLIENTS_DEFAULT 256
#define TG_MAX_CLIENTS_LIMIT 65536
#define TG_FRAME_TIMEOUT_DEFAULT 60000
#define TG_SEND_TIMEOUT_DEFAULT 60000

static int
tg_server_set_text(const tg_option_t *option, const char *value, void *object)
{
    return tg_utf8_is_valid(tg_str_from_cstr(value))
               ? tg_option_set_string(option, value, object)
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "\"%s\" must be UTF-8",
                                  option->name);
}

/* Sets a path, which must be absolute, as the working directory may change. */
static int
tg_server_set_path(const tg_option_t *option, const char *value, void *object)
{
    return value[0] == '/'
               ? tg_server_set_text(option, value, object)
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "\"%s\" must be a path that begins with "
                                  "a slash; not \"%s\"",
                                  option->name, value);
}

static int
tg_server_set_transport(const tg_option_t *option, const char *value,
                        void *object)
{
    static const char *const words[] = { "auto", "stdio", "sdk", NULL };
    toolgate_server_t *server;
    int rc, word;

    server = object;
    rc = tg_option_parse_word(option->name, value, words, &word);

    if (rc == 0) {
        server->transport = word == 2 ? TG_SERVER_TRANSPORT_SDK
                                      : TG_SERVER_TRANSPORT_STDIO;
    }

    return rc;
}

static int
tg_server_set_loop(const tg_option_t *option, const char *value, void *object)
{
    static const char *const words[] = { "thread", "fd", NULL };
    toolgate_server_t *server;
    int rc, word;

    server = object;
    rc = tg_option_parse_word(option->name, value, words, &word);

    if (rc == 0) {
        server->loop = word == 1 ? TG_LOOP_FD : TG_LOOP_THREAD;
        server->uv = NULL;
    }

    return rc;
}

static int
tg_server_set_dialect(const tg_option_t *option, const char *value,
                      void *object)
{
    const char *words[TG_DIALECT_COUNT + 1];
    int i, rc, word;

    for (i = 0; i < TG_DIALECT_COUNT; i++) {
        words[i] = tg_dialect_name((tg_dialect_t) i);
    }

    words[i] = NULL;
    rc = tg_option_parse_word(option->name, value, words, &word);

    if (rc == 0) {
        ((toolgate_server_t *) object)->conf.dialect = (tg_dialect_t) word;
    }

    return rc;
}

/* Sets the directory; the files get new names in the new directory. */
static int
tg_server_set_directory(const tg_option_t *option, const char *value,
                        void *object)
{
    int rc;

    rc = tg_server_set_path(option, value, object);
    ((toolgate_server_t *) object)->has_files &= rc != 0;

    return rc;
}

#define TG_SERVER_MEMBER(member) offsetof(toolgate_server_t, member)
#define TG_SERVER_UNBOUNDED(member) TG_SERVER_MEMBER(member), 0, 0
static const tg_option_t tg_server_options[] = {
    { "bridge", tg_server_set_path, TG_SERVER_UNBOUNDED(bridge) },
    { "directory", tg_server_set_directory, TG_SERVER_UNBOUNDED(directory) },
    { "frame_timeout", tg_option_set_time,
      TG_SERVER_UNBOUNDED(conf.frame_timeout) },
    { "idle_timeout", tg_option_set_time,
      TG_SERVER_UNBOUNDED(conf.idle_timeout) },
    { "instructions", tg_server_set_text, TG_SERVER_UNBOUNDED(instructions) },
    { "loop", tg_server_set_loop, 0, 0, 0 },
    { "max_clients", tg_option_set_size, TG_SERVER_MEMBER(conf.max_clients), 1,
      TG_MAX_CLIENTS_LIMIT },
    { "max_frame", tg_option_set_size, TG_SERVER_MEMBER(conf.max_frame),
      TG_MAX_FRAME_MIN, TG_MAX_FRAME_MAX },
    { "max_inflight", tg_option_set_size, TG_SERVER_MEMBER(conf.max_inflight),
      1, TG_MAX_INFLIGHT_LIMIT },
    { "protocol", tg_server_set_dialect, 0, 0, 0 },
    { "send_timeout", tg_option_set_time,
      TG_SERVER_UNBOUNDED(conf.send_timeout) },
    { "transport", tg_server_set_transport, 0, 0, 0 },
    { "version", tg_server_set_text, TG_SERVER_UNBOUNDED(version) },
    { NULL, NULL, 0, 0, 0 },
};

_Static_assert(sizeof(tg_server_options) / sizeof(tg_server_options[0])
                   <= TG_OPTIONS_MAX + 1,
               "raise TG_OPTIONS_MAX");

int
tg_server_check_process(const toolgate_server_t *server)
{
    return server->runtime == NULL || server->pid == getpid()
               ? 0
               : tg_lib_set_error(
                   TOOLGATE_ERR_STATE,
                   "the server was started by process %ld, and this process "
                   "is a fork of it; create a server of its own",
                   (long) server->pid);
}

static int
tg_server_check_stopped(const toolgate_server_t *server)
{
    return server->runtime == NULL
               ? 0
               : tg_lib_set_error(
                   TOOLGATE_ERR_STATE,
                   "the server is started; set this option before "
                   "toolgate_start() or after toolgate_stop()");
}

int
toolgate_set(toolgate_server_t *server, const char *option, const char *value)
{
    int i, rc;

    i = tg_option_find_in(tg_server_options, option, value);

    if (i < 0) {
        return i;
    }

    tg_lib_lock();
    rc = tg_server_check_stopped(server);
    rc = rc == 0
             ? tg_server_options[i].set(&tg_server_options[i], value, server)
             : rc;
    tg_lib_unlock();

    return rc;
}

int
toolgate_use_uv(toolgate_server_t *server, struct uv_loop_s *loop)
{
    int rc;

    tg_lib_lock();
    rc = tg_server_check_stopped(server);

    if (rc == 0) {
        server->loop = loop != NULL ? TG_LOOP_UV : TG_LOOP_THREAD;
        server->uv = loop;
    }

    tg_lib_unlock();

    return rc;
}

int
toolgate_on_cancel(toolgate_server_t *server, toolgate_cancel_pt cancelled,
                   void *data)
{
    int rc;

    tg_lib_lock();
    rc = tg_server_check_stopped(server);

    if (rc == 0) {
        server->conf.cancelled = cancelled;
        server->conf.cancelled_data = data;
    }

    tg_lib_unlock();

    return rc;
}

int
toolgate_on_report(toolgate_server_t *server, toolgate_report_pt report,
                   void *data)
{
    int rc;

    tg_lib_lock();
    rc = tg_server_check_stopped(server);

    if (rc == 0) {
        server->conf.report = report;
        server->conf.report_data = data;
    }

    tg_lib_unlock();

    return rc;
}

/* Checks a name: a key in an agent's config, and a prefix of tools. */
static int
tg_server_check_name(const char *name)
{
    size_t len;

    len = name != NULL ? strnlen(name, TG_NAME_AGENT_MAX + 1) : 0;

    return len != 0 && len <= TG_NAME_AGENT_MAX
                   && tg_str_is_word(tg_str(name, len), "-_.")
               ? 0
               : tg_lib_set_error(
                   TOOLGATE_ERR_ARGUMENT,
                   "the name of a server must be 1 to %d letters, digits, "
                   "\"-\", \"_\" and \".\", not \"%s\"",
                   TG_NAME_AGENT_MAX, name != NULL ? name : "");
}

void
tg_server_free_stopped(toolgate_server_t *server)
{
    tg_server_tools_deinit(&server->tools);
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

    if (tg_server_check_name(name) != 0) {
        return NULL;
    }

    tg_server_install_fork_handlers();
    server = calloc(1, sizeof(*server));

    if (server != NULL) {
        server->name = tg_str_dup(tg_str_from_cstr(name));
        server->version = tg_str_dup(TG_STR(TG_VERSION));
    }

    if (server == NULL || server->name == NULL || server->version == NULL) {
        if (server != NULL) {
            tg_server_free_stopped(server);
        }

        (void) tg_lib_set_nomem_error();
        return NULL;
    }

    server->conf.dialect = TG_DIALECT_AUTO;
    server->conf.max_frame = TG_FRAME_IPC_MAX;
    server->conf.max_inflight = TG_MAX_INFLIGHT_DEFAULT;
    server->conf.max_clients = TG_MAX_CLIENTS_DEFAULT;
    server->conf.frame_timeout = TG_FRAME_TIMEOUT_DEFAULT;
    server->conf.send_timeout = TG_SEND_TIMEOUT_DEFAULT;

    return server;
}

int
toolgate_state(const toolgate_server_t *server)
{
    int state;

    tg_lib_lock();
    state = server->state;
    tg_lib_unlock();

    return state;
}

int
toolgate_clients(const toolgate_server_t *server)
{
    int n;

    tg_lib_lock();
    n = server->runtime != NULL ? (int) server->runtime->nsessions : 0;
    tg_lib_unlock();

    return n;
}

int
tg_server_choose_files(toolgate_server_t *server)
{
    int rc;

    if (server->has_files) {
        return 0;
    }

    rc = tg_server_files_choose_paths(&server->files, server->directory);
    server->has_files = rc == 0;

    return rc;
}

int
tg_server_write_schema_file(toolgate_server_t *server,
                            const tg_catalog_t *catalog)
{
    tg_buf_t schemas;
    int rc;

    if (server->transport == TG_SERVER_TRANSPORT_SDK) {
        return 0;
    }

    rc = tg_server_choose_files(server);
    tg_buf_init(&schemas, tg_alloc_libc());
    tg_catalog_write_ipc_schemas(catalog, NULL, NULL, &schemas);

    if (rc == 0) {
        rc = tg_buf_has_failed(&schemas)
                 ? tg_lib_set_nomem_error()
                 : tg_server_files_write_schema(&server->files,
                                                tg_buf_view(&schemas));
    }

    tg_buf_deinit(&schemas);

    return rc;
}

static const char *
tg_server_get_file(toolgate_server_t *server, const char *file)
{
    int rc;

    tg_lib_lock();
    rc = server->transport == TG_SERVER_TRANSPORT_SDK
             ? tg_lib_set_error(TOOLGATE_ERR_STATE,
                                "the transport \"sdk\" has no files")
             : tg_server_choose_files(server);
    tg_lib_unlock();

    return rc == 0 ? file : NULL;
}

const char *
toolgate_socket(toolgate_server_t *server)
{
    return tg_server_get_file(server, server->files.socket);
}

const char *
toolgate_schema_file(toolgate_server_t *server)
{
    return tg_server_get_file(server, server->files.schema);
}
