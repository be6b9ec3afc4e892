/* Writing and reading of a session's snapshot as a message of the channel. */
#include "nginx/handoff/ngx_tg_session_snapshot.h"

#include <malloc.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/sockios.h>

/* "TGmove" and the version of the format, including its members' meaning. */
#define NGX_TG_SNAPSHOT_MAGIC UINT64_C(0x54476d6f76650009)

/* The client's descriptor and the file of large contents. */
#define NGX_TG_SNAPSHOT_FDS_MAX 2

/* Freed bytes after which malloc_trim() runs, which scans the whole heap. */
#define NGX_TG_SNAPSHOT_HEAP_TRIM_SIZE 8388608

typedef union {
    struct cmsghdr header;
    char space[CMSG_SPACE(NGX_TG_SNAPSHOT_FDS_MAX * sizeof(int))];
} ngx_tg_snapshot_fds_control_t;

void
ngx_tg_session_snapshot_init(ngx_tg_session_snapshot_t *snapshot)
{
    ngx_memzero(snapshot, sizeof(ngx_tg_session_snapshot_t));
    snapshot->fd = (ngx_socket_t) -1;
    snapshot->file = -1;
    tg_buf_init(&snapshot->body, tg_alloc_libc());
}

ngx_int_t
ngx_tg_session_snapshot_alloc(ngx_tg_session_snapshot_t *snapshot,
                              ngx_uint_t nreplies)
{
    snapshot->bufs = tg_calloc(tg_alloc_libc(),
                               (NGX_TG_SNAPSHOT_BATCH_REPLIES + nreplies)
                                   * sizeof(tg_buf_t));

    if (snapshot->bufs == NULL) {
        return NGX_ERROR;
    }

    while (snapshot->nbufs != NGX_TG_SNAPSHOT_BATCH_REPLIES) {
        tg_buf_init(&snapshot->bufs[snapshot->nbufs++], tg_alloc_libc());
    }

    return NGX_OK;
}

void
ngx_tg_session_snapshot_set_part(ngx_tg_session_snapshot_t *snapshot,
                                 ngx_uint_t part, tg_buf_t *buf)
{
    snapshot->head.len[part] = buf->len;
    snapshot->bufs[part] = *buf;
    tg_buf_init(buf, buf->alloc);
}

void
ngx_tg_session_snapshot_add_replies(void *data, tg_buf_t *replies)
{
    ngx_tg_session_snapshot_t *snapshot = data;

    snapshot->head.len[NGX_TG_SNAPSHOT_BATCH_REPLIES] += replies->len;
    snapshot->bufs[snapshot->nbufs++] = *replies;
    tg_buf_init(replies, replies->alloc);
}

static void
ngx_tg_session_snapshot_set_memory(ngx_tg_session_snapshot_t *snapshot,
                                   size_t bytes)
{
    ngx_tg_moving_memory_add((ssize_t) (bytes - snapshot->counted_memory));
    snapshot->counted_memory = bytes;
}

void
ngx_tg_session_snapshot_deinit(ngx_tg_session_snapshot_t *snapshot)
{
    for (/* void */; snapshot->nwritten < snapshot->nbufs; snapshot->nwritten++)
    {
        tg_buf_deinit(&snapshot->bufs[snapshot->nwritten]);
    }

    tg_free(tg_alloc_libc(), snapshot->bufs);
    snapshot->bufs = NULL;
    tg_buf_deinit(&snapshot->body);
    ngx_tg_session_snapshot_set_memory(snapshot, 0);

    if (snapshot->file != -1) {
        (void) close(snapshot->file);
        snapshot->file = -1;
    }

    if (snapshot->fd != (ngx_socket_t) -1) {
        (void) ngx_close_socket(snapshot->fd);
        snapshot->fd = (ngx_socket_t) -1;
    }
}

static size_t
ngx_tg_session_snapshot_get_size(const ngx_tg_session_snapshot_t *snapshot)
{
    ngx_uint_t i;
    size_t size;

    for (i = 0, size = 0; i < NGX_TG_SNAPSHOT_PARTS_N; i++) {
        size += (size_t) snapshot->head.len[i];
    }

    return size;
}

/* --- sending --- */

/* Bytes of sent files that the receivers had not read at the last check. */
static size_t ngx_tg_snapshots_unread_bytes;

