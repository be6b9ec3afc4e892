/*
 * The libuv transport: moves bytes between a stream (a socket or the two ends
 * of stdio) and a peer or a caller. The program must ignore SIGPIPE.
 *
 * A connection owns its handles and buffers. Its owner embeds it and may free
 * it in ops->closed or later. Functions that return int return 0 or a libuv
 * error, after which only ops->closed follows.
 *
 * Both directions are bounded: nothing is read while ops->input returns
 * TG_LIMIT, and output that the other side does not read collects in out, where
 * the protocol limits it. A connection reads and serves until its time slice is
 * over, and then waits for the next one.
 */
#ifndef TG_TRANSPORT_H
#define TG_TRANSPORT_H

#include "base/tg_buf.h"
#include "transport/tg_uv_sched.h"

/* Bytes per read, and largest input buffer that an idle connection keeps. */
#define TG_UV_READ_SIZE 65536

typedef struct tg_uv_conn_s tg_uv_conn_t;
typedef struct tg_uv_endpoint_s tg_uv_endpoint_t;
typedef struct tg_uv_tls_conn_s tg_uv_tls_conn_t;

typedef struct {
    /* Reports 0 or a libuv error, after which the connection closes. */
    void (*connected)(void *host, int err);

    /*
     * Passes the unconsumed bytes, then new ones. The host sets *consumed. out
     * is flushed after the return.
     *
     *   TG_OK      wait for more input
     *   TG_LIMIT   stop reading until a write ends or tg_uv_conn_resume();
     *              EOF is not detected in the meantime
     *   TG_AGAIN   after tg_uv_conn_is_slice_over() returned 1: pass the rest
     *              again in the next slice. Otherwise as TG_LIMIT, but up to
     *              TG_UV_READ_SIZE more bytes are read to detect EOF.
     *   TG_CLOSED  write out, then close
     *   other      close at once
     */
    int (*input)(void *host, const char *data, size_t len, size_t *consumed);

    /* Reports EOF. Writing continues until the close. NULL: close at once. */
    void (*eof)(void *host);

    /*
     * The first len bytes of out went to the kernel or to a write in progress.
     * The host removes them (tg_caller_count_written() only counts them). NULL:
     * the connection removes them.
     */
    void (*written)(void *host, size_t len);

    /* Reports that all waiting output was written. May be NULL. */
    void (*drained)(void *host);

    /*
     * Reports the end: 0, or its libuv error. The last callback, called exactly
     * once, from the loop and never from within a function below.
     */
    void (*closed)(void *host, int err);
} tg_uv_conn_ops_t;

/*
 * Buffers shared by the connections of a loop: a connection returns its buffer
 * when it is empty. So all use memory that is warm in the CPU cache, and idle
 * connections use none.
 */
typedef struct {
    tg_buf_t in;
    tg_buf_t out;
} tg_uv_buffer_cache_t;

typedef enum {
    TG_UV_CONN_CONNECTING,
    TG_UV_CONN_OPEN,
    TG_UV_CONN_FLUSHING, /* closes when out is written */
    TG_UV_CONN_CLOSING,
    TG_UV_CONN_CLOSED
} tg_uv_conn_state_t;

typedef enum {
    TG_UV_IO_NONE,
    TG_UV_IO_STREAM,
    TG_UV_IO_FILE /* epoll refuses files: uses uv_fs requests */
} tg_uv_io_type_t;

typedef struct {
    tg_uv_io_type_t type;
    uv_file fd;
    int saved_flags; /* flags of fd before libuv set O_NONBLOCK, or -1 */
    int is_busy;     /* the request fs is in progress */
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
        uv_tty_t tty;
    } as;
    uv_fs_t fs;
} tg_uv_io_t;

