/*
 * The limit of what passes calls on: a raw relay.  One thread, epoll; for
 * each connection one to the server behind it, between which bytes are copied
 * as they come, with one write a readable event.
 *
 *   bench_relay SOCKET SERVER [PROCESSOR]
 *
 * Ends with its parent.
 */
#include "bench_util.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define RELAY_ROOM 131072
#define RELAY_EVENTS 512

typedef struct relay_side_s relay_side_t;

/* One of two ends; what it said and the other has not taken. */
struct relay_side_s {
    int fd;
    relay_side_t *other;
    size_t len;
    size_t sent;
    uint32_t events;
    char data[RELAY_ROOM];
};

typedef struct {
    relay_side_t sides[2];
    int is_closed;
} relay_pair_t;

static int epoll_fd;
static const char *server;

static void
relay_watch(relay_side_t *side, uint32_t events)
{
    struct epoll_event event;

    if (side->events != events) {
        event.events = events;
        event.data.ptr = side;
        epoll_ctl(epoll_fd, EPOLL_CTL_MOD, side->fd, &event);
        side->events = events;
    }
}

static relay_pair_t *
relay_pair(relay_side_t *side)
{
    return (relay_pair_t *) (side < side->other ? side : side->other);
}

/* Its memory stays until the events of this turn are over. */
static void
relay_close(relay_side_t *side)
{
    relay_pair_t *pair;

    pair = relay_pair(side);

    if (!pair->is_closed) {
        pair->is_closed = 1;
        close(side->fd);
        close(side->other->fd);
    }
}

/* What a side said goes to the other one. */
static void
relay_write(relay_side_t *side)
{
    ssize_t n;

    n = send(side->other->fd, side->data + side->sent, side->len - side->sent,
             MSG_NOSIGNAL);

    if (n == -1 && errno != EAGAIN) {
        relay_close(side);
        return;
    }

    side->sent += n == -1 ? 0 : (size_t) n;

    if (side->sent == side->len) {
        side->sent = 0;
        side->len = 0;
    }

    /* It is read from again when the other one has taken all. */
    relay_watch(side, (side->len == 0 ? EPOLLIN : 0)
                          | (side->other->len != 0 ? EPOLLOUT : 0));
    relay_watch(side->other, (side->other->len == 0 ? EPOLLIN : 0)
                                 | (side->len != 0 ? EPOLLOUT : 0));
}

static void
relay_read(relay_side_t *side)
{
    ssize_t n;

    n = recv(side->fd, side->data, RELAY_ROOM, 0);

    if (n > 0) {
        side->len = (size_t) n;
        relay_write(side);
    } else if (n == 0 || errno != EAGAIN) {
        relay_close(side);
    }
}

static void
relay_add(relay_side_t *side, relay_side_t *other, int fd)
{
    struct epoll_event event;

    side->fd = fd;
    side->other = other;
    side->events = EPOLLIN;
    event.events = EPOLLIN;
    event.data.ptr = side;

    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == -1) {
        bench_die("epoll_ctl");
    }
}

static void
relay_accept(int listener)
{
    relay_pair_t *pair;
    int fd, behind;

    fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd == -1) {
        return;
    }

    behind = bench_connect(server);
    bench_unblock(behind);
    pair = bench_alloc(sizeof(*pair));
    relay_add(&pair->sides[0], &pair->sides[1], fd);
    relay_add(&pair->sides[1], &pair->sides[0], behind);
}

static void
relay_event(relay_side_t *side, uint32_t events)
{
    if (!relay_pair(side)->is_closed && (events & EPOLLOUT)) {
        relay_write(side->other);
    }

    if (!relay_pair(side)->is_closed && (events & ~(uint32_t) EPOLLOUT)) {
        relay_read(side);
    }
}

int
main(int argc, char **argv)
{
    struct epoll_event event, events[RELAY_EVENTS];
    int i, n, listener;

    if (argc < 3) {
        bench_die("usage: bench_relay SOCKET SERVER [PROCESSOR]");
    }

    bench_end_with_parent();
    bench_raise_files();
    bench_pin(argc > 3 ? (int) bench_number(argv[3]) : -1);

    server = argv[2];
    listener = bench_listen(argv[1]);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    event.events = EPOLLIN;
    event.data.ptr = NULL;

    if (epoll_fd == -1
        || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &event) == -1)
    {
        bench_die("epoll");
    }

    for (;;) {
        n = epoll_wait(epoll_fd, events, RELAY_EVENTS, -1);

        for (i = 0; i < n; i++) {
            if (events[i].data.ptr == NULL) {
                relay_accept(listener);
            } else {
                relay_event(events[i].data.ptr, events[i].events);
            }
        }
    }
}
