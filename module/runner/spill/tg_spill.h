/*
 * Outputs that are too large for an answer: each is a file of the state
 * directory, DIR/spill/OWNER-KEY, for as long as it may be wanted.
 *
 * All together have a quota, for which the oldest go; a disk keeps
 * TG_SPILL_FREE_MIN bytes, or nothing is written.  A file's time of change is
 * when it expires, so a runner that is started anew knows as much.  What is
 * being written has a name that begins with a dot.
 */
#ifndef TG_SPILL_H
#define TG_SPILL_H

#include "runner/tg_threads.h"

#include <stdint.h>
#include <sys/types.h>

/* What stays free of a disk, for those who need it more. */
#define TG_SPILL_FREE_MIN 67108864
/* As many bytes are made room for at once. */
#define TG_SPILL_STEP 1048576
/* Files at most; the oldest go. */
#define TG_SPILL_FILES_MAX 4096
#define TG_SPILL_OWNER_MAX 32
/* Hexadecimal, hard to guess. */
#define TG_SPILL_KEY 32
#define TG_SPILL_NAME (TG_SPILL_OWNER_MAX + TG_SPILL_KEY + 3)

typedef struct {
    const char *state_dir; /* NULL: nothing is kept */
    int dir;               /* -1: not opened yet */
    uint64_t writing;      /* bytes of those that are being written */
    uv_timer_t timer;      /* the next expires */
    tg_threads_t *threads; /* that read outputs; NULL: none has been read */
} tg_spills_t;

typedef struct {
    tg_spills_t *spills;
    int fd; /* -1: there is none */
    int is_kept;
    uint64_t quota;
    uint64_t reserved;
    uint64_t size;
    uint64_t lines;
    unsigned is_open; /* the last line has no end */
    char name[TG_SPILL_NAME];
} tg_spill_t;

/* Removes what a runner before left half written, and what has expired. */
void tg_spills_init(tg_spills_t *spills, uv_loop_t *loop,
                    const char *state_dir);
void tg_spills_close(tg_spills_t *spills);

/* May this stand in a file's name? */
int tg_spill_is_name(const char *text, size_t len, size_t most);

/* Opens an owner's output for reading: a descriptor or -1. */
int tg_spills_open(tg_spills_t *spills, const char *owner, const char *key);

/* 0, or -1: there is no room, or it cannot be written; nothing is left. */
int tg_spill_begin(tg_spill_t *spill, tg_spills_t *spills, const char *owner,
                   uint64_t quota);
int tg_spill_write(tg_spill_t *spill, const char *data, size_t len);

/* From now on it is there for its owner: its key, or NULL: it is gone. */
const char *tg_spill_keep(tg_spill_t *spill, uint64_t keep_ms);

/* Bytes from an offset on, as many as there are: how many. */
size_t tg_spill_read(const tg_spill_t *spill, uint64_t offset, char *data,
                     size_t len);

/* Closes it, and removes it unless it is kept. */
void tg_spill_end(tg_spill_t *spill);

#endif
