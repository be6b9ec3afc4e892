/*
 * The file over which a test says what is to fail, and learns what did: the
 * test writes one, t/lib/Toolgate/Faults.pm, and tg_faults.c maps it.
 */
#ifndef TG_FAULTS_H
#define TG_FAULTS_H

#include <stdint.h>

enum {
    TG_FAULT_RECV,
    TG_FAULT_SEND,
    TG_FAULT_ACCEPT,
    TG_FAULT_SOCKET,
    TG_FAULT_CONNECT,
    TG_FAULT_SPAWN,
    TG_FAULT_EPOLL,
    TG_FAULT_SENDMSG,
    TG_FAULT_RECVMSG,
    TG_FAULT_MEMFD,
    TG_FAULT_KINDS
};

/* As t/lib/Toolgate/Faults.pm packs it. */
typedef struct {
    int32_t pid;
    int32_t alloc;    /* this allocation fails */
    int32_t allocs;   /* and so many behind it */
    int32_t failed;   /* how many did, of all kinds */
    int32_t live;     /* allocations that were not freed */
    int32_t recv_max; /* bytes of one call; 0: as many as there are */
    int32_t send_max;
    int32_t again;    /* each so many-th recv and send says EAGAIN */
    int32_t again_at; /* where it is */
    int32_t call[TG_FAULT_KINDS];  /* this call fails */
    int32_t count[TG_FAULT_KINDS]; /* and so many behind it */
    int32_t error[TG_FAULT_KINDS]; /* with this errno */
    int32_t allocs_made;           /* what was called, failing or not */
    int32_t made[TG_FAULT_KINDS];
    int32_t others_made; /* system calls that no call of a tool needs */
    int32_t still;       /* the monotonic clock stands still */
} tg_faults_t;

#endif
