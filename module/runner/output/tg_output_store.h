/*
 * Outputs that are too large for an answer: each is a file of the state
 * directory, DIR/spill/OWNER-KEY, for as long as it may be wanted.
 *
 * All together have a quota, for which the oldest go; a disk keeps
 * TG_OUTPUT_STORE_DISK_FREE_MIN bytes, or nothing is written.  A file's time of
 * change is when it expires, so a runner that is started anew knows as much.
 * What is being written has a name that begins with a dot.
 */
#ifndef TG_OUTPUT_STORE_H
#define TG_OUTPUT_STORE_H

#include "runner/jobs/tg_thread_pool.h"

#include <stdint.h>
#include <sys/types.h>

/* What stays free of a disk, for those who need it more. */
#define TG_OUTPUT_STORE_DISK_FREE_MIN 67108864
/* As many bytes are made room for at once. */
#define TG_OUTPUT_STORE_RESERVE_STEP 1048576
/* Files at most; the oldest go. */
#define TG_OUTPUT_STORE_FILES_MAX 4096
#define TG_STORED_OUTPUT_OWNER_MAX 32
/* Hexadecimal, hard to guess. */
#define TG_STORED_OUTPUT_KEY_LEN 32
#define TG_STORED_OUTPUT_NAME_SIZE                                             \
    (TG_STORED_OUTPUT_OWNER_MAX + TG_STORED_OUTPUT_KEY_LEN + 3)

typedef struct {
    const char *state_dir;     /* NULL: nothing is kept */
    int dir;                   /* -1: not opened yet */
    uint64_t writing;          /* bytes of those that are being written */
    uv_timer_t timer;          /* the next expires */
    tg_thread_pool_t *threads; /* that read outputs; NULL: none has been read */
} tg_output_store_t;

typedef struct {
    tg_output_store_t *output_store;
    int fd; /* -1: there is none */
    int is_published;
    uint64_t quota;
    uint64_t reserved;
    uint64_t size;
    uint64_t lines;
    unsigned is_open; /* the last line has no end */
    char name[TG_STORED_OUTPUT_NAME_SIZE];
} tg_stored_output_t;

/* Removes what a runner before left half written, and what has expired. */
void tg_output_store_init(tg_output_store_t *output_store, uv_loop_t *loop,
                          const char *state_dir);
void tg_output_store_close(tg_output_store_t *output_store);

/* May this stand in a file's name? */
int tg_stored_output_is_name(const char *text, size_t len, size_t most);

/* Opens an owner's output for reading: a descriptor or -1. */
int tg_output_store_open_output(tg_output_store_t *output_store,
                                const char *owner, const char *key);

/* 0, or -1: there is no room, or it cannot be written; nothing is left. */
int tg_stored_output_create(tg_stored_output_t *stored_output,
                            tg_output_store_t *output_store, const char *owner,
                            uint64_t quota);
int tg_stored_output_write(tg_stored_output_t *stored_output, const char *data,
                           size_t len);

/* From now on it is there for its owner: its key, or NULL: it is gone. */
const char *tg_stored_output_publish(tg_stored_output_t *stored_output,
                                     uint64_t keep_ms);

/* Bytes from an offset on, as many as there are: how many. */
size_t tg_stored_output_read(const tg_stored_output_t *stored_output,
                             uint64_t offset, char *data, size_t len);

/* Closes it, and removes it unless it is kept. */
void tg_stored_output_close(tg_stored_output_t *stored_output);

#endif