ngx_uint_t
ngx_tg_session_snapshot_can_send(void)
{
    struct pollfd pfd;
    int n;

    pfd.fd = ngx_tg_handoff_get_send_fd();
    pfd.events = POLLOUT;
    pfd.revents = 0;

    if (ngx_tg_snapshots_unread_bytes != 0 && ioctl(pfd.fd, SIOCOUTQ, &n) == 0
        && n == 0)
    {
        ngx_tg_moving_memory_add(-(ssize_t) ngx_tg_snapshots_unread_bytes);
        ngx_tg_snapshots_unread_bytes = 0;
    }

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLOUT);
}

/* Writes parts, continuing after a failure. NGX_ERROR sets errno. */
static ngx_int_t
ngx_tg_session_snapshot_write_parts(ngx_tg_session_snapshot_t *snapshot)
{
    size_t done;
    tg_buf_t *buf;
    ssize_t n;

    for (/* void */; snapshot->nwritten < snapshot->nbufs; snapshot->nwritten++)
    {
        buf = &snapshot->bufs[snapshot->nwritten];

        if (snapshot->file == -1) {
            tg_buf_append_str(&snapshot->body, tg_buf_view(buf));
        }

        for (done = 0; snapshot->file != -1 && done < buf->len; done += n) {
            n = write(snapshot->file, buf->data + done, buf->len - done);

            if (n <= 0) {
                tg_buf_consume(buf, done);
                return NGX_ERROR;
            }
        }

        tg_buf_deinit(buf);
    }

    return NGX_OK;
}

/* Returns freed memory to the system, because the new worker needs as much. */
ngx_int_t
ngx_tg_session_snapshot_gather(ngx_tg_session_snapshot_t *snapshot)
{
    static size_t freed;

    size_t size;

    if (snapshot->nwritten == snapshot->nbufs) {
        return NGX_OK;
    }

    size = ngx_tg_session_snapshot_get_size(snapshot);

    if (size <= NGX_TG_SNAPSHOT_INLINE_MAX) {
        if (tg_buf_reserve(&snapshot->body, size) != TG_OK) {
            snapshot->body.failed = 0;
            ngx_set_errno(NGX_ENOMEM);
            return NGX_ERROR;
        }

    } else if (snapshot->file == -1) {
        snapshot->file = memfd_create("toolgate-session", MFD_CLOEXEC);

        if (snapshot->file == -1) {
            return NGX_ERROR;
        }

        ngx_tg_session_snapshot_set_memory(snapshot, size);
    }

    if (ngx_tg_session_snapshot_write_parts(snapshot) != NGX_OK) {
        return NGX_ERROR;
    }

    freed += size;

#ifdef __GLIBC__
    if (freed >= NGX_TG_SNAPSHOT_HEAP_TRIM_SIZE) {
        (void) malloc_trim(0);
        freed = 0;
    }
#endif

    return NGX_OK;
}

/* Returns NGX_AGAIN for temporary errors; logs others. */
static ngx_int_t
ngx_tg_session_snapshot_send_failed(ngx_err_t err, ngx_log_t *log)
{
    switch (err) {
    case NGX_EAGAIN:
    case NGX_EINTR:
    case NGX_ENOMEM:
    case NGX_EMFILE:
    case NGX_ENFILE:
    case ENOBUFS:
    case ETOOMANYREFS:
        return NGX_AGAIN;
    default:
        ngx_log_error(NGX_LOG_ERR, log, err,
                      "a session could not be moved to another worker");
        return NGX_ERROR;
    }
}

static ssize_t
ngx_tg_session_snapshot_sendmsg(ngx_tg_session_snapshot_t *snapshot)
{
    ngx_tg_snapshot_fds_control_t control;
    struct cmsghdr *cmsg;
    struct iovec iov[2];
    struct msghdr msg;
    int fds[NGX_TG_SNAPSHOT_FDS_MAX];
    ngx_uint_t nfds;

    ngx_memzero(&msg, sizeof(msg));
    ngx_memzero(&control, sizeof(control));
    iov[0].iov_base = &snapshot->head;
    iov[0].iov_len = sizeof(snapshot->head);
    iov[1].iov_base = snapshot->body.data;
    iov[1].iov_len = snapshot->body.len;

    fds[0] = snapshot->fd;
    fds[1] = snapshot->file;
    nfds = snapshot->file != -1 ? 2 : 1;

    msg.msg_iov = iov;
    msg.msg_iovlen = 2;
    msg.msg_control = &control;
    msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));

    cmsg = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
    ngx_memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));

    return sendmsg(ngx_tg_handoff_get_send_fd(), &msg,
                   MSG_DONTWAIT | MSG_NOSIGNAL);
}

