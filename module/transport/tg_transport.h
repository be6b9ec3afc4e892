/*
 * One libuv transport for core's connections: moves bytes between a stream
 * (a socket or the two ends of stdio) and a peer or a caller.
 *
 * A connection owns its handles and its buffers.  Its owner embeds it, and
 * may free it in, or any time after, ops->closed.  The program ignores
 * SIGPIPE.
 *
 * Both directions are bounded: while ops->input says TG_LIMIT nothing more
 * is read, and one batch of output is under way at a time, so that what the
 * other side does not take gathers in out, where the protocol counts it.
 *
 * A connection is a source of its loop's scheduler: it reads and serves until
 * its time slice is over, and reads nothing while it waits for the next one.
 */
#ifndef TG_TRANSPORT_H
#define TG_TRANSPORT_H

#include "base/tg_buf.h"
#include "transport/tg_uv_sched.h"

/* Bytes read at once, and what an idle connection may keep for it. */
#define TG_UV_READ_SIZE 65536

typedef struct tg_uv_conn_s tg_uv_conn_t;
typedef struct tg_uv_endpoint_s tg_uv_endpoint_t;
typedef struct tg_uv_tls_conn_s tg_uv_tls_conn_t;

typedef struct {
    /*
     * A connect ended: 0, or a negative libuv error (the conn closes).  Not
     * called when the host closed the conn before.
     */
    void (*connected)(void *host, int err);

    /*
     * Bytes came (all that were not consumed before, then the new ones). TG_OK:
     * wait for more.  TG_LIMIT: stop reading until a write ended or
     * tg_uv_conn_resume(); meanwhile the end of the other side goes unnoticed.
     * TG_AGAIN after tg_uv_conn_is_slice_over() returned 1: the rest is offered
     * again in the next slice.  TG_AGAIN else: as TG_LIMIT, but TG_UV_READ_SIZE
     * bytes more are read, so that its end is noticed as long as it is silent.
     * TG_CLOSED: write what is in out, then close.  Anything else: close at
     * once.  out is flushed after the return.
     */
    int (*input)(void *host, const char *data, size_t len, size_t *consumed);

    /*
     * The other side will send nothing more; the conn stays writable until
     * it is closed.  NULL: close at once.
     */
    void (*eof)(void *host);

    /*
     * The first len bytes of out were written, or may be by now: the host drops
     * them from out (tg_caller_count_written() only counts them).  NULL: the
     * conn drops them itself.
     */
    void (*written)(void *host, size_t len);

    /* What waited in out was written.  May be NULL. */
    void (*drained)(void *host);

    /*
     * Last call of a conn: 0, or the libuv error that ended it.  Called
     * exactly once, from the loop, never from within a function below.
     */
    void (*closed)(void *host, int err);
} tg_uv_conn_ops_t;

/*
 * Memory that connections of one loop lend each other: who has none takes it,
 * and who has nothing to read or to write leaves it.  So all of them read into
 * what is warm in the caches, and who is idle has none.
 */
typedef struct {
    tg_buf_t in;
    tg_buf_t out;
} tg_uv_buffer_cache_t;

typedef enum {
    TG_UV_CONN_CONNECTING,
    TG_UV_CONN_OPEN,
    TG_UV_CONN_FLUSHING, /* closes as soon as out is written */
    TG_UV_CONN_CLOSING,
    TG_UV_CONN_CLOSED
} tg_uv_conn_state_t;

typedef enum {
    TG_UV_IO_NONE,
    TG_UV_IO_STREAM,
    TG_UV_IO_FILE /* epoll refuses files: read and written by requests */
} tg_uv_io_type_t;

