/*
 * Clients whose messages the program carries itself: the transport "sdk".
 */
#include "library/tg_server.h"

#include <stdlib.h>
#include <unistd.h>

/* Locked: nobody holds it any more. */
static void
tg_link_release(toolgate_link_t *link)
{
    if (--link->refs == 0) {
        tg_order_free(link->goodbye);
        free(link);
    }
}

/* There is no session, or none any more. */
static void
tg_link_lose(toolgate_link_t *link)
{
    tg_library_lock();
    link->run = NULL;
    link->has_session = 0;
    tg_library_signal();
    tg_link_release(link);
    tg_library_unlock();
}

static void
tg_link_execute_open(tg_run_t *run, tg_order_t *order)
{
    if (run == NULL || tg_session_link(run, order->link) == NULL) {
        tg_link_lose(order->link);
    }

    tg_order_free(order);
}

static void
tg_link_execute_message(tg_run_t *run, tg_order_t *order)
{
    toolgate_link_t *link;

    link = order->link;

    if (run != NULL && link->session != NULL) {
        tg_session_message(link->session, tg_str(order->text, order->len));
    }

    tg_library_lock();
    tg_link_release(link);
    tg_library_unlock();
    tg_order_free(order);
}

static void
tg_link_execute_close(tg_run_t *run, tg_order_t *order)
{
    toolgate_link_t *link;

    link = order->link;

    if (run != NULL && link->session != NULL) {
        tg_session_close(link->session);
    }

    tg_library_lock();
    tg_link_release(link);
    tg_library_unlock();
    tg_order_free(order);
}

/* Locked: an order about a link, which is held for it. */
static int
tg_link_order(toolgate_link_t *link, tg_order_t *order,
              void (*execute)(tg_run_t *run, tg_order_t *order))
{
    int rc;

    order->execute = execute;
    order->link = link;
    rc = tg_run_order(link->run, order);
    link->refs += rc == 0;

    return rc;
}

static int
tg_link_is_foreign(const toolgate_link_t *link)
{
    return link->pid != getpid();
}

static toolgate_link_t *
tg_link_new(toolgate_message_pt message, void *data)
{
    toolgate_link_t *link;

    link = calloc(1, sizeof(*link));

    if (link == NULL) {
        (void) tg_error_memory();
        return NULL;
    }

    link->goodbye = tg_order_new(TG_STR_NONE, TG_STR_NONE);

    if (link->goodbye == NULL) {
        free(link);
        return NULL;
    }

    link->refs = 1;
    link->pid = getpid();
    link->has_session = 1;
    link->message = message;
    link->data = data;

    return link;
}

toolgate_link_t *
toolgate_link_open(toolgate_server_t *server, toolgate_message_pt message,
                   void *data)
{
    toolgate_link_t *link;
    tg_order_t *order;
    int rc;

    if (message == NULL) {
        (void) tg_error(TOOLGATE_ERR_ARGUMENT,
                        "a link has a function that takes messages");
        return NULL;
    }

    order = tg_order_new(TG_STR_NONE, TG_STR_NONE);
    link = order != NULL ? tg_link_new(message, data) : NULL;

    if (link == NULL) {
        tg_order_free(order);
        return NULL;
    }

    tg_library_lock();
    link->run = server->run;
    rc = link->run == NULL
             ? tg_error(TOOLGATE_ERR_STATE, "the server is not started")
             : tg_server_is_foreign(server);
    rc = rc == 0 ? tg_link_order(link, order, tg_link_execute_open) : rc;

    if (rc != 0) {
        tg_order_free(order);
        tg_link_release(link);
        link = NULL;
    }

    tg_library_unlock();

    return link;
}

int
toolgate_link_send(toolgate_link_t *link, const char *message, size_t len)
{
    tg_order_t *order;
    int rc;

    order = tg_order_new(tg_str(message, len), TG_STR_NONE);

    if (order == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    tg_library_lock();
    rc = tg_link_is_foreign(link) ? tg_error(TOOLGATE_ERR_STATE,
                                             "the link was opened by process "
                                             "%ld, of which this one is a fork",
                                             (long) link->pid)
         : link->run != NULL
             ? tg_link_order(link, order, tg_link_execute_message)
             : tg_error(TOOLGATE_ERR_CONNECTION,
                        "the server has closed this link, or was stopped");
    tg_library_unlock();

    if (rc != 0) {
        tg_order_free(order);
    }

    return rc;
}

void
toolgate_link_close(toolgate_link_t *link)
{
    if (link == NULL) {
        return;
    }

    tg_library_lock();
    atomic_store(&link->is_closed, 1);

    /* A forked child has no thread of the server's that could close it. */
    if (link->run != NULL && !tg_link_is_foreign(link)
        && tg_link_order(link, link->goodbye, tg_link_execute_close) == 0)
    {
        link->goodbye = NULL;

        /* A thread of the server's may be in the midst of a message. */
        while (link->has_session && link->run->kind == TG_LOOP_THREAD
               && !tg_run_is_calling(link->run))
        {
            tg_library_wait();
        }
    }

    tg_link_release(link);
    tg_library_unlock();
}
