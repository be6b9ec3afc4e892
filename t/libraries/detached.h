/*
 * A thread that nobody joins, for libraries and programs of tests.  It is made
 * so: pthread_detach() of the C library may still look at one that has ended.
 */
#ifndef DETACHED_H
#define DETACHED_H

#include <pthread.h>
#include <stddef.h>

/* 0, or an errno. */
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