typedef struct {
    tg_uv_io_type_t type;
    uv_file fd;
    int saved_flags; /* of fd before libuv made it non-blocking, or -1 */
    int is_busy;     /* fs is under way */
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
    tg_uv_sched_t *sched; /* of that loop */
    tg_sched_source_t source;
    const tg_uv_conn_ops_t *ops;
    void *host;
    tg_uv_conn_state_t state;
    tg_uv_io_t ends[2];
    tg_uv_io_t *in; /* the same as out_end for a socket */
    tg_uv_io_t *out_end;
    const tg_uv_endpoint_t *endpoint; /* of a connect, or NULL */
    struct addrinfo *addrinfo_list;   /* of its host */
    struct addrinfo *next_address;    /* that is tried */
    uv_getaddrinfo_t lookup;
    int is_resolving;           /* lookup is under way */
    tg_uv_tls_conn_t *tls_conn; /* NULL: no TLS */
    uv_idle_t close_notifier;   /* so that there always is a close callback */
    uv_connect_t connect;
    uv_write_t write;
    tg_buf_t in_buf;  /* bytes not consumed */
    tg_buf_t writing; /* bytes under way */
    size_t written;   /* of writing */
    tg_buf_t *out;    /* the peer's or caller's, drained by flush */
    int is_writing;
    int is_paused;
    int is_reading_while_paused; /* though it is paused */
    int is_in_input_callback;    /* ops->input is on the stack */
    int is_eof;
    int is_broken; /* writing failed; what is there is still read */
    int err;
    int nopen; /* handles and requests that must end before closed */
    tg_uv_buffer_cache_t
        *buffer_cache; /* of the host's, which outlives it; or NULL */

    /* What the ends tell: read or an error, written, one less of nopen. */
    void (*on_read)(tg_uv_conn_t *conn, ssize_t nread);
    void (*on_write_done)(tg_uv_conn_t *conn, int err);
    void (*on_handle_closed)(tg_uv_conn_t *conn);

    /* The handle of an address that did not answer is closed. */
    void (*on_address_closed)(tg_uv_conn_t *conn);
};

void tg_uv_buffer_cache_init(tg_uv_buffer_cache_t *buffer_cache);
void tg_uv_buffer_cache_deinit(tg_uv_buffer_cache_t *buffer_cache);

/* Who has no memory takes what is spare; who is empty leaves it. */
void tg_uv_buffer_borrow(tg_buf_t *buf, tg_buf_t *buffer_cache);
void tg_uv_buffer_recycle(tg_buf_t *buf, tg_buf_t *buffer_cache);

/* out is where the protocol puts bytes; ops and out outlive the conn. */
void tg_uv_conn_init(tg_uv_conn_t *conn, tg_uv_sched_t *sched,
                     const tg_uv_conn_ops_t *ops, void *host, tg_buf_t *out);

/*
 * Asks within ops->input, after a message of size bytes, whether the time
 * slice is over.  Returns 1 if so: ops->input returns TG_AGAIN then.
 */
int tg_uv_conn_is_slice_over(tg_uv_conn_t *conn, size_t size);

/*
 * Starts to connect; ops->connected tells.  0 or a libuv error, after which
 * only ops->closed follows.
 */
int tg_uv_conn_connect_unix(tg_uv_conn_t *conn, const char *path);

/* The same for an address, of a Unix socket or TCP. */
int tg_uv_conn_connect_sockaddr(tg_uv_conn_t *conn,
                                const struct sockaddr *address);

/*
 * The same for a place, which outlives the conn: its addresses are tried one
 * after the other, and with TLS the server is known when ops->connected tells.
 */
int tg_uv_conn_connect_endpoint(tg_uv_conn_t *conn,
                                const tg_uv_endpoint_t *endpoint);

/*
 * Takes a connection from a listening pipe and starts to read.  0 or a libuv
 * error, after which only ops->closed follows.
 */
int tg_uv_conn_accept(tg_uv_conn_t *conn, uv_stream_t *server);

/*
 * Reads from one descriptor and writes to another, or the same (stdio:
 * pipes, sockets, files and terminals all work); the descriptors are the
 * conn's from now on, though those up to 2 are not closed.  0 or a libuv
 * error, after which only ops->closed follows.
 */
int tg_uv_conn_open_fds(tg_uv_conn_t *conn, int in_fd, int out_fd);

/*
 * Starts to write what is in *out.  Cheap when there is nothing.  Call it
 * after putting something there outside ops->input.
 */
void tg_uv_conn_flush(tg_uv_conn_t *conn);

/*
 * Offers the bytes that are left to ops->input again, in the next time slice,
 * and reads on; for after a TG_LIMIT.  Safe to call at any time.
 */
void tg_uv_conn_resume(tg_uv_conn_t *conn);

/* Bytes that were handed to the stream or wait in out. */
size_t tg_uv_conn_get_backlog(const tg_uv_conn_t *conn);

/*
 * Writes what is in out, then closes; for how long the other side may take
 * to read it is the host's business.  Idempotent.
 */
void tg_uv_conn_close_after_flush(tg_uv_conn_t *conn);

/* The first len bytes of out were written: room for a read is kept. */
void tg_uv_output_drop(tg_buf_t *out, size_t len);

/* Closes at once.  Idempotent. */
void tg_uv_conn_close(tg_uv_conn_t *conn);

/* The process at the other end of a socket: 0 and *pid, *uid, or an error. */
int tg_uv_conn_get_peer_cred(const tg_uv_conn_t *conn, pid_t *pid, uid_t *uid);

#endif
