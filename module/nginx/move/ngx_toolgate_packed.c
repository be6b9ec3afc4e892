/*
 * A session as a message, written and read.
 */
#include "nginx/move/ngx_toolgate_packed.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/uio.h>

/* "TGmove" and the version of the head and of what it means. */
#define NGX_TOOLGATE_PACKED_MAGIC UINT64_C(0x54476d6f76650002)

/* A client's descriptor, and the file of what is large. */
#define NGX_TOOLGATE_PACKED_FDS 2

typedef union {
    struct cmsghdr header;
    char space[CMSG_SPACE(NGX_TOOLGATE_PACKED_FDS * sizeof(int))];
} ngx_toolgate_control_t;

void
ngx_toolgate_packed_init(ngx_toolgate_packed_t *packed)
{
    ngx_uint_t i;

    ngx_memzero(packed, sizeof(ngx_toolgate_packed_t));
    packed->fd = (ngx_socket_t) -1;

    for (i = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        tg_buf_init(&packed->buf[i], tg_alloc_libc());
    }
}

void
ngx_toolgate_packed_deinit(ngx_toolgate_packed_t *packed)
{
    ngx_uint_t i;

    for (i = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        tg_buf_deinit(&packed->buf[i]);
    }

    if (packed->map != NULL) {
        (void) munmap(packed->map, packed->map_len);
        packed->map = NULL;
    }

    tg_free(tg_alloc_libc(), packed->body);
    packed->body = NULL;

    if (packed->fd != (ngx_socket_t) -1) {
        (void) ngx_close_socket(packed->fd);
        packed->fd = (ngx_socket_t) -1;
    }
}

/* --- out --- */

ngx_uint_t
ngx_toolgate_packed_may_send(void)
{
    struct pollfd pfd;

    pfd.fd = ngx_toolgate_handover_out();
    pfd.events = POLLOUT;
    pfd.revents = 0;

    return poll(&pfd, 1, 0) == 1 && (pfd.revents & POLLOUT);
}

