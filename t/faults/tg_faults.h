/*
 * The file through which a test asks for faults and reads their counts.
 * t/lib/Toolgate/Faults.pm writes it, and tg_faults.c maps it.
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
    int32_t alloc;    /* number of the allocation that fails */
    int32_t allocs;   /* how many after it fail too */
    int32_t failed;   /* failed calls of all kinds */
    int32_t live;     /* allocations that were not freed */
    int32_t recv_max; /* most bytes per call; 0: no limit */
    int32_t send_max;
    int32_t again;    /* every N-th recv and send fails with EAGAIN */
    int32_t again_at; /* calls since the last of these */
    int32_t call[TG_FAULT_KINDS];  /* number of the call that fails */
    int32_t count[TG_FAULT_KINDS]; /* how many after it fail too */
    int32_t error[TG_FAULT_KINDS]; /* with this errno */
    int32_t allocs_made;           /* calls made, failed or not */
    int32_t made[TG_FAULT_KINDS];
    int32_t others_made; /* system calls that no tool call needs */
    int32_t still;       /* the monotonic clock stands still */
} tg_faults_t;

#endif