ngx_int_t
ngx_tg_session_snapshot_send(ngx_tg_session_snapshot_t *snapshot,
                             ngx_log_t *log)
{
    snapshot->head.magic = NGX_TG_SNAPSHOT_MAGIC;

    if (ngx_tg_session_snapshot_gather(snapshot) != NGX_OK
        || ngx_tg_session_snapshot_sendmsg(snapshot) == -1)
    {
        return ngx_tg_session_snapshot_send_failed(ngx_errno, log);
    }

    /*
     * The receiver is not charged for the file before it reads it, so this
     * process stays charged.
     */
    ngx_tg_snapshots_unread_bytes += snapshot->counted_memory;
    snapshot->counted_memory = 0;

    return NGX_OK;
}

/* --- receiving --- */

/* Checks before a receive: the kernel drops descriptors that do not fit. */
static ngx_uint_t
ngx_tg_session_snapshot_has_free_fds(void)
{
    int fds[NGX_TG_SNAPSHOT_FDS_MAX];
    ngx_uint_t i, n;

    for (n = 0; n < NGX_TG_SNAPSHOT_FDS_MAX; n++) {
        fds[n] = fcntl(ngx_tg_handoff_get_receive_fd(), F_DUPFD_CLOEXEC, 0);

        if (fds[n] == -1) {
            break;
        }
    }

    for (i = 0; i < n; i++) {
        (void) close(fds[i]);
    }

    return n == NGX_TG_SNAPSHOT_FDS_MAX;
}

static void
ngx_tg_session_snapshot_get_fds(struct msghdr *msg, int *fds)
{
    struct cmsghdr *cmsg;
    size_t n;

    for (n = 0; n < NGX_TG_SNAPSHOT_FDS_MAX; n++) {
        fds[n] = -1;
    }

    for (cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL; cmsg = CMSG_NXTHDR(msg, cmsg))
    {
        if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS) {
            n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            ngx_memcpy(fds, CMSG_DATA(cmsg),
                       ngx_min(n, NGX_TG_SNAPSHOT_FDS_MAX) * sizeof(int));
        }
    }
}

/* Checks whether a message is complete and of this version. */
static ngx_uint_t
ngx_tg_session_snapshot_is_valid(ngx_tg_session_snapshot_t *snapshot, ssize_t n)
{
    struct stat st;
    size_t size;

    if (n < (ssize_t) sizeof(snapshot->head)
        || snapshot->fd == (ngx_socket_t) -1
        || snapshot->head.magic != NGX_TG_SNAPSHOT_MAGIC
        || snapshot->head.listener_len > sizeof(ngx_sockaddr_t)
        || snapshot->head.client_len > sizeof(ngx_sockaddr_t))
    {
        return 0;
    }

    snapshot->body.len = (size_t) n - sizeof(snapshot->head);
    size = ngx_tg_session_snapshot_get_size(snapshot);

    if (snapshot->file == -1) {
        return snapshot->body.len == size;
    }

    if (fstat(snapshot->file, &st) == -1 || st.st_size != (off_t) size) {
        return 0;
    }

    ngx_tg_session_snapshot_set_memory(snapshot, size);

    return 1;
}

