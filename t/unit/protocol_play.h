/*
 * Plays a transcript against core's peer (protocol_host.h).
 */
#ifndef PROTOCOL_PLAY_H
#define PROTOCOL_PLAY_H

#include "protocol_host_talk.h"
#include "protocol_script.h"

typedef struct {
    size_t cut;      /* split behind so many bytes; 0: nowhere */
    size_t chunk;    /* bytes at once; 0: all */
    int is_moving;   /* the peer moves whenever something has happened */
    int is_yielding; /* each request ends a turn */
} play_how_t;

/* 1, or 0 when something else came than is in it, which was said on stderr. */
int play_script(const script_t *script, const play_how_t *how);

/* The transcripts of the repository; exits with a message without them. */
const script_t *play_scripts(size_t *n);

/*
 * Plays it whole, byte by byte and split at each offset; a heavy one by
 * pieces and split at some.
 */
void play_all_ways(const script_t *script, int is_moving);

#endif
