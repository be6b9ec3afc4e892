#include "bridge_side.h"

#include "base/tg_utf8.h"
#include "transport/tg_uv_conn_io.h"

#include <poll.h>
#include <stdarg.h>

side_world_t side_world;

static side_t *
side_of(const tg_uv_conn_t *conn)
{
    return conn == &side_world.bridge->agent ? &side_world.agent
                                             : &side_world.parent;
}

/* --- connection endpoints, instead of tg_uv_conn_io.c --- */

int
tg_uv_io_init_pipe(tg_uv_conn_t *conn, tg_uv_io_t *end)
{
    side_t *side;

    end->type = TG_UV_IO_STREAM;
    side = side_of(conn);
    tg_buf_truncate(&side->sent, 0);
    side->conn = conn;
    side->is_reading = 0;
    side->is_writing = 0;
    side->is_closed = 0;

    return 0;
}

int
tg_uv_io_init_tcp(tg_uv_conn_t *conn, tg_uv_io_t *end)
{
    return tg_uv_io_init_pipe(conn, end);
}

int
tg_uv_io_open_fd(tg_uv_conn_t *conn, tg_uv_io_t *end, int fd, int is_readable)
{
    return is_readable ? tg_uv_io_init_pipe(conn, end) : 0;
}

void
tg_uv_io_close(tg_uv_conn_t *conn, tg_uv_io_t *end)
{
    if (end->type != TG_UV_IO_NONE) {
        conn->nopen++;
        side_of(conn)->is_closed = 1;
    }
}

int
tg_uv_conn_read_start(tg_uv_conn_t *conn)
{
    side_of(conn)->is_reading = 1;

    return 0;
}

void
tg_uv_conn_read_stop(tg_uv_conn_t *conn)
{
    side_of(conn)->is_reading = 0;
}

int
tg_uv_conn_write_start(tg_uv_conn_t *conn)
{
    FUZZ(conn->written < conn->writing.len);
    side_of(conn)->is_writing = 1;

    return 0;
}

ssize_t
tg_uv_conn_try_write(tg_uv_conn_t *conn, const char *data, size_t len)
{
    size_t n;

    n = fuzz_piece(&side_world.seed, len);
    n = side_world.seed % 7 == 1 ? 0 : n;
    tg_buf_append(&side_of(conn)->sent, data, n);

    return (ssize_t) n;
}

/* --- wrapped functions --- */

int __wrap_uv_run(uv_loop_t *loop, uv_run_mode mode);
int __real_uv_run(uv_loop_t *loop, uv_run_mode mode);
int __wrap_uv_signal_start(uv_signal_t *handle, uv_signal_cb cb, int signum);
void __wrap_uv_pipe_connect(uv_connect_t *req, uv_pipe_t *handle,
                            const char *name, uv_connect_cb cb);
int __wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);
uint64_t __wrap_uv_now(const uv_loop_t *loop);
tg_catalog_t *__wrap_tg_bridge_schema_file_load(const char *path, char *why,
                                                size_t size);
void __wrap_tg_bridge_parent_init(tg_bridge_t *bridge,
                                  const tg_uv_client_ops_t *ops);
void __real_tg_bridge_parent_init(tg_bridge_t *bridge,
                                  const tg_uv_client_ops_t *ops);
int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout);

static uv_timer_t *
side_timer(unsigned number)
{
    return number == SIDE_TIMER_RETRY ? &side_world.bridge->parent.timer
                                      : &side_world.bridge->timers[number];
}

void
__wrap_tg_bridge_parent_init(tg_bridge_t *bridge, const tg_uv_client_ops_t *ops)
{
    side_world.bridge = bridge;
    __real_tg_bridge_parent_init(bridge, ops);
}

/* Time passes only when the fuzzer lets a timer expire. */
int
__wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                      uint64_t repeat)
{
    unsigned number;

    for (number = 0; side_timer(number) != timer; number++) {
        FUZZ(number < SIDE_TIMERS);
    }

    side_world.waits[number] = timeout;

    return __real_uv_timer_start(timer, cb, UINT64_MAX / 4, 0);
}

uint64_t
__wrap_uv_now(const uv_loop_t *loop)
{
    return side_world.now;
}

/* Stands in for the schema file of ipc. */
tg_catalog_t *
__wrap_tg_bridge_schema_file_load(const char *path, char *why, size_t size)
{
    tg_catalog_t *tools;
    size_t nleft_out;

    FUZZ(tg_tool_list_parse(tg_alloc_libc(), 0,
                            TG_STR("[{\"name\":\"echo\"},{\"name\":\"slow\"}]"),
                            &tools, &nleft_out)
         == TG_OK);

    return tools;
}

int
__wrap_uv_signal_start(uv_signal_t *handle, uv_signal_cb cb, int signum)
{
    return 0;
}

void
__wrap_uv_pipe_connect(uv_connect_t *req, uv_pipe_t *handle, const char *name,
                       uv_connect_cb cb)
{
    FUZZ(side_world.connect == NULL);
    side_world.connect = req;
    side_world.connected = cb;
}

int
__wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
    return side_world.readable;
}

/* The real loop closes handles; it has nothing to wait for. */
static void
side_loop(void)
{
    (void) __real_uv_run(&side_world.bridge->loop, UV_RUN_NOWAIT);
}

