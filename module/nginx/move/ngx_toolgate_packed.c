/*
 * A session as a message, written and read.
 */
#include "nginx/move/ngx_toolgate_packed.h"

#include <malloc.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <linux/sockios.h>

/* "TGmove" and the version of the head and of what it means. */
#define NGX_TOOLGATE_PACKED_MAGIC UINT64_C(0x54476d6f76650009)

/* A client's descriptor, and the file of what is large. */
#define NGX_TOOLGATE_PACKED_FDS 2

/* It takes a look at the whole heap. */
#define NGX_TOOLGATE_PACKED_TRIM 8388608

typedef union {
    struct cmsghdr header;
    char space[CMSG_SPACE(NGX_TOOLGATE_PACKED_FDS * sizeof(int))];
} ngx_toolgate_control_t;

void
ngx_toolgate_packed_init(ngx_toolgate_packed_t *packed)
{
    ngx_memzero(packed, sizeof(ngx_toolgate_packed_t));
    packed->fd = (ngx_socket_t) -1;
    packed->file = -1;
    tg_buf_init(&packed->body, tg_alloc_libc());
}

ngx_int_t
ngx_toolgate_packed_alloc(ngx_toolgate_packed_t *packed, ngx_uint_t nreplies)
{
    packed->bufs = tg_calloc(tg_alloc_libc(),
                             (NGX_TOOLGATE_PACKED_REPLIES + nreplies)
                                 * sizeof(tg_buf_t));

    if (packed->bufs == NULL) {
        return NGX_ERROR;
    }

    while (packed->nbufs != NGX_TOOLGATE_PACKED_REPLIES) {
        tg_buf_init(&packed->bufs[packed->nbufs++], tg_alloc_libc());
    }

    return NGX_OK;
}

void
ngx_toolgate_packed_set(ngx_toolgate_packed_t *packed, ngx_uint_t part,
                        tg_buf_t *buf)
{
    packed->head.len[part] = buf->len;
    packed->bufs[part] = *buf;
    tg_buf_init(buf, buf->alloc);
}

void
ngx_toolgate_packed_take(void *data, tg_buf_t *replies)
{
    ngx_toolgate_packed_t *packed = data;

    packed->head.len[NGX_TOOLGATE_PACKED_REPLIES] += replies->len;
    packed->bufs[packed->nbufs++] = *replies;
    tg_buf_init(replies, replies->alloc);
}

static void
ngx_toolgate_packed_count(ngx_toolgate_packed_t *packed, size_t bytes)
{
    ngx_toolgate_memory_add((ssize_t) (bytes - packed->counted));
    packed->counted = bytes;
}

void
ngx_toolgate_packed_deinit(ngx_toolgate_packed_t *packed)
{
    for (/* void */; packed->nwritten < packed->nbufs; packed->nwritten++) {
        tg_buf_deinit(&packed->bufs[packed->nwritten]);
    }

    tg_free(tg_alloc_libc(), packed->bufs);
    packed->bufs = NULL;
    tg_buf_deinit(&packed->body);
    ngx_toolgate_packed_count(packed, 0);

    if (packed->file != -1) {
        (void) close(packed->file);
        packed->file = -1;
    }

    if (packed->fd != (ngx_socket_t) -1) {
        (void) ngx_close_socket(packed->fd);
        packed->fd = (ngx_socket_t) -1;
    }
}

/* Of all parts. */
static size_t
ngx_toolgate_packed_size(const ngx_toolgate_packed_t *packed)
{
    ngx_uint_t i;
    size_t size;

    for (i = 0, size = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        size += (size_t) packed->head.len[i];
    }

    return size;
}

/* --- out --- */

/* Bytes in files that were sent, and not all taken when that was seen last. */
static size_t ngx_toolgate_packed_sent;

ngx_uint_t
ngx_toolgate_packed_may_send(void)
{
    struct pollfd pfd;
    int n;

    pfd.fd = ngx_toolgate_handover_out();
    pfd.events = POLLOUT;
    pfd.revents = 0;

    if (ngx_toolgate_packed_sent != 0 && ioctl(pfd.fd, SIOCOUTQ, &n) == 0
        && n == 0) {
        ngx_toolgate_memory_add(-(ssize_t) ngx_toolgate_packed_sent);
        ngx_toolgate_packed_sent = 0;
    }

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLOUT);
}

/* Goes on where it came to last: NGX_OK or NGX_ERROR with errno. */
static ngx_int_t
ngx_toolgate_packed_write(ngx_toolgate_packed_t *packed)
{
    size_t done;
    tg_buf_t *buf;
    ssize_t n;

    for (/* void */; packed->nwritten < packed->nbufs; packed->nwritten++) {
        buf = &packed->bufs[packed->nwritten];

        if (packed->file == -1) {
            tg_buf_str(&packed->body, tg_buf_view(buf));
        }

        for (done = 0; packed->file != -1 && done < buf->len; done += n) {
            n = write(packed->file, buf->data + done, buf->len - done);

            if (n <= 0) {
                tg_buf_drop(buf, done);
                return NGX_ERROR;
            }
        }

        tg_buf_deinit(buf);
    }

    return NGX_OK;
}