ngx_int_t
ngx_tg_session_snapshot_receive(ngx_tg_session_snapshot_t *snapshot,
                                ngx_log_t *log)
{
    ngx_tg_snapshot_fds_control_t control;
    struct iovec iov[2];
    struct msghdr msg;
    int fds[NGX_TG_SNAPSHOT_FDS_MAX];
    ssize_t n;

    ngx_tg_session_snapshot_init(snapshot);

    if (!ngx_tg_session_snapshot_has_free_fds()
        || tg_buf_reserve(&snapshot->body, NGX_TG_SNAPSHOT_INLINE_MAX) != TG_OK)
    {
        return NGX_BUSY;
    }

    ngx_memzero(&msg, sizeof(msg));
    iov[0].iov_base = &snapshot->head;
    iov[0].iov_len = sizeof(snapshot->head);
    iov[1].iov_base = snapshot->body.data;
    iov[1].iov_len = snapshot->body.cap;
    msg.msg_iov = iov;
    msg.msg_iovlen = 2;
    msg.msg_control = &control;
    msg.msg_controllen = sizeof(control);

    n = recvmsg(ngx_tg_handoff_get_receive_fd(), &msg,
                MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n <= 0) {
        tg_buf_deinit(&snapshot->body);
        return n == -1 && (ngx_errno == NGX_ENOMEM || ngx_errno == ENOBUFS)
                   ? NGX_BUSY
                   : NGX_AGAIN;
    }

    ngx_tg_session_snapshot_get_fds(&msg, fds);
    snapshot->fd = fds[0];
    snapshot->file = fds[1];

    if (!ngx_tg_session_snapshot_is_valid(snapshot, n)) {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "a session from another worker could not be taken over");
        ngx_tg_session_snapshot_deinit(snapshot);
        return NGX_ERROR;
    }

    return NGX_OK;
}

/* Appends len bytes at offset `at`. Returns TG_INVALID if there are fewer. */
static int
ngx_tg_session_snapshot_read_bytes(ngx_tg_session_snapshot_t *snapshot,
                                   size_t at, size_t len, tg_buf_t *out)
{
    ssize_t n;

    if (tg_buf_reserve(out, len) != TG_OK) {
        return TG_NOMEM;
    }

    if (snapshot->file == -1) {
        if (at > snapshot->body.len || len > snapshot->body.len - at) {
            return TG_INVALID;
        }

        tg_buf_append(out, snapshot->body.data + at, len);
        return TG_OK;
    }

    for (/* void */; len != 0; at += (size_t) n, len -= (size_t) n) {
        n = pread(snapshot->file, out->data + out->len, len, (off_t) at);

        if (n <= 0) {
            return TG_INVALID;
        }

        out->len += (size_t) n;
    }

    return TG_OK;
}

static size_t
ngx_tg_session_snapshot_get_offset(const ngx_tg_session_snapshot_t *snapshot,
                                   ngx_uint_t part)
{
    size_t at;

    for (at = 0; part != 0; part--) {
        at += (size_t) snapshot->head.len[part - 1];
    }

    return at;
}

int
ngx_tg_session_snapshot_read_part(ngx_tg_session_snapshot_t *snapshot,
                                  ngx_uint_t part, tg_buf_t *out)
{
    return ngx_tg_session_snapshot_read_bytes(
        snapshot, ngx_tg_session_snapshot_get_offset(snapshot, part),
        (size_t) snapshot->head.len[part], out);
}

int
ngx_tg_session_snapshot_read_replies(void *data, tg_buf_t *replies, size_t len)
{
    ngx_tg_session_snapshot_t *snapshot = data;

    size_t at;
    int rc;

    if (len > snapshot->head.len[NGX_TG_SNAPSHOT_BATCH_REPLIES]
                  - snapshot->replies_read)
    {
        return TG_INVALID;
    }

    at = ngx_tg_session_snapshot_get_offset(snapshot,
                                            NGX_TG_SNAPSHOT_BATCH_REPLIES)
         + snapshot->replies_read;
    rc = ngx_tg_session_snapshot_read_bytes(snapshot, at, len, replies);
    snapshot->replies_read += len;

    /* Free the file's pages, which are not read again. */
    if (snapshot->file != -1) {
        (void) fallocate(snapshot->file,
                         FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t) at,
                         (off_t) len);
    }

    return rc;
}

void
ngx_tg_session_snapshot_close_client(ngx_tg_session_snapshot_t *snapshot)
{
    tg_buf_t out;

    ngx_tg_client_slot_free(&snapshot->head.client_slot);
    tg_buf_init(&out, tg_alloc_libc());

    if (ngx_tg_session_snapshot_gather(snapshot) == NGX_OK
        && ngx_tg_session_snapshot_read_part(snapshot, NGX_TG_SNAPSHOT_OUTPUT,
                                             &out)
               == TG_OK
        && ngx_tg_session_snapshot_read_part(
               snapshot, NGX_TG_SNAPSHOT_SHUTDOWN_NOTICE, &out)
               == TG_OK)
    {
        (void) send(snapshot->fd, out.data, out.len,
                    MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    tg_buf_deinit(&out);
}