/* The parts as a file; -1 with errno. */
static ngx_fd_t
ngx_toolgate_packed_file(const ngx_toolgate_packed_t *packed)
{
    const tg_str_t *part;
    ngx_uint_t i;
    size_t done;
    ssize_t n;
    ngx_fd_t fd;

    fd = memfd_create("toolgate-session", MFD_CLOEXEC);

    if (fd == -1) {
        return -1;
    }

    for (i = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        part = &packed->part[i];

        for (done = 0; done < part->len; done += (size_t) n) {
            n = write(fd, part->data + done, part->len - done);

            if (n <= 0) {
                (void) close(fd);
                return -1;
            }
        }
    }

    return fd;
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
ngx_toolgate_packed_sendmsg(ngx_toolgate_packed_t *packed, ngx_fd_t file)
{
    struct iovec iov[1 + NGX_TOOLGATE_PACKED_PARTS];
    ngx_toolgate_control_t control;
    struct cmsghdr *cmsg;
    struct msghdr msg;
    int fds[NGX_TOOLGATE_PACKED_FDS];
    ngx_uint_t i, nfds;

    ngx_memzero(&msg, sizeof(msg));
    ngx_memzero(&control, sizeof(control));
    iov[0].iov_base = &packed->head;
    iov[0].iov_len = sizeof(packed->head);

    for (i = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        iov[i + 1].iov_base = (char *) packed->part[i].data;
        iov[i + 1].iov_len = packed->part[i].len;
    }

    fds[0] = packed->fd;
    fds[1] = file;
    nfds = file != -1 ? 2 : 1;

    msg.msg_iov = iov;
    msg.msg_iovlen = file != -1 ? 1 : 1 + NGX_TOOLGATE_PACKED_PARTS;
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
    ngx_err_t err;
    ngx_fd_t file;
    ngx_uint_t i;
    size_t size;
    ssize_t n;

    size = 0;
    file = -1;
    packed->head.magic = NGX_TOOLGATE_PACKED_MAGIC;

    for (i = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        packed->head.len[i] = packed->part[i].len;
        size += packed->part[i].len;
    }

    packed->head.is_apart = size > NGX_TOOLGATE_PACKED_INLINE;

    if (packed->head.is_apart) {
        file = ngx_toolgate_packed_file(packed);

        if (file == -1) {
            return ngx_toolgate_packed_failed(ngx_errno, log);
        }
    }

    n = ngx_toolgate_packed_sendmsg(packed, file);
    err = n == -1 ? ngx_errno : 0;

    if (file != -1) {
        (void) close(file);
    }

    return n != -1 ? NGX_OK : ngx_toolgate_packed_failed(err, log);
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

/* Where the parts are: size bytes at data. */
static ngx_int_t
ngx_toolgate_packed_cut(ngx_toolgate_packed_t *packed, const char *data,
                        size_t size)
{
    ngx_uint_t i;
    uint64_t len;

    for (i = 0; i < NGX_TOOLGATE_PACKED_PARTS; i++) {
        len = packed->head.len[i];

        if (len > size) {
            return NGX_ERROR;
        }

        packed->part[i] = tg_str(data, (size_t) len);
        data += len;
        size -= (size_t) len;
    }

    return size == 0 ? NGX_OK : NGX_ERROR;
}

static ngx_int_t
ngx_toolgate_packed_open(ngx_toolgate_packed_t *packed, int file,
                         const char *body, size_t len)
{
    struct stat st;

    if (!packed->head.is_apart) {
        packed->body = tg_alloc(tg_alloc_libc(), len + 1);

        if (packed->body == NULL) {
            return NGX_ERROR;
        }

        ngx_memcpy(packed->body, body, len);
        return ngx_toolgate_packed_cut(packed, packed->body, len);
    }

    if (file == -1 || fstat(file, &st) == -1 || st.st_size <= 0) {
        return NGX_ERROR;
    }

    packed->map = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, file,
                       0);

    if (packed->map == MAP_FAILED) {
        packed->map = NULL;
        return NGX_ERROR;
    }

    packed->map_len = (size_t) st.st_size;

    return ngx_toolgate_packed_cut(packed, packed->map, packed->map_len);
}

ngx_int_t
ngx_toolgate_packed_receive(ngx_toolgate_packed_t *packed, ngx_log_t *log)
{
    static char body[NGX_TOOLGATE_PACKED_INLINE];

    ngx_toolgate_control_t control;
    struct iovec iov[2];
    struct msghdr msg;
    int fds[NGX_TOOLGATE_PACKED_FDS];
    ngx_int_t rc;
    ssize_t n;

    ngx_toolgate_packed_init(packed);

    if (!ngx_toolgate_packed_has_room()) {
        return NGX_BUSY;
    }

    ngx_memzero(&msg, sizeof(msg));
    iov[0].iov_base = &packed->head;
    iov[0].iov_len = sizeof(packed->head);
    iov[1].iov_base = body;
    iov[1].iov_len = sizeof(body);
    msg.msg_iov = iov;
    msg.msg_iovlen = 2;
    msg.msg_control = &control;
    msg.msg_controllen = sizeof(control);

    n = recvmsg(ngx_toolgate_handover_in(), &msg,
                MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n <= 0) {
        return n == -1 && (ngx_errno == NGX_ENOMEM || ngx_errno == ENOBUFS)
                   ? NGX_BUSY
                   : NGX_AGAIN;
    }

    ngx_toolgate_packed_fds(&msg, fds);
    packed->fd = fds[0];
    rc = NGX_ERROR;

    if ((size_t) n >= sizeof(packed->head) && packed->fd != (ngx_socket_t) -1
        && packed->head.magic == NGX_TOOLGATE_PACKED_MAGIC
        && packed->head.listener_len <= sizeof(ngx_sockaddr_t)
        && packed->head.client_len <= sizeof(ngx_sockaddr_t))
    {
        rc = ngx_toolgate_packed_open(packed, fds[1], body,
                                      (size_t) n - sizeof(packed->head));
    }

    if (fds[1] != -1) {
        (void) close(fds[1]);
    }

    if (rc != NGX_OK) {
        ngx_log_error(NGX_LOG_ERR, log, 0,
                      "a session of another worker could not be taken");
        ngx_toolgate_packed_deinit(packed);
    }

    return rc;
}

void
ngx_toolgate_packed_farewell(ngx_toolgate_packed_t *packed)
{
    static const int order[] = { NGX_TOOLGATE_PACKED_OUT,
                                 NGX_TOOLGATE_PACKED_FAREWELL };

    tg_str_t part;
    ngx_uint_t i;
    ssize_t n;

    for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        part = packed->part[order[i]];

        if (part.len == 0) {
            continue;
        }

        n = send(packed->fd, part.data, part.len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n != (ssize_t) part.len) {
            break;
        }
    }
}