/* The new worker needs as much as is freed by that: the system gets it back. */
ngx_int_t
ngx_toolgate_packed_gather(ngx_toolgate_packed_t *packed)
{
    static size_t freed;

    size_t size;

    if (packed->nwritten == packed->nbufs) {
        return NGX_OK;
    }

    size = ngx_toolgate_packed_size(packed);

    if (size <= NGX_TOOLGATE_PACKED_INLINE) {
        if (tg_buf_reserve(&packed->body, size) != TG_OK) {
            packed->body.failed = 0;
            ngx_set_errno(NGX_ENOMEM);
            return NGX_ERROR;
        }

    } else if (packed->file == -1) {
        packed->file = memfd_create("toolgate-session", MFD_CLOEXEC);

        if (packed->file == -1) {
            return NGX_ERROR;
        }

        ngx_toolgate_packed_count(packed, size);
    }

    if (ngx_toolgate_packed_write(packed) != NGX_OK) {
        return NGX_ERROR;
    }

    freed += size;

#ifdef __GLIBC__
    if (freed >= NGX_TOOLGATE_PACKED_TRIM) {
        (void) malloc_trim(0);
        freed = 0;
    }
#endif

    return NGX_OK;
}

/* Not for now, or never? */
static ngx_int_t
ngx_toolgate_packed_failed(ngx_err_t err, ngx_log_t *log)
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
ngx_toolgate_packed_sendmsg(ngx_toolgate_packed_t *packed)
{
    ngx_toolgate_control_t control;
    struct cmsghdr *cmsg;
    struct iovec iov[2];
    struct msghdr msg;
    int fds[NGX_TOOLGATE_PACKED_FDS];
    ngx_uint_t nfds;

    ngx_memzero(&msg, sizeof(msg));
    ngx_memzero(&control, sizeof(control));
    iov[0].iov_base = &packed->head;
    iov[0].iov_len = sizeof(packed->head);
    iov[1].iov_base = packed->body.data;
    iov[1].iov_len = packed->body.len;

    fds[0] = packed->fd;
    fds[1] = packed->file;
    nfds = packed->file != -1 ? 2 : 1;

    msg.msg_iov = iov;
    msg.msg_iovlen = 2;
    msg.msg_control = &control;
    msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));

    cmsg = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(nfds * sizeof(int));
    ngx_memcpy(CMSG_DATA(cmsg), fds, nfds * sizeof(int));

    return sendmsg(ngx_toolgate_handover_out(), &msg,
                   MSG_DONTWAIT | MSG_NOSIGNAL);
}

ngx_int_t
ngx_toolgate_packed_send(ngx_toolgate_packed_t *packed, ngx_log_t *log)
{
    packed->head.magic = NGX_TOOLGATE_PACKED_MAGIC;

    if (ngx_toolgate_packed_gather(packed) != NGX_OK
        || ngx_toolgate_packed_sendmsg(packed) == -1)
    {
        return ngx_toolgate_packed_failed(ngx_errno, log);
    }

    /* It is still there, and nobody else counts it. */
    ngx_toolgate_packed_sent += packed->counted;
    packed->counted = 0;

    return NGX_OK;
}

/* --- in --- */

/*
 * What comes without room for its descriptors has lost them: it must be seen
 * before that there is room.
 */
static ngx_uint_t
ngx_toolgate_packed_has_room(void)
{
    int fds[NGX_TOOLGATE_PACKED_FDS];
    ngx_uint_t i, n;

    for (n = 0; n < NGX_TOOLGATE_PACKED_FDS; n++) {
        fds[n] = fcntl(ngx_toolgate_handover_in(), F_DUPFD_CLOEXEC, 0);

        if (fds[n] == -1) {
            break;
        }
    }

    for (i = 0; i < n; i++) {
        (void) close(fds[i]);
    }

    return n == NGX_TOOLGATE_PACKED_FDS;
}

/* Descriptors of a message: fds, -1 where there is none. */
static void
ngx_toolgate_packed_fds(struct msghdr *msg, int *fds)
{
    struct cmsghdr *cmsg;
    size_t n;

    for (n = 0; n < NGX_TOOLGATE_PACKED_FDS; n++) {
        fds[n] = -1;
    }

    for (cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL; cmsg = CMSG_NXTHDR(msg, cmsg))
    {
        if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS) {
            n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            ngx_memcpy(fds, CMSG_DATA(cmsg),
                       ngx_min(n, NGX_TOOLGATE_PACKED_FDS) * sizeof(int));
        }
    }
}

