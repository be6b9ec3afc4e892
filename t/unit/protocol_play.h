/* Plays a transcript against core's peer (protocol_host.h). */
#ifndef PROTOCOL_PLAY_H
#define PROTOCOL_PLAY_H

#include "protocol_host_talk.h"
#include "protocol_script.h"

typedef struct {
    const size_t *cuts; /* for each step, bytes before a split; 0: no split */
    size_t chunk;       /* bytes per write; 0: all */
    int is_moving;      /* the peer moves after each event */
    int is_yielding;    /* each request ends a time slice */
    int is_splitting;   /* with is_moving: copies try each split of a step */
    int is_apart;       /* with is_moving: the other way to save comes first */
} play_how_t;

/* Creates the host that a transcript's headers describe. */
void play_init_host(host_t *host, const tg_alloc_t *alloc,
                    const script_t *script);

/* Returns 1, or 0 after printing the difference on stderr. */
int play_script(const script_t *script, const play_how_t *how);

/* Returns the repository's transcripts; exits if there are none. */
const script_t *play_scripts(size_t *n);

/*
 * Plays a transcript whole, byte by byte and split at each offset; a heavy one
 * in pieces and split at some offsets.
 */
void play_all_ways(const script_t *script, int is_moving);

#endif
