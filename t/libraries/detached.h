/*
 * Starts a detached thread, for libraries and programs of tests. The C
 * library's pthread_detach() may access a thread that has already ended, so
 * the thread is created detached.
 */
#ifndef DETACHED_H
#define DETACHED_H

#include <pthread.h>
#include <stddef.h>

/* Returns 0 or an errno. */
static inline int
detached(void *(*work)(void *), void *data)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int rc;

    (void) pthread_attr_init(&attributes);
    (void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    rc = pthread_create(&thread, &attributes, work, data);
    (void) pthread_attr_destroy(&attributes);

    return rc;
}

#endif