int
__wrap_uv_run(uv_loop_t *loop, uv_run_mode mode)
{
    unsigned iterations;

    side_world.script(side_world.ctx);
    tg_bridge_quit(side_world.bridge, 0);

    for (iterations = 0; !side_is_over(); iterations++) {
        FUZZ(iterations < 100);
        side_iterate();
        (void) side_fire(TG_BRIDGE_TIMER_QUIT);
    }

    side_iterate();
    FUZZ(uv_loop_alive(loop) == 0);

    return 0;
}

/* --- the log, instead of tg_bridge_log.c --- */

void
tg_bridge_log(const char *format, ...)
{
    char line[4096];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    FUZZ(tg_utf8_is_valid(tg_str_from_cstr(line))
         || strlen(line) == sizeof(line) - 1);
}

void
tg_bridge_log_messages(const char *where, tg_frame_type_t type, tg_str_t bytes)
{
    FUZZ(bytes.data != NULL || bytes.len == 0);
}

void
tg_bridge_copy_visible(char *dst, size_t size, tg_str_t text)
{
    (void) snprintf(dst, size, "%.*s", (int) text.len, text.data);
}

void
tg_bridge_decode_visible(char *dst, size_t size, tg_str_t body)
{
    HELP_BUFFER(text);
    size_t i;

    tg_json_append_unescaped(&text, body);

    for (i = 0; i < text.len && i < size - 1; i++) {
        dst[i] = text.data[i] >= ' ' ? text.data[i] : '?';
    }

    dst[i] = '\0';
}

/* --- events from outside --- */

int
side_is_over(void)
{
    return side_world.bridge->has_closed_handles;
}

static void
side_end_write(side_t *side)
{
    tg_uv_conn_t *conn;

    conn = side->conn;
    side->is_writing = 0;
    tg_buf_append(&side->sent, conn->writing.data + conn->written,
                  conn->writing.len - conn->written);
    conn->on_write_done(conn, 0);
}

static int
side_complete(side_t *side)
{
    if (side->conn == NULL) {
        return 0;
    }

    if (side->is_writing && side->conn->state < TG_UV_CONN_CLOSING) {
        side_end_write(side);
        return 1;
    }

    if (side->is_closed) {
        side->is_closed = 0;
        side->is_reading = 0;
        side->is_writing = 0;

        if (side == &side_world.parent) {
            side_world.connect = NULL;
        }

        side->conn->on_handle_closed(side->conn);
        return 1;
    }

    return 0;
}

void
side_iterate(void)
{
    unsigned iterations;

    iterations = 0;

    do {
        FUZZ(++iterations < 10000);

        side_loop();
    } while (side_complete(&side_world.agent)
             || side_complete(&side_world.parent)
             || side_world.bridge->sched.sched.first != NULL);
}

int
side_read(side_t *side, tg_str_t bytes)
{
    tg_buf_t *in;

    if (side->conn == NULL || !side->is_reading || side->is_closed
        || side->conn->state != TG_UV_CONN_OPEN)
    {
        return 0;
    }

    in = &side->conn->in_buf;
    FUZZ(tg_buf_reserve(in, bytes.len) == TG_OK);

    if (bytes.len != 0) {
        memcpy(in->data + in->len, bytes.data, bytes.len);
        side->conn->on_read(side->conn, (ssize_t) bytes.len);
    }

    return 1;
}

int
side_read_error(side_t *side, int err)
{
    if (side->conn == NULL || !side->is_reading || side->is_closed
        || side->conn->state != TG_UV_CONN_OPEN)
    {
        return 0;
    }

    side->conn->on_read(side->conn, err);

    return 1;
}

int
side_connect(int err)
{
    uv_connect_t *connect;

    connect = side_world.connect;

    if (connect == NULL) {
        return 0;
    }

    side_world.connect = NULL;
    side_world.connected(connect, err);

    return 1;
}

int
side_fire(unsigned number)
{
    uv_timer_t *timer;

    timer = side_timer(number);

    if (side_is_over() || !uv_is_active((uv_handle_t *) timer)) {
        return 0;
    }

    side_world.now += side_world.waits[number];
    (void) uv_timer_stop(timer);
    timer->timer_cb(timer);

    return 1;
}

void
side_run(fuzz_in_t *in, tg_dialect_t *dialect, void (*script)(void *ctx),
         void *ctx)
{
    static const tg_dialect_t dialects[] = { TG_DIALECT_JSONRPC, TG_DIALECT_IPC,
                                             TG_DIALECT_RELAY };
    tg_bridge_options_t options;

    *dialect = dialects[fuzz_byte(in) % 3];
    memset(&side_world, 0, sizeof(side_world));
    side_world.seed = fuzz_byte(in);
    side_world.script = script;
    side_world.ctx = ctx;
    side_world.now = 1000000;
    tg_buf_init(&side_world.agent.sent, tg_alloc_libc());
    tg_buf_init(&side_world.parent.sent, tg_alloc_libc());
    memset(&options, 0, sizeof(options));
    options.dialect = *dialect;
    options.socket = "/fuzz.sock";
    options.endpoint.text = options.socket;
    options.schema_file = *dialect == TG_DIALECT_IPC ? "fuzz" : NULL;
    options.is_debug = side_world.seed % 2;
    (void) tg_bridge_run(&options);
    tg_buf_deinit(&side_world.agent.sent);
    tg_buf_deinit(&side_world.parent.sent);
}