/* Is it whole, and one of ours? */
static ngx_uint_t
ngx_toolgate_packed_is_whole(ngx_toolgate_packed_t *packed, ssize_t n)
{
    struct stat st;
    size_t size;

    if (n < (ssize_t) sizeof(packed->head) || packed->fd == (ngx_socket_t) -1
        || packed->head.magic != NGX_TOOLGATE_PACKED_MAGIC
        || packed->head.listener_len > sizeof(ngx_sockaddr_t)
        || packed->head.client_len > sizeof(ngx_sockaddr_t))
    {
        return 0;
    }

    packed->body.len = (size_t) n - sizeof(packed->head);
    size = ngx_toolgate_packed_size(packed);

    if (packed->file == -1) {
        return packed->body.len == size;
    }

    if (fstat(packed->file, &st) == -1 || st.st_size != (off_t) size) {
        return 0;
    }

    ngx_toolgate_packed_count(packed, size);

    return 1;
}

ngx_int_t
ngx_toolgate_packed_receive(ngx_toolgate_packed_t *packed, ngx_log_t *log)
{
    ngx_toolgate_control_t control;
    struct iovec iov[2];
    struct msghdr msg;
    int fds[NGX_TOOLGATE_PACKED_FDS];
    ssize_t n;

    ngx_toolgate_packed_init(packed);

    if (!ngx_toolgate_packed_has_room()
        || tg_buf_reserve(&packed->body, NGX_TOOLGATE_PACKED_INLINE) != TG_OK)
    {
        return NGX_BUSY;
    }

    ngx_memzero(&msg, sizeof(msg));
    iov[0].iov_base = &packed->head;
    iov[0].iov_len = sizeof(packed->head);
    iov[1].iov_base = packed->body.data;
    iov[1].iov_len = packed->body.cap;
    msg.msg_iov = iov;
    msg.msg_iovlen = 2;
    msg.msg_control = &control;
    msg.msg_controllen = sizeof(control);

    n = recvmsg(ngx_toolgate_handover_in(), &msg,
                MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n <= 0) {
        tg_buf_deinit(&packed->body);
        return n == -1 && (ngx_errno == NGX_ENOMEM || ngx_errno == ENOBUFS)
                   ? NGX_BUSY
                   : NGX_AGAIN;
    }

    ngx_toolgate_packed_fds(&msg, fds);
    packed->fd = fds[0];
    packed->file = fds[1];

    if (!ngx_toolgate_packed_is_whole(packed, n)) {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "a session of another worker could not be taken");
        ngx_toolgate_packed_deinit(packed);
        return NGX_ERROR;
    }

    return NGX_OK;
}

/* Appends bytes that are so far behind the beginning of the parts. */
static int
ngx_toolgate_packed_read(ngx_toolgate_packed_t *packed, size_t at, size_t len,
                         tg_buf_t *out)
{
    ssize_t n;

    if (tg_buf_reserve(out, len) != TG_OK) {
        return TG_NOMEM;
    }

    if (packed->file == -1) {
        if (at > packed->body.len || len > packed->body.len - at) {
            return TG_BAD;
        }

        tg_buf_put(out, packed->body.data + at, len);
        return TG_OK;
    }

    for (/* void */; len != 0; at += (size_t) n, len -= (size_t) n) {
        n = pread(packed->file, out->data + out->len, len, (off_t) at);

        if (n <= 0) {
            return TG_BAD;
        }

        out->len += (size_t) n;
    }

    return TG_OK;
}

static size_t
ngx_toolgate_packed_at(const ngx_toolgate_packed_t *packed, ngx_uint_t part)
{
    size_t at;

    for (at = 0; part != 0; part--) {
        at += (size_t) packed->head.len[part - 1];
    }

    return at;
}

int
ngx_toolgate_packed_get(ngx_toolgate_packed_t *packed, ngx_uint_t part,
                        tg_buf_t *out)
{
    return ngx_toolgate_packed_read(packed,
                                    ngx_toolgate_packed_at(packed, part),
                                    (size_t) packed->head.len[part], out);
}

int
ngx_toolgate_packed_give(void *data, tg_buf_t *replies, size_t len)
{
    ngx_toolgate_packed_t *packed = data;

    size_t at;
    int rc;

    if (len > packed->head.len[NGX_TOOLGATE_PACKED_REPLIES] - packed->given) {
        return TG_BAD;
    }

    at = ngx_toolgate_packed_at(packed, NGX_TOOLGATE_PACKED_REPLIES)
         + packed->given;
    rc = ngx_toolgate_packed_read(packed, at, len, replies);
    packed->given += len;

    /* Nobody needs that of the file again. */
    if (packed->file != -1) {
        (void) fallocate(packed->file,
                         FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t) at,
                         (off_t) len);
    }

    return rc;
}

void
ngx_toolgate_packed_farewell(ngx_toolgate_packed_t *packed)
{
    tg_buf_t out;

    ngx_toolgate_seat_leave(&packed->head.seat);
    tg_buf_init(&out, tg_alloc_libc());

    if (ngx_toolgate_packed_gather(packed) == NGX_OK
        && ngx_toolgate_packed_get(packed, NGX_TOOLGATE_PACKED_OUT, &out)
               == TG_OK
        && ngx_toolgate_packed_get(packed, NGX_TOOLGATE_PACKED_FAREWELL, &out)
               == TG_OK)
    {
        (void) send(packed->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    tg_buf_deinit(&out);
}