struct tg_uv_conn_s {
    uv_loop_t *loop;
    tg_uv_sched_t *sched; /* scheduler of the loop */
    tg_sched_source_t source;
    const tg_uv_conn_ops_t *ops;
    void *host;
    tg_uv_conn_state_t state;
    tg_uv_io_t ends[2];
    tg_uv_io_t *in; /* same as out_end for a socket */
    tg_uv_io_t *out_end;
    const tg_uv_endpoint_t *endpoint; /* endpoint to connect to, or NULL */
    struct addrinfo *addrinfo_list;   /* addresses of the endpoint's host */
    struct addrinfo *next_address;    /* next address to try */
    uv_getaddrinfo_t lookup;
    int is_resolving;           /* lookup is in progress */
    tg_uv_tls_conn_t *tls_conn; /* NULL: no TLS */
    uv_idle_t close_notifier;   /* handle whose close callback always follows */
    uv_connect_t connect;
    uv_write_t write;
    tg_buf_t in_buf;  /* unconsumed input */
    tg_buf_t writing; /* output of the write in progress */
    size_t written;   /* written bytes of `writing` */
    tg_buf_t *out;    /* output of the peer or caller, written by flush */
    int is_writing;
    int is_paused;
    int is_reading_while_paused; /* reads although is_paused is set */
    int is_in_input_callback;    /* within ops->input */
    int is_eof;
    int is_broken; /* writing failed; received bytes are still read */
    int err;
    int nopen; /* open handles and requests; closed is called at 0 */
    /* owned by the host, must outlive the connection; or NULL */
    tg_uv_buffer_cache_t *buffer_cache;

    /* Handles nread bytes read, or a negative libuv error. */
    void (*on_read)(tg_uv_conn_t *conn, ssize_t nread);
    /* Handles the end of a write: 0 or a libuv error. */
    void (*on_write_done)(tg_uv_conn_t *conn, int err);
    /* Handles the end of a handle or request that nopen counts. */
    void (*on_handle_closed)(tg_uv_conn_t *conn);

    /* Reports that the handle of a failed address is closed. */
    void (*on_address_closed)(tg_uv_conn_t *conn);
};

void tg_uv_buffer_cache_init(tg_uv_buffer_cache_t *buffer_cache);
void tg_uv_buffer_cache_deinit(tg_uv_buffer_cache_t *buffer_cache);

/* Takes the cached buffer if buf has no memory. */
void tg_uv_buffer_borrow(tg_buf_t *buf, tg_buf_t *buffer_cache);

/* Returns an empty buf's memory to the cache if the cache has none. */
void tg_uv_buffer_recycle(tg_buf_t *buf, tg_buf_t *buffer_cache);

/* ops and out, the protocol's output, must outlive the connection. */
void tg_uv_conn_init(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
                     const tg_uv_conn_ops_t *ops, void *host, tg_buf_t *out);

/* Checks within ops->input, which must return TG_AGAIN if this is 1. */
int tg_uv_conn_is_slice_over(tg_uv_conn_t *conn, size_t size);

/* Connects to a Unix socket; ops->connected reports the result. */
int tg_uv_conn_connect_unix(tg_uv_conn_t *conn, const char *path);

/* Connects to an address of a Unix socket or TCP. */
int tg_uv_conn_connect_sockaddr(tg_uv_conn_t *conn,
                                const struct sockaddr *address);

/*
 * Tries the endpoint's addresses in turn. The endpoint must outlive the
 * connection. ops->connected is called after a TLS handshake, if any.
 */
int tg_uv_conn_connect_endpoint(tg_uv_conn_t *conn,
                                const tg_uv_endpoint_t *endpoint);

/* Accepts a connection from a listening pipe and starts to read. */
int tg_uv_conn_accept(tg_uv_conn_t *conn, uv_stream_t *server);

/*
 * Reads from one descriptor and writes to another or the same (stdio: pipes,
 * sockets, files, terminals). The connection owns them now, but does not close
 * 0 to 2.
 */
int tg_uv_conn_open_fds(tg_uv_conn_t *conn, int in_fd, int out_fd);

/* Writes *out. Needed after appending output outside of ops->input. */
void tg_uv_conn_flush(tg_uv_conn_t *conn);

/* Passes unconsumed bytes again in the next slice. Safe at any time. */
void tg_uv_conn_resume(tg_uv_conn_t *conn);

/* Returns the bytes that are in out or not yet written. */
size_t tg_uv_conn_get_backlog(const tg_uv_conn_t *conn);

/* Writes out, then closes. The host must set a timeout. Idempotent. */
void tg_uv_conn_close_after_flush(tg_uv_conn_t *conn);

/* Drops written bytes. An empty buffer keeps at most TG_UV_READ_SIZE bytes. */
void tg_uv_output_drop(tg_buf_t *out, size_t len);

/* Closes at once. Idempotent. */
void tg_uv_conn_close(tg_uv_conn_t *conn);

/* Stores the process at the other end of a Unix socket. */
int tg_uv_conn_get_peer_cred(const tg_uv_conn_t *conn, pid_t *pid, uid_t *uid);

#endif
